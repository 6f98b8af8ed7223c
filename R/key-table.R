# The only door for data: a data frame becomes coded key columns.
#
# A key table holds, per column, dense codes in value order with missing
# explicit; the codes live in the core, behind `pointer`. Values never enter
# the core's results: rows come back, and values are found by indexing the
# original column with them.
#
# Fields of an `sdc_key_table`:
#   pointer     the core's table
#   n           number of records
#   variables   names of the columns
#   positions   their positions in `data`
#   keys        named list: per key variable the columns (of `variables`) it
#               consists of; a key group has several
#   ordered     per column, whether its values have an order
#   n_values, n_missing   per column
#   first_rows  per column, the record where each code first occurs
#   shared_rows   of tables coded together: the same, in all their records one
#               below the other
#   marks, places   per column, what its fingerprint needs (R/fingerprint.R)
#   sets        per column of candidates, the set of each code (`sets`) and
#               whether it is an interval; NULL for other columns

key_table <- function(data, ...) {
  UseMethod("key_table")
}

#' @export
key_table.default <- function(data, ..., call = rlang::caller_env()) {
  stop_sdc(
    "bad_data",
    c(
      "`data` must be a data frame, tibble or data.table.",
      x = paste0("It has class ", quote_names(class(data)), "."),
      i = data_advice(data)
    ),
    data_class = class(data), call = call
  )
}

# `exclude` are the positions of columns that serve other arguments. `levels`
# is a list of one vector of values per column, in the order of the codes they
# are to have: a value that is not among them gets the code after the last.
# `check_keys` sees the key variables before any work is done. `candidates` says
# whether columns of candidates are understood.
#' @export
key_table.data.frame <- function(data, key_vars = NULL, ..., key_groups = NULL,
                                 exclude = integer(), levels = NULL,
                                 check_keys = NULL, candidates = FALSE, tick = NULL,
                                 call = rlang::caller_env()) {
  check_records(data, call)
  positions <- resolve_key_vars(data, key_vars, exclude, call)
  variables <- names(data)[positions]
  keys <- resolve_key_groups(key_groups, data, positions, variables, call)
  if (!is.null(check_keys)) check_keys(keys)
  sources <- column_sources(data, positions, call, candidates)
  if (is.null(levels)) {
    return(encode(sources, variables, positions, keys, tick, call))
  }
  below <- Map(
    below_levels, sources, levels, variables,
    MoreArgs = list(most = max(lengths(levels)), call = call)
  )
  table <- encode(below, variables, positions, keys, tick, call)
  drop_levels(table, lengths(levels), call)
}

# Code several data frames with one dictionary per column: equal values get
# equal codes in all of them.
shared_key_tables <- function(tables, key_vars, ..., key_groups = NULL, candidates = FALSE,
                              tick = NULL, call = rlang::caller_env()) {
  if (candidates) {
    tables <- share_candidates(tables, key_vars, call)
  }
  parts <- lapply(tables, function(data) {
    check_records(data, call)
    positions <- resolve_key_vars(data, key_vars, integer(), call)
    list(
      positions = positions, n = nrow(data),
      sources = column_sources(data, positions, call, candidates)
    )
  })
  variables <- key_vars
  keys <- resolve_key_groups(
    key_groups, tables[[1]], parts[[1]]$positions, variables, call
  )
  stacked <- lapply(seq_along(variables), function(v) {
    stack_sources(lapply(parts, function(p) p$sources[[v]]), variables[[v]], call)
  })
  together <- encode(stacked, variables, parts[[1]]$positions, keys, tick, call)
  on.exit(release(together))
  ends <- cumsum(vapply(parts, function(p) p$n, 0))
  Map(function(part, end) {
    table <- together
    table$n <- part$n
    table$positions <- part$positions
    selected <- unwrap(rs_select_rows(
      together$pointer, as.integer(seq(end - part$n + 1, end))
    ), call)
    table$pointer <- selected$table
    table$n_missing <- selected$n_missing
    table$first_rows <- NULL
    table$shared_rows <- together$first_rows
    table
  }, parts, ends)
}

