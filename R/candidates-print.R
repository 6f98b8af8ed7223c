# Methods that base R, data frames and vctrs need for a vector of candidates.

# Codes as they come out of base R's functions, with the sets of `x` again.
restore_sets <- function(codes, x) {
  new_candidates(codes, candidate_sets(x), is_interval(x))
}

#' @export
`[.sdc_candidates` <- function(x, ...) {
  restore_sets(set_codes(x)[...], x)
}

#' @export
`[[.sdc_candidates` <- function(x, ...) {
  restore_sets(set_codes(x)[[...]], x)
}

#' @export
`[<-.sdc_candidates` <- function(x, ..., value) {
  both <- share_sets(list(x, value))
  codes <- set_codes(both[[1]])
  codes[...] <- as.vector(set_codes(both[[2]]))
  restore_sets(codes, both[[1]])
}

#' @export
`[[<-.sdc_candidates` <- function(x, ..., value) {
  both <- share_sets(list(x, value))
  if (length(both[[2]]) != 1) {
    stop_cells(
      "be replaced by one set", found = paste0(plural(length(value), "set"), " given.")
    )
  }
  codes <- set_codes(both[[1]])
  codes[[...]] <- as.vector(set_codes(both[[2]]))
  restore_sets(codes, both[[1]])
}

#' @export
`length<-.sdc_candidates` <- function(x, value) {
  codes <- set_codes(x)
  length(codes) <- value
  restore_sets(codes, x)
}

#' @export
c.sdc_candidates <- function(..., recursive = FALSE, use.names = TRUE) {
  out <- combine_candidates(Filter(Negate(is.null), list(...)))
  if (use.names) out else unname(out)
}

#' @export
rep.sdc_candidates <- function(x, ...) {
  restore_sets(rep(set_codes(x), ...), x)
}

#' @export
rev.sdc_candidates <- function(x) {
  restore_sets(rev(set_codes(x)), x)
}

#' @export
unique.sdc_candidates <- function(x, incomparables = FALSE, ...) {
  x[!duplicated(x, incomparables, ...)]
}

#' @export
duplicated.sdc_candidates <- function(x, incomparables = FALSE, ...) {
  duplicated(as.vector(set_codes(distinct_sets(x))), incomparables, ...)
}

#' @export
anyDuplicated.sdc_candidates <- function(x, incomparables = FALSE, ...) {
  anyDuplicated(as.vector(set_codes(distinct_sets(x))), incomparables, ...)
}

#' @export
is.numeric.sdc_candidates <- function(x) FALSE

#' @export
format.sdc_candidates <- function(x, ...) {
  out <- set_text(candidate_sets(x), is_interval(x))[set_codes(x)]
  names(out) <- names(x)
  out
}

#' @export
as.character.sdc_candidates <- function(x, ...) {
  unname(format(x))
}

# The text of a set tells it apart, so that match() may go by it.
#' @export
mtfrm.sdc_candidates <- function(x) as.character(x)

#' @export
as.list.sdc_candidates <- function(x, ...) {
  sets <- candidate_sets(x)
  codes <- set_codes(x)
  sets[[length(sets) + 1L]] <- if (length(sets)) sets[[1]][NA_integer_] else NA
  out <- sets[ifelse(is.na(codes), length(sets), codes)]
  names(out) <- names(x)
  out
}

#' @export
as.data.frame.sdc_candidates <- function(x, row.names = NULL, optional = FALSE, ...,
                                         nm = deparse1(substitute(x))) {
  force(nm)
  as.data.frame.vector(x, row.names, optional, ..., nm = nm)
}

#' @export
print.sdc_candidates <- function(x, max = getOption("max.print"), ...) {
  n <- length(x)
  cat("<", if (is_interval(x)) "interval" else "candidates", "[", n, "]>\n", sep = "")
  if (n > 0) {
    print(format(utils::head(x, max)), quote = FALSE, na.print = "<NA>")
    if (n > max) cat("... and", plural(n - max, "set"), "more\n")
  }
  invisible(x)
}

#' @importFrom utils str
#' @export
str.sdc_candidates <- function(object, ...) {
  n <- length(object)
  cat(
    if (is_interval(object)) " interval" else " candidates",
    if (n != 1) paste0(" [1:", n, "]"), " ",
    paste(format(utils::head(object, 6)), collapse = " "), if (n > 6) " ...", "\n",
    sep = ""
  )
}

#' @export
summary.sdc_candidates <- function(object, ...) {
  size <- n_values(object)
  c(
    known = sum(size == 1, na.rm = TRUE), candidates = sum(size > 1, na.rm = TRUE),
    unknown = sum(is.na(size))
  )
}

# Number of values that every cell admits, Inf for an interval that is more than one
# value, NA where nothing is known.
n_values <- function(x) {
  sets <- candidate_sets(x)
  size <- if (is_interval(x)) {
    vapply(sets, function(s) if (s[[1]] == s[[2]]) 1 else Inf, 0)
  } else {
    lengths(sets)
  }
  as.vector(size[set_codes(x)])
}

#' @export
xtfrm.sdc_candidates <- function(x) {
  x <- distinct_sets(x)
  rank_sets(candidate_sets(x))[as.vector(set_codes(x))]
}

#' @export
Ops.sdc_candidates <- function(e1, e2) {
  if (!.Generic %in% c("==", "!=") || missing(e2)) stop_operation(.Generic)
  both <- share_sets(list(e1, e2))
  get(.Generic)(set_codes(both[[1]]), set_codes(both[[2]]))
}

#' @export
Math.sdc_candidates <- function(x, ...) stop_operation(.Generic)

#' @export
Summary.sdc_candidates <- function(..., na.rm) stop_operation(.Generic)

stop_operation <- function(operation) {
  announce(operation)
  stop_cells(
    "be compared by == and != only", paste0("`", operation, "` has no meaning for sets."),
    "as.list() gives the values of every set."
  )
}

# vctrs, and by it tibble and dplyr, unite the sets of two columns like the
# levels of two factors. It goes by the first class alone, so that intervals need
# their own.

#' @exportS3Method vctrs::vec_ptype2 sdc_candidates.sdc_candidates
vec_ptype2.sdc_candidates.sdc_candidates <- function(x, y, ...) {
  share_sets(list(x[0], y[0]))[[1]]
}

#' @exportS3Method vctrs::vec_ptype2 sdc_candidate_interval.sdc_candidate_interval
vec_ptype2.sdc_candidate_interval.sdc_candidate_interval <- # nolint: object_length_linter.
  vec_ptype2.sdc_candidates.sdc_candidates

#' @exportS3Method vctrs::vec_cast sdc_candidates.sdc_candidates
vec_cast.sdc_candidates.sdc_candidates <- function(x, to, ...) {
  both <- share_sets(list(to, x))
  if (!identical(candidate_sets(both[[1]]), candidate_sets(to))) {
    stop_cells(
      "be among the sets of the column they are put into", found = "Others were given.",
      advice = "c() puts columns together and unites their sets."
    )
  }
  both[[2]]
}

#' @exportS3Method vctrs::vec_cast sdc_candidate_interval.sdc_candidate_interval
vec_cast.sdc_candidate_interval.sdc_candidate_interval <- # nolint: object_length_linter.
  vec_cast.sdc_candidates.sdc_candidates

#' @exportS3Method vctrs::vec_ptype_abbr
vec_ptype_abbr.sdc_candidates <- function(x, ...) "cand"

#' @exportS3Method vctrs::vec_ptype_abbr
vec_ptype_abbr.sdc_candidate_interval <- function(x, ...) "interval"
