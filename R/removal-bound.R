#' Bound the effect of removing records
#'
#' Computes before any removal the largest possible fall of the threshold and the empirical
#' quantile behind the extreme risk if any `n` records are removed. Use it to decide whether to
#' remove records: if even the bound is small, recoding is the better way.
#'
#' @details
#' A key disappears when all its records are removed, so `n` removals
#' take at most \eqn{m_j(n)} keys of key set \eqn{j}: as many of its least frequent
#' keys as have `n` records together. Whichever records go,
#' \deqn{\theta'(j) \ge \frac{H(j) - m_j(n)}{L - n},}{%
#'   theta'(j) >= (H(j) - m_j(n)) / (L - n),}
#' and every quantile of the risks is at least that of these bounds. The bound
#' treats each key set as if the removals served it alone, so it is usually not
#' reached. For \eqn{T} itself no such bound exists: it can fall while all
#' risks rise, see [removal_path()].
#'
#' With `theta_one = "exclude"` in `x`, as many of the largest risks are left
#' out as there are key sets that might come to identify all records left.
#' Missing values are treated as in `x`. Records that `missing = "exclude"` left out may be
#' among those removed, so that as many fewer count; the bound is the least over all these
#' numbers.
#'
#' @section Cost:
#' One pass over the key sets that records are unique on: 0.05 seconds of one processor for
#' 32,561 records and 165 key sets.
#'
#' @param x A result of [qar_risk()].
#' @param data The data `x` was made from.
#' @param n One or several numbers of records to remove, fewer than there are.
#' @inheritParams sdcRisk-params
#'
#' @return An object of class `sdc_removal_bound`, an [sdc_result] without
#'   `records`; `estimates`, also `as.data.frame()`, has one row per `n`: `p`,
#'   `alpha`, `n`, `prop_removed`, `threshold` (of the whole file),
#'   `threshold_least` and `threshold_reduction` (the largest share of it that
#'   can go; negative if every removal raises it), and likewise
#'   `risk_empirical`, `risk_empirical_least`, `risk_empirical_reduction`.
#'   Errors as for [risk_contribution()].
#' @inherit qar_risk references
#' @family extreme risk
#' @export
#' @examples
#' risk <- qar_risk(adult, pi_u = 0.1)
#' removal_bound(risk, adult, n = c(100, 1000))
removal_bound <- function(x, data, n, ..., p = NULL, alpha = NULL, max_sets = 5e6) {
  ask <- announce("removal_bound")
  check_given(c("x", "data", "n"))
  data <- bare_data(data)
  remember(ask)
  check_no_dots(...)
  n <- check_removals(n, NROW(data), several = TRUE)
  chosen <- choose_analysis(x, p, alpha, max_sets)
  with_progress("Bounds of removal", {
    coded <- code_again(x, data)
    check_fewer(n, coded$table$n)
    settings <- x$settings
    found <- removal_bounds(coded, chosen, settings, n)
    rows <- length(n)
    threshold <- rep(found$whole$threshold, rows)
    empirical <- rep(found$whole$risk_empirical, rows)
    new_sdc_result(
      "sdc_removal_bound",
      estimates = frame(
        p = rep(chosen$p, rows), alpha = rep(chosen$alpha, rows), n = n,
        prop_removed = n / coded$table$n,
        threshold = threshold, threshold_least = found$threshold,
        threshold_reduction = 1 - found$threshold / threshold,
        risk_empirical = empirical, risk_empirical_least = found$risk_empirical,
        risk_empirical_reduction = 1 - found$risk_empirical / empirical
      ),
      records = NULL,
      settings = c(
        settings[c("key_vars", "key_groups")], chosen[c("p", "alpha")],
        settings[c("pi_u", "missing", "pwm", "theta_one", "n", "fingerprint", "version")]
      ),
      diagnostics = list(
        risk = found$whole$risk, n_records = coded$table$n,
        n_excluded = coded$n - coded$table$n, n_keys = length(coded$table$keys),
        n_sets = choose(length(coded$table$keys), chosen$p),
        identifying = identifying_of(x, chosen$p)
      ),
      call = ask$call
    )
  })
}

