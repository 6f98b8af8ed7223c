#' Record linkage by an intruder who weighs key variables
#'
#' Links the records of a released file to a file with names by weighted agreement, over all pairs
#' of records and exactly. Use it if an intruder may hold such a file: a real intruder gives more
#' weight to a rare name than to the sex, and less to a variable that often changes. The result
#' has the expected number of correct matches and the certainty of each.
#'
#' @concept record linkage
#' @concept re-identification experiment
#' @details For a released record \eqn{i} and a known record \eqn{j}, the weight of a pair is
#' \deqn{W_{ij} = \sum_v f_v(x_{jv}, y_{iv}),}{W_ij = sum over keys v of f_v(x_jv, y_iv),}
#' 0 for a key that is missing in either record. With \eqn{m_v} the probability that two records
#' of one person agree on key \eqn{v}, and \eqn{u_v} that those of two persons do, an agreement on
#' the value \eqn{y} adds \eqn{\log(m_v / q_v(y))}{log(m_v / q_v(y))}, \eqn{q_v(y)} being the
#' share of \eqn{y} in both files, and a disagreement \eqn{\log((1 - m_v) / (1 - u_v))}{log((1 -
#' m_v) / (1 - u_v))}. With `by_value = FALSE` every agreement adds \eqn{\log(m_v / u_v)}{log(m_v
#' / u_v)}.
#'
#' Let \eqn{w_i} be the largest weight of record \eqn{i} and \eqn{b_i} the number of known records
#' that have it. The intruder takes one of them; with \eqn{t(i)} the record of the same person,
#' the intruder is right with the matching probability
#' \deqn{p_i = [W_{i,t(i)} = w_i] / b_i,}{p_i = [W_i,t(i) = w_i] / b_i,}
#' whose sum is the expected number of correct matches. The intruder gives each of the best
#' records the posterior
#' \deqn{\frac{e^{w_i}}{\sum_j e^{W_{ij}} + n_1 (1 - \rho) / \rho},}{%
#'   exp(w_i) / (sum over j of exp(W_ij) + n1 (1 - rho) / rho),}
#' with \eqn{n_1} known records and \eqn{\rho} the probability that a released person is among
#' them (`coverage`). The posterior takes into account that a person has one record; it assumes
#' independent errors.
#'
#' @section Intruders:
#' They differ in where the weights come from:
#' \describe{
#'   \item{`"count"`}{counts differing keys, as [longitudinal_link()]; always computed. It has no
#'     posterior}
#'   \item{`"calibrated"`}{knows how often each key agrees for one person: \eqn{m_v} and \eqn{u_v}
#'     from the true links, half a pair added to agreements and disagreements. Needs `id`}
#'   \item{`"prior"`}{believes that every key agrees with probability `prior_match` for one
#'     person; as for `"em"`, \eqn{u_v} is that of all pairs, half a pair added to each}
#'   \item{`"em"`}{learns \eqn{m_v} from the two files alone: each released record has one
#'     partner, uniform over the known file with probability `coverage`, and \eqn{m_v} maximises
#'     the likelihood of the records (expectation and maximisation, on a systematic sample of
#'     about 5,000 keys of the released file)}
#' }
#' None of them is the best that can be: if errors are dependent, weights that are known may do
#' slightly worse than learned ones. So the largest figure over the intruders tried is named, and
#' no figure is called an upper bound. `ceiling` is rigorous for rules of one kind, those that
#' look only at which keys agree, differ or are missing: known records with the same pattern as
#' the true partner cannot be told apart. Rules that use values, as all intruders do with
#' `by_value = TRUE`, can exceed it.
#'
#' @section Continuous key variables:
#' Two records seldom agree on an income, and never after noise or microaggregation. If key
#' variables are numbers with the role `num_vars` in either file, or with so many values that
#' records hardly ever agree by chance (more than a fifth of at least 20 records differ, whole
#' numbers in more than 100 values), the intruder `"distance"` is added, who takes the nearest
#' record. If all key variables are, and `weights` is not given, no weights of agreements are
#' computed besides. The cost of a pair is a sum over key variables; each known record with the
#' least cost is right with one over their number. Seven costs are tried, and the one that is
#' right most often leads (`distances` has all): `standardised`, `mahalanobis`, `rank`, `gower`,
#' `learned` without true links, and with `id` `calibrated` and `calibrated_rank`. Their formulas
#' are in `vignette("linkage-attack")`. Costs that differ by less than a billionth are equal.
#' Intervals are those of Clopper and Pearson for the number of right links. Without `id` no metric
#' is known to be best, and `standardised` is reported.
#'
#' @section Tolerance:
#' `tolerance` says for a key which differences are admissible. The admissible ones are a level of
#' their own between equal values and others, with probabilities of its own; `"prior"` and
#' `"count"` take them for agreements. An entry is
#' * one number, plus or minus: `age = 1`;
#' * two numbers, the smallest and the largest released minus known value: `age = c(0, 2)`;
#' * a logical matrix whose row names are the known and whose column names are the released
#'   values. Its diagonal is not implied: equal values that it does not admit differ.
#'
#' Keys of [candidates()], as local suppression and recoding leave them, agree if a value is
#' admissible in both files.
#'
#' @section Missing values:
#' A missing value adds no weight, so that a known record with few observed key variables is seldom
#' a best match, unlike under the rule that counts.
#'
#' @section Spelling of text:
#' Text in any encoding is compared letter by letter. Values that differ from one in the other
#' table only by case, blanks or Unicode form (an accented letter as one character or as two) do
#' not match; a message of class `sdcRisk_message_similar_text` counts them by column.
#'
#' @section Tables of a database:
#' `known` and `released` may both be lazy tables of dbplyr or pattern tables, read as by
#' [longitudinal_link()]: `records` is `NULL`, and `patterns` has the key variables of the
#' released file, the number `n` of records and the columns of `records` but `id`. Numbers are
#' those of the data frames, but for `"em"` on more than 5,000 patterns, whose sample goes by their
#' order. `one_to_one` needs data frames, and `id` no pattern tables.
#'
#' @section Cost:
#' All pairs, without blocking, by the cheapest of three exact engines; the choice is the same on
#' every machine. At 2 threads 5,000 x 5,000 records and 4 keys take 0.1
#' s, 63,654 x 80,882 records and 13 keys 1.2 s, a million by a million 11 s and 230 MB. More than
#' `max_work` is refused at once with the estimate. `"em"` takes some 20 passes over its sample, and
#' stops after 400. Nearest records are found exactly by a k-d tree:
#' with all metrics, 100,000 x 100,000 records and six variables take 5.3 s at 2 threads.
#' Memory beyond the files, with five key variables and two threads: at most 650 bytes a record.
#'
#' @param known The file that the intruder holds: a data frame with one row per person, or an
#'   [sdc_file()], whose key variables are taken if `key_vars` is not given; or, as `released`, a
#'   table of a database.
#' @param released The released file, whose records are attacked. After a protection: the
#'   protected data, with the ids of the original.
#' @param key_vars Names of the key variables, columns of both files, or their positions in
#'   `known`; `NULL` for all columns of both files but `id`. At most 64.
#' @param id Name of the column that identifies persons in both files, known to the producer and
#'   not to the intruder. Without it no match is known to be right.
#' @inheritParams sdcRisk-params
#' @param ... Rarely used arguments, those of `link_attack_control()`, by their full names, or
#'   together: `control = link_attack_control(...)`.
#' @param weights One or several of `"calibrated"`, `"prior"`, `"em"` and `"count"`. Default:
#'   `"calibrated"`, without `id` `"em"`. The first one gives `records` and `variables`.
#' @param by_value Whether an agreement on a rare value weighs more.
#' @param tolerance Admissible differences: a named list, see below.
#' @param prior_match What `"prior"` believes, strictly between 0 and 1.
#' @param coverage Probability that a released person is in the known file, above 0 and at most 1.
#'   Default: the share of released records that are linked; 1 without `id` and if none is linked.
#'   Matches do not depend on it, posteriors do.
#' @param one_to_one Whether to compute also what an intruder gets who gives every known record to
#'   one released record at most, and every record of the smaller file away, so that the sum of
#'   weights is largest. If several assignments have the largest sum, their links are shared out
#'   as evenly as possible (by largest entropy), so that the figure does not depend on the order
#'   of the records. For up to 10,000 records in each file.
#' @param sensitivity Whether to repeat the attack without each key in turn. `NULL`: if that takes
#'   a moment.
#' @param max_work Most work of one attack, in nanoseconds of one processor.
#'
#' @return An object of class `sdc_link_attack`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per intruder: `intruder`, `n_known`, `n_released`, `n_linked`
#'     (released records with a known one of the same person), `expected_correct`, `prop_expected`
#'     (of `n_linked`), `n_certain` (single best matches that are right), `n_single_best`,
#'     `n_single_best_wrong` (of all released records), `own_estimate` (the sum of the posteriors:
#'     what the intruder expects), `n_claims_90` (released records with a posterior of at least
#'     0.9), `n_right_90` (how many of them are right, one of b ties counting 1/b), `ceiling`;
#'     with `one_to_one` also `expected_one_to_one`}
#'   \item{`records`}{one row per released record, for the first of `weights`: `id` (the row
#'     number without `id`), `match_prob` (`NA` without a partner), `posterior`, `n_best`,
#'     `true_in_best` (`FALSE` without a partner, `NA` without `id`); then `match_prob_<intruder>`
#'     and `posterior_<intruder>` of the others}
#'   \item{`curve`}{per intruder and threshold `posterior`: `n_claimed` records with at least this
#'     posterior, `n_right` of them, `n_expected` right ones}
#'   \item{`variables`}{one row per key, for the first of `weights`: `variable`, `m`, `u`,
#'     `weight` (\eqn{\log(m/u)}{log(m/u)}), `weight_differ`, `entropy` (nats, both files),
#'     `without` (expected correct matches without the key), `loss`; and `m_<intruder>` of the
#'     others who weigh}
#'   \item{`distances`}{with continuous key variables one row per metric: `metric`,
#'     `expected_correct` with `low` and `high`, `n_single_best`, `n_certain`; `NULL` without}
#'   \item{`margins`}{of the leading metric, per `margin`, the quotient of the second and the
#'     first distance: `n_claimed` records with at least this margin, `n_right` of them}
#'   \item{`levels`}{per key with a tolerance and level of agreement: `variable`, `level`, `m`,
#'     `u`; `NULL` without}
#' }
#'
#' Errors: `unknown_key_var`, `bad_data` for an empty file or ids that occur twice, `bad_column`,
#' `bad_argument`, `too_large`. Warnings `waves_differ`, `no_common_ids`, `no_distances`
#' (continuous key variables of tables or patterns), `not_learned` (doubtful
#' learned weights: `vignette("linkage-attack")` explains their `diagnostics`).
#'
#' @references
#' Fellegi, I. P. and Sunter, A. B. (1969). A theory for record linkage. Journal of the American
#' Statistical Association 64(328), 1183-1210. \doi{10.1080/01621459.1969.10501049}.
#'
#' Domingo-Ferrer, J. and Torra, V. (2003). Disclosure risk assessment in statistical microdata
#' protection via advanced record linkage. Statistics and Computing 13, 343-354.
#' \doi{10.1023/A:1025666923033}.
#'
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate the
#' re-identification risk in longitudinal survey microdata. Joint Statistical Meetings 2021.
#' @seealso [longitudinal_link()] for the intruder who counts, [key_stability()] for
#'   the choice of keys.
#' @concept record linkage
#' @concept distance-based record linkage
#' @export
#' @examples
#' known <- data.frame(id = 1:3, sex = c("f", "f", "m"), born = c(1950, 1961, 1961))
#' released <- known[c(3, 2), ]
#' attack <- link_attack(known, released, c("sex", "born"), "id", weights = "prior")
#' attack$records$match_prob # 1 1
#' attack$estimates$expected_correct # 2 2
link_attack <- function(known, released, key_vars, id = NULL, ...,
                        weights = c("calibrated", "prior", "em", "count"), by_value = TRUE,
                        tolerance = NULL, prior_match = 0.95, coverage = NULL,
                        one_to_one = FALSE, limit = NULL) {
  role <- c(if (!missing(known)) num_vars_of(known), if (!missing(released)) num_vars_of(released))
  ask <- enter_waves("link_attack", c("known", "released"), lazy = TRUE)
  check_given("key_vars")
  check_no_dots(...)
  settings <- list(
    intruders = check_intruders(weights, missing(weights), id),
    by_value = check_flag(by_value, "by_value"),
    prior_match = check_probability(prior_match, "prior_match"),
    coverage = if (!is.null(coverage)) check_share(coverage, "coverage"), engine = "choose",
    max_work = check_number(
      ask$max_work, "max_work", "be one positive number of nanoseconds", ask$max_work > 0
    ),
    without_work = check_sensitivity(ask$sensitivity, id),
    one_to_one = check_one_to_one(one_to_one, id, ask$known, ask$released),
    details = TRUE, thresholds = claim_thresholds
  )
  asked <- list(settings = settings, role = role, by_default = missing(weights))
  limit <- check_record_limit(limit)
  max_patterns <- check_max_patterns(ask$max_patterns)
  if (!in_words_of_files(are_counted_waves(ask$known, ask$released))) {
    for (name in c("known", "released")) check_data_frame(ask[[name]], name)
  }
  with_limit(
    attack_files(
      ask$known, ask$released, ask$key_vars, id, tolerance, asked, max_patterns, ask$call
    ),
    limit
  )
}

