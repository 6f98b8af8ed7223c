# Declarations of individual_risk(): figures, print and sentences.

declare_measure(
  "individual_risk",
  reference = c("benedetti1998", "elemam2011"),
  ids = c("tau_prosecutor", "tau_journalist"),
  terms = c("expected_reidentifications", setdiff(names(e), c(
    "expected_reidentifications", "tau_prosecutor", "tau_journalist", "n", "n_households"
  ))),
  title = "Individual re-identification risk (Benedetti and Franconi)",
  question = "how likely is a record's key to lead to the right person in the population?",
  size = paste0(
    plural(n, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"), ", ",
    plural(n_unique, "sample unique"), "; the weights sum to ",
    format_count(round(x$diagnostics$sum_weights)), " people; ", individual_missing_clause(x), "."
  ),
  journalist_max = figure(
    "Largest record risk", "risk", scenario = "journalist", key = "journalist",
    attempt = TRUE, n_above = risks_above(x, limit$journalist),
    unclear = seems_kept(x, journalist_max, limit$journalist),
    note = format_spread(journalist_max, risk_q99, risk_q95),
    says = paste(
      "an intruder who does not know who is in the file finds the riskiest record with a",
      "probability of %s"
    )
  ),
  journalist_mean = figure(
    "Mean record risk", "risk", scenario = "journalist", attempt = TRUE, board = FALSE
  ),
  expected_reidentifications = figure(
    "Expected re-identifications", "count", scenario = "journalist", of = n,
    key = "expected_reidentifications", attempt = TRUE,
    unclear = seems_kept(x, expected_reidentifications, limit$expected_reidentifications),
    note = paste0(format_percent(reidentification_rate), " of the records"),
    says = "this intruder is expected to find %s people of the population by trying every record"
  ),
  reidentification_rate = figure(
    "Re-identifications, share", "share", scenario = "journalist", key = "reidentification_rate",
    attempt = TRUE, board = FALSE, print = FALSE,
    unclear = seems_kept(x, reidentification_rate, limit$reidentification_rate)
  ),
  household_max = figure(
    "Largest risk, any member", "risk", scenario = "journalist", key = "household", attempt = TRUE,
    unclear = seems_kept(x, household_max, limit$household)
  ),
  prosecutor_max = figure(
    "Largest record risk, target in the file", "risk", scenario = "prosecutor", attempt = TRUE,
    note = paste("mean", format_risk(prosecutor_mean))
  ),
  prosecutor_mean = figure(
    "Mean record risk, target in the file", "risk", scenario = "prosecutor", attempt = TRUE,
    board = FALSE,
    says = paste(
      "an intruder who knows that a target is in the file finds it with a mean probability of %s"
    )
  ),
  spread = "Record risk E(1/F)", risk = judged_rows(x)$risk,
  notes = list(
    missing_line(x$diagnostics$missing, x$settings$n), identifying_line(x$diagnostics$identifying)
  ),
  next_step = if (isTRUE(journalist_max > limit$journalist)) {
    paste0("records_at_risk(x, limit = ", format_number(limit$journalist), ")")
  },
  measured = paste0(
    "In the file of ", plural(n, "record"), " on ", plural(x$diagnostics$n_keys, "key variable"),
    ", the individual risk of re-identification was estimated from the sampling weights"
  ),
  limits = paste(
    "this rests on the weights and on key variables that the intruder knows without error,",
    "and has no sampling error of its own"
  ),
  source = "Benedetti and Franconi 1998, measures of El Emam 2011",
  assuming = individual_missing_clause(x),
  tables = list(frequencies = utils::head(x$frequencies, 10)), strata = "risk_by_strata"
)

# Records with a risk above `limit`.
risks_above <- function(x, limit) {
  rows <- judged_rows(x)
  if (!is.null(limit) && !is.null(rows)) {
    as.double(sum_over(as.double(!is.na(rows$risk) & rows$risk > limit), judged_times(x)))
  }
}

# Clause on missing values, with the number of records concerned.
individual_missing_clause <- function(x) {
  missing <- x$settings$missing
  paste0(
    missing_clause(missing, x$diagnostics$n_excluded),
    if (missing != "exclude" && x$diagnostics$n_incomplete > 0) {
      paste0(" (", plural(x$diagnostics$n_incomplete, "incomplete record"), ")")
    }
  )
}

# Risks by weights alone are often far below the truth: a limit that they keep is not known to be
# kept, unless the file is its population.
seems_kept <- function(x, value, limit) {
  sampled <- x$diagnostics$sum_weights > x$settings$n * (1 + 1e-9)
  length(limit) > 0 && sampled & !is.na(value) & value <= limit
}

# Pictures -----------------------------------------------------------------

#' Pictures of the individual risk
#'
#' Three pictures of an [individual_risk()] result; `plot()` draws the same.
#'
#' @param object A result of [individual_risk()].
#' @param type `"distribution"`: the risks of the records, by how many records
#'   share their key; `"frequency"`: which frequencies carry the expected
#'   re-identifications; `"strata"`: the risks by a variable.
#' @param by,data For `"strata"`: a vector with one value per record, or the
#'   name of a column of `data`, the data the result was made from.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_individual_risk
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' plot(individual_risk(nals_prison, keys, "WEIGHT"))
autoplot.sdc_individual_risk <- function(object, type = c("distribution", "frequency", "strata"),
                                         ..., by = NULL, data = NULL) {
  switch(enter_picture(object, type),
    distribution = plot_individual_risks(object),
    frequency = plot_frequencies(object),
    strata = plot_strata(
      object, by, data, "Individual risk by stratum", "individual risk E(1/F), log scale",
      log = TRUE
    )
  )
}

plot_individual_risks <- function(x) {
  records <- needed_rows(x)
  records$times <- picture_times(x)
  records <- records[!is.na(records$risk), ]
  shared <- cut(
    records$frequency, c(0, 1, 2, 4, Inf), c("1 (unique)", "2", "3 or 4", "5 or more")
  )
  shown <- frame(
    risk = records$risk, times = records$times, shared = factor(shared, rev(levels(shared)))
  )
  tau <- x$estimates$tau_journalist
  ggplot2::ggplot(
    shown, ggplot2::aes(x = .data$risk, fill = .data$shared, weight = .data$times)
  ) +
    ggplot2::geom_histogram(bins = 40) +
    ggplot2::geom_vline(xintercept = tau, linetype = "dashed") +
    ggplot2::scale_x_log10(labels = plain_numbers) +
    ggplot2::scale_fill_manual(
      values = rlang::set_names(
        c("grey85", sdc_grey, sdc_blue, sdc_orange), levels(shown$shared)
      ),
      drop = FALSE, guide = ggplot2::guide_legend(reverse = TRUE)
    ) +
    sdc_labs(
      title = "How large are the individual risks?",
      x = "individual risk E(1/F), log scale", y = "records",
      fill = "records with the same key",
      caption = paste0("Dashed: the threshold ", format_number(tau), " of the journalist measures.")
    )
}

plot_frequencies <- function(x) {
  table <- x$frequencies
  most <- 8L
  group <- ifelse(table$frequency < most, as.character(table$frequency), paste(most, "or more"))
  group <- factor(group, unique(group))
  panels <- c("records", "expected re-identifications")
  shown <- frame(
    group = rep(factor(levels(group), levels(group)), 2),
    value = c(
      as.vector(rowsum(table$n_records, group)), as.vector(rowsum(table$expected, group))
    ),
    panel = factor(rep(panels, each = nlevels(group)), panels)
  )
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$group, y = .data$value)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.7) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_y") +
    sdc_labs(
      title = "Which records carry the risk?",
      x = "records with the same key (f)", y = NULL
    )
}
