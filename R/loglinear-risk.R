#' Log-linear re-identification risk of a sample
#'
#' Which sample uniques are unique in the population, and how many? A record
#' that is alone in its cell of the key variables is at risk if few people
#' outside the sample share the cell. A log-linear model of the table estimates
#' how many do, also from cells nobody in the sample is in (Skinner and Shlomo
#' 2008).
#'
#' @details The key variables span a table of \eqn{K} cells. Cell \eqn{k} has \eqn{F_k}
#' people in the population and \eqn{f_k} records in the sample. With \eqn{F_k} Poisson with
#' mean \eqn{\lambda_k}{lambda_k} and every person drawn with probability \eqn{\pi_k}{pi_k},
#' the other people in the cell of a sample unique are Poisson with mean \eqn{q_k = (1 -
#' \pi_k)\lambda_k}{% q_k = (1 - pi_k) lambda_k}, so that
#' \deqn{P(F_k = 1 \mid f_k = 1) = e^{-q_k}, \quad
#'   E(1/F_k \mid f_k = 1) = (1 - e^{-q_k})/q_k.}{%
#'   P(F_k = 1 | f_k = 1) = exp(-q_k), E(1/F_k | f_k = 1) = (1 - exp(-q_k)) / q_k.}
#' Their sums over the sample uniques are \eqn{\tau_1}{tau1}, the expected
#' number of sample uniques that are unique in the population, and
#' \eqn{\tau_2}{tau2}, the expected number of correct matches of an intruder who
#' attacks every sample unique. Both lie between 0 and the number of sample
#' uniques. The percentage that Li and others (2021) report is `tau1_rate`.
#'
#' \eqn{\lambda}{lambda} is fitted by maximum likelihood to the weighted table,
#' scaled to the population. The table spans the levels that records have.
#'
#' @section Is the model right?:
#' Too few interactions overstate the risk, too many understate it. Skinner and
#' Shlomo judge by an estimate \eqn{B} of the bias of \eqn{\tau}{tau}, a sum over
#' all cells, the empty ones included:
#' \deqn{B = \sum_k a_k e_k + b_k (e_k^2 - f_k), \quad e_k = f_k - \pi_k\lambda_k.}{%
#'   B = sum_k a_k e_k + b_k (e_k^2 - f_k), e_k = f_k - pi_k lambda_k.}
#' For \eqn{\tau_1}{tau1} \eqn{a = q e^{-\lambda}}{a = q exp(-lambda)} and
#' \eqn{b = (1-\pi) q e^{-\lambda}/(2\pi)}{b = (1 - pi) q exp(-lambda) / (2 pi)};
#' for \eqn{\tau_2}{tau2} \eqn{a = e^{-\mu} h - e^{-\lambda}}{%
#' a = exp(-mu) h - exp(-lambda)} and
#' \eqn{b = [e^{-\mu} h - e^{-\lambda}(1 + q/2)]/\mu}{%
#' b = (exp(-mu) h - exp(-lambda) (1 + q / 2)) / mu}, where
#' \eqn{h = (1 - e^{-q})/q}{h = (1 - exp(-q)) / q} and
#' \eqn{\mu = \pi\lambda}{mu = pi lambda}. `z` is \eqn{B} over the root of its
#' variance under the model, `z_robust` over that of its empirical variance over
#' cells. Well above 0, the model underfits and tends to overstate the risk; well
#' below 0, it overfits and tends to understate it. \eqn{|z| < 1.96} is
#' acceptable. The models fitted that are so by `z2` give the range of
#' \eqn{\tau}{tau} that the print shows; `diagnostics$models` lists all.
#'
#' @section Models:
#' `"independence"`: main effects. `"two_way"`: all two-way interactions.
#' `"search"`: forward from independence; at every step each remaining two-way
#' interaction is fitted and the one that brings `z2` closest to 0 is added,
#' until none brings it closer. A formula such as `~ age * region + sex:region:job`
#' names interactions of any order; main effects of all key variables and lower
#' interactions of named ones always belong. With several key sets a formula's
#' terms count if the key set has their variables. Several models are given
#' as a character vector or a list.
#'
#' @section Sampling fractions:
#' With equal weights all cells have \eqn{\pi_k = n/N}{pi_k = n / N}. With others
#' there is a choice:
#' \describe{
#'   \item{`"overall"`}{\eqn{\lambda}{lambda} is fitted to the weighted table, and
#'     \eqn{\pi_k = n/N}{pi_k = n / N}: the choice of the reference software
#'     SDCNway. If fractions differ by keys, `z` reacts to that and not to the
#'     model.}
#'   \item{`"cell"`}{as `"overall"`, but an occupied cell has its number of records
#'     over the sum of their weights. Right if all records of a cell have the
#'     same weight; if weights differ within cells the estimates are far too
#'     high, and a warning of class `sdcRisk_warning_cell_fractions` says so.}
#'   \item{`"raked"`}{\eqn{\mu}{mu} is the fit of the model to the unweighted
#'     counts. One factor per level of every key variable rakes \eqn{\mu}{mu} to
#'     the weighted one-way margins: \eqn{\lambda}{lambda}, never below
#'     \eqn{\mu}{mu}; \eqn{\pi_k = \mu_k/\lambda_k}{pi_k = mu_k / lambda_k}.
#'     Fractions then follow the key variables, and weights that do not depend on
#'     them average out. Interactions beyond the product of these effects are not followed.}
#' }
#' `"overall"` is the default, for its plain estimates are those of the literature.
#' Whatever the fractions, corrected values and intervals come from raked ones. With
#' weights that follow the key variables ask for `"raked"`: its `z` is valid under
#' either kind of weights, and its plain estimates need least correction; see the
#' section on coverage.
#'
#' @section Correction and intervals:
#' A model of many parameters for few records overfits, and \eqn{\tau}{tau} comes
#' out too low even if the model is true. \eqn{B} measures that as well. So
#' \deqn{\tau_c = \tau - w B, \quad w = z^2/(1 + z^2), \quad z = B/\sqrt{V},}{%
#'   tau_c = tau - w B, w = z^2 / (1 + z^2), z = B / sqrt(V),}
#' with \eqn{V} the Poisson variance of \eqn{B}: much is taken away if the bias
#' is beyond doubt, little if \eqn{B} is noise. \eqn{\tau_c}{tau_c} is held
#' between 0 and the number of sample uniques. `tau1` and `tau2` remain the
#' estimates of Skinner and Shlomo; `tau1_corrected` and `tau2_corrected` are the
#' ones to report, `tau1_bias` and `tau2_bias` the differences. **The intervals
#' belong to the corrected values, and contain them.** With
#' \eqn{s^2 = s_0^2 + V_c}{s^2 = s0^2 + Vc} they are
#' \eqn{(\sqrt{\tau_c} \pm 1.96\, s / (2\sqrt{\tau_c}))^2}{%
#' (sqrt(tau_c) +- 1.96 s / (2 sqrt(tau_c)))^2}, made half a person (for
#' \eqn{\tau_2}{tau2} a quarter; no more than \eqn{2 s_0}{2 s0}) wider at both ends, since
#' the true numbers go in steps, and cut at the same bounds; nothing is
#' random. \eqn{s_0}{s0} (`tau1_se`) is the standard error by the delta method:
#' the variance of the rest of the population given the sample, plus that of the
#' fit by its information matrix, plus that of raked weights that differ within
#' cells. Chance in those weights also raises \eqn{\tau}{tau}, since the risks
#' curve upwards; half its variance times their second derivative is taken away
#' before all else.
#'
#' If cells expect very few records, \eqn{B} is a wild number: nothing but noise
#' for a small \eqn{\tau}{tau}. Its effect is therefore limited by what it corrects:
#' \eqn{|w B| \le \tau + s_0}{|w B| <= tau + s0}, and
#' \eqn{V_c}{Vc}, which is \eqn{V} elsewhere, is at most the square of
#' \eqn{\max(\tau, \tau_c) + s_0}{max(tau, tau_c) + s0}.
#'
#' For `sampling = "overall"` and `"cell"` with unequal weights, \eqn{B} does not measure
#' bias. There the model is fitted with raked fractions too, from which the corrected values
#' and intervals come; the bias is then the difference to them.
#'
#' `status` says what an estimate is worth:
#' \describe{
#'   \item{`"ok"`}{the plain estimate agrees with the corrected one}
#'   \item{`"biased"`}{it lies outside the interval, or the bias exceeds
#'     \eqn{s}: report the corrected value; a warning of class
#'     `sdcRisk_warning_biased_estimate` (`cell_fractions`)}
#'   \item{`"overfits"`}{\eqn{z_2 < -3}: likewise, and the interval is less sure}
#'   \item{`"boundary"`}{the iterations did not converge, since the fit lies on the
#'     boundary of its model (see the section on zero margins): \eqn{\tau}{tau} depends on
#'     where they stopped, and [measures()] calls it `"unclear"`}
#'   \item{`"underfits"`}{\eqn{z_2 > 3}: the expansion behind \eqn{B} does not
#'     hold, so there is no correction and no interval. \eqn{\tau}{tau} tends to
#'     be too high, but is not an upper bound: 53.6 was seen for a truth of 83. Add
#'     interactions (`model = "search"`) or take coarser categories}
#' }
#' The \eqn{z_2} meant is that of the raked fit.
#'
#' The intervals include the bias that \eqn{B} measures, not that of a wrong model
#' that \eqn{B} does not see, nor the choice of a search.
#'
#' @section Measured coverage:
#' Of nominal 95% intervals with `sampling = "raked"`, 24 samples per entry, so
#' that an entry has a standard error of about 0.05. Four designs: equal fractions;
#' fractions that follow a key; one of two fractions at random; fractions whose
#' inverses are exponential at random.
#'
#' *The model is true* (populations drawn from fitted models; General Social
#' Survey 2018, US incomes `income_esl14`, `panel_waves`; five key variables, 330 to 735
#' sample uniques, \eqn{\tau_2}{tau2} 30 to 340; independence and all two-way
#' interactions, four designs each): .97 on average over 48 entries, .92 to 1.00 in 45
#' of them. The three lower ones are of two-way models: \eqn{\tau_2}{tau2} .79 and .83
#' (`income_esl14`, exponential and by a key), \eqn{\tau_1}{tau1} .88 (`gss18`,
#' exponential). With one or two sample uniques
#' (60 samples, both models): .98 to 1.00. With some 4,800 (panel, two-way, two
#' designs of 8 samples): 1.00. `"overall"` and `"cell"` have the same
#' intervals.
#'
#' *Nearly all records unique*: on six key variables of `gss18`, 990 of some 1,100
#' records are, more than half of them in the population, too. The intervals of a true
#' two-way model held \eqn{\tau_1}{tau1} in 13 of 48 samples and
#' \eqn{\tau_2}{tau2} in one: the model has more parameters than the sample can
#' tell, and \eqn{\tau_1}{tau1} came out 9 to 11%, \eqn{\tau_2}{tau2} 6 to 7% too
#' low. Those of a true independence model held them in 47 and 48 of 48. Take fewer key
#' variables or coarser categories for such a file.
#'
#' *Real populations, all two-way interactions* (no model is true; \eqn{\tau_1}{tau1} /
#' \eqn{\tau_2}{tau2}):
#' \tabular{lrrrr}{
#'   population \tab equal \tab by a key \tab two \tab exponential \cr
#'   `gss18`, 11,124 people \tab 1.00 / 1.00 \tab .88 / .92 \tab .96 / 1.00 \tab 1.00 / 1.00 \cr
#'   `income_esl14`, 6,876 \tab .92 / .88 \tab .92 / .88 \tab .92 / .79 \tab .96 / .96 \cr
#'   `adult`, 32,561 \tab .88 / .71 \tab .96 / .62 \tab .92 / .67 \tab .96 / .75 \cr
#'   `hdv2003`, 1,888 \tab .88 / .88 \tab .75 / .67 \tab .92 / .83 \tab .92 / .71 \cr
#'   `panel_waves`, 110,072 \tab .96 / .96 \tab .96 / 1.00 \tab 1.00 / 1.00 \tab 1.00 / 1.00 \cr
#'   `testdata` of sdcMicro, 4,580 \tab .79 / .67 \tab .88 / .92 \tab .83 / .75 \tab .88 / .75 \cr
#' }
#' On average .92 and .85. In the three with low figures many categories are rare,
#' \eqn{z_2} is -1.9 to -2.4 on average, and the corrected
#' \eqn{\tau_2}{tau2} is still 6 to 7% too low: with \eqn{z_2} near -2 a nominal
#' 95% is not guaranteed, and coarser categories or a search serve better.
#'
#' Strong weights unrelated to the key variables (lognormal, panel population, two
#' samples): true \eqn{\tau_1}{tau1} 61 and 55, raked 58 and 49, overall 112 and 109,
#' cell 180 and 171.
#'
#' @section Households:
#' With `hh_id` the records also have the risk of their household: an intruder who
#' finds one member has found the others. `household_tau1` is the chance that at
#' least one member is unique in the population, `household_tau2` that at least one
#' is matched correctly, \eqn{1 - \prod_i (1 - r_i)}{1 - prod(1 - r_i)} over the
#' members in use as if they were found independently of each other, as
#' [individual_risk()] does; between the largest \eqn{r_i} and their sum. The models
#' and all other numbers stay those of persons. A person can also
#' stand out by the family: see [household_risk()].
#'
#' @section Zero margins:
#' A cell of the model's margins that no record is in makes all its cells have
#' \eqn{\lambda = 0}{lambda = 0}: the fit lies on the boundary of the model.
#' That does no harm to \eqn{\tau}{tau} by itself. If a sample unique is the
#' only record on a margin of such a model, its own weight alone decides what is
#' expected there; a warning of class `sdcRisk_warning_zero_margins` counts them.
#'
#' The fit can also lie on the boundary without a zero margin. Iterations then
#' creep towards it; after many of them a fit whose margins are right to three
#' digits is taken, with a warning of class `sdcRisk_warning_rough_fit` if they
#' are not to five. If they are not to nine, the `status` is `"boundary"`: other orders of
#' records, key variables or levels changed such \eqn{\tau_1}{tau1} and \eqn{\tau_2}{tau2}
#' by up to a ten-thousandth (very small ones by more). All others are the same in every
#' order to eight digits, with or without zero margins.
#'
#' @section Missing values: `"exclude"`: records that miss a value of any key variable are
#' left out and have `NA` in `records`; with several key sets, per key set. `"category"`:
#' missing is a value of its own. `NaN` is missing. `"exclude"` can drop a whole group of
#' people, such as children who were not asked for a job: the print gives the number of
#' records left out.
#'
#' @section Cost:
#' The table of all cells is never kept. Decomposable models (independence, and
#' interactions without cycles) have a closed form at any number of cells; sparse
#' models are fitted on a junction tree, at the cost of its largest table;
#' otherwise every step passes over all \eqn{K} cells, some 40 times in all, at
#' about a nanosecond each. A search fits all remaining pairs at every step.
#' Raking and intervals add passes: 1.2 million cells, all two-way, 20,000 records, one
#' thread: 0.27 s, with raked fractions 0.35 s, with intervals 0.53 s.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 240 bytes a record, and
#' the margins of the model.
#'
#' @inheritParams sdcRisk-params
#' @param ... Rarely used arguments, those of `loglinear_risk_control()`, by their full names, or
#'   together: `control = loglinear_risk_control(...)`.
#' @param key_vars Names or positions of the key variables; `NULL`: all columns
#'   but `weight_var`. A named list of such vectors gives one analysis per key
#'   set, such as what different intruders know.
#' @param pop_size,sampling_fraction Size \eqn{N} of the population, or sampling
#'   fraction of the file; either suffices. \eqn{\pi = n/N}{pi = n / N} with
#'   \eqn{n} the number of records used: if `missing = "exclude"` leaves records
#'   out, \eqn{\pi}{pi} is that much smaller than `sampling_fraction`. Without both,
#'   \eqn{\pi}{pi} is the number of records over the sum of their weights.
#'   Weights are scaled to the population size they imply.
#' @param model `"independence"`, `"two_way"`, `"search"`, a one-sided formula, or
#'   several of these, each of which is fitted; see the section on models.
#' @param sampling Sampling fractions of cells: `"overall"`, `"cell"` or `"raked"`,
#'   see the section on them. With equal weights all are the same.
#' @param interval `"corrected"` or `"none"`; see the section on intervals.
#' @param max_cells Most cells of a table that a model without structure is
#'   fitted to; more are an error of class `sdcRisk_error_too_large`, raised
#'   before the fit.
#'
#' @return An object of class `sdc_loglinear_risk`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per fitted model: `key_set`, `model`, `sampling`,
#'     `n` (records used), `n_cells` (\eqn{K}), `n_unique` (sample uniques), `tau1`,
#'     `tau2`, `tau1_rate` (\eqn{\tau_1/n}{tau1 / n}), `tau2_rate`, `tau1_se`,
#'     `tau1_low`, `tau1_high`, `tau2_se`, `tau2_low`, `tau2_high`, `b1`, `z1`,
#'     `z1_robust`, `b2`, `z2`, `z2_robust`, `sampling_fraction`,
#'     `n_zero_margins`, `interval` (`"corrected"` or `"none"`), `tau1_corrected`,
#'     `tau1_bias`, `tau1_corrected_se` (\eqn{s}), the same of `tau2`, and
#'     `status`; with `hh_id` also `n_households` (in the file), `households_tau1` and
#'     `households_tau2` (households expected to have a member that is unique in the
#'     population, or matched correctly, by the model itself without correction).
#'     `tau1_low` to `tau2_high` are the intervals of the corrected values; `tidy()` has
#'     them in the rows of these. This is `as.data.frame()`}
#'   \item{`records`}{one row per record: `sample_unique`, `tau1`, `tau2` (0 for
#'     records that are not sample unique), `lambda` (expected number of people in
#'     the record's cell), with `hh_id` `household_tau1` and `household_tau2`. With
#'     several analyses those of the first}
#'   \item{`fits`}{one list per row of `estimates`: `key_vars`, `terms` (the terms
#'     of highest order), `method`, `n_parameters`, `n_zero_margins`,
#'     `n_unique_alone`, `passes` and `deviation` of the fit, `expected_unique`
#'     (sample uniques the model expects), `path` and `tried` of a search, and
#'     `records`}
#'   \item{`diagnostics`}{`models`: all models fitted, those of a search
#'     included, with `tau1`, `tau2`, `z1`, `z2` and `acceptable` (\eqn{|z_2| < 1.96},
#'     and `status` `"ok"` for a model in `estimates`); `n_excluded`,
#'     `population`, `n_occupied` (cells with records) and `n_small_weights` (those
#'     of them whose weights sum to less) per row of `estimates`}
#' }
#' Records carry averages under the model, not a list of population uniques.
#'
#' Errors: `bad_weights` if weights are not positive or sum to less than the
#' number of records, `bad_argument` if neither weights nor a population size
#' nor a fraction is given, `too_large` beyond `max_cells`, `not_converged`.
#' Warnings: `biased_estimate` and `cell_fractions` (see `status`), `small_weights`
#' if the weights of a cell sum to less than its records, as those that average
#' 1 do, `zero_margins`, `rough_fit`, `search_limited`.
#'
#' @references
#' Skinner, C. J. and Shlomo, N. (2008). Assessing identification risk in survey
#' microdata using log-linear models. Journal of the American Statistical
#' Association 103(483), 989-1001. \doi{10.1198/016214507000001328}.
#'
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate
#' the re-identification risk in longitudinal survey microdata. Joint Statistical
#' Meetings 2021.
#'
#' Jiroušek, R. and Přeučil, S. (1995). On the effective implementation of the
#' iterative proportional fitting procedure. Computational Statistics and Data
#' Analysis 19(2), 177-189. \doi{10.1016/0167-9473(93)E0055-9}.
#' @family log-linear risk
#' @seealso [compare_risk()], [interpret()]
#' @export
#' @examples
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' risk <- loglinear_risk(nals_prison, keys, weight_var = "WEIGHT")
#' risk
#' risk$estimates$tau2 # 0.5113
#' interpret(risk)
loglinear_risk <- function(data, key_vars = NULL, ..., weight_var = NULL,
                           pop_size = NULL, sampling_fraction = NULL,
                           model = "independence",
                           sampling = c("overall", "cell", "raked"), missing = "exclude",
                           key_groups = NULL, hh_id = NULL, limit = NULL) {
  ask <- enter("loglinear_risk", patterns = TRUE)
  data <- ask$data
  weight_var <- ask$weight_var
  check_no_dots(...)
  models <- check_models(model)
  limit <- check_record_limit(limit)
  asked <- list(
    sampling = check_sampling(sampling),
    missing = check_loglinear_missing(ask$missing),
    interval = check_interval(ask$interval),
    level = check_probability(ask$level, "level"),
    max_cells = check_max_cells(ask$max_cells),
    pop_size = ask$pop_size, sampling_fraction = ask$sampling_fraction
  )
  check_population(weight_var, ask$pop_size, ask$sampling_fraction)
  weights <- check_weights(data, weight_var)
  squares <- weight_squares(data, weight_var)
  sets <- check_key_sets(ask$key_vars, data, weight_var)
  hh_at <- household_column(ask$hh_id, data, unique(unlist(sets)))
  with_progress("Log-linear models", {
    table <- key_table(
      ask$file, unique(unlist(sets)), key_groups = ask$key_groups,
      exclude = c(weight_position(data, weight_var), hh_at),
      roles = role_columns(data, list(weight_var = weight_var, hh_id = hh_at))
    )
    if (is.null(sets)) sets <- list(table$positions)
    parts <- lapply(sets, key_set_columns, table = table)
    if (is.null(names(parts))) names(parts) <- paste(names(parts[[1]]), collapse = " + ")
    terms <- lapply(models, model_terms, parts = parts)
    settings <- file_settings(
      table,
      weight_var = weight_var, model = names(models), sampling = asked$sampling,
      missing = ask$missing, interval = asked$interval, level = asked$level,
      hh_id = if (!is.null(hh_at)) names(data)[[hh_at]]
    )
    requests <- unlist(lapply(names(parts), function(set) {
      part <- key_part(table, parts[[set]], asked$missing == "exclude")
      loglinear_requests(part, set, names(parts[[set]]), weights, squares, terms, asked)
    }), recursive = FALSE)
    found <- fit_loglinear(requests)
    result <- with_limit(
      new_loglinear_risk(found, settings, equal_weights(weights, data), ask$call), limit
    )
    if (!is.null(hh_at)) result <- add_household_tau(result, data, hh_at)
    signal_loglinear(result)
    result
  })
}

