# The page of file_check(): the verdict and what leads to it in 25 rows. The rest of what it
# found is for summary() and print(all = TRUE).

declare_measure(
  "file_check",
  terms = e$measure,
  title = paste0("File check: ", verdict_words(x), "."),
  size = size_words_of(x),
  scenario = c("prosecutor", "journalist"),
  next_step = next_line(x),
  measured = paste0(
    "The file of ", plural(x$settings$n, "record"), " was checked on ",
    plural(length(x$settings$key_vars), "key variable"), " by ",
    plural(length(unique(e$measure)), "measure"), ", ", format_count(sum(!is.na(e$limit))),
    " of them against a limit"
  ),
  found = paste("the file is", verdict_words(x)),
  limits = paste0(
    "this holds for intruders who know these key variables without error, ",
    if (x$diagnostics$population$from == "unknown") {
      "and does not describe people outside the file"
    } else {
      paste0("in a population of ", format_count(round(x$diagnostics$population$pop_size)))
    }
  ),
  source = "limits set by the user or the defaults of file_check()",
  assuming = missing_clause(x$settings$missing, x$diagnostics$n_incomplete), frame = x$estimates
)

#' @export
format.sdc_file_check <- function(x, ..., width = console_width(), rows = if (all) Inf else 25,
                                  all = FALSE) {
  declared_lines(check_page(x, all), width, rows, Inf)
}

check_page <- function(x, all = FALSE) {
  said <- describe(x)
  said$figures <- check_figures(x, all)
  said$attempt <- attempt_line(said$figures, attempt_of(list(x)))
  if (all) {
    said$table <- x$drivers
    said$rest <- "x$drivers"
    said$next_step <- NULL
  }
  if (all) {
    said$notes <- whole_notes(x)
  } else {
    leads <- c(driver_line(x), remedy_line(x))
    said$notes <- c(leads, page_notes(x))
    said$grave <- length(leads) + 1
    said$everything <- "summary(x), print(x, all = TRUE)"
  }
  said
}

# The rows that have a limit, or all.
check_figures <- function(x, all) {
  rows <- measures(x)
  rows$label <- paste0(check_labels(x), " (", rows$scenario, ")")
  rows$base <- NA_real_
  rows$absent <- rows$verdict
  rows$says <- ""
  catalogue <- page_figures()
  rows$attempt <- catalogue$attempt[match(rows$measure, catalogue$measure)]
  rows[if (all) !is.na(rows$value) else !is.na(rows$limit), ]
}

# What the page found besides its figures, the gravest first.
page_notes <- function(x) {
  missing <- x$diagnostics$missing
  c(
    told_by_ids_line(x$diagnostics$told_by_ids), told_before_line(x),
    told_line(x$diagnostics$told_others),
    told_line(told_unasked(x$diagnostics$told_by_columns), "key variables"), order_line(x),
    # Beside declared codes those that are plainly missing, too.
    if (any(missing$n_declared > 0)) missing_line(missing, x$settings$n), look_lines(x$roles)
  )
}

whole_notes <- function(x) {
  d <- x$diagnostics
  differ <- x$contradictions
  c(
    reason_lines(x), missing_line(d$missing, x$settings$n), look_lines(x$roles),
    told_by_ids_line(d$told_by_ids), told_before_line(x), told_line(d$told_others),
    told_line(told_unasked(d$told_by_columns), "key variables"), order_line(x), d$notes,
    if (nrow(differ)) {
      c(
        "Measures that differ, and which to report:",
        paste0("- ", differ$measures, ": ", differ$reason, "; report ", differ$report, ".")
      )
    },
    report_line(d$population), if (length(x$next_steps)) c("Next:", paste0("  ", x$next_steps))
  )
}

# What protections found of key variables, if no verdict is unclear for it.
told_before_line <- function(x) {
  told <- x$diagnostics$told_before
  said <- grepl("reveal protected values", x$estimates$reason, fixed = TRUE)
  if (!any(said & !is.na(x$estimates$limit))) told_line(told)
}

