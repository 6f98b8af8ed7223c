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
      "This report and its log name records and hold seeds, hierarchies and the whole fingerprint",
      "of the file.",
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
    if ("not judged" %in% board$verdict) html_p(perturbed_words, class = "quiet"),
    html_differences(content$entries),
    html_tag("h3", "What was not examined"),
    html_list(not_examined(content$entries)),
    "</section>"
  )
}

perturbed_words <- paste(
  "Not judged: figures that count records with equal keys take values at their word. In a file",
  "perturbed by invariant PRAM they do not say what the perturbation bought: its own bound does."
)

# Where measures of file_check() seem to contradict each other, and which to report, with
# what the check says against its own numbers; in two lists where there are two files.
html_differences <- function(entries) {
  checks <- Filter(function(entry) entry$fun == "file_check", entries)
  stages <- vapply(checks, `[[`, "", "stage")
  lists <- lapply(unique(stages), function(stage) {
    lines <- unique(unlist(lapply(checks[stages == stage], difference_lines)))
    if (length(lines)) {
      c(
        if (length(unique(stages)) > 1) html_p(paste0(stage_words[[stage]], ":")),
        html_list(lines)
      )
    }
  })
  if (length(unlist(lists))) c(html_tag("h3", "Where measures differ"), unlist(lists))
}

stage_words <- c(before = "Before the protection", after = "After the protection")

difference_lines <- function(entry) {
  check <- unclass(entry$result)
  d <- check$contradictions
  lines <- if (NROW(d)) {
    paste0(
      measures_in_words(d$measures), ": ", d$reason, ". To report: ",
      measures_in_words(d$report), "."
    )
  }
  # One measure may begin a line by its letter, which stays small.
  lines <- ifelse(startsWith(as.character(lines), "k "), lines, capitalised(lines))
  c(gsub("[.][.]", ".", lines), without_steps(check$diagnostics$notes))
}

# Notes without their pointers to lines of code, which a report has not.
without_steps <- function(notes) gsub(" \\(see the last step\\)", "", notes)

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
      paste0(stage_words[[stage]], ": ")
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
  if (is.null(lines)) lines <- "these results have no figure that a limit applies to."
  last <- if (length(stages)) counts(utils::tail(stages, 1)) else c(above = 0, ok = 0)
  class <- if (last[["above"]] > 0) "above" else if (last[["ok"]] > 0) "ok" else ""
  html_tag(
    "div", paste(html_p(capitalised(lines)), collapse = "\n"),
    html_p(limit_words(settings$limit, board)), class = trimws(paste("verdict", class))
  )
}

limit_words <- function(limit, board) {
  parts <- c(
    if (!is.null(limit$k)) {
      paste("every key is shared by at least", plural(limit$k, "record"))
    },
    if (!is.null(limit$journalist)) {
      paste(
        "no record is led back to the right person of the population with a probability above",
        format_number(limit$journalist)
      )
    }
  )
  if (length(parts) == 0) return("No limits were set, but for promises of protections.")
  promised <- any(board$fun %in% protecting & !is.na(board$limit))
  paste0(
    "Limits: ", paste(parts, collapse = "; "), ".",
    if (promised) " A protection is judged by what it was asked for."
  )
}

# One row per figure; where the file stands before and after, both stand in it.
html_board_table <- function(board, settings) {
  board <- board[order(match(board$plain, unique(board$plain)), board$stage != "before"), ]
  shown <- if (length(unique(board$stage)) > 1) {
    two_stages(board, settings)
  } else {
    one_stage(board, settings)
  }
  # A row of its own for every question.
  question <- paste0(
    shown$of$question, ifelse(nzchar(shown$of$scenario), paste0(" (", shown$of$scenario, ")"), "")
  )
  parts <- split(seq_along(question), factor(question, unique(question)))
  rows <- unlist(parts, use.names = FALSE)
  columns <- shown$columns
  verdicts <- lapply(columns[startsWith(names(columns), "Verdict")], function(v) {
    verdict_class(v[rows])
  })
  table <- html_table(
    lapply(columns, `[`, rows), !grepl("^(Figure|Verdict)", names(columns)), classes = verdicts,
    values = lapply(shown$values, `[`, rows)
  )
  with_questions(table, parts, length(columns))
}

