# Pairs of columns that tell what neither tells alone.

# Pairs are tried among this many columns of codes, those with most values first.
most_paired <- 25

# Variables of which all protected values come back by a single column that a release has: it leaves
# identifiers out.
fully_told <- function(told, protected, columns = list()) {
  told <- told[!names(told) %in% names(Filter(function(column) column$id, columns))]
  found <- unlist(unname(lapply(told, function(t) {
    names(t)[t == lengths(lapply(protected[names(t)], `[[`, "rows"))]
  })))
  unique(found)
}

told_by_pairs <- function(columns, protected, told, n) {
  protected <- protected[setdiff(names(protected), fully_told(told, protected, columns))]
  if (length(protected) == 0 || n < 100) {
    return(NULL)
  }
  rows <- unique(round(seq(1, n, length.out = min(n, 5000))))
  few <- vapply(columns, function(column) {
    !column$id && column$n_values > 1 && column$n_values <= min(n / 5, 1000)
  }, NA)
  columns <- columns[few]
  by_values <- order(-vapply(columns, `[[`, 1L, "n_values"))
  columns <- columns[utils::head(by_values, most_paired)]
  values <- do.call(cbind, lapply(protected, function(v) v$codes[rows]))
  if (length(columns) < 2) {
    return(NULL)
  }
  pairs <- utils::combn(length(columns), 2)
  least <- -14 - log(ncol(pairs) * length(protected))
  found <- lapply(seq_len(ncol(pairs)), function(i) {
    pair <- columns[pairs[, i]]
    as_numbers <- names(told[[paste(names(pair), collapse = " + ")]])
    open <- setdiff(open_to_pair(names(pair), told, protected), as_numbers)
    open <- open[agree_inside(codes_of_pair(pair, rows), values[, open, drop = FALSE])]
    if (length(open)) {
      both <- tells_of(pair_column(pair), told_by_classes(protected[open], names(pair)), least)
      not_few(without_alone(both, names(pair), told), protected)
    }
  })
  names(found) <- apply(pairs, 2, function(p) paste(names(columns)[p], collapse = " + "))
  found[lengths(found) > 0]
}

# What one of a pair reveals half of, or half of what both reveal, is named for it.
open_to_pair <- function(pair, told, protected) {
  alone <- best_of(told[pair])
  half <- 2 * alone >= lengths(lapply(protected[names(alone)], `[[`, "rows"))
  setdiff(names(protected), c(pair, names(alone)[half]))
}

without_alone <- function(both, pair, told) {
  alone <- c(best_of(told[pair]), numeric())
  both[!(2 * alone[names(both)] > both) %in% TRUE]
}

# TRUE if neighbours in the order of a group agree nearly always, per column of `values`.
agree_inside <- function(group, values) {
  at <- order(group, method = "radix")
  group <- group[at]
  values <- values[at, , drop = FALSE]
  n <- length(group)
  first <- values[-1, , drop = FALSE]
  second <- values[-n, , drop = FALSE]
  same <- group[-1] == group[-n] & group[-1] > 0
  known <- same & first > 0 & second > 0
  differ <- colSums(known & first != second)
  colSums(known) >= 50 & differ <= 0.05 * colSums(known)
}

# Of many pairs some give one or two of many values by luck.
not_few <- function(told, protected) {
  n_protected <- lengths(lapply(protected[names(told)], `[[`, "rows"))
  told[told >= pmin(3, n_protected / 2)]
}

# Two columns as one, of some records.
codes_of_pair <- function(pair, rows) {
  first <- pair[[1]]$codes[rows]
  second <- pair[[2]]$codes[rows]
  ifelse(first > 0 & second > 0, first * (pair[[2]]$n_values + 1) + second, 0)
}

