# Waves put together, and who is a member.

jan <- data.frame(
  id = 1:3, civil = factor(c("single", "married", NA), c("single", "married")),
  income = c(900, NA, 2000), since = as.Date("2009-01-01") + 0:2
)
mar <- data.frame(
  id = c(2, 4), civil = factor(c("divorced", "single"), c("divorced", "single")),
  income = c(1500, NaN), extra = c("x", NA)
)

count_missing_values <- function(data) {
  n <- vapply(data, function(x) sum(is.na(x)), 1)
  n[n > 0]
}

test_that("the latest value that is not missing counts, with its wave", {
  found <- latest_values(list(january = jan, march = mar), "id")
  expect_s3_class(found, c("sdc_latest_values", "data.frame"))
  expect_named(found, c(
    "id", "civil", "income", "since", "extra",
    "civil_wave", "income_wave", "since_wave", "extra_wave"
  ))
  expect_equal(found$id, 1:4)
  expect_identical(
    found$civil,
    factor(c("single", "divorced", NA, "single"), c("single", "married", "divorced"))
  )
  expect_identical(found$income, c(900, 1500, 2000, NA))
  expect_identical(found$since, c(jan$since, NA))
  expect_identical(found$extra, c(NA, "x", NA, NA))
  expect_identical(
    found$income_wave, factor(c("january", "march", "january", NA), c("january", "march"))
  )
  expect_named(latest_values(list(jan, mar), "id", origin = FALSE), names(found)[1:5])
  expect_identical(levels(latest_values(list(jan, mar), "id")$civil_wave), c("1", "2"))
})

test_that("a long table gives the same as the list of its waves, in any order of rows", {
  set.seed(3)
  long <- data.frame(
    person = sample(letters, 300, TRUE), t = sample.int(30, 300, TRUE),
    a = sample(c(NA, 1:4), 300, TRUE), b = factor(sample(c(NA, "u", "v"), 300, TRUE)),
    c = sample(c(NA, 0.5, NaN), 300, TRUE)
  )
  long <- long[!duplicated(long[1:2]), ]
  whole <- latest_values(long, "person", "t")
  waves <- split(long[-2], long$t)
  listed <- latest_values(waves, "person")
  listed <- listed[match(whole$person, listed$person), ]
  for (v in c("a", "b", "c")) {
    expect_identical(as.character(whole[[v]]), as.character(listed[[v]]))
    expect_identical(
      as.character(whole[[paste0(v, "_wave")]]), as.character(listed[[paste0(v, "_wave")]])
    )
    # base R: the last known row of every person
    for (p in whole$person) {
      rows <- long[long$person == p & !is.na(long[[v]]), ]
      rows <- rows[order(rows$t), ]
      expected <- if (nrow(rows)) rows[[v]][nrow(rows)] else long[[v]][NA_integer_]
      expect_identical(whole[[v]][whole$person == p], expected)
    }
  }
  expect_type(whole$t, "NULL")
  expect_type(whole$a_wave, "integer")
})

test_that("several columns of time order by the first, then by the second", {
  data <- data.frame(id = 1, year = c(2010, 2009), month = c(1, 12), x = 1:2)
  found <- latest_values(data, "id", c("year", "month"))
  expect_identical(found$x, 1L)
  expect_identical(found$x_wave, factor("2010-1", c("2009-12", "2010-1")))
  ordered <- data.frame(
    id = 1, wave = factor(c("late", "early"), c("early", "late"), ordered = TRUE), x = 1:2
  )
  expect_identical(latest_values(ordered, "id", "wave")$x, 1L)
  days <- data.frame(id = 1, day = as.Date("2009-01-05") - 0:1, x = 1:2)
  expect_identical(latest_values(days, "id", "day")$x_wave, as.Date("2009-01-05"))
})

test_that("types are kept: candidates, labelled, ordered, logical, text beside factors", {
  one <- data.frame(id = 1:3, ok = c(TRUE, NA, FALSE), t = c("a", "b", NA))
  one$month <- candidates(list(c(2, 3), NA, 5))
  one$grade <- factor(c("low", "mid", "mid"), c("low", "mid"), ordered = TRUE)
  one$lab <- structure(c(1, 2, 9), class = "haven_labelled", na_values = 9, labels = c(yes = 1))
  two <- data.frame(id = 2:3, ok = NA, t = factor(c("z", "y")))
  two$month <- candidates(list(c(7, 8), NA))
  two$grade <- factor(c("high", NA), c("mid", "high"), ordered = TRUE)
  two$lab <- structure(c(9, 1), class = "haven_labelled", na_values = 9, labels = c(yes = 1))
  found <- latest_values(list(one, two), "id")
  expect_identical(format(found$month), c("2|3", "7|8", "5"))
  expect_identical(found$ok, c(TRUE, NA, FALSE))
  expect_identical(found$t, c("a", "z", "y"))
  expect_identical(
    found$grade, factor(c("low", "high", "mid"), c("low", "mid", "high"), ordered = TRUE)
  )
  expect_s3_class(found$lab, "haven_labelled")
  expect_identical(as.numeric(unclass(found$lab)), c(1, 2, 1))
  two$grade <- factor(c("low", NA), c("mid", "low"), ordered = TRUE)
  expect_false(is.ordered(latest_values(list(one, two), "id")$grade))
})

test_that("ids compare as values, whatever their types", {
  found <- latest_values(
    list(data.frame(id = factor(c("b", "a")), x = 1:2), data.frame(id = c("a", "c"), x = 3:4)),
    "id"
  )
  expect_identical(as.character(found$id), c("b", "a", "c"))
  expect_identical(found$x, c(1L, 3L, 4L))
})

