# What a result of invariant_pram() says about itself.

# Releases with other bounds are what is compared.
declare_measure(
  "invariant_pram",
  reference = "nayak", ids = "max_match_prob", aligned = character(),
  terms = c(
    "worst_match_prob", "all_counts_prob", "n_unprotected", "expected_changed", "n_changed",
    "theta_min", "theta_max", "n_blocks"
  ),
  worst_match_prob = figure(
    "Largest probability of a correct match", "risk", scenario = "prosecutor", attempt = TRUE,
    limit = promise(max_match_prob, max_match_prob, limit), n_above = n_unprotected,
    note = paste(format_count(n_changed), "of", plural(n_records, "record"), "changed")
  )
)

#' @export
as.data.frame.sdc_invariant_pram <- function(x, ...) {
  enter_verb("as.data.frame", x)
  x$cells
}

#' @export
describe.sdc_invariant_pram <- function(x) {
  estimates <- x$estimates
  description(
    title = "Invariant PRAM with a bound on correct matches",
    lead = pram_lead(x),
    question = "how often is a match on all key variables right, at worst?",
    size = paste0(
      plural(estimates$n_records, "record"),
      if (x$diagnostics$units == "households") {
        paste0(" in ", plural(x$diagnostics$n_households, "household"))
      },
      ", ", plural(length(x$settings$key_vars), "key variable"), ", ",
      plural(estimates$n_cells, "cell"), "; ", missing_clause("category"), "."
    ),
    answer = c(
      fact(promised_line(x), starts = TRUE),
      fact(achieved_line(estimates)),
      fact(all_counts_line(x), keep = "detail"),
      fact(told_line(x$diagnostics$told_by_columns, "exchanged values"), keep = "always"),
      fact(
        "Records after: ",
        record_spread(judged_rows(x)$match_prob, times = judged_times(x)), ".", keep = "always"
      ),
      pram_change_facts(x), fact(order_line(x), keep = "always"),
      fact(earlier_line(x))
    ),
    scenario = scenario("prosecutor", paste0(
      "the intruder knows ", paste(c("all key variables", pram_known_beside(x)), collapse = ", "),
      " and no other variable"
    )),
    notes = c(
      fact("n_matches() and other risk measures do not hold for the released data."),
      fact("To release: release_data(x), nothing else of x.", keep = "always")
    ),
    more = "summary(x), interpret(x)",
    sentence = pram_cited(x)
  )
}

# What must be read first: a bound above the limit, households that are torn apart.
pram_lead <- function(x) {
  torn <- x$diagnostics$torn
  words <- c(limit_missed_line(x), if (!is.null(torn)) torn_words(torn)[[1]])
  if (length(words)) paste(words, collapse = " ")
}

promised_line <- function(x) {
  paste0(
    "Promised: whichever number of ", pram_units_word(x),
    "s is found, a match is right with probability at most ",
    format_number(x$estimates$max_match_prob), "."
  )
}

achieved_line <- function(estimates) {
  paste0(
    "Achieved: ", format_risk(estimates$worst_match_prob), " at worst (exact); ",
    plural(estimates$n_risky, "cell"), " exceeded the bound before",
    if (estimates$n_unprotected > 0) {
      paste0(", ", format_count(estimates$n_unprotected), " STILL ",
             if (estimates$n_unprotected == 1) "DOES" else "DO")
    },
    "."
  )
}

# A bound on matches need not keep the limit by which a file is checked.
limit_missed_line <- function(x) {
  limit <- x$settings$limit
  words <- if (is.null(limit)) "the risk of k = 3" else paste("the limit of", format_number(limit))
  if (is.null(limit)) limit <- 1 / 3
  times <- x$estimates$worst_match_prob / limit
  if (times > 1 + 1e-9) {
    paste0(
      "Worst case ", format_risk(x$estimates$worst_match_prob), ": ",
      format_number(signif(times, 2)), " times ", words, "."
    )
  }
}

# What became of the data.
pram_change_facts <- function(x) {
  estimates <- x$estimates
  c(
    fact(
      "Changed: ", format_count(estimates$n_changed), " of ",
      plural(estimates$n_records, "record"), " (expected ",
      format_amount(estimates$expected_changed), "), in ",
      plural(estimates$n_blocks, "block"), ", theta ", theta_words(estimates), ".",
      keep = "detail"
    ),
    fact(
      "By key variable: ", changed_words(x$variables), "; standard errors of one-way ",
      "proportions grow by at most ", format_percent(max(x$variables$se_inflation) - 1), ".",
      keep = "aside"
    ),
    fact(plausibility_line(x$plausibility), keep = "detail"),
    fact(shift_line(x), keep = "detail")
  )
}

# "record" or "household": what is drawn, counted and matched.
pram_units_word <- function(x) {
  if (x$diagnostics$units == "households") "household" else "record"
}

# What the intruder of the promise knows, as cells are made of it.
pram_known_beside <- function(x) {
  c(
    setdiff(x$settings$within, x$settings$key_vars),
    if (x$diagnostics$units != "records") "household size"
  )
}

known_words <- function(x) {
  paste(c("all key variables", pram_known_beside(x)), collapse = ", ")
}

