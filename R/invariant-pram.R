#' Perturb key variables with a proven bound on correct matches
#'
#' Perturbs the key variables so that a match on them is correct with at most a stated
#' probability. Records are moved at random between equivalence classes (keys). Use it if values
#' must not be suppressed or coarsened: all expected counts stay unchanged, and the bound holds
#' exactly for every key. The result holds the file to release and the achieved probability of
#' every key.
#'
#' @details The file has \eqn{k} keys with frequencies \eqn{T_i}. The intruder knows the key
#' \eqn{j} of a person and that the person is in the file, and picks at random one of the
#' \eqn{S_j} records released with this key. CM is the event that the pick is the person. The
#' bound is
#' \deqn{P(CM \mid S_j = a, T) \le \xi \quad \mbox{for every } j \mbox{ and } a \ge 1}{%
#'   P(CM | S_j = a, T) <= xi for every j and a >= 1}
#' with \eqn{\xi}{xi} = `max_match_prob`. Every record is randomised independently:
#' \deqn{p_{stay}(i) = 1 - \theta / T_i, \quad
#'   p_{move}(i \to j) = \theta / ((k - 1) T_i),}{%
#'   p_stay(i) = 1 - theta / T_i, p_move(i, j) = theta / ((k - 1) T_i),}
#' so that \eqn{E(S \mid T) = T}{E(S | T) = T}. A record can only get a key that occurs in the
#' file, as a whole: no new combination of values appears. A missing value is a value like any
#' other.
#'
#' **Blocks.** \eqn{k} counts the keys of a block, and records stay in their block. `scope =
#' "risky"`, the default, leaves every key with \eqn{1/T_i \le \xi}{1 / T_i <= xi} unchanged and
#' puts each of the others into a small block with the nearest keys, by the number of differing
#' key variables and then of steps. `scope = "all"` makes one block of the file, the published
#' scheme if `calibration = "paper"`. With `within`, records move only inside a level of these
#' variables, whose joint counts are then kept exactly. `forbid` keeps pairs of values apart.
#'
#' **Theta.** `calibration = "paper"` uses the published closed form, the root of \eqn{(1 -
#' \theta) / (1 - \theta + \theta^2) = \xi}{(1 - theta) / (1 - theta + theta^2) = xi}, proven for
#' \eqn{\xi}{xi} from 1/2, and from 3/7 with three or more keys. `"exact"` uses, block by block,
#' the smallest theta whose exact worst case over every key and all \eqn{a} meets the bound, for
#' any bound that the file can reach: ten sample uniques reach 0.1 and no less. Theta stays
#' so small that no record is found under another key more easily than under its own.
#'
#' **Keys that cannot be protected**, above all a key that is alone in its level: `unprotected =
#' "error"` names the lowest bound that can be reached, to four digits; `"merge"` merges its level
#' with that of the nearest key; `"keep"` gives the best possible protection, and a warning. Only
#' levels of key variables are merged, never those of other variables of `within`.
#'
#' **Households.** Without `hh_id` every record moves independently, and members of a household may
#' then live in two regions. With `hh_id` and `hh_vars`, key variables that a household shares
#' never differ inside a household. The release shows the size of a household, so it is part of
#' every key: a size that only one household has cannot be protected. If all key variables are
#' those of households, households are the units: each is drawn once, and the bound is on matching
#' a household, hence on matching one of its members. To move these keys too, run
#' `invariant_pram()` twice: on the household keys, then on its `data` with all key variables. With
#' `calibration = "exact"` the bound of the second run holds for the whole.
#'
#' **Weights.** Weighted counts are not invariant: a shift of more than 1% in any one-way margin
#' is a warning; `prefer = "similar_weights"` forms blocks of similar mean weight.
#'
#' @section Whom the bound covers:
#' It holds for an intruder who
#' * knows that the target is in the file (prosecutor), and all its key variables, the variables
#'   of `within` and, with `hh_id`, the number of records of its household,
#' * knows the method, theta and even the counts \eqn{T} before,
#' * counts the \eqn{S_j = a} records released with these values (households if these are the
#'   units) and picks one of them at random.
#'
#' It holds for every \eqn{a}, and for anyone who knows less. At a bound of at least 1/2 it also
#' holds for an intruder who knows only some of the key variables; otherwise see [pram_audit()].
#'
#' @section Whom it does not cover:
#' * An intruder who knows other variables of the file: an income, a weight, or the keys of the
#'   other members of a household can single out a record whatever its own keys are.
#' * An intruder who notices a moved record because its new key values contradict other columns. A
#'   message (`determined_keys`) names columns that reveal the perturbation, see [release_data()];
#'   `plausibility` counts pairs of values that no record had before.
#' * An intruder who also uses the released frequencies of *every* key in the block. In a block of
#'   two keys the other frequency adds nothing; in larger blocks the bound does not hold. At 0.8
#'   this intruder is right with at most 0.840 in a block of three uniques, 0.866 of four, 0.928 of
#'   ten and 0.989 of a hundred. `scope = "risky"` makes blocks of two whenever it can.
#'   `estimates$all_counts_prob` has the figure of this file, the worst case from a bound of 1/2
#'   on.
#' * An intruder who knows the seed: do not call [set.seed()] before a release, or keep its number
#'   as secret as the file.
#' * An intruder who infers an exchanged value from the records around it, if the file is sorted: a
#'   message (`told_by_order`) names the variables, and [release_data()] shuffles the records.
#' * Anyone who has this object, which is as confidential as the original data. Release only
#'   [release_data()]; settings, theta and the formula may be published.
#' * Attribute disclosure: if all records with a key share a sensitive value, it is disclosed
#'   without any match.
#'
#' @section Cost:
#' About a second for a million records. Small blocks sort the risky keys once per key variable.
#' Memory beyond `data`, with five key variables and two threads: at most 620 bytes a record.
#'
#' @param data A data frame, tibble or data.table, or a table of a database.
#' @inheritParams sdcRisk-params
#' @inheritParams release_in_database
#' @inheritParams suppress_cells
#' @param ... Rarely used arguments, those of `invariant_pram_control()`, by their full names, or
#'   together: `control = invariant_pram_control(...)`.
#' @param max_match_prob The bound, between 0 and 1. Default: `limit` if given; else 1/3, that of
#'   `k = 3`, for an [sdc_file()] or result, and 0.8 for other data.
#' @param within Columns inside whose joint levels records move.
#' @param scope `"risky"`: small blocks around each key above the bound. `"all"`: each level is one
#'   block.
#' @param calibration How theta is chosen, see Details.
#' @param prefer With `scope = "risky"`: `"fewest_changes"` groups keys of equal frequency,
#'   `"nearest"` takes the nearest key of any frequency, `"similar_weights"` keys of equal
#'   frequency and similar mean weight.
#' @param forbid Values never exchanged: a list named by key variables, each a matrix or data
#'   frame of two columns with one pair of values per row.
#' @param unprotected Treatment of keys that cannot be protected.
#' @param hh_vars Key variables that the members of a household share.
#'
#' @return An object of class `sdc_invariant_pram`, an [sdc_result] with
#' \describe{
#'   \item{`data`}{the perturbed data: class, column types, levels, labels and order of records
#'     are those of the input. [release_data()] gives what may leave. For an sdcMicroObj that
#'     object with perturbed key variables, see [store_result()]}
#'   \item{`cells`}{the [as.data.frame()] table, one row per key: `block` (`NA`: unchanged),
#'     `count`, `stay_prob`, `match_prob_before` (1 / count), `match_prob` (exact worst case over
#'     \eqn{a}); with `hh_id` `household_size`; with households as units `persons_before`,
#'     `persons_expected` (the same, as sizes do not mix); with weights `weighted_before`,
#'     `weighted_expected`}
#'   \item{`blocks`}{`block`, `n_cells`, `n`, `theta`, `all_counts_prob` (for an intruder who also
#'     uses all released counts)}
#'   \item{`variables`}{per key variable: `variable`, `expected_changed`, `n_changed` (records),
#'     `se_inflation` (factor by which the standard error of the proportion of a level grows, the
#'     largest over levels)}
#'   \item{`plausibility`}{per key variable and other column of at most 1,000 values, and half as
#'     many as records: records whose key changed, and the share of them whose new pair of values
#'     does not occur in the original}
#'   \item{`estimates`}{one row: `max_match_prob`, `theta_min`, `theta_max`, `n_blocks`,
#'     `worst_match_prob`, `all_counts_prob` (largest of all blocks), `expected_changed`,
#'     `n_changed`, and `n_records`, `n_cells`, `n_risky` (keys above the bound before),
#'     `n_unprotected` (after)}
#'   \item{`records`}{one row per record: `cell` (row of `cells`), `changed`, `match_prob_before`,
#'     `match_prob` (of its original key)}
#' }
#' Errors: `bad_argument` (a bound outside its range, a pair of `forbid` that does not exist),
#' `unprotectable` (with field `lowest`, a bound to four digits that works while the next ones
#' below it do not; 1 if none does), `bad_data` (households whose members differ), `bad_weights`.
#' Warnings: `weighted_shift`, `unprotected_cells`. Messages: `nothing_to_do`, `merged_levels`,
#' `determined_keys`, `told_by_order`.
#' @references
#' Nayak, T. K. Identity disclosure risk control in microdata release via post-randomization.
#' Department of Statistics, George Washington University.
#'
#' Nayak, T. K., Zhang, C. and You, J. (2018). Measuring identification risk in microdata release
#' and its control by post-randomisation. *Int. Stat. Review* 86, 300-321. \doi{10.1111/insr.12252}
#'
#' The bound was first implemented here, as far as we know; the exact calibration and small blocks
#' are ours. `sdcMicro::pram()` perturbs single variables without a bound.
#' @family perturbation
#' @concept PRAM
#' @concept post-randomisation
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' file <- nals_prison[c(keys, "WEIGHT")]
#' secret <- invariant_pram(file, keys, within = "GENDER")
#' secret$estimates$worst_match_prob # 0.8
#' secret$estimates$expected_changed # 17.33
#' public <- release_data(secret)
#' names(public)
invariant_pram <- function(data, key_vars = NULL, max_match_prob = 0.8, ...,
                           within = NULL, scope = c("risky", "all"), forbid = NULL,
                           unprotected = c("error", "merge", "keep"), hh_id = NULL,
                           hh_vars = NULL, weight_var = NULL, row_id = NULL) {
  ask <- announce("invariant_pram")
  check_no_dots(...)
  if (!was_given("max_match_prob") && was_given("data")) {
    max_match_prob <- if (!is.null(ask$limit)) {
      check_record_limit(ask$limit)
    } else if (is_file(data) || is_remedy(data)) {
      1 / 3
    } else {
      max_match_prob
    }
  }
  # Households are a role of the file, but kept together only if it is said how.
  torn <- !was_given("hh_id") && is.null(hh_vars)
  if (is.null(hh_vars)) ask$.given <- union(ask$.given, "hh_id")
  asked <- list(
    max_match_prob = check_probability(max_match_prob, "max_match_prob"),
    scope = check_choice(scope, c("risky", "all"), "scope"),
    calibration = check_choice(ask$calibration, c("exact", "paper"), "calibration"),
    prefer = check_choice(
      ask$prefer, c("fewest_changes", "nearest", "similar_weights"), "prefer"
    ),
    unprotected = check_choice(unprotected, c("error", "merge", "keep"), "unprotected")
  )
  limit <- check_record_limit(ask$limit)
  if (asked$calibration == "paper") check_paper_bound(asked$max_match_prob)
  read_release(ask, "within", c(
    hh_id = "Its patterns do not say who lives with whom.", original = other_records_unseen
  ))
  from <- first_original(ask$file, ask$original)
  data <- ask$data
  within <- argument("within")
  weight_var <- ask$weight_var
  if (asked$prefer == "similar_weights" && is.null(weight_var)) {
    stop_argument("weight_var", "be given if `prefer` is \"similar_weights\"")
  }
  if (torn) asked$torn <- torn_households(ask$file, ask$key_vars)
  columns <- list(
    within = if (!is.null(within)) check_columns(within, data, "within"),
    hh_id = if (!is.null(ask$hh_id)) check_column(ask$hh_id, data, "hh_id"),
    hh_vars = if (!is.null(hh_vars)) check_columns(hh_vars, data, "hh_vars"),
    weight = if (!is.null(weight_var)) check_column(weight_var, data, "weight_var")
  )
  weights <- check_weights(data, weight_var)
  with_progress("Invariant PRAM", {
    table <- pram_table(ask$file, ask$key_vars, columns)
    check_pram_columns(data, table, columns)
    rules <- pram_rules(forbid, data, table)
    units <- pram_units(data, table, columns)
    levels <- pram_levels(data, table, columns, units)
    drawn <- pram_draw(table, asked, rules, units, levels, weights)
    report_unreached(drawn, asked, pram_fixed(data, table, columns, units))
    drawn$release <- if (is.null(ask$file$lazy)) {
      pram_release(data, table, drawn, units)
    } else {
      # Records of one pattern are exchanged one by one.
      ask$file$before$now <- NULL
      pram_release_lazy(ask$file$lazy, data, table, drawn)
    }
    result <- with_limit(new_invariant_pram(
      data, table, asked, columns, forbid, units, weights, drawn, ask$call,
      ask$file, from
    ), limit)
    if (!is.null(ask$file$object)) {
      result$data <- give_back(ask$file, result$data, pram_notes(result, data))
    }
    with_past(result, ask$file)
  })
}

