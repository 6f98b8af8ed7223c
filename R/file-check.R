#' One page for one file
#'
#' Is this file safe to release? One call measures it by every method that the roles of
#' its columns allow, compares each measure with a limit, says what drives the risk, why
#' measures differ and which to report, and which lines of code to run next.
#'
#' @details
#' Every number is that of the function that measures it, called on one [sdc_file()] with
#' its defaults: [n_matches()] (k, sample uniques, sensitive values), [qar_risk()] (T and
#' the riskiest key set), [individual_risk()] (largest record risk, expected
#' re-identifications, households), [loglinear_risk()] (tau1, tau2),
#' [copula_uniqueness()] and [population_uniqueness()] (uniqueness in the population),
#' [exhaustive_tabulation()] (small cells of tables of one and two variables) and
#' [key_overview()] (what dropping a variable would buy). These pages have the formulas.
#'
#' What depends on the population needs `weight_var`, `pop_size` or `sampling_fraction`.
#' Without `pop_size` the population is the sum of the weights; without weights every
#' record stands for as many people, and a file as large as its population has weights
#' of 1. A measure that cannot be computed has the verdict `"not applicable"` and the
#' reason, in words or those of the error; it never is `"ok"`. Nor is a value that
#' cannot be judged, which the page and the picture call "unclear": tau1 and tau2 below
#' their limits by a log-linear model that does not fit (the page says which model to
#' fit instead), risks by weights that sum to another population than the one given,
#' and a Pitman model without a maximum.
#'
#' Matches are those of records. Households count in the household risk alone: of
#' [n_matches()] with `hh_id` the page says nothing.
#'
#' @section Limits:
#' A limit is named by the measure as `estimates` names it, and is of its unit: records
#' for `k` (a limit of 3 is kept where no key has fewer than 3 records), numbers of
#' records or people for `n_unique`, `n_homogeneous`, `expected_reidentifications`,
#' `tau1`, `tau1_corrected`, `tau2`, `tau2_corrected`, and numbers from 0 to 1 for all
#' others. Limits that are given take the place of the defaults; `list()` is none.
#' A verdict compares the value alone: where an interval reaches above the limit, the
#' page says so.
#'
#' No limit is right for every release. The defaults, and others in use:
#'
#' \describe{
#'   \item{`k` of 3 (default) or 5}{a risk of 0.33 or 0.2: the usual sizes of cells for data
#'     that go to known users (El Emam 2013, chapter on precedents of cell sizes)}
#'   \item{`k` of 11 or 20}{for data open to anyone (the same)}
#'   \item{`journalist` of 0.05 (default)}{a key that 20 people share, the strictest of
#'     these sizes}
#'   \item{`journalist` of 0.09}{a key that 11 people share: clinical reports that anyone
#'     can read (European Medicines Agency 2016)}
#'   \item{`small_cells`}{no default; a minimum of 3 records per cell is the usual threshold
#'     rule for tables (Hundepool and others 2012)}
#' }
#'
#' @section Which measure to report:
#' Ask who attacks. Where anyone can know that a person is in the file (a census, a
#' register, a panel, a small study), the prosecutor's measures count: k, sample uniques, T.
#' Where nobody can, the journalist's: the largest record risk, tau1, population
#' uniqueness. A file that is open to anyone is judged by both. `contradictions`
#' has one row per pair of measures that seem to disagree, with the reason (census or
#' sample, prosecutor or journalist, cells or a model, rules for missing values) and
#' which to report when. The vignette "Which risk for my release?" goes through the cases.
#'
#' @section Missing values:
#' Every measure has its own default: missing matches everything in [n_matches()], is a
#' value of its own in [qar_risk()], [individual_risk()] and the estimators of population
#' uniqueness, and [loglinear_risk()] and [exhaustive_tabulation()] leave incomplete
#' records out. `missing` sets one rule for all measures that have it; the others keep
#' theirs. After local suppression take `"wildcard"`.
#'
#' @section Cost:
#' A million records with ten key variables take about 4 s. With more than 200,000 records
#' the log-linear model and the copula are left out unless `models = TRUE`, and the page
#' says what to run; [key_overview()] likewise where records times squared key variables
#' exceed 2e8, and the table of key sets where records times key sets exceed 1e9.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 500 bytes a record.
#'
#' @inheritParams sdc_file
#' @param data A data frame, tibble or data.table with one row per record, or an
#'   [sdc_file()].
#' @param key_vars Names or positions of the key variables. `NULL`: all columns that have
#'   no other role. What looks like an identifier or a weight is named on the page, and
#'   is a key variable all the same.
#' @param limit Limits named by measure, see the section on limits.
#' @param p Size of the key sets of [qar_risk()]; the number of key variables where there
#'   are fewer.
#' @param sensitive Name of a sensitive variable.
#' @param missing `NULL`, or one rule for all measures that have it.
#' @param models Whether to fit the log-linear model and the copula. `NULL`: up to 200,000
#'   records.
#'
#' @return An object of class `sdc_file_check`, an [sdc_result] whose print is a page of up
#' to 60 rows, with
#' \describe{
#'   \item{`estimates`}{one row per measure: `question`, `measure`, `value`, `low` and
#'     `high` (an interval at 95 %, `NA` for none), `scenario` (`"prosecutor"`,
#'     `"journalist"`, `"tables"`), `limit`, `verdict` (`"ok"`, `"above"`, `"no limit"`,
#'     `"not applicable"`), `n_records_above` (records that are themselves above the
#'     limit, for measures of records), `reason` (why there is no value or no verdict);
#'     intervals of tau1 and tau2 stand with the corrected values they belong to; this is
#'     `as.data.frame()`}
#'   \item{`records`}{one row per record: `n_matches`, `journalist_risk`,
#'     `household_risk`, `n_violations` (tables in which its cell is small), as far as
#'     they were measured, and `above` (whether any limit on records is exceeded)}
#'   \item{`roles`}{one row per column: `variable`, `role`, `looks_like`, `type`,
#'     `n_values`, `n_missing`, `missing_codes` (values that may stand for a missing one)
#'     and their number `n_missing_codes`}
#'   \item{`drivers`}{one row per key variable, by what dropping it would buy: `variable`,
#'     `n_unique_without` (sample uniques left), `unique_change`, `risk_without` (T left),
#'     `share_top` (share of the riskiest key sets with it). Here a missing value is a
#'     value of its own, as in [key_overview()] and [qar_risk()]}
#'   \item{`contradictions`}{`measures`, `reason`, `report`}
#'   \item{`next_steps`}{lines of code that run as they stand}
#'   \item{`diagnostics`}{`signals`: warnings and messages of the methods, which are not
#'     signalled; `notes`; `population`: what is known of it}
#' }
#' Errors: those of [sdc_file()], and `bad_argument` for limits of unknown measures or
#' outside their range.
#' @references
#' El Emam, K. (2013). Guide to the de-identification of personal health information.
#' CRC Press, Boca Raton. \doi{10.1201/b14764}.
#'
#' European Medicines Agency (2016). External guidance on the implementation of the
#' European Medicines Agency policy on the publication of clinical data for medicinal
#' products for human use. EMA/90915/2016.
#'
#' Hundepool, A., Domingo-Ferrer, J., Franconi, L., Giessing, S., Schulte Nordholt, E.,
#' Spicer, K. and de Wolf, P.-P. (2012). Statistical disclosure control. Wiley, Chichester.
#' \doi{10.1002/9781118348239}.
#' @family decisions
#' @seealso [records_at_risk()] for the records above a limit, [compare_risk()] for two
#'   files.
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' check <- file_check(nals_prison, keys, weight_var = "WEIGHT")
#' check # k is above its limit, the journalist risk is not
#' check$estimates$value[check$estimates$measure == "journalist"] # 0.03484
#' nrow(records_at_risk(check)) # 88
file_check <- function(data, key_vars = NULL, ..., limit = list(k = 3, journalist = 0.05),
                       p = 3, weight_var = NULL, hh_id = NULL, strata_var = NULL,
                       sensitive = NULL, pop_size = NULL, sampling_fraction = NULL,
                       key_groups = NULL, missing = NULL, models = NULL) {
  check_given("data")
  made <- inherits(data, "sdc_file")
  given <- enter(patterns = TRUE)
  this_call <- call_without_data(match.call(), "file_check")
  check_no_dots(...)
  asked <- list(
    limit = check_limits(limit), p = check_whole(p, "p"),
    missing = if (!is.null(missing)) {
      check_choice(missing, c("wildcard", "category", "exclude"), "missing")
    },
    models = if (!is.null(models)) check_flag(models, "models")
  )
  with_progress("File check", {
    file <- check_file(given, list(
      key_vars = key_vars, weight_var = weight_var, hh_id = hh_id, strata_var = strata_var,
      sensitive = sensitive, pop_size = pop_size, sampling_fraction = sampling_fraction,
      key_groups = key_groups
    ))
    asked <- c(asked, file$roles[c("hh_id", "sensitive")])
    asked$keys <- file$roles$key_vars
    asked$facts <- population_facts(file)
    # Codes for the fingerprint, which the methods share as far as they ask for the same.
    table <- key_table(
      file, asked$keys,
      key_groups = file$roles$key_groups, candidates = TRUE,
      roles = role_columns(file$data, file$roles)
    )
    asked$n_keys <- length(table$keys)
    asked$p <- min(asked$p, asked$n_keys)
    ran <- run_methods(file, asked)
    result <- new_file_check(file, table, ran, asked, this_call)
    result$next_steps <- check_next_steps(result, file$roles, made)
    result
  })
}

