# The rows of file_check() from the results of its measures, and what each record and
# each key variable has of them.

# One row per figure of the page: those of the results, or why a result is missing.
check_rows <- function(found, asked) {
  about <- page_figures()
  values <- lapply(unique(about$method), function(method) {
    page_values(found[[method]], about[about$method == method, ], asked)
  })
  rows <- cbind(about, do.call(rbind, values))
  # A limit on what has no row would be passed over in silence.
  rows <- rows[nzchar(rows$reason) | !is.na(rows$value) | rows$measure %in% names(asked$limit), ]
  absent <- is.na(rows$value) & !nzchar(rows$reason)
  rows$reason[absent] <- vapply(rows$measure[absent], why_absent, "")
  limits <- unlist(asked$limit)
  rows$limit <- unname(if (is.null(limits)) NA_real_ else limits[rows$measure])
  rows$verdict <- judge(rows$value, rows$limit, rows$unit, rows$low, rows$high)
  rows$reason[rows$verdict == "unclear"] <- straddling
  rows <- without_unreliable(rows, found$population_risk)
  rows <- without_other_people(rows, asked$facts)
  rows <- without_blank_records(rows, found$n_matches, asked)
  k <- asked$limit$k
  rows <- without_cover(rows, found$household_matches, k, "in other households")
  rows <- without_cover(rows, found$strata_matches, k, "within their strata")
  rows <- without_exchanges(rows, asked$remedy)
  rownames(rows) <- NULL
  rows
}

why_absent <- function(measure) {
  switch(measure,
    household = "no column of households was named: hh_id",
    n_homogeneous = "no sensitive variable was named: sensitive",
    ""
  )
}

# The figures on the page of a result, or of the text that says why it is missing.
# What was not asked for has neither a value nor a reason.
page_values <- function(result, about, asked) {
  roles <- c(n_homogeneous = "sensitive", household = "hh_id")
  if (is.character(result)) {
    asked_for <-
      !about$measure %in% names(roles)[vapply(roles, function(r) is.null(asked[[r]]), NA)]
    return(frame(
      value = rep(NA_real_, nrow(about)), low = rep(NA_real_, nrow(about)),
      high = rep(NA_real_, nrow(about)), reason = ifelse(asked_for, result, "")
    ))
  }
  rows <- figure_rows(result, asked$limit)
  at <- match(about$figure, rows$measure)
  refused <- c(
    n_homogeneous = result$diagnostics$sensitive_refused,
    household = result$diagnostics$household_refused
  )
  reason <- ifelse(
    about$measure %in% names(refused), refused[about$measure],
    ifelse(
      is.na(at) | !is.na(rows$value[at]), "",
      ifelse(nzchar(rows$absent[at]), rows$absent[at], "its value is not determined on this file")
    )
  )
  frame(value = rows$value[at], low = rows$low[at], high = rows$high[at], reason = unname(reason))
}

straddling <- "the limit lies within its interval"

# What is said of the population by intervals that are not known to hold.
without_unreliable <- function(rows, risk) {
  if (is.character(risk)) {
    return(rows)
  }
  e <- risk$estimates
  of <- c(population_uniqueness = "uniqueness", tau1 = "tau1", tau1_rate = "tau1", tau2 = "tau2")
  named <- ifelse(rows$measure %in% names(of), of[rows$measure], "reidentifications")
  note <- e$note[match(named, e$measure)]
  unreliable <- e$status[match(named, e$measure)] == "unclear"
  at <- rows$method == "population_risk" & unreliable & rows$verdict %in% c("ok", "above", "unclear")
  rows$verdict[at] <- "unclear"
  rows$reason[at] <- note[at]
  rows
}

# Weights are about one population, the size that was given about another.
without_other_people <- function(rows, facts) {
  if (!populations_differ(facts)) {
    return(rows)
  }
  unclear(
    rows, rows$scenario == "journalist" & rows$verdict %in% c("ok", "above", "unclear"),
    "weights and population disagree"
  )
}

populations_differ <- function(facts) {
  facts$from == "given" && !is.null(facts$sum_weights) &&
    abs(facts$sum_weights / facts$pop_size - 1) >= 0.05
}

# Records that miss every key variable match everybody: k - 1 of them would bring any file
# under its limit. A verdict that rests on them, or on few incomplete records, is not known to
# be "ok".
without_blank_records <- function(rows, matches, asked) {
  at <- rows$measure %in% c("k", "n_unique", "prop_unique") & rows$verdict == "ok"
  if (is.null(asked$codes) || is.character(matches) || !any(at)) {
    return(rows)
  }
  too_few <- function(n, ...) {
    unclear(rows, at, paste0(plural(n, "record"), " would have too few matches without ", ...))
  }
  known <- Reduce(`+`, lapply(asked$codes, function(code) code > 0L))
  empty <- known == 0
  n_empty <- sum(asked$times[empty])
  others <- judged_rows(matches)$n_matches - n_empty
  rest <- sum(asked$times[!empty & others < max(2, asked$limit$k)])
  if (n_empty > 0 && rest > 0) {
    return(too_few(rest, plural(n_empty, "record"), " missing every key variable"))
  }
  cover <- sparse_cover(asked, known)
  if (is.null(cover)) rows else too_few(cover$n, plural(cover$n_sparse, "incomplete record"))
}

