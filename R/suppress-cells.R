#' Local suppression with the fewest suppressed values
#'
#' Suppresses values of key variables (local suppression) until every record has at least k
#' matches. Use it if few records are above the limit; use [recode_search()] first if many are. The
#' result holds the release, the suppressed values, and a lower bound on the cost of any other
#' choice.
#'
#' @details The limit holds by one of three rules. \eqn{x_i} is the original record and \eqn{y_i}
#' the released one; \eqn{a \sim b}{a ~ b} means that \eqn{a} and \eqn{b} are equal in every key
#' variable that both know: a suppressed or missing value matches everything. For every record
#' \eqn{i} the rule requires
#'
#' \describe{
#'   \item{`"own"`}{at least \eqn{k} originals \eqn{x_j \sim y_i}{x_j ~ y_i}; solved exactly,
#'     record by record}
#'   \item{`"shared"`}{at least \eqn{k} released \eqn{y_j \sim y_i}{y_j ~ y_i}, and no record
#'     loses more than it needs under `"own"`; solved nearly, with a lower bound}
#'   \item{`"strict"`}{at least \eqn{k} released records with equal values, a suppressed value
#'     being a value; solved nearly, with a lower bound}
#' }
#'
#' All three leave no record with fewer than \eqn{k} matches, as [n_matches()] and `freqCalc()` of
#' sdcMicro (with `alpha = 1`) count them. Without the cap, \eqn{k - 1} records without any
#' value would meet `"shared"`, since they match everybody: 7 suppressed values would "protect" a
#' file of 4,580 records. The function never gives such a release.
#'
#' **Cost.** A suppressed value of variable \eqn{v} costs its `importance` \eqn{w_v}, 1 by default.
#' The sum over all suppressed values is minimised.
#'
#' **Optimality.** `"own"` is solved exactly: the cost is the sum of the records' optima, and
#' the gap is 0. If several sets are equally good, the one that makes the record equal to the most
#' others is used. `"shared"` and `"strict"` are solved by a greedy search with an improvement
#' step, to which `n_rounds` adds rounds; on survey files the lower bound of `"strict"` was 1 to
#' 10 per cent below the cost found. `vignette("protect")` describes the search.
#'
#' **Several key sets.** With a named list of key sets the limit holds for each of them.
#'
#' **Linked variables.** With `linked = list(age = "birth_year")` the year of birth is suppressed
#' with the age, as it would reveal it. An entry without a name, `list(c("district", "region"))`,
#' holds variables that are suppressed together, key variables or not. A message of class
#' `sdcRisk_message_determined_keys` proposes links if other released columns reveal suppressed
#' values; see [release_data()].
#'
#' **Strata and households.** With `strata_var` only records of the same stratum match, as for an
#' intruder who knows the stratum; it is never suppressed. With `hh_id` matches are counted in
#' households. Variables that are constant within every household are suppressed for all members or
#' none; otherwise another member would reveal the value. The lower bound ignores this rule. If
#' the values of `hh_id` have more than 12 records on average, a message asks whether they are
#' households.
#'
#' **Heavy suppression.** If more than 20% of the values of a key variable, or more than 10% of
#' all key values, are suppressed in a file of 20 records or more, a message and the first line of
#' the print warn and name cheaper ways; `diagnostics$cheaper` holds the figures. This runs the
#' search once or twice more.
#'
#' **Missing values** of the original match everything, cost nothing and are not among the
#' `cells`. Under `"strict"` they are like suppressed ones. Another rule as a role is an error.
#'
#' @section Which rule, when:
#' * `"strict"` if the file is published, or recipients may know people in it. Nobody can
#'   distinguish a record from \eqn{k - 1} others, whatever they know of the key variables, and no
#'   original has fewer than \eqn{k} candidates in the release. On survey files with five to seven
#'   key variables and k from 2 to 5 it suppressed 1.02 to 1.45 times as many values as `"own"`,
#'   1.09 times in the median.
#' * `"own"`, the default, if the limit is the usual one, that every released record matches \eqn{k}
#'   originals, and the recipients do not know that a person is in the file. Every record below the
#'   limit loses values, provably as few as possible.
#' * `"shared"` if the limit is formal (a count of matches in the release) and values are
#'   valuable: on the same files it suppressed 0.32 to 0.59 times as many values as `"own"`. It
#'   releases most records below the limit unchanged: they are protected only because a record with
#'   suppressed values *could* be them. Do not use it if an intruder can know who is in the file.
#'
#' @section What an intruder learns who knows the rule:
#' * An intruder who knows the original values of a record can find it in spite of a suppressed
#'   value, if no other released record fits them (\eqn{g_i = 1}, with \eqn{g_i} the number of
#'   released records that fit the original). Only `"strict"` prevents this.
#' * Under `"own"` and `"shared"` only records below the limit have suppressed values: anyone who
#'   knows this can infer that such a record was rare, and that the suppressed value is a rare one
#'   among the records it now fits.
#' * If the file is sorted, the records around a suppressed value reveal it. A message
#'   (`told_by_order`) names the variables, and [release_data()] then shuffles the records. It also
#'   drops levels and labels that only suppressed values had.
#' * A sensitive value that all matching records share is disclosed, unless `l` is given.
#' * This object holds the original counts and is confidential. Release only [release_data()].
#'
#' @section Cost in time: It grows with the number of records below the limit and of variable sets
#' that cost no more than the most expensive record needs. Values missing in many combinations, and
#' households, cost more. Memory beyond `data`, with five key variables and two threads, if nearly
#' all records are below the limit: at most 1,100 bytes a record under `"own"`, 2,000 under
#' `"shared"` and 4,500 under `"strict"`.
#'
#' @param data A data frame, tibble or data.table, an [sdc_file()], or a table of a database.
#' @param key_vars Names or positions of the key variables, or a named list of key sets. `NULL`:
#'   all columns that no other argument names.
#' @param k The least number of matches, the record itself included.
#' @inheritParams sdcRisk-params
#' @inheritParams release_in_database
#' @param ... Rarely used arguments, those of `suppress_cells_control()`, by their full names, or
#'   together: `control = suppress_cells_control(...)`.
#' @param rule What must hold for every record, see Details.
#' @param importance Cost of a suppressed value, a numeric vector named by variables; 1 for those
#'   not named, `Inf` for variables that are never suppressed. Of a result of [special_uniques()]
#'   the largest contribution over that of the variable, at most 10: variables that make records
#'   unique go first.
#' @param linked Variables that are suppressed with others: a list, see Details.
#' @param strata_var Name of a column: only records with equal values of it can match.
#' @param max_risk Instead of `k`: the largest risk \eqn{1 / f} of a record, so that \eqn{k} is
#'   its inverse, rounded up. If both are given, both hold. If weights or the size of the population
#'   are known, the print has the largest risk in the population, as [file_check()] judges it.
#' @param weight_var Name of the column with sampling weights, a role of the release.
#' @param l,c,t,sensitive With `k`, under `"own"`, of records in R, without `hh_id`: the originals
#'   that match a released record must have at least `l` values of each `sensitive` variable
#'   ((c, l)-diversity with `c`), at a t-closeness of at most `t`, at the least cost. A message
#'   counts the released records among whose matches this is not so. Up to 12 key variables.
#' @param n_rounds Rounds of local search under `"shared"`, and beyond those always made under
#'   `"strict"`. They draw random numbers: keep their seed secret, see [release_data()].
#' @param original If `data` were protected before: the file before that, with the same records in
#'   the same order, with which it is compared. Not needed for a result of this session.
#'
#' @return An object of class `sdc_suppress_cells`, an [sdc_result] with
#' \describe{
#'   \item{`data`}{the data after suppression: class, column types, levels, labels and order of
#'     records are those of the input. [release_data()] gives what may leave. For an sdcMicroObj
#'     that object after it, see [store_result()]}
#'   \item{`cells`}{the [as.data.frame()] table, one row per suppressed value: `record` (row
#'     number), `variable`, `reason`: `"violation"` (the record had too few matches), `"linked"`,
#'     `"household"` (suppressed in another member), `"donor"` (protects other records)}
#'   \item{`variables`}{per variable: `variable`, `importance`, `n_missing` before,
#'     `n_suppressed`, `prop_suppressed` (of the values known before)}
#'   \item{`estimates`}{one row: `rule`, `k`, `n_violations_before` (records with too few matches
#'     in any key set), `n_violations_after` (0), `n_suppressed` (values), `n_records_suppressed`,
#'     `n_intact` (records below the limit released unchanged), `n_single_candidate` (originals
#'     that fit one released record), `n_single_before`, `cost`, `lower_bound` (no release under
#'     this rule costs less), `gap` (share by which the cost exceeds it), `tau_before`, `tau_after`
#'     (sum of \eqn{1/f} among the released), `tau_intruder` (sum of \eqn{1/g})}
#'   \item{`records`}{`n_matches_before`, `n_matches` (among the released), `n_candidates`
#'     (\eqn{g_i}; without `hh_id` by the first originals, `Inf` if a record's were exchanged),
#'     `n_equal` if `"strict"`, `n_suppressed`; of several key sets the smallest}
#'   \item{`sets`}{per key set: `key_set`, `n_violations_before`, `n_violations_after`,
#'     `n_single_candidate`, `tau_before`, `tau_after`, `tau_intruder`}
#' }
#' Errors: `unprotectable` (fewer than `k` records, or households, in a stratum, or records that
#' differ from all others in variables that are never suppressed), `bad_argument` (importance or
#' links of unknown variables, named), `unknown_key_var`, `bad_data`, `bad_column`, `too_large`
#' (more than 64 variables). Messages: `nothing_to_do`, `identifying_key`, `determined_keys`,
#' `told_by_order`, `heavy_suppression`, `large_households`, `single_households`, `resting_records`.
#' @references
#' Sweeney, L. (2002). Achieving k-anonymity privacy protection using generalization and
#' suppression. International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5),
#' 571-588. \doi{10.1142/S021848850200165X}
#'
#' Templ, M., Kowarik, A. and Meindl, B. (2015). Statistical disclosure control for micro-data
#' using the R package sdcMicro. Journal of Statistical Software 67(4), 1-36.
#' \doi{10.18637/jss.v067.i04}
#'
#' The rules, the exact solution of `"own"`, the bound and the greedy are ours.
#' @family protection
#' @concept local suppression
#' @concept k-anonymity
#' @concept quasi-identifier
#' @export
#' @examples
#' people <- data.frame(
#'   sex = c(1, 1, 1, 1, 1, 2), age = c(1, 1, 1, 1, 2, 2), job = c(1, 1, 2, 3, 4, 4)
#' )
#' own <- suppress_cells(people, k = 2)
#' own$cells # job in records 3 and 4, sex in 5 and 6
#' suppress_cells(people, k = 2, rule = "shared")$estimates$n_suppressed # 2
#'
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' strict <- suppress_cells(nals_prison, keys, rule = "strict")
#' strict
#' public <- release_data(strict)
suppress_cells <- function(data, key_vars = NULL, k = 3, ...,
                           rule = c("own", "shared", "strict"), importance = NULL,
                           linked = NULL, strata_var = NULL, max_risk = NULL, hh_id = NULL,
                           weight_var = NULL, row_id = NULL) {
  ask <- announce("suppress_cells")
  check_no_dots(...)
  given_k <- !missing(k)
  settings <- list(
    rule = check_choice(rule, c("own", "shared", "strict"), "rule"),
    k = required_matches(k, max_risk, !given_k),
    n_rounds = check_whole(ask$n_rounds, "n_rounds", low = 0)
  )
  if (was_given("data") && is_in_database(data)) check_separable(settings$rule)
  read_release(ask, c("linked", "strata_var"), c(
    hh_id = "Its patterns do not say who lives with whom.", original = other_records_unseen
  ))
  from <- first_original(ask$file, ask$original)
  data <- ask$data
  check_reachable(settings$k, n_records(data))
  settings <- c(settings, mget(c("strata_var", "hh_id", "weight_var"), envir = ask))
  check_weights(data, ask$weight_var)
  settings <- c(settings, check_diversity(ask, data, settings))
  sets <- suppression_sets(data, ask$key_vars, settings)
  links <- suppression_links(ask$linked, data, sets$variables)
  variables <- unique(c(sets$variables, links$variables))
  settings$importance <- check_importance(importance, variables)
  settings$strata_var <- column_name(ask$strata_var, data)
  settings$hh_id <- column_name(ask$hh_id, data)
  if (is.null(settings$hh_id)) inform_repeated_id(ask$file)
  settings$weight_var <- column_name(ask$weight_var, data)
  with_progress("Local suppression", {
    table <- key_table(ask$file, variables, roles = role_columns(data, settings))
    check_told_apart(ask$file$roles$missing, table)
    found <- find_suppression(table, data, sets, links, settings)
    inform_identifying(identifying_keys(table))
    result <- new_suppression(
      found, data, table, sets, links, settings, ask$call, ask$file, from
    )
    heavy <- heavy_suppression(result, table, sets)
    if (length(heavy) && !cells_alone()) {
      result$diagnostics$cheaper <- cheaper_ways(heavy, table, data, sets, links, settings)
      words <- heavy_words(result)
      inform_sdc(
        "heavy_suppression", "Suppression should remove a small part of the key values.",
        x = words[[1]], rlang::set_names(words[-1], rep("i", length(words) - 1)),
        variable = result$diagnostics$cheaper$variable
      )
    }
    if (!is.null(max_risk)) result$diagnostics$law <- judged_suppression(result, ask$file, max_risk)
    if (!is.null(ask$file$lazy)) {
      ask$file$before <- blanked_before(ask$file$before, result, data)
    }
    result$data <- give_back(ask$file, result$data, k = settings$k)
    with_past(result, ask$file)
  })
}

