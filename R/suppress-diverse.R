# Local suppression with a limit on sensitive values besides k: the originals that fit a
# released record must have several values of every sensitive variable (l), none of them too
# frequent (c), or values distributed as in the file (t). Sets of variables are tried in the order
# of their cost for all records at once, so that each record gets the cheapest that serves it.

# Sets of variables are all subsets.
most_diverse_keys <- 12L

check_diversity <- function(ask, data, settings) {
  l <- ask$l
  t <- ask$t
  if (is.null(l) && is.null(t) && is.null(ask$c)) {
    return(NULL)
  }
  if (!is.null(times_of(data))) {
    stop_argument(
      names(Filter(Negate(is.null), list(l = l, c = ask$c, t = t)))[[1]],
      "be left out if `data` is a table of a database or of patterns",
      found = "Sensitive values are compared record by record.",
      advice = "dplyr::collect(dplyr::select(table, ...)) brings the columns into R."
    )
  }
  if (is.null(ask$sensitive)) {
    stop_argument(
      "sensitive", "name the sensitive variables if `l` or `t` is given", found = "None was given."
    )
  }
  others <- Filter(Negate(is.null), list(linked = ask$linked, hh_id = ask$hh_id))
  if (settings$rule != "own") others$rule <- settings$rule
  if (length(others)) {
    name <- names(others)[[1]]
    stop_argument(
      name, paste("be", if (name == "rule") "\"own\"" else "left out", "if `l` or `t` is given"),
      found = if (name == "hh_id") paste0("It is ", quote_names(others[[1]]), "."),
      advice = "attribute_risk() measures what is left under other rules."
    )
  }
  list(
    l = if (!is.null(l)) check_whole(l, "l"),
    c = if (!is.null(ask$c)) check_with_l(ask$c, l, "c"),
    t = if (!is.null(t)) check_zero_to_one(t, "t"),
    sensitive = names(data)[check_columns(ask$sensitive, data, "sensitive")]
  )
}

# A list like that of find_suppression() from the core.
find_diverse <- function(table, data, sets, settings) {
  if (length(sets$sets) != 1) {
    stop_argument("key_vars", "be one key set if `l` or `t` is given")
  }
  keys <- sets$variables[sets$sets[[1]]$columns]
  if (length(keys) > most_diverse_keys) {
    stop_sdc("too_large", c(
      paste0("`l` and `t` take at most ", most_diverse_keys, " key variables."),
      x = paste0(length(keys), " were given."), i = "Recode first: recode_search()."
    ))
  }
  # Each record keeps its stratum, and matches those of no other.
  strata <- settings$strata_var
  if (length(strata)) data[[strata]] <- value_numbers(data[[strata]], "strata_var")
  open <- !are_diverse(data, c(keys, strata), settings)
  violating <- open
  chosen <- rep(list(character()), nrow(data))
  for (set in sets_by_cost(settings$importance[keys])) {
    if (!any(open)) break
    served <- open & are_diverse(data, c(setdiff(keys, set), strata), settings)
    chosen[served] <- list(set)
    open <- open & !served
  }
  if (any(open)) stop_not_diverse(sum(open), settings)
  rows <- rep(seq_along(chosen), lengths(chosen))
  cells <- list(record = rows, variable = match(unlist(chosen), table$variables))
  # A value that is missing already is no cell to blank.
  there <- vapply(seq_along(rows), function(i) {
    !is_missing(data[[table$positions[[cells$variable[[i]]]]]][rows[[i]]])
  }, NA)
  cells <- lapply(cells, function(x) x[there])
  blanked <- blank_cells(data, split(cells$record, table$variables[cells$variable]))
  known <- c(keys, strata)
  count <- function(data, ...) as.integer(matches_of(data, known, ...)$n_matches)
  paid <- sum(settings$importance[table$variables[cells$variable]])
  c(cells, list(
    reason = rep("violation", length(cells$record)), violating = violating,
    cost = paid, lower_bound = paid, restricted = FALSE, bound_steps = 0L, improved = 0L,
    n_beyond = sum(!are_diverse(blanked, known, settings)),
    counts = list(list(
      before = count(data), after = count(blanked),
      intruder = count(blanked, patterns = as.data.frame(data)[known])
    ))
  ))
}

# Sets of variables that may be blanked, cheapest first, then fewest and in order.
sets_by_cost <- function(importance) {
  names <- names(importance)[is.finite(importance)]
  sets <- unlist(lapply(seq_along(names), function(k) {
    utils::combn(names, k, simplify = FALSE)
  }), recursive = FALSE)
  sets[order(vapply(sets, function(set) sum(importance[set]), 0))]
}

# TRUE if the originals that agree with each record on `keys` are enough, and diverse.
are_diverse <- function(data, keys, settings) {
  sensitive <- settings$sensitive
  if (length(keys) == 0) {
    data <- as.data.frame(data)[sensitive]
    data[[keys <- ".all"]] <- rep(1L, nrow(data))
  }
  found <- matches_of(data, keys, sensitive = sensitive)
  of <- function(name) found[grepl(paste0("^", name, "($|_)"), names(found))]
  enough <- found$n_matches >= settings$k
  if (!is.null(settings[["l"]])) {
    enough <- enough & do.call(pmin, unname(of("n_sensitive"))) >= settings[["l"]]
  }
  if (!is.null(settings[["c"]])) {
    enough <- enough & recursive_ratio(data, keys, settings) < settings[["c"]]
  }
  if (!is.null(settings[["t"]])) {
    far <- do.call(pmax, c(unname(of("t_closeness")), na.rm = TRUE))
    enough <- enough & !is.na(far) & far <= settings[["t"]] + 1e-9
  }
  enough
}

stop_not_diverse <- function(n, settings) {
  kept <- any(is.infinite(settings$importance))
  stop_sdc("unprotectable", c(
    "Every record must be able to reach `k`, `l`, `c` and `t` by suppression.",
    x = paste0(
      plural(n, "record"), " cannot",
      if (kept) ", since some variables are never suppressed", "."
    ),
    i = paste0("Take smaller limits", if (kept) ", or finite importances", ".")
  ))
}
