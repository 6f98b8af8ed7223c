# Cases of exhaustive_tabulation() and individual_risk() beside the usual ones.

# E(1/F) = integral over s of s^(f-1) (p / (1 - (1 - p) s))^f, with s = exp(-u).
integrated_risk <- function(f, population) {
  p <- f / population
  inside <- function(u) exp(-f * (u + log1p((1 / p - 1) * -expm1(-u))))
  ends <- c(0, p / f * 10^(-3:12))
  ends <- c(ends[ends < 800 / f], 800 / f)
  parts <- mapply(function(from, to) {
    stats::integrate(inside, from, to, rel.tol = 1e-12, subdivisions = 500)$value
  }, utils::head(ends, -1), ends[-1])
  sum(parts)
}

test_that("risks are right from weights of one to a billion, and for crowded keys", {
  for (f in c(1, 2, 3, 10, 50, 1000)) {
    for (weight in c(1 + 1e-9, 1.0001, 1.5, 10, 1e3, 1e6, 1e9)) {
      data <- data.frame(key = c(rep(1, f), 2), w = c(rep(weight, f), 2))
      found <- individual_risk(data, "key", "w")$records$risk[[1]]
      expect_equal(found, integrated_risk(f, f * weight), tolerance = 1e-9)
    }
  }
  all <- individual_risk(data.frame(key = rep(1, 7), w = 1), "key", "w")
  expect_equal(all$records$risk, rep(1 / 7, 7))
  crowd <- individual_risk(data.frame(key = rep(1, 3e5), w = 1e6), "key", "w")
  expect_equal(crowd$estimates$expected_reidentifications, 1e-6, tolerance = 1e-5)
})

test_that("a risk at the threshold does not exceed it", {
  data <- data.frame(key = rep(1:2, each = 5), w = 1)
  found <- individual_risk(data, "key", "w")$estimates
  expect_identical(found$prosecutor_above, 0)
  expect_identical(found$journalist_above, 0)
  expect_identical(found$prosecutor_max, 0.2)
})

test_that("sums of weights may be large, not infinite", {
  data <- data.frame(a = c(1, 1, 2), w = c(4e9, 4e9, 2e9))
  expect_no_warning(text <- lines_of(individual_risk(data, "a", "w")))
  expect_match(text, "10,000,000,000 people", fixed = TRUE, all = FALSE)
  data$w <- 1e300
  expect_no_warning(text <- lines_of(individual_risk(data, "a", "w")))
  expect_match(text, "3e+300 people", fixed = TRUE, all = FALSE)
  data$w <- 1.7e308
  expect_error(individual_risk(data, "a", "w"), "sum", class = "sdcRisk_error_bad_weights")
  expect_error(
    exhaustive_tabulation(data, "a", weight_threshold = 3, weight_var = "w"), "sum",
    class = "sdcRisk_error_bad_weights"
  )
})

test_that("arguments that were forgotten are named", {
  data <- data.frame(a = 1:3, w = 2)
  error <- "sdcRisk_error_bad_argument"
  expect_error(individual_risk(data, "a"), "`weight_var` must name", class = error)
  expect_error(individual_risk(data, weight_var = "w"), "`key_vars` must be given", class = error)
  expect_error(exhaustive_tabulation(data), "`key_vars` must be given", class = error)
  expect_error(exhaustive_tabulation(), "`data` must be given", class = error)
})

test_that("random tables equal slow counting", {
  set.seed(9)
  for (round in 1:12) {
    n <- sample(c(1, 2, 10, 60), 1)
    keys <- lapply(seq_len(sample(2:5, 1)), function(i) {
      sample(c(letters[seq_len(sample.int(6, 1))], if (i %% 2) NA), n, TRUE)
    })
    data <- as.data.frame(rlang::set_names(keys, paste0("v", seq_along(keys))))
    names <- names(data)
    data$w <- round(stats::rexp(n, 0.1) + 0.1, 1)
    dims <- sort(sample.int(length(keys), sample.int(length(keys), 1)))
    threshold <- if (round %% 4 > 0) sample.int(5, 1)
    weight <- if (round %% 4 != 1) stats::runif(1, 1, 60)
    combine <- c("or", "and")[[1 + round %% 2]]
    missing <- c("exclude", "category")[[1 + round %% 3 %% 2]]
    found <- exhaustive_tabulation(
      data, names, dims,
      threshold = threshold, weight_threshold = weight, combine = combine,
      weight_var = "w", missing = missing
    )
    slow <- slow_tabulation(data[names], dims, threshold, weight, combine, data$w, missing)
    expect_equal(found$records$n_violations, slow$violations)
    at <- match(slow$tables$key_set, found$tables$key_set)
    columns <- c("n_cells", "n_violations", "n_records")
    expect_equal(found$tables[at, columns], slow$tables[columns], ignore_attr = TRUE)
    expect_equal(found$estimates$n_cells, sum(slow$tables$n_cells))
    any_violation <- slow$violations > 0
    of <- found$categories
    shares <- mapply(function(variable, category) {
      column <- data[[variable]]
      100 * mean(any_violation[if (is.na(category)) is.na(column) else column %in% category])
    }, of$variable, of$category)
    expect_equal(of$pct_records, as.vector(shares), ignore_attr = TRUE)
  }
})

test_that("a file without a complete record in any table is described", {
  data <- data.frame(a = rep(NA, 5), b = NA_real_)
  found <- exhaustive_tabulation(data, 1:2)
  expect_identical(found$records$n_tables, rep(0L, 5))
  text <- lines_of(found)
  expect_no_match(text, "NaN", fixed = TRUE)
  expect_match(text, "^Small cells +0$", all = FALSE)
  expect_no_match(interpret(found), "NaN", fixed = TRUE)
  skip_if_not_installed("ggplot2")
  expect_error(plot(found), class = "sdcRisk_error_bad_argument")
})

test_that("tables of one size are drawn without a word", {
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(exhaustive_tabulation(nals_prison, c("GENDER", "CENREG"), 2))
  expect_no_message(ggplot2::ggplot_build(picture))
})
