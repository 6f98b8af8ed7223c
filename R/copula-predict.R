#' Likelihood that a person outside the file is unique
#'
#' Computes, for people whose key variables an intruder knows, the likelihood that each is unique
#' in the population and that a matching record is theirs. Use it for people who need not be in
#' the file.
#'
#' @details The probability of a person's values comes from the model fitted to a sample;
#' see [copula_uniqueness()] for the scores. For `score = "tree"` that page explains how the
#' uncertainty of the probability enters, and how the likelihoods are scaled to the
#' population uniqueness: the mean over the sample's own records, each left out of the
#' tables it is judged by, is the population uniqueness of the copula. A value the sample
#' does not have counts as 0.3 records, whatever the person's other values are; a message of
#' class `sdcRisk_message_unseen_categories` says so.
#'
#' @section How well the likelihoods hold:
#' Measured on people outside the sample, score `"tree"`, in seven populations that took
#' no part in choosing the method: women of the 1980 census (254,654, `Fertility` of
#' the package AER), the RAND health insurance experiment (20,190), the Current
#' Population Survey of 1988 (28,155), the Structure of Earnings data of laeken (15,691),
#' the General Social Survey's vocabulary test (28,867, carData), the medical
#' expenditure survey of 1988 (4,406, AER) and a household survey of sdcMicro (4,580); two
#' sets of 4 to 8 key variables each, 44 samples, up to 4,000 people judged per sample.
#'
#' | sampling fraction | samples | below 0.1: xi says | unique | above 0.9: xi says | unique |
#' |---|---|---|---|---|---|
#' | 0.1% to 2% | 14 | 0.5% | 0.9% | 96% | 86% |
#' | 5% to 20% | 18 | 0.9% | 1.3% | 97% | 95% |
#' | 50% | 12 | 0.9% | 1.2% | 96% | 95% |
#'
#' Between 0.1 and 0.9, over all samples: 19% says and 21% are, 40 and 40, 60 and 57, 81 and
#' 76. **A low likelihood certifies nothing**: people with \eqn{\xi}{xi} below 0.1 are
#' unique one and a half times as often as said, from small fractions 1.7 times as often.
#' High ones are somewhat too sure; if every sample counts the same, whatever its number of
#' people above 0.9, 95% says and 84% are. The sum of \eqn{\xi}{xi} over the file was 0.5 to
#' 1.8 times the number of unique records, 1.0 in the geometric mean: it is as accurate as
#' the population uniqueness it agrees with. The AUC was 0.93 on average. If you hold the
#' population, measure this with [validate_uniqueness()].
#'
#' @section Cost:
#' `"tree"`: a look-up per record and key variable, and drawing the population once
#' ([copula_uniqueness()]; a result of that function has done it). `"copula"` and
#' `"placement"`: for every key at least 256 lattice points, some 10
#' microseconds per key variable.
#'
#' @param object A result of [copula_fit()] or [copula_uniqueness()].
#' @param newdata A data frame with the key variables, one row per person.
#' @param pop_size Number of people in the population. For a result of
#'   [copula_uniqueness()] by default the first of its own.
#' @inheritParams sdcRisk-params
#' @param score `"tree"`, `"copula"` or `"placement"`. `NULL`: that of a result of
#'   [copula_uniqueness()], `"tree"` for a [copula_fit()].
#' @param calibrate As in [copula_uniqueness()].
#' @param accuracy Relative standard error to which `"copula"` and `"placement"`
#'   bring a probability if the population is large enough for it to matter.
#'
#' @return A data frame with one row per row of `newdata`: `prob` (of the person's
#'   values), `xi` (likelihood that the person is unique), `kappa` (likelihood that
#'   a match is correct), `prob_error` (standard error of the computation of `prob`,
#'   0 if exact), `prob_shape` (how certain `prob` is: the shape of the gamma variable
#'   around it, `Inf` for `"copula"` and `"placement"`). If the fit excluded incomplete
#'   records, such rows are `NA`.
#' @references
#' Rocher, L., Hendrickx, J. M. and de Montjoye, Y.-A. (2019). Estimating the
#' success of re-identifications in incomplete datasets using generative models.
#' Nature Communications 10, 3069. \doi{10.1038/s41467-019-10933-3}.
#'
#' Genz, A. (1992). Numerical computation of multivariate normal probabilities.
#' Journal of Computational and Graphical Statistics 1(2), 141-149.
#' \doi{10.1080/10618600.1992.10477010}.
#'
#' Chow, C. K. and Liu, C. N. (1968). Approximating discrete probability
#' distributions with dependence trees. IEEE Transactions on Information Theory
#' 14(3), 462-467. \doi{10.1109/TIT.1968.1054142}.
#' @family copula
#' @name predict.sdc_copula_fit
#' @importFrom stats predict
#' @examples
#' set.seed(1)
#' fit <- copula_fit(
#'   adult[sample(nrow(adult), 3256), ],
#'   c("age", "sex", "education_num", "occupation", "hours_per_week")
#' )
#' person <- data.frame(
#'   age = 51, sex = "Female", education_num = 14, occupation = "Exec-managerial",
#'   hours_per_week = 55
#' )
#' predict(fit, person, pop_size = nrow(adult))
NULL

