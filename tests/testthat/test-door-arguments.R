# What is given where columns are to be named: a lone number, names without quotes, other
# spellings of an argument.

skip_on_cran()

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")

# A call of every exported function that has `key_vars`, with `key_vars` and the file given.
call_with_keys <- function(name, file, key_vars) {
  f <- getExportedValue("sdcRisk", name)
  arguments <- names(formals(args(f)))
  files <- intersect(
    arguments, c("data", "wave1", "wave2", "known", "released", "before", "after", "original")
  )
  more <- switch(name,
    household_risk = list(hh_id = "WEIGHT"),
    joint_release_risk = list(releases = list(file, file), id = "WEIGHT")
  )
  do.call(f, c(rlang::set_names(rep(list(file), length(files)), files),
               list(key_vars = key_vars), more))
}

with_key_vars <- function() {
  exports <- sort(getNamespaceExports("sdcRisk"))
  has <- vapply(exports, function(name) {
    "key_vars" %in% names(formals(args(getExportedValue("sdcRisk", name))))
  }, NA)
  exports[has]
}

test_that("a lone number as key_vars is an error in every function that has the argument", {
  functions <- with_key_vars()
  expect_length(functions, 27)
  file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT")
  for (name in functions) {
    for (given in list(nals_prison, file)) {
      for (number in list(3, 3L, 99, 0.05, -1)) {
        e <- expect_error(
          call_with_keys(name, given, number), class = "sdcRisk_error_bad_argument", info = name
        )
        expect_identical(e$argument, "key_vars", info = name)
        expect_match(conditionMessage(e), "not be a single number", info = name)
      }
      e <- expect_error(call_with_keys(name, given, 3), class = "sdcRisk_error_bad_argument")
      expect_match(conditionMessage(e), "3 is a position of column `EDUC3`", info = name)
      expect_match(conditionMessage(e), "key_vars = \"EDUC3\"", info = name, fixed = TRUE)
    }
  }
})

test_that("a lone number names no column in any other argument either", {
  files <- c(
    "data", "wave1", "wave2", "known", "released", "before", "after", "original", "waves",
    "background", "releases", "x"
  )
  tried <- 0
  for (name in sort(getNamespaceExports("sdcRisk"))) {
    f <- getExportedValue("sdcRisk", name)
    arguments <- names(formals(args(f)))
    own <- setdiff(intersect(column_arguments, arguments), c("key_vars", "key_groups", "linked"))
    for (arg in if (any(files %in% arguments)) own) {
      given <- rlang::set_names(intersect(files, arguments))
      e <- tryCatch(
        do.call(f, c(lapply(given, function(x) nals_prison), rlang::set_names(list(3), arg))),
        error = identity
      )
      expect_s3_class(e, "sdcRisk_error_bad_argument")
      if (!identical(e$argument, arg)) next
      tried <- tried + 1
      expect_match(conditionMessage(e), "not be a single number", info = paste(name, arg))
      meant <- paste0("Did you mean ", arg, " = \"EDUC3\"?")
      expect_match(conditionMessage(e), meant, fixed = TRUE, info = name)
    }
  }
  expect_gt(tried, 40)
  for (arg in c("id_vars", "num_vars", "cluster", "sensitive_vars", "strata")) {
    given <- rlang::set_names(list(nals_prison, keys, 3), c("data", "key_vars", arg))
    e <- expect_error(do.call(sdc_file, given), class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(e), "3 is a position of column `EDUC3`", fixed = TRUE)
  }
  expect_error(attribute_risk(nals_prison, keys[1:3], 7), "Did you mean sensitive = ", fixed = TRUE)
})

test_that("the number is asked about in the words of the function", {
  file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT")
  asked <- function(call) {
    e <- tryCatch(call, error = identity)
    sub(".*Did you mean ([^?]*)\\?.*", "\\1", conditionMessage(e))
  }
  expect_identical(asked(suppress_cells(file, 3)), "k = 3")
  expect_identical(asked(recode_search(file, 3)), "k = 3")
  expect_identical(asked(file_check(file, 3)), "k = 3")
  expect_identical(asked(n_matches(file, 5)), "below = 5")
  expect_identical(asked(qar_risk(file, 3)), "p = 3")
  expect_identical(asked(exhaustive_tabulation(file, 2)), "threshold = 2")
  expect_identical(asked(copula_uniqueness(file, 1e6)), "pop_size = 1000000")
  expect_identical(asked(individual_risk(file, 0.05)), "limit = 0.05")
  expect_identical(asked(suppress_cells(file, 0.2)), "max_risk = 0.2")
})

