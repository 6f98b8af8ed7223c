sampled <- tenth_of_adult()
keys <- five_keys
fit <- copula_fit(adult[sampled, keys])

test_that("predict() gives one row per person and agrees with copula_uniqueness()", {
  set.seed(1)
  result <- suppressWarnings(copula_uniqueness(fit, pop_size = c(32561, 1e5), n_refits = 0))
  scored <- predict(result, person)
  expect_named(scored, c("prob", "xi", "kappa", "prob_error", "prob_shape"))
  shape <- scored$prob_shape
  expect_equal(scored$xi, (1 + 32560 * scored$prob / shape)^-(shape + 1), tolerance = 1e-9)
  expect_equal(
    scored$kappa, (1 - (1 + 32561 * scored$prob / shape)^-shape) / (32561 * scored$prob),
    tolerance = 1e-9
  )
  expect_gt(scored$xi, predict(result, person, pop_size = 1e5)$xi)
  set.seed(2)
  expect_equal(predict(fit, person, 32561)$xi, scored$xi, tolerance = 0.02)
  set.seed(3)
  by_rectangle <- predict(result, person, score = "copula")
  expect_gt(by_rectangle$prob_error, 0)
  expect_lt(by_rectangle$prob_error, 0.01 * by_rectangle$prob + 0.002 / 32561)
  expect_equal(
    by_rectangle$kappa, uniqueness_to_correctness(by_rectangle$xi, 32561), tolerance = 1e-9
  )
  # A population not in the result is drawn.
  expect_lt(predict(result, person, pop_size = 2e5)$xi, scored$xi)
})

test_that("bad input of predict() is refused", {
  bad <- function(..., class = "bad_argument") {
    expect_error(predict(fit, ...), class = paste0("sdcRisk_error_", class))
  }
  bad(person)
  bad(pop_size = 32561)
  bad(person, 100)
  bad(person, c(32561, 40000))
  bad(person, Inf)
  bad(person, 32561, score = "best")
  bad(person, 32561, calibrate = NA)
  bad(person, 32561, accuracy = 0)
  bad(person, 32561, size = 1)
  bad(person[-1], 32561, class = "unknown_key_var")
  bad(list(1), 32561, class = "bad_data")
})

test_that("a part of a fit is the fit of a part", {
  part <- sdcRisk:::select_keys(fit, c("age", "occupation", "sex"))
  direct <- copula_fit(adult[sampled, ], c("age", "sex", "occupation"), order = "natural")
  of <- function(f) sdcRisk:::individual_scores(f, adult[1:50, ], 32561, "tree")$prob
  expect_equal(of(part), of(direct), tolerance = 1e-10)
  expect_identical(part$pairs, fit$pairs[c("age + sex", "age + occupation", "sex + occupation")])
  # People drawn from the tree stand for the sample's records.
  set.seed(6)
  drawn <- sdcRisk:::part_tree(direct, direct$tree)
  people <- drawn$anchor
  expect_equal(
    weighted.mean(people$ln_p, people$weight), mean(direct$tree$anchor$ln_p), tolerance = 0.03
  )
  expect_equal(
    sdcRisk:::weighted_quantile(people$variance, people$weight, 0.5),
    median(direct$tree$anchor$variance), tolerance = 0.1
  )
  # Weights are shares over the shares drawn by: their mean is 1.
  expect_equal(mean(people$weight), 1, tolerance = 0.03)
  expect_lte(max(people$weight), 2)
  expect_identical(drawn$alpha, direct$tree$alpha)
})

test_that("people drawn by a mixture of shares are as frequent as the tree says", {
  part <- sdcRisk:::select_keys(fit, c("age", "sex"))
  set.seed(8)
  people <- sdcRisk:::draw_points(part, part$tree)
  # Of two key variables the tree is the shrunken pair table itself.
  pair <- sdcRisk:::shrunken_pair(part, 1:2, part$tree$prior[[1]], sdcRisk:::tree_parts(part))
  rare <- pair[pair > 0 & pair < 1e-3]
  found <- sum(people$weight * (people$ln_p < log(1e-3))) / sum(people$weight)
  expect_equal(found, sum(rare), tolerance = 0.05)
  alone <- function(p) exp(-2000 * p)
  expect_equal(
    sum(people$weight * alone(exp(people$ln_p))) / sum(people$weight),
    sum(pair * alone(pair)), tolerance = 0.05
  )
})

test_that("pictures are drawn", {
  skip_if_not_installed("ggplot2")
  set.seed(10)
  found <- suppressMessages(validate_uniqueness(fit, adult))
  for (type in c("roc", "fdr", "brier", "calibration")) {
    expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(found, type)))
  }
  expect_error(ggplot2::autoplot(found, "x"), class = "sdcRisk_error_bad_argument")
  profile <- uniqueness_profile(fit, person[1:3], 32561)
  expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(profile)))
})
