#' Household risk by composition
#'
#' Counts how many households fit an intruder's knowledge of a household. Use it for files of
#' whole households: no record is unique by an age of 40, nor by 38, 12 or 9; the family of these
#' four may be the only one in the file. The result has the risk of every household and the people
#' in unique ones.
#'
#' @concept household risk
#'
#' @details
#' The *composition* of a household is the multiset of its members' keys: which
#' keys occur in it, and how often each. Together with what the members share
#' (`hh_vars`) it is the key of the household. `n_matches` is the number of
#' households of the file that *fit* what is known, the household's own included:
#' \describe{
#'   \item{`known = "all"`}{the intruder knows all members and that they are all:
#'     a household fits that has the same composition, and so as many members}
#'   \item{`known = 2`}{the intruder knows two members: a household fits that has two
#'     different members with these two keys, and possibly others. For two members with the
#'     same key it needs two members with that key}
#'   \item{`known = 1`}{the intruder knows one member: a household fits that has a
#'     member with this key}
#' }
#' If one or two members are known, the worst case counts: the members whose keys the
#' fewest households fit. A household of one person has no second member, and `known = 2`
#' asks for that one. More knowledge never leaves more households: \eqn{m_{all} \le m_2 \le
#' m_1}{m_all <= m_2 <= m_1}. If everybody lives alone the three equal the frequency of the key
#' that [n_matches()] counts with `missing = "category"`.
#'
#' `hh_vars` are variables that the members of a household share, such as the region or the
#' tenure of the dwelling. The intruder knows them regardless of which members are known;
#' they count once per household, and are checked to be equal within it. Give an intruder
#' who knows one or two members the size of the household by a column that holds it.
#'
#' The probability that a household picked among those that fit is the right one is
#' \eqn{1/m} if the intruder knows that it is in the file (prosecutor). With `weight_var` or
#' `pop_size` the risk for a journalist, who does not know this, is added: with
#' \eqn{f} households that fit and \eqn{\hat F}{Fhat} the sum of their weights,
#' \eqn{E(1/F \mid f)}{E(1/F | f)} of [individual_risk()], whose assumptions it
#' shares. Every column is that of the choice of members that is worst for it: the
#' fewest households, the smallest sum of weights, the largest risk. Weights are those
#' of households, equal for all members. `pop_size` people, or `sampling_fraction`,
#' stand for equal weights \eqn{1/\pi}{1/pi}; given with weights, these are scaled so
#' that they sum to `pop_size` over the records.
#'
#' The journalist's figures are rough. Weights judge a composition by its own
#' households alone: a household that nothing else fits, of weight \eqn{w}, has
#' a risk of about \eqn{\ln(w)/w}{ln(w) / w}, whatever its composition. If
#' compositions are rare that is too low, as for families, which are rarely alike: in
#' the simulated country of `vignette("eu-silc")` the sum of the risks is a quarter of
#' the right one. If they are common it is too high: of 1,200 persons living alone,
#' drawn from 30,000 in 400 compositions, the sum was 26 and the truth 16. The share
#' of unique households is a figure from above.
#'
#' @section Missing values:
#' `"category"` (the default): a missing value is a value of its own, that fits
#' missing values only. `"exclude"`: households with an incomplete member are left
#' out as a whole, since a household without one of its members is another
#' household; their records have `NA`. `"wildcard"` is refused: if missing values
#' fit everything, it takes an assignment of the members of two households to each
#' other to tell whether they fit, households no longer form classes, and the
#' answer to "which members?" is not unique. [n_matches()] with `hh_id` counts the
#' households that a single person fits, missing values matching everything. A
#' record must have a household.
#'
#' @section Cost:
#' Grouping the records and sorting the members of each household; with
#' `known = 2` a step for every pair of different keys in a household that other
#' households hold too. A million persons: below a second, and one household may be
#' nearly the whole file. More than \eqn{2^{32}}{2^32} pairs, as some hundred
#' households of thousands would have, are an error of class
#' `sdcRisk_error_too_large`.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 160 bytes a record.
#'
#' @param data A data frame, tibble or data.table with one row per person, or an
#'   [sdc_file()].
#' @param key_vars Names or positions of the key variables of persons. `NULL`: all
#'   columns that no other argument names.
#' @inheritParams sdcRisk-params
#' @param hh_vars Names or positions of variables that the members of a household
#'   share. They may be among `key_vars`.
#' @param known How many members the intruder knows: 1, 2 or `"all"`.
#' @param weight_var Name of the column of household weights.
#' @param missing `"category"` or `"exclude"`, see the section on missing values. `"wildcard"`
#'   is not defined here: whether two households fit would depend on who is compared with whom.
#'
#' @return An object of class `sdc_household_risk`, an [sdc_result] with
#' \describe{
#'   \item{`records`}{one row per record: `household_size` (members in the file),
#'     `n_matches` (households that fit its household, the own included), `risk`
#'     (\eqn{1/m}), and with weights or a population `n_matches_weighted` and
#'     `journalist_risk`}
#'   \item{`estimates`}{one row: `known`, `n` (records in use), `n_households`,
#'     `n_unique` (households that only they themselves fit), `n_persons_unique`
#'     (records in these), `prop_unique` (of the households),
#'     `prop_persons_unique`, `expected_households` (sum of \eqn{1/m} over
#'     households: right answers of an intruder who tries all; with all members known
#'     the number of distinct compositions), `risk_max`, `risk_q99`, `risk_q95`,
#'     `risk_mean` of the records, and with weights or a population
#'     `expected_reidentifications` (sum of the journalist's risk over households),
#'     `journalist_max`, `journalist_mean` (of the records)}
#'   \item{`sizes`}{the same by the size of the household: `household_size`,
#'     `n_households`, `n_unique`, `n_persons_unique`, `prop_unique`}
#' }
#' Errors: `bad_data` if a record has no household, if members differ in
#' `hh_vars`, or if no household is complete; `bad_weights` if weights differ
#' within a household; `bad_argument`; `too_large`.
#' @references
#' Hundepool A, Domingo-Ferrer J, Franconi L, Giessing S, Nordholt ES, Spicer K, de
#' Wolf PP (2012). *Statistical Disclosure Control*, chapter 3. Wiley.
#' \doi{10.1002/9781118348239}. It treats households by the risks of their members;
#' compositions as keys, and the counts here, are ours.
#' @family matches
#' @seealso [individual_risk()] for the chance that any member of a household is
#'   found.
#' @export
#' @examples
#' people <- data.frame(
#'   home = c(1, 1, 1, 2, 2, 3, 3, 3, 4),
#'   age = c(40, 38, 12, 40, 38, 12, 38, 40, 38),
#'   region = c("N", "N", "N", "N", "N", "N", "N", "N", "S")
#' )
#' # households 1 and 3 are alike; 2 lacks the child
#' household_risk(people, "age", "home")$records$n_matches # 2 2 2 1 1 2 2 2 1
#' household_risk(people, "age", "home", known = 2)$records$n_matches # 2 2 2 3 3 2 2 2 4
#' household_risk(people, "age", "home", hh_vars = "region", known = 1)$sizes
household_risk <- function(data, key_vars, hh_id, ..., hh_vars = NULL, known = "all",
                           weight_var = NULL, pop_size = NULL, sampling_fraction = NULL,
                           missing = "category", limit = NULL) {
  ask <- enter("household_risk")
  data <- ask$data
  check_no_dots(...)
  check_given(c("key_vars", "hh_id"))
  if (length(known) != 1 || !as.character(known) %in% c("1", "2", "all")) {
    stop_argument("known", "be 1, 2 or \"all\"")
  }
  known <- as.character(known)
  limit <- check_record_limit(limit)
  check_missing_rule(ask$missing, paste(
    "Two households would fit in several ways, by the assignment of their members.",
    "n_matches(hh_id = ) counts the households that one person fits."
  ))
  if (is.null(ask$hh_id)) stop_argument("hh_id", "name the column that identifies households")
  shared <- if (!is.null(hh_vars)) check_columns(hh_vars, data, "hh_vars")
  roles <- check_roles(data, ask$key_vars, ask$weight_var, ask$hh_id)
  check_no_roles(data, shared, roles$positions, "hh_vars")
  keys <- resolve_key_vars(data, ask$key_vars, c(roles$positions, shared))
  fraction <- check_fraction(nrow(data), ask$pop_size, ask$sampling_fraction)
  if (!is.null(roles$weights)) {
    check_household_weights(
      roles$weights, household_codes(data[[roles$hh_at]]), names(data)[[roles$weight_at]]
    )
  }
  with_progress("Households", {
    table <- household_table(ask, union(keys, shared), roles)
    identifying <- identifying_keys(table)
    found <- core(
      rs_household_risk, table$pointer, list(
        households = table$labels$households$pointer, known = known,
        shared = match(shared, table$positions), complete_only = ask$missing == "exclude",
        weights = household_weights(roles$weights, fraction, nrow(data))
      )
    )
    check_shared(found, names(data)[shared])
    settings <- file_settings(
      table,
      person_vars = names(data)[setdiff(keys, shared)], hh_vars = names(data)[shared],
      hh_id = names(data)[[roles$hh_at]], known = known,
      weight_var = names(data)[roles$weight_at], sampling_fraction = fraction,
      missing = ask$missing
    )
    diagnostics <- list(
      missing = missing_cells(table, data), identifying = identifying,
      n_incomplete = table$n_incomplete
    )
    inform_identifying(identifying)
    with_limit(new_household_risk(found, settings, diagnostics, ask$call), limit)
  })
}

