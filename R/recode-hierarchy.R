#' Recoding levels of a key variable
#'
#' How may a variable be coarsened? A hierarchy gives its levels from 0 (as it
#' is) upwards, each a function of the one below: ages in bands of 5, 10 and 20
#' years, codes with three, two and one digit, a table of regions. [recode_search()]
#' chooses among them.
#'
#' @details
#' Say one of the following, or nothing for a proposal:
#' * `widths`: bands of a number, or of the years of a date, counted from
#'   `origin`. Every width must divide the next: 5, 10, 20, not 2, 5. Values must be finite
#'   and span at most 100,000 of the first width.
#' * `breaks`: cut points, a vector for one level or a list of vectors, each a
#'   subset of the one before. Bands are closed below, and the first and last are
#'   open: `c(18, 65)` gives below 18, 18 to 64, and 65 and over.
#' * `digits`: how many leading characters of a code stay, falling: `c(3, 2, 1)`.
#'   Codes of different lengths need `pad`.
#' * `units`: of dates, any of `"day"`, `"month"`, `"quarter"`, `"year"`,
#'   `"5 years"`, `"10 years"`. Weeks do not nest in months.
#' * `table`: one column per level, the first the values; a matrix, a data frame,
#'   or the name of a CSV file in UTF-8 without a header, fields separated by semicolons, as
#'   ARX writes them. A blank or `NA` in the first column means missing.
#' * `rare`: values with fewer records than this, or a smaller share, become
#'   `"(other)"`; several, rising, make several levels.
#' * `top`, `bottom`: numbers above or below are set to these. With `widths` they
#'   are one number each, apply to all levels and make the first; alone, several
#'   (falling for `top`, rising for `bottom`) make several levels.
#'
#' Where nothing is said: numbers get bands of 5, 10, 20 and 40 units, powers of
#' ten finer or coarser by their range; dates months, quarters, years, 5 and 10
#' years; text whose values are digits of one length loses them from the right;
#' all else is merged from k values to about
#' \eqn{k^{1 - i/(m - 1)}}{k^(1 - i/(m - 1))} groups at level i of m, at most six
#' levels, the two rarest groups first, of ordered values the two neighbours that
#' are rarest together. A proposal knows frequencies and no meaning: look at it, and
#' give a table where you know better.
#'
#' @section Missing values:
#' Missing is a value of its own at all levels but the last, in which all values
#' are one; a table may place it elsewhere.
#'
#' @section Cost:
#' Grows with the number of distinct values; the records are looked at once.
#'
#' @section Memory:
#' Beyond `x`: at most 40 bytes a record.
#'
#' @param x The variable's values, as in the file. With nothing else given, a data
#'   frame or matrix is taken as `table`, and so is the name of a CSV file.
#' @param ... Must be empty: later arguments must be named in full.
#' @param widths,breaks,digits,units,table,rare,top,bottom Levels, see Details.
#' @param origin Where bands begin to be counted, 0 by default.
#' @param pad For `digits`, the character that fills shorter codes on the left, or
#'   `""` to take them as they are.
#' @param drop Whether a last level is added in which all values are one.
#' @param name The variable's name, for messages; by default that in `x`.
#'
#' @return An object of class `sdc_hierarchy`; `as.data.frame()` gives the table
#'   of levels, one row per value and one column per level, `length()` the number
#'   of levels. Equal levels are dropped with a message of class
#'   `sdcRisk_message_dropped_level`. Errors (`sdcRisk_error_bad_argument`) name
#'   the variable: levels that are not nested, values without a group, widths that
#'   do not divide each other or make too many bands, codes of different lengths.
#' @references
#' Samarati, P. (2001). Protecting respondents' identities in microdata release.
#' IEEE Transactions on Knowledge and Data Engineering 13, 1010-1027.
#' \doi{10.1109/69.971193}.
#' @family recoding
#' @export
#' @examples
#' age <- hierarchy(adult$age, widths = c(5, 10, 20))
#' age
#' length(age) # 5: years, three widths, dropped
#' region <- data.frame(
#'   state = c("n1", "n2", "s1"), part = c("north", "north", "south"), all = "*"
#' )
#' as.data.frame(hierarchy(region))
hierarchy <- function(x, ..., widths = NULL, breaks = NULL, digits = NULL, units = NULL,
                      table = NULL, rare = NULL, top = NULL, bottom = NULL, origin = 0,
                      pad = NULL, drop = TRUE, name = NULL) {
  check_no_dots(...)
  check_given("x")
  name <- if (is.null(name)) variable_name(substitute(x)) else as.character(name)[[1]]
  check_flag(drop, "drop")
  if (!are_distinct_numbers(origin, FALSE) || !is.finite(origin)) {
    stop_argument("origin", "be one finite number")
  }
  asked <- list(
    widths = widths, breaks = breaks, digits = digits, units = units, table = table, rare = rare
  )
  given <- names(asked)[!vapply(asked, is.null, NA)]
  if (length(given) > 1) {
    stop_argument(
      given[[2]], "be the only way in which levels are given",
      found = paste0("Also given: `", given[[1]], "`.")
    )
  }
  if (length(given) == 0 && is_level_table(x)) {
    given <- "table"
    asked$table <- x
    x <- NULL
  }
  about <- list(name = name, origin = origin, pad = pad, top = top, bottom = bottom)
  if (identical(given, "table")) {
    return(table_hierarchy(asked$table, x, drop, about))
  }
  values <- hierarchy_values(x, about)
  check_ends(values$values, given, about)
  kind <- if (length(given)) given else if (is.null(top) && is.null(bottom)) "proposal" else "ends"
  steps <- switch(kind,
    widths = width_steps(values, widths, about),
    breaks = break_steps(values, breaks, about),
    digits = digit_steps(values, digits, about),
    units = unit_steps(values, units, about),
    rare = rare_steps(values, rare, about),
    ends = end_steps(values, about),
    proposal = proposed_steps(values, about)
  )
  made <- new_hierarchy(values$values, steps, drop, kind, about, values$has_missing)
  # What makes the same levels of the same values again.
  rule <- c(asked[given], about[c("top", "bottom", "pad")], list(
    origin = if (!identical(origin, 0)) origin, drop = if (!drop) FALSE
  ))
  made$rule <- Filter(Negate(is.null), rule)
  made
}

