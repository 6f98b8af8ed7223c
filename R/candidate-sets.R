# Columns of candidates put together: one list of distinct sets for all of them.

# Several columns, below each other or each for itself, with one list of sets:
# equal sets get equal codes. Values of plain columns are sets of one.
combine_candidates <- function(columns) {
  unsplit_columns(share_sets(columns))
}

# The columns with one list of sets.
share_sets <- function(columns) {
  interval <- any(vapply(columns, is_interval, NA))
  columns <- lapply(columns, as_candidates, interval = interval)
  if (interval && !all(vapply(columns, is_interval, NA))) {
    stop_cells(
      "be all intervals, or none", found = "Some are intervals and others sets of values."
    )
  }
  sets <- lapply(columns, candidate_sets)
  if (length(unique(sets)) <= 1 && are_distinct(sets[[1]])) {
    return(columns)
  }
  spread_sets(columns, unite_sets(unlist(sets, recursive = FALSE), interval))
}

# TRUE if no set stands twice in a list of them, whatever type its numbers have.
are_distinct <- function(sets) {
  !anyDuplicated(sets) && length(unique(vapply(sets, typeof, ""))) <= 1
}

# A column with one cell per set of the list.
unite_sets <- function(sets, interval) {
  values <- unite_values(sets)
  sizes <- lengths(sets)
  if (interval) {
    low <- cumsum(sizes) - 1L
    return(interval_sets(values[low], values[low + 1L]))
  }
  found <- find_sets(values, rep(seq_along(sets), sizes), length(sets))
  new_candidates(found$codes, found$sets)
}

# The columns with the sets of `united`, which has a cell for every set of each
# of them, one after the other.
spread_sets <- function(columns, united) {
  n_sets <- vapply(columns, function(x) length(candidate_sets(x)), 1L)
  place <- split(
    as.vector(set_codes(united)),
    factor(rep(seq_along(columns), n_sets), levels = seq_along(columns))
  )
  Map(function(x, codes) {
    out <- codes[as.vector(set_codes(x))]
    names(out) <- names(x)
    new_candidates(out, candidate_sets(united), is_interval(united))
  }, columns, place)
}

# The column with every set once: columns made by hand, or saved by the first
# version, may hold equal sets under several codes.
distinct_sets <- function(x) {
  if (are_distinct(candidate_sets(x))) {
    return(x)
  }
  spread_sets(list(x), unite_sets(candidate_sets(x), is_interval(x)))[[1]]
}

# Columns of sets and of intervals as pieces of a line, for comparing only: every
# cell holds the lower and the upper end of each of its pieces, a value being a
# piece without length.
share_pieces <- function(columns) {
  columns <- lapply(columns, as_candidates)
  cells <- unlist(lapply(columns, function(x) {
    sets <- candidate_sets(x)
    if (is_interval(x)) sets else lapply(sets, rep, each = 2L)
  }), recursive = FALSE)
  ends <- unite_values(cells)
  if (is.character(ends)) {
    stop_cells("be numbers, Dates or times if others are intervals", "Found: text.")
  }
  low <- every_other(ends, 1)
  high <- every_other(ends, 2)
  piece <- pair_codes(match(low, unique(low)), match(high, unique(high)))
  found <- find_sets(piece, rep(seq_along(cells), lengths(cells) / 2), length(cells))
  first <- match(seq_along(found$sets), found$codes)
  spread_sets(columns, new_candidates(found$codes, cells[first], interval = TRUE))
}

unsplit_columns <- function(columns) {
  new_candidates(
    unlist(lapply(columns, set_codes)), candidate_sets(columns[[1]]),
    is_interval(columns[[1]])
  )
}

# Every second value, from the first or the second on: the lower or the upper ends
# of pieces.
every_other <- function(values, from) {
  values[seq.int(from, by = 2L, length.out = length(values) %/% 2L)]
}

