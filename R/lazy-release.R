# Tables of a database that are protected where they lie. What is chosen follows from the
# patterns: one GROUP BY, in the order of each pattern's first record. Then the records
# come in chunks, in the order of their ids, the id and the patterns' columns alone; what
# is to be changed goes back into a table of its own, as ids; and one statement makes the
# new table of both. No value of a key variable makes the way back, so that its type, its
# blanks and its last digit are the engine's own.
#
# Fields of `file$lazy`, NULL for data in R:
#   data       the table of the database, without groups
#   columns    the columns of the patterns
#   row_id, into, chunk_size   as the user says
#   n          number of records
#   first      per pattern, the id of its first record
#   changes    name of the table of changes
#   connection the connection

#' Protect a table inside its database
#'
#' Protects a file that is too large to load into R. [invariant_pram()] and
#' [suppress_cells()] take a lazy table of dbplyr as `data`, or its [sdc_file()]. They choose the
#' changes from its patterns and make a new table in the database.
#'
#' @section With an sdc_file:
#' `file <- sdc_file(table, keys)` counts the patterns once. Then [file_check()], [global_recode()],
#' [top_code()], [suppress_cells()], [release_data()], [compare_risk()], [utility_loss()] and
#' [sdc_report()] take the same arguments as for a data frame and have equal figures. The page and
#' all protections count again: a table that has changed since is an error (`bad_data`). Other
#' columns are not compared with the key variables, so that the page of a protected file is
#' `"unclear"` until they are left out. Of up to a million records weights, strata and sensitive
#' columns are read and compared, if key values are missing. [recode_search()] searches the table
#' by its counts; what `apply_recoding(found, blanks = FALSE)` leaves is for [suppress_cells()].
#' The loss of [invariant_pram()] needs the records in R. The release and `data` of a result are
#' files of the new table, with roles, states of the columns and history:
#' `file_check(release_data(x))` needs no arguments. `summary(release_data(x))$history` says what
#' was done.
#'
#' @section What happens:
#' 1. One `GROUP BY` brings the distinct patterns of the key variables, at most
#'    `max_patterns`, with their counts and the row id of the first record of each.
#' 2. The blocks and thetas of PRAM, or the suppressed values, are chosen from the patterns.
#' 3. The records are read in the order of their row ids, `chunk_size` at a time: the row id
#'    and the key variables alone. PRAM draws a new key for each. Changes are written to a
#'    table of row ids, with the row id of the record whose values are taken, or with the
#'    suppressed variables.
#' 4. One `CREATE TABLE` joins the two and makes the table `into`, with all columns of the
#'    old one in their order and the records in the order of the row ids, changed ones among
#'    the others. No value of a key variable goes from R to the database: types, padding and
#'    last digits are the engine's own. The old table is not changed.
#'
#' R holds the patterns, one chunk, and codes of the key variables of a million records at most.
#'
#' The new table is the release of the data frame in the order of the row ids, value by
#' value, from the same [set.seed()] (a secret one, see [release_data()]) and for any
#' `chunk_size`: the draws belong to the places of the records in that order. Text is in
#' the order of the engine's collation. With `weight_var` sums of weights are equal to
#' twelve digits, and so is a choice between keys by mean weight.
#'
#' Without `row_id` records are numbered in a random order of the engine, in a copy that is
#' removed afterwards. The new table is in this order and has no numbers. Its values are those of
#' the data frame in another order; PRAM then does not obey [set.seed()].
#'
#' @section The order of the records:
#' If the table has a `row_id` and is sorted by a key variable in its order, a changed value can be
#' read off the records before and after it. The message `told_by_order` gives the share of the
#' protected values that come back in this way, see [release_data()]; of a table of more than a
#' million records, blocks of 1,000 are examined. Then `release_data()` makes a temporary copy in a
#' random order of the engine, unless `shuffle = FALSE`. It helps only if the row id, which
#' restores the old one, does not leave either: the page of a release with it is "unclear".
#' Publish the copy, not the table `into`, which is in the order of the row ids:
#'
#' ```r
#' dplyr::compute(release_data(x), name = "public", temporary = FALSE)
#' ```
#'
#' @section Which rules of suppression:
#' Under `rule = "own"` the suppressed values of a record follow from its pattern, so that records
#' can be suppressed one by one. Under `"shared"` and `"strict"` they depend on all other records,
#' including equal records, only some of which are suppressed. These rules are therefore not
#' available; bring the key variables into R for them.
#'
#' @section What is different from data in R:
#' * `records` is `NULL`; `patterns` has a row for each pattern with its values, the number
#'   `n` of records, and the columns of `records`; for PRAM with `n_changed` and the
#'   `cell`. `cells` of a suppression have the `pattern` (row of `patterns`) and `n`.
#' * `data` is the file of the new table: it lives as long as the connection. Save numbers, not the
#'   result.
#' * `hh_id` is an error: patterns have no households.
#' * Other columns are not examined: `plausibility` is empty, and no message `determined_keys`
#'   comes. Remove columns that reveal a key variable, and direct identifiers, including the
#'   row id if it is one.
#' * [pram_audit()] and [pram_variance()] need records; [pram_transitions()] does not.
#'
#' @section Errors:
#' A connection that may not write, a name that is taken, a row id that is missing, not
#' single or text with blanks at its end that the engine ignores, are errors (`bad_argument`)
#' before anything is counted. After an error or an
#' interrupt the tables of changes and numbers and an unfinished new table are removed. Row ids that
#' the engine does not find again, such as numbers whose last digits a driver does not write,
#' and a table that changes while it is read, are errors, and nothing is released.
#'
#' @section Cost:
#' Two scans for counts and row ids, one for the patterns, one sort by the row id for each
#' chunk (an index on it saves that), and two joins; without `row_id` one copy of the table. The key
#' variables of all records travel to R once. [utility_loss()] holds them all in R, and so does
#' [sdc_report()] of a protection alone. SQLite, PostgreSQL, DuckDB and Spark are tested.
#'
#' @param row_id For a table of a database: name of the column that distinguishes records,
#'   whole numbers below 2^53 or text, one for each record. `NULL`: the release is in random order.
#' @param into For a table of a database: name of the new table, in the default schema of
#'   the connection. `NULL`: a temporary table, which lives as long as the connection.
#' @param chunk_size For a table of a database: records that are read at a time. The result
#'   does not depend on it.
#' @param max_patterns For a table of a database: more patterns than this are an error of
#'   class `sdcRisk_error_too_large`, before they are collected.
#' @return See [invariant_pram()] and [suppress_cells()].
#' @family perturbation
#' @family protection
#' @name release_in_database
#' @examples
#' if (requireNamespace("dbplyr", quietly = TRUE) && requireNamespace("RSQLite", quietly = TRUE)) {
#'   connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#'   keys <- c("CENREG", "DAGE3", "EDUC3")
#'   people <- cbind(id = seq_len(nrow(nals_prison)), nals_prison[keys])
#'   DBI::dbWriteTable(connection, "people", people)
#'   file <- sdc_file(dplyr::tbl(connection, "people"), keys, id_vars = id)
#'   blanked <- suppress_cells(file, k = 3)
#'   blanked$estimates$n_suppressed # 5
#'   colSums(is.na(as.data.frame(blanked$data)[keys])) # 3, 2, 0
#'   DBI::dbDisconnect(connection)
#' }
NULL