#' @rdname invariant_pram
#' @export
invariant_pram_control <- function(calibration = c("exact", "paper"), prefer = c("fewest_changes",
                                   "nearest", "similar_weights"), limit = NULL, original = NULL,
                                   into = NULL, chunk_size = 1e6, max_patterns = 5e6, ...) {
  new_control("invariant_pram_control")
}

# Checks -------------------------------------------------------------------

check_paper_bound <- function(bound) {
  if (any(bound < 3 / 7 - 1e-12)) {
    stop_argument(
      "max_match_prob", "lie in [3/7, 1) with calibration = \"paper\"",
      found = paste0("It is ", format(min(bound), digits = 4), "."),
      advice = paste(
        "The theorem: for a bound of at least 1/2, or of at least 3/7 = 0.4286 with three",
        "or more keys, the root theta of (1 - theta) / (1 - theta + theta^2) = bound keeps",
        "every correct-match probability below it. calibration = \"exact\" takes any bound",
        "that the file can reach."
      )
    )
  }
}

check_pram_columns <- function(data, table, columns) {
  clash <- intersect(table$positions, c(columns$hh_id, columns$weight))
  refuse_names(
    names(data)[clash], "key_vars", "not name the columns of households or weights", "Found"
  )
  if (is.null(columns$hh_id) != is.null(columns$hh_vars)) {
    absent <- if (is.null(columns$hh_id)) "hh_id" else "hh_vars"
    stop_argument(
      absent, paste0("be given with `", setdiff(c("hh_id", "hh_vars"), absent), "`"),
      found = "It was not given.",
      advice = if (absent == "hh_vars") {
        "Name the key variables that all members of a household share: hh_vars = c(...)."
      } else {
        "Name the column that identifies households: hh_id = \"...\"."
      }
    )
  }
  outside <- setdiff(columns$hh_vars, table$positions)
  refuse_names(names(data)[outside], "hh_vars", "be key variables", "Not in `key_vars`")
}

