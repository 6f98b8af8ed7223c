# Tables of a database or a cluster, as dbplyr sees them: one GROUP BY in the engine, and
# the pattern table of what comes back. Verbs of dplyr alone, no dialect: what dbplyr
# translates is translated for every engine alike.

#' @rdname pattern_table
#' @name pattern_table
#' @param collect For a lazy table, whether the query runs. `FALSE` gives the query
#'   itself, a lazy table: `dplyr::show_query()` shows what would run.
#' @section Tables of a database:
#' A lazy table of dbplyr (`dplyr::tbl(connection, "census")`) is counted where it lies:
#' one `GROUP BY` over the key variables in the engine, and only patterns with their
#' counts travel. Before they do the engine counts them by a second query: more than
#' `max_patterns` are an error, and so are numbers that differ. Other functions take a lazy
#' table as `data` too and make the pattern table of their key variables;
#' [qar_risk()] asks for one small count per key set if there are too many patterns.
#' Make the pattern table once if several functions are to be asked.
#'
#' Patterns of an engine are sorted by their values, since it has no order of its own.
#' Engines differ in the following points:
#'
#' * `NULL` and, if there is one, `NaN` are both missing and counted together; but
#'   if [qar_risk()] asks for one count per key set, `NaN` is a value of its own.
#' * -0 and 0 are one value.
#' * 64-bit and decimal counts become doubles; more than 2^53 records are an error.
#' * Values of key variables that R cannot hold, such as whole numbers above 2^53 that the
#'   driver gives as doubles, or infinite dates, are an error. Make text of them in the
#'   query: `dplyr::mutate(table, x = as.character(x))`.
#' * Names that begin with `sdc_`, and those that dbplyr reads as values, such as `NULL` and
#'   `pi`, are an error: rename the column in the database.
#' * Sums of weights are made in the engine's widest number of the kind `as.numeric()`
#'   is translated to. Missing, infinite and negative weights are found, as in a data frame.
#' * Text of fixed width (`CHAR(n)`) keeps the blanks the engine pads it with, and is equal
#'   to no unpadded text, in [update()] and in linkage: `trimws()` it in the query before.
#' * If text compares without regard to case, or to blanks at its end if some are, `a`
#'   and `A`, or `a` and `a` with a blank, are one value to the engine, and the risk looks
#'   smaller than it is: warnings of class `sdcRisk_warning_ignores_case` and
#'   `sdcRisk_warning_ignores_blanks` name the columns. Give them a binary collation. In
#'   linkage and in releases this is an error.
#' * The empty text is a value, but to an engine that takes it for `NULL`.
#'
#' SQLite and PostgreSQL are tested with every release, DuckDB and Apache Spark by suites of
#' their own; other engines are expected to work as far as dbplyr translates for them.
#'
#' [longitudinal_link()] and [link_attack()] take two tables of a database. The engine joins
#' them by the ids, which must be text in both or numbers in both.
#' @export
pattern_table.tbl_lazy <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                   count_var = NULL, max_patterns = 5e6, collect = TRUE) {
  announce("pattern_table")
  check_no_dots(...)
  check_installed("dplyr", "count patterns in a database")
  check_installed("dbplyr", "count patterns in a database")
  max_patterns <- check_max_patterns(max_patterns)
  check_flag(collect, "collect")
  asked <- lazy_columns(data, key_vars, weight_var, count_var)
  if (!collect) {
    return(pattern_query(data, asked))
  }
  table <- engine_patterns(data, asked, max_patterns)
  warn_ignored_text(data, table)
  table
}

# The patterns of a file must still be those of its table. Without a connection they are what is
# known, and nothing can be released.
check_still_counted <- function(file) {
  names <- setdiff(names(file$data), file$roles$weight_var)
  now <- tryCatch(
    suppressMessages(suppressWarnings(pattern_table(dplyr::arrange(file$table), names))),
    sdcRisk_error = function(e) NULL
  )
  if (is.null(now)) {
    return(invisible())
  }
  counts <- lapply(list(file$data, pattern_file(now)$data), function(data) {
    rows <- c(lapply(as.list(data)[names], as.character), list(times_of(data)))
    sort(do.call(paste, c(unname(rows), sep = "\r")), method = "radix")
  })
  if (!identical(counts[[1]], counts[[2]])) stop_table_changed()
}

# The pattern table of what lazy_columns() has found, counted by the engine.
engine_patterns <- function(data, asked, max_patterns) {
  query <- pattern_query(data, asked)
  with_engine({
    counted <- second_count(data, asked$key_vars)
    check_few_patterns(counted$patterns, max_patterns)
    ordered <- if (is.null(asked$row_id)) query else dplyr::arrange(query, !!as.name("sdc_first"))
    found <- with_levels(collect_query(ordered), data)
  })
  table <- collected_patterns(found, asked, max_patterns)
  same_records <- !is.null(asked$count_var) || table$n_records == counted$records
  if (nrow(found) != counted$patterns || !same_records) stop_table_changed()
  check_held_values(unname(as.list(found)[seq_along(asked$key_vars)]), counted, table)
  table$query <- as.character(dbplyr::sql_render(query))
  table
}

