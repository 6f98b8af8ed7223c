# Numbers of a unit's records that change by as much as another column does, such as the ages of a
# person by the years of the waves: one record that shows its age tells that of all.

# By an identifier and a number: how many of the `protected` values of each variable of the original
# `data` come back, but for pairs that are named already: `named`.
told_by_steps <- function(columns, read, data, released, protected, told, named) {
  n <- length(columns[[1]]$codes)
  # What nothing protects is there to be seen.
  if (n < 100 || !protected[[1]]$compared && !protected[[1]]$missing) {
    return(NULL)
  }
  # Most values of an income have one record, many persons of a panel several.
  is_unit <- function(column) {
    counts <- tabulate(column$codes)
    column$n_values < n / 1.2 && (
      column$id || column$n_values > n / 50 && sum(counts[counts > 1]) > n / 2
    )
  }
  units <- setdiff(names(Filter(is_unit, columns)), names(Filter(is_time, read)))
  if (length(units) == 0) {
    return(NULL)
  }
  columns <- c(columns, numbered_units(columns, read, units))
  units <- c(units, setdiff(names(columns), names(read)))
  numbers <- function(columns) Filter(Negate(is.null), lapply(columns, number_in))
  amounts <- numbers(as.list(data)[names(protected)])
  # Ages in years do not change by as much as days or months.
  steps <- c(numbers(read), Filter(Negate(is.null), lapply(read, years_of)))
  pairs <- expand.grid(unit = units, at = seq_along(steps), stringsAsFactors = FALSE)
  pairs$by <- names(steps)[pairs$at]
  parts <- strsplit(pairs$unit, " + ", fixed = TRUE)
  first <- vapply(parts, `[[`, "", 1)
  again <- paste(first, pairs$by, sep = " + ") %in% named |
    paste(pairs$by, first, sep = " + ") %in% named
  pairs <- pairs[!(again | as.logical(Map(`%in%`, pairs$by, parts))), ]
  in_order <- lapply(columns[units], function(column) {
    at <- sampled_rows(replace(column, "n_values", n), 4000)
    at[order(column$codes[at], method = "radix")]
  })
  found <- Map(function(unit, by, number) {
    pair <- c(strsplit(unit, " + ", fixed = TRUE)[[1]], by)
    open <- open_to_pair(pair, told, protected[names(amounts)])
    column <- columns[[unit]]
    at <- in_order[[unit]]
    back <- lapply(rlang::set_names(open), function(variable) {
      steps <- steps_of(column$codes[at], number[at], amounts[[variable]][at])
      n <- vapply(steps, function(step) {
        shown <- number_in(released[[variable]])
        n_by_steps(column, number, amounts[[variable]], shown, protected[[variable]], step)
      }, 0)
      if (length(n)) max(n)
    })
    without_alone(not_few(c(unlist(back), numeric()), protected), pair, told)
  }, pairs$unit, pairs$by, steps[pairs$at])
  names(found) <- paste(pairs$unit, pairs$by, sep = " + ")
  lapply(split(found[lengths(found) > 0], names(found)[lengths(found) > 0]), best_of)
}

# A number of the person within the household and that of the household are a unit.
numbered_units <- function(columns, read, units) {
  few <- vapply(columns, function(column) column$n_values %in% 2:30, NA)
  numbers <- Filter(Negate(is.null), lapply(read[names(columns)[few]], amount_of))
  from_one <- vapply(numbers, function(x) min(x, Inf, na.rm = TRUE) == 1, NA)
  pairs <- expand.grid(
    unit = units, number = names(numbers)[from_one], stringsAsFactors = FALSE
  )
  found <- Map(function(unit, number) {
    codes <- columns[[unit]]$codes
    at <- order(codes, numbers[[number]], method = "radix")
    first <- at[!duplicated(codes[at])]
    # Codes such as those of regions begin with 1 in few households.
    if (isTRUE(mean(numbers[[number]][first] == 1, na.rm = TRUE) >= 0.9)) {
      pair <- pair_column(columns[c(unit, number)])
      if (pair$n_values > 1.2 * columns[[unit]]$n_values) {
        utils::modifyList(columns[[unit]], pair[c("codes", "n_values")])
      }
    }
  }, pairs$unit, pairs$number)
  names(found) <- paste(pairs$unit, pairs$number, sep = " + ")
  Filter(Negate(is.null), found)
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
  if (length(dx) < 50 || usual == 0) {
    return(list())
  }
  found <- list(list(of = usual, share = mean(is_same(dy, usual * dx)), rounded = FALSE))
  rate <- sum(dy * sign(dx)) / sum(abs(dx))
  nearly <- mean(abs(dy - rate * dx) <= 1) >= 0.95
  if (all(dy == round(dy)) && nearly && found[[1]]$share < 0.99) {
    found[[2]] <- list(of = rate, share = mean(dy == round(rate * dx)), rounded = TRUE)
  }
  # Codes of a few categories differ by one often enough.
  least <- if (length(unique(y)) > 20) 0.5 else 0.9
  Filter(function(step) step$share >= least, found)
}

# Number of protected values that the other records of their units give: most of these by the
# numbers that they show, or all by their groups, which only one number fits or the middle one of
# those that do.
n_by_steps <- function(column, x, y, shown, v, step) {
  moved <- step$of * x
  group <- if (is.null(v$joined)) integer(length(y)) else v$joined$group
  if (is.null(shown)) shown <- rep(NA_real_, length(y))
  begin <- replace(shown, group > 0, NA) - moved
  from_numbers <- if (step$rounded) {
    # Completed years are half a year too few.
    stats::ave(begin, column$codes, FUN = function(x) mean(x, na.rm = TRUE)) + 0.5
  } else {
    known <- sort(unique(round(begin, 6)))
    fit <- column_fit(column$codes, match(round(begin, 6), known, nomatch = 0L))
    known[fit$best[match(column$codes, fit$group)]]
  }
  from_numbers[column$codes == 0] <- NA
  from_numbers[is.nan(from_numbers)] <- NA
  if (v$missing) {
    return(round(sum(is.finite(from_numbers[v$rows])) * step$share))
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
