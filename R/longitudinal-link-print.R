# What longitudinal_link() says.

declare_measure(
  "longitudinal_link",
  reference = "li2021", terms = c("expected_correct", setdiff(names(e), "expected_correct")),
  expected_correct = figure(
    "Respondents of both waves expected to be linked correctly", "count",
    scenario = "prosecutor", attempt = TRUE, note = paste("of", format_count(n_linked))
  ),
  n_certain = figure("Respondents linked with certainty", "count", scenario = "prosecutor")
)

#' @export
describe.sdc_longitudinal_link <- function(x) {
  description(
    title = "Linkage of two survey waves without ids",
    question = paste(
      "how many respondents could an intruder follow from wave 1 to wave 2, and how surely?"
    ),
    size = link_size_line(x),
    answer = c(
      fact(link_difference_line(x), keep = "detail"),
      link_match_facts(x),
      fact(link_weighted_line(x)),
      fact(link_overlap_line(x), keep = "detail"),
      fact(link_rule_line(x)),
      fact(link_sensitivity_line(x), keep = "detail")
    ),
    scenario = link_scenario(),
    more = "summary(x), plot(x), interpret(x)",
    sentence = link_cited(x)
  )
}

# What the intruder of a linkage does.
link_scenario <- function() {
  scenario("journalist", paste(
    "the intruder holds both files and takes one of the wave-1 records that differ in fewest",
    "key variables"
  ))
}

link_size_line <- function(x) {
  estimates <- x$estimates
  paste0(
    plural(estimates$n_wave1, "record"), " in wave 1, ", format_count(estimates$n_wave2),
    " in wave 2", if (!is.na(estimates$n_linked)) {
      paste0(
        ", ", format_count(estimates$n_linked), " of them (",
        format_percent(estimates$prop_linked), ") in both"
      )
    }, "; ", plural(x$diagnostics$n_keys, "key variable"), "; missing never differs."
  )
}

link_difference_line <- function(x) {
  table <- x$differences[!is.na(x$differences$n_diff), ]
  shown <- utils::head(table, 3)
  rest <- sum(table$n) - sum(shown$n)
  none <- x$estimates$n_wave2 - sum(table$n)
  parts <- paste0(shown$n_diff, " for ", format_percent(shown$n / x$estimates$n_wave2))
  if (rest > 0) {
    parts <- c(parts, paste0("more for ", format_percent(rest / x$estimates$n_wave2)))
  }
  if (none > 0) {
    parts <- c(parts, paste0("no admissible record for ", format_percent(
      none / x$estimates$n_wave2
    )))
  }
  paste0("Smallest number of differing key variables: ", paste(parts, collapse = ", "), ".")
}

link_match_facts <- function(x) {
  estimates <- x$estimates
  single <- paste0(
    "Single best matches: ", format_count(estimates$n_single_best), " of ",
    format_count(estimates$n_wave2), " wave-2 records"
  )
  if (is.na(estimates$n_linked)) {
    return(c(fact(single, "."), fact("Without `id` it is not known which matches are right.")))
  }
  c(
    fact(
      "Certain matches: ", format_count(estimates$n_certain), of_linked(estimates$prop_certain),
      ". Expected correct matches: ", format_one_digit(estimates$expected_correct),
      of_linked(estimates$prop_expected), "."
    ),
    if (estimates$n_linked > 0) {
      fact(
        "Matching probability of a record in both waves: ", format_spread(
          estimates$match_prob_max, estimates$match_prob_q99, estimates$match_prob_q95
        ), ".",
        keep = "always"
      )
    },
    fact(
      single, if (estimates$n_single_best > 0) {
        paste0(
          "; ", are_wrong(estimates$n_single_best_wrong), " (",
          format_percent(estimates$prop_false),
          "), which the intruder cannot tell from the right ones"
        )
      }, "."
    )
  )
}

# What another rule than counting gets from the same files.
link_weighted_line <- function(x) {
  weighted <- x$estimates$expected_weighted
  if (isTRUE(x$estimates$n_linked > 0 & weighted >= 0)) {
    paste0(
      "An intruder who weighs the key variables: ", format_one_digit(weighted),
      " correct matches expected", of_linked(weighted / x$estimates$n_linked),
      ", see link_attack()."
    )
  }
}

are_wrong <- function(n) {
  paste(format_count(n), if (n == 1) "is wrong" else "are wrong")
}

