# The page of file_check(): 60 rows at most where other results have 16, since it
# stands for all of them.

#' @export
describe.sdc_file_check <- function(x) {
  d <- x$diagnostics
  n <- x$settings$n
  description(
    title = paste0("File check: ", check_verdict(x)$short),
    question = "who can be found in this file, by whom, and is that above a limit?",
    size = size_words_of(x),
    answer = c(
      fact(missing_line(d$missing, n), keep = "detail"),
      fact(look_lines(x$roles), starts = TRUE),
      check_grids(x), fact(reason_lines(x), keep = "always"), driver_grid(x)
    ),
    notes = c(
      fact(d$notes, keep = "always"), difference_facts(x),
      fact(report_line(d$population), keep = "always", starts = TRUE),
      step_facts(x)
    ),
    more = "summary(x), plot(x), interpret(x), as.data.frame(x), tidy(x)",
    scenario = scenario(c("prosecutor", "journalist")),
    sentence = check_cited(x)
  )
}

#' @export
format.sdc_file_check <- function(x, ..., width = console_width(), rows = 60) {
  format_description(describe(x), width, rows)
}

# Verdicts as they are printed: one without a judgement, but with a value, is unclear.
shown_verdict <- function(rows) {
  ifelse(rows$verdict == "not applicable" & !is.na(rows$value), "unclear", rows$verdict)
}

# The verdict in words: what is above its limit, what is not, what is unknown.
check_verdict <- function(x) {
  e <- x$estimates
  limited <- e[!is.na(e$limit), ]
  words <- c(
    above = "above the limit", ok = "within the limit", unclear = "unclear",
    "not applicable" = "not measured"
  )
  shown <- shown_verdict(limited)
  parts <- function(text) {
    found <- intersect(names(words), shown)
    paste0(words[found], ": ", vapply(found, function(verdict) {
      paste(text[shown == verdict], collapse = ", ")
    }, ""), collapse = "; ")
  }
  values <- paste0(limited$measure, " ", ifelse(
    is.na(limited$value), paste0("(", limited$reason, ")"),
    paste0(
      format_amount(limited$value), " (limit ", format_number(limited$limit),
      ifelse(is.na(limited$n_records_above) | limited$verdict != "above", "", paste0(
        "; ", plural(limited$n_records_above, "record"), " above"
      )), ")"
    )
  ))
  list(
    short = if (nrow(limited) == 0) {
      "no limit was set."
    } else {
      paste0(parts(limited$measure), ".")
    },
    values = if (nrow(limited)) parts(values), n = nrow(limited)
  )
}