test_that("several positions, and a list of key sets, are key variables as ever", {
  by_name <- n_matches(nals_prison, names(nals_prison)[2:4])
  expect_identical(n_matches(nals_prison, 2:4)$estimates, by_name$estimates)
  sets <- n_matches(nals_prison, list(2, 2:4))
  expect_identical(sets$estimates$n_unique[[2]], by_name$estimates$n_unique)
})

test_that("an unknown argument is told without being evaluated", {
  e <- expect_error(n_matches(nals_prison, keys, weight = WEIGHT), "Did you mean `weight_var`?")
  expect_s3_class(e, "sdcRisk_error_bad_argument")
})

test_that("other names of arguments are told, and several key variables are one argument", {
  shows <- function(call, text) {
    e <- expect_error(call, class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(e), text, fixed = TRUE)
  }
  shows(sdc_file(nals_prison, keys, household_id = "CASEID"), "Did you mean `hh_id`?")
  shows(sdc_file(nals_prison, keys, hhid = "CASEID"), "Did you mean `hh_id`?")
  shows(sdc_file(nals_prison, keys, weights = "WEIGHT"), "`weights` is `weight_var` here")
  shows(n_matches(nals_prison, keys = keys), "Did you mean `key_vars`?")
  shows(sdc_file(nals_prison, "GENDER", "DAGE3"), "key_vars = c(\"GENDER\", \"DAGE3\")")
  shows(n_matches(nals_prison, keys, k = 3), "below = 3")
  shows(invariant_pram(nals_prison, keys, k = 3), "max_match_prob = 1/3")
  shows(attribute_risk(nals_prison, "DRACE3"), "sensitive = ...")
  shows(individual_risk(adult, c("age", "sex"), pop_size = 1e7), "give `weight_var`")
  shows(sdc_file(nals_prison, GENDER, DAGE3), "key_vars = c(\"GENDER\", \"DAGE3\")")
  shows(file_check(nals_prison, keys, journalist = 0.1), "limit = list(journalist = ...)")
  shows(file_check(nals_prison, keys, jurnalist = 0.1), "Did you mean \"journalist\"?")
  shows(file_check(nals_prison, keys, limit = list(jorunalist = 0.1)), "mean \"journalist\"?")
})

test_that("misspelt arguments are told before others are missed", {
  shows <- function(call, text, class = "sdcRisk_error_bad_argument") {
    e <- expect_error(call, class = class)
    expect_match(conditionMessage(e), text, fixed = TRUE)
  }
  file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT")
  for (f in list(copula_uniqueness, population_uniqueness)) {
    shows(f(nals_prison, keys, popsize = 1e4), "Did you mean \"pop_size\"?")
  }
  shows(copula_uniqueness(nals_prison, keys, weight_vra = WEIGHT), "Did you mean \"weight_var\"?")
  shows(population_uniqueness(nals_prison, keys, weight_var = WEIGHT), "weight_var = ...")
  # Weights give the population, quoted or not.
  unquoted <- quietly(copula_uniqueness(
    nals_prison, keys[1:3], weight_var = WEIGHT, records = FALSE
  ))
  quoted <- quietly(copula_uniqueness(
    nals_prison, keys[1:3], weight_var = "WEIGHT", records = FALSE
  ))
  expect_identical(unquoted$settings$pop_size, round(sum(nals_prison$WEIGHT)))
  expect_identical(quoted$estimates, unquoted$estimates)
  ages <- data.frame(age = 20:60, sex = 1)
  shows(top_code(ages, aeg = 40), "Did you mean \"age\"?", "sdcRisk_error_unknown_key_var")
  found <- n_matches(file)
  shows(sdc_report(found, flie = tempfile(fileext = ".html")), "Did you mean \"file\"?")
  expect_identical(spelling_distance("aeg", c("age", "aeg", "egg")), c(1, 0, 2))
})

