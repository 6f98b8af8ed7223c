# Reading a result of loglinear_risk(): words, tables, one sentence.

# The interval is that of the corrected values, which a board is shown if there are any.
tau_figures <- list(
  tau1 = figure(
    "Population uniques, tau1", "count", low = NA, high = NA, scenario = "journalist",
    key = "tau1", question = "How many sample uniques are so among all?",
    board = is.na(tau1_corrected), note = status_note(status),
    unclear = on_boundary(status)
  ),
  tau1_corrected = figure(
    "tau1, bias corrected", "count", low = tau1_low, high = tau1_high, scenario = "journalist",
    key = "tau1_corrected", question = "How many sample uniques are so among all?",
    board = !is.na(tau1_corrected), note = status_note(status),
    unclear = on_boundary(status)
  ),
  tau1_rate = figure(
    "tau1, share", "share", scenario = "journalist", key = "tau1_rate",
    question = "What share of the records is that?", board = FALSE, unclear = on_boundary(status)
  ),
  tau2 = figure(
    "Correct matches, tau2", "count", low = NA, high = NA, scenario = "journalist", key = "tau2",
    question = "How many sample uniques are matched correctly?", attempt = TRUE,
    board = is.na(tau2_corrected), note = status_note(status),
    unclear = on_boundary(status)
  ),
  tau2_corrected = figure(
    "tau2, bias corrected", "count", low = tau2_low, high = tau2_high, scenario = "journalist",
    key = "tau2_corrected", question = "How many sample uniques are matched correctly?",
    attempt = TRUE, board = !is.na(tau2_corrected), note = status_note(status),
    unclear = on_boundary(status)
  )
)

# There a figure depends on where the iterations stopped.
on_boundary <- function(status) status %in% "boundary"

declare_measure(
  "loglinear_risk",
  reference = "skinner2008", ids = c("key_set", "model", "sampling"),
  terms = c(
    "tau1", "tau2", "tau1_corrected", "tau2_corrected", "tau1_rate", "tau2_rate", "b1", "z1",
    "z1_robust", "b2", "z2", "z2_robust"
  ),
  each = if (nrow(e) > 1) paste0(" (", key_set, ", ", model, ")"), figures = tau_figures
)

#' @export
describe.sdc_loglinear_risk <- function(x) {
  first <- first_fit(x)
  several <- length(unique(x$estimates$key_set)) > 1
  description(
    title = "Log-linear re-identification risk (Skinner and Shlomo 2008)",
    question = "how many sample uniques are unique in the population, or easily matched?",
    size = loglinear_size_line(x, first),
    answer = c(
      fact(sample_unique_line(x, first)),
      loglinear_grid(x$estimates, several),
      fact(loglinear_meaning_line(first, x$settings$level)),
      fact(loglinear_fit_line(first)),
      fact(loglinear_range_line(x$diagnostics$models, first), keep = "detail"),
      fact(
        "Risk of single records (1/F): ", record_spread(
          judged_rows(x)$tau2, format_short,
          times = judged_times(x)
        ), ".",
        keep = "always"
      ),
      fact(loglinear_household_line(first)),
      if (first$n_zero_margins > 0) {
        fact(
          "Zero margins of the first model: ", format_count(first$n_zero_margins), "; ",
          plural(x$fits[[1]]$n_unique_alone, "sample unique"), " alone on a margin.",
          keep = "detail"
        )
      }
    ),
    scenario = scenario("journalist", attacked_uniques),
    notes = fact("Records are model averages, not a list of population uniques.", keep = "always"),
    more = "summary(x), plot(x), interpret(x)",
    sentence = loglinear_cited(x, first)
  )
}

# Whom the intruder of tau2 attacks.
attacked_uniques <- "every sample unique attacked"

# How many records a missing value leaves out.
left_out_clause <- function(n_excluded, n_used, missing) {
  if (missing == "category") {
    return(missing_clause("category"))
  }
  paste0(
    missing_clause("exclude", n_excluded),
    if (n_excluded > 0) paste0(" (", format_percent(n_excluded / (n_excluded + n_used)), ")")
  )
}

loglinear_size_line <- function(x, first) {
  paste0(
    plural(first$n, "record"), " for ", format_large(x$diagnostics$population[[1]]),
    " people, ", plural(length(x$fits[[1]]$key_vars), "key variable"), ", ",
    format_large(first$n_cells), " cells; ",
    left_out_clause(x$diagnostics$n_excluded[[1]], first$n, x$settings$missing), "."
  )
}

sample_unique_line <- function(x, first) {
  if (first$n_unique == 0) {
    return("No record is unique in the sample: the risk by these measures is zero.")
  }
  paste0(
    "Sample uniques: ", format_count(first$n_unique), " (",
    format_percent(first$n_unique / first$n), " of the records); sampling fraction ",
    format_short(first$sampling_fraction),
    if (first$sampling == "cell") " (of cells where occupied)",
    if (first$sampling == "raked" && !x$diagnostics$equal_weights) " (raked by cell)", "."
  )
}

