# Records counted by the pattern of their key variables.

# Patterns in the data frame that stands for them behind the door.
as_pattern_table <- function(inner, key_vars) {
  known <- attr(inner, "patterns")
  columns <- as.list(inner)[key_vars]
  columns$n <- as_count(known$times)
  weight_var <- known$weight_var
  if (!is.null(weight_var)) columns[[weight_var]] <- inner[[weight_var]]
  new_pattern_table(
    do.call(frame, columns), key_vars, known$weight_var, known$squares, known$weight_range
  )
}

new_pattern_table <- function(patterns, key_vars, weight_var, squares, weight_range) {
  structure(
    list(
      patterns = patterns, key_vars = key_vars, weight_var = weight_var,
      n_records = as_count(sum(as.double(patterns$n))), squares = squares,
      weight_range = weight_range,
      version = own_version()
    ),
    class = "sdc_pattern_table"
  )
}

# The pattern table of rows that stand for `times` records each (NULL: one) and have
# these sums of weights; `roles` are the positions of columns that are no keys.
count_patterns <- function(data, key_vars, roles, times, weighing, max_patterns) {
  table <- key_table(data, key_vars, exclude = roles)
  keys <- table$variables
  check_reserved(keys, weighing$name)
  groups <- group_records(table)
  check_few_patterns(length(groups$first_rows), max_patterns)
  total <- function(x) as.vector(rowsum(x, groups$row_group, reorder = TRUE))
  n <- if (is.null(times)) groups$counts else total(times)
  columns <- lapply(rlang::set_names(table$positions, keys), function(v) {
    pattern_values(data[[v]], groups$first_rows, names(data)[[v]])
  })
  columns$n <- as_count(n)
  if (!is.null(weighing)) columns[[weighing$name]] <- total(weighing$sums)
  new_pattern_table(
    do.call(frame, columns), keys, weighing$name,
    squares = if (!is.null(weighing)) total(weighing$squares), weighing$range
  )
}

# The row of `old` that every row of `new` is; what is not among them gets rows after
# the last, in order of appearance.
places_of_patterns <- function(old, new) groups_of_patterns(old, new)[-seq_len(nrow(old))]

# Numbers groups of equal rows in both, in order of appearance.
groups_of_patterns <- function(old, new) {
  coded <- code_requests(
    list(shared_request(list(old, new), names(old)))
  )[[1]]
  release_later(coded)
  codes <- Map(c, all_codes(coded[1])[[1]], all_codes(coded[2])[[1]])
  group_records(key_table(do.call(frame, rlang::set_names(codes, names(old)))))$row_group
}
