# Results about pattern tables: what is said of a record is said of a pattern, once
# for all records that have it. `records` is NULL then, and `patterns` holds the key
# variables, the number `n` of records, and the columns that `records` would have.

# The rows a result judges: records, or patterns.
judged_rows <- function(x) if (is.null(x$records)) x$patterns else x$records

# As above, with an error if the records are gone.
needed_rows <- function(x) {
  rows <- judged_rows(x)
  if (is.null(rows)) {
    stop_argument("x", "have its records for this", advice = "Compute it again, and keep them.")
  }
  rows
}

# Number of records that each of them stands for, NULL for one each.
judged_times <- function(x) if (is.null(x$records)) x$patterns$n

# As above for pictures.
picture_times <- function(x) {
  times <- judged_times(x)
  if (is.null(times)) rep(1, nrow(judged_rows(x))) else times
}

# Called at the door: the patterns wait with what was asked until the result is made.
note_patterns <- function(ask, file) {
  times <- times_of(file$data)
  if (!is.null(times)) {
    keys <- setdiff(names(file$data), attr(file$data, "patterns")$weight_var)
    patterns <- as.list(file$data)[keys]
    patterns$n <- as_count(times)
    ask$.asked$patterns <- do.call(frame, patterns)
  }
  ask
}

# A result by pattern where the data of its function were `patterns`. The answers for
# outside patterns stay as they are.
by_pattern <- function(result, patterns) {
  if (is.null(patterns) || is.null(result$records) || isTRUE(result$settings$patterns)) {
    return(result)
  }
  # The column names stay: prints and verbs read them.
  taken <- names(patterns) %in% names(result$records)
  names(patterns)[taken] <- paste0(names(patterns)[taken], ".key")
  columns <- c(as.list(patterns), as.list(result$records))
  result["records"] <- list(NULL)
  result$patterns <- do.call(frame, columns)
  result
}
