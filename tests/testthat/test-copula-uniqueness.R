skip_on_cran()

quietly_unique <- function(...) {
  suppressWarnings(suppressMessages(copula_uniqueness(...)))
}

test_that("independent uniform keys have the known uniqueness", {
  set.seed(1)
  cube <- expand.grid(rep(list(1:4), 5))
  data <- cube[sample(nrow(cube), 2000, TRUE), ]
  fit <- copula_fit(data, exogenous = list(
    marginals = lapply(stats::setNames(nm = names(data)), function(v) {
      stats::setNames(rep(0.25, 4), 1:4)
    }),
    correlation = diag(5)
  ))
  found <- quietly_unique(fit, pop_size = c(2000, 5000), records = FALSE, calibrate = FALSE)
  exact <- (1 - 1 / 1024)^(c(2000, 5000) - 1)
  expect_equal(found$estimates$population_uniqueness, exact, tolerance = 0.02)
  kappa <- -expm1(c(2000, 5000) * log1p(-1 / 1024)) * 1024 / c(2000, 5000)
  expect_equal(found$estimates$population_correctness, kappa, tolerance = 0.005)
})

test_that("a single key gives the sum over its categories", {
  data <- sample_of(3000, "age")
  found <- quietly_unique(data, pop_size = c(3000, 1e5), calibrate = FALSE)
  p <- table(data$age) / 3000
  exact <- vapply(c(3000, 1e5), function(n) sum(p * (1 - p)^(n - 1)), 0)
  error <- 5 * found$estimates$uniqueness_mc_se + 1e-6
  expect_true(all(abs(found$estimates$population_uniqueness - exact) < error))
  distinct <- vapply(c(3000, 1e5), function(n) sum(1 - (1 - p)^n) / n, 0)
  expect_true(all(
    abs(found$estimates$population_correctness - distinct) <
      5 * found$estimates$correctness_mc_se + 1e-6
  ))
})

test_that("the model at 100% of adult is as accurate as published", {
  set.seed(3)
  found <- quietly_unique(adult, pop_size = nrow(adult), calibrate = FALSE, records = FALSE)
  expect_equal(found$fit$sample_uniqueness, 0.793894536408587, tolerance = 1e-12)
  expect_lt(abs(found$estimates$population_uniqueness - 0.793894536408587), 0.06)
  expect_lt(abs(found$estimates$population_correctness - 0.869690734), 0.045)
})

test_that("calibration returns the sample's uniqueness at its own size", {
  data <- sample_of(2500, five_keys)
  found <- quietly_unique(data, pop_size = c(2500, 32561), records = FALSE)
  expect_identical(found$estimates$method, rep("calibrated", 2))
  expect_equal(
    found$estimates$population_uniqueness[1], share_unique(data), tolerance = 1e-6
  )
  truth <- share_unique(adult[five_keys])
  expect_lt(abs(found$estimates$population_uniqueness[2] - truth), 0.03)
  set.seed(1)
  plain <- quietly_unique(data, pop_size = 2500, calibrate = FALSE, records = FALSE)
  expect_identical(plain$estimates$method, "sampled")
  expect_equal(plain$estimates$model_uniqueness, plain$estimates$population_uniqueness)
})

test_that("estimates, intervals and calibration are those of the slow sum", {
  # One key: cells are its categories, and the mixture has a closed form.
  set.seed(2)
  k <- 600
  for (n in c(150, 1500)) {
    data <- data.frame(a = sample.int(k, n, TRUE, prob = 1 / (30 + seq_len(k))))
    fit <- suppressWarnings(copula_fit(data))
    found <- quietly_unique(fit, pop_size = 4 * n, records = FALSE)
    counts <- tabulate(match(data$a, unique(data$a)))
    slow <- slow_outlook(fit$shares$a, n, sum(counts == 1), length(counts), 4 * n)
    e <- found$estimates
    expect_equal(e$population_uniqueness, slow$uniqueness, tolerance = 0.01)
    expect_equal(e$population_correctness, slow$correctness, tolerance = 0.01)
    expect_equal(c(e$uniqueness_low, e$uniqueness_high), slow$interval, tolerance = 0.03)
    learnt <- found$diagnostics$calibration$parameters
    expect_equal(learnt$parameter, c("ln_scale", "ln_spread"))
    expect_lt(max(abs(learnt$mean - c(slow$ln_scale, slow$ln_spread))), 0.06)
  }
})

