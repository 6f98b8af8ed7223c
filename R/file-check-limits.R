# Limits of a file judged as its page judges them, without the rest of the page: for remedies and
# scripts, so that all say the same of a file.

# Limits of the population, which one law judges, by the names of the page.
law_limits <- c("journalist", "tau1_rate", "population_uniqueness")

# The rows of measures() of the methods that `limit` asks for.
limit_rows <- function(file, limit) {
  limit <- check_limits(limit)
  asked <- c(
    list(limit = limit, p = 3, missing = "wildcard"),
    file$roles[c("hh_id", "sensitive", "strata_var")]
  )
  asked$facts <- population_facts(file)
  asked$unit_id <- repeated_id(file)
  asked$id_left_out <- file$id_left_out
  coded <- coded_page(file, asked, columns = FALSE)
  # Nobody sees the results: prints of the file, half of their time, are left out.
  running$passing <- TRUE
  file$codes$shared <- TRUE
  about <- page_figures()
  of_law <- about$measure[about$method == "population_risk"]
  # Of risks of records, all below the limit serve as well as their bounds.
  if (all(intersect(names(limit), of_law) %in% law_limits)) running$least <- limit$journalist
  on.exit({
    running$passing <- FALSE
    running$least <- NULL
    file$codes$shared <- NULL
  })
  found <- run_methods(file, coded$asked, limit_methods(limit))$found
  rows <- check_rows(found, coded$asked, about[about$measure %in% names(limit), ])
  of_records <- check_records_of(found, coded$table, coded$asked)
  rows$n_records_above <- as_count(unname(of_records$n_above[rows$measure]))
  page_measures(rows)
}

# Methods of the page that a limit asks for.
limit_methods <- function(limit) {
  methods <- list(
    n_matches = c("check_matches", "n_matches", "check_matches_on", "check_matches_of_units"),
    qar_risk = "check_qar", population_risk = "check_law"
  )
  asked <- unique(page_figures()$method[page_figures()$measure %in% names(limit)])
  unlist(lapply(asked, function(method) {
    if (is.null(methods[[method]])) method else methods[[method]]
  }))
}

# The rows of the page for limits of the population after a remedy: `measure`, `value`, `low`,
# `high`, `limit`, `verdict`, `note`. `roles` are those the remedy knows.
law_verdicts <- function(data, roles, limit) {
  limit <- limit[intersect(law_limits, names(limit))]
  roles <- roles[intersect(names(roles), c(
    "key_vars", "weight_var", "hh_id", "pop_size", "sampling_fraction"
  ))]
  columns <- c("measure", "value", "low", "high", "limit", "verdict", "note")
  tryCatch(
    {
      file <- as_file(do.call(sdc_file, c(list(bare_data(data)), roles), quote = TRUE), "data")
      # Matches say if a limit is kept for certain.
      rows <- limit_rows(file, c(limit, list(k = 1)))
      rows <- rows[match(names(limit), rows$measure), columns]
      rownames(rows) <- NULL
      rows
    },
    sdcRisk_error = function(e) {
      frame(
        measure = names(limit), value = NA_real_, low = NA_real_, high = NA_real_,
        limit = unlist(limit, use.names = FALSE), verdict = "not judged", note = first_line(e)
      )
    }
  )
}
