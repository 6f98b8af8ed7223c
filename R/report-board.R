# The page for the board: which figures of a result stand on it, and against which limit they
# are judged.

# The figures of a result on the board; those that must not be reported leave their reason only.
# `near`: counts that an external report shows.
board_rows <- function(x, limit, near = NULL) {
  rows <- if (inherits(x, "sdc_file_check")) {
    checked_rows(measures(x, limit = limit))
  } else {
    rows <- figure_rows(x, limit, board = TRUE)
    rows[setdiff(names(rows), c("analysis", "absent", "question", "says", "base"))]
  }
  if (!is.null(near)) rows$n_above <- without_few(rows$n_above, near)
  # Of a figure that is withheld.
  rows$note[is.na(rows$note)] <- ""
  above <- which(rows$n_above > 0 & rows$verdict == "above")
  rows$note[above] <- joined(paste(
    plural(rows$n_above[above], "record"),
    ifelse(rows$unit[above] == "matches", "beyond the limit", "above the limit")
  ), rows$note[above], "; ")
  gone <- startsWith(rows$note, misfit_note)
  rows[gone, c("value", "low", "high", "n_above")] <- NA_real_
  rows$verdict[gone] <- "not judged"
  rows$note[gone] <- misfit_note
  rows
}

# The rows of a check that have a value or a limit, or had a value by a model that does not fit.
checked_rows <- function(rows) {
  said <- !is.na(rows$value) | !is.na(rows$limit) | startsWith(rows$note, misfit_note)
  rows <- rows[said, , drop = FALSE]
  about <- page_figures()
  rows$attempt <- about$attempt[match(rows$measure, about$measure)]
  rows$verdict[!rows$verdict %in% c("ok", "above", "no limit", "unclear")] <- "not judged"
  rows
}

misfit_note <- "the model does not fit"

# A figure in the words of its unit.
figure_words <- function(x, unit) {
  out <- character(length(x))
  tiny <- !is.na(x) & x > 0 & x < 1e-6
  of <- function(units, f) out[unit %in% units] <<- f(x[unit %in% units])
  of(c("matches", "count", "amount"), format_amount)
  of(c("risk", "number"), format_risk)
  of("share", format_percent)
  out[tiny & unit != "share"] <- paste("below", chartr(".", getOption("OutDec"), "0.000001"))
  out[is.na(x)] <- "\u2013"
  out
}
