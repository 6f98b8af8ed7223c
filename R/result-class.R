# Common shape of all results, and the verbs that read it.
#
# A result is a list of class c("sdc_<function>", "sdc_result") with
#   estimates    data frame, one row per analysis
#   records      data frame, one row per record of the input, or NULL
#   settings     what was asked, with a fingerprint of the data, not the data
#   diagnostics  how the computation went
#   call         the call
# and the extras of its method. A method adds a declaration (R/aaa-measure.R), of which prints,
# sentences and summaries are made (R/result-print.R).

new_sdc_result <- function(class, estimates, records, settings, diagnostics,
                           call, ...) {
  result <- structure(
    list(
      estimates = estimates, records = records, settings = settings,
      diagnostics = diagnostics, call = call, ...
    ),
    class = c(class, "sdc_result")
  )
  attr(result, "fields") <- fields_of(result)
  asked <- running_asked()
  if (length(asked)) result <- with_asked(by_pattern(result, asked[[1]]$patterns), asked[[1]])
  result
}

# Data frames of the same columns below each other, as rbind() puts them where columns
# are plain vectors and rows have no names, without the cost of looking for others.
stack_frames <- function(frames) {
  frames <- frames[lengths(frames) > 0]
  if (length(frames) < 2) {
    return(if (length(frames)) frames[[1]])
  }
  do.call(frame, do.call(Map, c(list(c), unname(lapply(frames, as.list)))))
}

renumber <- function(table) {
  rownames(table) <- NULL
  table
}

# Rows of a data frame, numbered anew.
numbered_rows <- function(table, rows) {
  do.call(frame, lapply(as.list(table), function(column) column[rows]))
}

#' Structure of results
#'
#' All functions of sdcRisk that estimate a risk return a list of class
#' `sdc_result` with the same fields and the same verbs.
#'
#' @section Fields:
#' \describe{
#'   \item{`estimates`}{data frame, one row per analysis}
#'   \item{`records`}{data frame, one row per record of the input in input
#'     order, or `NULL` if the method has no risk per record}
#'   \item{`patterns`}{in its place if `data` was a [pattern_table()]: the key
#'     variables, the number `n` of records, and the columns of `records`}
#'   \item{`settings`}{what was asked, and a fingerprint of the data; never
#'     the data. If random numbers were drawn, `seed` holds the draws of R's generator
#'     that started them, eight for each start: [replay()] computes the result again
#'     from them, [set.seed()] before the call from the beginning. Releases of
#'     [invariant_pram()] keep none, since it would undo their protection, and no result
#'     keeps the state of the generator, from which earlier draws could be read}
#'   \item{`diagnostics`}{how the computation went}
#'   \item{`call`}{the call}
#' }
#'
#' @section Verbs:
#' \describe{
#'   \item{`print()`, `format()`}{the question, the answer and its scenario in at
#'     most 16 rows of the console's width, or in as many `rows` of another `width`;
#'     never a record's values}
#'   \item{`summary()`}{more of the same, and by `by` the record risks by
#'     strata: number of records, mean, 95% and 99% quantile and maximum}
#'   \item{`as.data.frame()`}{the main table of the method}
#'   \item{`tidy()`}{the estimates in long form with the names of broom: `term`, `estimate`,
#'     `std.error`, `conf.low`, `conf.high`, `NA` if the method has none; if a measure has a limit
#'     also `limit` and `verdict`, those of [measures()]}
#'   \item{`glance()`}{one row for the whole run}
#'   \item{`augment()`}{`data` with the columns of `records`, their names
#'     beginning with a dot}
#'   \item{`plot()`, `autoplot()`}{pictures, with ggplot2; load ggplot2 to call
#'     `autoplot()` by its name}
#'   \item{[interpret()]}{at most three sentences to cite}
#'   \item{[compare_risk()]}{several results side by side}
#' }
#'
#' @param object,x A result.
#' @param by Strata: a vector with one value per record, or the name of a
#'   column of `data`. Missing values form a stratum of their own.
#' @param data The data the result was made from. Other data are an error of
#'   class `sdcRisk_error_mismatched_data`: a fingerprint is compared, of the
#'   values of the key variables and of the weights, households and sensitive
#'   columns that the result depends on. Equal values may be stored differently:
#'   a factor as text, the levels of an unordered factor in another order.
#'   A result that was saved by an older version, or whose fields were lost or
#'   changed (their types, classes, lengths and names are compared, not their
#'   values), is an error of class `sdcRisk_error_damaged_result`: it must be
#'   computed again. `records` may be let go, as by `x["records"] <- list(NULL)`:
#'   what needs them is refused then.
#' @param ... Passed on to methods.
#' @return `summary()` an object of class `sdc_summary`, a list of data frames
#'   with a print method. `tidy()` and `glance()` a tibble. `augment()`
#'   `data`, in its own class. `plot()` the ggplot, invisibly.
#' @name sdc_result
#' @aliases print.sdc_result
#' @examples
#' risk <- qar_risk(adult, pi_u = 0.1)
#' generics::tidy(risk)
#' generics::glance(risk)$n_sets # 165
NULL