# Pairs of values never exchanged, as codes.
pram_rules <- function(forbid, data, table) {
  if (is.null(forbid)) {
    return(list())
  }
  check_named_list(
    forbid, "forbid", "be a list named by key variables, with a matrix of two columns for each",
    table$variables,
    advice = "list(sex = matrix(c(\"m\", \"f\"), ncol = 2))"
  )
  unname(Map(function(pairs, name) {
    if (length(dim(pairs)) != 2 || ncol(pairs) != 2 || nrow(pairs) == 0) {
      stop_argument(
        "forbid", "have two columns and at least one row for every key variable",
        found = paste0("Found otherwise for ", quote_names(name), ".")
      )
    }
    key <- match(name, table$variables)
    values <- value_names(data[[table$positions[[key]]]][table$first_rows[[key]]])
    codes <- lapply(1:2, function(side) {
      given <- value_names(pairs[, side, drop = TRUE])
      code <- match(given, values)
      code[is.na(given)] <- 0L
      if (anyNA(code)) {
        stop_argument(
          "forbid", "name values that occur",
          found = paste0(
            sum(is.na(code)), " of the values for ", quote_names(name), " do not occur."
          )
        )
      }
      as.integer(code)
    })
    if (any(codes[[1]] == codes[[2]])) {
      stop_argument(
        "forbid", "pair different values",
        found = paste0("A value of ", quote_names(name), " is paired with itself.")
      )
    }
    list(key, codes[[1]], codes[[2]])
  }, forbid, names(forbid)))
}
