# The rows of file_check() from the results of its measures, and what each record and
# each key variable has of them.

# One row per figure of the page (those of `about`): that of the result, or why it is missing.
check_rows <- function(found, asked, about = page_figures()) {
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
  rows <- unclear(rows, rows$verdict == "unclear", straddling)
  rows <- without_doubts(rows, population_doubts(found, asked))
  rows <- without_excluded(rows, asked)
  rows <- without_incomplete(rows, found$n_matches, asked)
  rows <- without_sensitive(rows, found$n_matches, asked$sensitive)
  of_k <- c("k", "n_unique", "prop_unique")
  # The values of one person are not those of others.
  of_units <- c(of_k, "n_homogeneous", "l")
  few <- few_by_counts(found, asked)
  rows <- without_cover(rows, few, "hh_id", "in other households", of_k)
  rows <- without_cover(rows, few, "strata_var", "within their strata", of_k)
  rows <- without_strata(rows, found$strata_matches, asked)
  rows <- without_cover(rows, few, "unit_id", paste0(
    "if each value of ", quote_names(asked$unit_id), " is counted once: hh_id = ",
    dput_text(asked$unit_id), ", or one record of each"
  ), of_units)
  for (id in names(asked$few_in_table)) {
    few <- asked$few_in_table[[id]]
    rows <- unclear(rows, few > 0 & rows$measure %in% of_units & rows$verdict == "ok", few_words(
      few, paste0("if each value of ", quote_names(id), " is counted once")
    ))
  }
  out <- asked$id_left_out
  covered <- all(asked$keys %in% out$keys) && isTRUE(out$k >= max(2, asked$limit$k))
  at <- rows$measure %in% (if (isTRUE(out$household)) of_k else of_units) & rows$verdict == "ok"
  rows <- unclear(rows, at & length(out) > 0 & !covered, paste0(
    "some records have too few matches if each value of ", quote_names(out$id),
    ", which was left out, is counted once"
  ))
  rows <- without_all(rows, found$n_matches, asked)
  rows <- without_told_keys(rows, asked$missing, asked)
  rows <- without_exchanges(rows, asked$remedy)
  rownames(rows) <- NULL
  rows
}

why_absent <- function(measure) {
  switch(measure,
    household = "no column of households was named: hh_id",
    n_homogeneous = , l = "no sensitive variable was named: sensitive"
  )
}

