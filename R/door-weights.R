# Sampling weights and sampling fractions, checked at the door.

# The weights that the column `weight_var` of `data` holds, NULL without one.
check_weights <- function(data, weight_var) {
  if (is.null(weight_var)) {
    return(NULL)
  }
  position <- check_column(weight_var, data, "weight_var")
  name <- names(data)[[position]]
  # The weight column of a pattern table is that of its sums: no other is a weight.
  patterns <- attr(data, "patterns", exact = TRUE)
  if (!is.null(patterns) && !identical(name, patterns$weight_var)) {
    stop_argument(
      "weight_var", "name the weights the pattern table was made with",
      found = if (is.null(patterns$weight_var)) {
        "It was made without."
      } else {
        paste0("These are ", quote_names(patterns$weight_var), ".")
      },
      advice = "pattern_table(data, weight_var = ) sums them per pattern."
    )
  }
  weights <- bare_weights(data[[position]])
  if (is.null(weights)) {
    stop_weights(
      name, paste0("It has class ", quote_names(class(data[[position]])), "."),
      number_advice(data[[position]], name)
    )
  }
  bad <- !is.finite(weights) | weights <= 0
  if (any(bad)) {
    found <- c(
      if (anyNA(weights)) paste(format_count(sum(is.na(weights))), "missing"),
      if (any(weights <= 0, na.rm = TRUE)) {
        paste(format_count(sum(weights <= 0, na.rm = TRUE)), "zero or negative")
      },
      if (any(is.infinite(weights))) paste(format_count(sum(is.infinite(weights))), "infinite")
    )
    stop_weights(
      name,
      paste0(
        "In ", format_count(sum(bad)), " of ", plural(length(bad), "record"), ": ",
        paste(found, collapse = ", "), "."
      ),
      c(
        paste0(
          "Drop records that are not part of the sample, such as non-respondents: data <- data[",
          "which(", column_text(name), " > 0), ]."
        ),
        "Respondents without a weight need one before their risk can be measured."
      )
    )
  }
  if (!is.finite(sum(weights))) {
    stop_weights(name, "Their sum is beyond what a number can hold.")
  }
  weights
}

# A column of numbers as plain ones, NULL for another column. Classes of other
# packages may claim to be numbers and refuse to become any.
bare_weights <- function(x) {
  if (!inherits(x, "difftime")) x <- plain_column(x)
  if (inherits(x, "haven_labelled")) x <- drop_user_missing(x)
  if (!is.numeric(x) || is.factor(x) || inherits(x, "integer64") || length(dim(x)) > 0) {
    return(NULL)
  }
  tryCatch(as.double(x), error = function(e) NULL)
}

# A column in code.
column_text <- function(name) {
  if (make.names(name) == name) paste0("data$", name) else paste0("data[[", names_code(name), "]]")
}

# The way from a column of another class to one of numbers.
number_advice <- function(x, name) {
  column <- column_text(name)
  if (is.factor(x)) {
    paste0("Make it numbers: ", column, " <- as.numeric(as.character(", column, ")).")
  } else if (is.character(x) || inherits(x, "integer64")) {
    paste0("Make it numbers: ", column, " <- as.numeric(", column, ").")
  }
}

stop_weights <- function(name, found, advice = NULL) {
  stop_sdc(
    "bad_weights", paste0("The weights in ", quote_names(name), " must be finite and positive."),
    x = found, i = advice[1], i = advice[-1],
    column = name
  )
}

# The sampling fraction pi = n / N of `n` records, from the number of people in
# the population or as it is; NULL where neither is given.
check_fraction <- function(n, pop_size, sampling_fraction) {
  if (!is.null(pop_size)) {
    check_number(pop_size, "pop_size", paste0(
      "be one finite number, at least the number of records",
      # Checked with one record before any is counted.
      if (n > 1) paste0(", ", format_count(n))
    ), is.finite(pop_size) && pop_size >= n)
  }
  if (!is.null(sampling_fraction)) {
    sampling_fraction <- check_share(sampling_fraction, "sampling_fraction")
  }
  if (is.null(pop_size)) {
    return(sampling_fraction)
  }
  fraction <- n / pop_size
  if (!is.null(sampling_fraction) && abs(sampling_fraction / fraction - 1) > 0.01) {
    stop_argument(
      "sampling_fraction", "agree with `pop_size` where both are given",
      found = paste0(
        "`pop_size` means a fraction of ", format_risk(fraction), ", not ",
        format_risk(sampling_fraction), "."
      )
    )
  }
  fraction
}

# As above for `n` records in use of `n_all`, if others are left out: pi = n / N.
fraction_in_use <- function(n, n_all, pop_size, sampling_fraction) {
  fraction <- check_fraction(n_all, pop_size, sampling_fraction)
  if (is.null(pop_size)) {
    return(if (!is.null(fraction)) fraction * (n / n_all))
  }
  n / pop_size
}

