#' What every record contributes to the extreme risk
#'
#' Which records make the file risky? The contribution of a record is the
#' change of the extreme risk \eqn{T} when that record alone is removed. It is
#' computed exactly, for all records at once, with cheaper companions by which
#' records can be ranked.
#'
#' @details
#' With \eqn{\hat T(p, \alpha)}{T(p, alpha)} the extreme risk of the file ([qar_risk()]) and
#' \eqn{\hat T(p, \alpha : i)}{T(p, alpha : i)} that of the file without record \eqn{i},
#' \deqn{DT(i) = \hat T(p, \alpha) - \hat T(p, \alpha : i).}{%
#'   DT(i) = T(p, alpha) - T(p, alpha : i).}
#' A positive value means that removing the record lowers the risk. Let
#' \eqn{U(i, j) = 1} where record \eqn{i} is unique on key set \eqn{j}. Without
#' record \eqn{i} the risk of key set \eqn{j} is
#' \deqn{\theta(j : i) = \frac{H(j) - U(i, j)}{L - 1}:}{%
#'   theta(j : i) = (H(j) - U(i, j)) / (L - 1):}
#' it falls where the record is unique and rises where it is not. Companions
#' are
#' \deqn{U^+(i) = \sum_j U(i, j)\,\theta(j), \quad
#'   U^*(i) = \sum_j U(i, j)\,(1 - \theta(j)),}{%
#'   U+(i) = sum_j U(i, j) theta(j), U*(i) = sum_j U(i, j) (1 - theta(j)),}
#' the number of key sets on which a record is unique, and its surprisal: the
#' mean over key variables of \eqn{-\ln} of the share of records in its own
#' category, which needs no key set at all.
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
#' all values. All keys must be ordinal: ordered factors, numbers, Dates. The
#' paper finds that entropy does not indicate contributions; it is here to
#' repeat that.
#'
#' @section Cost:
#' That of [qar_risk()] twice: one count of all key sets and one walk to see
#' who is unique, each about key sets times records. Memory beyond `data`: 30
#' bytes a record and one bit per record and key set near the threshold; with
#' entropy 4 bytes per record and interval, and 4 bytes per cell of the largest
#' table of levels and thread.
#'
#' @param x A result of [qar_risk()].
#' @param data The data `x` was made from.
#' @param ... None: what follows is given by its full name.
#' @param p,alpha Which analysis, where `x` holds several.
#' @param entropy Whether to compute the entropy of every record.
#' @param max_sets More key sets than this are an error of class
#'   `sdcRisk_error_too_large`: here all key sets count, also where `x` sampled
#'   them.
#'
#' @return An object of class `sdc_risk_contribution`, an [sdc_result] with
#' \describe{
#'   \item{`records`}{one row per record of `data`: `contribution`
#'     (\eqn{DT}), `u_plus`, `u_star`, `n_unique_sets`, `surprisal`, `entropy`
#'     where asked for, and `unique_at_threshold` (whether the record is unique
#'     on the key set that sets the threshold). Records that `x` excluded for
#'     missing values have `NA`}
#'   \item{`estimates`}{one row: `p`, `alpha`, `risk` (\eqn{\hat T}{T}),
#'     `contribution_max`, `contribution_q99`, `contribution_q95`,
#'     `prop_positive` (share of records whose removal lowers the risk),
#'     `prop_never_unique` (share of records unique on no key set),
#'     `n_records`, `n_sets`, `status`}
#'   \item{`diagnostics`}{`threshold_sets`: the two key sets around the
#'     threshold and their weights; `n_candidates` key sets that can matter,
#'     `n_patterns` distinct patterns of uniqueness on them}
#' }
#' `summary()` adds the Pearson and Kendall correlations of the metrics, and how
#' much of the contribution \eqn{U^+}{U+} explains before and after the
#' threshold key set is known.
#'
#' Errors: `mismatched_data` where `data` is not what `x` was made from,
#' `ambiguous_analysis` where `x` holds several analyses and none is chosen,
#' `bad_column` where entropy is asked for and a key is nominal, `too_large`
#' where its tables would not fit.
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
  call <- rlang::current_env()
  check_given(c("x", "data"), call)
  this_call <- call_without_data(match.call(), "risk_contribution")
  check_no_dots(..., call = call)
  check_flag(entropy, "entropy", call)
  chosen <- choose_analysis(x, p, alpha, max_sets, call)
  with_progress("Contributions of records", function(tick) {
    coded <- code_again(x, data, tick, call)
    on.exit(release(coded$table))
    found <- find_contributions(coded, chosen, x$settings, entropy, tick, call)
    new_risk_contribution(found, x, chosen, coded, entropy, this_call)
  })
}

