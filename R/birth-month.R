#' Derive the month of birth from repeated ages
#'
#' Finds the months of birth that agree with the ages a person gave in the waves of a panel. Use
#' it if a file holds back the date of birth but gives age and the month of the questionnaire. The
#' result is a column of [candidates()], to be used as a key variable.
#'
#' @details
#' Let \eqn{t} number calendar months and \eqn{a_t} be the completed age
#' answered in month \eqn{t}. Month \eqn{b} is admissible if for all answers
#' \eqn{s \le t}
#' \deqn{c \le a_t - a_s \le c + e,}{c <= a_t - a_s <= c + e,}
#' where \eqn{c} is the number of months \eqn{b} strictly between \eqn{s} and
#' \eqn{t}, and \eqn{e} the number of \eqn{s} and \eqn{t} that are a month
#' \eqn{b} (one if \eqn{s = t}): in the month of birth the birthday may have
#' been before or after the answer. Gaps between answers, of any length and with
#' any number of birthdays in them, are thereby used for what they exclude, and
#' so are answers without a change.
#'
#' With a year of birth \eqn{y} every single answer informs: age
#' \eqn{year - y} means that the birthday is in this month or before, and
#' \eqn{year - y - 1} that it is in this month or later.
#'
#' **Order of the candidates.** In calendar order, beginning with the month of
#' the last answer before the first change of age, so that a change in January
#' gives `12|1`; without a change from January on.
#'
#' **Status.** `"known"`: one month remains. `"candidates"`: two to eleven do.
#' `"unknown"`: no change of age was observed and no year of birth is given, or
#' all twelve months remain. `"conflict"`: no month agrees with all answers, as
#' after an error in the files; the month is missing then. If no change was
#' seen some months may be excluded all the same; as in the paper nothing is
#' claimed then.
#'
#' The paper takes the month of a change and the one before; that is what comes
#' out here for someone who answers every month. It prints "April/March" for
#' changes seen in two Marches, if its own rule gives February or March. If
#' answers are missing around the birthday the paper's two months would be too
#' few; here more remain.
#'
#' @section Cost:
#' Sorting the answers twice, and 24 numbers a person: about half a second for a
#' million answers.
#'
#' @section Memory:
#' Beyond `data`: at most 200 bytes a record.
#'
#' @param data A data frame with one row per person and answered wave, in any
#'   order.
#' @param id,year,month,age Names of its columns: the person, the
#'   year and month (1 to 12) of the answer, and the completed age in years. Rows
#'   in which one of the last three is missing are not answered waves.
#' @param birth_year Name of the column with the year of birth, if
#'   there is one. One row of a person suffices; two different years are a
#'   conflict.
#'
#' @param ... Must be empty.
#' @return A data frame of class `sdc_birth_month` with one row per person, in
#'   order of first appearance: `id`, `month` (candidates), `n_candidates` (`NA`
#'   if unknown or in conflict) and `status`. Printing it counts them; parts of
#'   it, and `as.data.frame()`, print as data frames do.
#'
#' Errors: `bad_argument` if years, months or ages are not whole numbers, months
#' lie outside 1 to 12, ages outside 0 to 150, or an id is missing.
#' @references
#' Mulder K. *Ensuring anonymity in survey panel research*, section 3.1.
#' @family matches
#' @export
#' @examples
#' answers <- data.frame(
#'   person = c("A", "A", "A", "A", "B", "B"),
#'   year = c(2009, 2009, 2010, 2010, 2009, 2009),
#'   month = c(2, 3, 2, 3, 2, 5),
#'   age = c(30, 31, 31, 32, 50, 51)
#' )
#' found <- birth_month(answers, "person", "year", "month", "age")
#' found
#' format(found$month) # "2|3" and "2|3|4|5"
birth_month <- function(data, id, year, month, age, birth_year = NULL, ...) {
  announce("birth_month")
  check_no_dots(...)
  check_given(c("data", "id", "year", "month", "age"))
  data <- bare_data(data)
  check_data_frame(data, "data")
  whole <- function(column, arg, low, high) {
    whole_column(data, column, arg, low, high)
  }
  check_distinct_columns(
    data, list(id = id, year = year, month = month, age = age, birth_year = birth_year)
  )
  ids <- data[[check_column(id, data, "id")]]
  person <- number_ids(ids, "id")
  answers <- list(
    person = person$number,
    year = whole(year, "year", -9999, 9999), month = whole(month, "month", 1, 12),
    age = whole(age, "age", 0, 150)
  )
  n <- length(person$first)
  born <- if (!is.null(birth_year)) {
    birth_years(person$number, whole(birth_year, "birth_year", -9999, 9999), n)
  }
  used <- !is.na(answers$year) & !is.na(answers$month) & !is.na(answers$age)
  if (!all(used)) answers <- lapply(answers, function(x) x[used])
  found <- months_of_birth(answers, born, n)
  panel_table(
    frame(
      id = ids[person$first], month = found$month, n_candidates = found$n_candidates,
      status = found$status
    ),
    "sdc_birth_month"
  )
}

