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
    identifier = logical(), part = logical(), finer = logical(), n_renumbered = integer(),
    was_missing = logical(), expected = logical()
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
    open <- told_by_classes(protected[setdiff(names(protected), name)], name)
    # Key variables are associated: of each other they tell what follows.
    if (name %in% variables) open <- lapply(open, replace, "ties", FALSE)
    tells_in_any_form(column, if (!name %in% variables) parts$read[[name]], open, least)
  }
  parts$amounts <- lapply(as.list(data)[names(protected)], amount_of)
  told <- Map(
    told_by_line, names(columns), columns, parts$read[names(columns)],
    lapply(rlang::set_names(names(columns)), tells), list(parts$amounts), list(protected)
  )
  narrowed <- if (!before || missing) {
    narrowed_by_columns(columns, protected, if (!missing) told, variables, least)
  } else {
    narrowed_by_finer(columns, protected, told, least)
  }
  found <- list(
    told = named_once(told, narrowed, missing), narrowed = narrowed,
    n_values = vapply(columns, function(column) max(0L, column$codes), 0L)
  )
  if (pairs) {
    among <- if (before && !missing) setdiff(names(columns), variables) else names(columns)
    found <- told_by_several(found, parts, among, data, released, asked, least)
  }
  rows <- do.call(rbind, c(list(none), told_rows(c(found$told, found$narrowed), rep(
    c(FALSE, TRUE), c(length(found$told), length(found$narrowed))
  ), columns, found$n_values, protected, variables, missing)))
  rows <- without_no_answers(rows, columns, parts$read, protected)
  if (!before) {
    rows <- without_associated(rows, columns, protected, variables, least)
    rows <- count_renumbered(rows, columns, tells)
  }
  rows <- rows[order(match(rows$variable, variables), rows$part, -rows$share), ]
  # A pair may be named twice, in both orders.
  pair <- vapply(strsplit(rows$by, " + ", fixed = TRUE), function(by) {
    paste(sort(by), collapse = " + ")
  }, "")
  rows <- rows[!duplicated(frame(variable = rows$variable, pair = pair, part = rows$part)), ]
  rownames(rows) <- NULL
  rows
}

# Key variables are associated: values of one that others reveal are named if that is seen in the
# released values alone, as by who has no others.
without_associated <- function(rows, columns, protected, variables, least) {
  by_keys <- rows$by %in% told_among(rows, variables)$by
  seen <- vapply(which(by_keys), function(i) {
    v <- protected[[rows$variable[[i]]]]
    by <- strsplit(rows$by[[i]], " + ", fixed = TRUE)[[1]]
    column <- Reduce(function(a, b) pair_column(list(a, b)), columns[by])
    v[c("codes", "missing", "compared", "ties", "joined")] <-
      list(v$shown, TRUE, FALSE, FALSE, NULL)
    told_value(v, column, least) > 0
  }, NA)
  rows[!by_keys | replace(by_keys, by_keys, seen) & rows$share >= 0.5, ]
}

# What is told by pairs, sums and units of the columns `among`, too.
told_by_several <- function(found, parts, among, data, released, asked, least) {
  n <- nrow(data)
  protected <- parts$protected
  columns <- parts$columns
  amounts <- parts$amounts
  told <- found$told
  of_numbers <- told_by_numbers(columns[among], parts$read[among], amounts, protected, told, n)
  told <- c(told, Filter(length, lapply(of_numbers, `[[`, "told")))
  told <- c(told, told_by_pairs(columns[among], protected, told, n))
  narrowed <- c(found$narrowed, Filter(length, lapply(of_numbers, `[[`, "narrowed")))
  near <- given_nearly(columns, parts$read, amounts, protected, told, asked, released)
  narrowed[names(near)] <- Map(function(a, b) best_of(list(a, b)), narrowed[names(near)], near)
  told <- c(told, told_by_sums(columns[among], parts$read[among], amounts, protected, told, n))
  # What nothing protects is there to be seen.
  units <- if (n >= 100 && (!asked$before || asked$missing)) panel_units(columns, parts$read)
  if (length(units)) {
    named <- names(c(told, narrowed))
    told <- c(told, told_by_members(units, protected, told, least))
    told <- c(told, told_by_steps(
      units, columns, parts$read, data, released, protected, told, named, least
    ))
    told <- c(told, told_by_balance(units, protected))
    told <- c(told, told_by_next(units, columns, parts$read, protected, told, amounts))
  }
  list(
    told = told, narrowed = narrowed,
    n_values = c(found$n_values, vapply(of_numbers, `[[`, 0L, "n_values"))
  )
}