test_that("a sample without likeness does not decide for every population", {
  # Six uniform keys of twelve values: the copula is right, and the truth known.
  set.seed(10)
  draw <- function(n) as.data.frame(matrix(sample(12L, n * 6, TRUE), n))
  truth <- (1 - 12^-6)^(1e6 - 1)
  correctness <- -expm1(1e6 * log1p(-12^-6)) * 12^6 / 1e6
  for (n in c(999, 1000, 3000)) {
    data <- draw(n)
    set.seed(5)
    found <- quietly_unique(data, pop_size = c(1e6, 3e6), records = FALSE)$estimates
    # 0.1.0 gave 0.39 to 0.9999999, and correctness below uniqueness.
    expect_lt(abs(found$population_uniqueness[[1]] - truth), 0.1)
    expect_lt(abs(found$population_correctness[[1]] - correctness), 0.08)
    expect_lt(found$uniqueness_low[[1]], truth)
    expect_gt(found$uniqueness_high[[1]], truth)
    # From a thousandth of the people, of whom the sample shows no two alike.
    expect_lt(found$uniqueness_high[[1]] - found$uniqueness_low[[1]], 0.65)
    expect_true(all(found$population_correctness >= found$population_uniqueness))
    expect_true(all(diff(found$population_uniqueness) < 0))
    expect_true(all(diff(found$population_correctness) < 0))
  }
})

test_that("correctness is not below the distinct records, nor intervals above the sample", {
  set.seed(1)
  data <- adult[sample(nrow(adult), 3256), ]
  found <- quietly_unique(data, c("sex", "income"), pop_size = nrow(adult))$estimates
  # 4 of 32,561 is the truth; 0.1.0 gave 1.88e-6.
  expect_gte(found$population_correctness, 4 / 32561)
  expect_lt(found$population_correctness, 2 * 4 / 32561)
  expect_gte(found$correctness_low, 4 / 32561)
  expect_lt(found$uniqueness_high, 0.0016)
  # Few unique records: an upper end of 0.737 in 0.1.0.
  set.seed(3)
  keys <- c("sex", "race", "income", "workclass")
  half <- adult[sample(nrow(adult), 3000), keys]
  found <- quietly_unique(half, pop_size = 6000)
  e <- found$estimates
  expect_lt(e$uniqueness_high, qgamma(0.975, found$fit$n_singletons + 1) / 3000 + 1e-12)
  expect_lt(e$uniqueness_low, e$uniqueness_high)
})

test_that("at its own size the sample is the population, and nearly so near it", {
  data <- sample_of(3000, c("age", "sex", "occupation"))
  found <- quietly_unique(data, pop_size = c(3000, 3001), records = FALSE)$estimates
  distinct <- nrow(unique(data)) / 3000
  at <- found[1, ]
  expect_identical(
    c(at$population_uniqueness, at$uniqueness_low, at$uniqueness_high),
    rep(share_unique(data), 3)
  )
  expect_identical(
    c(at$population_correctness, at$correctness_low, at$correctness_high), rep(distinct, 3)
  )
  expect_lt(abs(found$population_uniqueness[[2]] - share_unique(data)), 1e-3)
  expect_lt(found$uniqueness_high[[2]] - found$uniqueness_low[[2]], 2e-3)
})