link_overlap_line <- function(x) {
  best <- best_overlap(x$overlap, x$settings$min_overlap)
  if (is.null(best)) {
    return(NULL)
  }
  range <- range(x$overlap$expected_correct)
  paste0(
    "Over all least numbers of shared key variables (`min_overlap`): ",
    format_one_digit(range[[1]]), " to ", format_one_digit(range[[2]]),
    " correct matches expected, most with ",
    best$min_overlap, "."
  )
}

of_linked <- function(share) {
  if (is.na(share)) "" else paste0(" (", format_percent(share), " of those in both)")
}

link_rule_line <- function(x) {
  rules <- link_rules(x)
  if (length(rules)) paste0("Rules: ", paste(rules, collapse = "; "), ".")
}

# What was asked of a match beside few differing keys.
link_rules <- function(x) {
  excluded <- x$rules$prop_excluded
  c(
    if (x$settings$min_overlap > 0) {
      paste0(
        "a match shares at least ", plural(x$settings$min_overlap, "observed key variable")
      )
    },
    if (!is.null(x$settings$tolerance)) {
      paste0("admissible changes of ", paste0(
        names(x$settings$tolerance),
        if (!is.null(excluded)) {
          ifelse(excluded %in% c(0, NA), "", paste0(
            " (excludes ", format_percent(excluded), " of the true partners)"
          ))
        },
        collapse = ", "
      ))
    }
  )
}

link_sensitivity_line <- function(x) {
  table <- x$sensitivity
  if (is.null(table)) {
    return(NULL)
  }
  most <- which.min(table$change)
  paste0(
    "Key variable that helps the intruder most: ", table$variable[[most]], "; without it ",
    format_one_digit(table$expected_correct[[most]]), " correct matches are expected."
  )
}

link_cited <- function(x) {
  estimates <- x$estimates
  cited(
    measured = paste0(
      "The released files of wave 1 (", plural(estimates$n_wave1, "record"), ") and wave 2 (",
      plural(estimates$n_wave2, "record"), ") were linked without ids on ",
      plural(x$diagnostics$n_keys, "key variable")
    ),
    found = paste(
      "the intruder", if (is.na(estimates$n_linked)) single_best_words(estimates) else link_words(x)
    ),
    limits = paste(
      "the figures describe these two files and these key variables, and other knowledge can",
      "link more"
    ),
    source = "exact counts after Li, Li, Krenzke and Chang 2021",
    assuming = c("missing values never differ", link_rules(x))
  )
}

single_best_words <- function(estimates) {
  paste0(
    "finds a single best match for ", plural(estimates$n_single_best, "record"),
    ", right or wrong: ids were not at hand to tell"
  )
}

link_words <- function(x) {
  estimates <- x$estimates
  if (estimates$n_linked == 0) {
    return(paste0(
      "can link nobody correctly, as there are 0 respondents of both waves",
      if (estimates$n_single_best > 0) {
        paste0(", and finds ", plural(estimates$n_single_best, "wrong single best match", "es"))
      }
    ))
  }
  best <- best_overlap(x$overlap, x$settings$min_overlap)
  paste0(
    "is expected to link ", format_one_digit(estimates$expected_correct), " of the ",
    plural(estimates$n_linked, "respondent"), " of both waves correctly (",
    format_percent(estimates$prop_expected), "), ", format_count(estimates$n_certain),
    " of them with certainty (", format_percent(estimates$prop_certain), "); ",
    if (estimates$n_single_best == 0) {
      "no record has a single best match"
    } else {
      paste0(
        format_count(estimates$n_single_best_wrong), " of the ",
        plural(estimates$n_single_best, "single best match", "es"),
        if (estimates$n_single_best_wrong == 1) " is" else " are",
        " wrong and cannot be told from right ones by the intruder"
      )
    },
    if (isTRUE(best$more)) {
      paste0(
        "; an intruder who takes only matches that share ",
        plural(best$min_overlap, "observed key variable"), " is expected to link ",
        format_one_digit(best$expected)
      )
    }
  )
}

#' @export
summary.sdc_longitudinal_link <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  new_summary(
    object,
    estimates = object$estimates, smallest_differences = object$differences,
    by_min_overlap = object$overlap, rules = object$rules, without_a_key = object$sensitivity,
    match_prob_by_strata = risk_by_strata(object, by, data)
  )
}

#' @export
record_risk.sdc_longitudinal_link <- function(x) {
  judged_rows(x)$match_prob
}
