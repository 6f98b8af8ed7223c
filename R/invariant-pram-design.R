# From a data frame to a released one: units, levels, draws and donors' values.

# Coding --------------------------------------------------------------------

# The key table with the codes of every column that is looked at, see
# `codes_at()`; `others` are the table of columns that are neither keys nor serve
# otherwise.
pram_table <- function(file, key_vars, columns) {
  data <- file$data
  serving <- c(columns$within, columns$hh_id, columns$weight)
  keys <- resolve_key_vars(data, key_vars, serving)
  # Of a table of a database no other column is here.
  others <- if (is.null(file$lazy)) other_columns(data, keys, columns)
  rest <- setdiff(c(columns$within, columns$hh_id), c(keys, others))
  labels <- list(others = others, rest = rest)
  table <- key_table(
    file, key_vars,
    exclude = serving, roles = pram_roles(data, columns),
    labels = labels[lengths(labels) > 0]
  )
  tables <- c(list(table), unname(table$labels))
  codes <- unlist(all_codes(tables), recursive = FALSE)
  table$codes <- rlang::set_names(codes, unlist(lapply(tables, `[[`, "positions")))
  table
}

# Columns that are neither keys nor serve otherwise, where each has a name of its
# own and values that can be compared.
other_columns <- function(data, keys, columns) {
  others <- setdiff(seq_along(data), c(keys, columns$hh_id, columns$weight))
  others <- others[vapply(others, function(v) !is.null(column_source(data[[v]], nrow(data))), NA)]
  if (anyDuplicated(names(data)[others])) integer() else others
}

# The codes of the columns of the file at these positions.
codes_at <- function(table, positions) {
  unname(table$codes[as.character(positions)])
}

# Units and levels ---------------------------------------------------------

# The units of the draw: records, members of households, or households if all key variables are
# theirs. With households, `of_record` is the household of every record, `first` the first record of
# every household and `size` its number of records.
pram_units <- function(data, table, columns) {
  if (is.null(columns$hh_id)) {
    return(list(kind = "records"))
  }
  household <- household_index(data, table, columns$hh_id)
  shared <- match(columns$hh_vars, table$positions)
  differs <- vapply(codes_at(table, columns$hh_vars), function(codes) {
    any(codes != codes[household$first][household$of_record])
  }, NA)
  if (any(differs)) {
    stop_sdc(
      "bad_data", "The members of a household must share the values of `hh_vars`.",
      x = paste0("They differ in ", quote_names(table$variables[shared[differs]]), "."),
      i = "Leave these variables out of `hh_vars`, or mend the data.",
      names = table$variables[shared[differs]]
    )
  }
  kind <- if (length(shared) < length(table$variables)) "members" else "households"
  c(list(kind = kind), household)
}

household_index <- function(data, table, position) {
  codes <- codes_at(table, position)[[1]]
  n_missing <- sum(codes == 0L)
  if (n_missing > 0) {
    stop_sdc(
      "bad_data", "Every record must belong to a household.",
      x = paste0(
        plural(n_missing, "record"), " without a value of ",
        quote_names(names(data)[position]), "."
      ),
      names = names(data)[position]
    )
  }
  of_record <- joint_numbers(list(codes)) + 1L
  list(
    of_record = of_record, first = which(!duplicated(of_record)),
    size = as.double(tabulate(of_record))
  )
}

# The number, from 0, of the combination of values that a record has.
level_numbers <- function(table, positions) {
  joint_numbers(codes_at(table, positions))
}

