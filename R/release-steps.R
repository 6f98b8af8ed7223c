# Numbers of a unit's records that change by as much as another column does, such as the ages of a
# person by the years of the waves: one record that shows its age tells that of all.

# Identifiers of units with several records, such as the persons of a panel, by name; also members
# of households by both their numbers.
panel_units <- function(columns, read) {
  n <- length(columns[[1]]$codes)
  # Most values of an income have one record, many persons of a panel several.
  is_unit <- function(column) {
    counts <- tabulate(column$codes)
    column$n_values < n / 1.2 && (
      column$id || column$n_values > n / 50 && sum(counts[counts > 1]) > n / 2
    )
  }
  units <- names(Filter(is_unit, columns))
  c(columns[units], if (length(units)) numbered_units(columns, read, units))
}

# Members of households, numbered in them, tell as persons do.
told_by_members <- function(units, protected, told, least) {
  members <- as.character(setdiff(names(units), names(told)))
  found <- lapply(rlang::set_names(members), function(unit) {
    pair <- strsplit(unit, " + ", fixed = TRUE)[[1]]
    open <- told_by_classes(protected[setdiff(names(protected), pair)], pair)
    without_alone(not_few(tells_of(units[[unit]], open, least), protected), pair, told)
  })
  Filter(length, found)
}

# By a unit and a time: how many of the `protected` values of each variable of the original `data`
# come back, by steps or from the nearest record, but for pairs that are named already: `named`.
told_by_steps <- function(units, columns, read, data, released, protected, told, named, least) {
  numbers <- function(columns) Filter(Negate(is.null), lapply(columns, number_in))
  amounts <- numbers(as.list(data)[names(protected)])
  # Ages in years do not change by as much as days or months, or by as much as waves are numbered.
  times <- columns[!vapply(columns, `[[`, NA, "id")]
  of_times <- read[names(times)]
  steps <- c(numbers(of_times), Filter(Negate(is.null), lapply(of_times, years_of)))
  waves <- lapply(Filter(function(column) column$n_values %in% 2:30, times), function(column) {
    structure(replace(column$codes, column$codes == 0, NA), learn = TRUE)
  })
  steps <- c(steps, waves)
  pairs <- expand.grid(unit = names(units), at = seq_along(steps), stringsAsFactors = FALSE)
  pairs$by <- names(steps)[pairs$at]
  parts <- strsplit(pairs$unit, " + ", fixed = TRUE)
  first <- vapply(parts, `[[`, "", 1)
  again <- paste(first, pairs$by, sep = " + ") %in% named |
    paste(pairs$by, first, sep = " + ") %in% named
  pairs <- pairs[!(again | as.logical(Map(`%in%`, pairs$by, parts))), ]
  in_order <- lapply(units, function(column) {
    at <- sampled_rows(replace(column, "n_values", length(column$codes)), 4000)
    at[order(column$codes[at], method = "radix")]
  })
  found <- Map(function(unit, by, number) {
    column <- units[[unit]]
    at <- in_order[[unit]]
    learn <- !is.null(attr(number, "learn"))
    is_time <- is_time_of(column$codes[at], number[at], read[[by]])
    if (learn && !is_time) {
      return(NULL)
    }
    pair <- c(strsplit(unit, " + ", fixed = TRUE)[[1]], by)
    open <- open_to_pair(unique(c(pair, unit)), told, protected)
    back <- lapply(rlang::set_names(intersect(open, names(amounts))), function(variable) {
      y <- amounts[[variable]]
      if (learn) {
        number <- steps_learned(column$codes[at], number[at], y[at])[number]
        if (is.null(number)) {
          return(NULL)
        }
      }
      steps <- steps_of(column$codes[at], number[at], y[at])
      n <- vapply(steps, function(step) {
        shown <- number_in(released[[variable]])
        n_by_steps(column, number, y, shown, protected[[variable]], step)
      }, 0)
      if (length(n)) max(n)
    })
    nearest <- if (!learn && is_time) {
      lapply(rlang::set_names(open), function(variable) {
        v <- protected[[variable]]
        n <- n_by_nearest(column, number, v, least)
        if (n > 0 && n > 1.1 * sum(values_shown(column, v)$right, na.rm = TRUE)) n
      })
    }
    found <- best_of(list(c(unlist(back), numeric()), c(unlist(nearest), numeric())))
    if (length(found)) without_alone(not_few(found, protected), unique(c(pair, unit)), told)
  }, pairs$unit, pairs$by, steps[pairs$at])
  names(found) <- paste(pairs$unit, pairs$by, sep = " + ")
  lapply(split(found[lengths(found) > 0], names(found)[lengths(found) > 0]), best_of)
}