# Names of the columns that are asked for, from names or positions.
lazy_columns <- function(data, key_vars, weight_var, count_var) {
  names <- colnames(data)
  columns <- name_frame(names)
  one <- function(x, arg) if (!is.null(x)) names[check_column(x, columns, arg)]
  weight_var <- one(weight_var, "weight_var")
  count_var <- one(count_var, "count_var")
  roles <- match(c(weight_var, count_var), names)
  if (anyDuplicated(roles)) {
    stop_argument("count_var", "name another column than `weight_var`")
  }
  check_no_roles(columns, key_vars, if (length(roles)) roles)
  keys <- names[resolve_key_vars(columns, key_vars, roles)]
  check_reserved(keys, weight_var)
  check_engine_names(data, c(keys, weight_var, count_var))
  list(key_vars = keys, weight_var = weight_var, count_var = count_var)
}

# One row per pattern, under names of our own for what is counted; where records have a
# row id, with that of its first record.
pattern_query <- function(data, asked) {
  keys <- asked$key_vars
  counts <- if (is.null(asked$count_var)) {
    list(sdc_n = quote(n()))
  } else {
    n <- as.name(asked$count_var)
    list(
      sdc_n = rlang::expr(sum(!!n, na.rm = TRUE)),
      sdc_n_least = rlang::expr(min(!!n, na.rm = TRUE)),
      sdc_n_broken = rlang::expr(
        sum(ifelse(is.na(!!n) | !!n != floor(!!n), 1L, 0L), na.rm = TRUE)
      )
    )
  }
  sums <- if (!is.null(asked$weight_var)) {
    w <- rlang::expr(as.numeric(!!as.name(asked$weight_var)))
    list(
      sdc_sum = rlang::expr(sum(!!w, na.rm = TRUE)),
      sdc_squares = rlang::expr(sum(!!w * !!w, na.rm = TRUE)),
      sdc_least = rlang::expr(min(!!w, na.rm = TRUE)),
      sdc_most = rlang::expr(max(!!w, na.rm = TRUE)),
      sdc_missing = rlang::expr(
        sum(ifelse(is.na(!!as.name(asked$weight_var)), 1L, 0L), na.rm = TRUE)
      )
    )
  }
  first <- if (!is.null(asked$row_id)) {
    list(sdc_first = rlang::expr(min(!!as.name(asked$row_id), na.rm = TRUE)))
  }
  # Groups that the user has made are none of ours.
  grouped <- dplyr::group_by(dplyr::ungroup(data), !!!rlang::syms(keys))
  dplyr::summarise(grouped, !!!counts, !!!sums, !!!first, .groups = "drop")
}

# Names that mean something else on the way: columns of ours, in any case of letters, and
# what dbplyr reads as a value, such as `NULL` and `pi`.
check_engine_names <- function(data, names) {
  connection <- dbplyr::remote_con(data)
  is_read <- function(name, quoted) {
    read <- try(dbplyr::translate_sql_(list(as.name(name)), con = connection), silent = TRUE)
    identical(as.character(read), quoted)
  }
  read <- unlist(Map(is_read, names, engine_names(connection, names)))
  bad <- unique(names[!read | names == ".data" | startsWith(tolower(names), "sdc_")])
  if (length(bad)) {
    stop_sdc(
      "bad_data",
      "No column of a table of a database may have a name with another meaning in a query.",
      x = paste0(quote_names(bad), "."),
      i = "Names that begin with `sdc_`, and those of values such as `NULL`, are taken.",
      i = "Rename the column in the database, or in a view of the table.",
      names = bad
    )
  }
}

# Names as the dialect writes those of columns.
engine_names <- function(connection, names) {
  as.character(dbplyr::escape(dbplyr::ident(names), parens = FALSE, collapse = NULL, connection))
}

# The patterns counted once more, by names that are quoted here: their number, that of their
# records, and per key variable that of the patterns in which it is missing.
second_count <- function(data, keys) {
  own <- paste0("sdc_key_", seq_along(keys))
  quoted <- lapply(engine_names(dbplyr::remote_con(data), keys), dbplyr::sql)
  records <- dplyr::transmute(dplyr::ungroup(data), !!!rlang::set_names(quoted, own))
  patterns <- dplyr::summarise(
    dplyr::group_by(records, !!!rlang::syms(own)), !!!list(sdc_n = quote(n())), .groups = "drop"
  )
  missing <- lapply(rlang::syms(own), function(x) {
    rlang::expr(sum(ifelse(is.na(!!x), 1L, 0L), na.rm = TRUE))
  })
  found <- collect_one_row(patterns, c(
    list(sdc_patterns = quote(n()), sdc_records = quote(sum(sdc_n, na.rm = TRUE))),
    rlang::set_names(missing, paste0("sdc_missing_", seq_along(keys)))
  ))
  found <- vapply(found, engine_counts, 0, USE.NAMES = FALSE)
  list(patterns = found[[1]], records = found[[2]], missing = found[-(1:2)])
}

