# What every function says of its arguments.

test_that("an unknown argument is named, with the nearest that is known", {
  calls <- list(
    quote(birth_month(adult, brith_year = "age")),
    quote(change_indicators(adult, adult, skope = "all")),
    quote(pram_audit(NULL, adult, n_simm = 1)),
    quote(pram_variance(NULL, adult, varss = "age")),
    quote(pram_transitions(NULL, 1, dta = adult)),
    quote(pram_match_prob(1:3, 0.5, b = 1)),
    quote(pram_theta(0.5, calibrated = "exact")),
    quote(match_theta(10, 10, 0.1, levels = 0.9)),
    quote(panel_members(adult, adult, ids = "age")),
    quote(candidate_interval(1, 2, uper = 3)),
    quote(loglinear_risk(adult, "age", weights_var = "w")),
    quote(longitudinal_risk(adult, adult, "age", levle = 0.9)),
    quote(predict(structure(list(), class = "sdc_copula_fit"), adult, 10, skore = "tree")),
    quote(validate_uniqueness(NULL, adult, row = 1))
  )
  for (call in calls) {
    found <- expect_error(eval(call), class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(found), "Unknown: \"", fixed = TRUE)
    expect_identical(found$argument, setdiff(names(call), "")[[1]])
  }
})

test_that("the core says what must hold, what was found and what to do", {
  expect_identical(
    core_message("There must be 2.\nThere is 1.\n> Add one."),
    c("There must be 2.", x = "There is 1.", i = "Add one.")
  )
  expect_identical(core_message("There must be 2."), rlang::set_names("There must be 2.", ""))
})

test_that("results of random numbers can be drawn again by the seed they keep", {
  set.seed(1)
  data <- adult[sample(nrow(adult), 300), c("age", "sex", "race", "education_num")]
  again <- function(x, code) {
    seed <- x$settings$seed
    expect_gt(length(seed), 0)
    expect_identical(length(seed) %% 8, 0)
    running$seeds <- unname(split(seed, (seq_along(seed) - 1) %/% 8))
    on.exit(running$seeds <- list())
    force(code)
  }
  random <- function() quietly(copula_fit(data, order = "random"))
  fit <- random()
  expect_identical(again(fit, random()), fit)
  by_size <- function() uniqueness_by_size(fit, 5000, n_sim = 2)
  x <- by_size()
  expect_identical(again(x, by_size()), x)
  scored <- function() {
    quietly(copula_uniqueness(
      fit,
      newdata = data[1:20, ], pop_size = 5000, score = "placement"
    ))
  }
  x <- scored()
  expect_identical(again(x, scored()), x)
  # What is not random keeps none.
  plain <- quietly(copula_fit(data))
  expect_null(plain$settings$seed)
  expect_null(quietly(copula_uniqueness(plain, newdata = data, pop_size = 5000))$settings$seed)
  # A release does not tell how it was drawn.
  moved <- quietly(invariant_pram(data["sex"], unprotected = "keep"))
  expect_null(moved$settings$seed)
  audit <- function() pram_audit(moved, data["sex"], n_sim = 5)
  x <- audit()
  expect_identical(again(x, audit()), x)
  # Nor does what is drawn after it: the generator's state would hold the release's draws.
  set.seed(7)
  draws <- floor(stats::runif(8, 0, 2^32))
  set.seed(7)
  moved <- quietly(invariant_pram(data["sex"], unprotected = "keep"))
  x <- audit()
  expect_length(x$settings$seed, 8)
  expect_false(any(draws %in% unlist(c(x$settings, attributes(x)$asked))))
  risk <- quietly(qar_risk(data, p = 2, pi_u = 0.5))
  for (by in c("random", "pls")) {
    if (by == "pls") skip_if_not_installed("pls")
    path <- function() quietly(removal_path(risk, data, 5, by = by))
    x <- path()
    expect_identical(again(x, path()), x)
  }
})

test_that("names that are no text are refused as other unknown names are", {
  data <- data.frame(a = 1:3)
  for (name in c("\xff\xfe", "b\xe9")) {
    expect_error(n_matches(data, name), class = "sdcRisk_error_unknown_key_var")
    expect_error(n_matches(data, "a", weight_var = name), class = "sdcRisk_error")
  }
})

test_that("a file that was read with another separator is told", {
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  data <- data.frame(region = rep(c("a", "b"), 20), age = 1:40, income = 1:40 + 0.5)
  hint <- "was the file read with another separator"
  said <- function(code, class = "unknown_key_var") {
    e <- expect_error(code, class = paste0("sdcRisk_error_", class))
    expect_match(conditionMessage(e), hint, fixed = TRUE)
    expect_no_match(conditionMessage(e), "Did you mean")
  }
  for (sep in c(";", "\t", "|", ",")) {
    utils::write.table(data, path, sep = sep, row.names = FALSE)
    other <- if (sep == ",") ";" else ","
    for (names in c(TRUE, FALSE)) {
      x <- utils::read.table(path, header = TRUE, sep = other, check.names = names)
      expect_length(x, 1)
      said(sdc_file(x, c("region", "age")))
      said(file_check(x, c(region, age)))
      said(n_matches(x, "region", weight_var = "income"))
    }
    if (sep %in% c(";", "\t")) said(file_check(x), "no_key_vars")
  }
  # Decimal commas make a second field of each line.
  utils::write.csv2(data, path, row.names = FALSE)
  said(suppress_cells(utils::read.csv(path), c("region", "age")))
  # A name with dots is one name.
  one <- data.frame(reg.of.birth = 1:9)
  for (key in c("region", "reg_of_birth")) {
    e <- expect_error(sdc_file(one, key), class = "sdcRisk_error_unknown_key_var")
    expect_no_match(conditionMessage(e), hint, fixed = TRUE)
  }
})