test_that("several population sizes are single ones", {
  fit <- copula_fit(sample_of(1500, five_keys))
  sizes <- c(2e4, 1e5, 1e6)
  together <- quietly_unique(fit, pop_size = sizes, records = FALSE)$estimates
  for (i in seq_along(sizes)) {
    alone <- quietly_unique(fit, pop_size = sizes[[i]], records = FALSE)$estimates
    gap <- abs(together$population_uniqueness[[i]] - alone$population_uniqueness)
    expect_lt(gap, 4 * alone$uniqueness_mc_se)
    expect_identical(alone$pitman_yor, together$pitman_yor[[i]])
  }
})

test_that("what the sample does not say is told", {
  expect_message(
    suppressWarnings(copula_uniqueness(sample_of(60), pop_size = 1e5, records = FALSE)),
    class = "sdcRisk_message_weak_calibration"
  )
  expect_no_message(suppressWarnings(
    found <- copula_uniqueness(sample_of(3000, five_keys), pop_size = 1e5, records = FALSE)
  ))
  expect_false(found$diagnostics$calibration$shrunk)
  # Of 4,000 records in four cells none is unique: both numbers stay as they were, and
  # the answer is known.
  few <- sample_of(4000, c("sex", "income"))
  expect_no_message(suppressWarnings(
    none <- copula_uniqueness(few, pop_size = 1e5, records = FALSE)
  ))
  expect_true(none$diagnostics$calibration$shrunk)
  expect_lt(none$estimates$uniqueness_high, 1e-3)
  expect_message(
    suppressWarnings(copula_uniqueness(found$fit, pop_size = 1e5, n_refits = 5)),
    class = "sdcRisk_message_no_refits"
  )
})

test_that("models differ by their ratio too, and calibrated from not calibrated", {
  apart <- sdcRisk:::are_apart
  expect_identical(
    apart(c(0.0049, 0.0010, 0.70, 1e-7, 0.30), c(0.0502, 0.0007, 1, 1e-9, 0.34), 1e5),
    c(TRUE, FALSE, TRUE, FALSE, FALSE)
  )
  # The Pitman model at the end of its range does not count; the copula before
  # calibration does.
  result <- function(model) {
    list(
      settings = list(calibrate = FALSE), diagnostics = list(pitman_status = "boundary"),
      estimates = data.frame(
        pop_size = 1e5, population_uniqueness = 0.7, model_uniqueness = model, pitman_yor = 1
      )
    )
  }
  expect_warning(
    sdcRisk:::signal_copula_uniqueness(result(1)),
    class = "sdcRisk_warning_models_differ"
  )
  expect_no_warning(sdcRisk:::signal_copula_uniqueness(result(0.72)))
})

test_that("uniqueness falls and errors are small as populations grow", {
  sizes <- c(2000, 5000, 20000, 1e5)
  found <- quietly_unique(sample_of(2000), pop_size = sizes, records = FALSE)$estimates
  expect_true(all(diff(found$population_uniqueness) < 0))
  expect_true(all(found$population_correctness > found$population_uniqueness))
  # At 2,000 people the sample is the population: nothing is computed.
  expect_identical(found$uniqueness_mc_se[[1]], 0)
  expect_true(all(found$uniqueness_mc_se[-1] < 0.002 & found$uniqueness_mc_se[-1] > 0))
  expect_identical(found$pop_size, sizes)
})

test_that("results are the same on one thread, on two and with any seed", {
  data <- sample_of(1500, five_keys)
  run <- function(threads, seed = 5) {
    old <- options(sdcRisk.threads = threads)
    on.exit(options(old))
    set.seed(seed)
    found <- suppressWarnings(copula_uniqueness(data, pop_size = 20000))
    list(found$estimates, found$records, found$curve, simulate(found$fit, 10))
  }
  expect_identical(run(1), run(2))
  # Only what is drawn for its own sake is random.
  expect_identical(run(2)[1:3], run(2, 6)[1:3])
  expect_false(identical(run(2)[[4]], run(2, 6)[[4]]))
  fit <- copula_fit(data)
  alone <- function() quietly_unique(fit, pop_size = 20000)$estimates
  expect_identical(alone(), alone())
})