# Columns that are candidates in one of the tables are so in all of them, with
# the same sets; a value is a set of one. Sets beside intervals become pieces.
share_candidates <- function(tables, key_vars, call) {
  for (name in key_vars) {
    columns <- lapply(tables, function(data) data[[name]])
    if (any(vapply(columns, is_candidates, NA))) {
      of_sets <- vapply(columns, function(x) is_candidates(x) && !is_interval(x), NA)
      mixed <- any(of_sets) && any(vapply(columns, is_interval, NA))
      columns <- tryCatch(
        if (mixed) share_pieces(columns, call) else share_sets(columns, call),
        sdcRisk_error_bad_argument = function(e) {
          stop_sdc(
            "bad_column",
            c(
              "Candidates must have values of the same type in all tables.",
              x = paste0(quote_names(name), " does not."),
              i = "Text, numbers, Dates and times do not mix."
            ),
            columns = name, call = call
          )
        }
      )
      tables <- Map(function(data, column) {
        data[[name]] <- column
        data
      }, tables, columns)
    }
  }
  tables
}

# The values of every column, in the order of their codes.
key_levels <- function(table, data) {
  Map(function(position, rows) data[[position]][rows], table$positions, table$first_rows)
}

# The table in which every key variable, a group included, is one column.
merge_keys <- function(table, tick = NULL, call = rlang::caller_env()) {
  if (all(lengths(table$keys) == 1)) {
    return(table)
  }
  replace_codes(table, unwrap(rs_merge_keys(
    table$pointer, unname(lapply(table$keys, as.integer)), sdc_threads(), tick
  ), call))
}

# A table of its own with only the columns of some keys, a named list of
# columns; `table` stays as it is.
key_columns <- function(table, keys, tick = NULL, call = rlang::caller_env()) {
  columns <- unlist(keys, use.names = FALSE)
  part <- table
  part$variables <- table$variables[columns]
  part$positions <- table$positions[columns]
  part$ordered <- table$ordered[columns]
  part$n_values <- table$n_values[columns]
  part$n_missing <- table$n_missing[columns]
  part$first_rows <- table$first_rows[columns]
  part$marks <- table$marks[columns]
  part$places <- table$places[columns]
  part$keys <- utils::relist(seq_along(columns), keys)
  part$pointer <- unwrap(rs_merge_keys(
    table$pointer, as.list(columns), sdc_threads(), tick
  ), call)
  part
}

# The records that are complete on all columns.
complete_records <- function(table, call = rlang::caller_env()) {
  unwrap(rs_complete_rows(table$pointer), call)
}

check_some_complete <- function(complete, call) {
  if (length(complete) == 0) {
    stop_sdc(
      "bad_data",
      c(
        "At least one record must be complete on all key variables.",
        x = "Every record misses a value.",
        i = "Use `missing = \"category\"`, or leave out the emptiest key variables."
      ),
      call = call
    )
  }
}

select_records <- function(table, rows, call = rlang::caller_env()) {
  selected <- unwrap(rs_select_rows(table$pointer, rows), call)
  table <- replace_codes(table, selected$table)
  table$n_missing <- selected$n_missing
  table$n <- length(rows)
  table$first_rows <- NULL
  table
}

# The table with other codes; the memory of the old ones is given back.
replace_codes <- function(table, pointer) {
  # `pointer` may still have to be made, from the codes about to go.
  force(pointer)
  release(table)
  table$pointer <- pointer
  table
}

# Distinct keys: `first_rows`, `counts` and the `row_group` of every record.
group_records <- function(table, tick = NULL, call = rlang::caller_env()) {
  unwrap(rs_group(table$pointer, sdc_threads(), tick), call)
}

# Gives the memory of the codes back without waiting for R's collector.
release <- function(table) {
  invisible(rs_release(table$pointer))
}

check_records <- function(data, call, arg = "data") {
  if (ncol(data) == 0 || nrow(data) == 0) {
    stop_sdc(
      "bad_data",
      c(
        paste0("`", arg, "` must have at least one record and one column."),
        x = paste0("It has ", nrow(data), " records and ", ncol(data), " columns.")
      ),
      data_class = class(data), call = call
    )
  }
  ragged <- vapply(unclass(data), NROW, 1L, USE.NAMES = FALSE) != nrow(data)
  if (any(ragged)) {
    stop_sdc(
      "bad_data",
      c(
        paste0("All columns of `", arg, "` must have as many values as it has records."),
        x = paste0("Other lengths: ", quote_names(names(data)[ragged]), "."),
        i = "The data frame was put together by hand: make it anew by data.frame()."
      ),
      names = names(data)[ragged], call = call
    )
  }
}