# Cells with all values from a lower to an upper bound.
interval_sets <- function(lower, upper) {
  n <- length(lower)
  values <- unite_values(list(lower, upper))
  if (is.character(values)) {
    stop_cells("have numbers, Dates or times as bounds", "Found: text.")
  }
  low <- values[seq_len(n)]
  high <- values[n + seq_len(n)]
  unknown <- is.na(low) | is.na(high)
  below <- sum(!unknown & low > high)
  if (below > 0) {
    stop_cells(
      "have no lower bound above its upper bound", paste0(plural(below, "interval"), ".")
    )
  }
  codes <- rep(NA_integer_, n)
  key <- pair_codes(match(low, unique(low)), match(high, unique(high)))
  key[unknown] <- NA
  codes <- match(key, unique(key[!unknown]))
  both <- unclass_pairs(values, match(seq_len(max(0L, codes, na.rm = TRUE)), codes), n)
  names(codes) <- names(lower)
  new_candidates(codes, both, interval = TRUE)
}

new_candidates <- function(codes, sets, interval = FALSE) {
  structure(
    codes,
    sets = sets,
    class = c(if (interval) "sdc_candidate_interval", "sdc_candidates")
  )
}

# The codes, without class and sets. Some that point beyond the sets show that
# columns were put together without theirs.
set_codes <- function(x) {
  n_sets <- length(attr(x, "sets", exact = TRUE))
  attr(x, "sets") <- NULL
  codes <- unclass(x)
  if (length(codes) && any(codes > n_sets, na.rm = TRUE)) {
    stop_sdc(
      "bad_column", "A column of candidates must hold its own sets.",
      x = "Some values point to sets of another column.",
      i = "Combine such columns by c() or rbind() of data frames, not by rbindlist()."
    )
  }
  codes
}

# The list of distinct sets.
candidate_sets <- function(x) attr(x, "sets", exact = TRUE)

stop_cells <- function(must, found = NULL, advice = NULL) {
  stop_sdc(
    "bad_argument",
    c(paste0("Candidates must ", must, "."), x = found, i = advice),
    argument = "..."
  )
}

# One vector of all values, in a type that holds every one of them. Text,
# numbers, Dates and times do not mix; what is missing everywhere has no type.
unite_values <- function(parts) {
  if (length(parts) > 1000 && is_one_plain_type(parts)) {
    return(unlist(parts, use.names = FALSE))
  }
  parts <- lapply(parts, plain_values)
  scale <- vapply(parts, value_scale, "")
  scales <- unique(scale[nzchar(scale)])
  if (length(scales) > 1) {
    stop_cells("be of one type", paste0("Found: ", paste(scales, collapse = ", "), "."))
  }
  if (length(scales) == 0) {
    return(rep(NA, sum(lengths(parts))))
  }
  parts[scale == ""] <- lapply(lengths(parts[scale == ""]), rep_len, x = NA)
  values <- unlist(lapply(parts, as.vector), use.names = FALSE)
  switch(scales,
    dates = structure(as.double(values), class = "Date"),
    times = structure(
      as.double(values),
      class = c("POSIXct", "POSIXt"), tzone = attr(parts[[match("times", scale)]], "tzone")
    ),
    values
  )
}

# TRUE if very many vectors are, as most are, bare ones of one type, so that
# they need not be looked at one by one.
is_one_plain_type <- function(parts) {
  types <- unique(vapply(parts, typeof, ""))
  plain <- !any(vapply(parts, is.object, NA))
  if (plain && "logical" %in% types && length(types) > 1) {
    if (!all(is.na(unlist(parts[vapply(parts, is.logical, NA)])))) {
      return(all(types %in% c("logical", "integer", "double")))
    }
    types <- setdiff(types, "logical")
  }
  plain && (identical(types, "character") || all(types %in% c("logical", "integer", "double")))
}

# Values without names, labels or levels.
plain_values <- function(x) {
  if (is.null(x)) {
    return(NULL)
  }
  if (has_bad_codes(x)) {
    stop_cells("be numbers, text, Dates or times", "Found: a factor with codes without a level."
    )
  }
  if (is.factor(x)) {
    return(as.character(x))
  }
  if (inherits(x, "haven_labelled")) {
    return(drop_user_missing(x))
  }
  known <- if (is.object(x)) {
    inherits(x, c("Date", "POSIXct")) && typeof(x) %in% c("integer", "double")
  } else {
    typeof(x) %in% c("logical", "integer", "double", "character")
  }
  if (!known) {
    stop_cells(
      "be numbers, text, Dates or times",
      paste0("Found: class ", quote_names(class(x)), ".")
    )
  }
  x
}

