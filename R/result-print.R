# What a result says of itself. Every class has one description; print, sentence
# and the head of summary() are made of it here and nowhere else:
#   title, question   one line each
#   lead              what must be read first, if anything
#   size              records, key variables, missing values
#   answer            facts and tables, see fact() and grid()
#   scenario          scenario()
#   notes             facts about the limits
#   more              verbs that say more
#   above             records above the limit, where one was given: limit_line()
#   sentence          cited(): what interpret() says

describe <- function(x) {
  if (inherits(x, "sdc_result")) check_result(x)
  UseMethod("describe")
}

#' @export
describe.default <- function(x) {
  description(
    title = paste0("Result of ", sub("^sdc_", "", class(x)[[1]]), "()"), question = NULL,
    answer = if (is.data.frame(x$estimates)) grid(x$estimates)
  )
}

description <- function(title, question, size = NULL, answer = NULL, scenario = NULL,
                        notes = NULL, more = NULL, sentence = NULL, lead = NULL) {
  list(
    title = title, lead = lead, question = question, size = size, answer = answer,
    scenario = scenario, notes = notes, more = more, sentence = sentence
  )
}

# A paragraph for each text, nothing for NULL. `keep` says what goes first where a
# print has too little room: the way to "more", every "aside", every "detail", then
# parts of the "answer"; what is "always" kept stays. What `starts` a line follows no
# other sentence on it.
fact <- function(..., keep = "answer", starts = FALSE) {
  text <- paste0(...)
  lapply(text[nzchar(text)], function(line) {
    list(text = line, keep = keep, starts = starts, joined = FALSE)
  })
}

