test_that("the Pitman likelihood is that of the seating rule", {
  # The probability of seating 1, 1, 2, 1, 3 step by step.
  alpha <- 0.3
  theta <- 1.7
  steps <- c(
    1, (1 - alpha) / (theta + 1), (theta + alpha) / (theta + 2), (2 - alpha) / (theta + 3),
    (theta + 2 * alpha) / (theta + 4)
  )
  sizes <- data.frame(size = c(1, 3), n = c(2, 1))
  other <- data.frame(size = c(1, 4), n = c(1, 1))
  likelihood <- function(s) sdcRisk:::pitman_likelihood(alpha, theta, s)
  expect_equal(likelihood(sizes), log(prod(steps)), tolerance = 1e-12)
  # Three more of one cell against two cells.
  same <- c(
    1, (1 - alpha) / (theta + 1), (2 - alpha) / (theta + 2), (3 - alpha) / (theta + 3),
    (theta + alpha) / (theta + 4)
  )
  expect_equal(likelihood(other), log(prod(same)), tolerance = 1e-12)
})

test_that("the expected uniqueness of a partition is that of simulations", {
  set.seed(8)
  for (alpha in c(0, 0.4, 0.7)) {
    simulated <- replicate(200, {
      counts <- simulate_partition(150, alpha, 4)
      sum(counts == 1) / 150
    })
    expected <- sdcRisk:::partition_uniqueness(
      list(alpha = alpha, theta = 4, status = "ok"), 150
    )
    expect_lt(abs(mean(simulated) - expected), 4 * sd(simulated) / sqrt(200))
  }
})

test_that("gamma ratios keep their digits", {
  # Gamma(x + 1/2) / Gamma(x) and x^a for whole a.
  for (x in c(10, 99999, 1e5, 1e7, 1e10)) {
    expect_equal(
      sdcRisk:::ln_gamma_ratio(x, -1), -log(x - 1),
      tolerance = 1e-11
    )
    up <- sdcRisk:::ln_gamma_ratio(x, 0.5)
    expect_equal(up + sdcRisk:::ln_gamma_ratio(x + 0.5, 0.5), log(x), tolerance = 1e-11)
  }
})

test_that("the chances of new cells are added up by the gamma function", {
  worst <- 0
  for (m in c(50, 99, 100, 5000)) {
    for (alpha in c(1e-12, 1e-6, 1e-3, 0.05, 0.5, 0.97, 0.9999)) {
      for (theta in c(-0.9 * alpha, 0.3, 40, 3000, 1e6, 1e12, 1e18)) {
        slow <- sum(log(theta + seq_len(m) * alpha))
        fast <- sdcRisk:::ln_rising(theta, alpha, m)
        worst <- max(worst, abs(fast - slow) / max(1, abs(slow)))
      }
    }
  }
  expect_lt(worst, 1e-13)
  expect_identical(sdcRisk:::ln_rising(5, 0, 1000), 1000 * log(5))
})

test_that("maximum likelihood finds the maximum", {
  set.seed(9)
  counts <- simulate_partition(800, 0.5, 20)
  sizes <- sdcRisk:::tabulate_sizes(counts)
  fitted <- sdcRisk:::fit_pitman(sizes)
  best <- sdcRisk:::pitman_likelihood(fitted$alpha, fitted$theta, sizes)
  grid <- expand.grid(alpha = seq(0.02, 0.95, 0.03), theta = exp(seq(-2, 6, 0.2)))
  others <- mapply(sdcRisk:::pitman_likelihood, grid$alpha, grid$theta, MoreArgs = list(sizes))
  expect_gte(best, max(others) - 1e-6)
  expect_lt(abs(fitted$alpha - 0.5), 0.15)
  ewens <- sdcRisk:::fit_ewens(sizes)
  thetas <- exp(seq(log(ewens$theta) - 1, log(ewens$theta) + 1, 0.01))
  values <- vapply(thetas, function(t) sdcRisk:::pitman_likelihood(0, t, sizes), 0)
  expect_equal(log(thetas[[which.max(values)]]), log(ewens$theta), tolerance = 0.02)
})

test_that("a complete file has its own uniqueness by every estimator of sampling", {
  keys <- c("age", "sex", "workclass", "relationship", "marital_status", "race")
  # Rocher et al.'s corpus ADULT, these six columns: 0.1085347500.
  found <- population_uniqueness(adult, keys, nrow(adult), c("zayatz", "snb"))
  expect_equal(found$diagnostics$sample_uniqueness, 0.10853475016123583)
  expect_equal(found$estimates$population_uniqueness, rep(0.10853475016123583, 2))
})

test_that("Zayatz is Bayes' rule by hand", {
  # Cells of 1, 1, 2 people of 8, half of them sampled.
  sizes <- data.frame(size = c(1, 2), n = c(2, 1))
  h <- function(f) choose(f, 1) * choose(8 - f, 3) / choose(8, 4)
  chance <- 2 * h(1) / (2 * h(1) + h(2))
  expect_equal(sdcRisk:::zayatz_estimate(sizes, 8)$value, 2 / 4 * chance)
})

test_that("the slide negative binomial is found where it is true", {
  set.seed(10)
  a <- 0.6
  b <- 0.05
  people <- 1 + rnbinom(20000, a, b)
  who <- rep(seq_along(people), people)
  sample <- who[runif(length(who)) < 0.2]
  sizes <- sdcRisk:::tabulate_sizes(table(sample))
  found <- sdcRisk:::snb_estimate(sizes, length(who))
  expect_identical(found$status, "ok")
  expect_equal(found$value, mean(people == 1) * 20000 / length(who), tolerance = 0.2)
})

