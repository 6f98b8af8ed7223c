#' Link two waves of a survey without ids
#'
#' Links two waves of a panel without the respondents' ids, as an intruder would, by
#' variables that rarely change. Use it before waves are released separately. With `id`,
#' known only to the file producer, the result has the number and the certainty of correct
#' links; without it, the distances and ties that the intruder sees.
#'
#' @concept record linkage
#' @concept longitudinal data
#'
#' @details
#' For a wave-2 record \eqn{i} and a wave-1 record \eqn{j}, let
#' \deqn{d(i, j) = \#\{v : v \textrm{ observed in both and different}\}}{%
#'   d(i, j) = number of keys observed in both and different,}
#' \eqn{d^*_i}{d*_i} its minimum over all wave-1 records and \eqn{b_i} the
#' number of wave-1 records that attain it, the best matches. The intruder
#' picks one of them; with \eqn{t(i)} the record of the same person, the
#' matching probability is
#' \deqn{p_i = [d(i, t(i)) = d^*_i] / b_i.}{p_i = [d(i, t(i)) = d*_i] / b_i.}
#' The sum of the \eqn{p_i} is the expected number of correct matches, and a
#' match with \eqn{p_i = 1} is certain. A record with \eqn{b_i = 1} has a
#' single best match; the intruder sees that it is single, not whether it is
#' right. `prop_false` is the share of the single best matches that are wrong,
#' over all wave-2 records: those of people who were not in wave 1 are always
#' wrong.
#'
#' The paper counts over respondents of both waves; so do `n_certain`,
#' `prop_certain`, `expected_correct` and `prop_expected`.
#'
#' @section Missing values:
#' A missing value never differs. A wave-1 record with hardly any observed key variable
#' is therefore a best match of nearly everybody: the rule of the paper, kept by
#' default. A handful of such records can hide nearly all correct matches, and an
#' intruder would leave them out. `min_overlap` does so: it asks a pair to share
#' that many observed key variables before it counts as a match at all; a wave-2 record
#' that no wave-1 record can match has `n_diff` missing, `n_best` 0 and matching
#' probability 0. If values are missing, `overlap` holds what linking brings
#' under every `min_overlap`; report the value that brings most, or say which one
#' was taken. It is left out if it would compare more than 2e10 pairs of
#' distinct key patterns; `sensitivity = TRUE` computes it always.
#'
#' A warning of class `sdcRisk_warning_empty_records` tells of records with
#' fewer observed key variables than `min_overlap` (at least one), and of a `min_overlap`
#' that brings over 10% more expected correct matches than the one given.
#'
#' @section Admissible changes: Some keys change as people live on. An entry of `tolerance`
#' defines for one key variable which changes count as agreement:
#' * `age = c(0, 2)`: wave 2 minus wave 1 from 0 to 2, both included, for
#'   numbers, dates (days), times (seconds) and ordered factors (levels up);
#'   `Inf` and `-Inf` leave one side open;
#' * `age = 2`: wave 2 minus wave 1 from -2 to 2;
#' * `status = m`: a logical matrix whose row names are the wave-1 values and
#'   whose column names are the wave-2 values, `TRUE` if the change is
#'   admissible. The diagonal is not implied.
#'
#' With `id`, `rules` counts how many true partners each rule excludes. More than
#' 10% of them are a warning of class `sdcRisk_warning_broken_rules`: the waves
#' may be swapped, or the rule may be too narrow.
#'
#' @inheritSection link_attack Spelling of text
#'
#' @section Tables of a database:
#' `wave1` and `wave2` may both be lazy tables of dbplyr, with `id` of one connection. The
#' patterns of the key variables travel, as for [pattern_table()]; with `id` the engine
#' joins the two, and pairs of patterns of one person travel with their counts. They are
#' spread to records in the core, in one to four bytes a key variable. All numbers are those
#' of the data frames. `records` is `NULL`, and `patterns` has the key variables of wave 2,
#' the number `n` of records and the columns of `records` but `id`: several rows of a
#' pattern whose records have partners at different distances. An error `too_large` tells
#' of more than `max_patterns` patterns, or pairs.
#'
#' @section Pattern tables:
#' Without `id` each wave may be a [pattern_table()] as well, of the key variables or more:
#' what the intruder sees does not depend on who is who. With `id` it is an error: a pattern
#' table does not say which records are one person's.
#'
#' @section Cost:
#' Exact, on distinct key patterns: about patterns of wave 1 times patterns of
#' wave 2, 512 pairs at a time in bits and most of them skipped; with very
#' large files a search whose cost grows with the number of changes instead,
#' whichever an estimate finds cheaper. 63,654 x 80,882 records and 13 key variables
#' take a fraction of a second. If values are missing, `overlap` looks once more at the
#' wave-1 records
#' that miss some, or runs the linkage once for every number of shared key variables,
#' whichever is cheaper; `sensitivity` runs it once more per key variable.
#' `expected_weighted` is a search whose cost grows with the number of changes, too.
#'
#' @section Memory:
#' Beyond the waves, with five key variables and two threads: at most 400 bytes a record of
#' a wave.
#'
#' @param wave1,wave2 Data frames, one row per person; `wave2` is the later
#'   one, whose records are matched.
#' @param key_vars Names of the key variables, columns of both waves, or their positions
#'   in `wave1`; `NULL` for all columns of both waves but `id`. At most 64.
#'   Keys of [candidates()] agree if a value is admissible in both waves.
#'   Values are compared as values; columns whose types, levels or labels
#'   differ between the waves are named in a warning of class
#'   `sdcRisk_warning_waves_differ`.
#' @param id Name of the column that identifies persons in both waves. Records
#'   of equal id are one person's; an id missing in a record is nobody's.
#' @inheritParams sdcRisk-params
#' @param min_overlap Least number of keys observed in both records of a pair
#'   that counts as a match.
#' @param tolerance Admissible changes: a named list, see below.
#' @param sensitivity Whether to link again without each key in turn, and under
#'   every `min_overlap` however long that takes.
#'
#' @return An object of class `sdc_longitudinal_link`, an [sdc_result] with
#' \describe{
#'   \item{`records`}{one row per wave-2 record: `id` (the row number without
#'     `id`), `n_diff` (\eqn{d^*}{d*}), `n_best` (\eqn{b}), `true_diff`
#'     (\eqn{d(i, t(i))}), `match_prob` (\eqn{p}, `NA` without a
#'     partner), `certain` (`FALSE` without a partner; `NA` without `id`)}
#'   \item{`estimates`}{one row: `n_wave1`, `n_wave2`, `n_linked` (wave-2
#'     records with a partner), `prop_linked` (of `n_wave2`), `n_certain`,
#'     `prop_certain`, `expected_correct`, `prop_expected` (of `n_linked`),
#'     `n_single_best`, `n_single_best_wrong`, `prop_false` (of
#'     `n_single_best`), `n_single_best_unlinked` (single best matches of
#'     records without a partner), `expected_weighted` (expected correct matches of
#'     an intruder who weighs key variables, the calibrated one of [link_attack()]; `NA`
#'     without `id`, and if it takes more than a few seconds unless
#'     `sensitivity = TRUE`), `match_prob_max`, `match_prob_q99`,
#'     `match_prob_q95`}
#'   \item{`differences`}{per smallest number of differing key variables: `n_diff`,
#'     `n`, `n_linked`, `n_single_best`, `n_certain`, `expected_correct`}
#'   \item{`sensitivity`}{per key left out: `variable`, `n_certain`,
#'     `expected_correct`, `change` (of the expected correct matches),
#'     `n_single_best`; `NULL` unless asked for}
#'   \item{`overlap`}{per `min_overlap` from 0 to the number of keys: `min_overlap`,
#'     `n_matched` (wave-2 records that any wave-1 record can match),
#'     `n_certain`, `expected_correct`, `n_single_best`; `NULL` if no value is
#'     missing, so that all are the same, or if it would take too long}
#'   \item{`rules`}{per key of `tolerance`: `variable`, `n_compared` (true partners
#'     observed in both waves), `n_excluded`, `prop_excluded`; `NULL` without
#'     `tolerance` or `id`}
#' }
#' `summary(x, by)`, `augment(x, data)` and `autoplot(x, by)` go by the records
#' of `wave2`.
#'
#' Errors: `unknown_key_var` for keys or an id not in both waves; `bad_data`
#' for an empty wave or ids that occur twice; `bad_column` for keys without
#' defined values; `bad_argument`; `too_large` for more than 64 key variables. Warnings
#' `waves_differ`, `empty_records`, `no_common_ids`, `broken_rules`.
#'
#' @references
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate
#' the re-identification risk in longitudinal survey microdata. Joint Statistical
#' Meetings 2021. Section 3.2. Of the 63,654
#' respondents of the 2017 and the 2019 Survey of Doctorate Recipients, 14,673
#' (23%) were matched with certainty on 13 key variables; 23,793 correct matches (37%)
#' were expected.
#' @seealso [link_attack()] for intruders who weigh key variables, [key_stability()] for
#'   the choice of keys, [change_indicators()] for what the links add to a risk
#'   assessment.
#' @export
#' @examples
#' wave1 <- data.frame(
#'   id = 1:5, sex = c("f", "f", "m", "m", "f"), born = c(1950, 1961, 1961, 1983, 1983),
#'   region = c("n", "s", "s", "n", "n")
#' )
#' wave2 <- wave1[c(5, 3, 1), ]
#' wave2$region[1] <- "s"
#' link <- longitudinal_link(wave1, wave2, c("sex", "born", "region"), id = "id")
#' link$records$match_prob # 0.5 1.0 1.0
#' link$estimates$expected_correct # 2.5
longitudinal_link <- function(wave1, wave2, key_vars, id = NULL, ..., min_overlap = 0,
                              tolerance = NULL, sensitivity = FALSE, limit = NULL,
                              max_patterns = 5e6) {
  ask <- enter_waves("longitudinal_link", lazy = TRUE)
  check_given("key_vars")
  check_no_dots(...)
  min_overlap <- check_whole(min_overlap, "min_overlap", low = 0)
  check_flag(sensitivity, "sensitivity")
  limit <- check_record_limit(limit)
  max_patterns <- check_max_patterns(max_patterns)
  with_progress("Linking waves", {
    coded <- code_waves(ask$wave1, ask$wave2, ask$key_vars, id, "key_vars", max_patterns)
    with_limit(link_coded(coded, min_overlap, tolerance, sensitivity, ask$call), limit)
  })
}