one_stage <- function(board, settings) {
  interval <- interval_text(board)
  list(
    of = board, values = list(Value = board$value),
    columns = c(
      list(Figure = with_note(board$measure, board$note)),
      list(Value = kind_text(board$value, board$kind)),
      if (any(nzchar(interval))) list("95 % interval" = interval),
      attempt_column(board, settings), list(Limit = board_limits(board), Verdict = board$verdict)
    )
  )
}

two_stages <- function(board, settings) {
  # Without uniques a function can say less of who the intruder is: no reason to part them.
  key <- paste(board$question, board$measure, board$keys, sep = "\r")
  key <- paste(key, stats::ave(seq_along(key), key, board$stage, FUN = seq_along))
  of <- board[!duplicated(key), ]
  sides <- lapply(c(before = "before", after = "after"), function(stage) {
    side <- board[board$stage == stage, ]
    side <- side[match(unique(key), key[board$stage == stage]), ]
    side$kind <- of$kind
    side$attempt <- of$attempt
    side
  })
  interval <- lapply(sides, interval_text)
  both <- !is.na(sides$before$measure) & !is.na(sides$after$measure)
  notes <- lapply(names(sides), function(stage) {
    said <- ifelse(is.na(sides[[stage]]$note), "", sides[[stage]]$note)
    range <- ifelse(nzchar(interval[[stage]]), paste("95 % interval", interval[[stage]]), "")
    says <- joined(said, range, ", ")
    ifelse(nzchar(says) & both, paste(stage, says), says)
  })
  note <- joined(notes[[1]], notes[[2]], "; ")
  side_columns <- unlist(lapply(names(sides), function(stage) {
    side <- sides[[stage]]
    absent <- is.na(side$measure)
    attempt <- attempt_column(side, settings)
    columns <- c(
      list(kind_text(side$value, side$kind)), attempt,
      list(ifelse(absent, "", gsub("no limit", "", side$verdict)))
    )
    columns[-length(columns)] <- lapply(columns[-length(columns)], function(x) {
      ifelse(absent, "", x)
    })
    rlang::set_names(columns, c(
      capitalised(stage), if (length(attempt)) paste(capitalised(stage), names(attempt)),
      paste("Verdict", stage)
    ))
  }), recursive = FALSE)
  list(
    of = of, values = list(Before = sides$before$value, After = sides$after$value),
    columns = c(
      list(Figure = with_note(of$measure, note), Limit = ifelse(
        is.na(of$limit), "none", board_limits(of)
      )), side_columns
    )
  )
}

# Two texts with what goes between them where both are there.
joined <- function(a, b, between) paste0(a, ifelse(nzchar(a) & nzchar(b), between, ""), b)

with_note <- function(measure, note) paste0(measure, ifelse(nzchar(note), paste0(": ", note), ""))

interval_text <- function(board) {
  ifelse(
    is.na(board$low) | is.na(board$high), "",
    paste0(kind_text(board$low, board$kind), " to ", kind_text(board$high, board$kind))
  )
}

board_limits <- function(board) {
  ifelse(is.na(board$limit), "", paste0(
    ifelse(board$at_least, "at least ", ""), format_number(signif(board$limit, 4))
  ))
}

# Risks times the probability of an attempt, where one was given.
attempt_column <- function(board, settings) {
  if (settings$prob_attempt < 1) {
    out <- kind_text(board$value * settings$prob_attempt, board$kind)
    out[!board$attempt] <- "\u2013"
    rlang::set_names(list(out), paste("with", format_number(settings$prob_attempt)))
  }
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