test_that("intervals cover the truth of samples from a model", {
  truth_fit <- copula_fit(adult, c("age", "sex", "education_num", "race"))
  truth_fit$n <- truth_fit$n_singletons <- 1000L
  set.seed(1)
  truth <- quietly_unique(
    truth_fit, pop_size = 20000, records = FALSE, calibrate = FALSE
  )$estimates
  for (calibrate in c(FALSE, TRUE)) {
    covered <- vapply(1:20, function(seed) {
      found <- suppressWarnings(copula_uniqueness(
        simulate(truth_fit, 1200, seed = seed),
        pop_size = 20000, records = FALSE, calibrate = calibrate
      ))$estimates
      c(
        found$uniqueness_low <= truth$population_uniqueness &&
          truth$population_uniqueness <= found$uniqueness_high,
        found$correctness_low <= truth$population_correctness &&
          truth$population_correctness <= found$correctness_high
      )
    }, c(NA, NA))
    # Of 20 intervals of 95% fewer than 16 cover with probability 0.0003.
    expect_gte(sum(covered[1, ]), 16)
    expect_gte(sum(covered[2, ]), 16)
  }
})

test_that("a fit on one sample is applied to another file", {
  fit <- copula_fit(sample_of(4000, five_keys, 1))
  released <- sample_of(500, five_keys, 2)
  found <- quietly_unique(fit, pop_size = 32561, newdata = released)
  expect_identical(nrow(found$records), 500L)
  expect_named(
    found$records, c("prob", "xi", "kappa", "prob_error", "sample_unique", "prob_shape")
  )
  expect_equal(found$records$sample_unique, !(duplicated(released) |
    duplicated(released, fromLast = TRUE)))
  expect_null(quietly_unique(fit, pop_size = 32561)$records)
  odd <- released
  odd$age[1] <- 199L
  expect_message(
    suppressWarnings(copula_uniqueness(fit, pop_size = 1e5, newdata = odd)),
    class = "sdcRisk_message_unseen_categories"
  )
})

test_that("records follow from one probability, and given_sample uses the file", {
  data <- sample_of(2000, five_keys)
  set.seed(1)
  found <- quietly_unique(data, pop_size = c(32561, 1e5))
  r <- found$records
  expect_equal(
    r$xi, (1 + 32560 * r$prob / r$prob_shape)^-(r$prob_shape + 1), tolerance = 1e-9
  )
  expect_true(all(r$kappa >= r$xi))
  expect_gt(mean(found$estimates$prop_xi_80[1]), found$estimates$prop_xi_80[2])
  expect_equal(found$estimates$prop_xi_95[1], mean(r$xi > 0.95))
  set.seed(1)
  given <- quietly_unique(data, pop_size = 32561, given_sample = TRUE)$records
  counts <- ave(seq_len(2000), do.call(paste, data), FUN = length)
  expect_true(all(given$xi[counts > 1] == 0))
  # For a record that is unique in the sample: by what the sample has shown of it.
  single <- r[counts == 1, ]
  a <- single$prob_shape
  expect_equal(
    given$xi[counts == 1],
    ((1 + 2000 * single$prob / a) / (1 + 32561 * single$prob / a))^(a + 1), tolerance = 1e-9
  )
  expect_true(all(given$kappa >= given$xi))
  expect_true(all(given$kappa <= 1 / counts + 1e-12))
})

test_that("incomplete records have no score where they are excluded", {
  data <- sample_of(1500, c("workclass", "occupation", "age"))
  found <- quietly_unique(data, pop_size = 32561, missing = "exclude")
  complete <- stats::complete.cases(data)
  expect_identical(is.na(found$records$xi), !complete)
  expect_identical(is.na(found$records$sample_unique), !complete)
  expect_identical(found$fit$n, sum(complete))
})

