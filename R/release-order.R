# Protected values that the order of the records reveals. Most files are sorted, by region or
# household: then a suppressed or exchanged value is that of its neighbours. The attack is made
# here, in the order of the file and of every identifier, and compared with a random order.

# One row per protected variable and order that tells its values: `variable`, `by` (the
# column that gives the order, NA for the file itself), `n` protected values, the `share`
# of them that the neighbours tell, and the same by `chance`. `before` and `after` are
# codes in value order by variable, 0 for missing, of the values of `data`; members of a household
# count as one neighbour. `coarse` names variables whose codes after are those of groups of values.
# Values that were missing before may have been suppressed, too.
order_tells <- function(data, before, after, units = NULL, coarse = character()) {
  told <- order_tells_protected(data, before, after, units, coarse)
  others <- setdiff(names(before), told$variable[is.na(told$by)])
  rbind(told, order_tells_missing(lapply(rlang::set_names(others), function(name) {
    list(values = data[[name]], codes = before[[name]])
  }), data, if (length(units$hh_id)) order_codes(data, units$hh_id)[[units$hh_id]]))
}

order_tells_protected <- function(data, before, after, units, coarse) {
  none <- frame(
    variable = character(), by = character(), n = integer(), share = numeric(),
    chance = numeric()
  )
  protected <- Map(function(b, a, name) {
    b > 0L & (name %in% coarse | b != a)
  }, before, after, names(before))
  open <- names(before)[vapply(protected, any, NA)]
  if (length(open) == 0) {
    return(none)
  }
  ids <- identifiers(data, names(before), units$ids)
  orders <- order_codes(data, c(units$hh_id, ids))
  household <- if (length(units$hh_id)) orders[[units$hh_id]]
  rising <- rising_columns(data, open)
  numbers <- varied_numbers(data)
  told <- lapply(c(list(NULL), ids), function(id) {
    codes <- if (!is.null(id)) orders[[id]]
    rows <- if (is.null(id)) seq_along(before[[1]]) else sorted_by(codes)
    unit <- if (!is.null(household)) household else codes
    # A column that depends on a value, such as an income, is not an order.
    margin <- if (is.null(id) || is_sorted(codes)) 0.05 else 0.25
    in_places <- if (is.null(id) && !is.null(household)) order(place_in_run(household))
    found <- lapply(open, function(name) {
      number <- as_number(data[[name]])[rows]
      along <- if (is.null(id)) {
        c(
          lapply(rising, runs_tell, data[[name]], before[[name]], after[[name]],
                 which(protected[[name]]), name %in% coarse),
          next_tells(numbers, name, amount_of(data[[name]]), which(protected[[name]]))
        )
      }
      if (name %in% coarse) {
        return(strongest(c(along, list(coarse_tells(
          before[[name]][rows], after[[name]][rows], unit[rows], number, margin
        )))))
      }
      told <- function(rows, unit, margin) {
        neighbours_tell(
          before[[name]][rows], after[[name]][rows], protected[[name]][rows], unit[rows], margin
        )
      }
      strongest(c(along, list(
        told(rows, unit, margin),
        run_tells(number, after[[name]][rows], which(protected[[name]][rows]), margin),
        # The first of each household may be its head.
        if (length(in_places)) told(in_places, NULL, margin),
        # The best of many distances finds something in every file: it must find more.
        if (is.null(id)) told(by_turns(after[[name]]), NULL, 0.25)
      )))
    })
    tells <- !vapply(found, is.null, NA)
    if (any(tells)) {
      cbind(
        frame(variable = open[tells], by = rep(if (is.null(id)) NA_character_ else id, sum(tells))),
        do.call(rbind, found[tells])
      )
    }
  })
  told <- stack_frames(Filter(length, told))
  if (is.null(told)) none else told
}