pair_column <- function(pair) {
  codes <- codes_of_pair(pair, seq_along(pair[[1]]$codes))
  values <- sort(unique(codes[codes > 0]))
  known <- all(vapply(pair, `[[`, NA, "known"))
  list(codes = match(codes, values, nomatch = 0L), n_values = length(values), id = !known,
       known = known)
}

# Pairs of numbers or dates ---------------------------------------------------------

# Pairs are tried among this many columns of numbers, those with most values first.
most_numbers <- 12

# What a difference, a sum, a ratio or a product of two columns tells, such as days between two
# dates or the year of a date less another year, and what it narrows to two values. `read` are the
# columns as values, `amounts` the variables as numbers; `n_values`: how many the most detailed
# result that tells has.
told_by_numbers <- function(columns, read, amounts, protected, told, n) {
  protected <- protected[setdiff(names(protected), fully_told(told, protected, columns))]
  numbers <- Filter(Negate(is.null), lapply(read, amount_of))
  numbers <- numbers[!vapply(columns[names(numbers)], `[[`, NA, "id")]
  n_values <- vapply(columns[names(numbers)], `[[`, 1L, "n_values")
  numbers <- numbers[utils::head(order(-n_values), most_numbers)]
  if (length(protected) == 0 || n < 100 || length(numbers) < 2) {
    return(NULL)
  }
  # Of few values a pair is tried as it is.
  pairs <- Filter(
    function(pair) prod(n_values[pair]) > 150, utils::combn(names(numbers), 2, simplify = FALSE)
  )
  names(pairs) <- vapply(pairs, paste, "", collapse = " + ")
  units <- in_units(numbers, read[names(numbers)])
  part <- function(rows) lapply(units, lapply, `[`, rows)
  rows <- unique(round(seq(1, n, length.out = min(n, 1000))))
  some <- part(rows)
  values <- do.call(cbind, lapply(protected, function(v) v$codes[rows]))
  differ <- apply(values, 2, function(v) 1 - sum(tabulate(v)^2) / sum(v > 0)^2)
  least <- -14 - log(6 * length(pairs) * length(protected))
  first <- some_protected(protected, n)
  of_first <- part(first$rows)
  all_first <- length(first$rows) == n
  lapply(pairs, function(pair) {
    open <- open_to_pair(pair, told, protected)
    equal <- list()
    made <- lapply(forms_of(pair, units), function(form) {
      made <- function(x) form$of(x[[form$unit]][[pair[[1]]]], x[[form$unit]][[pair[[2]]]])
      of_some <- made(some)
      same <- Filter(function(name) are_same(of_some, amounts[[name]][rows]), open)
      equal <<- c(equal, list(n_equal(made(units), amounts[same], protected[same])))
      often <- Filter(function(name) {
        length(amounts[[name]]) && is_often(of_some, amounts[[name]][rows])
      }, setdiff(open, same))
      equal <<- c(equal, lapply(often, function(name) {
        x <- round(made(units), digits_of(amounts[[name]]))
        n_often_equal(x, amounts[name], protected[[name]])
      }))
      follow <- follows_nearly(of_some, values[, open, drop = FALSE], differ[open])
      of_classes <- told_by_classes(first$protected[open], pair)
      if (any(follow) && (all_first || tells_some(made(of_first), of_classes))) {
        column_of_number(made(units))
      }
    })
    found <- tells_or_narrows(
      Filter(length, made), told_by_classes(protected[open], pair), least
    )
    found$told <- best_of(c(list(found$told), equal))
    found$told <- without_alone(found$told, pair, told)
    found$narrowed <- without_alone(found$narrowed, pair, told)
    found
  })
}

# TRUE if a number is another one, but for rounding, in a fifth of the records and in twice as many
# as by chance, such as months by what was paid in all and in a month.
is_often <- function(x, y) {
  x <- round(x, digits_of(y))
  at <- is.finite(x) & is.finite(y)
  x <- x[at]
  y <- y[at]
  values <- unique(y)
  share <- function(z) tabulate(match(z, values), length(values)) / length(z)
  any(at) && mean(x == y) >= max(0.2, 2 * sum(share(x) * share(y)))
}

