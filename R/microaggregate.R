#' Replace numbers by means of groups
#'
#' Microaggregation puts similar records in groups of at least `k` and releases the mean of the
#' group in the place of each value, so that at least `k` records share it. Use it for business
#' data and other files of continuous variables, whose values are all different: local suppression
#' would take everything. The result is the file, with a step in its history: measure it with
#' [link_attack()] and [interval_disclosure()], its loss with
#' [utility_loss()], protect it further, or release it.
#'
#' @details
#' `"mdav"` groups records by all variables at once (maximum distance to average vector,
#' Domingo-Ferrer and Torra 2005), by the squared distances
#' \deqn{d_{ij} = \sum_v (x_{iv} - x_{jv})^2 / s_v^2}{d_ij = sum over v of (x_iv - x_jv)^2 / s_v^2}
#' with \eqn{s_v} the standard deviation of the variable in the file. While at least 3k records
#' are left, the record farthest from their mean and its \eqn{k - 1} nearest make a group, and so
#' do the record farthest from that one and its \eqn{k - 1} nearest. The last groups have
#' \eqn{k} to \eqn{2k - 1} records. Of equal distances the first record of the file counts.
#'
#' `"optimal"` groups each variable for itself, by the partition of its values in rising order
#' that has the least sum of squares about the means of the groups. It is found by dynamic
#' programming (Hansen and Mukherjee 2003) and is a proven optimum. Each variable alone has at
#' least k records with each value. The records are not k-anonymous on several variables: their
#' combinations of means may be unique, so that an intruder who knows several variables still
#' finds most records.
#'
#' The mean of every variable in the file, and in each stratum, stays as it was. If the file has
#' weights, means are weighted, and so is the sum of squares of `"optimal"`; the weighted mean
#' and total stay.
#'
#' @section What the means tell:
#' A mean has the digits that division gives it. Anyone who knows two values of a group of
#' three computes the third. If all values of a group are equal the mean tells each of them; a
#' message (`equal_groups`) counts such values. `digits` rounds the means. Groups are of records:
#' k members of one household with its income make a group, so group one record of each household.
#'
#' @section Missing values:
#' Missing values stay. `"mdav"` groups records with those that miss the same variables;
#' `"optimal"` groups the values that are known. Infinite values are an error.
#'
#' @section Cost:
#' `"mdav"` searches for neighbours once for each group. `"optimal"` sorts and looks at 2k records
#' for each one. `"mdav"` takes 5 s of processor time for 100,000 records of six variables, at 2
#' threads.
#'
#' @param data A data frame, an [sdc_file()], an sdcMicroObj or the result of a remedy.
#' @param vars The continuous variables: names, positions or a selection as in dplyr. `NULL`:
#'   the role `num_vars` of the file.
#' @param k Least number of records of a group, at least 2.
#' @param method `"mdav"`, all variables at once, or `"optimal"`, each variable for itself.
#' @param ... None.
#' @param weight_var Name of the column of sampling weights.
#' @param strata_var Names of columns; records of different strata are never in one group.
#' @param digits Digits after the decimal mark to which means are rounded, as in [round()];
#'   `NULL` for all. Rounded means no longer keep the mean of the file exactly.
#' @return An [sdc_file()] in which the variables are numbers without other attributes, and all
#'   other columns are as they were. Of an sdcMicroObj that object. Errors: `unprotectable` if
#'   fewer than k records of a stratum have a value, or miss the same variables;
#'   `unknown_key_var`, `bad_column`, `bad_argument`.
#' @references
#' Domingo-Ferrer, J. and Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity
#' through microaggregation. Data Mining and Knowledge Discovery 11(2), 195-212.
#' \doi{10.1007/s10618-005-0007-5}.
#'
#' Hansen, S. L. and Mukherjee, S. (2003). A polynomial algorithm for optimal univariate
#' microaggregation. IEEE Transactions on Knowledge and Data Engineering 15(4), 1043-1044.
#' \doi{10.1109/TKDE.2003.1209020}.
#' @family continuous
#' @concept microaggregation
#' @export
#' @examples
#' firms <- data.frame(turnover = c(1, 2, 3, 10, 12, 14, 15), staff = c(1, 1, 2, 8, 9, 9, 9))
#' microaggregate(firms, turnover, k = 3, method = "optimal")$turnover
#' # 2.00 2.00 2.00 12.75 12.75 12.75 12.75
microaggregate <- function(data, vars = NULL, k = 3, method = c("mdav", "optimal"), ...,
                           weight_var = NULL, strata_var = NULL, digits = NULL) {
  ask <- enter("microaggregate")
  check_no_dots(...)
  file <- ask$file
  vars <- check_num_vars(vars, file$roles$num_vars, file$data)
  apart <- c(ask$weight_var, ask$strata_var)
  check_no_roles(file$data, vars, match(apart, names(file$data)), "vars")
  k <- check_whole(k, "k", low = 2)
  method <- check_choice(method, c("mdav", "optimal"), "method")
  if (!is.null(digits)) digits <- check_whole(digits, "digits", low = -300, high = 300)
  weights <- check_weights(file$data, ask$weight_var)
  columns <- number_columns(file$data, vars)
  strata <- stratum_of(file$data, ask$strata_var)
  made <- with_progress("Microaggregation", if (method == "mdav") {
    aggregated_together(columns, k, weights, strata)
  } else {
    aggregated_alone(columns, k, weights, strata)
  })
  if (!is.null(digits)) made$columns <- lapply(made$columns, round, digits)
  inform_equal_groups(columns, made)
  data <- file$data
  for (name in vars) data <- replace_column(data, name, made$columns[[name]])
  words <- paste0(
    "microaggregate(k = ", k, ", \"", method, "\"): ", paste(vars, collapse = ", "), " in ",
    plural(made$n_groups, "group"), " of records"
  )
  recoded_file(file, data, "microaggregate", words, vars, k = k, state = "microaggregated")
}

