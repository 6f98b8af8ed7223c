# The figures of a frame, those of file_check() by its own functions, and files that are written.

# `rows` of measures() with their limits, `n` records, words for people; or the `reason` why
# there are none. A frame whose columns with roles have the values of another's has its figures.
# A page that is a `draft`, of a frame that is not `written` yet, has the limits of the key
# variables alone: the population and households take most of the time.
judge_frame <- function(state, limit, known, written = FALSE) {
  file <- state$file
  if (!written) file$roles <- file$roles[names(file$roles) %in% draft_roles]
  of_roles <- unlist(file$roles[setdiff(names(file$roles), population_roles)])
  columns <- state$columns[intersect(of_roles, names(state$columns))]
  key <- list(record_hash(columns), file$roles, file$remedy, is.null(file$object))
  for (other in known) {
    if (identical(other$page$key, key)) {
      return(other$page)
    }
  }
  page <- tryCatch(judged_page(file, limit), sdcRisk_error = function(e) {
    list(reason = first_line(e))
  })
  page$key <- key
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
  rows <- limit_rows(file, limit)
  # Weights and population are not known of every file: the journalist's limit is for those.
  rows <- rows[!is.na(rows$limit) & (rows$verdict != "not judged" | rows$measure == "k"), ]
  n <- n_records(file$data)
  above <- rows$verdict == "above"
  n_above <- max(0, rows$n_above[above], na.rm = TRUE)
  journalist <- above & rows$measure == "journalist"
  list(
    rows = rows, n = n, k = rows$value[match("k", rows$measure)], keys = file$roles$key_vars,
    recode = recode_first(n_above, n), max_risk = if (any(journalist)) limit$journalist
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
    if (length(page$later)) paste(
      paste(page$later, collapse = ", "), "judged when written"
    ) else if (!any(rows$verdict == "above")) "within the limits"
  ), collapse = ", ")
}

# Files that are written --------------------------------------------------------------

look_at_written <- function(run, one) {
  if (!is.null(one$text)) {
    what <- if (is.null(one$what)) paste0("Text is written by ", one$name, "().") else one$what
    return(written_otherwise(run, what, one$name))
  }
  value <- one$value
  names <- writer_names(one$name)
  if (is_followable(value)) {
    written_frame(run, value, names, one$variable)
  } else if (is.list(value) && !is.object(value)) {
    for (part in value) look_at_written(run, list(name = one$name, value = part, variable = ""))
  } else if (may_hold_records(value)) {
    written_otherwise(run, "A line writes an object other than a data frame.", names)
  }
}

least_records <- 20

# A vector, or an object with one in it, such as a fitted model, that may have a value per record.
may_hold_records <- function(value) {
  own <- any(startsWith(class(value), "sdc_"))
  size <- if (is.list(value)) lengths(value) else if (is.atomic(value)) length(value)
  !own && any(size >= least_records)
}

# Objects without columns by which they could be followed.
written_otherwise <- function(run, what, names = character()) {
  read <- any(vapply(run$others, `[[`, NA, "read"))
  if (length(run$followed) || read) {
    add_finding(run, "not_followed", paste(
      what, "This check cannot follow its values back to a file with roles: it was not judged."
    ), names = names)
  }
}

written_frame <- function(run, value, names, variable) {
  tables <- Filter(function(other) other$table && is_unchanged(value, other), run$others)
  if (length(tables)) {
    return(written_unknown(run, value, names, variable))
  }
  known <- Filter(function(state) is_unchanged(value, state), run$followed)
  state <- if (length(known)) {
    whole_state(run, known[[1]])
  } else {
    target <- target_of(run$parsed$code[[run$at]])
    target$name <- NULL
    like <- parent_of(value, "", target, run$followed, run$parsed$first[[run$at]])
    if (!nzchar(variable) && !is.null(like) && is_part(value, like)) variable <- like$name
    follow(run, value, variable, target, run$followed, written = TRUE)
  }
  if (is.null(state)) {
    return(written_unknown(run, value, names, variable))
  }
  settle_held(run, sure = state$name)
  if (is_remedy(value) || is_sdcmicro(value)) {
    release <- if (is_remedy(value)) "release_data(" else "sdcMicro::extractManipData("
    add_finding(
      run, "original_written", paste0(
        frame_words(state$name),
        " is written with the values before its protection, or what undoes it."
      ), replacing_code(state$name, release, ")"), names = names
    )
  }
  written_above(run, state, names)
  written_ids(run, state, names)
  written_told(run, state, names)
}