#' @rdname link_attack
#' @export
link_attack_control <- function(sensitivity = NULL, max_work = 6e11, max_patterns = 5e6, ...) {
  new_control("link_attack_control")
}

# Posteriors above which claims are counted.
claim_thresholds <- c(seq(0, 0.95, 0.05), 0.98, 0.99, 0.995, 0.999)

all_intruders <- c("calibrated", "prior", "em", "count")

# The intruders, the first one asked for leading, with the one who counts.
check_intruders <- function(weights, default, id) {
  if (default) weights <- if (is.null(id)) "em" else "calibrated"
  good <- is.character(weights) && length(weights) > 0 && all(weights %in% all_intruders) &&
    !anyDuplicated(weights)
  if (!good) {
    stop_argument(
      "weights", paste("hold some of", quote_names(all_intruders), "each once"),
      words_given(weights), if (is.character(weights)) {
        nearest_names(setdiff(weights, all_intruders), all_intruders)
      }
    )
  }
  if ("calibrated" %in% weights && is.null(id)) {
    stop_argument(
      "weights", "leave out \"calibrated\" if `id` is not given",
      advice = "Without true links, \"em\" learns weights from the files."
    )
  }
  union(weights, "count")
}

# Error if words are not among the known ones, each once.
words_given <- function(weights) {
  if (!is.character(weights)) {
    return(given_words(weights))
  }
  unknown <- setdiff(weights, all_intruders)
  if (length(unknown)) {
    paste0("Unknown: ", quote_names(unknown), ".")
  } else {
    paste0("More than once: ", quote_names(unique(weights[duplicated(weights)])), ".")
  }
}