# One column named for two arguments is a slip of the pen, and its months wrong.
check_distinct_columns <- function(data, columns) {
  columns <- columns[!vapply(columns, is.null, NA)]
  positions <- vapply(names(columns), function(arg) {
    check_column(columns[[arg]], data, arg)
  }, 1L)
  twice <- which(duplicated(positions))
  if (length(twice)) {
    first <- match(positions[[twice[[1]]]], positions)
    stop_argument(
      names(columns)[[twice[[1]]]],
      paste0("name another column than `", names(columns)[[first]], "`"),
      found = paste0("Both: ", quote_names(names(data)[[positions[[first]]]]), ".")
    )
  }
}

# The lowest and the highest year of birth given for every person, NA for none.
birth_years <- function(person, year, n) {
  given <- which(!is.na(year))
  at <- given[order(person[given], year[given], method = "radix")]
  low <- high <- rep(NA_integer_, n)
  low[rev(person[at])] <- rev(year[at])
  high[person[at]] <- year[at]
  list(low = low, high = high)
}

months_of_birth <- function(answers, born, n) {
  admissible <- admissible_months(answers, born, n)
  change <- first_change(answers, n)
  count <- count_bits(admissible)
  informed <- change > 0 | (if (is.null(born)) FALSE else !is.na(born$low))
  status <- rep("candidates", n)
  status[count == 1] <- "known"
  status[count == 12 | !informed] <- "unknown"
  status[count == 0] <- "conflict"
  status[tabulate(answers$person, n) == 0] <- "unknown"
  told <- status %in% c("known", "candidates")
  # The set and the month it begins with, as one number.
  start <- pmax(change, 1L)
  key <- admissible * 12L + start - 1L
  distinct <- unique(key[told])
  codes <- match(key, distinct)
  codes[!told] <- NA
  # Several first changes can give equal months in an equal order.
  list(
    month = distinct_sets(new_candidates(codes, lapply(distinct, month_set))),
    n_candidates = ifelse(told, count, NA_integer_), status = status
  )
}