# TRUE if two numbers are the same in nine of ten records where one is not its commonest value, and
# in nine of ten where the other is not: zero is the same as many zeros.
are_same <- function(x, y, least = 0.9) {
  at <- is.finite(x) & is.finite(y)
  x <- x[at]
  y <- y[at]
  all(vapply(list(x, y), function(of) {
    values <- unique(of)
    rare <- of != values[which.max(tabulate(match(of, values)))]
    sum(rare) >= 50 && mean(is_same(x[rare], y[rare])) >= least
  }, NA))
}

is_same <- function(x, y) abs(x - y) <= 1e-6 * abs(y)

# Number of protected values of each variable that are the same; of missing ones, that are given,
# by the share that is the same of the others.
n_equal <- function(x, amounts, protected) {
  found <- unlist(Map(function(y, v) {
    same <- is_same(x, y)
    given <- sum(is.finite(x[v$rows]))
    if (v$missing) round(given * mean(same, na.rm = TRUE)) else sum(same[v$rows], na.rm = TRUE)
  }, amounts, protected))
  not_few(found[found > 0], protected)
}

# Numbers as they are, those of dates in whole days, and as years; dates and years alone as points
# of time, in years.
in_units <- function(numbers, read) {
  dates <- Filter(is_time, read)
  years <- Filter(Negate(is.null), lapply(read, years_of))
  list(
    given = numbers,
    days = replace(numbers, names(dates), lapply(numbers[names(dates)], floor)),
    years = replace(numbers, names(years), years),
    times = if (length(dates)) Filter(Negate(is.null), Map(time_in_years, read, numbers))
  )
}

# Somebody who knows the year alone takes the middle of it.
time_in_years <- function(x, number) {
  if (is_time(x)) {
    1970 + number / 365.25
  } else if (is_whole_column(x) && all(is.na(number) | number >= 1850 & number <= 2100)) {
    number + 0.5
  }
}

# The years of dates, or of whole numbers that are dates, such as 201912 or months since 1900.
years_of <- function(x) {
  if (is_time(x)) {
    return(as.POSIXlt(x)$year + 1900)
  }
  if (!is.numeric(x) || is.factor(x) || !is_whole_column(x)) {
    return(NULL)
  }
  x <- as_number(x)
  x[is.infinite(x)] <- NA
  if (all(is.na(x) | x < 300 | x > 1700 & x < 2100)) {
    return(NULL)
  }
  forms <- list(x %/% 100, x %/% 10000, x %% 10000, 1900 + (x - 1) %/% 12)
  Find(function(years) all(is.na(x) | years >= 1850 & years <= 2100), forms)
}

# What two numbers are tried for: two dates differ by whole days, too, a date and a year by years,
# and by completed years as ages do.
forms_of <- function(pair, units) {
  other <- Filter(function(unit) {
    !identical(units[[unit]][pair], units$given[pair])
  }, c("days", "years"))
  c(
    lapply(list(`-`, `+`, `/`, `*`), function(of) list(of = of, unit = "given")),
    lapply(other, function(unit) list(of = `-`, unit = unit)),
    if (length(other) && all(pair %in% names(units$times))) {
      list(list(of = function(x, y) floor(abs(x - y)), unit = "times"))
    }
  )
}

# What a column tells, `found`, and the variables that it is in nine of ten records, but for a
# factor and a constant: the earnings of those who have one job, in other units.
told_by_line <- function(name, column, x, found, amounts, protected) {
  x <- if (!column$id) amount_of(x)
  all_told <- fully_told(list(of = found), protected)
  open <- Filter(Negate(is.null), amounts[setdiff(names(amounts), c(name, all_told))])
  if (is.null(x) || length(x) < 100 || length(open) == 0) {
    return(found)
  }
  rows <- unique(round(seq(1, length(x), length.out = min(length(x), 1000))))
  best_of(c(list(found), lapply(names(open), function(variable) {
    line <- line_of(x[rows], open[[variable]][rows])
    if (length(line)) {
      n_equal(on_line(line, x), open[variable], protected[variable])
    } else {
      n_often_equal(x, open[variable], protected[[variable]])
    }
  })))
}

