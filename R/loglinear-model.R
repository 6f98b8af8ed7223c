# Request of loglinear_risk(): key sets, models, population.

# The models as a named list; a formula is named by its text.
check_models <- function(model) {
  words <- c("independence", "two_way", "search")
  if (inherits(model, "formula")) model <- list(model)
  is_one <- function(m) {
    inherits(m, "formula") || (is.character(m) && length(m) == 1 && m %in% words)
  }
  if (!(is.character(model) || is.list(model)) || length(model) == 0 ||
        !all(vapply(model, is_one, NA))) {
    stop_argument(
      "model", paste("be", quote_names(words), "or a formula, or several of these")
    )
  }
  labels <- vapply(model, function(m) {
    if (is.character(m)) m else paste(deparse(m, width.cutoff = 500L), collapse = " ")
  }, "", USE.NAMES = FALSE)
  if (anyDuplicated(labels)) stop_argument("model", "name every model once")
  rlang::set_names(as.list(model), labels)
}

check_loglinear_missing <- function(missing) {
  check_missing_rule(missing, "A record would be in many cells of the table then.")
}

check_sampling <- function(sampling) {
  check_choice(sampling, c("overall", "cell", "raked"), "sampling")
}

check_interval <- function(interval) {
  check_choice(interval, c("corrected", "none"), "interval")
}

check_max_cells <- function(x) {
  check_number(x, "max_cells", "be one number from 1 to 1e11", x >= 1 && x <= 1e11)
}

check_population <- function(weight_var, pop_size, sampling_fraction) {
  if (is.null(weight_var) && is.null(pop_size) && is.null(sampling_fraction)) {
    stop_argument(
      "weight_var", "be given, or `pop_size`, or `sampling_fraction`",
      advice = "Risk in the population depends on how many people a record stands for."
    )
  }
  # These are wrong for any number of records.
  check_fraction(1, pop_size, NULL)
  check_fraction(1, NULL, sampling_fraction)
}

# Key sets as a list of positions, named where there are several; NULL for all
# columns.
check_key_sets <- function(key_vars, data, weight_var) {
  if (is.null(key_vars) || !is.data.frame(data)) {
    return(NULL)
  }
  sets <- if (is.list(key_vars)) {
    check_named_sets(key_vars, data)
  } else {
    list(check_columns(key_vars, data, "key_vars"))
  }
  if (any(unlist(sets) %in% weight_position(data, weight_var))) {
    stop_argument("key_vars", "not hold the weights", found = "`weight_var` is among them.")
  }
  sets
}

check_named_sets <- function(key_vars, data) {
  labels <- names(key_vars)
  if (length(key_vars) == 0 || length(labels) != length(key_vars) ||
        !all(nzchar(labels)) || anyDuplicated(labels)) {
    stop_argument("key_vars", "be a vector, or a list of them with a different name for each")
  }
  sets <- lapply(key_vars, check_columns, data = data, arg = "key_vars")
  if (any(lengths(sets) == 0)) {
    stop_argument("key_vars", "name at least one column in every key set")
  }
  sets
}

# The keys of one set, as columns of the table of all sets.
key_set_columns <- function(set, table) {
  columns <- match(set, table$positions)
  keys <- table$keys
  inside <- vapply(keys, function(v) mean(v %in% columns), 0)
  refuse_names(
    names(keys)[inside > 0 & inside < 1], "key_groups", "be in a key set as a whole", "Torn apart"
  )
  # In the order in which the set names them.
  keys <- keys[inside == 1]
  keys[order(vapply(keys, function(v) min(match(v, columns)), 0))]
}

# The interactions of a formula per key set, as places of the set's keys; the
# word of a model as it is.
model_terms <- function(model, parts) {
  if (is.character(model)) {
    return(model)
  }
  terms <- formula_terms(model, unique(unlist(lapply(parts, names))))
  lapply(parts, function(keys) {
    places <- lapply(terms, match, table = names(keys))
    places[!vapply(places, anyNA, NA)]
  })
}

# The variables of every term of a one-sided formula.
formula_terms <- function(formula, known) {
  if (length(formula) != 2) stop_argument("model", "be a formula with nothing before `~`")
  names <- as.data.frame(rlang::set_names(rep(list(1), length(known)), known), optional = TRUE)
  read <- tryCatch(stats::terms(formula, data = names), error = function(e) NULL)
  if (is.null(read) || !is.null(attr(read, "offset"))) {
    stop_argument("model", "be a formula of key variables, `+`, `:`, `*`, `^` and `-`")
  }
  variables <- as.list(attr(read, "variables"))[-1]
  plain <- vapply(variables, is.symbol, NA)
  labels <- vapply(variables, function(v) paste(deparse(v), collapse = " "), "")
  labels[plain] <- vapply(variables[plain], as.character, "")
  unknown <- setdiff(labels, known)
  refuse_names(unknown, "model", "be a formula of key variables", "Not key variables")
  factors <- attr(read, "factors")
  if (length(factors) == 0) {
    return(list())
  }
  lapply(seq_len(ncol(factors)), function(j) labels[factors[, j] > 0])
}
