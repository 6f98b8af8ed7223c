# The words of suppress_cells().

#' @export
describe.sdc_suppress_cells <- function(x) {
  estimates <- x$estimates
  description(
    title = paste0(
      "Cell suppression: rule \"", estimates$rule, "\", k = ", estimates$k, ", ",
      plural(x$settings$n, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"),
      if (x$diagnostics$n_sets > 1) paste0(" in ", x$diagnostics$n_sets, " key sets")
    ),
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
      fact(suppression_bound_line(x)), fact(suppression_intact_line(x), keep = "always"),
      suppression_risk_facts(x)
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
      format_count(estimates$n_single_before),
      "). Whoever knows the values finds them, blanks or not.",
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

suppression_question <- function(x) {
  unit <- if (is.null(x$settings$hh_id)) "" else "of different households "
  among <- if (is.null(x$settings$strata_var)) {
    ""
  } else {
    paste0(", inside ", quote_names(x$settings$strata_var))
  }
  switch(x$estimates$rule,
    own = paste0(
      "Which cells must go so that every released record fits ", x$estimates$k, " originals ",
      unit, "or more", among, "?"
    ),
    shared = paste0(
      "Which cells must go so that every released record matches ", x$estimates$k,
      " released ones ", unit, "or more", among, "?"
    ),
    strict = paste0(
      "Which cells must go so that every released record equals ",
      plural(x$estimates$k - 1, "other"), " ", unit, "or more, blanks included", among, "?"
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
      "that the blank of another record could be them. Whoever prefers a full agreement finds them."
    ),
    strict = paste0(
      "Nobody can tell a released record from ", plural(estimates$k - 1, "other"),
      " by the key variables. Blanked to give others an equal: ",
      plural(sum(x$cells$reason == "donor"), "cell"), "."
    )
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
    "Record risk for someone who knows the originals (1/g): ",
    record_spread(1 / judged_rows(x)$n_candidates, times = judged_times(x)), "."
  )
}

#' @export
interpret.sdc_suppress_cells <- function(x, ...) {
  check_result(x)
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
  check_result(x)
  x$cells
}

#' @rdname release_data
#' @export
release_data.sdc_suppress_cells <- function(x, ...) {
  check_no_dots(...)
  handed_out(x)
}

#' @export
record_risk.sdc_suppress_cells <- function(x) {
  1 / judged_rows(x)$n_candidates
}

#' @export
tidy_terms.sdc_suppress_cells <- function(x) {
  list(
    ids = c("rule", "k"),
    terms = c(
      "n_suppressed", "n_violations_before", "n_violations_after", "n_intact",
      "n_single_candidate", "cost", "lower_bound", "gap", "tau_before", "tau_after",
      "tau_intruder"
    ),
    # Releases under other rules are what is compared.
    aligned = character()
  )
}

#' @rdname sdc_result
#' @usage NULL
#' @export
glance.sdc_suppress_cells <- function(x, ...) {
  check_result(x)
  cbind(
    frame(
      n_records = x$settings$n, n_keys = x$diagnostics$n_keys, n_sets = x$diagnostics$n_sets
    ),
    x$estimates,
    frame(
      n_blank_patterns = x$diagnostics$n_blank_patterns, fingerprint = x$settings$fingerprint
    )
  )
}

#' @export
summary.sdc_suppress_cells <- function(object, by = NULL, data = NULL, ...) {
  check_result(object)
  base <- summary.sdc_result(object, by, data)
  structure(
    list(
      title = describe(object)$title, estimates = base$estimates, variables = object$variables,
      key_sets = object$sets, risk_by_strata = base$strata
    ),
    class = "sdc_summary"
  )
}
