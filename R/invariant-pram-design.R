# From a data frame to a released one: units, levels, draws and donors' values.

# Units and levels ---------------------------------------------------------

# What is drawn: records, members of households, or households where all keys
# are theirs. With households, `of_record` is the household of every record,
# `first` the first record of every household and `size` its number of records.
pram_units <- function(data, table, columns, call) {
  if (is.null(columns$hh_id)) {
    return(list(kind = "records"))
  }
  household <- household_index(data, columns$hh_id, call)
  shared <- match(columns$hh_vars, table$positions)
  differs <- vapply(shared, function(v) {
    codes <- unwrap(rs_codes(table$pointer, v), call)[[1]]
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
  kind <- if (length(shared) < length(table$variables)) "members" else "households"
  c(list(kind = kind), household)
}

household_index <- function(data, position, call) {
  ids <- key_table(data, position, call = call)
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
  group_records(table, call = call)$row_group - 1L
}

# Levels inside which records move, one entry per unit, and the families in
# which levels may be merged. What a release still shows of a record is the same
# in a whole family: the size of its household, and the variables of `within`
# that are no keys and so are never changed.
pram_levels <- function(data, table, columns, units, call) {
  within <- level_numbers(data, columns$within, call)
  fixed <- list(within = level_numbers(data, setdiff(columns$within, table$positions), call))
  if (units$kind != "records") {
    fixed$size <- units$size[units$of_record]
  }
  if (units$kind == "members") {
    # People of larger households stay with the keys of their household.
    fixed$home <- level_numbers(data, columns$hh_vars, call) + 1L
    fixed$home[fixed$size == 1L] <- 0L
  }
  family <- joint_numbers(fixed, call)
  level <- joint_numbers(list(family, within), call)
  if (units$kind == "households") {
    check_household_levels(within, units, names(data)[columns$within], call)
    family <- family[units$first]
    level <- level[units$first]
  }
  if (is.null(level)) {
    return(list())
  }
  if (is.null(family)) {
    return(list(level = level))
  }
  list(level = level, family = family[match(seq_len(max(level) + 1L) - 1L, level)])
}

# Numbers, from 0, of the combinations of several numberings; NULL of none.
joint_numbers <- function(numberings, call) {
  numberings <- numberings[lengths(numberings) > 0]
  if (length(numberings) == 0) {
    return(NULL)
  }
  names(numberings) <- paste0("v", seq_along(numberings))
  level_numbers(do.call(frame, numberings), seq_along(numberings), call)
}

check_household_levels <- function(within, units, names, call) {
  if (!is.null(within) && any(within != within[units$first][units$of_record])) {
    stop_sdc(
      "bad_data",
      c(
        "The members of a household must share the values of `within`.",
        x = paste0(
          plural(sum(within != within[units$first][units$of_record]), "record"),
          " with another value than the first member of the household."
        ),
        i = "All key variables are those of households here, so households are drawn as a whole."
      ),
      names = names, call = call
    )
  }
}

# The core -----------------------------------------------------------------

pram_draw <- function(table, asked, rules, units, levels, weights, call) {
  if (units$kind == "households") {
    unit_weights <- if (!is.null(weights)) rowsum(weights, units$of_record)[, 1]
    table$pointer <- unwrap(rs_select_rows(table$pointer, units$first), call)$table
    on.exit(release(list(table)))
  } else {
    unit_weights <- weights
  }
  core(
    rs_invariant_pram, table$pointer, asked$max_match_prob, asked$scope, asked$calibration, asked$prefer,
    asked$unprotected, table$ordered, rules, levels$level, levels$family,
    if (!is.null(unit_weights)) as.double(unit_weights), draw_seed(),
    call = call
  )
}

# What merging leaves alone: variables of `within` that are no keys, and the
# sizes of households.
pram_fixed <- function(data, table, columns, units) {
  list(
    names = names(data)[setdiff(columns$within, table$positions)],
    sizes = units$kind != "records",
    can_merge = length(intersect(columns$within, table$positions)) > 0
  )
}

report_unreached <- function(drawn, asked, fixed, call) {
  if (length(drawn$unreached) == 0) {
    return(invisible())
  }
  if (asked$unprotected == "keep") {
    return(warn_unprotected(drawn, asked, call))
  }
  theorem <- asked$calibration == "paper" && asked$max_match_prob < 0.5 - 1e-12 &&
    any(drawn$unreached_sizes == 2)
  if (theorem) {
    stop_two_cells(drawn, call)
  }
  stop_sdc(
    "unprotectable",
    c(
      "Every cell must have a block that can keep it below `max_match_prob`.",
      x = paste0(cells_left(drawn, asked), "."),
      x = if (drawn$lowest < 1) {
        paste0("The lowest bound this file can reach is ", format_number(drawn$lowest), ".")
      } else {
        "No bound below 1 can be reached."
      },
      i = unreached_advice(asked, fixed, drawn$lowest),
      i = if (fixed$sizes) {
        paste(
          "The number of records of a household shows in the release, so households of",
          "records of other sizes cannot stand in: leave those of a rare size out, or keep them."
        )
      },
      i = if (length(fixed$names)) {
        paste0(
          "Levels of ", quote_names(fixed$names), ", ", if (length(fixed$names) == 1) {
            "which is not a key variable and stays"
          } else {
            "which are not key variables and stay"
          },
          " as released, are never merged: to merge them, name them in `key_vars` too."
        )
      }
    ),
    lowest = drawn$lowest, n_cells = length(drawn$unreached), call = call
  )
}

cells_left <- function(drawn, asked) {
  alone <- sum(drawn$unreached_sizes == 1)
  paste0(
    plural(length(drawn$unreached), "cell"), " cannot be brought below ",
    format_number(asked$max_match_prob), if (alone > 0) {
      paste0(" (", plural(alone, "cell"), " without another cell to exchange records with)")
    }
  )
}

unreached_advice <- function(asked, fixed, lowest) {
  if (asked$unprotected == "merge") {
    return(paste0(
      "Merging levels did not help: take ", if (lowest < 1) "a higher bound or ",
      "coarser key variables, or unprotected = \"keep\"."
    ))
  }
  paste0(
    "Take ", if (lowest < 1) "a higher bound, ", "coarser variables in `within`, ",
    if (fixed$can_merge) "unprotected = \"merge\" ", "or unprotected = \"keep\"."
  )
}

warn_unprotected <- function(drawn, asked, call) {
  # Outside the theorem of the published theta some are within reach.
  if (drawn$lowest > asked$max_match_prob + 1e-9) {
    warn_sdc(
      "unprotected_cells",
      c(
        "Some cells keep a higher match probability than the bound.",
        x = paste0(
          cells_left(drawn, asked), "; at worst they stay at ",
          format_up(drawn$lowest), "."
        )
      ),
      lowest = drawn$lowest, n_cells = length(drawn$unreached), call = call
    )
  }
}

stop_two_cells <- function(drawn, call) {
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