#' @importFrom generics tidy
#' @export
generics::tidy

#' @importFrom generics glance
#' @export
generics::glance

#' @importFrom generics augment
#' @export
generics::augment

# The risk of every record, or NULL.
record_risk <- function(x) {
  UseMethod("record_risk")
}

#' @export
record_risk.default <- function(x) eval(declaration_of(x)$risk, list(x = x))

#' @export
as.data.frame.sdc_result <- function(x, ...) {
  announce("as.data.frame")
  shown <- declaration_of(x)$frame
  if (!is.null(shown)) {
    return(eval(shown, list(x = check_result(x))))
  }
  if (is.null(judged_rows(x))) {
    stop_sdc(
      "bad_argument", "The result must have a table of records.",
      x = "It has none: the risk is one of key sets or of the file, or no records were given.",
      i = "tidy(x) gives the estimates as a table.",
      argument = "x"
    )
  }
  judged_rows(x)
}

#' @rdname sdc_result
#' @export
tidy.sdc_result <- function(x, ...) {
  enter_verb("tidy", x)
  terms <- terms_of(x)
  n <- nrow(x$estimates)
  rows <- rep(seq_len(n), each = length(terms))
  pick <- function(columns) {
    as.vector(t(as.matrix(x$estimates[columns])))
  }
  out <- x$estimates[rows, declaration_of(x)$ids, drop = FALSE]
  out$term <- rep(terms, n)
  out$estimate <- pick(terms)
  bound <- function(suffix) {
    values <- lapply(terms, function(term) {
      column <- bound_column(term, suffix, term == terms[[1]], names(x$estimates))
      if (length(column)) x$estimates[[column]] else rep(NA_real_, n)
    })
    as.vector(do.call(rbind, values))
  }
  out$std.error <- bound("se")
  out$conf.low <- bound("low")
  out$conf.high <- bound("high")
  as_tidy(renumber(with_verdicts(out, x, rows)))
}

# Limits and verdicts of the terms that are measures with a limit by declaration, or that stand for
# one. `analysis`: the row of the estimates of each term.
with_verdicts <- function(out, x, analysis) {
  figures <- Filter(function(f) {
    !is.null(f$limit) || !is.null(f$key) && f$key %in% names(print_limits)
  }, declaration_of(x)$figures)
  if (length(figures) == 0) {
    return(out)
  }
  rows <- figure_rows(x, print_limits)
  rows <- rows[rows$measure %in% names(figures), ]
  # Measures may be rows of the estimates.
  at <- if ("measure" %in% names(out)) {
    match(out$measure, rows$measure)
  } else {
    match(paste(analysis, out$term), paste(rows$analysis, rows$measure))
  }
  out$limit <- rows$limit[at]
  out$verdict <- ifelse(is.na(at), "no limit", rows$verdict[at])
  # Fewest matches k are a largest risk of 1 / k.
  for (f in Filter(function(f) !is.null(f$term), figures)) {
    risk <- out$term == f$term
    out$limit[risk] <- 1 / print_limits[[f$key]]
    out$verdict[risk] <- judge(out$estimate[risk], out$limit[risk], "risk")
  }
  out
}

# The column of a bound of a term: `correct_low` is that of `expected_correct`, `low` alone that of
# the first term.
bound_column <- function(term, suffix, leads, columns) {
  words <- strsplit(term, "_", fixed = TRUE)[[1]]
  endings <- vapply(seq_along(words), function(i) paste(words[i:length(words)], collapse = "_"), "")
  possible <- c(paste0(endings, "_", suffix), if (leads) suffix)
  utils::head(possible[possible %in% columns], 1)
}

# A tibble, which prints as one where the package tibble is loaded.
as_tidy <- function(table) structure(table, class = c("tbl_df", "tbl", "data.frame"))

# A table with one row per variable in the shape of tidy().
tidy_variables <- function(x, terms) {
  terms <- intersect(terms, names(x))
  n <- nrow(x)
  as_tidy(frame(
    variable = rep(x$variable, each = length(terms)), term = rep(terms, n),
    estimate = as.vector(t(as.matrix(as.data.frame(x)[terms]))) + 0,
    std.error = rep(NA_real_, n * length(terms)), conf.low = rep(NA_real_, n * length(terms)),
    conf.high = rep(NA_real_, n * length(terms))
  ))
}

# One row: the size of the file, the leading analysis, how it went and what was asked.
#' @rdname sdc_result
#' @export
glance.sdc_result <- function(x, ...) {
  enter_verb("glance", x)
  e <- x$estimates
  at <- figure_scope(x)$at
  settings <- x$settings
  parts <- c(
    list(
      n_records = c(settings$n, x$diagnostics$n, e$n_records[at])[1],
      n_keys = length(unique(unlist(key_names(x)))), n_analyses = nrow(e)
    ),
    if (!inherits(x, "sdc_variables")) as.list(e[at, , drop = FALSE]),
    single_values(x$diagnostics),
    list(missing = if (length(settings$missing)) missing_label(settings$missing)),
    single_values(settings[setdiff(names(settings), c("version", "n", "fingerprint", "num_vars"))]),
    list(fingerprint = settings$fingerprint)
  )
  parts <- parts[lengths(parts) == 1]
  as_tidy(do.call(frame, parts[!duplicated(names(parts))]))
}

