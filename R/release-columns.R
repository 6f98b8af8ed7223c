# Released columns that tell what a remedy protects.
#
# A value is protected if the release does not show it: it was suppressed, exchanged or
# recoded. Another column tells it if the original value is a function of that column.

# One row per protected variable and released column, or pair of columns, that tells it.
# `data` are the original records and `released` those of the release; `released = NULL`
# asks of a file that has no remedy yet which of the other columns tell `variables`, and if
# `missing`, which tell or narrow their missing values: what is known of the others gives the
# function. With `ties` equal values of a column count even if it gives no function.
# `ids` names columns that identify persons or households, `coded` has the codes of columns
# that are known by name.
told_by_columns <- function(data, released, variables, ids = NULL, coded = NULL, pairs = TRUE,
                            missing = FALSE, ties = FALSE) {
  none <- frame(
    variable = character(), by = character(), share = double(), n = integer(),
    identifier = logical(), part = logical(), finer = logical(), n_renumbered = integer()
  )
  before <- is.null(released)
  if (before) released <- data
  n <- nrow(data)
  # Patterns hold no other columns: nothing is known of those.
  if (!is.null(times_of(data))) {
    return(NULL)
  }
  changed <- Filter(function(name) {
    before || !identical(data[[name]], released[[name]])
  }, rlang::set_names(variables))
  others <- names(released)[!duplicated(names(released)) & nzchar(names(released))]
  # A missing value of a key variable can follow from another one.
  if (before && !missing) others <- setdiff(others, variables)
  if (length(changed) == 0 || length(others) == 0) {
    return(none)
  }
  asked <- list(before = before, missing = missing, ties = ties)
  parts <- protected_and_columns(data, released, changed, others, asked, coded, ids)
  if (is.null(parts)) {
    return(none)
  }
  protected <- parts$protected
  columns <- parts$columns
  # Every column and variable is a chance to find a function where there is none.
  least <- -7 - log(max(1, length(protected)) * 2 * length(columns))
  tells <- function(name, column = columns[name]) {
    open <- protected[setdiff(names(protected), name)]
    # Key variables are associated: of each other they tell what follows.
    if (name %in% variables) open <- lapply(open, replace, "ties", FALSE)
    tells_in_any_form(column, if (!name %in% variables) parts$read[[name]], open, least)
  }
  told <- lapply(rlang::set_names(names(columns)), tells)
  narrowed <- if (!before || missing) {
    narrowed_by_columns(columns, protected, if (!missing) told, variables, least)
  } else {
    narrowed_by_finer(columns, protected, told, least)
  }
  told <- named_once(told, narrowed, missing)
  n_values <- vapply(columns, function(column) max(0L, column$codes), 0L)
  if (pairs) {
    among <- if (before && !missing) setdiff(names(columns), variables) else names(columns)
    amounts <- lapply(as.list(data)[names(protected)], amount_of)
    of_numbers <- told_by_numbers(columns[among], parts$read[among], amounts, protected, told, n)
    told <- c(told, Filter(length, lapply(of_numbers, `[[`, "told")))
    told <- c(told, told_by_pairs(columns[among], protected, told, n))
    narrowed <- c(narrowed, Filter(length, lapply(of_numbers, `[[`, "narrowed")))
    n_values <- c(n_values, vapply(of_numbers, `[[`, 0L, "n_values"))
    told <- c(told, told_by_sums(columns[among], parts$read[among], amounts, protected, told, n))
  }
  rows <- do.call(rbind, c(list(none), told_rows(c(told, narrowed), rep(
    c(FALSE, TRUE), c(length(told), length(narrowed))
  ), columns, n_values, protected, variables)))
  if (!before) {
    # Key variables are associated: a few values of one follow from another by chance.
    by_keys <- rows$by %in% told_among(rows, variables)$by
    rows <- rows[!by_keys | rows$share >= 0.5, ]
    rows <- count_renumbered(rows, columns, tells)
  }
  rows <- rows[order(match(rows$variable, variables), rows$part, -rows$share), ]
  rownames(rows) <- NULL
  rows
}

