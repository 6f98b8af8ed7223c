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

test_that("little work is done without threads, in forks of R too", {
  keys <- c("age", "sex", "race")
  small <- cbind(utils::head(adult, 500), w = 10)
  risks <- function(data) individual_risk(data, keys, "w")$estimates
  before <- risks(small)
  counts <- table(do.call(paste, small[keys]))
  expect_identical(before$n_unique, sum(counts == 1))
  # The same records 20 times over are beyond what one thread does.
  large <- risks(small[rep(1:500, 20), ])
  expect_identical(large$n_cells, before$n_cells)
  expect_identical(large$n_unique, 0L)
  skip_on_os("windows")
  skip_if_not_installed("parallel")
  both <- parallel::mclapply(1:2, function(i) list(risks(small), risks(small[rep(1:500, 20), ])))
  expect_identical(both[[1]], list(before, large))
  expect_identical(both[[2]], both[[1]])
  expect_identical(risks(small), before)
})
