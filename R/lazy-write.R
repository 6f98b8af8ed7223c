# The release of a table of a database is written there: changes by chunks of records.

# The records in the order of their ids, `chunk_size` at a time: `work` is given the ids
# and the pattern of each.
each_chunk <- function(lazy, patterns, work) {
  x <- as.name(lazy$row_id)
  wanted <- dplyr::select(lazy$data, !!!rlang::syms(c(lazy$row_id, lazy$columns)))
  patterns <- as.list(patterns)[lazy$columns]
  patterns <- do.call(frame, unname_columns(patterns))
  after <- NULL
  done <- 0
  repeat {
    rest <- if (is.null(after)) wanted else dplyr::filter(wanted, !!x > !!after)
    chunk <- with_engine(collect_query(utils::head(dplyr::arrange(rest, !!x), lazy$chunk_size)))
    if (nrow(chunk) == 0) break
    ids <- bare_ids(chunk[[1]])
    values <- unname_columns(as.list(chunk)[-1])
    at <- places_of_patterns(patterns, do.call(frame, typed_as(values, patterns)))
    done <- done + nrow(chunk)
    if (any(at > nrow(patterns)) || done > lazy$n) stop_table_changed()
    work(ids, at)
    if (!is.null(running$tick)) running$tick(done, lazy$n)
    if (nrow(chunk) < lazy$chunk_size) break
    after <- utils::tail(ids, 1)
    # As written, to the last digit, whatever the dialect makes of numbers.
    if (is.numeric(after)) after <- dbplyr::sql(sprintf("%.0f", after))
  }
  if (done != lazy$n) stop_table_changed()
}

# A new table of what a query gives, in its order.
write_query <- function(query, name, temporary, like) {
  made <- with_engine(dplyr::compute(query, name = name, temporary = temporary, analyze = FALSE))
  structure(made, sdc_levels = attr(like, "sdc_levels"))
}

# Makes the new table, in the order of the row ids: nothing tells changed records apart by
# their place. `chunk` is given the patterns of records and gives a list: `rows`, those that
# change, `to`, the pattern each takes its values from (NA: missing values), and `flags`, for
# each key whether its value is taken from there, 0 or 1. `codes` are those of the patterns by
# key. Columns come as they are, or by CASE from columns of one type, so that the new table has
# the types of the old one. Nothing stays but the new table, and that only when it is whole.
write_release <- function(lazy, patterns, codes, chunk) {
  keys <- names(codes)
  connection <- lazy$connection
  changes <- new_table_name()
  restore <- keep_random_state()
  on.exit(restore())
  whole <- FALSE
  # Without a name it lives as long as the connection.
  into <- if (is.null(lazy$into)) new_table_name("sdc_release_") else lazy$into
  on.exit({
    drop_table(connection, changes)
    if (!whole) drop_table(connection, into)
  }, add = TRUE)
  n_changed <- n_read <- 0
  flags <- paste0("sdc_flag_", seq_along(keys))
  before <- after <- list()
  each_chunk(lazy, patterns, function(ids, at) {
    found <- chunk(at)
    # Neighbours are enough to see what the order tells: blocks of a million records at most.
    seen <- which((n_read + seq_along(at) - 1) %/% 1000 %% ceiling(lazy$n / 1e6) == 0)
    n_read <<- n_read + length(at)
    new <- new_codes(codes, at, found)
    before[[length(before) + 1]] <<- lapply(codes, function(codes) codes[at[seen]])
    after[[length(after) + 1]] <<- lapply(new, `[`, seen)
    if (length(found$rows) > 0) {
      rows <- list(sdc_row = ids[found$rows], sdc_donor = lazy$first[found$to])
      rows <- do.call(frame, c(rows, rlang::set_names(found$flags, flags)))
      with_engine(write_rows(connection, changes, rows, append = n_changed > 0))
      n_changed <<- n_changed + nrow(rows)
    }
  })
  released <- lazy$data
  if (n_changed > 0) {
    released <- changed_records(lazy, dplyr::tbl(connection, changes), keys, flags, n_changed)
  }
  ordered <- dplyr::arrange(released, !!as.name(lazy$row_id))
  if (isTRUE(lazy$numbered)) {
    ordered <- dbplyr::window_order(dplyr::select(ordered, -!!as.name(lazy$row_id)))
  }
  made <- write_query(ordered, into, is.null(lazy$into), lazy$data)
  whole <- TRUE
  if (is.null(lazy$numbered)) {
    told <- lazy_order_tells(lazy, joined_codes(before), joined_codes(after))
    attr(made, "told_by_order") <- told
  }
  made
}

# The codes of records after the changes, 0 for a missing value.
new_codes <- function(codes, at, found) {
  Map(function(codes, flags) {
    changed <- which(flags == 1)
    after <- codes[at]
    to <- codes[found$to[changed]]
    after[found$rows[changed]] <- replace(to, is.na(to), 0L)
    after
  }, codes, found$flags)
}

joined_codes <- function(parts) do.call(Map, c(list(c), parts))

