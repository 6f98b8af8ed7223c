#' Contribution of each record to the extreme risk
#'
#' Computes the change of the extreme risk \eqn{T} if a record alone is removed, exactly and for
#' all records at once. Use it to find the records that make the file risky. The result also has
#' cheaper scores by which records can be ranked.
#'
#' @concept SUDA
#' @concept special uniques
#'
#' @details
#' With \eqn{\hat T(p, \alpha)}{T(p, alpha)} the extreme risk of the file ([qar_risk()]) and
#' \eqn{\hat T(p, \alpha : i)}{T(p, alpha : i)} that of the file without record \eqn{i},
#' \deqn{DT(i) = \hat T(p, \alpha) - \hat T(p, \alpha : i).}{%
#'   DT(i) = T(p, alpha) - T(p, alpha : i).}
#' A positive value means that removing the record lowers the risk. Let
#' \eqn{U(i, j) = 1} if record \eqn{i} is unique on key set \eqn{j}. Without
#' record \eqn{i} the risk of key set \eqn{j} is
#' \deqn{\theta(j : i) = \frac{H(j) - U(i, j)}{L - 1}:}{%
#'   theta(j : i) = (H(j) - U(i, j)) / (L - 1):}
#' it falls if the record is unique and rises if it is not. Companions
#' are
#' \deqn{U^+(i) = \sum_j U(i, j)\,\theta(j), \quad
#'   U^*(i) = \sum_j U(i, j)\,(1 - \theta(j)),}{%
#'   U+(i) = sum_j U(i, j) theta(j), U*(i) = sum_j U(i, j) (1 - theta(j)),}
#' the number of key sets on which a record is unique, and its surprisal: the
#' mean over key variables of \eqn{-\ln} of the share of records in its own
#' category, which needs no key set at all. Surprisals and entropies that are equal
#' but for rounding are made equal; contributions stay as they are computed, and
#' count as ties within 1e-15 wherever they are ranked.
#'
#' The authors of the method call exact contributions too expensive. They are
#' not: only key sets near or above the threshold can matter, and records with
#' the same uniqueness on these have the same contribution. Values equal those
#' of [qar_risk()] on the data without the record.
#'
#' @section Why two clusters:
#' Drawn against \eqn{U^+}{U+}, contributions fall into two clusters, an open
#' question of the paper. They are the records unique and not unique on one
#' key set, the one whose risk sets the threshold \eqn{u}: removing a record
#' that is unique there lowers \eqn{u}, and the excesses over \eqn{u} grow.
#' `autoplot(x, "u_plus")` colours them. The clusters belong to the threshold,
#' not to the records: another `pi_u` gives others.
#'
#' @section Entropy:
#' Let \eqn{F(i, j)} be the share of records that are at most record \eqn{i} on
#' every variable of key set \eqn{j}, and \eqn{G(i, j)} the share of records
#' \eqn{r} with \eqn{F(r, j) \le F(i, j)}. The entropy of a record is
#' \eqn{-\sum_m p_m \ln p_m}{-sum(p_m ln p_m)} over \eqn{M} intervals of equal
#' width, \eqn{p_m} being the share of key sets with \eqn{G(i, j)} in interval
#' \eqn{m}. The paper leaves open what we fix so: \eqn{M} is the whole part of
#' \eqn{\sqrt{N_p}}{sqrt(N_p)}, intervals are closed on the left and the last
#' one on both sides, logarithms are natural, and a missing value lies below
#' all values. All key variables must be ordinal: ordered factors, numbers, Dates. The
#' paper finds that entropy does not indicate contributions; it is here to
#' repeat that.
#'
#' @section Cost:
#' That of [qar_risk()] twice: one count of all key sets and one walk to see
#' who is unique, each about key sets times records. Memory grows by 30
#' bytes a record and one bit per record and key set near the threshold; with
#' entropy 4 bytes per record and interval, and 4 bytes per key of the largest
#' table of levels and thread.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 150 bytes a record.
#'
#' @param x A result of [qar_risk()].
#' @param data The data `x` was made from.
#' @inheritParams sdcRisk-params
#' @param entropy Whether to compute the entropy of every record.
#'
#' @return An object of class `sdc_risk_contribution`, an [sdc_result] with
#' \describe{
#'   \item{`records`}{one row per record of `data`: `contribution`
#'     (\eqn{DT}), `u_plus`, `u_star`, `n_unique_sets`, `surprisal`, `entropy`
#'     if asked for, and `unique_at_threshold` (whether the record is unique
#'     on the key set that sets the threshold). Records that `x` excluded for
#'     missing values have `NA`}
#'   \item{`estimates`}{one row: `p`, `alpha`, `risk` (\eqn{\hat T}{T}),
#'     `contribution_max`, `contribution_q99`, `contribution_q95`,
#'     `prop_positive` (share of records whose removal lowers the risk, by more
#'     than the 1e-15 that rounding makes),
#'     `prop_never_unique` (share of records unique on no key set),
#'     `n_records`, `n_sets`, `status`}
#'   \item{`diagnostics`}{`threshold_sets`: the two key sets around the
#'     threshold and their weights; `n_candidates` key sets that can matter,
#'     `n_patterns` distinct patterns of uniqueness on them; `identifying`: the
#'     row of that of `x` about key sets that identify every record}
#' }
#' `summary()` adds the Pearson and Kendall correlations of the metrics, and how
#' much of the contribution \eqn{U^+}{U+} explains before and after the
#' threshold key set is known.
#'
#' Errors: `mismatched_data` if `data` is not what `x` was made from,
#' `ambiguous_analysis` if `x` holds several analyses and none is chosen,
#' `bad_column` if entropy is asked for and a key is nominal, `too_large`
#' if its tables would not fit.
#' @inherit qar_risk references
#' @family extreme risk
#' @export
#' @examples
#' risk <- qar_risk(adult, pi_u = 0.1)
#' contribution <- risk_contribution(risk, adult)
#' contribution
#' summary(contribution)$correlations
risk_contribution <- function(x, data, ..., p = NULL, alpha = NULL, entropy = FALSE,
                              max_sets = 5e6) {
  ask <- announce("risk_contribution")
  check_given(c("x", "data"))
  data <- bare_data(data)
  remember(ask)
  check_no_dots(...)
  check_flag(entropy, "entropy")
  chosen <- choose_analysis(x, p, alpha, max_sets)
  with_progress("Contributions of records", {
    coded <- code_again(x, data)
    found <- find_contributions(coded, chosen, x$settings, entropy)
    new_risk_contribution(found, x, chosen, coded, entropy, ask$call)
  })
}

