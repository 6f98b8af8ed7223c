# The two formulas of invariant PRAM, for one block of keys.

#' Probability of a correct match under invariant PRAM
#'
#' Computes the probability that an intruder who knows a person's key, finds `a` records released
#' with it and picks one of them is right. Use it to plan [invariant_pram()]; the result is a
#' number per key.
#'
#' @details
#' With \eqn{W} the number of other records that get key \eqn{j} and
#' \eqn{\alpha_j = 1 - \theta / T_j}{alpha_j = 1 - theta / T_j},
#' \deqn{P(CM \mid S_j = a) = \frac{1}{a}
#'   \frac{\alpha_j P(W = a - 1)}{\alpha_j P(W = a - 1) + (1 - \alpha_j) P(W = a)}.}{%
#'   P(CM | S_j = a) = (1/a) alpha_j P(W = a - 1) /
#'   (alpha_j P(W = a - 1) + (1 - alpha_j) P(W = a)).}
#' This is equation 8 of the paper, in which \eqn{{T_i^* \choose k}}{C(T*_i, k)}
#' must read \eqn{{T_i^* \choose a_i}}{C(T*_i, a_i)}. If no record is more
#' likely to get a key than its own records are to keep it, the probability falls in
#' `a`: the records found with a key are a conditional Bernoulli sample, and
#' ratios of its inclusion probabilities tend to one as it grows. So `a = 1` is
#' the worst case, which extends Result 2 of the paper to every bound.
#'
#' @param counts Frequencies of the keys of one block.
#' @param theta From 0 to 1. At 0 the limit for a falling theta is given.
#' @param a Numbers of records found, whole and at least 1.
#' @section Cost: Quick for small `a`, which have the largest probabilities; the square of
#' the largest `a` times that of the number of distinct counts, whether one `a` is asked for
#' or many: all come from the same product. Calls that would take minutes, or need a matrix
#' of more than 1e8 elements, are an error of class `sdcRisk_error_too_large`.
#' @param ... Must be empty.
#' @return A number per key; a matrix, keys times `a`, if `a` has several
#'   elements. `NA` if \eqn{S_j = a} is impossible: for `a` above the number
#'   of records, and for a single key unless `a` is its frequency.
#' @inherit invariant_pram references
#' @family perturbation
#' @export
#' @examples
#' theta <- pram_theta(0.8) # 0.3903882
#' pram_match_prob(c(1, 1, 2, 3, 5), theta) # 0.79157 for the sample uniques
#' pram_match_prob(c(1, 1, 2, 3, 5), theta, a = 1:3)
pram_match_prob <- function(counts, theta, a = 1, ...) {
  announce("pram_match_prob")
  check_no_dots(...)
  check_given(c("counts", "theta"))
  counts <- check_counts(counts, "counts")
  check_number(theta, "theta", "be one number from 0 to 1", theta >= 0 && theta <= 1)
  a <- check_counts(a, "a")
  check_match_size(counts, a)
  found <- with_progress("Match probabilities", {
    core(rs_pram_match_prob, list(counts = counts, theta = as.double(theta), a = a))
  })
  if (length(a) == 1) found else matrix(found, length(counts))
}

