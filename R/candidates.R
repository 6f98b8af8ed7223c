#' Values known only as candidates
#'
#' A column whose cells are sets of admissible values: the month of birth is
#' February or March, the age lies between 30 and 34. Such columns stand in data
#' frames, tibbles and data.tables like any other, and are accepted as key
#' variables where a help page says so.
#'
#' @details
#' **Order.** The order of the values in a cell is kept, since a rule may read
#' the first one; repeated values are dropped. `==` compares cells by their
#' values and their order, whatever columns they stand in. Sorting is by the
#' first value, then by the second, and so on; of intervals by the lower, then
#' by the upper bound.
#'
#' **Nothing known.** A missing value is no candidate: a cell that names `NA`,
#' alone or beside values, is `NA`, nothing is known of it. Cells that name both
#' are counted in a message of class `sdcRisk_message_partial_candidates`: where
#' vectors are taken element by element, a value known for certain is given in
#' each of them. An interval with a missing bound is `NA` as well; an open bound
#' is `-Inf` or `Inf`.
#'
#' **Types.** All values of a column are numbers (or logical), text, Dates or
#' times; the values of a factor count as text. Numbers beside text are an
#' error. Where columns are combined, plain values become cells with one value.
#'
#' **Text from a file.** In a text file such a column is text like `"2|3"`, which
#' is one value unless `split = "|"` takes it apart: blanks around the values are
#' dropped, an empty cell or `NA` is a cell of which nothing is known, and the
#' values become numbers where all of them are written as numbers without leading
#' zeros. Text with `|` that is not split is announced in a message of class
#' `sdcRisk_message_unsplit_candidates`.
#'
#' @section How it is built:
#' Like a factor: integer codes, `NA` where nothing is known, and an attribute
#' `sets` with the list of distinct sets. It therefore survives subsetting,
#' `rbind()`, `merge()`, dplyr's verbs, data.table's `[` and saving, and combining
#' columns unites their sets. There is one exception: `data.table::rbindlist()`,
#' and `rbind()` of data.tables, copy the codes and keep the sets of the first
#' table only, without a word. Combine the columns by `c()`, or the tables as
#' data frames.
#'
#' @section Memory:
#' Beyond the values: at most 450 bytes a record.
#'
#' @param ... One list with a vector of admissible values for every cell, or
#'   several vectors of one length that are taken element by element.
#' @param split For one column of text: what stands between two values, such as
#'   `"|"`. `NULL`: text is a value as it stands.
#' @param lower,upper Numbers, Dates or times of one length: the smallest and
#'   the largest admissible value, both included.
#'
#' @return A vector of class `sdc_candidates`; an interval is of class
#'   `sdc_candidate_interval` as well. `format()` and `as.character()` give
#'   `"2|3"` and `"[30,34]"`; text that holds `|`, a quote or a backslash is
#'   quoted. `as.list()` gives the vectors of values. `summary()` counts the cells
#'   with one value, with several and with none.
#'
#' Errors, of class `sdcRisk_error_bad_argument`: numbers beside text, cells
#' without a value, vectors of unequal length, a lower bound above the upper
#' one, arithmetic.
#' @family matches
#' @export
#' @examples
#' month <- candidates(list(c(2, 3), 6, NA, c(12, 1)))
#' month
#' summary(month) # 1 known, 2 candidates, 1 unknown
#'
#' # the same, element by element
#' candidates(c(2, 6, NA, 12), c(3, 6, NA, 1)) == month
#'
#' # the same, from text
#' candidates(c("2|3", "6", NA, "12|1"), split = "|") == month
#'
#' people <- data.frame(sex = c("f", "m", "f", "m"))
#' people$month <- month
#' people$age <- candidate_interval(c(30, 41, NA, 18), c(34, 41, NA, Inf))
#' people[people$sex == "f", ]
candidates <- function(..., split = NULL) {
  given <- list(...)
  if (!is.null(split)) {
    given <- list(split_text(given, split))
  }
  if (length(given) == 0) {
    stop_cells(
      "be given as a list of vectors, or as vectors", found = "Nothing of the kind was given."
    )
  }
  one_list <- length(given) == 1 && is.list(given[[1]]) && !is.object(given[[1]])
  if (one_list) {
    cells <- given[[1]]
    if (any(lengths(cells) == 0)) {
      stop_cells(
        "name at least one value in every cell",
        paste(plural(sum(lengths(cells) == 0), "cell"), "without a value."),
        "Write NA where nothing is known."
      )
    }
    values <- unite_values(cells)
    cell <- rep(seq_along(cells), lengths(cells))
    n <- length(cells)
  } else {
    n <- unique(lengths(given))
    if (length(n) > 1) {
      stop_cells(
        "have one length where they are taken element by element",
        paste0("Lengths: ", paste(n, collapse = ", "), "."),
        "Give one list to say cell by cell which values are admissible."
      )
    }
    values <- unite_values(given)
    # Cell by cell: all values of the first, then all of the second.
    turned <- as.vector(t(matrix(seq_along(values), nrow = n)))
    values <- values[turned]
    cell <- rep(seq_len(n), each = length(given))
  }
  names <- if (one_list) names(cells) else names(given[[1]])
  found <- find_sets(values, cell, n)
  if (found$n_partial > 0) {
    inform_sdc(
      "partial_candidates",
      c(
        paste0(
          "Nothing is known of ", plural(found$n_partial, "cell"),
          " that ", if (found$n_partial == 1) "names" else "name", " both values and NA."
        ),
        i = "Repeat the value where only one is admissible."
      ),
      n = found$n_partial
    )
  }
  if (is.null(split) && is.character(values)) inform_unsplit(values, cell)
  names(found$codes) <- names
  new_candidates(found$codes, found$sets)
}