#' @rdname suppress_cells
#' @export
suppress_cells_control <- function(n_rounds = 0, original = NULL, into = NULL, chunk_size = 1e6,
                                   max_patterns = 5e6, l = NULL, c = NULL, t = NULL,
                                   sensitive = NULL, ...) {
  new_control("suppress_cells_control")
}

# The verdict of the page on the largest risk after the suppression, if the population is known.
judged_suppression <- function(x, file, limit) {
  roles <- utils::modifyList(
    as.list(file$roles), list(
      key_vars = unique(unlist(x$settings$key_sets)), weight_var = x$settings$weight_var,
      hh_id = x$settings$hh_id
    )
  )
  known <- c("weight_var", "pop_size", "sampling_fraction") %in% names(roles)
  if (any(known) && is.null(file$lazy) && is.null(times_of(file$data))) {
    quietly(law_verdicts(x$data, roles, list(journalist = limit)))
  }
}

# Above these shares of a variable's values, and of those of all key variables, a suppression
# is said to be heavy.
heavy_shares <- c(variable = 0.2, all = 0.1)

# The variable that loses the largest share of its values, and the share of all key values; NULL
# where neither is large, or a file is too small for shares.
heavy_suppression <- function(x, table, sets) {
  if (table$n < 20) {
    return(NULL)
  }
  of_keys <- x$variables[x$variables$variable %in% sets$variables, ]
  share <- sum(of_keys$n_suppressed) / max(1, table$n * nrow(of_keys) - sum(of_keys$n_missing))
  most <- of_keys[which.max(of_keys$prop_suppressed), ]
  if (most$prop_suppressed > heavy_shares[["variable"]] || share > heavy_shares[["all"]]) {
    list(variable = most$variable, prop_variable = most$prop_suppressed, prop_all = share)
  }
}

