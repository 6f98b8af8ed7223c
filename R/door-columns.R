# Columns of a data frame as bare values, the way the core codes them and the
# way values of two tables compare. Types are told by class, never by storage.

# Sources of all columns for the core, after one error for all that have no defined values. Columns
# of candidates are allowed if `candidates` is TRUE.
column_sources <- function(data, positions, candidates = FALSE) {
  n <- nrow(data)
  columns <- unclass(data)[positions]
  if (may_lack_letters(columns)) {
    for (v in seq_along(columns)) check_letters(columns[v], names(columns)[[v]])
  }
  sources <- lapply(unname(columns), function(x) {
    if (candidates && is_candidates(x)) candidate_source(x, n) else column_source(x, n)
  })
  bad <- vapply(sources, is.null, NA)
  if (any(bad)) {
    names <- names(data)[positions[bad]]
    classes <- vapply(positions[bad], function(v) paste(class(data[[v]]), collapse = "/"), "")
    damaged <- vapply(positions[bad], function(v) has_bad_codes(data[[v]]), NA)
    stop_sdc(
      "bad_column",
      paste0(
        "Every column used must be a factor, text, number, logical, Date, ",
        "POSIXct or labelled column."
      ),
      rlang::set_names(
        utils::head(paste0(
          encodeString(names, quote = "\""), " has class ", classes,
          ifelse(damaged, " and codes without a level", ""), "."
        ), 5),
        "x"
      ),
      i = if (any(vapply(data[positions[bad]], is_candidates, NA))) {
        "Candidates are understood by n_matches(); elsewhere decide on one value."
      } else if (any(damaged)) {
        "Read the file again, or set these codes to NA: they stand for no value."
      } else if (any(vapply(data[positions[bad]], is.list, NA))) {
        "Make plain columns of them, or leave them out."
      } else {
        "Convert them, by as.vector(), unclass() or as.character(), or leave them out."
      },
      columns = names, classes = classes
    )
  }
  sources
}

# A quick look, before text_marks() looks at every column.
may_lack_letters <- function(columns) {
  Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX") || any(vapply(columns, function(x) {
    text <- if (is.factor(x)) levels(x) else x
    is.character(text) && "bytes" %in% Encoding(unique(as_bare(text)))
  }, NA))
}

# One column as bare values and the way to read them: `kind` is how the core
# codes it, `scale` how values of two tables compare. NULL for a column whose
# class has no defined values.
column_source <- function(x, n) {
  # Bare vectors and plain factors are what they are.
  said <- names(attributes(x))
  if (!is.null(said) && !identical(said, c("levels", "class"))) x <- plain_column(x)
  if (length(dim(x)) > 0 || length(x) != n) {
    return(NULL)
  }
  if (is.factor(x)) {
    return(factor_source(x))
  }
  if (inherits(x, "haven_labelled")) {
    x <- drop_user_missing(x)
  } else if (inherits(x, "integer64")) {
    return(as_source(x, "wide", "wide", TRUE))
  } else if (inherits(x, c("Date", "POSIXct"))) {
    scale <- if (inherits(x, "Date")) "date" else "time"
    kind <- switch(typeof(x), integer = "integer", double = "double")
    return(if (!is.null(kind)) as_source(x, kind, scale, TRUE))
  } else if (is.object(x)) {
    return(NULL)
  }
  switch(typeof(x),
    logical = as_source(x, "logical", "number", TRUE),
    integer = as_source(x, "integer", "number", TRUE),
    double = as_source(x, "double", "number", TRUE),
    character = as_source(x, "text", "text", FALSE)
  )
}

# A column of candidates: every set is a level.
candidate_source <- function(x, n) {
  if (length(x) != n) {
    return(NULL)
  }
  x <- distinct_sets(x)
  sets <- candidate_sets(x)
  source <- as_source(as_bare(set_codes(x)), "levels", "sets", FALSE, seq_along(sets))
  c(source, list(sets = sets, interval = is_interval(x)))
}

