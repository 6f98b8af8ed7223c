#' Global recoding, top and bottom coding
#'
#' `global_recode()` puts the values of a variable in bands or joins categories,
#' `top_code()` and `bottom_code()` replace the largest or smallest numbers. Use them if you know
#' which groups your users need; [recode_search()] searches for the cheapest recoding that meets a
#' limit. The result is the recoded file: measure it, protect it further, or release it
#' by [release_data()].
#'
#' @details
#' **Numbers: cut points.** `age = c(0, 15, 30, 65)` makes the bands 0-14, 15-29, 30-64 and 65+,
#' and one below 0 if there are such values: an ordered factor. Bands are closed below and open
#' above, as in [hierarchy()] with `breaks`.
#'
#' **Dates: years or a unit.** `birth = c(1950, 1970)` cuts dates by their years, and
#' `birth = "10 years"` or `"year"`, `"quarter"` or `"month"` groups them, as in [hierarchy()].
#'
#' **Categories: lists.** `region = list(West = c("Tyrol", "Vorarlberg"))` joins values under a
#' new name. All other values stay. The result is a factor. Values of labelled columns, such as
#' those that haven reads, are named by their labels. Names that no record has are an error.
#'
#' **Ends.** `top_code(file, age = 80)` replaces every age above 80 by 80. Labels and codes that
#' are declared missing stay, and so does the type: but integer64, differences of times, and
#' integers that are cut between two of them, become numbers. With `.by = "share"`,
#' `income = 0.01` codes the highest values that together have at most 1% of the records with a
#' value; with `.by = "records"`, `income = 20` codes the fewest highest values
#' that have at least 20 records. Equal values are never divided. With `.replace = "mean"` coded
#' values become their mean (weighted, if the file has weights), so that means and totals of the
#' variable stay. The mean of fewer than 3 records would reveal the values: it is an error.
#'
#' Cut points and ends that would leave one value are an error; if no value changes, a message
#' says so, and the history has no step.
#'
#' Missing values stay missing. A value that is labelled "missing", "refused" or alike must be
#' declared missing before numbers are cut. Others that may stand for a missing value, such as 99
#' after ages up to 80, are coded, and a message says so. If another column, or the order of the
#' records, reveals the values behind a recoding, a message names it, see [release_data()].
#'
#' **Tables of a database.** The file of a table, `sdc_file(dplyr::tbl(con, "people"), keys)`, is
#' recoded in the database. R recodes the distinct values of each variable, and the engine gets a
#' query with a `CASE` for each; if its counts differ from those of R, that is an error. The table
#' is not touched. Bands and groups are text there, but the file keeps their order, so that figures
#' are those of the data frame. [release_data()] writes the query to a temporary table, in a random
#' order.
#'
#' @param data A data frame, an [sdc_file()], also of a table of a database, an sdcMicroObj or the
#'   result of a remedy.
#' @param ... Variables by name, with cut points, a unit of time or a list for `global_recode()`,
#'   and one number for `top_code()` and `bottom_code()`.
#' @param .by Meaning of the number of a variable: the `"value"` at which it is cut, the largest
#'   `"share"` of records beyond the cut, or the least number of `"records"` beyond it.
#' @param .replace Replacement of coded values: the `"end"`, the value at the cut, or the `"mean"`
#'   of the coded values, for numbers.
#' @return An [sdc_file()] with the recoded columns; all others are unchanged. For an
#'   sdcMicroObj that object. Errors: `unknown_key_var`, `bad_argument`; `unprotectable` for the
#'   mean of fewer than 3 records; `bad_data` for a table whose values the engine does not find.
#'   Messages: `nothing_to_do`, `coded_missing`.
#' @family recoding
#' @concept global recoding
#' @concept top coding
#' @export
#' @examples
#' file <- sdc_file(adult, c(age, sex, race))
#' n_matches(file)$estimates$n_unique # 135
#' coarse <- global_recode(file, age = c(0, 30, 50, 65), race = list(
#'   Other = c("Other", "Amer-Indian-Eskimo")
#' ))
#' levels(coarse$age)
#' n_matches(coarse)$estimates$n_unique # 0
#' max(top_code(file, age = 65)$age) # 65
global_recode <- function(data, ...) {
  ask <- enter("global_recode", patterns = TRUE)
  recode_named(ask, given_values(...), recode_by)
}

