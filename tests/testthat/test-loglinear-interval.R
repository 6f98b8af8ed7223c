# A population of independent keys, and a sample of it with equal weights.

skip_on_cran()

simulated_sample <- function(seed, pi, lambda, cells) {
  set.seed(seed)
  population <- rpois(length(lambda), lambda)
  sample <- rbinom(length(lambda), population, pi)
  data <- cells[rep(seq_along(sample), sample), ]
  data$w <- sum(population) / sum(sample)
  unique <- sample == 1
  list(data = data, truth = c(sum(population[unique] == 1), sum(1 / population[unique])))
}

# People of `panel_waves$population`, drawn one by one with the probability of
# their education, or with one that says nothing of them.
panel_sample <- function(seed, by_key, keys = names(panel_waves$population)[1:8]) {
  set.seed(seed)
  population <- panel_waves$population
  people <- rep(seq_len(nrow(population)), population$n)
  fractions <- c(0.02, 0.03, 0.06, 0.1, 0.15, 0.2)
  pi <- if (by_key) {
    fractions[as.integer(population$education)][people]
  } else {
    pmin(1, 0.05 * exp(stats::rnorm(length(people), -0.98, 1.4)))
  }
  drawn <- which(stats::runif(length(people)) < pi)
  data <- population[people[drawn], keys]
  key <- function(d) do.call(paste, c(lapply(d[keys], as.integer), sep = "|"))
  mine <- key(data)
  size <- tapply(population$n, key(population), sum)
  size <- size[mine[!(duplicated(mine) | duplicated(mine, fromLast = TRUE))]]
  data$w <- 1 / pi[drawn]
  list(data = data, keys = keys, truth = c(sum(size == 1), sum(1 / size)))
}

inside <- function(e, truth) {
  c(
    e$tau1_low <= truth[[1]] && truth[[1]] <= e$tau1_high,
    e$tau2_low <= truth[[2]] && truth[[2]] <= e$tau2_high
  )
}

test_that("intervals cover the truth of simulated populations, and hold their estimate", {
  levels <- c(2, 4, 5, 6, 8)
  cells <- expand.grid(lapply(levels, seq_len))
  names(cells) <- letters[1:5]
  set.seed(99)
  eta <- Reduce(`+`, lapply(1:5, function(v) rnorm(levels[[v]], sd = 0.7)[cells[[v]]]))
  lambda <- 20000 * exp(eta) / sum(exp(eta))
  for (model in c("independence", "two_way")) {
    found <- vapply(1:60, function(seed) {
      drawn <- simulated_sample(seed, 0.05, lambda, cells)
      e <- quiet_loglinear(drawn$data, weight_var = "w", model = model)$estimates
      expect_true(all(inside(e, c(e$tau1_corrected, e$tau2_corrected))))
      c(
        inside(e, drawn$truth), e$tau1_se, e$tau2_se, e$tau1 - drawn$truth[[1]],
        e$tau2 - drawn$truth[[2]]
      )
    }, numeric(6))
    # 60 draws of a coverage of 0.95 lie above 0.88 with probability 0.99.
    expect_gte(mean(found[1, ]), 0.88)
    expect_gte(mean(found[2, ]), 0.88)
    # The standard errors before correction are those of the errors made.
    expect_equal(mean(found[3, ]), sd(found[5, ]), tolerance = 0.25)
    expect_equal(mean(found[4, ]), sd(found[6, ]), tolerance = 0.25)
  }
})

test_that("intervals cover a known population, weights following a key or not", {
  keys <- c("gender", "age_group", "born_abroad", "education", "n_children", "occupation")
  for (by_key in c(TRUE, FALSE)) {
    for (sampling in c("raked", "overall", "cell")) {
      found <- vapply(1:10, function(seed) {
        drawn <- panel_sample(seed, by_key, keys)
        e <- quiet_loglinear(
          drawn$data, keys, weight_var = "w", model = "two_way", sampling = sampling
        )$estimates
        inside(e, drawn$truth)
      }, logical(2))
      expect_gte(mean(found), 17 / 20)
    }
  }
})

test_that("single weights are warned of where they do not follow the keys", {
  keys <- c("gender", "age_group", "born_abroad", "education", "n_children", "occupation")
  random <- panel_sample(1, FALSE, keys)
  suppressWarnings(said <- expect_warning(
    found <- loglinear_risk(
      random$data, keys, weight_var = "w", model = "two_way", sampling = "cell",
      interval = "none"
    ),
    class = "sdcRisk_warning_cell_fractions"
  ))
  expect_match(conditionMessage(said), "raked", fixed = TRUE)
  # Twice the truth, and more.
  expect_gt(found$estimates$tau1, 1.7 * random$truth[[1]])
  expect_identical(found$estimates$status, "biased")
  expect_false(found$diagnostics$models$acceptable)
  follows <- panel_sample(1, TRUE, keys)
  classes <- character()
  withCallingHandlers(
    loglinear_risk(
      follows$data, keys, weight_var = "w", model = "two_way", sampling = "cell"
    ),
    warning = function(w) {
      classes <<- c(classes, class(w))
      tryInvokeRestart("muffleWarning")
    }
  )
  expect_false("sdcRisk_warning_cell_fractions" %in% classes)
})

