nals_keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
nals <- function(...) {
  set.seed(1)
  quiet_loglinear(nals_prison, nals_keys, weight_var = "WEIGHT", ...)
}

test_that("a search reports its path and stops at the best |z2|", {
  x <- nals(model = "search", interval = "none")
  path <- x$fits[[1]]$path
  expect_identical(path$added[[1]], "(independence)")
  expect_identical(path$step, seq_len(nrow(path)) - 1L)
  expect_identical(path$kept, c(TRUE, diff(abs(path$z2)) < 0))
  best <- which.min(abs(path$z2))
  expect_equal(x$estimates$z2, path$z2[[best]], tolerance = 1e-6)
  expect_equal(x$estimates$tau2, path$tau2[[best]])
  expect_setequal(
    grep(":", x$fits[[1]]$terms, value = TRUE),
    vapply(strsplit(path$added[path$kept][-1], ":"), function(p) {
      paste(nals_keys[sort(match(p, nals_keys))], collapse = ":")
    }, "")
  )
  # Every model on the way is what its formula gives.
  added <- path$added[2:3]
  formula <- stats::as.formula(paste("~", paste(added, collapse = "+")))
  again <- nals(model = formula, interval = "none")$estimates
  expect_equal(again$z2, path$z2[[3]], tolerance = 1e-6)
  # The first step: all fifteen interactions were fitted, the best was taken.
  tried <- x$fits[[1]]$tried
  expect_identical(sum(tried$step == 1), 14L)
  expect_true(all(abs(tried$z2[tried$step == 1]) >= abs(path$z2[[2]])))
  models <- x$diagnostics$models
  expect_identical(nrow(models), nrow(path) + nrow(tried))
  expect_identical(models$acceptable, abs(models$z2) < 1.96)
})

test_that("the verbs of results work", {
  x <- nals(model = c("independence", "two_way"))
  expect_s3_class(x, c("sdc_loglinear_risk", "sdc_result"), exact = TRUE)
  expect_lte(length(format(x)), 16)
  four <- nals(model = list("search", ~ GENDER:CENREG, "two_way", "independence"))
  expect_lte(length(format(four)), 16)
  expect_output(print(x), "journalist")
  expect_output(print(x), "model averages")
  expect_match(paste(lines_of(x), collapse = " "), "99% of the records at most", fixed = TRUE)
  expect_identical(as.data.frame(x), x$estimates)
  tidied <- tidy(x)
  expect_identical(nrow(tidied), 24L)
  tau2 <- tidied[tidied$term == "tau2", ]
  expect_identical(tau2$estimate, x$estimates$tau2)
  expect_identical(tau2$std.error, x$estimates$tau2_se)
  corrected <- tidied[tidied$term == "tau2_corrected", ]
  expect_identical(corrected$estimate, x$estimates$tau2_corrected)
  expect_identical(corrected$conf.high, x$estimates$tau2_high)
  expect_identical(glance(x)$n_unique, 52)
  expect_identical(augment(x, nals_prison)$.tau2, x$records$tau2)
  expect_error(augment(x, nals_prison[-1, ]), class = "sdcRisk_error_mismatched_data")
  strata <- summary(x, by = "GENDER", data = nals_prison)$risk_by_strata
  expect_identical(sum(strata$n), 182L)
  expect_equal(sum(strata$n * strata$mean), x$estimates$tau2[[1]])
  expect_identical(nrow(summary(x)$fits), 2L)
  expect_output(print(summary(nals(model = "search"))), "search:")
  expect_match(interpret(x), "Skinner and Shlomo 2008")
  both <- compare_risk(x, x)
  expect_true(all(both$table$change == 0, na.rm = TRUE))
})

test_that("estimates have the columns the interface names", {
  more <- c(
    "sampling_fraction", "n_zero_margins", "interval", "tau1_corrected", "tau1_bias",
    "tau1_corrected_se", "tau2_corrected", "tau2_bias", "tau2_corrected_se", "status"
  )
  wanted <- c(
    "key_set", "model", "sampling", "n", "n_cells", "n_unique", "tau1", "tau2", "tau1_rate",
    "tau2_rate", "tau1_se", "tau1_low", "tau1_high", "tau2_se", "tau2_low", "tau2_high",
    "b1", "z1", "z1_robust", "b2", "z2", "z2_robust"
  )
  x <- nals()
  expect_identical(names(x$estimates), c(wanted, more))
  expect_identical(names(x$records), c("sample_unique", "tau1", "tau2", "lambda"))
})

test_that("pictures show the numbers of the tables", {
  skip_if_not_installed("ggplot2")
  x <- nals(model = c("independence", "search"))
  points <- ggplot2::layer_data(ggplot2::autoplot(x), 2)
  expect_setequal(points$x, c(x$estimates$tau1, x$estimates$tau2))
  corrected <- ggplot2::layer_data(ggplot2::autoplot(x), 3)
  expect_setequal(corrected$x, c(x$estimates$tau1_corrected, x$estimates$tau2_corrected))
  ends <- ggplot2::layer_data(ggplot2::autoplot(x), 1)
  expect_setequal(ends$xmax, c(x$estimates$tau1_high, x$estimates$tau2_high))
  path <- x$fits[[2]]$path
  steps <- ggplot2::layer_data(ggplot2::autoplot(x, "search"), 3)
  expect_equal(steps$y, c(path$z2, path$tau1, path$tau2))
  by <- ggplot2::autoplot(x, "records", by = "DRACE3", data = nals_prison)
  dots <- ggplot2::layer_data(by, 2)
  expect_identical(nrow(dots), 52L)
  expect_equal(sort(10^dots$x), sort(x$records$tau2[x$records$sample_unique]))
  expect_error(ggplot2::autoplot(x, "records"), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(nals(), "search"), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(x, "search", which = 1), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(x, which = 3), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(x, size = 3), class = "sdcRisk_error_bad_argument")
  strata <- ggplot2::autoplot(x, "strata", by = "DRACE3", data = nals_prison)
  expect_equal(ggplot2::layer_data(strata, 2)$x, dots$x)
  none <- nals(interval = "none")
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(none)))
  # One analysis without an interval is not drawn as one dot.
  bars <- ggplot2::layer_data(ggplot2::autoplot(none), 1)
  expect_identical(sum(bars$count), 52)
  expect_gt(nrow(bars), 5)
})