# The variable's name in `data$age`, `data[["age"]]` and `age`.
variable_name <- function(expr) {
  if (is.call(expr) && as.character(expr[[1]])[[1]] %in% c("$", "[[", "[") && length(expr) > 2) {
    last <- expr[[length(expr)]]
    if (is.name(last) || is.character(last)) {
      return(as.character(last)[[1]])
    }
  }
  if (is.name(expr)) as.character(expr) else "x"
}

is_level_table <- function(x) {
  is.data.frame(x) || is.matrix(x) || is_csv_name(x)
}

is_csv_name <- function(x) {
  is.character(x) && length(x) == 1 && !is.na(x) && grepl("[.](csv|txt)$", x, ignore.case = TRUE)
}

stop_hierarchy <- function(about, must, found = NULL, advice = NULL) {
  stop_sdc(
    "bad_argument",
    c(
      paste0("The hierarchy of ", quote_names(about$name), " must ", must, "."),
      x = found, i = advice
    ),
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
hierarchy_values <- function(x, about) {
  bare <- if (inherits(x, "haven_labelled")) as_bare(drop_user_missing(x)) else x
  known <- is_sortable(bare) && length(dim(bare)) == 0 && !is_candidates(x)
  if (!known || !length(bare)) {
    stop_hierarchy(
      about, "be made from a number, a date, text, a logical or a factor",
      if (known) "It has no values." else paste0("It has class ", quote_names(class(x)), ".")
    )
  }
  text <- if (is.factor(bare)) levels(bare) else bare
  if (is.character(text) && !all(validEnc(text))) {
    stop_hierarchy(about, "be made from text whose bytes are characters", "Some are not.")
  }
  # A level that is missing is no value: factor() leaves it out.
  bare <- if (is.factor(bare)) factor(bare) else bare
  values <- if (is.factor(bare)) {
    factor(levels(bare), levels(bare), ordered = is.ordered(bare))
  } else {
    sort(unique(bare), method = "radix")
  }
  if (!length(values)) {
    stop_hierarchy(about, "be made from a variable with values", "All are missing.")
  }
  list(
    values = values, counts = tabulate(match(bare, values), length(values)),
    has_missing = anyNA(bare)
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
      c(
        paste0(
          "Every level of the hierarchy of ", quote_names(about$name),
          " is to change something."
        ),
        x = paste0("Dropped: level ", paste(which(same) - 1L, collapse = ", "), ".")
      ),
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
    first <- labels[[level]][match(below, below)]
    if (!identical(first, labels[[level]])) {
      stop_hierarchy(
        about, "be nested: each level a function of the one below",
        paste0("Level ", level - 1L, " separates values that level ", level - 2L, " joins."),
        "Values that share a group must share one at every level above."
      )
    }
  }
}

#' @export
length.sdc_hierarchy <- function(x) length(x$steps)

#' @export
as.data.frame.sdc_hierarchy <- function(x, ...) {
  check_whole_hierarchy(x)
  do.call(frame, rlang::set_names(x$labels, paste0("level_", seq_along(x$labels) - 1L)))
}

hierarchy_kinds <- c(
  proposal = "proposed from frequencies and range: look whether the groups have a meaning",
  table = "from a table", widths = "bands of a width", breaks = "bands between breaks",
  digits = "leading characters of a code", units = "units of time",
  rare = "rare values merged", ends = "top and bottom coding"
)

#' @export
format.sdc_hierarchy <- function(x, ...) {
  check_whole_hierarchy(x)
  n_groups <- vapply(x$labels, function(l) length(unique(l)), 1L)
  examples <- vapply(x$labels, function(l) {
    shown <- unique(l)
    shown <- shown[!is.na(shown)]
    most <- if (length(shown) > 4) c(1, 2, length(shown)) else seq_along(shown)
    text <- shorten(shown[most], 18)
    if (length(shown) > 4) text <- append(text, "...", 2)
    paste(text, collapse = ", ")
  }, "")
  c(
    paste0(
      "Hierarchy of ", quote_names(x$name), ": ", plural(length(x), "level"), " of ",
      plural(length(x$values), "value"), ", ", hierarchy_kinds[[x$kind]]
    ),
    format_table(frame(
      level = seq_along(x$labels) - 1L, groups = n_groups,
      recoding = vapply(x$steps, `[[`, "", "words"), examples = examples
    ))
  )
}

#' @export
print.sdc_hierarchy <- function(x, ...) {
  cat(wrap_lines(format(x, ...)), sep = "\n")
  invisible(x)
}