#' @rdname global_recode
#' @export
top_code <- function(data, ..., .by = c("value", "share", "records"),
                     .replace = c("end", "mean")) {
  ask <- enter("top_code", patterns = TRUE)
  recode_ends(ask, given_values(...), "top", .by, .replace)
}

#' @rdname global_recode
#' @export
bottom_code <- function(data, ..., .by = c("value", "share", "records"),
                        .replace = c("end", "mean")) {
  ask <- enter("bottom_code", patterns = TRUE)
  recode_ends(ask, given_values(...), "bottom", .by, .replace)
}

# Arguments by name. One without a name can be that of a variable, which has no value here.
given_values <- function(...) {
  given <- rlang::enquos(...)
  named <- nzchar(names(given))
  c(
    lapply(given[!named], function(x) tryCatch(rlang::eval_tidy(x), error = identity)),
    lapply(given[named], rlang::eval_tidy)
  )
}

recode_ends <- function(ask, given, end, by, replace) {
  by <- check_choice(by, c("value", "share", "records"), ".by")
  replace <- check_choice(replace, c("end", "mean"), ".replace")
  recode_named(ask, given, function(values, at, name) {
    numbers <- cuttable_numbers(values$x, name)
    # A mean must be finite.
    if (replace == "mean") number_column(values$x, name)
    limit <- if (by == "value") at else end_of(numbers, values$times, at, end, by, name)
    if (!are_distinct_numbers(limit, FALSE) || !is.finite(limit)) {
      stop_argument(name, "be one number", given_words(limit))
    }
    beyond <- which(if (end == "top") numbers > limit else numbers < limit)
    check_codes_beyond(values$x, numbers[beyond], name, limit)
    new <- if (replace == "mean") mean_beyond(numbers, beyond, name, values) else limit
    made <- list(column = replace_numbers(values$x, beyond, new))
    sides <- if (end == "top") c("above", "below") else c("below", "above")
    # A cut that follows from the records is a value of one.
    told <- by == "value"
    made$words <- paste0(end, " coded", if (told) {
      paste(" at", format_number(limit))
    } else if (by == "share") {
      paste(", at most", format_percent(at))
    } else {
      paste(", at least", plural(at, "record"))
    }, if (replace == "mean") ", mean kept")
    sides <- paste(sides, if (told) format_number(limit) else "the cut")
    made$if_none <- paste0("no value lies ", sides[[1]], ".")
    made$if_one <- paste0("No value lies ", sides[[2]], ".")
    made
  })
}

# The value at which a share or a number of records is cut off.
end_of <- function(x, times, at, end, by, name) {
  order <- order(if (end == "top") x else -x, na.last = NA)
  rising <- if (end == "top") x[order] else -x[order]
  upto <- if (is.null(times)) seq_along(order) else cumsum(times[order])
  n <- max(upto, 0)
  ranked <- function(i) rising[findInterval(i, upto, left.open = TRUE) + 1]
  if (by == "share") {
    if (!are_distinct_numbers(at, FALSE) || at <= 0 || at >= 1) {
      stop_argument(name, "be one share between 0 and 1", given_words(at), percent_advice(at))
    }
    limit <- ranked(max(ceiling((1 - at) * n - 1e-9), 1))
  } else {
    at <- check_whole(at, name)
    limit <- rising[findInterval(ranked(max(n - at + 1, 1)), rising, left.open = TRUE)]
    if (length(limit) == 0) {
      stop_argument(
        name, "leave values that are not coded", "All values would be.", "Take fewer records."
      )
    }
  }
  if (end == "top") limit else -limit
}

mean_beyond <- function(x, beyond, name, values) {
  n_beyond <- if (is.null(values$times)) length(beyond) else sum(values$times[beyond])
  if (n_beyond %in% 1:2) {
    stop_sdc(
      "unprotectable", "A mean must be that of at least 3 records.",
      x = paste0(plural(n_beyond, "record"), " of ", quote_names(name), " beyond the cut."),
      i = "Cut off more records, or use .replace = \"end\".",
      columns = name
    )
  }
  group <- replace(rep(NA_integer_, length(x)), beyond, 1L)
  group_means(x, group, values$weights)[beyond[1]]
}

