# What a result of invariant_pram() says about itself.

#' @export
as.data.frame.sdc_invariant_pram <- function(x, ...) {
  x$cells
}

#' @export
format.sdc_invariant_pram <- function(x, ...) {
  estimates <- x$estimates
  settings <- x$settings
  c(
    "Invariant PRAM with a bound on correct matches",
    "Question: how often is a match on all key variables right, at worst?",
    paste0(
      plural(estimates$n_records, "record"),
      if (x$diagnostics$units == "households") {
        paste0(" in ", plural(x$diagnostics$n_households, "household"))
      },
      ", ", plural(length(settings$key_vars), "key variable"), ", ",
      plural(estimates$n_cells, "cell"), "; missing is a value of its own."
    ),
    paste0(
      "Promised: P(correct match | S = a) <= ", format_number(estimates$max_match_prob),
      " for every cell and every a >= 1, for whoever knows ", known_words(x),
      " and S, but no other variable."
    ),
    paste0(
      "Achieved: ", format_risk(estimates$worst_match_prob), " at worst (exact); ",
      plural(estimates$n_risky, "cell"), " exceeded the bound before",
      if (estimates$n_unprotected > 0) {
        paste0(", ", format_count(estimates$n_unprotected), " STILL DO")
      },
      "."
    ),
    all_counts_line(x),
    paste0("Records after: ", record_spread(x$records$match_prob), "."),
    paste0(
      "Changed: ", format_count(estimates$n_changed), " of ",
      plural(estimates$n_records, "record"), " (expected ",
      format(estimates$expected_changed, digits = 4), "), in ",
      plural(estimates$n_blocks, "block"), ", theta ", theta_words(estimates), "."
    ),
    paste0(
      "By key variable: ", changed_words(x$variables), "; standard errors of one-way ",
      "proportions grow by at most ", format_percent(max(x$variables$se_inflation) - 1), "."
    ),
    plausibility_line(x$plausibility),
    shift_line(x),
    "Scenario: prosecutor (the target is known to be in the file); given an attempt.",
    "n_matches() and other risk measures do not hold for the released data.",
    "To release: release_data(x), nothing else of x. More: summary(x), interpret(x)."
  )
}

# "record" or "household": what is drawn, counted and matched.
pram_units_word <- function(x) {
  if (x$diagnostics$units == "households") "household" else "record"
}

# What the intruder of the promise knows, as cells are made of it.
known_words <- function(x) {
  beside <- c(
    setdiff(x$settings$within, x$settings$key_vars),
    if (x$diagnostics$units != "records") "household size"
  )
  paste(c("all key variables", beside), collapse = ", ")
}

# Whether the bound also holds for who weighs the counts of all cells. From 1/2
# on the number is the worst case, below it other releases can be worse.
all_counts_line <- function(x) {
  estimates <- x$estimates
  found <- estimates$all_counts_prob
  bound <- max(estimates$max_match_prob, estimates$worst_match_prob) + 1e-9
  above <- sum(x$blocks$n[x$blocks$all_counts_prob > bound])
  exact <- estimates$max_match_prob >= 0.5 || all(x$blocks$n_cells < 3)
  unit <- pram_units_word(x)
  paste0(
    "Who weighs the released counts of all cells: ", if (!exact) {
      paste0(format_up(found), " or more.")
    } else if (above == 0) {
      "the same bound."
    } else {
      paste0("up to ", format_up(found), " (", plural(above, unit), ").")
    }
  )
}

theta_words <- function(estimates) {
  ends <- format(c(estimates$theta_min, estimates$theta_max), digits = 4, trim = TRUE)
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
    return("New pairs of a key value and a value of another column: none.")
  }
  paste0(
    "New pairs of values: most for ", worst$variable, " with ", worst$other, ", ",
    format_percent(worst$prop_new), " of its changes."
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
  base <- summary.sdc_result(object, by, data)
  sizes <- cut(
    object$cells$count, c(0, 1, 2, 3, 4, 5, 10, Inf),
    c("1", "2", "3", "4", "5", "6 to 10", "above 10")
  )
  of <- function(column, f) {
    as.vector(vapply(split(object$cells[[column]], sizes, drop = TRUE), f, 0))
  }
  structure(
    list(
      title = format(object)[c(1, 3, 4, 5, 6)], estimates = base$estimates,
      variables = object$variables, plausibility = object$plausibility,
      cells_by_count = frame(
        count = levels(droplevels(sizes)), n_cells = of("count", length),
        stay_prob_min = of("stay_prob", min),
        match_prob_before = of("match_prob_before", max),
        match_prob = of("match_prob", max)
      ),
      match_prob_by_strata = base$strata
    ),
    class = "sdc_summary"
  )
}

