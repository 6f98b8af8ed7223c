skip_on_cran()

keys_of <- function(data) setdiff(names(data), c("w", "disease"))

# Small files of all kinds: missing values, one record, no two records alike.
pattern_files <- function(seed) {
  set.seed(seed)
  n <- sample(c(1, 2, 30, 200), 1)
  data <- random_file(n, c(3, 4, 2, 5), missing_rate = sample(c(0, 0.15), 1), seed = seed)
  data$w <- round(stats::runif(n, 1, 40), sample(0:3, 1))
  data$disease <- sample(c("a", "b", NA), n, TRUE)
  data
}

test_that("a pattern table counts what base R counts", {
  for (seed in seeds(24)) {
    data <- pattern_files(seed)
    keys <- keys_of(data)
    found <- pattern_table(data, keys, weight_var = "w")
    expected <- oracle_patterns(data, keys, "w")
    patterns <- as.data.frame(found)
    expect_identical(names(patterns), c(keys, "n", "w"), info = seed)
    expect_identical(as.double(patterns$n), expected$n, info = seed)
    expect_equal(patterns$w, expected$w, tolerance = 1e-12, info = seed)
    for (key in keys) {
      expect_identical(oracle_codes(patterns[[key]]), oracle_codes(expected[[key]]), info = seed)
      expect_identical(class(patterns[[key]]), class(data[[key]]), info = seed)
    }
    expect_identical(found$n_records, nrow(data))
  }
})

test_that("every method finds on a pattern table what it finds on the records", {
  for (seed in seeds(16)) {
    data <- pattern_files(seed)
    keys <- keys_of(data)
    pattern <- pattern_table(data, keys, weight_var = "w")
    of <- attr(oracle_patterns(data, keys), "of")
    same <- function(f, ..., tolerance = 1e-12) {
      by_records <- tryCatch(quietly(f(data, keys, ...)), sdcRisk_error = identity)
      by_patterns <- tryCatch(quietly(f(pattern, keys, ...)), sdcRisk_error = identity)
      info <- paste(seed, deparse(substitute(f)), paste(c(...), collapse = " "))
      if (inherits(by_records, "sdcRisk_error")) {
        expect_identical(class(by_patterns), class(by_records), info = info)
      } else {
        expect_same_result(by_patterns, by_records, of, info, tolerance)
      }
    }
    rule <- sample(c("wildcard", "category", "exclude"), 1)
    other <- sample(c("category", "exclude"), 1)
    same(n_matches, weight_var = "w", missing = rule)
    same(n_matches, weight_var = NULL, missing = "wildcard", min_overlap = 2, pop_size = 1000)
    same(n_matches, weight_var = NULL, partial_weight = 0.5)
    same(individual_risk, weight_var = "w", missing = rule)
    same(exhaustive_tabulation, missing = other)
    same(exhaustive_tabulation, weight_var = "w", threshold = 2, weight_threshold = 60)
    same(key_overview)
    same(qar_risk, p = 2, pi_u = 0.3, missing = other)
    same(qar_risk, p = c(1, 3), pi_u = 0.3, sets = FALSE)
    same(population_uniqueness, pop_size = 1e4, method = c("pitman", "zayatz"), missing = other)
    sampling <- c("overall", "cell", "raked")[[1 + seed %% 3]]
    same(loglinear_risk, weight_var = "w", sampling = sampling, missing = other, tolerance = 1e-6)
  }
})