# The file with its roles; what it was coded for before stays known.
check_file <- function(given, roles) {
  roles <- roles[!vapply(roles, is.null, NA)]
  file <- do.call(sdc_file, c(list(given$data), roles), quote = TRUE)
  # So does what an sdcMicroObj says of suppressed values.
  for (part in c("codes", "object", "defaults", "protected")) {
    if (!is.null(given[[part]])) file[[part]] <- given[[part]]
  }
  file
}

# What is known of the population: its size, where that is from, and how functions
# that do not take it from the file are to be told (`people`).
population_facts <- function(file) {
  n <- n_records(file$data)
  weights <- check_weights(file$data, file$roles$weight_var)
  given <- with_population(file, "pop_size")$pop_size
  summed <- if (!is.null(weights)) sum(weights)
  # A sum of weights that are no whole numbers may miss one by its rounding.
  whole <- !is.null(summed) && abs(summed - round(summed)) < 1e-9 * summed
  size <- if (!is.null(given)) given else if (whole) round(summed) else summed
  # Weights that average 1 make no census.
  times <- times_of(file$data)
  counted <- is.null(summed) || all(weights == if (is.null(times)) 1 else times)
  list(
    n = n, n_rows = nrow(file$data), pop_size = size, from = if (!is.null(given)) {
      "given"
    } else if (!is.null(summed)) {
      "weights"
    } else {
      "unknown"
    },
    sum_weights = summed, census = !is.null(size) && size <= n && counted,
    expands = is.null(summed) || counted || summed > 1.001 * n,
    people = if (is.null(given) && !is.null(size)) list(pop_size = size) else list()
  )
}