# As order_tells(), of missing values whose truth nobody knows: how many runs of them lie between
# values that agree, or are next to each other, and the same in a random order. Households that
# lack a value lie between other households. If all agree, known values decide, those of other
# households, `unit`.
order_tells_missing <- function(columns, data, unit = NULL) {
  columns <- Filter(function(column) min(column$codes, 1L) == 0L, columns)
  rising <- if (length(columns)) rising_columns(data, names(columns))
  numbers <- if (length(columns)) varied_numbers(data)
  told <- lapply(names(columns), function(name) {
    codes <- columns[[name]]$codes
    n <- length(codes)
    first <- seq_len(min(n, 1e5))
    missing <- which(codes == 0L)
    starts <- missing[c(TRUE, diff(missing) > 1L)[seq_along(missing)]]
    ends <- missing[c(diff(missing) > 1L, TRUE)[seq_along(missing)]]
    gaps <- which(starts > 1L & ends < n)
    if (length(gaps) == 0) {
      return(NULL)
    }
    steps <- abs(codes[starts[gaps] - 1L] - codes[ends[gaps] + 1L])
    n_known <- n - length(missing)
    counts <- as.double(tabulate(codes))
    pairs <- n_known * (n_known - 1)
    same <- sum(counts * (counts - 1))
    beside <- same + 2 * sum(counts[-1] * counts[-length(counts)])
    sure <- all(steps == 0) && !is.null(neighbours_tell(codes, codes, codes > 0L, unit, 0.05))
    found <- strongest(c(lapply(
      rising, runs_tell, columns[[name]]$values, codes, codes, missing, FALSE
    ), next_tells(numbers, name, amount_of(columns[[name]]$values), missing), list(
      notable(sum(steps == 0), length(gaps), same / pairs, 0.05, sure),
      notable(sum(steps <= 1), length(gaps), beside / pairs, 0.05, sure),
      run_tells(
        as_number(columns[[name]]$values[first]), codes[first], which(codes[first] > 0L), 0.05
      )
    )))
    if (!is.null(found)) {
      told <- frame(variable = name, by = NA_character_, n = length(missing))
      cbind(told, found[c("share", "chance")])
    }
  })
  stack_frames(Filter(length, told))
}

# The attack by another column of the next record or the last one, such as the end of a spell by the
# beginning of the next: see shift_to().
next_tells <- function(numbers, name, y, at) {
  numbers <- numbers[setdiff(names(numbers), name)]
  if (length(numbers) == 0 || is.null(y) || !is_varied(y)) {
    return(NULL)
  }
  n <- length(y)
  missing <- all(is.na(y[at]))
  unlist(lapply(numbers, function(x) {
    lapply(c(1, -1), function(step) {
      if (length(shift_to(x, y, seq_len(min(n, 10000)), step))) {
        shift <- shift_to(x, y, seq_len(n), step)
        back <- if (length(shift)) {
          values_by_shift(shift, y, seq_len(n), list(rows = at, missing = missing))
        }
        if (length(back)) notable(back, length(at), 1 / length(unique(y)), 0.05)
      }
    })
  }), recursive = FALSE)
}

varied_numbers <- function(data) {
  names <- rlang::set_names(setdiff(names(data), ""))
  numbers <- lapply(names, function(name) amount_of(data[[name]]))
  Filter(function(x) !is.null(x) && is_varied(x), numbers)
}

# Rows of a file in which values take turns, such as man and woman of every couple: those at
# the distance where most values agree are neighbours here.
by_turns <- function(after, longest = 100) {
  n <- length(after)
  some <- utils::head(after, 1e5)
  # Missing values agree with none.
  missing <- some == 0L
  some[missing] <- -seq_len(sum(missing))
  lags <- seq_len(min(longest, length(some) %/% 3))[-1]
  agree <- vapply(lags, function(lag) {
    at <- seq_len(length(some) - lag)
    sum(some[at] == some[at + lag]) / length(at)
  }, 0)
  if (length(lags) == 0) seq_len(n) else order((seq_len(n) - 1L) %% lags[[which.max(agree)]])
}

# Codes of columns in value order, by name.
order_codes <- function(data, names) {
  names <- unique(unlist(names))
  if (length(names)) rlang::set_names(all_codes(list(key_table(data, names)))[[1]], names)
}

# The order by codes. Equal ones are in no order: that of the file is not theirs.
sorted_by <- function(codes) order(codes, (seq_along(codes) * 1327217885) %% 2147483647)

