# What copula_uniqueness() says of records: sums, uncertainty, agreement.

skip_on_cran()

keys <- c("age", "sex", "race", "education_num", "occupation")
sample_of <- function(n, seed = 1, columns = keys) {
  set.seed(seed)
  adult[sample(nrow(adult), n), columns]
}
unique_by <- function(data, ..., seed = 5) {
  set.seed(seed)
  suppressMessages(suppressWarnings(copula_uniqueness(data, ..., n_refits = 0)))
}

test_that("likelihoods have their worked values", {
  # A tree without edges over one key variable of two values: p(1) = 1e-4.
  at <- function(n, given_sample = FALSE) {
    table <- sdcRisk:::key_table(data.frame(key = c("a", "b", "b")))
    core(rs_scores, table$pointer, list(
      score = "tree", maps = list(0:2), cells = table$pointer, rows = NULL,
      tree = list(
        edges = integer(), prior = double(), pairs = list(), counts = list(c(1, 2)),
        given = list(c(1e-4, 1 - 1e-4)), n = 5000, scale = 1, alpha = 2, spread = 1,
        ln_lambda = 0
      ),
      anchor = list(ln_p = double(), variance = double(), weight = NULL), sizes = n,
      uniqueness = NULL, own = FALSE, weights = NULL, given_sample = given_sample, n = 5000
    ))
  }
  found <- at(10000)
  expect_equal(found$xi[[1]][[1]], 0.2963259279, tolerance = 1e-9)
  expect_equal(found$kappa[[1]], 0.5555555556, tolerance = 1e-9)
  expect_identical(found$shape, c(2, 2, 2))
  # Unique in a sample of 5,000: ((1 + 0.25) / (1 + 0.5))^3.
  expect_equal(at(10000, TRUE)$xi[[1]][[1]], (1.25 / 1.5)^3, tolerance = 1e-12)
  expect_identical(at(10000, TRUE)$xi[[1]][2:3], c(0, 0))
  expect_identical(at(10000, TRUE)$counts, c(1, 2, 2))
})

test_that("likelihoods of the records add up to the records expected to be unique", {
  for (fraction in c(0.001, 0.01, 0.1, 0.5)) {
    data <- sample_of(2000)
    found <- unique_by(data, pop_size = c(2000 / fraction, 5e6))
    estimates <- found$estimates
    expect_equal(sum(found$records$xi), estimates$population_uniqueness[[1]] * 2000,
      tolerance = 1e-8
    )
    expect_equal(estimates$sum_xi, estimates$expected_unique_records, tolerance = 1e-8)
    expect_equal(
      estimates$expected_unique_records, 2000 * estimates$population_uniqueness,
      tolerance = 1e-12
    )
  }
})

test_that("sums are right where the truth is known, at small fractions too", {
  # People drawn from a copula: the model is right, and so is its uniqueness.
  fit <- copula_fit(sample_of(6000))
  people <- simulate(fit, 4e5, seed = 1)
  cell <- do.call(paste, people)
  unique <- !(duplicated(cell) | duplicated(cell, fromLast = TRUE))
  correct <- 1 / ave(numeric(4e5), cell, FUN = length)
  for (n in c(4000, 40000)) {
    set.seed(n)
    drawn <- sample(4e5, n)
    found <- unique_by(people[drawn, ], pop_size = 4e5)
    ratio <- sum(found$records$xi) / (n * mean(unique))
    expect_gt(ratio, 2 / 3)
    expect_lt(ratio, 4 / 3)
    ratio <- sum(found$records$kappa) / (n * mean(correct))
    expect_gt(ratio, 2 / 3)
    expect_lt(ratio, 4 / 3)
  }
})

test_that("the uncertainty of probabilities is where the likelihood has its summit", {
  for (n in c(150, 900)) {
    data <- sample_of(n, seed = 3)
    fit <- suppressWarnings(copula_fit(data))
    codes <- categories_of(fit, data)
    of <- function(f) {
      apply(codes, 1, function(record) {
        f(codes, fit$tree$edges, fit$tree$prior, record, own = 1)
      })
    }
    p <- of(oracle_tree)
    v <- of(oracle_variance)
    cell <- do.call(paste, data)
    unique <- !(duplicated(cell) | duplicated(cell, fromLast = TRUE))
    summit <- oracle_mixture(p, v, unique)
    tree <- fit$tree
    expect_equal(
      c(tree$alpha, exp(tree$ln_lambda), tree$spread), summit, tolerance = 1e-3
    )
    expect_identical(sum(tree$anchor$n_unique), as.numeric(sum(unique)))
    # And the records' likelihoods are those of the formulas.
    found <- unique_by(fit, pop_size = 32561, newdata = data)
    lambda <- found$records$prob / p
    expect_lt(diff(range(lambda)) / mean(lambda), 1e-9)
    expect_equal(
      found$records$xi, oracle_xi(found$records$prob, v, 32561, tree$alpha, tree$spread),
      tolerance = 1e-9
    )
    expect_equal(
      found$records$kappa, oracle_kappa(found$records$prob, v, 32561, tree$alpha, tree$spread),
      tolerance = 1e-9
    )
  }
})