# The work for which attacks without each key are repeated.
check_sensitivity <- function(sensitivity, id) {
  if (is.null(sensitivity)) {
    return(if (is.null(id)) 0 else 1e9)
  }
  check_flag(sensitivity, "sensitivity")
  if (sensitivity && is.null(id)) {
    stop_argument(
      "sensitivity", "be FALSE if `id` is not given",
      advice = "Without true links no match is known to be right."
    )
  }
  if (sensitivity) Inf else 0
}

check_one_to_one <- function(one_to_one, id, known, released) {
  check_flag(one_to_one, "one_to_one")
  if (one_to_one && is_counted_wave(known)) {
    stop_argument(
      "one_to_one", "be FALSE for tables of a database and pattern tables",
      found = "Of several assignments one is taken, and it goes by the order of the records."
    )
  }
  if (one_to_one && is.null(id)) stop_argument("one_to_one", "be FALSE if `id` is not given")
  if (one_to_one && is.data.frame(known) && is.data.frame(released) &&
        max(nrow(known), nrow(released)) > 10000) {
    stop_sdc(
      "too_large", "`one_to_one` is for files of at most 10,000 records.",
      x = paste0(
        "They have ", format_count(nrow(known)), " and ", format_count(nrow(released)), "."
      ),
      i = "The posterior takes into account already that a person has one record."
    )
  }
  one_to_one
}