#' @rdname loglinear_risk
#' @export
loglinear_risk_control <- function(interval = c("corrected", "none"), level = 0.95, max_cells =
                                   2e9, ...) {
  new_control("loglinear_risk_control")
}

# Whether all records have the same weight, or none.
equal_weights <- function(weights, data = NULL) {
  if (is.null(times_of(data))) {
    return(length(unique(weights)) < 2)
  }
  is.null(weights) || diff(weight_range(data, weights)) <= 0
}

# All models of one key set, for fit_loglinear(): `part` is its table, `terms` has the
# word of every model or, per key set, its interactions.
loglinear_requests <- function(part, set, keys, weights, squares, terms, asked) {
  rows <- part$rows
  fraction <- fraction_in_use(
    part$n, part$n_all, asked$pop_size, asked$sampling_fraction
  )
  used <- function(x) if (is.null(x) || is.null(rows)) x else x[rows]
  # Single weights are compared with raked fractions even without an interval.
  wanted <- asked$interval != "none" || asked$sampling == "cell"
  lapply(names(terms), function(model) {
    own <- is.list(terms[[model]])
    list(
      pointer = part$pointer,
      settings = list(
        weights = used(weights), squares = used(squares),
        fraction = fraction, sampling = asked$sampling,
        model = if (own) "terms" else terms[[model]],
        terms = if (own) terms[[model]][[set]] else list(),
        normal = if (wanted) stats::qnorm((1 + asked$level) / 2), max_cells = asked$max_cells
      ),
      about = list(
        key_set = set, model = model, sampling = asked$sampling, interval = asked$interval,
        keys = keys, rows = rows, n_all = part$n_all, n_rows = part$n_rows
      )
    )
  })
}

# What the core finds, with what the fits are about.
fit_loglinear <- function(requests) {
  found <- core(
    rs_loglinear, lapply(requests, `[[`, "pointer"), lapply(requests, `[[`, "settings")
  )
  Map(function(found, request) c(found, request$about), found, requests)
}
