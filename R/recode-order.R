# The order of values that are text: numbers, intervals and dates as statistical offices
# write them. Either all values are understood and no two overlap, or none is.

# `rank`: the place of each value, NA for a non-response such as "unknown"; `low` and `high`,
# the ends of numbers and intervals; or `dates` with their `format`. NULL: not understood.
text_order <- function(text) {
  plain <- plain_text(text)
  outside <- plain %in% non_responses
  dates <- date_order(plain, outside)
  found <- if (is.null(dates)) interval_order(plain, outside) else dates
  if (!is.null(found)) c(found, list(outside = is.na(found$rank)))
}

# Dates ---------------------------------------------------------------------

date_patterns <- c(
  "%Y-%m-%d" = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "%Y/%m/%d" = "^[0-9]{4}/[0-9]{2}/[0-9]{2}$",
  "%d.%m.%Y" = "^[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}$",
  "%d/%m/%Y" = "^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$",
  "%m/%d/%Y" = "^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$",
  "%d-%m-%Y" = "^[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$",
  "%m-%d-%Y" = "^[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$"
)

# A time of day after a date does not change the day.
time_pattern <- "[ t][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)? ?z?$"

# One spelling must fit all values, and no other: 01/02/2020 alone can be two dates.
date_order <- function(plain, outside) {
  plain <- period_starts(sub(time_pattern, "", plain), outside)
  known <- plain[!outside]
  fits <- vapply(names(date_patterns), function(format) {
    all(grepl(date_patterns[[format]], known)) && !anyNA(as.Date(known, format))
  }, NA)
  if (length(known) == 0 || sum(fits) != 1) {
    return(NULL)
  }
  format <- names(fits)[fits]
  dates <- as.Date(ifelse(outside, NA, plain), format)
  list(rank = match(dates, sorted_values(dates)), dates = dates, format = format)
}

# Text that is dates as dates, whose order is that of time; any other column as it is.
dates_of_text <- function(x) {
  values <- known_texts(x)
  if (!any(grepl("[0-9]{4}", utils::head(values, 1000)))) {
    return(x)
  }
  plain <- plain_text(values)
  dates <- date_order(plain, plain %in% non_responses)$dates
  if (is.null(dates)) x else dates[match(as.character(x), values)]
}

# The beginnings of months in four languages.
month_pattern <- c(
  "jan|ene", "f[e\u00e9]", "mar|m\u00e4r", "a[pvb]r", "ma[iy]", "jun|juin", "jul|juil",
  "aug|ago|ao\u00fb", "sep", "o[ck]t", "nov", "d[ei\u00e9][cz]"
)

# Months and quarters, if all values are, by their first day.
period_starts <- function(plain, outside) {
  known <- plain[!outside]
  year <- "((?:1[5-9]|20)[0-9]{2})"
  quarters <- gsub(paste0("^(q[1-4])[ /-]?", year, "$"), "\\2\\1", known)
  text <- sub(paste0("^", year, "[ /-]?q([1-4])$"), "\\1/q\\2", quarters)
  text <- sub(paste0("^", year, "[/m-](0[1-9]|1[0-2])$"), "\\1/\\2", text)
  for (month in seq_along(month_pattern)) {
    named <- paste0("^(?:", month_pattern[[month]], ")[[:alpha:]]*[.]?[ -]", year, "$")
    text <- sub(named, paste0("\\1/", sprintf("%02d", month)), text, perl = TRUE)
  }
  for (quarter in 1:4) {
    text <- sub(paste0("/q", quarter, "$"), sprintf("/%02d", 3 * quarter - 2), text)
  }
  if (length(text) && all(grepl("^[0-9]{4}/[0-9]{2}$", text))) {
    plain[!outside] <- paste0(text, "/01")
  }
  plain
}

# Numbers and intervals -----------------------------------------------------

