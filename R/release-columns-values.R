# Which protected values a column gives back, and how many of them are luck or no news.

fit_by <- function(column, v, at) {
  fit <- column_fit(column$codes[at], v$codes[at])
  if (!is.null(v$guess)) fit$commonest <- v$guessed
  fit
}

# Of each value of a column, in order: the commonest value of the variable (`best`). Over
# all: records, those beyond the first of each value (`extra`), those with another value
# than the commonest of their group (`errors`).
column_fit <- function(group, value) {
  at <- which(group > 0 & value > 0)
  n <- length(at)
  group <- group[at]
  value <- value[at]
  # Most values of a weight have one record each: only the others are sorted as pairs.
  alone <- logical(n)
  if (n > 0 && max(group) <= n) alone <- tabulate(group)[group] == 1L
  cells <- pair_cells(group[!alone], value[!alone])
  by_size <- order(cells$first, -cells$size, method = "radix")
  top <- by_size[!duplicated(cells$first[by_size])]
  groups <- c(group[alone], cells$first[top])
  in_order <- order(groups, method = "radix")
  list(
    group = groups[in_order], best = c(value[alone], cells$second[top])[in_order],
    n = n, extra = n - length(groups), errors = sum(!alone) - sum(cells$size[top]),
    commonest = max(tabulate(value), 0) / max(n, 1)
  )
}

# The different pairs of two codes, in order, and how many records have each. Few are counted
# without sorting.
pair_cells <- function(first, second) {
  n_second <- max(second, 0L)
  if (n_second * as.double(max(first, 0L)) > length(first)) {
    at <- order(first, second, method = "radix")
    return(runs_of(first[at], second[at]))
  }
  size <- tabulate((first - 1L) * n_second + second, max(first, 0L) * n_second)
  cell <- which(size > 0)
  list(
    first = (cell - 1L) %/% n_second + 1L, second = (cell - 1L) %% n_second + 1L, size = size[cell]
  )
}

# Runs of equal pairs in sorted vectors.
runs_of <- function(first, second) {
  n <- length(first)
  start <- which(c(n > 0, first[-1] != first[-n] | second[-1] != second[-n]))
  list(first = first[start], second = second[start], size = diff(c(start, n + 1L)))
}

# At most 1% of the records miss the function, and at most a tenth of those that the
# commonest value would miss; `least` is the log of the chance of that by luck.
is_function <- function(fit, least) {
  miss <- 1 - fit$commonest
  fit$extra > 0 && miss > 0 && fit$errors <= min(0.01, 0.1 * miss) * fit$extra &&
    luck_of(fit$errors, fit$extra, miss) < least
}

# The log of the chance of so few errors, -Inf (and then a warning of R's own) where it is
# too small for a number.
luck_of <- function(errors, size, miss) {
  suppressWarnings(stats::pbinom(errors, size, miss, log.p = TRUE))
}

# Along the values of the column the variable never goes back, or each of its values is one
# run, up to 1% of the records: such as an age by a date of birth.
is_in_order <- function(fit, least) {
  best <- fit$best
  n <- length(best)
  if (n < 5 || fit$errors > 0.01 * fit$n) {
    return(FALSE)
  }
  steps <- diff(best)
  counts <- tabulate(best)
  counts <- counts[counts > 0]
  k <- length(counts)
  changes <- (n - 1) * (1 - sum(counts * (counts - 1)) / (n * (n - 1)))
  arrangements <- lfactorial(n) - sum(lfactorial(counts))
  breaks <- c(min(sum(steps < 0), sum(steps > 0)), sum(steps != 0) - (k - 1))
  expected <- c(changes / 2, changes - (k - 1))
  luck <- c(log(2), lfactorial(k)) - arrangements
  any(ifelse(
    breaks == 0, luck < least, expected >= 20 & breaks <= pmin(0.01 * n, expected / 10)
  ))
}

# A sample of rows that keeps groups whole, of about 10,000 records.
sampled_rows <- function(column, most = 10000) {
  n <- length(column$codes)
  if (n <= 2 * most) {
    return(seq_len(n))
  }
  every <- n %/% most
  if (column$n_values < 1000) seq(1, n, every) else which(column$codes %% every == 1L)
}

