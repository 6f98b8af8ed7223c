# Texts of a result from the declaration of its class (R/aaa-measure.R): print, sentence and the
# head of summary().

# The limits that a print judges by, those of file_check().
print_limits <- list(k = 3, journalist = 0.05)

describe <- function(x) {
  if (inherits(x, "sdc_result")) check_result(x)
  about <- declaration_of(x)
  scope <- figure_scope(x, print_limits)
  of <- function(field) eval(about[[field]], scope)
  all <- figure_rows(x, print_limits)
  who <- of("scenario")
  if (is.null(who)) who <- intersect(names(what_is_known), all$scenario)
  printed <- Filter(function(f) f$print, about$figures)
  shown <- all[all$measure %in% names(printed), ]
  # Columns that distinguish several analyses.
  each <- of("each")
  if (length(each) == 1) shown$label <- sub(each, "", shown$label, fixed = TRUE)
  table <- of("table")
  if (is.null(about)) table <- x$estimates
  described(
    title = c(of("title"), paste0("Result of ", sub("^sdc_", "", class(x)[[1]]), "()"))[[1]],
    question = of("question"), size = of("size"),
    figures = shown,
    several = analysis_table(x, all, printed), table = table,
    attempt = attempt_line(shown, attempt_of(list(x))),
    rest = c(about$rest, "x$estimates")[[1]], most = c(about$most, 6)[[1]],
    spread = record_words(x, of("spread")), notes = Filter(nzchar, unlist(of("notes"))),
    grave = 0,
    above = limit_line(x),
    scenario = if (length(who)) scenario(who, of("knows")), next_step = of("next_step"),
    sentence = if (!is.null(about$measured)) {
      cited(
        of("measured"), c(of("found"), found_words(all, scope$at, x$settings$level))[[1]],
        of("limits"), of("source"), of("assuming")
      )
    }
  )
}

# A description, each part of which is made when it is asked for: `$` finds NULL for others.
described <- function(title, question, size, figures, several, table, attempt, rest, most, spread,
                      notes, grave, above, scenario, next_step, sentence) {
  environment()
}

# The largest record risk, and what 99% and 95% of the records have at most.
record_words <- function(x, what) {
  risk <- if (!is.null(what)) record_risk(x)
  if (any(!is.na(risk))) {
    noun <- paste0(limit_unit(x), "s")
    paste0(what, ": ", record_spread(risk, noun = noun, times = judged_times(x)), ".")
  }
}

# Figures of an analysis in words.
found_words <- function(rows, at, level) {
  rows <- rows[rows$analysis == at & nzchar(rows$says), ]
  known <- rows[!is.na(rows$value), ]
  if (nrow(known) == 0) {
    return(paste(c("no figure could be determined", unique(rows$absent[nzchar(rows$absent)])),
                 collapse = ": "))
  }
  interval <- paste0(" (", format_percent(c(level, 0.95)[[1]]), " interval ")
  paste(mapply(function(says, value) {
    sub("%s", value, says, fixed = TRUE)
  }, known$says, figure_cells(known, interval, " to ", ")")), collapse = "; ")
}

# The values of figures as text, with their intervals and shares.
figure_cells <- function(rows, opens = " [", between = between_numbers(), ends = "]",
                         unknown = "not determined") {
  number <- function(value) {
    value <- ifelse(value == round(value), value, signif(value, 3))
    text <- ifelse(
      rows$unit == "share", format_percent(value), words_of_small(value, format_amount)
    )
    ifelse(rows$unit %in% c("risk", "number"), words_of_small(value, format_risk), text)
  }
  share <- rows$base > 0 & rows$unit != "risk"
  paste0(
    ifelse(is.na(rows$value), unknown, number(rows$value)),
    ifelse(is.na(rows$value) | is.na(rows$low), "", paste0(
      opens, number(rows$low), between, number(rows$high), ends
    )),
    ifelse(is.na(rows$value) | !share %in% TRUE, "", paste0(
      " (", format_percent(rows$value / rows$base), ")"
    ))
  )
}

