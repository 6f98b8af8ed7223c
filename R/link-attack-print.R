# What link_attack() says.

declare_measure(
  "link_attack",
  reference = "fellegi1969",
  ids = "intruder", lead = expected_correct,
  terms = c("expected_correct", setdiff(names(e), c("intruder", "expected_correct"))),
  each = paste0(" (", intruder, ")"),
  expected_correct = figure(
    "Expected correct matches of an intruder", "count",
    ifelse(is.na(expected_correct), own_estimate, expected_correct), scenario = "prosecutor",
    attempt = TRUE, note = ifelse(
      is.na(expected_correct), "by the intruder's own estimate",
      paste("of", plural(n_linked, "person"), "in both files")
    )
  )
)

#' @export
describe.sdc_link_attack <- function(x) {
  description(
    title = "Attack by linkage, key variables weighed",
    question = "how many released records can be led back to the right person?",
    size = attack_size_line(x),
    answer = c(
      grid(attack_table(x), least = nrow(x$estimates), keep = "always"),
      fact(attack_largest_line(x), keep = "always"),
      fact(attack_ceiling_line(x)),
      fact(attack_claim_line(x)),
      fact(attack_record_line(x), keep = "always"),
      fact(attack_doubt_line(x)),
      fact(attack_key_line(x), keep = "detail")
    ),
    scenario = attack_scenario(x),
    more = "x$curve, x$variables, summary(x), plot(x), interpret(x)",
    sentence = attack_cited(x)
  )
}

has_links <- function(x) isTRUE(x$estimates$n_linked[[1]] > 0)

attack_scenario <- function(x) {
  rho <- x$settings$coverage
  if (rho < 1) {
    scenario("journalist", paste(
      "a released person is in the known file with probability", format_risk(rho)
    ))
  } else {
    scenario("prosecutor", "released persons are taken to be in the known file")
  }
}

attack_size_line <- function(x) {
  e <- x$estimates[1, ]
  paste0(
    plural(e$n_known, "known record"), ", ", format_count(e$n_released), " released",
    if (!is.na(e$n_linked)) paste0(", ", format_count(e$n_linked), " of the same persons"),
    "; ", plural(x$diagnostics$n_keys, "key variable"), "; a missing value says nothing."
  )
}

attack_table <- function(x) {
  e <- x$estimates
  known <- !is.na(e$n_linked[[1]])
  blank <- function(text, number) ifelse(is.na(number), "", text)
  shown <- list(intruder = e$intruder)
  if (known) {
    shown$found <- format_one_digit(e$expected_correct)
    shown$share <- format_percent(e$prop_expected)
  }
  shown$single <- e$n_single_best
  if (known) shown$wrong <- e$n_single_best_wrong
  shown$sure_90 <- blank(format_count(e$n_claims_90), e$n_claims_90)
  if (known) shown$right <- blank(format_one_digit(e$n_right_90), e$n_right_90)
  if (!is.null(e$expected_one_to_one)) {
    shown$one_to_one <- blank(format_one_digit(e$expected_one_to_one), e$expected_one_to_one)
  }
  do.call(frame, shown)
}

# The intruder who gets most, of those tried.
largest_intruder <- function(x) {
  x$estimates[which.max(x$estimates$expected_correct), ]
}

# Nobody is known to be in both files: because ids are not at hand, or by the ids.
no_links_words <- function(x, end) {
  if (is.na(x$estimates$n_linked[[1]])) {
    paste0("Without true links it is not known which matches are right", end)
  } else {
    paste0("Nobody is in both files by their ids: every match is wrong", end)
  }
}

attack_largest_line <- function(x) {
  if (!has_links(x)) {
    return(no_links_words(x, "."))
  }
  most <- largest_intruder(x)
  paste0(
    "Largest of the intruders tried: ", format_one_digit(most$expected_correct), " (",
    most$intruder, ")."
  )
}

