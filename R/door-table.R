# The only door for data: a data frame becomes coded key columns.
#
# A key table holds, per column, dense codes in value order with missing
# explicit; the codes live in the core, behind `pointer`. Values never enter
# the core's results: rows come back, and values are found by indexing the
# original column with them.
#
# Fields of an `sdc_key_table`:
#   pointer     the core's table: the keys asked for, of the records in use
#   n           number of records in use
#   n_all       number of records of the file
#   rows        the rows in use, NULL for all
#   n_rows      number of rows of the file: of records or of patterns
#   times       records of every row in use, NULL where each is one
#   variables   names of the columns
#   positions   their positions in `data`
#   keys        named list: per key variable the columns (of `variables`) it
#               consists of; a key group has several
#   ordered     per column, whether its values have an order
#   n_values, n_missing   per column, among all records
#   n_incomplete   records that miss a value of any column
#   first_rows  per column, the record where each code first occurs; of tables
#               coded together, in all their records one below the other
#   fingerprint   of all records, the columns and the further roles, or NULL
#   labels      tables of further columns, see `key_table()`
#   sets        per column of candidates, the set of each code (`sets`) and
#               whether it is an interval; NULL for other columns

# Key variables and whatever else a file is coded for: `data` is an sdc_file or a
# data frame.
#
# `exclude` are the positions of columns that serve other arguments. `check_keys`
# sees the key variables before any work is done. `candidates` says whether
# columns of candidates are understood. `roles`, where given, are further columns
# that count in the fingerprint, a named list of vectors. `listwise` leaves out
# incomplete records, `merged` makes one column of every key. `labels` is a named
# list of columns, each to be coded as a table of its own. `dense`: where listwise
# deletion leaves records out, codes are those of the values left. The memory is given
# back when the exported function ends.
key_table <- function(data, key_vars = NULL, ..., key_groups = NULL, exclude = integer(),
                      check_keys = NULL, candidates = FALSE, roles = NULL,
                      listwise = FALSE, merged = FALSE, dense = FALSE, labels = list()) {
  file <- if (inherits(data, "sdc_file")) open_file(data) else data
  data <- file_data(file)
  check_data_frame(data, "data")
  positions <- resolve_key_vars(data, key_vars, exclude)
  variables <- names(data)[positions]
  keys <- resolve_key_groups(key_groups, data, positions, variables)
  if (!is.null(check_keys)) check_keys(keys)
  labels <- labels[!vapply(labels, is.null, NA)]
  columns <- unclass(data)
  # Settings without effect on these columns are normalised, so that codes can be shared.
  asked <- list(
    positions = positions, keys = keys,
    candidates = candidates && any(vapply(columns[positions], is_candidates, NA)),
    listwise = listwise, merged = merged && any(lengths(keys) > 1), dense = dense,
    variables = variables, times = times_of(data),
    # Somebody may change the data of a file, or of its copy.
    columns = unname(columns[positions]),
    labels = if (length(labels)) lapply(labels, function(at) columns[at])
  )
  table <- kept_codes(file, asked, roles)
  if (!is.null(table)) {
    return(table)
  }
  sources <- column_sources(data, positions, candidates)
  counted <- !is.null(times_of(data))
  request <- coding_request(
    sources, variables, positions, keys, roles = roles, fingerprint = !counted,
    listwise = listwise, merged = merged, dense = dense, times = times_of(data)
  )
  coded <- code_requests(c(list(keys = request), label_requests(labels, data)))
  table <- coded$keys[[1]]
  if (counted) table$fingerprint <- pattern_print(data, variables, keys, roles)
  table$labels <- lapply(coded[names(labels)], `[[`, 1)
  if (listwise) check_some_complete(table$n)
  if (!keep_codes(file, asked, roles, table)) release_later(list(table))
  table
}

