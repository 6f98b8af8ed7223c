# The words of suppress_cells().

# Releases under other rules are what is compared.
declare_measure(
  "suppress_cells",
  reference = "sweeney2002",
  ids = c("rule", "k"), aligned = character(),
  terms = c(
    "n_suppressed", "n_violations_after", "n_violations_before", "n_intact",
    "n_single_candidate", "cost", "lower_bound", "gap", "tau_before", "tau_after", "tau_intruder"
  ),
  title = paste0(
    "Local suppression: rule \"", rule, "\", k = ", k, ", ", plural(x$settings$n, "record"), ", ",
    plural(x$diagnostics$n_keys, "key variable"),
    if (x$diagnostics$n_sets > 1) paste0(" in ", x$diagnostics$n_sets, " key sets"),
    if (!is.null(x$settings[["l"]])) paste0("; l = ", x$settings[["l"]]),
    if (!is.null(x$settings[["c"]])) paste0("; c = ", format_number(x$settings[["c"]])),
    if (!is.null(x$settings[["t"]])) paste0("; t = ", format_number(x$settings[["t"]])),
    if (!is.null(x$settings$sensitive)) paste0(" of ", quote_names(x$settings$sensitive, 3))
  ),
  question = suppression_question(x),
  n_violations_after = figure(
    paste0("Records with fewer than ", k, " matches (rule \"", rule, "\")"), "count",
    scenario = "prosecutor", limit = promise(0, 1 / k, limit), n_above = n_violations_after,
    note = paste0(
      format_count(n_violations_before), " before; ", plural(n_suppressed, "value"), " suppressed",
      # How many there are is not for everybody.
      if (x$diagnostics$n_beyond > 0) {
        paste("; not all released records keep the limits on", quote_names(x$settings$sensitive))
      }
    )
  ),
  n_violations_before = figure(
    "Records with fewer matches before", "count", scenario = "prosecutor", board = FALSE,
    of = x$settings$n, print = FALSE
  ),
  n_suppressed = figure(
    "Suppressed values", "count", scenario = "none", direction = "none", board = FALSE
  ),
  n_intact = figure(
    "Records below the limit released unchanged", "count", scenario = "prosecutor", board = FALSE
  ),
  n_single_candidate = figure(
    "Originals that fit only one released record", "count", scenario = "prosecutor",
    note = paste(
      format_count(n_single_before),
      "before; an intruder who knows all original values still finds them"
    ),
    says = "%s of the originals fit only one released record"
  ),
  tau_after = figure(
    "Correct matches of someone who knows the released values alone", "count",
    scenario = "prosecutor", attempt = TRUE, board = FALSE, print = FALSE
  ),
  tau_intruder = figure(
    "Correct matches of someone who knows the originals", "count", scenario = "prosecutor",
    attempt = TRUE, note = paste("before:", format_risk(tau_before)), says = paste(
      "someone who knows that a person is in the file and all original key values expects %s",
      "correct matches, compared with", format_risk(tau_before)
    )
  ),
  spread = "Record risk if the intruder knows the originals",
  notes = list(
    if (x$diagnostics$n_beyond > 0) beyond_line(x),
    law_lines(x$diagnostics$law),
    told_line(told_unasked(x$diagnostics$told_by_columns), "suppressed values"),
    order_line(x),
    if (!is.null(x$diagnostics$cheaper)) paste(heavy_words(x), collapse = " "),
    if (rule == "own" && x$diagnostics$n_resting > 0) resting_line(x),
    if (isTRUE(x$diagnostics$of_last)) {
      paste(
        "Candidates fit the values before this protection: an intruder who knows those before an",
        "earlier one may find more records."
      )
    },
    if (n_single_candidate > 0) {
      paste0(
        "An intruder who knows a person's original values can still identify ",
        plural(n_single_candidate, "record"), "; use rule = \"strict\" to prevent it."
      )
    },
    suppression_bound_line(x), earlier_line(x), missing_line(x$diagnostics$missing, x$settings$n)
  ),
  scenario = "prosecutor", knows = "a suppressed value matches everything",
  next_step = "release_data(x)",
  measured = paste0(
    "In ", format_count(n_records_suppressed), " of the ", plural(x$settings$n, "record"), " ",
    plural(n_suppressed, "value"), " of ",
    plural(length(unique(unlist(x$settings$key_sets))), "key variable"), " were suppressed, ",
    "so that every released record ", suppression_aim(x), "; before, ",
    plural(n_violations_before, "record"), " did not"
  ),
  limits = paste(
    "counts are of the file, not of the population, and ignore sensitive values that",
    "all candidates share"
  ),
  source = paste0("local suppression, rule \"", rule, "\""),
  assuming = c(suppression_proof(e), "suppressed and missing values match everything"),
  risk = 1 / judged_rows(x)$n_candidates, frame = x$cells,
  tables = list(variables = x$variables, key_sets = x$sets), strata = "risk_by_strata"
)