# The figures on the page of a result, or of the text that says why it is missing.
# Measures that were not asked for have neither a value nor a reason.
page_values <- function(result, about, asked) {
  roles <- c(n_homogeneous = "sensitive", l = "sensitive", household = "hh_id")
  if (is.character(result)) {
    asked_for <- !about$measure %in%
      names(roles)[vapply(roles, function(r) is.null(asked[[r]]), NA)]
    return(frame(
      value = rep(NA_real_, nrow(about)), low = rep(NA_real_, nrow(about)),
      high = rep(NA_real_, nrow(about)), reason = ifelse(asked_for, result, "")
    ))
  }
  rows <- figure_rows(result, asked$limit, only = about$figure)
  at <- match(about$figure, rows$measure)
  refused <- c(
    n_homogeneous = result$diagnostics$sensitive_refused,
    l = result$diagnostics$sensitive_refused,
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

# By measure of the page, why an interval of the law for the population is not known to hold.
population_doubts <- function(found, asked) {
  law <- found$population_risk
  about <- page_figures()
  about <- about[about$method == "population_risk", ]
  of <- c(tau1_rate = "tau1", reidentification_rate = "reidentifications", household = "largest")
  named <- ifelse(about$figure %in% names(of), of[about$figure], about$figure)
  person <- c(asked$unit_id, if (isFALSE(asked$id_left_out$household)) asked$id_left_out$id)
  doubts <- if (populations_differ(asked$facts)) {
    rep(people_disagree, nrow(about))
  } else if (length(person)) {
    rep(
      paste0("records with one value of ", quote_names(person), " may be one person's"), nrow(about)
    )
  } else if (is.character(law)) {
    character(nrow(about))
  } else {
    law$estimates$note[match(named, law$estimates$measure)]
  }
  doubts <- rlang::set_names(doubts, about$measure)
  complete <- asked$n_incomplete == 0 || asked$missing != "wildcard"
  list(reasons = doubts[nzchar(doubts)], are_people = complete && length(person) == 0)
}

people_disagree <- "weights and population disagree"

# A limit that such an interval keeps is not known to be kept, nor known to be exceeded if nobody
# knows which population is meant. Keys have as many people in the population as records in the
# file at least: what that settles needs no interval.
without_doubts <- function(rows, doubts) {
  k <- rows$value[rows$measure == "k"]
  sure <- rows$measure == "journalist" & doubts$are_people & length(k) == 1 &
    rows$limit >= sum(1 / k)
  settled <- which(sure & rows$verdict == "unclear")
  rows <- unclear(rows, settled, "")
  rows$verdict[settled] <- "ok"
  reason <- doubts$reasons[rows$measure]
  at <- !is.na(reason) & !sure & (
    rows$verdict == "ok" | rows$verdict == "above" & reason == people_disagree
  )
  unclear(rows, at, unname(reason[at]))
}

populations_differ <- function(facts) {
  facts$from == "given" && !is.null(facts$sum_weights) &&
    abs(facts$sum_weights / facts$pop_size - 1) >= 0.05
}

# Of records that are left out nobody knows whether they keep a limit.
without_excluded <- function(rows, asked) {
  excluded <- asked$missing == "exclude" && asked$n_incomplete > 0
  unclear(rows, excluded & rows$verdict == "ok", paste(
    plural(asked$n_incomplete, "incomplete record"), "excluded"
  ))
}

# A missing value matches every value, but who finds a record with all values of the target takes
# it for no other. A verdict that rests on incomplete records is not known to be "ok". The law for
# the population knows which values are missing.
without_incomplete <- function(rows, matches, asked) {
  at <- are_good_matches(rows)
  if (is.null(asked$codes) || is.character(matches) || !any(at)) {
    return(rows)
  }
  known <- n_known(asked$codes)
  without <- function(sparse, what) {
    paste("without", plural(sum_over(as.double(sparse), asked$times), what))
  }
  rows <- among_kept(rows, at, known > 0, asked, paste(
    without(known == 0, "record"), "missing every key variable"
  ))
  at <- at & rows$measure %in% counted_measures
  complete <- known == length(asked$codes)
  # The originals of a suppression are known to be enough, those of its households, too.
  of_k <- rows$measure %in% c("k", "n_unique", "prop_unique")
  sure <- asked$promised & of_k
  why <- without(!complete, "incomplete record")
  rows <- among_kept(rows, at & !sure, complete, asked, why)
  doubtful <- of_k & !sure & rows$verdict == "ok" & !is_one_match(rows)
  resting <- if (any(doubtful)) n_resting_incomplete(asked, known) else 0
  rows <- unclear(rows, doubtful & resting > 0, paste0(
    plural(resting, "incomplete record"), " would have too few matches among records in which ",
    "the same key variables are known"
  ))
  without_sparse(rows, at, asked, known, seq_along(asked$codes)[-c(1, length(asked$codes))])
}

counted_measures <- c("k", "n_unique", "prop_unique", "n_homogeneous", "n_special", "l")

# The same within strata; and all records, those of a household or a person counted once. A
# suppression takes values of all members of a household, who may be among the matches of others:
# there few incomplete records must carry many.
without_all <- function(rows, matches, asked) {
  if (is.null(asked$codes) || is.character(matches)) {
    return(rows)
  }
  at <- rows$measure %in% counted_measures
  known <- n_known(asked$codes)
  complete <- known == length(asked$codes)
  strata <- if (!is.null(asked$stratum)) "within their strata"
  if (!is.null(strata) && any(!complete)) {
    rows <- among_kept(rows, at, complete & asked$stratum > 0, asked, paste(
      strata, "and without", plural(asked$n_incomplete, "incomplete record")
    ), stratum = asked$stratum)
  }
  if (length(asked$units) == 0) {
    return(rows)
  }
  people <- setdiff(names(asked$units), asked$hh_id)
  homes <- length(asked$units) > length(people)
  why <- paste(collapse = " and ", c(
    strata, if (homes) "in other households",
    if (length(people)) paste("if each value of", quote_names(people), "is counted once")
  ))
  sure <- asked$promised_units & rows$measure %in% c("k", "n_unique", "prop_unique")
  # The rule "own" leaves 0.7% of the records of large files that rest on others of whole
  # households, and up to 6% of small ones: the session knows of it, a written file does not.
  least <- if (length(people)) 0 else min(asked$n_incomplete, 0.01 * sum(asked$times))
  rows <- among_kept(rows, at & !sure & any(!complete), complete, asked, paste(
    why, "and without", plural(asked$n_incomplete, "incomplete record")
  ), asked$stratum, asked$units, least)
  # Of one alone the page has counted them.
  if (length(asked$units) + length(strata) > 1 || !all(people %in% asked$unit_id)) {
    all <- rep(TRUE, length(known))
    rows <- among_kept(rows, at, all, asked, why, asked$stratum, asked$units)
  }
  if (homes) at <- at & !rows$measure %in% c("l", "n_homogeneous")
  without_sparse(rows, at, asked, known, seq_along(asked$codes), paste(why, "and "))
}

# Verdicts that few records bear out that miss many values.
without_sparse <- function(rows, at, asked, known, levels, why = "") {
  at <- at & rows$verdict == "ok"
  if (!nzchar(why)) asked[c("units", "stratum")] <- NULL
  cover <- if (any(at)) sparse_cover(asked, known, levels)
  if (is.null(cover)) rows else unclear(rows, at, few_words(
    cover$n, paste0(why, "without ", plural(cover$n_sparse, "incomplete record"))
  ))
}

few_words <- function(n, why) paste(plural(n, "record"), "would have too few matches", why)

# Verdicts that the records `kept`, but for so many at `least`, do not bear out among themselves,
# within strata, those of one unit counted once.
among_kept <- function(rows, at, kept, asked, why, stratum = NULL, units = list(), least = 0) {
  at <- at & rows$verdict == "ok" & !is_one_match(rows)
  apart <- length(c(stratum, units)) > 0
  if (!any(at) || !any(kept) || all(kept) && !apart) {
    return(rows)
  }
  diverse <- rows$measure %in% c("l", "n_homogeneous")
  found <- lapply(if (length(units)) units else list(NULL), function(unit) {
    matches_among(asked, kept, unit = unit, stratum = stratum)
  })
  n <- function(few) sum(asked$times[kept][few])
  few <- n(Reduce(`|`, lapply(found, few_matches, asked$limit$k)))
  # The values of a household's members are those of others.
  of_others <- diverse & any(names(units) %in% asked$hh_id)
  rows <- unclear(rows, at & !of_others & few > least, few_words(few, why))
  if (!any(at & diverse) || length(asked$sensitive) == 0) {
    return(rows)
  }
  values <- fewest_values(matches_among(asked, kept, asked$sensitive, stratum = stratum))
  one <- n(compared(values, `<`, 2))
  alike <- c(
    l = n(compared(values, `<`, asked$limit$l)),
    n_homogeneous = one * any(one > asked$limit$n_homogeneous)
  )
  for (measure in names(alike)[alike > 0]) {
    rows <- unclear(rows, at & rows$measure == measure & rows$verdict == "ok", paste(
      plural(alike[[measure]], "record"), "would match too few sensitive values", why
    ))
  }
  rows
}

# Matches without any value of a sensitive variable may all have one: a verdict "ok" says nothing
# of them.
without_sensitive <- function(rows, matches, sensitive) {
  at <- rows$verdict == "ok" & rows$measure %in% c("l", "n_homogeneous")
  if (is.character(matches) || !any(at)) {
    return(rows)
  }
  unknown <- unclass(judged_rows(matches))
  unknown <- lapply(unknown[grepl("^n_sensitive", names(unknown))], function(n) n %in% 0)
  n <- sum_over(as.double(Reduce(`|`, unknown)), judged_times(matches))
  of <- sensitive[vapply(unknown, any, NA)]
  unclear(rows, at & n > 0, paste0(
    "the matches of ", plural(n, "record"), " have no value of ", quote_names(of)
  ))
}

# Verdicts "ok" of measures that count a missing value as any value.
are_good_matches <- function(rows) {
  rows$verdict == "ok" & rows$measure %in% c(
    "k", "n_unique", "prop_unique", "journalist", "expected_reidentifications",
    "reidentification_rate", "household", "tau1", "tau1_rate", "tau2", "population_uniqueness",
    "n_homogeneous", "n_special", "l"
  )
}

# Missing values that another column tells are unknown to no intruder who knows both. An intruder
# who knows the age counts the matches of an age, and not those of its group. `told` has both.
without_told_keys <- function(rows, missing, told) {
  speaks <- NROW(told$told_missing) > 0 && missing != "exclude"
  of_before <- told_before_words(told$told_before)
  rows <- unclear(rows, speaks & are_good_matches(rows), paste(
    c(told_missing_words(told$told_missing), of_before), collapse = "; "
  ))
  finer <- NROW(told$finer_columns) > 0
  rows <- unclear(rows, finer & rows$verdict == "ok", finer_reason(told$finer_columns))
  before <- NROW(told$told_before) > 0
  rows <- unclear(rows, before & rows$verdict == "ok", of_before)
  odd <- told$not_compared
  rows <- unclear(rows, length(odd) > 0 & rows$verdict == "ok", paste0(
    "columns are not compared with the key variables: ", quote_names(odd)
  ))
  ignored <- told$ignored
  rows <- unclear(rows, length(ignored) > 0 & rows$verdict == "ok", paste0(
    "the engine counts values that differ by case or blanks alone as one: ", quote_names(ignored)
  ))
  kept <- anyNA(told$told_by_order$by)
  past <- length(told$history) > 0
  unclear(rows, kept & rows$verdict == "ok" & (past | missing != "exclude"), paste(
    "the order of the records reveals", if (past) "protected values" else "missing values"
  ))
}

finer_reason <- function(told) {
  if (NROW(told)) paste("released columns are", finer_words(told))
}

told_missing_words <- function(told, what = "missing") {
  if (NROW(told)) paste0("released columns reveal ", what, " values: ", told_words(told))
}

told_before_words <- function(told) told_missing_words(told, "protected")

# Records with too few matches by the page's own count and by others: members of one household cover
# each other, and records of other strata are told apart.
few_by_counts <- function(found, asked) {
  counts <- c("n_matches", "household_matches", "strata_matches", "unit_matches")
  n <- vapply(found[counts], function(matches) {
    if (!inherits(matches, "sdc_result")) {
      return(0)
    }
    few <- compared(judged_rows(matches)$n_matches, `<`, max(2, asked$limit$k))
    as.double(sum_over(few, judged_times(matches)))
  }, 0)
  rlang::set_names(n, c("own", "hh_id", "strata_var", "unit_id"))
}

# Those counts that find more records than the page's own.
few_elsewhere <- function(found, asked) {
  n <- few_by_counts(found, asked)
  n[n > n[["own"]]]
}

# A verdict that another count, `by`, does not bear out, or makes worse. Where it finds no more
# records than the page's own it can still find more that are unique or alike.
without_cover <- function(rows, few, by, where, of) {
  alone <- few[[by]]
  reason <- paste(plural(alone, "record"), "would have too few matches", where)
  worse <- rows$measure == "k" & rows$verdict == "above" & alone > few[["own"]]
  rows$reason[worse] <- reason
  at <- rows$measure %in% of & rows$verdict == "ok" & !is_one_match(rows)
  unclear(rows, alone > 0 & at, reason)
}

# A limit that the record itself keeps.
is_one_match <- function(rows) rows$measure == "k" & rows$limit %in% 1

# Records of one stratum can share a value that those of others do not have.
without_strata <- function(rows, matches, asked) {
  at <- which(rows$measure %in% c("n_homogeneous", "l") & rows$verdict == "ok")
  if (length(at) == 0 || !inherits(matches, "sdc_result")) {
    return(rows)
  }
  within <- page_values(matches, rows[at, ], asked)$value
  worse <- !judge(within, rows$limit[at], rows$unit[at]) %in% "ok"
  unclear(rows, at[worse], paste("it is", format_count(within[worse]), "within the strata"))
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
  rows[[intersect(c("reason", "note"), names(rows))]][at] <- reason
  rows
}

# Records ------------------------------------------------------------------------

# Values of all records for the measures that judge records, and the number above each limit.
check_records_of <- function(found, table, asked) {
  matches <- found$n_matches
  law <- found$population_risk
  if (!is.character(law)) law <- judged_rows(law)
  tables <- found$exhaustive_tabulation
  columns <- list(
    n_matches = if (!is.character(matches)) judged_rows(matches)$n_matches,
    journalist_risk = if (!is.character(law)) law$risk,
    prob_unique = if (!is.character(law)) law$prob_unique,
    household_risk = if (!is.character(law)) law$household_risk,
    n_violations = if (!is.character(tables)) judged_rows(tables)$n_violations
  )
  columns <- columns[!vapply(columns, is.null, NA)]
  beyond <- list(
    k = compared(columns$n_matches, `<`, asked$limit$k),
    journalist = compared(columns$journalist_risk, `>`, asked$limit$journalist),
    household = compared(columns$household_risk, `>`, asked$limit$household),
    l = compared(fewest_values(matches), `<`, asked$limit$l)
  )
  beyond <- beyond[!vapply(beyond, is.null, NA)]
  columns$above <- if (length(beyond)) Reduce(`|`, beyond) else rep(NA, table$n_rows)
  n_above <- vapply(beyond, function(b) as.double(sum_over(b, table$times)), 0)
  list(records = do.call(frame, columns), n_above = n_above)
}

# Per record the number of sensitive values among its matches, of several variables the
# least; matches without a value tell nothing.
fewest_values <- function(matches) {
  if (is.character(matches)) {
    return(NULL)
  }
  rows <- unclass(judged_rows(matches))
  counts <- rows[grepl("^n_sensitive", names(rows))]
  if (length(counts)) {
    do.call(pmin, c(lapply(unname(counts), function(n) ifelse(n > 0, n, NA)), na.rm = TRUE))
  }
}

# TRUE if each record is beyond a limit; one without a value is not.
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

#' @rdname measures
#' @export
measures.sdc_file_check <- function(x, ..., limit = NULL) {
  enter_verb("measures", x)
  check_no_dots(...)
  judged_by(page_measures(x$estimates), x, limit)
}

# The figures of the rows of a page.
page_measures <- function(e) {
  about <- page_figures()
  about <- about[match(e$measure, about$measure), ]
  frame(
    measure = e$measure, label = about$label, value = e$value, low = e$low, high = e$high,
    unit = about$unit, scenario = e$scenario, limit = e$limit, verdict = e$verdict,
    n_above = as.double(e$n_records_above), note = e$reason
  )
}

# The rows of a check by other limits of record risks than its own.
judged_by <- function(rows, x, limit) {
  records <- judged_rows(x)
  columns <- c(k = "n_matches", journalist = "journalist_risk")
  for (measure in intersect(names(limit), names(columns))) {
    at <- which(
      rows$measure == measure & !is.na(rows$value) &
        rows$verdict %in% c("ok", "above", "no limit", "unclear")
    )
    risks <- records[[columns[[measure]]]]
    if (length(at) && !is.null(risks)) {
      row <- rows[at, ]
      # A doubt prevents "ok" under every limit.
      doubted <- row$verdict == "unclear" && row$note != straddling
      row$limit <- limit[[measure]]
      beyond <- judge(risks, row$limit, row$unit) == "above"
      row$n_above <- sum_over(as.double(beyond), judged_times(x))
      row$verdict <- judge(row$value, row$limit, row$unit, row$low, row$high)
      if (row$verdict != "ok" || !doubted) row$note <- ""
      row <- unclear(row, row$verdict == "unclear", straddling)
      if (doubted && row$verdict == "ok") row$verdict <- "unclear"
      rows[at, ] <- row
    }
  }
  rows <- without_doubts(rows, x$diagnostics$doubts)
  without_told_keys(rows, x$settings$missing, x$diagnostics)
}
