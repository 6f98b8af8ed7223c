# A report as a page: plain HTML from a small template in inst/report, its style and
# pictures within it, no script, nothing from a network. rmarkdown would need pandoc
# for the same, and offices have machines without it.

report_page <- function(content) {
  body <- c(
    html_head(content), html_board(content), html_before_after(content), html_pictures(content),
    html_checklist(content), html_methods(content), html_tables(content),
    if (content$settings$internal) html_records(content), html_versions(content)
  )
  fill_template(list(
    title = html_text(content$settings$title), body = paste(body, collapse = "\n"),
    style = paste(read_text(report_file("style.css")), collapse = "\n")
  ))
}

report_file <- function(name) {
  system.file("report", name, package = "sdcRisk", mustWork = TRUE)
}

read_text <- function(path) readLines(path, encoding = "UTF-8", warn = FALSE)

# The template is taken apart first, so that braces in a name are no place for a part.
fill_template <- function(parts) {
  template <- paste(read_text(report_file("template.html")), collapse = "\n")
  pieces <- strsplit(template, "{{", fixed = TRUE)[[1]]
  names <- sub("\\}\\}.*", "", pieces[-1])
  after <- substring(pieces[-1], nchar(names) + 3)
  paste0(pieces[[1]], paste0(unlist(parts[names]), after, collapse = ""))
}

# Text as HTML, in UTF-8.
html_text <- function(x) {
  x <- enc2utf8(as.character(x))
  x[is.na(x)] <- ""
  x <- gsub("&", "&amp;", x, fixed = TRUE)
  x <- gsub("<", "&lt;", x, fixed = TRUE)
  x <- gsub(">", "&gt;", x, fixed = TRUE)
  gsub("\"", "&quot;", x, fixed = TRUE)
}

html_tag <- function(tag, ..., class = NULL) {
  paste0(
    "<", tag, if (!is.null(class)) paste0(" class=\"", class, "\""), ">", ..., "</", tag, ">"
  )
}

html_p <- function(..., class = NULL) {
  text <- paste0(...)
  if (length(text)) html_tag("p", html_text(text), class = class)
}

html_list <- function(items) {
  if (length(items)) html_tag("ul", paste(html_tag("li", html_text(items)), collapse = "\n"))
}

# A table of texts; `right` says which columns hold numbers. Columns may have the
# full `values` beside what is shown, for machines that read the page.
html_table <- function(columns, right = rep(FALSE, length(columns)), classes = list(),
                       values = list()) {
  n <- length(columns[[1]])
  if (n == 0) {
    return(NULL)
  }
  cells <- Map(function(column, name, right) {
    given <- if (is.null(classes[[name]])) "" else classes[[name]]
    class <- trimws(rep_len(paste(if (right) "num" else "", given), n))
    value <- values[[name]]
    paste0(
      "<td", ifelse(nzchar(class), paste0(" class=\"", class, "\""), ""),
      if (!is.null(value)) {
        ifelse(is.na(value), "", paste0(" data-value=\"", exact_text(value), "\""))
      },
      ">", html_text(column), "</td>"
    )
  }, columns, names(columns), right)
  head <- paste0(
    "<th", ifelse(right, " class=\"num\"", ""), ">", html_text(names(columns)), "</th>",
    collapse = ""
  )
  rows <- paste0("<tr>", do.call(paste0, unname(cells)), "</tr>", collapse = "\n")
  paste0(
    "<div class=\"scroll\"><table>\n<thead><tr>", head, "</tr></thead>\n<tbody>\n", rows,
    "\n</tbody>\n</table></div>"
  )
}

# A number to the last bit: 17 digits, whatever the decimal mark of the session.
exact_text <- function(x) {
  if (is.logical(x)) return(ifelse(x, "true", "false"))
  sprintf("%.17g", as.double(x))
}

# The page for the board -----------------------------------------------------

html_head <- function(content) {
  internal <- content$settings$internal
  c(
    html_tag("h1", html_text(content$settings$title)),
    html_tag(
      "div", if (internal) "INTERNAL: not to leave the agency" else "EXTERNAL",
      class = paste("variant", if (internal) "internal" else "external")
    ),
    html_p(file_line(content)),
    html_p(variant_words(content), class = "quiet")
  )
}