test_that("the simulated panel has the missing values of Mulder's Table 1", {
  found <- latest_values(panel_waves$background, "id", c("year", "month"))
  members <- panel_members(panel_waves$background, panel_waves$modules, "id")
  merged <- as.data.frame(found)[found$id %in% members$id[members$member], ]
  expect_identical(nrow(merged), 10997L)
  expect_equal(
    count_missing_values(merged[names(panel_waves$background)[-(3:4)]]),
    c(urbanity = 8, income = 1783, income_class = 406, origin = 2264)
  )
  # Table 1, page 7: 0.001, 0.162, 0.037, 0.206
  expect_equal(
    round(c(8, 1783, 406, 2264) / 10997, 3), c(0.001, 0.162, 0.037, 0.206)
  )
  expect_identical(levels(found$age_wave)[c(1, 13, 24)], c("2011-1", "2012-1", "2012-12"))
})

test_that("faults in waves are classed errors", {
  bad <- function(kind, ...) {
    expect_error(latest_values(...), class = paste0("sdcRisk_error_", kind))
  }
  bad("bad_data", list(), "id")
  bad("bad_data", list(1:3), "id")
  bad("bad_data", "jan", "id")
  bad("bad_data", list(jan, jan[0, ]), "id")
  bad("unknown_key_var", list(jan, mar), "person")
  bad("bad_argument", list(jan, mar), c("id", "civil"))
  bad("bad_argument", list(jan, mar), "id", "income")
  bad("bad_argument", jan, "id")
  bad("unknown_key_var", jan, "id", "when")
  bad("bad_argument", jan, "id", "id")
  bad("bad_argument", jan, "id", "civil")
  bad("bad_argument", jan, "id", "income")
  bad("bad_data", rbind(jan, jan), "id", "since")
  bad("bad_data", list(jan, rbind(mar, mar)), "id")
  bad("bad_argument", list(transform(jan, id = NA), mar), "id")
  bad("bad_column", list(jan, transform(mar, income = "much")), "id")
  bad("bad_column", list(jan, transform(mar, since = 1)), "id")
  bad("bad_argument", list(jan, mar), "id", origin = NA)
  bad("bad_argument", list(jan, mar), "id", orgin = TRUE)
  bad("bad_data", list(data.frame(id = 1)), "id")
  bad("bad_data", list(data.frame(id = 1, x = 1, x_wave = 2)), "id")
  one <- jan
  one$income <- list(1, 2, 3)
  bad("bad_column", list(one, mar), "id")
})

test_that("members have background and a module", {
  background <- data.frame(id = c(1, 1, 2, 3, 4), age = c(30, 31, NA, 50, 60))
  modules <- list(
    a = data.frame(id = c(1, 2, 5), x = c(1, 1, 1)),
    b = data.frame(id = c(1, 3, 6), x = c(NA, NA, NA), y = c("u", NA, NA))
  )
  found <- panel_members(background, modules, "id")
  expect_equal(found$id, 1:6)
  expect_identical(found$background, c(TRUE, FALSE, TRUE, TRUE, FALSE, FALSE))
  expect_identical(found$n_modules, c(2L, 1L, 0L, 0L, 1L, 0L))
  expect_identical(found$member, c(TRUE, FALSE, FALSE, FALSE, FALSE, FALSE))
  expect_identical(found$reason, c(
    "member", "modules only", "background only", "background only", "modules only", "nothing"
  ))
  one <- panel_members(background, data.frame(id = 3), "id")
  expect_identical(one$id[one$member], 3)
})

test_that("the simulated panel has the members of Mulder's panel", {
  found <- panel_members(panel_waves$background, panel_waves$modules, "id")
  # section 3.1: 17,924 - 6,927 = 10,997
  expect_identical(nrow(found), 17924L)
  expect_identical(sum(found$reason == "background only"), 6927L)
  expect_identical(sum(found$member), 10997L)
})

test_that("faults in members' tables are classed errors", {
  bad <- function(kind, ...) {
    expect_error(panel_members(...), class = paste0("sdcRisk_error_", kind))
  }
  bad("bad_data", 1, list(mar), "id")
  bad("bad_data", jan, 1, "id")
  bad("bad_data", jan, list(), "id")
  bad("bad_data", jan, list(1), "id")
  bad("unknown_key_var", jan, list(data.frame(person = 1)), "id")
  bad("bad_argument", jan, list(mar), 1)
  bad("bad_argument", jan, list(transform(mar, id = NA)), "id")
})

test_that("prints count and show no one's values", {
  expect_snapshot(latest_values(list(january = jan, march = mar), "id"))
  expect_snapshot(panel_members(jan, list(mar), "id"))
  expect_s3_class(latest_values(list(jan, mar), "id")[1:2], "data.frame", exact = TRUE)
  expect_output(print(as.data.frame(panel_members(jan, list(mar), "id"))), "background only")
})

test_that("waves may be files, results of remedies and an sdcMicroObj", {
  wave <- data.frame(id = 1:6, sex = rep(c("f", "m"), 3), age = 30)
  plain <- latest_values(list(wave, wave), "id")
  file <- sdc_file(wave, c("sex", "age"), id_vars = "id")
  secret <- quietly(suppress_cells(file, k = 2))
  expect_identical(latest_values(list(file, secret), "id"), plain)
  expect_identical(panel_members(file, list(secret), "id"), panel_members(wave, wave, "id"))
  skip_if_not_installed("sdcMicro")
  micro <- quietly(sdcMicro::createSdcObj(wave, keyVars = c("sex", "age")))
  expect_identical(
    change_moments(list(micro, micro), "id", "sex"), change_moments(list(wave, wave), "id", "sex")
  )
})