loglinear_household_line <- function(first) {
  if (!is.null(first$n_households)) {
    paste0(
      "Households: ", format_tau(first$households_tau2), " of ",
      format_count(first$n_households), " expected to have a member matched correctly, ",
      format_tau(first$households_tau1), " one that is unique in the population",
      if (!is.na(first$tau2_corrected)) " (not corrected for bias)", "."
    )
  }
}

# Counts that may lie beyond what an integer holds.
format_large <- function(x) {
  ifelse(
    x < 1e9, formatC(x, digits = 0, format = "f", big.mark = big_mark()),
    ifelse(is.infinite(x), "more than 1e308", format(x, digits = 4))
  )
}

loglinear_grid <- function(estimates, several, most = 4) {
  shown <- utils::head(estimates, most)
  grid(column_table(c(
    list(
      key_set = if (several) shorten(shown$key_set, 24), model = shorten(shown$model, 30)
    ),
    tau_columns(shown), list(z2 = format_short(shown$z2))
  )), nrow(estimates))
}

# tau1 and tau2 as estimated and, where there are intervals, corrected.
tau_columns <- function(estimates) {
  corrected <- function(measure) {
    of <- function(suffix) estimates[[paste0(measure, suffix)]]
    if (all(is.na(of("_low")))) {
      return(NULL)
    }
    ifelse(
      is.na(of("_low")), "none",
      paste0(
        format_short(of("_corrected")), " [", format_short(of("_low")), between_numbers(),
        format_short(of("_high")), "]"
      )
    )
  }
  list(
    tau1 = format_short(estimates$tau1), corrected = corrected("tau1"),
    tau2 = format_short(estimates$tau2), corrected = corrected("tau2")
  )
}

# A table of columns, names of which may repeat; those that are NULL fall out.
column_table <- function(columns) {
  columns <- columns[lengths(columns) > 0]
  structure(
    columns,
    class = "data.frame", row.names = .set_row_names(length(columns[[1]]))
  )
}

# Four significant digits; large numbers whole.
format_short <- function(x) {
  ifelse(
    is.na(x), "NA",
    ifelse(abs(x) >= 1e4, format_large(x), trimws(formatC(x, digits = 4, format = "g")))
  )
}

# The same in sentences.
format_tau <- function(x) words_of_small(x, format_short)

# The value to report: corrected where there is a correction.
reported <- function(estimates, measure) {
  corrected <- estimates[[paste0(measure, "_corrected")]]
  ifelse(is.na(corrected), estimates[[measure]], corrected)
}

loglinear_meaning_line <- function(first, level) {
  tau1 <- reported(first, "tau1")
  paste0(
    "Meaning: ", if (first$status == "underfits") "roughly ", format_tau(tau1),
    " population uniques expected among the sample uniques (", format_percent(tau1 / first$n),
    " of the records), ", format_tau(reported(first, "tau2")), " correct matches",
    if (first$interval == "corrected") {
      paste0("; corrected for bias, with ", format_percent(level), " intervals")
    },
    "."
  )
}

# The first row as prints and sentences read it: with equal weights all sampling
# fractions are the same, and z judges the model alone.
first_fit <- function(x) {
  first <- x$estimates[1, ]
  if (x$diagnostics$equal_weights) first$sampling <- "raked"
  first
}

loglinear_fit_line <- function(first) {
  if (is.na(first$z2)) {
    return("The criterion z2 is not determined: nothing is left to judge the model by.")
  }
  paste0("Model of the first line: z2 = ", format_short(first$z2), ", ", fit_advice(first))
}

# The limit of an acceptable |z2| as it is printed.
z_limit <- function() format_number(1.96)

# What a fit is worth, and what can be done about it.
fit_advice <- function(row) {
  if (on_boundary(row$status)) {
    return(paste0(
      "on the boundary of the model, where the fit is not determined: tau1 and tau2 are unclear; ",
      fewer_interactions(row$model), "."
    ))
  }
  if (row$status == "underfits") {
    return(paste0(
      "underfits, which tends to overstate the risk but is no bound; no interval; ",
      more_interactions(row$model), "."
    ))
  }
  words <- if (abs(row$z2) < 1.96) {
    paste0("acceptable (|z2| < ", z_limit(), ")")
  } else if (row$sampling != "raked" && !is.na(row$tau1_low)) {
    # With unequal weights this z is no judge of the model.
    paste(
      "beyond", z_limit(),
      "by the model or by weights that follow a key variable: see sampling = \"raked\""
    )
  } else if (row$z2 > 0) {
    paste0("underfits: the plain risk tends to be too high; ", more_interactions(row$model))
  } else {
    paste0("overfits: the plain risk tends to be too low; ", fewer_interactions(row$model))
  }
  if (row$status %in% c("biased", "overfits")) {
    words <- paste0(words, "; report the corrected values only")
  }
  paste0(words, ".")
}

