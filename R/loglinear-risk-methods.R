# Reading a result of loglinear_risk(): words, tables, one sentence.

#' @export
format.sdc_loglinear_risk <- function(x, ...) {
  first <- x$estimates[1, ]
  several <- length(unique(x$estimates$key_set)) > 1
  c(
    "Log-linear re-identification risk (Skinner and Shlomo 2008)",
    "Question: how many sample uniques are unique in the population, or easily matched?",
    loglinear_size_lines(x, first),
    loglinear_table_lines(x$estimates, several),
    loglinear_meaning_line(first),
    loglinear_fit_line(first),
    loglinear_range_line(x$diagnostics$models, first),
    loglinear_record_line(x),
    if (first$n_zero_margins > 0) {
      paste0(
        "Zero margins of the first model: ", format_count(first$n_zero_margins), "; ",
        plural(x$fits[[1]]$n_unique_alone, "sample unique"), " alone on a margin."
      )
    },
    paste(
      "Scenario: journalist (the target is not known to be in the file), every sample unique",
      "attacked; risk given an attempt."
    ),
    paste(
      "Records are model averages, not a list of population uniques.",
      "More: summary(x), plot(x), interpret(x)."
    )
  )
}

loglinear_size_lines <- function(x, first) {
  keys <- length(x$fits[[1]]$key_vars)
  excluded <- x$diagnostics$n_excluded[[1]]
  c(
    paste0(
      plural(first$n, "record"), " for ", format_large(x$diagnostics$population[[1]]),
      " people, ", plural(keys, "key variable"), ", ", format_large(first$n_cells), " cells; ",
      if (x$settings$missing == "category") {
        "missing is a value of its own."
      } else {
        paste0(plural(excluded, "incomplete record"), " excluded.")
      }
    ),
    if (first$n_unique == 0) {
      "No record is unique in the sample: the risk by these measures is zero."
    } else {
      paste0(
        "Sample uniques: ", format_count(first$n_unique), " (",
        format_percent(first$n_unique / first$n), " of the records); sampling fraction ",
        format_risk(first$sampling_fraction),
        if (first$sampling == "cell") " (of cells where occupied)", "."
      )
    }
  )
}

# Counts that may lie beyond what an integer holds.
format_large <- function(x) {
  ifelse(
    x < 1e9, formatC(x, digits = 0, format = "f", big.mark = big_mark()),
    ifelse(is.infinite(x), "more than 1e308", format(x, digits = 4))
  )
}

loglinear_table_lines <- function(estimates, several, most = 4) {
  shown <- utils::head(estimates, most)
  rest <- nrow(estimates) - nrow(shown)
  with_interval <- function(value, low, high) {
    interval <- ifelse(
      is.na(low), "", paste0(" [", format_short(low), ", ", format_short(high), "]")
    )
    paste0(format_short(value), interval)
  }
  table <- list(
    key_set = if (several) shorten(shown$key_set, 24), model = shorten(shown$model, 30),
    tau1 = with_interval(shown$tau1, shown$tau1_low, shown$tau1_high),
    tau2 = with_interval(shown$tau2, shown$tau2_low, shown$tau2_high),
    z1 = format_short(shown$z1), z2 = format_short(shown$z2)
  )
  c(
    format_table(as.data.frame(table[lengths(table) > 0])),
    if (rest > 0) paste0("... and ", rest, " more in x$estimates")
  )
}

# Four significant digits; large numbers whole.
format_short <- function(x) {
  ifelse(
    is.na(x), "NA",
    ifelse(abs(x) >= 1e4, format_large(x), trimws(formatC(x, digits = 4, format = "g")))
  )
}

loglinear_meaning_line <- function(first) {
  paste0(
    "Meaning: ", format_short(first$tau1), " population uniques expected among the sample ",
    "uniques (", format_percent(first$tau1_rate), " of the records), ",
    format_short(first$tau2), " correct matches."
  )
}

loglinear_fit_line <- function(first) {
  if (is.na(first$z2)) {
    return("The criterion z2 is not determined: nothing is left to judge the model by.")
  }
  paste0(
    "Model of the first line: z2 = ", format_short(first$z2), ", ",
    if (abs(first$z2) < 1.96) {
      "acceptable (|z2| < 1.96)."
    } else if (first$z2 > 0) {
      "underfits: the risk is overstated; add interactions."
    } else {
      "overfits: the risk is understated; drop interactions."
    }
  )
}

# The range of the risk over acceptable models of the first key set.
loglinear_range <- function(models, first) {
  models <- models[models$acceptable & models$key_set == first$key_set, ]
  if (nrow(models) == 0) {
    return(NULL)
  }
  list(n = nrow(models), tau1 = range(models$tau1), tau2 = range(models$tau2))
}