# "not within your limits: 88 of 182 records (48%) share their key with fewer than 3"
verdict_words <- function(x) {
  rows_verdict(measures(x), n_judged(x), told_missing_words(x$diagnostics$told_missing))
}

# The records that a page judges.
n_judged <- function(x) x$settings$n - n_left_out(x)

n_left_out <- function(x) if (x$settings$missing == "exclude") x$diagnostics$n_incomplete else 0

# As above for the rows of measures() on a file of `n` records, followed by `told`.
rows_verdict <- function(rows, n_records, told = NULL) {
  rows <- rows[!is.na(rows$limit), ]
  if (nrow(rows) == 0) {
    return("not judged, as no limit was set")
  }
  limit <- ifelse(rows$unit == "share", format_percent(rows$limit), format_number(rows$limit))
  value <- ifelse(rows$unit == "share", format_percent(rows$value), format_amount(rows$value))
  value[rows$unit == "risk"] <- format_risk(rows$value[rows$unit == "risk"])
  n <- format_count(ifelse(is.na(rows$n_above), 0, rows$n_above))
  share <- format_percent(rows$n_above / n_records)
  words <- ifelse(
    rows$verdict == "above" & rows$measure == "k" & !is.na(rows$n_above),
    paste0(n, " of ", plural(n_records, "record"), " (", share,
           ") share their key with fewer than ", limit,
           ifelse(nzchar(rows$note), paste0(" (", rows$note, ")"), "")),
    ifelse(
      rows$verdict == "above" & !is.na(rows$n_above),
      ifelse(
        rows$measure == "l",
        paste0("the matches of ", n, " (", share, ") have fewer than ", limit, " sensitive values"),
        paste0(n, " records (", share, ") have a ", rows$scenario, " risk above ", limit)
      ),
      paste0(lower_first(rows$label), " ", value, " (limit ", limit, ")")
    )
  )
  open <- !rows$verdict %in% c("above", "ok")
  why <- paste0(" ", rows$verdict, " (", rows$note, ")")
  unknown <- vapply(unique(why[open]), function(reason) {
    paste0(paste(rows$measure[open & why == reason], collapse = ", "), reason)
  }, "")
  above <- rows$verdict == "above"
  paste0(
    if (any(above)) "not within" else if (any(open)) "not known to be within" else "within",
    " your limits: ", paste(c(
      words[above], unknown, words[!above & !open & !any(above)],
      Filter(function(words) !any(grepl(words, rows$note, fixed = TRUE)), told)
    ), collapse = "; ")
  )
}

# The three key variables that make most sample uniques, or the largest T.
driver_line <- function(x) {
  drivers <- utils::head(x$drivers, 3)
  if (NROW(drivers) < 2) {
    return(NULL)
  }
  if (any(drivers$unique_change < 0, na.rm = TRUE)) {
    paste0(
      "Driven by (fewer sample uniques without it): ",
      paste(drivers$variable, format_count(-drivers$unique_change), collapse = ", "), "."
    )
  } else if (!all(is.na(drivers$risk_without))) {
    paste0(
      "Driven by (what T would be without it): ",
      paste(drivers$variable, format_risk(drivers$risk_without), collapse = ", "), "."
    )
  }
}

# The cheapest remedy that brings the file within its limit of k, and its least cost.
remedy_line <- function(x) {
  above <- x$estimates$measure == "k" & x$estimates$verdict == "above"
  n <- c(x$estimates$n_records_above[above], if (is_few_elsewhere(x)) x$diagnostics$few_elsewhere)
  if (length(n) == 0 || anyNA(n) || !any(grepl("suppress_cells", x$next_steps))) {
    return(NULL)
  }
  n <- max(n)
  costs <- paste0(
    " at least one value in each of ", plural(n, "record"), " (",
    format_percent(n / (x$settings$n * length(x$settings$key_vars))), " of all key values)"
  )
  if (recode_first(n, x$settings$n)) {
    paste0("Cheapest: recode first. Local suppression alone would take", costs, ".")
  } else {
    paste0("Cheapest: local suppression of", costs, ".")
  }
}

