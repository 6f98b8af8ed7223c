# Records above a limit: for every result with a risk per record, one table; for
# the methods that take `limit`, the last line of the print and a clause of the
# sentence.

#' List the records above a risk limit
#'
#' Lists the records whose risk is above a limit. Use it on the result of any function that gives
#' a risk per record. Functions that measure such a risk have an argument `limit`: their print
#' then ends with the number of records above it, and `records_at_risk()` needs no limit of its
#' own.
#'
#' @concept special uniques
#'
#' @section What the risk of a record is:
#'
#' \describe{
#'   \item{[n_matches()]}{1/m, one over its number of matches (of households with `hh_id`);
#'     of several key sets the one with fewest matches. Prosecutor}
#'   \item{[individual_risk()]}{\eqn{E(1/F)}, `records$risk`; 1/f is
#'     `records$prosecutor_risk`. Journalist}
#'   \item{[loglinear_risk()]}{`records$tau2`, 0 for a record that is not a sample unique;
#'     of the first model and key set. Journalist}
#'   \item{[copula_uniqueness()]}{`records$kappa`, the chance that a match is correct, in
#'     the first `pop_size`; the likelihood of being unique is `records$xi`. Journalist}
#'   \item{[invariant_pram()]}{`records$match_prob`, the chance that a match is correct in
#'     the released data. Prosecutor}
#'   \item{[pram_audit()]}{`records$match_prob`, the same for the intruder who was
#'     simulated. Prosecutor}
#'   \item{[longitudinal_link()]}{`records$match_prob` of each record of wave 2: one over
#'     the nearest partners, 0 if the true one is not among them}
#'   \item{[link_attack()]}{`records$match_prob` of each released record, of the first kind
#'     of intruder}
#'   \item{[longitudinal_risk()]}{`records$tau2_all_links`. Journalist}
#'   \item{[special_uniques()]}{`records$dis` (DIS-SUDA); without a sampling fraction
#'     `records$score_elliot`: not a probability}
#'   \item{[household_risk()]}{1/m, one over the number of households that fit its own.
#'     Prosecutor}
#'   \item{[suppress_cells()]}{that of its release, as [file_check()] counts it, with the limit of
#'     the suppression. For an intruder who knows the original values it is one over
#'     `n_candidates`, and a message says how many records are above the limit. Prosecutor}
#'   \item{[exhaustive_tabulation()]}{number of tables in which its cell is small: not a
#'     probability}
#'   \item{[risk_contribution()]}{contribution to the extreme risk: not a probability}
#'   \item{[file_check()]}{1/m; without `limit` the records above any of the limits of the
#'     check}
#' }
#'
#' These are different questions, and one limit does not fit all of them: `k = 3` is usual
#' if m is counted, `limit = 0.05` for \eqn{E(1/F)} (see [file_check()] for the sources). All
#' are conditional on an attempt.
#'
#' A record is above the limit if its risk is larger, not equal: with `k = 3`, which is
#' `limit = 1/3`, records with one or two matches are above. `limit = 0.33` is below 1/3, and
#' records with three matches are above it, too. Records without a risk, such as those that
#' `missing = "exclude"` leaves out, are never above: the print of the result says how
#' many these are. Nothing is computed anew: the cost is one pass over the records.
#'
#' @param x A result with a risk per record, or an [sdc_file()], which [file_check()] measures.
#' @param limit The limit: a probability, or a number if the risk is not one.
#'   Needless if the result was made with a `limit`, or is that of a remedy, whose limit it is.
#' @inheritParams sdcRisk-params
#' @param k Instead of `limit`: the least number of matches, for a limit of 1/k.
#' @return A data frame, one row per record above the limit, riskiest first and ties in
#'   the order of the file: `record` (row number in the data, of wave 2 or the released
#'   file where there are two) and `risk`. That of a [file_check()] without `limit` has
#'   `n_matches`, `journalist_risk` and others as far as they were measured.
#'
#'   Message: `unlisted_records` if other columns or the order of the records reveal key variables
#'   of a [file_check()]. Errors: `bad_argument` for results without a risk per record, and for
#'   invalid limits (5 for 5% is pointed out).
#' @family data
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' risk <- individual_risk(nals_prison, keys, "WEIGHT", limit = 0.01)
#' risk # its last line: 30 of the 182 records are above the limit of 0.01 (16.5%).
#' head(records_at_risk(risk), 3)
#' nrow(records_at_risk(n_matches(nals_prison, keys), k = 3)) # 88 with fewer
records_at_risk <- function(x, limit, ..., k = NULL) {
  announce("records_at_risk")
  check_given("x")
  UseMethod("records_at_risk")
}

