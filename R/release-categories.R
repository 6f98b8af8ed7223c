# Columns that tell a single category, or by what is made of them: where they are missing,
# whether they are zero, how many records share a value.

# A column as others that may tell more: a question that was put to women alone, a pension
# that only the retired have, a household whose members can be counted, an age with decimals.
made_of_column <- function(x, column) {
  known <- column$codes > 0L
  n <- length(known)
  yes_no <- function(yes) {
    list(codes = 1L + yes, n_values = 2L, known = TRUE, id = FALSE, yes_no = TRUE)
  }
  amount <- !column$known && is.numeric(x) && !is.factor(x)
  zero <- if (amount) known & as_bare(x) == 0
  is_sum <- !is.null(zero) && sum(zero) > 0.01 * n && sum(known & !zero) > 0.01 * n
  members <- if (repeats_as_households(sum(known), column$n_values)) {
    tabulate(column$codes[known])[ifelse(known, column$codes, NA)]
  }
  if (!is.null(members)) members[!known] <- 0L
  c(
    if (!all(known) && any(known)) list(yes_no(known)),
    if (is_sum) list(yes_no(known & !zero)),
    without_commonest(column),
    if (length(unique(members)) > 1) list(numbered_column(members, TRUE)),
    if (amount && !column$id && is_short_range(x)) list(rounded_column(as_bare(x)))
  )
}

# Where one value of many stands out, such as no pay, the others may lie in order.
without_commonest <- function(column) {
  often <- tabulate(column$codes)
  top <- which.max(often)
  if (column$n_values > 20 && !column$id && !isFALSE(column$in_order) &&
      often[[top]] > max(0.01 * length(column$codes), 3 * often[-top])) {
    list(replace(column, "codes", list(column$codes * (column$codes != top))))
  }
}

# Numbers within a short range, as those of whole years.
rounded_column <- function(x) {
  at <- as.integer(round(x) - round(min(x, na.rm = TRUE))) + 1L
  at[is.na(at)] <- 0L
  numbered_column(at, sum(at > 0) >= 4 * length(unique(at[at > 0])))
}

# Of whole numbers, 0 where missing.
numbered_column <- function(at, known) {
  used <- tabulate(at) > 0
  list(
    codes = c(0L, cumsum(used))[at + 1L], n_values = sum(used), known = known, id = FALSE
  )
}

# The best of several columns that reveal a variable.
best_of <- function(found) {
  found <- unlist(unname(found))
  if (length(found) == 0) {
    return(found)
  }
  vapply(split(found, factor(names(found), unique(names(found)))), max, 0)
}

# Number of protected values of each variable that follow from a category of the column, up to 1% of
# its records and not by chance. Variables of which less than 5% follow are left out, unless it is
# half of a category.
tells_categories <- function(column, protected, least) {
  if (!column$known || column$n_values > 1000) {
    return(numeric())
  }
  told <- vapply(protected, function(v) category_told(column, v, least), 0)
  told[told > 0]
}

category_told <- function(column, v, least) {
  n_values <- max(v$codes, 0L)
  if (n_values * column$n_values > 2e6) {
    return(0)
  }
  # The first row has the records whose value is missing.
  cell <- (column$codes - 1L) * (n_values + 1L) + v$codes + 1L
  cells <- matrix(tabulate(cell, (n_values + 1L) * column$n_values), n_values + 1L)
  n_missing <- cells[1, ]
  cells <- cells[-1, , drop = FALSE]
  size <- colSums(cells)
  best <- max.col(t(cells), ties.method = "first")
  errors <- size - cells[cbind(best, seq_along(best))]
  total <- rowSums(cells)
  n <- sum(size)
  luck <- ifelse(
    errors == 0, lchoose(total[best], size) - lchoose(n, size),
    luck_of(errors, size, 1 - total[best] / n)
  ) + log(sum(total > 0))
  pure <- size > 0 & errors <= 0.01 * size & luck < least - log(sum(size > 0))
  # Few missing values of a protected file may be the ones that did not belong to the category.
  if (v$missing && !v$ties) pure <- pure & n_missing >= 0.05 * (size + n_missing)
  # Few known values say little of many that are missing where the column is.
  if (v$missing) pure <- pure & n_missing <= size
  if (!any(pure)) {
    return(0)
  }
  original <- v$codes[v$rows]
  group <- column$codes[v$rows]
  asked <- group > 0L & c(FALSE, pure)[group + 1L]
  right <- asked & (v$missing | c(0L, best)[group + 1L] == original)
  of_category <- tabulate(original[right], n_values) / pmax(tabulate(original, n_values), 1)
  worth <- sum(right) >= 0.05 * length(right) || any(of_category >= 0.5)
  if (worth) most_right(list(right = right, asked = asked), v) else 0
}