# The key variables of a result, without continuous ones that it is about.
key_names <- function(x) setdiff(x$settings$key_vars, x$settings$num_vars)

single_values <- function(x) {
  Filter(function(value) is.atomic(value) && length(value) == 1 && is.null(names(value)), x)
}

# The rule for missing values as one word, or as "category: stat; wildcard: age".
missing_label <- function(missing) {
  if (length(missing) == 1) {
    return(missing)
  }
  by <- split(names(missing), missing)
  paste0(names(by), ": ", vapply(by, paste, "", collapse = ", "), collapse = "; ")
}

#' @rdname sdc_result
#' @export
augment.sdc_result <- function(x, data, ...) {
  enter_verb("augment", x)
  check_given("data")
  if (is.null(x$records)) {
    of_patterns <- !is.null(x$patterns)
    stop_sdc(
      "bad_argument", "Only a result with records can be added to data.",
      x = if (of_patterns) {
        "This one is about a pattern table: it has `patterns`."
      } else {
        "This method gives risks of key sets or files, not of records."
      },
      i = if (of_patterns) "Join `x$patterns` to the records by their key variables.",
      argument = "x"
    )
  }
  file <- data
  data <- bare_data(data)
  check_same_data(x, data)
  columns <- rlang::set_names(x$records, paste0(".", names(x$records)))
  taken <- intersect(names(columns), names(data))
  refuse_names(
    taken, "data", "have no column of the names to be added",
    "Already there", "Rename the columns of the earlier result, or take them out."
  )
  if (inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    # A copy with room for columns, or `:=` would complain later.
    data <- data.table::copy(data)
    data.table::set(data, j = names(columns), value = as.list(columns))
    return(data)
  }
  for (column in names(columns)) {
    data[[column]] <- columns[[column]]
  }
  if (inherits(file, "sdc_file")) keep_file(data, file, same_records = TRUE) else data
}

#' @rdname sdc_result
#' @export
plot.sdc_result <- function(x, ...) {
  announce("plot")
  if (inherits(x, "sdc_result")) check_result(x)
  check_installed("ggplot2", "draw results")
  picture <- ggplot2::autoplot(x, ...)
  print(picture)
  invisible(picture)
}

#' @export
plot.sdc_comparison <- plot.sdc_result

# The stratum of every record: a vector, or the name of a column of `data`.
resolve_strata <- function(x, by, data, n) {
  if (is.character(by) && length(by) == 1 && n != 1) {
    if (is.null(data)) {
      stop_argument(
        "by", "be a vector with one value per record if `data` is not given",
        advice = "Give `data` to name one of its columns."
      )
    }
    check_same_data(x, data)
    data <- bare_data(data)
    by <- data[[check_columns(by, data, "by")]]
  }
  if (length(by) != n) {
    stop_argument(
      "by", paste("have one value for each of the", n, "records"),
      found = paste0("It has ", length(by), ".")
    )
  }
  values <- if (is.factor(by)) levels(by) else sorted_values(by)
  if (length(values) > most_strata) {
    stop_argument(
      "by", paste("have at most", most_strata, "values"),
      found = paste0("It has ", format_count(length(values)), "."),
      advice = "cut() makes classes of a number."
    )
  }
  if (!is.factor(by)) by <- factor(by, values, value_names(values))
  addNA(by, ifany = TRUE)
}

# More are no strata but values of records.
most_strata <- 100

risk_by_strata <- function(x, by, data) {
  risk <- record_risk(x)
  if (is.null(risk)) {
    if (!is.null(by)) {
      stop_argument("by", "be NULL for this result", found = "It has no risk per record.")
    }
    return(NULL)
  }
  strata <- if (is.null(by)) {
    factor(rep("all records", length(risk)))
  } else {
    resolve_strata(x, by, data, length(risk))
  }
  times <- judged_times(x)
  parts <- split(seq_along(risk), strata)
  of <- function(f) vapply(parts, function(rows) f(risk[rows], times[rows]), 0, USE.NAMES = FALSE)
  known <- function(f) {
    of(function(r, n) if (all(is.na(r))) NA_real_ else f(r[!is.na(r)], n[!is.na(r)]))
  }
  frame(
    stratum = names(parts),
    n = as_count(of(function(r, n) sum_over(rep(1, length(r)), n))),
    n_missing = as_count(of(function(r, n) sum_over(as.double(is.na(r)), n))),
    mean = known(mean_over),
    q95 = known(function(r, n) quantile_over(r, 0.95, n)),
    q99 = known(function(r, n) quantile_over(r, 0.99, n)),
    max = known(function(r, n) max(r))
  )
}
