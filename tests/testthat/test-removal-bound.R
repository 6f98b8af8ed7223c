skip_on_cran()

test_that("no removal goes below the bound, and the bound is simple arithmetic", {
  data <- small_file(25, 4, 4, 17)
  x <- quiet_qar(data, p = 2, alpha = 0.1, pi_u = 0.4)
  bound <- removal_bound(x, data, c(2, 6))
  least <- vapply(c(2, 6), function(n) {
    theta <- apply(utils::combn(4, 2), 2, function(v) {
      sizes <- sort(table(do.call(paste, data[v])))
      (length(sizes) - sum(cumsum(sizes) <= n)) / (25 - n)
    })
    c(oracle_quantile(theta, 0.4), oracle_quantile(theta, 0.1))
  }, numeric(2))
  expect_equal(bound$estimates$threshold_least, least[1, ])
  expect_equal(bound$estimates$risk_empirical_least, least[2, ])
  for (by in c("top_count", "proper", "u_plus_updated")) {
    path <- suppressMessages(removal_path(x, data, 6, by))$path
    expect_gte(path$threshold[[6]], bound$estimates$threshold_least[[2]] - 1e-12)
    expect_gte(path$risk_empirical[[2]], bound$estimates$risk_empirical_least[[1]] - 1e-12)
  }
  expect_error(removal_bound(x, data, 25), class = "sdcRisk_error_bad_argument")
  expect_error(removal_bound(x, data[-1, ], 2), class = "sdcRisk_error_mismatched_data")
  expect_identical(as.data.frame(bound), bound$estimates)
  expect_lte(length(format(bound)), 16)
  expect_match(interpret(bound), "at most")
  expect_identical(nrow(tidy(bound)), 8L)
  expect_identical(glance(bound)$n, 6L)
})

test_that("bounds on a survey file are the known ones", {
  data <- trial_file("gss18.csv")
  bound <- removal_bound(qar_risk(data), data, n = c(100, 500, 1000, 2500))
  expect_equal(
    round(100 * bound$estimates$risk_empirical_reduction, 1), c(1.2, 6.2, 13.1, 36.3)
  )
})

test_that("a bound that rises says so, in the singular where there is one", {
  data <- data.frame(a = rep(1:6, 3), b = rep(1:2, 9), c = rep(1:3, 6), d = 1)
  x <- quiet_qar(data, p = 1, pi_u = 0.4)
  bound <- removal_bound(x, data, 1)
  expect_lt(bound$estimates$risk_empirical_reduction, 0)
  expect_match(interpret(bound), "raises the empirical quantile by at least 5.88%")
  expect_match(interpret(bound), "key sets of 1 key variable \\(")
  expect_no_match(interpret(bound), "-[0-9]")
  expect_match(text_of(bound), "Largest fall of u +-5.88%")
  whole <- quiet_qar(data, p = 4)
  expect_match(
    interpret(risk_contribution(whole, data)), "100% are not unique on any key set"
  )
})

test_that("records that were excluded may be among those removed", {
  d <- data.frame(a = c(2, 1, 1, 1, 1, NA), b = c(1, 2, 1, 2, 1, 2), c = c(2, 2, 2, 2, 2, 1))
  analysis <- function(d, p = 1) {
    suppressWarnings(qar_risk(d, p = p, pi_u = 0.5, alpha = 0.5, missing = "exclude"))
  }
  x <- analysis(d)
  expect_equal(analysis(d[-c(1, 6), ])$estimates$threshold, 0.25)
  expect_equal(removal_bound(x, d, 2)$estimates$threshold_least, 0.25)
  # All removals of small files.
  set.seed(4)
  n_checked <- 0
  for (i in 1:40) {
    d <- as.data.frame(matrix(sample(c(1:2, NA), 21, TRUE, c(3, 3, 1)), 7))
    if (sum(complete.cases(d)) < 4) next
    x <- analysis(d)
    bounds <- removal_bound(x, d, 1:2)$estimates
    for (n in 1:2) {
      left <- apply(utils::combn(7, n), 2, function(gone) {
        unlist(analysis(d[-gone, ])$estimates[c("threshold", "risk_empirical")])
      })
      expect_gte(min(left[1, ]), bounds$threshold_least[[n]] - 1e-12)
      expect_gte(min(left[2, ]), bounds$risk_empirical_least[[n]] - 1e-12)
      n_checked <- n_checked + 1
    }
  }
  expect_gt(n_checked, 40)
})

test_that("records that were excluded anyway are no removals that the bound counts on", {
  data <- data.frame(
    a = c(2, 1, 1, 1, 1, NA), b = c(1, 2, 1, 2, 1, 2), c = c(2, 2, 2, 2, 2, 1)
  )
  risk <- function(data) {
    quietly(qar_risk(data, p = 1, pi_u = 0.5, alpha = 0.5, missing = "exclude"))
  }
  bound <- quietly(removal_bound(risk(data), data, 2))$estimates$threshold_least
  expect_lte(bound, risk(data[-c(1, 6), ])$estimates$threshold)
})
