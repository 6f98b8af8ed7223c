#' Count the distinct patterns of a large file
#'
#' Counts how often each combination of key variables occurs. Use it for files that are too large
#' for memory, or must not leave their database. The table is small, can be saved, and replaces the
#' file as `data`. `update()` adds or removes the records of another month without the old file.
#'
#' @details
#' A pattern is a combination of values of the key variables. Missing is a value of its own in
#' it: the function that takes the table decides what missing values match.
#' Patterns are in the order of their first occurrence in the file.
#'
#' Functions that take a pattern table: [qar_risk()], [n_matches()],
#' [individual_risk()], [loglinear_risk()], [exhaustive_tabulation()], [key_overview()],
#' [copula_fit()], [copula_uniqueness()], [population_uniqueness()], [population_risk()],
#' [special_uniques()], [recode_search()], [file_check()]. Their results are those of the file:
#' counts are equal to the last digit, sums of weights to twelve digits. `records` is `NULL`, and
#' `patterns` has a row for each pattern with the key variables, the number `n` of records, and the
#' columns that `records` would have. A key variable with the name of such a column is called
#' `<name>.key` there.
#' `key_vars` can drop key variables but not add any, so include all that you may need. A sensitive
#' variable of [n_matches()] is one of them.
#'
#' Other functions have results for single records, change them, or need households: a pattern
#' table is an error there. So are the arguments `hh_id`, `strata_var` and `newdata`.
#'
#' With `weight_var` the table has the sum of the weights of every pattern under that name,
#' together with the sum of their squares and the range of the weights, which the precision
#' of some estimates needs. [copula_fit()] needs the weight of every record: it takes
#' a pattern table with weights if all records of a pattern have equal weights.
#'
#' @section What is confidential:
#' A pattern with `n = 1` is a record. The table is as confidential as the key variables
#' of the file, and prints show counts alone.
#'
#' @section Cost:
#' One pass over the file: about that of [key_overview()] without its pairs. The table has
#' 8 bytes and the key variables per pattern. Coarse key variables leave few
#' patterns; many or fine ones leave nearly as many patterns as records, so that a
#' pattern table saves nothing: `max_patterns` prevents this.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 130 bytes a record.
#'
#' @param data A data frame, tibble, data.table, [sdc_file()], sdcMicroObj, or another
#'   pattern table, of which a coarser one is made.
#' @param key_vars Names or positions of the key variables. `NULL`: those of the file, or
#'   all columns that have no other role. None may be called `n`.
#' @inheritParams sdcRisk-params
#' @param count_var Name of a column with the number of records of each row, whole numbers of at
#'   least 1 (integer64 too), if the data were counted elsewhere.
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

#' @export
pattern_table.data.frame <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                     count_var = NULL, max_patterns = 5e6) {
  announce("pattern_table")
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
  announce("pattern_table")
  check_no_dots(...)
  data <- as_file(data, "data")
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
pattern_table.sdc_open_file <- pattern_table.sdc_file

#' @export
pattern_table.sdcMicroObj <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                      count_var = NULL, max_patterns = 5e6) {
  announce("pattern_table")
  check_column_arguments()
  pattern_table(
    micro_file(data, "data"), key_vars, ...,
    weight_var = weight_var, count_var = count_var, max_patterns = max_patterns
  )
}

#' @export
pattern_table.sdc_pattern_table <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                            count_var = NULL, max_patterns = 5e6) {
  announce("pattern_table")
  check_no_dots(...)
  max_patterns <- check_max_patterns(max_patterns)
  if (!is.null(count_var)) {
    stop_argument(
      "count_var", "be NULL if `data` is a pattern table",
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

# The counts in the column `count_var` as doubles, NULL without one.
check_count_var <- function(data, count_var) {
  if (is.null(count_var)) {
    return(NULL)
  }
  position <- check_column(count_var, data, "count_var")
  counts <- bare_counts(data[[position]])
  if (is.null(counts) || anyNA(counts) || any(counts < 1 | counts != round(counts))) {
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
  announce("update")
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
    if (remove) {
      # Rounding may lose small weights that are added to large ones: n records weigh at least n
      # times the least weight, and their squares are at least those of equal weights.
      least <- n * object$weight_range[[1]]
      columns[[weighted]] <- restored(columns[[weighted]], least, object$patterns[[weighted]])
      squares <- restored(squares, columns[[weighted]]^2 / n, object$squares)
    }
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

# Differences that rounding took below the `least` that they can be; both are small beside what
# they were taken from.
restored <- function(x, least, from) {
  lost <- which(abs(x) <= 1e-12 * from & least <= 1e-12 * from)
  x[lost] <- pmax(x[lost], least[lost])
  x
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
    "bad_argument", "`newdata` must hold records of the pattern table only, to be taken away.",
    x = paste0(
      plural(n, "pattern"), " of it ", if (n == 1) "has" else "have",
      " fewer records, or weights, in the table."
    ),
    i = "Were the records added, with these values and weights?",
    argument = "newdata"
  )
}

# A file of records as the pattern table that it would make; what makes none stays.
as_patterns <- function(data, roles) {
  if (!is.data.frame(data) && !is_lazy_table(data) || !is.null(times_of(data))) {
    return(data)
  }
  tryCatch(
    file_data(pattern_table(data, roles$key_vars, weight_var = roles$weight_var)),
    sdcRisk_error = function(e) data
  )
}