# Levels inside which records move, one entry per unit, and the families in
# which levels may be merged. What a release still shows of a record is the same
# in a whole family: the size of its household, and the variables of `within`
# that are no keys and so are never changed.
pram_levels <- function(data, table, columns, units) {
  within <- level_numbers(table, columns$within)
  fixed <- list(within = level_numbers(table, setdiff(columns$within, table$positions)))
  if (units$kind != "records") fixed$size <- units$size[units$of_record]
  if (units$kind == "members") {
    # People of larger households stay with the keys of their household.
    fixed$home <- level_numbers(table, columns$hh_vars) + 1L
    fixed$home[fixed$size == 1L] <- 0L
  }
  family <- joint_numbers(fixed)
  level <- joint_numbers(list(family, within))
  if (units$kind == "households") {
    check_household_levels(within, units, names(data)[columns$within])
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

# Numbers, from 0, of the combinations of several numberings, in the order in
# which they first occur; NULL of none.
joint_numbers <- function(numberings) {
  numberings <- unname(numberings[lengths(numberings) > 0])
  if (length(numberings) == 0) {
    return(NULL)
  }
  at <- do.call(order, c(numberings, method = "radix"))
  differs <- lapply(numberings, function(x) diff(x[at]) != 0)
  group <- integer(length(at))
  group[at] <- cumsum(c(TRUE, Reduce(`|`, differs)))
  match(group, unique(group)) - 1L
}

check_household_levels <- function(within, units, names) {
  if (!is.null(within) && any(within != within[units$first][units$of_record])) {
    stop_sdc(
      "bad_data", "The members of a household must share the values of `within`.",
      x = paste0(
        plural(sum(within != within[units$first][units$of_record]), "record"),
        " with another value than the first member of the household."
      ),
      i = "All key variables are those of households here, so households are drawn as a whole.",
      names = names
    )
  }
}

# The core -----------------------------------------------------------------

pram_draw <- function(table, asked, rules, units, levels, weights) {
  households <- units$kind == "households"
  if (households && !is.null(weights)) weights <- rowsum(weights, units$of_record)[, 1]
  settings <- c(asked, list(
    level = levels$level, family = levels$family,
    ordered = table$ordered, forbid = rules, seed = draw_seed(),
    weights = if (!is.null(weights)) as.double(weights),
    rows = if (households) units$first
  ))
  c(core(rs_invariant_pram, table$pointer, settings), settings["seed"])
}

# Variables that merging must not change: those of `within` that are no keys, and the sizes of
# households.
pram_fixed <- function(data, table, columns, units) {
  list(
    names = names(data)[setdiff(columns$within, table$positions)],
    sizes = units$kind != "records",
    can_merge = length(intersect(columns$within, table$positions)) > 0
  )
}

report_unreached <- function(drawn, asked, fixed) {
  if (length(drawn$unreached) == 0) {
    return(invisible())
  }
  if (asked$unprotected == "keep") {
    return(warn_unprotected(drawn, asked))
  }
  theorem <- asked$calibration == "paper" && asked$max_match_prob < 0.5 - 1e-12 &&
    any(drawn$unreached_sizes == 2)
  if (theorem) stop_two_cells(drawn)
  stop_sdc(
    "unprotectable", "Every key must have a block that can keep it below `max_match_prob`.",
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
        "records of other sizes cannot replace them: leave a rare size out, or keep it."
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
    },
    lowest = drawn$lowest, n_cells = length(drawn$unreached)
  )
}

cells_left <- function(drawn, asked) {
  alone <- sum(drawn$unreached_sizes == 1)
  paste0(
    plural(length(drawn$unreached), "key"), " cannot be brought below ",
    format_number(asked$max_match_prob), if (alone > 0) {
      paste0(" (", plural(alone, "key"), " without another one to exchange records with)")
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

warn_unprotected <- function(drawn, asked) {
  # Outside the theorem of the published theta some are within reach.
  if (drawn$lowest > asked$max_match_prob + 1e-9) {
    warn_sdc(
      "unprotected_cells", "Some keys keep a higher match probability than the bound.",
      x = paste0(
        cells_left(drawn, asked), "; at worst they stay at ",
        format_up(drawn$lowest), "."
      ),
      lowest = drawn$lowest, n_cells = length(drawn$unreached)
    )
  }
}

stop_two_cells <- function(drawn) {
  stop_sdc(
    c("bad_argument", "unprotectable"),
    paste(
      "A bound in [3/7, 1/2) must have at least three keys in every block with",
      "calibration = \"paper\"."
    ),
    x = paste0(plural(sum(drawn$unreached_sizes == 2), "block"), " of two keys."),
    i = paste(
      "The theorem: with two keys, P(CM | S = 2) can exceed P(CM | S = 1), and the",
      "published theta is proven for bounds of at least 1/2 only."
    ),
    i = "Take calibration = \"exact\", a bound of at least 1/2, or unprotected = \"merge\".",
    argument = "max_match_prob", lowest = drawn$lowest
  )
}

# The released data ---------------------------------------------------------

# The records that change, the donor of every record, and the data with the donors' values: columns
# keep their class, levels, labels and attributes.
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
  new_cell <- drawn$row_cell[drawn$donors]
  moved <- which(changed)
  list(
    data = replace_values(data, table$positions, moved, donors[moved]),
    changed = changed, donors = donors, cell = cell,
    new_counts = tabulate(new_cell, length(drawn$counts)),
    # Per key variable.
    n_changed = vapply(codes_at(table, table$positions), function(codes) {
      sum(codes[moved] != codes[donors[moved]])
    }, 0L)
  )
}

replace_values <- function(data, positions, rows, donors) {
  if (length(rows) == 0) {
    return(data)
  }
  is_data_table <- inherits(data, "data.table") &&
    requireNamespace("data.table", quietly = TRUE)
  if (is_data_table) data <- data.table::copy(data)
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

# The columns that a release depends on beside its key variables.
pram_roles <- function(data, columns) {
  role_columns(data, list(
    weight_var = columns$weight, hh_id = columns$hh_id, hh_vars = columns$hh_vars,
    within = columns$within
  ))
}
