#' Population uniqueness by a Gaussian copula
#'
#' Estimates how many people are unique in the population on the key variables, and how likely
#' each record of the file is to be unique and a match on it to be correct. Use it for a sample,
#' if an intruder does not know who is in the file. The result has one row per population size,
#' with intervals, and one row per record. The method is that of Rocher, Hendrickx and de Montjoye
#' (2019), with a calibration of our own.
#'
#' @concept population unique
#' @concept population uniqueness
#' @concept journalist risk
#' @details
#' **Population uniqueness** is the share of \eqn{N} people who are unique,
#' \deqn{\Xi_N = \sum_x q(x)\,(1 - q(x))^{N - 1},}{Xi_N = sum_x q(x) (1 - q(x))^(N - 1),}
#' **population correctness** the chance that a match on all key variables is the right person,
#' which is the share of distinct keys among \eqn{N} people. Both are estimated by
#' drawing people from the model [copula_fit()] and counting; one set of draws serves all
#' population sizes.
#'
#' **Calibration.** With equal weights, two parameters bring the model to the uniqueness of the
#' sample: \eqn{\lambda}{lambda}, how much coarser or finer keys are than the model's, and
#' \eqn{a}, how much their probabilities vary. A message of class
#' `sdcRisk_message_weak_calibration` is given if the sample changed neither and the interval is
#' wider than 0.05: the estimate then rests on the model. The people in the sample are known, so
#' that at `pop_size` equal to the number of records the estimates are the sample's own: to judge
#' the model there, use `calibrate = FALSE`. `vignette("copula-model")` has the derivation.
#'
#' **Records.** With \eqn{p} the probability of a record's keys,
#' \deqn{\xi = (1 - p)^{N - 1}, \quad \kappa = \frac{1 - (1 - p)^N}{N p}}{%
#'   xi = (1 - p)^(N - 1), kappa = (1 - (1 - p)^N) / (N p)}
#' are the likelihood of uniqueness, and of correctness: the chance that a match is the right
#' person. `score` sets how \eqn{p} is computed:
#' \describe{
#'   \item{`"tree"`}{a tree of the pairs with most information, shrunk towards independence. It is
#'     ours and ranks records better. That \eqn{p} is itself uncertain is part of \eqn{\xi}{xi}
#'     and \eqn{\kappa}{kappa}}
#'   \item{`"copula"`}{the paper's equation 18, the probability of a rectangle under the model}
#'   \item{`"placement"`}{the mean over random places of the record's intervals, as in the
#'     authors' program}
#' }
#'
#' **How many records are unique?** `expected_unique_records` is the number of records times the
#' population uniqueness. In a small sampling fraction hardly any record has \eqn{\xi}{xi} above
#' 0.8. Some are unique even so, but they cannot be identified. The \eqn{\xi}{xi} of `"tree"` add
#' up to that number by construction, those of `"copula"` and `"placement"` do not; a warning of
#' class `sdcRisk_warning_scores_differ` is given if `sum_xi` differs by more than a third. For
#' other `newdata` than the file of the fit, `expected_unique_records` is the sum of
#' \eqn{\xi}{xi}.
#'
#' @section The tree score:
#' Records in the file are scored leave-one-out; all others use the full tables. In the population
#' the values of a record have the probability \eqn{\lambda p g}{lambda p g}, with \eqn{g} a gamma
#' variable of mean one whose variance reflects the counts and the distance of keys from the
#' tree. `prob` is \eqn{\lambda p}{lambda p}, `prob_shape` the shape of \eqn{g}.
#' \eqn{\lambda}{lambda} is such that the mean of \eqn{\xi}{xi} over the records of the sample is
#' the population uniqueness. The accuracy of these likelihoods is measured on the help page of
#' [predict()][predict.sdc_copula_fit].
#'
#' @section Uncertainty:
#' The interval is that of the number of unique people in this one population. It includes
#' sampling, the calibration, and a model error that was chosen on 39 known populations. It is
#' never above what the uniqueness of the sample allows, and has no width at `pop_size` equal to
#' the number of records. `uniqueness_mc_se` is the numerical error alone.
#'
#' **The aim, 90%, is met in files with one row per person, and missed in others.** On 115 other
#' files with sampling fractions of 1, 5, 10 and 50% the intervals held the truth in:
#'
#' | files | 1% | 5% | 10% | 50% | runs |
#' |---|---|---|---|---|---|
#' | first 27 | 88% | 84% | 88% | 93% | 385 |
#' | next 45 | 60% | 75% | 80% | 89% | 536 |
#' | last 43 | 91% | 89% | 94% | 98% | 556 |
#' | one row per person, 46 files of the last two lists | 90% | 92% | 97% | 99% | 552 |
#' | the other 42 of these lists | 68% | 74% | 76% | 86% | 540 |
#'
#' The model knows pairs of key variables. If rows repeat, or a household, a school or a firm
#' shares values, there are far fewer keys than the pairs imply, and a small sample rarely shows
#' it: in 154 of the 186 misses the truth lay below the interval. If the sample does show it, a
#' warning of class `sdcRisk_warning_overstated` is given (`diagnostics$fall`). **The absence of
#' this warning does not show that persons have one row each.** Use one row per person or
#' household if you can, and key variables of persons. On 175 samples of known populations, some
#' made to mislead, the mean error was .102, .055, .027 and .012 at 1, 5, 20 and 50%, that of
#' [population_risk()] .058, .020, .007 and .003 (`vignette("trust")`).
#'
#' With `calibrate = FALSE` estimate and interval are the model's own; the interval is much wider.
#'
#' `models_differ` warns if the Pitman model, or the copula before calibration, differs from the
#' estimate by more than 0.05 or by more than a factor of 3.
#'
#' @section Households:
#' With `hh_id` the records also have the scores of their household, as in [individual_risk()]:
#' `household_xi` is the likelihood that at least one member is unique, `household_kappa` the
#' chance that a match of at least one is correct. Use [household_risk()] to find families that
#' can be identified by their composition.
#'
#' @section Unequal weights:
#' Weights enter the margins and the pairs. By default the model is then not calibrated; the
#' interval is that of `calibrate = FALSE`, and its coverage was not measured. With `calibrate =
#' TRUE` the sample is treated as drawn with equal chances: if rare people were drawn
#' more often, estimate and interval are too high. Use [population_risk()] for such files.
#'
#' @section Randomness:
#' Population estimates and intervals are the same in every call. `score = "copula"` and
#' `"placement"`, and `order = "random"` in the fit, obey [set.seed()].
#'
#' @section Cost:
#' Twice the largest `pop_size` draws (once from ten million on), each some ten nanoseconds per
#' key variable and thread; 8 bytes per draw, 16 if the categories' product exceeds 64 bits. At
#' most 2e9 people.
#' Memory beyond `data`, with five key variables and two threads: at most 250 bytes a record, and
#' 16 bytes for each of the people drawn, of whom 40 million are kept at most.
#'
#' @param data A data frame, tibble or data.table with one row per record, or a result of
#'   [copula_fit()].
#' @inheritParams sdcRisk-params
#' @param pop_size Number of people in the population: one or several numbers, none below the
#'   number of records. By default the sum of the weights of an [sdc_file()], if they expand it.
#' @param ... Rarely used arguments, those of `copula_uniqueness_control()`, by their full names,
#'   or together: `control = copula_uniqueness_control(...)`; if `data` is a data frame, also
#'   those of [copula_fit()].
#' @param newdata A released file to judge by a model fitted on `data`, such as a file that is not
#'   a random sample; `records` are then its records. The file of the fit, in its order, is
#'   recognised; other files should hold other people.
#' @param score Where a record's probability comes from, see details.
#' @param calibrate Whether to calibrate. `NULL`: if weights are equal.
#' @param given_sample Whether to use that only records unique in the sample can be unique in the
#'   population: others get \eqn{\xi = 0}{xi = 0} and \eqn{\kappa}{kappa} at most 1/k. It supposes
#'   that the people in the file are those of the population.
#' @param records Whether to score records. `FALSE` gives estimates alone.
#' @param n_refits No longer used: intervals need no refits. A message of class
#'   `sdcRisk_message_no_refits` says so if it is above 0.
#' @param hh_id Name of the column of the records (`newdata` if given) that identifies
#'   households, or `NULL`; see the section on households.
#'
#' @return An object of class `sdc_copula_uniqueness`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per `pop_size`: `pop_size`, `population_uniqueness`,
#'     `uniqueness_mc_se`, `uniqueness_low`, `uniqueness_high`, `population_correctness`,
#'     `correctness_mc_se`, `correctness_low`, `correctness_high`, `prop_xi_80` and `prop_xi_95`
#'     (share of records with \eqn{\xi}{xi} above 0.80 and 0.95; without records, of records drawn
#'     from the model), `method` (`"sampled"` or `"calibrated"`), `pitman_yor` (uniqueness by the
#'     Pitman model), `score`, `model_uniqueness` (before calibration), `expected_unique_records`,
#'     `expected_unique_low`, `expected_unique_high` (of the records of the file), `sum_xi` (what
#'     their likelihoods add up to, `NA` without records)}
#'   \item{`records`}{for the first `pop_size`: `prob`, `xi`, `kappa`, `prob_error` (numerical
#'     error of `prob`, 0 if exact), `sample_unique`, `prob_shape` (the smaller, the less certain
#'     is `prob`; `Inf` for `"copula"` and `"placement"`, which take it for certain), with `hh_id`
#'     `household_xi` and `household_kappa`. `NULL` for a fit without `newdata`}
#'   \item{`curve`}{uniqueness and correctness with their intervals over 25 population sizes, from
#'     that of the sample on}
#'   \item{`fit`}{the [copula_fit()]}
#'   \item{`diagnostics`}{`calibration`: `kind` (`"posterior"` or `"none"`), `parameters` with the
#'     `mean` and `sd` of `ln_scale` (\eqn{\ln \lambda}{ln lambda}) and `ln_spread` (\eqn{\ln
#'     a}{ln a}) after the sample, `shrunk` if the standard deviation is above 0.8 of that before
#'     it, and `shrunk` for both together; `n_draws`; `pitman_status`; `fall`, whether uniqueness
#'     falls faster in the sample than in the model (`faster`): by how much per unit of \eqn{\ln
#'     m}{ln m} (`excess`, `excess_se`), and how much coarser the sample's keys are
#'     (`ln_coarser`)}
#' }
#' Errors: `bad_argument` for a `pop_size` that is not finite or below the number of records;
#' `too_large`; those of [copula_fit()]. Warnings: `few_records` for fewer than 1,000 records,
#' `models_differ`, `scores_differ`, `overstated` (see the section on uncertainty). Messages:
#' `not_calibrated` for unequal weights, `weak_calibration`, `unseen_categories`, `no_refits`.
#' @references
#' Rocher, L., Hendrickx, J. M. and de Montjoye, Y.-A. (2019). Estimating the success of
#' re-identifications in incomplete datasets using generative models. Nature Communications 10,
#' 3069. \doi{10.1038/s41467-019-10933-3}. See [copula_fit()] for further references.
#' @family copula
#' @seealso [uniqueness_by_size()], `predict()` and `simulate()` for a fit
#' @export
#' @examples
#' set.seed(1)
#' sample <- adult[sample(nrow(adult), 3000), ]
#' keys <- c("age", "sex", "education_num", "occupation", "hours_per_week")
#' risk <- copula_uniqueness(sample, keys, pop_size = nrow(adult))
#' risk
#' # The truth is known here.
#' cells <- table(do.call(paste, adult[keys]))
#' sum(cells == 1) / nrow(adult)
copula_uniqueness <- function(data, key_vars = NULL, pop_size, ..., newdata = NULL,
                              score = c("tree", "copula", "placement"), calibrate = NULL,
                              given_sample = FALSE, records = TRUE,
                              sampling_fraction = NULL, hh_id = NULL, limit = NULL) {
  ask <- announce("copula_uniqueness")
  check_given("data")
  if (inherits(data, "sdc_copula_fit")) {
    file <- data
    remember(ask)
  } else {
    read_file(ask, patterns = TRUE)
    file <- lend_codes(ask$file, ask)
    data <- ask$data
    key_vars <- ask$key_vars
    sampling_fraction <- ask$sampling_fraction
    hh_id <- ask$hh_id
  }
  more <- dots_of_fit(data)
  if (is.null(sampling_fraction)) check_size_given(file, more$weight_var)
  score <- check_choice(score, c("tree", "copula", "placement"), "score")
  if (!is.null(calibrate)) check_flag(calibrate, "calibrate")
  check_flag(given_sample, "given_sample")
  check_flag(records, "records")
  limit <- check_record_limit(limit)
  inform_no_refits(check_whole(ask$n_refits, "n_refits", low = 0))
  level <- check_probability(ask$level, "level")
  newdata <- bare_data(newdata)
  if (!is.null(newdata)) check_data_frame(newdata, "newdata")
  hh_at <- household_column(
    hh_id, if (is.null(newdata)) bare_records(data) else newdata, key_vars
  )
  if (!is.null(hh_at) && is.null(key_vars) && is.data.frame(data)) {
    # All columns that no other argument names.
    key_vars <- setdiff(seq_along(data), c(hh_at, weight_position(data, more$weight_var)))
  }
  known <- fit_or_data(file, key_vars, more)
  n_least <- known$n
  pop_size <- size_of_population(
    known$n_file, if (was_given("pop_size")) argument("pop_size"), sampling_fraction
  )
  check_pop_size(pop_size, n_least)
  if (!is.null(newdata)) check_pop_size(pop_size, nrow(newdata), "of `newdata`")
  check_drawable(pop_size)
  if (!is.null(newdata) && is.null(known$data)) {
    check_columns(data$settings$key_vars, newdata, "key_vars")
  }
  fit <- known$fit()
  released <- if (!is.null(newdata)) newdata else known$file
  calibrated <- calibrates(fit, calibrate)
  signal_few_records(fit$n)
  with_progress("Drawing people from the model", {
    sizes <- c(pop_size, curve_sizes(fit$n, pop_size))
    shown <- if (calibrated && any(pop_size > fit$n)) subsets_of_sample(fit)
    found <- draw_population(fit, sizes, calibrated, level, shown$sizes)
    estimates <- population_estimates(found, sizes)
    curve <- estimates[-seq_along(pop_size), ]
    estimates <- estimates[seq_along(pop_size), ]
    scored <- score_records(
      fit, if (records) released, estimates, score, given_sample, is.null(newdata)
    )
    estimates <- cbind(estimates, scored$shares)
    estimates$method <- if (calibrated) "calibrated" else "sampled"
    # The Pitman model beside a copula fit, and whether it has a maximum.
    fitted <- fit_pitman(fit$cell_sizes)
    pitman <- list(
      uniqueness = vapply(pop_size, function(size) partition_uniqueness(fitted, size), 0),
      status = fitted$status
    )
    estimates$pitman_yor <- pitman$uniqueness
    estimates$score <- score
    rownames(estimates) <- rownames(curve) <- NULL
    result <- new_sdc_result(
      "sdc_copula_uniqueness",
      estimates = estimates[copula_columns], records = scored$records,
      settings = list(
        key_vars = fit$settings$key_vars, pop_size = pop_size, score = score,
        calibrate = calibrated, given_sample = given_sample, level = level,
        missing = fit$settings$missing, weight_var = fit$settings$weight_var,
        n = scored$n, fingerprint = scored$fingerprint,
        applied = !scored$own, version = fit$settings$version
      ),
      diagnostics = list(
        calibration = calibration_found(found, calibrated), n_draws = found$n_draws,
        pitman_status = pitman$status, fall = if (!is.null(shown)) steepness(shown, found$subsets)
      ),
      call = ask$call, curve = curve[curve_columns], fit = fit
    )
    if (!is.null(hh_at)) result <- add_household_scores(result, bare_data(released), hh_at)
    signal_copula_uniqueness(result)
    with_limit(result, limit)
  })
}

