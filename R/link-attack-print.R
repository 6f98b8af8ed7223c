# Declarations of link_attack(): figures, print and sentences.

declare_measure(
  "link_attack",
  reference = c("fellegi1969", "torra2006"),
  ids = "intruder",
  lead = if (has_links(x)) expected_correct else intruder == x$settings$weights[[1]],
  terms = c("expected_correct", setdiff(names(e), c("intruder", "expected_correct"))),
  each = paste0(" (", intruder, ")"),
  title = "Attack by linkage, key variables weighed",
  question = "how many released records can be led back to the right person?",
  size = paste0(
    plural(main$n_known, "known record"), ", ", format_count(main$n_released), " released",
    if (!is.na(main$n_linked)) paste0(", ", format_count(main$n_linked), " of the same persons"),
    "; ", plural(x$diagnostics$n_keys, "key variable"), "; a missing value says nothing",
    if (nrow(e) == 1) paste0("; intruder: ", intruder), "."
  ),
  expected_correct = figure(
    "Expected correct matches of an intruder", "count",
    ifelse(is.na(expected_correct), own_estimate, expected_correct), scenario = "prosecutor",
    attempt = TRUE, head = "found", of = n_linked, note = ifelse(
      is.na(expected_correct), "by the intruder's own estimate",
      paste("of", plural(n_linked, "person"), "in both files")
    ),
    says = ifelse(
      is.na(expected_correct),
      paste0("they expect to be right for %s of the records (", intruder, " weights)"),
      paste0(
        "the most successful of the intruders (", intruder,
        ") is expected to pick the right record for %s of the persons in both files"
      )
    )
  ),
  n_single_best = figure(
    "Single best matches", "count", scenario = "prosecutor", board = FALSE, head = "single"
  ),
  n_single_best_wrong = figure(
    "Single best matches that are wrong", "count", scenario = "prosecutor", board = FALSE,
    head = "wrong", direction = "less"
  ),
  n_claims_90 = figure(
    "Matches held to be 90% sure", "count", scenario = "prosecutor", board = FALSE,
    head = "90% sure", says = paste0(
      "%s matches are held to be at least 90% sure",
      if (is.na(main$n_linked)) "; true links were not at hand to tell how many are right"
    )
  ),
  n_right_90 = figure(
    "Of these right", "count", scenario = "prosecutor", board = FALSE, head = "right",
    says = "%s of these are right"
  ),
  expected_one_to_one = figure(
    "Correct matches one to one", "count", scenario = "prosecutor", attempt = TRUE, board = FALSE,
    head = "one to one"
  ),
  spread = if (has_links(x)) paste0("Record risk (", x$settings$weights[[1]], ")"),
  notes = list(
    if (!has_links(x) && any(!is.na(judged_rows(x)$posterior))) {
      spread <- record_spread(judged_rows(x)$posterior, times = judged_times(x))
      paste0("Sureness of a match (", x$settings$weights[[1]], "): ", spread, ".")
    },
    attack_distance_line(x), attack_doubt_line(x), attack_ceiling_line(x), attack_key_line(x)
  ),
  scenario = if (x$settings$coverage < 1) "journalist" else "prosecutor",
  knows = if (x$settings$coverage < 1) {
    paste(
      "a released person is in the known file with probability", format_risk(x$settings$coverage)
    )
  } else {
    "released persons are taken to be in the known file"
  },
  measured = paste0(
    "Someone who holds ", plural(main$n_known, "record"), " with names and knows ",
    plural(x$diagnostics$n_keys, "key variable"), " of ",
    plural(main$n_released, "released record"), " compares all pairs of them"
  ),
  found = if (isTRUE(main$n_linked == 0)) {
    "nobody is in both files by their ids, and every match is wrong"
  },
  limits = paste(
    "not considered are knowledge of other variables, similarity of spelling and a search for",
    "one person with outside checks"
  ),
  source = "exact, after Fellegi and Sunter 1969",
  assuming = c(
    paste0("coverage ", format_risk(x$settings$coverage)),
    if (x$settings$by_value) "agreements weighed by value" else "agreements weighed alike",
    "missing values say nothing",
    if (length(x$settings$tolerance)) {
      paste("tolerance for", paste(names(x$settings$tolerance), collapse = ", "))
    }
  ),
  risk = judged_rows(x)$match_prob,
  tables = list(variables = x$variables, levels = x$levels, claims = x$curve),
  strata = "match_prob_by_strata"
)

has_links <- function(x) isTRUE(x$estimates$n_linked[[1]] > 0)

# The variables compared by distance, and the most dangerous distance.
attack_distance_line <- function(x) {
  best <- x$distances[match(x$diagnostics$metric, x$distances$metric), ]
  if (NROW(best) == 0) {
    return(NULL)
  }
  by <- distance_names[[best$metric]]
  paste0(
    "Continuous, compared by distance: ", quote_names(x$diagnostics$continuous), ". ",
    if (is.na(best$expected_correct)) {
      paste0(
        plural(best$n_single_best, "record"), " have one nearest record by ", by,
        ": not known to be wrong."
      )
    } else {
      paste0(
        "Nearest by ", by, ": ", format_one_digit(best$expected_correct), " right [",
        format_amount(best$low), between_numbers(), format_amount(best$high), "]."
      )
    }
  )
}

distance_names <- list(
  standardised = "standardised values", mahalanobis = "Mahalanobis distance", rank = "ranks",
  gower = "Gower's distance", learned = "normal changes that the intruder learned",
  calibrated = "changes of known size", calibrated_rank = "changes of known size in ranks"
)

attack_ceiling_line <- function(x) {
  e <- x$estimates
  ceiling <- if (has_links(x)) c(e$ceiling[which.max(e$expected_correct)], NA)[[1]] else NA
  if (!has_links(x)) {
    if (is.na(e$n_linked[[1]])) {
      "Without true links it is not known which matches are right."
    } else {
      "Nobody is in both files by their ids: every match is wrong."
    }
  } else if (!is.na(ceiling)) {
    paste0(
      "Rules that look at agreement alone get no further than ", format_one_digit(ceiling),
      "; rules that use values can."
    )
  }
}

attack_key_line <- function(x) {
  table <- x$variables
  if (all(is.na(table$loss))) {
    return(NULL)
  }
  most <- which.max(table$loss)
  paste0(
    "Key variable that helps most: ", shorten(table$variable[[most]]), "; without it ",
    format_one_digit(table$without[[most]]), " correct matches are expected."
  )
}

attack_doubt_line <- function(x) {
  phi <- x$diagnostics$phi
  found <- doubts(x)
  if (length(found)) {
    return(paste("The learned weights are in doubt.", found[[1]]))
  }
  if (isTRUE(phi > 0.5)) {
    paste0(
      "Agreements on ", quote_names(x$diagnostics$dependent_keys), " go together (phi ",
      format_risk(phi), "): weights count some evidence twice."
    )
  }
}
