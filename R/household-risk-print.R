# Declarations of household_risk(): figures, print and sentences.

declare_measure(
  "household_risk",
  reference = "mulder", ids = "known",
  terms = c(
    "n_unique", "n_persons_unique", "prop_unique", "prop_persons_unique",
    setdiff(
      names(e), c(
        "known", "n", "n_households", "n_unique", "n_persons_unique", "prop_unique",
        "prop_persons_unique"
      )
    )
  ),
  title = "Households that can be identified by their composition",
  question = paste0(
    "how many households of the file fit a household of which ", household_known_words(x),
    " known?"
  ),
  size = paste0(
    plural(n_households, "household"), " of ", plural(n, "record"), ", ",
    household_keys_words(x), "; ", household_missing_clause(x), "."
  ),
  n_unique = figure(
    "Unique households", "count", scenario = "prosecutor", board = FALSE, of = n_households,
    says = "%s of the households fit nothing but themselves"
  ),
  n_persons_unique = figure(
    "Persons in households whose composition is unique", "count", scenario = "prosecutor", of = n,
    note = paste(plural(n_unique, "household"), "of", format_count(n_households)),
    says = "%s of the records live in these"
  ),
  risk_mean = figure(
    "Mean record risk", "risk", scenario = "prosecutor", attempt = TRUE, board = FALSE,
    says = paste(
      "an intruder who knows that a household is in the file picks the right one with a mean",
      "probability of %s"
    )
  ),
  expected_reidentifications = figure(
    "Households expected to be found", "count", scenario = "journalist", attempt = TRUE,
    board = FALSE, of = n_households, says = paste(
      "an intruder who does not, and tries all of them, is expected to find about %s of the",
      "households"
    )
  ),
  journalist_max = figure(
    "Largest household risk E(1/F)", "risk", scenario = "journalist", attempt = TRUE,
    board = FALSE
  ),
  spread = "Record risk 1/m", risk = x$records$risk,
  notes = list(
    missing_line(x$diagnostics$missing, x$settings$n),
    if (!is.null(e$journalist_max)) {
      "The journalist's figures are rough: see ?household_risk."
    },
    identifying_line(x$diagnostics$identifying)
  ),
  measured = paste0(
    "In the file of ", plural(n_households, "household"), " with ", plural(n, "record"),
    ", the households were counted that fit a household of which ", household_known_words(x),
    " known, by ", household_keys_words(x)
  ),
  limits = paste(
    "values are taken to be right and up to date, households to be in the file with all",
    "their members, and the members known to be those that tell most"
  ),
  source = paste0(
    "compositions of households as keys",
    if (!is.null(e$journalist_max)) "; journalist risk of Benedetti and Franconi 1998"
  ),
  assuming = household_missing_clause(x),
  tables = list(sizes = x$sizes), strata = "record_risk"
)

household_known_words <- function(x) {
  switch(x$settings$known,
    "1" = "one member is", "2" = "two members are", all = "all members are"
  )
}

household_keys_words <- function(x) {
  paste0(
    plural(length(x$settings$person_vars), "key variable"), " of persons",
    if (length(x$settings$hh_vars)) paste0(" and ", length(x$settings$hh_vars), " of the household")
  )
}

household_missing_clause <- function(x) {
  n <- x$diagnostics$n_excluded
  if (x$settings$missing == "exclude" && n > 0) {
    paste(plural(n, "record"), "of households with an incomplete member excluded")
  } else {
    missing_clause(x$settings$missing)
  }
}
