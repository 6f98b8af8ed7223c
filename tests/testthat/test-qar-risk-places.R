# Thresholds that are an order statistic exactly: (N_p + 1/3)(1 - pi_u) + 1/3 is
# whole, and what equals the threshold does not exceed it.

skip_on_cran()

# All the places where a result can contradict itself.
expect_consistent <- function(result) {
  for (row in seq_len(nrow(result$estimates))) {
    estimate <- result$estimates[row, ]
    risks <- result$sets$set_risk[result$sets$p == estimate$p]
    if (result$settings$theta_one == "exclude") risks <- risks[risks < 1]
    expect_identical(sum(risks > estimate$threshold), estimate$n_exceedances)
  }
}

test_that("files of 18 columns have the threshold of exact arithmetic", {
  for (seed in 1:12) {
    data <- random_file(60, levels = rep(c(2, 3, 5, 8, 4, 6), 3), missing_rate = 0.05, seed = seed)
    for (pi_u in c(0.05, 0.2, 0.35, 0.5)) {
      pwm <- c("plotting", "unbiased")[[1 + seed %% 2]]
      case <- list(data, p = 2, alpha = 0.01, pi_u = pi_u, pwm = pwm)
      result <- quietly(do.call(qar_risk, case))
      expect_oracle(result, do.call(oracle_qar, case), info = paste(seed, pi_u))
      expect_consistent(result)
      expect_true(result$estimates$threshold %in% result$sets$set_risk)
      alone <- quietly(do.call(qar_risk, c(case, sets = FALSE)))
      expect_identical(alone$estimates, result$estimates)
    }
  }
})

test_that("a sample that settles the threshold settles it to the last bit", {
  settled <- 0
  for (seed in 1:12) {
    data <- random_file(60, levels = rep(c(2, 3, 5, 8, 4, 6), 3), missing_rate = 0.05, seed = seed)
    for (pwm in c("plotting", "unbiased")) {
      case <- list(data, p = 2, pi_u = 0.05, pwm = pwm)
      full <- quietly(do.call(qar_risk, case))
      sampled <- quietly(do.call(qar_risk, c(case, max_sets = 120)))
      if (sampled$diagnostics$sampling$exact) {
        settled <- settled + 1
        same <- c("threshold", "risk_empirical", "n_exceedances", "status")
        expect_identical(sampled$estimates[same], full$estimates[same])
        expect_equal(sampled$estimates, full$estimates, tolerance = 1e-12)
      }
    }
  }
  expect_gt(settled, 5)
})

test_that("T over thresholds and without a variable has the exact places too", {
  # 18 columns: 153 pairs at pi_u = 0.05 and 0.20; 12 columns without one: 55.
  data <- random_file(50, levels = rep(c(2, 8, 5), 6), missing_rate = 0.05, seed = 9)
  grid <- quietly(qar_risk(data, p = 2))$diagnostics$threshold
  for (pi_u in c(0.05, 0.2)) {
    expected <- oracle_qar(data, p = 2, pi_u = pi_u)$estimates
    found <- grid[abs(grid$pi_u - pi_u) < 1e-9, ]
    expect_identical(found$n_exceedances, expected$n_exceedances)
    expect_close(found$risk, expected$risk)
  }
  twelve <- data[1:12]
  variables <- quietly(qar_risk(twelve, p = 2, pi_u = 0.5))$variables
  without <- vapply(names(twelve), function(v) {
    oracle_qar(twelve[setdiff(names(twelve), v)], p = 2, pi_u = 0.5)$estimates$risk
  }, 0)
  expect_close(variables$risk_without, unname(without))
})

test_that("contributions and paths have the exact places too", {
  # 18 columns named a to r.
  data <- small_file(40, 18, 7, 3)
  for (one in c("one", "exclude")) {
    x <- quiet_qar(data, p = 2, theta_one = one)
    found <- risk_contribution(x, data)
    rows <- c(1, 7, 20, 33)
    slow <- function(rows) {
      slow_tail(data[rows, ], 2, 0.01, 0.05, theta_one = one)[["risk"]]
    }
    whole <- slow(1:40)
    expected <- vapply(rows, function(i) whole - slow(setdiff(1:40, i)), 0)
    expect_equal(found$records$contribution[rows], expected, tolerance = 1e-12)
    # The threshold is one of the key sets, not a mixture.
    expect_identical(found$diagnostics$threshold_sets$weight, c(1, 0))
    for (by in c("proper", "top_count", "u_plus")) {
      path <- removal_path(x, data, 4, by)$path
      left <- slow(setdiff(1:40, path$record))
      expect_equal(path$risk[[4]], left, tolerance = 1e-12)
    }
  }
})

test_that("an excluded key set can leave a whole place", {
  # 19 columns have 171 pairs; without the 18 that contain the id, 153.
  data <- small_file(40, 18, 6, 5)
  data$id <- 1:40
  x <- quiet_qar(data, p = 2, pi_u = 0.5, theta_one = "exclude")
  expect_identical(x$estimates$n_sets, 153L)
  expect_oracle(x, oracle_qar(data, p = 2, pi_u = 0.5, theta_one = "exclude"))
  expect_consistent(x)
})

test_that("ties at the top beside a whole place leave no exceedance", {
  # 11 columns, 165 sets of three, all but the lowest risks equal.
  set.seed(2)
  data <- as.data.frame(lapply(1:11, function(i) sample(14)))
  result <- quietly(qar_risk(data, p = 3, pi_u = 0.5, pwm = "unbiased", theta_one = "clamp"))
  expect_identical(result$estimates$n_exceedances, 0L)
  expect_identical(result$estimates$status, "no_exceedance")
  expect_identical(result$estimates$shape, NA_real_)
  expect_identical(result$estimates$risk, 13.5 / 14)
})

test_that("survey files have the exceedances of exact arithmetic", {
  gss <- trial_file("gss18.csv")
  gss$id <- NULL
  estimates <- suppressWarnings(qar_risk(gss, p = 2))$estimates
  expect_identical(estimates$n_exceedances, 7L)
  expect_equal(estimates$risk, 0.0851311, tolerance = 1e-6)
  expect_equal(estimates$shape, 0.255, tolerance = 2e-3)
  path <- suppressWarnings(removal_path(qar_risk(gss, p = 2), gss, 100, "proper"))
  expect_equal(path$estimates$risk, {
    left <- gss[-path$path$record, ]
    oracle_qar(left, p = 2)$estimates$risk
  }, tolerance = 1e-12)
  coarser <- trial_file("gss18b.csv")
  estimates <- qar_risk(coarser, p = 2, pi_u = 0.5)$estimates
  expect_identical(estimates$n_exceedances, 71L)
  expect_equal(estimates$risk, 0.01231, tolerance = 4e-4)
  estimates <- qar_risk(adult, p = 3, pi_u = 0.5)$estimates
  expect_identical(estimates$n_exceedances, 82L)
  expect_equal(estimates$risk, 0.1813927, tolerance = 1e-6)
})