#' @export
record_risk.sdc_invariant_pram <- function(x) {
  x$records$match_prob
}

#' @export
tidy_terms.sdc_invariant_pram <- function(x) {
  list(
    ids = "max_match_prob",
    terms = c(
      "worst_match_prob", "all_counts_prob", "theta_min", "theta_max", "n_blocks",
      "expected_changed",
      "n_changed", "n_unprotected"
    ),
    # Releases with other bounds are what is compared.
    aligned = character()
  )
}

#' @rdname sdc_result
#' @usage NULL
#' @export
glance.sdc_invariant_pram <- function(x, ...) {
  frame(
    n_records = x$estimates$n_records, n_keys = length(x$settings$key_vars),
    n_cells = x$estimates$n_cells, n_risky = x$estimates$n_risky,
    max_match_prob = x$estimates$max_match_prob,
    worst_match_prob = x$estimates$worst_match_prob,
    all_counts_prob = x$estimates$all_counts_prob,
    n_blocks = x$estimates$n_blocks, expected_changed = x$estimates$expected_changed,
    n_changed = x$estimates$n_changed, n_unprotected = x$estimates$n_unprotected,
    se_inflation = max(x$variables$se_inflation), scope = x$settings$scope,
    calibration = x$settings$calibration, units = x$diagnostics$units,
    fingerprint = x$settings$fingerprint
  )
}

#' @export
interpret.sdc_invariant_pram <- function(x, ...) {
  estimates <- x$estimates
  households <- x$diagnostics$units == "households"
  unit <- pram_units_word(x)
  known <- setdiff(x$settings$within, x$settings$key_vars)
  sentence <- paste0(
    "The key variables (", paste(x$settings$key_vars, collapse = ", "), ") of ",
    if (estimates$theta_max > 0) {
      paste0(
        format_count(estimates$n_changed), " of the ", plural(estimates$n_records, "record"),
        " were changed at random by invariant post-randomisation"
      )
    } else {
      paste0("the ", plural(estimates$n_records, "record"), " were left as they are")
    },
    if (estimates$theta_max > 0 && length(x$settings$within)) {
      paste0(" inside the levels of ", paste(x$settings$within, collapse = " and "))
    },
    if (estimates$theta_max > 0) ", so that whoever knows" else "; whoever knows",
    " that a person is in the file, knows all key variables",
    if (length(known)) paste0(" and ", paste(known, collapse = ", ")), " of that ",
    "person", if (x$diagnostics$units != "records") " and the size of the household",
    ", and takes one of the ", unit, "s released with these values for that person's, ",
    "is right with a probability of at most ", format_up(estimates$worst_match_prob),
    " given the number of ", unit, "s found (", if (estimates$n_unprotected > 0) {
      paste0(
        "the bound asked for, ", format_number(estimates$max_match_prob), ", is exceeded by ",
        plural(estimates$n_unprotected, "cell"), " that could not be protected; "
      )
    } else {
      paste0("bound ", format_number(estimates$max_match_prob), "; ")
    },
    "exact calculation after Nayak, prosecutor scenario, given an attempt, missing values a ",
    "category of their own; sdcRisk ", x$settings$version, ")",
    if (estimates$theta_max > 0) {
      paste0(
        "; expected counts of all combinations of the key variables are those of the ",
        "original data, and standard errors of one-way proportions grow by at most ",
        format_percent(max(x$variables$se_inflation) - 1)
      )
    },
    "; the bound does not cover attributes inferred from groups, nor intruders who know ",
    "other variables", if (estimates$all_counts_prob > estimates$worst_match_prob + 1e-9) {
      paste0(
        " or weigh the released counts of all cells (right with a probability of ",
        if (estimates$max_match_prob >= 0.5) "up to ", format_up(estimates$all_counts_prob),
        if (estimates$max_match_prob < 0.5) " or more", ")"
      )
    },
    "."
  )
  structure(sentence, class = c("sdc_sentence", "character"))
}

# Four digits, never rounded down: a bound must hold as it is printed.
format_up <- function(x) {
  format_number(ceiling(x * 1e4 - 1e-6) / 1e4)
}