file_line <- function(content) {
  of <- Filter(function(entry) entry$stage == "before", content$entries)
  if (length(of) == 0) of <- content$entries
  n <- unlist(lapply(of, function(entry) entry$result$settings$n))
  keys <- unique(unlist(lapply(of, function(entry) entry$result$settings$key_vars)))
  paste0(
    if (length(n)) paste0("A file of ", plural(n[[1]], "record"), ". "),
    if (is.character(keys) && length(keys)) {
      paste0("Key variables examined: ", paste(keys, collapse = ", "), ". ")
    },
    "Written on ", content$made, " with sdcRisk ", content$versions$sdcRisk, "."
  )
}

variant_words <- function(content) {
  if (content$settings$internal) {
    return(paste(
      "This report and its log name records and hold seeds and the whole fingerprint of the file.",
      "Write one with internal = FALSE for anybody else."
    ))
  }
  paste0(
    "This report holds numbers and names of variables. It holds no record number, no category of ",
    "any variable, hence none that fewer records than a limit hold, and no object or seed by ",
    "which a protection could be undone. Of the file's fingerprint ",
    if (fingerprint_digits(content) == 0) {
      paste(
        "it holds nothing, and distances that few changed cells could be told from are left out,",
        "as fewer than", few_for_fingerprint, "cells were changed."
      )
    } else {
      paste0(
        "4 of 16 digits stand in the log",
        if (isTRUE(content$changed < few_for_distances)) {
          paste0(
            "; distances that changed cells could be told from are left out, as fewer than ",
            few_for_distances, " cells were changed"
          )
        },
        "."
      )
    }
  )
}

html_board <- function(content) {
  board <- content$board
  c(
    "<section class=\"board\">",
    html_tag("h2", "For the board"),
    html_verdict(board, content$settings),
    if (!is.null(board)) html_board_table(board, content$settings),
    html_p(reading_words(content$settings), class = "quiet"),
    html_differences(content$entries),
    html_tag("h3", "What was not examined"),
    html_list(not_examined(content$entries)),
    "</section>"
  )
}

# Where measures of file_check() seem to contradict each other, and which to report.
html_differences <- function(entries) {
  checks <- Filter(function(entry) entry$fun == "file_check", entries)
  differ <- unlist(lapply(checks, function(entry) {
    d <- unclass(entry$result)$contradictions
    if (NROW(d)) {
      paste0(
        capitalised(measures_in_words(d$measures)), ": ", d$reason, ". To report: ",
        measures_in_words(d$report), "."
      )
    }
  }))
  differ <- unique(gsub("[.][.]", ".", differ))
  if (length(differ)) c(html_tag("h3", "Where measures differ"), html_list(differ))
}

# The names of measures in a text as their labels.
measures_in_words <- function(text) {
  about <- check_catalogue()
  for (i in which(about$measure != "k")) {
    pattern <- paste0("\\b", about$measure[[i]], "\\b(?!_)")
    text <- gsub(pattern, about$label[[i]], text, perl = TRUE)
  }
  text
}

html_verdict <- function(board, settings) {
  counts <- function(stage) {
    of <- board[board$stage == stage, ]
    c(above = sum(of$verdict == "above"), ok = sum(of$verdict == "ok"), n = nrow(of))
  }
  stages <- unique(board$stage)
  lines <- unlist(lapply(stages, function(stage) {
    n <- counts(stage)
    name <- if (length(stages) > 1) {
      if (stage == "before") "Before the protection: " else "After the protection: "
    } else {
      ""
    }
    paste0(
      name, if (n[["above"]] + n[["ok"]] == 0) {
        "no figure has a limit to be judged by"
      } else if (n[["above"]] == 0) {
        paste0("within the limit: all figures that have one (", n[["ok"]], ")")
      } else {
        paste0(
          n[["above"]], " of ", plural(n[["above"]] + n[["ok"]], "figure"), " with a limit ",
          if (n[["above"]] == 1) "is" else "are", " above it"
        )
      },
      "; ", plural(n[["n"]] - n[["above"]] - n[["ok"]], "figure"), " without a verdict."
    )
  }))
  last <- if (length(stages)) counts(utils::tail(stages, 1)) else c(above = 0, ok = 0)
  class <- if (last[["above"]] > 0) "above" else if (last[["ok"]] > 0) "ok" else ""
  html_tag(
    "div", paste(html_p(capitalised(lines)), collapse = "\n"),
    html_p(limit_words(settings$limit)), class = trimws(paste("verdict", class))
  )
}

