# Tables of people made from the waves of a panel. They are data frames whose
# print says what was found in words; parts of them are plain data frames.

panel_table <- function(data, class) {
  class(data) <- c(class, "sdc_panel_table", "data.frame")
  data
}

#' @export
`[.sdc_panel_table` <- function(x, ...) {
  as.data.frame(x)[...]
}

#' Combine the latest values of a panel
#'
#' Combines the waves of a panel: each person gets the most recent value of every variable,
#' since an intruder can know it whenever it was given. Use it before [n_matches()] if every
#' wave misses someone.
#'
#' @param waves A list of data frames, the earliest first, or one data frame with a
#'   row per person and wave.
#' @param id Name of the column that identifies people.
#' @param time For one data frame: names or positions of the columns that give its
#'   order in time, numbers, Dates, times or ordered factors; of several, the first
#'   counts most, such as `c("year", "month")`.
#' @inheritParams sdcRisk-params
#' @param origin Whether to say from which wave every value comes.
#'
#' @details
#' Missing is `NA`, `NaN`, a value that a labelled column declares missing, and a
#' value of [candidates()] that is `NA`; if a person has no other
#' value the result is `NA`.
#'
#' Types are kept, and equal types of several waves put together: levels of factors are
#' united in the order in which they appear, and remain ordered if their orders agree; sets
#' of candidates are united; a factor combined with text becomes text. Numbers combined with
#' text, or Dates with numbers, are an error of class `sdcRisk_error_bad_column`. Labels of
#' a labelled column are those of its latest wave. A variable need not be in every wave.
#'
#' @section Cost:
#' One pass over every column; sorting once if a long table is not in time order.
#'
#' @section Memory:
#' Beyond the waves: at most 400 bytes a record.
#'
#' @return A data frame of class `sdc_latest_values` with one row per person, in
#'   order of first appearance: `id` (under its own name), the variables, and, with
#'   `origin`, a column `<variable>_wave` for each of them. It holds the wave's name
#'   in the list (its number if it has none), or the value of `time`, several
#'   such columns being pasted as `"2011-3"`; it is a factor in time order, or of the
#'   type of a single column `time`. Leave these columns out if all columns
#'   serve as key variables. Printing shows what is missing after merging; parts of
#'   it, and `as.data.frame()`, print as data frames do.
#'
#' Errors: `bad_data` if a person occurs twice in a wave, `bad_column` as above,
#' `bad_argument` if an id is missing, or a time is missing or has no order.
#' @references
#' Mulder K. *Ensuring anonymity in survey panel research*, section 3.1 and Table 1.
#' @family matches
#' @export
#' @examples
#' january <- data.frame(id = 1:3, civil = c("single", "married", NA), income = c(900, NA, 2000))
#' march <- data.frame(id = c(2, 4), civil = c("divorced", "single"), income = c(1500, NA))
#' as.data.frame(latest_values(list(january = january, march = march), "id"))
#'
#' latest_values(panel_waves$background, "id", c("year", "month"))
latest_values <- function(waves, id, time = NULL, ..., origin = TRUE) {
  announce("latest_values")
  check_given(c("waves", "id"))
  check_no_dots(...)
  check_flag(origin, "origin")
  read <- read_panel(waves, id, time)
  parts <- read$parts
  long <- read$long
  variables <- unique(unlist(lapply(parts, names)))
  variables <- setdiff(variables, c(long$id, long$time_names))
  if (length(variables) == 0) {
    stop_sdc(
      "bad_data", "`waves` must have variables other than `id` and `time`.",
      x = "There are no other columns."
    )
  }
  clash <- intersect(variables, paste0(variables, "_wave"))
  if (origin && length(clash)) {
    stop_sdc(
      "bad_data", "Variables must not have the names of the columns that tell the waves.",
      x = paste0("Found: ", quote_names(clash), "."),
      i = "Rename them, or give `origin = FALSE`.",
      names = clash
    )
  }
  starts <- cumsum(c(0L, vapply(parts, nrow, 1L)))
  values <- lapply(variables, function(v) latest_of(v, parts, starts, long))
  out <- list(unite_values_of(parts, long, starts))
  names(out) <- long$id
  out[variables] <- lapply(values, `[[`, "value")
  if (origin) {
    out[paste0(variables, "_wave")] <- lapply(values, function(v) {
      long$wave[replace(v$row, v$row == 0, NA)]
    })
  }
  panel_table(do.call(frame, out), "sdc_latest_values")
}

# The waves of a panel as a list of tables, and what is known of their rows.
read_panel <- function(waves, id, time) {
  if (is.data.frame(waves)) {
    return(list(parts = list(waves), long = long_wave(waves, id, time)))
  }
  if (!is.null(time)) stop_argument("time", "be NULL if `waves` is a list in time order")
  parts <- unname(check_tables(waves, "waves"))
  list(parts = parts, long = listed_waves(parts, id, names(waves)))
}

