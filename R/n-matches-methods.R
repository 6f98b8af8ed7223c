# Reading a result of n_matches(): words, tables, one sentence.

#' @export
format.sdc_n_matches <- function(x, ...) {
  settings <- x$settings
  head <- c(
    "Number of matches of records with missing or uncertain values",
    paste0(
      "Question: with how many ", match_unit(x, 2), " of the file does each ",
      if (settings$patterns) "outside pattern" else "record", " agree?"
    ),
    match_size_line(x),
    missing_line(x$diagnostics$missing, settings$n),
    identifying_line(x$diagnostics$identifying),
    match_rule_line(x)
  )
  c(
    head,
    # Of 16 lines, two follow the table, and two are its head and its rest.
    if (nrow(x$estimates) == 1) match_lines(x) else match_table_lines(x, 12 - length(head)),
    paste(
      "Scenario: prosecutor (the target is known to be in the file);",
      "the risk is given an attempt."
    ),
    "More: summary(x), plot(x), interpret(x)."
  )
}

# What is counted: records or households.
match_unit <- function(x, n) {
  paste0(if (is.null(x$settings$hh_id)) "record" else "household", if (n != 1) "s")
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
    match_missing_words(
      settings$missing, "missing matches everything", "missing is a value of its own",
      "incomplete records deleted"
    ), "."
  )
}

