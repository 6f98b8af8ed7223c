# Checks of n_matches() before any work is done.

# The rule for missing values of every column, from one word or a list with a word
# for some key variables or groups: the others match everything.
check_missing_by <- function(missing, sets) {
  rules <- c("wildcard", "category", "exclude")
  by <- rlang::set_names(rep("wildcard", length(sets$variables)), sets$variables)
  if (!is.list(missing)) {
    by[] <- check_choice(missing, rules, "missing")
    return(by)
  }
  check_named_list(
    missing, "missing",
    paste0(
      "be one of ", quote_names(rules, Inf), ", or a list of these words named by key variables"
    ),
    c(sets$variables, names(sets$groups)),
    is_item = function(x) is.character(x) && length(x) == 1 && x %in% rules
  )
  # A group's word is that of its columns which have none of their own.
  for (name in names(missing)[order(names(missing) %in% sets$variables)]) {
    by[if (name %in% sets$variables) name else sets$groups[[name]]] <- missing[[name]]
  }
  by
}

check_households <- function(data, settings, weights) {
  if (is.null(settings$hh_id)) {
    return()
  }
  position <- check_column(settings$hh_id, data, "hh_id")
  if (settings$partial_weight < 1) {
    stop_argument(
      "partial_weight", "be 1 if `hh_id` is given",
      "A household is matched or not, whichever of its members matches."
    )
  }
  if (settings$rule == "mean") {
    stop_argument(
      "rule", "not be \"mean\" if `hh_id` is given",
      "A household is matched or not; there is no average over candidates."
    )
  }
  if (!is.null(weights)) {
    check_household_weights(
      weights, household_codes(data[[position]]),
      names(data)[[check_column(settings$weight_var, data, "weight_var")]]
    )
  }
}

# Tolerances are for numbers, Dates and times among the key variables.
check_tolerance <- function(tolerance, data, patterns, sets) {
  if (is.null(tolerance)) {
    return()
  }
  check_named_list(
    tolerance, "tolerance", "be a list of numbers of at least 0, named by key variables",
    sets$variables, is_item = is_tolerance
  )
  for (name in names(tolerance)) {
    check_distances(data[[name]], name)
    if (is.data.frame(patterns) && name %in% names(patterns)) {
      check_distances(patterns[[name]], name)
    }
  }
}

# TRUE if distances between the values of a column are defined.
check_distances <- function(x, name) {
  scale <- if (!is_candidates(x) && !is.logical(x)) column_source(x, length(x))$scale
  if (!isTRUE(scale %in% c("number", "date", "time"))) {
    stop_sdc(
      "bad_column", "A tolerance must be for numbers, Dates or times.",
      x = paste0(quote_names(name), " has class ", quote_names(class(x)), "."),
      columns = name, classes = class(x)
    )
  }
}

# Whose matches are counted: records or outside patterns.
match_subject <- function(x) if (x$settings$patterns) "pattern" else "record"

# The unit that is counted: records or households.
match_unit <- function(x, n) {
  paste0(if (is.null(x$settings$hh_id)) "record" else "household", if (n != 1) "s")
}
