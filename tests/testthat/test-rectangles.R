# Rectangles of equation 18 near a singular correlation matrix, against mvtnorm.

skip_on_cran()

test_that("no rectangle is missed near a projected matrix", {
  skip_if_not_installed("mvtnorm")
  esl <- trial_file("income_esl14.csv", stringsAsFactors = TRUE)
  keys <- names(esl)[c(1, 2, 4, 5, 6, 9)]
  set.seed(1)
  fit <- suppressWarnings(copula_fit(esl[sample(6876, 688), ], keys))
  new <- unique(esl[keys])
  found <- lapply(1:4, function(seed) {
    set.seed(seed)
    suppressMessages(
      predict(fit, new, pop_size = 6876, score = "copula", calibrate = FALSE)
    )
  })
  of <- function(column) vapply(found, function(scored) scored[[column]], numeric(nrow(new)))
  xi <- of("xi")
  spread <- apply(xi, 1, function(x) diff(range(x)))
  # A standard error of 0.01 of the probability moves xi = exp(-y) by at most
  # 0.01 y exp(-y) < 0.0037. The range of four runs is about two of these.
  expect_lt(max(spread), 0.03)
  expect_lt(mean(spread), 0.0076)
  expect_lt(mean(spread > 0.01), 0.03)
  # No error hides a probability that was missed: two runs differ as their errors say.
  prob <- of("prob")
  error <- of("prob_error")
  z <- (prob[, 1] - prob[, 2]) / sqrt(error[, 1]^2 + error[, 2]^2 + 1e-30)
  expect_lt(stats::sd(z), 1.5)
  expect_lt(max(abs(z)), 12)
  expect_false(any(error >= prob & prob > 1e-9 & error > 0.003 / 6876))
  # Against mvtnorm: the cells that differed most before, and some others.
  some <- order(-spread)[1:15]
  codes <- mapply(function(values, column) {
    match(as.character(column), as.character(values))
  }, fit$levels, new[some, keys])
  set.seed(9)
  peer <- oracle_rectangle(fit, codes, abseps = 1e-8, maxpts = 5e5)
  expect_lt(max(abs(xi[some, ] - (1 - peer)^6875)), 0.02)
})

test_that("rectangles of three key variables are exact", {
  set.seed(4)
  data <- adult[sample(nrow(adult), 3000), c("workclass", "occupation", "relationship")]
  fit <- copula_fit(data)
  cells <- expand.grid(fit$levels, stringsAsFactors = FALSE)
  scored <- sdcRisk:::individual_scores(fit, cells, 32561, "copula")
  expect_equal(sum(scored$prob), 1, tolerance = 1e-9)
  expect_true(all(scored$prob_error == 0))
})
