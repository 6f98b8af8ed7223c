#' Individual re-identification risk
#'
#' Estimates for every record of a weighted sample the probability that its key leads to the right
#' person in the population (Benedetti and Franconi). Use it for a sample survey, without a model
#' of the key variables. The result also has expected re-identifications, household risks, and the
#' prosecutor and journalist measures of El Emam.
#'
#' @concept individual risk
#' @concept re-identification risk
#'
#' @details
#' A key (combination of the values of the key variables) occurs \eqn{f} times
#' in the file and \eqn{F} times in the population. An intruder who finds the
#' key of a record among \eqn{F} people picks the right one with chance
#' \eqn{1/F}. \eqn{F} is not known. Given \eqn{f} it is taken as negative
#' binomial, the number of people of the population until the \eqn{f}th falls
#' into the sample,
#' \deqn{P(F = h \mid f) = {h - 1 \choose f - 1} p^f (1 - p)^{h - f},
#'   \quad h \ge f, \quad p = f / \hat F,}{%
#'   P(F = h | f) = choose(h - 1, f - 1) p^f (1 - p)^(h - f), h >= f, p = f / Fhat,}
#' with \eqn{\hat F}{Fhat} the sum of the weights of the \eqn{f} records. The
#' individual risk is
#' \deqn{r = E(1/F \mid f) = \frac{p^f}{f} \, {}_2F_1(f, f; f + 1; 1 - p).}{%
#'   r = E(1/F | f) = (p^f / f) 2F1(f, f; f + 1; 1 - p).}
#' For a sample unique this is \eqn{-p \ln(p) / (1 - p)}{-p ln(p) / (1 - p)}. The
#' hypergeometric function is evaluated exactly, to about 14 digits, for every
#' \eqn{f} and \eqn{p}: unlike in other
#' programs, no approximation is used for large \eqn{f}. If \eqn{p = 1}, \eqn{r = 1/f}.
#'
#' * The **expected number of re-identifications** is the sum of \eqn{r} over
#'   the records: what an intruder who tries every record gets right on average.
#' * The **household risk** of a record is the chance that at least one member of its
#'   household is found, \eqn{1 - \prod_{i} (1 - r_i)}{1 - prod(1 - r_i)} over the members
#'   in the file: an intruder who finds one member has found the others.
#' * **Prosecutor** (the intruder knows that the target is in the file): the
#'   risk of a record is \eqn{1/f}. **Journalist** (the intruder does not): it
#'   is \eqn{r}, the estimate of \eqn{1/F}. For both, three measures: the share
#'   of records whose risk exceeds a threshold, the largest risk, and the mean,
#'   which is the share of records an intruder finds who tries all of them.
#'
#' @section What the number rests on:
#' Every key is judged by its own records alone, and \eqn{\hat F}{Fhat} of a
#' sample unique by one weight. Records are to have been drawn independently,
#' with weights that expand the file to the population. If the weights average 1
#' (`sdcRisk_warning_small_weights`) the file is treated as the whole population. If
#' records that share a key should borrow strength from
#' similar keys, see [population_risk()]. No sampling error is given: none is
#' known for this estimator. On 175 samples of known populations it gave .08, .25, .54 and .80 of
#' the re-identifications (medians) at sampling fractions of 1, 5, 20 and 50%, where
#' [population_risk()] gave .98 to 1.00 (`vignette("trust")`). So no limit is found kept by it:
#' [measures()] and reports say `"unclear"`, unless the file is its population.
#'
#' @section Missing values:
#' By `"wildcard"`, the default, a missing value matches every value, as
#' an intruder must assume, and \eqn{f} and \eqn{\hat F}{Fhat} of a record are the
#' number and the weights of the records that match it, as [n_matches()] and sdcMicro
#' count them. Matching records do not form classes: if any record is incomplete,
#' `n_cells` and `journalist_population` are `NA`, and \eqn{f} of different records overlap.
#'
#' `"category"` treats missing as a value of its own. A file after local suppression then
#' looks as risky as before, because every pattern of suppressed values is a key of its
#' own. With `"exclude"` records that miss a value of any key variable are left out as if
#' they were not in the file, and have `NA` in `records`. A household identifier must not
#' be missing.
#'
#' The print gives the number of incomplete records; if more than 5% are left out, so does a
#' message of class `sdcRisk_message_many_excluded`. Key variables in which nearly all
#' values differ are named in one of class `sdcRisk_message_identifying_key`.
#'
#' @section Cost:
#' Grouping the records by key, plus about a microsecond per key; with
#' `"wildcard"` the cost of [n_matches()] with weights.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 250 bytes a record.
#'
#' @inheritParams sdcRisk-params
#' @param tau_prosecutor,tau_journalist Thresholds, between 0 and 1, of the
#'   prosecutor and journalist measures.
#' @param tau An error that asks which of the two thresholds is meant.
#' @param missing `"wildcard"`, `"category"` or `"exclude"`, see the section on
#'   missing values.
#'
#' @return An object of class `sdc_individual_risk`, an [sdc_result] with
#' \describe{
#'   \item{`records`}{one row per record: `risk` (\eqn{r}), `prosecutor_risk`
#'     (\eqn{1/f}), `frequency` (\eqn{f}), `population` (\eqn{\hat F}{Fhat}), and
#'     `household_risk` if `hh_id` is given; this is `as.data.frame()`}
#'   \item{`estimates`}{one row: `tau_prosecutor`, `tau_journalist`, `n` records,
#'     `n_cells`, `n_unique` (sample uniques),
#'     `expected_reidentifications`, `expected_unique` (of these, from sample
#'     uniques), `reidentification_rate` (of `n`), `prosecutor_above`,
#'     `prosecutor_max`, `prosecutor_mean`, `journalist_above`, `journalist_max`,
#'     `journalist_mean`, `journalist_population` (keys over the sum of
#'     the weights: the mean over the population if every key of it is in the
#'     file), `risk_q99` and `risk_q95` of the records, and with `hh_id`
#'     `n_households`, `expected_households` (households of which a member is
#'     found), `expected_in_households` (records in these), `household_max`}
#'   \item{`frequencies`}{per frequency \eqn{f}: `frequency`, `n_cells`,
#'     `n_records`, `expected` (sum of the risks), `risk_max`}
#' }
#' Errors: `bad_weights`, and `bad_data` if a record has no household or none
#' is complete.
#' @references
#' Benedetti, R. and Franconi, L. (1998). Statistical and technological solutions
#' for controlled data dissemination. Pre-proceedings of New Techniques and
#' Technologies for Statistics, Sorrento, 1, 225-232.
#'
#' Polettini, S. (2003). Some remarks on the individual risk methodology. Joint
#' ECE/Eurostat Work Session on Statistical Data Confidentiality, Luxembourg.
#'
#' El Emam, K. (2011). Methods for the de-identification of electronic health
#' records for genomic research. Genome Medicine 3, 25. \doi{10.1186/gm239}.
#' @family risk of keys
#' @concept re-identification risk
#' @export
#' @examples
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' risk <- individual_risk(nals_prison, keys, "WEIGHT")
#' risk
#' risk$estimates$expected_reidentifications # 0.6467
#'
#' # after a value was suppressed in the records with the largest risks
#' suppressed <- nals_prison
#' suppressed$EDUC3[risk$records$risk > 0.01] <- NA
#' after <- individual_risk(suppressed, keys, "WEIGHT")
#' after$estimates$expected_reidentifications
individual_risk <- function(data, key_vars, weight_var, hh_id = NULL,
                            tau_prosecutor = 0.2, tau_journalist = 0.2, ...,
                            missing = "wildcard", limit = NULL, tau = NULL) {
  ask <- enter("individual_risk", patterns = TRUE)
  # Without this argument R calls the name ambiguous in words of its own.
  if (!is.null(tau)) {
    meant <- nearest_names("tau", c("tau_prosecutor", "tau_journalist"))
    stop_argument("tau", "be named in full", advice = meant)
  }
  data <- ask$data
  missing <- ask$missing
  check_no_dots(...)
  check_given("key_vars")
  limit <- check_record_limit(limit)
  tau_prosecutor <- check_probability(tau_prosecutor, "tau_prosecutor")
  tau_journalist <- check_probability(tau_journalist, "tau_journalist")
  check_choice(missing, c("category", "exclude", "wildcard"), "missing")
  if (is.null(ask$weight_var)) {
    stop_argument(
      "weight_var", "name the column of sampling weights",
      found = "None was given.", advice = paste0(
        "For a file that is the whole population, add a column of ones.",
        if (!is.null(ask$file$object)) " `weightVar` of createSdcObj() keeps it in the object."
      )
    )
  }
  roles <- check_roles(data, ask$key_vars, ask$weight_var, ask$hh_id)
  with_progress("Individual risk", {
    table <- household_table(
      ask, ask$key_vars, roles,
      exclude = roles$positions, listwise = missing == "exclude"
    )
    households <- table$labels$households
    settings <- file_settings(
      table,
      weight_var = names(data)[[roles$weight_at]], hh_id = households$variables,
      tau_prosecutor = tau_prosecutor, tau_journalist = tau_journalist, missing = missing
    )
    rows <- table$rows
    weights <- if (is.null(rows)) roles$weights else roles$weights[rows]
    checks <- list(
      missing = missing_cells(table, data), identifying = identifying_keys(table),
      n_incomplete = table$n_incomplete
    )
    # In a complete table nothing is missing that could match everything: it has cells.
    found <- core(rs_individual_risk, table$pointer, list(
      weights = weights,
      missing = if (missing == "wildcard" && table$n_incomplete == 0) "category" else missing
    ))
    at_home <- if (!is.null(households)) {
      core(rs_members_risk, households$pointer, found$risk)
    }
    signal_small_weights(found, weights, table)
    inform_excluded(settings$n - table$n, settings$n)
    inform_identifying(checks$identifying)
    with_limit(
      new_individual_risk(found, at_home, weights, table, checks, settings, ask$call), limit
    )
  })
}