more_interactions <- function(model) {
  switch(model,
    independence = "try model = \"search\", or coarser categories",
    two_way = "coarser categories help, or a formula with three-way interactions",
    search = "coarser categories help", "add interactions, or take coarser categories"
  )
}

fewer_interactions <- function(model) {
  switch(model,
    independence = , search = "coarser categories help",
    two_way = "try model = \"search\", or coarser categories",
    "drop interactions, or take coarser categories"
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
    return(paste0(
      "None of the ", n_fitted, " models fitted has |z2| < ", z_limit(),
      ": coarser categories help."
    ))
  }
  between <- function(r) paste(format_tau(r), collapse = " to ")
  paste0(
    "Over the ", plural(range$n, "model"), " with |z2| < ", z_limit(), ": tau1 ",
    between(range$tau1),
    ", tau2 ", between(range$tau2), "."
  )
}

#' @export
summary.sdc_loglinear_risk <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  fits <- object$fits
  of <- function(field) vapply(fits, `[[`, 0, field)
  new_summary(
    object,
    estimates = object$estimates,
    fits = frame(
      key_set = object$estimates$key_set, model = object$estimates$model,
      method = vapply(fits, `[[`, "", "method"), n_terms = lengths(lapply(fits, `[[`, "terms")),
      n_parameters = of("n_parameters"), n_zero_margins = of("n_zero_margins"),
      n_unique_alone = of("n_unique_alone"), n_unique = object$estimates$n_unique,
      expected_unique = of("expected_unique"), passes = of("passes"),
      deviation = of("deviation")
    ),
    search = fits[[1]]$path,
    risk_by_strata = risk_by_strata(object, by, data)
  )
}

#' @export
as.data.frame.sdc_loglinear_risk <- function(x, ...) {
  enter_verb("as.data.frame", x)
  x$estimates
}

#' @export
record_risk.sdc_loglinear_risk <- function(x) {
  judged_rows(x)$tau2
}

#' @export
tidy.sdc_loglinear_risk <- function(x, ...) {
  enter_verb("tidy", x)
  tidy_corrected(x)
}

# Intervals stand in the rows of the corrected estimates that they belong to.
tidy_corrected <- function(x) {
  out <- tidy.sdc_result(x)
  for (measure in c("tau1", "tau2")) {
    plain <- which(out$term == measure)
    corrected <- which(out$term == paste0(measure, "_corrected"))
    for (end in c("conf.low", "conf.high")) {
      out[[end]][corrected] <- out[[end]][plain]
      out[[end]][plain] <- NA_real_
    }
  }
  out
}

loglinear_cited <- function(x, first) {
  settings <- x$settings
  cited(
    measured = paste0(
      "Of the ", plural(first$n, "record"), " of the file (sampling fraction ",
      format_short(first$sampling_fraction), "), ", format_count(first$n_unique),
      if (first$n_unique == 1) " is" else " are", " unique in the sample on ",
      plural(length(x$fits[[1]]$key_vars), "key variable")
    ),
    found = paste0(
      "of these, ", tau_words_of(first, "tau1", settings$level),
      " are expected to be unique in the population, ",
      format_percent(reported(first, "tau1") / first$n),
      " of the records, and an intruder who attacks all of them is expected to match ",
      tau_words_of(first, "tau2", settings$level), " correctly"
    ),
    limits = paste(
      "this holds for an intruder who knows exactly these key variables, without error in them;",
      "risks of single records are model averages"
    ),
    source = paste0(
      "log-linear model after Skinner and Shlomo 2008, ", model_words(first$model), ", ",
      fit_words(first$z2), if (first$status == "underfits") ", no interval"
    ),
    assuming = left_out_clause(x$diagnostics$n_excluded[[1]], first$n, settings$missing)
  )
}

# "51.4 (95 % interval 37.4 to 67.7; 42.6 before correction for too many parameters)"
tau_words_of <- function(row, measure, level) {
  of <- function(suffix) row[[paste0(measure, suffix)]]
  if (is.na(of("_low"))) {
    return(paste0(if (row$status == "underfits") "roughly ", format_tau(of(""))))
  }
  plain <- format_tau(of(""))
  corrected <- format_tau(of("_corrected"))
  paste0(
    corrected, " (", format_percent(level), " interval ", format_tau(of("_low")), " to ",
    format_tau(of("_high")),
    if (plain != corrected) {
      paste0("; ", plain, " before correction for ", bias_words(of("_bias"), row))
    },
    ")"
  )
}

bias_words <- function(bias, row) {
  if (row$sampling != "raked") {
    "bias"
  } else if (bias < 0) {
    "too many parameters"
  } else {
    "missing interactions"
  }
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
    if (z2 >= 1.96) ": risk may be overstated" else if (z2 <= -1.96) ": risk may be understated"
  )
}
