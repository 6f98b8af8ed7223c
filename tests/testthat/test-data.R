# Base R only: the data sets are the ground on which the methods are tested,
# so their figures must not come from the methods.

skip_on_cran()

count_unique <- function(data) {
  key <- do.call(paste, c(unname(as.list(data)), sep = "\r"))
  sum(!(duplicated(key) | duplicated(key, fromLast = TRUE)))
}

count_missing <- function(data) {
  n <- colSums(is.na(data))
  n[n > 0]
}

nals_keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")

test_that("nals_prison has the documented shape and types", {
  expect_identical(class(nals_prison), "data.frame")
  expect_identical(dim(nals_prison), c(182L, 19L))
  expect_named(nals_prison, c(
    "CENREG", "DAGE3", "EDUC3", "DAGE", "WEIGHT", "DIC0401", "EDUC_DET",
    "BIB1201", "BIC0501", "BID0101", "BIE0601", "GENDER", "CASEID", "BORNUSA",
    "DRACE3", "SCORE", "RATE", "VARUNIT", "VARSTRAT"
  ))
  double <- names(nals_prison)[vapply(nals_prison, is.double, NA)]
  integer <- names(nals_prison)[vapply(nals_prison, is.integer, NA)]
  expect_identical(double, c("WEIGHT", "DIC0401", "SCORE", "RATE"))
  expect_setequal(c(double, integer), names(nals_prison))
})

test_that("nals_prison misses three values of DIC0401 and no other", {
  expect_equal(count_missing(nals_prison), c(DIC0401 = 3))
})

test_that("nals_prison gives the published counts on its six key variables", {
  # The key variables of the log-linear example of SDCNway.
  cells <- table(nals_prison[nals_keys])
  expect_length(cells, 432)
  expect_identical(sum(cells == 1), 52L)
  expect_identical(count_unique(nals_prison[nals_keys]), 52L)
})

test_that("nals_prison gives the counts on its help page", {
  cells <- table(nals_prison[nals_keys])
  expect_identical(sum(cells > 0), 90L)
  tabulated <- c("BIB1201", "BIC0501", "BID0101", "BIE0601", nals_keys)
  expect_identical(count_unique(nals_prison[tabulated]), 156L)
  expect_identical(anyDuplicated(nals_prison$CASEID), 0L)
  expect_equal(sum(nals_prison$WEIGHT), 123105.3025, tolerance = 1e-12)
  expect_true(all(nals_prison$WEIGHT > 0))
  expect_equal(
    tapply(nals_prison$DAGE, nals_prison$DAGE3, range),
    list(`1` = c(18L, 29L), `2` = c(30L, 49L), `3` = c(50L, 68L)),
    ignore_attr = TRUE
  )
  expect_equal(
    tapply(nals_prison$EDUC_DET, nals_prison$EDUC3, range),
    list(`1` = c(2L, 3L), `2` = c(4L, 5L), `3` = c(6L, 10L)),
    ignore_attr = TRUE
  )
})

test_that("adult has the documented shape and types", {
  expect_identical(class(adult), "data.frame")
  expect_identical(dim(adult), c(32561L, 11L))
  kind <- vapply(adult, function(x) class(x)[1], "")
  expect_identical(kind, c(
    age = "integer", workclass = "factor", education_num = "integer",
    marital_status = "factor", occupation = "factor", relationship = "factor",
    race = "factor", sex = "factor", hours_per_week = "integer",
    native_country = "factor", income = "ordered"
  ))
})

test_that("adult has levels in order, all of them in use", {
  expect_identical(sort(unique(adult$education_num)), 1:16)
  expect_identical(levels(adult$income), c("small", "large"))

  factors <- adult[vapply(adult, is.factor, NA)]
  expect_identical(
    vapply(factors, nlevels, 1L),
    c(
      workclass = 8L, marital_status = 7L, occupation = 14L,
      relationship = 6L, race = 5L, sex = 2L, native_country = 41L,
      income = 2L
    )
  )
  expect_true(all(vapply(factors, function(x) all(table(x) > 0), NA)))

  # method = "radix" sorts in the C locale, wherever the test runs
  nominal <- lapply(factors[!vapply(factors, is.ordered, NA)], levels)
  expect_identical(nominal, lapply(nominal, sort, method = "radix"))
})

test_that("adult marks unknown values as missing, and only in three columns", {
  expect_equal(
    count_missing(adult),
    c(workclass = 1836, occupation = 1843, native_country = 583)
  )
  expect_identical(sum(!stats::complete.cases(adult)), 2399L)
  unknown <- c("", "?", "NA")
  factors <- adult[vapply(adult, is.factor, NA)]
  expect_false(any(unlist(lapply(factors, levels)) %in% unknown))
})

test_that("adult gives the published share of unique records", {
  # Rocher, Hendrickx and de Montjoye (2019), Table 1 prints .794. The margin
  # is far below one record (3e-5) and above rounding.
  share <- count_unique(adult) / nrow(adult)
  expect_lt(abs(share - 0.793894536408587), 1e-14)
  expect_identical(count_unique(adult), 25850L)
})

test_that("adult begins with the first records of UCI's training file", {
  expect_identical(adult$age[1:3], c(39L, 50L, 38L))
  expect_identical(adult$education_num[1:3], c(13L, 13L, 9L))
})

panel_members_of <- function() unique(unlist(lapply(panel_waves$modules, `[[`, "id")))

