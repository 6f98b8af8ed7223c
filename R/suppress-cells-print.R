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
  n_violations_after = figure(
    paste0("Records with fewer than ", k, " matches (rule \"", rule, "\")"), "count",
    scenario = "prosecutor", limit = promise(0, 1 / k, limit), n_above = n_violations_after,
    note = paste0(
      format_count(n_violations_before), " before; ", plural(n_suppressed, "cell"), " blanked"
    )
  ),
  n_single_candidate = figure(
    "Originals with a single candidate in the release", "count", scenario = "prosecutor",
    note = paste(
      format_count(n_single_before),
      "before; an intruder who knows all original values still finds them"
    )
  ),
  tau_after = figure(
    "Expected correct matches, every record tried", "count", scenario = "journalist",
    attempt = TRUE, note = paste("before:", format_risk(tau_before))
  )
)

#' @export
describe.sdc_suppress_cells <- function(x) {
  estimates <- x$estimates
  description(
    title = paste0(
      "Cell suppression: rule \"", estimates$rule, "\", k = ", estimates$k, ", ",
      plural(x$settings$n, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"),
      if (x$diagnostics$n_sets > 1) paste0(" in ", x$diagnostics$n_sets, " key sets")
    ),
    lead = if (!is.null(x$diagnostics$cheaper)) paste(heavy_words(x), collapse = " "),
    question = suppression_question(x),
    size = missing_line(x$diagnostics$missing, x$settings$n),
    answer = c(
      fact(
        "Blanked: ", plural(estimates$n_suppressed, "cell"), " in ",
        plural(estimates$n_records_suppressed, "record"), ". Violators: ",
        format_count(estimates$n_violations_before), " before, ",
        format_count(estimates$n_violations_after), " after.",
        keep = "always"
      ),
      if (estimates$n_suppressed > 0) {
        fact("By variable: ", suppressed_words(x$variables), ".", keep = "detail")
      },
      fact(told_line(x$diagnostics$told_by_columns, "suppressed values"), keep = "always"),
      fact(suppression_bound_line(x)), fact(suppression_intact_line(x), keep = "always"),
      suppression_risk_facts(x), fact(order_line(x), keep = "always"),
      fact(earlier_line(x))
    ),
    scenario = scenario("prosecutor", "a blank matches everything"),
    more = "$cells, $variables, $records; release_data(x) gives what may leave"
  )
}

# What an intruder finds, before and after.
suppression_risk_facts <- function(x) {
  estimates <- x$estimates
  c(
    fact(
      "Originals with a single candidate in the release: ",
      format_count(estimates$n_single_candidate), " (before: ",
      format_count(estimates$n_single_before), ").", single_words(estimates),
      keep = "always"
    ),
    fact(
      "Expected correct matches (tau): ", format_risk(estimates$tau_before), " before; ",
      format_risk(estimates$tau_after), " among the released records; ",
      format_risk(estimates$tau_intruder), " for someone who looks up the originals."
    ),
    fact(suppression_risk_line(estimates)),
    fact(suppression_record_line(x), keep = "always")
  )
}

single_words <- function(estimates) {
  n <- estimates$n_single_candidate
  if (n > 0) {
    paste0(
      " An intruder who knows a person's original values can still identify ",
      if (n == 1) "this record" else paste("these", format_count(n), "records"),
      "; use rule = \"strict\" to prevent it."
    )
  }
}

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

suppression_question <- function(x) {
  unit <- if (is.null(x$settings$hh_id)) "" else " from different households"
  among <- if (is.null(x$settings$strata_var)) {
    ""
  } else {
    paste0(", inside ", quote_names(x$settings$strata_var))
  }
  switch(x$estimates$rule,
    own = paste0(
      "Which cells must be blanked so that every released record matches at least ",
      x$estimates$k, " originals", unit, among, "?"
    ),
    shared = paste0(
      "Which cells must be blanked so that every released record matches at least ",
      x$estimates$k, " released records", unit, among, "?"
    ),
    strict = paste0(
      "Which cells must be blanked so that every released record equals at least ",
      plural(x$estimates$k - 1, "other"), unit, ", blanks included", among, "?"
    )
  )
}

suppressed_words <- function(variables, most = 6) {
  variables <- variables[variables$n_suppressed > 0, ]
  shown <- utils::head(variables[order(-variables$n_suppressed), ], most)
  rest <- nrow(variables) - nrow(shown)
  paste0(
    paste(shown$variable, format_count(shown$n_suppressed), collapse = ", "),
    if (rest > 0) paste0(" and ", rest, " more")
  )
}

suppression_bound_line <- function(x) {
  estimates <- x$estimates
  what <- if (x$diagnostics$whole_costs) "cells" else "cost"
  if (estimates$n_suppressed == 0) {
    return(NULL)
  }
  if (estimates$gap == 0) {
    return(paste0(
      "Proven: no release under this rule has fewer ", what, " (",
      format_amount(estimates$lower_bound), ")."
    ))
  }
  if (is.infinite(estimates$gap)) {
    return("No lower bound was found for this rule and file.")
  }
  paste0(
    "At most ", format_percent(estimates$gap), " above the least possible under this rule (",
    what, " ", format_amount(estimates$cost), ", lower bound ",
    format_amount(estimates$lower_bound), ")."
  )
}

# What the rule protects, in its own terms.
suppression_intact_line <- function(x) {
  estimates <- x$estimates
  switch(estimates$rule,
    own = paste0(
      "Violators released intact: ", format_count(estimates$n_intact),
      ". Each has the fewest blanks that make it fit ", estimates$k, " originals."
    ),
    shared = paste0(
      "Violators released intact: ", format_count(estimates$n_intact), ". Their protection is ",
      "that the blank of another record could be them. An intruder who prefers a full agreement ",
      "finds them."
    ),
    strict = paste0(
      "Nobody can tell a released record from ", plural(estimates$k - 1, "other"),
      " by the key variables. ", donor_words(sum(x$cells$reason == "donor"))
    )
  )
}

donor_words <- function(n) {
  paste0(
    plural(n, "cell"), if (n == 1) " was" else " were", " blanked only to protect other records."
  )
}

suppression_risk_line <- function(estimates) {
  if (is.null(estimates$risk_before)) {
    return(NULL)
  }
  paste0(
    "Individual risk (weighted), summed: ", format_risk(estimates$risk_before), " before, ",
    format_risk(estimates$risk_after), " after; largest ",
    format_risk(estimates$risk_max_before), " and ", format_risk(estimates$risk_max_after), "."
  )
}

suppression_record_line <- function(x) {
  paste0(
    "Record risk if the intruder knows the originals (1/g): ",
    record_spread(1 / judged_rows(x)$n_candidates, times = judged_times(x)), "."
  )
}

#' @export
interpret.sdc_suppress_cells <- function(x, ...) {
  enter_verb("interpret", x)
  estimates <- x$estimates
  sets <- x$settings$key_sets
  rule <- switch(estimates$rule,
    own = paste0("every released record fits at least ", estimates$k, " original records"),
    shared = paste0(
      "every released record matches at least ", estimates$k,
      " released ones and none loses more than it needs alone"
    ),
    strict = paste0(
      "every released record equals at least ", plural(estimates$k - 1, "other"),
      ", blanks included"
    )
  )
  sentence <- paste0(
    "In ", format_count(estimates$n_records_suppressed), " of the ", plural(x$settings$n, "record"),
    " ", plural(estimates$n_suppressed, "cell"), " of the key variables (",
    paste(unique(unlist(sets)), collapse = ", "), ") were blanked, so that ", rule,
    if (length(sets) > 1) paste0(" in each of ", length(sets), " key sets"),
    if (!is.null(x$settings$strata_var)) paste0(", inside ", x$settings$strata_var),
    if (!is.null(x$settings$hh_id)) ", counted in households",
    " (", format_count(estimates$n_violations_before), " records did not before; ",
    if (estimates$gap == 0) {
      "no release under this rule costs less"
    } else if (is.finite(estimates$gap)) {
      paste0("at most ", format_percent(estimates$gap), " above the least possible cost")
    } else {
      "no lower bound"
    },
    "; blanks and missing values match everything; sdcRisk ", x$settings$version, "). ",
    "Someone who knows that a person is in the file and all original key values expects ",
    format_risk(estimates$tau_intruder),
    " correct matches, conditional on an attempt on every record, ",
    "where the original file gave ", format_risk(estimates$tau_before), "; ",
    plural(estimates$n_single_candidate, "original"), " still ",
    if (estimates$n_single_candidate == 1) "has" else "have", " a single candidate and ",
    plural(estimates$n_intact, "record"), " with too few matches ",
    if (estimates$n_intact == 1) "was" else "were", " released unchanged. ",
    "Counts are of the file, not of the population, and say nothing of sensitive values that ",
    "all candidates share."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}

#' @export
as.data.frame.sdc_suppress_cells <- function(x, ...) {
  enter_verb("as.data.frame", x)
  x$cells
}

#' @export
record_risk.sdc_suppress_cells <- function(x) {
  1 / judged_rows(x)$n_candidates
}

#' @export
summary.sdc_suppress_cells <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  base <- summary.sdc_result(object, by, data)
  structure(
    list(
      title = describe(object)$title, estimates = base$estimates, variables = object$variables,
      key_sets = object$sets, risk_by_strata = base$strata
    ),
    class = "sdc_summary"
  )
}
