#' Exhaustive tabulation of small cells
#'
#' Finds the records and categories that fall into small cells of the tables of a few key
#' variables. Use it as a first look at a file before it is recoded. All tables of one, two or
#' more key variables are counted; a cell with few records or little weight is a violation.
#'
#' @concept special uniques
#' @concept SUDA
#'
#' @details
#' A cell is a combination of values that occurs in the file. It is a violation
#' if fewer than `threshold` records fall into it, if their weights sum to
#' less than `weight_threshold`, or, with `combine = "and"`, if both hold.
#' Sums of weights within a billionth of the threshold reach it, so that rounding
#' decides nothing.
#'
#' * Per **record**, the number of tables in which it is in a violation. A
#'   record with many of them is easily told apart by a few variables.
#' * Per size of table and **category**, the share of the cells with that category that are
#'   violations. A category near 100% is too rare to be published together with other
#'   variables.
#' * Per category, the share of its records that are in a violation of at
#'   least one table.
#'
#' Counts of violations rank records and categories; they are not probabilities.
#' Every violation of a table is again one in all tables that add variables to
#' it.
#'
#' @section What is shown:
#' A category that few records hold can be one person's own value, an income say.
#' The print, the summary and the pictures name categories of fewer than
#' `threshold` records, and always those of fewer than 3, by their variable alone
#' and say how many there are; only the tables `cells` and `categories` of the
#' result hold them, and are as confidential as the data.
#'
#' @section Missing values:
#' They are judged table by table: with `"exclude"` a record is left out of the
#' tables in which it is incomplete and stays in all others; with `"category"`
#' missing is a category, shown as `NA`. To treat a code as missing, set it to
#' `NA` first. The print gives the number of incomplete records.
#'
#' @section Cost:
#' Time grows with the number of tables times the number of cells;
#' more than `max_tables` tables are an error of class
#' `sdcRisk_error_too_large`, raised before any work. Memory grows, for every thread,
#' by 4 bytes a record and variable of a table and 24 bytes a record.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 150 bytes a record.
#'
#' @inheritParams sdcRisk-params
#' @param dims Sizes of the tables: whole numbers from 1 to the number of key
#'   variables.
#' @param threshold Cells with fewer records are violations; `NULL`: only
#'   weights count.
#' @param weight_threshold Cells whose weights sum to less are violations; `NULL`:
#'   only records count.
#' @param combine If both thresholds are given, whether a violation of one
#'   suffices (`"or"`) or both are needed (`"and"`).
#' @param max_tables More tables than this are refused.
#'
#' @return An object of class `sdc_exhaustive_tabulation`, an [sdc_result] with
#' \describe{
#'   \item{`records`}{one row per record: `n_violations` and `n_tables`, the
#'     tables it takes part in; this is `as.data.frame()`}
#'   \item{`cells`}{per size of table, variable and category: `dim`, `variable`,
#'     `category`, `n_cells` (that have this category), `n_violations` among
#'     them, `pct_cells` (percentage; `NA` without cells), by falling percentage
#'     within a size}
#'   \item{`categories`}{per variable and category: `variable`, `category`,
#'     `n_records`, `pct_records` (percentage of these in a violation of at least
#'     one table, whether or not the variable is in it), `mean_violations`}
#'   \item{`tables`}{per table: `key_set`, `dim`, `n_cells`, `n_violations` (cells),
#'     `n_records` (in these), by falling number of records within a size}
#'   \item{`estimates`}{one row: `dims`, `threshold`, `weight_threshold`, `combine`,
#'     `n`, `n_tables`, `n_in_tables` (records in at least one table, of which shares, means and
#'     quantiles are), `n_cells`, `n_cell_violations`, `prop_cells`, `n_records_violating`,
#'     `prop_records`, `violations_sum`, `violations_mean`, `violations_median`,
#'     `violations_q95`, `violations_q99`, `violations_max`; `NA` without cells}
#' }
#' @references
#' Hundepool, A., Domingo-Ferrer, J., Franconi, L., Giessing, S., Schulte
#' Nordholt, E., Spicer, K. and de Wolf, P.-P. (2012). Statistical Disclosure
#' Control. Wiley. \doi{10.1002/9781118348239}.
#' @family risk of keys
#' @concept SUDA
#' @concept special uniques
#' @export
#' @examples
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' tables <- exhaustive_tabulation(nals_prison, keys, dims = 2:3)
#' tables
#' head(tables$cells, 3)
exhaustive_tabulation <- function(data, key_vars, dims = 1:2, threshold = 3,
                                  weight_threshold = NULL, combine = c("or", "and"),
                                  weight_var = NULL, missing = "exclude", ...,
                                  max_tables = 1e6) {
  ask <- enter("exhaustive_tabulation", patterns = TRUE)
  data <- ask$data
  check_no_dots(...)
  check_given("key_vars")
  # The default asks for no more than a single key variable can give.
  dims_given <- was_given("dims")
  dims <- sort(check_whole(dims, "dims", several = TRUE))
  rule <- check_violation(threshold, weight_threshold, combine, ask$weight_var)
  check_missing_rule(ask$missing)
  max_tables <- check_whole(max_tables, "max_tables")
  roles <- check_roles(data, ask$key_vars, ask$weight_var, NULL)
  with_progress("Counting tables", {
    table <- key_table(
      ask$file, ask$key_vars,
      exclude = roles$positions,
      roles = role_columns(data, list(weight_var = roles$weight_at)),
      check_keys = function(keys) {
        if (!dims_given) dims <<- dims[dims <= length(keys)]
        check_dims(dims, length(keys), max_tables)
      }
    )
    settings <- file_settings(
      table,
      dims = dims,
      threshold = rule$threshold, weight_threshold = rule$weight_threshold,
      combine = rule$combine,
      weight_var = if (!is.null(ask$weight_var)) names(data)[[roles$weight_at]],
      missing = ask$missing
    )
    found <- core(rs_exhaustive, table$pointer, list(
      weights = if (!is.null(rule$weight_threshold)) roles$weights, dims = dims,
      threshold = rule$threshold,
      weight_threshold = if (!is.null(rule$weight_threshold)) as.double(rule$weight_threshold),
      combine = rule$combine, missing = ask$missing, max_tables = max_tables
    ))
    checks <- list(
      n_incomplete = table$n_incomplete,
      missing = missing_cells(table, data), identifying = identifying_keys(table)
    )
    inform_identifying(checks$identifying)
    new_exhaustive_tabulation(
      found, table, category_labels(table, data), checks, settings, ask$call
    )
  })
}