# The coding of key variables as above, to be done together with others.
key_request <- function(data, key_vars, ..., roles = NULL, listwise = FALSE) {
  positions <- resolve_key_vars(data, key_vars, integer())
  variables <- names(data)[positions]
  coding_request(
    column_sources(data, positions), variables, positions,
    resolve_key_groups(NULL, data, positions, variables),
    roles = roles, listwise = listwise
  )
}

# Columns that are to be tables of their own, of the records that are not left out.
label_requests <- function(labels, data) {
  lapply(labels, function(column) {
    coding_request(
      column_sources(data, column), names(data)[column], column,
      fingerprint = FALSE, follows = TRUE
    )
  })
}

# Request to `rs_code()`. `ends` splits the records into several tables; `levels` is a list of one
# vector of values per column, in the order of their codes: other values get the code after the
# last. `follows`: without the records that the request before left out. `partners`: links the
# persons of two tables of ids. `times`: the records of every row.
coding_request <- function(sources, variables, positions, keys = NULL, ..., roles = NULL,
                           fingerprint = TRUE, listwise = FALSE, merged = FALSE,
                           dense = FALSE, follows = FALSE, partners = FALSE, times = NULL,
                           ends = integer(), levels = NULL) {
  if (!is.null(levels)) {
    sources <- Map(
      below_levels, sources, levels, variables,
      MoreArgs = list(most = max(lengths(levels)))
    )
  }
  merge <- merged && any(lengths(keys) > 1)
  roles <- roles[!names(roles) %in% variables]
  list(
    columns = unname(lapply(sources, coding_source, fingerprint)),
    names = if (fingerprint) enc2utf8(variables),
    # The counts of patterns tell files apart as values do.
    roles = if (fingerprint) coding_roles(c(roles, list(n = times)[!is.null(times)])),
    ends = as.integer(ends), listwise = listwise, dense = dense, follows = follows,
    partners = partners, times = times,
    keys = if (merge) unname(lapply(keys, as.integer)),
    n_levels = if (!is.null(levels)) as.integer(lengths(levels)),
    # The core returns these unchanged.
    sources = sources, variables = variables, positions = positions,
    of_keys = if (is.null(keys)) rlang::set_names(seq_along(variables), variables) else keys
  )
}

# A column as the core reads it; names of levels tell values apart in a fingerprint.
coding_source <- function(source, marked) {
  of_sets <- !is.null(source$sets)
  names <- if (of_sets) set_text(source$sets, source$interval) else source$level_names
  list(
    values = source$values, kind = source$kind, level_is_missing = source$level_is_missing,
    scale = if (source$kind == "levels" && !of_sets) "text" else source$scale,
    level_names = if (marked && !is.null(names)) enc2utf8(as.character(names)),
    unordered = source$kind == "levels" && !source$ordered && !of_sets
  )
}

coding_roles <- function(roles) {
  if (length(roles)) {
    values <- unname(lapply(roles, role_values))
    list(
      names = enc2utf8(names(roles)), values = lapply(values, `[[`, "values"),
      scales = vapply(values, `[[`, "", "scale")
    )
  }
}

# Codes a named list of requests in one crossing: for each a list of tables, one
# where it has no `ends`.
code_requests <- function(requests) {
  asked <- unname(lapply(requests, function(request) {
    request[c(
      "columns", "names", "roles", "ends", "listwise", "dense", "follows", "partners",
      "times", "keys", "n_levels"
    )]
  }))
  coded <- call_core(rs_code, asked, list(threads = sdc_threads(), tick = listen))
  if (inherits(coded, "sdcRisk_rust_error") && !is.null(coded$column)) {
    name <- unlist(lapply(requests, `[[`, "variables"))[[coded$column]]
    stop_sdc(
      coded$kind,
      c(core_message(coded$message), x = paste0("Found in ", quote_names(name), ".")),
      columns = name
    )
  }
  coded <- unwrap(coded)
  Map(new_key_tables, rlang::set_names(coded, names(requests)), requests)
}