lazy_arguments <- c("row_id", "into", "chunk_size", "max_patterns")

# The file of a function that protects records. `also` are arguments that name further
# columns on which a pattern's fate depends. What the engine cannot know of `without` is
# refused there.
read_release <- function(ask, also, without) {
  check_given("data")
  file <- file_in_database(argument("data"))
  if (is.null(file)) {
    # Arguments for tables of a database alone.
    given <- lazy_arguments[was_given(lazy_arguments)]
    if (length(given)) {
      stop_argument(
        given[[1]], "be left out if `data` is not a table of a database",
        advice = "release_data() gives the protected data."
      )
    }
    return(read_file(ask))
  }
  check_installed("dplyr", "protect a table of a database")
  check_installed("dbplyr", "protect a table of a database")
  check_installed("DBI", "protect a table of a database")
  restore <- keep_random_state()
  on.exit(restore())
  for (arg in names(without)) {
    if (!is.null(argument(arg))) {
      stop_argument(
        arg, "be NULL for a table of a database", without[[arg]],
        "Bring the table into R to use it: dplyr::collect()."
      )
    }
  }
  lazy <- list(
    data = file$table, chunk_size = check_whole(argument("chunk_size"), "chunk_size", high = 1e8),
    max_patterns = check_max_patterns(argument("max_patterns"))
  )
  take_arguments(ask)
  take_roles(ask, file)
  lazy <- c(lazy, release_columns(lazy$data, also, ask))
  lazy$into <- check_into(argument("into"))
  lazy$connection <- release_connection(lazy$data, lazy$into)
  lazy$n <- if (is.null(lazy$row_id)) n_rows_of_table(lazy$data) else check_row_ids(lazy)
  if (is.null(lazy$row_id)) lazy <- numbered_records(lazy, ask)
  found <- release_patterns(lazy)
  check_same_patterns(file, found$table, lazy)
  lazy$first <- found$first
  ask$file <- pattern_file(found$table)
  whole <- is.null(file$data)
  past <- c("history", "states", "remedy")
  ask$file[past] <- unclass(file)[past]
  ask$file$roles$missing <- file$roles$missing
  ask$file$before <- if (whole) {
    first_patterns(file_of_table(ask$file, file$table, list()), lazy$columns)
  } else if (is.null(file$original)) {
    first_patterns(file, lazy$columns)
  } else {
    file$original
  }
  ask$file$lazy <- lazy
  ask$data <- ask$file$data
  note_patterns(remember(ask, list(data = c(ask$file$roles, file$roles[
    setdiff(names(file$roles), names(ask$file$roles))
  ]))), ask$file)
}