test_that("unequal weights turn calibration off with a message", {
  data <- sample_of(1500, five_keys)
  data$w <- rep(1:3, 500)
  expect_message(
    found <- suppressWarnings(copula_uniqueness(
      data, pop_size = 32561, weight_var = "w", records = FALSE, n_refits = 0
    )),
    class = "sdcRisk_message_not_calibrated"
  )
  expect_identical(found$estimates$method, "sampled")
  expect_lt(found$estimates$uniqueness_low, found$estimates$population_uniqueness)
  expect_gt(found$estimates$uniqueness_high, found$estimates$population_uniqueness)
  forced <- quietly_unique(
    data, pop_size = 32561, weight_var = "w", records = FALSE, calibrate = TRUE
  )
  expect_identical(forced$estimates$method, "calibrated")
})

test_that("small samples and models that differ are warned of", {
  expect_warning(
    suppressMessages(copula_uniqueness(
      sample_of(300, "age"), pop_size = 32561, records = FALSE, n_refits = 0
    )),
    class = "sdcRisk_warning_few_records"
  )
  expect_warning(
    copula_uniqueness(sample_of(1000), pop_size = 1e6, records = FALSE, n_refits = 0),
    class = "sdcRisk_warning_models_differ"
  )
})

test_that("bad input is refused by class before any work", {
  data <- sample_of(200, c("age", "sex"))
  refused <- function(code, kind = "bad_argument") {
    expect_error(suppressWarnings(code), class = paste0("sdcRisk_error_", kind))
  }
  refused(copula_uniqueness(data))
  refused(copula_uniqueness(data, pop_size = 199))
  refused(copula_uniqueness(data, pop_size = Inf))
  refused(copula_uniqueness(data, pop_size = c(300, NA)))
  refused(copula_uniqueness(data, pop_size = c(300, 300)))
  refused(copula_uniqueness(data, pop_size = "300"))
  refused(copula_uniqueness(data, pop_size = 1e12, n_refits = 0), "too_large")
  refused(copula_uniqueness(data, pop_size = 300, score = "best"))
  refused(copula_uniqueness(data, pop_size = 300, calibrate = "yes"))
  refused(copula_uniqueness(data, pop_size = 300, given_sample = NA))
  refused(copula_uniqueness(data, pop_size = 300, records = 1))
  refused(copula_uniqueness(data, pop_size = 300, n_refits = -1))
  refused(copula_uniqueness(data, pop_size = 300, level = 1))
  refused(copula_uniqueness(data, pop_size = 300, margins = "auto"))
  refused(copula_uniqueness(data, pop_size = 300, marginals = "gauss"))
  refused(copula_uniqueness(data, "height", pop_size = 300), "unknown_key_var")
  refused(copula_uniqueness(as.list(data), pop_size = 300), "bad_data")
  fit <- copula_fit(data)
  refused(copula_uniqueness(fit, "age", pop_size = 300))
  refused(copula_uniqueness(fit, pop_size = 300, marginals = "auto"))
  refused(copula_uniqueness(fit, pop_size = 300, newdata = sample_of(400, c("age", "sex"))))
  refused(simulate(fit, 0))
  refused(simulate(fit, 2, 1, 3))
  refused(simulate(fit, 2, max_memory = -1))
  refused(simulate(fit, 1e9), "too_large")
  # Whole numbers whose product is none of R's integers.
  refused(simulate(fit, .Machine$integer.max), "too_large")
  refused(simulate(fit, 5, max_memory = 159), "too_large")
})

test_that("constant keys and identifiers give right answers", {
  constant <- data.frame(a = rep(1, 1200), b = rep("x", 1200))
  found <- quietly_unique(constant, pop_size = 5000)
  # A sample of one cell does not exclude that there are others, but nearly so.
  expect_lt(found$estimates$population_uniqueness, 1e-5)
  expect_gte(found$estimates$population_correctness, 1 / 5000)
  expect_lt(found$estimates$population_correctness, 1.05 / 5000)
  expect_identical(found$estimates$uniqueness_low, 0)
  expect_lt(max(found$records$xi), 1e-4)
  id <- data.frame(id = sprintf("%04d", 1:1200), b = rep(1:2, 600))
  found <- quietly_unique(id, pop_size = 1200)
  expect_equal(found$estimates$population_uniqueness, 1, tolerance = 1e-3)
})