# The same of a number that is equal in a fifth of the records or more, such as the wage of a second
# question: of many values, as few are equal by chance, and without the commonest.
n_often_equal <- function(x, amount, v) {
  y <- amount[[1]]
  values <- unique(y[is.finite(y)])
  if (length(values) <= 20 || !v$compared && !v$missing) {
    return(NULL)
  }
  same <- replace(is_same(x, y), y == values[which.max(tabulate(match(y, values)))], NA)
  n <- if (v$missing) {
    mean(same, na.rm = TRUE) * sum(is.finite(x[v$rows]))
  } else {
    sum(same[v$rows], na.rm = TRUE)
  }
  if (isTRUE(n >= max(3, 0.2 * length(v$rows)))) rlang::set_names(round(n), names(amount))
}

# The line on which nearly all points lie: most slopes between two of them are its own. Through few
# values there are others, and these tell as they are. `digits` if half of the points are on it
# as numbers are rounded, such as minutes by their price.
line_of <- function(x, y) {
  if (min(length(unique(x)), length(unique(y))) <= 20) {
    return(NULL)
  }
  line <- median_line(x, y)
  if (!is.finite(line$start)) {
    return(NULL)
  }
  if (are_same(on_line(line, x), y)) {
    return(line)
  }
  # Of an age the year of birth gives two values.
  if (length(unique(y)) > 150) {
    line$digits <- digits_of(y)
    if (are_same(on_line(line, x), y, 0.5)) line
  }
}

median_line <- function(x, y) {
  apart <- length(x) %/% 2
  slopes <- diff(y, apart) / diff(x, apart)
  slope <- stats::median(slopes[is.finite(slopes)])
  list(start = stats::median(y - slope * x, na.rm = TRUE), slope = slope)
}

# By column, masked numbers that it gives to 5%, if it gives most of them, and more than are
# `released` so: by a line through a number, or through the logarithms, or by the mean of the
# released numbers with one value of the column, as of a person's records.
given_nearly <- function(columns, read, amounts, protected, told, asked, released) {
  open <- if (!asked$before) Filter(Negate(is.null), amounts)
  others <- setdiff(names(columns), names(protected))
  Filter(length, lapply(rlang::set_names(others), function(name) {
    column <- columns[[name]]
    x <- if (!column$id) amount_of(read[[name]])
    unlist(lapply(rlang::set_names(as.character(names(open))), function(variable) {
      y <- open[[variable]]
      shown <- amount_of(released[[variable]])
      at <- protected[[variable]]$rows
      at <- at[is.finite(shown[at])]
      # Of a few, or of few values, some are near by chance.
      if (length(y) < 100 || length(unique(y[at])) < 20) {
        return(NULL)
      }
      n_near <- function(guess) sum(is_near(guess, y)[at], na.rm = TRUE)
      n <- n_near(mean_by_value(column, shown))
      if (length(x)) n <- max(n, n_near(near_line(x, y)))
      if (length(x) && all(c(x, y) > 0, na.rm = TRUE)) {
        n <- max(n, n_near(exp(near_line(log(x), log(y)))))
      }
      # New numbers of persons take away what the old ones reveal, and not this.
      known <- if (column$id) 0 else c(told[[name]][variable], 0)[[1]]
      least <- c(length(at) / 2, n_near(shown) + length(at) / 20, 2 * known)
      if (n > max(least, na.rm = TRUE)) as.double(n)
    }))
  }))
}