# The cells of one column of text as the list of their values: numbers where all
# of them are.
split_text <- function(given, split) {
  if (!is.character(split) || length(split) != 1 || is.na(split) || !nzchar(split)) {
    stop_argument(
      "split", "be the text that stands between two values, such as \"|\""
    )
  }
  text <- if (length(given) == 1) given[[1]]
  if (is.factor(text) && !has_bad_codes(text)) {
    text <- rlang::set_names(as.character(text), names(text))
  }
  if (!is.character(text) && !(is.logical(text) && all(is.na(text)))) {
    stop_cells(
      "be given as one column of text where `split` is given",
      if (length(given) == 1) paste0("Found: class ", quote_names(class(given[[1]])), ".")
    )
  }
  cells <- strsplit(as.character(text), split, fixed = TRUE)
  values <- trimws(unlist(cells))
  # An empty cell, or an empty place between two signs, tells nothing.
  values[values %in% c("", "NA")] <- NA
  cell <- rep(seq_along(cells), lengths(cells))
  # As people write numbers; a leading zero belongs to a code.
  plain <- grepl("^-?(0|[1-9][0-9]*)([.][0-9]+)?$", values)
  if (any(plain) && all(plain | is.na(values))) values <- as.double(values)
  parts <- unname(split(values, factor(cell, seq_along(cells))))
  parts[lengths(parts) == 0] <- list(NA)
  names(parts) <- names(text)
  parts
}

# Text with the sign that print() puts between two values was perhaps meant as
# several.
inform_unsplit <- function(values, cell) {
  n <- length(unique(cell[grepl("|", values, fixed = TRUE)]))
  if (n > 0) {
    inform_sdc(
      "unsplit_candidates",
      c(
        paste0(
          plural(n, "cell"), " of text with \"|\" ", if (n == 1) "is" else "are",
          " taken as one value each."
        ),
        i = "candidates(x, split = \"|\") makes a set of the values between the signs."
      ),
      n = n
    )
  }
}

