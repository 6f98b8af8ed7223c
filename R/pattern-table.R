#' The distinct patterns of a file, with their counts
#'
#' How risky is a file that is too large to hold, or that must not leave its place?
#' Most measures need no records, only how often each combination of key variables
#' occurs. `pattern_table()` counts them once; the table is small, can be saved, and is
#' taken as `data` in the place of the file. `update()` adds the records of another
#' month, or takes some away, without the old file.
#'
#' @details
#' A pattern is a combination of values of the key variables, missing being a value of
#' its own here: the function that takes the table decides what missing values match.
#' Patterns stand in the order in which they first occur in the file.
#'
#' Functions that take a pattern table: [qar_risk()], [n_matches()],
#' [individual_risk()], [loglinear_risk()], [exhaustive_tabulation()], [key_overview()],
#' [copula_fit()], [copula_uniqueness()], [population_uniqueness()], [file_check()]. Their
#' results are those of the file: counts are equal to the last digit, sums of weights to
#' twelve digits. `records` is `NULL`, and `patterns` has a row for each pattern with the
#' key variables, the number `n` of records, and the columns that `records` would have.
#' A key variable with the name of such a column is called `<name>.key` there.
#' Key variables can be left out by `key_vars`, none can be added: take all that may be
#' asked for. A sensitive variable of [n_matches()] is one of them.
#'
#' Other functions answer for single records, change them, or need to know who lives
#' with whom: they stop with an error that says so. So do the arguments `hh_id`,
#' `strata_var` and `newdata`.
#'
#' With `weight_var` the table has the sum of the weights of every pattern under that
#' name, and beside it the sum of their squares and the range of the weights, which the
#' precision of some estimates needs. [copula_fit()] needs the weight of every single
#' record: it takes a pattern table with weights where the records of a pattern all have
#' the same.
#'
#' @section What is confidential:
#' A pattern with `n = 1` is a record. The table is as confidential as the key variables
#' of the file, and prints show counts alone.
#'
#' @section Cost:
#' One pass over the file: about that of [key_overview()] without its pairs. The table has
#' 8 bytes and the key variables per pattern. Coarse key variables shrink a
#' file to little; many or fine ones leave nearly as many patterns as records, and no
#' pattern table is worth its name then: `max_patterns` stops before that.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 130 bytes a record.
#'
#' @param data A data frame, tibble, data.table, [sdc_file()], sdcMicroObj, or another
#'   pattern table, of which a coarser one is made.
#' @param key_vars Names or positions of the key variables. `NULL`: those of the file, or
#'   all columns that have no other role. None may be called `n`.
#' @param ... Must be empty: later arguments must be named in full.
#' @param weight_var Name of the column with sampling weights: finite, positive.
#' @param count_var Name of a column that says how many records a row stands for, whole
#'   numbers of at least 1 (integer64 too): data that were counted elsewhere.
#'   `weight_var` then holds the sum of their weights, which are taken to be equal.
#' @param max_patterns More patterns than this are an error, before they are collected.
#' @return An object of class `sdc_pattern_table`, a list: `patterns` (data frame: the key
#'   variables, `n`, and the sums of the weights), `key_vars`, `weight_var`,
#'   `n_records`, and what `update()` needs. `as.data.frame()` gives `patterns`.
#'
#'   Missing values of the key variables, declared ones included, are `NA` in it.
#'
#'   Errors: `bad_data`, `unknown_key_var`, `bad_column`, `bad_weights`, `bad_argument`;
#'   `too_large` for more than `max_patterns` patterns, or more than 2^53 records.
#' @family data
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' table <- pattern_table(nals_prison, keys, weight_var = "WEIGHT")
#' table
#' n_matches(table)$estimates$n_unique # 52, as of nals_prison itself
#' individual_risk(table)$estimates$expected_reidentifications # 0.6467
#'
#' # A register that grows
#' first <- pattern_table(nals_prison[1:100, ], keys)
#' both <- update(first, nals_prison[101:182, ])
#' identical(as.data.frame(both), as.data.frame(pattern_table(nals_prison, keys))) # TRUE
pattern_table <- function(data, key_vars = NULL, ..., weight_var = NULL, count_var = NULL,
                          max_patterns = 5e6) {
  UseMethod("pattern_table")
}

