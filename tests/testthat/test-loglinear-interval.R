# A population of independent keys, and a sample of it with equal weights.
simulated_sample <- function(seed, pi, lambda, cells) {
  set.seed(seed)
  population <- rpois(length(lambda), lambda)
  sample <- rbinom(length(lambda), population, pi)
  data <- cells[rep(seq_along(sample), sample), ]
  data$w <- sum(population) / sum(sample)
  unique <- sample == 1
  list(data = data, truth = c(sum(population[unique] == 1), sum(1 / population[unique])))
}

test_that("intervals cover the truth of simulated populations", {
  levels <- c(2, 4, 5, 6, 8)
  cells <- expand.grid(lapply(levels, seq_len))
  names(cells) <- letters[1:5]
  set.seed(99)
  eta <- Reduce(`+`, lapply(1:5, function(v) rnorm(levels[[v]], sd = 0.7)[cells[[v]]]))
  lambda <- 20000 * exp(eta) / sum(exp(eta))
  for (interval in c("bootstrap", "delta")) {
    found <- vapply(1:60, function(seed) {
      drawn <- simulated_sample(seed, 0.05, lambda, cells)
      e <- quiet_loglinear(drawn$data, weight_var = "w", interval = interval)$estimates
      truth <- drawn$truth
      c(
        truth[[1]] >= e$tau1_low && truth[[1]] <= e$tau1_high,
        truth[[2]] >= e$tau2_low && truth[[2]] <= e$tau2_high,
        e$tau1_se, e$tau2_se, e$tau1 - truth[[1]], e$tau2 - truth[[2]]
      )
    }, numeric(6))
    # 60 draws of a coverage of 0.95 lie above 0.88 with probability 0.99.
    expect_gte(mean(found[1, ]), 0.88)
    expect_gte(mean(found[2, ]), 0.88)
    # The standard errors are those of the errors made.
    expect_equal(mean(found[3, ]), sd(found[5, ]), tolerance = 0.25)
    expect_equal(mean(found[4, ]), sd(found[6, ]), tolerance = 0.25)
  }
})

test_that("the sample with a known population is described", {
  path <- file.path(Sys.getenv("SDCRISK_DATA"), "loglin_sample.csv")
  skip_if_not(file.exists(path), "SDCRISK_DATA does not hold loglin_sample.csv")
  data <- read.csv(path)
  keys <- c("a", "s", "r", "e", "m", "k")
  estimates <- function(model, ...) {
    quiet_loglinear(data, keys, weight_var = "w", model = model, ...)$estimates
  }
  two <- estimates("two_way")
  unique <- !duplicated(data[keys]) & !duplicated(data[keys], fromLast = TRUE)
  tau1 <- sum(data$F_true[unique] == 1)
  tau2 <- sum(1 / data$F_true[unique])
  expect_identical(two$n_unique, 1691)
  expect_identical(two$n_cells, 12000)
  expect_equal(c(tau1, tau2), c(9, 255.236), tolerance = 1e-5)
  expect_equal(c(two$tau1, two$tau2, two$z2), c(17.239, 256.117, 0.59), tolerance = 1e-3)
  expect_true(two$tau2_low < tau2 && tau2 < two$tau2_high)
  expect_true(two$tau1_low < tau1 && tau1 < two$tau1_high)
  one <- estimates("independence", interval = "none")
  expect_equal(c(one$tau1, one$tau2, one$z2), c(12.204, 250.788, 9.92), tolerance = 1e-3)
  cell <- estimates("two_way", sampling = "cell", interval = "none")
  expect_equal(c(cell$tau1, cell$tau2, cell$z2), c(17.434, 256.825, -1.06), tolerance = 2e-3)
})

test_that("both ways to an interval agree where the model is right", {
  cells <- expand.grid(a = 1:3, b = 1:4, c = 1:5, d = 1:6, e = 1:4)
  set.seed(3)
  lambda <- 15000 * prop.table(exp(Reduce(`+`, lapply(cells, function(v) rnorm(6, sd = 0.6)[v]))))
  data <- simulated_sample(1, 0.05, lambda, cells)$data
  for (model in c("independence", "two_way")) {
    set.seed(1)
    boot <- quiet_loglinear(
      data, weight_var = "w", model = model, interval = "bootstrap", n_boot = 600
    )
    delta <- quiet_loglinear(data, weight_var = "w", model = model, interval = "delta")
    expect_equal(boot$estimates$tau2_se, delta$estimates$tau2_se, tolerance = 0.15)
    expect_identical(boot$estimates$interval, "bootstrap")
    expect_identical(delta$estimates$interval, "delta")
  }
})

test_that("intervals follow the seed, not the threads, and can be left out", {
  data <- loglinear_file(300, c(3, 4, 5), 5)
  run <- function(seed, threads = 2, ...) {
    before <- options(sdcRisk.threads = threads)
    on.exit(options(before))
    set.seed(seed)
    quiet_loglinear(data, weight_var = "w", model = "two_way", ...)
  }
  expect_identical(run(1)$estimates, run(1, 1)$estimates)
  expect_false(identical(run(1)$estimates, run(2)$estimates))
  none <- run(1, interval = "none")
  expect_true(is.na(none$estimates$tau1_se))
  expect_identical(none$estimates, run(1, n_boot = 0)$estimates)
  expect_identical(none$estimates$interval, "none")
  set.seed(4)
  before <- .Random.seed
  quiet_loglinear(data, weight_var = "w", interval = "none")
  expect_identical(.Random.seed, before)
})

test_that("wider levels give wider intervals within their bounds", {
  data <- loglinear_file(300, c(3, 4, 5), 5)
  ends <- function(level, interval) {
    set.seed(1)
    e <- quiet_loglinear(data, weight_var = "w", level = level, interval = interval)$estimates
    c(e$tau2_low, e$tau2_high, e$n_unique)
  }
  for (interval in c("bootstrap", "delta")) {
    narrow <- ends(0.5, interval)
    wide <- ends(0.99, interval)
    expect_lt(wide[[1]], narrow[[1]])
    expect_gt(wide[[2]], narrow[[2]])
    expect_gte(wide[[1]], 0)
    expect_lte(wide[[2]], wide[[3]])
  }
})
