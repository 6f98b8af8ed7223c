# Sensitive values among the matches of n_matches(): columns, estimates, words.

# Per sensitive variable the columns that tell of it; their names say which one
# where there are several.
sensitive_columns <- function(sensitive) {
  own <- c("n_sensitive", "l_entropy", "t_closeness")
  if (length(sensitive) == 1) list(own) else lapply(sensitive, function(x) paste0(own, "_", x))
}

# How many records tell a sensitive value by their key alone, and the least diverse
# of them; matches without any value tell nothing. Of several columns the worst.
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

# The same per key set and column.
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

# Attribute disclosure: the key alone tells the sensitive value.
match_sensitive_line <- function(x) {
  estimate <- x$estimates[1, ]
  if (is.null(estimate$n_homogeneous)) {
    return(NULL)
  }
  paste0(
    "Sensitive ", quote_names(x$settings$sensitive, 3), ": all matches of ",
    match_homogeneous_count(x, estimate),
    if (!is.na(estimate$l_distinct)) {
      paste0(
        "; at least ", plural(estimate$l_distinct, "value"), " among the matches of a record ",
        "(entropy l ", format_risk(estimate$l_entropy), "), distance from the file's at most ",
        format_risk(estimate$t_closeness), " (t)"
      )
    },
    "."
  )
}

# "12 records (3 %) share one value"
match_homogeneous_count <- function(x, estimate) {
  paste0(
    format_count(estimate$n_homogeneous), " ", match_subject(x, estimate$n_homogeneous), " (",
    format_percent(estimate$n_homogeneous / estimate$n), ") share one value",
    if (length(x$settings$sensitive) > 1) " of at least one of them"
  )
}

match_homogeneous_words <- function(x) {
  estimate <- x$estimates
  if (is.null(estimate$n_homogeneous)) {
    return(NULL)
  }
  paste0(
    ", and all matches of ", format_count(estimate$n_homogeneous), " ",
    match_subject(x, estimate$n_homogeneous), " (",
    format_percent(estimate$n_homogeneous / estimate$n), ") share one value of ",
    if (length(x$settings$sensitive) > 1) "at least one of ",
    quote_names(x$settings$sensitive, 3),
    if (!is.na(estimate$t_closeness)) {
      paste0(" (t-closeness ", format_risk(estimate$t_closeness), ")")
    }
  )
}
