#' Population uniques by a log-linear model
#'
#' Estimates how many sample uniques are unique in the population, and how many correct matches an
#' intruder makes who attacks all of them. Use it for a sample, if the key variables describe
#' groups rather than single people. The result has one row per model, with corrected estimates
#' and intervals, and the risk of each record. Method of Skinner and Shlomo (2008).
#'
#' @concept log-linear model
#' @concept sample unique
#' @concept population unique
#' @details A sample unique is at risk if few people outside the sample share its key, a
#' cell of the table of key variables. The model estimates how many do, also from cells without
#' records. The key variables span a table of \eqn{K} cells. Cell \eqn{k} has \eqn{F_k} people in
#' the population and \eqn{f_k} records in the sample. With \eqn{F_k} Poisson with mean
#' \eqn{\lambda_k}{lambda_k} and every person drawn with probability \eqn{\pi_k}{pi_k}, the other
#' people in the cell of a sample unique are Poisson with mean \eqn{q_k = (1 -
#' \pi_k)\lambda_k}{q_k = (1 - pi_k) lambda_k}, so that
#' \deqn{P(F_k = 1 \mid f_k = 1) = e^{-q_k}, \quad
#'   E(1/F_k \mid f_k = 1) = (1 - e^{-q_k})/q_k.}{%
#'   P(F_k = 1 | f_k = 1) = exp(-q_k), E(1/F_k | f_k = 1) = (1 - exp(-q_k)) / q_k.}
#' Their sums over the sample uniques are \eqn{\tau_1}{tau1}, the expected number of sample
#' uniques that are unique in the population, and \eqn{\tau_2}{tau2}, the expected number of
#' correct matches of an intruder who attacks every sample unique. Both lie between 0 and the
#' number of sample uniques. The percentage that Li and others (2021) report is `tau1_rate`.
#'
#' \eqn{\lambda}{lambda} is fitted by maximum likelihood to the weighted table, scaled to the
#' population. The table spans the levels that records have.
#'
#' @section Is the model right?:
#' Too few interactions overstate the risk, too many understate it. \eqn{B} estimates this bias of
#' \eqn{\tau}{tau} over all cells, the empty ones included; `z` is \eqn{B} over its standard error
#' under the model, `z_robust` over an empirical one. \eqn{|z| < 1.96} is acceptable; larger
#' values mean that the model underfits, smaller that it overfits. The models acceptable by `z2`
#' give the range of \eqn{\tau}{tau} in the print; `diagnostics$models` lists all.
#'
#' @section Models:
#' `"independence"`: main effects. `"two_way"`: all two-way interactions. `"search"`: forward from
#' independence, adding the two-way interaction that brings `z2` closest to 0, until none brings
#' it closer. A formula such as `~ age * region + sex:region:job` names interactions of any order;
#' main effects and lower interactions always belong. Several models are given as a character
#' vector or a list.
#'
#' @section Sampling fractions:
#' With equal weights all cells have \eqn{\pi_k = n/N}{pi_k = n / N}. With others there is a
#' choice:
#' \describe{
#'   \item{`"overall"`}{\eqn{\pi_k = n/N}{pi_k = n / N}, the default and the choice of the
#'     literature and of SDCNway. If fractions differ by keys, `z` reacts to that and not to the
#'     model.}
#'   \item{`"cell"`}{an occupied cell has its number of records over the sum of their weights. If
#'     weights differ within cells the estimates are far too high; a warning of class
#'     `sdcRisk_warning_cell_fractions` is given.}
#'   \item{`"raked"`}{the model is fitted to the unweighted counts and raked to the weighted
#'     one-way margins. Fractions then follow the key variables, and weights that do not depend on
#'     them average out. Interactions beyond the product of these effects are not followed.}
#' }
#' With weights that follow the key variables use `"raked"`: its `z` is valid under either kind of
#' weights, and its plain estimates need the least correction.
#'
#' @section Correction and intervals:
#' A model of many parameters for few records overfits, and \eqn{\tau}{tau} comes out too low even
#' if the model is true. The corrected values subtract \eqn{B}, all of it if the bias is beyond
#' doubt, little if \eqn{B} is noise. `tau1` and `tau2` remain the estimates of Skinner and
#' Shlomo; `tau1_corrected` and `tau2_corrected` are the ones to report, `tau1_bias` and
#' `tau2_bias` the differences. **The intervals belong to the corrected values, and contain
#' them.** They include the bias that \eqn{B} measures, but not other errors of the model, nor the
#' choice of a search. With unequal weights they come from raked fractions.
#' `vignette("loglinear-model")` has the formulas.
#'
#' `status` rates the estimate, by the \eqn{z_2} of the raked fit:
#' \describe{
#'   \item{`"ok"`}{the plain estimate agrees with the corrected one}
#'   \item{`"biased"`}{it lies outside the interval, or the bias exceeds its standard error:
#'     report the corrected value; with a warning of class `sdcRisk_warning_biased_estimate`}
#'   \item{`"overfits"`}{\eqn{z_2 < -3}: likewise, and the interval is less reliable}
#'   \item{`"boundary"`}{the iterations did not converge; [measures()] calls the estimate
#'     `"unclear"`}
#'   \item{`"underfits"`}{\eqn{z_2 > 3}: no correction and no interval. \eqn{\tau}{tau} tends to
#'     be too high, but is not an upper bound. Add interactions (`model = "search"`) or use
#'     coarser categories}
#' }
#'
#' @section Measured coverage:
#' Of nominal 95% intervals, if the model is true: .97 on average. On 173 samples of known
#' populations (`vignette("trust")`), those of \eqn{\tau_2}{tau2} by `model = "search"` held .72,
#' .69, .67 and .79 of the time at fractions of 1, 5, 20 and 50%; median errors were 13, 4.5, 1.9
#' and .7%. With \eqn{z_2} near -2, or nearly all records unique, use coarser categories.
#'
#' @section Households, zero margins, missing values:
#' With `hh_id` the records also have the risk of their household, as in [individual_risk()]:
#' `household_tau1` is the chance that at least one member is unique in the population,
#' `household_tau2` that at least one is matched correctly. Use [household_risk()] to find
#' families that can be identified by their composition.
#'
#' If a sample unique is the only record on a margin of the model, its own weight alone decides
#' what is expected there; a warning of class `sdcRisk_warning_zero_margins` counts them. A fit at
#' the boundary of the model whose margins are right to three digits only has a warning of class
#' `sdcRisk_warning_rough_fit`.
#'
#' `missing = "exclude"` leaves records that miss a key variable out (`NA` in `records`); this can
#' drop a whole group, such as children who were not asked for a job. `"category"`: missing is a
#' value of its own.
#'
#' @section Cost:
#' Decomposable models (independence, and interactions without cycles) have a closed form at any
#' number of cells; others pass some 40 times over all cells, at about a nanosecond each. A search
#' fits all remaining pairs at every step. 1.2 million cells, all two-way, 20,000 records, one
#' thread: 0.27 s, with intervals 0.53 s. Memory beyond `data`, with five key variables and two
#' threads: at most 240 bytes a record, and the margins of the model.
#'
#' @inheritParams sdcRisk-params
#' @param ... Rarely used arguments, those of `loglinear_risk_control()`, by their full names, or
#'   together: `control = loglinear_risk_control(...)`.
#' @param key_vars Names or positions of the key variables; `NULL`: all columns but `weight_var`.
#'   A named list of such vectors gives one analysis per key set, such as what different intruders
#'   know.
#' @param pop_size,sampling_fraction Size \eqn{N} of the population, or sampling fraction of the
#'   file; either suffices. Without both, \eqn{\pi}{pi} is the number of records over the sum of
#'   their weights. Weights are scaled to the population size.
#' @param model `"independence"`, `"two_way"`, `"search"`, a one-sided formula, or several of
#'   these.
#' @param sampling Sampling fractions of cells: `"overall"`, `"cell"` or `"raked"`.
#' @param interval `"corrected"` or `"none"`.
#' @param max_cells Most cells of a table that a model without structure is fitted to; more are an
#'   error of class `sdcRisk_error_too_large`, raised before the fit.
#'
#' @return An object of class `sdc_loglinear_risk`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per fitted model: `key_set`, `model`, `sampling`, `n` (records
#'     used), `n_cells` (\eqn{K}), `n_unique` (sample uniques), `tau1`, `tau2`, `tau1_rate`
#'     (\eqn{\tau_1/n}{tau1 / n}), `tau2_rate`, `tau1_se`, `tau1_low`, `tau1_high`, `tau2_se`,
#'     `tau2_low`, `tau2_high`, `b1`, `z1`, `z1_robust`, `b2`, `z2`, `z2_robust`,
#'     `sampling_fraction`, `n_zero_margins`, `interval` (`"corrected"` or `"none"`),
#'     `tau1_corrected`, `tau1_bias`, `tau1_corrected_se` (\eqn{s}), the same of `tau2`, and
#'     `status`; with `hh_id` also `n_households` (in the file), `households_tau1` and
#'     `households_tau2` (households expected to have a member that is unique in the population,
#'     or matched correctly, by the model itself without correction). `tau1_low` to `tau2_high`
#'     are the intervals of the corrected values; `tidy()` has them in the rows of these. This is
#'     `as.data.frame()`}
#'   \item{`records`}{one row per record: `sample_unique`, `tau1`, `tau2` (0 for records that are
#'     not sample unique), `lambda` (expected number of people in the record's cell), with `hh_id`
#'     `household_tau1` and `household_tau2`. With several analyses those of the first}
#'   \item{`fits`}{one list per row of `estimates`: `key_vars`, `terms` (the terms of highest
#'     order), `method`, `n_parameters`, `n_zero_margins`, `n_unique_alone`, `passes` and
#'     `deviation` of the fit, `expected_unique` (sample uniques the model expects), `path` and
#'     `tried` of a search, and `records`}
#'   \item{`diagnostics`}{`models`: all models fitted, those of a search included, with `tau1`,
#'     `tau2`, `z1`, `z2` and `acceptable` (\eqn{|z_2| < 1.96}, and `status` `"ok"` for a model in
#'     `estimates`); `n_excluded`, `population`, `n_occupied` (cells with records) and
#'     `n_small_weights` (those of them whose weights sum to less) per row of `estimates`}
#' }
#' Errors: `bad_weights` if weights are not positive or sum to less than the number of records,
#' `bad_argument` if neither weights nor a population size nor a fraction is given, `too_large`
#' beyond `max_cells`, `not_converged`. Warnings: `biased_estimate` and `cell_fractions` (see
#' `status`), `small_weights` if the weights of a cell sum to less than its records, as those that
#' average 1 do, `zero_margins`, `rough_fit`, `search_limited`.
#'
#' @references
#' Skinner, C. J. and Shlomo, N. (2008). Assessing identification risk in survey microdata using
#' log-linear models. Journal of the American Statistical Association 103(483), 989-1001.
#' \doi{10.1198/016214507000001328}.
#'
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate the
#' re-identification risk in longitudinal survey microdata. Joint Statistical Meetings 2021.
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

# TRUE if all records have the same weight, or none.
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
  fraction <- fraction_in_use(part$n, part$n_all, asked$pop_size, asked$sampling_fraction)
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

# Fits by the core, with labels.
fit_loglinear <- function(requests) {
  found <- core(
    rs_loglinear, lapply(requests, `[[`, "pointer"), lapply(requests, `[[`, "settings")
  )
  Map(function(found, request) c(found, request$about), found, requests)
}
