# Declarations of longitudinal_risk(): figures, print and sentences.

declare_measure(
  "longitudinal_risk",
  reference = c("li2021", "skinner2008"), ids = c("scenario", "model", "sampling"),
  terms = c(
    "tau1", "tau2", "tau1_corrected", "tau2_corrected", "tau1_rate", "tau2_rate", "ratio",
    "ratio_tau2", "b1", "z1", "z1_robust", "b2", "z2", "z2_robust"
  ),
  each = paste0(" (", gsub("_", " ", scenario), ", ", model, ")"),
  figures = c(tau_figures, list(
    ratio = figure(
      "tau1 over that of this file alone", "number", scenario = "journalist", head = "ratio",
      board = FALSE
    )
  )),
  title = "Longitudinal re-identification risk",
  question = "do links to earlier releases raise the risk?",
  size = paste0(
    plural(main$n, "record"), " for ", format_large(x$diagnostics$population), " people, ",
    plural(length(x$settings$key_vars), "key variable"), "; ",
    left_out_clause(x$diagnostics$n_excluded, main$n, x$settings$missing), "."
  ),
  spread = "Risk of records (1/F), all links", risk = judged_rows(x)$tau2_all_links,
  notes = list(
    paste0("Model of all scenarios: ", shorten(main$model, 60), "; ", scenario_fit_words(e)),
    if (is.na(ratio[[1]])) {
      paste0("By this file alone tau1 is below ", format_number(least_for_ratio), ": no ratio.")
    },
    link_line(x)
  ),
  scenario = "journalist",
  measured = paste0(
    "The ", plural(main$n, "record"), " of the file were judged on ",
    plural(length(x$settings$key_vars), "key variable"), " of this file alone, and with ",
    if (x$settings$detail == "indicator") "changes of " else "earlier values of ",
    plural(length(x$settings$change_vars), "variable"), " known from earlier releases too"
  ),
  found = scenario_shares(e, x$settings$level),
  limits = paste(
    "this holds for these key variables known without error, and respondents not linked are",
    "taken as unchanged"
  ),
  source = paste0(
    "log-linear model, ", model_words(main$model), ", z2 = ",
    paste(format_short(z2), collapse = between_numbers()),
    if (any(abs(z2) >= 1.96, na.rm = TRUE)) {
      paste0(": ", misfit_words(e, which(abs(z2) >= 1.96)))
    },
    ", after Skinner and Shlomo 2008 and Li and others 2021"
  ),
  assuming = left_out_clause(x$diagnostics$n_excluded, main$n, x$settings$missing),
  frame = x$estimates,
  tables = list(changes = x$changes, scenarios_by_link = scenarios_by_link(x)),
  strata = "risk_by_strata"
)

# The intruder's gain from the latest of the earlier releases.
link_line <- function(x) {
  links <- if (inherits(x$link, "sdc_longitudinal_link")) list(wave1 = x$link) else x$link
  e <- links[[1]]$estimates
  paste0(
    "Linked to ", names(links)[[1]], ": ", format_count(e$n_linked), " in both, ",
    format_count(e$n_certain), " with certainty",
    if (e$n_linked > 0) paste0(" (", format_percent(e$prop_certain), ")"), ", ",
    format_one_digit(e$expected_correct), " expected correct",
    if (length(links) > 1) {
      paste("; and to", plural(length(links) - 1, "other release"))
    }, "."
  )
}

scenario_fit_words <- function(estimates) {
  off <- which(abs(estimates$z2) >= 1.96)
  if (length(off) == 0) {
    return(if (anyNA(estimates$z2)) {
      "z2 is not determined everywhere."
    } else {
      paste0("all |z2| < ", z_limit(), ".")
    })
  }
  first <- estimates[off[[1]], ]
  advice <- if (first$z2 > 0) more_interactions(first$model) else fewer_interactions(first$model)
  none <- estimates$scenario[estimates$status == "underfits"]
  paste0(
    misfit_words(estimates, off), " (|z2| > ", z_limit(), "): ", advice, ".",
    if (length(none)) paste0(" No interval for ", paste(none, collapse = ", "), ".")
  )
}

misfit_words <- function(estimates, off) {
  verb <- ifelse(estimates$z2[off] > 0, "overstates", "understates")
  parts <- split(estimates$scenario[off], factor(verb, unique(verb)))
  paste(names(parts), vapply(parts, paste, "", collapse = " and "), collapse = ", ")
}

