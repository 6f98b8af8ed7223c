# From a data frame to a released one: units, levels, draws and donors' values.

# Units and levels ---------------------------------------------------------

# What is drawn: records, or households where all keys are theirs. `of_record`
# is the unit of every record and `first` the first record of every unit, NULL
# where records are units; `single` marks one-person households.
pram_units <- function(data, table, columns, call) {
  if (is.null(columns$hh_id)) {
    return(list(kind = "records"))
  }
  household <- household_index(data, columns$hh_id, call)
  shared <- match(columns$hh_vars, table$positions)
  differs <- vapply(shared, function(v) {
    codes <- unwrap(rs_codes(table$pointer, v), call)
    any(codes != codes[household$first][household$of_record])
  }, NA)
  if (any(differs)) {
    stop_sdc(
      "bad_data",
      c(
        "The members of a household must share the values of `hh_vars`.",
        x = paste0("They differ in ", quote_names(table$variables[shared[differs]]), "."),
        i = "Leave these variables out of `hh_vars`, or mend the data."
      ),
      names = table$variables[shared[differs]], call = call
    )
  }
  if (length(shared) < length(table$variables)) {
    return(list(
      kind = "members", single = household$size[household$of_record] == 1L, shared = shared
    ))
  }
  c(list(kind = "households"), household)
}

household_index <- function(data, position, call) {
  ids <- key_table(data, position, call = call)
  on.exit(release(ids))
  if (ids$n_missing > 0) {
    stop_sdc(
      "bad_data",
      c(
        "Every record must belong to a household.",
        x = paste0(
          plural(ids$n_missing, "record"), " without a value of ",
          quote_names(names(data)[position]), "."
        )
      ),
      names = names(data)[position], call = call
    )
  }
  groups <- group_records(ids, call = call)
  list(of_record = groups$row_group, first = groups$first_rows, size = groups$counts)
}

# The number, from 0, of the combination of values that a record has.
level_numbers <- function(data, positions, call) {
  if (length(positions) == 0) {
    return(NULL)
  }
  table <- key_table(data, positions, call = call)
  on.exit(release(table))
  group_records(table, call = call)$row_group - 1L
}

# Levels inside which records move, and the families in which levels may be
# merged; one entry per unit.
pram_levels <- function(data, table, columns, units, call) {
  level <- level_numbers(data, columns$within, call)
  if (units$kind == "records") {
    return(list(level = level))
  }
  if (units$kind == "households") {
    if (!is.null(level) && any(level != level[units$first][units$of_record])) {
      stop_sdc(
        "bad_data",
        c(
          "The members of a household must share the values of `within`.",
          i = "All keys are those of households here, so households are drawn as a whole."
        ),
        names = names(data)[columns$within], call = call
      )
    }
    return(list(level = level[units$first]))
  }
  # People of larger households stay with the keys of their household.
  home <- level_numbers(data, columns$hh_vars, call) + 1L
  home[units$single] <- 0L
  parts <- data.frame(home = home)
  parts$within <- level
  both <- level_numbers(parts, seq_along(parts), call)
  list(level = both, family = home[match(seq_len(max(both) + 1L) - 1L, both)])
}

# The core -----------------------------------------------------------------

pram_draw <- function(table, asked, rules, units, levels, weights, tick, call) {
  if (units$kind == "households") {
    unit_weights <- if (!is.null(weights)) rowsum(weights, units$of_record)[, 1]
    # The table of records stays whole: select_records() would release it.
    table$pointer <- unwrap(rs_select_rows(table$pointer, units$first), call)$table
    on.exit(release(table))
  } else {
    unit_weights <- weights
  }
  unwrap(rs_invariant_pram(
    table$pointer, asked$max_match_prob, asked$scope, asked$calibration, asked$prefer,
    asked$unprotected, table$ordered, rules, levels$level, levels$family,
    if (!is.null(unit_weights)) as.double(unit_weights), draw_seed(), sdc_threads(), tick
  ), call)
}