is_pattern_table <- function(x) inherits(x, "sdc_pattern_table")

#' @export
pattern_table.default <- function(data, ...) {
  check_given("data")
  stop_not_a_file(data, "data")
}

#' @export
pattern_table.data.frame <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                     count_var = NULL, max_patterns = 5e6) {
  check_no_dots(...)
  check_records(data)
  max_patterns <- check_max_patterns(max_patterns)
  times <- check_count_var(data, count_var)
  weights <- check_weights(data, weight_var)
  weight_at <- weight_position(data, weight_var)
  roles <- c(weight_at, if (!is.null(count_var)) check_column(count_var, data, "count_var"))
  if (anyDuplicated(roles)) {
    stop_argument("count_var", "name another column than `weight_var`")
  }
  check_no_roles(data, key_vars, roles)
  count_patterns(
    data, key_vars, roles, times,
    weighing = if (!is.null(weights)) {
      list(
        name = names(data)[[weight_at]], sums = weights,
        squares = if (is.null(times)) weights^2 else weights^2 / times,
        range = range(if (is.null(times)) weights else weights / times)
      )
    },
    max_patterns = max_patterns
  )
}

#' @export
pattern_table.sdc_file <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                   count_var = NULL, max_patterns = 5e6) {
  check_no_dots(...)
  check_whole_file(data)
  if (!is.null(times_of(data$data))) {
    data$data <- as_pattern_table(data$data, data$roles$key_vars)
  }
  given <- list(
    key_vars = key_vars, weight_var = weight_var, count_var = count_var,
    max_patterns = max_patterns
  )
  # A role the file has, unless another was given.
  given$key_vars <- if (is.null(key_vars)) data$roles$key_vars else key_vars
  if (is.null(weight_var)) given$weight_var <- data$roles$weight_var
  do.call(pattern_table, c(list(data$data), given))
}

#' @export
pattern_table.sdcMicroObj <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                      count_var = NULL, max_patterns = 5e6) {
  pattern_table(
    micro_file(data, "data"), key_vars, ...,
    weight_var = weight_var, count_var = count_var, max_patterns = max_patterns
  )
}

#' @export
pattern_table.sdc_pattern_table <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                            count_var = NULL, max_patterns = 5e6) {
  check_no_dots(...)
  max_patterns <- check_max_patterns(max_patterns)
  if (!is.null(count_var)) {
    stop_argument(
      "count_var", "be NULL where `data` is a pattern table",
      advice = "It has its counts."
    )
  }
  inner <- pattern_file(data)$data
  if (!is.null(weight_var)) check_weights(inner, weight_var)
  known <- attr(inner, "patterns")
  name <- known$weight_var
  count_patterns(
    inner, key_vars, match(name, names(inner)), known$times,
    weighing = if (!is.null(name)) {
      list(
        name = name, sums = inner[[name]], squares = known$squares, range = known$weight_range
      )
    },
    max_patterns = max_patterns
  )
}

# Patterns in the data frame that stands for them behind the door.
as_pattern_table <- function(inner, key_vars) {
  known <- attr(inner, "patterns")
  columns <- as.list(inner)[key_vars]
  columns$n <- as_count(known$times)
  weight_var <- known$weight_var
  if (!is.null(weight_var)) columns[[weight_var]] <- inner[[weight_var]]
  new_pattern_table(
    do.call(frame, columns), key_vars, known$weight_var, known$squares, known$weight_range
  )
}

new_pattern_table <- function(patterns, key_vars, weight_var, squares, weight_range) {
  structure(
    list(
      patterns = patterns, key_vars = key_vars, weight_var = weight_var,
      n_records = as_count(sum(as.double(patterns$n))), squares = squares,
      weight_range = weight_range,
      version = own_version()
    ),
    class = "sdc_pattern_table"
  )
}