# The remedy, or else the first step, as one line that runs.
next_line <- function(x) {
  steps <- x$next_steps
  made <- startsWith(steps, "file <- ")
  remedy <- grepl("^(recoding <- recode_search|released <- suppress_cells)[(]file", steps)
  # What was suppressed in vain is not cured by further values.
  if (is_in_vain(x)) remedy <- FALSE
  line <- c(steps[remedy], steps[!made & !is_doubtful_step(steps, x)])[[1]]
  if (!any(made) || startsWith(line, "pram_audit(")) {
    return(line)
  }
  file <- str2lang(sub("^file <- ", "", steps[made]))
  code_text(do.call(substitute, list(str2lang(line), list(file = file))))
}

size_words_of <- function(x) {
  s <- x$settings
  facts <- x$diagnostics$population
  role <- function(name, word) if (!is.null(name)) paste(word, quote_names(name))
  c(
    paste0(
      plural(s$n, "record"), if (n_left_out(x) > 0) {
        paste0(" (", missing_clause("exclude", n_left_out(x)), ")")
      }, ", ", plural(length(s$key_vars), "key variable"), ": ",
      paste(shorten(utils::head(s$key_vars, 10), 24), collapse = ", "),
      if (length(s$key_vars) > 10) paste0(" and ", length(s$key_vars) - 10, " more"), "."
    ),
    paste0(capitalised(paste(c(
      role(s$weight_var, "Weights"), role(s$hh_id, "households"), role(s$strata_var, "strata"),
      role(s$sensitive, "sensitive"), population_words(facts)
    ), collapse = "; ")), ".")
  )
}

population_words <- function(facts) {
  if (facts$from == "unknown") {
    return(if (facts$expands) {
      "neither weights nor the size of the population are known"
    } else {
      "the size of the population is not known"
    })
  }
  paste0(
    "population ", format_count(round(facts$pop_size)),
    if (facts$from == "weights") " (the sum of the weights)",
    if (facts$census) {
      ", all of them in the file"
    } else {
      if (facts$pop_size >= facts$n) {
        paste0(", sampling fraction ", format_percent(facts$n / facts$pop_size))
      }
    }
  )
}

check_labels <- function(x) {
  catalogue <- page_figures()
  labels <- catalogue$label[match(x$estimates$measure, catalogue$measure)]
  sub("extreme risk T", paste0("extreme risk T(", x$settings$p, ", 0.01)"), labels, fixed = TRUE)
}

# Rows of which another one says the same as a number.
are_plain <- function(e) {
  e$measure %in% c("prop_unique", "reidentification_rate", "tau1_rate") & is.na(e$limit)
}

# Reasons of measures that are unclear or not judged; measures with one reason share a line.
reason_lines <- function(x) {
  e <- x$estimates[nzchar(x$estimates$reason), ]
  lines <- sprintf("%s: %%s: %s.", capitalised(e$verdict), e$reason)
  vapply(unique(lines), function(line) {
    sub("%s", paste(e$measure[lines == line], collapse = ", "), line, fixed = TRUE)
  }, "", USE.NAMES = FALSE)
}

# Verbs ---------------------------------------------------------------------------

#' @export
summary.sdc_file_check <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  new_summary(object, list(
    measures = object$estimates[c(
      "measure", "value", "low", "high", "limit", "verdict", "n_records_above"
    )],
    # T is not defined for incomplete records.
    drivers = Filter(function(column) !all(is.na(column)), object$drivers),
    roles = Filter(function(column) !all(column %in% c("", 0)), object$roles),
    record_risk = risk_by_strata(object, by, data)
  ))
}

#' @export
record_risk.sdc_file_check <- function(x) {
  check_result(x)
  matches <- judged_rows(x)$n_matches
  if (!is.null(matches)) 1 / matches
}

#' @export
tidy.sdc_file_check <- function(x, ...) {
  enter_verb("tidy", x)
  e <- x$estimates
  as_tidy(frame(
    term = e$measure, estimate = e$value, std.error = rep(NA_real_, nrow(e)),
    conf.low = e$low, conf.high = e$high, limit = e$limit, verdict = e$verdict
  ))
}