# The protected values of the variables and the released columns, coded in one go; NULL if there is
# nothing to compare.
protected_and_columns <- function(data, released, changed, others, asked, coded, ids) {
  n <- nrow(data)
  originals <- lapply(changed, function(name) {
    protected_source(data[[name]], if (!asked$before) released[[name]])
  })
  read <- lapply(rlang::set_names(others), function(name) dates_of_text(released[[name]]))
  columns <- lapply(read, column_source, n)
  known <- function(sources) sources[!vapply(sources, is.null, NA)]
  originals <- known(originals)
  columns <- known(columns)
  if (length(originals) == 0 || length(columns) == 0) {
    return(NULL)
  }
  same <- asked$before && all(names(columns) %in% names(coded)) &&
    identical(read[names(columns)], as.list(data)[names(columns)])
  codes <- if (same) {
    unname(coded[c(names(originals), names(columns))])
  } else {
    source_codes(c(unname(originals), unname(columns)))
  }
  released <- rlang::set_names(codes[length(originals) + seq_along(columns)], names(columns))
  protected <- Map(function(coded, name) {
    protected_values(coded$codes, n, asked, released[[name]]$codes)
  }, codes[seq_along(originals)], names(originals))
  names(protected) <- names(originals)
  protected <- protected[vapply(protected, function(v) length(v$rows) > 0, NA)]
  columns <- Map(function(name, coded) {
    column <- column_that_tells(read[[name]], name, coded, ids)
    column$codes[protected[[name]]$exchanged] <- 0L
    column
  }, names(columns), released)
  list(protected = protected, columns = columns, read = read)
}

# A column that narrows far more protected values than it reveals is named for these.
named_once <- function(told, narrowed, missing) {
  if (!missing) {
    told[names(narrowed)] <- Map(function(told, narrowed) {
      told[!names(told) %in% names(narrowed)]
    }, told[names(narrowed)], narrowed)
  }
  told
}

# What a column tells as it is and, if its `values` are given, in other forms.
tells_in_any_form <- function(column, values, protected, least) {
  found <- tells_of(column[[1]], protected, least)
  if (is.null(values)) {
    return(found)
  }
  made <- made_of_column(values, column[[1]])
  found <- best_of(c(
    list(found), lapply(made, tells_of, protected, least),
    lapply(c(column, made), tells_categories, protected, least)
  ))
  # What tells some values for certain tells others with exceptions.
  with_exceptions <- vapply(names(found), function(name) {
    v <- known_to_anyone(protected[[name]], column[[1]])
    if (v$compared) as.double(more_than_guessed(values_shown(column[[1]], v), v)) else 0
  }, 0)
  pmax(found, with_exceptions)
}

# The table of what was found, by column, or by pair, of so many values; `part`: that which narrows
# values alone.
told_rows <- function(told, part, columns, n_values, protected, variables) {
  identifiers <- names(columns)[vapply(columns, `[[`, NA, "identifier")]
  identifiers <- setdiff(identifiers, variables)
  rows <- Map(function(found, by, part) {
    share <- unname(found / lengths(lapply(protected[names(found)], `[[`, "rows")))
    # An intruder knows an age with exceptions, but hardly the number of a household.
    nearly <- if (isTRUE(columns[[by]]$id)) 0.99 else 0.9
    more <- n_values[by] > vapply(protected[names(found)], function(v) max(v$codes), 0L)
    frame(
      variable = names(found), by = rep(by, length(found)), share = share,
      n = as_count(unname(found)), identifier = rep(by %in% identifiers, length(found)),
      part = rep(part, length(found)), finer = share >= nearly & more %in% TRUE,
      n_renumbered = as_count(unname(found))
    )
  }, told, names(told), part)
  unname(rows[vapply(rows, nrow, 1L) > 0])
}

# The original values, and below them the released ones if they can be compared.
protected_source <- function(original, released) {
  # 3 and 3L are the same number.
  if (is_mixed(original, released)) {
    original <- as.double(original)
    released <- as.double(released)
  } else if (is.character(original) && is.factor(released)) {
    released <- as.character(released)
  }
  source <- column_source(original, length(original))
  after <- if (!is.null(released)) column_source(released, length(original))
  comparable <- !is.null(source) && !is.null(after) &&
    identical(source[c("kind", "scale")], after[c("kind", "scale")])
  if (comparable) stack_sources(list(source, after), "x") else source
}

is_mixed <- function(a, b) {
  !is.object(a) && !is.object(b) && is.numeric(a) && is.numeric(b) && typeof(a) != typeof(b)
}