new_key_tables <- function(coded, request) {
  n <- length(request$sources[[1]]$values)
  sizes <- if (length(request$ends)) diff(c(0L, request$ends)) else n
  if (!is.null(request$n_levels)) sizes <- n - max(request$n_levels)
  tables <- lapply(seq_along(coded$tables), function(i) {
    rows <- coded$rows[[i]]
    times <- request$times
    n_all <- if (is.null(times)) sizes[[i]] else as_count(sum(times))
    used <- if (is.null(rows)) times else times[rows]
    n <- if (!is.null(times)) as_count(sum(used)) else if (is.null(rows)) n_all else length(rows)
    structure(
      list(
        pointer = coded$tables[[i]], n = n, n_all = n_all,
        rows = if (length(rows) < sizes[[i]]) rows, n_rows = sizes[[i]], times = used,
        variables = request$variables,
        positions = if (is.list(request$positions)) request$positions[[i]] else request$positions,
        keys = request$of_keys,
        ordered = vapply(request$sources, `[[`, NA, "ordered"),
        n_values = coded$n_values, n_missing = coded$n_missing[[i]],
        n_incomplete = n_all - coded$n_complete[[i]],
        first_rows = coded$first_rows,
        sets = coded_sets(request$sources, coded$first_rows),
        fingerprint = coded$fingerprints[i]
      ),
      class = "sdc_key_table"
    )
  })
  structure(tables, partners = coded$partners)
}

# Several data frames coded with one dictionary per column: equal values get equal
# codes in all of them. A request of one table per data frame.
shared_request <- function(tables, key_vars, ..., key_groups = NULL, candidates = FALSE,
                           fingerprint = FALSE, partners = FALSE) {
  if (candidates) tables <- share_candidates(tables, key_vars)
  parts <- lapply(tables, function(data) {
    check_records(data)
    positions <- resolve_key_vars(data, key_vars, integer())
    list(
      positions = positions, n = nrow(data),
      sources = column_sources(data, positions, candidates)
    )
  })
  note_spellings(lapply(rlang::set_names(key_vars), function(name) {
    lapply(tables, function(data) data[[name]])
  }))
  keys <- resolve_key_groups(key_groups, tables[[1]], parts[[1]]$positions, key_vars)
  stacked <- lapply(seq_along(key_vars), function(v) {
    stack_sources(lapply(parts, function(p) p$sources[[v]]), key_vars[[v]])
  })
  coding_request(
    stacked, key_vars, lapply(unname(parts), `[[`, "positions"), keys,
    fingerprint = fingerprint, partners = partners,
    ends = cumsum(vapply(parts, function(p) p$n, 0L))
  )
}