# The measure of records unique among all people that can be reported: a log-linear
# model that does not fit has none.
measure_of_uniques <- function(model) {
  status <- if (is.character(model)) "" else model$estimates$status[[1]]
  switch(status,
    ok = "tau1", biased = , overfits = "tau1_corrected", "population_uniqueness"
  )
}

# T beyond all key sets is an extrapolation.
extreme_measure <- function(rows) {
  risk <- rows$value[match(c("qar", "set_risk"), rows$measure)]
  if (isTRUE(risk[[1]] > risk[[2]])) "set_risk" else "T"
}

new_file_check <- function(file, table, ran, asked, this_call) {
  found <- ran$found
  rows <- check_rows(found, asked)
  of_records <- check_records_of(found, table, asked)
  rows$n_records_above <- as_count(unname(of_records$n_above[rows$measure]))
  facts <- c(
    asked$facts,
    unique_people = measure_of_uniques(found$loglinear_risk), extreme = extreme_measure(rows)
  )
  settings <- file_settings(
    table,
    limit = asked$limit, p = asked$p, missing = asked$missing, models = asked$models,
    weight_var = file$roles$weight_var, hh_id = asked$hh_id, sensitive = asked$sensitive,
    strata_var = file$roles$strata_var, pop_size = facts$pop_size, candidates = TRUE
  )
  new_sdc_result(
    "sdc_file_check",
    estimates = rows[c(
      "question", "measure", "value", "low", "high", "scenario", "limit", "verdict",
      "n_records_above", "reason"
    )],
    records = of_records$records, settings = settings,
    diagnostics = list(
      population = facts, missing = missing_cells(table, file$data),
      identifying = identifying_keys(table), n_incomplete = table$n_incomplete,
      signals = signal_table(ran$signals), notes = check_notes(found, facts, rows)
    ),
    call = this_call, roles = look_at_columns(file), drivers = check_drivers(found, asked$keys),
    contradictions = check_contradictions(rows, found, facts)
  )
}