# Words around a number, after which it is the end of an interval: `low` and `high` say where
# the number goes, `open` whether the interval leaves it out.
range_words <- list(
  list(
    low = TRUE, open = FALSE, before = c(">=", "at least", "ab", "mindestens", "from"),
    after = c(
      "+", "plus", "(and|or) (over|older|more|above|up|longer|higher)", "und (mehr|\u00e4lter)",
      "oder (mehr|\u00e4lter)", "und dar\u00fcber", "(et|ou) plus", "[yo] m[\u00e1a]s"
    )
  ),
  list(
    low = TRUE, open = TRUE,
    before = c(
      ">", "over", "above", "more than", "older than", "\u00fcber", "mehr als", "plus de",
      "m[\u00e1a]s de"
    )
  ),
  list(
    low = FALSE, open = TRUE,
    before = c(
      "<", "under", "below", "less than", "fewer than", "younger than", "unter",
      "weniger als", "moins de", "menos de"
    )
  ),
  list(
    low = FALSE, open = FALSE,
    before = c(
      "<=", "up to", "at most", "bis", "bis zu", "h\u00f6chstens", "jusqu'\u00e0", "hasta"
    ),
    after = c(
      "(and|or) (under|less|fewer|younger|below|lower)", "(und|oder) (weniger|j\u00fcnger)",
      "(et|ou) moins", "[yo] menos"
    )
  )
)

unit_words <- paste0(
  "(years?( of age| old)?|yrs?|months?|weeks?|days?|hours?|minutes?|employees?|persons?|people|",
  "children|members?|rooms?|euros?|eur|usd|gbp|chf|dollars?|jahren?|monaten?|stunden|personen|",
  "besch\u00e4ftigten?|mitarbeitern?|kindern?|zimmern?|ans?|mois|heures|personnes?|",
  "salari\u00e9s?|enfants?|a\u00f1os?|meses|horas|personas?|empleados?|hijos?|",
  "kg|cm|km|ha|m2|\u20ac|\\$|\u00a3|%)"
)

quantile_pattern <- "^([0-9]+)(?:st|nd|rd|th) (?:quin|quar|ter|dec|percen)tile$"

# "E10_49" and "E1000" are 10 to 49 and 1000, if one letter is before all; "A1" is a code.
without_letter <- function(known) {
  sized <- all(grepl("^[a-z][0-9]+(_[0-9]+)?$", known)) && any(grepl("_", known))
  if (!sized || length(unique(substr(known, 1, 1))) > 1) {
    return(known)
  }
  sub("_", "-", substring(known, 2))
}

# How numbers are written: separators of thousands, and the decimal mark.
number_styles <- list(c("[ ',\u2019]", "."), c("[ '.\u2019]", ","))

interval_order <- function(plain, outside) {
  known <- plain[!outside]
  known <- sub("^(aged?|alter|\u00e2ge|edad):? ", "", known)
  known <- gsub("[$\u20ac\u00a3] ?(?=[0-9])", "", known, perl = TRUE)
  known <- sub(quantile_pattern, "\\1", known, perl = TRUE)
  known <- without_letter(known)
  known <- gsub(paste0("(^|[ 0-9+<>=-])", unit_words, "(?=$|[ +-])"), "\\1", known, perl = TRUE)
  known <- trimws(gsub(" +", " ", known))
  if (length(known) == 0) {
    return(NULL)
  }
  found <- lapply(number_styles, function(style) order_intervals(read_intervals(known, style)))
  found <- found[lengths(found) > 0]
  # "1.000-1.999" are thousands or fractions: the reading without gaps is meant.
  ranks <- unique(lapply(found, `[[`, "rank"))
  if (length(ranks) > 1) found <- found[vapply(found, `[[`, NA, "without_gaps")]
  if (length(found) == 0 || length(ranks) > 1 && length(found) > 1) {
    return(NULL)
  }
  found <- lapply(found[[1]][c("rank", "low", "high", "low_open", "high_open")], function(x) {
    replace(rep(x[NA_integer_], length(plain)), !outside, x)
  })
  # "-9" and "99" are apart from ages as "unknown" is.
  numbers <- sorted_values(found$low[is.finite(found$low)])
  is_code <- found$low %in% c(low_codes(numbers), high_codes(numbers)) & found$low == found$high
  found$rank[is_code] <- NA
  found
}

