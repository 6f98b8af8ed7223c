skip_on_cran()

quiet_fit <- function(...) suppressWarnings(suppressMessages(copula_fit(...)))

test_that("correlations equal the slow root of exact information", {
  skip_if_not_installed("mvtnorm")
  for (seed in 1:6) {
    data <- latent_file(300, c(3, 5, 2, 4), c(0.1, 0.4, 0.7)[seed %% 3 + 1], seed)
    fit <- quiet_fit(data)
    pairs <- fit$diagnostics$pairs
    for (i in seq_len(nrow(pairs))) {
      x <- data[[pairs$first[i]]]
      y <- data[[pairs$second[i]]]
      expect_equal(pairs$information[i], slow_information(table(x, y)), tolerance = 1e-12)
      expect_equal(
        pairs$expected[i], slow_expected_information(table(x), table(y)), tolerance = 1e-9
      )
      expect_equal(pairs$correlation[i], slow_correlation(x, y), tolerance = 2e-5)
    }
    expect_equal(coef(fit)[upper.tri(coef(fit))], t(coef(fit))[upper.tri(coef(fit))])
  }
})

test_that("expected information is the one of scikit-learn and of enumeration", {
  # sklearn.metrics.cluster.expected_mutual_information, adult, first 3,256 records
  data <- adult[1:3256, c("sex", "race")]
  found <- quiet_fit(data)$diagnostics$pairs$expected
  expect_equal(
    found, slow_expected_information(table(data$sex), table(data$race)), tolerance = 1e-10
  )
  # Large tables are summed over a lattice.
  found <- quiet_fit(adult[c("sex", "marital_status")])$diagnostics$pairs$expected
  expect_equal(
    found, slow_expected_information(table(adult$sex), table(adult$marital_status)),
    tolerance = 1e-8
  )
})

test_that("a negative dependence gets a negative correlation", {
  data <- latent_file(2000, c(6, 6), 0.6, 1)
  up <- coef(copula_fit(data))[1, 2]
  data$b <- -data$b
  expect_equal(coef(copula_fit(data))[1, 2], -up, tolerance = 1e-5)
  expect_gt(up, 0.5)
  expect_equal(coef(copula_fit(data, signed = FALSE))[1, 2] > 0, TRUE)
  expect_true(all(coef(copula_fit(data, order = "frequency")) >= 0))
})

test_that("permuting records changes nothing, and relabelling nominal keys next to nothing", {
  data <- adult[1:3000, c("age", "occupation", "relationship", "sex")]
  fit <- copula_fit(data)
  again <- copula_fit(data[rev(seq_len(nrow(data))), ])
  expect_identical(coef(fit), coef(again))
  expect_identical(fit$orders, again$orders)
  relabelled <- data
  relabelled$occupation <- factor(as.character(data$occupation), rev(levels(data$occupation)))
  other <- copula_fit(relabelled)
  expect_equal(abs(coef(other)), abs(coef(fit)), tolerance = 0.02)
  natural <- copula_fit(data, order = "natural")
  expect_identical(unname(natural$orders), unname(lapply(natural$levels, seq_along)))
})

test_that("the optimal order of a nominal key is the one of its latent variable", {
  data <- latent_file(5000, c(6, 8, 7), 0.7, 3)
  hidden <- c(4, 1, 6, 2, 5, 3)
  data$a <- factor(letters[hidden[data$a]])
  places <- copula_fit(data)$orders$a
  expect_true(all(diff(places[hidden]) == 1) || all(diff(places[hidden]) == -1))
  expect_false(is.unsorted(copula_fit(data)$orders$b))
})

test_that("orders are permutations, random ones obey the seed", {
  for (order in c("scaling", "natural", "random", "frequency")) {
    set.seed(4)
    fit <- quiet_fit(adult[1:1000, ], order = order)
    for (j in seq_along(fit$orders)) {
      expect_setequal(fit$orders[[j]], seq_along(fit$shares[[j]]))
    }
    set.seed(4)
    expect_identical(quiet_fit(adult[1:1000, ], order = order)$orders, fit$orders)
  }
  expect_identical(fit$orders$sex, c(2L, 1L))
})

test_that("margins are shares, and missing is the last category", {
  fit <- copula_fit(adult[c("workclass", "sex")])
  expect_equal(
    unname(fit$shares$workclass),
    unname(c(table(adult$workclass), sum(is.na(adult$workclass)))) / nrow(adult)
  )
  expect_identical(as.character(fit$levels$workclass), c(levels(adult$workclass), NA))
  expect_equal(sum(fit$pairs[[1]]), nrow(adult))
  expect_identical(dim(fit$pairs[["workclass + sex"]]), c(9L, 2L))
  excluded <- copula_fit(adult[c("workclass", "sex")], missing = "exclude")
  expect_identical(excluded$diagnostics$n_excluded, sum(is.na(adult$workclass)))
  expect_equal(
    unname(excluded$shares$workclass), unname(c(prop.table(table(adult$workclass))))
  )
  expect_identical(excluded$n, sum(!is.na(adult$workclass)))
})

