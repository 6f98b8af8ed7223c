#' Uniqueness in the population, from a sample
#'
#' How many people of the population are unique on the key variables, and how
#' likely is each record of the file to be unique, and to be the right person
#' when it matches? Estimated from a sample by a Gaussian copula, after Rocher,
#' Hendrickx and de Montjoye (2019).
#'
#' @details
#' **Population uniqueness** is the share of \eqn{N} people who are unique,
#' \deqn{\Xi_N = \sum_x q(x)\,(1 - q(x))^{N - 1},}{Xi_N = sum_x q(x) (1 - q(x))^(N - 1),}
#' **population correctness** the chance that a match on all key variables is the
#' right person, which is the share of distinct keys, or cells, among \eqn{N} people. Both
#' are estimated by drawing people from the model [copula_fit()] and counting;
#' one set of draws serves all population sizes.
#'
#' **Calibration.** The model is brought to the uniqueness that the sample itself
#' shows, as far as the sample knows it. Two numbers are unknown: cells may be
#' coarser or finer than the model's by a factor \eqn{\lambda}{lambda}, and vary about their
#' probability by a gamma variable of mean one and variance \eqn{a}{a}. A person is then
#' unique among \eqn{m} with probability
#' \deqn{U(m) = \int S(1 + \lambda g (m - 1)) \, \gamma(g) \, dg, \quad
#'   g \sim \Gamma(1/a + 1, 1/a),}{%
#'   U(m) = mean of S(1 + lambda g (m - 1)) over g ~ Gamma(1/a + 1, rate 1/a),}
#' with \eqn{S} the model's curve. Beforehand \eqn{\ln \lambda}{ln lambda} is normal with
#' mean 0 and standard deviation 0.3, \eqn{\ln \max(a, 0.015)}{ln max(a, 0.015)} with mean
#' \eqn{\ln 0.12}{ln 0.12} and standard deviation 1.5; the likelihood is that of the number of
#' unique records among the \eqn{n} of the sample. Thousands of records decide; if
#' few are unique, or few are not, the model keeps its say, and a message of class
#' `sdcRisk_message_weak_calibration` tells when the sample left both numbers as
#' they were and the interval is wider than 0.05. This calibration is ours, not the
#' paper's. It is made by default at any number of records if weights are equal.
#'
#' **From the sample to the population.** The people in the sample are known. Its
#' \eqn{s} unique records stay unique with probability \eqn{U(N) / U(n)}, the others are
#' unique with probability \eqn{U(N)}, and everyone who is unique on arrival adds one
#' to the \eqn{d} cells:
#' \deqn{\Xi_N = \frac{1}{N} \Big( s \frac{U(N)}{U(n)} + (N - n)\, U(N) \Big), \quad
#'   K_N = \frac{1}{N} \Big( d + \int_n^N U(m) \, dm \Big).}{%
#'   Xi_N = (s U(N) / U(n) + (N - n) U(N)) / N, K_N = (d + integral of U from n to N) / N.}
#' So correctness is below neither uniqueness nor \eqn{d / N}, and at
#' `pop_size` equal to the number of records both are the sample's own: to judge the
#' model there, use `calibrate = FALSE`.
#'
#' **Records.** With \eqn{p} the probability of a record's keys,
#' \deqn{\xi = (1 - p)^{N - 1}, \quad \kappa = \frac{1 - (1 - p)^N}{N p}}{%
#'   xi = (1 - p)^(N - 1), kappa = (1 - (1 - p)^N) / (N p)}
#' are the likelihood of uniqueness, and of correctness: the chance that a match is the right
#' person. `score` sets how \eqn{p} is computed:
#' \describe{
#'   \item{`"tree"`}{a tree of the pairs with most information, its pair tables
#'     shrunk towards independence. Not the paper's: it ranks records better,
#'     because a latent correlation says how much two nominal variables depend and
#'     not which cells are frequent. That \eqn{p} is itself uncertain is part of
#'     \eqn{\xi}{xi} and \eqn{\kappa}{kappa}, and their mean over the file agrees with the
#'     population uniqueness: see the section on the tree score.}
#'   \item{`"copula"`}{the paper's equation 18, the probability of a rectangle
#'     under the model.}
#'   \item{`"placement"`}{the mean over random places of the record's intervals,
#'     as the authors' program does.}
#' }
#'
#' **How many records are unique?** Of a random sample of \eqn{n} records, \eqn{n} times the
#' population uniqueness: `expected_unique_records`, with the interval of the population
#' uniqueness times \eqn{n}. In a small sampling fraction hardly any record has
#' \eqn{\xi}{xi} above 0.8. Some are unique even so, but they cannot be identified. The
#' \eqn{\xi}{xi} of `"tree"` add up to that number by construction; those of `"copula"` and
#' `"placement"` do not, because the sample over-represents frequent cells under a model
#' that does not know them. `sum_xi` holds their sum; a warning of class
#' `sdcRisk_warning_scores_differ` is given if the two differ by more than a third. If
#' `newdata` is not the file of the fit, no assumption is made on how it was drawn:
#' `expected_unique_records` is then the sum of \eqn{\xi}{xi}. With unequal weights the
#' \eqn{\xi}{xi} of `"tree"` agree with the population uniqueness in their weighted mean.
#'
#' @section The tree score:
#' A record of the file is judged by the tables without itself, anyone else by the
#' whole tables. In the population a record's values have the probability
#' \eqn{\lambda p g}{lambda p g} with \eqn{g} a gamma variable of shape and rate
#' \eqn{a}, \eqn{1/a = 1/\alpha + c V}{1/a = 1/alpha + c V}, where
#' \eqn{V = \sum 1 / (n_{ij} + c_{ij} p_i p_j)}{V = sum 1 / (n_ij + c_ij p_i p_j)}, the sum
#' over the edges of the tree, is the variance that the counts leave to \eqn{\ln p}{ln p},
#' and \eqn{\alpha}{alpha} says how far cells are from the tree. A person drawn from
#' the population is in a frequent cell rather than in a rare one, so that
#' \deqn{\xi = \Big(1 + \frac{(N - 1) \lambda p}{a}\Big)^{-(a + 1)}, \quad
#'   \kappa = \frac{1 - (1 + N \lambda p / a)^{-a}}{N \lambda p}.}{%
#'   xi = (1 + (N - 1) lambda p / a)^-(a + 1),
#'   kappa = (1 - (1 + N lambda p / a)^-a) / (N lambda p).}
#' \eqn{\alpha}{alpha}, \eqn{c} and \eqn{\lambda}{lambda} in the sample are where the
#' likelihood of who is unique in the sample, times a prior (\eqn{\ln \alpha}{ln alpha},
#' \eqn{\ln \lambda}{ln lambda}, \eqn{\ln c}{ln c} normal around 0 with standard deviations
#' 0.8, 0.7, 0.5), is largest; \eqn{\lambda}{lambda} in a population is such that the
#' mean of \eqn{\xi}{xi} over the sample's records is the population uniqueness. `prob`
#' is \eqn{\lambda p}{lambda p}, `prob_shape` is \eqn{a}. How well these likelihoods
#' hold is measured on the page of [predict()][predict.sdc_copula_fit].
#'
#' @section Uncertainty:
#' The interval is that of the number of unique people in this one population. It
#' holds what the sample leaves open of the two numbers above, the chance of the
#' counts, and the error of models: on the way from \eqn{n} to \eqn{N} sizes are
#' stretched by \eqn{e^h}, \eqn{h} normal with variance
#' \eqn{(0.02 + 4 / n + 0.03 b^2) \ln(N / n)}{(0.02 + 4 / n + 0.03 b^2) ln(N / n)}, where
#' \eqn{b = \ln(a / 0.12)}{b = ln(a / 0.12)} is held between 0 and 3: if cells must
#' vary more than usual for the model to agree with the sample, as with nested key
#' variables, the model knows the population less, and errs more on the way.
#' It is never above what the sample's own uniqueness allows, since
#' uniqueness falls as populations grow, and has no width at `pop_size` equal to the
#' number of records. `uniqueness_mc_se` is the numerical error of the curve
#' alone.
#'
#' The figures of that variance were chosen on 39 known populations (survey and
#' administrative files, three to five random sets of 2 to 9 key variables each, one sample per
#' fraction, 494 runs). Nothing was changed after the following figures of 115 other files, R
#' data sets of 354 to 254,654 rows and fifteen made-up censuses, surveys and registers with
#' households, schools, firms and episodes (4 or 5 sets each, 1,477 runs, at least 100 records,
#' or 60 from 10% on). For the first 27 files the kinds were told apart after the misses had
#' been seen, for the others before:
#'
#' | uniqueness held | 1% | 5% | 10% | 50% | runs |
#' |---|---|---|---|---|---|
#' | first 27 files: one row per person (13) | 100% | 100% | 98% | 98% | 180 |
#' | pupils, with figures of their school (6) | | 64% | 73% | 90% | 85 |
#' | several rows per person, or no persons (8) | 70% | 83% | 83% | 88% | 120 |
#' | all 27 | 88% | 84% | 88% | 93% | 385 |
#' | other 45 files: one row per person (17) | 75% | 92% | 96% | 100% | 188 |
#' | members of groups, with figures of the group (13) | 50% | 73% | 73% | 85% | 168 |
#' | several rows per person (15) | 58% | 58% | 68% | 80% | 180 |
#' | all 45 | 60% | 75% | 80% | 89% | 536 |
#' | median width, all 45 | 0.15 | 0.19 | 0.17 | 0.08 | |
#' | mean error, all 45 | 0.094 | 0.047 | 0.037 | 0.012 | |
#' | last 43 files: one row per person (29) | 96% | 91% | 97% | 99% | 364 |
#' | members of groups, with figures of the group (5) | 88% | 95% | 95% | 100% | 76 |
#' | several rows per person (9) | 83% | 78% | 83% | 92% | 116 |
#' | all 43 | 91% | 89% | 94% | 98% | 556 |
#' | median width, all 43 | 0.20 | 0.14 | 0.12 | 0.06 | |
#' | mean error, all 43 | 0.044 | 0.023 | 0.020 | 0.007 | |
#' | **one row per person, the 46 files of the last two lists** | 90% | 92% | 97% | 99% | 552 |
#' | the other 42 of these lists | 68% | 74% | 76% | 86% | 540 |
#'
#' Widths are medians over populations with more than 1% unique people; the widest was
#' 0.65. **The aim, 90%, is met in files with one row per person, and missed in others.** Such
#' files were held in 91% of the runs or more from a fraction of 5% on in each of the three
#' lists; at 1% in 100, 75 and 96%. In 154 of the 186 misses the truth lay below the interval.
#' How the lists differ says how far such a percentage can be trusted: it is one of files, and
#' files differ.
#'
#' The reason: the model knows pairs of key variables. If rows repeat, or a
#' household, a school or a firm shares values, there are far fewer cells than its pairs
#' say, and people who look unique among \eqn{n} have their like among the \eqn{N}. In a
#' small sample the like are rarely drawn together, so that the sample itself does not show
#' it: in a census whose households repeat one row no interval held at 1 to 50%.
#' If the sample does show it there is a warning of class
#' `sdcRisk_warning_overstated`: its cells are about twice as coarse as the model's or more, or
#' uniqueness falls faster over its own subsets than on the model's curve, by more than a
#' tenth per unit of \eqn{\ln m}{ln m} and two standard errors (`diagnostics$fall`). The
#' thresholds were chosen on the 39 and the first 27 files. On the other 45, intervals with
#' this warning held the truth in 18, 52, 55 and 75% of 130 runs at these fractions, those
#' without it in 71, 81, 87 and 95% of 406; on the last 43, in 67, 64, 87 and 89% of 51 runs
#' and in 94, 91, 95 and 99% of 505. It came in a third of the runs of the 45 files with
#' groups or repeated rows, in an eighth of those of the 43, and in 8 and 7% of the others:
#' **the absence of a warning does not show that persons have one row each.** Take one row per
#' person or per household if you can, and key variables of persons. The interval is good
#' guidance, and no guarantee.
#'
#' A joint pattern of missing values that many records share does not show in pairs of
#' variables either: in `STAR` of the package AER, in which pupils who were not in the
#' first grade share one, 69% of 16 intervals held the truth;
#' least of the 39 files were held `SLID` of carData, 56% of 9.
#'
#' With `calibrate = FALSE` the estimate is the model's own, and the interval what
#' is known of such models before the sample is looked at: much wider.
#'
#' The Pitman model, which looks at the sample's cell sizes and not at the variables,
#' is a check: `models_differ` warns if it, or the copula before calibration,
#' differs from the estimate by more than 0.05 or by more than a factor of 3. In
#' small sampling fractions it is the rougher of the two; if no two records
#' are alike it knows nothing and is not compared.
#'
#' @section Households: With `hh_id` the records also have the scores of their household: an
#' intruder who finds one member has found the others. `household_xi` is the likelihood that
#' at least one member is unique, `household_kappa` the chance that a match of at least one
#' is correct, \eqn{1 - \prod_i (1 - r_i)}{1 - prod(1 - r_i)} over the members with a score,
#' as if they were unique independently of each other. The model remains one of persons. Use
#' [household_risk()] to find families that stand out.
#'
#' @section Unequal weights: Weights enter the margins and the pairs. The sample's own
#' uniqueness is that of an unequal sample then, and by default the model is not calibrated
#' on it; the interval is that of `calibrate = FALSE`. It ignores how the weights depend on
#' the key variables, and its coverage was not measured. With `calibrate = TRUE` the sample
#' is taken as if it were drawn with equal chances: if people who stand out were drawn more
#' often, estimate and interval are too high, and the bound by the sample's uniqueness is
#' not applied.
#'
#' @section Randomness:
#' Population estimates and their intervals are the same in every call: the people
#' drawn from the model are the nodes of a numerical integral and always the
#' same. `score = "copula"` and `"placement"`, and `order = "random"` in the fit,
#' obey [set.seed()].
#'
#' @section Cost:
#' Twice the largest `pop_size` draws (once from ten million on), each some ten
#' nanoseconds per key variable and thread; 8 bytes per draw, 16 if the
#' categories' product exceeds 64 bits. From 40 million draws on a share of the
#' cells is kept. At most 2e9 people. Calibration and intervals take some
#' tens of milliseconds.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 250 bytes a record, and
#' 16 bytes for each of the people drawn, of whom 40 million are kept at most.
#'
#' @param data A data frame, tibble or data.table with one row per record, or a
#'   result of [copula_fit()].
#' @inheritParams sdcRisk-params
#' @param pop_size Number of people in the population: one or several numbers,
#'   none below the number of records. By default the sum of the weights of an [sdc_file()], if
#'   they expand it.
#' @param ... Rarely used arguments, those of `copula_uniqueness_control()`, by their full
#'   names, or together: `control = copula_uniqueness_control(...)`; if `data` is a data frame,
#'   also those of [copula_fit()].
#' @param newdata A released file to judge by a model fitted on `data`, such as
#'   a file that is not a random sample; `records` are then its records. The very file of
#'   the fit, in its order, is recognised; other files should hold other people. A category
#'   that `data` did not show gets a small probability, with a message.
#' @param score Where a record's probability comes from, see details.
#' @param calibrate Whether to calibrate. `NULL`: if weights are equal.
#' @param given_sample Whether to use that only records unique in the sample
#'   can be unique in the population: others get \eqn{\xi = 0}{xi = 0} and
#'   \eqn{\kappa}{kappa} at most 1/k. For `"tree"` the others become the more likely
#'   unique: with \eqn{n} records in the sample \eqn{\xi = ((1 + n \lambda p / a) /
#'   (1 + N \lambda p / a))^{a + 1}}{xi = ((1 + n lambda p / a) /
#'   (1 + N lambda p / a))^(a + 1)}. It supposes that the people in the file are
#'   those of the population.
#' @param records Whether to score records. `FALSE` gives estimates alone.
#' @param n_refits No longer used: intervals need no refits. A message of class
#'   `sdcRisk_message_no_refits` says so if it is above 0.
#' @param hh_id Name or position of the column of the records (`newdata` if given)
#'   that identifies households, or `NULL`; see the section on households.
#'
#' @return An object of class `sdc_copula_uniqueness`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per `pop_size`: `pop_size`,
#'     `population_uniqueness`, `uniqueness_mc_se`, `uniqueness_low`,
#'     `uniqueness_high`, `population_correctness`, `correctness_mc_se`,
#'     `correctness_low`, `correctness_high`, `prop_xi_80` and `prop_xi_95` (share
#'     of records with \eqn{\xi}{xi} above 0.80 and 0.95; without records, of records
#'     drawn from the model), `method` (`"sampled"` or `"calibrated"`), `pitman_yor`
#'     (uniqueness by the Pitman model), `score`, `model_uniqueness` (before
#'     calibration), `expected_unique_records`, `expected_unique_low`,
#'     `expected_unique_high` (of the records of the file), `sum_xi` (what their
#'     likelihoods add up to, `NA` without records)}
#'   \item{`records`}{for the first `pop_size`: `prob`, `xi`, `kappa`,
#'     `prob_error` (numerical error of `prob`, 0 if exact), `sample_unique`,
#'     `prob_shape` (the smaller, the less certain is `prob`; `Inf` for `"copula"` and
#'     `"placement"`, which take it for certain), with `hh_id` `household_xi` and
#'     `household_kappa`. `NULL` for a fit without `newdata`}
#'   \item{`curve`}{uniqueness and correctness with their intervals over 25
#'     population sizes, from that of the sample on}
#'   \item{`fit`}{the [copula_fit()]}
#'   \item{`diagnostics`}{`calibration`: `kind` (`"posterior"` or `"none"`),
#'     `parameters` with the `mean` and `sd` of `ln_scale` (\eqn{\ln \lambda}{ln lambda}) and
#'     `ln_spread` (\eqn{\ln a}{ln a}) after the sample, `shrunk` if the standard deviation is
#'     above 0.8 of that before it, and `shrunk` for both together; `n_draws`;
#'     `pitman_status`; `fall`, whether uniqueness falls faster in the sample than in the
#'     model (`faster`): by how much per unit of \eqn{\ln m}{ln m} (`excess`, `excess_se`), and
#'     how much coarser the sample's cells are (`ln_coarser`)}
#' }
#' Errors: `bad_argument` for a `pop_size` that is not finite or below the number of
#' records; `too_large`; those of [copula_fit()]. Warnings: `few_records` for fewer
#' than 1,000 records, `models_differ`, `scores_differ`, `overstated` (see the section on
#' uncertainty). Messages: `not_calibrated` for
#' unequal weights, `weak_calibration`, `unseen_categories`, `no_refits`.
#' @inherit copula_fit references
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
  if (is.null(sampling_fraction)) check_size_given(file)
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
    key_vars <- setdiff(
      seq_along(data), c(hh_at, weight_position(data, other_dots()$weight_var))
    )
  }
  known <- fit_or_data(file, key_vars, ...)
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
    pitman <- pitman_check(fit, pop_size)
    estimates$pitman_yor <- pitman$uniqueness
    estimates$score <- score
    rownames(estimates) <- rownames(curve) <- NULL
    fall <- if (!is.null(shown)) steepness(shown, found$subsets)
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
        pitman_status = pitman$status, fall = fall
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

