#' Probability that a unique match is correct
#'
#' Estimates \eqn{\theta}{theta} of Skinner and Elliot, the probability that a unique match of a
#' person drawn from the population is correct. Use it for a sample, from the numbers of sample
#' uniques and pairs alone.
#'
#' @details
#' With \eqn{f_j} the number of records and \eqn{F_j} the number of people with
#' key \eqn{j},
#' \deqn{\theta = \frac{\sum_j I(f_j = 1)}{\sum_j F_j I(f_j = 1)}, \quad
#'   \hat\theta = \frac{\pi U}{\pi U + 2 (1 - \pi) P},}{%
#'   theta = sum_j I(f_j = 1) / sum_j F_j I(f_j = 1),
#'   estimated by pi U / (pi U + 2 (1 - pi) P),}
#' where \eqn{U} is the number of keys held by one record, \eqn{P} that of keys
#' held by two (pairs, not records) and \eqn{\pi}{pi} the sampling fraction.
#' If every person enters the sample independently with probability
#' \eqn{\pi}{pi}, \eqn{2 (1 - \pi) P / \pi}{2 (1 - pi) P / pi} has the
#' expectation of \eqn{\sum_j (F_j - 1) I(f_j = 1)}{sum_j (F_j - 1) I(f_j = 1)}.
#'
#' The standard error is that of predicting this sum, keys being independent:
#' \deqn{\mathrm{se}(\hat\theta) = \frac{\hat\theta^2}{U} \sqrt{\hat V}, \quad
#'   \hat V = \frac{2 (1 - \pi)(2 - \pi) P + 6 (1 - \pi)^2 T}{\pi^2},}{%
#'   se = theta^2 sqrt(V) / U,
#'   V = (2 (1 - pi) (2 - pi) P + 6 (1 - pi)^2 T) / pi^2,}
#' with \eqn{T} the number of keys held by three records; without `n_triples`
#' their term is left out and the standard error is a lower bound. The
#' interval is symmetric on the logit scale, so that it stays within 0 and 1.
#'
#' **Two definitions.** Theta is the share of correct ones among all matches of
#' people of the population with a unique record,
#' \eqn{U / \sum_j F_j I(f_j = 1)}{U / sum_j F_j I(f_j = 1)}: the intruder starts
#' from a person. The rate `tau2` over `n_unique` of [loglinear_risk()] estimates
#' the mean of \eqn{1/F_j} over the unique records: the intruder starts from a
#' record. The second is never the smaller one, as a mean is at least the harmonic
#' mean, and they are far apart if a few uniques have common keys: compare each
#' with its like.
#'
#' Few uniques or pairs make the estimate unreliable: with none of either it
#' would be 0 or 1, and is `NA`. [n_matches()] flags fewer than 10 of either.
#'
#' @section Cost:
#' Arithmetic on three counts: a fifth of a millisecond.
#'
#' @param n_unique,n_pairs,n_triples Numbers of keys that one, two and three
#'   records hold. Halves are taken: [n_matches()] counts pairs as half the
#'   records with two matches.
#' @param sampling_fraction Share of the population in the sample, above 0 and
#'   at most 1.
#' @inheritParams sdcRisk-params
#'
#' @return A data frame with one row per element of the arguments, which are
#'   recycled: `theta`, `theta_se`, `theta_low`, `theta_high`. Arguments outside
#'   their domain are errors of class `sdcRisk_error_bad_argument`.
#' @references
#' Skinner CJ, Elliot MJ (2002). A measure of disclosure risk for microdata.
#' *Journal of the Royal Statistical Society, Series B* 64(4), 855-867.
#' \doi{10.1111/1467-9868.00365}
#' @family matches
#' @export
#' @examples
#' match_theta(n_unique = 269, n_pairs = 240, sampling_fraction = 0.001)
#' # theta 0.00056
match_theta <- function(n_unique, n_pairs, sampling_fraction, n_triples = NULL, level = 0.95, ...) {
  announce("match_theta")
  check_no_dots(...)
  check_given(c("n_unique", "n_pairs", "sampling_fraction"))
  n_unique <- check_numbers(n_unique, "n_unique")
  n_pairs <- check_numbers(n_pairs, "n_pairs")
  n_triples <- if (is.null(n_triples)) 0 else check_numbers(n_triples, "n_triples")
  if (!is_plain_number(sampling_fraction) || length(sampling_fraction) == 0 ||
        any(is.na(sampling_fraction) | sampling_fraction <= 0 | sampling_fraction > 1)) {
    stop_argument("sampling_fraction", "be numbers above 0 and at most 1")
  }
  level <- check_probability(level, "level")
  sizes <- c(length(n_unique), length(n_pairs), length(n_triples), length(sampling_fraction))
  if (any(sizes != 1 & sizes != max(sizes))) {
    stop_argument(
      "n_unique", "have as many elements as the other arguments, or they have one"
    )
  }
  # Parts whose powers are beyond what a number can hold do not meet.
  fraction <- sampling_fraction
  odds <- 2 * (1 - fraction) / fraction * (n_pairs / n_unique)
  triples <- ifelse(n_triples == 0, 0, n_triples / n_pairs)
  spread <- (2 * (1 - fraction) * (2 - fraction) + 6 * (1 - fraction)^2 * triples) / n_pairs
  relative <- sqrt(spread) / (2 * (1 - fraction))
  error <- replace(odds * relative, rep_len(fraction == 1, length(odds)), 0)
  size <- max(sizes)
  theta_table(
    rep_len(n_unique, size), rep_len(n_pairs, size), rep_len(odds, size), rep_len(error, size),
    rep_len(relative, size), level
  )
}

# Theta from the number of uniques and `odds`, the predicted number of further
# people with their keys for each of them; `error` is the standard error of this
# number, and `relative` that as a share of it.
theta_table <- function(n_unique, n_pairs, odds, error, relative, level) {
  theta <- 1 / (1 + odds)
  none <- n_unique == 0 | n_pairs == 0
  theta[none] <- NA
  # Of equal products the one whose factors do not overflow.
  se <- ifelse(odds > 1, theta * (1 - theta) * relative, theta^2 * error)
  half <- stats::qnorm((1 + level) / 2) * relative
  # A census leaves nothing to doubt.
  half[which(odds == 0)] <- 0
  logit <- replace(-log(odds), none, NA)
  frame(
    theta = theta, theta_se = as.double(replace(se, none, NA)),
    theta_low = stats::plogis(logit - half), theta_high = stats::plogis(logit + half)
  )
}

check_numbers <- function(x, arg) {
  if (!is_plain_number(x) || length(x) == 0 || any(!is.finite(x) | x < 0)) {
    stop_argument(arg, "be finite numbers of at least 0")
  }
  as.double(x)
}