# Thresholds as they will be used, NULL for none.
check_violation <- function(threshold, weight_threshold, combine, weight_var) {
  combine <- check_choice(combine, c("or", "and"), "combine")
  if (!is.null(threshold)) threshold <- check_whole(threshold, "threshold")
  if (!is.null(weight_threshold)) {
    check_positive(weight_threshold, "weight_threshold", finite = TRUE)
    if (is.null(weight_var)) {
      stop_argument("weight_var", "name the column of weights if `weight_threshold` is given")
    }
  } else if (is.null(threshold)) {
    stop_argument(
      "threshold", "be given, or `weight_threshold`",
      found = "Both are NULL: no cell could be a violation."
    )
  }
  list(threshold = threshold, weight_threshold = weight_threshold, combine = combine)
}

check_dims <- function(dims, n_keys, max_tables) {
  if (any(dims > n_keys)) {
    stop_argument("dims", paste0("be at most the number of key variables (", n_keys, ")"))
  }
  n_tables <- sum(choose(n_keys, dims))
  if (n_tables > max_tables) {
    stop_sdc(
      "too_large", "There must not be more tables than `max_tables`.",
      x = paste0(
        plural(n_keys, "key variable"), " have ",
        format(n_tables, big.mark = big_mark(), digits = 4),
        " tables of these sizes; the limit is ", format_count(max_tables), "."
      ),
      i = "Take smaller `dims` or fewer `key_vars`, or raise `max_tables`.",
      n_tables = n_tables
    )
  }
}

