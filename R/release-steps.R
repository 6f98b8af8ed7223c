# Numbers of a unit's records that change by as much as another column does, such as the ages of a
# person by the years of the waves: one record that shows its age tells that of all.

# By an identifier and a number: how many of the `protected` values of each variable of the original
# `data` come back.
told_by_steps <- function(columns, read, data, released, protected, told) {
  n <- length(columns[[1]]$codes)
  # Most values of an income have one record, most persons of a panel several.
  is_unit <- function(column) {
    column$n_values < n / 1.2 && (
      column$id || column$n_values > n / 50 && stats::median(tabulate(column$codes)) > 1
    )
  }
  units <- setdiff(names(Filter(is_unit, columns)), names(Filter(is_time, read)))
  # What nothing protects is there to be seen.
  open <- !protected[[1]]$compared && !protected[[1]]$missing
  if (n < 100 || length(units) == 0 || open) {
    return(NULL)
  }
  numbers <- function(columns) Filter(Negate(is.null), lapply(columns, number_in))
  amounts <- numbers(as.list(data)[names(protected)])
  others <- read[setdiff(names(columns), units)]
  # Ages in years do not change by as much as days or months.
  steps <- c(numbers(others), Filter(Negate(is.null), lapply(others, years_of)))
  pairs <- expand.grid(unit = units, at = seq_along(steps), stringsAsFactors = FALSE)
  pairs$by <- names(steps)[pairs$at]
  found <- Map(function(unit, by, number) {
    open <- open_to_pair(c(unit, by), told, protected[names(amounts)])
    column <- columns[[unit]]
    at <- sampled_rows(replace(column, "n_values", n))
    at <- at[order(column$codes[at])]
    back <- lapply(rlang::set_names(open), function(variable) {
      step <- step_of(column$codes[at], number[at], amounts[[variable]][at])
      if (length(step)) {
        moved <- step$of * number
        shown <- number_in(released[[variable]])
        n_by_steps(column, moved, amounts[[variable]], shown, protected[[variable]], step$share)
      }
    })
    without_alone(not_few(c(unlist(back), numeric()), protected), c(unit, by), told)
  }, pairs$unit, pairs$by, steps[pairs$at])
  names(found) <- paste(pairs$unit, pairs$by, sep = " + ")
  lapply(split(found[lengths(found) > 0], names(found)[lengths(found) > 0]), best_of)
}

# Numbers, also those in texts such as "2019" or "wave 3"; NULL for other texts.
number_in <- function(x) {
  if (is.numeric(x) && !is.factor(x) || is_time(x)) {
    return(amount_of(x))
  }
  if (is.character(x) && length(unique(x)) <= 150) x <- factor(x)
  if (is.factor(x) && nlevels(x) <= 150 && all(grepl("^[^0-9]*[0-9]+[^0-9]*$", levels(x)))) {
    as.double(gsub("[^0-9]", "", levels(x)))[x]
  }
}

# By how much `y` changes with `x` from one record of a unit to the next, and the `share` of the
# changes that are so; NULL if half are not, as of ages at interviews in different months. Records
# are in the order of the `unit`.
step_of <- function(unit, x, y) {
  same <- diff(unit) == 0 & unit[-1] > 0
  dx <- diff(x)[same]
  ratio <- (diff(y)[same] / dx)[dx != 0]
  ratio <- ratio[is.finite(ratio)]
  of <- stats::median(ratio)
  share <- mean(is_same(ratio, of))
  if (length(ratio) >= 50 && of != 0 && share >= 0.5) list(of = of, share = share)
}

# Number of protected values that the other records of their units give: most of these by the
# numbers that they show, or all by their groups, which only one number fits or the middle one of
# those that do.
n_by_steps <- function(column, moved, y, shown, v, share) {
  group <- if (is.null(v$joined)) integer(length(y)) else v$joined$group
  if (is.null(shown)) shown <- rep(NA_real_, length(y))
  begin <- replace(shown, group > 0, NA) - moved
  known <- sort(unique(round(begin, 6)))
  fit <- column_fit(column$codes, match(round(begin, 6), known, nomatch = 0L))
  from_numbers <- known[fit$best[match(column$codes, fit$group)]]
  if (v$missing) {
    return(round(sum(is.finite(from_numbers[v$rows])) * share))
  }
  n_right <- function(guess, least) {
    n <- sum(is_same(guess[v$rows], y[v$rows]), na.rm = TRUE)
    if (n >= max(least * sum(is.finite(guess[v$rows])), 0.05 * length(v$rows))) n else 0
  }
  if (all(group == 0)) {
    return(n_right(from_numbers + moved, 0.5))
  }
  from <- first_by_groups(column$codes, moved, y, group)
  guess <- function(from_groups) {
    guess <- ifelse(is.na(from_numbers), from_groups, from_numbers) + moved
    ifelse(group > 0, pmin(pmax(guess, from$lowest), from$highest), guess)
  }
  only <- ifelse(is_same(from$low, from$high), from$low, NA)
  middle <- (from$low + from$high) / 2
  if (all(y == floor(y), na.rm = TRUE)) middle <- floor(middle)
  max(n_right(guess(only), 0.5), n_right(guess(middle), (1 + v$joined$guessed) / 2))
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