# Columns by which the records can be sorted again: the identifiers by role, `ids`, and what looks
# like one.
identifiers <- function(data, protected, ids) {
  n <- n_records(data)
  open <- setdiff(names(data), c("", protected, names(data)[duplicated(names(data))]))
  is_one <- vapply(open, function(name) {
    x <- data[[name]]
    usable <- !is_candidates(x) && !is.null(column_source(x, n))
    usable && (name %in% ids || sorts_file(x) || may_identify(x) && {
      n_values <- length(unique(as_bare(x)))
      look_of(x, name, n, n_values) %in% c("identifier", "household")
    })
  }, NA)
  as.list(open[is_one])
}

# Numbers and dates, such as a day of interview, that the file is sorted by, and could be again.
sorts_file <- function(x) {
  values <- as_bare(x)
  is.numeric(values) && !is.factor(x) && length(unique(values)) > 20 && isTRUE(is_sorted(values))
}

# A quick look at a thousand values leaves most columns out.
may_identify <- function(x) {
  some <- as_bare(x)[round(seq(1, length(x), length.out = min(length(x), 1000)))]
  whole <- !is.double(x) || inherits(x, "integer64") || all(some == round(some), na.rm = TRUE)
  whole && length(unique(some)) > 0.05 * length(some)
}

# TRUE if the file lies in this order, or in the opposite one, nearly.
is_sorted <- function(codes) {
  steps <- diff(codes)
  length(steps) > 0 && max(mean(steps >= 0), mean(steps <= 0)) > 0.95
}

# The attack on one variable in the order given: the nearest released values before and after
# agree, or they are next to each other among the released values and the value lies between.
# NULL unless this finds notably more than in a random order.
neighbours_tell <- function(before, after, protected, unit, margin) {
  at <- which(protected)
  known <- after > 0L
  values <- after[known]
  # Known records before each record, and in the end all.
  n_before <- c(0L, cumsum(known))
  if (is.null(unit)) {
    starts <- at
    ends <- at + 1L
    apart <- TRUE
  } else {
    n <- length(after)
    first <- c(TRUE, unit[-1] != unit[-n])
    number <- cumsum(first)
    starts <- which(first)
    ends <- c(starts[-1], n + 1L)[number[at]]
    starts <- starts[number[at]]
    number <- number[known]
    apart <- c(TRUE, number[-1] != number[-length(number)])[seq_along(number)]
  }
  beside <- c(NA, values, NA)
  one <- beside[n_before[starts] + 1L]
  other <- beside[n_before[ends] + 2L]
  low <- pmin(one, other)
  high <- pmax(one, other)
  truth <- before[at]
  counts <- tabulate(values, max(before, after))
  levels <- which(counts > 0)
  place <- cumsum(counts > 0)
  close <- place[high] - place[low] <= 1L
  rules <- list(
    list(hits = sum(low == truth & high == truth, na.rm = TRUE), chance = chance_same(counts)),
    list(
      hits = sum(close & low <= truth & truth <= high, na.rm = TRUE),
      chance = chance_between(counts, levels)
    )
  )
  strongest(lapply(rules, function(rule) {
    notable(
      rule$hits, length(at), mean(rule$chance[truth]), margin, in_runs(values[apart])
    )
  }))
}

# The attack on masked numbers: the mean of the released ones around a record is within 5% of the
# one before, more often than its own is and than the mean of all.
numbers_tell <- function(before, after, margin) {
  at <- which(is.finite(before) & is.finite(after))
  changed <- before[at] != after[at]
  if (sum(changed) < 20 || length(unique(before[at][changed])) < 20) {
    return(NULL)
  }
  truth <- before[at]
  shown <- after[at]
  n_near <- function(guess) sum(is_near(guess, truth)[changed])
  sums <- cumsum(c(0, shown))
  n <- length(at)
  hits <- vapply(c(2, 5, 12, 30, 75), function(each_side) {
    from <- pmax(seq_len(n) - each_side, 1)
    to <- pmin(seq_len(n) + each_side, n)
    n_near((sums[to + 1] - sums[from]) / (to - from + 1))
  }, 0)
  chance <- max(n_near(shown), n_near(mean(shown))) / sum(changed)
  notable(max(hits), sum(changed), chance, margin)
}

