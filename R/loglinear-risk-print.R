# Reading a result of loglinear_risk(): words, tables, one sentence.

# The interval is that of the corrected values, which a board is shown if there are any.
tau_figures <- list(
  n_unique = figure(
    "Sample uniques", "count", scenario = "prosecutor", of = n, board = FALSE
  ),
  tau1 = figure(
    "Population uniques, tau1", "count", low = NA, high = NA, scenario = "journalist",
    key = "tau1", board = is.na(tau1_corrected), note = status_note(status), head = "tau1",
    unclear = on_boundary(status),
    says = ifelse(is.na(tau1_corrected), paste0(rough_words(status), unique_words), "")
  ),
  tau1_corrected = figure(
    "tau1, bias corrected", "count", low = tau1_low, high = tau1_high, scenario = "journalist",
    key = "tau1_corrected", board = !is.na(tau1_corrected), note = status_note(status),
    head = "corrected",
    unclear = on_boundary(status),
    says = ifelse(is.na(tau1_corrected), "", paste0(unique_words, ", corrected for bias"))
  ),
  tau1_rate = figure(
    "tau1, share", "share", scenario = "journalist", key = "tau1_rate", board = FALSE,
    unclear = on_boundary(status)
  ),
  tau2 = figure(
    "Correct matches, tau2", "count", low = NA, high = NA, scenario = "journalist", key = "tau2",
    attempt = TRUE, board = is.na(tau2_corrected), note = status_note(status), head = "tau2",
    unclear = on_boundary(status),
    says = ifelse(is.na(tau2_corrected), paste0(rough_words(status), attack_words), "")
  ),
  tau2_corrected = figure(
    "tau2, bias corrected", "count", low = tau2_low, high = tau2_high, scenario = "journalist",
    key = "tau2_corrected", attempt = TRUE, board = !is.na(tau2_corrected),
    note = status_note(status),
    unclear = on_boundary(status), head = "tau2 corrected",
    says = ifelse(is.na(tau2_corrected), "", attack_words)
  ),
  households_tau2 = figure(
    "Households with a member matched correctly", "count", scenario = "journalist",
    attempt = TRUE, board = FALSE, of = n_households
  )
)

declare_measure(
  "loglinear_risk",
  reference = "skinner2008", ids = c("key_set", "model", "sampling"),
  terms = c(
    "tau1", "tau2", "tau1_corrected", "tau2_corrected", "tau1_rate", "tau2_rate", "b1", "z1",
    "z1_robust", "b2", "z2", "z2_robust"
  ),
  each = if (nrow(e) > 1) paste0(" (", key_set, ", ", model, ")"), figures = tau_figures,
  title = "Log-linear re-identification risk (Skinner and Shlomo 2008)",
  question = "how many sample uniques are unique in the population?", most = 3,
  size = paste0(
    plural(main$n, "record"), " for ", format_large(x$diagnostics$population[[1]]), " people, ",
    plural(length(x$fits[[1]]$key_vars), "key variable"), "; ",
    left_out_clause(x$diagnostics$n_excluded[[1]], main$n, x$settings$missing), "."
  ),
  spread = "Risk of single records (1/F)", risk = judged_rows(x)$tau2,
  notes = list(
    if (main$n_unique == 0) {
      "No record is unique in the sample: the risk by these measures is zero."
    },
    loglinear_fit_line(main, x$diagnostics$equal_weights),
    "Records are model averages, not a list of population uniques.",
    range_line(x$diagnostics$models, main)
  ),
  scenario = "journalist", knows = attacked_uniques,
  next_step = if (main$status == "underfits" && main$model != "search") {
    "loglinear_risk(file, model = \"search\")"
  },
  measured = paste0(
    "Of the ", plural(main$n, "record"), " of the file (sampling fraction ",
    format_short(main$sampling_fraction), "), ", format_count(main$n_unique),
    if (main$n_unique == 1) " is" else " are", " unique in the sample on ",
    plural(length(x$fits[[1]]$key_vars), "key variable")
  ),
  limits = paste(
    "this holds for an intruder who knows exactly these key variables, without error in them;",
    "risks of single records are model averages"
  ),
  source = paste0(
    "log-linear model after Skinner and Shlomo 2008, ", model_words(main$model), ", ",
    fit_words(main$z2), if (main$status == "underfits") ", no interval"
  ),
  assuming = left_out_clause(x$diagnostics$n_excluded[[1]], main$n, x$settings$missing),
  frame = x$estimates,
  tables = list(fits = fit_table(x$fits, x$estimates), search = x$fits[[1]]$path),
  strata = "risk_by_strata"
)

fit_table <- function(fits, e) {
  of <- function(field) vapply(fits, `[[`, 0, field)
  frame(
    key_set = e$key_set, model = e$model, method = vapply(fits, `[[`, "", "method"),
    n_terms = lengths(lapply(fits, `[[`, "terms")),
    n_parameters = of("n_parameters"), n_zero_margins = of("n_zero_margins"),
    n_unique_alone = of("n_unique_alone"), n_unique = e$n_unique,
    expected_unique = of("expected_unique"), passes = of("passes"), deviation = of("deviation")
  )
}

unique_words <- "%s of the records are expected to be unique in the population"
attack_words <- "%s of all sample uniques would be matched correctly if an intruder attacked them"

# A model that does not fit gives no bound.
rough_words <- function(status) ifelse(status == "underfits", "roughly ", "")

# Whom the intruder of tau2 attacks.
attacked_uniques <- "every sample unique attacked"

# Number of records that a missing value leaves out.
left_out_clause <- function(n_excluded, n_used, missing) {
  if (missing == "category") {
    return(missing_clause("category"))
  }
  paste0(
    missing_clause("exclude", n_excluded),
    if (n_excluded > 0) paste0(" (", format_percent(n_excluded / (n_excluded + n_used)), ")")
  )
}

# With equal weights all sampling fractions are the same, and z judges the model alone.
loglinear_fit_line <- function(row, equal_weights) {
  if (equal_weights) row$sampling <- "raked"
  if (is.na(row$z2)) {
    return("The criterion z2 is not determined: nothing is left to judge the model by.")
  }
  paste0("Model: z2 = ", format_short(row$z2), ", ", fit_advice(row))
}

# The limit of an acceptable |z2| as it is printed.
z_limit <- function() format_number(1.96)

# Quality of a fit, and advice.
fit_advice <- function(row) {
  if (on_boundary(row$status)) {
    return(paste0(
      "on the boundary of the model, so the fit is not determined: tau1 and tau2 are unclear; ",
      fewer_interactions(row$model), "."
    ))
  }
  if (row$status == "underfits") {
    return(paste0(
      "underfits, which tends to overstate the risk but is not a bound; no interval; ",
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

# The range of the risk over acceptable models of the key set.
range_line <- function(models, first) {
  models <- models[models$key_set == first$key_set, ]
  fits <- models[models$acceptable, ]
  if (nrow(models) < 2) {
    return(NULL)
  }
  if (nrow(fits) == 0) {
    return(paste0("No model fitted has |z2| < ", z_limit(), ": coarser categories help."))
  }
  between <- function(tau) paste(format_short(range(tau)), collapse = " to ")
  paste0(
    "Over the ", plural(nrow(fits), "model"), " with |z2| < ", z_limit(), ": tau1 ",
    between(fits$tau1), ", tau2 ", between(fits$tau2), "."
  )
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
