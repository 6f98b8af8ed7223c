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
  k = figure(
    "Fewest matches, k", "matches", fewest_matches(x), scenario = "prosecutor", key = "k",
    question = "How many records share a key, at least?",
    n_above = matched_below(x, limit$k), absent = ifelse(n == 0, "no record is complete", "")
  ),
  n_unique = figure(
    "Sample uniques", "count", scenario = "prosecutor", key = "n_unique",
    question = "How many records are alone with their key?",
    note = paste0(format_percent(prop_unique), " of ", format_count(n)),
    absent = ifelse(n == 0, "no record is complete", "")
  ),
  prop_unique = figure(
    "Sample uniques, share", "share", scenario = "prosecutor", key = "prop_unique",
    question = "What share of the records is alone?", board = FALSE,
    absent = ifelse(n == 0, "no record is complete", "")
  ),
  n_homogeneous = figure(
    "One shared sensitive value", "count", scenario = "prosecutor", key = "n_homogeneous",
    question = "For how many is the sensitive value known?",
    absent = ifelse(n == 0, "no record is complete", "")
  ),
  l_distinct = figure(
    "Fewest sensitive values per key, l", "matches", scenario = "prosecutor", key = "l",
    question = "How many sensitive values do the matches of a record have, at least?",
    n_above = if (identical(limit$l, 2)) n_homogeneous,
    absent = ifelse(n == 0, "no record is complete", "")
  ),
  risk_mean = figure(
    "Mean record risk", "risk", scenario = "prosecutor", attempt = TRUE,
    note = format_spread(risk_max, risk_q99, risk_q95)
  ),
  theta = figure(
    "Share of unique matches that are correct (theta)", "risk",
    if (!all(is.na(theta))) theta, scenario = "journalist", attempt = TRUE,
    note = status_note(theta_status), board = !is.na(theta)
  )
)

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
    as.double(sum_over(as.double(!is.na(m) & m < k), judged_times(x)))
  }, 0, USE.NAMES = FALSE)
}

#' @export
describe.sdc_n_matches <- function(x) {
  settings <- x$settings
  description(
    title = "Number of matches of records with missing or uncertain values",
    question = paste0(
      "with how many ", match_unit(x, 2), " of the file does each ", match_subject(x, 1),
      " agree?"
    ),
    size = match_size_line(x),
    answer = c(
      fact(missing_line(x$diagnostics$missing, settings$n), keep = "detail"),
      fact(identifying_line(x$diagnostics$identifying), keep = "detail"),
      fact(match_rule_line(x)),
      if (nrow(x$estimates) == 1) match_facts(x) else match_grid(x)
    ),
    scenario = scenario(c(
      "prosecutor", if (any(!is.na(x$estimates$theta))) "journalist"
    )),
    more = "summary(x), plot(x), interpret(x)",
    sentence = match_cited(x)
  )
}

match_size_line <- function(x) {
  settings <- x$settings
  keys <- length(unique(unlist(settings$key_sets)))
  paste0(
    plural(settings$n, "record"), ", ",
    if (settings$patterns) {
      paste0(plural(x$estimates$n[[1]] + x$estimates$n_deleted[[1]], "pattern"), ", ")
    },
    if (nrow(x$estimates) > 1) paste0(nrow(x$estimates), " key sets of "),
    plural(keys, "key variable"), "; ",
    match_missing_clause(settings$missing), "."
  )
}

# What is done with missing values; where key variables differ, which of them
# have which rule.
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

# How matches are counted, where it is not the plain way.
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
  if (length(parts)) {
    line <- paste0(paste(parts, collapse = "; "), ".")
    substr(line, 1, 1) <- toupper(substr(line, 1, 1))
    line
  }
}

match_facts <- function(x) {
  estimate <- x$estimates
  if (estimate$n == 0) {
    return(fact("No ", match_subject(x, 1), " is complete: nothing is left to count."))
  }
  c(
    fact(match_unique_line(x)),
    fact(match_below_line(x)),
    fact(
      "Record risk 1/m: ", format_spread(
        estimate$risk_max, estimate$risk_q99, estimate$risk_q95, noun = match_subject(x, 2)
      ), "; mean ", format_risk(estimate$risk_mean), match_unmatched_words(x), ".",
      keep = "always"
    ),
    fact(match_sensitive_line(x)),
    if (match_has_wildcards(x) && estimate$n_complete < x$settings$n &&
          !is.na(estimate$n_unique_complete)) {
      fact(
        "Listwise deletion would keep ", plural(estimate$n_complete, "record"), ", ",
        format_count(estimate$n_unique_complete), " of them unique.",
        keep = "aside"
      )
    },
    fact(match_theta_line(x))
  )
}

# Outside patterns without a match have no risk, which lowers the mean.
match_unmatched_words <- function(x) {
  none <- x$estimates$n[[1]] - matched_patterns(x)
  if (none > 0) {
    paste0(", with 0 for ", plural(none, "pattern"), " without a match")
  }
}

match_has_wildcards <- function(x) "wildcard" %in% x$settings$missing

match_unique_line <- function(x) {
  estimate <- x$estimates[1, ]
  alone <- if (x$settings$patterns) {
    paste(if (estimate$n_unique == 1) "matches" else "match", "exactly one", match_unit(x, 1))
  } else if (is.null(x$settings$hh_id)) {
    if (estimate$n_unique == 1) "matches only itself" else "match only themselves"
  } else {
    paste(if (estimate$n_unique == 1) "matches" else "match", "only one household, their own")
  }
  paste0(
    format_count(estimate$n_unique), " of ",
    plural(estimate$n, if (x$settings$patterns) "pattern" else "record"), " ", alone, " (",
    format_percent(estimate$prop_unique), ")",
    if (estimate$n_deleted > 0) {
      paste0("; ", plural(
        estimate$n_deleted, if (x$settings$patterns) "incomplete pattern" else "incomplete record"
      ), " deleted")
    },
    "."
  )
}