# Per record the mean of all numbers with its value of the column, if that occurs twice.
mean_by_value <- function(column, shown) {
  shown[column$codes == 0L] <- NA
  known <- is.finite(shown)
  n <- tabulate(column$codes[known], column$n_values)
  sums <- numeric(column$n_values)
  found <- rowsum(shown[known], column$codes[known])
  sums[as.integer(rownames(found))] <- found
  n[n < 2] <- NA
  c(NA, sums / n)[column$codes + 1L]
}

near_line <- function(x, y) {
  rows <- unique(round(seq(1, length(x), length.out = min(length(x), 1000))))
  line <- median_line(x[rows], y[rows])
  line$start + line$slope * x
}

is_near <- function(x, y) abs(x - y) <= 0.05 * abs(y)

on_line <- function(line, x) {
  y <- line$start + line$slope * x
  if (is.null(line$digits)) y else round(y, line$digits)
}

# Decimal places of numbers.
digits_of <- function(y) {
  digits <- Find(function(digits) all(round(y, digits) == y, na.rm = TRUE), 0:6)
  if (is.null(digits)) 8 - ceiling(log10(max(abs(y), na.rm = TRUE))) else digits
}

# Sums of numbers, with any signs and factors, and products of their powers, that tell a variable
# but for rounding: a household's members by the numbers of adults, pupils and infants, a weight by
# height and body mass index. `amounts` are the variables as numbers.
told_by_sums <- function(columns, read, amounts, protected, told, n) {
  protected <- protected[setdiff(names(protected), fully_told(told, protected, columns))]
  amounts <- Filter(Negate(is.null), amounts[names(protected)])
  numbers <- Filter(function(x) mean(is.finite(x)) >= 0.9, lapply(read, amount_of))
  numbers <- numbers[!vapply(columns[names(numbers)], `[[`, NA, "id")]
  if (length(amounts) == 0 || n < 100 || length(numbers) < 2) {
    return(NULL)
  }
  rows <- unique(round(seq(1, n, length.out = min(n, 1000))))
  found <- list()
  for (name in names(amounts)) {
    parts <- utils::head(numbers[setdiff(names(numbers), name)], 50)
    # Without a column of one sum another may equal the variable.
    repeat {
      of <- made_of(parts, amounts[[name]], rows)
      if (length(of$by) < 2) break
      made <- not_few(best_of(list(
        tells_of(column_of_number(of$made), told_by_classes(protected[name], of$by), -14),
        n_equal(of$made, amounts[name], protected[name])
      )), protected)
      by_one <- unlist(lapply(told[of$by], function(one) one[name]))
      by <- paste(of$by, collapse = " + ")
      found[[by]] <- c(found[[by]], made[made > max(0, by_one, na.rm = TRUE)])
      # One that is not protected, if there is one.
      parts[[c(setdiff(of$by, names(protected)), of$by)[[1]]]] <- NULL
    }
  }
  Filter(length, found)
}

# The sum or product that equals `y` in nine of ten of the `rows`: its values, `made`, and its
# columns, `by`.
made_of <- function(parts, y, rows) {
  digits <- digits_of(y[rows])
  positive <- function(x) all(x > 0, na.rm = TRUE)
  forms <- list(list(of = identity, back = identity, parts = parts))
  if (positive(y)) forms[[2]] <- list(of = log, back = exp, parts = Filter(positive, parts))
  for (form in forms) {
    numbers <- function(names, at) lapply(form$parts[names], function(x) form$of(x[at]))
    sum_of <- function(made, at) {
      sum <- made$of[[1]] + Reduce(`+`, Map(`*`, numbers(made$by, at), made$of[-1]))
      round(form$back(sum), digits)
    }
    made_by <- function(names) {
      made <- list(of = sum_factors(numbers(names, rows), form$of(y[rows])), by = names)
      if (length(made$of) && are_same(sum_of(made, rows), y[rows])) made
    }
    names <- names(form$parts)
    made <- if (length(names) > 1) made_by(names)
    if (!is.null(made)) {
      # A column that is not needed is left out.
      for (name in names) {
        without <- if (length(made$by) > 1) made_by(setdiff(made$by, name))
        if (!is.null(without)) made <- without
      }
      return(list(made = sum_of(made, TRUE), by = made$by))
    }
  }
}

