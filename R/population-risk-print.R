# Declarations of population_risk(): figures, print and sentences.

# The figure of a measure `of` the law, or its `rate` among the records.
law_figure <- function(label, unit, of, key = NULL, ..., rate = FALSE) {
  f <- figure("", unit, scenario = "journalist", key = key, ...)
  base <- if (rate) quote(x$diagnostics$n) else 1
  for (column in c("value", "low", "high")) {
    f[[column]] <- bquote(measured(e, .(of), .(column)) / .(base))
  }
  f$label <- label
  if (!rate) f$note <- bquote(status_words(e, .(of)))
  if (!is.null(key)) f$unclear <- bquote(undecided(e, .(of), limit[[.(key)]] * .(base)))
  f
}

declare_measure(
  "population_risk",
  reference = "skinner2008", ids = "measure", terms = "value",
  title = "Risk in the population by one law",
  question = "how many records are unique in the population, and how many would be found?",
  size = paste0(
    plural(x$diagnostics$n, "record"), " of ", format_count(round(x$diagnostics$pop_size)),
    " people, ", plural(x$diagnostics$n_keys, "key variable"), "; ",
    individual_missing_clause(x), "."
  ),
  uniqueness = law_figure(
    "Population uniqueness", "share", "uniqueness", "population_uniqueness",
    question = "What share of the people is unique in the population?"
  ),
  correctness = law_figure("Distinct keys per person", "share", "correctness"),
  tau1 = law_figure(
    "Population uniques, tau1", "count", "tau1", "tau1",
    question = "How many sample uniques are population uniques?",
    says = "%s records are unique in the population"
  ),
  tau1_rate = law_figure(
    "tau1, share", "share", "tau1", "tau1_rate", rate = TRUE, board = FALSE, print = FALSE,
    question = "What share of the records is that?"
  ),
  tau2 = law_figure(
    "Correct matches, tau2", "count", "tau2", "tau2", attempt = TRUE,
    question = "How many sample uniques are matched correctly?"
  ),
  reidentifications = law_figure(
    "Expected re-identifications", "count", "reidentifications", "expected_reidentifications",
    question = "How many people does an intruder find who tries every record?", attempt = TRUE,
    says = paste(
      "an intruder who does not know who is in the file and tries every record is expected to",
      "find %s people"
    )
  ),
  reidentification_rate = law_figure(
    "Re-identifications, share", "share", "reidentifications", "reidentification_rate",
    rate = TRUE, question = "What share is found?", attempt = TRUE, board = FALSE, print = FALSE
  ),
  largest = law_figure(
    "Largest record risk", "risk", "largest", "journalist", attempt = TRUE,
    question = "How likely is the riskiest record found?",
    n_above = risks_above(x, limit$journalist)
  ),
  household = figure(
    "Largest risk, any member", "risk", household_bounds(x)$value, low = household_bounds(x)$low,
    high = household_bounds(x)$high, scenario = "journalist", key = "household",
    question = "How likely is a member of a household found?", attempt = TRUE, board = FALSE,
    print = FALSE, unclear = undecided(e, "largest", limit$household)
  ),
  spread = "Record risk E(1/F)", risk = judged_rows(x)$risk,
  notes = as.list(sprintf("Unclear: %s.", population_notes(e))),
  measured = paste0(
    "In the file of ", plural(x$diagnostics$n, "record"), " on ",
    plural(x$diagnostics$n_keys, "key variable"), ", the risk in the population of ",
    format_count(round(x$diagnostics$pop_size)),
    " people was estimated by a gamma-Poisson law over a Bayesian network"
  ),
  limits = paste0(
    "this rests on key variables that the intruder knows without error",
    if (length(population_notes(e))) paste0("; ", paste(population_notes(e), collapse = "; "))
  ),
  source = "after Skinner and Shlomo 2008 and Carota and others 2015",
  assuming = individual_missing_clause(x), strata = "risk_by_strata"
)

# Why intervals are not to be relied on.
population_notes <- function(estimates) setdiff(unique(estimates$note), "")

status_words <- function(estimates, measure) {
  status <- measured(estimates, measure, "status")
  if (status == "ok") "" else status
}

# TRUE if an interval keeps a limit but is not known to hold.
undecided <- function(estimates, measure, limit) {
  of <- function(column) measured(estimates, measure, column)
  length(limit) && of("low") <= limit && of("status") != "ok"
}

# The largest risk of a household: that of its riskiest member at least, of all at most.
household_bounds <- function(x) {
  records <- judged_rows(x)
  if (!is.null(records$household_risk)) {
    of <- function(column) measured(x$estimates, "largest", column)
    largest <- max(records$household_risk, na.rm = TRUE)
    list(
      value = largest, low = min(largest, of("low")),
      high = max(largest, min(1, x$diagnostics$n_members * of("high")))
    )
  }
}

# A measure of population_risk().
measured <- function(estimates, measure, column) {
  estimates[[column]][estimates$measure == measure]
}

# Pictures -----------------------------------------------------------------

#' Pictures of the risk in the population
#'
#' Two pictures of a [population_risk()] result; `plot()` draws the same.
#'
#' @param object A result of [population_risk()].
#' @param type `"distribution"`: the risks of the records; `"strata"`: the risks by a variable.
#' @param by,data For `"strata"`: a vector with one value per record, or the
#'   name of a column of `data`, the data the result was made from.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_population_risk
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' plot(population_risk(nals_prison, keys, weight_var = "WEIGHT"))
autoplot.sdc_population_risk <- function(object, type = c("distribution", "strata"), ...,
                                         by = NULL, data = NULL) {
  switch(enter_picture(object, type),
    distribution = plot_population_risks(object),
    strata = plot_strata(
      object, by, data, "Risk in the population by stratum", "risk E(1/F), log scale", log = TRUE
    )
  )
}

plot_population_risks <- function(x) {
  records <- needed_rows(x)
  records$times <- picture_times(x)
  records <- records[!is.na(records$risk), ]
  ggplot2::ggplot(records, ggplot2::aes(x = .data$risk, weight = .data$times)) +
    ggplot2::geom_histogram(bins = 40, fill = sdc_blue) +
    ggplot2::scale_x_log10(labels = plain_numbers) +
    sdc_labs(
      title = "How large are the risks of the records?", x = "risk E(1/F), log scale",
      y = "records"
    )
}

# A line of a print: what population_risk() says of the release.
law_lines <- function(law) {
  if (is.null(law)) {
    return(NULL)
  }
  words <- c(
    journalist = "largest record risk", tau1_rate = "tau1 per record",
    population_uniqueness = "population uniqueness"
  )
  found <- ifelse(is.na(law$value), "", paste0(
    " ", format_risk(law$value), " [", format_risk(law$low), between_numbers(),
    format_risk(law$high), "]"
  ))
  said <- c(ok = "at most", above = "above", unclear = "not known to be at most")[law$verdict]
  said <- ifelse(
    is.na(said), paste0(", not judged: ", law$note),
    paste0(", ", said, " ", format_number(law$limit))
  )
  paste0("In the population (population_risk()): ", words[law$measure], found, said, ".")
}
