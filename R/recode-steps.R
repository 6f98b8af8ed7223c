# The steps of a hierarchy, and what must hold of them.

is_csv_name <- function(x) {
  is.character(x) && length(x) == 1 && !is.na(x) && grepl("[.](csv|txt)$", x, ignore.case = TRUE)
}

stop_hierarchy <- function(about, must, found = NULL, advice = NULL) {
  stop_sdc(
    "bad_argument", paste0("The hierarchy of ", quote_names(about$name), " must ", must, "."),
    x = found, i = advice,
    argument = "hierarchies", variable = about$name
  )
}

# Complex numbers and raw bytes do not sort.
is_sortable <- function(x) {
  if (is.object(x)) {
    return(is.atomic(x) && inherits(x, c("factor", "Date", "POSIXct")))
  }
  is.numeric(x) || is.character(x) || is.logical(x)
}

# The distinct values of a variable in order, and how many records have each.
hierarchy_values <- function(x, about, times = NULL) {
  bare <- column_values(x)
  known <- is_sortable(bare) && length(dim(bare)) == 0 && !is_candidates(x)
  if (!known || !length(bare)) {
    stop_hierarchy(
      about, "be made from a number, a date, text, a logical or a factor",
      if (known) "It has no values." else paste0("It has class ", quote_names(class(x)), ".")
    )
  }
  if (inherits(x, "integer64") && any(abs(bare) >= 2^53, na.rm = TRUE)) {
    stop_hierarchy(
      about, "be made from whole numbers below 2^53, if they are integer64",
      "Larger ones were found.", "Convert codes with as.character(). An id is not a key variable."
    )
  }
  check_letters(list(bare), about$name)
  text <- if (is.factor(bare)) levels(bare) else bare
  if (is.character(text) && !all(validEnc(text))) {
    stop_hierarchy(about, "be made from text whose bytes are characters", "Some are not.")
  }
  # factor() leaves out a level that is missing.
  bare <- if (is.factor(bare)) factor(bare) else bare
  values <- if (is.factor(bare)) {
    factor(levels(bare), levels(bare), ordered = is.ordered(bare))
  } else {
    sorted_values(bare)
  }
  if (!length(values)) {
    stop_hierarchy(
      about, "be made from a variable with values", "All are missing.",
      "Leave it out of the key variables: it distinguishes nobody."
    )
  }
  at <- match(bare, values)
  list(
    values = values, counts = count_over(at, length(values), times, !is.na(at)),
    has_missing = anyNA(bare),
    labels = if (inherits(x, "haven_labelled")) names(attr(x, "labels"))[
      match(values, attr(x, "labels"))
    ]
  )
}

# One level: an expression in `x`, and its words after "age ".
level_step <- function(expr, words) {
  list(expr = expr, words = words)
}

# Level 0, the steps, and one in which all values are the same, missing included;
# groups come from the expressions, so that what is said is what is done.
new_hierarchy <- function(values, steps, drop, kind, about, has_missing = FALSE) {
  steps <- c(list(level_step(quote(x), "unchanged")), steps)
  dropped <- quote(factor(rep("*", length(x))))
  several <- length(unique(step_labels(steps[[length(steps)]], values))) > 1
  if (drop && (several || has_missing && length(steps) == 1)) {
    steps <- c(steps, list(level_step(dropped, "dropped")))
  }
  labels <- lapply(steps, step_labels, values)
  check_covers(labels, values, about)
  check_nested(labels, about)
  n_groups <- vapply(labels, function(l) length(unique(l)), 1L)
  # Dropping one value and missing joins the two.
  same <- c(FALSE, diff(n_groups + (has_missing & n_groups == 1 & seq_along(labels) == 1)) == 0)
  if (any(same)) {
    inform_sdc(
      "dropped_level",
      paste0(
        "A level of the hierarchy of ", quote_names(about$name),
        " changed nothing and was dropped."
      ),
      x = paste0("Dropped: level ", paste(which(same) - 1L, collapse = ", "), "."),
      variable = about$name
    )
  }
  structure(
    list(
      name = about$name, kind = kind, values = values, steps = steps[!same],
      labels = labels[!same]
    ),
    class = "sdc_hierarchy"
  )
}

step_labels <- function(step, values) {
  found <- eval(step$expr, list(x = values), baseenv())
  if (is.numeric(found) && !is.object(found)) number_text(found) else as.character(found)
}

check_covers <- function(labels, values, about) {
  lost <- vapply(labels, function(l) any(is.na(l) & !is.na(values)), NA)
  if (any(lost)) {
    at <- which(lost)[[1]]
    stop_hierarchy(
      about, "give every value a group at every level",
      paste0(
        "At level ", at - 1L, ", ", plural(sum(is.na(labels[[at]]) & !is.na(values)), "value"),
        " of ", length(values), " without one."
      )
    )
  }
}

check_nested <- function(labels, about) {
  for (level in seq_along(labels)[-1]) {
    below <- match(labels[[level - 1]], unique(labels[[level - 1]]))
    if (!identical(labels[[level]][match(below, below)], labels[[level]])) {
      stop_hierarchy(
        about, "be nested: each level a function of the one below",
        paste0("Level ", level - 1L, " separates values that level ", level - 2L, " joins."),
        "Values that share a group must share one at every level above."
      )
    }
  }
}