# By a unit whose records have the same values in nearly all units of their number, such as a man
# and a woman, or as many cases as controls: what is missing of them.
told_by_balance <- function(units, protected) {
  found <- list()
  for (unit in names(units)) {
    back <- vapply(protected, n_by_balance, 0, units[[unit]]$codes)
    back <- not_few(back[back > 0], protected)
    for (name in names(back)) found[[paste(unit, "+", name)]] <- back[name]
  }
  found
}

n_by_balance <- function(v, unit) {
  shown <- if (v$compared) v$shown else v$codes
  n_values <- max(v$codes, shown)
  if (n_values > 20 || !is.null(v$joined)) {
    return(0)
  }
  size <- tabulate(unit)
  n_known <- tabulate(unit[shown > 0], length(size))
  counts_in <- function(units) {
    place <- replace(integer(length(size)), units, seq_along(units))
    at <- which(unit > 0 & shown > 0)
    at <- at[place[unit[at]] > 0]
    cell <- (place[unit[at]] - 1) * n_values + shown[at]
    matrix(tabulate(cell, n_values * length(units)), n_values)
  }
  whole <- which(size > 1 & n_known == size)
  whole <- whole[unique(round(seq(1, length(whole), length.out = min(length(whole), 1000))))]
  by_size <- split(whole, size[whole])
  usual <- lapply(by_size[lengths(by_size) >= 20], function(units) {
    counts <- counts_in(units)
    alike <- do.call(paste, asplit(counts, 1))
    first <- counts[, match(names(which.max(table(alike))), alike)]
    share <- max(table(alike)) / length(units)
    if (share >= 0.9 && sum(first > 0) > 1) list(of = first, share = share)
  })
  usual <- usual[!vapply(usual, is.null, NA)]
  open <- intersect(unit[v$rows], which(as.character(size) %in% names(usual)))
  if (length(open) == 0) {
    return(0)
  }
  of_open <- usual[as.character(size[open])]
  rest <- vapply(of_open, `[[`, double(n_values), "of") - counts_in(open)
  one <- colSums(rest > 0) == 1 & colSums(rest < 0) == 0
  at <- match(unit[v$rows], open)
  asked <- which(one[at])
  if (v$missing) {
    return(round(sum(vapply(of_open, `[[`, 0, "share")[at[asked]])))
  }
  right <- max.col(t(rest), "first")[at[asked]] == v$codes[v$rows][asked]
  if (sum(right) >= max(0.5 * length(asked), 0.05 * length(v$rows))) sum(right) else 0
}

# By a unit, the column by which its records are in order, and a column whose value in the next or
# last record is the protected one but for a constant: the end of a spell is where the next one
# begins, the income of a wave may be asked again in the next.
told_by_next <- function(units, columns, read, protected, told, amounts) {
  amounts <- Filter(is_varied, amounts[!vapply(amounts, is.null, NA)])
  numbers <- Filter(Negate(is.null), lapply(read[names(columns)], amount_of))
  varied <- names(Filter(is_varied, numbers))
  if (length(amounts) == 0 || length(varied) == 0) {
    return(NULL)
  }
  found <- list()
  for (unit in names(units)) {
    of_unit <- units[[unit]]
    at <- sampled_rows(replace(of_unit, "n_values", length(of_unit$codes)), 4000)
    own <- strsplit(unit, " + ", fixed = TRUE)[[1]]
    for (by in setdiff(names(numbers), own)) {
      is_time <- is_time_of(of_unit$codes[at], numbers[[by]][at], read[[by]])
      in_order <- function(rows) rows[order(of_unit$codes[rows], numbers[[by]][rows])]
      some <- in_order(at)
      for (of in setdiff(if (is_time) varied else intersect(by, varied), own)) {
        names <- unique(c(own, by, of))
        open <- intersect(open_to_pair(names, told, protected), names(amounts))
        back <- vapply(rlang::set_names(open), function(variable) {
          max(0, vapply(c(1, -1), function(step) {
            n_by_next(
              of_unit$codes, numbers[[of]], amounts[[variable]], protected[[variable]], step, some,
              in_order
            )
          }, 0))
        }, 0)
        back <- not_few(back[back > 0], protected)
        if (length(back)) found[[paste(names, collapse = " + ")]] <- back
      }
    }
  }
  found
}