test_that("Dankar's rule chooses by the sampling fraction", {
  set.seed(12)
  sample <- adult[sample(nrow(adult), 3000), ]
  keys <- c("age", "sex", "occupation", "race")
  all <- c("pitman", "ewens", "zayatz", "snb", "dankar")
  few <- population_uniqueness(sample, keys, 60000, all)$estimates
  value <- function(table, m) table$population_uniqueness[table$method == m]
  expect_identical(value(few, "dankar"), value(few, "pitman"))
  many <- population_uniqueness(sample, keys, 6000, all)$estimates
  expect_identical(
    value(many, "dankar"), min(value(many, "zayatz"), value(many, "snb"), na.rm = TRUE)
  )
})

test_that("population sizes that are no whole numbers are of use", {
  set.seed(1)
  data <- adult[sample(nrow(adult), 2000), ]
  keys <- c("age", "sex", "education_num")
  by <- function(size) population_uniqueness(data, keys, size, c("zayatz", "dankar"))$estimates
  expect_no_warning(odd <- by(32561.4))
  # NaN with status "ok" in 0.1.0.
  expect_identical(odd$population_uniqueness[[1]], by(32561)$population_uniqueness[[1]])
  expect_equal(odd$population_uniqueness[[1]], 0.0357, tolerance = 0.01)
  few <- population_uniqueness(
    data.frame(a = 1:3), "a", 91.5, c("pitman", "ewens", "zayatz", "snb", "dankar")
  )$estimates
  expect_true(all(is.finite(few$population_uniqueness) | few$status != "ok"))
  set.seed(657)
  for (i in 1:40) {
    data <- data.frame(a = sample(sample(30, 1), 40, TRUE))
    any <- population_uniqueness(
      data, pop_size = 40 + stats::runif(1, 0, 200),
      method = c("pitman", "ewens", "zayatz", "snb", "dankar")
    )$estimates
    expect_true(all(is.finite(any$population_uniqueness) == (any$status != "no_solution")))
    expect_true(all(any$population_uniqueness >= 0 & any$population_uniqueness <= 1, na.rm = TRUE))
  }
})

test_that("a negative binomial that no file has is marked", {
  found <- population_uniqueness(data.frame(a = c(1, 1, 2)), pop_size = 10, method = "snb")
  expect_identical(found$estimates$status, "extreme")
  expect_equal(found$estimates$population_uniqueness, 0.0018, tolerance = 0.02)
})

test_that("one population size is drawn by method", {
  skip_if_not_installed("ggplot2")
  found <- population_uniqueness(adult[1:500, ], c("age", "sex"), 1e5, c("pitman", "ewens"))
  expect_no_message(dots <- ggplot2::layer_data(ggplot2::autoplot(found), 1))
  expect_equal(dots$x, found$estimates$population_uniqueness)
  expect_identical(as.integer(dots$y), 2:1)
})

test_that("files without likeness or difference have limits", {
  alone <- population_uniqueness(data.frame(a = 1:20), pop_size = 100)$estimates
  expect_identical(alone$population_uniqueness, 1)
  expect_identical(alone$status, "boundary")
  alike <- population_uniqueness(data.frame(a = rep(1, 20)), pop_size = 100)$estimates
  expect_identical(alike$population_uniqueness, 0)
  pairs <- population_uniqueness(
    data.frame(a = rep(1:10, 2)),
    pop_size = 100, method = c("zayatz", "snb")
  )$estimates
  expect_identical(pairs$population_uniqueness, c(0, 0))
})

test_that("bad input of population_uniqueness() is refused", {
  bad <- function(..., class = "bad_argument") {
    expect_error(
      population_uniqueness(adult[1:100, ], ...),
      class = paste0("sdcRisk_error_", class)
    )
  }
  bad("age", 50)
  bad("age", Inf)
  bad("age", c(200, 200))
  bad("age")
  bad("age", 200, "median")
  bad("age", 200, missing = "wildcard")
  bad("age", 200, seed = 1)
  bad("height", 200, class = "unknown_key_var")
})

test_that("its verbs work", {
  found <- population_uniqueness(adult[1:500, ], c("age", "sex"), c(1000, 5000), "ewens")
  expect_lte(length(format(found)), 16)
  expect_identical(nrow(generics::tidy(found)), 2L)
  expect_identical(generics::glance(found)$n_analyses, 2L)
  expect_match(interpret(found), "ewens")
  expect_identical(as.data.frame(found), found$estimates)
  missing <- adult[1:500, ]
  missing$age[1:50] <- NA
  expect_identical(
    population_uniqueness(missing, c("age", "sex"), 1000, missing = "exclude")$diagnostics$n, 450L
  )
})

test_that("a function as `missing` is refused as any other wrong word", {
  data <- data.frame(a = c(1, 1, 2, 3))
  expect_error(
    population_uniqueness(data, pop_size = 10, missing = mean), "`missing` must be one of",
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("a sampling fraction is that of the file, records left out included", {
  set.seed(3)
  data <- data.frame(
    a = sample(c(1:30, NA), 200, TRUE, c(rep(1, 30), 15)), b = sample(8, 200, TRUE)
  )
  by_fraction <- population_uniqueness(data, sampling_fraction = 0.1, missing = "exclude")
  by_size <- population_uniqueness(data, pop_size = 2000, missing = "exclude")
  expect_equal(by_fraction$estimates, by_size$estimates, tolerance = 1e-14)
  fit <- quietly(copula_fit(data, missing = "exclude", min_records = 50))
  by_size <- function(...) {
    set.seed(1)
    quietly(uniqueness_by_size(fit, ...))$estimates
  }
  expect_equal(by_size(sampling_fraction = 0.1), by_size(pop_size = 2000), tolerance = 1e-14)
  expect_equal(
    quietly(copula_uniqueness(fit, sampling_fraction = 0.1))$estimates$pop_size, 2000
  )
})