# "below 3: 424 records", "at most 0.05"
verdict_cells <- function(rows) {
  matches <- rows$unit == "matches"
  limit <- signif(rows$limit, 3)
  limit <- ifelse(rows$unit == "share", format_percent(limit), format_number(limit))
  told <- ifelse(
    rows$verdict == "above",
    paste0(
      ifelse(matches, "below ", "above "), limit,
      ifelse(is.na(rows$n_above), "", paste0(": ", plural(rows$n_above, "record")))
    ),
    ifelse(rows$verdict == "ok", paste(ifelse(matches, "at least", "at most"), limit), rows$verdict)
  )
  ifelse(is.na(rows$limit) | is.na(rows$value), "", told)
}

# One line for each figure; long labels are wrapped, numbers never.
figure_lines <- function(rows, width) {
  if (nrow(rows) == 0) {
    return(NULL)
  }
  told <- figure_cells(rows, unknown = ifelse(nzchar(rows$absent), rows$absent, "not determined"))
  verdicts <- verdict_cells(rows)
  judged <- nzchar(verdicts)
  told[judged] <- paste0(format(told[judged]), "  ", verdicts[judged])
  room <- min(max(nchar(rows$label)), max(width - max(nchar(told)) - 2, 16))
  unlist(Map(function(label, told) {
    if (nchar(label) > room) label <- strwrap(label, room + 1)
    told <- c(told, rep("", length(label) - 1))
    sub(" +$", "", paste0(formatC(label, width = -room), "  ", told), perl = TRUE)
  }, rows$label, told), use.names = FALSE)
}

# Several analyses side by side, those figures that have a head.
analysis_table <- function(x, rows, figures) {
  heads <- Filter(Negate(is.null), lapply(figures, `[[`, "head"))
  e <- unclass(x)$estimates
  if (NROW(e) < 2 || length(heads) == 0) {
    return(NULL)
  }
  ids <- declaration_of(x)$ids
  ids <- ids[vapply(e[ids], function(id) length(unique(id)) > 1, NA)]
  columns <- lapply(intersect(names(heads), rows$measure), function(name) {
    figure_cells(rows[rows$measure == name, ], unknown = "")
  })
  names(columns) <- unlist(heads[intersect(names(heads), rows$measure)])
  do.call(frame, c(lapply(as.list(e[ids]), function(id) {
    if (is.numeric(id)) format_amount(id) else shorten(id, 24)
  }), columns))
}

table_lines <- function(table, said, width) {
  if (NROW(table) == 0) {
    return(NULL)
  }
  more <- nrow(table) - said$most
  c(
    format_table(utils::head(table, said$most), width - 2),
    if (more > 0) paste("... and", format_count(more), "more in", said$rest)
  )
}

# A description as lines of a width, with `most` notes, or fewer if there are too many rows, but
# with the first `said$grave` of them. The number of the others is said, on a page in any case.
declared_lines <- function(said, width, rows, most = if (is.finite(rows)) 3 else Inf) {
  several <- said$several
  notes <- said$notes
  about <- c(
    said$size,
    if (is.null(several)) figure_lines(said$figures, width),
    table_lines(several, said, width), table_lines(said$table, said, width),
    said$spread, if (!is.null(said$scenario)) scenario_line(said$scenario), said$attempt
  )
  question <- if (!is.null(said$question)) paste("Question:", said$question)
  last <- c(if (!is.null(said$next_step)) paste("Next:", said$next_step), said$above)
  lines_with <- function(n, more = more_notes(length(notes) - n, said$everything)) {
    wrap_lines(c(said$title, question, about, utils::head(notes, n), more, last), width)
  }
  most <- min(length(notes), most)
  least <- min(most, said$grave)
  page <- !is.null(said$everything)
  for (n in most:least) {
    lines <- if (page) lines_with(n) else lines_with(n, NULL)
    if (length(lines) <= rows) break
  }
  # Of other prints a note is worth more than the number of the others, and that more than the
  # question.
  counted <- lines_with(n)
  if (page || length(notes) == 0 || length(counted) <= rows) {
    return(counted)
  }
  if (n > 0) {
    return(lines)
  }
  question <- NULL
  lines_with(n)
}