# Without a population size it is the sum of the weights of the file, if they expand it.
check_size_given <- function(file, weight_var = NULL) {
  if (was_given("pop_size")) {
    return(invisible())
  }
  if (is.null(weight_var)) weight_var <- file$roles$weight_var
  weights <- check_weights(file$data, weight_var)
  why <- if (is.null(weights)) "the file has no weights either" else
    weights_that_do_not_expand(weights, times_of(file$data), n_records(file$data))
  if (!is.null(why)) {
    stop_argument("pop_size", "be given", found = paste0("It was not, and ", why, "."))
  }
  running$ask$pop_size <- round(sum(weights))
  running$ask$.given <- union(running$ask$.given, "pop_size")
}

# Population sizes as they were given, or the one that a sampling fraction of `n`
# records means; NULL where neither was given.
size_of_population <- function(n, pop_size, sampling_fraction) {
  if (is.null(sampling_fraction)) {
    return(pop_size)
  }
  fraction <- check_fraction(n, NULL, sampling_fraction)
  if (is.null(pop_size)) {
    return(n / fraction)
  }
  check_fraction(n, if (length(pop_size) == 1) pop_size else min(pop_size), fraction)
  pop_size
}

# The positions of the columns that are no keys, and what they hold.
check_roles <- function(data, key_vars, weight_var, hh_id) {
  weights <- check_weights(data, weight_var)
  weight_at <- if (!is.null(weight_var)) check_column(weight_var, data, "weight_var")
  hh_at <- if (!is.null(hh_id)) check_column(hh_id, data, "hh_id")
  positions <- c(weight_at, hh_at)
  check_no_roles(data, key_vars, positions)
  if (anyDuplicated(positions)) {
    stop_argument("hh_id", "name another column than `weight_var`")
  }
  list(positions = positions, weights = weights, weight_at = weight_at, hh_at = hh_at)
}

# A weight or a household number is no key: it tells records apart that no
# intruder can, and every one of them would count as unique.
check_no_roles <- function(data, key_vars, positions, arg = "key_vars") {
  if (is.null(key_vars) || is.null(positions)) {
    return(invisible())
  }
  clash <- intersect(check_columns(key_vars, data, arg), positions)
  refuse_names(
    names(data)[clash], arg, "leave out the columns that other arguments name", "In both"
  )
}

# TRUE if all weights are 1: the file is its own population.
is_census <- function(weights, times) all(weights == if (is.null(times)) 1 else times)

# Why weights say nothing of the population, NULL if they do: normalised ones average
# about 1, also in a part of the file that they were normalised for.
weights_that_do_not_expand <- function(weights, times, n) {
  total <- sum(weights)
  one <- if (is.null(times)) 1 else times
  if (is.null(weights) || is_census(weights, times) ||
        total > 1.001 * n && (total > 1.1 * n || all(weights >= one))) {
    return(NULL)
  }
  paste0(
    "the weights sum to ", format_count(round(total)), " in a file of ",
    plural(n, "record"), ", not to the population; give pop_size or weights that sum to it"
  )
}

# Weights that average 1 expand the file to itself and not to the population.
warn_small_weights <- function(n_below, n_cells, consequence, unit = "cell") {
  warn_sdc(
    "small_weights", "The weights of a key must sum to at least its number of records.",
    x = paste0(
      "They sum to less for ", format_count(n_below), " of ",
      plural(n_cells, unit), "; ", consequence, "."
    ),
    i = "Weights must expand the file to the population: do they average 1?",
    n = n_below
  )
}

# Weights of households are equal within them; `id` numbers them, NA for none.
check_household_weights <- function(weights, id, name) {
  unequal <- !is.na(id) & abs(weights - weights[match(id, id)]) > 1e-9 * weights
  if (any(unequal)) {
    stop_sdc(
      "bad_weights",
      paste0("With `hh_id` the weights in ", quote_names(name), " must be those of households."),
      x = paste0(
        "They differ within ", plural(length(unique(id[unequal])), "household"), "."
      ),
      i = "Count without weights by weight_var = NULL, or single records by hh_id = NULL.",
      column = name
    )
  }
}

check_pop_size <- function(pop_size, n, whose = "of the sample") {
  if (!are_distinct_numbers(pop_size, TRUE) || any(!is.finite(pop_size) | pop_size < n)) {
    stop_argument(
      "pop_size",
      paste0(
        "be finite numbers without repetition, each at least the number of records ", whose,
        ", ", format_count(n)
      )
    )
  }
}

weight_position <- function(data, weight_var) {
  if (is.null(weight_var) || !is.data.frame(data)) {
    return(integer())
  }
  check_column(weight_var, data, "weight_var")
}

# Numbers of records larger than this are no whole numbers of R.
most_records <- 2^53

check_most_records <- function(n) {
  if (n > most_records) {
    stop_sdc(
      "too_large", "A pattern table must have at most 2^53 records.",
      x = paste0("It would have ", format(n, digits = 4), ".")
    )
  }
}

# Counts of any kind as doubles: those of integer64 exactly, NaN where beyond 2^53.
bare_counts <- function(x) {
  if (inherits(x, "integer64")) wide_to_double(x) else bare_weights(x)
}