is_varied <- function(x) {
  length(unique(x[unique(round(seq(1, length(x), length.out = min(length(x), 10000))))])) > 20
}

n_by_next <- function(unit, x, y, v, step, some, in_order) {
  if (is.null(shift_to(x, y, some, step, unit))) {
    return(0)
  }
  rows <- in_order(seq_along(y))
  shift <- shift_to(x, y, rows, step, unit)
  back <- if (length(shift)) values_by_shift(shift, y, rows, v)
  if (isTRUE(back >= 0.05 * length(v$rows))) back else 0
}

# By what constant `x` of the next record in this order, or with `step` -1 of the last one, differs
# from `y`: in a fifth of the records, and in twice as many as by chance; of a `unit`, if given.
shift_to <- function(x, y, rows, step, unit = NULL) {
  n <- length(rows)
  others <- seq_len(n) + step
  beside <- x[rows][replace(others, others < 1, NA)]
  if (!is.null(unit)) {
    other <- unit[rows][replace(others, others < 1, NA)]
    beside[!(other == unit[rows] & other > 0) %in% TRUE] <- NA
  }
  apart <- round(beside - y[rows], 6)
  known <- apart[is.finite(apart)]
  values <- unique(known)
  counts <- tabulate(match(known, values), length(values))
  by <- values[which.max(counts)]
  n_other <- sum(round(rev(beside) - y[rows], 6) == by, na.rm = TRUE)
  if (max(counts, 0) >= max(20, 0.2 * length(known), 2 * n_other)) {
    list(beside = beside, by = by, share = max(counts) / length(known))
  }
}

# How many protected values come back so, of missing ones how many to expect.
values_by_shift <- function(shift, y, rows, v) {
  at <- match(v$rows, rows)
  guess <- shift$beside[at] - shift$by
  if (v$missing) {
    round(sum(is.finite(guess)) * shift$share)
  } else {
    sum(is_same(guess, y[v$rows]), na.rm = TRUE)
  }
}

# Numbers for waves from how `y` changes from each to the next in most units: those of the years, if
# it is an age. NULL if it does not change alike, or rises and falls as from person to person.
steps_learned <- function(unit, wave, y) {
  at <- order(unit, wave)
  wave <- wave[at]
  dy <- round(diff(y[at]), 6)
  next_one <- which(diff(unit[at]) == 0 & diff(wave) == 1 & is.finite(dy))
  if (length(next_one) < 20) {
    return(NULL)
  }
  values <- sort(unique(dy[next_one]))
  fit <- column_fit(wave[next_one + 1], match(dy[next_one], values))
  steps <- replace(rep(NA_real_, max(wave, 1L, na.rm = TRUE)), fit$group, values[fit$best])
  signs <- unique(sign(steps[!steps %in% c(0, NA)]))
  if (fit$errors <= 0.5 * fit$n && length(signs) == 1) {
    c(0, cumsum(steps[-1]))
  }
}

# TRUE for dates, or a number of few values, that differ between the records of a unit. A few of
# these may be there twice.
is_time_of <- function(unit, number, x) {
  at <- which(unit > 0 & is.finite(number))
  (is_time(x) || length(unique(number[at])) <= min(50, length(at) / 5)) &&
    sum(duplicated(complex(real = unit[at], imaginary = number[at]))) <= 0.05 * length(at)
}

# Number of protected values that the record of the unit shows which is nearest in time.
n_by_nearest <- function(column, time, v, least) {
  if (!is.null(v$joined)) v <- v$apart
  if (length(v$rows) == 0) {
    return(0)
  }
  if (!v$missing) {
    back <- values_nearest(column, time, v)
    return(if (is_luck(back, v, least)) 0 else most_right(back, v))
  }
  known <- known_values(v$codes)
  of_known <- values_nearest(column, time, known)
  if (is_luck(of_known, known, least)) {
    return(0)
  }
  round(sum(values_nearest(column, time, v)$asked) * sum(of_known$right) / sum(of_known$asked))
}

