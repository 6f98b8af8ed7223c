# Columns chosen as in dplyr, in every function that takes columns.

d_vars <- c("DIC0401", "DAGE3", "DRACE3")
of <- function(...) quietly(n_matches(nals_prison, ...))$settings$key_vars

test_that("selections name the columns that tidyselect names", {
  expect_identical(of(c(GENDER, DAGE3)), c("GENDER", "DAGE3"))
  expect_identical(of(GENDER), "GENDER")
  expect_identical(of(c("GENDER", DAGE3)), c("GENDER", "DAGE3"))
  expect_identical(of(starts_with("D")), grep("^D", names(nals_prison), value = TRUE))
  expect_identical(of(tidyselect::all_of(c("GENDER", "DAGE3"))), c("GENDER", "DAGE3"))
  expect_identical(of(all_of(c("GENDER", "DAGE3"))), c("GENDER", "DAGE3"))
  expect_identical(of(c(ends_with("AGE3"), GENDER)), c("DAGE3", "GENDER"))
  expect_identical(of(GENDER:DAGE3), {
    at <- match(c("GENDER", "DAGE3"), names(nals_prison))
    names(nals_prison)[at[[1]]:at[[2]]]
  })
  expect_identical(of(-c(WEIGHT, CASEID)), setdiff(names(nals_prison), c("WEIGHT", "CASEID")))
  expect_identical(of(-c("WEIGHT", "CASEID")), setdiff(names(nals_prison), c("WEIGHT", "CASEID")))
  expect_identical(of(2:4), names(nals_prison)[2:4])
  expect_identical(of(names(nals_prison)[2:4]), names(nals_prison)[2:4])
})

test_that("variables that hold names come first, wherever the call is made", {
  keys <- c("GENDER", "DAGE3")
  expect_identical(of(keys), keys)
  expect_identical(of(c(keys, CENREG)), c(keys, "CENREG"))
  expect_identical(of(c(keys[1], CENREG)), c("GENDER", "CENREG"))
  expect_identical(of(tidyselect::any_of(keys)), keys)
  called <- function(data, key_vars) n_matches(data, key_vars)$settings$key_vars
  expect_identical(called(nals_prison, keys), keys)
  embraced <- function(data, v) n_matches(data, {{ v }})$settings$key_vars
  expect_identical(embraced(nals_prison, c(GENDER, DAGE3)), keys)
  expect_identical(embraced(nals_prison, starts_with("DAGE3")), "DAGE3")
  expect_identical(do.call(n_matches, list(nals_prison, keys))$settings$key_vars, keys)
  # A text that names other things does not hide the column.
  GENDER <- "no column"
  expect_identical(of(GENDER), "GENDER")
  # A column and a variable of one name: the variable, as everywhere in R.
  data <- cbind(nals_prison, keys = 1)
  expect_identical(n_matches(data, keys)$settings$key_vars, keys)
})

test_that("every argument that names columns is read in this way", {
  file <- sdc_file(nals_prison, c(GENDER, DAGE3), weight_var = WEIGHT, strata_var = CENREG)
  expect_identical(sdc_roles(file), list(
    key_vars = c("GENDER", "DAGE3"), weight_var = "WEIGHT", strata_var = "CENREG"
  ))
  by_name <- individual_risk(nals_prison, c("GENDER", "DAGE3"), "WEIGHT")
  expect_identical(
    individual_risk(nals_prison, c(GENDER, DAGE3), WEIGHT)$estimates, by_name$estimates
  )
  sets <- n_matches(nals_prison, list(few = GENDER, more = c(GENDER, DAGE3)))
  expect_identical(
    sets$estimates, n_matches(
      nals_prison, list(few = "GENDER", more = c("GENDER", "DAGE3"))
    )$estimates
  )
  groups <- n_matches(nals_prison, c(GENDER, DAGE3, EDUC3), key_groups = list(g = c(GENDER, DAGE3)))
  expect_identical(groups$settings$key_groups, list(g = c("GENDER", "DAGE3")))
  linked <- longitudinal_link(nals_prison, nals_prison, c(GENDER, DAGE3), CASEID)
  expect_identical(linked$settings$key_vars, c("GENDER", "DAGE3"))
  months <- data.frame(who = c(1, 1), y = 2000, m = c(3, 4), a = c(20, 21))
  expect_equal(
    as.data.frame(birth_month(months, who, y, m, a)),
    as.data.frame(birth_month(months, "who", "y", "m", "a"))
  )
  s <- quietly(suppress_cells(file, k = 3, linked = list(DAGE3 = EDUC3)))
  expect_true("EDUC3" %in% s$variables$variable)
  out <- quietly(release_data(s, drop = c(DIC0401, SCORE)))
  expect_false(any(c("DIC0401", "SCORE") %in% names(out)))
})

test_that("what leaves columns out is taken from the key variables of a file", {
  file <- sdc_file(nals_prison, c(GENDER, DAGE3, EDUC3), weight_var = WEIGHT)
  expect_identical(n_matches(file, -DAGE3)$settings$key_vars, c("GENDER", "EDUC3"))
  expect_identical(n_matches(file, !c(DAGE3, CENREG))$settings$key_vars, c("GENDER", "EDUC3"))
  few <- nals_prison[c("GENDER", "DAGE3", "EDUC3", "WEIGHT")]
  expect_identical(
    n_matches(few, -DAGE3, weight_var = WEIGHT)$settings$key_vars, c("GENDER", "EDUC3")
  )
})

test_that("unknown columns and other errors are told", {
  unknown <- function(call) {
    e <- expect_error(call, class = "sdcRisk_error_unknown_key_var")
    expect_match(conditionMessage(e), "Did you mean \"GENDER\"", fixed = TRUE)
  }
  unknown(n_matches(nals_prison, c(GENDR, DAGE3)))
  unknown(n_matches(nals_prison, GENDR))
  unknown(n_matches(nals_prison, "GENDR"))
  unknown(n_matches(nals_prison, all_of("GENDR")))
  unknown(sdc_file(nals_prison, DAGE3, strata_var = GENDR))
  expect_error(n_matches(nals_prison, stop("mine")), "mine")
  bare <- function(data, v) n_matches(data, v)
  e <- expect_error(bare(nals_prison, c(GENDER, DAGE3)), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(e), "key_vars = {{ v }}", fixed = TRUE)
  expect_error(n_matches(nals_prison, starts_with("zz")), class = "sdcRisk_error_bad_argument")
})

test_that("a selection is in results and reports as names", {
  x <- n_matches(nals_prison, c(GENDER, DAGE3))
  expect_identical(attr(x, "asked")$arguments$key_vars, c("GENDER", "DAGE3"))
  path <- tempfile(fileext = ".html")
  quietly(sdc_report(x, file = path))
  again <- replay(sub("html$", "json", path), nals_prison)
  expect_true(nrow(again) > 0 && all(again$equal))
})