# What is done with missing values, in the words given for one rule each; where
# key variables differ, which of them have which.
match_missing_words <- function(missing, wildcard, category, exclude) {
  words <- c(wildcard = wildcard, category = category, exclude = exclude)
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
      paste("partners share", plural(settings$min_overlap, "known key"))
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

match_lines <- function(x) {
  estimate <- x$estimates
  if (estimate$n == 0) {
    return(paste(
      "No", if (x$settings$patterns) "pattern" else "record",
      "is complete: nothing is left to count."
    ))
  }
  c(
    match_unique_line(x),
    match_below_line(x),
    paste0(
      "Record risk 1/m: ", format_spread(
        estimate$risk_max, estimate$risk_q99, estimate$risk_q95,
        noun = if (x$settings$patterns) "patterns" else "records"
      ), "; mean ", format_risk(estimate$risk_mean), match_unmatched_words(x), "."
    ),
    match_sensitive_line(x),
    if (match_has_wildcards(x) && estimate$n_complete < x$settings$n &&
          !is.na(estimate$n_unique_complete)) {
      paste0(
        "Listwise deletion would keep ", plural(estimate$n_complete, "record"), ", ",
        format_count(estimate$n_unique_complete), " of them unique."
      )
    },
    match_theta_line(x)
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

# Attribute disclosure: the key alone tells the sensitive value.
match_sensitive_line <- function(x) {
  estimate <- x$estimates[1, ]
  if (is.null(estimate$n_homogeneous)) {
    return(NULL)
  }
  paste0(
    "Sensitive ", quote_names(x$settings$sensitive), ": all matches of ",
    plural(estimate$n_homogeneous, if (x$settings$patterns) "pattern" else "record"), " (",
    format_percent(estimate$n_homogeneous / estimate$n), ") share one value",
    if (!is.na(estimate$l_distinct)) {
      paste0(
        "; at least ", plural(estimate$l_distinct, "value"), " among the matches of a record"
      )
    },
    "."
  )
}

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

match_below_line <- function(x) {
  below <- x$settings$below
  counts <- unlist(x$estimates[1, paste0("n_below_", below)])
  paste0(
    paste0("Fewer than ", below, " matches: ", format_count(counts), collapse = "; "), "."
  )
}

match_theta_line <- function(x) {
  estimate <- x$estimates[1, ]
  if (is.na(estimate$theta)) {
    return(NULL)
  }
  paste0(
    "Journalist (not known to be in the file): theta ", format_risk(estimate$theta), " (",
    format_percent(x$settings$level), " interval ", format_risk(estimate$theta_low), " to ",
    format_risk(estimate$theta_high), ", ", estimate$theta_status, "), the share of correct ones ",
    "among all people of the population who match a unique record; not the mean of 1/F."
  )
}

match_table_lines <- function(x, most) {
  shown <- utils::head(x$estimates, most)
  rest <- nrow(x$estimates) - nrow(shown)
  label <- shown$key_set
  long <- nchar(label) > 40
  label[long] <- paste0(substr(label[long], 1, 37), "...")
  table <- frame(
    "key set" = label, n = format_count(shown$n), unique = format_count(shown$n_unique),
    share = ifelse(is.na(shown$prop_unique), "NA", format_percent(shown$prop_unique)),
    "below" = format_count(shown[[paste0("n_below_", x$settings$below[[1]])]]),
    "risk 99 %" = format_risk(shown$risk_q99), "95 %" = format_risk(shown$risk_q95),
    theta = format_risk(shown$theta)
  )
  if (!is.null(shown$n_homogeneous)) {
    table[["one sensitive value"]] <- format_count(shown$n_homogeneous)
  }
  names(table)[5] <- paste0("m < ", x$settings$below[[1]])
  if (all(is.na(shown$theta))) table$theta <- NULL
  c(format_table(table), if (rest > 0) paste0("... and ", rest, " more in x$estimates"))
}

#' @export
summary.sdc_n_matches <- function(object, by = NULL, data = NULL, ...) {
  base <- summary.sdc_result(object, by, data)
  structure(
    list(
      title = c(
        format(object)[c(1, 3)], if (nrow(object$estimates) == 1) match_sensitive_line(object)
      ),
      estimates = base$estimates,
      matches = match_distribution(object), record_risk = base$strata
    ),
    class = "sdc_summary"
  )
}

# Quantiles of the numbers of matches, one row per key set.
match_distribution <- function(x) {
  columns <- match_columns(x)
  at <- function(p) {
    unname(vapply(columns, stats::quantile, 0, p, names = FALSE, type = 8, na.rm = TRUE))
  }
  frame(
    key_set = x$estimates$key_set, min = at(0), q05 = at(0.05), median = at(0.5),
    mean = unname(vapply(columns, function(m) {
      if (all(is.na(m))) NA_real_ else mean(m, na.rm = TRUE)
    }, 0)), q95 = at(0.95), max = at(1)
  )
}

# The numbers of matches by key set.
match_columns <- function(x) {
  if (x$settings$named_sets) as.list(x$records[x$estimates$key_set]) else x$records["n_matches"]
}

#' @export
record_risk.sdc_n_matches <- function(x) {
  # Of several key sets the riskiest one counts.
  fewest <- do.call(pmin, c(unname(match_columns(x)), na.rm = TRUE))
  ifelse(fewest > 0, 1 / fewest, 0)
}

#' @export
tidy_terms.sdc_n_matches <- function(x) {
  list(
    ids = "key_set",
    terms = c(
      "n", "n_unique", paste0("n_below_", x$settings$below), "prop_unique",
      "prop_unique_all", "n_pairs", "theta", "risk_max", "risk_q99", "risk_q95", "risk_mean",
      intersect(c("n_homogeneous", "l_distinct"), names(x$estimates))
    )
  )
}

#' @rdname sdc_result
#' @usage NULL
#' @export
glance.sdc_n_matches <- function(x, ...) {
  worst <- x$estimates[which.max(x$estimates$prop_unique_all), ]
  frame(
    n_records = x$settings$n, n_key_sets = nrow(x$estimates),
    n_keys = length(unique(unlist(x$settings$key_sets))), key_set = worst$key_set,
    n = worst$n, n_unique = worst$n_unique, prop_unique = worst$prop_unique,
    prop_unique_all = worst$prop_unique_all, theta = worst$theta,
    theta_status = worst$theta_status, risk_mean = worst$risk_mean,
    missing = missing_label(x$settings$missing), rule = x$settings$rule,
    min_overlap = x$settings$min_overlap, partial_weight = x$settings$partial_weight,
    fingerprint = x$settings$fingerprint
  )
}

# The rule for missing values as one word, or as "category: stat; wildcard: age".
missing_label <- function(missing) {
  if (length(missing) == 1) {
    return(missing)
  }
  by <- split(names(missing), missing)
  paste0(names(by), ": ", vapply(by, paste, "", collapse = ", "), collapse = "; ")
}

#' @export
interpret.sdc_n_matches <- function(x, ...) {
  settings <- x$settings
  worst <- x$estimates[which.max(x$estimates$prop_unique_all), ]
  if (all(x$estimates$n == 0)) {
    return(structure(
      paste0(
        "In the file of ", plural(settings$n, "record"), ", no ",
        if (settings$patterns) "outside pattern" else "record", " is complete on ",
        if (nrow(x$estimates) == 1) paste("the key set", worst$key_set) else "any key set",
        " (number of matches, Mulder; incomplete records deleted listwise; sdcRisk ",
        settings$version, "): listwise deletion leaves nothing to say of its risk."
      ),
      class = c("sdc_sentence", "character")
    ))
  }
  alone <- x
  alone$estimates <- worst
  found <- sub("\\.$", "", match_unique_line(alone))
  sentence <- paste0(
    if (settings$patterns) {
      paste0("In the file of ", plural(settings$n, "record"), ", ")
    } else {
      "In the file, "
    },
    found, " on the key set ", worst$key_set,
    if (nrow(x$estimates) > 1) {
      paste0(", the one of ", nrow(x$estimates), " key sets with the most")
    },
    match_homogeneous_words(alone),
    " (number of matches, Mulder; ",
    match_missing_words(
      settings$missing, "a missing value matches every value",
      "missing values a category of their own", "incomplete records deleted listwise"
    ),
    match_rule_words(x), "; ", match_scenario_words(alone),
    if (!is.na(worst$theta)) {
      paste0(
        "; of the people of the population who match a unique record, the share ",
        format_risk(worst$theta), " is that person (theta, after Skinner and Elliot; ",
        format_percent(settings$level), " interval ",
        format_risk(worst$theta_low), " to ", format_risk(worst$theta_high),
        if (worst$theta_status == "unreliable") ", from too few records to rely on", ")"
      )
    },
    "; sdcRisk ", settings$version, "); values are taken to be right and up to date, and ",
    "other key variables give other numbers."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}

match_homogeneous_words <- function(x) {
  estimate <- x$estimates
  if (!is.null(estimate$n_homogeneous)) {
    paste0(
      ", and the key alone tells ", quote_names(x$settings$sensitive), " of ",
      plural(estimate$n_homogeneous, if (x$settings$patterns) "pattern" else "record"), " (",
      format_percent(estimate$n_homogeneous / estimate$n),
      "), all of whose matches share one value"
    )
  }
}

# The chance of an intruder who knows that the target is in the file. Nobody can
# know that of an outside pattern without a match.
match_scenario_words <- function(x) {
  estimate <- x$estimates
  n_found <- matched_patterns(x)
  who <- paste0(
    "prosecutor scenario: an intruder who knows that the target is in the file, and knows its ",
    "values, picks the right ", match_unit(x, 1), " with a probability of "
  )
  if (n_found == 0) {
    return("no pattern has a match, so that nobody behind them can be in the file")
  }
  paste0(
    who, format_risk(estimate$risk_mean * estimate$n / n_found), " on average and ",
    format_risk(estimate$risk_max), " at most, given an attempt",
    if (n_found < estimate$n) {
      paste0(
        " at one of the ", format_count(n_found), " patterns with a match (the other ",
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
  sum(x$records[[column]] > 0, na.rm = TRUE)
}

match_rule_words <- function(x) {
  line <- match_rule_line(x)
  if (!is.null(line)) {
    substr(line, 1, 1) <- tolower(substr(line, 1, 1))
    paste0("; ", sub("\\.$", "", line))
  }
}