signal_small_weights <- function(found, weights, table) {
  why <- weights_that_do_not_expand(weights, table$times, table$n)
  if (!is.null(why)) {
    warn_sdc(
      "small_weights", "The weights must expand the file to the population.",
      x = paste0(capitalised(sub(";.*", "", why)), ": the risks are those of a file that is ",
                 "its own population."),
      i = "Multiply them by the size of the population over their sum."
    )
  } else if (found$n_below_sample > 0) {
    records <- is.na(found$n_cells)
    warn_small_weights(
      found$n_below_sample, if (records) table$n else found$n_cells,
      "their risk is taken as 1 / f",
      unit = if (records) "record" else "cell"
    )
  }
}

new_individual_risk <- function(found, at_home, weights, table, checks, settings, this_call) {
  records <- list(
    risk = found$risk, prosecutor_risk = 1 / found$frequency,
    frequency = as_count(found$frequency), population = found$population
  )
  if (!is.null(at_home)) records$household_risk <- at_home$risk
  new_sdc_result(
    "sdc_individual_risk",
    estimates = individual_estimates(found, at_home, weights, table, settings),
    records = do.call(frame, lapply(records, spread_records, table$rows, table$n_rows)),
    settings = settings,
    diagnostics = list(
      n_excluded = settings$n - table$n, n_keys = length(settings$key_vars),
      sum_weights = sum(weights), n_below_sample = as.integer(found$n_below_sample),
      n_incomplete = checks$n_incomplete, missing = checks$missing,
      identifying = checks$identifying
    ),
    call = this_call,
    frequencies = frequency_table(found, table$times)
  )
}

