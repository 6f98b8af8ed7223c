# Cases beside the plain ones: what is left when listwise deletion leaves
# nothing, households whose ids are of unusual types, names and words.

tiny <- 4.940656458412465e-324
# What bit64 would make, without it: whole numbers as the bits of doubles.
wide <- function(k) structure(ifelse(is.na(k), -0, k * tiny), class = "integer64")

test_that("columns asked for are there when no record is complete", {
  data <- data.frame(
    a = c(NA, 1), b = c(1, NA), w = c(1, 2), s = c("x", "y"), h = c(1, 1)
  )
  keys <- c("a", "b")
  own <- n_matches(data, keys, missing = "exclude", weight_var = "w", sensitive = "s")
  expect_identical(names(own$records), c("n_matches", "n_matches_weighted", "n_sensitive"))
  expect_true(all(is.na(own$records)))
  sets <- n_matches(
    data, list(p = "a", q = keys),
    missing = "exclude", weight_var = "w", sensitive = "s"
  )$records
  expect_identical(names(sets), c(
    "p", "p_n_matches_weighted", "p_n_sensitive", "q", "q_n_matches_weighted", "q_n_sensitive"
  ))
  expect_equal(sets$p, c(NA, 1))
  expect_equal(sets$p_n_matches_weighted, c(NA, 2))
  home <- n_matches(transform(data, w = 2), keys,
    missing = "exclude", weight_var = "w", hh_id = "h"
  )$records
  expect_identical(names(home), c(
    "n_matches", "n_matches_weighted", "n_matched_records", "n_matches_household"
  ))
})

test_that("a complete pattern has no match among no complete records", {
  data <- data.frame(a = c(NA, 1), b = c(1, NA), w = 1:2)
  asked <- data.frame(a = c(1, NA, 2), b = c(1, 1, 9))
  x <- n_matches(data, c("a", "b"), patterns = asked, missing = "exclude", weight_var = "w")
  expect_equal(x$records$n_matches, c(0, NA, 0))
  expect_equal(x$records$n_matches_weighted, c(0, NA, 0))
  counts <- unlist(x$estimates[c("n", "n_deleted", "n_below_5")])
  expect_equal(unname(counts), c(2, 1, 2))
  # No pattern is complete, but records are: they are counted still.
  full <- data.frame(a = c(1, 1, 2, NA), b = c(1, 1, 2, 3))
  y <- n_matches(full, patterns = data.frame(a = NA, b = 1), missing = "exclude")
  expect_equal(y$records$n_matches, NA_integer_)
  expect_equal(y$estimates$n_complete, 3)
  expect_equal(y$estimates$n_unique_complete, 1)
  expect_match(format(y), "No pattern is complete", all = FALSE)
  expect_no_match(interpret(y), "NA|0 of 0")
  expect_no_match(interpret(n_matches(data, 1:2, missing = "exclude")), "NA|0 of 0")
})

test_that("households without id are told as the core tells them", {
  # 0, missing, 5: the missing integer64 has the bits of -0.
  plain <- c(0, 0, NA, NA, 5, 5)
  data <- data.frame(a = c(1, 1, 1, 2, 2, NA), w = c(1, 1, 2, 3, 4, 4))
  expected <- data.frame(
    n_matches = c(3, 3, 3, 2, 2, 4), n_matches_weighted = c(7, 7, 7, 7, 7, 10),
    n_matched_records = c(4, 4, 4, 3, 3, 6), n_matches_household = c(3, 3, 3, 2, 2, 2)
  )
  labelled <- structure(
    ifelse(is.na(plain), 9, plain),
    class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"), na_values = 9
  )
  for (id in list(
    plain, as.integer(plain), as.character(plain), wide(plain), labelled,
    factor(plain, exclude = NULL), replace(plain, 3, NaN)
  )) {
    data$h <- id
    found <- n_matches(data, "a", hh_id = "h", weight_var = "w")$records
    expect_equal(found, expected, info = class(id)[[1]], ignore_attr = TRUE)
  }
  data$h <- candidates(list(1, 1, 2, 2, 3, 3))
  expect_error(
    n_matches(data, "a", hh_id = "h", weight_var = "w"), class = "sdcRisk_error_bad_column"
  )
  expect_match(interpret(n_matches(data, "a", hh_id = "w")), "picks the right\\s+household")
})