# As above for coded waves.
link_coded <- function(coded, min_overlap, tolerance, sensitivity, this_call) {
  if (min_overlap > length(coded$key_vars)) {
    stop_argument(
      "min_overlap", paste("be at most the number of keys,", length(coded$key_vars))
    )
  }
  if (sensitivity && is.null(coded$partners)) {
    stop_argument("sensitivity", "be FALSE if `id` is not given")
  }
  agreements <- code_agreements(coded, coded$waves, tolerance)
  found <- find_links(
    coded, agreements, min_overlap, "estimate", sensitivity,
    changes = !is.null(tolerance) && !is.null(coded$partners)
  )
  rules <- broken_rules(found$changes, coded, tolerance)
  overlap <- link_overlap(found$by_shared, !is.null(coded$partners))
  warn_empty_records(found$n_few, overlap, min_overlap)
  new_longitudinal_link(
    found, coded, min_overlap, tolerance, this_call,
    overlap = overlap, rules = rules, fingerprints = coded$fingerprints
  )
}

# The most work, in nanoseconds of one processor, of the intruder who weighs key
# variables: a moment beside the linkage.
moment_of_work <- 2e9

# `method`: "counters", "walk", or "estimate" for the cheaper one; results are
# the same.
find_links <- function(coded, agreements, min_overlap, method, sensitivity,
                       changes = FALSE) {
  settings <- list(
    min_overlap = min_overlap, method = method, sensitivity = sensitivity,
    # So many pairs are compared in a moment.
    most_pairs = if (sensitivity) Inf else 2e10, changes = changes,
    # If nobody is linked, nobody knows how often keys agree.
    weighted_work = if (!all(is.na(coded$partners))) if (sensitivity) Inf else moment_of_work
  )
  found <- core(rs_link, core_waves(coded, agreements), settings)
  # A sum of nothing is -0 in the core.
  found$score$expected <- found$score$expected + 0
  found$sensitivity$expected <- found$sensitivity$expected + 0
  found$by_shared$expected <- found$by_shared$expected + 0
  found$weighted <- found$weighted + 0
  found
}

