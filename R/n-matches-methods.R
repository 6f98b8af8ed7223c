# Reading a result of n_matches(): words, tables, one sentence.

#' @export
format.sdc_n_matches <- function(x, ...) {
  settings <- x$settings
  c(
    "Number of matches of records with missing or uncertain values",
    paste0(
      "Question: with how many ", match_unit(x, 2), " of the file does each ",
      if (settings$patterns) "outside pattern" else "record", " agree?"
    ),
    match_size_line(x),
    match_rule_line(x),
    if (nrow(x$estimates) == 1) match_lines(x) else match_table_lines(x),
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
    switch(settings$missing,
      wildcard = "missing matches everything.",
      category = "missing is a value of its own.",
      exclude = "incomplete records deleted."
    )
  )
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
      ), "; mean ", format_risk(estimate$risk_mean), "."
    ),
    if (x$settings$missing == "wildcard" && estimate$n_complete < x$settings$n &&
          !is.na(estimate$n_unique_complete)) {
      paste0(
        "Listwise deletion would keep ", plural(estimate$n_complete, "record"), ", ",
        format_count(estimate$n_unique_complete), " of them unique."
      )
    },
    match_theta_line(x)
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
    "Journalist (not known to be in the file): a unique match is correct with probability ",
    format_risk(estimate$theta), " (", format_percent(x$settings$level), " interval ",
    format_risk(estimate$theta_low), " to ", format_risk(estimate$theta_high), ", ",
    estimate$theta_status, ")."
  )
}

match_table_lines <- function(x, most = 7) {
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
  names(table)[5] <- paste0("m < ", x$settings$below[[1]])
  if (all(is.na(shown$theta))) table$theta <- NULL
  c(format_table(table), if (rest > 0) paste0("... and ", rest, " more in x$estimates"))
}

#' @export
summary.sdc_n_matches <- function(object, by = NULL, data = NULL, ...) {
  base <- summary.sdc_result(object, by, data)
  structure(
    list(
      title = format(object)[c(1, 3)], estimates = base$estimates,
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
      "prop_unique_all", "n_pairs", "theta", "risk_max", "risk_q99", "risk_q95", "risk_mean"
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
    missing = x$settings$missing, rule = x$settings$rule,
    min_overlap = x$settings$min_overlap, partial_weight = x$settings$partial_weight,
    fingerprint = x$settings$fingerprint
  )
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
    " (number of matches, Mulder; ",
    switch(settings$missing,
      wildcard = "a missing value matches every value",
      category = "missing values a category of their own",
      exclude = "incomplete records deleted listwise"
    ),
    match_rule_words(x), "; prosecutor scenario: an intruder who knows that the target is in ",
    "the file, and knows its values, picks the right ", match_unit(x, 1),
    " with a probability of ",
    format_risk(worst$risk_mean), " on average and ", format_risk(worst$risk_max),
    " at most, given an attempt",
    if (!is.na(worst$theta)) {
      paste0(
        "; one who does not know it and finds a unique match is right with probability ",
        format_risk(worst$theta), ", ", format_percent(settings$level), " interval ",
        format_risk(worst$theta_low), " to ", format_risk(worst$theta_high),
        if (worst$theta_status == "unreliable") ", from too few records to rely on"
      )
    },
    "; sdcRisk ", settings$version, "); values are taken to be right and up to date, and ",
    "other key variables give other numbers."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}

match_rule_words <- function(x) {
  line <- match_rule_line(x)
  if (!is.null(line)) {
    substr(line, 1, 1) <- tolower(substr(line, 1, 1))
    paste0("; ", sub("\\.$", "", line))
  }
}