# The person of each row of a long table, the rows in time order, and the wave.
long_wave <- function(data, id, time) {
  check_data_frame(data, "waves")
  if (is.null(time)) {
    stop_argument(
      "time", "name the columns that give the order in time",
      advice = "A list of waves needs none: its order is that of time."
    )
  }
  at <- check_columns(time, data, "time")
  id_at <- check_column(id, data, "id")
  if (id_at %in% at) stop_argument("time", "name other columns than `id`")
  keys <- lapply(unclass(data)[at], time_key)
  person <- number_ids(data[[id_at]], "id")
  order <- do.call(order, c(unname(keys), method = "radix"))
  ranked <- lapply(keys, function(k) k[order])
  new_wave <- Reduce(`|`, lapply(ranked, function(k) c(TRUE, k[-1] != k[-length(k)])))
  wave_number <- integer(length(order))
  wave_number[order] <- cumsum(new_wave)
  check_once(pair_codes(wave_number, person$number))
  wave <- if (length(at) == 1) {
    data[[at]]
  } else {
    one_of_each <- order[new_wave]
    text <- lapply(unclass(data)[at], function(x) value_names(x[one_of_each]))
    structure(
      wave_number, levels = do.call(paste, c(unname(text), sep = "-")), class = "factor"
    )
  }
  list(
    id = names(data)[[id_at]], time_names = names(data)[at], number = person$number,
    n = length(person$first), first = person$first, order = order, wave = wave
  )
}

# As above for the rows of several tables below each other.
listed_waves <- function(parts, id, names) {
  if (!is.character(id) || length(id) != 1) {
    stop_argument("id", "be the name of one column of every wave")
  }
  at <- lapply(parts, function(data) check_column(id, data, "id"))
  person <- number_shared_ids(Map(function(data, a) data[[a]], parts, at), id)
  wave <- rep(seq_along(parts), vapply(parts, nrow, 1L))
  check_once(pair_codes(wave, person$number))
  if (is.null(names)) names <- rep("", length(parts))
  names[is.na(names) | !nzchar(names)] <- seq_along(parts)[is.na(names) | !nzchar(names)]
  list(
    id = id, time_names = character(), number = person$number, n = length(person$first),
    first = person$first, order = seq_along(wave),
    wave = factor(wave, seq_along(parts), make.unique(names))
  )
}

# Numbers by which a column of times is ordered.
time_key <- function(x) {
  source <- column_source(x, length(x))
  if (is.null(source) || !source$ordered) {
    stop_argument(
      "time", "name columns of numbers, Dates, times or ordered factors",
      found = paste0("Found: class ", quote_names(class(x)), ".")
    )
  }
  values <- source$values
  if (inherits(x, "integer64")) {
    check_installed("bit64", "order waves by an integer64 column")
  } else {
    values <- as_bare(values)
  }
  if (anyNA(values)) {
    stop_argument(
      "time", "name columns without missing values", found = "There are missing values."
    )
  }
  as.double(values)
}

check_once <- function(key) {
  twice <- sum(duplicated(key))
  if (twice > 0) {
    stop_sdc(
      "bad_data", "Every person must occur at most once in a wave.",
      x = paste0(plural(twice, "row"), " too many."),
      n = twice
    )
  }
}

# A list of data frames, each with rows and columns.
check_tables <- function(x, arg) {
  if (!is.list(x) || length(x) == 0) {
    stop_sdc(
      "bad_data",
      paste0("`", arg, "` must be a data frame or a list of data frames."), x = given_words(x),
      data_class = class(x)
    )
  }
  x <- lapply(x, file_data)
  for (i in seq_along(x)) {
    check_data_frame(x[[i]], paste0(arg, "[[", i, "]]"))
  }
  x
}

# People numbered over several tables; ids compare as values.
number_shared_ids <- function(columns, arg) {
  note_spellings(rlang::set_names(list(columns), arg))
  lapply(columns, number_ids, arg = arg)
  values <- stack_sources(lapply(columns, function(x) column_source(x, length(x))), arg)$values
  distinct <- unique(values)
  list(number = match(values, distinct), first = match(distinct, values))
}

# One variable: the row of every person's latest value, 0 for none, and the values.
latest_of <- function(name, parts, starts, long) {
  known <- unlist(lapply(parts, function(data) {
    if (name %in% names(data)) !is_missing(data[[name]]) else logical(nrow(data))
  }))
  row <- integer(long$n)
  # Of several rows of a person the last one assigned stays.
  at <- long$order[known[long$order]]
  row[long$number[at]] <- at
  list(row = row, value = pick_rows(name, parts, starts, row))
}