#' @export
comparison_rows.sdc_file_check <- function(x) {
  rows <- as.data.frame(tidy(x))
  # Prints and pictures show the first ones.
  rows[order(is.na(rows$limit)), ]
}

#' @rdname sdc_result
#' @usage NULL
#' @export
glance.sdc_file_check <- function(x, ...) {
  enter_verb("glance", x)
  e <- x$estimates
  count <- function(verdict) sum(e$verdict == verdict)
  as_tidy(frame(
    n_records = x$settings$n, n_keys = length(x$settings$key_vars), n_measures = nrow(e),
    n_limits = sum(!is.na(e$limit)), n_above = count("above"), n_ok = count("ok"),
    n_unclear = count("unclear"), n_not_judged = count("not judged"),
    n_records_above = as_count(sum_over(judged_rows(x)$above, judged_times(x))),
    n_differences = nrow(x$contradictions),
    fingerprint = x$settings$fingerprint
  ))
}

#' @export
records_at_risk.sdc_file_check <- function(x, limit, ..., k = NULL) {
  announce("records_at_risk")
  d <- x$diagnostics
  if (is_few_elsewhere(x)) {
    inform_sdc(
      "unlisted_records", "Records with too few matches by other counts are not listed.",
      i = paste0(
        "The check says how many; they are listed by ", few_step(x, x$settings),
        "; `file` is the file that was checked."
      )
    )
  }
  # Records that fall below a limit by what other columns or the order reveal are not known.
  told <- list(d$told_missing, d$told_before, d$finer_columns, d$not_compared)
  if (anyNA(d$told_by_order$by) || any(vapply(told, NROW, 0L) > 0)) {
    inform_sdc(
      "unlisted_records", "Records are listed by their key variables as they are in the file.",
      i = "Other columns or the order may reveal more, as the check says: more can be above."
    )
  }
  if (!missing(limit) || !is.null(k)) {
    return(NextMethod())
  }
  check_no_dots(...)
  judged <- judged_rows(x)
  if (anyNA(judged$above)) {
    stop_argument(
      "limit", "be given if the check has no limit of record risks",
      found = "It was not given.", advice = "k = 3 is for fewer than 3 matches."
    )
  }
  rows <- which(judged$above)
  # Of patterns their number and their records, no values.
  shown <- setdiff(names(judged), c("above", if (is.null(x$records)) x$settings$key_vars))
  columns <- as.list(judged[rows, shown, drop = FALSE])
  place <- rlang::set_names(list(rows), if (is.null(x$records)) "pattern" else "record")
  found <- do.call(frame, c(place, columns))
  by <- lapply(list(found$n_matches, found$journalist_risk), function(by) if (length(by)) by)
  if (!is.null(by[[2]])) by[[2]] <- -by[[2]]
  by <- by[!vapply(by, is.null, NA)]
  if (length(by)) found <- found[do.call(order, by), ]
  renumber(found)
}

#' @export
records_at_risk.sdc_file <- function(x, limit, ..., k = NULL) {
  announce("records_at_risk")
  check_no_dots(...)
  of_page(file_check(x), if (!missing(limit)) limit, k)
}

# A remedy stands for its release, the limit of which is its own.
#' @export
records_at_risk.sdc_suppress_cells <- function(x, limit, ..., k = NULL) {
  announce("records_at_risk")
  check_no_dots(...)
  check_result(x)
  known <- record_risk(x)
  n <- as_count(sum_over(as.double(known > 1 / x$settings$k & !is.na(known)), judged_times(x)))
  if (n > 0) {
    inform_sdc(
      "original_values", "The records listed are those of the release.",
      i = paste0(
        "An intruder who knows the original values finds ", plural(n, "record"),
        " among fewer than ", format_count(x$settings$k), ": see `n_candidates`."
      ),
      n = n
    )
  }
  of_page(file_check(x, k = x$settings$k), if (!missing(limit)) limit, k)
}

of_page <- function(check, limit, k) {
  given <- list(limit = limit, k = k)
  do.call(records_at_risk, c(list(check), given[!vapply(given, is.null, NA)]), quote = TRUE)
}