as_source <- function(values, kind, scale, ordered, level_names = NULL) {
  list(
    values = values, kind = kind, scale = scale, ordered = ordered,
    level_is_missing = is.na(level_names), level_names = level_names
  )
}

factor_source <- function(x) {
  levels <- if (is.null(levels(x))) character() else levels(x)
  if (typeof(x) != "integer" || !is.character(levels) || has_bad_codes(x)) {
    return(NULL)
  }
  if (anyDuplicated(levels)) {
    # Equal text in two encodings can stand as two levels.
    once <- unique(levels)
    return(as_source(match(levels, once)[x], "levels", "text", is.ordered(x), once))
  }
  as_source(x, "levels", "text", is.ordered(x), levels)
}

# Number of values in a column with a code that it declares missing, a tagged one included, and
# these codes as text.
declared_missing <- function(x) {
  none <- list(n = 0L, codes = "")
  x <- plain_column(x)
  if (is_candidates(x) || length(dim(x)) > 0) {
    return(none)
  }
  if (inherits(x, "haven_labelled")) {
    values <- as.vector(unclass(x))
    codes <- attr(x, "na_values", exact = TRUE)
    range <- attr(x, "na_range", exact = TRUE)
    among <- values %in% codes & !is.na(values)
    within <- if (length(range) == 2) {
      !is.na(values) & values >= range[[1]] & values <= range[[2]]
    } else {
      FALSE
    }
    n <- sum(among | within)
    # Declared codes may be named; a record's own value within a range may not.
    found <- c(
      if (any(among)) value_text(sorted_values(values[among])),
      if (any(within)) paste(value_text(range[[1]]), "to", value_text(range[[2]]))
    )
    x <- values
  } else if (is.object(x)) {
    return(none)
  } else {
    n <- 0L
    found <- character()
  }
  tags <- missing_tags(x)
  found <- c(found, if (length(tags)) paste0("NA(", sort(unique(tags)), ")"))
  list(n = n + length(tags), codes = paste(found, collapse = ", "))
}

# Puts the values of several tables below each other, as values.
stack_sources <- function(sources, name) {
  kinds <- unique(vapply(sources, `[[`, "", "kind"))
  scales <- unique(vapply(sources, `[[`, "", "scale"))
  # Names, of tables say, would cost more than all the rest.
  values <- unname(lapply(sources, `[[`, "values"))
  ordered <- all(vapply(sources, `[[`, NA, "ordered"))
  if (identical(scales, "sets")) {
    # Sets are shared before, by share_candidates().
    stacked <- sources[[1]]
    stacked$values <- unlist(values)
    return(stacked)
  }
  if (identical(kinds, "levels")) {
    names <- lapply(sources, `[[`, "level_names")
    union <- unique(unlist(names))
    codes <- unlist(Map(function(x, l) {
      if (identical(l, union)) as_bare(x) else match(l, union)[x]
    }, values, names))
    same_order <- all(vapply(names, function(l) !is.unsorted(match(l, union)), NA))
    return(as_source(codes, "levels", "text", ordered && same_order, union))
  }
  if (length(kinds) == 1 && length(scales) == 1) {
    return(as_source(unlist(lapply(values, as_bare)), kinds, scales, ordered))
  }
  if (length(scales) == 1 && scales %in% c("number", "date", "time")) {
    return(as_source(unlist(lapply(values, as.double)), "double", scales, ordered))
  }
  as_source(unlist(lapply(sources, source_text, name = name)), "text", "text", FALSE)
}

# Values of any kind as text, for columns whose types differ between tables.
source_text <- function(source, name) {
  switch(source$scale,
    text = if (is.null(source$level_names)) {
      as_bare(source$values)
    } else {
      source$level_names[source$values]
    },
    wide = {
      check_installed("bit64", paste0("compare the column \"", name, "\" as text"))
      as.character(source$values)
    },
    number = number_text(source$values),
    as.character(source$values)
  )
}

value_rank <- function(x) match(x, sorted_values(x))

