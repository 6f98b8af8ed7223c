# Tables of a database or a cluster, as dbplyr sees them: one GROUP BY in the engine, and
# the pattern table of what comes back. Verbs of dplyr alone, no dialect: what dbplyr
# translates is translated for every engine alike.

is_lazy_table <- function(x) inherits(x, "tbl_lazy")

#' @rdname pattern_table
#' @name pattern_table
#' @param collect For a lazy table, whether the query runs. `FALSE` gives the query
#'   itself, a lazy table: `dplyr::show_query()` shows what would run.
#' @section Tables of a database:
#' A lazy table of dbplyr (`dplyr::tbl(connection, "census")`) is counted where it lies:
#' one `GROUP BY` over the key variables in the engine, and only patterns with their
#' counts travel. Before they do the engine counts them, and more than `max_patterns`
#' are an error; `max_patterns = Inf` saves that second scan. Other functions take a lazy
#' table as `data` too and make the pattern table of their key variables;
#' [qar_risk()] asks for one small count per key set where there are too many patterns.
#' Make the pattern table once where several functions are to be asked.
#'
#' Patterns of an engine are sorted by their values, since it has no order of its own.
#' What engines do differently, and what is done about it:
#'
#' * `NULL` and, where there is one, `NaN` are both missing and counted together; but
#'   where [qar_risk()] asks for one count per key set, `NaN` is a value of its own.
#' * -0 and 0 are one value.
#' * 64-bit and decimal counts become doubles; more than 2^53 records are an error.
#' * Sums of weights are made in the engine's widest number of the kind `as.numeric()`
#'   is translated to. Missing, infinite and negative weights are found, as in a data frame.
#' * Text of fixed width (`CHAR(n)`) keeps the blanks the engine pads it with, and is equal
#'   to no unpadded text, in [update()] and in linkage: `trimws()` it in the query before.
#' * Where text compares without regard to case, or to blanks at its end where some are, `a`
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

# The pattern table of what lazy_columns() has found, counted by the engine.
engine_patterns <- function(data, asked, max_patterns) {
  query <- pattern_query(data, asked)
  with_engine({
    if (is.finite(max_patterns)) {
      check_few_patterns(n_rows_of(query), max_patterns)
    }
    ordered <- if (is.null(asked$row_id)) query else dplyr::arrange(query, !!as.name("sdc_first"))
    found <- collect_query(ordered)
  })
  table <- collected_patterns(found, asked, max_patterns)
  table$query <- query_text(query)
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
  list(key_vars = keys, weight_var = weight_var, count_var = count_var)
}

# Checks of columns look at names alone.
name_frame <- function(names) {
  as.data.frame(rlang::set_names(rep(list(logical()), length(names)), names), optional = TRUE)
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

n_rows_of <- function(query) {
  found <- collect_query(dplyr::summarise(dplyr::ungroup(query), !!!list(sdc_n = quote(n()))))
  engine_counts(found$sdc_n)
}

collect_query <- function(query) as.data.frame(dplyr::collect(query))

query_text <- function(query) as.character(dbplyr::sql_render(query))

# What the engine complains of, as a condition of ours with the engine's words, but for
# what stands in quotes: that may be a value. Nor does its own condition come along.
with_engine <- function(code) {
  tryCatch(code, error = function(e) {
    if (inherits(e, "sdcRisk_error")) stop(e)
    pass_on_time_limit(first_cause(e))
    stop_sdc(
      "bad_data",
      c(
        "The engine must be able to run the query.",
        x = paste0("It says: ", without_quoted(first_line(first_cause(e))), "."),
        i = "pattern_table(data, collect = FALSE) gives the query; show_query() shows it."
      )
    )
  })
}

first_cause <- function(condition) {
  if (inherits(condition$parent, "condition")) first_cause(condition$parent) else condition
}

without_quoted <- function(text) gsub("([\"'`]).*\\1", "\\1...\\1", text)

# Counts in whatever type a driver delivers whole numbers in, as doubles.
engine_counts <- function(x) {
  # A sum of nothing is missing, in any type.
  if (is.character(x) || is.logical(x)) as.double(x) else bare_counts(x)
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
    # What R takes for one pattern may be two to the engine: NaN and NULL.
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

# What puts the values of a column in an order that no engine or locale changes.
order_values <- function(x) {
  source <- column_source(x, length(x))
  if (is.null(source)) seq_along(x) else as_bare(source$values)
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
  if (is.null(x$query)) {
    stop_argument(
      "x", "be made from a table of a database",
      found = "It was made from a data frame."
    )
  }
  cat(x$query, sep = "\n")
  invisible(x)
}

# A lazy table at the door ------------------------------------------------------------

#' @export
sdc_file.tbl_lazy <- function(data, key_vars = NULL, ..., weight_var = NULL, hh_id = NULL,
                              strata_var = NULL, sensitive = NULL, pop_size = NULL,
                              sampling_fraction = NULL, key_groups = NULL, missing = NULL) {
  check_no_dots(...)
  for (role in c("hh_id", "strata_var")) {
    if (!is.null(get(role, envir = front()))) {
      stop_argument(
        role, "be NULL for a table of a database",
        found = "Patterns and their counts do not say what is in single records."
      )
    }
  }
  if (is.null(key_vars)) {
    key_vars <- setdiff(colnames(data), c(weight_var, sensitive))
  }
  table <- pattern_table(data, unique(c(key_vars, sensitive)), weight_var = weight_var)
  given <- list(
    sensitive = sensitive, pop_size = pop_size, sampling_fraction = sampling_fraction,
    key_groups = key_groups, missing = missing
  )
  do.call(sdc_file, c(
    list(table, key_vars = key_vars), given[!vapply(given, is.null, NA)]
  ))
}

# The file of a lazy table that a function was given as `data`: the patterns of what it
# asks about, as its other arguments say.
lazy_file <- function(x, arg) {
  of <- function(name) {
    if (name %in% argument_names() && was_given(name)) get(name, envir = front())
  }
  names <- colnames(x)
  named <- function(columns) if (is.numeric(columns)) names[columns] else columns
  weight_var <- named(of("weight_var"))
  groups <- of("key_groups")
  keys <- unlist(lapply(c(list(), of("key_vars")), function(set) {
    # The name of a group stands for its columns.
    set <- as.list(named(set))
    lapply(set, function(one) if (one %in% names(groups)) groups[[one]] else one)
  }))
  keys <- unique(c(
    if (length(keys)) keys else setdiff(names, weight_var), named(of("sensitive"))
  ))
  most <- if ("max_patterns" %in% argument_names()) get("max_patterns", envir = front()) else 5e6
  pattern_file(pattern_table(x, keys, weight_var = weight_var, max_patterns = most))
}