#' @rdname predict.sdc_copula_fit
#' @export
predict.sdc_copula_fit <- function(object, newdata, pop_size, ...,
                                   score = NULL, calibrate = NULL, accuracy = 0.01,
                                   sampling_fraction = NULL) {
  announce("predict")
  check_no_dots(...)
  check_result(object)
  score <- score_of(object, score)
  newdata <- check_newdata(newdata, object)
  if (is.null(sampling_fraction)) check_given("pop_size")
  pop_size <- size_of_population(
    object$settings$n, if (was_given("pop_size")) pop_size, sampling_fraction
  )
  predict_scores(object, object, newdata, pop_size, score, calibrate, accuracy)
}

#' @rdname predict.sdc_copula_fit
#' @export
predict.sdc_copula_uniqueness <- function(object, newdata, pop_size = NULL, ...,
                                          score = NULL, calibrate = NULL,
                                          accuracy = 0.01, sampling_fraction = NULL) {
  announce("predict")
  check_no_dots(...)
  check_result(object)
  newdata <- check_newdata(newdata, object)
  score <- score_of(object, score)
  pop_size <- size_of_population(object$fit$settings$n, pop_size, sampling_fraction)
  pop_size <- if (is.null(pop_size)) object$estimates$pop_size[[1]] else pop_size
  predict_scores(object, object$fit, newdata, pop_size, score, calibrate, accuracy)
}

check_newdata <- function(newdata, object) {
  check_given("newdata")
  newdata <- bare_data(newdata)
  check_data_frame(newdata, "newdata")
  absent <- setdiff(object$settings$key_vars, names(newdata))
  if (length(absent)) {
    stop_absent(
      "`newdata` must have the key variables of the model as columns.",
      absent, setdiff(names(newdata), object$settings$key_vars)
    )
  }
  newdata
}

# Scores by the fit `x` or by the one in it.
predict_scores <- function(x, fit, newdata, pop_size, score, calibrate, accuracy) {
  if (!is.null(calibrate)) check_flag(calibrate, "calibrate")
  check_one_size(pop_size, fit$n)
  accuracy <- check_probability(accuracy, "accuracy")
  with_progress("Scoring records", individual_scores(
    fit, newdata,
    pop_size = pop_size, score = score, accuracy = accuracy,
    population_uniqueness = if (score == "tree") known_uniqueness(x, pop_size, calibrate, fit)
  ))
}

score_names <- c("tree", "copula", "placement")

# The score asked for, or that of a result, or of a fit the default.
score_of <- function(x, score) {
  if (!is.null(score)) {
    return(check_choice(score, score_names, "score"))
  }
  if (inherits(x, "sdc_copula_uniqueness")) x$settings$score else score_names[[1]]
}

check_one_size <- function(pop_size, n) {
  if (length(pop_size) != 1) stop_argument("pop_size", "be one number")
  check_pop_size(pop_size, n)
}

# The population uniqueness of a fit: drawn, and calibrated where that is due.
model_uniqueness <- function(fit, pop_size, calibrate) {
  check_drawable(pop_size)
  draw_population(fit, pop_size, calibrates(fit, calibrate), 0L)$uniqueness[[1]]
}

# As above for a fit, or a result that may lack it.
known_uniqueness <- function(x, pop_size, calibrate, fit = x$fit) {
  row <- match(pop_size, x$estimates$pop_size)
  if (!is.na(row) && (is.null(calibrate) || calibrate == x$settings$calibrate)) {
    return(x$estimates$population_uniqueness[[row]])
  }
  calibrate <- if (is.null(calibrate)) x$settings$calibrate else calibrate
  model_uniqueness(fit, pop_size, calibrate)
}

# The fit that a result of copula_fit() or copula_uniqueness() is or holds.
fit_of <- function(x) {
  if (inherits(x, "sdc_copula_uniqueness")) {
    return(check_result(x)$fit)
  }
  if (!inherits(x, "sdc_copula_fit")) {
    stop_argument("x", "be a result of `copula_fit()` or `copula_uniqueness()`")
  }
  check_result(x)
}