# A column of whole numbers within bounds, as integers; `column` is what the
# argument `arg` names.
whole_column <- function(data, column, arg, low, high) {
  x <- plain_column(data[[check_column(column, data, arg)]])
  if (inherits(x, "haven_labelled")) x <- drop_user_missing(x)
  good <- is.numeric(x) && !is.object(x) && length(dim(x)) == 0 &&
    (is.integer(x) || all(x == round(x), na.rm = TRUE)) &&
    all(x >= low & x <= high, na.rm = TRUE)
  if (!good && !(is.logical(x) && all(is.na(x)))) {
    stop_argument(
      arg, paste("name a column of whole numbers from", low, "to", high),
      found = if (is.numeric(x)) {
        "It has other numbers."
      } else {
        paste0("It has class ", quote_names(class(x)), ".")
      }
    )
  }
  as.integer(x)
}

# People numbered in order of first appearance, and the record where each of
# them first occurs.
number_ids <- function(x, arg) {
  source <- column_source(x, length(x))
  if (has_bad_codes(x)) {
    stop_sdc(
      "bad_column", paste0("`", arg, "` must name a column of numbers, text or a factor."),
      x = "The factor has codes without a level.",
      columns = arg, classes = class(x)
    )
  }
  if (is.null(source)) {
    stop_argument(
      arg, "name a column of numbers, text or a factor",
      found = paste0("It has class ", quote_names(class(x)), ".")
    )
  }
  values <- as_bare(source$values)
  unknown <- anyNA(values) ||
    (any(source$level_is_missing) && any(source$level_is_missing[values]))
  if (unknown) {
    stop_argument(
      arg, "name a column without missing values", found = "It has missing values."
    )
  }
  distinct <- unique(values)
  list(number = match(values, distinct), first = match(distinct, values))
}

# Values as doubles or UTF-8.
bare_values <- function(source) {
  values <- as_bare(source$values)
  if (!is.null(source$level_names)) values <- source$level_names[values]
  if (is.character(values)) {
    enc2utf8(values)
  } else if (source$kind == "wide") {
    # Its 64 bits as two numbers.
    as.double(readBin(writeBin(values, raw()), "integer", n = 2 * length(values)))
  } else {
    as.double(values)
  }
}

# All values of a column that is not a key variable.
role_values <- function(x) {
  source <- column_source(x, length(x))
  if (is.null(source)) {
    return(list(scale = "other", values = enc2utf8(as.character(unlist(x)))))
  }
  list(scale = source$scale, values = bare_values(source))
}

key_type <- function(x) {
  if (is_interval(x)) {
    "interval"
  } else if (is_candidates(x)) {
    "candidates"
  } else if (is.factor(x)) {
    if (is.ordered(x)) "ordered" else "factor"
  } else if (inherits(x, "haven_labelled")) {
    "labelled"
  } else if (inherits(x, "Date")) {
    "date"
  } else if (inherits(x, "POSIXct")) {
    "time"
  } else if (inherits(x, "integer64")) {
    "integer"
  } else {
    switch(typeof(x), character = "text", double = "number", typeof(x))
  }
}

# Some values of a column, with its class and labels.
take_values <- function(x, rows, name) {
  if (is.list(x) || length(dim(x)) > 0) {
    stop_sdc(
      "bad_column", "Every variable must be a vector.",
      x = paste0(quote_names(name), " has class ", quote_names(class(x)), "."),
      columns = name, classes = paste(class(x), collapse = "/")
    )
  }
  if (inherits(x, "haven_labelled")) {
    # Their own method keeps labels only while haven is loaded.
    values <- drop_user_missing(x)[rows]
    attributes(values) <- attributes(x)[setdiff(names(attributes(x)), "names")]
    return(values)
  }
  x[rows]
}