individual_estimates <- function(found, at_home, weights, table, settings) {
  n <- table$n
  unique <- found$frequency == 1
  total <- function(x) sum_over(x, table$times)
  average <- function(x) mean_over(x, table$times)
  quantiles <- quantile_over(found$risk, c(0.99, 0.95), table$times)
  estimates <- frame(
    tau_prosecutor = settings$tau_prosecutor, tau_journalist = settings$tau_journalist,
    n = n, n_cells = as.integer(found$n_cells), n_unique = as_count(total(unique)),
    expected_reidentifications = total(found$risk), expected_unique = total(found$risk * unique),
    reidentification_rate = total(found$risk) / n,
    prosecutor_above = average(1 / found$frequency > settings$tau_prosecutor),
    prosecutor_max = 1 / min(found$frequency), prosecutor_mean = average(1 / found$frequency),
    journalist_above = average(found$risk > settings$tau_journalist),
    journalist_max = max(found$risk), journalist_mean = average(found$risk),
    journalist_population = min(found$n_cells / sum(weights), 1),
    risk_q99 = quantiles[[1]], risk_q95 = quantiles[[2]]
  )
  if (!is.null(at_home)) {
    estimates$n_households <- as.integer(at_home$n_households)
    estimates$expected_households <- at_home$expected
    estimates$expected_in_households <- sum(at_home$risk)
    estimates$household_max <- at_home$largest
  }
  estimates
}

# Expected re-identifications by frequency.
frequency_table <- function(found, times) {
  frequency <- sort(unique(found$frequency))
  at <- match(found$frequency, frequency)
  n_records <- if (is.null(times)) {
    tabulate(at, length(frequency))
  } else {
    as_count(as.vector(rowsum(times, at)))
  }
  expected <- if (is.null(times)) found$risk else found$risk * times
  frame(
    frequency = as_count(frequency),
    n_cells = if (is.na(found$n_cells)) {
      rep(NA_integer_, length(frequency))
    } else {
      as_count(n_records / frequency)
    },
    n_records = n_records,
    expected = as.vector(rowsum(expected, at)),
    risk_max = vapply(split(found$risk, at), max, 0, USE.NAMES = FALSE)
  )
}