# `everything`: the code that prints all, if that is more than the notes.
more_notes <- function(n, everything = NULL) {
  if (n > 0 || !is.null(everything)) {
    what <- c(if (n > 0) plural(n, "more note"), if (!is.null(everything)) "everything else")
    where <- if (is.null(everything)) "print(x, rows = Inf)" else everything
    paste0(capitalised(paste(what, collapse = " and ")), ": ", where, ".")
  }
}

# The one place for the words of scenarios ---------------------------------

what_is_known <- c(
  prosecutor = "the target is known to be in the file",
  journalist = "the target is not known to be in the file"
)

# `beside` is what this measure's scenario has besides, in the words of a clause.
scenario <- function(who, beside = NULL) {
  list(who = who, beside = beside)
}

scenario_line <- function(scenario) {
  known <- what_is_known[scenario$who]
  if (length(known) > 1) known[[2]] <- "it is not known"
  paste0(
    "Scenario: ", paste0(scenario$who, " (", known, ")", collapse = " and "),
    if (!is.null(scenario$beside)) paste0(", ", scenario$beside),
    "; risks are conditional on an attempt."
  )
}

scenario_clause <- function(scenario) {
  paste0(
    paste(scenario$who, collapse = " and "),
    if (length(scenario$who) > 1) " scenarios" else " scenario",
    if (!is.null(scenario$beside)) paste0(", ", scenario$beside),
    ", conditional on an attempt"
  )
}

# The largest probability of an attempt that the files of results were given, 1 if none was.
attempt_of <- function(results) {
  given <- function(asked) {
    lapply(asked$arguments, function(value) {
      if (inherits(value, "sdc_asked_part")) c(value$roles$prob_attempt, given(value$asked))
    })
  }
  found <- unlist(lapply(results, function(x) given(attr(x, "asked"))))
  if (length(found)) max(found) else 1
}

# Figures of one analysis times that probability.
attempt_line <- function(rows, prob) {
  rows <- rows[rows$attempt & !is.na(rows$value), ]
  if (prob == 1 || nrow(rows) == 0 || anyDuplicated(rows$measure)) {
    return(if (prob < 1) paste0("An attempt has probability ", format_number(prob), "."))
  }
  rows$value <- prob * rows$value
  rows[c("low", "base")] <- NA_real_
  paste0(
    "Times the probability of an attempt, ", format_number(prob), ": ",
    paste(lower_first(rows$label), figure_cells(rows), collapse = ", "), "."
  )
}

# Clause on missing values.
missing_clause <- function(missing, n_excluded = 0) {
  switch(missing,
    category = "missing is a value of its own",
    wildcard = "missing matches everything",
    exclude = if (n_excluded == 0) {
      "no record is incomplete"
    } else {
      paste(plural(n_excluded, "incomplete record"), "excluded")
    }
  )
}

missing_clause_of <- function(x) missing_clause(x$settings$missing, x$diagnostics$n_excluded)

# Print --------------------------------------------------------------------

#' @export
format.sdc_result <- function(x, ..., width = console_width(), rows = 16) {
  declared_lines(describe(x), width, rows)
}

#' @export
format.sdc_comparison <- format.sdc_result

#' @export
print.sdc_result <- print_wrapped

# Sentence -----------------------------------------------------------------

# The three sentences of interpret() without their full stops: measure, number, limits. `source` and
# `assuming` are clauses.
cited <- function(measured, found, limits, source, assuming = NULL) {
  list(
    measured = measured, found = found, limits = limits, source = source, assuming = assuming
  )
}

