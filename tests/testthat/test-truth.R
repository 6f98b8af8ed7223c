# The arithmetic of the benchmark of truth, which is no part of the package.

truth_tools <- function() {
  file <- file.path("..", "..", "dev", "benchmarks", "truth", "truth.R")
  skip_if_not(file.exists(file), "the benchmark is not at hand")
  tools <- new.env()
  sys.source(file, tools)
  sys.source(file.path(dirname(file), "samples.R"), tools)
  tools
}

test_that("what is true of a sample is counted right", {
  tools <- truth_tools()
  people <- data.frame(
    sex = c("f", "f", "f", "m", "m", "m", "m"), age = c(1, 1, 2, 1, 1, 1, 3)
  )
  cell <- tools$cells_of(people, c("sex", "age"))
  # Cells of 2, 1, 3 and 1 people.
  expect_identical(tabulate(cell), c(2L, 1L, 3L, 1L))
  # Records: one of two, the single ones, two of three.
  found <- tools$truth_of(cell, c(1, 3, 4, 5))
  expect_equal(found, c(
    theta = 2 / 3, uniqueness = 2 / 7, correctness = 4 / 7, tau1 = 1 / 4,
    tau2 = 1.5 / 4, reidentification = (1 / 2 + 1 + 1 / 3 + 1 / 3) / 4
  ))
  none <- tools$truth_of(cell, c(4, 5))
  expect_equal(none[c("theta", "tau1", "tau2")], c(theta = NA, tau1 = 0, tau2 = 0))
})

test_that("bias, coverage and failures are those of a hand count", {
  tools <- truth_tools()
  found <- tools$compare_with_truth(
    truth = c(0.2, 0.2, 0.4, 0.4, NA, 0),
    estimate = c(0.3, 0.1, NA, 0.6, 0.5, 0.1),
    low = c(0.2, 0.05, NA, 0.5, 0, NA), high = c(0.4, 0.15, NA, 0.7, 1, NA)
  )
  expect_identical(found$runs, 4L)
  expect_identical(found$failures, 1L)
  expect_equal(found$bias, 0.3 / 4)
  expect_equal(found$rmse, sqrt((0.01 + 0.01 + 0.04 + 0.01) / 4))
  expect_equal(found$median_ratio, 1.5)
  expect_equal(found$median_error, 0.5)
  expect_identical(found$intervals, 3L)
  # The first holds the truth, at its end; the second lies below it.
  expect_equal(found$coverage, 1 / 3)
  expect_equal(found$truth_above, 1 / 3)
  expect_equal(found$mean_width, 0.5 / 3)
  expect_equal(found$median_width, 0.2)
  nothing <- tools$compare_with_truth(NA_real_, NA_real_, NA_real_, NA_real_)
  expect_identical(nothing$runs, 0L)
  expect_identical(nothing$failures, 0L)
  expect_true(is.na(nothing$coverage))
})

test_that("likelihoods are compared with what is true, class by class", {
  tools <- truth_tools()
  found <- tools$score_table(
    c(0, 0.05, 0.1, 0.9, 1, 1), c(FALSE, TRUE, FALSE, TRUE, TRUE, FALSE)
  )
  expect_identical(found$n, c(2L, 1L, 0L, 3L))
  expect_equal(found$xi, c(0.025, 0.1, NA, 2.9 / 3))
  expect_equal(found$unique, c(0.5, 0, NA, 2 / 3))
})

test_that("samples have the sizes and probabilities that are said", {
  tools <- truth_tools()
  by <- rep(c("a", "b", "c", "d"), c(10, 20, 30, 40))
  set.seed(1)
  expect_length(tools$draw_sample("simple", by, 0.1)$rows, 10)
  stratified <- by[tools$draw_sample("stratified", by, 0.1)$rows]
  expect_identical(as.vector(table(stratified)), 1:4)
  expect_equal(tools$inclusion(c(1, 1, 2), 2), c(0.5, 0.5, 1))
  expect_equal(sum(tools$inclusion(rep(c(1, 8), 50), 60)), 60)
  # Weighted by 1 / pi, a sample stands for its population on average.
  totals <- replicate(2000, {
    drawn <- tools$draw_sample("unequal", by, 0.2)
    c(sum(drawn$weights), sum(drawn$weights[by[drawn$rows] == "a"]), length(drawn$rows))
  })
  expect_equal(rowMeans(totals), c(100, 10, 20), tolerance = 0.03)
  expect_true(all(totals[3, ] == 20))
  expect_identical(tools$seed_of("a", 1), tools$seed_of("a", 1))
  expect_false(tools$seed_of("a", 1) == tools$seed_of("a", 2))
})