#' @rdname copula_uniqueness
#' @export
copula_uniqueness_control <- function(n_refits = 0, level = 0.95, ...) {
  new_control("copula_uniqueness_control")
}

copula_columns <- c(
  "pop_size", "population_uniqueness", "uniqueness_mc_se", "uniqueness_low",
  "uniqueness_high", "population_correctness", "correctness_mc_se", "correctness_low",
  "correctness_high", "prop_xi_80", "prop_xi_95", "method", "pitman_yor", "score",
  "model_uniqueness", "expected_unique_records", "expected_unique_low",
  "expected_unique_high", "sum_xi"
)
curve_columns <- c(
  "pop_size", "population_uniqueness", "uniqueness_low", "uniqueness_high",
  "population_correctness", "correctness_low", "correctness_high"
)

# Arguments of copula_fit() in `...`; a fit takes none.
dots_of_fit <- function(data) {
  fitted <- inherits(data, "sdc_copula_fit")
  given <- dot_names()[!are_controls(running$ask)]
  allowed <- if (!fitted) setdiff(names(formals(copula_fit)), c("data", "key_vars", "..."))
  if (!all(given %in% allowed)) {
    stop_unknown_arguments(
      given[!given %in% allowed], c(argument_names(), names(arguments_of("copula_fit"))),
      if (!fitted) "this function or of `copula_fit()`"
    )
  }
  other_dots()
}

