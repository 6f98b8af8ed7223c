# The copula on data and arguments that are out of the ordinary, against
# definitions written out in base R.

test_that("mutual information, its expectation and the root agree with definitions", {
  skip_if_not_installed("mvtnorm")
  data <- hard_sample()
  fit <- copula_fit(data)
  code <- function(v) match(as.character(data[[v]]), as.character(fit$levels[[v]]))
  bounds <- function(v) {
    order <- fit$orders[[v]]
    high <- stats::qnorm(pmin(cumsum(fit$shares[[v]][order(order)]), 1))
    high[length(high)] <- Inf
    list(low = c(-Inf, utils::head(high, -1))[order], high = high[order])
  }
  information <- function(cells) {
    cells <- cells / sum(cells)
    independent <- outer(rowSums(cells), colSums(cells))
    sum(ifelse(cells > 0, cells * log(cells / independent), 0))
  }
  expected <- function(rows, columns) {
    n <- sum(rows)
    total <- 0
    for (a in rows) {
      for (b in columns) {
        k <- max(1, a + b - n):min(a, b)
        total <- total +
          sum(k / n * log(n * k / (a * b)) * stats::dhyper(k, a, n - a, b))
      }
    }
    total
  }
  pairs <- fit$diagnostics$pairs
  for (i in seq_len(nrow(pairs))) {
    v <- c(pairs$first[[i]], pairs$second[[i]])
    cells <- table(
      factor(code(v[[1]]), seq_along(fit$levels[[v[[1]]]])),
      factor(code(v[[2]]), seq_along(fit$levels[[v[[2]]]]))
    )
    expect_equal(pairs$information[[i]], information(cells), tolerance = 1e-10)
    chance <- expected(rowSums(cells), colSums(cells))
    expect_equal(pairs$expected[[i]], chance, tolerance = 1e-10)
    x <- bounds(v[[1]])
    y <- bounds(v[[2]])
    r <- pairs$correlation[[i]]
    rectangles <- matrix(0, length(x$low), length(y$low))
    for (j in seq_along(x$low)) {
      for (k in seq_along(y$low)) {
        rectangles[j, k] <- mvtnorm::pmvnorm(
          c(x$low[[j]], y$low[[k]]), c(x$high[[j]], y$high[[k]]),
          corr = matrix(c(1, r, r, 1), 2)
        )
      }
    }
    expect_equal(information(rectangles), information(cells) - chance, tolerance = 1e-7)
  }
})

test_that("sampling agrees with the sum over all cells", {
  fit <- copula_fit(hard_sample())
  cells <- do.call(expand.grid, lapply(fit$levels, seq_along))
  values <- as.data.frame(Map(function(l, i) l[i], fit$levels, cells))
  set.seed(1)
  q <- predict(fit, values, 1e5, score = "copula")$prob
  expect_equal(sum(q), 1, tolerance = 1e-3)
  sizes <- c(1500, 1e4, 1e5)
  drawn <- suppressWarnings(
    copula_uniqueness(fit, pop_size = sizes, calibrate = FALSE)
  )$estimates
  unique_share <- vapply(sizes, function(n) sum(q * (1 - q)^(n - 1)), 0)
  correct <- vapply(sizes, function(n) sum(1 - (1 - q)^n) / n, 0)
  expect_true(all(
    abs(drawn$population_uniqueness - unique_share) < 4 * drawn$uniqueness_mc_se + 1e-5
  ))
  expect_equal(drawn$population_correctness, correct, tolerance = 0.02)
})

test_that("kappa takes one likelihood and several population sizes", {
  expect_equal(
    uniqueness_to_correctness(0.58, c(1, 10, 100, 6.2e6)),
    c(1, 0.7731372, 0.7712198, 0.77102818), tolerance = 1e-7
  )
  expect_identical(uniqueness_to_correctness(0, c(1, 2, 4)), c(1, 0.5, 0.25))
  expect_identical(uniqueness_to_correctness(NA_real_, c(1, 2)), c(NA_real_, NA_real_))
  expect_identical(uniqueness_to_correctness(numeric(), 5), numeric())
  for (n in list(1:3, numeric(), NA, c(5, 0))) {
    expect_error(
      uniqueness_to_correctness(c(0.1, 0.2), n), class = "sdcRisk_error_bad_argument"
    )
  }
})

test_that("an interval holds its estimate, also at 0", {
  data <- data.frame(k = rep(1, 100))
  found <- suppressWarnings(copula_uniqueness(data, pop_size = 1e4))
  expect_identical(found$estimates$uniqueness_low, 0)
  expect_lte(found$estimates$population_uniqueness, found$estimates$uniqueness_high)
  expect_lt(found$estimates$uniqueness_high, 1e-3)
  expect_gte(found$estimates$population_correctness, 1e-4)
  expect_lte(found$estimates$correctness_low, found$estimates$population_correctness)
  expect_gte(found$estimates$correctness_high, found$estimates$population_correctness)
})

test_that("what cannot be is refused before any work", {
  data <- hard_sample()
  fit <- copula_fit(data)
  quiet <- function(code) {
    # Neither a warning nor a message comes before the error.
    expect_no_warning(expect_no_message(tryCatch(code, sdcRisk_error = function(e) class(e)[[1]])))
  }
  expect_identical(quiet(copula_uniqueness(data, pop_size = 1e10)), "sdcRisk_error_too_large")
  expect_identical(quiet(copula_uniqueness(data, pop_size = 1e300)), "sdcRisk_error_too_large")
  expect_identical(
    quiet(copula_uniqueness(fit, pop_size = 1e5, newdata = data["sex"])),
    "sdcRisk_error_unknown_key_var"
  )
  expect_error(copula_uniqueness(fit, pop_size = 1e5, newdata = 1), "`newdata`",
               class = "sdcRisk_error_bad_data")
  expect_error(predict(fit, data[0, ], 1e5), "`newdata`", class = "sdcRisk_error_bad_data")
  expect_error(validate_uniqueness(fit), class = "sdcRisk_error_bad_argument")
  expect_error(validate_uniqueness(fit, 1), "`population`", class = "sdcRisk_error_bad_data")
  expect_error(simulate(fit, 2, seed = "a"), class = "sdcRisk_error_bad_argument")
  expect_error(copula_fit(data[1, ], min_records = 1), class = "sdcRisk_error_bad_argument")
})

test_that("a number of the record among the keys is pointed out", {
  data <- data.frame(id = 1:200, sex = rep(c("f", "m"), 100))
  expect_warning(copula_fit(data), class = "sdcRisk_warning_identifying_key")
  expect_no_warning(copula_fit(transform(data, id = id %/% 2)))
})

test_that("classical estimators are drawn by population size", {
  skip_if_not_installed("ggplot2")
  found <- population_uniqueness(
    hard_sample(), pop_size = c(1e4, 1e5), method = c("pitman", "ewens")
  )
  picture <- ggplot2::autoplot(found)
  expect_equal(
    picture$data$population_uniqueness, found$estimates$population_uniqueness
  )
  expect_identical(nrow(ggplot2::layer_data(picture, 2)), 4L)
  one <- population_uniqueness(hard_sample(), pop_size = 1e4, method = "ewens")
  expect_length(ggplot2::autoplot(one)$layers, 1)
})