test_that("parametric margins are taken where the criterion says so", {
  equal <- data.frame(a = rep(1:5, each = 10), b = rep(1:2, 25))
  expect_identical(copula_fit(equal, marginals = "auto")$marginals$family[1], "categorical")
  counts <- c(721, 180, 60, 23, 9, 4, 2, 1)
  falling <- data.frame(a = rep(letters[1:8], counts), b = rep(1:2, 500))
  fit <- copula_fit(falling, marginals = "auto")
  expect_identical(fit$marginals$family[1], "logarithmic")
  expect_gt(fit$marginals$n_unseen[1], 0)
  expect_equal(sum(fit$shares$a), 1)
  # The likelihood at the stated parameter, by hand.
  theta <- as.double(sub("theta = ", "", fit$marginals$parameters[1]))
  ranks <- seq_along(counts)
  log_likelihood <- sum(counts * (ranks * log(theta) - log(ranks) - log(-log(1 - theta))))
  expect_equal(fit$marginals$bic[1], -2 * log_likelihood + log(1000), tolerance = 1e-5)
  expect_equal(
    copula_fit(falling)$marginals$bic[1],
    -2 * sum(counts * log(counts / 1000)) + 7 * log(1000)
  )
})

test_that("equal weights change nothing, and doubled records are weights of two", {
  data <- latent_file(400, c(4, 3, 5), 0.4, 5)
  data$w <- 7
  plain <- copula_fit(data[1:3])
  expect_equal(coef(copula_fit(data, weight_var = "w")), coef(plain), tolerance = 1e-6)
  data$w <- ifelse(data$a > 2, 2, 1)
  weighted <- copula_fit(data, weight_var = "w")
  repeated <- copula_fit(data[rep(seq_len(400), data$w), 1:3])
  expect_equal(weighted$shares, repeated$shares)
  expect_equal(
    weighted$diagnostics$pairs$information, repeated$diagnostics$pairs$information
  )
  # Information by chance is that of the smaller, effective number of records.
  expect_equal(weighted$diagnostics$n_effective, round(sum(data$w)^2 / sum(data$w^2)))
  expect_true(all(
    weighted$diagnostics$pairs$expected > repeated$diagnostics$pairs$expected
  ))
  expect_false(weighted$settings$equal_weights)
})

test_that("given margins and correlations are taken as they are", {
  data <- latent_file(300, c(3, 3), 0.5, 2)
  margin <- c("0" = 0.2, "1" = 0.3, "2" = 0.2, "3" = 0.3)
  fit <- copula_fit(data, exogenous = list(marginals = list(a = margin)))
  # The value 0 is not in the sample: it stands last, and lowest in the order.
  expect_identical(fit$levels$a, c(1L, 2L, 3L, 0L))
  expect_equal(unname(fit$shares$a), c(0.3, 0.2, 0.3, 0.2))
  expect_identical(fit$orders$a, c(2L, 3L, 4L, 1L))
  expect_identical(fit$marginals$family, c("exogenous", "categorical"))
  sigma <- matrix(c(1, 0.3, 0.3, 1), 2)
  given <- copula_fit(data, exogenous = list(correlation = sigma))
  expect_equal(unname(coef(given)), sigma)
  drawn <- simulate(fit, 4000, seed = 1)
  expect_equal(mean(drawn$a == 0), 0.2, tolerance = 0.1)
  factor_data <- data.frame(f = factor(c("x", "y")[data$a %% 2 + 1]), b = data$b)
  extra <- copula_fit(factor_data, exogenous = list(
    marginals = list(f = c(x = 0.5, z = 0.1, y = 0.4))
  ))
  expect_identical(as.character(extra$levels$f), c("x", "y", "z"))
})

test_that("bad input is refused by class before any work", {
  data <- latent_file(100, c(3, 3), 0.5, 2)
  refused <- function(code, kind = "bad_argument") {
    expect_error(code, class = paste0("sdcRisk_error_", kind))
  }
  give <- function(...) copula_fit(data, exogenous = list(marginals = list(...)))
  refused(give(a = c("1" = 0.5, "2" = 0.2, "3" = 0.2)))
  refused(give(a = c("1" = 0.5, "2" = 0.5)))
  refused(give(a = c("1" = 0.7, "2" = 0.5, "3" = -0.2)))
  refused(give(a = c("1" = 0.5, "2" = 0.5, "3" = NA)))
  refused(give(a = c(0.5, 0.3, 0.2)))
  refused(give(a = c("1" = 0.5, "2" = 0.2, "3" = 0.2, "x" = 0.1)))
  refused(give(z = c("1" = 1)))
  refused(copula_fit(data, exogenous = list(margins = 1)))
  refused(copula_fit(data, exogenous = list(correlation = diag(3))))
  refused(copula_fit(data, exogenous = list(correlation = matrix(1, 2, 2))))
  refused(copula_fit(data, exogenous = list(correlation = matrix(c(1, 0.2, 0.3, 1), 2))))
  refused(copula_fit(data, order = "best"))
  refused(copula_fit(data, marginals = "normal"))
  refused(copula_fit(data, missing = "wildcard"))
  refused(copula_fit(data, signed = NA))
  refused(copula_fit(data, min_records = 0))
  refused(copula_fit(data, weigth_var = "a"))
  refused(copula_fit(data, "c"), "unknown_key_var")
  refused(copula_fit(data[1:40, ]), "bad_data")
  refused(copula_fit(as.matrix(data)), "bad_data")
  refused(copula_fit(transform(data, w = 0), weight_var = "w"), "bad_weights")
  refused(copula_fit(transform(data, w = "x"), weight_var = "w"), "bad_weights")
  data$a[1:100] <- NA
  refused(copula_fit(data, missing = "exclude"), "bad_data")
  many <- data.frame(a = 1:7000, b = 7000:1)
  refused(copula_fit(many), "too_large")
  expect_s3_class(copula_fit(latent_file(40, 3, 0, 1), min_records = 20), "sdc_copula_fit")
})