test_that("raked fractions and the correction equal base R", {
  data <- loglinear_file(260, c(3, 4, 2, 5), 17)
  keys <- letters[1:4]
  # Weights that follow a key, and more.
  data$w <- data$w * c(0.7, 1, 2.5)[data$a]
  for (pi in list(NULL, 0.05)) {
    fraction <- if (is.null(pi)) nrow(data) / sum(data$w) else pi
    models <- list(
      list("independence", as.list(1:4)), list("two_way", combn(4, 2, simplify = FALSE))
    )
    for (model in models) {
      found <- quiet_loglinear(
        data, keys, weight_var = "w", model = model[[1]], sampling_fraction = pi, sampling = "raked"
      )$estimates
      table <- suppressWarnings(oracle_raked(data, keys, data$w, model[[2]], fraction))
      slow <- oracle_loglinear(table, fraction)
      for (term in names(slow)) {
        expect_equal(found[[term]], slow[[term]], tolerance = 1e-6, label = term)
      }
      if (found$status == "underfits") next
      chance <- oracle_chance(data, keys, data$w, table)
      for (measure in c("tau1", "tau2")) {
        at <- sub("tau", "", measure)
        b <- found[[paste0("b", at)]]
        v <- (b / found[[paste0("z", at)]])^2
        expected <- oracle_corrected(
          found[[measure]] - chance[[measure]], b, v, found[[paste0(measure, "_se")]],
          found$n_unique,
          step = c(tau1 = 0.5, tau2 = 0.25)[[measure]]
        )
        got <- unlist(found[paste0(measure, c("_corrected", "_corrected_se", "_low", "_high"))])
        expect_equal(unname(got), unname(expected), tolerance = 1e-5)
        expect_equal(
          found[[paste0(measure, "_bias")]],
          found[[measure]] - found[[paste0(measure, "_corrected")]]
        )
      }
    }
  }
  # The formula's worked values.
  expect_equal(
    unname(oracle_corrected(42.6, -11.1, 5.6^2, 5.3, 1000)),
    c(51.44797, sqrt(5.3^2 + 5.6^2), 37.4454, 67.6701), tolerance = 1e-5
  )
})

test_that("with equal weights all fractions and numbers are the same", {
  data <- loglinear_file(200, c(3, 4, 5), 5)
  data$w <- 7
  estimates <- function(sampling) {
    quiet_loglinear(
      data, letters[1:3], weight_var = "w", model = "two_way", sampling = sampling
    )$estimates[-3]
  }
  expect_identical(estimates("raked"), estimates("overall"))
  expect_equal(estimates("cell"), estimates("overall"))
})

test_that("the sample with a known population is described", {
  data <- trial_file("loglin_sample.csv")
  keys <- c("a", "s", "r", "e", "m", "k")
  estimates <- function(model, ...) {
    quiet_loglinear(data, keys, weight_var = "w", model = model, ...)$estimates
  }
  unique <- !duplicated(data[keys]) & !duplicated(data[keys], fromLast = TRUE)
  truth <- c(sum(data$F_true[unique] == 1), sum(1 / data$F_true[unique]))
  two <- estimates("two_way", sampling = "overall")
  expect_identical(two$n_unique, 1691)
  expect_identical(two$n_cells, 12000)
  expect_equal(truth, c(9, 255.236), tolerance = 1e-5)
  expect_equal(c(two$tau1, two$tau2, two$z2), c(17.239, 256.117, 0.59), tolerance = 1e-3)
  expect_true(all(inside(two, truth)))
  expect_true(all(inside(two, c(two$tau1_corrected, two$tau2_corrected))))
  one <- estimates("independence", interval = "none", sampling = "overall")
  expect_equal(c(one$tau1, one$tau2, one$z2), c(12.204, 250.788, 9.92), tolerance = 1e-3)
  cell <- estimates("two_way", sampling = "cell", interval = "none")
  expect_equal(c(cell$tau1, cell$tau2, cell$z2), c(17.434, 256.825, -1.06), tolerance = 2e-3)
})

test_that("nothing at stake leaves nothing in the interval", {
  # exp(-q) is 0 for the three sample uniques of these keys.
  found <- quiet_loglinear(
    nals_prison, c("BORNUSA", "CENREG", "DAGE3"), weight_var = "WEIGHT"
  )$estimates
  expect_identical(found$n_unique, 3)
  expect_lt(found$tau1, 1e-60)
  expect_identical(found$tau1_low, 0)
  expect_lt(found$tau1_high, 1e-30)
  for (size in c(1e10, 1e12)) {
    all <- quiet_loglinear(nals_prison, 1:9, pop_size = size)$estimates
    expect_true(all$tau1_low <= all$tau1_corrected && all$tau1_corrected <= all$tau1_high)
    expect_lt(all$tau1_high, max(1, 20 * all$tau1 + 5 * all$tau1_se))
  }
})