# Columns of several tables below each other, their type kept.
unite_columns <- function(pieces, name) {
  if (any(vapply(pieces, is_candidates, NA))) {
    return(combine_candidates(pieces))
  }
  if (all(vapply(pieces, is.factor, NA))) {
    return(unite_factors(pieces))
  }
  last <- pieces[[length(pieces)]]
  kind <- unique(vapply(pieces, piece_kind, ""))
  if (identical(sort(kind), c("factor", "text"))) {
    return(unlist(lapply(pieces, as.character)))
  }
  if (length(kind) > 1) {
    stop_sdc(
      "bad_column", "A variable must have values of one kind in all waves.",
      x = paste0(quote_names(name), " has ", paste(kind, collapse = " and "), "."),
      columns = name, classes = kind
    )
  }
  if (inherits(last, "haven_labelled")) {
    values <- unlist(lapply(pieces, drop_user_missing))
    attributes(values) <- attributes(last)
    return(values)
  }
  switch(kind,
    wide = structure(unlist(lapply(pieces, as_bare)), class = "integer64"),
    text = unlist(lapply(pieces, as_bare)),
    number = unlist(lapply(pieces, as_bare)),
    do.call(c, pieces)
  )
}

# Kind of the values of a column, in whatever wave.
piece_kind <- function(x) {
  if (is.factor(x)) {
    "factor"
  } else if (inherits(x, "integer64")) {
    "wide"
  } else if (inherits(x, "haven_labelled")) {
    paste("labelled", if (is.character(x)) "text" else "number")
  } else if (is.object(x)) {
    class(x)[[1]]
  } else if (is.character(x)) {
    "text"
  } else {
    "number"
  }
}

unite_factors <- function(pieces) {
  levels <- lapply(pieces, levels)
  union <- unique(unlist(levels))
  ordered <- all(vapply(pieces, is.ordered, NA)) &&
    all(vapply(levels, function(l) !is.unsorted(match(l, union)), NA))
  codes <- unlist(Map(function(x, l) match(l, union)[as.integer(x)], pieces, levels))
  structure(codes, levels = union, class = c(if (ordered) "ordered", "factor"))
}

# 64-bit whole numbers as doubles, without a package that knows them: the low 32 bits
# and the high ones. Beyond 2^53 the sum is rounded, and too large for its caller.
wide_to_double <- function(x) {
  words <- matrix(readBin(writeBin(as_bare(x), raw(), endian = "little"), "integer",
    n = 2 * length(x), endian = "little"
  ), nrow = 2)
  # The missing integer is the word with the highest bit alone.
  words[is.na(words)] <- -2^31
  low <- words[1, ] + ifelse(words[1, ] < 0, 2^32, 0)
  replace(words[2, ] * 2^32 + low, words[2, ] == -2^31 & low == 0, NA)
}

# A column as expressions of a hierarchy see it.
column_values <- function(x) {
  x <- plain_column(x)
  if (inherits(x, "haven_labelled")) {
    as_bare(drop_user_missing(x))
  } else if (inherits(x, "integer64")) {
    wide_to_double(x)
  } else {
    x
  }
}

# Missing values in place, whatever the class: its methods may not be loaded, or
# may refuse.
blank_values <- function(x, rows) {
  kept <- attributes(x)
  # The missing integer64 has the bits of -0.
  missing <- if (inherits(x, "integer64")) -0.0 else NA
  bare <- unclass(x)
  bare[rows] <- missing
  attributes(bare) <- kept
  bare
}

# An order of values that does not depend on engine or locale.
order_values <- function(x) {
  source <- column_source(x, length(x))
  if (is.null(source)) seq_along(x) else as_bare(source$values)
}

# The values of a column in some rows; whatever is missing is NA.
pattern_values <- function(x, rows, name) {
  values <- if (inherits(x, "integer64")) {
    structure(as_bare(x)[rows], class = "integer64")
  } else {
    take_values(x, rows, name)
  }
  if (is.double(values) && !is.object(values)) {
    # One missing value, and one zero.
    values[is.nan(values)] <- NA
    values <- values + 0
  }
  values
}

# Values numbered from 1, missing being one of its own.
value_numbers <- function(x, arg) {
  source <- column_source(x, length(x))
  if (is.null(source) || has_bad_codes(x)) {
    stop_sdc(
      "bad_column", paste0("`", arg, "` must name a column of numbers, text or a factor."),
      x = paste0("It has class ", quote_names(class(x)), "."),
      columns = arg, classes = class(x)
    )
  }
  values <- as_bare(source$values)
  match(values, unique(values))
}