# A file of a table with the patterns of further columns on which a pattern's fate depends, and
# their values now: what later steps make of them.
first_patterns <- function(file, columns) {
  counted <- setdiff(names(file$data), file$roles$weight_var)
  if (!all(columns %in% counted)) {
    file$data <- pattern_file(pattern_table(
      file$table, union(counted, columns), weight_var = file$roles$weight_var
    ))$data
  }
  # Of a file that was protected before this session nobody knows them.
  if (length(file$history) == 0) file$now <- file$data
  file
}

# The lazy table, file or release in a database; NULL for data in R.
file_in_database <- function(data) {
  if (is_lazy_table(data)) {
    list(table = dplyr::ungroup(data), roles = list())
  } else if (is_in_database(data)) {
    as_file(data, "data")
  }
}

is_in_database <- function(data) {
  inherits(data, "tbl_lazy") || is_open_file(data) && !is.null(data$table) ||
    is_remedy(data) && inherits(unclass(data)$data, "tbl_lazy")
}

# The table must still be what was measured.
check_same_patterns <- function(file, table, lazy) {
  if (is.null(file$data)) {
    return(invisible())
  }
  asked <- list(key_vars = intersect(lazy$columns, names(file$data)))
  same <- length(asked$key_vars) == 0 || identical(
    fingerprint_of(file$data, asked), fingerprint_of(pattern_file(table)$data, asked)
  )
  if (lazy$n != n_records(file$data) || !same) {
    stop_sdc("bad_data", c(
      "The table must be as it was when sdc_file() counted it.",
      x = "It has other records now.", i = "Make the file again: sdc_file()."
    ))
  }
}

