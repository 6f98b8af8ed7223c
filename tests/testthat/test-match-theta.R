test_that("theta follows the formula of Skinner and Elliot", {
  found <- match_theta(269, 240, 0.001, 200)
  expect_equal(found$theta, 0.001 * 269 / (0.001 * 269 + 2 * 0.999 * 240))
  v <- (2 * 0.999 * 1.999 * 240 + 6 * 0.999^2 * 200) / 0.001^2
  expect_equal(found$theta_se, found$theta^2 * sqrt(v) / 269)
  half <- qnorm(0.975) * found$theta_se / (found$theta * (1 - found$theta))
  expect_equal(qlogis(found$theta_high) - qlogis(found$theta), half)
  expect_equal(qlogis(found$theta) - qlogis(found$theta_low), half)
  expect_lt(match_theta(269, 240, 0.001)$theta_se, found$theta_se)
  narrow <- match_theta(269, 240, 0.001, 200, level = 0.5)
  expect_gt(narrow$theta_low, found$theta_low)
})

test_that("theta is vectorised, halves are taken, and nothing is invented", {
  found <- match_theta(c(10, 0, 10), c(2.5, 3, 0), 0.1)
  expect_identical(nrow(found), 3L)
  expect_identical(is.na(found$theta), c(FALSE, TRUE, TRUE))
  expect_identical(is.na(found$theta_se), c(FALSE, TRUE, TRUE))
  census <- match_theta(10, 5, 1)
  expect_equal(unlist(census), c(theta = 1, theta_se = 0, theta_low = 1, theta_high = 1))
})

test_that("arguments outside their domain are refused", {
  for (bad in list(
    list(-1, 1, 0.1), list(1, NA, 0.1), list(1, 1, 0), list(1, 1, 1.2), list("a", 1, 0.1),
    list(1:2, 1:3, 0.1), list(1, 1, 0.1, -1), list(1, 1, 0.1, level = 2), list(1, 1, NA)
  )) {
    expect_error(do.call(match_theta, bad), class = "sdcRisk_error_bad_argument")
  }
})

# A population of cells of very different sizes, sampled person by person.
simulate_theta <- function(fraction, times, seed) {
  set.seed(seed)
  cell <- sample.int(30000, 60000, TRUE, prob = (1:30000)^-0.6)
  size <- tabulate(cell, 30000)
  replicate(times, {
    p <- fraction(cell)
    inside <- stats::runif(length(cell)) < p
    sample <- tabulate(cell[inside], 30000)
    truth <- sum(sample == 1) / sum(size[sample == 1])
    data <- data.frame(cell = cell[inside], w = 1 / p[inside])
    list(truth = truth, data = data)
  }, simplify = FALSE)
}

covered <- function(estimates, truths) {
  mean(estimates$theta_low <= truths & truths <= estimates$theta_high)
}

test_that("the interval covers theta in samples of equal probability", {
  draws <- simulate_theta(function(cell) rep(0.05, length(cell)), 150, 1)
  found <- do.call(rbind, lapply(draws, function(draw) {
    n_matches(draw$data, "cell", sampling_fraction = 0.05)$estimates
  }))
  truth <- vapply(draws, `[[`, 0, "truth")
  expect_gt(covered(found, truth), 0.9)
  expect_lt(abs(mean(found$theta - truth)), 0.005)
  expect_true(all(found$theta_status == "ok"))
})

test_that("the interval covers theta in samples of unequal probability", {
  draws <- simulate_theta(function(cell) rep_len(c(0.02, 0.1, 0.05), length(cell)), 150, 2)
  found <- do.call(rbind, lapply(draws, function(draw) {
    n_matches(draw$data, "cell", weight_var = "w")$estimates
  }))
  truth <- vapply(draws, `[[`, 0, "truth")
  expect_gt(covered(found, truth), 0.88)
  expect_lt(abs(mean(found$theta - truth)), 0.01)
})

test_that("weights of unequal probability follow the sums over pairs and triples", {
  data <- data.frame(a = c(1, 2, 2, 3, 3, 3, 4), w = c(2, 3, 5, 2, 4, 7, 1))
  found <- n_matches(data, "a", weight_var = "w")$estimates
  expect_equal(found$theta, 2 / (2 + 2 + 4))
  v <- 6 + 6^2 + 2 * (1 * 3 + 1 * 6 + 3 * 6)
  expect_equal(found$theta_se, found$theta^2 * sqrt(v) / 2)
  expect_identical(found$theta_status, "unreliable")
  # Equal weights are equal probabilities.
  equal <- transform(data, w = 4)
  by_weight <- n_matches(equal, "a", weight_var = "w")$estimates
  by_fraction <- n_matches(equal, "a", sampling_fraction = 0.25)$estimates
  expect_equal(by_weight[c("theta", "theta_se")], by_fraction[c("theta", "theta_se")])
  # Weights below one are no inverse probabilities.
  none <- n_matches(transform(data, w = w / 5), "a", weight_var = "w")$estimates
  expect_true(is.na(none$theta))
  expect_true(is.na(none$theta_status))
})

test_that("listwise deletion takes records out of the sample", {
  data <- data.frame(a = c(rep(1:30, 1), rep(31:60, each = 2), rep(NA, 10)))
  found <- n_matches(data, missing = "exclude", pop_size = 1000)$estimates
  expect_equal(found$theta, match_theta(30, 30, 90 / 1000)$theta)
})

test_that("numbers far from one overflow nowhere", {
  small <- match_theta(5, 2, 1e-300)
  expect_equal(small$theta, 5e-300 / 4, tolerance = 1e-12)
  # se = theta^2 sqrt(V) / U with V = 4 P / pi^2.
  expect_equal(small$theta_se, 1.25e-300 * 1.25 * sqrt(8) / 5, tolerance = 1e-12)
  half <- stats::qnorm(0.975) * sqrt(8) / 4
  expect_equal(small$theta_low / small$theta, exp(-half), tolerance = 1e-12)
  expect_equal(small$theta_high / small$theta, exp(half), tolerance = 1e-12)
  large <- match_theta(1e308, 1e308, 0.5)
  expect_equal(large$theta, 1 / 3, tolerance = 1e-12)
  expect_equal(large$theta_low, 1 / 3, tolerance = 1e-12)
  expect_equal(large$theta_se, (1 / 9) * sqrt(6) * 1e-154, tolerance = 1e-9)
  expect_false(anyNA(match_theta(1, 1e300, 1e-300, n_triples = 1e308)))
})
