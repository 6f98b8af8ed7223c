# The one part of a result that may leave the agency.

#' The data to be released, and nothing else
#'
#' A result of [invariant_pram()] knows the original cell of every record, so with
#' it the perturbation can be undone; one of [suppress_cells()] knows the counts of
#' the original. This hands out the data alone.
#'
#' @param x A result of [invariant_pram()] or [suppress_cells()].
#' @param ... Unused.
#' @return The protected data: class, column types, levels, labels and order of
#'   records are those of the input, without a trace of what was changed. An
#'   sdcMicroObj holds the original data too: here its released data are given, as a
#'   data frame.
#'   Columns that no argument named are in it as they were: take direct
#'   identifiers out before. Other objects are an error of class
#'   `sdcRisk_error_bad_argument`.
#' @section Risk measures of perturbed data:
#' [n_matches()], [individual_risk()] and the other measures count how many
#' records agree, and take for granted that values are true. In perturbed data a
#' record that is alone need not be the person with these values, and the
#' perturbation hides this from them. Their values for the released data, and
#' their comparison with those for the original, say nothing about its risk. The
#' bound, and [pram_audit()], do. Blanks are another matter: with
#' `missing = "wildcard"` these measures hold for files with suppressed cells.
#' @family perturbation
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' set.seed(1)
#' secret <- invariant_pram(nals_prison[keys])
#' public <- release_data(secret)
#' identical(names(public), keys) # TRUE
release_data <- function(x, ...) {
  UseMethod("release_data")
}

#' @export
release_data.default <- function(x, ...) {
  stop_argument(
    "x", "be a result that holds data to be released",
    advice = "`invariant_pram()` and `suppress_cells()` make one."
  )
}

#' @export
release_data.sdc_invariant_pram <- function(x, ...) {
  check_no_dots(...)
  handed_out(x)
}

# The release of a result, which would change with a data.table that is changed in place.
handed_out <- function(x) {
  if (!is.data.frame(x$data) && !is_lazy_table(x$data)) stop_not_whole("release")
  data <- bare_data(x$data)
  is_data_table <- inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)
  if (is_data_table) data.table::copy(data) else data
}