# What an attack finds if it finds notably more than in a random order, NULL otherwise. `runs`:
# the order is known not to be a random one.
notable <- function(hits, n, chance, margin, runs = FALSE) {
  surprising <- hits >= 3 && stats::pbinom(hits - 1, n, chance, lower.tail = FALSE) < 0.001
  if (hits / n > chance + margin && (surprising || runs)) {
    frame(n = n, share = hits / n, chance = chance)
  }
}

# Of what several attacks find.
strongest <- function(found) {
  found <- do.call(rbind, found)
  if (!is.null(found)) numbered_rows(found, which.max(found$n * (found$share - found$chance)))
}

# The attack on a number that counts the records of a unit, such as the size of a household whose
# members follow each other: the length of a run of equal released values. In a random order a run
# of m values that a share p of the records has surrounds a record with probability
# m p^(m - 1) (1 - p)^2; of values that are shown, runs may be as long in any case.
run_tells <- function(number, after, protected, margin) {
  runs <- rle(after)
  of_run <- rep(runs$lengths, runs$lengths)
  share <- tabulate(after + 1L) / length(after)
  shown <- after[protected] > 0L
  strongest(lapply(Filter(length, list(protected[!shown], protected[shown])), function(at) {
    found <- tabulate(of_run[at]) / length(at)
    counts <- at[number[at] %in% seq_along(found)]
    m <- number[counts]
    p <- share[after[counts] + 1L]
    chance <- sum(m * p^(m - 1) * (1 - p)^2) / length(at)
    if (after[at[[1]]] > 0L) chance <- max(chance, sum(found[m]) / length(at))
    notable(sum(of_run[counts] == m), length(at), chance, margin)
  }))
}

# Columns that rise from record to record and begin anew, as the years of person after person do
# without their number: their numbers `x`, and the `unit` of each record.
rising_columns <- function(data, protected) {
  names <- setdiff(names(data), c("", protected, names(data)[duplicated(names(data))]))
  Filter(Negate(is.null), lapply(rlang::set_names(names), function(name) {
    x <- data[[name]]
    number <- number_in(x)
    # Waves may have names, in the order of their levels or in that in which they come.
    if (is.null(number) && is.factor(x)) number <- as.integer(x)
    if (is.null(number) && is.character(x)) number <- match(x, unique(utils::head(x, 1000)))
    x <- number
    n <- length(x)
    values <- unique(utils::head(x, 1000))
    if (n < 100 || length(values) < 2 || length(values) > 100) {
      return(NULL)
    }
    rises <- diff(x) > 0
    share <- tabulate(match(x, unique(x))) / n
    by_chance <- (1 - sum(share^2)) / 2
    if (isTRUE(mean(rises, na.rm = TRUE) > by_chance + max(0.1, 2 / sqrt(n)))) {
      list(x = x, unit = 1L + c(0L, cumsum(!rises %in% TRUE)))
    }
  }))
}

# The attack on numbers that change along the runs of such a column, such as ages. Of missing ones,
# whose truth nobody knows, those that are given count.
runs_tell <- function(rising, values, before, after, at, coarse) {
  y <- number_in(values)
  if (is.null(y) || length(at) == 0) {
    return(NULL)
  }
  missing <- all(before[at] == 0L)
  of <- before[if (missing) before > 0L else at]
  chance <- max(tabulate(of), 0) / max(length(of), 1)
  v <- list(rows = at, missing = missing)
  if (coarse) v$joined <- list(group = after, guessed = chance)
  shown <- if (!coarse) c(NA, y[match(seq_len(max(before)), before)])[after + 1L]
  column <- list(codes = rising$unit)
  n <- vapply(steps_of(rising$unit, rising$x, y), function(step) {
    n_by_steps(column, rising$x, y, shown, v, step)
  }, 0)
  notable(max(n, 0), length(at), chance, 0.05)
}