test_that("constant keys, one key and keys of single records have right answers", {
  data <- latent_file(200, c(3, 4), 0.5, 2)
  data$constant <- "x"
  fit <- copula_fit(data)
  expect_equal(unname(coef(fit)["constant", ]), c(0, 0, 1))
  expect_identical(dim(coef(copula_fit(data["a"]))), c(1L, 1L))
  data$id <- sprintf("%03d", 1:200)
  expect_warning(fit <- copula_fit(data), class = "sdcRisk_warning_identifying_key")
  # Information with an identifier is all chance.
  expect_equal(unname(coef(fit)["id", 1:3]), c(0, 0, 0))
  all_constant <- copula_fit(data.frame(a = rep(1, 60), b = "y"))
  expect_equal(unname(coef(all_constant)), diag(2))
})

test_that("a key that repeats another hits the bound and is named", {
  data <- latent_file(500, c(4, 3), 0.4, 8)
  data$copy <- data$a
  expect_warning(fit <- copula_fit(data), class = "sdcRisk_warning_bounded_correlation")
  expect_identical(fit$estimates$n_at_bound, 1L)
  expect_true(fit$diagnostics$pairs$at_bound[2])
})

test_that("the projection gives a correlation matrix and is reported", {
  fit <- suppressWarnings(copula_fit(adult))
  expect_lt(fit$diagnostics$projection$least_eigenvalue, 0)
  expect_gt(fit$diagnostics$projection$steps, 0)
  expect_gt(min(eigen(coef(fit), only.values = TRUE)$values), 0)
  expect_equal(unname(diag(coef(fit))), rep(1, 11))
  good <- copula_fit(adult[c("age", "sex", "education_num")])
  expect_identical(good$diagnostics$projection$steps, 0L)
  expect_identical(good$estimates$largest_change, 0)
})

test_that("results are the same on one thread and on two", {
  run <- function(threads) {
    old <- options(sdcRisk.threads = threads)
    on.exit(options(old))
    fit <- quiet_fit(adult[1:2000, ])
    fit[c("correlation", "orders", "shares")]
  }
  expect_identical(run(1), run(2))
})

test_that("a fit prints, summarises and gives its parts", {
  fit <- copula_fit(adult)
  lines <- lines_of(fit)
  expect_lte(length(lines), 16)
  expect_match(lines[[3]], "32,561 records, 11 key variables")
  expect_equal(fit$sample_uniqueness, 0.793894536408587, tolerance = 1e-12)
  expect_equal(fit$estimates$n_cells / fit$n, 0.869690734, tolerance = 1e-8)
  expect_identical(as.data.frame(fit), fit$marginals)
  pairs <- summary(fit)$pairs
  expect_false(is.unsorted(-pairs$beyond_chance))
  expect_identical(sum(fit$cell_sizes$size * fit$cell_sizes$n), 32561)
  expect_identical(nrow(glance(fit)), 1L)
  expect_s3_class(interpret(fit), "sdc_sentence")
  expect_output(print(fit), "Gaussian copula")
})

test_that("the weight is no key variable, and an empty `exogenous` is none", {
  data <- data.frame(a = rep(1:4, 25), b = rep(1:2, each = 50), w = rep(c(2, 3), 50))
  expect_error(
    copula_fit(data, c("a", "w"), weight_var = "w"), "In both: \"w\"",
    class = "sdcRisk_error_bad_argument"
  )
  plain <- copula_fit(data, c("a", "b"))
  empty <- copula_fit(data, c("a", "b"), exogenous = list())
  expect_identical(empty$estimates, plain$estimates)
  expect_identical(coef(empty), coef(plain))
  expect_error(
    copula_fit(data, c("a", "b"), exogenous = list(diag(2))),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("simulate() with a seed leaves the generator where it was", {
  data <- data.frame(a = rep(1:4, 25), b = rep(1:2, each = 50))
  fit <- copula_fit(data)
  set.seed(3)
  untouched <- runif(2)
  set.seed(3)
  first <- simulate(fit, 20, seed = 1)
  expect_identical(runif(2), untouched)
  set.seed(1)
  expect_identical(simulate(fit, 20), first)
})