signal_table <- function(signals) {
  of <- function(field) vapply(signals, `[[`, "", field)
  methods <- c(
    check_matches = "n_matches", check_individual = "individual_risk", check_qar = "qar_risk"
  )
  method <- of("method")
  ours <- method %in% names(methods)
  method[ours] <- methods[method[ours]]
  frame(method = method, kind = of("kind"), text = of("text"))
}

# Limits --------------------------------------------------------------------------

# Limits by measure, as doubles; the empty list for none.
check_limits <- function(limit) {
  if (is.null(limit) || length(limit) == 0) {
    return(list())
  }
  limit <- as.list(limit)
  catalogue <- check_catalogue()
  names <- names(limit)
  if (is.null(names) || !all(nzchar(names)) || anyDuplicated(names)) {
    stop_argument(
      "limit", "be a list of limits, each named by its measure, once",
      advice = "Such as limit = list(k = 3, journalist = 0.05)."
    )
  }
  unknown <- setdiff(names, catalogue$measure)
  if (length(unknown)) {
    stop_sdc(
      "bad_argument",
      c(
        "`limit` must name measures of the page.",
        x = paste0("Unknown: ", quote_names(unknown), "."),
        i = nearest_names(unknown, catalogue$measure),
        i = paste0("Measures: ", paste(catalogue$measure, collapse = ", "), ".")
      ),
      argument = "limit", unknown = unknown
    )
  }
  units <- catalogue$unit[match(names, catalogue$measure)]
  Map(function(value, name, unit) check_one_limit(value, name, unit), limit, names, units)
}

check_one_limit <- function(value, name, unit) {
  number <- are_distinct_numbers(value, FALSE) && is.finite(value)
  inside <- function(low, high) number && value >= low && value <= high
  good <- switch(unit,
    share = , risk = inside(0, 1), matches = inside(1, Inf) && value == round(value),
    inside(0, Inf)
  )
  if (good) {
    return(as.double(value))
  }
  arg <- paste0("limit$", name)
  found <- given_words(value)
  switch(unit,
    share = , risk = stop_argument(arg, "be one number from 0 to 1", found, percent_advice(value)),
    matches = stop_argument(
      arg, "be a whole number of records of at least 1", found,
      if (inside(1e-9, 1)) {
        paste0("A risk of ", format_number(value), " is one of ", format_number(1 / value), ".")
      }
    ),
    stop_argument(arg, "be one number of at least 0", found)
  )
}