# A table: the rows given, and how many there are in all. It may lose rows, but for
# the `least` that are needed.
grid <- function(table, n = nrow(table), rest = "more in x$estimates", keep = "answer",
                 least = 1) {
  list(list(table = table, n = n, shown = nrow(table), rest = rest, keep = keep, least = least))
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
  paste0(
    "Scenario: ",
    paste0(scenario$who, " (", what_is_known[scenario$who], ")", collapse = " and "),
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

# What is done with missing values, in the words of a clause.
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

# Print --------------------------------------------------------------------

# The paragraphs and tables of a description in the order of a print.
description_slots <- function(x) {
  c(
    fact(x$title, keep = "always"), fact(x$lead, keep = "always", starts = TRUE),
    if (!is.null(x$question)) fact("Question: ", x$question, keep = "always", starts = TRUE),
    fact(x$size, keep = "always"), x$answer,
    if (!is.null(x$scenario)) fact(scenario_line(x$scenario), keep = "always", starts = TRUE),
    x$notes, if (!is.null(x$more)) fact("More: ", x$more, ".", keep = "more"),
    fact(x$above, keep = "always", starts = TRUE)
  )
}

# A description as lines of a width, as many as there may be at most.
format_description <- function(x, width = console_width(), rows = 16) {
  slots <- description_slots(x)
  # In this order, each as often as it helps.
  steps <- c(
    list(function(s) join_slots(s, width, from = length(s) - 1)),
    lapply(c("more", "aside"), drop_slot),
    list(function(s) join_slots(s, width), drop_slot("detail"), shrink_grid, drop_slot("answer"))
  )
  for (step in steps) {
    while (length(slot_lines(slots, width)) > rows) {
      shorter <- step(slots)
      if (is.null(shorter)) break
      slots <- shorter
    }
  }
  slot_lines(slots, width)
}

is_grid <- function(slot) !is.null(slot$table)

# The last paragraph or table of a kind goes.
drop_slot <- function(keep) {
  function(slots) {
    of_kind <- which(vapply(slots, `[[`, "", "keep") == keep)
    if (length(of_kind)) slots[-max(of_kind)]
  }
}

# A sentence follows the one before it on its line, where this saves a row.
join_slots <- function(slots, width, from = 1) {
  n_rows <- length(slot_lines(slots, width))
  for (i in seq_len(length(slots) - 1)[seq_len(length(slots) - 1) >= from]) {
    pair <- slots[i + 0:1]
    free <- !any(vapply(pair, is_grid, NA)) && !pair[[2]]$joined && !pair[[2]]$starts &&
      grepl("[.]$", pair[[1]]$text)
    if (free) {
      joined <- slots
      joined[[i + 1]]$joined <- TRUE
      if (length(slot_lines(joined, width)) < n_rows) {
        return(joined)
      }
    }
  }
  NULL
}

# The table with most rows to spare loses its last one.
shrink_grid <- function(slots) {
  spare <- vapply(slots, function(s) if (is_grid(s)) s$shown - s$least else 0, 0)
  longest <- which.max(spare)
  if (spare[[longest]] > 0) {
    slots[[longest]]$shown <- slots[[longest]]$shown - 1L
    slots
  }
}

slot_lines <- function(slots, width) {
  joined <- vapply(slots, function(s) isTRUE(s$joined), NA)
  # What a joined sentence followed may be gone, or be a table now.
  after_text <- c(FALSE, !vapply(utils::head(slots, -1), function(s) {
    is_grid(s) || !grepl("[.]$", s$text)
  }, NA))[seq_along(slots)]
  paragraphs <- split(slots, cumsum(!(joined & after_text)))
  unlist(lapply(paragraphs, function(part) {
    if (is_grid(part[[1]])) {
      grid_lines(part[[1]], width)
    } else {
      wrap_lines(paste(vapply(part, `[[`, "", "text"), collapse = " "), width)
    }
  }), use.names = FALSE)
}

grid_lines <- function(slot, width) {
  rest <- slot$n - slot$shown
  c(
    format_table(utils::head(slot$table, slot$shown), width - 2),
    if (rest > 0) paste("... and", format_count(rest), slot$rest)
  )
}

#' @export
format.sdc_result <- function(x, ..., width = console_width(), rows = 16) {
  said <- describe(x)
  said$above <- limit_line(x)
  format_description(said, width, rows)
}

#' @export
print.sdc_result <- function(x, ...) {
  cat(wrap_lines(format(x, ...)), sep = "\n")
  invisible(x)
}

# Sentence -----------------------------------------------------------------

# What interpret() says, three sentences without their full stops: what was
# measured, the number, its limits. `source` and `assuming` are clauses.
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
  text <- paste0(capitalised(parts), ".", collapse = " ")
  structure(text, class = c("sdc_sentence", "character"))
}

#' Sentences to cite
#'
#' Says in at most three sentences what was measured, under which scenario and
#' assumptions, the number found and its limits, for a release note or a
#' disclosure board.
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
new_summary <- function(x, ..., title = NULL) {
  said <- describe(x)
  tables <- list(...)
  structure(
    c(list(title = c(said$title, said$size, title)), tables[lengths(tables) > 0]),
    class = "sdc_summary"
  )
}

#' @rdname sdc_result
#' @export
summary.sdc_result <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  new_summary(
    object,
    estimates = object$estimates,
    strata = risk_by_strata(object, by, data)
  )
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
  fits <- max(0, nchar(format_table(table, width = Inf))) <= console_width()
  if (fits || nrow(table) == 0) {
    format_table(table)
  } else if (nrow(table) <= 3) {
    format_table(long_table(table))
  } else {
    format_table(table)
  }
}

#' @export
print.sdc_summary <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}

# "17 of the 1,092 records are above the limit of 0.01" as a clause; NULL without a
# limit or without records.
limit_clause <- function(x) {
  limit <- x$settings$limit
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
    if (anyNA(risk)) {
      paste0("; ", format_count(count(is.na(risk))), " without a risk")
    }
  )
}

# Outside patterns of n_matches() are no records of the file.
limit_unit <- function(x) if (isTRUE(x$settings$patterns)) "pattern" else "record"

limit_line <- function(x) {
  clause <- limit_clause(x)
  if (!is.null(clause)) paste0(capitalised(clause), ".")
}