# A sample that lies far from every function need not be looked at as a whole.
may_tell <- function(fit) {
  if (fit$n < 200) {
    return(TRUE)
  }
  steps <- diff(fit$best)
  turns <- min(sum(steps < 0), sum(steps > 0), sum(steps != 0) - length(unique(fit$best)) + 1)
  fit$errors <= 0.05 * fit$n &&
    (fit$extra < 50 && turns <= 0.05 * fit$n || turns <= 0.05 * length(steps) ||
       fit$extra > 0 && fit$errors <= min(0.05, 0.5 * (1 - fit$commonest)) * fit$extra)
}

# By the function, where it is known: it gives most of the protected values it is asked for.
values_known <- function(fit, column, v, in_order = FALSE) {
  asked <- column$codes[v$rows] > 0L
  at <- match(column$codes[v$rows], fit$group)
  original <- v$codes[v$rows]
  right <- if (v$missing) asked else fit$best[at] == original
  if (in_order && !v$missing) right <- right & fits_neighbours(fit$best)[at]
  most_right(list(right = right, asked = if (v$missing) asked else !is.na(at)), v)
}

# Number of values that are `right`, if these are `most` of the `asked`: of missing values, which
# nobody knows, how many to expect.
most_right <- function(back, v, most = 0.5) {
  n_right <- round(sum(back$right, na.rm = TRUE))
  if (n_right >= most * sum(back$asked, na.rm = TRUE)) n_right else 0
}

# The same, if they are a twentieth of the protected values, and more than luck in guessing gives.
more_than_guessed <- function(back, v) {
  n_asked <- sum(back$asked)
  chance <- share_guessed(back, v)
  n_right <- sum(back$right)
  enough <- n_right >= max(3, 0.05 * length(v$rows))
  if (enough && stats::pbinom(n_right - 1, n_asked, chance, FALSE) < 0.01) n_right else 0
}

known_values <- function(codes) {
  list(codes = codes, shown = codes, rows = which(codes > 0), missing = FALSE)
}

# As many known values beside each value of a column as are missing there: what a suppression chose
# is seldom what is common in the file.
known_beside <- function(known, group) {
  n_missing <- tabulate(group[known$codes == 0], max(group, 0L))
  rows <- known$rows[group[known$rows] > 0]
  rows <- rows[order(group[rows], method = "radix")]
  of <- group[rows]
  rows <- rows[seq_along(of) - match(of, of) < n_missing[of]]
  known$codes[-rows] <- 0L
  replace(known, "rows", list(rows))
}

# Years and ages of people are known in a file of some hundred, too.
is_short_range <- function(x) {
  x <- as.double(column_values(x))
  any(!is.na(x)) && diff(range(x, na.rm = TRUE)) <= 130
}

# Values that lie between those beside them.
fits_neighbours <- function(x) {
  n <- length(x)
  before <- c(x[[1]], x[-n])
  after <- c(x[-1], x[[n]])
  x >= pmin(before, after) & x <= pmax(before, after)
}

# By the other released records with the same value: most of those show the original.
values_shown <- function(column, v) {
  ranks <- ranks_of_others(column, v)
  original <- v$codes[v$rows]
  size <- Reduce(`+`, lapply(ranks, function(r) r$size * (r$value == original)))
  rest <- Reduce(pmax, lapply(ranks, function(r) r$size * (r$value != original)))
  asked <- Reduce(pmax, lapply(ranks, `[[`, "size")) > 0
  right <- if (v$missing) {
    n_known <- tabulate(column$codes[v$shown > 0], max(column$codes))
    ranks[[1]]$size / pmax(c(0, n_known)[column$codes[v$rows] + 1L], 1)
  } else {
    size > rest
  }
  list(right = right, asked = asked, original = original, guess = v$guess[v$rows])
}

least_gain <- 0.25