# The protected values of the variables and the released columns, coded in one go; NULL if there is
# nothing to compare.
protected_and_columns <- function(data, released, changed, others, asked, coded, ids) {
  n <- nrow(data)
  whole <- function(name) {
    asked$missing && !is.null(coded[[name]]) && min(coded[[name]]$codes, 1L) > 0L
  }
  known <- function(sources) sources[!vapply(sources, is.null, NA)]
  originals <- known(lapply(Filter(Negate(whole), changed), function(name) {
    protected_source(data[[name]], if (!asked$before) released[[name]])
  }))
  read <- if (length(originals)) {
    lapply(rlang::set_names(others), function(name) dates_of_text(released[[name]]))
  }
  columns <- known(lapply(read, column_source, n))
  if (length(columns) == 0) {
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
    protected_values(coded$codes, n, asked, released[[name]]$codes, is.numeric(data[[name]]))
  }, codes[seq_along(originals)], names(originals))
  names(protected) <- names(originals)
  protected <- protected[vapply(protected, function(v) length(v$rows) > 0, NA)]
  if (length(protected) == 0) {
    return(NULL)
  }
  columns <- Map(function(name, coded) {
    column <- column_that_tells(read[[name]], name, coded, ids)
    column$codes[protected[[name]]$exchanged] <- 0L
    column
  }, names(columns), released)
  list(
    protected = if (asked$missing) with_classes(protected, columns, changed) else protected,
    columns = columns, read = read
  )
}

# Records of one class of the key variables have equal values because others were suppressed. What
# key variables tell of each other is told by records that count `once` for a class, too.
with_classes <- function(protected, columns, variables) {
  keys <- intersect(variables, names(columns))
  if (length(keys) == 0) {
    return(protected)
  }
  codes <- unname(lapply(columns[keys], `[[`, "codes"))
  in_order <- do.call(order, c(codes, list(method = "radix")))
  starts <- Reduce(`|`, lapply(codes, function(x) c(TRUE, diff(x[in_order]) != 0)))
  again <- replace(logical(length(in_order)), in_order, !starts)
  lapply(protected, function(v) c(v, list(keys = keys, once = replace(v$codes, again, 0L))))
}

# The variables for columns with the names `by`.
told_by_classes <- function(protected, by) {
  lapply(protected, function(v) if (any(by %in% v$keys)) v else v[names(v) != "once"])
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
    of_groups(protected[[name]], column[[1]], told_with_exceptions, least)
  }, 0)
  pmax(found, with_exceptions)
}

told_with_exceptions <- function(v, column, least) {
  v <- known_to_anyone(v, column)
  back <- if (!v$missing) values_shown(column, v)
  as.double(if (v$compared) {
    more_than_guessed(back, v)
  } else if (v$missing || is_luck(back, v, least)) {
    0
  } else {
    n_in_pure_groups(column, v)
  })
}

# The sum of `f` over values that were joined, by the column within their groups, and the others.
of_groups <- function(v, column, f, ...) {
  if (is.null(v$joined)) {
    return(f(v, column, ...))
  }
  joined <- f(v$joined, within_groups(column, v$joined$group), ...)
  joined + if (length(v$apart$rows)) f(v$apart, column, ...) else 0
}

# Number of values that nine of ten records with the same value of the column have.
n_in_pure_groups <- function(column, v) {
  fit <- column_fit(column$codes, v$codes)
  at <- match(column$codes, fit$group)
  right <- v$codes > 0 & v$codes == fit$best[at]
  size <- tabulate(at[v$codes > 0], length(fit$group))
  n_right <- tabulate(at[right], length(fit$group))
  sum(n_right[size > 1 & n_right >= 0.9 * size])
}

# Missing values beside "refused", or beside -9 where no known value is, were never there.
without_no_answers <- function(rows, columns, read, protected) {
  if (nrow(rows) == 0 || !protected[[1]]$missing) {
    return(rows)
  }
  n_none <- vapply(seq_len(nrow(rows)), function(i) {
    by <- rows$by[[i]]
    v <- protected[[rows$variable[[i]]]]
    codes <- columns[[by]]$codes
    alone <- v$rows[codes[v$rows] %in% setdiff(codes[v$rows], c(0L, codes[v$codes > 0]))]
    sum(is_no_answer(read[[by]], alone))
  }, 0L)
  n_protected <- lengths(lapply(protected[rows$variable], `[[`, "rows"), use.names = FALSE)
  rows$share <- rows$share - n_none / n_protected
  rows$finer <- rows$finer & rows$share >= 0.9
  for (n in c("n", "n_renumbered")) rows[[n]] <- as_count(pmax(rows[[n]] - n_none, 0))
  rows[rows$n > 0, ]
}