#' @rdname candidates
#' @export
candidate_interval <- function(lower, upper, ...) {
  check_no_dots(...)
  check_given(c("lower", "upper"))
  if (length(lower) != length(upper)) {
    stop_cells(
      "have as many lower as upper bounds",
      paste0("Lengths: ", length(lower), " and ", length(upper), ".")
    )
  }
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
      "have no lower bound above its upper bound", paste0(plural(below, "cell"), ".")
    )
  }
  codes <- rep(NA_integer_, n)
  key <- pair_codes(match(low, unique(low)), match(high, unique(high)))
  key[unknown] <- NA
  codes <- match(key, unique(key[!unknown]))
  first <- match(seq_len(max(0L, codes, na.rm = TRUE)), codes)
  both <- unclass_pairs(values, first, n)
  names(codes) <- names(lower)
  new_candidates(codes, both, interval = TRUE)
}

# The bounds of the cells `first`, as a list of vectors of two.
unclass_pairs <- function(values, first, n) {
  turned <- as.vector(rbind(first, n + first))
  cut_values(values[turned], rep(2L, length(first)))
}

new_candidates <- function(codes, sets, interval = FALSE) {
  structure(
    codes,
    sets = sets,
    class = c(if (interval) "sdc_candidate_interval", "sdc_candidates")
  )
}

is_candidates <- function(x) inherits(x, "sdc_candidates")

is_interval <- function(x) inherits(x, "sdc_candidate_interval")

# The codes, without class and sets. Some that point beyond the sets show that
# columns were put together without theirs.
set_codes <- function(x) {
  n_sets <- length(attr(x, "sets", exact = TRUE))
  attr(x, "sets") <- NULL
  codes <- unclass(x)
  if (length(codes) && any(codes > n_sets, na.rm = TRUE)) {
    stop_sdc(
      "bad_column",
      c(
        "A column of candidates must hold its own sets.",
        x = "Some cells point to sets of another column.",
        i = "Combine such columns by c() or rbind() of data frames, not by rbindlist()."
      )
    )
  }
  codes
}

# The list of distinct sets.
candidate_sets <- function(x) attr(x, "sets", exact = TRUE)

# The same, where their values are read.
whole_sets <- function(x) check_whole_sets(candidate_sets(x), is_interval(x))

stop_cells <- function(must, found = NULL, advice = NULL) {
  stop_sdc(
    "bad_argument",
    c(paste0("Candidates must ", must, "."), x = found, i = advice),
    argument = "..."
  )
}

# Sets and their values ----------------------------------------------------

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
    stop_cells(
      "be of one type", paste0("Found: ", paste(scales, collapse = ", "), ".")
    )
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

# Whether very many vectors are, as most are, bare ones of one type, so that
# they need not be looked at one by one.
is_one_plain_type <- function(parts) {
  types <- unique(vapply(parts, typeof, ""))
  plain <- !any(vapply(parts, is.object, NA))
  if (plain && "logical" %in% types && length(types) > 1) {
    flags <- parts[vapply(parts, is.logical, NA)]
    if (!all(is.na(unlist(flags)))) {
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

# What may stand in one column; "" for values that are all missing.
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
  in_sets <- chosen[cell]
  place <- match(bare, distinct)[!again][in_sets]
  kept <- values[match(distinct, bare)][place]
  list(
    codes = codes, sets = cut_values(kept, size[first]),
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
    return(candidate_interval(values, values))
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
  code <- match(values, sort(unique(values), method = "radix"))
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
    cell <- rep(seq_along(size), size / 2)
    return(as.vector(tapply(pieces, cell, paste, collapse = "|")))
  }
  out <- values[cumsum(size) - size + 1L]
  several <- size > 1
  pieces <- split(values, rep(seq_along(size), size))[several]
  out[several] <- vapply(pieces, paste, "", collapse = "|")
  out
}

value_text <- function(x) {
  if (is.character(x)) {
    unclear <- grepl("[|\"\\\\]", x)
    x[unclear] <- encodeString(x[unclear], quote = "\"")
    x
  } else if (is.object(x)) {
    as.character(format(x))
  } else {
    number_text(x)
  }
}