# The share of values asked that are the commonest, of the file or of the group of each.
share_guessed <- function(back, v) {
  guess <- back$guess[back$asked]
  mean(back$original[back$asked] == if (is.null(guess)) which.max(tabulate(v$codes)) else guess)
}

# TRUE if guessing the commonest value is as good but for `gain`, or so many right values are no
# surprise. Few wrong values, a third of those of guessing, tell of a common value, too.
is_luck <- function(back, v, least, gain = least_gain) {
  original <- back$original[back$asked]
  counts <- tabulate(v$codes)
  commonest <- share_guessed(back, v)
  chance <- max(commonest, mean(counts[original]) / sum(counts))
  n <- length(original)
  n_right <- sum(back$right[back$asked])
  n_wrong <- n - n_right
  better <- n_right > (commonest + gain) * n || n_wrong <= min(0.1, (1 - commonest) / 3) * n
  n_right < 3 || !better || luck_of(n_wrong, n, 1 - chance) >= least
}

# The three commonest released values of other records with the same value of the column, for each
# protected value, and how many have them.
ranks_of_others <- function(column, v) {
  groups <- logical(max(column$codes, 0L))
  groups[column$codes[v$rows]] <- TRUE
  at <- which(column$codes > 0 & v$shown > 0)
  at <- at[groups[column$codes[at]]]
  cells <- pair_cells(column$codes[at], v$shown[at])
  by_size <- order(cells$first, -cells$size, method = "radix")
  start <- which(!duplicated(cells$first[by_size]))
  rank <- function(i) {
    at <- by_size[start + i]
    at[cells$first[at] != cells$first[by_size[start]]] <- NA
    at
  }
  row <- match(column$codes[v$rows], cells$first[by_size[start]])
  own <- v$shown[v$rows]
  # The record itself is not one of the others.
  of <- function(i) {
    cell <- rank(i)[row]
    value <- cells$second[cell]
    size <- cells$size[cell]
    size[is.na(size)] <- 0
    value[is.na(value)] <- 0L
    list(value = value, size = size - (value == own & size > 0))
  }
  lapply(0:2, of)
}

# By the released records before and after it in the order of the column, if they agree.
values_between <- function(column, v) {
  at <- which(column$codes > 0 & v$shown > 0)
  at <- at[order(column$codes[at], method = "radix")]
  rows <- v$rows[column$codes[v$rows] > 0]
  place <- column$codes[rows]
  before <- findInterval(place, column$codes[at], left.open = TRUE)
  after <- findInterval(place, column$codes[at]) + 1L
  value <- c(NA, v$shown[at], NA)
  agree <- value[before + 1L] == value[after + 1L]
  right <- agree & (v$missing | value[before + 1L] == v$codes[rows])
  list(right = right, asked = agree)
}

# By the two released records before its value and the two after it in the order of the column: most
# of them have the original.
values_near <- function(column, v) {
  at <- which(column$codes > 0 & v$shown > 0)
  at <- at[order(column$codes[at], method = "radix")]
  rows <- column$codes[v$rows] > 0
  before <- findInterval(column$codes[v$rows][rows], column$codes[at], left.open = TRUE)
  after <- findInterval(column$codes[v$rows][rows], column$codes[at])
  shown <- c(NA, NA, v$shown[at], NA, NA)
  near <- cbind(shown[before + 1L], shown[before + 2L], shown[after + 3L], shown[after + 4L])
  original <- v$codes[v$rows][rows]
  asked <- rowSums(!is.na(near)) > 0
  if (v$missing) {
    most <- Reduce(pmax, lapply(1:4, function(i) rowSums(near == near[, i], na.rm = TRUE)))
    return(list(right = most / pmax(rowSums(!is.na(near)), 1), asked = asked))
  }
  mine <- rowSums(near == original, na.rm = TRUE)
  rest <- Reduce(pmax, lapply(1:4, function(i) {
    ifelse(near[, i] %in% NA | near[, i] == original, 0, rowSums(near == near[, i], na.rm = TRUE))
  }))
  list(right = mine > rest, asked = asked, original = original, guess = v$guess[v$rows][rows])
}
