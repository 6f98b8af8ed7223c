# The figures of a frame, those of file_check() by its own functions, and their words.

# `rows` of measures() with their limits, `n` records, words for people; or the `reason` why
# there are none. A frame whose columns with roles have the values of another's has its figures.
# A page that is a `draft`, of a frame that is not `written` yet, has the limits of the key
# variables alone: the population and households take most of the time.
judge_frame <- function(state, limit, known, written = FALSE) {
  file <- state$file
  if (!written) file$roles <- file$roles[names(file$roles) %in% draft_roles]
  of_roles <- unlist(file$roles[setdiff(names(file$roles), population_roles)])
  names <- intersect(of_roles, names(state$columns))
  key <- list(file$roles, file$remedy, is.null(file$object))
  alike <- Filter(function(other) identical(other$page$key, key), known)
  memory <- function(state) (if (is.null(state$hash)) state$pointers else state$hash)[names]
  found <- Find(function(other) identical(memory(other), memory(state)), alike)
  if (is.null(found)) {
    hash <- record_hash(state$columns[names])
    found <- Find(function(other) identical(other$page$hash, hash), alike)
  }
  if (!is.null(found)) {
    return(found$page)
  }
  page <- tryCatch(judged_page(file, limit), sdcRisk_error = function(e) {
    list(reason = first_line(e))
  })
  page$key <- key
  page$hash <- hash
  page$draft <- length(file$roles) < length(state$file$roles)
  if (page$draft) page$later <- setdiff(names(limit), page$rows$measure)
  if (!is.null(page$rows)) page[c("lens", "verdict")] <- list(lens_words(page), frame_verdict(page))
  page
}

draft_roles <- c("key_vars", "key_groups", "sensitive", "missing")

judged_page <- function(file, limit) {
  # Methods share codes of what does not change in place: while it is judged, this does not.
  if (inherits(file$data, "data.table")) {
    class(file$data) <- "data.frame"
    file$codes <- new.env(parent = emptyenv())
  }
  # As on the page by default.
  by_default <- setequal(names(limit), c("k", "journalist")) && limit$journalist == 0.05
  if (by_default && !is.null(file$roles$sensitive)) limit$l <- 2
  rows <- limit_rows(file, limit)
  # Weights and population are not known of every file: the journalist's limit is for those.
  rows <- rows[!is.na(rows$limit) & (rows$verdict != "not judged" | rows$measure == "k"), ]
  n <- n_records(file$data)
  above <- rows$verdict == "above"
  n_above <- max(0, rows$n_above[above], na.rm = TRUE)
  journalist <- above & rows$measure == "journalist"
  list(
    rows = rows, n = n, k = rows$value[match("k", rows$measure)], keys = file$roles$key_vars,
    recode = recode_first(n_above, n), max_risk = if (any(journalist)) limit$journalist,
    l = if (any(above & rows$measure == "l") && is.null(file$roles$hh_id)) limit$l
  )
}

# Text that an editor shows above the line and at the name.
frame_line <- function(run, state) {
  page <- state$page
  judged <- !is.null(page$rows)
  secret <- is_secret(run, state$name)
  frame(
    line = state$line, column = state$column,
    name = if (secret) "(a name that is a value)" else state$name,
    records = nrow(state$file$data), lens = if (judged) page$lens else "not judged",
    verdict = if (judged) page$verdict else page$reason,
    keys = public_text(run, quote_names(state$file$roles$key_vars)),
    above = judged && any(page$rows$verdict == "above"),
    fix = if (judged && any(page$rows$verdict == "above") && !secret) {
      public_code(run, remedy_code(state, run$limit))
    } else {
      ""
    }
  )
}

frame_verdict <- function(page) {
  later <- if (length(page$later)) paste0(
    paste(page$later, collapse = ", "), ": judged when the file is written"
  )
  paste(c(if (nrow(page$rows)) rows_verdict(page$rows, page$n), later), collapse = "; ")
}

# In few words, as in: k = 1, 88 records below 3.
lens_words <- function(page) {
  rows <- page$rows
  k <- rows[rows$measure == "k", ]
  others <- rows[rows$measure != "k" & rows$verdict == "above", ]
  paste(c(
    if (nrow(k) && !is.na(k$value)) paste0(
      "k = ", format_count(k$value), if (k$verdict == "above") paste0(
        ", ", plural(k$n_above, "record"), " below ", format_number(k$limit)
      )
    ),
    if (nrow(others)) paste0(
      others$measure, " ", format_risk(others$value), " above ", format_number(others$limit)
    ),
    if (length(page$later)) {
      paste(paste(page$later, collapse = ", "), "judged when written")
    } else if (any(rows$verdict == "not judged")) {
      "not judged"
    } else if (!any(rows$verdict == "above")) {
      "within the limits"
    }
  ), collapse = ", ")
}