test_that("the models of a larger file are the same on its patterns", {
  keys <- c("age", "sex", "education_num", "race")
  # More records than are kept one by one when uncertainty is fitted, and fewer.
  for (n in c(1200, 6000)) {
    data <- adult[seq_len(n), keys]
    data$age <- data$age %/% 10
    pattern <- pattern_table(data, keys)
    of <- attr(oracle_patterns(data, keys), "of")
    by_records <- quietly(copula_uniqueness(data, keys, pop_size = c(1e4, 1e5)))
    by_patterns <- quietly(copula_uniqueness(pattern, pop_size = c(1e4, 1e5)))
    expect_same_result(by_patterns, by_records, of, n, 1e-7)
    fit <- function(data) copula_fit(data, keys)
    expect_equal(fit(pattern)$correlation, fit(data)$correlation, tolerance = 1e-12)
    expect_identical(fit(pattern)$cell_sizes, fit(data)$cell_sizes)
    model <- function(data) quietly(loglinear_risk(data, keys, pop_size = 1e5, model = "two_way"))
    expect_same_result(model(pattern), model(data), of, n, 1e-7)
  }
  # Weights that are equal within patterns are the weights of their records.
  data$w <- as.double(1 + as.integer(factor(data$sex)) * 2.5)
  weighted <- pattern_table(data, keys, weight_var = "w")
  expect_same_result(
    quietly(copula_uniqueness(weighted, pop_size = 1e5)),
    quietly(copula_uniqueness(data, keys, pop_size = 1e5, weight_var = "w")), of, "weights", 1e-7
  )
  data$w[1] <- 100
  expect_error(
    copula_fit(pattern_table(data, keys, weight_var = "w")), "different weights",
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("one page for the patterns says what that for the records says", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  for (weight in list("WEIGHT", NULL)) {
    more <- if (is.null(weight)) list(pop_size = 1e6)
    by <- function(data) {
      quietly(do.call(file_check, c(list(data, keys, weight_var = weight), more)))
    }
    by_records <- by(nals_prison)
    by_patterns <- by(pattern_table(nals_prison, keys, weight_var = weight))
    of <- attr(oracle_patterns(nals_prison, keys), "of")
    columns <- c("measure", "value", "low", "high", "limit", "verdict", "n_records_above")
    by_patterns$estimates <- by_patterns$estimates[columns]
    by_records$estimates <- by_records$estimates[columns]
    expect_same_result(by_patterns, by_records, of, "check", 1e-6)
    expect_identical(
      nrow(records_at_risk(by_records)), sum(records_at_risk(by_patterns)$n)
    )
  }
})

test_that("sensitive values and household-free theta are found among patterns", {
  for (seed in seeds(8)) {
    data <- pattern_files(seed)
    keys <- keys_of(data)
    pattern <- pattern_table(data, c(keys, "disease"), weight_var = "w")
    of <- attr(oracle_patterns(data, c(keys, "disease")), "of")
    by <- function(data) {
      quietly(n_matches(
        data, list(all = keys, few = keys[1:2]), weight_var = "w", sensitive = "disease"
      ))
    }
    expect_same_result(by(pattern), by(data), of, seed)
  }
})

test_that("huge and 64-bit counts are taken as they are", {
  skip_if_not_installed("bit64")
  data <- data.frame(
    a = c("x", "x", "y", "y"), b = c(1, 2, 1, NA), n_rows = c(1, 2, 3e9, 5e12)
  )
  wide <- data
  wide$n_rows <- bit64::as.integer64(data$n_rows)
  found <- pattern_table(data, c("a", "b"), count_var = "n_rows")
  expect_identical(as.data.frame(pattern_table(wide, c("a", "b"), count_var = "n_rows")),
                   as.data.frame(found))
  expect_identical(found$n_records, sum(data$n_rows))
  expect_identical(as.data.frame(found)$n, data$n_rows)
  matches <- n_matches(found)
  # Missing matches everything: y with 1 and y without are one another's matches.
  expect_identical(as.double(matches$patterns$n_matches), c(1, 2, 3e9 + 5e12, 3e9 + 5e12))
  expect_identical(as.double(matches$estimates$n_unique), 1)
  expect_identical(as.double(matches$estimates$n), sum(data$n_rows))
  expect_equal(qar_risk(found, p = 2, pi_u = 0.5)$sets$set_risk, 4 / sum(data$n_rows))
  overview <- key_overview(found)
  expect_identical(overview$estimates$n_missing, c(0, 5e12))
  expect_identical(overview$diagnostics$n_unique, 1L)
  # Beyond what a double holds exactly.
  wide$n_rows <- bit64::as.integer64("9007199254740992")
  expect_error(
    pattern_table(wide, c("a", "b"), count_var = "n_rows"), class = "sdcRisk_error_too_large"
  )
  for (bad in list(0, -1, 1.5, NA, Inf)) {
    data$n_rows[[2]] <- bad
    expect_error(
      pattern_table(data, c("a", "b"), count_var = "n_rows"),
      class = if (identical(bad, Inf)) "sdcRisk_error_too_large" else "sdcRisk_error_bad_argument"
    )
  }
})

test_that("counted rows are their records, with the mean of their weights", {
  for (seed in seeds(8)) {
    data <- pattern_files(seed)
    keys <- keys_of(data)
    set.seed(seed)
    data$times <- sample(1:4, nrow(data), TRUE)
    data$total <- data$times * data$w
    rows <- rep(seq_len(nrow(data)), data$times)
    pattern <- pattern_table(data, keys, weight_var = "total", count_var = "times")
    by_records <- pattern_table(data[rows, ], keys, weight_var = "w")
    expect_equal(pattern$squares, by_records$squares, tolerance = 1e-12)
    expect_identical(pattern$patterns[c(keys, "n")], by_records$patterns[c(keys, "n")])
    expect_equal(pattern$patterns$total, by_records$patterns$w, tolerance = 1e-12)
  }
})

test_that("update() adds and takes away records without the old file", {
  for (seed in seeds(16)) {
    data <- pattern_files(seed)
    more <- pattern_files(seed + 1000)[names(data)]
    for (key in keys_of(data)) {
      # One type per key variable, perhaps with other levels.
      if (!identical(class(data[[key]]), class(more[[key]]))) more[[key]] <- data[[key]][1]
    }
    keys <- keys_of(data)
    table <- function(data) pattern_table(data, keys, weight_var = "w")
    both <- rbind(data[c(keys, "w")], more[c(keys, "w")])
    updated <- update(table(data), more)
    whole <- table(both)
    expect_identical(updated$patterns$n, whole$patterns$n, info = seed)
    expect_equal(updated$patterns$w, whole$patterns$w, tolerance = 1e-12, info = seed)
    expect_equal(updated$squares, whole$squares, tolerance = 1e-12, info = seed)
    expect_identical(updated$weight_range, whole$weight_range)
    expect_identical(update(table(data), table(more)), updated)
    for (key in keys) {
      expect_identical(
        oracle_codes(updated$patterns[[key]]), oracle_codes(whole$patterns[[key]]), info = seed
      )
    }
    back <- update(updated, more, remove = TRUE)
    expect_identical(back$patterns$n, table(data)$patterns$n, info = seed)
    expect_equal(back$patterns$w, table(data)$patterns$w, tolerance = 1e-10, info = seed)
  }
  x <- data.frame(a = c(1, 1, 2))
  two <- pattern_table(x)
  expect_identical(update(two, data.frame(a = 1), remove = TRUE)$patterns$n, c(1L, 1L))
  expect_identical(update(two, data.frame(a = 2L), remove = TRUE)$patterns$a, 1)
  expect_error(
    update(two, data.frame(a = c(2, 2)), remove = TRUE), "fewer records",
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(update(two, data.frame(a = 3), remove = TRUE), class = "sdcRisk_error_bad_argument")
  expect_error(update(two, x, remove = TRUE), "at least one", class = "sdcRisk_error_bad_argument")
  expect_error(update(two, data.frame(b = 1)), class = "sdcRisk_error_unknown_key_var")
  expect_error(update(two, data.frame(a = "x")), class = "sdcRisk_error_bad_column")
  expect_error(
    update(two, pattern_table(data.frame(b = 1))), class = "sdcRisk_error_bad_argument"
  )
})

test_that("roles, coarser tables and files keep the counts", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  table <- pattern_table(nals_prison, keys, weight_var = "WEIGHT")
  expect_equal(n_matches(table)$estimates$n_unique, 52)
  expect_equal(
    individual_risk(table)$estimates$expected_reidentifications,
    individual_risk(nals_prison, keys, "WEIGHT")$estimates$expected_reidentifications,
    tolerance = 1e-12
  )
  file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT", pop_size = 1e6)
  expect_identical(pattern_table(file), table)
  expect_identical(pattern_table(sdc_file(table)), table)
  few <- pattern_table(table, keys[1:3])
  direct <- pattern_table(nals_prison, keys[1:3], weight_var = "WEIGHT")
  expect_identical(few$patterns[c(keys[1:3], "n")], direct$patterns[c(keys[1:3], "n")])
  expect_equal(few$patterns$WEIGHT, direct$patterns$WEIGHT, tolerance = 1e-12)
  expect_identical(n_matches(table, keys[1:3])$estimates, n_matches(few)$estimates)
  # A sampling fraction and a size of the population are those of the records.
  of_file <- sdc_file(table, pop_size = 1e6)
  expect_equal(
    loglinear_risk(of_file, weight_var = NULL)$estimates$sampling_fraction,
    nrow(nals_prison) / 1e6
  )
  expect_error(
    population_uniqueness(table, pop_size = 100), "number of records",
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(sdc_file(table, pop_size = 100), class = "sdcRisk_error_bad_argument")
})

test_that("a saved table is the table", {
  table <- pattern_table(adult, c("age", "sex", "race"))
  place <- tempfile(fileext = ".rds")
  on.exit(unlink(place))
  saveRDS(table, place)
  again <- readRDS(place)
  expect_identical(again, table)
  expect_identical(n_matches(again)$estimates, n_matches(table)$estimates)
})

test_that("what needs records says so", {
  keys <- c("age", "sex", "race")
  table <- pattern_table(adult, keys)
  needs <- function(code) {
    expect_error(code, "must hold the records", class = "sdcRisk_error_bad_data")
  }
  needs(suppress_cells(table, k = 3))
  needs(suppress_cells(sdc_file(table), k = 3))
  needs(invariant_pram(table))
  needs(household_risk(table, keys, hh_id = "race"))
  needs(recode_search(table, keys, blanks = "cells"))
  for (code in expression(
    longitudinal_link(table, adult, keys), link_attack(adult, sdc_file(table), keys)
  )) {
    expect_error(
      eval(code), "must be a pattern table too", class = "sdcRisk_error_bad_argument"
    )
  }
  needs(utility_loss(table, adult))
  x <- quietly(qar_risk(adult, keys, p = 2, pi_u = 0.5))
  needs(risk_contribution(x, table))
  needs(predict(quietly(copula_fit(adult[1:500, ], keys)), table, pop_size = 1e5))
  expect_error(
    n_matches(table, c("age", "sex"), hh_id = "race"), "who lives with whom",
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    n_matches(table, patterns = adult[1:3, keys]), "pattern table",
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    individual_risk(table, c("sex", "race"), "age"), "was made with",
    class = "sdcRisk_error_bad_argument"
  )
  found <- n_matches(table)
  expect_error(augment(found, adult), "Join", class = "sdcRisk_error_bad_argument")
  expect_error(n_matches(table, "occupation"), class = "sdcRisk_error_unknown_key_var")
})

test_that("bad questions are classed errors", {
  expect_error(pattern_table(1:3), class = "sdcRisk_error_bad_data")
  expect_error(pattern_table(data.frame()), class = "sdcRisk_error_bad_data")
  expect_error(pattern_table(adult, "nobody"), class = "sdcRisk_error_unknown_key_var")
  expect_error(pattern_table(adult, max_pattern = 3), class = "sdcRisk_error_bad_argument")
  expect_error(pattern_table(adult, max_patterns = 0), class = "sdcRisk_error_bad_argument")
  expect_error(pattern_table(data.frame(n = 1:3)), class = "sdcRisk_error_bad_data")
  expect_error(
    pattern_table(adult, c("age", "sex"), weight_var = "sex"), class = "sdcRisk_error"
  )
  error <- expect_error(
    pattern_table(adult, c("age", "occupation"), max_patterns = 10),
    class = "sdcRisk_error_too_large"
  )
  expect_identical(
    error$n_patterns, nrow(oracle_patterns(adult, c("age", "occupation")))
  )
  expect_error(
    pattern_table(data.frame(a = I(list(1, 2)))), class = "sdcRisk_error_bad_column"
  )
})

test_that("prints, summaries and pictures count records, and show no pattern", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  table <- pattern_table(nals_prison, keys, weight_var = "WEIGHT")
  expect_snapshot(print(table))
  expect_snapshot(print(sdc_file(table)))
  of <- function(f) list(f(nals_prison), f(table))
  results <- list(
    of(function(data) n_matches(data, keys, weight_var = "WEIGHT", limit = 0.2)),
    of(function(data) individual_risk(data, keys, "WEIGHT", limit = 0.2)),
    of(function(data) exhaustive_tabulation(data, keys, dims = 2)),
    of(function(data) quietly(loglinear_risk(data, keys, weight_var = "WEIGHT"))),
    of(function(data) key_overview(data, keys)),
    of(function(data) quietly(qar_risk(data, keys, p = 2, pi_u = 0.3)))
  )
  for (pair in results) {
    info <- class(pair[[1]])[[1]]
    expect_identical(format(pair[[2]]), format(pair[[1]]), info = info)
    expect_identical(interpret(pair[[2]]), interpret(pair[[1]]), info = info)
    expect_equal(tidy(pair[[2]]), tidy(pair[[1]]), tolerance = 1e-9, info = info)
    expect_identical(
      utils::tail(format(summary(pair[[2]])), 3), utils::tail(format(summary(pair[[1]])), 3),
      info = info
    )
  }
  matches <- results[[1]]
  at_risk <- records_at_risk(matches[[2]], 0.2)
  expect_identical(names(at_risk), c("pattern", "n", "risk"))
  expect_identical(sum(at_risk$n), nrow(records_at_risk(matches[[1]], 0.2)))
  skip_if_not_installed("ggplot2")
  bars <- function(x, ...) ggplot2::ggplot_build(ggplot2::autoplot(x, ...))$data[[1]]$count
  expect_equal(
    bars(results[[2]][[2]], "distribution"), bars(results[[2]][[1]], "distribution")
  )
  expect_equal(bars(results[[3]][[2]], "records"), bars(results[[3]][[1]], "records"))
  shares <- function(x) ggplot2::autoplot(x, "matches")$data$share
  expect_equal(shares(matches[[2]]), shares(matches[[1]]), tolerance = 1e-12)
  expect_error(
    ggplot2::autoplot(matches[[2]], "strata", by = rep(1, nrow(table$patterns))),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("a key variable may have the name of what is judged", {
  data <- data.frame(risk = c(1, 1, 2, 5), n_matches = c(7, 7, 7, 8), w = 2)
  table <- pattern_table(data, c("risk", "n_matches"), weight_var = "w")
  of_patterns <- quietly(individual_risk(table))
  of_file <- quietly(individual_risk(data, c("risk", "n_matches"), "w"))
  expect_false(anyDuplicated(names(of_patterns$patterns)) > 0)
  expect_identical(of_patterns$patterns$risk.key, c(1, 2, 5))
  expect_equal(of_patterns$patterns$risk, of_file$records$risk[c(1, 3, 4)], tolerance = 1e-12)
  expect_equal(
    summary(of_patterns)$risk_by_strata, summary(of_file)$risk_by_strata, tolerance = 1e-12
  )
  matches <- n_matches(pattern_table(data, c("risk", "n_matches")))
  expect_equal(as.double(matches$patterns$n_matches), c(2, 1, 1))
})

test_that("too many patterns: the advice holds for functions without the argument, too", {
  expect_error(
    pattern_table(data.frame(x = 1:9), "x", max_patterns = 3),
    "There are 9; the limit is 3.*take pattern_table\\(data, max_patterns = \\) as their data",
    class = "sdcRisk_error_too_large"
  )
})

test_that("records are taken away whatever the span of their weights", {
  set.seed(3)
  for (i in 1:60) {
    d <- data.frame(a = sample(3, 40, TRUE), b = sample(2, 40, TRUE), w = 10^runif(40, 0, 9))
    whole <- pattern_table(d, c("a", "b"), weight_var = "w")
    gone <- sample(40, 15)
    left <- as.data.frame(update(whole, d[gone, ], remove = TRUE))
    plain <- as.data.frame(pattern_table(d[-gone, ], c("a", "b"), weight_var = "w"))
    at <- match(paste(plain$a, plain$b), paste(left$a, left$b))
    expect_identical(left$n[at], plain$n)
    # As exact as the sums that the weights were taken from.
    sums <- as.data.frame(whole)
    sums <- sums$w[match(paste(plain$a, plain$b), paste(sums$a, sums$b))]
    expect_true(all(abs(left$w[at] - plain$w) <= 1e-12 * sums))
    expect_true(all(left$w > 0))
  }
  # A large weight beside small ones: the rest weighs its least.
  d <- data.frame(a = 1, w = c(1, 1e17, 2))
  left <- update(pattern_table(d, "a", weight_var = "w"), d[2, ], remove = TRUE)
  expect_equal(as.data.frame(left)$w, 2)
  # Records that are not there remain an error.
  expect_error(
    update(pattern_table(d, "a", weight_var = "w"), data.frame(a = 1, w = 2e17), remove = TRUE),
    class = "sdcRisk_error_bad_argument"
  )
})