# Links by the least number of shared keys.
link_overlap <- function(by_shared, has_ids) {
  n <- length(by_shared$n_matched)
  if (n == 0) {
    return(NULL)
  }
  known <- function(x) if (has_ids) x else x[NA_integer_][rep(1, n)]
  frame(
    min_overlap = seq_len(n) - 1L, n_matched = as.integer(by_shared$n_matched),
    n_certain = known(as.integer(by_shared$n_certain)),
    expected_correct = known(by_shared$expected),
    n_single_best = as.integer(by_shared$n_single_best)
  )
}

# The row of `overlap` with most expected correct matches, and whether these are
# clearly more than under the `min_overlap` given; NULL where that is not known.
best_overlap <- function(overlap, min_overlap) {
  if (is.null(overlap) || anyNA(overlap$expected_correct)) {
    return(NULL)
  }
  best <- overlap[which.max(overlap$expected_correct), ]
  given <- overlap$expected_correct[[min_overlap + 1]]
  list(
    min_overlap = best$min_overlap, expected = best$expected_correct, given = given,
    more = best$expected_correct > 1.1 * given
  )
}

warn_empty_records <- function(n_few, overlap, min_overlap) {
  best <- best_overlap(overlap, min_overlap)
  hidden <- isTRUE(best$more)
  if (all(n_few == 0) && !hidden) {
    return(invisible())
  }
  least <- max(min_overlap, 1)
  warn_sdc(
    "empty_records",
    if (hidden) {
      "Records with few observed key variables should not hide the matches of others."
    } else {
      paste0("Records should have at least ", plural(least, "observed key variable"), ".")
    },
    if (any(n_few > 0)) {
      c(x = paste0(
        "Fewer than ", plural(least, "observed key variable"), ": ", plural(n_few[[1]], "record"),
        " of wave 1, ", format_count(n_few[[2]]), " of wave 2."
      ))
    },
    if (hidden) {
      c(x = paste0(
        "Expected correct matches: ", format_one_digit(best$given), " under `min_overlap = ",
        min_overlap, "`, ", format_one_digit(best$expected), " under `min_overlap = ",
        best$min_overlap, "`."
      ))
    },
    i = empty_records_advice(best, overlap, min_overlap),
    min_overlap = best$min_overlap, expected_correct = best$expected
  )
}

