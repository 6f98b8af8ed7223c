# One rule for missing values: `missing` is "wildcard" in every function for which a missing
# value that matches everything is defined, and the others say so.

keys <- c("CENREG", "DAGE3", "EDUC3")

taking_missing <- function() {
  exports <- sort(getNamespaceExports("sdcRisk"))
  exports <- exports[vapply(exports, function(name) {
    is.function(getExportedValue("sdcRisk", name))
  }, NA)]
  exports[vapply(exports, function(name) "missing" %in% names(sdcRisk:::arguments_of(name)), NA)]
}

calls_with_wildcard <- list(
  copula_fit = function() copula_fit(nals_prison, keys, missing = "wildcard"),
  exhaustive_tabulation = function() exhaustive_tabulation(nals_prison, keys, missing = "wildcard"),
  household_risk = function() household_risk(nals_prison, keys, "WEIGHT", missing = "wildcard"),
  loglinear_risk = function() loglinear_risk(nals_prison, keys, missing = "wildcard"),
  longitudinal_risk = function() {
    longitudinal_risk(
      panel_waves$wave1, panel_waves$wave2, "age", "age", "age", "id",
      missing = "wildcard"
    )
  },
  population_uniqueness = function() {
    population_uniqueness(nals_prison, keys, 1e5, missing = "wildcard")
  },
  qar_risk = function() qar_risk(nals_prison, keys, missing = "wildcard")
)

test_that("`missing` is \"wildcard\" by default, or the function refuses it and says why", {
  pages <- tools::Rd_db("sdcRisk")
  aliases <- lapply(pages, function(page) {
    tags <- vapply(page, attr, "", "Rd_tag")
    vapply(page[tags == "\\alias"], function(alias) as.character(alias[[1]]), "")
  })
  functions <- setdiff(taking_missing(), "sdc_file")
  for (name in functions) {
    default <- sdcRisk:::arguments_of(name)$missing
    if (identical(default, "wildcard")) next
    expect_true(name %in% names(calls_with_wildcard), info = name)
    e <- expect_error(
      calls_with_wildcard[[name]](), class = "sdcRisk_error_bad_argument", info = name
    )
    expect_identical(e$argument, "missing", info = name)
    expect_match(conditionMessage(e), "\"wildcard\" would", fixed = TRUE, info = name)
    page <- pages[[which(vapply(aliases, function(a) name %in% a, NA))]]
    text <- gsub("\\s+", " ", paste(unlist(page), collapse = ""))
    expect_match(text, "\"wildcard\" is not defined here", fixed = TRUE, info = name)
  }
  expect_true(all(c("file_check", "individual_risk", "n_matches") %in% functions))
})

test_that("the rule of a file is that of every function which has it", {
  people <- data.frame(age = c(40, NA, 23, 23), sex = c("f", "f", NA, "m"))
  by <- function(rule) n_matches(sdc_file(people, c("age", "sex"), missing = rule))
  expect_identical(n_matches(people)$settings$missing, by("wildcard")$settings$missing)
  expect_identical(by("exclude")$estimates$n, 2)
  e <- expect_error(
    qar_risk(sdc_file(people, c("age", "sex"), missing = "wildcard"), p = 1),
    class = "sdcRisk_error_bad_argument"
  )
  expect_identical(e$argument, "missing")
})

test_that("k = 3 is the smallest class wherever one is meant", {
  k <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  small <- which(n_matches(nals_prison, k)$records$n_matches < 3)
  expect_length(small, 88)
  expect_identical(sort(records_at_risk(n_matches(nals_prison, k), k = 3)$record), small)
  check <- file_check(nals_prison, k, k = 3)
  expect_identical(check$estimates$n_records_above[check$estimates$measure == "k"], 88L)
  expect_identical(suppress_cells(nals_prison, k, k = 3)$estimates$n_violations_before, 88L)
  by_k <- recode_search(nals_prison, k[1:3], k = 3)
  by_list <- recode_search(nals_prison, k[1:3], constraint = list(k = 3))
  expect_identical(by_k$best, by_list$best)
})