test_that("arguments that were forgotten are asked for with the way to give them", {
  shows <- function(call, text) {
    e <- expect_error(call, class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(e), text, fixed = TRUE)
  }
  found <- suppressMessages(recode_search(nals_prison, keys))
  saved <- unserialize(serialize(found, NULL))
  shows(apply_recoding(saved), "Give the data that it was made from.")
  shows(release_data(found), "apply_recoding(x, data)")
  shows(sdc_report(n_matches(nals_prison, keys)), "file = \"report.html\"")
  shows(invariant_pram(nals_prison, keys, hh_id = "CASEID"), "`hh_vars` must be given with `hh_id`")
  shows(invariant_pram(nals_prison, keys, hh_vars = "CENREG"), "`hh_id` must be given with")
})

test_that("a table of a database is not counted for a lone number", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "people", nals_prison)
  people <- dplyr::tbl(con, "people")
  for (call in expression(n_matches(people, 3), qar_risk(people, 3), pattern_table(people, 3))) {
    e <- expect_error(eval(call), class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(e), "3 is a position of column `EDUC3`")
  }
  expect_identical(
    n_matches(people, c(GENDER, DAGE3))$estimates,
    n_matches(people, c("GENDER", "DAGE3"))$estimates
  )
})

test_that("the smallest class is k in every function that has a limit of it", {
  check <- function(...) file_check(nals_prison, keys, weight_var = "WEIGHT", ...)
  expect_identical(
    check(k = 5)$estimates, check(limit = list(k = 5, journalist = 0.05))$estimates
  )
  expect_identical(check(k = 2, limit = list())$settings$limit, list(k = 2))
  search <- function(...) quietly(recode_search(nals_prison, keys, ...))
  expect_identical(search(k = 5)$best, search(constraint = list(k = 5))$best)
  both <- search(k = 2, constraint = list(prop_unique = 0.05))
  expect_identical(sort(names(both$settings$constraint)), c("k", "prop_unique"))
  expect_error(search(k = 0), "`k` must be", class = "sdcRisk_error_bad_argument")
  expect_error(check(k = 2.5), "`k` must be", class = "sdcRisk_error_bad_argument")
})

test_that("the beginning of a name, and a misspelt argument of the model, are asked about", {
  expect_identical(
    nearest_names("tau", c("limit", "tau_prosecutor", "tau_journalist")),
    "Did you mean \"tau_prosecutor\", \"tau_journalist\"?"
  )
  refused <- expect_error(
    individual_risk(nals_prison, keys, "WEIGHT", tau = 0.1), class = "sdcRisk_error_bad_argument"
  )
  expect_match(
    conditionMessage(refused), "Did you mean \"tau_prosecutor\", \"tau_journalist\"?", fixed = TRUE
  )
  meant <- c(levl = "level", marginal = "marginals")
  for (wrong in names(meant)) {
    args <- rlang::set_names(list(0.9), wrong)
    refused <- expect_error(
      do.call(copula_uniqueness, c(list(nals_prison, c("CENREG", "GENDER"), pop_size = 1e5), args)),
      class = "sdcRisk_error_bad_argument"
    )
    advice <- paste0("Did you mean \"", meant[[wrong]], "\"?")
    expect_match(conditionMessage(refused), advice, fixed = TRUE)
  }
})

test_that("two limits of one measure must agree", {
  data <- people()
  error <- expect_error(
    file_check(data, c("age", "sex"), limit = list(k = 3), k = 5),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(error), "5 and 3 were given", fixed = TRUE)
  expect_error(
    recode_search(data, c("age", "sex"), constraint = list(k = 2), k = 3),
    class = "sdcRisk_error_bad_argument"
  )
  expect_identical(file_check(data, "sex", limit = list(k = 3), k = 3)$settings$limit$k, 3)
})