# A fit, or data to fit: `n` records, and `fit()` to get it.
fit_or_data <- function(data, key_vars, ...) {
  if (inherits(data, "sdc_copula_fit")) {
    check_result(data)
    if (!is.null(key_vars)) {
      stop_argument(
        "key_vars", "be NULL where `data` is a fit", advice = "A fit has its key variables."
      )
    }
    check_no_dots(...)
    return(list(n = data$n, n_file = data$settings$n, fit = function() data, data = NULL))
  }
  given <- other_dots()
  allowed <- setdiff(names(formals(copula_fit)), c("data", "key_vars", "..."))
  names <- if (is.null(names(given))) character(length(given)) else names(given)
  if (length(given) && !all(names %in% allowed)) {
    unknown <- names[!names %in% allowed]
    unknown[!nzchar(unknown)] <- "(unnamed)"
    stop_sdc(
      "bad_argument",
      c(
        "All arguments must be arguments of this function or of `copula_fit()`.",
        x = paste0("Unknown: ", quote_names(unknown), "."),
        i = "Arguments after the first ones are given by their full names."
      ),
      argument = unknown
    )
  }
  list(
    n = n_records(data$data), n_file = n_records(data$data), data = data$data, file = data,
    fit = function() do.call(copula_fit, c(list(data, key_vars), given))
  )
}

check_drawable <- function(pop_size) {
  if (any(pop_size > most_people)) {
    stop_sdc(
      "too_large",
      c(
        paste0("`pop_size` must be at most ", format_count(most_people), " people."),
        x = paste0("It is ", format(max(pop_size), big.mark = big_mark(), digits = 6), "."),
        i = "predict() with score = \"copula\" takes any size."
      )
    )
  }
}

# Population sizes at which the curve is drawn: from the sample on, and beyond it
# where only the sample was asked for.
curve_sizes <- function(n, pop_size, length = 25) {
  to <- max(pop_size)
  if (to < 1.1 * n) to <- min(10 * n, most_people)
  round(exp(seq(log(n), log(to), length.out = length)))
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

# What the sample says of the two parameters that bring the model to it: `sd` is
# to be read beside that of the prior, which the sample has hardly moved where
# `shrunk`.
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
