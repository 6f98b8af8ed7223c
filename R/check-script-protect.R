# Protections that a line makes or undoes, and what a line brings back.

# Numbers that a line protects: by a function for that, or by fewer values of a continuous variable
# in the first records.
changed_numbers <- function(run, state, parent, moved, keys) {
  called <- any(all.names(run$parsed$code[[run$at]]) %in% script_remedies)
  asked <- if (called) names(parent$columns) else parent$file$roles$num_vars
  asked <- setdiff(asked, c(keys, parent$file$roles$weight_var))
  n_values <- function(x) length(unique(utils::head(x, 5000)))
  Filter(function(name) {
    new <- state$columns[[name]]
    old <- parent$columns[[name]]
    is.numeric(new) && is.numeric(old) && length(new) == length(old) && !identical(new, old) &&
      (called || n_values(new) < n_values(old)) && !(moved && same_records(state, parent, name))
  }, asked)
}

# Effect of a line on a key variable: it protects the variable, so that the values before are kept,
# or undoes a protection.
protection_of <- function(run, state, parent, variable) {
  new <- state$columns[[variable]]
  old <- parent$columns[[variable]]
  if (is.null(new) || is.null(old) || identical(new, old)) {
    return(state)
  }
  before <- parent$was[[variable]]
  n_back <- if (!is.null(before)) n_restored(new, old, before, state$aligned)
  if (isTRUE(n_back > 0)) {
    is_key <- variable %in% state$file$roles$key_vars
    run$back <- c(run$back, paste(state$name, variable))
    add_finding(
      run, "remedy_undone", paste0(
        "This line puts ", plural(n_back, "value"), " of ", quote_names(variable),
        " back that ", parent_words(run, parent), " had protected."
      ), if (is_key) remedy_code(state, run$limit) else "", "below", name = state$name,
      repaired = protected_since(run$at)
    )
    state$was[[variable]] <- NULL
  } else if (is.null(before) && is_protection(new, old)) {
    state$was[[variable]] <- old
    run$protected[[variable]] <- c(run$protected[[variable]], list(old))
    if (nrow(state$file$data) != length(old)) state$aligned <- FALSE
  }
  state
}

protected_since <- function(at) {
  force(at)
  function(state) isTRUE(state$protected > at) && !any(state$page$rows$verdict == "above")
}

parent_words <- function(run, parent) {
  at <- parent$protected
  paste0("line ", if (length(at)) run$parsed$first[[at]] else parent$line)
}

# Values are suppressed, or fewer or other values are shown. A record that is left out protects
# nothing.
is_protection <- function(new, old) {
  length(new) == length(old) && !identical(column_plain(new), column_plain(old))
}

# Number of values that equal those before the protection and differed in between.
n_restored <- function(new, old, before, aligned) {
  if (length(new) == length(before) && length(old) == length(before) && aligned) {
    return(do.call(n_put_back, alike(new, old, before)))
  }
  finer <- setdiff(as.character(column_plain(unique(new))), as.character(column_plain(unique(old))))
  finer <- finer[!is.na(finer)]
  if (length(finer) && all(finer %in% as.character(column_plain(unique(before))))) {
    return(sum(as.character(column_plain(new)) %in% finer))
  }
  rise <- sum(!is.na(new)) - sum(!is.na(old))
  if (length(new) == length(old) && length(new) == length(before)) {
    # Values that were put back are as many as were taken away; those imputed are others.
    columns <- alike(new, old, before)
    values <- setdiff(unlist(columns), NA)
    n <- lapply(columns, function(x) tabulate(match(x, values), length(values)))
    more <- pmax(n[[1]] - n[[2]], 0)
    back <- sum(pmin(more, pmax(n[[3]] - n[[2]], 0)))
    return(if (back > sum(more) / 2) back else 0)
  }
  if (rise > max(0, length(new) - length(old))) rise else 0
}

