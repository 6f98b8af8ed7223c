# Warnings and notes of copula_uniqueness().

calibrates <- function(fit, calibrate) {
  if (!is.null(calibrate)) {
    return(calibrate)
  }
  if (!fit$settings$equal_weights) {
    inform_sdc(
      "not_calibrated",
      "The model is not calibrated on the sample's uniqueness, as weights are unequal.",
      i = "`calibrate = TRUE` does it all the same."
    )
  }
  fit$settings$equal_weights
}

inform_no_refits <- function(n_refits) {
  if (n_refits > 0) {
    inform_sdc(
      "no_refits", "Intervals no longer need refits: `n_refits` has no effect.",
      i = "They come from what the sample leaves open and from the error of models."
    )
  }
}

signal_few_records <- function(n) {
  if (n < enough_records) {
    warn_sdc(
      "few_records", "A sample should have at least 1,000 records.",
      x = paste0("It has ", format_count(n), "."),
      i = "Margins and correlations are imprecise; rely on the interval.",
      n = n
    )
  }
}

# Two shares of people differ where they are more than 0.05 apart, or one is
# more than three times the other and they are no matter of a handful of people.
are_apart <- function(x, y, pop_size) {
  larger <- pmax(x, y)
  abs(x - y) > 0.05 | (larger > 3 * pmin(x, y) & larger > pmax(5e-4, 20 / pop_size))
}

# TRUE if the calibration left both numbers as they were, and much is open. Of thousands
# of records none of which is unique, both may stay as they were: still the sample and the
# model agree on nobody, and there is nothing to mind.
leaves_much_open <- function(x) {
  width <- x$estimates$uniqueness_high - x$estimates$uniqueness_low
  x$settings$calibrate && x$diagnostics$calibration$shrunk && any(width > 0.05)
}

signal_copula_uniqueness <- function(x) {
  if (leaves_much_open(x)) {
    inform_sdc(
      "weak_calibration", "The sample contributes little; the estimate rests on the model.",
      x = paste0(
        "Of ", plural(x$fit$n, "record"), ", ", format_count(x$fit$n_singletons),
        " are unique."
      ),
      i = "The estimate is nearly the model's own; mind the interval."
    )
  }
  signal_steepness(x$diagnostics$fall)
  estimates <- x$estimates
  given <- estimates$population_uniqueness
  pitman <- estimates$pitman_yor
  # A Pitman model at the end of its range is no second opinion.
  if (x$diagnostics$pitman_status != "ok") pitman <- given
  far <- which(
    are_apart(given, pitman, estimates$pop_size) |
      are_apart(given, estimates$model_uniqueness, estimates$pop_size)
  )
  if (length(far)) {
    first <- estimates[far[[1]], ]
    warn_sdc(
      "models_differ", "Models of the population should agree to 0.05, and to a factor of 3.",
      x = paste0(
        "In a population of ", format_count(first$pop_size), " the estimate is ",
        format_share(first$population_uniqueness), "; the copula before calibration gives ",
        format_share(first$model_uniqueness), ", the Pitman model ",
        format_share(first$pitman_yor), "."
      ),
      i = "Report the interval; small sampling fractions are hard for the Pitman model.",
      pop_size = first$pop_size
    )
  }
  signal_scores_differ(x)
}

# Fewer records than this are few.
enough_records <- 1000
