# Reading a result of n_matches(): words, tables, one sentence.

declare_measure(
  "n_matches",
  reference = c("mulder", "skinner2002"),
  ids = "key_set", lead = prop_unique_all,
  terms = c(
    "n_unique", "prop_unique", "prop_unique_all", paste0("n_below_", x$settings$below),
    intersect(c("n_homogeneous", "l_distinct", "l_entropy", "t_closeness"), names(e)),
    "risk_max", "risk_q99", "risk_q95", "risk_mean", "n_pairs", "theta", "n"
  ),
  each = paste0(
    if (!is.null(x$settings$hh_id)) ", counted in households",
    if (nrow(e) > 1) paste(" on", key_set)
  ),
  title = "Matches of records with missing or uncertain values",
  question = paste0(
    "with how many ", match_unit(x, 2), " does each ", match_subject(x), " agree?"
  ),
  size = paste0(
    plural(x$settings$n, "record"), ", ",
    if (x$settings$patterns) paste0(plural(n[[1]] + n_deleted[[1]], "pattern"), ", "),
    if (nrow(e) > 1) paste0(nrow(e), " key sets of "),
    plural(length(unique(unlist(x$settings$key_sets))), "key variable"), "; ",
    match_missing_clause(x$settings$missing),
    if (nrow(e) == 1 && n_deleted > 0) {
      paste0("; ", plural(n_deleted, paste("incomplete", match_subject(x))), " deleted")
    }, "."
  ),
  k = figure(
    "Fewest matches, k", "matches", fewest_matches(x), scenario = "prosecutor", key = "k",
    term = "risk_max",
    question = "How many records share a key, at least?", head = "k",
    n_above = matched_below(x, limit$k), absent = ifelse(n == 0, "no record is complete", "")
  ),
  n_unique = figure(
    "Sample uniques", "count", scenario = "prosecutor", key = "n_unique", of = n,
    question = "How many records are alone with their key?", head = "unique",
    note = paste0(format_percent(prop_unique), " of ", format_count(n)),
    absent = ifelse(n == 0, "no record is complete", ""),
    says = if (x$settings$patterns) {
      paste("%s of the patterns match exactly one", match_unit(x, 1))
    } else if (is.null(x$settings$hh_id)) {
      "%s of the records match only themselves"
    } else {
      "%s of the records match only one household, their own"
    }
  ),
  n_few = figure(
    paste("Fewer than", x$settings$below[1], "matches"), "count",
    e[[paste0("n_below_", x$settings$below[1])]], scenario = "prosecutor", of = n, board = FALSE
  ),
  prop_unique = figure(
    "Sample uniques, share", "share", scenario = "prosecutor", key = "prop_unique",
    question = "What share of the records is alone?", board = FALSE, print = FALSE,
    absent = ifelse(n == 0, "no record is complete", "")
  ),
  n_homogeneous = figure(
    "One shared sensitive value", "count", scenario = "prosecutor", key = "n_homogeneous",
    question = "For how many is the sensitive value known?", of = n, head = "one value",
    absent = ifelse(n == 0, "no record is complete", ""),
    says = paste("for %s of the records all matches share one value of", sensitive_words(x))
  ),
  t_closeness = figure(
    "Largest t-closeness", "share", scenario = "prosecutor", board = FALSE, print = FALSE
  ),
  l_distinct = figure(
    "Fewest sensitive values, l", "matches", scenario = "prosecutor", key = "l",
    question = "How many sensitive values do the matches of a record have, at least?",
    n_above = if (identical(limit$l, 2)) n_homogeneous,
    absent = ifelse(n == 0, "no record is complete", "")
  ),
  risk_mean = figure(
    "Mean record risk", "risk", scenario = "prosecutor", attempt = TRUE, head = "mean risk",
    note = format_spread(risk_max, risk_q99, risk_q95),
    says = paste(
      if (x$settings$patterns) {
        "an intruder who looks up each pattern picks the right"
      } else {
        paste("an intruder who knows that the target is in the file, and knows its values, picks",
              "the right")
      },
      match_unit(x, 1), "with a mean probability of %s"
    )
  ),
  theta = figure(
    "Correct unique matches, theta", "risk",
    if (!all(is.na(theta))) theta, scenario = "journalist", attempt = TRUE, head = "theta",
    note = status_note(theta_status), board = !is.na(theta),
    says = with_status(paste(
      "of all people who match a unique record, a share of %s is the right person (theta, after",
      "Skinner and Elliot)"
    ), theta_status)
  ),
  spread = "Record risk 1/m",
  notes = list(
    if (all(n == 0)) paste0("No ", match_subject(x), " is complete: nothing is left to count."),
    match_rule_line(x), unmatched_line(x), missing_line(x$diagnostics$missing, x$settings$n),
    identifying_line(x$diagnostics$identifying)
  ),
  next_step = if (any(matched_below(x, limit$k) > 0) && !x$settings$patterns) {
    paste0("records_at_risk(x, k = ", limit$k, ")")
  },
  measured = paste0(
    "In the file of ", plural(x$settings$n, "record"), ", the matches of each ",
    if (x$settings$patterns) "outside pattern" else "record", " were counted on the key set ",
    main$key_set,
    if (nrow(e) > 1) paste0(", the one of ", nrow(e), " key sets with most uniques")
  ),
  found = if (all(n == 0)) {
    paste("no", match_subject(x), "is complete")
  } else if (x$settings$patterns && all(record_risk(x) %in% 0)) {
    "no pattern has a match, so that nobody behind them can be in the file"
  },
  limits = paste(
    "values are taken to be right and up to date, and other key variables give other numbers"
  ),
  source = "number of matches, Mulder",
  assuming = c(match_missing_clause(x$settings$missing), match_rule_clause(x)),
  tables = list(matches = match_distribution(x), sensitive = x$sensitive), strata = "record_risk"
)

