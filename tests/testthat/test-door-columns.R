# Columns whose class changes nothing of their values are taken as these.

dressed <- function(x) {
  labelled <- function(x) {
    structure(x, label = "A question", class = c("labelled", oldClass(x)))
  }
  list(
    array = structure(x, dim = length(x)), as_is = I(x), labelled = labelled(x),
    difftime = as.difftime(x, units = "hours"),
    hms = structure(3600 * x, units = "secs", class = c("hms", "difftime"))
  )
}

test_that("arrays of one dimension, I(), labels and times count as their values", {
  keys <- c("DAGE", "GENDER", "DRACE3")
  plain <- nals_prison[c(keys, "WEIGHT")]
  before <- n_matches(plain, keys)
  for (form in names(dressed(1))) {
    data <- plain
    data$DAGE <- dressed(as.double(plain$DAGE))[[form]]
    expect_identical(n_matches(data, keys)$estimates, before$estimates, info = form)
    expect_identical(
      individual_risk(data, keys, "WEIGHT")$estimates,
      individual_risk(plain, keys, "WEIGHT")$estimates, info = form
    )
    blanked <- suppress_cells(data, keys)
    expect_identical(blanked$cells, suppress_cells(plain, keys)$cells, info = form)
    expect_identical(class(blanked$data$DAGE), class(data$DAGE), info = form)
    expect_identical(
      utility_loss(data, blanked$data, keys)$estimates$n_blank,
      blanked$estimates$n_suppressed, info = form
    )
    expect_identical(
      key_overview(data, keys)$estimates$entropy, key_overview(plain, keys)$estimates$entropy,
      info = form
    )
  }
})

test_that("the code of a recoding of such a column does what apply_recoding() does", {
  for (form in names(dressed(1))) {
    data <- data.frame(age = rep(c(21, 25, 33, 38), each = 2), sex = rep(1:2, 4))
    scale <- if (form %in% c("difftime", "hms")) 3600 else 1
    data$age <- dressed(data$age)[[form]]
    bands <- list(
      age = hierarchy(data$age, breaks = list(30 * scale)), sex = hierarchy(data$sex, drop = FALSE)
    )
    found <- suppressMessages(recode_search(data, hierarchies = bands, constraint = list(k = 2)))
    expect_match(found$code[[1]], "data$age", fixed = TRUE, all = FALSE)
    scope <- list2env(list(data = data))
    eval(parse(text = found$code[[1]]), scope)
    expect_identical(scope$data, as.data.frame(apply_recoding(found, data)), info = form)
  }
})

test_that("weights of these classes are numbers", {
  keys <- c("GENDER", "DRACE3")
  plain <- individual_risk(nals_prison, keys, "WEIGHT")$estimates
  for (form in c("array", "as_is", "labelled")) {
    data <- nals_prison
    data$WEIGHT <- dressed(data$WEIGHT)[[form]]
    expect_identical(individual_risk(data, keys, "WEIGHT")$estimates, plain, info = form)
  }
})

test_that("a class without a reading is refused with a way out", {
  data <- data.frame(a = 1:3)
  data$b <- structure(1:3, class = "measure_of_ours")
  e <- expect_error(n_matches(data), class = "sdcRisk_error_bad_column")
  expect_match(conditionMessage(e), "unclass()", fixed = TRUE)
})
