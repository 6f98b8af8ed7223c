draws <- function(seed, threads) {
  unwrap(rs_draws(seed, 10000L, threads))
}

test_that("random numbers obey set.seed() and not the number of threads", {
  set.seed(7)
  one <- draws(draw_seed(), 1L)
  set.seed(7)
  expect_identical(draws(draw_seed(), 2L), one)
  expect_false(identical(draws(draw_seed(), 2L), one))
  expect_true(all(one >= 0 & one < 1))
  # The mean of 10,000 uniforms lies within five standard errors of a half.
  expect_lt(abs(mean(one) - 0.5), 5 / sqrt(12 * 10000))
  expect_identical(anyDuplicated(one[c(1, 1025, 2049)]), 0L)
})

test_that("the number of threads is an option that is checked", {
  old <- options(sdcRisk.threads = NULL)
  on.exit(options(old))
  expect_identical(sdc_threads(), 2L)
  options(sdcRisk.threads = 5)
  expect_identical(sdc_threads(), 5L)
  for (bad in list(0, 1.5, "two", NA, c(1, 2))) {
    options(sdcRisk.threads = bad)
    expect_error(sdc_threads(), class = "sdcRisk_error_bad_argument")
  }
})