# The pattern table of rows that stand for `times` records each (NULL: one) and have
# these sums of weights; `roles` are the positions of columns that are no keys.
count_patterns <- function(data, key_vars, roles, times, weighing, max_patterns) {
  table <- key_table(data, key_vars, exclude = roles)
  keys <- table$variables
  check_reserved(keys, weighing$name)
  groups <- group_records(table)
  check_few_patterns(length(groups$first_rows), max_patterns)
  total <- function(x) as.vector(rowsum(x, groups$row_group, reorder = TRUE))
  n <- if (is.null(times)) groups$counts else total(times)
  columns <- lapply(rlang::set_names(table$positions, keys), function(v) {
    pattern_values(data[[v]], groups$first_rows, names(data)[[v]])
  })
  columns$n <- as_count(n)
  if (!is.null(weighing)) columns[[weighing$name]] <- total(weighing$sums)
  new_pattern_table(
    do.call(frame, columns), keys, weighing$name,
    squares = if (!is.null(weighing)) total(weighing$squares), weighing$range
  )
}

# The values of a column in some rows; whatever is missing is NA.
pattern_values <- function(x, rows, name) {
  values <- if (inherits(x, "integer64")) {
    structure(as_bare(x)[rows], class = "integer64")
  } else {
    take_values(x, rows, name)
  }
  if (is.double(values) && !is.object(values)) {
    # One missing value, and one zero.
    values[is.nan(values)] <- NA
    values <- values + 0
  }
  values
}

check_reserved <- function(keys, weight_var) {
  taken <- intersect(c(keys, weight_var), reserved_names)
  if (length(taken)) {
    stop_sdc(
      "bad_data",
      c(
        "No key variable or weight may be called `n`.",
        x = "The counts of a pattern table have this name.", i = "Rename the column."
      ),
      names = taken
    )
  }
}

check_max_patterns <- function(max_patterns) {
  if (!are_distinct_numbers(max_patterns, FALSE) || max_patterns < 1) {
    stop_argument("max_patterns", "be one number of at least 1")
  }
  as.double(max_patterns)
}

check_few_patterns <- function(n, max_patterns) {
  if (n > max_patterns) {
    stop_sdc(
      "too_large",
      c(
        "There must not be more patterns than `max_patterns`.",
        x = paste0(
          "There are ", if (is.finite(n)) format_count(n) else "more",
          "; the limit is ", format_count(max_patterns), "."
        ),
        i = "Take fewer or coarser key variables, or raise `max_patterns`.",
        i = "Functions without it take pattern_table(data, max_patterns = ) as their data."
      ),
      n_patterns = n
    )
  }
}

# Numbers of records larger than this are no whole numbers of R.
most_records <- 2^53

# The counts in the column `count_var` as doubles, NULL without one.
check_count_var <- function(data, count_var) {
  if (is.null(count_var)) {
    return(NULL)
  }
  position <- check_column(count_var, data, "count_var")
  counts <- bare_counts(data[[position]])
  bad <- is.null(counts) || anyNA(counts) || any(counts < 1 | counts != round(counts))
  if (bad) {
    stop_argument(
      "count_var", "name a column of whole numbers of at least 1",
      found = if (is.null(counts)) {
        paste0("It has class ", quote_names(class(data[[position]])), ".")
      } else {
        paste0(
          format_count(sum(is.na(counts))), " missing, ",
          format_count(sum(counts < 1 | counts != round(counts), na.rm = TRUE)), " others."
        )
      }
    )
  }
  check_most_records(sum(counts))
  counts
}

check_most_records <- function(n) {
  if (n > most_records) {
    stop_sdc(
      "too_large",
      c(
        "A pattern table must have at most 2^53 records.",
        x = paste0("It would have ", format(n, digits = 4), ".")
      )
    )
  }
}

