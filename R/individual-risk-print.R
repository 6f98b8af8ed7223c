# What individual_risk() results say of themselves.

declare_measure(
  "individual_risk",
  reference = c("benedetti1998", "elemam2011"),
  ids = c("tau_prosecutor", "tau_journalist"),
  terms = c("expected_reidentifications", setdiff(names(e), c(
    "expected_reidentifications", "tau_prosecutor", "tau_journalist", "n", "n_households"
  ))),
  journalist_max = figure(
    "Largest record risk", "risk", scenario = "journalist", key = "journalist",
    question = "How likely is the riskiest record found?", attempt = TRUE,
    n_above = risks_above(x, limit$journalist),
    note = format_spread(journalist_max, risk_q99, risk_q95)
  ),
  expected_reidentifications = figure(
    "Expected re-identifications", "count", scenario = "journalist",
    key = "expected_reidentifications", attempt = TRUE,
    question = "How many people does an intruder find who tries every record?",
    note = paste0(format_percent(reidentification_rate), " of the records")
  ),
  reidentification_rate = figure(
    "Re-identifications, share", "share", scenario = "journalist", key = "reidentification_rate",
    question = "What share is found?", attempt = TRUE, board = FALSE
  ),
  household_max = figure(
    "Largest risk, any member", "risk", scenario = "journalist", key = "household",
    question = "How likely is a member of a household found?", attempt = TRUE
  ),
  prosecutor_max = figure(
    "Largest record risk, target in the file", "risk", scenario = "prosecutor", attempt = TRUE,
    note = paste("mean", format_risk(prosecutor_mean))
  )
)

# Records with a risk above `limit`.
risks_above <- function(x, limit) {
  rows <- judged_rows(x)
  if (!is.null(limit) && !is.null(rows)) {
    as.double(sum_over(as.double(!is.na(rows$risk) & rows$risk > limit), judged_times(x)))
  }
}

#' @export
describe.sdc_individual_risk <- function(x) {
  e <- x$estimates
  description(
    title = "Individual re-identification risk (Benedetti and Franconi)",
    question = "how likely is a record's key to lead to the right person in the population?",
    size = paste0(
      plural(e$n, "record"), ", ", plural(x$diagnostics$n_keys, "key variable"), "; ",
      individual_missing_clause(x), "; ",
      if (!is.na(e$n_cells)) paste0(plural(e$n_cells, "cell"), ", "),
      plural(e$n_unique, "sample unique"), "."
    ),
    answer = c(
      fact(missing_line(x$diagnostics$missing, x$settings$n), keep = "detail"),
      fact(identifying_line(x$diagnostics$identifying), keep = "detail"),
      fact(
        "The weights sum to ", format_count(round(x$diagnostics$sum_weights)),
        " people, of whom the file holds ", format_percent(e$n / x$diagnostics$sum_weights), ".",
        keep = "detail"
      ),
      fact(
        "Expected re-identifications: ", format_risk(e$expected_reidentifications), " (",
        format_percent(e$reidentification_rate), " of the records), of which ",
        format_risk(e$expected_unique), " among sample uniques."
      ),
      fact(
        "Record risk: ", format_spread(e$journalist_max, e$risk_q99, e$risk_q95), ".",
        keep = "always"
      ),
      individual_facts(e)
    ),
    scenario = scenario(c("prosecutor", "journalist")),
    notes = fact(
      "The intruder's values of the key variables are taken to be those of the file.",
      keep = "detail"
    ),
    more = "summary(x), plot(x), interpret(x)",
    sentence = individual_cited(x)
  )
}

# The risks by scenario, and households.
individual_facts <- function(e) {
  measure <- function(who, risk, tau, above, largest, mean) {
    fact(
      who, ", ", risk, ": above ", format_number(tau), " for ", format_percent(above),
      " of the records; largest ", format_risk(largest), ", mean ", format_risk(mean), "."
    )
  }
  c(
    measure(
      "Prosecutor", "1/f", e$tau_prosecutor, e$prosecutor_above, e$prosecutor_max,
      e$prosecutor_mean
    ),
    measure(
      "Journalist", "E(1/F)", e$tau_journalist, e$journalist_above, e$journalist_max,
      e$journalist_mean
    ),
    if (!is.null(e$n_households)) {
      fact(
        "Households: ", format_risk(e$expected_households), " of ",
        format_count(e$n_households), " expected to have a member found, with ",
        format_risk(e$expected_in_households), " records; largest risk ",
        format_risk(e$household_max), "."
      )
    }
  )
}

# What is done with missing values, and how many records that touches.
individual_missing_clause <- function(x) {
  missing <- x$settings$missing
  paste0(
    missing_clause(missing, x$diagnostics$n_excluded),
    if (missing != "exclude" && x$diagnostics$n_incomplete > 0) {
      paste0(" (", plural(x$diagnostics$n_incomplete, "incomplete record"), ")")
    }
  )
}

#' @export
summary.sdc_individual_risk <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  new_summary(
    object,
    estimates = object$estimates, frequencies = utils::head(object$frequencies, 10),
    risk_by_strata = risk_by_strata(object, by, data)
  )
}

#' @export
record_risk.sdc_individual_risk <- function(x) {
  judged_rows(x)$risk
}

individual_cited <- function(x) {
  e <- x$estimates
  cited(
    measured = paste0(
      "In the file of ", plural(e$n, "record"), " on ",
      plural(x$diagnostics$n_keys, "key variable"),
      ", the individual risk of re-identification was estimated from the sampling weights"
    ),
    found = paste0(
      "an intruder who does not know who is in the file and tries every record is expected to ",
      "find ", format_risk(e$expected_reidentifications), " people of the population (",
      format_percent(e$reidentification_rate), " of the records), the riskiest record with ",
      "probability ", format_risk(e$journalist_max), "; an intruder who knows that a target ",
      "is in the file finds it with mean probability ", format_risk(e$prosecutor_mean)
    ),
    limits = paste(
      "this rests on the weights and on key variables that the intruder knows without error,",
      "and has no sampling error of its own"
    ),
    source = "Benedetti and Franconi 1998, measures of El Emam 2011",
    assuming = individual_missing_clause(x)
  )
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
  enter_verb("autoplot", object)
  check_no_dots(...)
  type <- check_choice(type, c("distribution", "frequency", "strata"), "type")
  switch(type,
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
    ggplot2::labs(
      title = "How large are the individual risks?",
      x = "individual risk E(1/F), log scale", y = "records",
      fill = "records with the same key",
      caption = paste0("Dashed: the threshold ", format_number(tau), " of the journalist measures.")
    ) +
    sdc_theme()
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
    ggplot2::labs(
      title = "Which records carry the risk?",
      x = "records with the same key (f)", y = NULL
    ) +
    sdc_theme()
}
