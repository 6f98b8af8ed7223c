# The page of a report, put together.

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

variant_words <- function(content) {
  if (content$settings$internal) {
    return(paste(
      "This report and its log name records and hold seeds, hierarchies and the whole fingerprint",
      "of the file.",
      "Write one with internal = FALSE for anybody else."
    ))
  }
  paste0(
    "This report contains numbers and names of variables. It contains no record numbers, no ",
    "categories, nothing that could undo the protection, and neither a count of fewer than ",
    least_alike, " records nor a sum that so few carry. Of the file's fingerprint ",
    if (fingerprint_digits(content) == 0) {
      paste(
        "it holds nothing, and distances that few changed values could be told from are left out,",
        "as fewer than", few_for_fingerprint, "values were changed."
      )
    } else {
      paste0(
        "4 of 16 digits are in the log",
        if (isTRUE(content$changed < few_for_distances)) {
          paste0(
            "; distances that changed values could be told from are left out, as fewer than ",
            few_for_distances, " values were changed"
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
    html_verdict(board, content$settings, content$first),
    if (!is.null(board)) html_board_table(board, content$settings),
    html_p(reading_words(content$settings), class = "quiet"),
    if (any(board$note == word_note)) html_p(perturbed_words, class = "quiet"),
    html_differences(content$entries),
    html_tag("h3", "Not examined"),
    html_list(not_examined(content$entries)),
    "</section>"
  )
}

html_verdict <- function(board, settings, first) {
  counts <- function(stage) {
    of <- board[board$stage == stage, ]
    n <- vapply(c("above", "ok", "unclear"), function(verdict) sum(of$verdict == verdict), 1L)
    open <- sum(!is.na(of$limit) & of$verdict == "not judged")
    c(n, open = open, free = nrow(of) - sum(n) - open)
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
      name, limit_count_words(n), "; ", plural(n[["free"]], "figure"), " without a verdict."
    )
  }))
  if (is.null(lines)) lines <- "these results have no figure that a limit applies to."
  last <- if (length(stages)) counts(utils::tail(stages, 1))
  within <- length(last) && last[["ok"]] > 0 && last[["unclear"]] + last[["open"]] == 0
  class <- if (length(last) && last[["above"]] > 0) "above" else if (within) "ok" else ""
  html_tag(
    "div", paste(c(first_lines(first), html_p(capitalised(lines))), collapse = "\n"),
    html_p(limit_words(settings$limit, board)), class = trimws(paste("verdict", class))
  )
}

# A figure that is unclear or not judged keeps a file from being within its limits.
limit_count_words <- function(n) {
  n <- n[c("above", "unclear", "open", "ok")]
  if (sum(n) == 0) {
    return("no figure has a limit to be judged by")
  }
  if (n[["ok"]] == sum(n)) {
    return(paste0("within the limit: all figures that have one (", n[["ok"]], ")"))
  }
  wrong <- n[c("above", "unclear", "open")]
  are <- paste(ifelse(wrong == 1, "is", "are"), c("above it", "unclear", "not judged"))
  first <- which(wrong > 0)[[1]]
  said <- paste(wrong, are)
  said[[first]] <- paste(
    wrong[[first]], "of", plural(sum(n), "figure"), "with a limit", are[[first]]
  )
  paste0(
    if (n[["above"]] == 0) "not known to be within the limit: ",
    paste(said[wrong > 0], collapse = ", ")
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
  board <- board[order(match(board$label, unique(board$label)), board$stage != "before"), ]
  shown <- if (length(unique(board$stage)) > 1) {
    two_stages(board, settings)
  } else {
    interval <- interval_text(board)
    list(
      of = board, values = list(Value = board$value),
      columns = c(
        list(Figure = with_note(board$label, board$note)),
        list(Value = figure_words(board$value, board$unit)),
        if (any(nzchar(interval))) list("95% interval" = interval),
        attempt_column(board, settings), list(Limit = board_limits(board), Verdict = board$verdict)
      )
    )
  }
  # A row of its own for every question.
  question <- paste0(
    shown$of$question,
    ifelse(shown$of$scenario %in% names(what_is_known), paste0(" (", shown$of$scenario, ")"), "")
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

two_stages <- function(board, settings) {
  # Without uniques a function can say less of who the intruder is: no reason to part them.
  key <- paste(board$question, board$label, board$keys, sep = "\r")
  key <- paste(key, stats::ave(seq_along(key), key, board$stage, FUN = seq_along))
  of <- board[!duplicated(key), ]
  sides <- lapply(c(before = "before", after = "after"), function(stage) {
    side <- board[board$stage == stage, ]
    side <- side[match(unique(key), key[board$stage == stage]), ]
    side$unit <- of$unit
    side$attempt <- of$attempt
    side
  })
  interval <- lapply(sides, interval_text)
  both <- !is.na(sides$before$measure) & !is.na(sides$after$measure)
  notes <- lapply(names(sides), function(stage) {
    said <- ifelse(is.na(sides[[stage]]$note), "", sides[[stage]]$note)
    range <- ifelse(nzchar(interval[[stage]]), paste("95% interval", interval[[stage]]), "")
    says <- joined(said, range, ", ")
    ifelse(nzchar(says) & both, paste(stage, says), says)
  })
  note <- joined(notes[[1]], notes[[2]], "; ")
  side_columns <- unlist(lapply(names(sides), function(stage) {
    side <- sides[[stage]]
    absent <- is.na(side$measure)
    attempt <- attempt_column(side, settings)
    columns <- c(
      list(figure_words(side$value, side$unit)), attempt,
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
      list(Figure = with_note(of$label, note), Limit = ifelse(
        is.na(of$limit), "none", board_limits(of)
      )), side_columns
    )
  )
}

interval_text <- function(board) {
  ifelse(
    is.na(board$low) | is.na(board$high), "",
    paste0(figure_words(board$low, board$unit), " to ", figure_words(board$high, board$unit))
  )
}

# Risks times the probability of an attempt, where one was given.
attempt_column <- function(board, settings) {
  if (settings$prob_attempt < 1) {
    out <- figure_words(board$value * settings$prob_attempt, board$unit)
    out[!board$attempt] <- "\u2013"
    rlang::set_names(list(out), paste("with", format_number(settings$prob_attempt)))
  }
}
