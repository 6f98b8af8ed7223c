#' Global recoding, top and bottom coding
#'
#' `global_recode()` puts the values of a variable in bands or joins categories,
#' `top_code()` and `bottom_code()` cut the ends of a number. Each is a step in the history of
#' the file and gives the file back: measure it, protect it further, or release it. To search
#' for the cheapest recoding that meets a limit use [recode_search()].
#'
#' @details
#' **Numbers: cut points.** `age = c(0, 15, 30, 65)` makes the bands 0-14, 15-29, 30-64 and 65+,
#' and one below 0 if there are such values: an ordered factor. Bands are closed below and open
#' above, as in [hierarchy()] with `breaks`.
#'
#' **Categories: lists.** `region = list(West = c("Tyrol", "Vorarlberg"))` joins values under a
#' new name. All other values stay. The result is a factor. Values of labelled columns, such as
#' those that haven reads, are named by their labels. Names that no record has are an error.
#'
#' **Ends.** `top_code(file, age = 80)` makes every age above 80 to 80; the type stays.
#'
#' Missing values stay missing. If another column, or the order of the records, tells the values
#' behind a recoding, a message names it, see [release_data()].
#'
#' @param data A data frame, an [sdc_file()], an sdcMicroObj or the result of a remedy.
#' @param ... Variables by name, with cut points or a list for `global_recode()`, and one number
#'   for `top_code()` and `bottom_code()`.
#' @return An [sdc_file()] with the recoded columns and all others as they were. Of an
#'   sdcMicroObj that object. Errors: `unknown_key_var`, `bad_argument`.
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
  ask <- enter("global_recode")
  recode_named(ask, list(...), recode_by)
}

#' @rdname global_recode
#' @export
top_code <- function(data, ...) {
  ask <- enter("top_code")
  recode_named(ask, list(...), function(x, at, name) cut_end(x, name, top = at))
}

#' @rdname global_recode
#' @export
bottom_code <- function(data, ...) {
  ask <- enter("bottom_code")
  recode_named(ask, list(...), function(x, at, name) cut_end(x, name, bottom = at))
}

# `recode` gives the new column and the words for it.
recode_named <- function(ask, given, recode) {
  file <- ask$file
  if (length(given) == 0 || is.null(names(given)) || !all(nzchar(names(given))) ||
        anyDuplicated(names(given))) {
    stop_argument(
      "...", "name each variable once",
      found = if (length(given)) "A name is missing or repeated." else "No variable was given.",
      advice = if (ask$.name == "global_recode") {
        "global_recode(file, age = c(0, 15, 30, 65))"
      } else {
        paste0(ask$.name, "(file, age = 80)")
      }
    )
  }
  check_columns(names(given), file$data, "...")
  data <- file$data
  words <- vapply(names(given), function(name) {
    made <- recode(data[[name]], given[[name]], name)
    data <<- replace_column(data, name, made$column)
    paste(name, made$words)
  }, "")
  recoded_file(
    file, data, ask$.name, paste0(ask$.name, "(): ", paste(words, collapse = ", ")), names(given)
  )
}

recode_by <- function(x, by, name) {
  if (is.list(by)) {
    return(list(column = join_categories(x, by, name), words = paste(
      "in", plural(length(by), "group")
    )))
  }
  made <- hierarchy(x, breaks = by, drop = FALSE, name = name)
  list(column = recode_column(x, made, 1), words = made$steps[[2]]$words)
}

cut_end <- function(x, name, ...) {
  end <- list(...)
  if (!are_distinct_numbers(end[[1]], FALSE)) {
    stop_argument(name, "be one number", given_words(end[[1]]))
  }
  values <- column_values(x)
  made <- hierarchy(x, ..., drop = FALSE, name = name)
  words <- paste(names(end), "coded at", format_number(end[[1]]))
  # An end beyond all values changes nothing, and is dropped.
  column <- if (length(made) > 1) recode_column(x, made, 1) else x
  list(column = column, words = words)
}

# Values joined under new names, in the place of the first of each group.
join_categories <- function(x, groups, name) {
  named <- length(names(groups)) == length(groups) && all(nzchar(names(groups)))
  members <- lapply(groups, as.character)
  if (!named || any(lengths(members) == 0) || anyDuplicated(unlist(members))) {
    stop_argument(
      name, "be a list of values by the name of their group",
      found = if (named) "A group is empty, or a value is in two of them.",
      advice = paste0(name, " = list(West = c(\"Tyrol\", \"Vorarlberg\"))")
    )
  }
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
  }
  text[is.na(values)] <- NA
  absent <- setdiff(unlist(members), old)
  if (length(absent)) {
    stop_argument(
      name, "name values of the variable",
      found = paste0("Not found: ", quote_names(absent), ".")
    )
  }
  group <- rep(names(members), lengths(members))
  rename <- function(text) {
    at <- match(text, unlist(members))
    ifelse(is.na(at), text, group[at])
  }
  factor(rename(text), levels = unique(rename(old)), ordered = is.ordered(values))
}