# The weight of the household of every record; NULL where nobody says how many
# households there are.
household_weights <- function(weights, fraction, n) {
  if (is.null(fraction)) {
    return(weights)
  }
  if (is.null(weights)) rep(1 / fraction, n) else weights * (n / fraction / sum(weights))
}

check_shared <- function(found, hh_vars) {
  differs <- found$n_unequal > 0
  if (any(differs)) stop_sdc(
    "bad_data", "The members of a household must share the values of `hh_vars`.",
    x = paste0(
      "They differ within ", plural(max(found$n_unequal), "household"), " (",
      quote_names(hh_vars[differs]), ")."
    ),
    i = "Name these variables in `key_vars`, or mend the data.",
    names = hh_vars[differs]
  )
}

new_household_risk <- function(found, settings, diagnostics, this_call) {
  in_use <- found$n_matches > 0
  check_some_household(sum(in_use))
  homes <- frame(size = found$size, n_matches = found$n_matches, risk = 1 / found$n_matches)
  if (!is.null(found$weighted)) {
    homes$n_matches_weighted <- found$weighted
    homes$journalist_risk <- found$risk
  }
  homes[!in_use, -1] <- NA
  records <- frame(household_size = homes$size[found$household])
  for (column in names(homes)[-1]) records[[column]] <- homes[[column]][found$household]
  homes <- homes[in_use, ]
  n_below <- sum(homes$n_matches_weighted < homes$n_matches * (1 - 1e-9))
  if (n_below > 0) {
    warn_small_weights(
      n_below, nrow(homes), "their journalist risk is taken as 1 / f",
      unit = "household"
    )
  }
  n_excluded <- settings$n - sum(homes$size)
  inform_excluded(n_excluded, settings$n)
  new_sdc_result(
    "sdc_household_risk",
    estimates = household_estimates(homes, settings$known), records = records,
    settings = settings, diagnostics = c(diagnostics, n_excluded = n_excluded),
    call = this_call,
    sizes = household_sizes(homes)
  )
}

