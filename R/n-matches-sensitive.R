# Sensitive values among the matches of n_matches(): columns, estimates, words.

# Per sensitive variable the columns that tell of it; their names say which one
# where there are several.
sensitive_columns <- function(sensitive) {
  own <- c("n_sensitive", "l_entropy", "t_closeness")
  if (length(sensitive) == 1) list(own) else lapply(sensitive, function(x) paste0(own, "_", x))
}

# Number of records whose key reveals a sensitive value, and the least diverse of them; matches
# without any value reveal nothing. With several columns, the worst.
sensitive_estimates <- function(sensitive, times = NULL) {
  if (length(sensitive) == 0) {
    return(NULL)
  }
  homogeneous <- Reduce(`|`, lapply(sensitive, function(of) of$n_sensitive == 1))
  worst <- function(field, f) {
    values <- unlist(lapply(sensitive, function(of) of[[field]][of$n_sensitive > 0]))
    if (length(values)) f(values) else values[NA_integer_]
  }
  list(
    n_homogeneous = as_count(sum_over(homogeneous, times)), l_distinct = worst("n_sensitive", min),
    l_entropy = worst("l_entropy", min), t_closeness = worst("t_closeness", max)
  )
}

# As above, per key set and column.
sensitive_table <- function(found, times, sensitive) {
  if (length(sensitive) == 0) {
    return(NULL)
  }
  rows <- Map(function(found, label) {
    of_columns <- Map(function(of, name) {
      do.call(frame, c(
        list(key_set = label, variable = name),
        sensitive_estimates(list(of), if (is.null(found$rows)) times else times[found$rows])
      ))
    }, found$sensitive, sensitive)
    do.call(rbind, unname(of_columns))
  }, found, names(found))
  do.call(rbind, unname(rows))
}