panel_keys <- c(
  "gender", "age_group", "born_abroad", "education", "civil_status", "n_children",
  "urbanity", "occupation"
)

panel_cells <- function(data, keys) do.call(paste, c(unname(as.list(data[keys])), sep = "\r"))

test_that("panel_waves has the documented parts", {
  expect_named(
    panel_waves, c("background", "modules", "wave1", "wave2", "population", "truth")
  )
  expect_identical(
    vapply(panel_waves[-2], nrow, 1L),
    c(background = 312679L, wave1 = 7539L, wave2 = 7908L, population = 38271L, truth = 17924L)
  )
  expect_named(panel_waves$modules, c("religion", "work", "media", "language"))
  expect_identical(names(panel_waves$wave1), names(panel_waves$wave2))
  expect_identical(
    lapply(panel_waves$wave1, levels), lapply(panel_waves$wave2, levels)
  )
  expect_identical(
    lapply(panel_waves$wave2[panel_keys], levels),
    lapply(panel_waves$population[panel_keys], levels)
  )
})

test_that("panel_waves has the numbers of people and missing values of Mulder's panel", {
  # Mulder, section 3.1: 17924 - 6927 = 10997, and Table 1.
  background <- panel_waves$background
  members <- panel_members_of()
  expect_setequal(background$id, seq_len(17924))
  expect_length(members, 10997)
  expect_identical(17924L - length(members), 6927L)
  never <- vapply(names(background)[-(1:5)], function(v) {
    sum(!members %in% background$id[!is.na(background[[v]])])
  }, 1L)
  expect_equal(
    never[never > 0], c(urbanity = 8, income = 1783, income_class = 406, origin = 2264)
  )
})

test_that("ages of the background agree with year and month of birth, but for 30 people", {
  background <- panel_waves$background
  expect_identical(anyDuplicated(background[c("id", "year", "month")]), 0L)
  expect_false(anyNA(background[c("id", "household", "year", "month", "age")]))
  truth <- panel_waves$truth[match(background$id, panel_waves$truth$id), ]
  passed <- background$year - truth$birth_year - background$age # 0 once the birthday was
  wrong <- !((passed == 0 & background$month >= truth$birth_month) |
               (passed == 1 & background$month <= truth$birth_month))
  expect_lte(length(unique(background$id[wrong])), 30)
  expect_gte(length(unique(background$id[wrong])), 20)
  given <- !is.na(background$birth_year)
  expect_true(all(background$birth_year[given] == truth$birth_year[given]))
})

test_that("waves overlap, age and change as documented", {
  wave1 <- panel_waves$wave1
  wave2 <- panel_waves$wave2
  expect_identical(anyDuplicated(wave1$id), 0L)
  expect_identical(anyDuplicated(wave2$id), 0L)
  both <- intersect(wave1$id, wave2$id)
  expect_length(both, 5310)
  one <- wave1[match(both, wave1$id), ]
  two <- wave2[match(both, wave2$id), ]
  expect_setequal(two$age - one$age, 1:2)
  changes <- vapply(setdiff(names(one), c("id", "weight", "age")), function(v) {
    sum(as.integer(one[[v]]) != as.integer(two[[v]]), na.rm = TRUE)
  }, 1L)
  expect_setequal(names(changes)[changes < 200], c(
    "gender", "born_abroad", "education", "civil_status", "degree_year", "degree_field",
    "school_region", "birth_region", "father_education", "home_language"
  ))
  expect_true(all(c(wave1$weight, wave2$weight) > 0))
})

test_that("the population counts every key of wave 2, and the weights add up to it", {
  population <- panel_waves$population
  wave2 <- panel_waves$wave2
  expect_identical(sum(population$n), 110072L)
  expect_equal(sum(wave2$weight), 110072, tolerance = 1e-5)
  changed <- paste0(c("civil_status", "n_children", "urbanity", "occupation"), "_changed")
  expect_identical(anyDuplicated(population[c(panel_keys, changed)]), 0L)
  expect_false(anyNA(population))
  expect_false(anyNA(wave2[panel_keys]))
  counts <- tapply(population$n, panel_cells(population, panel_keys), sum)
  sample <- table(panel_cells(wave2, panel_keys))
  expect_true(all(sample <= counts[names(sample)]))

  both <- intersect(panel_waves$wave1$id, wave2$id)
  one <- panel_waves$wave1[match(both, panel_waves$wave1$id), ]
  two <- wave2[match(both, wave2$id), ]
  for (v in changed) {
    key <- sub("_changed", "", v)
    two[[v]] <- as.integer(as.integer(one[[key]]) != as.integer(two[[key]]))
  }
  expect_true(all(
    panel_cells(two, c(panel_keys, changed)) %in% panel_cells(population, c(panel_keys, changed))
  ))
})

test_that("panel_waves gives the counts on its help page", {
  keys <- c("gender", "age_group", "born_abroad", "education", "n_children", "occupation")
  population <- panel_waves$population
  counts <- tapply(population$n, panel_cells(population, keys), sum)
  sample <- table(panel_cells(panel_waves$wave2, keys))
  uniques <- names(sample)[sample == 1]
  expect_length(uniques, 1016)
  expect_identical(sum(counts[uniques] == 1), 87L)
  expect_equal(sum(1 / counts[uniques]), 257.8151, tolerance = 1e-6)
})