# The constant and the factors of the sum that comes nearest to `y` in most records.
sum_factors <- function(x, y) {
  x <- cbind(1, do.call(cbind, x))
  at <- known <- is.finite(rowSums(x) + y)
  factors <- NULL
  for (turn in 1:4) {
    if (sum(at) < max(50, 3 * ncol(x))) {
      return(NULL)
    }
    factors <- stats::lm.fit(x[at, , drop = FALSE], y[at])$coefficients
    factors[is.na(factors)] <- 0
    error <- abs(drop(x %*% factors) - y)
    # What has an error is left out of the next turn.
    at <- known & error <= stats::quantile(error[known], 0.8)
  }
  factors
}

# Protected values and others of large files, about 20,000 records, with which to begin.
some_protected <- function(protected, n) {
  place <- integer(n)
  place[seq(1, n, max(1, n %/% 10000))] <- 1L
  for (v in protected) {
    few <- seq(1, length(v$rows), max(1, length(protected) * length(v$rows) %/% 10000))
    place[v$rows[few]] <- 1L
  }
  rows <- which(place > 0)
  place[rows] <- seq_along(rows)
  some <- function(v) {
    of_records <- intersect(c("codes", "shown", "once", "group", "guess"), names(v))
    v[of_records] <- lapply(v[of_records], `[`, rows)
    v$rows <- place[v$rows][place[v$rows] > 0]
    for (part in intersect(c("apart", "joined"), names(v))) v[[part]] <- some(v[[part]])
    v
  }
  list(rows = rows, protected = lapply(protected, some))
}

tells_some <- function(x, protected) {
  found <- tells_or_narrows(list(column_of_number(x)), protected, 0)
  length(found$told) + length(found$narrowed) > 0
}

tells_or_narrows <- function(columns, protected, least) {
  by_each <- lapply(columns, tells_of, protected, least)
  told <- not_few(best_of(by_each), protected)
  n_values <- max(0L, vapply(columns[lengths(by_each) > 0], `[[`, 1L, "n_values"))
  narrowed <- best_of(lapply(columns, function(column) {
    vapply(protected, function(v) as.double(values_in_two(column, v, least)), 0)
  }))
  list(
    told = told, narrowed = narrowed[narrowed > 0 & !names(narrowed) %in% names(told)],
    n_values = n_values
  )
}

# A number, or a date in days; NULL of other columns.
amount_of <- function(x) {
  if (is_time(x)) {
    as.double(x) / if (inherits(x, "POSIXct")) 86400 else 1
  } else if (is.numeric(x) && !is.factor(x)) {
    as_number(x)
  }
}

# TRUE for variables, columns of codes, that nearly rise or fall along `x`, or of which neighbours
# differ far less often than two of all, `differ`.
follows_nearly <- function(x, values, differ) {
  values <- values[order(x, na.last = NA), , drop = FALSE]
  n <- nrow(values)
  first <- values[-n, , drop = FALSE]
  second <- values[-1, , drop = FALSE]
  known <- first > 0 & second > 0
  rises <- colSums(known & second > first)
  falls <- colSums(known & second < first)
  n_known <- colSums(known)
  n_known >= 50 & (
    pmin(rises, falls) <= 0.05 * differ * n_known | rises + falls <= 0.7 * differ * n_known
  )
}

column_of_number <- function(x) {
  x <- signif(replace(x, !is.finite(x), NA), 10)
  values <- sort(unique(x))
  codes <- match(x, values, nomatch = 0L)
  column_that_tells(x, "", list(codes = codes, n_values = length(values)))
}