# Counts of any kind as doubles: those of integer64 exactly, NaN where beyond 2^53.
bare_counts <- function(x) {
  if (inherits(x, "integer64")) {
    return(wide_to_double(x))
  }
  bare_weights(x)
}

# 64-bit whole numbers as doubles, without a package that knows them: the low 32 bits
# and the high ones. Beyond 2^53 the sum is rounded, and too large for its caller.
wide_to_double <- function(x) {
  words <- matrix(readBin(writeBin(as_bare(x), raw(), endian = "little"), "integer",
    n = 2 * length(x), endian = "little"
  ), nrow = 2)
  # The missing integer is the word with the highest bit alone.
  words[is.na(words)] <- -2^31
  low <- ifelse(words[1, ] < 0, words[1, ] + 2^32, words[1, ])
  value <- words[2, ] * 2^32 + low
  value[value == -2^63] <- NA
  value
}

#' @export
as.data.frame.sdc_pattern_table <- function(x, ...) check_whole_patterns(x)$patterns

#' @export
dim.sdc_pattern_table <- function(x) dim(x$patterns)

# Update ------------------------------------------------------------------------

#' @rdname pattern_table
#' @param object A pattern table.
#' @param newdata Records to be added: what `data` may be, with the key variables and
#'   the weights of `object`. A pattern table is taken as it is.
#' @param remove Whether the records are taken away instead. They must all be in the
#'   table: fewer than no records of a pattern are an error.
#' @importFrom stats update
#' @export
update.sdc_pattern_table <- function(object, newdata, ..., remove = FALSE, count_var = NULL) {
  check_no_dots(...)
  check_given("newdata")
  check_flag(remove, "remove")
  check_whole_patterns(object)
  new <- if (is_pattern_table(newdata)) {
    check_same_keys(object, check_whole_patterns(newdata))
    newdata
  } else {
    pattern_table(
      newdata, object$key_vars,
      weight_var = object$weight_var, count_var = count_var, max_patterns = Inf
    )
  }
  keys <- object$key_vars
  n_old <- nrow(object$patterns)
  group <- groups_of_patterns(object$patterns[keys], new$patterns[keys])
  place <- group[-seq_len(n_old)]
  # Values of a table may have been recoded since: rows that are equal become one first.
  if (anyDuplicated(group[seq_len(n_old)]) || anyDuplicated(place)) {
    merge_rows <- function(table) pattern_table(table, max_patterns = Inf)
    return(update(merge_rows(object), merge_rows(new), remove = remove))
  }
  sign <- if (remove) -1 else 1
  size <- max(n_old, place)
  merged <- function(old, new) {
    out <- c(as.double(old), numeric(size - n_old))
    out[place] <- out[place] + sign * as.double(new)
    out
  }
  n <- merged(object$patterns$n, new$patterns$n)
  check_most_records(sum(n))
  fewer <- n < 0
  added <- which(place > n_old)
  columns <- Map(function(old, new, name) {
    unite_columns(list(old, new[added]), name)
  }, object$patterns[keys], new$patterns[keys], keys)
  columns$n <- n
  weighted <- object$weight_var
  squares <- NULL
  if (!is.null(weighted)) {
    columns[[weighted]] <- merged(object$patterns[[weighted]], new$patterns[[weighted]])
    squares <- merged(object$squares, new$squares)
    fewer <- fewer | (n > 0 & (columns[[weighted]] <= 0 | squares <= 0))
  }
  if (any(fewer)) stop_not_there(sum(fewer))
  patterns <- do.call(frame, columns)
  kept <- which(n > 0)
  if (length(kept) == 0) {
    stop_argument(
      "newdata", "leave at least one record in the pattern table",
      found = "It holds all of them."
    )
  }
  if (length(kept) < size) {
    patterns <- do.call(frame, Map(function(x, name) {
      pattern_values(x, kept, name)
    }, as.list(patterns), names(patterns)))
    squares <- squares[kept]
  }
  patterns$n <- as_count(patterns$n)
  new_pattern_table(
    patterns, keys, weighted, squares,
    if (!is.null(weighted)) range(object$weight_range, if (!remove) new$weight_range)
  )
}