size_words_of <- function(x) {
  s <- x$settings
  facts <- x$diagnostics$population
  role <- function(name, word) if (!is.null(name)) paste(word, quote_names(name))
  c(
    paste0(
      plural(s$n, "record"), ", ", plural(length(s$key_vars), "key variable"), ": ",
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
    return("neither weights nor the size of the population are known")
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

# Measures ------------------------------------------------------------------------

check_labels <- function(x) {
  catalogue <- check_catalogue()
  labels <- catalogue$label[match(x$estimates$measure, catalogue$measure)]
  corrected <- paste0(x$estimates$measure, "_corrected") %in% x$estimates$measure
  labels[corrected] <- paste0(x$estimates$measure[corrected], ", uncorrected")
  sub("extreme risk T", paste0("extreme risk T(", x$settings$p, ", 0.01)"), labels, fixed = TRUE)
}

# Rows of which a larger one says the same: the corrected value, or the number.
are_plain <- function(e) {
  plain <- c(
    if ("tau1_corrected" %in% e$measure) "tau1", if ("tau2_corrected" %in% e$measure) "tau2",
    "prop_unique", "reidentification_rate", "tau1_rate"
  )
  e$measure %in% plain & is.na(e$limit)
}

# A table for each intruder.
check_grids <- function(x) {
  e <- x$estimates
  shown <- !are_plain(e) & !is.na(e$value)
  heads <- c(prosecutor = "prosecutor", journalist = "journalist", tables = "tables of 1 and 2")
  unlist(lapply(names(heads), function(who) {
    rows <- which(shown & e$scenario == who)
    if (length(rows)) {
      table <- check_table(x, rows, heads[[who]])
      grid(table, least = nrow(table), keep = "always")
    }
  }), recursive = FALSE)
}

# Columns as wide in all tables.
check_table <- function(x, rows, head) {
  e <- x$estimates[rows, ]
  catalogue <- check_catalogue()
  unit <- catalogue$unit[match(e$measure, catalogue$measure)]
  number <- function(value) {
    ifelse(unit == "share", short_percent(value), format_known(value, unit == "risk"))
  }
  # What nobody would tell from nothing is printed as nothing.
  plain <- function(value) {
    value[which(value < 1e-6)] <- 0
    value
  }
  end <- function(value) {
    value <- signif(plain(value), 3)
    size <- ifelse(value >= 1000, format_count(round(value)), format_number(value))
    ifelse(unit == "share", sub(" %", "", short_percent(value), fixed = TRUE), size)
  }
  ends <- paste0(
    " [", end(e$low), between_numbers(), end(e$high), "]", ifelse(unit == "share", " %", "")
  )
  beside <- ifelse(!is.na(e$low), ends, ifelse(
    unit == "count", paste0(" (", short_percent(e$value / x$settings$n), ")"), ""
  ))
  # One sign of per cent for a value and its interval.
  shown <- number(plain(e$value))
  shown <- ifelse(is.na(e$low), shown, sub(" %", "", shown, fixed = TRUE))
  table <- frame(
    measure = formatC(check_labels(x)[rows], width = -24),
    value = formatC(paste0(shown, beside), width = -26),
    limit = formatC(ifelse(is.na(e$limit), "", limit_text(e$limit, unit)), width = -5),
    verdict = formatC(shown_verdict(e), width = -8),
    records = ifelse(is.na(e$n_records_above), "", format_count(e$n_records_above))
  )
  names(table)[[1]] <- head
  table
}

limit_text <- function(limit, unit) {
  ifelse(unit == "share", format_percent(limit), format_number(limit))
}

short_percent <- function(x) sub("below ", "<", format_percent(x))

format_known <- function(value, risk) ifelse(risk, format_risk(value), format_amount(value))

# What was not measured and why, measures of one reason together.
reason_lines <- function(x) {
  e <- x$estimates[nzchar(x$estimates$reason), ]
  reasons <- unique(e$reason)
  vapply(reasons, function(reason) {
    paste0(
      "Not applicable: ", paste(e$measure[e$reason == reason], collapse = ", "), ": ", reason, "."
    )
  }, "", USE.NAMES = FALSE)
}

# What dropping each key variable would buy.
driver_grid <- function(x, most = 4) {
  drivers <- x$drivers
  if (is.null(drivers) || nrow(drivers) < 2) {
    return(NULL)
  }
  shown <- utils::head(drivers, most)
  counted <- !all(is.na(shown$unique_change))
  table <- frame("to drop" = formatC(shorten(shown$variable, 24), width = -24))
  if (counted) {
    # key_overview() takes a missing value as a value, n_matches() as a match of all.
    incomplete <- any(x$roles$n_missing[x$roles$variable %in% x$settings$key_vars] > 0)
    uniques <- if (incomplete) "leaves uniques, missing a value" else "leaves sample uniques"
    table[[uniques]] <- paste0(
      format_count(shown$n_unique_without), " (", format_count(shown$unique_change), ")"
    )
  }
  if (!all(is.na(shown$risk_without))) {
    table[["and T of"]] <- ifelse(
      is.na(shown$risk_without), "", format_risk(shown$risk_without)
    )
  }
  grid(table, nrow(drivers), rest = "in x$drivers")
}

difference_facts <- function(x) {
  differ <- x$contradictions
  if (nrow(differ) == 0) {
    return(NULL)
  }
  c(
    fact("Measures that differ, and which to report:", keep = "always", starts = TRUE),
    unlist(lapply(seq_len(nrow(differ)), function(i) {
      fact(
        "- ", differ$measures[[i]], ": ", differ$reason[[i]], "; report ", differ$report[[i]], ".",
        keep = "always", starts = TRUE
      )
    }), recursive = FALSE)
  )
}

step_facts <- function(x) {
  c(
    fact("Next:", keep = "always", starts = TRUE),
    unlist(lapply(x$next_steps, function(line) {
      fact("  ", line, keep = "always", starts = TRUE)
    }), recursive = FALSE)
  )
}

# Verbs ---------------------------------------------------------------------------

#' @export
summary.sdc_file_check <- function(object, by = NULL, data = NULL, ...) {
  check_result(object)
  new_summary(
    object,
    measures = object$estimates, drivers = object$drivers,
    differences = if (nrow(object$contradictions)) object$contradictions, roles = object$roles,
    record_risk = risk_by_strata(object, by, data)
  )
}

#' @export
as.data.frame.sdc_file_check <- function(x, ...) check_result(x)$estimates

#' @export
record_risk.sdc_file_check <- function(x) {
  check_result(x)
  matches <- judged_rows(x)$n_matches
  if (!is.null(matches)) 1 / matches
}

#' @export
tidy_terms.sdc_file_check <- function(x) {
  list(ids = character(), terms = x$estimates$measure)
}

#' @export
tidy.sdc_file_check <- function(x, ...) {
  check_result(x)
  e <- x$estimates
  frame(
    term = e$measure, estimate = e$value, std_error = rep(NA_real_, nrow(e)),
    conf_low = e$low, conf_high = e$high
  )
}

#' @export
comparison_rows.sdc_file_check <- function(x) tidy(x)

#' @rdname sdc_result
#' @usage NULL
#' @export
glance.sdc_file_check <- function(x, ...) {
  check_result(x)
  e <- x$estimates
  count <- function(verdict) sum(e$verdict == verdict)
  frame(
    n_records = x$settings$n, n_keys = length(x$settings$key_vars), n_measures = nrow(e),
    n_limits = sum(!is.na(e$limit)), n_above = count("above"), n_ok = count("ok"),
    n_not_applicable = count("not applicable"),
    n_records_above = as_count(sum_over(judged_rows(x)$above, judged_times(x))),
    n_differences = nrow(x$contradictions),
    fingerprint = x$settings$fingerprint
  )
}

#' @export
records_at_risk.sdc_file_check <- function(x, limit, ...) {
  if (!missing(limit)) {
    return(NextMethod())
  }
  check_no_dots(...)
  judged <- judged_rows(x)
  if (anyNA(judged$above)) {
    stop_argument(
      "limit", "be given where the check has no limit of record risks",
      found = "It was not given.", advice = "Such as 1/3 for fewer than 3 matches."
    )
  }
  rows <- which(judged$above)
  # Of patterns their number and their records, no values.
  shown <- setdiff(names(judged), c("above", if (is.null(x$records)) x$settings$key_vars))
  columns <- as.list(judged[rows, shown, drop = FALSE])
  place <- rlang::set_names(list(rows), if (is.null(x$records)) "pattern" else "record")
  found <- do.call(frame, c(place, columns))
  by <- lapply(
    list(found$n_matches, found$journalist_risk), function(by) if (length(by)) by
  )
  if (!is.null(by[[2]])) by[[2]] <- -by[[2]]
  by <- by[!vapply(by, is.null, NA)]
  if (length(by)) found <- found[do.call(order, by), ]
  renumber(found)
}

check_cited <- function(x) {
  verdict <- check_verdict(x)
  facts <- x$diagnostics$population
  cited(
    measured = paste0(
      "The file of ", plural(x$settings$n, "record"), " was checked on ",
      plural(length(x$settings$key_vars), "key variable"), " by ",
      plural(length(unique(x$estimates$measure)), "measure"), ", ",
      format_count(verdict$n), " of them against a limit"
    ),
    found = if (verdict$n == 0) {
      "no limit was set, so that there is no verdict"
    } else {
      verdict$values
    },
    limits = paste0(
      "this holds for intruders who know these key variables without error, ",
      if (facts$from == "unknown") {
        "and says nothing of people outside the file"
      } else {
        paste0("in a population of ", format_count(round(facts$pop_size)))
      }
    ),
    source = "limits set by the user or the defaults of file_check()",
    assuming = if (!is.null(x$settings$missing)) {
      paste0("missing values by \"", x$settings$missing, "\" where a measure can")
    } else {
      "missing values by the default of every measure"
    }
  )
}
