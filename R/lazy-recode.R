# Tables of a database that are recoded where they lie: R recodes the distinct values, as it does
# those of a data frame, and the engine gets a CASE for each column. The file knows the query, its
# release writes it. Bands and groups are text to the engine; the table's attribute "sdc_levels"
# has their levels by column.

# The values of a column with the records and weights of each; of a data frame every record is one.
recoding_values <- function(file, name) {
  data <- file$data
  weight_var <- file$roles$weight_var
  if (!is.null(file$table) && (!name %in% names(data) || name %in% weight_var)) {
    weight_var <- setdiff(weight_var, name)
    data <- pattern_file(pattern_table(
      file$table, name, weight_var = if (length(weight_var)) weight_var
    ))$data
  } else if (is.null(file$table) && !is.null(times_of(data))) {
    stop_needs_records("data")
  }
  times <- times_of(data)
  weights <- if (length(weight_var)) check_weights(data, weight_var) else times
  x <- data[[name]]
  if (!is.null(times)) {
    known <- unique(x)
    sums <- rowsum(cbind(times, weights), match(x, known), reorder = TRUE)
    x <- known
    times <- sums[, 1]
    weights <- sums[, 2]
  }
  list(x = x, times = times, weights = weights)
}

# A file whose table is a query with columns recoded: `old` are their values, `new` what they
# become.
recoded_table <- function(file, old, new, remedy, words) {
  before <- if (is.null(file$original)) first_patterns(file, character()) else file$original
  # Levels that no record has are not released.
  new <- lapply(new, released_column, NULL)
  changed <- Filter(function(name) !identical(new[[name]], old[[name]]$x), names(new))
  table <- file$table
  levels <- attr(table, "sdc_levels")
  for (name in changed) {
    levels[[name]] <- if (is.factor(new[[name]])) new[[name]][0]
    if (name %in% names(before$now)) {
      before$now[[name]] <- new_values(before$now[[name]], old, new, name)
    }
  }
  stop_ignored_text(columns_ignoring(
    table, list(key_vars = changed, patterns = lapply(old[changed], `[[`, "x"))
  ))
  table <- dplyr::mutate(table, !!!Map(
    recoding_case, changed, lapply(old[changed], `[[`, "x"), new[changed]
  ))
  attr(table, "sdc_levels") <- levels
  made <- pattern_file(pattern_table(
    table, setdiff(names(file$data), file$roles$weight_var), weight_var = file$roles$weight_var
  ))
  made$roles <- file$roles
  made$table <- table
  for (name in changed) check_recoded(recoding_values(made, name), old[[name]], new[[name]], name)
  past <- with_step(unclass(file)[past_parts], remedy, words, new_states(changed, "recoded"))
  for (part in names(past)) made[[part]] <- past[[part]]
  made$original <- before
  close_file(made)
}

new_values <- function(x, old, new, name) {
  at <- match(x, old[[name]]$x)
  if (anyNA(at)) stop_table_changed()
  new[[name]][at]
}

# The engine must have made what R did, record by record as far as counts tell.
check_recoded <- function(found, old, new, name) {
  counts <- function(x, times) {
    x <- column_values(x)
    if (is.factor(x)) x <- as.character(x)
    values <- sorted_values(x)
    list(values, as.vector(rowsum(times, match(x, c(values, NA)))))
  }
  if (!isTRUE(all.equal(counts(found$x, found$times), counts(new, old$times), 1e-12))) {
    stop_sdc("bad_data", c(
      "The engine must find the values of a variable again by what it gave.",
      x = paste0("It did not for some of ", quote_names(name), "."),
      i = "Make text of it in the query: dplyr::mutate(table, x = as.character(x))."
    ))
  }
}