# Columns that are candidates in one of the tables are so in all of them, with
# the same sets; a value is a set of one. Sets beside intervals become pieces.
share_candidates <- function(tables, key_vars) {
  for (name in key_vars) {
    columns <- lapply(tables, function(data) data[[name]])
    if (any(vapply(columns, is_candidates, NA))) {
      of_sets <- vapply(columns, function(x) is_candidates(x) && !is_interval(x), NA)
      mixed <- any(of_sets) && any(vapply(columns, is_interval, NA))
      columns <- tryCatch(
        if (mixed) share_pieces(columns) else share_sets(columns),
        sdcRisk_error_bad_argument = function(e) {
          stop_sdc(
            "bad_column", "Candidates must have values of the same type in all tables.",
            x = paste0(quote_names(name), " does not."),
            i = "Text, numbers, Dates and times do not mix.",
            columns = name
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

# A table of its own with some keys of a coded table, a named list of columns:
# without the records that are incomplete on them where `listwise`, with one column
# per key. `table` stays as it is.
key_part <- function(table, keys, listwise) {
  columns <- unlist(keys, use.names = FALSE)
  part <- table
  for (field in c("variables", "positions", "ordered", "n_values", "n_missing", "first_rows")) {
    part[[field]] <- table[[field]][columns]
  }
  part$keys <- utils::relist(seq_along(columns), keys)
  listwise <- listwise && any(part$n_missing > 0)
  whole <- identical(columns, seq_along(table$variables)) && is.null(table$rows)
  if (whole && !listwise && all(lengths(keys) == 1)) {
    return(part)
  }
  found <- core(rs_part, table$pointer, list(
    columns = columns, listwise = listwise,
    keys = if (any(lengths(keys) > 1)) unname(lapply(part$keys, as.integer))
  ))
  part$pointer <- found$table
  release_later(list(part))
  if (listwise) {
    if (!is.null(table$times)) part$times <- table$times[found$rows]
    part$n <- if (is.null(part$times)) length(found$rows) else as_count(sum(part$times))
    check_some_complete(part$n)
    part$rows <- if (length(found$rows) < part$n_rows) found$rows
  }
  part
}

check_some_complete <- function(n_complete) {
  if (n_complete == 0) {
    stop_sdc(
      "bad_data", "At least one record must be complete on all key variables.",
      x = "Every record misses a value.",
      i = "Use `missing = \"category\"`, or leave out the emptiest key variables."
    )
  }
}

# Per table the codes of all its columns, 0 for missing.
all_codes <- function(tables) {
  core(rs_codes, lapply(unname(tables), `[[`, "pointer"))
}

# Distinct keys: `first_rows`, `counts` and the `row_group` of every record.
group_records <- function(table) {
  core(rs_group, table$pointer)
}

# Gives the memory of codes back without waiting for R's collector.
release <- function(tables) {
  pointers <- lapply(tables, function(table) {
    c(list(table$pointer), unname(lapply(table$labels, `[[`, "pointer")))
  })
  invisible(call_core(rs_release, unlist(unname(pointers), recursive = FALSE)))
}

# As above when the exported function ends, for whatever reason: at once for all tables that were to
# be released with it.
release_later <- function(tables, ask = running$ask) {
  if (!is.null(ask)) {
    if (is.null(ask$.tables)) at_end(ask, release_tables)
    ask$.tables <- c(ask$.tables, unname(tables))
  }
}

release_tables <- function(ask) release(ask$.tables)

# Codes that an sdc_file has kept, NULL for none. A table with further labels will do. Methods
# of one file_check() share codes whatever their roles, which count in the fingerprint alone.
kept_codes <- function(file, asked, roles) {
  for (codes in codes_of(file)) {
    known <- codes$asked
    known["labels"] <- list(if (length(asked$labels)) known$labels[names(asked$labels)])
    # Nothing is left out of a complete table.
    if (codes$table$n_incomplete == 0) {
      known[c("listwise", "dense")] <- asked[c("listwise", "dense")]
    }
    if ((isTRUE(file$codes$shared) || identical(codes$roles, roles)) && identical(known, asked)) {
      table <- codes$table
      table$labels <- table$labels[names(asked$labels)]
      return(table)
    }
  }
}

# All codes of a file. They hold its columns, and pointers that saved ones lack: a weak
# reference is not saved.
codes_of <- function(file) {
  kept <- if (is_open_file(file) && !is.null(file$codes)) file$codes$tables
  if (rlang::is_weakref(kept)) rlang::wref_value(kept)
}

# A file that keeps its codes while the function of `ask` runs, so that methods within a
# method find them.
lend_codes <- function(file, ask) {
  if (is.null(file$codes) || inherits(file$data, "data.table")) {
    file$codes <- new.env(parent = emptyenv())
    file$codes$until <- ask
  }
  file
}

# A place for a few: key variables, and those of a second question.
most_kept <- 4

# TRUE if the codes stay with their file.
keep_codes <- function(file, asked, roles, table) {
  keeps <- is_open_file(file) && !is.null(file$codes) &&
    # Their columns can be changed in place.
    (!is.null(file$codes$until) || !inherits(file$data, "data.table"))
  if (keeps) {
    if (!is.null(file$codes$until)) release_later(list(table), file$codes$until)
    codes <- list(asked = asked, roles = roles, table = table)
    tables <- utils::head(c(list(codes), codes_of(file)), most_kept)
    file$codes$tables <- rlang::new_weakref(file$codes, value = tables)
  }
  keeps
}

resolve_key_vars <- function(data, key_vars, exclude) {
  columns <- names(data)
  positions <- if (is.null(key_vars)) {
    setdiff(seq_along(columns), exclude)
  } else {
    check_columns(key_vars, data, "key_vars")
  }
  if (length(positions) == 0) stop_argument("key_vars", "name at least one column of `data`")
  used <- columns[positions]
  unusable <- is.na(used) | !nzchar(used) | duplicated(used)
  if (any(unusable)) {
    stop_sdc(
      "bad_data", "Every key variable must have a name of its own.",
      x = if (anyDuplicated(used)) {
        paste0("Names used twice: ", quote_names(unique(used[duplicated(used)])), ".")
      } else {
        paste0("Columns without a name: ", paste(positions[unusable], collapse = ", "), ".")
      },
      i = "Rename the columns, or leave them out of `key_vars`.",
      names = used[unusable]
    )
  }
  positions
}

# The key variables as a named list of columns; a group stands where its first
# column stood.
resolve_key_groups <- function(key_groups, data, positions, variables) {
  if (is.null(key_groups)) {
    keys <- as.list(seq_along(variables))
    names(keys) <- variables
    return(keys)
  }
  named <- is.list(key_groups) && length(names(key_groups)) == length(key_groups) &&
    all(nzchar(names(key_groups))) && !anyDuplicated(names(key_groups))
  if (!named || any(lengths(key_groups) == 0)) {
    stop_argument(
      "key_groups", "be a list of columns with a name for every group",
      found = if (is.list(key_groups)) {
        "A name is missing or repeated, or a group is empty."
      } else {
        given_words(key_groups)
      }
    )
  }
  members <- lapply(key_groups, check_columns, data = data, arg = "key_groups")
  outside <- setdiff(unlist(members), positions)
  refuse_names(names(data)[outside], "key_groups", "consist of key variables", "Not in `key_vars`")
  if (anyDuplicated(unlist(members))) {
    twice <- unique(unlist(members)[duplicated(unlist(members))])
    stop_argument(
      "key_groups", "name every column once",
      found = paste0("In several groups: ", quote_names(names(data)[twice]), ".")
    )
  }
  group_of <- variables
  for (group in names(members)) {
    group_of[match(members[[group]], positions)] <- group
  }
  clash <- intersect(names(members), variables[-match(unlist(members), positions)])
  refuse_names(clash, "key_groups", "have names that no other key variable has", "Taken")
  split(seq_along(variables), factor(group_of, levels = unique(group_of)))
}

# The set of every code of a column of candidates.
coded_sets <- function(sources, first_rows) {
  sets <- vector("list", length(sources))
  for (v in which(lengths(lapply(sources, `[[`, "sets")) > 0)) {
    source <- sources[[v]]
    sets[[v]] <- list(
      sets = source$sets[source$values[first_rows[[v]]]], interval = source$interval
    )
  }
  sets
}

# Puts the given values, filled up to `most` with missing ones, above a column,
# so that they are coded together.
below_levels <- function(source, levels, name, most) {
  given <- column_source(levels, length(levels))
  if (is.null(given)) stop_argument("levels", "hold vectors of values")
  # The missing integer64 has the bits of -0.
  missing <- if (given$kind == "wide") -0.0 else NA
  given$values <- c(as_bare(given$values), rep(missing, most - length(levels)))
  stack_sources(list(given, source), name)
}