empty_records_advice <- function(best, overlap, min_overlap) {
  if (isTRUE(best$more)) {
    return(paste0(
      "Missing never differs: a record with few observed key variables is a best match of many. ",
      "An intruder gets most with `min_overlap = ", best$min_overlap, "`; `overlap` of the ",
      "result has all values."
    ))
  }
  if (min_overlap > 0) {
    return("Under `min_overlap` they match nobody.")
  }
  paste(
    "Missing never differs: without any observed key variable a record is equally near to all.",
    if (is.null(overlap)) {
      paste(
        "`min_overlap` leaves such records out; `sensitivity = TRUE` compares its values,",
        "as `overlap` of the result."
      )
    } else if (is.null(best)) {
      "`min_overlap` leaves such records out; `overlap` of the result compares its values."
    } else {
      "No `min_overlap` brings clearly more correct matches: see `overlap` of the result."
    }
  )
}

new_longitudinal_link <- function(found, coded, min_overlap, tolerance, this_call, ...,
                                  fingerprints) {
  has_ids <- !is.null(coded$partners)
  linked <- if (has_ids) !is.na(coded$partners) else logical(length(found$n_best))
  prob <- ifelse(found$is_best, 1 / found$n_best, 0)
  prob[!linked] <- NA_real_
  certain <- if (has_ids) found$is_best & found$n_best == 1L else rep(NA, length(prob))
  records <- frame(
    id = coded$ids, n_diff = found$n_diff, n_best = found$n_best,
    true_diff = found$true_diff, match_prob = prob, certain = certain
  )
  judged <- by_wave_pattern(records, coded)
  result <- new_sdc_result(
    "sdc_longitudinal_link",
    estimates = link_estimates(found, records, linked, has_ids, coded$n[["wave1"]]),
    records = judged$records,
    settings = list(
      key_vars = coded$key_vars, id = coded$id, min_overlap = min_overlap, tolerance = tolerance,
      missing = "wildcard", candidates = TRUE, n = coded$n[["wave2"]],
      fingerprint = coded$own_fingerprint,
      wave_fingerprints = fingerprints,
      version = own_version()
    ),
    diagnostics = list(
      method = found$method, n_patterns = found$n_patterns, n_few_observed = found$n_few,
      n_missing_id = coded$n_missing_id, n_keys = length(coded$key_vars)
    ),
    call = this_call,
    differences = link_differences(records, linked, has_ids),
    sensitivity = link_sensitivity(found, coded$key_vars), ...
  )
  result$patterns <- judged$patterns
  result
}