# Whether the bound also holds for an intruder who weighs the counts of all cells.
# From 1/2 on the number is the worst case, below it other releases can be worse.
all_counts_line <- function(x) {
  estimates <- x$estimates
  found <- estimates$all_counts_prob
  bound <- max(estimates$max_match_prob, estimates$worst_match_prob) + 1e-9
  above <- sum(x$blocks$n[x$blocks$all_counts_prob > bound])
  exact <- estimates$max_match_prob >= 0.5 || all(x$blocks$n_cells < 3)
  unit <- pram_units_word(x)
  paste0(
    "For an intruder who weighs the released counts of all cells: ", if (!exact) {
      paste0(format_up(found), " or more.")
    } else if (above == 0) {
      "the same bound."
    } else {
      paste0("up to ", format_up(found), " (", plural(above, unit), ").")
    }
  )
}

theta_words <- function(estimates) {
  ends <- format_short(c(estimates$theta_min, estimates$theta_max))
  if (ends[[1]] == ends[[2]]) ends[[1]] else paste(ends[[1]], "to", ends[[2]])
}

changed_words <- function(variables, most = 5) {
  shown <- utils::head(variables[order(-variables$n_changed), ], most)
  rest <- nrow(variables) - nrow(shown)
  paste0(
    paste(shown$variable, format_count(shown$n_changed), collapse = ", "),
    if (rest > 0) paste0(" and ", rest, " more")
  )
}

plausibility_line <- function(pairs) {
  pairs <- pairs[pairs$n_changed > 0, ]
  if (nrow(pairs) == 0) {
    return(NULL)
  }
  worst <- pairs[which.max(pairs$n_new), ]
  if (worst$n_new == 0) {
    return("Implausible pairs: none; every changed value stands beside values it had before.")
  }
  paste0(
    "Implausible pairs: ", format_percent(worst$prop_new), " of the changed ", worst$variable,
    " values now stand beside a value of ", worst$other, " they never had in the original."
  )
}

shift_line <- function(x) {
  if (is.null(x$diagnostics$largest_shift)) {
    return(NULL)
  }
  paste0(
    "Expected weighted counts of one-way margins shift by up to ",
    format_percent(x$diagnostics$largest_shift), "."
  )
}

#' @export
summary.sdc_invariant_pram <- function(object, by = NULL, data = NULL, ...) {
  enter_verb("summary", object)
  sizes <- cut(
    object$cells$count, c(0, 1, 2, 3, 4, 5, 10, Inf),
    c("1", "2", "3", "4", "5", "6 to 10", "above 10")
  )
  of <- function(column, f) {
    as.vector(vapply(split(object$cells[[column]], sizes, drop = TRUE), f, 0))
  }
  new_summary(
    object,
    estimates = object$estimates, variables = object$variables,
    plausibility = object$plausibility,
    cells_by_count = frame(
      count = levels(droplevels(sizes)), n_cells = of("count", length),
      stay_prob_min = of("stay_prob", min),
      match_prob_before = of("match_prob_before", max),
      match_prob = of("match_prob", max)
    ),
    match_prob_by_strata = risk_by_strata(object, by, data),
    title = c(promised_line(object), achieved_line(object$estimates), all_counts_line(object))
  )
}

#' @export
record_risk.sdc_invariant_pram <- function(x) {
  judged_rows(x)$match_prob
}

pram_cited <- function(x) {
  estimates <- x$estimates
  changed <- estimates$theta_max > 0
  cited(
    measured = paste0(
      "The key variables (", paste(x$settings$key_vars, collapse = ", "), ") of ",
      if (changed) {
        paste0(
          format_count(estimates$n_changed), " of the ", plural(estimates$n_records, "record"),
          " were changed at random by invariant post-randomisation"
        )
      } else {
        paste0("the ", plural(estimates$n_records, "record"), " were left as they are")
      },
      if (changed && length(x$settings$within)) {
        paste0(" inside the levels of ", paste(x$settings$within, collapse = " and "))
      }
    ),
    found = pram_found_words(x),
    limits = paste0(
      "the bound does not cover attributes inferred from groups, nor intruders who know other ",
      "variables", if (estimates$all_counts_prob > estimates$worst_match_prob + 1e-9) {
        paste0(
          " or weigh the released counts of all cells (right with a probability of ",
          if (estimates$max_match_prob >= 0.5) "up to ", format_up(estimates$all_counts_prob),
          if (estimates$max_match_prob < 0.5) " or more", ")"
        )
      }
    ),
    source = "exact calculation after Nayak", assuming = missing_clause("category")
  )
}

# What the intruder of the promise achieves, and what analysts lose.
pram_found_words <- function(x) {
  estimates <- x$estimates
  unit <- pram_units_word(x)
  bound <- format_number(estimates$max_match_prob)
  paste0(
    "an intruder who takes one of the ", unit, "s released with the target's values for the ",
    "target's is right with a probability of at most ", format_up(estimates$worst_match_prob),
    " given the number of ", unit, "s found (",
    if (estimates$n_unprotected > 0) {
      paste0(
        "the bound asked for, ", bound, ", is exceeded by ",
        plural(estimates$n_unprotected, "cell"), " that could not be protected"
      )
    } else {
      paste("bound", bound)
    }, ")",
    if (estimates$theta_max > 0) {
      paste0(
        "; expected counts of all combinations of the key variables are those of the ",
        "original data, and standard errors of one-way proportions grow by at most ",
        format_percent(max(x$variables$se_inflation) - 1)
      )
    }
  )
}

# Four digits, never rounded down: a bound must hold as it is printed.
format_up <- function(x) {
  format_number(ceiling(x * 1e4 - 1e-6) / 1e4)
}