# The stratum of each record as a number; missing values are a stratum.
stratum_of <- function(data, strata_var) {
  if (is.null(strata_var)) {
    return(rep(1L, nrow(data)))
  }
  codes <- lapply(check_columns(strata_var, data, "strata_var"), function(v) {
    x <- column_values(data[[v]])
    match(x, unique(x))
  })
  key <- do.call(paste, codes)
  match(key, unique(key))
}

# Records with others that miss the same variables, each stratum and pattern for itself.
aggregated_together <- function(columns, k, weights, strata) {
  gone <- lapply(columns, is.na)
  pattern <- do.call(paste0, lapply(gone, as.integer))
  missing_all <- Reduce(`&`, gone)
  scaled <- lapply(columns, standardised)
  of <- match(paste(strata, pattern), unique(paste(strata, pattern)))
  group <- rep(NA_integer_, length(of))
  n_groups <- 0L
  check_group_sizes(of[!missing_all], k)
  for (rows in split(which(!missing_all), of[!missing_all])) {
    known <- Filter(function(x) !is.na(x[rows[[1]]]), scaled)
    found <- core(rs_mdav, lapply(unname(known), `[`, rows), k)
    group[rows] <- n_groups + found
    n_groups <- n_groups + max(found)
  }
  list(
    columns = lapply(columns, group_means, group, weights), n_groups = n_groups,
    groups = lapply(columns, function(x) group)
  )
}

# Each variable for itself.
aggregated_alone <- function(columns, k, weights, strata) {
  n_groups <- 0L
  groups <- lapply(columns, function(x) {
    group <- rep(NA_integer_, length(x))
    check_group_sizes(strata[!is.na(x)], k)
    scaled <- standardised(x)
    for (rows in split(which(!is.na(x)), strata[!is.na(x)])) {
      rows <- rows[order(x[rows])]
      w <- if (is.null(weights)) rep(1, length(rows)) else weights[rows]
      ends <- core(rs_optimal_groups, scaled[rows], as.double(w), k)
      group[rows] <- n_groups + rep(seq_along(ends), diff(c(0L, ends)))
      n_groups <<- n_groups + length(ends)
    }
    group
  })
  list(
    columns = Map(function(x, group) group_means(x, group, weights), columns, groups),
    n_groups = n_groups, groups = groups
  )
}

check_group_sizes <- function(parts, k) {
  few <- sum(tabulate(parts) %in% seq_len(k - 1))
  if (few > 0) {
    stop_sdc(
      "unprotectable",
      paste0("Each stratum, and each set of missing variables in it, must have at least `k` = ",
             k, " records."),
      x = paste0(plural(few, "of them", ""), if (few == 1) " has" else " have", " fewer."),
      i = "Take wider strata, a smaller k, or method = \"optimal\" for missing values."
    )
  }
}

# The mean of the group in the place of each value.
group_means <- function(x, group, weights = NULL) {
  known <- !is.na(group) & !is.na(x)
  w <- if (is.null(weights)) rep(1, length(x)) else as.double(weights)
  g <- group[known]
  # Divided first, as sums of large numbers are infinite.
  largest <- max(abs(x[known]), 0)
  scale <- if (largest > 0) largest else 1
  sums <- rowsum(cbind(w[known] * (x[known] / scale), w[known]), g)
  mean <- sums[, 1] / sums[, 2] * scale
  out <- x
  out[known] <- mean[match(g, as.integer(rownames(sums)))]
  # Rounding does not move the mean of equal values.
  equal <- in_equal_groups(x, group)
  out[equal] <- x[equal]
  out
}

# TRUE if all values of a record's group are equal.
in_equal_groups <- function(x, group) {
  known <- which(!is.na(group) & !is.na(x))
  rising <- known[order(group[known], x[known])]
  first <- !duplicated(group[rising])
  n <- diff(c(which(first), length(rising) + 1))
  ends <- x[rising][c(which(first)[-1] - 1, length(rising))[seq_along(n)]]
  seq_along(x) %in% rising[rep(ends == x[rising][first], n)]
}

# Values of groups in which all are equal are released as they were.
inform_equal_groups <- function(columns, made) {
  n <- vapply(names(columns), function(name) {
    sum(in_equal_groups(columns[[name]], made$groups[[name]]))
  }, 0)
  if (any(n > 0)) {
    inform_sdc(
      "equal_groups", "Values of groups in which all are equal are released as they were.",
      i = paste0(
        "Of ", paste0(quote_names_each(names(n)[n > 0]), " ", plural(n[n > 0], "value"),
                      collapse = ", "), ". Check that they are common, such as 0."
      ),
      columns = names(n)[n > 0]
    )
  }
}