test_that("numbers stay finite where the population is beyond counting", {
  data <- loglinear_file(100, c(3, 4, 5), 2)
  found <- quiet_loglinear(data, letters[1:3], sampling_fraction = 1e-300)$estimates
  expect_identical(found$b1, 0)
  expect_true(all(is.finite(unlist(found[c("tau1", "tau2", "b1", "b2", "tau1_high")]))))
  data$w <- 1e300
  expect_identical(quiet_loglinear(data, letters[1:3], weight_var = "w")$estimates$b1, 0)
})

test_that("an underfitting model has no interval and says what to do", {
  keys <- c("gender", "age_group", "education", "civil_status", "n_children", "occupation")
  found <- quiet_loglinear(panel_waves$wave2, keys, weight_var = "weight")
  e <- found$estimates
  expect_gt(e$z2, 3)
  expect_identical(c(e$status, e$interval), c("underfits", "none"))
  expect_true(all(is.na(e[c("tau1_low", "tau2_high", "tau1_corrected", "tau2_bias")])))
  # A model that does not fit gives no bound, and no word says that it does.
  expect_no_match(c(lines_of(found), interpret(found)), "at most about|upper", all = TRUE)
  expect_match(lines_of(found), "model = \"search\"", fixed = TRUE, all = FALSE)
  expect_match(interpret(found), "risk may be overstated, no interval.*roughly")
})

test_that("estimates off their correction are said in every word of a result", {
  data <- loglinear_file(300, c(6, 7, 5, 8), 3)
  data$w <- 10
  suppressWarnings(expect_warning(
    found <- loglinear_risk(data, letters[1:4], weight_var = "w", model = "two_way"),
    class = "sdcRisk_warning_biased_estimate"
  ))
  e <- found$estimates
  expect_true(e$status %in% c("biased", "overfits"))
  expect_false(found$diagnostics$models$acceptable)
  expect_match(lines_of(found), "report the corrected values only", fixed = TRUE, all = FALSE)
  expect_match(interpret(found), "corrected for bias", fixed = TRUE)
  tidied <- tidy(found)
  row <- tidied[tidied$term == "tau2_corrected", ]
  expect_identical(
    c(row$estimate, row$conf.low, row$conf.high, row$std.error),
    c(e$tau2_corrected, e$tau2_low, e$tau2_high, e$tau2_corrected_se)
  )
  expect_true(is.na(tidied$conf.low[tidied$term == "tau2"]))
})

test_that("intervals are not random, and can be left out", {
  data <- loglinear_file(300, c(3, 4, 5), 5)
  run <- function(threads = 2, ...) {
    before <- options(sdcRisk.threads = threads)
    on.exit(options(before))
    quiet_loglinear(data, weight_var = "w", model = "two_way", ...)
  }
  set.seed(4)
  before <- .Random.seed
  first <- run()
  expect_identical(first$estimates, run(1)$estimates)
  quiet_loglinear(data, weight_var = "w", model = "search")
  expect_identical(.Random.seed, before)
  none <- run(interval = "none")
  expect_true(is.na(none$estimates$tau1_se))
  expect_identical(none$estimates$interval, "none")
})

test_that("wider levels give wider intervals within their bounds", {
  data <- loglinear_file(300, c(3, 4, 5), 5)
  ends <- function(level) {
    e <- quiet_loglinear(data, weight_var = "w", model = "two_way", level = level)$estimates
    c(e$tau2_low, e$tau2_high, e$n_unique)
  }
  narrow <- ends(0.5)
  wide <- ends(0.99)
  expect_lt(wide[[1]], narrow[[1]])
  expect_gt(wide[[2]], narrow[[2]])
  expect_gte(wide[[1]], 0)
  expect_lte(wide[[2]], wide[[3]])
})

test_that("weights that average 1 are told", {
  data <- loglinear_file(300, c(3, 4, 5), 5)
  data$w <- data$w / mean(data$w)
  said <- expect_warning(
    found <- suppressWarnings(
      loglinear_risk(data, weight_var = "w"), classes = "sdcRisk_warning_biased_estimate"
    ),
    class = "sdcRisk_warning_small_weights"
  )
  expect_match(conditionMessage(said), "average 1", fixed = TRUE)
  weights <- tapply(data$w, do.call(paste, data[1:3]), sum)
  records <- table(do.call(paste, data[1:3]))
  expect_identical(found$diagnostics$n_small_weights, as.double(sum(weights < records)))
})

test_that("estimates that lie off are named whatever options(scipen) says", {
  data <- cbind(utils::head(adult, 300), w = 10:12)
  keys <- c("age", "sex", "race")
  estimates <- suppressWarnings(loglinear_risk(data, keys, weight_var = "w"))$estimates
  estimates$status <- "biased"
  said <- function() {
    tryCatch(
      sdcRisk:::signal_bias(estimates, "independence"), warning = conditionMessage
    )
  }
  plain <- said()
  expect_match(plain, "tau1")
  old <- options(scipen = -9)
  on.exit(options(old))
  expect_identical(said(), plain)
})
