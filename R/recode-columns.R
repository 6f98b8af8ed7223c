# Columns recoded by the levels of a hierarchy.

# `data` with the key variables at their levels.
recode_columns <- function(data, hierarchies, levels) {
  for (name in names(hierarchies)) {
    if (levels[[name]] > 0) {
      recoded <- recode_column(data[[name]], hierarchies[[name]], levels[[name]])
      data <- replace_column(data, name, recoded)
    }
  }
  data
}

recode_column <- function(column, hierarchy, level) {
  if (level == 0) {
    return(column)
  }
  x <- column_values(column)
  # Tables hold text, and as.character(1e5) is "1e+05".
  if (hierarchy$kind == "table" && is_plain_number(x)) x <- number_text(x)
  eval(hierarchy$steps[[level + 1]]$expr, list(x = x), baseenv())
}

# A data.table is never changed in place.
replace_column <- function(data, name, column) {
  if (inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    data <- data.table::copy(data)
    data.table::set(data, j = name, value = column)
    return(data)
  }
  data[[name]] <- column
  data
}

# A column of numbers with another number at some places: labels and declared codes stay.
replace_numbers <- function(x, at, number) {
  if (length(at) == 0) {
    return(x)
  }
  values <- if (inherits(x, "haven_labelled")) unclass(x) else column_values(x)
  values[at] <- as_code(number, values)
  if (inherits(x, "haven_labelled")) class(values) <- oldClass(x)
  values
}

constraint_names <- c(
  "k", "prop_unique", "qar", "journalist", "tau1_rate", "population_uniqueness", "l", "c",
  "t"
)

# The names of the variables whose hierarchies were made in some ways.
of_kind <- function(hierarchies, kinds) {
  names(hierarchies)[vapply(hierarchies, `[[`, "", "kind") %in% kinds]
}

# One sentence for each kind of proposal that a person must look at.
frequency_words <- function(hierarchies) {
  said <- c(
    proposal = " come from frequencies alone: check that they make sense.",
    proposed_codes = " join neighbouring codes. Check that their order has a meaning.",
    proposed_prefix = " have the same first characters: check that these codes belong together."
  )
  names <- lapply(names(said), of_kind, hierarchies = hierarchies)
  some <- lengths(names) > 0
  if (any(some)) paste0("Groups of ", vapply(names[some], quote_names, "", 4), said[some])
}

# The hierarchies as the core takes them: groups of the codes of the table.
search_variables <- function(hierarchies, data, table, settings) {
  Map(function(made, position, rows, n_missing) {
    about <- list(name = made$name)
    values <- column_values(data[[position]])[rows]
    at <- level_groups(made, values, about)
    variable <- code_levels(at, n_missing > 0, if (made$kind == "table") match(NA, made$values))
    allowed <- settings$keep[[made$name]]
    allowed <- if (is.null(allowed)) seq_along(made$steps) - 1L else allowed
    importance <- settings$importance
    c(variable, list(
      allowed = as.integer(allowed) + 1L,
      weight = if (made$name %in% names(importance)) as.double(importance[[made$name]]) else 1
    ))
  }, hierarchies, table$positions, table$first_rows, table$n_missing)
}

# Codes 0 (missing), 1, 2, ...; missing joins the others where they are one.
code_levels <- function(at, has_missing, missing_own) {
  own_row <- !is.null(missing_own) && !is.na(missing_own)
  n_leaves <- length(at$labels[[1]]) + (has_missing && !own_row)
  levels <- Map(function(labels, level) {
    distinct <- unique(labels)
    group <- match(labels, distinct)
    of_missing <- if (own_row) {
      group[[missing_own]]
    } else if (length(distinct) == 1 && level > 1) {
      1L
    } else {
      length(distinct) + 1L
    }
    leaves <- tabulate(group, length(distinct) + 1L)
    if (has_missing && !own_row) leaves[[of_missing]] <- leaves[[of_missing]] + 1
    groups <- c(of_missing, group[at$own])
    list(groups = groups, leaves = as.double(leaves[groups]))
  }, at$labels, seq_along(at$labels))
  list(
    groups = lapply(levels, function(l) as.integer(l$groups)),
    leaves = lapply(levels, `[[`, "leaves"), n_leaves = as.double(n_leaves)
  )
}