limit_words <- function(limit) {
  parts <- c(
    if (!is.null(limit$k)) {
      paste("every record shares its key with", limit$k, "records, itself one")
    },
    if (!is.null(limit$journalist)) {
      paste(
        "no record is led back to the right person of the population with a probability above",
        format_number(limit$journalist)
      )
    }
  )
  if (length(parts) == 0) return("No limits were set, but for promises of protections.")
  paste0("Limits: ", paste(parts, collapse = "; "), ".")
}

html_board_table <- function(board, settings) {
  board <- board[order(match(board$plain, unique(board$plain)), board$stage != "before"), ]
  several <- length(unique(board$stage)) > 1
  interval <- ifelse(
    is.na(board$low) | is.na(board$high), "",
    paste0(kind_text(board$low, board$kind), " to ", kind_text(board$high, board$kind))
  )
  attempt <- if (settings$prob_attempt < 1) {
    out <- kind_text(board$value * settings$prob_attempt, board$kind)
    out[!board$attempt] <- "\u2013"
    rlang::set_names(list(out), paste("with", format_number(settings$prob_attempt)))
  }
  columns <- c(
    list(Figure = paste0(board$measure, ifelse(nzchar(board$note), paste0(": ", board$note), ""))),
    if (several) list(File = board$stage),
    list(
      Value = kind_text(board$value, board$kind),
      "95 % interval" = interval
    ), attempt,
    list(
      Limit = ifelse(is.na(board$limit), "", paste0(
        ifelse(board$at_least, "at least ", ""), format_number(board$limit)
      )),
      Verdict = board$verdict
    )
  )
  right <- names(columns) %in% c("Value", "95 % interval", "Limit", names(attempt))
  # A row of its own for every question.
  question <- paste0(
    board$question, ifelse(nzchar(board$scenario), paste0(" (", board$scenario, ")"), "")
  )
  parts <- split(seq_len(nrow(board)), factor(question, unique(question)))
  table <- html_table(
    lapply(columns, `[`, unlist(parts, use.names = FALSE)), right,
    classes = list(
      Verdict = verdict_class(board$verdict[unlist(parts)]), File = rep("plain", nrow(board))
    ),
    values = list(Value = board$value[unlist(parts)])
  )
  with_questions(table, parts, length(columns))
}

verdict_class <- function(verdict) ifelse(verdict %in% c("ok", "above"), verdict, "plain")

# The rows of a table with a line before those of each question.
with_questions <- function(table, parts, n_columns) {
  lines <- strsplit(table, "\n", fixed = TRUE)[[1]]
  rows <- which(startsWith(lines, "<tr><td"))
  first <- rows[cumsum(c(1, utils::head(lengths(parts), -1)))]
  lines[first] <- paste0(
    "<tr class=\"question\"><td colspan=\"", n_columns, "\">", html_text(names(parts)),
    "</td></tr>\n", lines[first]
  )
  paste(lines, collapse = "\n")
}

reading_words <- function(settings) {
  paste0(
    "Prosecutor: ", what_is_known[["prosecutor"]], ". Journalist: ", what_is_known[["journalist"]],
    ". All risks are conditional on an attempt.",
    if (settings$prob_attempt < 1) {
      paste0(
        " The column \"with ", format_number(settings$prob_attempt), "\" is the value times ",
        format_number(settings$prob_attempt), ", the probability that an attempt is made; ",
        "verdicts do not use it. A dash: shares and counts that do not depend on attempts."
      )
    }
  )
}