attack_ceiling_line <- function(x) {
  ceiling <- if (has_links(x)) largest_intruder(x)$ceiling else NA
  if (!is.na(ceiling)) {
    paste0(
      "Rules that look at agreement alone get no further than ", format_one_digit(ceiling),
      "; rules that use values can."
    )
  }
}

# The row of the first intruder who weighs; none where only counting was asked.
main_attack <- function(x) {
  e <- x$estimates
  e[e$intruder == x$settings$weights[[1]] & e$intruder != "count", ]
}

attack_claim_line <- function(x) {
  e <- main_attack(x)
  if (nrow(e) == 0) {
    return(NULL)
  }
  paste0(
    "Sure of a match to at least 90 % (", e$intruder, "): ", format_count(e$n_claims_90),
    " of ", plural(e$n_released, "record"),
    if (isTRUE(e$n_claims_90 > 0) && !is.na(e$n_right_90)) {
      paste0(
        ", right for ", format_one_digit(e$n_right_90), " (",
        format_percent(e$n_right_90 / e$n_claims_90), ")"
      )
    }, "."
  )
}

# The risk of single records; without true links, how sure the intruder is.
attack_record_line <- function(x) {
  main <- x$settings$weights[[1]]
  spread <- function(name) record_spread(judged_rows(x)[[name]], times = judged_times(x))
  if (has_links(x)) {
    paste0("Record risk (", main, "): ", spread("match_prob"), ".")
  } else if (any(!is.na(judged_rows(x)$posterior))) {
    paste0("Sureness of a match (", main, "): ", spread("posterior"), ".")
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

attack_cited <- function(x) {
  e <- x$estimates
  cited(
    measured = paste0(
      "Someone who holds ", plural(e$n_known[[1]], "record"), " with names and knows ",
      plural(x$diagnostics$n_keys, "key variable"), " of ",
      plural(e$n_released[[1]], "released record"), " compares all pairs of them"
    ),
    found = if (has_links(x)) found_words(x) else blind_words(x),
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
    )
  )
}

found_words <- function(x) {
  e <- x$estimates
  words <- c(
    calibrated = "when they know how often each key variable changes",
    prior = paste(
      "when they believe that every key variable agrees with probability",
      format_number(x$settings$prior_match)
    ),
    em = "when they must learn it from the files", count = "when they only count differences"
  )
  rows <- e[match(intersect(all_intruders, e$intruder), e$intruder), ]
  parts <- paste0(
    format_one_digit(rows$expected_correct), " (", format_percent(rows$prop_expected), ") ",
    words[rows$intruder]
  )
  main <- main_attack(x)
  paste0(
    "of ", plural(e$n_linked[[1]], "person"), " in both files they are expected to pick the right ",
    "record for ", paste(parts, collapse = ", "),
    if (nrow(main) == 1) {
      paste0(
        "; of the matches they would hold to be at least 90 % sure (",
        format_count(main$n_claims_90), ", ", main$intruder, "), ",
        format_one_digit(main$n_right_90), " are right"
      )
    }
  )
}

blind_words <- function(x) {
  main <- main_attack(x)
  paste0(
    if (nrow(main) == 1) {
      paste0(
        "they expect to be right for ", format_one_digit(main$own_estimate), " (", main$intruder,
        " weights), and are at least 90 % sure of ", format_count(main$n_claims_90)
      )
    } else {
      paste0("they find a single best match for ", format_count(x$estimates$n_single_best[[1]]))
    },
    if (is.na(x$estimates$n_linked[[1]])) {
      "; true links were not at hand to tell how many matches are right"
    } else {
      "; nobody is in both files by their ids, and every match is wrong"
    }
  )
}

#' @export
summary.sdc_link_attack <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  new_summary(
    object,
    estimates = object$estimates, variables = object$variables, levels = object$levels,
    claims = object$curve,
    match_prob_by_strata = risk_by_strata(object, by, data)
  )
}

#' @export
record_risk.sdc_link_attack <- function(x) {
  judged_rows(x)$match_prob
}