# Contributions and companions of the records in use.
find_contributions <- function(coded, chosen, settings, entropy) {
  if (entropy) {
    nominal <- names(coded$ordered)[!coded$ordered]
    if (length(nominal)) {
      stop_sdc(
        "bad_column", "The entropy needs key variables whose values have an order.",
        x = paste0("Nominal: ", quote_names(nominal), "."),
        i = "Make ordered factors of them if that is meant, or do without the entropy.",
        columns = nominal
      )
    }
  }
  core(
    rs_risk_contribution, coded$table$pointer, tail_settings(chosen, settings, entropy = entropy)
  )
}

# The one analysis of a qar_risk() result that is meant.
choose_analysis <- function(x, p, alpha, max_sets) {
  max_sets <- check_whole(max_sets, "max_sets")
  if (!inherits(x, "sdc_qar_risk")) stop_argument("x", "be a result of `qar_risk()`")
  check_result(x)
  estimates <- x$estimates
  if (!is.null(p)) {
    p <- check_whole(p, "p")
    estimates <- estimates[estimates$p == p, ]
  }
  if (!is.null(alpha)) {
    alpha <- check_probability(alpha, "alpha")
    estimates <- estimates[abs(estimates$alpha - alpha) < 1e-12, ]
  }
  held <- function() {
    of <- unique(x$estimates[c("p", "alpha")])
    words <- paste0("p = ", of$p, ", alpha = ", format_number(of$alpha))
    paste(utils::head(words, 5), collapse = "; ")
  }
  if (nrow(estimates) == 0) {
    stop_argument(
      if (is.null(p)) "alpha" else "p", "be that of an analysis in `x`",
      found = paste0("`x` holds ", held(), ".")
    )
  }
  if (nrow(estimates) > 1) {
    stop_sdc(
      "ambiguous_analysis", "One analysis of `x` must be chosen.",
      x = paste0("It holds ", held(), "."),
      i = "Give `p` and `alpha`."
    )
  }
  list(p = estimates$p, alpha = estimates$alpha, max_sets = max_sets)
}

