test_that("uniqueness by size uses sub-models without refitting", {
  fit <- copula_fit(sample_of(3000, five_keys))
  set.seed(1)
  found <- uniqueness_by_size(fit, 32561, n_sim = 100)
  expect_identical(found$estimates$n_subsets, c(5L, 10L, 10L, 5L, 1L))
  expect_identical(found$estimates$n_possible, choose(5, 1:5))
  expect_true(all(diff(found$estimates$uniqueness_mean) > 0))
  p <- fit$shares$age
  exact <- sum(p * (1 - p)^32560)
  expect_equal(found$subsets$uniqueness[found$subsets$key_set == "age"], exact, tolerance = 0.1)
  set.seed(1)
  whole <- copula_uniqueness(
    fit, pop_size = 32561, calibrate = FALSE, records = FALSE, n_refits = 0
  )$estimates
  last <- found$subsets[nrow(found$subsets), ]
  expect_lt(abs(last$uniqueness - whole$population_uniqueness), 5 * last$uniqueness_mc_se)
  expect_lte(length(format(found)), 16)
  set.seed(2)
  few <- uniqueness_by_size(fit, 32561, sizes = c(3, 2), n_sim = 4)
  expect_identical(few$estimates$n_keys, c(3L, 2L))
  expect_identical(anyDuplicated(few$subsets$key_set), 0L)
})

test_that("bad input of uniqueness_by_size() is refused", {
  data <- sample_of(200, c("age", "sex"))
  fit <- copula_fit(data)
  refused <- function(code) {
    expect_error(suppressWarnings(code), class = "sdcRisk_error_bad_argument")
  }
  refused(uniqueness_by_size(data, 300))
  refused(uniqueness_by_size(fit, 100))
  refused(uniqueness_by_size(fit, c(300, 400)))
  refused(uniqueness_by_size(fit, 300, sizes = 3))
  refused(uniqueness_by_size(fit, 300, n_sim = 0))
  refused(uniqueness_by_size(fit, 300, times = 3))
  refused(uniqueness_by_size(fit))
})