# The attack on a recoded variable. Records with the same band that follow each other are laid
# out over the values of the band: in the order of the values, in the opposite one, or in that
# in which they come on average (an intruder may know by what the file was sorted). Bands of
# more than 20 values count by twentieths. Suppressed values are those of their neighbours, up
# to the band. NULL unless this finds notably more than in a random order.
coarse_tells <- function(before, after, unit, number, margin) {
  fit <- column_fit(before, after)
  bands <- replace(integer(max(before, 0L)), fit$group, fit$best)
  truth <- c(0L, bands)[before + 1L]
  hidden <- truth > 0L & after == 0L
  joined <- truth %in% which(tabulate(bands) > 1)
  strongest(c(
    if (any(hidden)) list(neighbours_tell(truth, after, hidden, unit, margin)),
    list(run_tells(number, after, which(hidden | joined), margin)),
    lapply(band_layouts(before, after), function(layout) {
      notable(sum(layout$right), length(layout$right), mean(layout$chance), margin)
    })
  ))
}

# For each of three orders of the values: whether the layout is right, record by record, and
# the share of records of the band for which the same guess is right.
band_layouts <- function(before, after) {
  at <- which(before > 0L & after > 0L)
  band <- after[at]
  n <- length(at)
  size <- tabulate(band)[band]
  by_value <- order(band, before[at], method = "radix")
  first <- match(band, band[by_value])
  # Equal values have the same place.
  value <- match(before[at], before[at][by_value])
  n_values <- tabulate(band[!duplicated(value)], max(band, 0L))[band]
  value <- ifelse(n_values > 20, ceiling(20 * (value - first + 1) / size), value)
  pair <- band * (n + 1) + value
  pair <- match(pair, unique(pair))
  share <- tabulate(pair)[pair] / size
  several <- n_values > 1
  if (!any(several)) {
    return(NULL)
  }
  run <- cumsum(c(TRUE, band[-1] != band[-n]))
  within <- (seq_len(n) - match(run, run) + 0.5) / tabulate(run)[run]
  rank <- ceiling(within * size)
  layout <- function(by, rank) {
    guess <- pair[by][first + rank - 1]
    list(
      right = (guess == pair)[several],
      chance = (share[match(guess, pair)])[several]
    )
  }
  counts <- tabulate(pair)
  places <- cumsum(as.double(order(pair, method = "radix")))
  mean_place <- (diff(c(0, places[cumsum(counts)])) / counts)[pair]
  c(
    list(layout(by_value, rank), layout(by_value, size + 1 - rank)),
    if (in_runs(pair)) list(layout(order(band, mean_place, pair), rank))
  )
}

# The probability, by value, that two records drawn from the released ones both have it.
chance_same <- function(counts) {
  n <- sum(counts)
  counts * (counts - 1) / max(n * (n - 1), 1)
}

# Chance that a value lies between those of its two neighbours.
chance_between <- function(counts, levels) {
  n <- sum(counts)
  c <- as.double(c(0, counts[levels], 0))
  at <- findInterval(seq_along(counts), levels) + 1L
  here <- counts > 0
  pairs <- 2 * c[at] * c[pmin(at + 1L, length(c))]
  own <- c[at] * (c[at] - 1) + 2 * c[at] * c[pmax(at - 1L, 1L)]
  (pairs + ifelse(here, own, 0)) / max(n * (n - 1), 1)
}

# TRUE if values come in fewer runs than in nearly all random orders: the runs of a
# permutation have this mean and this variance (Barton and David 1957).
in_runs <- function(x) {
  n <- as.double(length(x))
  if (n < 3) {
    return(FALSE)
  }
  counts <- as.double(tabulate(x))
  two <- sum(counts^2)
  mean <- (n * (n + 1) - two) / n
  variance <- (two * (two + n * (n + 1)) - 2 * n * sum(counts^3) - n^3) / (n^2 * (n - 1))
  runs <- 1 + sum(diff(x) != 0L)
  variance > 0 && (mean - runs) / sqrt(variance) > 4
}

# Place of each value among the equal ones that follow each other.
place_in_run <- function(x) {
  run <- cumsum(c(TRUE, diff(x) != 0L)[seq_along(x)])
  seq_along(run) - match(run, run) + 1L
}

# Codes of some columns before and after, where a column may have lost values and no more.
blanked_codes <- function(codes, rows) {
  for (name in names(rows)) codes[[name]][rows[[name]]] <- 0L
  codes
}