# Records without ids of their own get numbers in a random order, in a copy that is removed when
# the function ends. The release is in this order, and without the numbers.
numbered_records <- function(lazy, ask) {
  name <- new_table_name("sdc_records_")
  restore <- keep_random_state()
  at_end(ask, function(ask) drop_table(lazy$connection, name))
  drawn <- dplyr::mutate(lazy$data, sdc_draw = !!quote(random()))
  ordered <- dbplyr::window_order(drawn, !!as.name("sdc_draw"))
  number <- quote(row_number())
  # SQLite joins by an index only columns that have a type.
  if (inherits(lazy$connection, "SQLiteConnection")) number <- call("as.integer", number)
  numbered <- dplyr::mutate(ordered, sdc_record = !!number)
  columns <- rlang::syms(c(colnames(lazy$data), "sdc_record"))
  numbered <- dplyr::select(dbplyr::window_order(numbered), !!!columns)
  lazy$data <- write_query(numbered, name, FALSE, lazy$data)
  restore()
  lazy$row_id <- "sdc_record"
  lazy$numbered <- TRUE
  lazy
}

# The columns of the patterns, the row id and the weights by name. Positions become names,
# since the data are to have fewer columns.
release_columns <- function(data, also, ask) {
  names <- colnames(data)
  columns <- name_frame(names)
  named <- function(x) if (is_plain_number(x)) names[check_columns(x, columns, "key_vars")] else x
  for (arg in c("key_vars", also)) {
    x <- argument(arg)
    ask[[arg]] <- if (is.list(x)) lapply(x, named) else named(x)
  }
  row_id <- argument("row_id")
  if (!is.null(row_id)) row_id <- names[check_column(row_id, columns, "row_id")]
  weight_var <- argument("weight_var")
  if (!is.null(weight_var)) weight_var <- names[check_column(weight_var, columns, "weight_var")]
  ask$weight_var <- weight_var
  check_engine_names(data, names)
  further <- unlist(lapply(also, function(arg) {
    x <- ask[[arg]]
    given <- c(unlist(x), names(x)[nzchar(names(x))])
    if (length(given)) check_columns(given, columns, arg)
    given
  }))
  keys <- unlist(ask$key_vars)
  if (is.null(keys)) keys <- setdiff(names, c(row_id, weight_var, further))
  patterns <- unique(c(keys, further))
  for (set in if (is.list(ask$key_vars)) ask$key_vars else list(keys)) {
    resolve_key_vars(columns, set, integer())
  }
  positions <- check_columns(patterns, columns, "key_vars")
  check_reserved(patterns, weight_var)
  clash <- intersect(patterns, c(row_id, weight_var))
  if (length(clash) || !is.null(row_id) && identical(row_id, weight_var)) {
    stop_argument(
      if (row_id %in% c(clash, weight_var)) "row_id" else "weight_var",
      "name a column that no other argument names"
    )
  }
  list(columns = names[positions], row_id = row_id, weight_var = weight_var)
}

check_into <- function(into) {
  if (is.null(into)) {
    return(into)
  }
  if (!is.character(into) || length(into) != 1 || is.na(into) || !nzchar(into)) {
    stop_argument(
      "into", "be the name of the table to be made in the database", given_words(into),
      "into = \"census_public\""
    )
  }
  into
}

# A connection that writes: its proof is the table of changes, made for a moment. The
# name of the new table must be free.
release_connection <- function(data, into) {
  connection <- tryCatch(dbplyr::remote_con(data), error = function(e) NULL)
  if (is.null(connection) || !methods::is(connection, "DBIConnection")) {
    stop_argument(
      "data", "be a table of a database with a connection of DBI",
      paste0("It has class ", quote_names(class(data)), ".")
    )
  }
  if (!is.null(into) && isTRUE(with_engine(DBI::dbExistsTable(connection, into)))) {
    stop_argument(
      "into", "be the name of a table that does not exist yet", "There is one of this name.",
      "Choose another name, or remove it: DBI::dbRemoveTable(connection, into)."
    )
  }
  probe <- new_table_name()
  on.exit(drop_table(connection, probe))
  tryCatch(
    write_rows(connection, probe, frame(sdc_row = 1L), append = FALSE),
    error = function(e) {
      stop_argument(
        "data", "lie in a database that the connection may write to",
        paste0("Error of the engine: ", without_quoted(first_line(first_cause(e))), ".")
      )
    }
  )
  connection
}