# R must hold the values as the engine does: numbers of more than 15 digits can be one in R,
# and an infinite date is missing. NaN is missing, and -0 is 0, as the help says.
check_held_values <- function(values, counted, table) {
  is_number <- vapply(values, function(x) is.double(x) && !is.object(x), NA)
  lost <- !is_number & vapply(values, function(x) sum(is.na(x)), 0) != counted$missing
  merged <- 0
  if (nrow(table$patterns) < counted$patterns) {
    said <- lapply(values[is_number], `%in%`, c(NA, NaN, 0))
    rows <- which(!Reduce(`|`, said, logical(counted$patterns)))
    found <- do.call(frame, rlang::set_names(values, table$key_vars))
    merged <- sum(duplicated(places_of_patterns(table$patterns[table$key_vars], found)[rows]))
  }
  if (any(lost) || merged > 0) {
    plain <- vapply(values, function(x) is.character(x) || is.integer(x), NA)
    columns <- table$key_vars[if (any(lost)) lost else !plain]
    stop_sdc(
      "bad_data", "R must be able to hold the values of the key variables as the engine has them.",
      x = if (any(lost)) {
        paste0("Some of ", quote_names(columns), " are missing in R: infinite dates, or others.")
      } else {
        paste0(
          plural(merged, "pattern"), " of the engine ", if (merged == 1) "is" else "are",
          " equal to another in R, by the last digits of ", quote_names(columns), "."
        )
      },
      i = "Make text of it in the query: dplyr::mutate(data, x = as.character(x)).",
      columns = columns
    )
  }
}

collected_patterns <- function(found, asked, max_patterns) {
  keys <- asked$key_vars
  # Engines may write names in letters of their own.
  names(found) <- c(keys, tolower(utils::tail(names(found), -length(keys))))
  if (nrow(found) == 0) stop_no_records(asked$arg)
  n <- engine_counts(found$sdc_n)
  if (!is.null(asked$count_var)) {
    bad <- sum(engine_counts(found$sdc_n_broken)) > 0 ||
      anyNA(n) || any(engine_counts(found$sdc_n_least) < 1)
    if (bad) {
      stop_argument(
        "count_var", "name a column of whole numbers of at least 1",
        found = "Others, or missing ones, were found."
      )
    }
  }
  check_most_records(sum(n))
  order <- if (is.null(asked$row_id)) {
    do.call(order, c(unname(lapply(found[keys], order_values)), list(method = "radix")))
  } else {
    seq_along(n)
  }
  found <- found[order, , drop = FALSE]
  table <- count_patterns(
    found[keys], keys, integer(), n[order],
    weighing = if (!is.null(asked$weight_var)) engine_weights(found, n[order], asked),
    max_patterns = max_patterns
  )
  if (!is.null(asked$row_id)) {
    # A pattern in R may be two in the engine: NaN and NULL.
    rows <- seq_along(n)
    if (nrow(table$patterns) < length(n)) {
      rows <- which(!duplicated(places_of_patterns(table$patterns[keys], found[keys])))
    }
    table$first <- bare_ids(found$sdc_first[rows])
  }
  table
}

stop_no_records <- function(arg = NULL) {
  if (is.null(arg)) arg <- "data"
  stop_sdc(
    "bad_data",
    c(paste0("`", arg, "` must have at least one record."), x = "The table has none."),
    data_class = "tbl_lazy"
  )
}

engine_weights <- function(found, n, asked) {
  name <- asked$weight_var
  of <- function(column) as.double(bare_weights_of(found[[column]]))
  n_missing <- sum(engine_counts(found$sdc_missing))
  sums <- of("sdc_sum")
  squares <- of("sdc_squares")
  least <- of("sdc_least")
  most <- of("sdc_most")
  if (!is.null(asked$count_var)) {
    # A row's weight is the sum of those of its records.
    least <- most <- sums / n
    squares <- sums^2 / n
  }
  if (n_missing > 0) stop_weights(name, paste0(format_count(n_missing), " missing."))
  if (anyNA(c(sums, squares)) || any(!is.finite(c(sums, squares))) || any(least <= 0)) {
    stop_weights(name, "Some are zero, negative, infinite or no number.")
  }
  list(name = name, sums = sums, squares = squares, range = range(least, most))
}

bare_weights_of <- function(x) {
  if (is.character(x)) x else if (inherits(x, "integer64")) wide_to_double(x) else as.double(x)
}

#' @exportS3Method dplyr::show_query
show_query.sdc_pattern_table <- function(x, ...) {
  announce("show_query")
  if (is.null(x$query)) {
    stop_argument(
      "x", "be made from a table of a database",
      found = "It was made from a data frame."
    )
  }
  cat(x$query, sep = "\n")
  invisible(x)
}