# The released columns. Levels in the order in which their values first appear are sorted, if the
# first record of one is protected.
with_sorted_levels <- function(released, before) {
  if (!is.data.frame(before) || !is.data.frame(released)) {
    return(released)
  }
  for (name in intersect(names(released), names(before))) {
    x <- released[[name]]
    if (levels_tell(before[[name]], x)) {
      sorted <- sorted_values(levels(x))
      codes <- match(levels(x), sorted)[as.integer(x)]
      attributes(codes) <- replace(attributes(x), "levels", list(sorted))
      released[[name]] <- codes
    }
  }
  released
}

levels_tell <- function(before, after) {
  if (!is.factor(after) || is.ordered(after) || !is.factor(before) || identical(before, after)) {
    return(FALSE)
  }
  seen <- unique(as.integer(before)[!is.na(before)])
  first <- match(seen, as.integer(before))
  protected <- !mapply(identical, as.character(after)[first], levels(before)[seen])
  # Three are in this order by chance. Of many one may have been moved, as relevel() does.
  against <- min(sum(diff(seen) < 0), sum(diff(seen) > 0))
  in_order <- against <= if (length(seen) >= 10) 2 else 0
  length(seen) > 3 && in_order && any(protected) && is.unsorted(value_rank(levels(after)))
}

shuffle_advice <- paste(
  "release_data() puts the records in a secret order; x$data keeps theirs.",
  "release_data(x, shuffle = FALSE) releases them as they are."
)

# The message of a remedy. `way` says how the records come into another order.
inform_order <- function(told, way) {
  if (is.null(told) || nrow(told) == 0) {
    return(invisible())
  }
  ids <- unique(told$by[!is.na(told$by)])
  # A column in whose order the file lies says the same again.
  worst <- if (anyNA(told$by)) told[is.na(told$by), ] else told
  worst <- worst[order(-worst$share), ]
  inform_sdc(
    "told_by_order",
    c(
      "The order of the records reveals protected values.",
      rlang::set_names(order_words(utils::head(worst, 3)), "x"),
      x = if (nrow(worst) > 3) paste0("And ", nrow(worst) - 3, " more in the diagnostics."),
      i = if (anyNA(told$by)) way,
      i = id_advice(ids)
    ),
    told = told
  )
}

order_words <- function(told) {
  paste0(
    ifelse(is.na(told$by), "", paste0("In the order of `", told$by, "`, ")),
    "`", told$variable, "`: ", format_percent(told$share), " of ",
    plural(told$n, "protected value"), " come back (by chance ", format_percent(told$chance), ")."
  )
}

id_advice <- function(ids) {
  if (length(ids)) {
    paste0(
      "Sorted by ", paste0("`", ids, "`", collapse = " or "), ", the records are in that order ",
      "again: leave it out of the file, or renumber it by release_data(x, new_ids = ",
      code_text(ids), ")."
    )
  }
}

# The line of a print or a report, NULL where the order tells nothing.
order_line <- function(x) {
  told <- x$diagnostics$told_by_order
  if (NROW(told) == 0) told <- x$diagnostics$order_until_release
  if (NROW(told) == 0) {
    return(NULL)
  }
  # Of shares that a report withholds nobody knows how small they are.
  worst <- told[order(!is.na(told$share), told$chance - told$share)[[1]], ]
  paste0(
    "The order reveals ", worst$variable, if (!is.na(worst$share)) {
      paste0(" (", format_percent(worst$share), ", by chance ", format_percent(worst$chance), ")")
    }, ": ",
    if (!anyNA(told$by)) {
      paste("renumber", paste(unique(told$by), collapse = ", "))
    } else if (inherits(x, "sdc_file_check") && length(x$diagnostics$history) == 0) {
      "shuffle the records"
    } else {
      "release_data() shuffles"
    }, "."
  )
}

# An order of n records that nobody can compute again, drawn with a key of the operating system.
secret_order <- function(n) unwrap(rs_secret_order(seq_len(n) - 1L))

# The same order with the records of each value of `id` together.
together <- function(order, id) {
  id <- as_bare(id)[order]
  order[order(match(id, unique(id)))]
}