#' @export
records_at_risk.default <- function(x, limit, ..., k = NULL) {
  announce("records_at_risk")
  stop_argument("x", "be a result of sdcRisk", given_words(x))
}

#' @export
records_at_risk.sdc_result <- function(x, limit, ..., k = NULL) {
  announce("records_at_risk")
  check_no_dots(...)
  check_result(x)
  if (!is.null(k)) limit <- limit_of_k(k, missing(limit), x)
  risk <- record_risk(x)
  if (is.null(risk)) {
    stop_argument(
      "x", "be a result with a risk per record",
      found = paste0(
        "A result of ", sub("^sdc_", "", class(x)[[1]]), "() ",
        if (is.null(judged_rows(x))) "has no records here." else "has none."
      ),
      advice = paste(
        "`n_matches()` and `individual_risk()` give one;",
        "`copula_uniqueness()` does if it has records to judge."
      )
    )
  }
  absent <- missing(limit) && is.null(k)
  if (absent) limit <- limit_of_result(x)
  if (is.null(limit)) {
    stop_argument(
      "limit", if (absent) "be given if the result was made without one" else "be a limit",
      found = if (absent) "It was not given." else "NULL was given."
    )
  }
  limit <- check_record_limit(limit, is_probability(x))
  rows <- above_limit(risk, limit)
  rows <- rows[order(-risk[rows])]
  times <- judged_times(x)
  if (!is.null(times)) {
    return(frame(pattern = rows, n = times[rows], risk = risk[rows]))
  }
  frame(record = rows, risk = risk[rows])
}

# The limit that a result was made with, or that a remedy was to keep.
limit_of_result <- function(x) {
  settings <- x$settings
  if (!is.null(settings$limit)) {
    settings$limit
  } else if (inherits(x, "sdc_suppress_cells")) {
    1 / settings$k
  } else if (inherits(x, "sdc_invariant_pram")) {
    settings$max_match_prob
  }
}

# A bound that a remedy has just kept is kept up to its last digits.
above_limit <- function(risk, limit) which(risk > limit * (1 + 1e-9))

# TRUE if the risk of a record is a probability.
is_probability <- function(x) {
  !inherits(x, c("sdc_exhaustive_tabulation", "sdc_risk_contribution")) &&
    !(inherits(x, "sdc_special_uniques") && is.na(x$diagnostics$dis))
}

# A limit of record risks, NULL for none.
check_record_limit <- function(limit, probability = TRUE) {
  must <- if (probability) "be one probability from 0 to 1" else "be one number of at least 0"
  top <- if (probability) 1 else Inf
  if (!is.null(limit)) check_number(
    limit, "limit", must, limit >= 0 && limit <= top, if (probability) limit_advice(limit)
  )
}

# Fewer than k matches are a risk above 1/k.
limit_of_k <- function(k, alone, x) {
  if (!alone) {
    stop_argument("k", "be NULL if `limit` is given", advice = "k = 3 is limit = 1 / 3.")
  }
  if (!is_probability(x)) {
    stop_argument("k", "be NULL for a result whose risk is not a probability",
                  advice = "Use `limit`.")
  }
  1 / check_whole(k, "k")
}

# 5 where 5% or five matches are meant.
limit_advice <- function(limit) {
  percent <- percent_advice(limit)
  if (!is.null(percent) && limit == round(limit)) {
    paste0(
      percent, " Fewer than ", limit, " matches are a risk above 1/", limit,
      ": limit = 1 / ", limit, "."
    )
  } else {
    percent
  }
}

# A result with the limit that its print is to end with.
with_limit <- function(result, limit) {
  if (!is.null(limit)) result$settings$limit <- limit
  result
}