# Risk by respondents: linked with certainty, otherwise, or not.
scenarios_by_link <- function(x) {
  records <- needed_rows(x)
  times <- if (is.null(x$records)) judged_times(x) else rep(1L, nrow(records))
  group <- ifelse(records$certain, "certain", ifelse(records$linked, "linked", "not linked"))
  group <- factor(group, c("certain", "linked", "not linked"))
  total <- function(column) {
    as.vector(tapply(records[[column]] * times, group, sum, na.rm = TRUE, default = 0))
  }
  columns <- paste0("tau1_", x$estimates$scenario)
  do.call(frame, c(
    list(
      respondents = levels(group), n = as_count(as.vector(tapply(times, group, sum, default = 0)))
    ),
    rlang::set_names(lapply(columns, total), columns)
  ))
}

#' @export
tidy.sdc_longitudinal_risk <- function(x, ...) {
  enter_verb("tidy", x)
  tidy_corrected(x)
}

# The share of every scenario, with its interval.
scenario_shares <- function(e, level) {
  rate <- function(x) format_percent(x / e$n)
  interval <- paste0(
    " (", format_percent(level), " interval ", rate(e$tau1_low), " to ", rate(e$tau1_high), ")"
  )
  reported <- ifelse(is.na(e$tau1_corrected), e$tau1, e$tau1_corrected)
  shares <- paste0(rate(reported), ifelse(is.na(e$tau1_low), "", interval))
  paste0(
    shares[[1]], " of the records are expected to be unique in the sample and in the population ",
    "by this file alone, ", shares[[2]],
    " if respondents linked with certainty are followed, and ", shares[[3]], " if all are"
  )
}

# Pictures -----------------------------------------------------------------

#' Pictures of longitudinal risk
#'
#' Three pictures of a [longitudinal_risk()] result; `plot()` draws the same.
#' Those of [longitudinal_link()] and [loglinear_risk()] draw `x$link` and the
#' members of `x$fits`.
#'
#' @param object A result of [longitudinal_risk()].
#' @param type `"scenarios"`: \eqn{\tau_1}{tau1} and \eqn{\tau_2}{tau2} of the
#'   scenarios with their intervals; `"links"`: \eqn{\tau_1}{tau1} of the scenarios
#'   by whether respondents are linked with certainty, otherwise or not;
#'   `"strata"`: the risks of the sample uniques, all links known, by a variable.
#' @param by,data For `"strata"`: a vector with one value per record of the latest
#'   file, or the name of a column of `data`, that file.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_longitudinal_risk
autoplot.sdc_longitudinal_risk <- function(object, type = c("scenarios", "links", "strata"),
                                           ..., by = NULL, data = NULL) {
  switch(enter_picture(object, type),
    scenarios = plot_tau_intervals(
      object$estimates, object$settings$level, scenario_words(object$estimates$scenario)
    ) +
      ggplot2::labs(title = "What do links to earlier releases add?") +
      ggplot2::theme(plot.margin = ggplot2::margin(5.5, 16, 5.5, 5.5)),
    links = plot_scenarios_by_link(object),
    strata = plot_strata(
      object, by, data, "Where are the sample uniques at risk?",
      "risk E(1/F) of sample uniques, all links known, log scale",
      log = TRUE
    )
  )
}

scenario_words <- function(scenario) {
  words <- c(
    cross_sectional = "this file alone", certain_links = "certain links", all_links = "all links"
  )
  unname(words[scenario])
}

plot_scenarios_by_link <- function(x) {
  table <- scenarios_by_link(x)
  scenarios <- x$estimates$scenario
  words <- c(
    certain = "linked with certainty", linked = "in both waves, link uncertain",
    `not linked` = "not in an earlier release"
  )
  shown <- frame(
    scenario = factor(
      rep(scenario_words(scenarios), each = nrow(table)), rev(scenario_words(scenarios))
    ),
    respondents = factor(rep(words[table$respondents], length(scenarios)), rev(words)),
    tau1 = unlist(table[paste0("tau1_", scenarios)], use.names = FALSE)
  )
  ggplot2::ggplot(
    shown, ggplot2::aes(x = .data$tau1, y = .data$scenario, fill = .data$respondents)
  ) +
    ggplot2::geom_col(width = 0.65) +
    ggplot2::scale_fill_manual(
      values = rlang::set_names(c(sdc_orange, sdc_blue, sdc_grey), words),
      guide = ggplot2::guide_legend(reverse = TRUE)
    ) +
    sdc_labs(
      title = "Whose risk do links raise?", x = "tau1: expected population uniques", y = NULL,
      fill = NULL
    )
}