# Cost of this limit without the variable with most suppressed values, and without households; `NA`
# if that cannot be computed.
cheaper_ways <- function(heavy, table, data, sets, links, settings) {
  n_without <- function(sets, settings) {
    tryCatch(
      {
        found <- find_suppression(table, data, sets, links, settings)
        sum(if (is.null(table$times)) rep(1, length(found$record)) else table$times[found$record])
      },
      sdcRisk_error_unprotectable = function(e) NA_real_
    )
  }
  fewer <- sets
  fewer$sets <- lapply(sets$sets, function(set) {
    set$columns <- set$columns[sets$variables[set$columns] != heavy$variable]
    set
  })
  fewer$sets <- Filter(function(set) length(set$columns) > 0, fewer$sets)
  alone <- replace(settings, "hh_id", list(NULL))
  heavy$n_without_variable <- if (length(fewer$sets)) n_without(fewer, settings) else 0
  heavy$n_without_households <- if (is.null(settings$hh_id)) NA_real_ else n_without(sets, alone)
  heavy
}

# Records of one pattern need the same under "own". Under the other rules it depends on the
# blanks of all others how many of them are blanked, and where.
check_separable <- function(rule) {
  if (rule != "own") {
    stop_argument(
      "rule", "be \"own\" for a table of a database",
      paste0(
        "Under \"", rule, "\" the suppressed values of a record depend on those of all others, ",
        "equal ones included."
      ),
      "Bring the key variables into R for it: dplyr::collect(dplyr::select(data, ...))."
    )
  }
}

