#' Remove the riskiest records and follow the extreme risk
#'
#' Removes `n` records one after the other, or in blocks, in an order of your choice. Use it to
#' see how much removal reduces the risk. The result has the extreme risk of the reduced file
#' after every block, with threshold, shape of the tail and empirical quantile.
#'
#' @details
#' Orders that look at the file as it then is, recomputed after every block:
#' \describe{
#'   \item{`"top_count"`}{the number of key sets on which a record is unique,
#'     among the share `top` of key sets of highest risk (ties between key sets
#'     in the order of [combn()]). The default: it lowered the threshold, the
#'     empirical quantile and \eqn{T} together on all files we tried}
#'   \item{`"u_plus_updated"`}{\eqn{U^+}{U+} of [risk_contribution()]}
#'   \item{`"proper"`}{the largest contribution to \eqn{T} (contributions
#'     within 1e-15 of each other are ties). One record at a time it games the
#'     fit, see below; in blocks of ten it did not, and lowered \eqn{T} most on
#'     three of the four files we tried}
#' }
#' Orders that rank once on the original file: `"contribution"`, `"u_plus"`,
#' `"u_star"`, `"entropy"`, `"surprisal"` (all from [risk_contribution()]);
#' `"pls"`, a prediction of the contribution from the record's own values;
#' `"filtered_entropy"`, the entropy if that prediction says that removing
#' the record lowers the risk, else 0; `"random"`, which a useful order must
#' beat. Ties go to the lowest row number, everywhere; contributions within 1e-15
#' of each other are ties.
#'
#' Risks after removal are exact: those of [qar_risk()] on the reduced file.
#'
#' @section When T falls for the wrong reason: Backward elimination by contribution looks
#' optimal and is not. \eqn{T} is extrapolated from a threshold \eqn{u} by a fitted tail,
#' and an order that maximises its fall learns to raise \eqn{u}, which lowers the excesses
#' and moves the fit, while the risky key sets stay as they are. The empirical \eqn{1 -
#' \alpha}{1 - alpha} quantile of the risks needs no fit. The print warns, and
#' `diagnostics$fit_moved` is `TRUE`, if \eqn{T} fell and this quantile rose, or fell by
#' less than half as much (both in per cent of their first values); the threshold or the
#' shape account for the rest.
#'
#' @section PLS:
#' Partial least squares regression (package pls) of the response on one
#' column per key variable: the code of an ordered key (missing lowest), the
#' surprisal of the category of a nominal one, all scaled. The response is
#' whether the contribution is positive, or the contribution itself. A random
#' 75% of the records train the model (`set.seed()` governs), all are ranked
#' by its prediction. `diagnostics$pls` holds the coefficient of determination
#' and the area under the ROC curve for the sign of the contribution, in the
#' training and in the test records. A record is predicted to lower the risk
#' if the prediction exceeds the mean response of the training records
#' (`pls_response = "sign"`) or 0 (`"contribution"`).
#'
#' @section Cost:
#' An order fixed beforehand costs two or three counts of all key sets,
#' whatever `n`. The others update classes: about `n` times records times key
#' sets / 64 steps, and for `"proper"` one evaluation of the tail per distinct
#' pattern of uniqueness and block. They take 4 bytes per record and key set
#' that can matter. Beyond `max_memory` the file is counted anew after every
#' block, up to 200 blocks; smaller blocks are then an error of class
#' `sdcRisk_error_too_large` that names a possible `block`.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 70 bytes a record, an
#' order fixed beforehand; the others up to `max_memory`.
#'
#' @param x A result of [qar_risk()].
#' @param data The data `x` was made from.
#' @param n How many records to remove, fewer than there are.
#' @param by The order, see Details.
#' @inheritParams sdcRisk-params
#' @param ... Rarely used arguments, those of `removal_path_control()`, by their full names, or
#'   together: `control = removal_path_control(...)`.
#' @param block Records removed before the risk is looked at again.
#' @param top Share of key sets that `"top_count"` looks at.
#' @param n_sim Random orders drawn for `"random"`.
#' @param pls_response,pls_degree,pls_ncomp The model of `"pls"` and
#'   `"filtered_entropy"`: response `"sign"` or `"contribution"`; degree 1, or 2
#'   for squares and products as well; number of components.
#' @param max_memory Bytes that the incremental scheme may take.
#'
#' @return An object of class `sdc_removal_path`, an [sdc_result] with
#' \describe{
#'   \item{`path`}{one row per removed record in order of removal: `step`
#'     (number of the block), `record` (row number in `data`), `risk`
#'     (\eqn{T} after the whole block), `reduction` (share of the initial risk
#'     removed so far), `threshold`, `shape`, `risk_empirical`; for `"random"`,
#'     which shows its first draw, also `risk_mean`, `risk_low` and `risk_high`,
#'     the mean and the range of all draws. This is `as.data.frame()`}
#'   \item{`estimates`}{one row: `p`, `alpha`, `by`, `n_removed`,
#'     `prop_removed`, `risk_before`, `risk`, `reduction`, `best_reduction` and
#'     `best_n` (the largest reduction on the way and after how many records),
#'     and threshold, shape and empirical quantile before and after}
#'   \item{`records`}{`removal_step`: the block each record goes with, `NA` for
#'     records that stay}
#'   \item{`diagnostics`}{`fit_moved`; `draws` of `"random"`; of `"pls"` and `"filtered_entropy"`
#'     `pls`, how well positive contributions were predicted in training and test records (\eqn{R^2}
#'     and area under the curve), and `roc`, the curve: `sample`, `false_positive`,
#'     `true_positive`; `n_kept` key sets followed; `left_out`, with
#'     `theta_one = "exclude"`: key sets that identify every record, before and after}
#' }
#' Removing more than 20% of the records is worth a message of class
#' `sdcRisk_message_many_removed`. Errors as for [risk_contribution()].
#' @inherit qar_risk references
#' @family extreme risk
#' @seealso [compare_risk()] draws several paths in one picture.
#' @export
#' @examples
#' some <- adult[1:2000, ]
#' risk <- qar_risk(some, pi_u = 0.1)
#' path <- removal_path(risk, some, n = 100)
#' path
#' tail(as.data.frame(path), 1)$reduction
removal_path <- function(x, data, n, by = c(
                           "top_count", "u_plus_updated", "u_plus", "u_star",
                           "contribution", "proper", "entropy", "filtered_entropy",
                           "surprisal", "pls", "random"
                         ),
                         ..., block = 1, top = 0.1, p = NULL, alpha = NULL, n_sim = 20) {
  ask <- announce("removal_path")
  check_given(c("x", "data", "n"))
  data <- bare_data(data)
  remember(ask)
  check_no_dots(...)
  n <- check_removals(n, NROW(data))
  by <- check_choice(by, names(removal_orders), "by")
  plan <- list(
    n = n, by = by, block = check_whole(block, "block"),
    top = check_number(top, "top", "be one number above 0 and at most 1", top > 0 && top <= 1),
    n_sim = check_whole(n_sim, "n_sim", high = 10000),
    max_memory = check_memory(ask$max_memory)
  )
  model <- list(
    response = check_choice(ask$pls_response, c("sign", "contribution"), "pls_response"),
    degree = check_whole(ask$pls_degree, "pls_degree", high = 2),
    ncomp = check_whole(ask$pls_ncomp, "pls_ncomp")
  )
  chosen <- choose_analysis(x, p, alpha, ask$max_sets)
  if (by %in% c("pls", "filtered_entropy")) {
    check_installed("pls", "predict contributions by partial least squares")
  }
  with_progress("Removing records", {
    coded <- code_again(x, data)
    check_fewer(n, coded$table$n)
    found <- if (by %in% adaptive_orders) {
      list(paths = list(adaptive_path(coded, chosen, x$settings, plan)))
    } else {
      fixed_paths(coded, chosen, x$settings, plan, model)
    }
    result <- new_removal_path(found, x, chosen, coded, plan, model, ask$call)
    signal_removal(result)
    result
  })
}