values_nearest <- function(column, time, v) {
  at <- which(column$codes > 0 & is.finite(time))
  at <- at[order(column$codes[at], time[at], method = "radix")]
  unit <- column$codes[at]
  n <- length(at)
  known <- v$shown[at] > 0
  before <- function(known) c(0L, cummax(known * seq_len(n)))[seq_len(n)]
  first <- replace(before(known), before(known) == 0, NA)
  second <- n + 1L - rev(before(rev(known)))
  apart <- lapply(list(first, second), function(other) {
    ifelse((unit[other] == unit) %in% TRUE, abs(time[at][other] - time[at]), Inf)
  })
  nearest <- ifelse(apart[[1]] <= apart[[2]], first, second)
  nearest[is.infinite(pmin(apart[[1]], apart[[2]]))] <- NA
  guess <- v$shown[at][nearest][match(v$rows, at)]
  original <- v$codes[v$rows]
  list(
    right = !is.na(guess) & guess == original, asked = !is.na(guess), original = original,
    guess = v$guess[v$rows]
  )
}

# What tells the members of a household apart in each wave, such as the number of the person in it,
# and the number of the household are a unit; the members may be numbered from one without waves.
numbered_units <- function(columns, read, units) {
  few <- names(Filter(function(column) column$n_values %in% 2:30, columns))
  numbers <- Filter(Negate(is.null), lapply(read[few], amount_of))
  from_one <- names(Filter(function(x) min(x, Inf, na.rm = TRUE) == 1, numbers))
  waves <- names(Filter(Negate(is.null), lapply(read[few], number_in)))
  pairs <- expand.grid(unit = units, number = few, stringsAsFactors = FALSE)
  found <- Map(function(unit, number) {
    one <- number %in% from_one && begins_with_one(columns[[unit]]$codes, numbers[[number]])
    if (one || numbers_members(columns, unit, number, setdiff(waves, number))) {
      pair <- pair_column(columns[c(unit, number)])
      if (pair$n_values > 1.2 * columns[[unit]]$n_values) {
        utils::modifyList(columns[[unit]], pair[c("codes", "n_values")])
      }
    }
  }, pairs$unit, pairs$number)
  names(found) <- paste(pairs$unit, pairs$number, sep = " + ")
  Filter(Negate(is.null), found)
}

# Codes such as those of regions begin with 1 in few households.
begins_with_one <- function(unit, x) {
  at <- order(unit, x, method = "radix")
  isTRUE(mean(x[at[!duplicated(unit[at])]] == 1, na.rm = TRUE) >= 0.9)
}

# TRUE if a column tells records of one unit and wave apart, of which there are many, by values that
# come back in the other waves.
numbers_members <- function(columns, unit, number, waves) {
  codes <- columns[[unit]]$codes
  if (columns[[unit]]$n_values < 30) {
    return(FALSE)
  }
  some <- which(codes > 0 & codes %% max(1, length(codes) %/% 2000) == 0)
  n_different <- function(names) {
    length(unique(Reduce(function(key, name) {
      key * (columns[[name]]$n_values + 1) + columns[[name]]$codes[some]
    }, names, 0)))
  }
  n <- length(some)
  n_members <- n_different(c(unit, number))
  for (wave in waves) {
    few <- n_members <= 1.5 * n / columns[[wave]]$n_values
    if (few && n_different(c(unit, wave)) <= 0.8 * n &&
          n_different(c(unit, wave, number)) >= 0.95 * n) {
      return(TRUE)
    }
  }
  FALSE
}

# Numbers, also those in texts such as "2019", "wave 3" or waves "a", "b"; NULL for other texts.
number_in <- function(x) {
  if (is.numeric(x) && !is.factor(x) || is_time(x)) {
    return(amount_of(x))
  }
  if (is.character(x) && length(unique(x)) <= 150) x <- factor(x)
  if (is.factor(x) && nlevels(x) <= 150) {
    if (all(grepl("^[^0-9]*[0-9]+[^0-9]*$", levels(x)))) {
      as.double(gsub("[^0-9]", "", levels(x)))[x]
    } else if (all(tolower(levels(x)) %in% letters)) {
      as.double(match(tolower(levels(x)), letters))[x]
    }
  }
}