# The ends of every value, NA where it is not understood.
read_intervals <- function(known, style) {
  number <- paste0(
    "(-?[0-9]+(?:[", style[[2]], "][0-9]+)?(?:e[+-]?[0-9]+)?|",
    "-?[0-9]{1,3}(?:", style[[1]], "[0-9]{3})+(?:[", style[[2]], "][0-9]+)?)"
  )
  value <- function(text) {
    as.double(sub(",", ".", gsub(style[[1]], "", text), fixed = TRUE))
  }
  n <- length(known)
  out <- data.frame(
    low = rep(NA_real_, n), high = rep(NA_real_, n), low_open = logical(n), high_open = logical(n)
  )
  fill <- function(out, pattern, low, high, low_open = FALSE, high_open = FALSE) {
    at <- which(is.na(out$low) & grepl(pattern, known, perl = TRUE))
    part <- function(i) if (is.character(i)) value(sub(pattern, i, known[at], perl = TRUE)) else i
    out$low[at] <- part(low)
    out$high[at] <- part(high)
    out$low_open[at] <- low_open
    out$high_open[at] <- high_open
    out
  }
  out <- fill(out, paste0("^", number, "$"), "\\1", "\\1")
  out <- fill_brackets(out, known)
  to <- "(?: ?(?:-|\\.{2,3}|~) ?| (?:to|bis|\u00e0|a|until|and|und|et|y) )"
  from <- "(?:(?:from|between|von|zwischen|de|entre) )?"
  below <- "(?: ?- ?<| to under | to less than | bis unter ) ?"
  out <- fill(out, paste0("^", from, number, below, number, "$"), "\\1", "\\2", high_open = TRUE)
  out <- fill(out, paste0("^", from, number, to, number, "$"), "\\1", "\\2")
  for (words in range_words) {
    patterns <- c(
      if (length(words$before)) {
        paste0("^(?:", paste(words$before, collapse = "|"), ") ?", number, "$")
      },
      if (length(words$after)) {
        after <- sub("^[+]$", "[+]", words$after)
        paste0("^", number, " ?(?:", paste(after, collapse = "|"), ")$")
      }
    )
    for (pattern in patterns) {
      out <- if (words$low) {
        fill(out, pattern, "\\1", Inf, low_open = words$open)
      } else {
        fill(out, pattern, -Inf, "\\1", high_open = words$open)
      }
    }
  }
  out
}

# Intervals as cut() writes them: "(0,15]", and "]0;15]" as others do.
fill_brackets <- function(out, known) {
  end <- "(-?inf|[-+]?[0-9.]+(?:e[+-]?[0-9]+)?)"
  pattern <- paste0("^([]([]) ?", end, " ?[,;] ?", end, " ?([])[])$")
  at <- which(grepl(pattern, known, perl = TRUE))
  part <- function(i) sub(pattern, paste0("\\", i), known[at], perl = TRUE)
  out$low[at] <- suppressWarnings(as.double(part(2)))
  out$high[at] <- suppressWarnings(as.double(part(3)))
  out$low_open[at] <- part(1) != "["
  out$high_open[at] <- part(4) != "]"
  out
}

# The places of intervals that do not overlap; equal ones have one place. NULL if some do.
order_intervals <- function(x) {
  if (anyNA(x$low) || anyNA(x$high) || any(x$low > x$high)) {
    return(NULL)
  }
  at <- order(x$low, x$low_open, x$high, !x$high_open)
  sorted <- x[at, ]
  n <- nrow(x)
  before <- sorted[-n, ]
  after <- sorted[-1, ]
  same <- rowSums(before != after) == 0
  # Bands may share an end, a number and a band that holds it may not.
  apart <- before$high < after$low | before$high == after$low & (
    before$high_open | after$low_open | before$low < before$high & after$low < after$high
  )
  if (!all(same | apart)) {
    return(NULL)
  }
  rank <- integer(n)
  rank[at] <- cumsum(c(1L, !same))
  c(list(rank = rank, without_gaps = all(same | after$low - before$high <= 1)), as.list(x))
}

# Negative codes below values that are not negative: a few, or with gaps between
# them, or it is a scale.
low_codes <- function(values) {
  codes <- values[values %in% c(-1:-9, -99:-97, -999:-997, -9999:-9997)]
  rest <- setdiff(values, codes)
  few <- length(codes) <= 3 || any(diff(c(codes, min(rest))) > 1)
  if (length(codes) && length(rest) >= 2 && all(rest >= 0) && few) codes else numeric()
}

# 7 to 9, 97 to 99 and so on above a gap: the largest other value lies more than one
# below, farther than other values lie from each other, and below what the digits leave
# room for.
high_codes <- function(values) {
  for (top in c(9, 99, 999, 9999, 99999, 999999)) {
    codes <- values[values %in% (top - 2:0)]
    rest <- values[values < top - 2]
    if (length(codes) && max(values) == max(codes) && length(rest) >= 2 &&
          max(codes) == top && min(codes) - max(rest) > max(1, diff(rest))) {
      return(codes)
    }
  }
  numeric()
}
