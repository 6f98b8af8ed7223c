# The order of values that are text: numbers, intervals, dates and names of months or days, as
# statistical offices write them. Either all values are understood and no two overlap, or none
# is: an order that is false is worse than none.

# `rank`: the place of each value, NA for a non-response such as "unknown"; `low` and `high`,
# the ends of numbers and intervals; or `dates` with their `format`. NULL: not understood.
text_order <- function(text) {
  plain <- plain_text(text)
  outside <- is_non_response(plain)
  if (all(outside)) {
    return(NULL)
  }
  known <- gsub("\u2026", "...", plain[!outside])
  found <- date_order(known)
  if (is.null(found)) found <- calendar_order(known)
  if (is.null(found)) found <- interval_order(known)
  if (!is.null(found)) {
    each <- lengths(found) == length(known) & names(found) != "format"
    found[each] <- lapply(found[each], function(x) {
      replace(rep(x[NA_integer_], length(plain)), !outside, x)
    })
    c(found, list(outside = is.na(found$rank)))
  }
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
date_order <- function(known) {
  known <- period_starts(dates_by_number(sub(time_pattern, "", known)))
  fits <- vapply(names(date_patterns), function(format) {
    all(grepl(date_patterns[[format]], known)) && !anyNA(as.Date(known, format))
  }, NA)
  if (sum(fits) != 1) {
    return(NULL)
  }
  format <- names(fits)[fits]
  dates <- as.Date(known, format)
  list(rank = match(dates, sorted_values(dates)), dates = dates, format = format)
}

# Text that is dates, or dates with times of day, as these, whose order is that of time; any other
# column as it is.
dates_of_text <- function(x) {
  values <- known_texts(x)
  if (!any(grepl("[0-9]{4}", utils::head(values, 1000)))) {
    return(x)
  }
  plain <- plain_text(values)
  known <- !is_non_response(plain)
  dates <- if (any(known)) date_order(plain[known])$dates
  if (is.null(dates)) {
    return(x)
  }
  seconds <- seconds_of_day(plain[known])
  if (any(seconds > 0)) dates <- .POSIXct(86400 * as.double(dates) + seconds, "UTC")
  dates[match(as.character(x), values[known])]
}

seconds_of_day <- function(text) {
  at <- regexpr(time_pattern, text)
  parts <- strsplit(gsub("[ tz]", "", regmatches(text, at)), ":")
  seconds <- numeric(length(text))
  seconds[at > 0] <- vapply(parts, function(part) {
    sum(as.double(sub(",", ".", part)) * c(3600, 60, 1)[seq_along(part)])
  }, 0)
  seconds
}

# Names of months and of days of the week in six languages, with usual abbreviations.
month_names <- c(
  "jan|january|januar|j\u00e4n|j\u00e4nner|janv|janvier|ene|enero|gen|gennaio|januari",
  "feb|february|februar|f\u00e9v|f\u00e9vr|f\u00e9vrier|fev|fevrier|febrero|febbraio|februari",
  "mar|march|m\u00e4r|m\u00e4rz|maerz|mrz|mars|marzo|mrt|maart",
  "apr|april|avr|avril|abr|abril|aprile",
  "may|mai|mayo|mag|maggio|mei",
  "jun|june|juni|juin|junio|giu|giugno",
  "jul|july|juli|juil|juillet|julio|lug|luglio",
  "aug|august|ao\u00fbt|aout|ago|agosto|augustus",
  "sep|sept|september|septembre|septiembre|set|settembre",
  "oct|october|okt|oktober|octobre|octubre|ott|ottobre",
  "nov|november|novembre|noviembre",
  "dec|december|dez|dezember|d\u00e9c|d\u00e9cembre|decembre|dic|diciembre|dicembre"
)
day_names <- c(
  "mon|monday|mo|montag|lun|lundi|lunes|luned\u00ec|ma|maandag",
  "tue|tues|tuesday|di|dienstag|mar|mardi|martes|marted\u00ec|dinsdag",
  "wed|wednesday|mi|mittwoch|mer|mercredi|mi\u00e9|mi\u00e9rcoles|mercoled\u00ec|wo|woensdag",
  "thu|thur|thurs|thursday|do|donnerstag|jeu|jeudi|jue|jueves|gio|gioved\u00ec|donderdag",
  "fri|friday|fr|freitag|ven|vendredi|vie|viernes|venerd\u00ec|vr|vrijdag",
  "sat|saturday|sa|samstag|sonnabend|sam|samedi|s\u00e1b|s\u00e1bado|sab|sabato|za|zaterdag",
  "sun|sunday|so|sonntag|dim|dimanche|dom|domingo|domenica|zo|zondag"
)

# Months, days of the week and quarters without a year.
calendar_order <- function(known) {
  for (names in list(month_names, day_names, paste0("q", 1:4))) {
    places <- lapply(paste0("^(?:", names, ")[.]?$"), grepl, known, perl = TRUE)
    places <- do.call(cbind, places)
    if (all(rowSums(places) == 1) && sum(colSums(places) > 0) >= 2) {
      return(list(rank = dense_rank(max.col(places))))
    }
  }
}

dense_rank <- function(x) match(x, sorted_values(x))

# "1 January 1990" and "Jan 1, 1990" as "1990-01-01", "January 1990" and "1990m1" as "1990/01",
# if all values are such.
dates_by_number <- function(known) {
  if (!all(grepl("[0-9]{4}", known) & grepl("[[:alpha:]]", known))) {
    return(known)
  }
  text <- known
  for (month in seq_along(month_names)) {
    pattern <- paste0("(?<![[:alpha:]])(?:", month_names[[month]], ")(?![[:alpha:]])[.]?")
    text <- gsub(pattern, sprintf("m%02d", month), text, perl = TRUE)
  }
  text <- gsub("(?<=[0-9])(?:st|nd|rd|th|er|\u00ba|[.])(?= ?(?:de )?m)", "", text, perl = TRUE)
  text <- gsub("(?<= [0-9]|[0-9]{2})(?:st|nd|rd|th)(?=,? )", "", text, perl = TRUE)
  text <- gsub(" de |[, /-]+", "", text)
  text <- sub("^([0-9]{1,2})m([0-9]{2})([0-9]{4})$", "\\3-\\2-0\\1", text)
  text <- sub("^m([0-9]{2})([0-9]{1,2})([0-9]{4})$", "\\3-\\1-0\\2", text)
  text <- sub("-0([0-9]{2})$", "-\\1", text)
  text <- sub("^m([0-9]{2})([0-9]{4})$", "\\2/\\1", text)
  text <- sub("^([0-9]{4})m0?([0-9]{1,2})$", "\\1/0\\2", text)
  text <- sub("/0([0-9]{2})$", "/\\1", text)
  if (all(grepl("^[0-9]{4}[-/][0-9]{2}", text))) text else known
}

# Months, quarters and halves of a year, if all values are, by their first day.
period_starts <- function(known) {
  year <- "((?:1[5-9]|20)[0-9]{2})"
  ordinal <- "(?:[.]|st|nd|rd|th|er|e|[e\u00e8]me|\u00ba)?"
  text <- sub(paste0("^", year, "[/m-](0[1-9]|1[0-2])$"), "\\1/\\2", known, perl = TRUE)
  text <- sub(paste0("^(0?[1-9]|1[0-2])[/.]", year, "$"), "\\2/0\\1", text, perl = TRUE)
  parts <- list(
    c("q|t|quarter|qtr[.]?|quartal|trimestre|kwartaal", "[1-4]", 3),
    c("h|s|half|halbjahr|semestre|semester|halfjaar", "[1-2]", 6)
  )
  for (part in parts) {
    after <- paste0("(", part[[2]], ")", ordinal, " ?(?:", part[[1]], ")")
    before <- paste0("(?:", part[[1]], ") ?(", part[[2]], ")")
    for (named in c(after, before)) {
      first <- paste0("^", named, "(?: ?[ /-] ?| de | )?", year, "$")
      last <- paste0("^", year, "(?: ?[ /-] ?)?", named, "$")
      text <- sub(last, "\\1/p\\2", sub(first, "\\2/p\\1", text, perl = TRUE), perl = TRUE)
    }
    for (i in 1:4) {
      month <- sprintf("/%02d", as.integer(part[[3]]) * (i - 1) + 1)
      text <- sub(paste0("/p", i, "$"), month, text)
    }
  }
  text <- sub("/0([0-9]{2})$", "/\\1", text)
  if (all(grepl("^[0-9]{4}/[0-9]{2}$", text))) paste0(text, "/01") else known
}

# Numbers and intervals -----------------------------------------------------

# Words that bound an interval, and the symbol that each stands for: before a number G "at
# least", H "more than", L "at most", K "less than", F "from"; after one P "and over", M "and
# under"; between two T "to", A "and", O "or".
more_words <- paste0(
  "over|older|more|above|up|upwards?|longer|higher|greater|later|after|",
  "mehr|\u00e4(?:lter|[.])|dar\u00fcber|l\u00e4nger|h\u00f6her|sp\u00e4ter|",
  "plus(?: \u00e2g\u00e9s)?|au-del\u00e0|apr\u00e8s|m[\u00e1a]s|mayor(?:es)?|posterior(?:es)?|",
  "pi\u00f9|oltre|successiv[oi]|ouder|meer|hoger|langer|mais"
)
less_words <- paste0(
  "under|less|fewer|younger|below|lower|earlier|before|shorter|weniger|j\u00fcnger|darunter|",
  "k\u00fcrzer|fr\u00fcher|moins|avant|menos|menor(?:es)?|anterior(?:es)?|meno|precedenti|",
  "jonger|minder|lager|eerder"
)
joining <- "(?:and|und|u[.]|et|y|e|en|&|or|oder|od[.]|ou|o|of|/) ?"
after_number <- "(?![[:alpha:]])(?! ?(?:than |de |di |als |dan )?[0-9])"
before_number <- "(?= *-?[0-9])"

range_words <- c(
  P = paste0("(?:", joining, "(?:", more_words, ")|onwards?|aufw\u00e4rts|plus)", after_number),
  M = paste0(joining, "(?:", less_words, ")", after_number),
  L = paste0(
    "(?:at most|up to(?: and including)?|(?:no|not) (?:more|older|later) than|not over|maximum|",
    "less than or equal to|h\u00f6chstens|maximal|au plus|como m\u00e1ximo|al massimo|hoogstens|",
    "ten hoogste)", before_number
  ),
  G = paste0(
    "(?:at least|(?:no|not) less than|(?:greater|more) than or equal to|minimum|mindestens|ab|",
    "au moins|\u00e0 partir de|desde|al menos|como m\u00ednimo|almeno|a partire da|minstens|vanaf|",
    "since|seit)", before_number
  ),
  H = paste0(
    "(?:gt|(?:more|greater|older|longer|higher|larger|later) than|over|above|after|",
    "(?:mehr|\u00e4lter|l\u00e4nger|gr\u00f6\u00dfer|h\u00f6her) als|\u00fcber|nach|",
    "plus (?:de|que)|apr\u00e8s|(?:m[\u00e1a]s|mayor(?:es)?) (?:de|que)|despu\u00e9s de|",
    "(?:pi\u00f9|maggiore) di|oltre(?: i| il)?|dopo(?: il)?|",
    "(?:meer|ouder|langer|hoger) dan|boven|mais de)", before_number
  ),
  K = paste0(
    "(?:lt|(?:less|fewer|younger|lower|shorter|smaller|earlier) than|under|below|before|prior to|",
    "(?:weniger|j\u00fcnger|k\u00fcrzer|kleiner) als|unter|vor|",
    "moins (?:de|que)|avant|inf\u00e9rieur \u00e0|",
    "(?:menos|menor(?:es)?) (?:de|que)|antes de|(?:meno|minore) di|inferiore a|prima del?|",
    "(?:minder|jonger|korter|lager) dan|onder|voor)", before_number
  ),
  T = paste0(
    "(?:up to|to|through|thru|until|till|bis zu|bis|b[.] ?u[.]|jusqu'\u00e0|\u00e0|a|al|",
    "hasta|fino a|tot en met|t/m|tot|at\u00e9)(?= *[0-9KLGH-])"
  ),
  F = paste0("(?:from|between|von|zwischen|de|entre|da|dal|dai|tra|fra|van|tussen)", before_number),
  A = "(?:and|und|et|y|e|en)(?= *[0-9KL])", O = "(?:or|oder|ou|o|of)(?= ?[0-9])"
)

# Digits for "none", "one" and so on.
number_words <- c(
  paste0(
    "none|no|zero|nil|without|keine?|kein|ohne|null|aucune?|sans|z\u00e9ro|",
    "ning[u\u00fa]n[oa]?|sin|cero|nessun[oa']?|senza|geen|zonder"
  ),
  "one|eine?|un|une|uno|una|een|\u00e9\u00e9n", "two|zwei|deux|dos|due|twee",
  "three|drei|trois|tres|tre|drie", "four|vier|quatre|cuatro|quattro",
  "five|f\u00fcnf|cinq|cinco|cinque|vijf",
  "six|sechs|seis|sei|zes", "seven|sieben|sept|siete|sette|zeven",
  "eight|acht|huit|ocho|otto",
  "nine|neun|neuf|nueve|nove|negen", "ten|zehn|dix|diez|dieci|tien"
)

# Words before a number that say what is measured.
label_words <- paste0(
  "aged?|ages|alter|\u00e2ge|edad|et\u00e0|leeftijd|built|born|isced|level|stage|grade|size|",
  "income|stufe|niveau|nivel|livello|stadium|mit|with|avec|con|met"
)

# Words of time and of large numbers: units that are the same in other units.
time_words <- c(
  "years?|yrs?|y|y[.]?o|jahr(?:e|en)?|j|ans?|ann\u00e9es?|a\u00f1os?|ann[oi]|jaar|jaren",
  "months?|mos?|monat(?:e|en)?|mois|mes|meses|mes[ei]|maand(?:en)?",
  "weeks?|wks?|wochen?|semaines?|semanas?|settiman[ae]|weken",
  "days?|d|tage?n?|jours?|d[i\u00ed]as?|giorn[oi]|dag(?:en)?",
  "hours?|hrs?|h|stunden?|std|heures?|horas?|or[ae]|u|uur|uren",
  "minutes?|mins?|minuten|minutos?|minut[oi]"
)
days_each <- c(365.25, 365.25 / 12, 7, 1, 1 / 24, 1 / 1440)
times_words <- c(
  "k|thousand|tsd|tausend|mille|mil|mila|duizend",
  "mio|mln|millions?|millionen|millones|mill\u00f3n|milion[ei]|miljoen"
)

# Styles of numbers: separators of thousands, and the decimal mark.
number_styles <- list(c("[ ',\u2019]", "."), c("[ '.\u2019]", ","))

# More texts than this are no bands; they are read as numbers or dates only.
most_band_texts <- 1e4

interval_order <- function(known) {
  symbols <- if (length(known) <= most_band_texts) range_symbols(known) else known
  found <- lapply(number_styles, function(style) {
    order_intervals(read_intervals(known, symbols, style))
  })
  found <- found[lengths(found) > 0]
  # "1.000-1.999" are thousands or fractions: the reading without gaps is meant.
  ranks <- unique(lapply(found, `[[`, "rank"))
  if (length(ranks) > 1) found <- found[vapply(found, `[[`, NA, "without_gaps")]
  if (length(found) == 0 || length(ranks) > 1 && length(found) > 1) {
    return(NULL)
  }
  found <- found[[1]][c("rank", "low", "high", "low_open", "high_open")]
  # "-9" and "99" are apart from ages as "unknown" is.
  numbers <- sorted_values(found$low[is.finite(found$low)])
  is_code <- found$low %in% c(low_codes(numbers), high_codes(numbers)) & found$low == found$high
  found$rank[is_code] <- NA
  found
}

# Text whose words for bounds are symbols, whose numbers are digits, without labels and money.
range_symbols <- function(known) {
  # "90 (90+ in 1980)" without the remark, if few values have one and all remain different.
  bare <- sub("(?<=[^ ]) ?[(][^()]*[a-z][^()]*[)]$", "", known, perl = TRUE)
  known <- if (anyDuplicated(bare) > 0 || mean(bare != known) > 0.5) known else bare
  known <- sub(paste0("^(?:", label_words, "):? "), "", known, perl = TRUE)
  known <- digits_of_romans(known)
  money <- "[$\u20ac\u00a3]"
  money <- paste0("(?:us)?(?:", money, "|(?:chf|eur|usd|gbp) ) ?(?=[0-9])|(?<=[0-9]) ?", money)
  known <- gsub(money, "", known, perl = TRUE)
  known <- gsub("(?<=[[:alnum:]])-(?=[[:alpha:]])|(?<=[a-z])-(?=[a-z])", " ", known, perl = TRUE)
  known <- quantile_numbers(code_ranges(known))
  word <- function(pattern) paste0("(?<![[:alnum:]])(?:", pattern, ")(?![[:alpha:]])")
  for (i in seq_along(number_words)) {
    first <- paste0("^", word(number_words[[i]]), "(?! (?:more|less|older|later) than)")
    known <- sub(first, i - 1, known, perl = TRUE)
  }
  known <- sub("^(?:lowest|lo|min) (?=thru |to |- ?)(?:thru|to|-) ?", "<=", known, perl = TRUE)
  known <- sub(" ?(?:thru|to|-) (?:highest|hi|max)$", "+", known, perl = TRUE)
  for (symbol in names(range_words)) {
    pattern <- paste0("(?<![[:alpha:]])(?:", range_words[[symbol]], ")(?![[:alpha:]])")
    known <- gsub(pattern, paste0(" ", symbol, " "), known, perl = TRUE)
  }
  known <- gsub(">=|=>", " G ", gsub("<=|=<", " L ", known))
  known <- gsub("<", " K ", gsub(">", " H ", known))
  known <- gsub("[+](?! ?[0-9])", " P ", known, perl = TRUE)
  to <- "(?<=[0-9a-z%.]) ?(?:-|~|(?<=[0-9]{2})/|_|[.]{2,3}) ?(?=[0-9-])"
  known <- gsub(to, " T ", known, perl = TRUE)
  known <- gsub("(?<=[0-9a-z%.]) ?- ?(?= [KLGH])", " T ", known, perl = TRUE)
  trimws(gsub(" +", " ", known))
}

# "Y15-24", "Y_GE65", "E10_49" and "E1000" are 15 to 24, at least 65, 10 to 49 and 1000, if one
# prefix is before all; "A1" is a code.
code_ranges <- function(known) {
  pattern <- "^([a-z]{0,3}?)_?(ge|gt|le|lt)?_?([0-9]+)(?:[-_t]([0-9]+))?$"
  if (!all(grepl(pattern, known, perl = TRUE))) {
    return(known)
  }
  part <- function(i) sub(pattern, paste0("\\", i), known, perl = TRUE)
  if (length(unique(part(1))) > 1 || !any(nzchar(part(2)) | nzchar(part(4)))) {
    return(known)
  }
  sign <- c(ge = ">=", gt = ">", le = "<=", lt = "<")[part(2)]
  paste0(ifelse(is.na(sign), "", sign), part(3), ifelse(nzchar(part(4)), "-", ""), part(4))
}

# "1st", "1st quintile", "5th grade" and "Quintil 1" by their numbers.
quantile_numbers <- function(known) {
  name <- "(?:(?:[kq][uw](?:in|ar)|ter|d[e\u00e9][csz]|per[cz]en)[a-z]*i[l\u00e8][a-z]*|grade)"
  ordinal <- "(?:st|nd|rd|th|[.]|er|e|[e\u00e8]me|\u00ba|\u00b0)?"
  known <- sub("^([0-9]+)(?:st|nd|rd|th)$", "\\1", known, perl = TRUE)
  known <- sub(paste0("^([0-9]+)", ordinal, " ", name, "$"), "\\1", known, perl = TRUE)
  sub(paste0("^", name, " ([0-9]+)$"), "\\1", known, perl = TRUE)
}

# Roman numerals below 40, if all values are and one has several letters: "I", "II", "III-V".
digits_of_romans <- function(known) {
  roman <- "(?=[ivx])x{0,3}(?:ix|iv|v?i{0,3})"
  pattern <- paste0("^(", roman, ")(?:( ?- ?| to )(", roman, "))?$")
  are <- all(grepl(pattern, known, perl = TRUE)) && any(grepl("^i( |-|$)", known))
  if (!are || all(nchar(known) == 1)) {
    return(known)
  }
  number <- function(i) {
    as.integer(utils::as.roman(sub(pattern, paste0("\\", i), known, perl = TRUE)))
  }
  high <- number(3)
  ifelse(is.na(high), number(1), paste0(number(1), "-", high))
}

# The ends of every value, NA where it is not understood.
read_intervals <- function(known, symbols, style) {
  number <- paste0(
    "(?<![0-9.,])-?(?:[0-9]{1,3}(?:", style[[1]], "[0-9]{3})+(?![0-9])|[0-9]+)",
    "(?:[", style[[2]], "][0-9]+)?(?:e[+-]?[0-9]+)?"
  )
  at <- gregexpr(number, symbols, perl = TRUE)
  values <- lapply(regmatches(symbols, at), function(text) {
    as.double(sub(",", ".", gsub(style[[1]], "", text), fixed = TRUE))
  })
  rest <- regmatches(symbols, at, invert = TRUE)
  part <- function(x, i, none) vapply(x, function(x) if (length(x) < i) none else x[[i]], none)
  between <- lapply(1:3, function(i) part(rest, i, ""))
  form <- paste0(between[[1]], ifelse(lengths(values) > 0, "#", ""), between[[2]],
    ifelse(lengths(values) > 1, "#", ""), between[[3]])
  form[lengths(values) > 2] <- ""
  form <- gsub("[^A-Z#]", "", form)
  words <- lapply(between, function(text) sub("^[-:] ?", "", trimws(gsub("[A-Z]| +", " ", text))))
  ends <- cbind(part(values, 1, NA_real_), part(values, 2, NA_real_))
  ends <- ends * unit_factors(words, form, ends)
  fill_brackets(ends_by_form(form, ends), known)
}

ends_by_form <- function(form, ends) {
  n <- length(form)
  low <- high <- rep(NA_real_, n)
  one <- ends[, 1]
  two <- ends[, 2]
  # "1990-94" ends in 1994.
  short <- which(one %in% 1500:2100 & two < 100 & one == round(one))
  two[short] <- two[short] + one[short] %/% 100 * 100
  two[short] <- two[short] + ifelse(two[short] < one[short], 100, 0)
  pair <- grepl("^[FGH]?#[TAO]?[KL]?#$", form) & form != "##" &
    (!grepl("[AO]", form) | grepl("[FGHKL]", form) | two %in% (one + 1))
  from <- grepl("^[GF]#P?$|^#P$|^H#$", form)
  to <- grepl("^[LT]#$|^#M$|^T?K#$", form)
  point <- form == "#"
  low[pair | from | point] <- one[pair | from | point]
  low[to] <- -Inf
  high[pair] <- two[pair]
  high[from] <- Inf
  high[to | point] <- one[to | point]
  data.frame(
    low, high, low_open = !is.na(low) & grepl("^H", form),
    high_open = !is.na(high) & grepl("K#$", form)
  )
}

# Factors that bring the numbers to one unit, NA if their units are not known to be one: a unit is
# the words after a number.
unit_factors <- function(words, form, ends) {
  two <- !is.na(ends[, 2])
  unit <- cbind(words[[2]], ifelse(two, words[[3]], ""))
  # A value has one unit, said once, or each of its numbers has its own.
  unit[two & unit[, 1] == "", 1] <- unit[two & unit[, 1] == "", 2]
  unit[two & unit[, 2] == "", 2] <- unit[two & unit[, 2] == "", 1]
  unit[!two, 1] <- trimws(paste(unit[!two, 1], words[[3]][!two]))
  factor <- matrix(ifelse(nzchar(words[[1]]), NA_real_, 1), nrow(unit), 2)
  for (i in seq_along(times_words)) {
    pattern <- paste0("^(?:", times_words[[i]], ")[.]?(?![[:alpha:]]) ?")
    found <- grepl(pattern, unit, perl = TRUE)
    factor[found] <- factor[found] * 1000^i
    unit[] <- sub(pattern, "", unit, perl = TRUE)
  }
  units <- unique(unit[nzchar(unit)])
  if (any(grepl("[0-9,;:()]", units))) {
    return(NA * factor)
  }
  if (length(units) == 0 || is_labelled_scale(unit[, 1], form, ends[, 1])) {
    return(factor)
  }
  time <- do.call(cbind, lapply(
    paste0("^(?:", time_words, ")[.]?(?![[:alpha:]])"), grepl, units, perl = TRUE
  ))
  if (all(rowSums(time) == 1)) {
    days <- days_each[max.col(time)]
    if (length(unique(days)) == 1) {
      return(factor)
    }
    of <- days[match(unit, units)]
    of[unit == "" & c(ends) %in% 0] <- 1
    of[is.na(c(ends))] <- 1
    return(factor * of)
  }
  # One value alone with words after its number may have a label, "3 north", not a unit.
  has <- nzchar(unit[, 1])
  several <- sum(has) > 1 || any(has & (form != "#" | ends[, 1] == 0))
  if (any(rowSums(time) > 0) || !several || !are_one_unit(units)) NA * factor else factor
}

# "0 not at all", "1", ..., "10 completely": only the ends of a scale have words.
is_labelled_scale <- function(words, form, value) {
  has <- nzchar(words)
  length(value) >= 5 && all(form == "#") && sum(has) == 2 && !any(words[has] %in% non_responses) &&
    all(value[has] %in% range(value)) && value[has][[1]] != value[has][[2]]
}

# TRUE if units are the same words but for their endings: "enfant" and "enfants".
are_one_unit <- function(units) {
  words <- strsplit(units, " ")
  first <- words[[which.max(lengths(words))]]
  all(vapply(words, function(other) {
    all(mapply(function(a, b) {
      n <- min(nchar(a), nchar(b))
      same <- cumprod(strsplit(substr(a, 1, n), "")[[1]] == strsplit(substr(b, 1, n), "")[[1]])
      sum(same) >= 0.6 * max(nchar(a), nchar(b))
    }, first[seq_along(other)], other))
  }, NA))
}

# Intervals as cut() writes them: "(0,15]", and "]0;15]" as others do.
fill_brackets <- function(out, known) {
  end <- "(-?inf|[-+]?[0-9.]+(?:e[+-]?[0-9]+)?)"
  pattern <- paste0("^([]([]) ?", end, " ?[-,;] ?", end, " ?([])[])$")
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