# Drivers draw names: the random numbers of a release are those of a data frame all the same.
keep_random_state <- function() {
  state <- random_state()
  function() assign(".Random.seed", state, envir = globalenv())
}

# A name that nobody has, drawn without R's generator.
new_table_name <- function(stem = "sdc_changes_") tolower(basename(tempfile(stem)))

# Some drivers warn and return FALSE instead of an error.
write_rows <- function(connection, name, rows, append) {
  written <- suppressWarnings(
    DBI::dbWriteTable(connection, name, rows, append = append, row.names = FALSE)
  )
  if (isFALSE(written) || !DBI::dbExistsTable(connection, name)) stop("no table was written")
}

drop_table <- function(connection, name) {
  suppressWarnings(try(
    if (DBI::dbExistsTable(connection, name)) DBI::dbRemoveTable(connection, name),
    silent = TRUE
  ))
}

n_rows_of_table <- function(data) {
  n <- rows_of_engine(data)
  if (n == 0) stop_no_records()
  check_most_records(n)
  n
}

# Number of records, where every one has a row id of its own, of whole numbers or text.
check_row_ids <- function(lazy) {
  x <- as.name(lazy$row_id)
  n <- n_rows_of_table(lazy$data)
  ids <- ids_of_engine(lazy$data, lazy$row_id)
  if (ids$n < n || ids$n_repeated > 0) {
    stop_argument(
      "row_id", "name a column with a value of its own for every record",
      paste0(
        plural(n - ids$n, "record"), " without a value, ",
        plural(ids$n_repeated, "record"), " with the value of another."
      )
    )
  }
  ends <- with_engine(collect_one_row(lazy$data, list(
    sdc_least = rlang::expr(min(!!x, na.rm = TRUE)), sdc_most = rlang::expr(max(!!x, na.rm = TRUE))
  )))
  if (is.character(ends[[1]])) {
    check_row_text(lazy, telling_value(unlist(ends)))
  } else {
    values <- unlist(lapply(ends, bare_counts))
    whole <- length(values) == 2 && all(is.finite(values) & abs(values) < most_records)
    broken <- if (whole) with_engine(collect_one_row(lazy$data, list(
      sdc_broken = rlang::expr(sum(ifelse(!!x != floor(!!x), 1L, 0L), na.rm = TRUE))
    )))
    if (!whole || engine_counts(broken[[1]]) > 0) {
      stop_argument(
        "row_id", "name a column of text, or of whole numbers below 2^53",
        if (whole) "Some have a fraction." else paste0(
          "It has class ", quote_names(class(ends[[1]])), "."
        )
      )
    }
  }
  n
}

# Row ids go to the table of changes as R has them, and must be found again.
check_row_text <- function(lazy, value) {
  if (is.na(value) || !ignored_in_text(lazy$data, lazy$row_id, value)[["blanks"]]) {
    return(invisible())
  }
  blank <- rlang::call2("%like%", as.name(lazy$row_id), "% ")
  n <- rows_of_engine(dplyr::filter(lazy$data, !!blank))
  if (n > 0) {
    stop_argument(
      "row_id", "name a column whose text the engine compares with its blanks",
      paste0(plural(n, "record"), " with blanks at the end, which it ignores."),
      "Take them off in the query: dplyr::mutate(data, id = trimws(id))."
    )
  }
}

# The patterns in the order of their first records, and the ids of these.
release_patterns <- function(lazy) {
  asked <- list(
    key_vars = lazy$columns, weight_var = lazy$weight_var, count_var = NULL,
    row_id = lazy$row_id
  )
  table <- engine_patterns(lazy$data, asked, lazy$max_patterns)
  stop_ignored_text(columns_ignoring(lazy$data, table))
  if (table$n_records != lazy$n) stop_table_changed()
  list(table = table, first = table$first)
}
