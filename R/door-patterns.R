# A pattern table at the door: its patterns are rows of a data frame like any other,
# and beside it stands how many records each of them is. `data` behind the door is
# that data frame with the attribute "patterns", a list of
#   times     records per row, as doubles
#   weight_var   name of the column with the sums of the weights, NULL without
#   squares   sums of the squared weights, NULL without or where they are not known
#   weight_range   the smallest and the largest weight that a record has had
# key_table() hands `times` to the core, whose tables know that a row can be many
# records. Whatever is a sum, a mean or a quantile over records goes through the
# functions at the end of this file.

# A pattern table as a file: see above.
pattern_file <- function(x) {
  check_whole_patterns(x)
  new_file(
    structure(
      x$patterns[c(x$key_vars, x$weight_var)],
      patterns = list(
        times = as.double(x$patterns$n), weight_var = x$weight_var,
        squares = x$squares, weight_range = x$weight_range
      )
    ),
    list(key_vars = x$key_vars, weight_var = x$weight_var)
  )
}

# Refuses a file of patterns for functions whose results need records. `takes` is TRUE if the
# exported function works without them.
check_takes_patterns <- function(file, takes, arg) {
  if (is.null(times_of(file$data))) {
    return(invisible())
  }
  if (!takes) stop_needs_records(arg, file$table)
  roles <- c(
    hh_id = "who lives with whom", strata_var = "in which stratum a record is",
    linked = "what else a record holds", newdata = "the records of another file"
  )
  for (role in intersect(names(roles), argument_names())) {
    if (!is.null(argument(role))) {
      stop_argument(
        role, "be NULL if `data` is a pattern table",
        found = paste0("A pattern table does not record ", roles[[role]], "."),
        advice = "Give the data frame the pattern table was made from."
      )
    }
  }
}

stop_needs_records <- function(arg, x = NULL) {
  lazy <- is_lazy_table(x)
  stop_sdc(
    "bad_data", paste0("`", arg, "` must hold the records of the file here."),
    x = if (lazy) {
      "It is a table of a database, of which this function brings no records into R."
    } else {
      "It is a pattern table: which record is which, and what else it holds, is not in it."
    },
    i = if (lazy) {
      "dplyr::collect(dplyr::select(table, ...)) brings the key variables, or a sample, into R."
    } else {
      "Give the data frame the pattern table was made from, or a sample of its records."
    },
    i = "?pattern_table lists the functions that take one.",
    data_class = if (lazy) "tbl_lazy" else "sdc_pattern_table"
  )
}

# The sums of squared weights of the rows of `data`, NULL where every row is one record.
weight_squares <- function(data, weight_var) {
  patterns <- attr(data, "patterns", exact = TRUE)
  if (is.null(patterns) || is.null(weight_var)) {
    return(NULL)
  }
  if (is.null(patterns$squares)) {
    stop_argument(
      "weight_var", "be NULL for this pattern table",
      found = "It has the sums of the weights, not those of their squares.",
      advice = "Make it anew from the records: pattern_table() then keeps both."
    )
  }
  patterns$squares
}

# The smallest and the largest weight of a record.
weight_range <- function(data, weights) {
  if (is.null(weights)) {
    return(NULL)
  }
  known <- attr(data, "patterns", exact = TRUE)$weight_range
  if (is.null(known)) range(weights) else known
}

# Sums over records -------------------------------------------------------------

# `times` says how many records have each of the values, NULL for one each.
sum_over <- function(x, times) if (is.null(times)) sum(x) else sum(x * times)

mean_over <- function(x, times) if (is.null(times)) mean(x) else sum(x * times) / sum(times)

# The mean of the known values, and their standard deviation.
known_mean <- function(x, times) mean_over(x[!is.na(x)], times[!is.na(x)])

deviation_over <- function(x, times) {
  if (is.null(times)) {
    return(stats::sd(x, na.rm = TRUE))
  }
  n <- sum(times[!is.na(x)])
  sqrt(known_mean((x - known_mean(x, times))^2, times) * n / (n - 1))
}

# Numbers of records by their codes, 1 to `n`, of those that count.
count_over <- function(codes, n, times, counts = TRUE) {
  codes <- codes[counts]
  if (is.null(times)) {
    return(tabulate(codes, n))
  }
  sums <- rowsum(times[counts], codes)
  replace(numeric(n), as.integer(rownames(sums)), sums)
}

# Quantiles of definition 8, without names.
quantile_over <- function(x, p, times) {
  if (is.null(times) || length(x) == 0) {
    return(stats::quantile(x, p, names = FALSE, type = 8))
  }
  order <- order(x)
  vapply(p, function(p) counted_quantile(x[order], times[order], p), 0)
}

# As above from the numbers themselves, without missing ones; `times` is the number of records of
# each.
record_spread <- function(values, format = format_risk, noun = "records", times = NULL) {
  known <- !is.na(values)
  values <- values[known]
  at <- quantile_over(values, c(0.99, 0.95), times[known])
  format_spread(max(values), at[[1]], at[[2]], format, noun)
}

# The quantile of definition 8 of ascending values that occur `n` times each.
counted_quantile <- function(values, n, p) {
  upto <- cumsum(n)
  total <- upto[length(upto)]
  # The fuzz that quantile() has.
  place <- 4 * .Machine$double.eps + (total + 1 / 3) * p + 1 / 3
  below <- floor(place)
  share <- place - below
  if (abs(share) < 4 * .Machine$double.eps) share <- 0
  of_rank <- function(rank) values[[sum(upto < min(max(rank, 1), total)) + 1]]
  (1 - share) * of_rank(below) + share * of_rank(below + 1)
}

check_reserved <- function(keys, weight_var) {
  taken <- intersect(c(keys, weight_var), reserved_names)
  if (length(taken)) {
    stop_sdc(
      "bad_data", "No key variable or weight may be called `n`.",
      x = "The counts of a pattern table have this name.", i = "Rename the column.",
      names = taken
    )
  }
}

check_max_patterns <- function(x) {
  check_number(x, "max_patterns", "be one number of at least 1", x >= 1)
}

check_few_patterns <- function(n, max_patterns) {
  if (n > max_patterns) {
    stop_sdc(
      "too_large", "There must not be more patterns than `max_patterns`.",
      x = paste0(
        "There are ", if (is.finite(n)) format_count(n) else "more",
        "; the limit is ", format_count(max_patterns), "."
      ),
      i = "Take fewer or coarser key variables, or raise `max_patterns`.",
      i = "Functions without it take pattern_table(data, max_patterns = ) as their data.",
      n_patterns = n
    )
  }
}

# Names that `patterns` of results have beside those of the key variables.
reserved_names <- c("n")