attack_files <- function(known, released, key_vars, id, tolerance, asked, max_patterns,
                         this_call) {
  settings <- asked$settings
  with_progress("Linking files", {
    coded <- in_words_of_files(
      code_waves(known, released, key_vars, id, "key_vars", max_patterns)
    )
    agreements <- in_words_of_files(code_agreements(coded, coded$waves, tolerance))
    # The key variables that are compared by distance: numbers with the role, or with so many
    # values in either file that two records seldom agree by chance. Means of large groups are few.
    are_measured <- function(name, named) {
      vapply(coded$waves, function(wave) is_measured(wave[[name]], named), NA)
    }
    continuous <- Filter(function(name) {
      all(are_measured(name, TRUE)) && any(are_measured(name, name %in% asked$role))
    }, coded$key_vars)
    if (length(continuous) && !is.null(coded$pairs)) {
      # Of a table of a database or of patterns there are no records to be near to each other.
      warn_sdc("no_distances", c(
        "Continuous key variables of tables and patterns are compared as categories.",
        x = paste0("Hardly ever equal: ", quote_names(continuous), "."),
        i = "Give data frames of records: the nearest record is then found too."
      ), columns = continuous)
      continuous <- character()
    }
    # Numbers that hardly ever agree are left to the intruder who takes the nearest record.
    if (asked$by_default && length(continuous) == length(coded$key_vars)) {
      settings$intruders <- "count"
    }
    found <- core(rs_attack, core_waves(coded, agreements), settings)
    names(found$found) <- settings$intruders
    if (length(continuous)) {
      near <- attack_by_distance(coded, continuous)
      own <- list(distance = near$found)
      found$found <- if (asked$by_default) c(own, found$found) else c(found$found, own)
      settings$intruders <- names(found$found)
      found$near <- near
    }
    result <- new_link_attack(found, coded, settings, tolerance, this_call)
    warn_not_learned(result)
    result
  })
}