#' @rdname removal_path
#' @export
removal_path_control <- function(pls_response = c("sign", "contribution"), pls_degree = 1,
                                 pls_ncomp = 3, max_memory = 2e9, max_sets = 5e6, ...) {
  new_control("removal_path_control")
}

# The orders, in words that follow "removing n records".
removal_orders <- c(
  top_count = "by their current uniqueness on the riskiest key sets",
  u_plus_updated = "by their current U+",
  u_plus = "by their initial U+",
  u_star = "by their initial U*",
  contribution = "by their initial contribution",
  proper = "by their current contribution, that is by proper backward elimination,",
  entropy = "by their entropy",
  filtered_entropy = "by their entropy if PLS predicts a fall",
  surprisal = "by the surprisal of their categories",
  pls = "by the contribution that PLS predicts",
  random = "at random"
)
adaptive_orders <- c("top_count", "u_plus_updated", "proper")

check_memory <- function(x) {
  check_number(x, "max_memory", "be one number of bytes, 0 or more", x >= 0 && x <= 2^50)
}

check_fewer <- function(n, n_records) {
  if (any(n >= n_records)) {
    stop_argument(
      "n", paste0("be less than the number of records in use (", format_count(n_records), ")"),
      found = paste0("It is ", format_count(max(n)), ".")
    )
  }
}