# The same of records in one order.
n_put_back <- function(now, between, first) {
  changed <- is.na(between) != is.na(now) | between != now
  changed[is.na(changed)] <- FALSE
  back <- changed & !is.na(first) & !is.na(now) & now == first
  # Some of the values that were suppressed are the commonest one, which is imputed for all.
  filled <- unique(now[changed])
  by_mode <- length(filled) == 1 && sum(back) < sum(changed) &&
    isTRUE(sum(between == filled, na.rm = TRUE) >= max(table(between)))
  if (sum(back) > sum(changed) / 2 && !by_mode) sum(back) else 0
}

# Columns to be compared: as they are if all are numbers, as text otherwise.
alike <- function(...) {
  columns <- lapply(list(...), column_plain)
  if (all(vapply(columns, is.numeric, NA))) columns else lapply(columns, as.character)
}

# Columns that the parent has not, and that hold what was protected.
come_back <- function(run, state, parent) {
  fresh <- setdiff(names(state$columns), names(parent$columns))
  for (variable in names(state$was)) {
    for (column in setdiff(fresh, names(parent$dropped))) {
      n <- n_back(state, column, variable, variable %in% parent$file$roles$key_vars)
      if (n > 0) {
        run$back <- c(run$back, paste(state$name, variable))
        # The second column of a name cannot be taken away by it.
        named <- column %in% names(state$file$data)
        add_finding(
          run, "value_returned", paste0(
            "The column ", quote_names(column), " brings ", plural(n, "protected value"), " of ",
            quote_names(variable), " back."
          ), if (named) without_code(run, state$name, column, "below") else "", "below",
          name = state$name, repaired = is_without(column)
        )
      }
    }
  }
  again <- intersect(fresh, renamed_keys(state$file$data, list(dropped = parent$dropped)))
  # Parts of a file that was never protected are put together as they were, under their names.
  begun <- length(state$was) || length(parent$protected) || length(parent$file$history)
  if (!begun) again <- setdiff(again, names(parent$dropped))
  if (length(again)) {
    add_finding(
      run, "value_returned", paste0(
        "The key variable ", quote_names(again), " is back, which had been left out."
      ), without_code(run, state$name, again, "below"), "below", name = state$name,
      repaired = is_without(again)
    )
  }
}

# Records that are added with the key values of before, which no record had any more.
records_back <- function(run, state, parent) {
  keys <- intersect(parent$file$roles$key_vars, names(state$columns))
  changed <- intersect(keys, names(parent$was))
  n <- nrow(parent$file$data)
  if (!parent$aligned || length(changed) == 0 || nrow(state$file$data) <= n) {
    return(invisible())
  }
  key_of <- function(columns) {
    do.call(paste, c(lapply(unname(columns[keys]), column_plain), list(sep = "\r")))
  }
  shown <- key_of(parent$columns)
  gone <- setdiff(key_of(replace(parent$columns, changed, parent$was[changed])), shown)
  n_back <- sum(key_of(state$columns) %in% gone)
  if (n_back > 0) {
    add_finding(
      run, "remedy_undone", paste0(
        "This line adds ", plural(n_back, "record"), " with key values that ",
        parent_words(run, parent), " had protected."
      ), remedy_code(state, run$limit), "below", name = state$name,
      repaired = protected_since(run$at)
    )
  }
}

# Number of protected values of a variable that a column has or reveals.
n_back <- function(state, column, variable, is_key) {
  values <- state$columns[[column]]
  shown <- if (variable != column) state$columns[[variable]]
  before <- state$was[[variable]]
  n <- n_told(values, shown, before)
  if (n > 0 || !state$aligned || !is.numeric(values) || is.null(shown)) {
    return(n)
  }
  # Noise and swaps show as many values as there were.
  if (!is_key) n <- n_restored(values, shown, before, TRUE)
  if (n == 0 && is.numeric(shown)) n <- n_rescaled(values, shown, before)
  if (n == 0) n_summed(values, state$columns, shown, before) else n
}