# A fit, or data to fit: `n` records, and `fit()` to get it.
fit_or_data <- function(data, key_vars, more) {
  if (inherits(data, "sdc_copula_fit")) {
    check_result(data)
    if (!is.null(key_vars)) {
      stop_argument(
        "key_vars", "be NULL if `data` is a fit", advice = "A fit has its key variables."
      )
    }
    return(list(n = data$n, n_file = data$settings$n, fit = function() data, data = NULL))
  }
  list(
    n = n_records(data$data), n_file = n_records(data$data), data = data$data, file = data,
    fit = function() do.call(copula_fit, c(list(data, key_vars), more))
  )
}

check_drawable <- function(pop_size) {
  if (any(pop_size > most_people)) {
    stop_sdc(
      "too_large", paste0("`pop_size` must be at most ", format_count(most_people), " people."),
      x = paste0("It is ", format(max(pop_size), big.mark = big_mark(), digits = 6), "."),
      i = "predict() with score = \"copula\" takes any size."
    )
  }
}

# Population sizes at which the curve is drawn: from the sample on, and beyond it
# where only the sample was asked for.
curve_sizes <- function(n, pop_size) {
  to <- max(pop_size)
  if (to < 1.1 * n) to <- min(10 * n, most_people)
  round(exp(seq(log(n), log(to), length.out = 25)))
}