# k, and what a largest risk asks for.
required_matches <- function(k, max_risk, is_default) {
  k <- check_whole(k, "k", low = 2)
  if (is.null(max_risk)) {
    return(k)
  }
  max_risk <- check_probability(max_risk, "max_risk")
  needed <- ceiling(1 / max_risk - 1e-9)
  if (needed > .Machine$integer.max) {
    stop_argument("max_risk", "be at least 1 / 2147483647", given_words(max_risk))
  }
  as.integer(if (is_default) max(needed, 2) else max(needed, k))
}

# No record has more matches than the file has records.
check_reachable <- function(k, n) {
  if (k > n) {
    stop_sdc("unprotectable", c(
      paste0("The file must have the ", format_count(k), " records that each is to match."),
      x = paste0("It has ", plural(n, "record"), ": not even full suppression reaches that."),
      i = "Take a smaller `k`, or a larger `max_risk`."
    ))
  }
}

# Nobody can tell a suppressed value from one that was missing before.
check_told_apart <- function(rule, table) {
  incomplete <- table$variables[table$n_missing > 0]
  if (length(incomplete) && !is.null(rule) && rule != "wildcard") {
    stop_sdc(
      "bad_argument", "Missing and suppressed values must be counted by the same rule.",
      x = paste0(
        "The file says `missing = \"", rule, "\"`, missing: ", quote_names(incomplete),
        ". Suppressed values match everything."
      ),
      i = "If everyone knows who has no value, give these records one, such as \"none\".",
      i = "Otherwise: sdc_file(..., missing = \"wildcard\").",
      argument = "data"
    )
  }
}