link_estimates <- function(found, records, linked, has_ids, n_wave1) {
  n_linked <- sum(linked)
  known <- function(x) if (has_ids) x else x[NA_integer_]
  share <- function(x, of) if (of > 0) x / of else NA_real_
  single <- found$score$n_single_best
  certain <- found$score$n_certain
  prob <- records$match_prob[linked]
  high <- if (n_linked > 0) quantile_over(prob, c(0.99, 0.95), NULL) else c(NA_real_, NA_real_)
  frame(
    n_wave1 = n_wave1, n_wave2 = nrow(records),
    n_linked = known(n_linked), prop_linked = known(n_linked / nrow(records)),
    n_certain = known(as.integer(certain)), prop_certain = known(share(certain, n_linked)),
    expected_correct = known(found$score$expected),
    prop_expected = known(share(found$score$expected, n_linked)),
    n_single_best = as.integer(single),
    n_single_best_wrong = known(as.integer(single - certain)),
    prop_false = known(share(single - certain, single)),
    n_single_best_unlinked = known(sum(records$n_best == 1L & !linked)),
    expected_weighted = found$weighted,
    match_prob_max = if (n_linked > 0) max(prob) else NA_real_,
    match_prob_q99 = high[[1]], match_prob_q95 = high[[2]]
  )
}

# Links as the intruder sees them, by the smallest number of differing keys.
link_differences <- function(records, linked, has_ids) {
  values <- sort(unique(records$n_diff), na.last = TRUE)
  of <- match(records$n_diff, values)
  total <- function(x) as.integer(tabulate(of[x], length(values)))
  known <- function(x) if (has_ids) x else rep(x[NA_integer_], length(values))
  expected <- vapply(seq_along(values), function(v) {
    sum(sort(records$match_prob[of == v & linked]))
  }, 0)
  frame(
    n_diff = values, n = total(TRUE), n_linked = known(total(linked)),
    n_single_best = total(records$n_best == 1L),
    n_certain = known(total(records$certain %in% TRUE)),
    expected_correct = known(expected)
  )
}

link_sensitivity <- function(found, key_vars) {
  without <- found$sensitivity
  if (length(without$expected)) frame(
    variable = key_vars, n_certain = as.integer(without$n_certain),
    expected_correct = without$expected,
    change = without$expected - found$score$expected,
    n_single_best = as.integer(without$n_single_best)
  )
}