# Values that the order of the new table reveals, which is that of the row ids, as of a data frame
# in this order.
lazy_order_tells <- function(lazy, before, after) {
  told <- order_tells(do.call(frame, before), before, after)
  inform_order(told, paste0(
    "The order is that of `", lazy$row_id, "`. release_data() makes a copy without it in a random ",
    "order: to keep it, dplyr::compute(release_data(x), name = , temporary = FALSE)."
  ))
  told
}

# The records that stay and those that change, with the values of their donors, which are
# taken out of the table itself; those of nobody are missing, and of the columns' own types.
changed_records <- function(lazy, changes, keys, flags, n_changed) {
  new <- paste0("sdc_new_", seq_along(keys))
  by <- rlang::set_names("sdc_row", lazy$row_id)
  donors <- dplyr::transmute(
    lazy$data, !!!rlang::set_names(rlang::syms(c(lazy$row_id, keys)), c("sdc_donor", new)),
    sdc_found = 1L
  )
  others <- dplyr::inner_join(lazy$data, changes, by = by)
  others <- dplyr::left_join(others, donors, by = "sdc_donor")
  there <- dplyr::filter(
    others, is.na(!!as.name("sdc_donor")) | !is.na(!!as.name("sdc_found"))
  )
  if (rows_of_engine(there) != n_changed) {
    stop_argument(
      "row_id", "name a column that the engine finds again by the values it gave",
      "Some were not found.",
      "Drivers write numbers with 15 digits or more: take smaller ones, or text."
    )
  }
  values <- Map(function(key, flag, new) {
    # ifelse() has no ELSE in SQL, which makes PostgreSQL forget the length of a type.
    rlang::call2(
      "case_when", rlang::expr(!!as.name(flag) == 1L ~ !!as.name(new)),
      rlang::expr(TRUE ~ !!as.name(key))
    )
  }, keys, flags, new)
  marks <- dplyr::transmute(changes, !!as.name("sdc_row"), sdc_mark = 1L)
  rest <- dplyr::left_join(lazy$data, marks, by = by)
  rest <- dplyr::filter(rest, is.na(!!as.name("sdc_mark")))
  columns <- rlang::syms(colnames(lazy$data))
  # SQLite has the types of the new table from the first of the two.
  dplyr::union_all(
    dplyr::select(rest, !!!columns),
    dplyr::select(dplyr::mutate(others, !!!rlang::set_names(values, keys)), !!!columns)
  )
}

# PRAM ----------------------------------------------------------------------------

# As pram_release(), of the records of a table of a database. The draws are those of a data
# frame in the order of the row ids, whatever the chunks.
pram_release_lazy <- function(lazy, data, table, drawn) {
  design <- list(
    counts = as.double(drawn$counts), block = drawn$block, thetas = drawn$thetas,
    seed = drawn$seed
  )
  codes <- codes_at(table, table$positions)
  n_changed <- numeric(nrow(data))
  n_new <- numeric(length(drawn$counts))
  by_key <- numeric(length(codes))
  so_far <- list(rows = 0, words = 0)
  made <- write_release(lazy, data, rlang::set_names(codes, table$variables), function(at) {
    cells <- drawn$row_cell[at]
    found <- core(rs_pram_draw, c(design, so_far, list(cells = cells)))
    so_far <<- found[c("rows", "words")]
    moved <- which(found$cells != cells)
    n_new <<- n_new + tabulate(found$cells, length(n_new))
    n_changed <<- n_changed + tabulate(at[moved], length(n_changed))
    to <- drawn$first_row[found$cells[moved]]
    by_key <<- by_key + vapply(codes, function(codes) sum(codes[at[moved]] != codes[to]), 0L)
    # All values of the donor: NaN and NULL are one code, and must not make new combinations.
    list(rows = moved, to = to, flags = rep(list(rep(1L, length(moved))), length(codes)))
  })
  list(
    data = made, changed = as_count(n_changed), cell = drawn$row_cell,
    new_counts = as_count(n_new), n_changed = as_count(by_key)
  )
}

# Suppression ---------------------------------------------------------------------

# The table with blanks: `rows` are the patterns that lose each of the named columns.
blank_lazy <- function(lazy, data, rows, table) {
  blanks <- lapply(rows, function(rows) as.integer(seq_len(nrow(data)) %in% rows))
  touched <- seq_len(nrow(data)) %in% unlist(rows)
  codes <- rlang::set_names(all_codes(list(table))[[1]], table$variables)[names(rows)]
  write_release(lazy, data, codes, function(at) {
    here <- which(touched[at])
    list(
      rows = here, to = rep(NA_integer_, length(here)),
      flags = lapply(blanks, function(blanks) blanks[at[here]])
    )
  })
}

# The first file of a table, whose values now miss what was blanked.
blanked_before <- function(before, result, data) {
  columns <- setdiff(names(data), result$settings$weight_var)
  if (!all(columns %in% names(before$now))) {
    before$now <- NULL
    return(before)
  }
  at <- places_of_patterns(data[columns], before$now[columns])
  cells <- result$cells
  for (name in unique(cells$variable)) {
    before$now[[name]][at %in% cells$pattern[cells$variable == name]] <- NA
  }
  before
}
