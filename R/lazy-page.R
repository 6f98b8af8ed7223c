# What the page of a table of a database asks the engine about columns other than its key variables.

# Number of records that share their key variables, all known, with fewer than `k` values of an
# identifier, `id`. Who has none is one alone.
few_units_in_table <- function(data, keys, id, k) {
  known <- lapply(rlang::syms(keys), function(x) rlang::expr(!is.na(!!x)))
  complete <- dplyr::filter(dplyr::ungroup(data), !!!known)
  id <- as.name(id)
  counts <- dplyr::summarise(dplyr::group_by(complete, !!!rlang::syms(keys)), !!!list(
    sdc_n = quote(n()), sdc_units = n_values_in(id),
    sdc_without = rlang::expr(sum(ifelse(is.na(!!id), 1L, 0L), na.rm = TRUE))
  ), .groups = "drop")
  found <- with_engine(collect_one_row(counts, list(
    sdc_few = bquote(sum(ifelse(sdc_units + sdc_without < .(k), sdc_n, 0L), na.rm = TRUE))
  )))
  few <- engine_counts(found$sdc_few)
  if (is.na(few)) 0 else few
}

n_values_in <- function(name) call("n_distinct", as.name(name))

repeats_in_table <- function(data, id) {
  id <- as.name(id)
  found <- with_engine(collect_one_row(data, list(
    sdc_known = rlang::expr(sum(ifelse(is.na(!!id), 0L, 1L), na.rm = TRUE)),
    sdc_values = n_values_in(id)
  )))
  isTRUE(engine_counts(found$sdc_values) < engine_counts(found$sdc_known))
}

# Rows as of told_by_columns() for the columns `others` that have more values than a key variable,
# each with one of its, such as an age beside its group; `odd` are those that are not counted.
finer_in_table <- function(data, patterns, keys, others) {
  data <- dplyr::ungroup(data)
  n <- n_records(patterns)
  n_values <- vapply(unclass(patterns)[keys], function(x) length(unique(x[!is.na(x)])), 0L)
  # Each takes a query or two of the whole table.
  too_many <- if (n * length(others) > 2e8) others
  others <- setdiff(others, too_many)
  keys <- keys[n_values > 1]
  n_values <- n_values[n_values > 1]
  ask <- function(query, expressions) {
    names(expressions) <- paste0("sdc_", seq_along(expressions))
    tryCatch(
      vapply(collect_one_row(query, expressions), engine_counts, 0),
      error = function(e) {
        pass_on_time_limit(first_cause(e))
        NULL
      }
    )
  }
  found <- lapply(rlang::set_names(others), function(name) {
    size <- ask(data, list(n_values_in(name)))
    # Values of most records are those of one.
    coarser <- keys[n_values < size]
    if (is.null(size) || size > n / 2 || length(coarser) == 0) {
      return(if (is.null(size)) NA_character_)
    }
    known <- dplyr::filter(data, !is.na(!!as.name(name)))
    counts <- lapply(coarser, n_values_in)
    names(counts) <- paste0("sdc_key_", seq_along(coarser))
    counted <- dplyr::summarise(
      dplyr::group_by(known, !!as.name(name)), !!!counts, .groups = "drop"
    )
    most <- ask(counted, lapply(rlang::syms(names(counts)), function(x) {
      rlang::expr(max(!!x, na.rm = TRUE))
    }))
    if (is.null(most)) NA_character_ else coarser[most <= 1]
  })
  odd <- vapply(found, identical, NA, NA_character_)
  finer <- found[!odd & lengths(found) > 0]
  by <- rep(as.character(names(finer)), lengths(finer))
  all <- rep(TRUE, length(by))
  list(odd = c(names(found)[odd], too_many), finer = frame(
    variable = as.character(unlist(finer)), by = by, share = as.double(all), n = n * all,
    identifier = !all, part = all, finer = all, n_renumbered = n * all,
    was_missing = !all, expected = !all
  ))
}

# Columns with a role that stay in a release and may reveal missing values.
table_columns <- function(file) {
  columns <- file$roles[c("weight_var", "strata_var", "sensitive", "num_vars", "cluster")]
  setdiff(intersect(unlist(columns), colnames(file$table)), file$roles$key_vars)
}

# These columns and the key variables of an incomplete table of up to a million records.
beside_in_table <- function(file, asked, most = 1e6) {
  columns <- table_columns(file)
  if (length(columns) && asked$n_incomplete > 0 && n_records(file$data) <= most) {
    kept <- dplyr::select(dplyr::ungroup(file$table), !!!rlang::syms(c(asked$keys, columns)))
    with_engine(collect_query(kept))
  }
}