# Waves are two files in time; here they are what is known and what is released.
file_words <- c(
  "`wave1`" = "`known`", "`wave2`" = "`released`", "in wave 1" = "in the known file",
  "in wave 2" = "in the released file", "columns of `data`" = "columns of both files",
  "of wave 1" = "of the known file",
  "of wave 2" = "of the released file", "wave-1 values" = "known values",
  "wave-2 values" = "released values", "wave-1" = "known", "wave-2" = "released",
  "person and wave" = "person and file", "both waves" = "both files",
  "each wave" = "each file", "a wave" = "a file", "The waves" = "The files",
  "admissible change" = "admissible difference", "Admissible change" = "Admissible difference"
)

in_words_of_files <- function(expr) in_words(expr, file_words)

# `words` replace those of the conditions that `expr` signals, by name.
in_words <- function(expr, words) {
  reworded <- function(cnd) {
    for (old in names(words)) {
      cnd$message <- gsub(old, words[[old]], cnd$message, fixed = TRUE)
      if (is.character(cnd$body)) {
        labels <- names(cnd$body)
        cnd$body <- gsub(old, words[[old]], cnd$body, fixed = TRUE)
        names(cnd$body) <- labels
      }
    }
    cnd
  }
  tryCatch(
    withCallingHandlers(expr, sdcRisk_warning = function(w) {
      rlang::cnd_signal(reworded(w))
      tryInvokeRestart("muffleWarning")
    }),
    sdcRisk_error = function(e) rlang::cnd_signal(reworded(e))
  )
}