# Of persons, without a vector as long as the file: every household counts as often
# as it has members.
household_estimates <- function(homes, known) {
  n <- sum(homes$size)
  unique <- homes$n_matches == 1
  ascending <- order(homes$risk)
  at <- function(p) counted_quantile(homes$risk[ascending], homes$size[ascending], p)
  estimates <- frame(
    known = known, n = n, n_households = nrow(homes), n_unique = sum(unique),
    n_persons_unique = sum(homes$size[unique]), prop_unique = mean(unique),
    prop_persons_unique = sum(homes$size[unique]) / n,
    expected_households = sum(homes$risk), risk_max = max(homes$risk), risk_q99 = at(0.99),
    risk_q95 = at(0.95), risk_mean = sum(homes$risk * homes$size) / n
  )
  if (!is.null(homes$journalist_risk)) {
    estimates$expected_reidentifications <- sum(homes$journalist_risk)
    estimates$journalist_max <- max(homes$journalist_risk)
    estimates$journalist_mean <- sum(homes$journalist_risk * homes$size) / n
  }
  estimates
}

household_sizes <- function(homes) {
  size <- sort(unique(homes$size))
  at <- match(homes$size, size)
  n_households <- tabulate(at, length(size))
  n_unique <- tabulate(at[homes$n_matches == 1], length(size))
  frame(
    household_size = size, n_households = n_households, n_unique = n_unique,
    n_persons_unique = n_unique * size, prop_unique = n_unique / n_households
  )
}