sensitive_words <- function(x) {
  paste0(
    if (length(x$settings$sensitive) > 1) "at least one of ", quote_names(x$settings$sensitive, 3)
  )
}

# Outside patterns without a match belong to nobody in the file, and lower the mean.
unmatched_line <- function(x) {
  none <- sum(record_risk(x) %in% 0)
  if (none > 0) paste0(plural(none, "pattern"), " without a match: the risk is 0.")
}

# The least number of matches on each key set, NA if no record has one. Outside patterns have
# no such number, since they need not be in the file, nor has a result in a comparison, whose
# records are gone.
fewest_matches <- function(x) {
  if (!x$settings$patterns && !is.null(judged_rows(x))) {
    vapply(match_columns(x), function(m) {
      if (all(is.na(m))) NA_real_ else as.double(min(m, na.rm = TRUE))
    }, 0, USE.NAMES = FALSE)
  }
}

# Records with fewer than `k` matches, by key set.
matched_below <- function(x, k) {
  if (is.null(k)) {
    return(NULL)
  }
  column <- paste0("n_below_", k)
  if (column %in% names(x$estimates)) {
    return(x$estimates[[column]])
  }
  if (is.null(judged_rows(x))) {
    return(NULL)
  }
  vapply(match_columns(x), function(m) {
    as.double(sum_over(!is.na(m) & m < k, judged_times(x)))
  }, 0, USE.NAMES = FALSE)
}

# Clause on missing values; if key variables have different rules, the rule of each.
match_missing_clause <- function(missing) {
  words <- c(
    wildcard = missing_clause("wildcard"), category = missing_clause("category"),
    exclude = "incomplete records deleted"
  )
  if (length(missing) == 1) {
    return(words[[missing]])
  }
  by <- split(names(missing), factor(missing, names(words)), drop = TRUE)
  paste0(words[names(by)], " (", vapply(by, quote_names, "", most = 3), ")", collapse = ", ")
}

# Line on the rule for matches, unless it is the default.
match_rule_line <- function(x) {
  settings <- x$settings
  parts <- c(
    if (length(x$diagnostics$candidate_columns)) {
      switch(settings$rule,
        first = "of candidate sets the first value is sought",
        overlap = "candidate sets match when they overlap",
        mean = "averages over the values of candidate sets"
      )
    },
    if (settings$min_overlap > 0) {
      paste0(
        "partners share at least ", plural(settings$min_overlap, "observed key variable")
      )
    },
    if (settings$partial_weight < 1) {
      paste("incomplete partners count", format_number(settings$partial_weight))
    },
    if (length(settings$tolerance)) {
      paste0("tolerance on ", quote_names(names(settings$tolerance), 3))
    }
  )
  if (length(parts)) paste0(capitalised(paste(parts, collapse = "; ")), ".")
}

# Quantiles of the numbers of matches, one row per key set.
match_distribution <- function(x) {
  known <- lapply(match_columns(x), function(m) !is.na(m))
  columns <- Map(function(m, known) m[known], match_columns(x), known)
  times <- lapply(known, function(known) judged_times(x)[known])
  at <- function(p) unname(unlist(Map(quantile_over, columns, p, times)))
  frame(
    key_set = x$estimates$key_set, min = at(0), q05 = at(0.05), median = at(0.5),
    mean = unname(unlist(Map(function(m, n) {
      if (length(m)) mean_over(m, n) else NA_real_
    }, columns, times))), q95 = at(0.95), max = at(1)
  )
}

# The numbers of matches by key set.
match_columns <- function(x) {
  rows <- needed_rows(x)
  if (x$settings$named_sets) as.list(rows[x$estimates$key_set]) else rows["n_matches"]
}

#' @export
record_risk.sdc_n_matches <- function(x) {
  # Of several key sets the riskiest one counts.
  fewest <- do.call(pmin, c(unname(match_columns(x)), na.rm = TRUE))
  ifelse(fewest > 0, 1 / fewest, 0)
}

match_rule_clause <- function(x) {
  line <- match_rule_line(x)
  if (!is.null(line)) sub("\\.$", "", lower_first(line))
}