test_that("the values of columns are no names, and are not told", {
  d <- data.frame(
    town = rep(c("zqcanary a", "zqcanary b"), 100), kind = factor(rep(1:2, each = 100)),
    age = rep(1:4, 50), w = 1.5
  )
  said <- function(code, ...) {
    e <- expect_error(code, class = "sdcRisk_error_bad_argument")
    for (text in c(...)) expect_match(conditionMessage(e), text, fixed = TRUE)
    expect_no_match(conditionMessage(e), "zqcanary", fixed = TRUE)
  }
  said(sdc_file(d, d$town), "It holds the values of \"town\".", "key_vars = \"town\".")
  said(n_matches(d, key_vars = d[["age"]]), "key_vars = \"age\"")
  said(file_check(d, c(d$kind, d$town)), "key_vars = c(\"kind\", \"town\")")
  said(individual_risk(d, age, weight_var = d$w), "weight_var = \"w\"")
  # Names that an object holds, under the name of a column too.
  spec <- list(age = "age", town = c("town", "kind"))
  expect_identical(sdc_roles(sdc_file(d, spec$age))$key_vars, "age")
  expect_identical(sdc_roles(sdc_file(d, spec$town))$key_vars, c("town", "kind"))
})

test_that("the name of a file is neither data nor an argument", {
  said <- expect_error(file_check("d.csv"), class = "sdcRisk_error_bad_data")
  expect_match(conditionMessage(said), "data <- read.csv(\"d.csv\")", fixed = TRUE)
  said <- expect_error(n_matches("age"), class = "sdcRisk_error_bad_data")
  expect_no_match(conditionMessage(said), "read", fixed = TRUE)
  file <- sdc_file(adult, c("age", "sex", "race"))
  for (x in list(quietly(top_code(file, age = 65)), quietly(suppress_cells(file, k = 3)))) {
    said <- expect_error(release_data(x, "x.csv"), class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(said), "write.csv(release_data(x), \"x.csv\")", fixed = TRUE)
  }
})

test_that("an argument of another function is named with it", {
  file <- sdc_file(nals_prison, c("GENDER", "CENREG"))
  refused <- function(code, class = "sdcRisk_error_bad_argument") {
    conditionMessage(expect_error(code, class = class))
  }
  m <- refused(suppress_cells(file, below = 3))
  expect_match(m, "`below` is an argument of n_matches().", fixed = TRUE)
  m <- refused(file_check(file, importance = c(GENDER = 2)))
  expect_match(m, "`importance` is an argument of recode_search(), suppress_cells().", fixed = TRUE)
  # Also of the methods for a file.
  m <- refused(file_check(file, keep_ids = "GENDER"))
  expect_match(m, "`keep_ids` is an argument of release_data().", fixed = TRUE)
  # Neither one that many functions have, nor a column.
  expect_no_match(refused(release_data(file, data = file)), "is an argument of")
  aged <- cbind(nals_prison, age = 1)
  expect_no_match(refused(file_check(aged, "GENDER", age = 3)), "is an argument of")
  expect_match(refused(file_check(nals_prison, "GENDER", age = 3)), "argument of birth_month()")
  for (recode in list(global_recode, top_code, bottom_code)) {
    m <- refused(recode(file, breaks = c(1, 2)), "sdcRisk_error_unknown_key_var")
    expect_match(m, "`breaks` is an argument of hierarchy().", fixed = TRUE)
    expect_match(m, "All other arguments are variables of the file: [a-z_]+\\(file, age = ")
    expect_match(m, "Columns of `data`: \"", fixed = TRUE)
  }
})

test_that("a file that is given twice is told", {
  file <- sdc_file(nals_prison, c("GENDER", "CENREG"))
  for (recode in list(global_recode, top_code, bottom_code)) {
    for (given in list(list(file, data = nals_prison), list(nals_prison, data = file, EDUC3 = 2))) {
      e <- expect_error(do.call(recode, given), class = "sdcRisk_error_bad_argument")
      expect_identical(e$argument, "data")
      expect_match(conditionMessage(e), "There are two files.", fixed = TRUE)
    }
  }
  for (fun in list(file_check, suppress_cells, n_matches, recode_search)) {
    e <- expect_error(fun(file, data = nals_prison), class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(e), "The file is given once: first, or as `data`.", fixed = TRUE)
  }
})
