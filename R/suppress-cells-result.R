# What suppress_cells() reports of a release.

new_suppression <- function(found, data, table, sets, links, settings, weights,
                            this_call) {
  cells <- frame(
    record = found$record, variable = table$variables[found$variable], reason = found$reason
  )
  records <- suppression_records(found, table$n)
  variables <- suppression_variables(cells, table, settings)
  released <- blank_cells(data, split(cells$record, cells$variable))
  risks <- suppression_risks(data, released, sets$variables, weights)
  result <- new_sdc_result(
    "sdc_suppress_cells",
    estimates = suppression_estimates(found, records, settings, risks),
    records = records,
    settings = suppression_settings(table, sets, links, settings),
    diagnostics = list(
      n_keys = length(sets$variables), n_sets = length(sets$sets),
      whole_costs = all(settings$importance == 1), restricted = found$restricted,
      bound_steps = found$bound_steps, n_improved = found$improved,
      n_blank_patterns = n_blank_patterns(cells), missing = missing_cells(table, data)
    ),
    call = this_call, data = released, cells = cells, variables = variables,
    sets = suppression_by_set(found, sets, settings)
  )
  if (result$estimates$n_suppressed == 0) {
    inform_sdc(
      "nothing_to_do",
      paste0("Every record has at least ", settings$k, " matches: no cell is blanked.")
    )
  }
  result
}

# The data with the given rows of each named column missing.
blank_cells <- function(data, rows) {
  if (length(rows) == 0) {
    return(data)
  }
  is_data_table <- inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)
  if (is_data_table) {
    data <- data.table::copy(data)
  }
  for (name in names(rows)) {
    values <- blank_values(data[[name]], rows[[name]])
    if (is_data_table) {
      data.table::set(data, j = name, value = values)
    } else {
      data[[name]] <- values
    }
  }
  data
}

# Missing values in place, whatever the class: its methods may not be loaded, or
# may refuse.
blank_values <- function(x, rows) {
  kept <- attributes(x)
  # The missing integer64 has the bits of -0.
  missing <- if (inherits(x, "integer64")) -0.0 else NA
  bare <- unclass(x)
  bare[rows] <- missing
  attributes(bare) <- kept
  bare
}

# One row per record; of several key sets the smallest numbers.
suppression_records <- function(found, n) {
  least <- function(name) {
    Reduce(pmin, lapply(found$counts, `[[`, name))
  }
  records <- list(
    n_matches_before = least("before"), n_matches = least("after"),
    n_candidates = least("intruder")
  )
  if (!is.null(found$counts[[1]]$equal)) {
    records$n_equal <- least("equal")
  }
  records$n_suppressed <- tabulate(found$record, n)
  do.call(frame, records)
}

suppression_variables <- function(cells, table, settings) {
  known <- table$n - table$n_missing
  n_suppressed <- tabulate(match(cells$variable, table$variables), length(table$variables))
  frame(
    variable = table$variables, importance = unname(settings$importance),
    n_missing = as.integer(table$n_missing), n_suppressed = n_suppressed,
    prop_suppressed = ifelse(known > 0, n_suppressed / known, 0)
  )
}

# What counts as a match under the rule.
n_left <- function(counts) {
  if (is.null(counts$equal)) counts$after else counts$equal
}

suppression_by_set <- function(found, sets, settings) {
  of <- function(f) vapply(found$counts, f, 0)
  frame(
    key_set = names(sets$sets),
    n_violations_before = as.integer(of(function(x) sum(x$before < settings$k))),
    n_violations_after = as.integer(of(function(x) sum(n_left(x) < settings$k))),
    n_single_candidate = as.integer(of(function(x) sum(x$intruder == 1))),
    tau_before = of(function(x) sum(1 / x$before)), tau_after = of(function(x) sum(1 / x$after)),
    tau_intruder = of(function(x) sum(1 / x$intruder))
  )
}

suppression_estimates <- function(found, records, settings, risks) {
  after <- Reduce(pmin, lapply(found$counts, n_left))
  gap <- if (found$cost == 0) {
    0
  } else if (found$lower_bound > 0) {
    found$cost / found$lower_bound - 1
  } else {
    Inf
  }
  estimates <- frame(
    rule = settings$rule, k = settings$k, n_violations_before = sum(found$violating),
    n_violations_after = sum(after < settings$k), n_suppressed = length(found$record),
    n_records_suppressed = sum(records$n_suppressed > 0),
    n_intact = sum(found$violating & records$n_suppressed == 0),
    n_single_candidate = sum(records$n_candidates == 1),
    n_single_before = sum(records$n_matches_before == 1),
    cost = found$cost, lower_bound = found$lower_bound, gap = if (gap < 1e-9) 0 else gap,
    tau_before = sum(1 / records$n_matches_before), tau_after = sum(1 / records$n_matches),
    tau_intruder = sum(1 / records$n_candidates)
  )
  estimates[names(risks)] <- risks
  estimates
}

# Individual risks of original and release, blanks matching everything.
suppression_risks <- function(data, released, variables, weights) {
  if (is.null(weights)) {
    return(list())
  }
  of <- function(data) {
    table <- key_table(data, variables)
    individual_risks(table, weights, "wildcard")$risk
  }
  before <- of(data)
  after <- of(released)
  list(
    risk_before = sum(before), risk_after = sum(after),
    risk_max_before = max(before), risk_max_after = max(after)
  )
}

# Different combinations of variables that are blanked together.
n_blank_patterns <- function(cells) {
  length(unique(split(cells$variable, cells$record)))
}

suppression_settings <- function(table, sets, links, settings) {
  file_settings(
    table,
    key_sets = lapply(sets$sets, function(set) sets$variables[set$columns]),
    rule = settings$rule, k = settings$k, importance = settings$importance,
    linked = if (length(links$from)) frame(from = links$from, to = links$to),
    n_rounds = settings$n_rounds, missing = "wildcard", strata_var = settings$strata_var,
    hh_id = settings$hh_id, weight_var = settings$weight_var
  )
}