test_that("patterns of another type are compared as text, without a warning", {
  data <- data.frame(a = c(1, 2, NA, 2))
  expect_no_warning(x <- n_matches(data, patterns = data.frame(a = c("2", "x", NA))))
  expect_equal(x$records$n_matches, c(3, 1, 4))
  data$k <- wide(c(3, NA, 4, 3))
  skip_if_not_installed("bit64")
  expect_no_warning(y <- n_matches(data, "k", patterns = data.frame(k = c(3, NA, 7))))
  expect_equal(y$records$n_matches, c(3, 4, 1))
})

test_that("candidates of another type are refused by the name of their column", {
  data <- data.frame(a = c(1, 2), b = c("x", "y"))
  for (patterns in list(
    data.frame(a = candidates(list("u")), b = "x"),
    data.frame(a = 1, b = candidate_interval(1, 2))
  )) {
    error <- expect_error(
      n_matches(data, c("a", "b"), patterns = patterns), class = "sdcRisk_error_bad_column"
    )
    expect_true(error$columns %in% c("a", "b"))
  }
})

test_that("a weighted theta stays a number where partners count in part", {
  set.seed(1)
  for (k in 1:300) {
    n <- sample(5:40, 1)
    data <- data.frame(
      a = sample(c(1:6, NA), n, TRUE), b = sample(c(1:3, NA), n, TRUE), w = 1 + stats::rexp(n)^3
    )
    part <- sample(c(0, 0.25, 0.5, 1 / 3), 1)
    expect_no_warning(
      theta <- n_matches(data, c("a", "b"), weight_var = "w", partial_weight = part)$estimates
    )
    if (!is.na(theta$theta)) {
      expect_true(is.finite(theta$theta_se))
      expect_lte(theta$theta_low, theta$theta)
      expect_gte(theta$theta_high, theta$theta)
    }
  }
})

test_that("weighted theta is that of its definition on a complete file", {
  set.seed(5)
  data <- data.frame(a = sample(60, 90, TRUE), w = stats::runif(90, 1, 20))
  m <- as.vector(table(data$a)[as.character(data$a)])
  pairs <- split(data$w[m == 2], data$a[m == 2])
  triples <- split(data$w[m == 3], data$a[m == 3])
  u <- sum(m == 1)
  theta <- u / (u + sum(data$w[m == 2] - 1))
  variance <- sum(data$w[m == 2] - 1) + sum(vapply(pairs, function(w) (sum(w) - 2)^2, 0)) +
    2 * sum(vapply(triples, function(w) {
      (w[1] - 1) * (w[2] - 1) + (w[1] - 1) * (w[3] - 1) + (w[2] - 1) * (w[3] - 1)
    }, 0))
  found <- n_matches(data, "a", weight_var = "w")$estimates
  expect_equal(found$theta, theta)
  expect_equal(found$theta_se, theta^2 * sqrt(variance) / u)
})

test_that("names of key sets cannot make columns of one name", {
  data <- data.frame(a = 1:2, b = 1:2, w = 1:2)
  expect_error(
    n_matches(data, list(a = "a", a_n_matches_weighted = "b"), weight_var = "w"),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("tolerance goes with every rule for missing values", {
  data <- data.frame(a = c(0.1, NA, 1, 0.3))
  tolerance <- list(a = 0.7)
  count <- function(missing) n_matches(data, tolerance = tolerance, missing = missing)$records[[1]]
  expect_equal(count("wildcard"), c(3, 4, 3, 4))
  expect_equal(count("category"), c(2, 1, 2, 3))
  expect_equal(count("exclude"), c(2, NA, 2, 3))
  # 0.3 - 0.2 is more than 0.1 in binary, and no more for people.
  tenths <- data.frame(a = (1:4) / 10)
  expect_equal(n_matches(tenths, tolerance = list(a = 0.1))$records[[1]], c(2, 3, 3, 2))
})

test_that("the bounds of open intervals print without blanks", {
  expect_identical(
    format(candidate_interval(c(-Inf, 0.1), c(Inf, 1e5))), c("[-Inf,Inf]", "[0.1,100000]")
  )
})
