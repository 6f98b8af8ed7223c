# The figures of a result as one table, made of its declaration (R/aaa-measure.R).

#' Measures of a result as one table
#'
#' One row for each figure of a result, with its name, unit, interval, limit and verdict. Prints,
#' [file_check()], [compare_risk()] and the pages of [sdc_report()] are made of this table.
#'
#' @param x A result of sdcRisk.
#' @param ... None.
#' @param limit Limits by name as in [file_check()]: `k`, the least number of matches, and
#'   `journalist`, the largest record risk if it is not known who is in the file. `list()` for
#'   no limits. Results of [file_check()] have limits of their own, which apply unless
#'   `limit` is given.
#' @return A data frame with one row for each analysis and figure: `measure`, its name;
#'   `label`, what it is called; `value` with its 95% interval `low` to `high`, `NA` if the
#'   method has none; `unit`: `"matches"`, `"count"`, `"share"` or `"risk"`; `scenario`;
#'   `limit`; `verdict`: `"ok"` if all of the interval keeps the limit, `"above"` if all of it
#'   exceeds it, else `"unclear"`, or `"not judged"` or `"no limit"`; `n_above`, the
#'   number of records above the limit; `note`.
#' @export
#' @examples
#' keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
#' measures(n_matches(nals_prison, keys))[c("label", "value", "verdict", "n_above")]
measures <- function(x, ...) {
  UseMethod("measures")
}

#' @export
measures.default <- function(x, ...) {
  announce("measures")
  stop_argument("x", "be a result of sdcRisk", given_words(x))
}

#' @rdname measures
#' @export
measures.sdc_result <- function(x, ..., limit = list(k = 3, journalist = 0.05)) {
  enter_verb("measures", x)
  check_no_dots(...)
  rows <- figure_rows(x, limit)
  absent <- is.na(rows$value) & nzchar(rows$absent)
  rows$note[absent] <- rows$absent[absent]
  rows[setdiff(names(rows), c("analysis", "absent", "question", "attempt", "says", "base"))]
}

# The columns of the estimates that are terms of tidy().
terms_of <- function(x) eval(declaration_of(x)$terms, figure_scope(x))

figure_scope <- function(x, limit = NULL) {
  # Tables of people have no estimates.
  e <- unclass(x)$estimates
  scope <- list2env(as.list(e), parent = environment(figure_scope))
  scope$x <- x
  scope$e <- e
  scope$limit <- limit
  # The analysis that words and glance() are about.
  scope$at <- c(which.max(eval(declaration_of(x)$lead, scope)), 1L)[[1]]
  scope$main <- if (length(e)) numbered_rows(e, scope$at)
  scope
}

# The rows of a result by analysis, those of a `board` alone if it is for one, or of the figures
# named by `only`.
figure_rows <- function(x, limit, board = FALSE, only = NULL) {
  about <- declaration_of(x)
  e <- unclass(x)$estimates
  scope <- figure_scope(x, limit)
  each <- eval(about$each, scope)
  figures <- about$figures
  if (!is.null(only)) figures <- Filter(function(f) f$name %in% only, figures)
  rows <- lapply(figures, function(f) {
    value <- if (is.null(f$value)) e[[f$name]] else eval(f$value, scope)
    if (is.null(value)) {
      return(NULL)
    }
    row <- figure_row(f, value, scope)
    row$label <- paste0(row$label, each)
    row$analysis <- seq_along(value)
    if (board) lapply(row, `[`, which(rep_len(eval(f$board, scope), length(value)))) else row
  })
  rows <- lapply(rlang::set_names(names(no_figures)), function(name) {
    unlist(c(no_figures[name], lapply(rows, `[[`, name)), use.names = FALSE)
  })
  do.call(frame, lapply(rows, `[`, order(rows$analysis)))
}

figure_row <- function(f, value, scope) {
  of <- function(field, otherwise) {
    found <- eval(f[[field]], scope)
    rep_len(if (is.null(found)) otherwise else found, length(value))
  }
  bound <- function(field) {
    column <- get0(paste0(f$name, "_", field), scope, inherits = FALSE)
    as.double(of(field, if (is.null(column) || !is.null(f[[field]])) NA_real_ else column))
  }
  limit <- if (is.null(f$limit) && !is.null(f$key)) scope$limit[[f$key]] else eval(f$limit, scope)
  limit <- rep_len(if (is.null(limit)) NA_real_ else as.double(limit), length(value))
  low <- bound("low")
  high <- bound("high")
  verdict <- judge(value, limit, f$unit, low, high)
  verdict[of("unclear", FALSE) & !is.na(value)] <- "unclear"
  list(
    measure = rep(f$name, length(value)), label = of("label", f$name), value = as.double(value),
    low = low, high = high, unit = rep(f$unit, length(value)),
    scenario = rep(f$scenario, length(value)), limit = limit,
    verdict = verdict, n_above = as.double(of("n_above", NA_real_)),
    note = of("note", ""), absent = of("absent", ""), says = of("says", ""),
    base = as.double(of("of", NA_real_)),
    question = rep(if (is.null(f$question)) "" else f$question, length(value)),
    attempt = rep(f$attempt, length(value))
  )
}

no_figures <- list(
  measure = character(), label = character(), value = double(), low = double(), high = double(),
  unit = character(), scenario = character(), limit = double(), verdict = character(),
  n_above = double(), note = character(), absent = character(), says = character(),
  base = double(), question = character(), attempt = logical(), analysis = integer()
)

# The verdict of a whole interval, or of the value if it has none. Bounds are met up to rounding.
judge <- function(value, limit, unit, low = NA, high = NA) {
  limit <- rep_len(limit, length(value))
  sign <- ifelse(unit == "matches", -1, 1)
  beyond <- function(bound) {
    bound <- rep_len(bound, length(value))
    bound[is.na(bound)] <- value[is.na(bound)]
    which(sign * bound > sign * limit + 1e-9)
  }
  verdict <- rep("ok", length(value))
  verdict[beyond(high)] <- "unclear"
  verdict[beyond(low)] <- "above"
  verdict[is.na(limit)] <- "no limit"
  verdict[is.na(value)] <- "not judged"
  verdict
}
