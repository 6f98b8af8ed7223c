# Figures of a release of suppress_cells().

new_suppression <- function(found, data, table, sets, links, settings, this_call, file,
                            from = NULL) {
  lazy <- file$lazy
  units <- units_of(file, settings$hh_id)
  cells <- frame(
    record = found$record, variable = table$variables[found$variable], reason = found$reason
  )
  variables <- suppression_variables(cells, table, settings)
  rows <- split(cells$record, cells$variable)
  released <- blank_cells(data, rows)
  # Figures of the release compare it with the file before any protection.
  earlier <- earlier_variables(from, data)
  chain <- union(sets$variables, earlier)
  if (is.null(from)) from <- data
  codes <- rlang::set_names(all_codes(list(table))[[1]], table$variables)
  said <- if (!cells_alone()) {
    told_of_suppressed(from, data, released, chain, codes, rows, earlier, units, lazy)
  }
  told <- said$columns
  order_told <- said$order
  by_first <- length(earlier) && is.null(lazy) && is.null(settings$hh_id)
  if (by_first) {
    found$counts <- counts_of_first(found$counts, from, data, released, sets, settings)
  }
  n_blank_patterns <- n_blank_patterns(cells)
  records <- suppression_records(found, table$n_rows)
  # Under "own" the complete originals that match a complete record are complete in the release.
  rests <- settings$rule == "shared" || settings$rule == "own" && any(table$n_missing > 0)
  n_resting <- if (rests) {
    asked <- c(
      list(times = if (is.null(table$times)) rep(1, table$n_rows) else table$times),
      list(limit = settings["k"]),
      covering(data, settings)["stratum"]
    )
    codes <- blanked_codes(codes, rows)
    max(vapply(variables_of_sets(sets), function(set) {
      n_resting(c(asked, list(codes = codes[set])))
    }, 0))
  } else {
    0
  }
  if (!is.null(lazy)) {
    released <- blank_lazy(lazy, data, rows, table)
    order_told <- attr(released, "told_by_order")
    attr(released, "told_by_order") <- NULL
    # A row of the file is a pattern.
    names(cells)[[1]] <- "pattern"
    cells$n <- as_count(table$times[cells$pattern])
  }
  result <- new_sdc_result(
    "sdc_suppress_cells",
    estimates = suppression_estimates(found, records, settings, table$times),
    records = records,
    settings = suppression_settings(table, sets, links, settings),
    diagnostics = list(
      n_keys = length(sets$variables), n_sets = length(sets$sets),
      whole_costs = all(settings$importance == 1), restricted = found$restricted,
      bound_steps = found$bound_steps, n_improved = found$improved,
      n_blank_patterns = n_blank_patterns, missing = missing_cells(table, data),
      told_by_columns = told, told_by_order = order_told,
      earlier = earlier, n_resting = n_resting, n_beyond = sum(found$n_beyond),
      of_last = !by_first && (length(earlier) > 0 || length(file$history) > 0)
    ),
    call = this_call, data = with_sorted_levels(released, data), cells = cells,
    variables = variables,
    order = if (is.null(lazy) && anyNA(order_told$by)) secret_order(n_records(data)),
    sets = suppression_by_set(found, sets, settings, table$times)
  )
  result <- with_original(result, from, released, union(chain, links$variables))
  if (result$estimates$n_suppressed == 0) {
    inform_sdc(
      "nothing_to_do",
      paste0("Every record has at least ", settings$k, " matches: no value is suppressed.")
    )
  }
  if (settings$rule == "own" && n_resting > 0) inform_sdc("resting_records", resting_line(result))
  if (sum(found$n_beyond) > 0) {
    inform_sdc("resting_records", c(
      beyond_line(result), i = "A suppressed value matches every value.",
      i = "recode_search(blanks = \"cells\") keeps them."
    ))
  }
  inform_told_suppressed(told_unasked(told), data, settings, earlier)
  if (is.null(lazy)) inform_order(order_told, shuffle_advice)
  result
}

# TRUE for recode_search(), which asks for the cells of many recodings: neither for cheaper ways nor
# for what reveals the values.
cells_alone <- function() isTRUE(getOption("sdcRisk.cells_alone"))

# What columns, and the order of the records, reveal of suppressed values.
told_of_suppressed <- function(from, data, released, chain, codes, rows, earlier, units, lazy) {
  list(
    columns = chain_told_by_columns(from, data, released, chain, units$ids, earlier),
    order = if (!is.null(lazy)) {
      NULL
    } else if (length(earlier)) {
      chain_told(from, released, chain, units)
    } else {
      order_tells(data, codes, blanked_codes(codes, rows), units)
    }
  )
}