# Settings of an analysis of `qar_risk()` for further calls of the core.
tail_settings <- function(chosen, settings, ...) {
  c(chosen, settings[c("pi_u", "pwm", "theta_one")], list(...))
}

# The key table `x` was computed from, and which records it holds (`rows`,
# NULL for all). Other data are refused.
code_again <- function(x, data) {
  table <- tryCatch(
    code_as(data, x$settings, listwise = x$settings$missing == "exclude", merged = TRUE),
    sdcRisk_error = function(e) NULL
  )
  if (is.null(table) || !identical(table$fingerprint, x$settings$fingerprint)) {
    stop_mismatched()
  }
  ordered <- vapply(table$keys, function(v) length(v) == 1 && table$ordered[v], NA)
  list(table = table, rows = table$rows, ordered = ordered, n = table$n_all)
}

new_risk_contribution <- function(found, x, chosen, coded, entropy, this_call) {
  # The threshold lies between two key sets; the nearer one moves it more.
  upper <- found$upper_weight >= 0.5
  columns <- list(
    contribution = found$contribution, u_plus = found$u_plus, u_star = found$u_star,
    n_unique_sets = found$n_unique_sets, surprisal = found$surprisal,
    entropy = if (entropy) found$entropy,
    unique_at_threshold = if (upper) found$unique_upper else found$unique_lower
  )
  columns <- columns[lengths(columns) > 0]
  n_used <- length(found$u_plus)
  settings <- x$settings
  new_sdc_result(
    "sdc_risk_contribution",
    estimates = contribution_estimates(found, chosen, n_used),
    records = do.call(frame, lapply(columns, spread_records, coded$rows, coded$n)),
    settings = c(
      settings[c("key_vars", "key_groups")], chosen[c("p", "alpha")],
      settings[c("pi_u", "missing", "pwm", "theta_one", "n", "fingerprint", "version")],
      entropy = entropy
    ),
    diagnostics = list(
      threshold_sets = frame(
        key_set = vapply(
          list(found$lower, found$upper),
          function(v) paste(names(coded$table$keys)[v], collapse = " + "), ""
        ),
        order_statistic = c("lower", "upper"),
        weight = c(1 - found$upper_weight, found$upper_weight),
        n_distinct = found$threshold_distinct,
        shown = c(!upper, upper)
      ),
      threshold = found$whole$threshold,
      n_candidates = as.integer(found$n_candidates),
      n_patterns = as.integer(found$n_patterns),
      n_excluded = coded$n - n_used, n_keys = length(coded$table$keys),
      identifying = identifying_of(x, chosen$p)
    ),
    call = this_call
  )
}

# Contributions closer than this are ties, and one this small is none: rounding
# of two extreme risks alone makes a difference of about 1e-16.
tie_width <- 1e-15

# Ranks of values, the largest first, ties within the width sharing one.
rank_falling <- function(x, width = tie_width) {
  order <- order(-x)
  rank <- integer(length(x))
  rank[order] <- cumsum(c(TRUE, -diff(x[order]) > width))[seq_along(x)]
  rank
}

contribution_estimates <- function(found, chosen, n_used) {
  contribution <- found$contribution[!is.na(found$contribution)]
  known <- length(contribution) > 0
  at <- function(probability) {
    if (known) stats::quantile(contribution, probability, names = FALSE, type = 8) else NA_real_
  }
  frame(
    p = chosen$p, alpha = chosen$alpha, risk = found$whole$risk,
    contribution_max = if (known) max(contribution) else NA_real_,
    contribution_q99 = at(0.99), contribution_q95 = at(0.95),
    prop_positive = if (known) mean(contribution > tie_width) else NA_real_,
    prop_never_unique = mean(found$n_unique_sets == 0),
    n_records = n_used, n_sets = as.integer(found$n_sets), status = found$whole$status
  )
}

# One value per record of the data from values of the records in use.
spread_records <- function(values, rows, n) {
  if (is.null(rows)) {
    return(values)
  }
  all <- rep(values[NA_integer_], n)
  all[rows] <- values
  all
}