# Codes of non-response among numbers that are cut, or at the cut: what a label calls missing is no
# number, what only looks like it is named.
check_codes_beyond <- function(x, cut, name, limit = NULL) {
  labelled <- labelled_missing(x)
  labelled <- labelled[labelled %in% c(cut, limit)]
  if (length(labelled)) {
    stop_sdc(
      "bad_column", "Values that are labelled as missing must be missing before numbers are cut.",
      x = paste0(
        quote_names(name), ": ", paste0(
          format_number(as_bare(labelled)), " is \"", names(labelled), "\"", collapse = ", "
        ), "."
      ),
      i = "Make them NA, or declare them: haven::labelled_spss(na_values = ).",
      columns = name
    )
  }
  codes <- intersect(missing_codes(x), cut)
  if (length(codes)) {
    inform_sdc(
      "coded_missing", "A number that may stand for a missing value is coded, too.",
      x = paste0(quote_names(name), ": ", code_words(codes), "."),
      i = "If it does, make it NA first.",
      columns = name
    )
  }
}

# `recode` gives the new column of values, see recoding_values(), the words for it, and those for
# a column that is unchanged (`if_none`) or has one value left (`if_one`), which a list may ask for.
recode_named <- function(ask, given, recode) {
  file <- ask$file
  example <- paste0(
    ask$.name, "(file, age = ", if (ask$.name == "global_recode") "c(0, 15, 30, 65)" else "80", ")"
  )
  unnamed <- given[!nzchar(rlang::names2(given))]
  if (any(vapply(unnamed, is.data.frame, NA))) {
    stop_argument("data", "be given once", "There are two files.", example)
  }
  if (length(given) == 0 || length(unnamed) || anyDuplicated(names(given))) {
    stop_argument(
      "...", "name each variable once",
      found = if (length(given)) "A name is missing or repeated." else "No variable was given.",
      advice = example
    )
  }
  columns <- all_columns_of(file)
  absent <- setdiff(names(given), names(columns))
  if (length(absent)) {
    dotted <- intersect(paste0(".", absent), argument_names())
    stop_absent("`...` must name columns of `data`.", absent, names(columns), c(
      if (length(dotted)) {
        paste0("Did you mean ", paste0("`", dotted, "`", collapse = ", "), "?")
      },
      elsewhere_advice(absent),
      paste0("All other arguments are variables of the file: ", example, "."),
      paste0("Columns of `data`: ", quote_names(names(columns), 8), ".")
    ))
  }
  check_columns(names(given), columns, "...")
  old <- lapply(rlang::set_names(names(given)), recoding_values, file = file)
  made <- Map(recode, old, given, names(given))
  new <- lapply(made, `[[`, "column")
  for (name in names(made)) check_recoding(old[[name]]$x, made[[name]], name)
  changed <- Filter(function(name) !identical(new[[name]], old[[name]]$x), names(new))
  if (length(changed) == 0) {
    return(if (is.null(file$object)) close_file(file) else file$object)
  }
  new <- new[changed]
  said <- paste(changed, vapply(made[changed], `[[`, "", "words"), collapse = ", ")
  words <- paste0(ask$.name, "(): ", said)
  if (!is.null(file$table)) {
    return(recoded_table(file, old, new, ask$.name, words))
  }
  data <- file$data
  for (name in names(new)) data <- replace_column(data, name, new[[name]])
  recoded_file(file, data, ask$.name, words, changed)
}

check_recoding <- function(old, made, name) {
  n_values <- function(x) length(sorted_values(column_values(x)))
  if (identical(made$column, old)) {
    inform_sdc(
      "nothing_to_do", paste0(quote_names(name), " is unchanged: ", made$if_none),
      columns = name
    )
  } else if (length(made$if_one) && n_values(made$column) == 1 && n_values(old) > 1) {
    stop_argument(
      name, "leave the variable at least two values", paste0(made$if_one, " One would be left."),
      paste0("To release none of its values: release_data(file, drop = ", names_code(name), ").")
    )
  }
}