report_unreached <- function(drawn, asked, call) {
  if (length(drawn$unreached) == 0) {
    return(invisible())
  }
  # Rounded up, so that the number named can be asked for.
  lowest <- ceiling(drawn$lowest * 1e4 - 1e-6) / 1e4
  alone <- sum(drawn$unreached_sizes == 1)
  found <- paste0(
    plural(length(drawn$unreached), "cell"), " cannot be brought below ",
    format(asked$max_match_prob, digits = 4), "; the lowest bound this file can reach is ",
    format(lowest, digits = 4), if (alone > 0) {
      paste0(" (", plural(alone, "cell"), " without another cell to exchange records with)")
    }, "."
  )
  if (asked$unprotected == "keep") {
    if (drawn$lowest <= asked$max_match_prob + 1e-9) {
      # Outside the theorem of the published theta, and yet within reach.
      return(invisible())
    }
    warn_sdc(
      "unprotected_cells",
      c("Some cells keep a higher match probability than the bound.", x = found),
      lowest = drawn$lowest, n_cells = length(drawn$unreached), call = call
    )
    return(invisible())
  }
  theorem <- asked$calibration == "paper" && asked$max_match_prob < 0.5 - 1e-12 &&
    any(drawn$unreached_sizes == 2)
  if (theorem) {
    stop_sdc(
      c("bad_argument", "unprotectable"),
      c(
        paste(
          "A bound in [3/7, 1/2) must have at least three cells in every block with",
          "calibration = \"paper\"."
        ),
        x = paste0(
          plural(sum(drawn$unreached_sizes == 2), "block"), " of two cells."
        ),
        i = paste(
          "The theorem: with two cells, P(CM | S = 2) can exceed P(CM | S = 1), and the",
          "published theta is proven for bounds of at least 1/2 only."
        ),
        i = "Take calibration = \"exact\", a bound of at least 1/2, or unprotected = \"merge\"."
      ),
      argument = "max_match_prob", lowest = drawn$lowest, call = call
    )
  }
  stop_sdc(
    "unprotectable",
    c(
      "Every cell must have a block that can keep it below `max_match_prob`.",
      x = found,
      i = if (asked$unprotected == "merge") {
        "Merging levels did not help: take a higher bound or coarser key variables."
      } else {
        paste(
          "Take a higher bound, coarser variables in `within`, or unprotected = \"merge\"",
          "or \"keep\"."
        )
      }
    ),
    lowest = lowest, n_cells = length(drawn$unreached), call = call
  )
}

# The released data ---------------------------------------------------------

# Which records change, the donor of every record, and the data with the
# donors' values: columns keep their class, levels, labels and attributes.
pram_release <- function(data, table, drawn, units) {
  if (units$kind == "households") {
    donor_unit <- drawn$donors[units$of_record]
    changed <- donor_unit != units$of_record
    donors <- seq_along(units$of_record)
    donors[changed] <- units$first[donor_unit[changed]]
    cell <- drawn$row_cell[units$of_record]
  } else {
    donors <- drawn$donors
    changed <- donors != seq_along(donors)
    cell <- drawn$row_cell
  }
  list(
    data = replace_values(data, table$positions, which(changed), donors[changed]),
    changed = changed, donors = donors, cell = cell
  )
}

replace_values <- function(data, positions, rows, donors) {
  if (length(rows) == 0) {
    return(data)
  }
  is_data_table <- inherits(data, "data.table") &&
    requireNamespace("data.table", quietly = TRUE)
  if (is_data_table) {
    data <- data.table::copy(data)
  }
  for (position in positions) {
    values <- data[[position]]
    values[rows] <- values[donors]
    if (is_data_table) {
      data.table::set(data, j = position, value = values)
    } else {
      data[[position]] <- values
    }
  }
  data
}