column_name <- function(column, data) {
  if (is_plain_number(column)) names(data)[[column]] else column
}

# The key sets of all variables: see match_key_sets().
suppression_sets <- function(data, key_vars, settings) {
  roles <- settings[c("strata_var", "hh_id", "weight_var")]
  roles <- roles[!vapply(roles, is.null, NA)]
  positions <- unlist(Map(function(column, arg) {
    check_column(column, data, arg)
  }, roles, names(roles)))
  if (anyDuplicated(positions)) {
    twice <- names(roles)[duplicated(positions)][[1]]
    stop_argument(twice, "name a column that no other argument names")
  }
  sets <- match_key_sets(
    data, key_vars, NULL,
    list(
      weight_var = settings$weight_var, hh_id = settings$hh_id,
      sensitive = c(settings$strata_var, settings$sensitive)
    )
  )
  clash <- intersect(sets$positions, positions)
  refuse_names(
    names(data)[clash], "key_vars", "leave out the columns that other arguments name", "In both"
  )
  sets
}

# Links as pairs of variables, `from` and `to`; all `variables` in them.
suppression_links <- function(linked, data, key_vars) {
  if (is.null(linked)) {
    return(list(from = character(), to = character(), variables = character()))
  }
  is_item <- function(x) is.character(x) && length(x) > 0 && !anyNA(x)
  if (!is.list(linked) || is.data.frame(linked) || !all(vapply(linked, is_item, NA))) {
    stop_argument(
      "linked", "be a list of names of variables",
      advice = "list(age = \"birth_year\") suppresses the year of birth with the age."
    )
  }
  pairs <- Map(function(name, to) {
    if (nzchar(name)) {
      expand.grid(from = name, to = to, stringsAsFactors = FALSE)
    } else {
      expand.grid(from = to, to = to, stringsAsFactors = FALSE)
    }
  }, if (is.null(names(linked))) character(length(linked)) else names(linked), linked)
  pairs <- do.call(rbind, unname(pairs))
  pairs <- pairs[pairs$from != pairs$to, ]
  variables <- unique(c(pairs$from, pairs$to))
  check_columns(variables, data, "linked")
  list(from = pairs$from, to = pairs$to, variables = setdiff(variables, key_vars))
}