# By how much `y` changes with `x` from one record of a unit to the next, and the `share` of the
# changes that are so, if half are, as of ages at interviews in different months; and, `rounded`, of
# whole numbers such as ages by days or months. Records are in the order of the `unit`.
steps_of <- function(unit, x, y) {
  same <- diff(unit) == 0 & unit[-1] > 0
  dx <- diff(x)[same]
  dy <- diff(y)[same]
  known <- is.finite(dx) & is.finite(dy) & dx != 0
  dx <- dx[known]
  dy <- dy[known]
  usual <- stats::median(dy / dx)
  # Few pairs of few categories differ alike by luck.
  if (length(dx) < (if (length(unique(y)) > 20) 10 else 50) || usual == 0) {
    return(list())
  }
  found <- list(list(of = usual, share = mean(is_same(dy, usual * dx)), rounded = FALSE))
  rate <- sum(dy * sign(dx)) / sum(abs(dx))
  nearly <- mean(abs(dy - rate * dx) <= 1) >= 0.95
  if (all(dy == round(dy)) && nearly && found[[1]]$share < 0.99) {
    found[[2]] <- list(of = rate, share = mean(dy == round(rate * dx)), rounded = TRUE)
  }
  # Codes of a few categories differ by one often enough by chance, and few pairs do, too.
  values <- unique(y[is.finite(y)])
  share <- tabulate(match(y, values), length(values)) / sum(is.finite(y))
  apart <- max(1, round(abs(usual * stats::median(abs(dx)))))
  chance <- sum(share * share[match(values + apart, values)], na.rm = TRUE)
  least <- if (length(dx) < 20) 0.9 else min(0.9, max(0.5, 0.4 + 2.5 * chance))
  Filter(function(step) step$share >= least, found)
}

# Number of protected values that the other records of their units give: most of these by the
# numbers that they show, or all by their groups, which only one number fits or the middle one of
# those that do.
n_by_steps <- function(column, x, y, shown, v, step) {
  moved <- step$of * x
  group <- if (is.null(v$joined)) integer(length(y)) else v$joined$group
  if (is.null(shown)) shown <- rep(NA_real_, length(y))
  share <- step$share
  begin <- replace(shown, group > 0, NA) - moved
  from_numbers <- if (step$rounded) {
    # Completed years are half a year too few.
    stats::ave(begin, column$codes, FUN = function(x) mean(x, na.rm = TRUE)) + 0.5
  } else {
    known <- sort(unique(round(begin, 6)))
    codes <- match(round(begin, 6), known, nomatch = 0L)
    # The members of a household begin at different ages.
    if (v$missing) share <- min(share, share_alike(column$codes, codes))
    fit <- column_fit(column$codes, codes)
    known[fit$best[match(column$codes, fit$group)]]
  }
  from_numbers[column$codes == 0] <- NA
  from_numbers[is.nan(from_numbers)] <- NA
  if (v$missing) {
    return(round(sum(is.finite(from_numbers[v$rows])) * share))
  }
  whole <- function(x) if (step$rounded) floor(x) else x
  n_right <- function(guess, least) {
    n <- sum(is_same(guess[v$rows], y[v$rows]), na.rm = TRUE)
    if (n >= max(least * sum(is.finite(guess[v$rows])), 0.05 * length(v$rows))) n else 0
  }
  if (all(group == 0)) {
    return(n_right(whole(from_numbers + moved), 0.3))
  }
  from <- first_by_groups(column$codes, moved, y, group)
  guess <- function(from_groups) {
    guess <- whole(ifelse(is.na(from_numbers), from_groups, from_numbers) + moved)
    ifelse(group > 0, pmin(pmax(guess, from$lowest), from$highest), guess)
  }
  only <- ifelse(is_same(from$low, from$high), from$low, NA)
  middle <- (from$low + from$high + step$rounded) / 2
  if (!step$rounded && all(y == floor(y), na.rm = TRUE)) middle <- floor(middle)
  max(n_right(guess(only), 0.5), n_right(guess(middle), v$joined$guessed + 0.1))
}

# The share of the other known values of a unit that are equal to a known one, 1 if none is known.
share_alike <- function(unit, codes) {
  at <- which(unit > 0 & codes > 0)
  cells <- pair_cells(unit[at], codes[at])
  n_others <- tabulate(unit[at])[cells$first] - 1
  several <- n_others > 0
  equal <- cells$size * (cells$size - 1) / n_others
  if (any(several)) sum(equal[several]) / sum(cells$size[several]) else 1
}

# Per record between which numbers lie those from which all groups of its unit follow, and the
# values of its own group.
first_by_groups <- function(unit, moved, y, group) {
  at <- which(group > 0 & unit > 0 & is.finite(y))
  of_group <- function(f) vapply(split(y[at], group[at]), f, 0)[as.character(group)]
  of_unit <- function(x, f) unname(vapply(split(x[at], unit[at]), f, 0)[as.character(unit)])
  lowest <- unname(of_group(min))
  highest <- unname(of_group(max))
  list(
    low = of_unit(lowest - moved, max), high = of_unit(highest - moved, min),
    lowest = lowest, highest = highest
  )
}