# Codes of the original values, `shown` those of the released ones, both 0 if unknown, and
# the rows whose original value is not shown; of a file without a release (`before`) all, or
# those that may have been suppressed, its `missing` values.
protected_values <- function(codes, n, asked, released) {
  original <- codes[seq_len(n)]
  if (asked$before) {
    return(list(
      codes = original, shown = original, compared = FALSE, missing = asked$missing,
      ties = asked$ties, rows = which((original == 0) == asked$missing)
    ))
  }
  comparable <- length(codes) > n
  shown <- if (comparable) codes[n + seq_len(n)] else integer(n)
  differs <- which(shown > 0 & shown != original)
  new <- !shown[differs] %in% original
  v <- list(
    codes = original, shown = shown, compared = TRUE, missing = FALSE,
    # Values of others; a recoding has new ones.
    exchanged = if (!any(new)) differs, rows = which(original > 0 & shown != original)
  )
  group <- if (comparable) replace(integer(n), differs[new], shown[differs[new]]) else released
  group <- joined_groups(original, group)
  if (is.null(group)) {
    return(v)
  }
  # A group is not one of its values, but reveals its value if it has only one.
  v$shown[group > 0] <- 0L
  if (!comparable) v$rows <- v$rows[group[v$rows] > 0 | released[v$rows] == 0]
  v$apart <- replace(v, "rows", list(v$rows[group[v$rows] == 0]))
  v$joined <- joined_values(v, group)
  v
}

# For each record the group of several values that it shows, 0 if none; NULL if values were not
# recoded: each has one group, and a group many records.
joined_groups <- function(original, group) {
  rows <- which(original > 0 & group > 0)
  one_each <- group[rows] == group[rows][match(original[rows], original[rows])]
  several <- unique(group[rows][original[rows] != original[rows][match(group[rows], group[rows])]])
  if (all(one_each) && length(several) > 0 && length(rows) >= 10 * sum(tabulate(group[rows]) > 0)) {
    replace(group, !group %in% several, 0L)
  }
}

# The values that were joined. An intruder who sees the group guesses its commonest value.
joined_values <- function(v, group) {
  rows <- which(group > 0 & v$codes > 0)
  fit <- column_fit(group[rows], v$codes[rows])
  guess <- replace(integer(length(group)), rows, fit$best[match(group[rows], fit$group)])
  codes <- replace(integer(length(group)), rows, v$codes[rows])
  list(
    codes = codes, shown = integer(length(group)), compared = TRUE, missing = FALSE, rows = rows,
    group = group, guess = guess, guessed = mean(guess[rows] == codes[rows])
  )
}

# A column and the group that a record shows, as one.
within_groups <- function(column, group) {
  at <- which(column$codes > 0L & group > 0L)
  codes <- (group[at] - 1) * column$n_values + column$codes[at]
  most <- max(group) * as.double(column$n_values)
  codes <- if (most <= 4 * length(group)) {
    cumsum(tabulate(codes, most) > 0)[codes]
  } else {
    match(codes, sort(unique(codes)))
  }
  column$codes <- replace(integer(length(group)), at, codes)
  column$n_values <- max(codes, 0L)
  column
}

source_codes <- function(sources) {
  requests <- lapply(sources, function(source) {
    coding_request(list(source), "x", 1L, fingerprint = FALSE)
  })
  names(requests) <- seq_along(requests)
  tables <- lapply(code_requests(requests), `[[`, 1)
  on.exit(release(tables))
  Map(function(codes, table) {
    list(codes = codes[[1]], n_values = table$n_values)
  }, all_codes(tables), unname(tables))
}

# A released column as codes in the order of its values. Anyone may know how a code or a
# year maps to another variable (`known`); the number of a household, a weight or an income
# tells only what other released records with the same value show.
column_that_tells <- function(x, name, column, ids = NULL) {
  n_known <- sum(column$codes > 0)
  looks <- look_of(x, name, n_known, column$n_values)
  # A date or a time can be different in every record and still mean something.
  column$identifier <- name %in% ids || looks == "identifier" && !is_time(x)
  column$id <- column$identifier || looks == "household"
  code <- !is.numeric(x) || is.factor(x) || is_whole_column(x) && (
    n_known >= column$n_values * 12 || n_known >= column$n_values * 4 && is_short_range(x)
  )
  column$known <- code && !column$id && looks != "weight"
  column
}

# Years and ages of people are known in a file of some hundred, too.
is_short_range <- function(x) {
  x <- as.double(column_values(x))
  any(!is.na(x)) && diff(range(x, na.rm = TRUE)) <= 130
}

# What a column reveals with new numbers in a secret order: neither its values nor their order mean
# anything.
count_renumbered <- function(rows, columns, tells) {
  for (name in intersect(rows$by[!rows$part], names(columns))) {
    column <- columns[[name]]
    column[c("known", "in_order")] <- FALSE
    mine <- rows$by == name & !rows$part
    again <- tells(name, list(column))[rows$variable[mine]]
    rows$n_renumbered[mine] <- as_count(unname(replace(again, is.na(again), 0)))
  }
  rows
}