# The scale of values that may share a column; "" if all values are missing.
value_scale <- function(x) {
  if (all(is.na(x))) {
    ""
  } else if (inherits(x, "Date")) {
    "dates"
  } else if (inherits(x, "POSIXct")) {
    "times"
  } else if (is.character(x)) {
    "text"
  } else {
    "numbers"
  }
}

# Cuts a vector into consecutive pieces.
cut_values <- function(values, sizes) {
  ends <- cumsum(sizes)
  Map(function(from, to) values[from:to], ends - sizes + 1L, ends)
}

# Two vectors of codes as one number each; exact while the codes are below 2^26.
pair_codes <- function(a, b) {
  a * (max(0, b, na.rm = TRUE) + 1) + b
}

# The distinct sets of `n` cells. `values` stand in the order of their cells.
# Sets are grown value by value: cells that agree so far share a node, so that
# the work is that of sorting the values, however many cells there are.
find_sets <- function(values, cell, n) {
  missing <- is.na(values)
  unknown <- logical(n)
  unknown[cell[missing]] <- TRUE
  some <- logical(n)
  some[cell[!missing]] <- TRUE
  keep <- !unknown[cell]
  values <- values[keep]
  cell <- cell[keep]
  # Dates are matched as the numbers they are.
  bare <- as.vector(values)
  distinct <- unique(bare)
  code <- match(bare, distinct)
  again <- duplicated(pair_codes(cell, code))
  cell <- cell[!again]
  code <- code[!again]
  size <- tabulate(cell, n)
  place <- sequence(size[size > 0])
  node <- numeric(n)
  made <- 0
  by_place <- split(seq_along(place), place)
  for (rows in by_place) {
    at <- cell[rows]
    key <- pair_codes(node[at], code[rows])
    node[at] <- made + match(key, unique(key))
    made <- max(node[at])
  }
  node[size == 0] <- NA
  ids <- unique(node[!is.na(node)])
  codes <- match(node, ids)
  first <- match(seq_along(ids), codes)
  chosen <- logical(n)
  chosen[first] <- TRUE
  place <- match(bare, distinct)[!again][chosen[cell]]
  list(
    codes = codes, sets = cut_values(values[match(distinct, bare)][place], size[first]),
    n_partial = sum(unknown & some)
  )
}

# Any vector as candidates: a value becomes a cell with one value, in a column
# of intervals the interval from it to itself.
as_candidates <- function(x, interval = FALSE) {
  if (is_candidates(x)) {
    return(x)
  }
  values <- unite_values(list(x))
  if (interval) {
    return(interval_sets(values, values))
  }
  found <- find_sets(values, seq_along(values), length(values))
  new_candidates(found$codes, found$sets)
}

# The rank of every set: by its first value, then by its second, and so on.
rank_sets <- function(sets) {
  if (length(sets) == 0) {
    return(integer())
  }
  values <- do.call(c, sets)
  code <- match(values, sorted_values(values))
  size <- lengths(sets)
  start <- cumsum(size) - size
  keys <- lapply(seq_len(max(size)), function(p) {
    ifelse(p > size, 0L, code[pmin(start + p, length(code))])
  })
  order(do.call(order, c(keys, method = "radix")))
}

set_text <- function(sets, interval) {
  if (length(sets) == 0) {
    return(character())
  }
  values <- value_text(do.call(c, sets))
  size <- lengths(sets)
  if (interval) {
    pieces <- paste0("[", every_other(values, 1), ",", every_other(values, 2), "]")
    if (all(size == 2)) {
      return(pieces)
    }
    return(as.vector(tapply(pieces, rep(seq_along(size), size / 2), paste, collapse = "|")))
  }
  out <- values[cumsum(size) - size + 1L]
  several <- size > 1
  pieces <- split(values, rep(seq_along(size), size))[several]
  out[several] <- vapply(pieces, paste, "", collapse = "|")
  out
}