description_sentence <- function(x, version) {
  said <- x$sentence
  clauses <- c(
    said$source, if (!is.null(x$scenario)) scenario_clause(x$scenario), said$assuming,
    paste("sdcRisk", version)
  )
  parts <- c(
    paste0(said$measured, " (", paste(clauses, collapse = "; "), ")"), said$found, said$limits
  )
  structure(paste0(capitalised(parts), ".", collapse = " "), class = c("sdc_sentence", "character"))
}

#' Interpret a result in sentences
#'
#' States in at most three sentences the measure, scenario and assumptions, the number found and
#' its limits. Use it for a release note or a disclosure review board.
#'
#' @param x A result of sdcRisk.
#' @param ... Unused.
#' @return A character string, printed as it is.
#' @export
#' @examples
#' interpret(qar_risk(adult, pi_u = 0.1))
interpret <- function(x, ...) {
  UseMethod("interpret")
}

#' @export
interpret.default <- function(x, ...) {
  announce("interpret")
  stop_argument("x", "be a result of sdcRisk", given_words(x))
}

#' @export
interpret.sdc_result <- function(x, ...) {
  said <- describe(x)
  if (is.null(said$sentence)) interpret.default(x)
  said$sentence$found <- paste(c(said$sentence$found, limit_clause(x)), collapse = "; ")
  description_sentence(said, x$settings$version)
}

#' @export
print.sdc_sentence <- function(x, ...) {
  cat(wrap_lines(unclass(x), indent = 0), sep = "\n")
  invisible(x)
}

# Summary ------------------------------------------------------------------

# A summary: title, size and other lines, then tables by name.
new_summary <- function(x, tables, title = NULL) {
  said <- describe(x)
  structure(
    c(list(title = c(said$title, said$size, title)), tables[lengths(tables) > 0]),
    class = "sdc_summary"
  )
}

#' @rdname sdc_result
#' @export
summary.sdc_result <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  about <- declaration_of(object)
  tables <- c(
    list(estimates = object$estimates), eval(about$tables, list(x = object)),
    list(strata = risk_by_strata(object, by, data))
  )
  names(tables)[length(tables)] <- c(about$strata, "strata")[[1]]
  new_summary(object, tables)
}

#' @export
format.sdc_summary <- function(x, ...) {
  tables <- x[vapply(x, is.data.frame, NA)]
  wrap_lines(c(
    x$title,
    unlist(Map(function(name, table) {
      c("", paste0(gsub("_", " ", name), ":"), format_summary_table(table))
    }, names(tables), tables), use.names = FALSE)
  ))
}

# Few analyses with more columns than fit are shown in long form.
format_summary_table <- function(table) {
  is_wide <- max(0, nchar(format_table(table, width = Inf))) > console_width()
  format_table(if (is_wide && nrow(table) %in% 1:3) long_table(table) else table)
}

#' @export
print.sdc_summary <- print_lines

# "17 of the 1,092 records are above the limit of 0.01" as a clause; NULL without a
# limit or without records.
limit_clause <- function(x) {
  limit <- unclass(x)$settings$limit
  risk <- if (is_plain_number(limit)) record_risk(x)
  if (is.null(risk)) {
    return(NULL)
  }
  times <- judged_times(x)
  count <- function(of) as_count(sum_over(as.double(of), times))
  n <- count(risk > limit & !is.na(risk))
  n_risks <- count(!is.na(risk))
  if (n_risks == 0) {
    return(paste0("no ", limit_unit(x), " has a risk to compare with the limit"))
  }
  paste0(
    format_count(n), " of the ", plural(n_risks, limit_unit(x)),
    if (n == 1) " is" else " are", " above the limit of ", format_number(limit),
    " (", format_percent(n / n_risks), ")",
    if (anyNA(risk)) paste0("; ", format_count(count(is.na(risk))), " without a risk")
  )
}

# Outside patterns of n_matches() are no records of the file.
limit_unit <- function(x) if (isTRUE(x$settings$patterns)) "pattern" else "record"

limit_line <- function(x) {
  clause <- limit_clause(x)
  if (!is.null(clause)) paste0(capitalised(clause), ".")
}