# The values of a column as a CASE: numbers and dates by runs, others by lists of values. What
# stays is the column itself, in the engine's type.
recoding_case <- function(name, old, new) {
  x <- as.name(name)
  if (is.factor(old)) old <- as.character(old)
  if (is.factor(new)) new <- as.character(new)
  stays <- if (is.character(old) == is.character(new)) (old == new) %in% TRUE else FALSE
  stays <- rep_len(stays, length(new))
  # A column of whole numbers that gets a mean is one of other numbers.
  own <- if (is.double(new) && !is.double(old)) rlang::expr(as.numeric(!!x)) else x
  to <- function(i) if (stays[[i]]) own else engine_value(new[[i]])
  of_missing <- which(is.na(old) & !is.na(new))
  known <- which(!is.na(old))
  clauses <- if (is.numeric(old) || inherits(old, "Date")) {
    known <- known[order(old[known])]
    group <- match(new[known], unique(new[known]))
    group[stays[known]] <- 0L
    last <- which(c(diff(group) != 0, TRUE))
    Map(function(i, following) {
      is_here <- if (is.na(following)) {
        rlang::expr(!is.na(!!x))
      } else {
        rlang::expr(!!x < !!cut_between(old[[i]], old[[following]]))
      }
      rlang::expr(!!is_here ~ !!to(i))
    }, known[last], known[last + 1])
  } else {
    moved <- setdiff(known, which(stays))
    c(
      lapply(unname(split(moved, match(new[moved], unique(new[moved])))), function(rows) {
        rlang::expr(!!x %in% !!old[rows] ~ !!to(rows[[1]]))
      }),
      if (length(moved) < length(known)) list(rlang::expr(!is.na(!!x) ~ !!x))
    )
  }
  if (length(of_missing)) {
    clauses <- c(list(rlang::expr(is.na(!!x) ~ !!to(of_missing))), clauses)
  }
  rlang::call2("case_when", !!!clauses)
}

# A number with all its digits, which dialects write with fewer.
engine_value <- function(value) {
  if (!is.double(value) || is.object(value)) {
    return(value)
  }
  text <- sprintf("%.17g", value)
  dbplyr::sql(if (grepl("^-?[0-9]+$", text)) paste0(text, ".0") else text)
}

# A value above `low` and at most `high`, with few digits, and apart from numbers whose last digit
# an engine and R may see otherwise.
cut_between <- function(low, high) {
  if (is.double(high) && !is.object(high) && (low != round(low) || high != round(high))) {
    cuts <- signif(low + (high - low) / 2, 1:17)
    cuts <- cuts[cuts > low & cuts < high & is.finite(cuts)]
    if (length(cuts)) high <- cuts[[1]]
  }
  engine_value(high)
}

# Columns of a table, or of a query, in a table of their own, in a random order.
in_random_order <- function(table, columns) {
  release_connection(table, NULL)
  restore <- keep_random_state()
  on.exit(restore())
  drawn <- dplyr::arrange(dplyr::select(table, !!!rlang::syms(columns)), !!quote(random()))
  # Not by compute(), of which dbplyr 2.5 wants an order by columns.
  connection <- dbplyr::remote_con(table)
  name <- new_table_name("sdc_release_")
  made <- with_engine({
    query <- dbplyr::sql_render(drawn)
    dbplyr::db_compute(connection, name, query, temporary = TRUE, analyze = FALSE)
    dplyr::tbl(connection, name)
  })
  structure(made, sdc_levels = attr(table, "sdc_levels"))
}

# The columns of a table that leave: no identifiers, unless they are asked for.
released_of_table <- function(table, roles, keep_ids, drop) {
  columns <- name_frame(colnames(table))
  ids <- union(identifiers_of_table(table, roles), roles$id_vars)
  setdiff(names(columns), left_out_columns(columns, ids, keep_ids, drop))
}

# Columns that look like identifiers by some of their values. The engine counts the different ones
# only if nearly all of these differ.
identifiers_of_table <- function(table, roles, most = 1000) {
  columns <- setdiff(colnames(table), unlist(roles[kept_roles]))
  if (length(columns) == 0) {
    return(NULL)
  }
  table <- dplyr::select(dplyr::ungroup(table), !!!rlang::syms(columns))
  some <- with_engine(collect_query(utils::head(table, most)))
  names(some) <- columns
  n_known <- vapply(some, function(x) sum(!is.na(x)), 0)
  differ <- vapply(some, function(x) length(unique(x[!is.na(x)])), 0)
  columns <- columns[n_known >= 20 & differ > 0.9 * n_known]
  if (nrow(some) == most && length(columns)) {
    counts <- lapply(rlang::syms(columns), function(x) {
      known <- rlang::expr(sum(ifelse(is.na(!!x), 0L, 1L), na.rm = TRUE))
      list(rlang::call2("n_distinct", x), known)
    })
    counts <- unlist(counts, recursive = FALSE)
    names(counts) <- paste0("sdc_count_", seq_along(counts))
    found <- with_engine(collect_one_row(table, counts))
    found <- matrix(vapply(found, engine_counts, 0), 2)
    columns <- columns[found[1, ] > 0.9 * found[2, ]]
  }
  columns[vapply(columns, function(name) {
    x <- some[[name]][!is.na(some[[name]])]
    look_of(x, name, length(x), length(unique(x))) == "identifier"
  }, NA)]
}