# "Fewer than 5 matches: 424 records; fewer than 10: 900."
match_below_line <- function(x) {
  below <- x$settings$below
  if (length(below) == 0) {
    return(NULL)
  }
  counts <- unlist(x$estimates[1, paste0("n_below_", below)])
  rest <- paste0("; fewer than ", below, ": ", format_count(counts))[-1]
  paste0(
    "Fewer than ", below[[1]], " matches: ",
    plural(counts[[1]], match_subject(x, 1)), paste(rest, collapse = ""), "."
  )
}

match_theta_line <- function(x) {
  estimate <- x$estimates[1, ]
  if (is.na(estimate$theta)) {
    return(NULL)
  }
  paste0(
    "Journalist: theta ", format_risk(estimate$theta), " (",
    format_percent(x$settings$level), " interval ", format_risk(estimate$theta_low), " to ",
    format_risk(estimate$theta_high), ")",
    if (estimate$theta_status == "unreliable") ", from too few records to rely on",
    ", the share of correct matches among all people who match a unique record; not the mean ",
    "of 1/F."
  )
}

match_grid <- function(x, most = 8) {
  shown <- utils::head(x$estimates, most)
  below <- x$settings$below
  table <- frame(
    "key set" = shorten(shown$key_set), n = format_count(shown$n),
    unique = format_count(shown$n_unique),
    share = ifelse(is.na(shown$prop_unique), "NA", format_percent(shown$prop_unique)),
    "risk 99 %" = format_risk(shown$risk_q99), "95 %" = format_risk(shown$risk_q95)
  )
  if (length(below)) {
    table[[paste("m <", below[[1]])]] <- format_count(shown[[paste0("n_below_", below[[1]])]])
  }
  if (!all(is.na(shown$theta))) table$theta <- format_risk(shown$theta)
  if (!is.null(shown$n_homogeneous)) {
    table[["one sensitive value"]] <- format_count(shown$n_homogeneous)
  }
  grid(table, nrow(x$estimates))
}

#' @export
summary.sdc_n_matches <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  new_summary(
    object,
    estimates = object$estimates, matches = match_distribution(object),
    sensitive = object$sensitive,
    record_risk = risk_by_strata(object, by, data),
    title = if (nrow(object$estimates) == 1) match_sensitive_line(object)
  )
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

match_cited <- function(x) {
  settings <- x$settings
  worst <- x$estimates[which.max(x$estimates$prop_unique_all), ]
  nothing <- all(x$estimates$n == 0)
  alone <- x
  alone$estimates <- worst
  cited(
    measured = paste0(
      "In the file of ", plural(settings$n, "record"), ", the matches of each ",
      if (settings$patterns) "outside pattern" else "record", " were counted on the key set ",
      worst$key_set,
      if (nrow(x$estimates) > 1) {
        paste0(", the one of ", nrow(x$estimates), " key sets with most uniques")
      }
    ),
    found = if (nothing) {
      paste("No", match_subject(x, 1), "is complete, and listwise deletion leaves nothing to count")
    } else {
      paste0(
        sub("\\.$", "", match_unique_line(alone)), match_homogeneous_words(alone), "; ",
        match_scenario_words(alone), match_theta_words(x, worst)
      )
    },
    limits = paste(
      "values are taken to be right and up to date, and other key variables give other numbers"
    ),
    source = "number of matches, Mulder",
    assuming = c(match_missing_clause(settings$missing), match_rule_clause(x))
  )
}

match_theta_words <- function(x, worst) {
  if (is.na(worst$theta)) {
    return(NULL)
  }
  paste0(
    "; of all people who match a unique record, the share ",
    format_risk(worst$theta), " is the right person (theta, after Skinner and Elliot; ",
    format_percent(x$settings$level), " interval ",
    format_risk(worst$theta_low), " to ", format_risk(worst$theta_high),
    if (worst$theta_status == "unreliable") ", from too few records to rely on", ")"
  )
}

# The chance of an intruder who knows that the target is in the file. Nobody can
# know that of an outside pattern without a match.
match_scenario_words <- function(x) {
  estimate <- x$estimates
  n_found <- matched_patterns(x)
  who <- paste0(
    "an intruder who knows that the target is in the file, and knows its values, picks the ",
    "right ", match_unit(x, 1), " with a probability of "
  )
  if (n_found == 0) {
    return("no pattern has a match, so that nobody behind them can be in the file")
  }
  paste0(
    who, format_risk(estimate$risk_mean * estimate$n / n_found), " on average and ",
    format_risk(estimate$risk_max), " at most",
    if (n_found < estimate$n) {
      paste0(
        ", for one of the ", format_count(n_found), " patterns with a match (the other ",
        format_count(estimate$n - n_found), " cannot be in the file)"
      )
    }
  )
}

# Records, or outside patterns, of the one key set at hand that have a match.
matched_patterns <- function(x) {
  if (!x$settings$patterns) {
    return(x$estimates$n)
  }
  column <- if (x$settings$named_sets) x$estimates$key_set else "n_matches"
  sum(judged_rows(x)[[column]] > 0, na.rm = TRUE)
}

match_rule_clause <- function(x) {
  line <- match_rule_line(x)
  if (!is.null(line)) {
    substr(line, 1, 1) <- tolower(substr(line, 1, 1))
    sub("\\.$", "", line)
  }
}
