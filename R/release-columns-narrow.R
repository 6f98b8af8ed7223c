# Columns that narrow protected values to a few.

# Columns that are functions of a protected variable, such as the division of an industry or
# the group of an age: an intruder who knows the value knows theirs, and fewer records fit
# than the protection counts. How many protected values each column narrows so.
narrowed_by_columns <- function(columns, protected, told, variables, least) {
  others <- setdiff(names(columns)[!vapply(columns, `[[`, NA, "id")], variables)
  lapply(rlang::set_names(others), function(name) {
    found <- told[[name]]
    half <- Filter(function(v) 2 * found[[v]] >= length(protected[[v]]$rows), names(found))
    open <- protected[setdiff(names(protected), half)]
    narrowed <- vapply(rlang::set_names(names(open)), function(variable) {
      v <- open[[variable]]
      in_two <- values_in_two(columns[[name]], v, least)
      as.double(max(in_two, values_narrowed(columns[[name]], v, columns[[variable]], least)))
    }, 0)
    revealed <- vapply(names(narrowed), function(v) if (v %in% names(found)) found[[v]] else 0, 0)
    narrowed[narrowed > revealed]
  })
}

# `released`: the codes of the variable in the release, NULL if it has none.
values_narrowed <- function(column, v, released, least) {
  at <- sampled_rows(list(codes = v$codes, n_values = max(v$codes)))
  if (!may_tell(column_fit(v$codes[at], column$codes[at]))) {
    return(0)
  }
  fit <- column_fit(v$codes, column$codes)
  if (!is_function(fit, least)) {
    return(0)
  }
  rows <- v$rows[column$codes[v$rows] > 0]
  shown <- v$shown[rows]
  # A value of another record, beside the column of this one.
  misfit <- shown > 0 & fit$best[match(shown, fit$group)] != column$codes[rows]
  # A suppressed value, or one recoded to a group in which the column differs.
  group <- if (is.null(released)) integer(length(column$codes)) else released$codes
  beside <- column_fit(group, column$codes)
  at <- match(group, beside$group)
  n_groups <- length(beside$group)
  other <- column$codes > 0 & beside$best[at] != column$codes
  alike <- tabulate(at[other], n_groups) <= 0.01 * tabulate(at, n_groups)
  sum(misfit %in% TRUE | shown == 0 & !alike[at[rows]] %in% TRUE)
}

# Columns that nothing protects and that tell more than a variable does, such as the year of birth
# than bands of three years.
narrowed_by_finer <- function(columns, protected, told, least) {
  found <- Map(function(column, told) {
    nearly <- told >= 0.9 * lengths(lapply(protected[names(told)], `[[`, "rows"))
    open <- protected[setdiff(names(protected), names(told)[nearly])]
    open <- Filter(function(v) column$n_values >= 1.5 * max(v$codes), open)
    in_two <- vapply(open, function(v) {
      leaves_two(column, v, least) && are_correlated(column$codes, v$codes)
    }, NA)
    vapply(open[in_two], function(v) as.double(sum(column$codes > 0 & v$codes > 0)), 0)
  }, columns, told[names(columns)])
  Filter(length, found)
}

# Dates that persons of several records have in common leave two values of much, but not in order.
are_correlated <- function(a, b) {
  at <- a > 0 & b > 0
  abs(stats::cor(a[at], b[at])) >= 0.9
}

# Suppressed values of which a column leaves two.
values_in_two <- function(column, v, least) {
  if ((v$compared || v$ties) && any(v$shown > 0) && leaves_two(column, v, least)) {
    sum(column$codes[v$rows] > 0 & v$shown[v$rows] == 0)
  } else {
    0
  }
}

# Whether a column that anyone knows leaves two values of a variable, such as of an age by the year
# of birth: nearly all known values of a sample are one of the two commonest beside others with its
# value, far more than are the two commonest of all.
leaves_two <- function(column, v, least) {
  if (!column$known) {
    return(FALSE)
  }
  at <- sampled_rows(column)
  group <- column$codes[at]
  known <- known_values(v$codes[at])
  luck <- sum(utils::head(sort(tabulate(known$codes), TRUE), 2)) / length(known$rows)
  fit <- column_fit(group, known$codes)
  if (luck > 0.5 || fit$errors > 0.55 * fit$n) {
    return(FALSE)
  }
  ranks <- ranks_of_others(list(codes = group), known)
  asked <- ranks[[1]]$size > 0 | ranks[[2]]$size > 0
  within <- asked & Reduce(`|`, lapply(ranks[1:2], function(r) {
    r$size > 0 & r$value == known$codes[known$rows]
  }))
  sum(within) >= max(0.9, luck + 0.5) * sum(asked) &&
    luck_of(sum(asked) - sum(within), sum(asked), 1 - luck) < least
}