# For month of birth b let K be the negative year of birth. Age is K + year after
# month b, K + year - 1 before it, and either in it. So every answer bounds K:
#   K = age - year                            after month b,
#   K = age - year + 1                        before it,
#   age - year <= K <= age - year + 1         in it.
# Month b is admissible where the bounds of all answers leave a K, and, where the
# year of birth is given, leave that one. Pairs of answers say no more than that:
# intervals of whole numbers that meet pairwise have a point in common.
#
# Returns the admissible months as bits, month 1 the lowest.
admissible_months <- function(answers, born, n) {
  extremes <- month_extremes(answers, n)
  mask <- integer(n)
  # Blocks of people bound the memory.
  for (from in seq(1, n, by = 1e5)) {
    at <- seq(from, min(n, from + 1e5 - 1))
    columns <- function(x) lapply(1:12, function(m) x[at, m])
    least <- columns(extremes$least)
    most <- columns(extremes$most)
    # Over months up to b, and from b on.
    least_to <- Reduce(pmin, least, accumulate = TRUE)
    most_to <- Reduce(pmax, most, accumulate = TRUE)
    least_from <- Reduce(pmin, least, accumulate = TRUE, right = TRUE)
    most_from <- Reduce(pmax, most, accumulate = TRUE, right = TRUE)
    for (b in 1:12) {
      # After month b the age is K + year, before it K + year - 1.
      high <- least_from[[b]]
      if (b > 1) high <- pmin(high, least_to[[b - 1]])
      high <- high + 1L
      if (b < 12) high <- pmin(high, least_from[[b + 1]])
      low <- most_to[[b]]
      if (b > 1) low <- pmax(low, most_to[[b - 1]] + 1L)
      if (b < 12) low <- pmax(low, most_from[[b + 1]])
      if (!is.null(born)) {
        low <- pmax(low, -born$low[at], na.rm = TRUE)
        high <- pmin(high, -born$high[at], na.rm = TRUE)
      }
      mask[at] <- mask[at] + (low <= high) * bitwShiftL(1L, b - 1L)
    }
  }
  as.integer(mask)
}

# Per person and calendar month, the least and the most of age - year; far away
# where nothing was answered in that month.
month_extremes <- function(answers, n) {
  shift <- answers$age - answers$year
  cell <- (answers$month - 1) * n + answers$person
  at <- order(cell, shift, method = "radix")
  least <- matrix(100000L, n, 12)
  most <- matrix(-100000L, n, 12)
  sorted <- cell[at]
  least[rev(sorted)] <- rev(shift[at])
  most[sorted] <- shift[at]
  list(least = least, most = most)
}

# The calendar month of the last answer before a person's first change of age,
# 0 where all ages are the same.
first_change <- function(answers, n) {
  at <- order(answers$person, answers$year * 12L + answers$month, answers$age, method = "radix")
  person <- answers$person[at]
  age <- answers$age[at]
  m <- length(at)
  changed <- which(person[-1] == person[-m] & age[-1] != age[-m])
  start <- integer(n)
  start[rev(person[changed])] <- rev(answers$month[at][changed])
  start
}

count_bits <- function(mask) {
  count <- integer(length(mask))
  for (b in 0:11) {
    count <- count + bitwAnd(bitwShiftR(mask, b), 1L)
  }
  count
}

# The months of one number: bits times 12, and the month to begin with.
month_set <- function(key) {
  start <- key %% 12
  months <- which(bitwAnd(key %/% 12L, bitwShiftL(1L, 0:11)) > 0)
  months[order((months - 1 - start) %% 12)]
}

birth_month_reasons <- c(
  known = "one month remains", candidates = "two to eleven months remain",
  unknown = "no change of age seen, or no month excluded",
  conflict = "no month agrees with all ages; taken as missing"
)

declare_measure(
  "birth_month",
  reference = "mulder",
  title = "Month of birth",
  question = "what do age and year of birth over the waves tell of the month of birth?",
  size = paste0(people(nrow(x)), "."), table = reason_table(x$status, birth_month_reasons),
  notes = "The column `month` holds the candidates; as.data.frame(x) prints people.",
  measured = paste0(
    "The month of birth of ", people(nrow(x)), " was narrowed down from their ages over time"
  ),
  found = {
    found <- reason_table(x$status, birth_month_reasons)
    share <- paste0(trimws(found$people), " (", trimws(found$share), ")")
    paste0(
      "one month remains for ", share[[1]], " of the people, two to eleven for ", share[[2]],
      "; nothing is known of ", share[[3]], ", and the ages of ", share[[4]],
      " contradict each other"
    )
  },
  limits = "ages are taken to be right on the day of the interview", source = "after Mulder"
)
