# Declarations of population_risk(): figures, print and sentences.

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
  uniqueness = figure(
    "Population uniqueness", "share", measured(e, "uniqueness", "value"),
    low = measured(e, "uniqueness", "low"),
    high = measured(e, "uniqueness", "high"), scenario = "journalist",
    key = "population_uniqueness", note = status_words(e, "uniqueness"),
    question = "What share of the people is unique in the population?",
    unclear = undecided(e, "uniqueness", limit$population_uniqueness)
  ),
  correctness = figure(
    "Distinct keys per person", "share", measured(e, "correctness", "value"),
    low = measured(e, "correctness", "low"),
    high = measured(e, "correctness", "high"), scenario = "journalist",
    note = status_words(e, "correctness")
  ),
  tau1 = figure(
    "Population uniques, tau1", "count", measured(e, "tau1", "value"),
    low = measured(e, "tau1", "low"),
    high = measured(e, "tau1", "high"), scenario = "journalist", key = "tau1",
    question = "How many sample uniques are population uniques?",
    note = status_words(e, "tau1"), unclear = undecided(e, "tau1", limit$tau1),
    says = "%s records are unique in the population"
  ),
  tau1_rate = figure(
    "tau1, share", "share", measured(e, "tau1", "value") / x$diagnostics$n,
    low = measured(e, "tau1", "low") / x$diagnostics$n,
    high = measured(e, "tau1", "high") / x$diagnostics$n, scenario = "journalist",
    key = "tau1_rate", question = "What share of the records is that?", board = FALSE,
    print = FALSE, unclear = undecided(e, "tau1", limit$tau1_rate * x$diagnostics$n)
  ),
  tau2 = figure(
    "Correct matches, tau2", "count", measured(e, "tau2", "value"),
    low = measured(e, "tau2", "low"),
    high = measured(e, "tau2", "high"), scenario = "journalist", key = "tau2",
    question = "How many sample uniques are matched correctly?",
    note = status_words(e, "tau2"), unclear = undecided(e, "tau2", limit$tau2), attempt = TRUE
  ),
  reidentifications = figure(
    "Expected re-identifications", "count", measured(e, "reidentifications", "value"),
    low = measured(e, "reidentifications", "low"),
    high = measured(e, "reidentifications", "high"), scenario = "journalist",
    key = "expected_reidentifications",
    question = "How many people does an intruder find who tries every record?",
    note = status_words(e, "reidentifications"),
    unclear = undecided(e, "reidentifications", limit$expected_reidentifications),
    attempt = TRUE,
    says = paste(
      "an intruder who does not know who is in the file and tries every record is expected to",
      "find %s people"
    )
  ),
  reidentification_rate = figure(
    "Re-identifications, share", "share",
    measured(e, "reidentifications", "value") / x$diagnostics$n,
    low = measured(e, "reidentifications", "low") / x$diagnostics$n,
    high = measured(e, "reidentifications", "high") / x$diagnostics$n, scenario = "journalist",
    key = "reidentification_rate", question = "What share is found?", attempt = TRUE,
    board = FALSE, print = FALSE, unclear = undecided(
      e, "reidentifications", limit$reidentification_rate * x$diagnostics$n
    )
  ),
  largest = figure(
    "Largest record risk", "risk", measured(e, "largest", "value"),
    low = measured(e, "largest", "low"),
    high = measured(e, "largest", "high"), scenario = "journalist", key = "journalist",
    note = status_words(e, "largest"), unclear = undecided(e, "largest", limit$journalist),
    question = "How likely is the riskiest record found?", attempt = TRUE,
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
