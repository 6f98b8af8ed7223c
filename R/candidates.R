#' Key variables known only as sets of candidates
#'
#' Makes a column whose values are sets of admissible values: the month of birth is February or
#' March, the age lies between 30 and 34. Use such columns in data frames, tibbles and data.tables
#' like any other, and as key variables of the functions whose help pages mention candidates.
#'
#' @details **Order.** The order of the values in a set is kept, since a rule may read the
#' first one; repeated values are dropped. `==` compares sets by their values and their
#' order, also across columns. Sorting is by the first value, then by the second, and so on;
#' of intervals by the lower, then by the upper bound.
#'
#' **Nothing known.** `NA` is not a candidate. A set that contains `NA` is itself `NA`: its
#' value is unknown. Sets that contain both `NA` and values are counted in a message of
#' class `sdcRisk_message_partial_candidates`. If vectors are taken element by element,
#' repeat a value that is certain in each of them. An interval with a missing bound is `NA`
#' as well; an open bound is `-Inf` or `Inf`.
#'
#' **Types.** All values of a column are numbers (or logical), text, Dates or times; the
#' values of a factor count as text. Numbers mixed with text are an error. If columns are
#' combined, plain values become sets of one value.
#'
#' **Text from a file.** In a text file such a column is text like `"2|3"`, which
#' is one value unless `split = "|"` takes it apart: blanks around the values are
#' dropped, empty text or `NA` becomes `NA`, an unknown value, and the
#' values become numbers if all of them are written as numbers without leading
#' zeros. Text with `|` that is not split is announced in a message of class
#' `sdcRisk_message_unsplit_candidates`.
#'
#' @section How it is built:
#' Like a factor: integer codes, `NA` if nothing is known, and an attribute
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
#' @param ... One list with a vector of admissible values for every record, or
#'   several vectors of one length that are taken element by element.
#' @param split For one column of text: the separator between two values, such as
#'   `"|"`. `NULL`: the whole text is one value.
#' @param lower,upper Numbers, Dates or times of one length: the smallest and
#'   the largest admissible value, both included.
#'
#' @return A vector of class `sdc_candidates`; an interval is of class
#'   `sdc_candidate_interval` as well. `format()` and `as.character()` give
#'   `"2|3"` and `"[30,34]"`; text that holds `|`, a quote or a backslash is
#'   quoted. `as.list()` gives the vectors of values. `summary()` counts the records
#'   with one value, with several and with none.
#'
#' Errors, of class `sdcRisk_error_bad_argument`: numbers mixed with text, empty sets, vectors of
#' unequal length, a lower bound above the upper one, arithmetic.
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
  announce("candidates")
  given <- list(...)
  # The cells of one column of text as the list of their values: numbers where all of them are.
  unclear <- rapply(given, function(x) {
    text <- if (is.factor(x)) levels(x) else x
    "bytes" %in% text_marks(text) || !all(validEnc(text))
  }, c("character", "factor"), how = "unlist")
  if (any(unclear)) {
    stop_cells(
      "be text in an encoding that is known", "Found: text that is marked as bytes, or no text.",
      "Say what it is: Encoding(x) <- \"UTF-8\", or \"latin1\"."
    )
  }
  if (!is.null(split)) given <- list(split_text(given, split))
  if (length(given) == 0) {
    stop_cells(
      "be given as a list of vectors, or as vectors", found = "No list and no vector was given."
    )
  }
  one_list <- length(given) == 1 && is.list(given[[1]]) && !is.object(given[[1]])
  if (one_list) {
    cells <- given[[1]]
    if (any(lengths(cells) == 0)) {
      stop_cells(
        "name at least one value for every record",
        paste(plural(sum(lengths(cells) == 0), "record"), "without a value."),
        "Write NA if nothing is known."
      )
    }
    values <- unite_values(cells)
    cell <- rep(seq_along(cells), lengths(cells))
    n <- length(cells)
  } else {
    n <- unique(lengths(given))
    if (length(n) > 1) {
      stop_cells(
        "have one length if they are taken element by element",
        paste0("Lengths: ", paste(n, collapse = ", "), "."),
        "Give one list with a vector of admissible values for every record."
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
      paste0(
        "Unknown: ", plural(found$n_partial, "set"),
        " that ", if (found$n_partial == 1) "contains" else "contain", " both values and NA."
      ),
      i = "Repeat the value if only one is admissible.",
      n = found$n_partial
    )
  }
  if (is.null(split) && is.character(values)) inform_unsplit(values, cell)
  names(found$codes) <- names
  new_candidates(found$codes, found$sets)
}

split_text <- function(given, split) {
  if (!is.character(split) || length(split) != 1 || is.na(split) || !nzchar(split)) {
    stop_argument("split", "be the text that stands between two values, such as \"|\"")
  }
  text <- if (length(given) == 1) given[[1]]
  if (is.factor(text) && !has_bad_codes(text)) {
    text <- rlang::set_names(as.character(text), names(text))
  }
  if (!is.character(text) && !(is.logical(text) && all(is.na(text)))) {
    stop_cells(
      "be given as one column of text if `split` is given",
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
      paste0(
        plural(n, "value"), " of text with \"|\" ", if (n == 1) "is" else "are",
        " taken as one value each."
      ),
      i = "candidates(x, split = \"|\") makes a set of the values between the signs.",
      n = n
    )
  }
}

#' @rdname candidates
#' @export
candidate_interval <- function(lower, upper, ...) {
  announce("candidate_interval")
  check_no_dots(...)
  check_given(c("lower", "upper"))
  if (length(lower) != length(upper)) {
    stop_cells(
      "have as many lower as upper bounds",
      paste0("Lengths: ", length(lower), " and ", length(upper), ".")
    )
  }
  interval_sets(lower, upper)
}

# The bounds of the cells `first`, as a list of vectors of two.
unclass_pairs <- function(values, first, n) {
  turned <- as.vector(rbind(first, n + first))
  cut_values(values[turned], rep(2L, length(first)))
}