# Contributions and companions of the records in use.
find_contributions <- function(coded, chosen, settings, entropy, tick, call) {
  if (entropy) {
    check_ordinal(coded, call)
  }
  unwrap(rs_risk_contribution(
    coded$table$pointer, chosen$p, chosen$alpha, settings$pi_u, settings$pwm,
    settings$theta_one, entropy, chosen$max_sets, sdc_threads(), tick
  ), call)
}

# The one analysis of a qar_risk() result that is meant.
choose_analysis <- function(x, p, alpha, max_sets, call) {
  max_sets <- check_whole(max_sets, "max_sets", call = call)
  if (!inherits(x, "sdc_qar_risk")) {
    stop_argument("x", "be a result of `qar_risk()`", call = call)
  }
  estimates <- x$estimates
  if (!is.null(p)) {
    p <- check_whole(p, "p", call = call)
    estimates <- estimates[estimates$p == p, ]
  }
  if (!is.null(alpha)) {
    alpha <- check_probability(alpha, "alpha", call = call)
    estimates <- estimates[abs(estimates$alpha - alpha) < 1e-12, ]
  }
  held <- unique(x$estimates[c("p", "alpha")])
  held <- paste0("p = ", held$p, ", alpha = ", format(held$alpha, trim = TRUE))
  if (nrow(estimates) == 0) {
    argument <- if (is.null(p)) "alpha" else "p"
    stop_argument(
      argument, "be that of an analysis in `x`",
      found = paste0("`x` holds ", paste(utils::head(held, 5), collapse = "; "), "."),
      call = call
    )
  }
  if (nrow(estimates) > 1) {
    stop_sdc(
      "ambiguous_analysis",
      c(
        "One analysis of `x` must be chosen.",
        x = paste0("It holds ", paste(utils::head(held, 5), collapse = "; "), "."),
        i = "Give `p` and `alpha`."
      ),
      call = call
    )
  }
  list(p = estimates$p, alpha = estimates$alpha, max_sets = max_sets)
}

# The key table `x` was computed from, and which records it holds (`rows`,
# NULL for all). Other data are refused.
code_again <- function(x, data, tick, call) {
  settings <- x$settings
  table <- tryCatch(
    key_table(data, settings$key_vars, key_groups = settings$key_groups, tick = tick),
    sdcRisk_error = function(e) NULL
  )
  same <- !is.null(table) && same_fingerprint(table, data, settings, call)
  if (!same) {
    if (!is.null(table)) {
      release(table)
    }
    stop_mismatched(call)
  }
  rows <- NULL
  if (settings$missing == "exclude") {
    complete <- complete_records(table, call)
    if (length(complete) < table$n) {
      rows <- complete
      table <- select_records(table, complete, call)
    }
  }
  ordered <- vapply(table$keys, function(v) length(v) == 1 && table$ordered[v], NA)
  table <- merge_keys(table, tick, call)
  list(table = table, rows = rows, ordered = ordered, n = nrow(data))
}

check_ordinal <- function(coded, call) {
  nominal <- names(coded$ordered)[!coded$ordered]
  if (length(nominal)) {
    stop_sdc(
      "bad_column",
      c(
        "The entropy needs key variables whose values have an order.",
        x = paste0("Nominal: ", quote_names(nominal), "."),
        i = "Make ordered factors of them where that is meant, or do without the entropy."
      ),
      columns = nominal, call = call
    )
  }
}