# A heavy suppression, and what is cheaper.
heavy_words <- function(x) {
  cheaper <- x$diagnostics$cheaper
  n <- x$estimates$n_suppressed
  # Counts of several runs: a figure that is not smaller is no advice.
  is_fewer <- function(other) !is.na(other) && other < n
  c(
    paste0(
      "Suppression removes ", format_percent(cheaper$prop_variable), " of the values of ",
      quote_names(cheaper$variable), " and ", format_percent(cheaper$prop_all),
      " of all key values."
    ),
    paste0(
      "Recode first: recode_search(data, constraint = list(k = ", x$estimates$k,
      "), suppress = 0.05, blanks = \"cells\")."
    ),
    if (is_fewer(cheaper$n_without_variable)) {
      paste0(
        "If ", quote_names(cheaper$variable), " is not released, ",
        plural(cheaper$n_without_variable, "value"), " instead of ", format_count(n), " ",
        if (cheaper$n_without_variable == 1) "is" else "are", " suppressed."
      )
    },
    if (is_fewer(cheaper$n_without_households)) {
      paste0(
        "Without `hh_id`, ", plural(cheaper$n_without_households, "value"), " ",
        if (cheaper$n_without_households == 1) "is" else "are", " suppressed."
      )
    }
  )
}

# Aim of the rule for a release.
suppression_aim <- function(x) {
  e <- x$estimates
  paste0(
    switch(e$rule,
      own = paste("matches at least", e$k, "originals"),
      shared = paste("matches at least", e$k, "released records"),
      strict = paste("equals at least", plural(e$k - 1, "other"))
    ),
    if (!is.null(x$settings$hh_id)) " from different households",
    if (!is.null(x$settings$strata_var)) paste0(", inside ", quote_names(x$settings$strata_var))
  )
}

suppression_question <- function(x) {
  paste0("which values must be suppressed so that every released record ", suppression_aim(x), "?")
}

suppression_proof <- function(e) {
  if (e$gap == 0) {
    "no release under this rule costs less"
  } else if (is.finite(e$gap)) {
    paste("at most", format_percent(e$gap), "above the least possible cost")
  } else {
    "no lower bound"
  }
}

resting_line <- function(x) {
  paste0(
    plural(x$diagnostics$n_resting, "record"), " would have too few matches without ",
    "incomplete ones, so that file_check() calls k \"unclear\"; use rule = \"strict\" to ",
    "prevent it."
  )
}

# Limits on sensitive values hold among the originals, which are of other records where a value is
# suppressed.
beyond_line <- function(x) {
  paste0(
    "Of the released records ", format_count(x$diagnostics$n_beyond), " ",
    ngettext(x$diagnostics$n_beyond, "does", "do"), " not keep the limits on ",
    quote_names(x$settings$sensitive), ", as attribute_risk(release_data(x)) shows."
  )
}

suppression_bound_line <- function(x) {
  if (x$estimates$n_suppressed > 0) paste0(capitalised(suppression_proof(x$estimates)), ".")
}
