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
  united <- unite_sets(unlist(sets, recursive = FALSE), interval)
  spread_sets(columns, united)
}

# Whether no set stands twice in a list of them, whatever type its numbers have.
are_distinct <- function(sets) {
  !anyDuplicated(sets) && length(unique(vapply(sets, typeof, ""))) <= 1
}

# A column with one cell per set of the list.
unite_sets <- function(sets, interval) {
  values <- unite_values(sets)
  sizes <- lengths(sets)
  if (interval) {
    low <- cumsum(sizes) - 1L
    return(candidate_interval(values[low], values[low + 1L]))
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
  if (are_distinct(whole_sets(x))) {
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
    stop_cells("be numbers, Dates or times beside intervals", "Found: text.")
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