replacing_code <- function(name, before, after) {
  if (nzchar(name)) {
    in_script(paste0(name_code(name), " <- ", before, name_code(name), after))
  } else {
    ""
  }
}

# TRUE if a value has only columns of a frame that is followed, and its records.
is_part <- function(value, state) {
  is.data.frame(value) && all(names(value) %in% names(state$columns)) &&
    nrow(value) == nrow(state$file$data)
}

written_above <- function(run, state, names) {
  page <- state$page
  if (is.null(page$rows)) {
    add_finding(run, "not_followed", paste0(
      frame_words(state$name), " is written and could not be judged: ", page$reason, "."
    ), names = names)
    return(invisible())
  }
  words <- function(verdict) {
    rows_verdict(page$rows[page$rows$verdict == verdict, ], page$n)
  }
  verdicts <- page$rows$verdict
  if (any(verdicts == "above")) {
    add_finding(
      run, "above_limit", paste0(frame_words(state$name), " is written while it is ",
                                 words("above"), "."),
      remedy_code(state, run$limit), names = names
    )
  } else if (any(verdicts == "unclear")) {
    # What an intruder finds who knows that a person is in the file needs no model.
    kept <- verdicts == "ok" & page$rows$scenario == "prosecutor"
    add_finding(run, "limit_unclear", paste0(
      frame_words(state$name), " is written while it is ", words("unclear"), ".",
      if (any(kept)) paste0(" ", paste(page$rows$measure[kept], collapse = ", "), " is kept.")
    ), names = names, severity = if (any(kept)) "information")
  }
}

written_ids <- function(run, state, names) {
  ids <- setdiff(intersect(state$ids, names(state$columns)), if (state$allowed_ids) state$ids)
  ids_found(run, ids, state$name, names)
}

ids_found <- function(run, ids, name, names) {
  if (length(ids)) {
    add_finding(
      run, "identifier_written", paste0(
        frame_words(name), " is written with ", quote_names(ids), ", which ",
        ngettext(length(ids), "identifies", "identify"), " persons or households."
      ), without_code(run, name, ids), names = names
    )
  }
}

written_told <- function(run, state, names) {
  told <- state$told
  if (is.null(told)) {
    roles <- state$file$roles
    data <- state$file$data
    data <- data[setdiff(names(data), setdiff(unlist(roles), roles$key_vars))]
    told <- told_unasked(told_by_columns(data, NULL, roles$key_vars, pairs = FALSE))
    told <- told[told$share >= 0.5, ]
    if (isTRUE(state$whole)) run$followed[[state$name]]$told <- told
  }
  for (by in unique(told$by)) {
    of <- told[told$by == by, ]
    add_finding(
      run, "told_by_column", paste0(
        frame_words(state$name), " is written with ", quote_names(by), ", which",
        if (all(of$part)) " narrows " else " reveals ", quote_names(of$variable),
        ": an intruder who knows it knows more than the key variables."
      ), without_code(run, state$name, by), names = names
    )
  }
}

# A file of records of which nothing is known but columns that identified records of another.
# Short tables are no files of records.
written_unknown <- function(run, value, names, variable) {
  columns <- columns_of(value)
  is_id <- vapply(columns, function(column) any(vapply(run$ids, identical, NA, column)), NA)
  ids_found(run, names(columns)[is_id | names(columns) %in% names(run$ids)], variable, names)
  made <- target_of(run$parsed$code[[run$at]])$reads
  known <- length(run$followed) || length(intersect(made, names(run$others)))
  if (nrow(value) >= least_records && known) {
    add_finding(run, "not_followed", paste(
      "A data frame is written that this check cannot follow back to a file with roles: it is a",
      "table, or its columns have other names and values. It was not judged."
    ), names = names)
  }
}