recode_by <- function(values, by, name) {
  x <- values$x
  if (is.list(by)) {
    return(list(
      column = join_categories(x, by, name), words = paste("in", plural(length(by), "group")),
      if_none = "every group has one value."
    ))
  }
  about <- list(name = name)
  of_time <- is_time(column_values(x))
  if (of_time && rlang::is_string(by)) {
    step <- unit_steps(hierarchy_values(x, about), by, about)[[1]]
    return(list(
      column = made_by_step(x, step), words = step$words, if_none = "every day is one already.",
      if_one = "All values lie in one band."
    ))
  }
  if (!is.numeric(by) || anyNA(by) || is.unsorted(by, strictly = TRUE)) {
    rise <- is.numeric(by) && !anyNA(by)
    stop_argument(
      name, "be cut points that rise, a unit of dates, or a list of groups",
      if (rise) "The numbers do not rise." else given_words(by),
      if (of_time) time_advice(name)
    )
  }
  if (of_time) x <- years_of(column_values(x))
  check_codes_beyond(x, cuttable_numbers(x, name), name)
  step <- break_steps(hierarchy_values(x, about), by, about)[[1]]
  list(
    column = made_by_step(x, step), words = step$words,
    if_one = "All values lie in one band: no cut point lies between them."
  )
}

# Not by a hierarchy, which drops levels that join no values: the values themselves are recoded.
made_by_step <- function(x, step) eval(step$expr, list(x = column_values(x)), baseenv())

time_advice <- function(name) {
  paste0(
    "Dates are put in bands by whole years or a unit: global_recode(file, ", name,
    " = c(1950, 1970)), ", name, " = \"10 years\"."
  )
}

cuttable_numbers <- function(x, name) {
  if (!is.numeric(column_values(x))) {
    stop_argument(
      name, "be a number, or a list of groups in global_recode()",
      found = paste0("The variable has class ", quote_names(class(x)), "."),
      advice = if (is_time(column_values(x))) {
        time_advice(name)
      } else {
        paste0("global_recode(file, ", name, " = list(group = c(\"...\", \"...\")))")
      }
    )
  }
  as.double(column_values(x))
}

# Values joined under new names, in the place of the first of each group.
join_categories <- function(x, groups, name) {
  named <- length(names(groups)) == length(groups) && all(nzchar(names(groups)))
  members <- lapply(groups, as.character)
  values <- column_values(x)
  old <- if (is.factor(values)) levels(values) else value_names(sorted_values(values))
  text <- if (is.factor(values)) as.character(values) else value_names(values)
  labels <- attr(x, "labels", exact = TRUE)
  if (length(labels)) {
    as_label <- function(text) {
      at <- match(text, value_names(as_bare(labels)))
      ifelse(is.na(at), text, names(labels)[at])
    }
    old <- as_label(old)
    text <- as_label(text)
    # Codes name values, too, unless a label is spelt like one.
    members <- lapply(members, function(m) ifelse(m %in% old, m, as_label(m)))
  }
  if (!named || any(lengths(members) == 0) || anyDuplicated(unlist(members))) {
    stop_argument(
      name, "be a list of values by the name of their group",
      found = if (named) "A group is empty, or a value is in two of them.",
      advice = paste0(name, " = list(West = c(\"Tyrol\", \"Vorarlberg\"))")
    )
  }
  text[is.na(values)] <- NA
  absent <- setdiff(unlist(members), old)
  if (length(absent)) {
    stop_argument(
      name, "name values of the variable",
      found = paste0("Not found: ", quote_names(absent), "."),
      advice = if (is.numeric(values) && !length(labels)) paste0(
        "Cut points make bands of numbers: ", name, " = c(0, 80)."
      )
    )
  }
  taken <- setdiff(intersect(names(members), old), unlist(members))
  if (length(taken)) {
    stop_argument(
      name, "give its groups names that are not values outside of them",
      found = paste0(quote_names(taken), " is a value that is in none of the groups."),
      advice = paste0("To add the group to it: ", taken[[1]], " = c(\"", taken[[1]], "\", ...).")
    )
  }
  group <- rep(names(members), lengths(members))
  rename <- function(text) {
    at <- match(text, unlist(members))
    ifelse(is.na(at), text, group[at])
  }
  new <- rename(text)
  if (identical(new, text)) x else factor(new, unique(rename(old)), ordered = is.ordered(values))
}