test_that("a record of the file is judged without itself", {
  # One pair that nobody else has: with itself in the tables it would look certain.
  data <- sample_of(600)
  fit <- suppressWarnings(copula_fit(data))
  codes <- categories_of(fit, data)
  edge <- fit$tree$edges[, 1]
  alone <- which(!duplicated(codes[, edge]) & !duplicated(codes[, edge], fromLast = TRUE))[[1]]
  own <- unique_by(data, pop_size = 32561)$records[alone, ]
  outside <- suppressMessages(predict(fit, data[alone, ], 32561))
  expect_lt(own$prob, outside$prob)
  expect_lt(own$prob_shape, outside$prob_shape)
})

test_that("order of records, names of values and threads change nothing", {
  data <- sample_of(1500)
  data$race <- factor(data$race)
  found <- unique_by(data, pop_size = 32561)
  turned <- sample(1500)
  again <- unique_by(data[turned, ], pop_size = 32561)
  expect_equal(again$records$xi, found$records$xi[turned], tolerance = 1e-9)
  expect_identical(again$fit$tree$anchor, found$fit$tree$anchor)
  named <- data
  levels(named$race) <- paste0("r", seq_along(levels(named$race)))
  expect_equal(unique_by(named, pop_size = 32561)$records, found$records, tolerance = 1e-9)
  old <- options(sdcRisk.threads = 1)
  on.exit(options(old))
  expect_identical(unique_by(data, pop_size = 32561)$records, found$records)
})

test_that("a fit says the same without the file", {
  data <- sample_of(1500)
  whole <- unique_by(data, pop_size = 32561)
  fit <- whole$fit
  # The file itself is known again.
  expect_equal(
    unique_by(fit, pop_size = 32561, newdata = data)$records, whole$records, tolerance = 1e-12
  )
  alone <- unique_by(fit, pop_size = 32561)
  columns <- c("prop_xi_80", "prop_xi_95", "expected_unique_records")
  expect_equal(alone$estimates[columns], whole$estimates[columns], tolerance = 1e-9)
  expect_true(is.na(alone$estimates$sum_xi))
  others <- sample_of(300, seed = 8)
  set.seed(5)
  expect_equal(
    predict(fit, others, 32561), predict(whole, others), tolerance = 1e-6
  )
  applied <- unique_by(fit, pop_size = 32561, newdata = others)
  expect_equal(applied$estimates$expected_unique_records, sum(applied$records$xi))
  expect_true(is.na(applied$estimates$expected_unique_high))
  expect_match(gsub(" +", " ", text_of(applied)), paste(
    "Records expected to be unique", sdcRisk:::format_amount(sum(applied$records$xi))
  ))
})

test_that("weights leave a record out by its weight", {
  data <- sample_of(400)
  data$w <- rep(c(1, 3), 200)
  fit <- suppressWarnings(copula_fit(data, keys, weight_var = "w"))
  found <- unique_by(data, keys, pop_size = 32561, weight_var = "w")
  # Repeated records are heavier records: where each stands for `w`, the mean does.
  expect_equal(
    weighted.mean(found$records$xi, data$w), found$estimates$population_uniqueness,
    tolerance = 1e-8
  )
  expect_equal(
    unique_by(fit, pop_size = 32561, newdata = data)$records, found$records, tolerance = 1e-12
  )
})

test_that("scores that cannot agree with the estimate say so", {
  data <- sample_of(2000)
  set.seed(6)
  expect_warning(
    found <- suppressMessages(
      copula_uniqueness(data, pop_size = 3e6, score = "placement", n_refits = 0)
    ),
    class = "sdcRisk_warning_scores_differ"
  )
  estimates <- found$estimates
  expect_gt(abs(log(estimates$sum_xi / estimates$expected_unique_records)), log(4 / 3))
  expect_match(paste(lines_of(found), collapse = "\n"), "their xi add up to")
  expect_match(interpret(found), "are expected to be unique")
  agreed <- unique_by(data, pop_size = 3e6)
  expect_false(grepl("add up to", paste(lines_of(agreed), collapse = "\n")))
  expect_match(
    paste(lines_of(agreed), collapse = "\n"), "Records expected to be unique +[0-9.]+ \\["
  )
  expect_identical(sdcRisk:::format_expected(c(0, 0.001, 0.5, 12.34, 1234.5)),
    c("0", "below 0.01", "0.5", "12.3", "1,234")
  )
})

test_that("where nobody is or can be unique, nothing breaks", {
  data <- data.frame(a = rep(1:2, 300), b = rep(1:3, each = 200))
  found <- unique_by(data, pop_size = 1e6)
  expect_equal(sum(found$records$xi), 600 * found$estimates$population_uniqueness, tolerance = 1e-6)
  expect_true(all(found$records$xi < 1e-6))
  expect_true(all(found$records$kappa > 0 & found$records$kappa < 1e-4))
  expect_match(paste(lines_of(found), collapse = "\n"), "Records expected to be unique")
})

test_that("the lowest class is there, and small shares have words", {
  data <- sample_of(1500)
  fit <- copula_fit(data)
  set.seed(2)
  found <- validate_uniqueness(fit, adult, rows = seq(1, 32561, by = 20))
  lowest <- found$calibration[1, ]
  expect_identical(c(lowest$xi_low, lowest$n), c(0, 1067))
  expect_equal(lowest$mean_xi, 0.0146, tolerance = 0.005)
  by_size <- uniqueness_by_size(fit, 1e5, sizes = 1)
  expect_lt(by_size$estimates$uniqueness_mean, 1e-6)
  expect_match(interpret(by_size), "below 0.0001%")
})