# The categories of every column as text, in the order of their codes.
category_labels <- function(table, data) {
  Map(function(values, name) {
    source_text(column_source(values, length(values)), name)
  }, key_levels(table, data), table$variables)
}

new_exhaustive_tabulation <- function(found, table, labels, checks, settings, this_call) {
  n_values <- lengths(labels) + 1L
  variable <- rep(settings$key_vars, n_values)
  # Code 0 is missing, a category only where it is asked to be one.
  category <- unlist(lapply(labels, function(l) c(NA, l)), use.names = FALSE)
  n_dims <- length(settings$dims)
  cells <- frame(
    dim = rep(settings$dims, each = length(variable)),
    variable = rep(variable, n_dims), category = rep(category, n_dims),
    n_cells = found$category_cells, n_violations = found$category_violations,
    pct_cells = 100 * found$category_violations / found$category_cells
  )
  cells$pct_cells[is.nan(cells$pct_cells)] <- NA
  categories <- frame(
    variable = variable, category = category, n_records = found$records_n,
    pct_records = 100 * found$records_violating / found$records_n,
    mean_violations = found$records_violations / found$records_n
  )
  used <- !is.na(category) | (settings$missing == "category" & found$records_n > 0)
  cells <- numbered_rows(cells, rep(used, n_dims))
  tables <- frame(
    key_set = table_names(settings$key_vars, settings$dims), dim = found$table_dim,
    n_cells = found$table_cells, n_violations = found$table_violations,
    n_records = found$table_records
  )
  new_sdc_result(
    "sdc_exhaustive_tabulation",
    estimates = tabulation_estimates(found, table$times, settings),
    records = frame(n_violations = found$n_violations, n_tables = found$n_tables),
    settings = settings,
    diagnostics = list(
      n_keys = length(settings$key_vars),
      n_missing = rlang::set_names(as_count(table$n_missing), settings$key_vars),
      n_values = rlang::set_names(as.integer(table$n_values), settings$key_vars),
      n_incomplete = checks$n_incomplete, missing = checks$missing,
      identifying = checks$identifying
    ),
    call = this_call,
    cells = numbered_rows(cells, order(cells$dim, -cells$pct_cells)),
    categories = numbered_rows(categories, used),
    tables = numbered_rows(tables, order(tables$dim, -tables$n_records))
  )
}

# "a + b" for every table, in the order of combn().
table_names <- function(variables, dims) {
  unlist(lapply(dims, function(dim) {
    members <- utils::combn(length(variables), dim)
    do.call(paste, c(lapply(seq_len(dim), function(i) variables[members[i, ]]), sep = " + "))
  }))
}

tabulation_estimates <- function(found, times, settings) {
  violations <- found$n_violations
  # A record that is in no table can be in no small cell.
  seen <- found$n_tables > 0
  seen_times <- times[seen]
  at <- quantile_over(violations[seen], c(0.5, 0.95, 0.99), seen_times)
  n_cells <- sum(found$table_cells)
  frame(
    dims = paste(settings$dims, collapse = ", "),
    threshold = if (is.null(settings$threshold)) NA_integer_ else settings$threshold,
    weight_threshold = if (is.null(settings$weight_threshold)) {
      NA_real_
    } else {
      as.double(settings$weight_threshold)
    },
    combine = settings$combine, n = settings$n, n_tables = length(found$table_dim),
    n_in_tables = as_count(sum_over(seen, times)),
    n_cells = n_cells, n_cell_violations = sum(found$table_violations),
    prop_cells = if (n_cells > 0) sum(found$table_violations) / n_cells else NA_real_,
    n_records_violating = as_count(sum_over(violations > 0, times)),
    prop_records = if (any(seen)) mean_over(violations[seen] > 0, seen_times) else NA_real_,
    violations_sum = sum_over(as.double(violations), times),
    violations_mean = if (any(seen)) mean_over(violations[seen], seen_times) else NA_real_,
    violations_median = at[[1]], violations_q95 = at[[2]],
    violations_q99 = at[[3]], violations_max = max(violations)
  )
}
