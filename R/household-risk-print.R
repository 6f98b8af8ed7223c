# What household_risk() results say of themselves.

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
  n_persons_unique = figure(
    "Persons in households whose composition is unique", "count", scenario = "prosecutor",
    note = paste(plural(n_unique, "household"), "of", format_count(n_households))
  )
)

#' @export
describe.sdc_household_risk <- function(x) {
  e <- x$estimates
  description(
    title = "Households that stand out by who lives together",
    question = paste0(
      "how many households of the file fit a household of which ",
      household_known_words(x), " known?"
    ),
    size = paste0(
      plural(e$n_households, "household"), " of ", plural(e$n, "record"), ", ",
      plural(length(x$settings$person_vars), "key variable"),
      if (length(x$settings$hh_vars)) {
        paste0(" and ", length(x$settings$hh_vars), " of the household")
      },
      "; ", household_missing_clause(x), "."
    ),
    answer = c(
      fact(missing_line(x$diagnostics$missing, x$settings$n), keep = "always"),
      fact(identifying_line(x$diagnostics$identifying), keep = "detail"),
      fact(household_unique_words(e), "."),
      fact(
        "Record risk 1/m: ", format_spread(e$risk_max, e$risk_q99, e$risk_q95), "; mean ",
        format_risk(e$risk_mean), ".",
        keep = "always"
      ),
      household_journalist_facts(e), household_size_grid(x)
    ),
    scenario = scenario(c("prosecutor", if (is_journalist(e)) "journalist")),
    notes = if (is_journalist(e)) {
      fact("The journalist's figures are rough: see ?household_risk.", keep = "detail")
    },
    more = "summary(x), plot(x), interpret(x)",
    sentence = household_cited(x)
  )
}

is_journalist <- function(estimates) !is.null(estimates$journalist_max)

household_known_words <- function(x) {
  switch(x$settings$known,
    "1" = "one member is", "2" = "two members are", all = "all members are"
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

# "12 of 40 households (30 %) are the only ones that fit them; 31 people live there"
household_unique_words <- function(e) {
  paste0(
    format_count(e$n_unique), " of ", plural(e$n_households, "household"), " (",
    format_percent(e$prop_unique), ") ",
    if (e$n_unique == 1) "fits nothing but itself" else "fit nothing but themselves", ", with ",
    plural(e$n_persons_unique, "record"), " (", format_percent(e$prop_persons_unique), ")"
  )
}

household_journalist_facts <- function(e) {
  if (is_journalist(e)) {
    fact(
      "Journalist, E(1/F): ", format_risk(e$expected_reidentifications),
      " households expected to be found by trying all; largest risk ",
      format_risk(e$journalist_max), ", mean of the records ", format_risk(e$journalist_mean), "."
    )
  }
}

# Sizes beyond the last row share one.
household_size_grid <- function(x, most = 6) {
  sizes <- x$sizes
  label <- as.character(sizes$household_size)
  if (nrow(sizes) > most) {
    last <- seq_len(nrow(sizes)) >= most
    label <- c(label[!last], paste(label[[most]], "or more"))
    pooled <- lapply(sizes[c("n_households", "n_unique", "n_persons_unique")], function(counts) {
      c(counts[!last], sum(counts[last]))
    })
    sizes <- do.call(frame, pooled)
  }
  grid(frame(
    members = label, households = format_count(sizes$n_households),
    unique = format_count(sizes$n_unique),
    share = format_percent(sizes$n_unique / sizes$n_households),
    "records in them" = format_count(sizes$n_persons_unique)
  ), nrow(sizes), rest = "more in x$sizes")
}

household_cited <- function(x) {
  e <- x$estimates
  cited(
    measured = paste0(
      "In the file of ", plural(e$n_households, "household"), " with ",
      plural(e$n, "record"), ", the households were counted that fit a household of which ",
      household_known_words(x), " known, by ",
      plural(length(x$settings$person_vars), "key variable"), " of persons",
      if (length(x$settings$hh_vars)) {
        paste0(" and ", length(x$settings$hh_vars), " of the household")
      }
    ),
    found = paste0(
      household_unique_words(e), "; an intruder who knows that a household is in the file ",
      "picks the right one with a probability of ", format_risk(e$risk_mean),
      " on average over the records",
      if (is_journalist(e)) {
        paste0(
          ", one who does not and tries all of them is expected to find about ",
          format_risk(e$expected_reidentifications), " of the ", format_count(e$n_households)
        )
      }
    ),
    limits = paste(
      "values are taken to be right and up to date, households to be in the file with all",
      "their members, and the members known to be those that tell most"
    ),
    source = paste0(
      "compositions of households as keys",
      if (is_journalist(e)) "; journalist risk of Benedetti and Franconi 1998"
    ),
    assuming = household_missing_clause(x)
  )
}

#' @export
summary.sdc_household_risk <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  new_summary(
    object,
    estimates = object$estimates, sizes = object$sizes,
    record_risk = risk_by_strata(object, by, data)
  )
}

#' @export
record_risk.sdc_household_risk <- function(x) {
  x$records$risk
}