# How many records have too few matches without those that miss at least one, two, ... key
# variables, if these carry more than 3 % of the records and each of them more than 10 (or 100,
# if at most half of the key variables are missing), NULL otherwise. Suppression spreads its
# values: in five real files at most one record rests on each under the rule "own", and at most
# 57 on one that misses half or less under "shared".
sparse_cover <- function(asked, known) {
  codes <- asked$codes
  n <- sum(asked$times)
  for (n_missing in seq_len(length(codes) - 1)) {
    sparse <- length(codes) - known >= n_missing
    n_sparse <- sum(asked$times[sparse])
    each <- if (n_missing > length(codes) / 2) 10 else 100
    if (n_sparse == 0) {
      return(NULL)
    }
    if (n_sparse * each < n) {
      alone <- n_with_few_matches(asked, !sparse)
      if (alone <= 0.03 * n) {
        return(NULL)
      }
      if (alone > each * n_sparse) {
        return(list(n = alone, n_sparse = n_sparse))
      }
    }
  }
}

# Among the records `kept` alone.
n_with_few_matches <- function(asked, kept) {
  keys <- lapply(asked$codes, function(code) replace(code, code == 0L, NA)[kept])
  names(keys) <- paste0("key", seq_along(keys))
  times <- asked$times[kept]
  data <- do.call(frame, keys)
  if (any(times > 1)) {
    data$n <- as_count(times)
    data <- new_pattern_table(data, names(keys), NULL, NULL, NULL)
  }
  # These columns are no names of the user's.
  matches <- judged_rows(suppressMessages(n_matches(data, names(keys))))$n_matches
  sum(times[matches < max(2, asked$limit$k)])
}

# A verdict that other counts of matches do not bear out: members of one household cover each
# other, and records of other strata are told apart.
without_cover <- function(rows, matches, k, where) {
  if (!inherits(matches, "sdc_result")) {
    return(rows)
  }
  counts <- matches$records$n_matches
  alone <- sum(counts < max(2, k), na.rm = TRUE)
  by_matches <- rows$measure %in% c("k", "n_unique", "prop_unique")
  unclear(
    rows, alone > 0 & by_matches & rows$verdict == "ok",
    paste(plural(alone, "record"), "would have too few matches", where)
  )
}

# Matches in a file whose values were exchanged say nothing of who is found.
without_exchanges <- function(rows, remedy) {
  at <- identical(remedy, "invariant_pram") & !is.na(rows$value) & rows$verdict != "no limit"
  rows$verdict[at] <- "not judged"
  rows$reason[at] <- "values were exchanged: pram_audit() judges this file"
  rows
}

# A value of which it is not known on which side of its limit the truth lies.
unclear <- function(rows, at, reason) {
  rows$verdict[at] <- "unclear"
  rows$reason[at] <- reason
  rows
}

# Records ------------------------------------------------------------------------

# What every record has of the measures that judge records, and how many of them are
# above each limit.
check_records_of <- function(found, table, asked) {
  matches <- found$n_matches
  population <- found$population_risk
  tables <- found$exhaustive_tabulation
  columns <- list(
    n_matches = if (!is.character(matches)) judged_rows(matches)$n_matches,
    journalist_risk = if (!is.character(population)) judged_rows(population)$risk,
    household_risk = if (!is.character(population)) judged_rows(population)$household_risk,
    n_violations = if (!is.character(tables)) judged_rows(tables)$n_violations
  )
  columns <- columns[!vapply(columns, is.null, NA)]
  beyond <- list(
    k = compared(columns$n_matches, `<`, asked$limit$k),
    journalist = compared(columns$journalist_risk, `>`, asked$limit$journalist),
    household = compared(columns$household_risk, `>`, asked$limit$household)
  )
  beyond <- beyond[!vapply(beyond, is.null, NA)]
  columns$above <- if (length(beyond)) Reduce(`|`, beyond) else rep(NA, table$n_rows)
  n_above <- vapply(beyond, function(b) as.double(sum_over(b, table$times)), 0)
  list(records = do.call(frame, columns), n_above = n_above)
}

# Whether each record is beyond a limit; one without a value is not.
compared <- function(values, is_beyond, limit) {
  if (!is.null(values) && !is.null(limit)) {
    beyond <- is_beyond(values, limit)
    beyond & !is.na(beyond)
  }
}

# Variables by what dropping each of them would buy.
check_drivers <- function(found) {
  overview <- found$key_overview
  tail <- found$qar_risk
  if (!is.character(tail)) tail <- tail$variables
  if (is.character(tail)) tail <- NULL
  if (is.character(overview) && is.null(tail)) {
    return(NULL)
  }
  counted <- !is.character(overview)
  names <- if (counted) overview$estimates$variable else tail$variable
  of <- function(table, column) {
    if (is.null(table)) {
      return(rep(NA_real_, length(names)))
    }
    table[[column]][match(names, table$variable)]
  }
  table <- if (counted) overview$estimates
  drivers <- frame(
    variable = names, n_unique_without = as_count(of(table, "n_unique_without")),
    unique_change = as_count(of(table, "unique_change")), risk_without = of(tail, "risk_without"),
    share_top = of(tail, "share_top")
  )
  drivers <- drivers[order(drivers$unique_change, drivers$risk_without, -drivers$share_top), ]
  rownames(drivers) <- NULL
  drivers
}