loglinear_range_line <- function(models, first) {
  n_fitted <- sum(models$key_set == first$key_set)
  range <- loglinear_range(models, first)
  if (n_fitted < 2) {
    return(NULL)
  }
  if (is.null(range)) {
    return(paste0("None of the ", n_fitted, " models fitted has |z2| < 1.96."))
  }
  between <- function(r) paste(format_short(r), collapse = " to ")
  paste0(
    "Over the ", plural(range$n, "model"), " with |z2| < 1.96: tau1 ", between(range$tau1),
    ", tau2 ", between(range$tau2), "."
  )
}

loglinear_record_line <- function(x) {
  paste0("Risk of single records (1/F): ", record_spread(x$records$tau2, format_short), ".")
}

#' @export
summary.sdc_loglinear_risk <- function(object, by = NULL, data = NULL, ...) {
  base <- summary.sdc_result(object, by, data)
  fits <- object$fits
  of <- function(field) vapply(fits, `[[`, 0, field)
  structure(
    list(
      title = format(object)[c(1, 3)], estimates = base$estimates,
      fits = frame(
        key_set = object$estimates$key_set, model = object$estimates$model,
        method = vapply(fits, `[[`, "", "method"), n_terms = lengths(lapply(fits, `[[`, "terms")),
        n_parameters = of("n_parameters"), n_zero_margins = of("n_zero_margins"),
        n_unique_alone = of("n_unique_alone"), n_unique = object$estimates$n_unique,
        expected_unique = of("expected_unique"), passes = of("passes"),
        deviation = of("deviation")
      ),
      search = fits[[1]]$path, risk_by_strata = base$strata
    ),
    class = "sdc_summary"
  )
}

#' @export
as.data.frame.sdc_loglinear_risk <- function(x, ...) {
  x$estimates
}

#' @export
record_risk.sdc_loglinear_risk <- function(x) {
  x$records$tau2
}

#' @export
tidy_terms.sdc_loglinear_risk <- function(x) {
  list(
    ids = c("key_set", "model", "sampling"),
    terms = c(
      "tau1", "tau2", "tau1_rate", "tau2_rate", "b1", "z1", "z1_robust", "b2", "z2", "z2_robust"
    )
  )
}

#' @rdname sdc_result
#' @export
glance.sdc_loglinear_risk <- function(x, ...) {
  first <- x$estimates[1, ]
  frame(
    n_records = first$n, n_keys = length(x$fits[[1]]$key_vars),
    n_analyses = nrow(x$estimates), key_set = first$key_set, model = first$model,
    sampling = first$sampling, sampling_fraction = first$sampling_fraction,
    n_cells = first$n_cells, n_unique = first$n_unique, tau1 = first$tau1, tau2 = first$tau2,
    z1 = first$z1, z2 = first$z2, n_zero_margins = first$n_zero_margins,
    missing = x$settings$missing, n_excluded = x$diagnostics$n_excluded[[1]],
    interval = first$interval, fingerprint = x$settings$fingerprint
  )
}

#' @export
interpret.sdc_loglinear_risk <- function(x, ...) {
  first <- x$estimates[1, ]
  settings <- x$settings
  interval <- function(low, high) {
    if (is.na(low)) {
      ""
    } else {
      paste0(
        " (", format_percent(settings$level), " interval ", format_short(low), " to ",
        format_short(high), ")"
      )
    }
  }
  sentence <- paste0(
    "Of the ", plural(first$n, "record"), " of the file (sampling fraction ",
    format_risk(first$sampling_fraction), "), ", format_count(first$n_unique),
    " are unique in the sample on ", plural(length(x$fits[[1]]$key_vars), "key variable"),
    "; of these, ", format_short(first$tau1), interval(first$tau1_low, first$tau1_high),
    " are expected to be unique in the population, ", format_percent(first$tau1_rate),
    " of the records, and an intruder who attacks all of them is expected to match ",
    format_short(first$tau2), interval(first$tau2_low, first$tau2_high),
    " correctly (log-linear model after Skinner and Shlomo 2008, ", model_words(first$model),
    ", ", fit_words(first$z2), "; journalist scenario, given an attempt; ",
    if (settings$missing == "category") {
      "missing values a category of their own"
    } else {
      paste(plural(x$diagnostics$n_excluded[[1]], "incomplete record"), "excluded")
    },
    "; sdcRisk ", settings$version, "); it holds for an intruder who knows exactly these key ",
    "variables, without error in them, and single records are model averages."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}

model_words <- function(model) {
  switch(model,
    independence = "main effects only", two_way = "all two-way interactions",
    search = "two-way interactions found by forward search", paste("model", model)
  )
}

fit_words <- function(z2) {
  if (is.na(z2)) {
    return("fit not testable")
  }
  paste0(
    "z2 = ", format_short(z2),
    if (z2 >= 1.96) ": risk overstated" else if (z2 <= -1.96) ": risk understated"
  )
}