# TRUE for those of some records that have a code of a missing value, but not a number such as 99.
is_no_answer <- function(x, at) {
  if (length(at) == 0) {
    return(logical())
  }
  codes <- as.character(missing_codes(x))
  codes <- c(grep("^[0-9]", codes, invert = TRUE, value = TRUE), as_bare(labelled_missing(x)))
  as.character(if (is.factor(x)) x[at] else as_bare(x)[at]) %in% codes
}

# The table of what was found, by column, or by pair, of so many values; `part`: that which narrows
# values alone. Of `missing` values nobody knows how many are right, only how many to expect.
told_rows <- function(told, part, columns, n_values, protected, variables, missing) {
  identifiers <- names(columns)[vapply(columns, `[[`, NA, "identifier")]
  identifiers <- setdiff(identifiers, variables)
  rows <- Map(function(found, by, part) {
    share <- unname(found / lengths(lapply(protected[names(found)], `[[`, "rows")))
    # An intruder knows an age with exceptions, but hardly the number of a household.
    nearly <- if (isTRUE(columns[[by]]$id)) 0.99 else 0.9
    more <- n_values[by] > vapply(protected[names(found)], function(v) max(v$codes), 0L)
    parts <- strsplit(by, " + ", fixed = TRUE)[[1]]
    frame(
      variable = names(found), by = rep(by, length(found)), share = share,
      n = as_count(unname(found)),
      identifier = rep(any(c(by, parts) %in% identifiers), length(found)),
      part = rep(part, length(found)), finer = share >= nearly & more %in% TRUE,
      n_renumbered = as_count(unname(found)), was_missing = rep(FALSE, length(found)),
      expected = rep(missing, length(found))
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
protected_values <- function(codes, n, asked, released, number) {
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
  # A new value, or one of those that were joined, as the limit of a top code: no record shows the
  # others any more. Values that were exchanged stay in the file.
  showing <- function(values) ifelse(shown %in% values, shown, 0L)
  gone <- length(differs) > 0 && !any(original[differs] %in% shown)
  limits <- if (comparable && gone) showing(shown[differs])
  least <- if (number) 10 else 1
  group <- if (length(limits)) joined_groups(original, limits, least)
  if (is.null(group)) {
    given <- if (comparable) showing(shown[differs[new]]) else released
    group <- joined_groups(original, given, least)
  }
  if (is.null(group)) {
    return(v)
  }
  v["exchanged"] <- list(NULL)
  # A group is not one of its values, but reveals its value if it has only one.
  v$shown[group > 0] <- 0L
  # Nor if it has the name of one, as "Other".
  if (comparable && !number) v$rows <- which(original > 0 & v$shown != original)
  if (!comparable) v$rows <- v$rows[group[v$rows] > 0 | released[v$rows] == 0]
  v$apart <- replace(v, "rows", list(v$rows[group[v$rows] == 0]))
  v$joined <- joined_values(v, group)
  v
}

# For each record the group of several values that it shows, 0 if none; NULL if values were not
# recoded: each has one group, and a group at `least` so many records.
joined_groups <- function(original, group, least) {
  rows <- which(original > 0 & group > 0)
  one_each <- group[rows] == group[rows][match(original[rows], original[rows])]
  several <- unique(group[rows][original[rows] != original[rows][match(group[rows], group[rows])]])
  if (all(one_each) && length(several) > 0 && length(rows) >= least * length(unique(group[rows]))) {
    replace(group, !group %in% several, 0L)
  }
}

# The values that were joined, of which those that stay are not protected. An intruder who sees the
# group guesses its commonest value.
joined_values <- function(v, group) {
  rows <- which(group > 0 & v$codes > 0)
  fit <- column_fit(group[rows], v$codes[rows])
  guess <- replace(integer(length(group)), rows, fit$best[match(group[rows], fit$group)])
  codes <- replace(integer(length(group)), rows, v$codes[rows])
  list(
    codes = codes, shown = integer(length(group)), compared = TRUE, missing = FALSE,
    rows = intersect(rows, v$rows), group = group, guess = guess,
    guessed = mean(guess[rows] == codes[rows])
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
    n <- of_groups(v, column, told_value, least)
    if (n > 0 && !is.null(v$once)) {
      classes <- replace(v, c("codes", "shown"), v[c("once", "once")])
      n <- min(n, told_value(classes, column, least))
    }
    n
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
  # one record, or beside which neighbours are seldom different.
  open <- !v$compared && !v$missing
  exact <- !open || fit$errors <= 0.1 * fit$n && (column$known || !are_mostly_alone(column, v))
  near <- has_places(column, at) && (!open || sum(diff(fit$best) != 0) <= 0.25 * length(fit$best))
  v <- known_to_anyone(v, column)
  told <- max(
    if (exact) shown_by(values_shown, column, v, least, at, back),
    if (near) shown_by(values_near, column, v, least, at), 0
  )
  if (open && told < 0.9 * length(v$rows)) 0 else told
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
