# Key sets beyond `max_sets`: a stratified sample in place of all.

wide_file <- function(n = 400, columns = 16, seed = 11) {
  set.seed(seed)
  levels <- round(seq(2, 30, length.out = columns))
  data <- lapply(levels, function(k) sample.int(k, n, TRUE, prob = seq_len(k)^-0.7))
  names(data) <- sprintf("v%02d", seq_along(data))
  as.data.frame(data)
}

sample_risk <- function(data, ...) {
  suppressMessages(suppressWarnings(qar_risk(data, pi_u = 0.1, ...)))
}

test_that("a sample that reaches down to the threshold gives the full result exactly", {
  full <- sample_risk(adult)
  expect_message(
    found <- qar_risk(adult, pi_u = 0.1, max_sets = 100),
    class = "sdcRisk_message_sampled_sets"
  )
  sampling <- found$diagnostics$sampling
  expect_true(sampling$exact)
  expect_identical(sampling$risk_se, 0)
  expect_identical(sampling$n_sets, choose(11, 3))
  expect_lte(sampling$n_counted, 100)
  expect_equal(found$estimates, full$estimates, tolerance = 1e-12)
  # Every set counted has the counts it has in the full table.
  shared <- match(found$sets$key_set, full$sets$key_set)
  expect_identical(found$sets$n_distinct, full$sets$n_distinct[shared])
  expect_identical(found$sets$n_unique, full$sets$n_unique[shared])
  expect_identical(found$sets$n_pairs, full$sets$n_pairs[shared])
})

test_that("equal excesses give the largest risk under unbiased weights, sampled or not", {
  equal <- 0
  for (seed in c(49, 104, 179, 181)) {
    data <- random_file(100, rep(c(2, 3, 4, 5, 3), 2), 0.2, seed)
    case <- list(data, p = 2, pi_u = 0.1, theta_one = "exclude", pwm = "unbiased")
    full <- quietly(do.call(qar_risk, case))
    sampled <- quietly(do.call(qar_risk, c(case, max_sets = 36)))
    equal <- equal + full$diagnostics$fit$equal
    expect_true(sampled$diagnostics$sampling$exact)
    expect_identical(full$estimates$risk, full$sets$set_risk[[1]])
    expect_identical(sampled$estimates, full$estimates)
    expect_identical(sampled$diagnostics$fit$equal, full$diagnostics$fit$equal)
    expect_true(is.na(full$estimates$shape))
  }
  expect_identical(equal, 4)
})

test_that("a sample says so, gives its error by design and covers the full result", {
  data <- wide_file()
  full <- sample_risk(data)$estimates$risk
  set.seed(1)
  error <- replicate(30, {
    found <- sample_risk(data, max_sets = 200)
    (found$estimates$risk - full) / found$diagnostics$sampling$risk_se
  })
  # 30 draws: at a true coverage of 90%, fewer than 22 are a one in 500 event.
  expect_gte(sum(abs(error) < 2), 22)
  expect_warning(
    found <- qar_risk(data, pi_u = 0.1, max_sets = 200),
    class = "sdcRisk_warning_sampled_sets"
  )
  expect_match(paste(lines_of(found), collapse = " "), "of 560 key sets of size 3 counted")
  expect_lte(length(format(found)), 16)
  expect_identical(found$estimates$n_sets, 560L)
  expect_null(found$variables)
  expect_null(found$diagnostics$threshold)
})

test_that("the draw obeys set.seed() and not the number of threads", {
  data <- wide_file()
  old <- options(sdcRisk.threads = 1)
  on.exit(options(old))
  set.seed(3)
  one <- sample_risk(data, max_sets = 150)
  options(sdcRisk.threads = 2)
  set.seed(3)
  expect_identical(sample_risk(data, max_sets = 150), one)
  expect_false(identical(sample_risk(data, max_sets = 150)$sets, one$sets))
})

test_that("sizes with few key sets are counted whole beside sampled ones", {
  data <- wide_file()
  found <- sample_risk(data, p = 2:3, max_sets = 200)
  expect_identical(found$diagnostics$sampling$p, 3L)
  expect_identical(unique(found$variables$p), 2L)
  expect_identical(
    found$estimates[1, ], sample_risk(data, p = 2)$estimates[1, ]
  )
  expect_identical(summary(found)$set_risk$p, 2L)
  skip_if_not_installed("ggplot2")
  expect_error(
    ggplot2::autoplot(sample_risk(data, max_sets = 200), "variables"),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("a sample is called exact only where it is, whatever becomes of identifying sets", {
  data <- adult[1:2000, ]
  data$id <- seq_len(nrow(data))
  claimed <- 0
  for (theta_one in c("one", "clamp", "exclude")) {
    full <- sample_risk(data, theta_one = theta_one)
    for (max_sets in c(60, 110, 150, 190, 219)) {
      set.seed(max_sets)
      found <- sample_risk(data, theta_one = theta_one, max_sets = max_sets)
      if (found$diagnostics$sampling$exact) {
        claimed <- claimed + 1
        expect_equal(found$estimates, full$estimates, tolerance = 1e-12)
      }
    }
  }
  expect_gt(claimed, 5)
})