new_risk_contribution <- function(found, x, chosen, coded, entropy, call) {
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
      n_excluded = coded$n - n_used, n_keys = length(coded$table$keys)
    ),
    call = call
  )
}

contribution_estimates <- function(found, chosen, n_used) {
  contribution <- found$contribution[!is.na(found$contribution)]
  known <- length(contribution) > 0
  at <- function(probability) {
    if (!known) {
      return(NA_real_)
    }
    stats::quantile(contribution, probability, names = FALSE, type = 8)
  }
  frame(
    p = chosen$p, alpha = chosen$alpha, risk = found$whole$risk,
    contribution_max = if (known) max(contribution) else NA_real_,
    contribution_q99 = at(0.99), contribution_q95 = at(0.95),
    prop_positive = if (known) mean(contribution > 0) else NA_real_,
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

#' @export
format.sdc_risk_contribution <- function(x, ...) {
  estimates <- x$estimates
  name <- name_of_t(estimates)
  c(
    "Contributions of records to the extreme re-identification risk",
    paste0("Question: how does ", name, " change when one record is removed?"),
    analysis_size_line(x, estimates$n_records),
    paste0(
      name, " = ", format_risk(estimates$risk), ", threshold u = ",
      format_risk(x$diagnostics$threshold), ", status ", estimates$status, "."
    ),
    if (is.na(estimates$contribution_max)) {
      "Contributions are not determined: see the status and ?qar_risk."
    } else {
      c(
        paste0(
          "Contribution DT: ", format_spread(
            estimates$contribution_max, estimates$contribution_q99,
            estimates$contribution_q95, format_signed
          ), "."
        ),
        paste0(
          "Removing one of ", format_percent(estimates$prop_positive),
          " of the records lowers the risk; removing another one raises it or leaves it."
        )
      )
    },
    paste0(
      "Unique on no key set: ", format_percent(estimates$prop_never_unique),
      " of the records."
    ),
    threshold_set_line(x),
    paste(
      "Scenario: prosecutor (the target is known to be in the file);",
      "the risk is given an attempt."
    ),
    "Contributions of several records do not add up: see removal_path().",
    "More: summary(x), plot(x), interpret(x)."
  )
}

# Records and keys of an analysis made from a qar_risk() result.
analysis_size_line <- function(x, n_records) {
  paste0(
    plural(n_records, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"), "; ",
    if (x$settings$missing == "category") {
      "missing is a value of its own."
    } else {
      paste0(plural(x$diagnostics$n_excluded, "incomplete record"), " excluded.")
    }
  )
}

format_signed <- function(x) {
  ifelse(is.na(x), "NA", formatC(x, digits = 3, format = "g"))
}

threshold_set_line <- function(x) {
  groups <- threshold_groups(x)
  if (nrow(groups) < 2 || anyNA(groups$mean_contribution)) {
    return(NULL)
  }
  set <- x$diagnostics$threshold_sets
  paste0(
    "The threshold is set by ", set$key_set[set$shown], ": records unique on it contribute ",
    format_signed(groups$mean_contribution[groups$unique_at_threshold]),
    " on average, others ",
    format_signed(groups$mean_contribution[!groups$unique_at_threshold]), "."
  )
}

# The two clusters of contributions.
threshold_groups <- function(x) {
  records <- x$records[!is.na(x$records$contribution), ]
  parts <- split(records, records$unique_at_threshold)
  frame(
    unique_at_threshold = as.logical(names(parts)),
    n = vapply(parts, nrow, 0L, USE.NAMES = FALSE),
    mean_contribution = vapply(parts, function(r) mean(r$contribution), 0, USE.NAMES = FALSE),
    cor_u_plus = vapply(parts, function(r) {
      correlation(r$contribution, r$u_plus)
    }, 0, USE.NAMES = FALSE)
  )
}

# Pearson's correlation, NA without variation and without a warning.
correlation <- function(x, y) {
  varies <- function(v) length(v) > 1 && stats::var(v) > 0
  if (varies(x) && varies(y)) stats::cor(x, y) else NA_real_
}

#' @export
summary.sdc_risk_contribution <- function(object, by = NULL, data = NULL, ...) {
  base <- summary.sdc_result(object, by, data)
  structure(
    list(
      title = format(object)[c(1, 3)], estimates = base$estimates,
      correlations = metric_correlations(object),
      clusters = threshold_groups(object),
      explained_by = explained_by(object),
      contribution_by_strata = base$strata
    ),
    class = "sdc_summary"
  )
}

#' @export
record_risk.sdc_risk_contribution <- function(x) {
  x$records$contribution
}

# Correlations of the metrics, one row per pair.
metric_correlations <- function(x) {
  metrics <- intersect(
    c("contribution", "u_plus", "u_star", "entropy", "surprisal"), names(x$records)
  )
  records <- x$records[!is.na(x$records$contribution), metrics]
  pairs <- utils::combn(metrics, 2)
  frame(
    metric_1 = pairs[1, ], metric_2 = pairs[2, ],
    pearson = apply(pairs, 2, function(m) correlation(records[[m[[1]]]], records[[m[[2]]]])),
    kendall = apply(pairs, 2, function(m) {
      unwrap(rs_kendall(as.double(records[[m[[1]]]]), as.double(records[[m[[2]]]])))
    })
  )
}

# Share of the variance of the contributions that U+ explains, without and
# with the uniqueness on the threshold key set.
explained_by <- function(x) {
  records <- x$records[!is.na(x$records$contribution), ]
  y <- records$contribution
  share <- function(...) {
    total <- sum((y - mean(y))^2)
    if (length(y) < 4 || total <= 0) {
      return(NA_real_)
    }
    1 - sum(stats::lm.fit(cbind(1, ...), y)$residuals^2) / total
  }
  frame(
    model = c("U+", "U+ and uniqueness on the threshold key set"),
    r_squared = c(
      share(records$u_plus), share(records$u_plus, records$unique_at_threshold)
    )
  )
}

#' @export
tidy_terms.sdc_risk_contribution <- function(x) {
  list(
    ids = c("p", "alpha"),
    terms = c(
      "risk", "contribution_max", "contribution_q99", "contribution_q95",
      "prop_positive", "prop_never_unique"
    )
  )
}

#' @rdname sdc_result
#' @export
glance.sdc_risk_contribution <- function(x, ...) {
  frame(
    n_records = x$estimates$n_records, n_keys = x$diagnostics$n_keys,
    p = x$estimates$p, alpha = x$estimates$alpha, risk = x$estimates$risk,
    status = x$estimates$status, contribution_max = x$estimates$contribution_max,
    prop_positive = x$estimates$prop_positive,
    prop_never_unique = x$estimates$prop_never_unique,
    missing = x$settings$missing, n_excluded = x$diagnostics$n_excluded,
    pi_u = x$settings$pi_u, fingerprint = x$settings$fingerprint
  )
}

#' @export
interpret.sdc_risk_contribution <- function(x, ...) {
  estimates <- x$estimates
  sentence <- paste0(
    "In the file of ", plural(estimates$n_records, "record"), " and ",
    plural(x$diagnostics$n_keys, "key variable"), ", no single record moves the extreme ",
    "re-identification risk T(p = ", estimates$p, ", alpha = ", format(estimates$alpha),
    ") = ", format_risk(estimates$risk), " down by more than ",
    format_signed(max(estimates$contribution_max, 0)), " (prosecutor scenario, given an attempt; ",
    if (x$settings$missing == "category") {
      "missing values a category of their own"
    } else {
      paste(plural(x$diagnostics$n_excluded, "incomplete record"), "excluded")
    },
    "); removing a record lowers it for ", format_percent(estimates$prop_positive),
    " of the records, and ", format_percent(estimates$prop_never_unique),
    " are unique on none of the ", format_count(estimates$n_sets), " sets of ", estimates$p,
    " key variables (exact contributions after the QaR method, Bera et al. 2023; sdcRisk ",
    x$settings$version, "); they describe this file, and contributions of several records ",
    "do not add up."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}
