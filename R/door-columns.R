# Columns of a data frame as bare values, the way the core codes them and the
# way values of two tables compare. Types are told by class, never by storage.

# What the core needs of every column, after one error for all that have no
# defined values. Columns of candidates are taken where `candidates` says so.
column_sources <- function(data, positions, candidates = FALSE) {
  n <- nrow(data)
  sources <- lapply(unname(unclass(data)[positions]), function(x) {
    if (candidates && is_candidates(x)) candidate_source(x, n) else column_source(x, n)
  })
  bad <- vapply(sources, is.null, NA)
  if (any(bad)) {
    names <- names(data)[positions[bad]]
    classes <- vapply(
      positions[bad], function(v) paste(class(data[[v]]), collapse = "/"), ""
    )
    damaged <- vapply(positions[bad], function(v) has_bad_codes(data[[v]]), NA)
    stop_sdc(
      "bad_column",
      c(
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
        } else {
          "Convert these columns, or leave them out."
        }
      ),
      columns = names, classes = classes
    )
  }
  sources
}

# One column as bare values and the way to read them: `kind` is how the core
# codes it, `scale` how values of two tables compare. NULL for a column whose
# class has no defined values.
column_source <- function(x, n) {
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
  levels <- levels(x)
  if (typeof(x) != "integer" || !is.character(levels) || has_bad_codes(x)) {
    return(NULL)
  }
  if (anyDuplicated(levels)) {
    # Equal text in two encodings can stand as two levels.
    once <- unique(levels)
    codes <- match(levels, once)[x]
    return(as_source(codes, "levels", "text", is.ordered(x), once))
  }
  as_source(x, "levels", "text", is.ordered(x), levels)
}

# Whether a factor has codes that no level belongs to.
has_bad_codes <- function(x) {
  if (!is.factor(x) || typeof(x) != "integer") {
    return(FALSE)
  }
  codes <- unclass(x)
  min(codes, 1L, na.rm = TRUE) < 1L || max(codes, 0L, na.rm = TRUE) > nlevels(x)
}

# How many cells of a column hold a code that it declares missing, a tagged one
# included, and which such codes occur, as text.
declared_missing <- function(x) {
  none <- list(n = 0L, codes = "")
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
    # What is declared, never a record's own value within a range.
    found <- c(
      if (any(among)) value_text(sort(unique(values[among]))),
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

# The letters of the tagged missing values of a vector of numbers: haven keeps
# them in the fifth byte of the NaN, of which R itself makes no use.
missing_tags <- function(x) {
  if (!is.double(x) || !anyNA(x)) {
    return(character())
  }
  bytes <- matrix(writeBin(x[is.na(x)], raw(), endian = "little"), nrow = 8)[5, ]
  bytes <- as.integer(bytes[bytes != 0])
  # Each byte is a letter.
  strsplit(intToUtf8(bytes), "")[[1]]
}

# Values that a labelled column declares missing become NA.
drop_user_missing <- function(x) {
  declared <- attr(x, "na_values", exact = TRUE)
  range <- attr(x, "na_range", exact = TRUE)
  x <- as.vector(unclass(x))
  if (length(declared)) {
    x[x %in% declared] <- NA
  }
  if (length(range) == 2) {
    x[!is.na(x) & x >= range[[1]] & x <= range[[2]]] <- NA
  }
  x
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
    codes <- unlist(Map(function(x, l) match(l, union)[x], values, names))
    same_order <- all(vapply(names, function(l) !is.unsorted(match(l, union)), NA))
    return(as_source(codes, "levels", "text", ordered && same_order, union))
  }
  if (length(kinds) == 1 && length(scales) == 1) {
    return(as_source(unlist(lapply(values, as_bare)), kinds, scales, ordered))
  }
  if (length(scales) == 1 && scales %in% c("number", "date", "time")) {
    return(as_source(unlist(lapply(values, as.double)), "double", scales, ordered))
  }
  text <- unlist(lapply(sources, source_text, name = name))
  as_source(text, "text", "text", FALSE)
}

# Values without class or names; an integer64 keeps its bits.
as_bare <- function(x) {
  attributes(x) <- NULL
  x
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

# Numbers as people write them: 100000 and not 1e+05, with as many digits as it
# takes to tell them apart.
number_text <- function(x) {
  if (is.logical(x)) {
    return(as.character(x))
  }
  values <- unique(as.double(x))
  text <- as.character(values)
  finite <- which(is.finite(values))
  exact <- values[finite]
  # Text that stands for data does not depend on options(OutDec = ).
  as_text <- function(x, digits) {
    formatC(x, digits = digits, width = 1, format = "fg", decimal.mark = ".")
  }
  digits <- as_text(exact, 15)
  inexact <- as.double(digits) != exact
  digits[inexact] <- as_text(exact[inexact], 17)
  text[finite] <- digits
  text[is.nan(values)] <- NA
  text[match(as.double(x), values)]
}

# Values as text that stands for them.
value_names <- function(values) {
  if (is.numeric(values) && !is.object(values)) number_text(values) else as.character(values)
}