# Number of protected values of each variable that a column reveals; variables of which it is not
# nearly a function are left out. Where it has exceptions, other records with its value count: those
# born in a year are nearly all of two ages, those that agree in a household's weight live together.
tells_of <- function(column, protected, least) {
  told <- vapply(protected, function(v) {
    if (is.null(v$joined)) {
      return(told_value(v, column, least))
    }
    joined <- told_value(v$joined, within_groups(column, v$joined$group), least)
    joined + if (length(v$apart$rows)) told_value(v$apart, column, least) else 0
  }, 0)
  told[told > 0]
}

# What is looked at a second time, or not at all, is computed when it is.
told_value <- function(v, column, least, at = sampled_rows(column), near = fit_by(column, v, at),
                       back = values_shown(column, known_to_anyone(v, column)),
                       count = told_by_others(column, v, least, at, near, back)) {
  if (!may_tell(near)) {
    return(count)
  }
  fit <- fit_by(column, v, seq_along(v$codes))
  of_values <- is_function(fit, least)
  of_order <- !isFALSE(column$in_order) && is_in_order(fit, least)
  as.double(if (column$known && of_values) {
    values_known(fit, column, v)
  } else if (!column$id && of_order) {
    values_known(fit, column, v, in_order = TRUE)
  } else {
    max(
      count, if (of_values) most_right(back, v),
      if (of_order) most_right(values_between(column, v), v)
    )
  })
}

# Number of protected values that most other records with an equal value of the column have, or
# those next to it in the order of a column of many values. The original values of others count for
# a column that anyone knows, such as a year of birth; else those that are released. What comes back
# of a sample of known values counts, too: it is all that a written file shows. `back`: what comes
# back by equal values, see values_shown().
told_by_others <- function(column, v, least, at, fit, back) {
  # What nothing protects is told by columns that nearly are functions, and few of whose values have
  # one record.
  open <- !v$compared && !v$missing
  if (open && (fit$errors > 0.1 * fit$n || !column$known && are_mostly_alone(column, v))) {
    return(0)
  }
  v <- known_to_anyone(v, column)
  told <- shown_by(values_shown, column, v, least, at, back)
  if (open) {
    return(if (told < 0.9 * length(v$rows)) 0 else told)
  }
  if (has_places(column, at)) max(told, shown_by(values_near, column, v, least, at)) else told
}

are_mostly_alone <- function(column, v) {
  2 * (sum(column$codes > 0) - column$n_values) < 0.9 * length(v$rows)
}

known_to_anyone <- function(v, column) {
  if (v$compared && column$known) replace(v, "shown", v["codes"]) else v
}

shown_by <- function(shown, column, v, least, at, back = shown(column, v)) {
  # Of two groups each has a commonest value.
  most <- if (isTRUE(column$yes_no)) 0.8 else 0.5
  sample <- list(codes = column$codes[at])
  if (v$compared && may_show(sample, v, at, shown)) {
    told <- if (is_luck(back, v, least)) 0 else most_right(back, v, most)
    # Few of many can be those that a suppression chose.
    if (told >= if (column$known) 0.05 * length(v$rows) else 1) {
      return(told)
    }
  }
  if (v$missing && !v$ties) {
    return(0)
  }
  known <- known_values(replace(v$codes, if (v$compared) v$rows, 0L)[at])
  shows <- function(known) {
    of_known <- shown(sample, known)
    !is_luck(of_known, known, least) && most_right(of_known, known, most) > 0
  }
  if (!shows(known) && !(v$missing && shows(known_beside(known, sample$codes)))) {
    return(0)
  }
  n_right <- most_right(back, v)
  if (n_right == 0 && v$compared) more_than_guessed(back, v) else n_right
}

# A column of many values that lie in an order.
has_places <- function(column, at) {
  !column$id && !isFALSE(column$in_order) && column$n_values > 20 &&
    sum(column$codes[at] > 0) < 12 * column$n_values
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

# Many protected values that do not nearly come back in a sample need not be looked at as a whole.
may_show <- function(sample, v, at, shown) {
  rows <- match(v$rows, at, 0L)
  rows <- rows[rows > 0]
  length(at) == length(v$codes) || length(rows) < 200 || {
    part <- lapply(v[c("codes", "shown", "guess")], `[`, at)
    part[c("rows", "missing")] <- list(rows, v$missing)
    !is_luck(shown(sample, part), part, 0, 0.6 * least_gain)
  }
}

# Functions -----------------------------------------------------------------------

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
       fit$errors <= min(0.05, 0.5 * (1 - fit$commonest)) * fit$extra)
}

# Values that come back -----------------------------------------------------------

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

# Values that are narrowed ---------------------------------------------------------

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
