#' Define the recoding levels of a key variable
#'
#' Defines how a variable can be coarsened: levels from 0 (unchanged) upwards, each a function of
#' the one below. Use bands of 5, 10 and 20 years for ages, fewer digits for codes, a table for
#' regions. [recode_search()] chooses among the levels.
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
#' * `rare` with `population`: values with fewer people than this, in the population, are merged,
#'   and then the next least populous ones until `"(other)"` has that many people itself. For areas
#'   whose population must reach a threshold, such as 100,000.
#'
#' If you say nothing: numbers get bands of 5, 10, 20 and 40 units, powers of ten finer or
#' coarser by their range; dates months, quarters, years, 5 and 10 years; codes that are text,
#' of three or more digits with gaps, with leading zeros, or of letters and digits, lose
#' characters from the right; all else is merged from k values to
#' about \eqn{k^{1 - i/(m - 1)}}{k^(1 - i/(m - 1))} groups at level i of m, at most six
#' levels. Of ordered values the two neighbours that are rarest together are merged first,
#' of others the two rarest groups. They are based on frequencies only: check that the
#' groups make sense, and give a table if they do not.
#'
#' Text and factors are ordered if all their values are numbers, intervals or dates, and no
#' two overlap: `"(0,15]"`, `"15-29"`, `"80+"`, `"<5"`, `"under 15"`, `"65 and over"`,
#' `"none"`, `"1,000-1,999"`, `"5 to 9 employees"`, `"$0-$9,999"`, `"Y_GE65"`, `"E10_49"`,
#' `"1st quintile"`, `"IV"`, `"31.12.1990"`, `"1 January 1990"`, `"2001-01"`, `"2001 Q1"`,
#' `"Monday"`, in English, German, French, Spanish, Italian and Dutch. Units of time are
#' compared (`"6 months"`, `"2 years"`), other units must be one. Ages as text, `"18"` to
#' `"79"` and `"80+"`, get bands. Answers such as `"unknown"`, `"not stated"` or `"k.A."`
#' stay a group of their own until the variable is dropped. Words such as `"never"` and
#' `"often"` have no order that is known: their groups come from frequencies alone. Make
#' them an ordered factor.
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
#' @param x The variable's values, as in the file: a number (an integer64 below 2^53
#'   too), text, a factor, a date, a time or a logical. With nothing else given, a data
#'   frame or matrix is taken as `table`, and so is the name of a CSV file.
#' @param ... Rarely used arguments, those of `hierarchy_control()`, by their full names, or
#'   together: `control = hierarchy_control(...)`.
#' @param widths,breaks,digits,units,table,rare,top,bottom Levels, see Details.
#' @param origin Where bands begin to be counted, 0 by default.
#' @param population For `rare`, the number of people of each value, a vector named by the values.
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
#' @concept global recoding
#' @concept generalization hierarchy
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
                      table = NULL, rare = NULL, top = NULL, bottom = NULL, drop = TRUE,
                      name = NULL) {
  ask <- announce("hierarchy")
  origin <- ask$origin
  check_no_dots(...)
  check_given("x")
  name <- if (is.null(name)) variable_name(substitute(x)) else as.character(name)[[1]]
  check_flag(drop, "drop")
  check_number(origin, "origin", "be one finite number", is.finite(origin))
  if (!is.null(ask$population) && is.null(rare)) {
    stop_argument("population", "be given with `rare`, the least number of people")
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
  about <- list(
    name = name, origin = origin, pad = ask$pad, top = top, bottom = bottom,
    population = ask$population
  )
  if (identical(given, "table")) {
    return(table_hierarchy(asked$table, x, drop, about))
  }
  values <- hierarchy_values(x, about)
  check_ends(values$values, given, about)
  if (!length(given) && is.null(top) && is.null(bottom)) {
    made <- proposed_hierarchy(values, about, drop)
    made$rule <- list(drop = FALSE)[!drop]
    return(made)
  }
  kind <- if (length(given)) given else "ends"
  steps <- switch(kind,
    widths = width_steps(values, widths, about),
    breaks = break_steps(values, breaks, about),
    digits = digit_steps(values, digits, about),
    units = unit_steps(values, units, about),
    rare = rare_steps(values, rare, about),
    ends = end_steps(values, about)
  )
  made <- new_hierarchy(values$values, steps, drop, kind, about, values$has_missing)
  # Settings that make equal levels of equal values again.
  rule <- c(asked[given], about[c("top", "bottom", "pad")], list(
    origin = if (!identical(origin, 0)) origin, drop = if (!drop) FALSE
  ))
  if (is.null(about$population)) made$rule <- Filter(Negate(is.null), rule)
  made
}

#' @rdname hierarchy
#' @export
hierarchy_control <- function(origin = 0, pad = NULL, population = NULL, ...) {
  new_control("hierarchy_control")
}

is_level_table <- function(x) {
  is.data.frame(x) || is.matrix(x) || is_csv_name(x)
}

#' @export
length.sdc_hierarchy <- function(x) length(x$steps)

#' @export
as.data.frame.sdc_hierarchy <- function(x, ...) {
  announce("as.data.frame")
  check_whole_hierarchy(x)
  do.call(frame, rlang::set_names(x$labels, paste0("level_", seq_along(x$labels) - 1L)))
}

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
print.sdc_hierarchy <- print_wrapped

# Entries of a table that a log holds at most.
most_logged_levels <- 10000

# Called where hierarchies were given, by name of the variable.
note_hierarchies <- function(hierarchies) {
  asked <- running$ask$.asked
  if (!is.null(asked) && length(hierarchies)) {
    asked$arguments$hierarchies <- asked_part("hierarchies", of = lapply(hierarchies, function(h) {
      is_table <- h$kind == "table"
      small <- length(h$values) * length(h$labels) <= most_logged_levels
      list(
        rule = if (!is_table) h$rule, table = if (is_table && small) unname(h$labels),
        n_levels = length(h), fingerprint = hierarchy_fingerprint(h)
      )
    }))
  }
}

# Of the groups that the values have at every level.
hierarchy_fingerprint <- function(x) key_table(as.data.frame(x))$fingerprint