resolve_key_vars <- function(data, key_vars, exclude, call) {
  columns <- names(data)
  positions <- if (is.null(key_vars)) {
    setdiff(seq_along(columns), exclude)
  } else {
    check_columns(key_vars, data, "key_vars", call)
  }
  if (length(positions) == 0) {
    stop_argument("key_vars", "name at least one column of `data`", call = call)
  }
  used <- columns[positions]
  unusable <- is.na(used) | !nzchar(used) | duplicated(used)
  if (any(unusable)) {
    stop_sdc(
      "bad_data",
      c(
        "Every key variable must have a name of its own.",
        x = if (anyDuplicated(used)) {
          paste0("Names used twice: ", quote_names(unique(used[duplicated(used)])), ".")
        } else {
          paste0("Columns without a name: ", paste(positions[unusable], collapse = ", "), ".")
        },
        i = "Rename the columns, or leave them out of `key_vars`."
      ),
      names = used[unusable], call = call
    )
  }
  positions
}

# The key variables as a named list of columns; a group stands where its first
# column stood.
resolve_key_groups <- function(key_groups, data, positions, variables, call) {
  group_of <- variables
  if (!is.null(key_groups)) {
    named <- is.list(key_groups) && length(names(key_groups)) == length(key_groups) &&
      all(nzchar(names(key_groups))) && !anyDuplicated(names(key_groups))
    if (!named || any(lengths(key_groups) == 0)) {
      stop_argument(
        "key_groups", "be a list of columns with a name for every group",
        call = call
      )
    }
    members <- lapply(key_groups, check_columns, data = data, arg = "key_groups", call = call)
    outside <- setdiff(unlist(members), positions)
    if (length(outside)) {
      stop_argument(
        "key_groups", "consist of key variables",
        found = paste0("Not in `key_vars`: ", quote_names(names(data)[outside]), "."),
        call = call
      )
    }
    if (anyDuplicated(unlist(members))) {
      stop_argument("key_groups", "name every column once", call = call)
    }
    for (group in names(members)) {
      group_of[match(members[[group]], positions)] <- group
    }
    grouped <- match(unlist(members), positions)
    clash <- intersect(names(members), variables[-grouped])
    if (length(clash)) {
      stop_argument(
        "key_groups", "have names that no other key variable has",
        found = paste0("Taken: ", quote_names(clash), "."), call = call
      )
    }
  }
  split(seq_along(variables), factor(group_of, levels = unique(group_of)))
}

encode <- function(sources, variables, positions, keys, tick, call) {
  coded <- rs_key_table(
    lapply(sources, `[[`, "values"),
    vapply(sources, `[[`, "", "kind"),
    lapply(sources, `[[`, "level_is_missing"),
    sdc_threads(), tick
  )
  if (inherits(coded, "sdcRisk_rust_error") && !is.null(coded$column)) {
    name <- variables[[coded$column]]
    stop_sdc(
      coded$kind,
      c(coded$message, x = paste0("Found in ", quote_names(name), ".")),
      columns = name, call = call
    )
  }
  unwrap(coded, call)
  values <- Map(distinct_values, sources, coded$first_rows)
  structure(
    list(
      pointer = coded$table, n = length(sources[[1]]$values),
      marks = value_marks(values, call), places = lapply(values, `[[`, "places"),
      variables = variables, positions = positions, keys = keys,
      ordered = vapply(sources, `[[`, NA, "ordered"),
      n_values = coded$n_values, n_missing = coded$n_missing,
      first_rows = coded$first_rows, sets = Map(coded_sets, sources, coded$first_rows)
    ),
    class = "sdc_key_table"
  )
}

# The set of every code of a column of candidates.
coded_sets <- function(source, first_rows) {
  if (is.null(source$sets)) {
    return(NULL)
  }
  list(sets = source$sets[source$values[first_rows]], interval = source$interval)
}

# Puts the given values, filled up to `most` with missing ones, above a column,
# so that they are coded together.
below_levels <- function(source, levels, name, most, call) {
  given <- column_source(levels, length(levels))
  if (is.null(given)) {
    stop_argument("levels", "hold vectors of values", call = call)
  }
  # The missing integer64 has the bits of -0.
  missing <- if (given$kind == "wide") -0.0 else NA
  given$values <- c(as_bare(given$values), rep(missing, most - length(levels)))
  stack_sources(list(given, source), name, call)
}

# Takes the rows of the given values off again and gives every value the code
# of its place among them; values not given share the code after the last.
drop_levels <- function(table, n_levels, call) {
  most <- max(n_levels)
  for (v in seq_along(n_levels)) {
    map <- pmin(table$first_rows[[v]], n_levels[[v]] + 1L)
    table <- replace_codes(
      table, unwrap(rs_recode(table$pointer, v, map, n_levels[[v]] + 1L), call)
    )
  }
  table$n_values <- n_levels + 1L
  select_records(table, seq(most + 1L, table$n), call)
}