# The bounds for `n` removals; of excluded records, as many as there are can be among them.
# Bounds of several numbers take four bytes for each key set.
removal_bounds <- function(coded, chosen, settings, n) {
  fewest <- pmax(0, n - (coded$n - coded$table$n))
  tried <- sort(unique(unlist(Map(seq, fewest, n))))
  each <- max(1, 1e8 %/% choose(length(coded$table$keys), chosen$p))
  parts <- lapply(split(tried, (seq_along(tried) - 1) %/% each), function(part) {
    core(rs_removal_bounds, coded$table$pointer, tail_settings(chosen, settings, n = part))
  })
  least <- function(name) {
    all <- unlist(lapply(parts, `[[`, name), use.names = FALSE)
    as.double(unlist(Map(function(low, high) {
      min(all[tried >= low & tried <= high])
    }, fewest, n)))
  }
  list(
    whole = parts[[1]]$whole, threshold = least("threshold"),
    risk_empirical = least("risk_empirical")
  )
}

#' @exportS3Method ggplot2::autoplot
autoplot.sdc_removal_bound <- function(object, ...) {
  enter_picture(object)
  estimates <- object$estimates
  long <- frame(
    n = rep(estimates$n, 2),
    reduction = c(estimates$threshold_reduction, estimates$risk_empirical_reduction),
    what = rep(
      c(
        "threshold u", paste0("empirical ", format_number(1 - estimates$alpha[[1]]), " quantile")
      ),
      each = nrow(estimates)
    )
  )
  ggplot2::ggplot(long, ggplot2::aes(x = .data$n, y = .data$reduction, colour = .data$what)) +
    # A line through one number of records would be none, and ggplot2 says so.
    (if (nrow(estimates) > 1) ggplot2::geom_line(na.rm = TRUE)) +
    ggplot2::geom_point(size = 2, na.rm = TRUE) +
    ggplot2::scale_colour_manual(values = c(sdc_orange, sdc_blue)) +
    ggplot2::scale_y_continuous(labels = percent_labels) +
    ggplot2::expand_limits(x = 0, y = 0) +
    sdc_labs(
      title = "How much can removing records buy at most?", x = "records removed",
      y = "largest possible fall", colour = NULL
    )
}

# "removing them lowers u by at most 3%"; a negative fall is a rise whichever records go.
bound_words <- function(who, what, reduction) {
  rises <- reduction %in% reduction[reduction < 0]
  paste(
    who, ifelse(rises, "raises", "lowers"), what, ifelse(rises, "by at least", "by at most"),
    format_percent(abs(reduction))
  )
}

declare_measure(
  "removal_bound",
  reference = "bera2023", ids = c("p", "alpha", "n"), lead = n,
  terms = c(
    "threshold_least", "threshold_reduction", "risk_empirical_least", "risk_empirical_reduction"
  ),
  title = "Bounds of what removing records can buy",
  question = paste0(
    "how far can the threshold u and the empirical ", format_number(1 - alpha[[1]]),
    " quantile fall, whichever records go?"
  ),
  size = analysis_size_line(x, x$diagnostics$n_records),
  threshold = figure("Threshold u now", "risk", scenario = "prosecutor", board = FALSE),
  threshold_reduction = figure(
    "Largest fall of u", "share", scenario = "prosecutor", direction = "less", board = FALSE,
    head = "u falls at most by",
    says = bound_words("removing them", "the threshold", threshold_reduction)
  ),
  risk_empirical = figure(
    "Empirical quantile now", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE
  ),
  risk_empirical_reduction = figure(
    "Largest fall of the empirical quantile", "share", scenario = "prosecutor",
    direction = "less", board = FALSE, head = "empirical quantile by",
    says = bound_words("it", "the empirical quantile", risk_empirical_reduction)
  ),
  risk_empirical_least = figure(
    paste0(
      "Least ", format_number(1 - alpha), " quantile of the risks of key sets without any ",
      plural(n, "record")
    ),
    "risk", scenario = "prosecutor", attempt = TRUE, head = "least quantile",
    note = paste("before:", format_risk(risk_empirical))
  ),
  notes = list(paste0(
    "Now: u = ", format_t(threshold[[1]]), ", empirical quantile ",
    format_t(risk_empirical[[1]]), ", T = ", format_t(x$diagnostics$risk), "."
  ), "T itself has no bound, as it can fall by its fit alone."),
  measured = paste0(
    "In the file of ", plural(x$diagnostics$n_records, "record"), " and ",
    plural(x$diagnostics$n_keys, "key variable"), ", it was bounded what removing ",
    plural(main$n, "record"), ", whichever they are, can change in the risks of key sets of ",
    plural(main$p, "key variable")
  ),
  limits = paste(
    "the bounds are rigorous but need not be reached, and they do not bound the extrapolated",
    "extreme risk T"
  ),
  source = "bounds from frequencies", assuming = analysis_clauses(x), frame = x$estimates
)