# Counts of candidates for an intruder who knows the values before an earlier protection, `from`, in
# the classes of the release: none for a record of which a value was exchanged.
counts_of_first <- function(counts, from, data, released, sets, settings) {
  earlier <- earlier_variables(from, data)
  first <- with_columns(from, classes_of_release(from, data, data, earlier))
  first <- as.data.frame(if (is.null(first)) from else first)
  Map(function(counts, keys) {
    known <- c(keys, settings$strata_var)
    fits <- lapply(known, function(name) {
      is_missing(first[[name]]) | is_missing(released[[name]]) |
        bare_text(first[[name]]) == bare_text(released[[name]])
    })
    n <- matches_of(released, known, patterns = first[known])$n_matches
    replace(counts, "intruder", list(ifelse(Reduce(`&`, fits), n, Inf)))
  }, counts, variables_of_sets(sets))
}

# A link suppresses what this protection does, not what was recoded before.
inform_told_suppressed <- function(told, data, settings, earlier) {
  linked <- linked_text(told[!told$variable %in% earlier, ], data, settings$weight_var)
  inform_told(told, c(
    if (!is.null(linked)) paste0("Suppress them together: ", linked, "."), drop_advice(told, data)
  ))
}

# The data with the given rows of each named column missing.
blank_cells <- function(data, rows) {
  if (length(rows) == 0) {
    return(data)
  }
  is_data_table <- inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)
  if (is_data_table) data <- data.table::copy(data)
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

variables_of_sets <- function(sets) lapply(sets$sets, function(set) sets$variables[set$columns])

# One row per record; of several key sets the smallest numbers.
suppression_records <- function(found, n) {
  least <- function(name) {
    Reduce(pmin, lapply(found$counts, `[[`, name))
  }
  records <- list(
    n_matches_before = least("before"), n_matches = least("after"),
    n_candidates = least("intruder")
  )
  if (!is.null(found$counts[[1]]$equal)) records$n_equal <- least("equal")
  records$n_suppressed <- tabulate(found$record, n)
  do.call(frame, records)
}

suppression_variables <- function(cells, table, settings) {
  known <- table$n - table$n_missing
  of_variable <- match(cells$variable, table$variables)
  n_suppressed <- if (is.null(table$times)) {
    tabulate(of_variable, length(table$variables))
  } else {
    as_count(vapply(seq_along(table$variables), function(v) {
      sum(table$times[cells$record[of_variable == v]])
    }, 0))
  }
  frame(
    variable = table$variables, importance = unname(settings$importance),
    n_missing = as_count(table$n_missing), n_suppressed = n_suppressed,
    prop_suppressed = ifelse(known > 0, n_suppressed / known, 0)
  )
}

# Matches that count under the rule.
n_left <- function(counts) {
  if (is.null(counts$equal)) counts$after else counts$equal
}

suppression_by_set <- function(found, sets, settings, times) {
  of <- function(f) vapply(found$counts, function(counts) as.double(sum_over(f(counts), times)), 0)
  frame(
    key_set = names(sets$sets),
    n_violations_before = as_count(of(function(x) x$before < settings$k)),
    n_violations_after = as_count(of(function(x) n_left(x) < settings$k)),
    n_single_candidate = as_count(of(function(x) x$intruder == 1)),
    tau_before = of(function(x) 1 / x$before), tau_after = of(function(x) 1 / x$after),
    tau_intruder = of(function(x) 1 / x$intruder)
  )
}

suppression_estimates <- function(found, records, settings, times) {
  total <- function(x) sum_over(x, times)
  count <- function(x) as_count(total(x))
  after <- Reduce(pmin, lapply(found$counts, n_left))
  gap <- if (found$cost == 0) {
    0
  } else if (found$lower_bound > 0) {
    found$cost / found$lower_bound - 1
  } else {
    Inf
  }
  frame(
    rule = settings$rule, k = settings$k, n_violations_before = count(found$violating),
    n_violations_after = count(after < settings$k), n_suppressed = count(records$n_suppressed),
    n_records_suppressed = count(records$n_suppressed > 0),
    n_intact = count(found$violating & records$n_suppressed == 0),
    n_single_candidate = count(records$n_candidates == 1),
    n_single_before = count(records$n_matches_before == 1),
    cost = found$cost, lower_bound = found$lower_bound, gap = if (gap < 1e-9) 0 else gap,
    tau_before = total(1 / records$n_matches_before), tau_after = total(1 / records$n_matches),
    tau_intruder = total(1 / records$n_candidates)
  )
}

# Different combinations of variables that are blanked together.
n_blank_patterns <- function(cells) {
  length(unique(split(cells$variable, cells$record)))
}

suppression_settings <- function(table, sets, links, settings) {
  of_file <- file_settings(
    table,
    key_sets = variables_of_sets(sets),
    rule = settings$rule, k = settings$k, importance = settings$importance,
    linked = if (length(links$from)) frame(from = links$from, to = links$to),
    n_rounds = settings$n_rounds, missing = "wildcard", strata_var = settings$strata_var,
    hh_id = settings$hh_id, weight_var = settings$weight_var
  )
  # `t` would be taken for `table`.
  c(of_file, settings[intersect(c("l", "c", "t", "sensitive"), names(settings))])
}