# Number of protected values that a column and another one, such as the one shown, add up to or
# differ by. Few different values do so by chance.
n_summed <- function(column, others, shown, before) {
  changed <- which(!is.na(before) & (is.na(shown) | shown != before))
  if (!is.numeric(before) || length(unique(before[changed])) < 10) {
    return(0)
  }
  n_right <- function(other, at) {
    near <- function(x) abs(x - before[at]) <= 1e-9 * (abs(column[at]) + abs(other[at]))
    max(sum(near(other[at] + column[at]), na.rm = TRUE), sum(near(abs(other[at] - column[at])),
      na.rm = TRUE
    ))
  }
  first <- utils::head(changed, 100)
  others <- Filter(function(other) {
    is.numeric(other) && n_right(other, first) >= 0.9 * length(first)
  }, others)
  found <- vapply(others, n_right, 0, changed)
  if (any(found >= 0.9 * length(changed))) max(found) else 0
}

# Number of protected values of a variable that a column reveals: it agrees if both are known, or is
# finer and has no other values than the variable had. A join can give the variable another name:
# then the column has all values of before.
n_told <- function(column, shown, before) {
  if (!is.atomic(column)) {
    return(0)
  }
  if (is.null(shown)) {
    return(if (varies(column) && same_values(column, before)) length(column) else 0)
  }
  column <- column_plain(column)
  shown <- column_plain(shown)
  known <- !is_absent(column)
  both <- known & !is_absent(shown)
  n_hidden <- sum(known) - sum(both)
  if (n_hidden > 0 && any(both) && agree_mostly(column[both], shown[both])) {
    return(n_hidden)
  }
  columns <- alike(column, shown, before)
  column <- columns[[1]]
  shown <- columns[[2]]
  first <- unique(columns[[3]])
  # Most columns have other values: these are not all compared.
  if (!all(utils::head(column[known], 100) %in% first)) {
    return(0)
  }
  values <- unique(column[known])
  finer <- length(values) > length(unique(shown[!is_absent(shown)])) && all(values %in% first)
  nested <- finer && length(unique(paste(column, shown, sep = "\r")[both])) <=
    1.01 * length(unique(column[both]))
  if (nested) sum(known) else 0
}

# Number of values of a column that has the order of those before: in other units, rounded, or as
# logarithms. What follows from the values shown, and few classes, reveal nothing.
n_rescaled <- function(column, shown, before) {
  if (!is.numeric(column) || length(column) != length(before)) {
    return(0)
  }
  known <- !is.na(column) & !is.na(before)
  n_values <- function(...) nrow(unique(data.frame(...)[known, , drop = FALSE]))
  in_order <- column[known][order(before[known])]
  ordered <- !is.unsorted(in_order) || !is.unsorted(-in_order)
  told <- ordered && n_values(column) >= 0.9 * n_values(shown) &&
    n_values(shown, column) > n_values(shown)
  if (told) sum(known) else 0
}

# As text, NaN is a value.
is_absent <- function(x) if (is.double(x)) is.na(x) & !is.nan(x) else is.na(x)

# At least 99% are equal, as text: of most pairs of columns the first records say that they are not.
agree_mostly <- function(a, b) {
  differ <- function(at) sum(as.character(a[at]) != as.character(b[at]))
  n <- length(a)
  differ(seq_len(n %/% 50)) <= 0.01 * n && differ(seq_len(n)) <= 0.01 * n
}

# The first records say most.
varies <- function(x) !all(utils::head(x, 100) %in% x[1]) || !all(x %in% x[1])

# Identifiers that the parent has not, and that it, or what it was made of, had, or that come to
# a protected file.
returned_ids <- function(run, state, parent) {
  if (state$allowed_ids) {
    return(invisible())
  }
  back <- setdiff(state$ids, names(parent$columns))
  known <- setdiff(intersect(names(state$columns), parent$ids), state$numbered)
  back <- union(
    back[rep(length(parent$was) > 0, length(back))], setdiff(known, names(parent$columns))
  )
  if (length(back)) {
    add_finding(
      run, "identifier_returned", paste0(
        quote_names(back), ngettext(length(back), " comes", " come"),
        " back, which identifies persons or households."
      ), without_code(run, state$name, back, "below"), "below", name = state$name,
      repaired = is_without(back)
    )
  }
}

is_without <- function(columns) {
  force(columns)
  function(state) !any(columns %in% names(state$columns))
}