# Uniqueness and correctness in populations of several sizes. The people drawn
# are always the same: no seed is needed. Who wants estimates alone gives a
# `level` of 0, at which intervals have no meaning. `subsets` are sizes at which the model
# alone is asked, below the sample's too.
draw_population <- function(fit, sizes, calibrated, level, subsets = NULL) {
  found <- core(
    rs_copula_population, core_model(fit), list(
      sizes = as.double(sizes), n = as.double(fit$n), n_single = as.double(fit$n_singletons),
      n_distinct = as.double(sum(fit$cell_sizes$n)), calibrated = calibrated,
      bounded = fit$settings$equal_weights, level = as.double(level),
      subsets = as.double(subsets)
    )
  )
  found$intervals <- found[c("uniqueness", "correctness")]
  found$uniqueness <- found$uniqueness$estimate
  found$correctness <- found$correctness$estimate
  found
}

# Estimates with intervals, one row per population size.
population_estimates <- function(found, sizes) {
  uniqueness <- found$intervals$uniqueness
  correctness <- found$intervals$correctness
  frame(
    pop_size = sizes,
    population_uniqueness = found$uniqueness, uniqueness_mc_se = found$uniqueness_mc_se,
    uniqueness_low = uniqueness$low, uniqueness_high = uniqueness$high,
    population_correctness = found$correctness, correctness_mc_se = found$correctness_mc_se,
    correctness_low = correctness$low, correctness_high = correctness$high,
    model_uniqueness = found$model_uniqueness
  )
}

# Posterior of the two calibration parameters. Compare `sd` with that of the prior: if `shrunk`, the
# sample has hardly changed it.
calibration_found <- function(found, calibrated) {
  known <- list(found$ln_scale, found$ln_spread)
  list(
    kind = if (calibrated) "posterior" else "none",
    parameters = frame(
      parameter = c("ln_scale", "ln_spread"), mean = vapply(known, function(k) k$mean, 0),
      sd = vapply(known, function(k) k$sd, 0), shrunk = vapply(known, function(k) k$shrunk, NA)
    ),
    shrunk = all(vapply(known, function(k) k$shrunk, NA))
  )
}
