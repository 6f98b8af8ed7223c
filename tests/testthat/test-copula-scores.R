# Small samples of a known population, with a warning we know of.

skip_on_cran()

small_sample <- function(n = 1200, keys = c("age", "sex", "education_num", "occupation")) {
  set.seed(11)
  adult[sample(nrow(adult), n), keys]
}

test_that("correctness has the published values and its digits", {
  # Rocher et al. 2019, section "Appropriateness of the de-identification model":
  # xi = 0.58 with kappa = 0.77, and 99.8% for xi = 0.997.
  expect_equal(round(uniqueness_to_correctness(0.58, 6.2e6), 2), 0.77)
  expect_equal(round(uniqueness_to_correctness(0.997, 6.2e6), 3), 0.998)
  n <- c(6.0e6, 6.2e6, 6.35e6)
  expect_equal(uniqueness_to_correctness(rep(0.58, 3), n), rep(0.77102818, 3), tolerance = 1e-8)
  expect_equal(uniqueness_to_correctness(0.58, 100), 0.7712198, tolerance = 1e-7)
  expect_equal(uniqueness_to_correctness(0.58, 10), 0.7731372, tolerance = 1e-7)
  expect_equal(uniqueness_to_correctness(0.80, 6.2e6), 0.896284, tolerance = 1e-6)
  expect_equal(uniqueness_to_correctness(0.95, 6.2e6), 0.974786, tolerance = 1e-6)
  expect_equal(uniqueness_to_correctness(0.997, 6.2e6), 0.998499, tolerance = 1e-6)
})

test_that("correctness has its limits", {
  expect_identical(uniqueness_to_correctness(c(0, 0.5, 1), 1), c(1, 1, 1))
  expect_equal(uniqueness_to_correctness(c(0, 1), 3), c(1 / 3, 1))
  expect_identical(uniqueness_to_correctness(NA_real_, 10), NA_real_)
  # NaN is missing, for a population of one too.
  for (n in c(1, 10)) {
    expect_true(is.na(uniqueness_to_correctness(NaN, n)))
    expect_false(is.nan(uniqueness_to_correctness(NaN, n)))
  }
  xi <- seq(0.01, 0.99, 0.01)
  for (n in c(2, 10, 1e5, 1e10)) {
    kappa <- uniqueness_to_correctness(xi, n)
    expect_true(all(kappa >= xi - 1e-12 & kappa <= 1))
    expect_false(is.unsorted(kappa))
  }
  # For many people (1 - xi) / -ln xi.
  expect_equal(uniqueness_to_correctness(xi, 1e10), (1 - xi) / -log(xi), tolerance = 1e-9)
  # From a probability, by the sum over the number of others (equation 26).
  p <- 0.013
  n <- 40
  direct <- sum(dbinom(0:(n - 1), n - 1, p) / seq_len(n))
  expect_equal(uniqueness_to_correctness((1 - p)^(n - 1), n), direct, tolerance = 1e-12)
  expect_equal(sdcRisk:::correctness_of(p, n), direct, tolerance = 1e-12)
  expect_identical(sdcRisk:::correctness_of(c(0, 1), 2), c(1, 0.5))
  expect_identical(sdcRisk:::likelihood_unique(c(1, 1), 1), c(1, 1))
  expect_identical(sdcRisk:::likelihood_unique(1, 2), 0)
})