adaptive_path <- function(coded, chosen, settings, plan) {
  n_sets <- choose(length(coded$table$keys), chosen$p)
  # A product such as 0.1 * 30 may lie just above the whole number it means.
  n_top <- as.integer(max(1, ceiling(plan$top * n_sets - 1e-9)))
  core(rs_adaptive_path, coded$table$pointer, tail_settings(
    chosen, settings,
    by = plan$by, n_top = n_top, n = plan$n, block = plan$block, max_memory = plan$max_memory
  ))
}

# Paths in orders known beforehand: one, or as many as there are random draws.
fixed_paths <- function(coded, chosen, settings, plan, model) {
  ranked <- if (plan$by == "random") {
    list(orders = with_drawn_seed(
      replicate(plan$n_sim, sample.int(coded$table$n, plan$n), simplify = FALSE)
    ))
  } else {
    rank_records(coded, chosen, settings, plan, model)
  }
  list(
    paths = core(
      rs_fixed_paths, coded$table$pointer,
      tail_settings(chosen, settings, orders = ranked$orders, block = plan$block)
    ),
    pls = ranked$pls, roc = ranked$roc
  )
}

# Records in use by a metric of the original file, largest first, ties by row.
rank_records <- function(coded, chosen, settings, plan, model) {
  with_entropy <- plan$by %in% c("entropy", "filtered_entropy")
  found <- find_contributions(coded, chosen, settings, with_entropy)
  fit <- NULL
  score <- if (plan$by %in% c("pls", "filtered_entropy")) {
    fit <- with_drawn_seed(predict_contribution(found$contribution, coded, model))
    if (plan$by == "pls") fit$predicted else found$entropy * fit$lowers
  } else if (plan$by == "contribution") {
    known <- !is.na(found$contribution)
    ranks <- rep(NA_integer_, length(known))
    ranks[known] <- rank_falling(found$contribution[known])
    -ranks
  } else {
    found[[plan$by]]
  }
  list(
    orders = list(utils::head(order(-score, na.last = TRUE), plan$n)),
    pls = fit$quality, roc = fit$roc
  )
}

