# The page of file_check(): 60 rows at most where other results have 16, since it
# stands for all of them.

declare_measure("file_check", terms = e$measure)

#' @export
describe.sdc_file_check <- function(x) describe_check(x)

describe_check <- function(x, width = console_width()) {
  d <- x$diagnostics
  n <- x$settings$n
  description(
    title = paste0("File check: ", check_verdict(x)$short),
    question = "who can be found in this file, by whom, and is that above a limit?",
    size = size_words_of(x),
    answer = c(
      fact(missing_line(d$missing, n), keep = "detail"),
      fact(look_lines(x$roles), starts = TRUE),
      fact(told_line(d$told_by_columns, "key variables"), keep = "always", starts = TRUE),
      check_grids(x, width - 2), fact(reason_lines(x), keep = "always"), driver_grid(x)
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
  format_description(describe_check(x, width), width, rows)
}

# The verdict in words: what is above its limit, what is not, what is unknown.
check_verdict <- function(x) {
  e <- x$estimates
  limited <- e[!is.na(e$limit), ]
  words <- c(
    above = "above the limit", ok = "within the limit", unclear = "unclear",
    "not judged" = "not judged"
  )
  parts <- function(text, verdicts) {
    found <- intersect(names(words), verdicts)
    paste0(words[found], ": ", vapply(found, function(verdict) {
      paste(text[verdicts == verdict], collapse = ", ")
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
  facts <- x$diagnostics$population
  # Without people to expand to, one sentence is for all measures of the journalist.
  other <- if (facts$expands) limited else limited[limited$reason != facts$why, ]
  list(
    short = paste0(paste(c(
      if (!facts$expands) paste0("journalist measures not judged: ", facts$why),
      if (nrow(limited) == 0) "no limit was set",
      if (nrow(other)) parts(other$measure, other$verdict),
      told_missing_words(x$diagnostics$told_missing)
    ), collapse = "; "), "."),
    values = if (nrow(limited)) parts(values, limited$verdict), n = nrow(limited)
  )
}

# Missing values that another column tells are unknown to no intruder who knows both.
told_missing_words <- function(told) {
  if (NROW(told)) {
    paste0("released columns tell missing values: ", told_words(told))
  }
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

# Measures ------------------------------------------------------------------------

check_labels <- function(x) {
  catalogue <- page_figures()
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
check_grids <- function(x, width) {
  e <- x$estimates
  shown <- which(!are_plain(e) & !is.na(e$value))
  table <- check_table(x, shown, width)
  of <- rep(e$scenario[shown], table$n_lines)
  heads <- c(prosecutor = "prosecutor", journalist = "journalist", tables = "tables of 1 and 2")
  unlist(lapply(names(heads), function(who) {
    part <- table$lines[of == who, ]
    names(part)[[1]] <- heads[[who]]
    if (nrow(part)) grid(part, least = nrow(part), keep = "always")
  }), recursive = FALSE)
}

# All tables as one, whose columns are as wide as needed: no figure is ever cut. If it is
# wider than the page an interval gets a line of its own; then the limit stands with the
# verdict, and the number of records below it.
check_table <- function(x, rows, width) {
  cells <- check_cells(x, rows)
  one_line <- cells[c("measure", "value", "limit", "verdict", "records")]
  one_line$value <- paste0(cells$value, cells$interval)
  below <- frame(value = trimws(cells$interval))
  short <- frame(
    measure = cells$measure, value = cells$value,
    verdict = trimws(paste(cells$verdict, cells$limit))
  )
  counts <- ifelse(nzchar(cells$records), paste(cells$records, "records"), "")
  layouts <- list(
    list(lines = one_line, n_lines = 1L), with_second_lines(cells[names(one_line)], below),
    with_second_lines(short, frame(value = below$value, verdict = counts))
  )
  for (layout in layouts) {
    layout$lines[] <- Map(function(cell, name) {
      formatC(cell, width = -max(nchar(c(cell, name))))
    }, layout$lines, names(layout$lines))
    if (sum(nchar(layout$lines[1, ]) + 2) - 2 <= width) break
  }
  layout
}

# Rows that have something `below` in some columns get a second line for it.
with_second_lines <- function(cells, below) {
  has <- Reduce(`|`, lapply(below, nzchar))
  at <- rep(seq_len(nrow(cells)), 1 + has)
  lines <- cells[at, ]
  second <- duplicated(at)
  lines[second, ] <- ""
  lines[second, names(below)] <- below[has, ]
  list(lines = lines, n_lines = 1L + has)
}

check_cells <- function(x, rows) {
  e <- x$estimates[rows, ]
  unit <- measures(x)$unit[rows]
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
  # One sign of per cent for a value and its interval.
  shown <- number(plain(e$value))
  share <- paste0(" (", short_percent(e$value / count_base(x, e$measure)), ")")
  shown <- ifelse(!is.na(e$low), sub(" %", "", shown, fixed = TRUE), paste0(
    shown, ifelse(unit == "count", share, "")
  ))
  frame(
    measure = formatC(check_labels(x)[rows], width = -24), value = shown,
    interval = ifelse(is.na(e$low), "", ends),
    limit = ifelse(is.na(e$limit), "", limit_text(e$limit, unit)), verdict = e$verdict,
    records = ifelse(is.na(e$n_records_above), "", format_count(e$n_records_above))
  )
}

# The records that a number of records is a share of: those that its measure judged.
count_base <- function(x, measures) {
  rates <- c(
    n_unique = "prop_unique", tau1 = "tau1_rate",
    expected_reidentifications = "reidentification_rate"
  )
  of <- function(m) x$estimates$value[match(m, x$estimates$measure)]
  base <- of(names(rates)) / of(rates)
  own <- match(sub("^tau[12].*", "tau1", measures), names(rates))
  ifelse(is.finite(base[own]), base[own], x$settings$n)
}

limit_text <- function(limit, unit) {
  ifelse(unit == "share", format_percent(limit), format_number(limit))
}

short_percent <- function(x) sub("below ", "<", format_percent(x))

format_known <- function(value, risk) ifelse(risk, format_risk(value), format_amount(value))

# What was not judged or is unclear and why, measures of one reason together.
reason_lines <- function(x) {
  e <- x$estimates[nzchar(x$estimates$reason), ]
  lines <- sprintf("%s: %%s: %s.", capitalised(e$verdict), e$reason)
  vapply(unique(lines), function(line) {
    sub("%s", paste(e$measure[lines == line], collapse = ", "), line, fixed = TRUE)
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
    table[["leaves sample uniques"]] <- paste0(
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
  enter_verb("summary", object)
  new_summary(
    object,
    measures = object$estimates, drivers = object$drivers, roles = object$roles,
    record_risk = risk_by_strata(object, by, data)
  )
}

#' @export
as.data.frame.sdc_file_check <- function(x, ...) enter_verb("as.data.frame", x)$estimates

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
comparison_rows.sdc_file_check <- function(x) as.data.frame(tidy(x))

#' @rdname sdc_result
#' @usage NULL
#' @export
glance.sdc_file_check <- function(x, ...) {
  enter_verb("glance", x)
  e <- x$estimates
  count <- function(verdict) sum(e$verdict == verdict)
  frame(
    n_records = x$settings$n, n_keys = length(x$settings$key_vars), n_measures = nrow(e),
    n_limits = sum(!is.na(e$limit)), n_above = count("above"), n_ok = count("ok"),
    n_unclear = count("unclear"), n_not_judged = count("not judged"),
    n_records_above = as_count(sum_over(judged_rows(x)$above, judged_times(x))),
    n_differences = nrow(x$contradictions),
    fingerprint = x$settings$fingerprint
  )
}

#' @export
records_at_risk.sdc_file_check <- function(x, limit, ..., k = NULL) {
  announce("records_at_risk")
  if (!missing(limit) || !is.null(k)) {
    return(NextMethod())
  }
  check_no_dots(...)
  judged <- judged_rows(x)
  if (anyNA(judged$above)) {
    stop_argument(
      "limit", "be given where the check has no limit of record risks",
      found = "It was not given.", advice = "k = 3 is for fewer than 3 matches."
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
    assuming = missing_clause(x$settings$missing, x$diagnostics$n_incomplete)
  )
}

#' @export
records_at_risk.sdc_file <- function(x, limit, ..., k = NULL) {
  announce("records_at_risk")
  check_no_dots(...)
  given <- list(limit = if (!missing(limit)) limit, k = k)
  do.call(records_at_risk, c(
    list(file_check(x, models = FALSE)), given[!vapply(given, is.null, NA)]
  ), quote = TRUE)
}