check_same_keys <- function(object, newdata) {
  for (part in c("key_vars", "weight_var")) {
    if (!identical(object[[part]], newdata[[part]])) {
      stop_argument(
        "newdata", paste0("have the ", if (part == "key_vars") "key variables" else "weights",
                          " of `object`, in their order"),
        found = paste0(
          "It has ", if (length(newdata[[part]])) quote_names(newdata[[part]]) else "none", "."
        )
      )
    }
  }
}

stop_not_there <- function(n) {
  stop_sdc(
    "bad_argument",
    c(
      "`newdata` must hold records of the pattern table only, to be taken away.",
      x = paste0(
        plural(n, "pattern"), " of it ", if (n == 1) "has" else "have",
        " fewer records, or weights, in the table."
      ),
      i = "Were the records added, with these values and weights?"
    ),
    argument = "newdata"
  )
}

# The row of `old` that every row of `new` is; what is not among them gets rows after
# the last, in order of appearance.
places_of_patterns <- function(old, new) groups_of_patterns(old, new)[-seq_len(nrow(old))]

# The same number for equal rows of both, in order of appearance.
groups_of_patterns <- function(old, new) {
  coded <- code_requests(
    list(shared_request(list(old, new), names(old)))
  )[[1]]
  release_later(coded, front())
  codes <- Map(c, all_codes(coded[1])[[1]], all_codes(coded[2])[[1]])
  both <- do.call(frame, rlang::set_names(codes, names(old)))
  group_records(key_table(both))$row_group
}

# Print ---------------------------------------------------------------------------

#' @export
describe.sdc_pattern_table <- function(x) {
  check_whole_patterns(x)
  n <- x$n_records
  m <- nrow(x$patterns)
  counts <- x$patterns$n
  keys <- look_at_columns(pattern_file(x))
  keys <- keys[match(x$key_vars, keys$variable), ]
  description(
    title = paste0("Pattern table: ", plural(m, "pattern"), " of ", plural(n, "record")),
    question = NULL, size = paste0(plural(nrow(keys), "key variable"), ":"),
    answer = c(
      grid(
        key_table_of(keys, x$patterns), nrow(keys),
        rest = "more in x$key_vars"
      ),
      fact(
        "Records per pattern: ", format_amount(n / m), " on average, ", format_count(max(counts)),
        " at most; ", plural(sum(counts == 1), "pattern"), " of one record.",
        starts = TRUE
      ),
      if (!is.null(x$weight_var)) {
        fact(
          "Weights ", quote_names(x$weight_var), ": they sum to ",
          format_count(round(sum(x$patterns[[x$weight_var]]))), "."
        )
      },
      fact(
        "As confidential as the key variables of the file: a pattern of one record is ",
        "that record.", starts = TRUE
      )
    ),
    more = "as.data.frame(x), sdc_file(x), update(x, newdata)"
  )
}

#' @export
format.sdc_pattern_table <- function(x, ..., width = console_width(), rows = 16) {
  format_description(describe(x), width, rows)
}

#' @export
print.sdc_pattern_table <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}

# The table as a file -------------------------------------------------------------

#' @export
sdc_file.sdc_pattern_table <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                       hh_id = NULL, strata_var = NULL, sensitive = NULL,
                                       pop_size = NULL, sampling_fraction = NULL,
                                       key_groups = NULL, missing = NULL) {
  check_no_dots(...)
  given <- given_roles()
  file <- pattern_file(data)
  sdc_roles <- file$roles[setdiff(names(file$roles), names(given))]
  if (!is.null(given$sensitive) && is.null(given$key_vars)) {
    sdc_roles$key_vars <- setdiff(data$key_vars, given$sensitive)
  }
  do.call(sdc_file, c(list(file$data), sdc_roles, given))
}