test_that("drawn records have the margins, values and classes of the data", {
  data <- sample_of(3000, c("age", "workclass", "income", "hours_per_week"))
  data$day <- as.Date("2020-01-01") + data$age %/% 20
  fit <- suppressWarnings(copula_fit(data))
  drawn <- simulate(fit, 20000, seed = 9)
  expect_identical(drawn, simulate(fit, 20000, seed = 9))
  expect_identical(lapply(drawn, class), lapply(data, class))
  expect_identical(levels(drawn$workclass), levels(data$workclass))
  for (key in names(data)) {
    expected <- table(data[[key]], useNA = "always") / 3000
    found <- table(factor(drawn[[key]], levels = names(expected)), useNA = "always") / 20000
    expect_lt(max(abs(found - expected)), 0.015)
  }
  refit <- suppressWarnings(copula_fit(drawn))
  expect_lt(max(abs(abs(coef(refit)) - abs(coef(fit)))), 0.12)
})

test_that("a result prints, cites, tidies and compares", {
  data <- sample_of(1500, five_keys)
  found <- suppressWarnings(copula_uniqueness(data, pop_size = c(32561, 1e5)))
  lines <- lines_of(found)
  expect_lte(length(lines), 16)
  expect_match(lines[[3]], "1,500 records, 5 key variables")
  expect_match(paste(interpret(found), collapse = ""), "interval")
  tidied <- tidy(found)
  expect_identical(nrow(tidied), 4L)
  expect_false(anyNA(tidied))
  expect_identical(nrow(glance(found)), 1L)
  expect_identical(as.data.frame(found), found$records)
  expect_identical(nrow(summary(found)$strata), 1L)
  expect_identical(names(augment(found, data))[6], ".prob")
  expect_error(augment(found, data[-1, ]), class = "sdcRisk_error_mismatched_data")
  strata <- summary(found, by = "sex", data = data)$strata
  expect_identical(strata$stratum, c("Female", "Male"))
  other <- suppressWarnings(copula_uniqueness(data[-1], pop_size = c(32561, 1e5)))
  table <- as.data.frame(compare_risk(found, other))
  expect_true(all(table$change[table$result == "after"] < 0))
})

test_that("pictures show the numbers", {
  skip_if_not_installed("ggplot2")
  data <- sample_of(1500, five_keys)
  found <- suppressWarnings(copula_uniqueness(data, pop_size = c(32561, 1e5)))
  lines <- ggplot2::layer_data(ggplot2::autoplot(found), 3)
  expect_setequal(
    round(lines$y, 10),
    round(c(found$curve$population_uniqueness, found$curve$population_correctness), 10)
  )
  bars <- ggplot2::layer_data(ggplot2::autoplot(found, "records"), 1)
  expect_equal(sum(bars$count), 1500)
  expect_equal(sum(bars$y), 1, tolerance = 1e-9)
  expect_s3_class(ggplot2::autoplot(found, "records", by = data$sex), "ggplot")
  expect_error(ggplot2::autoplot(found, by = data$sex), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(found, "pie"), class = "sdcRisk_error_bad_argument")
  tiles <- ggplot2::layer_data(ggplot2::autoplot(found$fit), 1)
  expect_identical(nrow(tiles), 10L)
  boxes <- uniqueness_by_size(found, 32561, sizes = 2:3, n_sim = 5)
  expect_identical(nrow(ggplot2::layer_data(ggplot2::autoplot(boxes), 1)), 2L)
  expect_error(
    ggplot2::autoplot(copula_fit(data["age"])), class = "sdcRisk_error_bad_argument"
  )
})