test_that("correctness refuses what is none", {
  expect_error(uniqueness_to_correctness(1.1, 10), class = "sdcRisk_error_bad_argument")
  expect_error(uniqueness_to_correctness("a", 10), class = "sdcRisk_error_bad_argument")
  expect_error(uniqueness_to_correctness(0.5, 0), class = "sdcRisk_error_bad_argument")
  expect_error(uniqueness_to_correctness(0.5, 1e11), class = "sdcRisk_error_bad_argument")
  expect_error(
    uniqueness_to_correctness(c(0.1, 0.2, 0.3), c(2, 3)),
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(uniqueness_to_correctness(0.5, NA_real_), class = "sdcRisk_error_bad_argument")
})

test_that("equation 18 equals mvtnorm", {
  skip_if_not_installed("mvtnorm")
  set.seed(3)
  data <- adult[sample(nrow(adult), 2000), ]
  keys <- c(
    "age", "sex", "education_num", "hours_per_week", "occupation", "relationship", "race",
    "marital_status"
  )
  for (d in c(2, 3, 4, 6, 8)) {
    fit <- copula_fit(data, keys[seq_len(d)])
    records <- data[1:12, keys[seq_len(d)]]
    ours <- predict(fit, records, 32561, score = "copula", accuracy = 1e-3)
    set.seed(4)
    peer <- oracle_rectangle(fit, categories_of(fit, records))
    if (d <= 3) {
      expect_identical(ours$prob_error, numeric(12))
      expect_equal(ours$prob, peer, tolerance = if (d == 2) 1e-9 else 1e-5)
    } else {
      expect_true(all(abs(ours$prob - peer) < 5 * ours$prob_error + 2e-8))
      expect_equal(sum(ours$prob), sum(peer), tolerance = 5e-3)
    }
  }
})

test_that("probabilities of all cells add up to one", {
  data <- small_sample(1200, c("sex", "race", "income"))
  fit <- copula_fit(data)
  cells <- expand.grid(fit$levels, stringsAsFactors = FALSE)
  for (score in c("tree", "copula")) {
    scored <- sdcRisk:::individual_scores(fit, cells, 32561, score, accuracy = 1e-5)
    expect_equal(sum(scored$prob), 1, tolerance = if (score == "tree") 1e-12 else 1e-9)
  }
})

test_that("independent uniform cells have the likelihood of their number", {
  # Rows of 4^5 equally likely cells: xi = (1 - 1/1024)^999 = 0.3768.
  data <- expand.grid(a = 1:4, b = 1:4, c = 1:4, d = 1:4, e = 1:4)
  fit <- copula_fit(data)
  scored <- sdcRisk:::individual_scores(fit, data[c(1, 100, 1000), ], 1000, "copula")
  expect_equal(scored$xi, rep((1 - 1 / 1024)^999, 3), tolerance = 1e-3)
  tree <- sdcRisk:::individual_scores(fit, data[c(1, 100, 1000), ], 1000, "tree")
  expect_equal(tree$prob, rep(1 / 1024, 3), tolerance = 1e-12)
})

test_that("the tree equals its definition", {
  data <- small_sample(400)
  fit <- suppressWarnings(copula_fit(data))
  codes <- categories_of(fit, data)
  # A maximum spanning tree of the information above chance.
  excess <- fit$diagnostics$pairs$information - fit$diagnostics$pairs$expected
  pairs <- combn(4, 2)
  trees <- combn(6, 3, simplify = FALSE)
  trees <- Filter(function(t) length(unique(c(pairs[, t]))) == 4, trees)
  best <- trees[[which.max(vapply(trees, function(t) sum(excess[t]), 0))]]
  expect_setequal(
    apply(fit$tree$edges, 2, paste, collapse = " "),
    apply(pairs[, best], 2, paste, collapse = " ")
  )
  for (e in seq_len(3)) {
    table <- table(codes[, fit$tree$edges[1, e]], codes[, fit$tree$edges[2, e]])
    at <- oracle_dirichlet(fit$tree$prior[[e]], table)
    expect_gte(at, oracle_dirichlet(fit$tree$prior[[e]] * 1.1, table))
    expect_gte(at, oracle_dirichlet(fit$tree$prior[[e]] / 1.1, table))
  }
  scored <- sdcRisk:::individual_scores(fit, data[1:20, ], 32561, "tree")
  direct <- apply(codes[1:20, ], 1, function(record) {
    oracle_tree(codes, fit$tree$edges, fit$tree$prior, record)
  })
  expect_equal(scored$prob, direct, tolerance = 1e-12)
  without <- apply(codes, 1, function(record) {
    oracle_tree(codes, fit$tree$edges, fit$tree$prior, record, own = 1)
  })
  expect_equal(exp(fit$tree$anchor$ln_p), sort(without), tolerance = 1e-12)
  spread <- apply(codes, 1, function(record) {
    oracle_variance(codes, fit$tree$edges, fit$tree$prior, record, own = 1)
  })
  expect_equal(
    fit$tree$anchor$variance[order(fit$tree$anchor$variance)], sort(spread), tolerance = 1e-12
  )
})

test_that("an unseen value counts as 0.3 records and is said", {
  data <- small_sample()
  fit <- copula_fit(data)
  person <- data[1, ]
  person$age <- 99L
  for (score in c("tree", "copula", "placement")) {
    expect_message(
      scored <- sdcRisk:::individual_scores(fit, person, 32561, score, accuracy = 1e-3),
      class = "sdcRisk_message_unseen_categories"
    )
    rest <- sdcRisk:::individual_scores(
      sdcRisk:::select_keys(fit, names(data)[-1]), person, 32561, score,
      accuracy = 1e-3
    )
    if (score != "placement") {
      expect_equal(scored$prob / (0.3 / 1200 * rest$prob), 1, tolerance = 0.01)
    }
    expect_true(scored$xi > 0.5)
  }
  told <- tryCatch(
    sdcRisk:::individual_scores(fit, person, 32561, "tree"),
    sdcRisk_message_unseen_categories = function(m) m
  )
  expect_identical(told$columns, "age")
  expect_false(grepl("99", conditionMessage(told)))
})

test_that("missing is a value of its own, or leaves a record out", {
  data <- small_sample()
  data$age[1:100] <- NA
  fit <- copula_fit(data)
  scored <- predict(fit, data[c(1, 200), ], 32561)
  expect_false(anyNA(scored))
  expect_message(
    predict(copula_fit(small_sample()), data[1, ], 32561),
    class = "sdcRisk_message_unseen_categories"
  )
  fit <- copula_fit(data, missing = "exclude")
  scored <- predict(fit, data[c(1, 200), ], 32561)
  expect_identical(is.na(scored$xi), c(TRUE, FALSE))
})

test_that("weights make the tree that repeated records make", {
  data <- small_sample(400)
  weighted <- cbind(data, w = 2)
  twice <- suppressWarnings(copula_fit(rbind(data, data)))
  fit <- suppressWarnings(copula_fit(weighted, names(data), weight_var = "w"))
  plain <- suppressWarnings(copula_fit(data))
  of <- function(f) sdcRisk:::individual_scores(f, data[1:9, ], 32561, "tree")$prob
  # Equal weights say nothing more than no weights.
  expect_equal(of(fit), of(plain), tolerance = 1e-10)
  expect_equal(sum(of(twice)), sum(of(plain)), tolerance = 0.2)
  weighted$w <- rep(1:2, 200)
  uneven <- suppressWarnings(copula_fit(weighted, names(data), weight_var = "w"))
  expect_true(all(of(uneven) > 0 & of(uneven) < 1))
})

test_that("threads, company and order of records change nothing", {
  data <- small_sample()
  fit <- copula_fit(data)
  newdata <- data[c(1:40, 1:40), ]
  of <- function(score, rows = seq_len(80), threads = 2) {
    withr_options <- options(sdcRisk.threads = threads)
    on.exit(options(withr_options))
    set.seed(5)
    sdcRisk:::individual_scores(fit, newdata[rows, ], 32561, score, 0.1)
  }
  for (score in c("tree", "copula", "placement")) {
    two <- of(score)
    expect_identical(two, of(score, threads = 1))
    expect_identical(two$prob[1:40], two$prob[41:80])
    expect_identical(rev(two$prob), of(score, 80:1)$prob)
    expect_identical(two$prob[7], of(score, 7)$prob)
  }
})

test_that("factors, text and given margins are scored by value", {
  data <- small_sample()
  as_factor <- data
  as_factor$occupation <- factor(data$occupation)
  fit <- copula_fit(data)
  expect_equal(
    predict(copula_fit(as_factor), data[1:5, ], 32561)$prob,
    predict(fit, data[1:5, ], 32561)$prob,
    tolerance = 0.2
  )
  given <- copula_fit(data, exogenous = list(
    marginals = list(sex = c(Female = 0.1, Male = 0.9))
  ))
  of <- function(f) sdcRisk:::individual_scores(f, data, 32561, "tree")$prob
  change <- of(given) / of(fit)
  share <- mean(data$sex == "Female")
  expect_equal(
    change, unname(ifelse(data$sex == "Female", 0.1 / share, 0.9 / (1 - share))),
    tolerance = 1e-10
  )
})