# The cost of a suppressed value, one per variable.
check_importance <- function(importance, variables,
                             advice = "Inf stands for variables that are never suppressed.") {
  cost <- rlang::set_names(rep(1, length(variables)), variables)
  if (is.null(importance)) {
    return(cost)
  }
  if (inherits(importance, "sdc_special_uniques")) importance <- special_importance(importance)
  given <- names(importance)
  named <- is.numeric(importance) && !is.object(importance) && length(importance) > 0 &&
    length(given) == length(importance) && all(nzchar(given)) && !anyDuplicated(given)
  if (!named) {
    stop_argument(
      "importance", "be a numeric vector named by key variables",
      given_words(importance), "c(age = 3, sex = 1)"
    )
  }
  unknown <- setdiff(given, variables)
  refuse_names(
    unknown, "importance", "name key variables",
    "Not a key variable", nearest_names(unknown, variables)
  )
  bad <- is.na(importance) | importance <= 0
  if (any(bad)) {
    stop_argument(
      "importance", "be positive",
      found = paste0("Not so for ", quote_names(given[bad]), "."), advice = advice
    )
  }
  cost[given] <- as.double(importance)
  cost
}

# The cells to be blanked, from the core.
find_suppression <- function(table, data, sets, links, settings) {
  if (!is.null(settings$sensitive)) {
    return(find_diverse(table, data, sets, settings))
  }
  of <- function(arg, numbers) {
    if (!is.null(settings[[arg]])) numbers(data[[settings[[arg]]]], arg)
  }
  asked <- list(
    rule = settings$rule, k = settings$k,
    sets = lapply(unname(sets$sets), function(set) {
      match(sets$variables[set$columns], table$variables)
    }),
    weights = unname(settings$importance),
    linked_from = match(links$from, table$variables), linked_to = match(links$to, table$variables),
    strata = of("strata_var", value_numbers), households = of("hh_id", number_ids)$number,
    rounds = settings$n_rounds,
    seeds = if (settings$n_rounds > 0) draw_seed() else as.double(1:8)
  )
  core(rs_suppress_cells, table$pointer, asked)
}