#' Perturbation needed for a bound on correct matches
#'
#' Computes theta, the smallest perturbation under which no match is correct with more than a
#' stated probability. Use it to plan [invariant_pram()].
#'
#' @details
#' `"paper"`: the positive root of
#' \eqn{\xi\theta^2 + (1 - \xi)\theta - (1 - \xi) = 0}{%
#' xi theta^2 + (1 - xi) theta - (1 - xi) = 0}, whatever the counts; proven for
#' bounds in \eqn{[1/2, 1)}, and in \eqn{[3/7, 1/2)} with three or more keys.
#' `"exact"`: the smallest theta for one block of these counts, to
#' \eqn{10^{-13}}{1e-13}; 0 if the bound holds as it is.
#'
#' @section Cost:
#' Closed form, or with `calibration = "exact"` a search over the distinct counts: a
#' hundred thousand keys take 0.01 seconds.
#'
#' @param max_match_prob The bound, between 0 and 1; several with `"paper"`.
#' @param counts Frequencies of the keys of one block; needed for
#'   `"exact"`.
#' @param calibration `"paper"` or `"exact"`; `NULL`: exact if `counts` are given.
#' @param ... Must be empty.
#' @return Theta. A bound that `counts` cannot reach is an error of class
#'   `sdcRisk_error_unprotectable` whose field `lowest` is the lowest bound that
#'   they can; thetas so large that an intruder would do better to look under another
#'   key than the target's own are not taken, even if they bring the
#'   match probability further down (see [invariant_pram()]). One outside the theorem
#'   of the paper is
#'   `sdcRisk_error_bad_argument`.
#' @inherit invariant_pram references
#' @family perturbation
#' @export
#' @examples
#' pram_theta(c(0.5, 0.8)) # 0.6180340 0.3903882
#' pram_theta(0.8, c(1, 1, 2, 3, 5), "exact") # 0.3829
#' pram_theta(0.8, c(2, 2, 2, 2), "exact") # 0: 1/2 is below the bound
pram_theta <- function(max_match_prob, counts = NULL, calibration = NULL, ...) {
  announce("pram_theta")
  check_no_dots(...)
  check_given("max_match_prob")
  if (is.null(calibration)) calibration <- if (is.null(counts)) "paper" else "exact"
  calibration <- check_choice(calibration, c("paper", "exact"), "calibration")
  several <- calibration == "paper"
  bound <- check_probability(
    # A column of bounds may repeat one.
    if (several && is_plain_number(max_match_prob)) unique(max_match_prob) else max_match_prob,
    "max_match_prob", several = several
  )
  if (several) bound <- as.double(max_match_prob)
  if (!is.null(counts)) counts <- check_counts(counts, "counts")
  if (calibration == "paper") {
    check_paper_bound(bound)
    check_paper_cells(bound, counts)
    return(core(
      rs_pram_theta, list(max_match_prob = bound, calibration = calibration)
    )$theta)
  }
  if (is.null(counts)) stop_argument("counts", "be given with calibration = \"exact\"")
  found <- core(
    rs_pram_theta,
    list(max_match_prob = bound, counts = counts, calibration = calibration)
  )
  if (is.na(found$theta)) stop_unreachable(bound, found$lowest)
  found$theta
}

# The probabilities of `a` records are a product of polynomials of that degree,
# one for each distinct count.
check_match_size <- function(counts, a) {
  n_distinct <- length(unique(counts))
  most <- if (length(counts) > 1) max(a[a <= sum(counts)], 1) else 1
  # Counts of one have no other records of their own: a single polynomial.
  products <- if (all(counts == 1)) 0 else n_distinct^2
  if (sum(counts) > 2^53 || most > 1e6 || products * most^2 > 1e10 ||
        length(counts) * length(a) > 1e8) {
    stop_sdc(
      "too_large", "The counts and `a` must be small enough to compute with.",
      x = paste0(
        "They are of ", format(sum(counts), big.mark = big_mark(), digits = 6),
        " records in ", plural(length(counts), "key"), ", with ",
        plural(length(a), "number"), " in `a` up to ",
        format(max(a), big.mark = big_mark(), digits = 6), "."
      ),
      i = "Small `a` have the largest probabilities: take those."
    )
  }
}

# TRUE if the theorem covers a block of so many keys.
check_paper_cells <- function(bound, counts) {
  if (is.null(counts)) {
    return(invisible())
  }
  if (length(counts) == 1) {
    stop_sdc(
      c("bad_argument", "unprotectable"), "`counts` must be those of several keys.",
      x = "One count was given: a single key has no other one to exchange records with.",
      argument = "counts", lowest = 1 / counts
    )
  }
  if (length(counts) == 2 && any(bound < 0.5 - 1e-12)) {
    stop_sdc(
      c("bad_argument", "unprotectable"),
      "With two keys the published theta must be asked for a bound of at least 1/2.",
      x = paste0("The bound is ", format(min(bound), digits = 4), "."),
      i = paste(
        "The theorem covers bounds in [3/7, 1/2) with three or more keys: with two,",
        "P(CM | S = 2) can exceed P(CM | S = 1)."
      ),
      argument = "max_match_prob"
    )
  }
}

stop_unreachable <- function(bound, lowest) {
  lowest <- ceiling(lowest * 1e4 - 1e-6) / 1e4
  stop_sdc(
    "unprotectable", "The bound must be one that these keys can reach.",
    x = paste0(
      "It is ", format(bound, digits = 4), "; the lowest they can reach is ",
      format(lowest, digits = 4), "."
    ),
    lowest = lowest
  )
}

# Whole numbers of at least 1, repeated or not.
check_counts <- function(x, arg) {
  if (!is_plain_number(x) || length(x) == 0 || anyNA(x) || any(!is.finite(x)) ||
        any(x < 1 | x != round(x) | x > 2^53)) {
    stop_argument(arg, "hold whole numbers of at least 1")
  }
  as.double(x)
}