# TRUE if values are missing, as the help page says.
is_missing <- function(x) {
  if (inherits(x, "haven_labelled")) x <- drop_user_missing(x)
  if (length(dim(x)) > 0 || is.list(x)) logical(NROW(x)) else is.na(x)
}

# The values of the given rows of tables below each other, NA for row 0.
pick_rows <- function(name, parts, starts, row) {
  part <- findInterval(row, starts, left.open = TRUE)
  holds <- which(vapply(parts, function(data) name %in% names(data), NA))
  if (length(parts) == 1) {
    return(take_values(parts[[1]][[name]], replace(row, row == 0, NA), name))
  }
  pieces <- lapply(holds, function(k) {
    take_values(parts[[k]][[name]], row[part == k] - starts[[k]], name)
  })
  united <- unite_columns(pieces, name)
  place <- integer(length(row))
  place[unlist(lapply(holds, function(k) which(part == k)))] <- seq_along(united)
  take_values(united, replace(place, place == 0, NA), name)
}

# The ids of the people, in the type they have in the tables.
unite_values_of <- function(parts, long, starts) {
  pick_rows(long$id, parts, starts, long$first)
}

#' Identify the members of a panel
#'
#' Finds the people who have background information and answered at least one module; only these
#' are at stake if modules are released. Use it if questionnaires also describe people who never
#' took part, such as the children of a member.
#'
#' @param background A data frame with a row per person, or per person and wave.
#' @param modules A list of data frames, one per module, or one data frame.
#' @param id Name of the column that identifies people in all of them.
#'
#' @details
#' A row counts if at least one column other than `id` is not missing; in a table of
#' ids alone every row counts. Take columns that are always filled in, such as the
#' month of a questionnaire, out first, or an empty row counts as an answer.
#' Ids compare as values, whatever their types.
#'
#' @inheritParams sdcRisk-params
#' @return A data frame of class `sdc_panel_members` with one row per person:
#'   `id` (under its own name), `background` (whether there is any), `n_modules`,
#'   `member`, and `reason`: `"member"`, `"background only"`, `"modules only"`,
#'   `"nothing"` (empty rows alone). Printing it counts the reasons.
#'
#'   Errors: a table that is not a data frame (`bad_data`), an `id` that is not a column of
#'   all of them (`unknown_key_var`).
#' @references
#' Mulder K. *Ensuring anonymity in survey panel research*, section 3.1: of 17,924
#' people 6,927 have background only, and 10,997 are members.
#' @family matches
#' @export
#' @examples
#' found <- panel_members(panel_waves$background, panel_waves$modules, "id")
#' found
#' members <- found$id[found$member]
#' length(members) # 10997 = 17924 - 6927
panel_members <- function(background, modules, id, ...) {
  announce("panel_members")
  check_no_dots(...)
  check_given(c("background", "modules", "id"))
  background <- file_data(background)
  check_data_frame(background, "background")
  if (is.data.frame(modules)) modules <- list(modules)
  parts <- c(list(background), unname(check_tables(modules, "modules")))
  if (!is.character(id) || length(id) != 1) {
    stop_argument("id", "be the name of one column of every table")
  }
  ids <- lapply(parts, function(data) data[[check_column(id, data, "id")]])
  person <- number_shared_ids(ids, id)
  n <- length(person$first)
  size <- vapply(parts, nrow, 1L)
  part <- rep(seq_along(parts), size)
  filled <- unlist(lapply(parts, filled_rows, id = id))
  present <- function(k) {
    seq_len(n) %in% person$number[filled & part == k]
  }
  has_background <- present(1)
  n_modules <- integer(n)
  for (k in seq_along(parts)[-1]) {
    n_modules <- n_modules + present(k)
  }
  member <- has_background & n_modules > 0
  reason <- rep("member", n)
  reason[has_background & n_modules == 0] <- "background only"
  reason[!has_background & n_modules > 0] <- "modules only"
  reason[!has_background & n_modules == 0] <- "nothing"
  out <- frame(
    id = pick_rows(id, parts, cumsum(c(0L, size)), person$first),
    background = has_background, n_modules = n_modules, member = member, reason = reason
  )
  names(out)[[1]] <- id
  panel_table(out, "sdc_panel_members")
}

member_reasons <- c("member", "background only", "modules only", "nothing")

# Rows with a value beside the id.
filled_rows <- function(data, id) {
  columns <- unclass(data)[names(data) != id]
  if (length(columns) == 0) {
    return(rep(TRUE, nrow(data)))
  }
  Reduce(`|`, lapply(columns, function(x) !is_missing(x)))
}
