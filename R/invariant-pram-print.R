# Declarations of invariant_pram(): figures, print and sentences.

# Releases with other bounds are what is compared.
declare_measure(
  "invariant_pram",
  reference = "nayak", ids = "max_match_prob", aligned = character(),
  terms = c(
    "worst_match_prob", "all_counts_prob", "n_unprotected", "expected_changed", "n_changed",
    "theta_min", "theta_max", "n_blocks"
  ),
  title = "Invariant PRAM with a bound on correct matches",
  question = "how often is a match on all key variables right?",
  size = paste0(
    plural(n_records, "record"),
    if (x$diagnostics$units == "households") {
      paste0(" in ", plural(x$diagnostics$n_households, "household"))
    },
    ", ", plural(length(x$settings$key_vars), "key variable"), ", ", plural(n_cells, "key"), "; ",
    missing_clause("category"), "."
  ),
  worst_match_prob = figure(
    "Largest probability of a correct match", "risk", scenario = "prosecutor", attempt = TRUE,
    limit = promise(max_match_prob, max_match_prob, limit), n_above = n_unprotected,
    note = paste(format_count(n_changed), "of", plural(n_records, "record"), "changed"),
    says = paste0(
      "an intruder who takes one of the ", pram_units_word(x), "s released with the target's ",
      "values for the target's is right with a probability of at most ",
      format_up(worst_match_prob), " given the number of ", pram_units_word(x),
      "s found (the bound asked for: ", format_number(max_match_prob),
      if (n_unprotected > 0) {
        paste0("; it is exceeded by ", plural(n_unprotected, "key"),
               " that could not be protected")
      }, ")"
    )
  ),
  max_match_prob = figure(
    "Bound asked for", "risk", scenario = "prosecutor", direction = "none", board = FALSE
  ),
  all_counts_prob = figure(
    paste0(
      if (max_match_prob < 0.5) "At least, for" else "For",
      " an intruder who uses all frequencies"
    ),
    "risk", scenario = "prosecutor",
    attempt = TRUE, board = FALSE
  ),
  n_risky = figure("Keys above the bound before", "count", scenario = "prosecutor",
                   board = FALSE, print = FALSE),
  n_unprotected = figure(
    "Keys above the bound still", "count", scenario = "prosecutor", board = FALSE
  ),
  n_changed = figure(
    "Changed records", "count", scenario = "none", direction = "none", of = n_records,
    board = FALSE, says = "%s of the records were changed"
  ),
  largest_se_inflation = figure(
    "Growth of standard errors of proportions", "share",
    max(x$variables$se_inflation) - 1, scenario = "none", direction = "none", board = FALSE,
    print = FALSE,
    says = paste(
      "expected counts of all combinations of the key variables are those of the original data,",
      "and standard errors of one-way proportions grow by at most %s"
    )
  ),
  spread = "Records after", risk = judged_rows(x)$match_prob,
  notes = list(
    limit_missed_line(x), if (!is.null(x$diagnostics$torn)) torn_words(x$diagnostics$torn)[[1]],
    told_line(told_unasked(x$diagnostics$told_by_columns), "exchanged values"),
    order_line(x), earlier_line(x),
    "n_matches() and other risk measures do not hold for the released data.",
    plausibility_line(x$plausibility)
  ),
  knows = paste0("the intruder knows ", known_words(x), " and no other variable"),
  next_step = "release_data(x), and only this",
  measured = paste0(
    "The key variables (", paste(x$settings$key_vars, collapse = ", "), ") of ",
    plural(n_records, "record"), if (theta_max == 0) {
      " were left as they are"
    } else {
      " were changed at random by invariant post-randomisation"
    },
    if (theta_max > 0 && length(x$settings$within)) {
      paste0(" inside the levels of ", paste(x$settings$within, collapse = " and "))
    }
  ),
  limits = paste0(
    "the bound does not cover attributes inferred from groups, nor intruders who know other ",
    "variables", if (all_counts_prob > worst_match_prob + 1e-9) {
      paste0(
        " or weigh the released frequency of every key (right with a probability of ",
        if (max_match_prob >= 0.5) "up to ", format_up(all_counts_prob),
        if (max_match_prob < 0.5) " or more", ")"
      )
    }
  ),
  source = "exact calculation after Nayak", assuming = missing_clause("category"), frame = x$cells,
  tables = list(
    variables = x$variables, plausibility = x$plausibility, cells_by_count = cells_by_count(x$cells)
  ),
  strata = "match_prob_by_strata"
)

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

# "record" or "household": what is drawn, counted and matched.
pram_units_word <- function(x) {
  if (x$diagnostics$units == "households") "household" else "record"
}

# Words for the variables that the intruder of the bound knows besides the key variables.
pram_known_beside <- function(x) {
  c(
    setdiff(x$settings$within, x$settings$key_vars),
    if (x$diagnostics$units != "records") "household size"
  )
}

known_words <- function(x) {
  paste(c("all key variables", pram_known_beside(x)), collapse = ", ")
}

plausibility_line <- function(pairs) {
  pairs <- pairs[pairs$n_changed > 0, ]
  if (nrow(pairs) == 0) {
    return(NULL)
  }
  worst <- pairs[which.max(pairs$n_new), ]
  if (worst$n_new == 0) {
    return("Implausible pairs: none; every changed value occurs with values it had before.")
  }
  paste0(
    "Implausible pairs: ", format_percent(worst$prop_new), " of the changed ", worst$variable,
    " values now occur with a value of ", worst$other, " they never had in the original."
  )
}

cells_by_count <- function(cells) {
  sizes <- cut(
    cells$count, c(0, 1, 2, 3, 4, 5, 10, Inf), c("1", "2", "3", "4", "5", "6 to 10", "above 10")
  )
  of <- function(column, f) as.vector(vapply(split(cells[[column]], sizes, drop = TRUE), f, 0))
  frame(
    count = levels(droplevels(sizes)), n_cells = of("count", length),
    stay_prob_min = of("stay_prob", min), match_prob_before = of("match_prob_before", max),
    match_prob = of("match_prob", max)
  )
}

# Four digits, never rounded down: a bound must hold as it is printed.
format_up <- function(x) {
  format_number(ceiling(x * 1e4 - 1e-6) / 1e4)
}