new_removal_path <- function(found, x, chosen, coded, plan, model, this_call) {
  first <- found$paths[[1]]
  n_used <- coded$table$n
  of_record <- (seq_len(plan$n) - 1L) %/% plan$block + 1L
  rows <- if (is.null(coded$rows)) first$rows else coded$rows[first$rows]
  before <- first$before$risk
  after <- lapply(first$after, function(column) column[of_record])
  path <- frame(
    step = of_record, record = rows, risk = after$risk, reduction = 1 - after$risk / before,
    threshold = after$threshold, shape = after$shape, risk_empirical = after$risk_empirical
  )
  all_draws <- if (plan$by == "random") draw_frame(found$paths, plan)
  if (!is.null(all_draws)) path <- add_band(path, all_draws)
  removal_step <- rep(NA_integer_, coded$n)
  removal_step[rows] <- of_record
  settings <- x$settings
  estimates <- path_estimates(path, first, chosen, plan, n_used)
  new_sdc_result(
    "sdc_removal_path",
    estimates = estimates, records = frame(removal_step = removal_step),
    settings = c(
      settings[c("key_vars", "key_groups")], chosen[c("p", "alpha")],
      settings[c("pi_u", "missing", "pwm", "theta_one", "n", "fingerprint", "version")],
      plan[c("by", "block")],
      if (plan$by == "top_count") plan["top"],
      if (!is.null(found$pls)) list(pls = model)
    ),
    diagnostics = list(
      fit_moved = fit_moved(estimates), draws = all_draws, pls = found$pls, roc = found$roc,
      n_kept = as.integer(first$n_kept), status = utils::tail(first$after$status, 1),
      n_excluded = coded$n - n_used, n_keys = length(coded$table$keys),
      identifying = identifying_of(x, chosen$p), left_out = sets_left_out(first, chosen, coded, x)
    ),
    call = this_call, path = path
  )
}

# Key sets left out before and after, as they identify every record.
sets_left_out <- function(first, chosen, coded, x) {
  if (x$settings$theta_one != "exclude") {
    return(NULL)
  }
  n_used <- c(before = first$before$n_sets, after = utils::tail(first$after$n_sets, 1))
  choose(length(coded$table$keys), chosen$p) - n_used
}

path_estimates <- function(path, first, chosen, plan, n_used) {
  last <- path[nrow(path), ]
  # The first of those that differ by rounding only.
  most <- if (all(is.na(path$reduction))) NA_real_ else max(path$reduction, na.rm = TRUE)
  best <- which(path$reduction >= most - tie_width)[1]
  # A block counts as a whole.
  best_n <- if (is.na(best)) NA_integer_ else sum(path$step <= path$step[[best]])
  frame(
    p = chosen$p, alpha = chosen$alpha, by = plan$by, n_removed = plan$n,
    prop_removed = plan$n / n_used, risk_before = first$before$risk, risk = last$risk,
    reduction = last$reduction,
    best_reduction = if (is.na(best)) NA_real_ else path$reduction[[best]], best_n = best_n,
    threshold_before = first$before$threshold, threshold = last$threshold,
    shape_before = first$before$shape, shape = last$shape,
    risk_empirical_before = first$before$risk_empirical,
    risk_empirical = last$risk_empirical, n_records = n_used
  )
}

# TRUE if T fell because the fit moved, not because the risks of the riskiest
# key sets fell: see the section of the help page.
fit_moved <- function(estimates) {
  of_risk <- 1 - estimates$risk / estimates$risk_before
  of_quantile <- 1 - estimates$risk_empirical / estimates$risk_empirical_before
  isTRUE(of_risk > 0 && of_quantile < of_risk / 2)
}

# Every draw of a random order, one row per draw and block.
draw_frame <- function(paths, plan) {
  parts <- lapply(seq_along(paths), function(i) {
    after <- paths[[i]]$after
    step <- seq_along(after$risk)
    frame(
      draw = rep(i, length(step)), step = step,
      n_removed = pmin(step * plan$block, plan$n), risk = after$risk,
      reduction = 1 - after$risk / paths[[i]]$before$risk
    )
  })
  do.call(rbind, parts)
}

add_band <- function(path, draws) {
  by_step <- matrix(draws$risk, ncol = max(draws$draw))
  path$risk_mean <- rowMeans(by_step)[path$step]
  path$risk_low <- apply(by_step, 1, min)[path$step]
  path$risk_high <- apply(by_step, 1, max)[path$step]
  path
}

signal_removal <- function(x) {
  estimates <- x$estimates
  if (estimates$prop_removed > 0.2) {
    inform_sdc(
      "many_removed",
      paste0(
        format_percent(estimates$prop_removed), " of the records are removed; more than ",
        "20% leave a file of little use."
      ),
      i = "Recoding key variables usually costs less information.",
      n = estimates$n_removed
    )
  }
}
