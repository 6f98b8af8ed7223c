# Levels that are intervals, numbers or dates, in the spellings of statistical offices.

skip_on_cran()

rank_of <- function(...) sdcRisk:::text_order(as.character(c(...)))$rank

# Whether the values of each group lie side by side in their order, at every level but that in
# which all are one.
expect_neighbours <- function(made, rank, info) {
  levels <- as.data.frame(made)
  place <- rank[levels$level_0]
  known <- !is.na(place)
  for (level in levels[-c(1, length(levels))]) {
    runs <- rle(level[known][order(place[known])])$values
    expect_identical(anyDuplicated(runs), 0L, info = info)
    expect_false(any(level[known] %in% level[!known]), info = info)
  }
}

test_that("intervals, numbers and dates are read in the order they have", {
  in_order <- list(
    c("(0,15]", "(15,24]", "(24,1e+03]", "(1e+03,2e+03]"), c("[0,15)", "[15,30)", "[30,Inf]"),
    c("]0;15]", "]15;30]"), c("0-14", "15 - 29", "30\u201344", "45+"), c("<5", "5", "6", "> 6"),
    c("<= 5", "6-10", ">10"), c("under 15", "15 to 64", "65 and over"),
    c("0", "1 employee", "2 to 4 employees", "5 to 9 employees", "10+ employees"),
    c("0-999", "1 000-1 999", "2 000-9 999", "10 000+"),
    c("0-999", "1,000-1,999", "2,000 or more"), c("0-999", "1.000-1.999", "2.000 und mehr"),
    c("0-999", "1\u202f000-1\u202f999", "2'000+"), c("0-1.5", "1.6-2.25", "2.5+"),
    c("1,5", "2,5", "10"),
    c("unter 15", "15 bis unter 30", "30 bis unter 65", "65 und mehr"),
    c("bis 17 Jahre", "18 bis 64 Jahre", "65 Jahre und \u00e4lter"),
    c("moins de 15 ans", "15 \u00e0 64 ans", "65 ans et plus"),
    c("menos de 15", "de 15 a 64", "65 y m\u00e1s"), c("<65", "\u226565"),
    c("0-5", "5-10", "10-15"),
    c("aged 15-19", "aged 20-24"), c("18 years", "19 years", "20 years and older"),
    c("2", "10", "75"), c("1989-12-31", "1990-01-02"), c("13.01.1999", "1.2.2020"),
    c("31/12/1999", "01/02/2020"), c("12/31/1999", "02/01/2020"),
    c("2001-01", "2001-02", "2001-11", "2002-03"), c("January 2020", "May 2020", "Dec. 2020"),
    c("M\u00e4rz 2020", "Oktober 2020", "Januar 2021"), c("ao\u00fbt 2001", "d\u00e9cembre 2001"),
    c("2001 Q1", "2001 Q4", "2002 Q1"), c("2001Q1", "2002Q1"), c("Q3 2001", "Q1 2002"),
    c("1st quintile", "2nd quintile", "3rd quintile"), c("1 to 9", "10 or more"),
    c("$0-$9,999", "$10,000-$19,999", "$20,000 or more"), c("less than $10,000", "$10,000+"),
    c("E10_49", "E50_249", "E250_499", "E500_999", "E1000"),
    c("1990-01-02 10:00:00", "1990-01-03 09:30", "1991-01-01T00:00:00Z")
  )
  for (levels in in_order) {
    expect_identical(rank_of(levels), seq_along(levels), info = levels[[2]])
    back <- c(rev(seq_along(levels)), NA, NA)
    expect_identical(rank_of(rev(levels), "Not stated", " k.A. "), back)
  }
  expect_identical(rank_of("15-29", "15 - 29", "0-14"), c(2L, 2L, 1L))
  expect_identical(rank_of("0", "75", "-9", "12"), c(2L, 4L, NA, 3L))
  expect_identical(rank_of(0:80, 99)[82], NA_integer_)
})

test_that("spellings of statistical offices in six languages are read", {
  in_order <- list(
    # Census Bureau, IPUMS, GSS
    c("Under 5 years", "5 to 9 years", "85 years and over"),
    c("Less than $10,000", "$10,000 to $14,999", "$200,000 or more"),
    c("1-person household", "2-person household", "7-or-more-person household"),
    c("No vehicle available", "1 vehicle available", "2 vehicles available"),
    c("Built 1939 or earlier", "Built 1940 to 1949", "Built 2020 or later"),
    c("1.00 or less occupants per room", "1.01 to 1.50 occupants per room"),
    c("Less than 10.0 percent", "10.0 to 14.9 percent", "50.0 percent or more"),
    c("Less than 1 year old", "1", "2", "89", "90 (90+ in 1980 and 1990)"),
    c("0 children present", "1 child present", "9+ children present"),
    c("Lt $1000", "$1000 to 2999", "$25000 or more"), c("<12 yrs", "12 yrs", ">16 yrs"),
    # SPSS and Stata
    c("Lowest thru 14", "15 thru 29", "30 thru Highest"), c("14 or lower", "15 to 20", "21+"),
    c("2001m1", "2001m2", "2001m11"), c("01JAN1990", "15FEB1990"), c("01-Jan-1990", "15-Feb-1990"),
    # Eurostat
    c("Y_LT15", "Y15-24", "Y25-64", "Y_GE65"), c("LT10", "10-49", "GE50"), c("2001M01", "2001M12"),
    c("ED0-2", "ED3_4", "ED5-8"), c("ISCED 0-2", "ISCED 3 and 4", "ISCED 5-8"),
    c("2001-S1", "2001-S2"),
    # Destatis
    c("unter 3 Jahre", "3 bis unter 6 Jahre", "75 Jahre und \u00e4lter"),
    c("bis unter 500 EUR", "500 bis unter 900 EUR", "18 000 EUR und mehr"),
    c("1-Personenhaushalte", "2-Personenhaushalte"), c("keine", "1 Kind", "3 und mehr Kinder"),
    c("unter 15 J.", "15 b.u. 30 J.", "65 J. u. \u00e4."), c("vor 1945", "1945-1959", "nach 1959"),
    c("1. Quartal 2001", "4. Quartal 2001"), c("1. Januar 1990", "15. M\u00e4rz 1990"),
    c("1. Dezil", "2. Dezil", "10. Dezil"), c("500 Tsd.", "1 Mio.", "2 Mio."),
    # INSEE
    c("Moins de 15 ans", "15-19 ans", "75 ans ou plus"), c("avant 1919", "de 1919 \u00e0 1945"),
    c("0 salari\u00e9", "1 \u00e0 2 salari\u00e9s", "10 000 salari\u00e9s et plus"),
    c("de 15 \u00e0 moins de 20 ans", "20 ans et plus"), c("Aucun enfant", "1 enfant", "2 enfants"),
    c("1er trimestre 2001", "2e trimestre 2001"), c("1er janvier 1990", "2 f\u00e9vrier 1990"),
    # INE
    c("De 16 a 19 a\u00f1os", "De 20 a 24 a\u00f1os", "De 70 y m\u00e1s a\u00f1os"),
    c("Sin asalariados", "De 1 a 2 asalariados", "5.000 o m\u00e1s asalariados"),
    c("Sin asalariados", "1", "2-9", "10-49", "50-249", "250 y m\u00e1s"),
    c("Menos de 5", "De 5 a 9", "M\u00e1s de 9"), c("1 de enero de 1990", "3 de marzo de 1990"),
    # ISTAT
    c("fino a 4 anni", "5-9 anni", "100 anni e oltre"), c("Prima del 1919", "1919-1945"),
    c("meno di 15 anni", "15-24 anni", "65 anni e pi\u00f9"),
    c("nessun figlio", "1 figlio", "3 figli o pi\u00f9"),
    # CBS
    c("0 tot 5 jaar", "5 tot 10 jaar", "95 jaar of ouder"), c("minder dan 10", "meer dan 19"),
    c("1 werkzame persoon", "2 tot 5 werkzame personen", "500 of meer werkzame personen"),
    # All
    c("none", "1", "2", "3+"), c("one", "two", "three or more"), c("1 or 2", "3 or 4", "5+"),
    c("less than 1 month", "1-11 months", "1-4 years", "5+ years"), c("3 days", "2 weeks"),
    c("6 months", "1 year"), c("30 min", "1 h"), c("up to 10k", "10k-20k", "50k+"),
    c("1990-94", "1995-99", "2000-04"), c("2009/10", "2010/11"), c("before 1950", "1950s", "1960s"),
    c("15-<20", "20-<25"), c("15 and under 20", "20 and under 25"), c("-10 to -1", "0 to 9"),
    c("between 15 and 19", "between 20 and 24"), c("no more than 5", "more than 5"),
    c("[15,30[", "[30,45["), c("(15.0, 30.0]", "(30.0, 45.0]"), c("0%", "1%-5%", "over 5%"),
    c("0 - not at all", "1", "2", "3", "4 - completely"), c("1st", "2nd", "3rd"),
    c("I", "II", "III", "IV"), c("I-II", "III"), c("Stage I", "Stage II"), c("Q1", "Q2", "Q4"),
    c("Monday", "Tuesday", "Sunday"), c("Mo", "Di", "Sa"), c("lundi", "mercredi", "dimanche"),
    c("January", "February", "December"), c("enero", "diciembre"), c("Jan-2001", "Feb-2001"),
    c("January 1, 1990", "March 2, 1991"), c("01/2001", "12/2001"), c("T1 2001", "T4 2001")
  )
  for (levels in in_order) {
    expect_identical(rank_of(levels), seq_along(levels), info = levels[[1]])
    back <- c(rev(seq_along(levels)), NA)
    expect_identical(rank_of(rev(levels), "Refused"), back, info = levels[[1]])
  }
  # Months and years in one unit.
  in_days <- sdcRisk:::text_order(c("1-11 months", "1-4 years"))
  expect_equal(in_days$low, c(365.25 / 12, 365.25))
})

test_that("words, codes and units that are not known to be one have no order", {
  for (levels in list(
    c("never", "sometimes", "often", "always"), c("strongly agree", "agree", "disagree"),
    c("1 male", "2 female"), c("1 Tyrol", "2 Vienna", "3 Salzburg"), c("Bezirk 1", "Bezirk 2"),
    c("M", "D"), c("DC", "MD", "MI"), c("I", "V", "X"), c("1", "2", "3 don't know"),
    c("Mitte", "Wedding", "Friedrichshain"), c("5 kg", "10 g"), c("2 m", "1 km"),
    c("1 child", "2 adults"), c("15-29 (male)", "15-29 (female)"), c("1 (North)", "2 (South)"),
    c("PLZ 1000-1999", "PLZ 2000-2999"), c("10 months", "2 years", "3"), c("1 year", "18 m"),
    c("12 Main Street", "14 Main Road"), c("192.168.1.1", "10.0.0.1"), c("0.5", "1/2"),
    c("H1", "H2", "H3"), c("Q1", "Q9"), c("none", "some", "all"), c("no", "yes"), c("1a", "1b"),
    c("1990", "1990s"), c("Mon", "Jan"), c("1/4", "1/2", "3/4"), c("S1", "S20", "None")
  )) {
    expect_null(sdcRisk:::text_order(levels), info = levels[[1]])
  }
  shown <- format(hierarchy(c("never", "sometimes", "often", "always")))[[1]]
  expect_match(shown, "from frequencies alone", fixed = TRUE)
})

test_that("codes of labelled columns keep their order, and non-responses apart", {
  skip_if_not_installed("haven")
  set.seed(3)
  region <- haven::labelled(sample(c(1:6, 9), 500, TRUE), c(
    stats::setNames(as.double(1:6), c("North", "South", "East", "West", "Mid", "Isles")),
    "No answer" = 9
  ))
  made <- hierarchy(region)
  expect_identical(made$kind, "proposed_codes")
  expect_neighbours(made, stats::setNames(c(1:6, NA), c(1:6, 9)), "region")
  expect_match(format(made)[[1]], "neighbouring codes", fixed = TRUE)
  said <- expect_message(
    recode_search(data.frame(region, y = rep(1:2, 250)), k = 3),
    class = "sdcRisk_message_proposed_hierarchy"
  )
  expect_match(conditionMessage(said), "\"region\" join neighbouring codes", fixed = TRUE)
  # Labels that have an order give it, whatever the codes.
  size <- haven::labelled(sample(1:5, 500, TRUE), c(
    "250 or more" = 1, "100-249" = 2, "0-9" = 3, "10-49" = 4, "50-99" = 5
  ))
  made <- hierarchy(size)
  expect_identical(made$kind, "proposed_order")
  expect_neighbours(made, c("1" = 5, "2" = 4, "3" = 1, "4" = 2, "5" = 3), "size")
  # Ages with a label for those that were not given.
  age <- haven::labelled(c(0:99, 999), c("not stated" = 999))
  levels <- as.data.frame(hierarchy(age))
  expect_identical(levels$level_1[c(1, 6, 100, 101)], c("0-4", "5-9", "95-99", "999"))
  # A number with labels at the ends of its scale is a number.
  scale <- haven::labelled(rep(0:20, 3), c("not at all" = 0, "completely" = 20))
  plain <- as.data.frame(hierarchy(rep(0:20, 3)))
  expect_identical(as.data.frame(hierarchy(scale)), plain)
})

test_that("levels that are not all understood, or overlap, have no order", {
  for (levels in list(
    c("a", "1"), c("80", "80+"), c("75+", "80"), c("0-5", "4-10"), c("0-5", "5", "6-10"),
    c("01/02/2020", "03/04/2021"), c("31.04.2020", "01.01.2020"), c("10-5", "11-15"),
    c("(0,15]", "(10,20]"), c("01.01.2020", "2020-01-02"), "unknown", c("1-2-3", "4"), letters,
    c("500-999", "1.500-1.999", "2.000-2.999"), c("region 1", "region 2"), c("E1", "E2"),
    c("E1_2", "F3"), c("2001-13", "2002-01")
  )) {
    expect_null(sdcRisk:::text_order(levels), info = levels[[1]])
  }
})

test_that("proposed groups of ordered text are neighbours, answers that are none stay apart", {
  set.seed(5)
  for (i in 1:60) {
    cuts <- sort(sample(0:150, sample(3:25, 1)))
    low <- cuts[-length(cuts)]
    high <- cuts[-1]
    texts <- switch(1 + i %% 6,
      levels(cut(1:150, cuts)), paste0(low, "-", high - 1), paste(low, "bis unter", high),
      c(paste("under", cuts[[1]]), paste(low, "to", high - 1), paste(max(high), "and over")),
      c(0:sample(5:90, 1), "99+"), format(as.Date("1950-01-01") + 500 * cuts, "%d.%m.%Y")
    )
    texts[grepl("^([0-9]+)(-| to )\\1$", texts)] <- sub("[^0-9].*", "", texts[grepl(
      "^([0-9]+)(-| to )\\1$", texts
    )])
    rank <- stats::setNames(seq_along(texts), texts)
    rank <- c(rank, unknown = NA, refused = NA)[seq_len(length(texts) + sample(0:2, 1))]
    x <- sample(names(rank), 800, TRUE, prob = rexp(length(rank)))
    x <- if (i %% 2) factor(x) else x
    made <- quietly(hierarchy(x))
    expect_true(made$kind %in% c("proposed_order", "proposed_levels"), info = texts[[1]])
    expect_neighbours(made, rank, paste(texts, collapse = " "))
  }
})

test_that("the age of laeken's ses, cut() into bands, keeps its order", {
  age <- factor(rep(
    c("(0,15]", "(15,29]", "(29,39]", "(39,49]", "(49,59]", "(59,120]"),
    c(28, 3113, 4388, 4782, 2879, 501)
  ))
  made <- hierarchy(age)
  expect_identical(as.data.frame(made)$level_1, c(
    "(0,15] to (15,29]", "(0,15] to (15,29]", "(29,39]", "(39,49]",
    "(49,59] to (59,120]", "(49,59] to (59,120]"
  ))
  expect_match(format(made)[[1]], "only neighbours are merged", fixed = TRUE)
})

test_that("ages that are text get bands, dates that are text units of time", {
  age <- c(0:79, "80+", "not stated")
  made <- hierarchy(rep(age, 3))
  levels <- as.data.frame(made)
  expect_identical(vapply(levels, function(l) length(unique(l)), 1L, USE.NAMES = FALSE), c(
    82L, 18L, 10L, 6L, 4L, 1L
  ))
  expect_identical(
    levels$level_1[c(1, 6, 80, 81, 82)], c("0-4", "5-9", "75-79", "80+", "not stated")
  )
  top <- as.data.frame(hierarchy(c("<15", 15:84, "85+")))
  expect_identical(top$level_2[c(1, 6, 71, 72)], c("<20", "<20", "80+", "80+"))
  days <- format(as.Date("1990-01-15") + seq(0, 9000, 100), "%d.%m.%Y")
  expect_identical(
    as.data.frame(hierarchy(c(days, "unbekannt")))$level_2[c(1, 91, 92)],
    c("1990-1994", "2010-2014", "unbekannt")
  )
})

test_that("months and quarters that are text get quarters and years", {
  months <- sort(outer(2001:2003, sprintf("%02d", 1:12), paste, sep = "-"))
  levels <- as.data.frame(hierarchy(months))
  expect_identical(levels$level_1[1:4], c("2001-Q1", "2001-Q1", "2001-Q1", "2001-Q2"))
  expect_identical(unique(levels$level_2), c("2001", "2002", "2003"))
  quarters <- outer(2001:2003, 1:4, paste, sep = " Q")
  made <- hierarchy(factor(c(quarters, "unknown")))
  expect_identical(unique(as.data.frame(made)$level_1), c("2001", "2002", "2003", "unknown"))
  data <- data.frame(when = rep(months, 5))
  found <- quietly(recode_search(data, "when", constraint = list(k = 20)))
  by_code <- new.env()
  by_code$data <- data
  eval(parse(text = found$code[[1]]), by_code)
  expect_identical(apply_recoding(found, data)$when, by_code$data$when)
})

test_that("a recoding of ordered text is that of its code; the print says where groups are from", {
  set.seed(6)
  data <- data.frame(
    age = sample(c(0:79, "80+", "refused"), 900, TRUE),
    born = format(as.Date("1950-01-01") + sample(9000, 900), "%d/%m/%Y"),
    size = factor(sample(c("1-4", "5-9", "10-49", "50+"), 900, TRUE)),
    region = sample(c("n", "s", "e", "w"), 900, TRUE)
  )
  said <- expect_message(
    found <- recode_search(data, constraint = list(k = 3), suppress = 0.1, n_best = 20),
    class = "sdcRisk_message_proposed_hierarchy"
  )
  words <- "Groups of \"region\" come from frequencies alone: check that they make sense."
  expect_match(conditionMessage(said), words, fixed = TRUE)
  shown <- paste(trimws(utils::capture.output(print(found))), collapse = " ")
  expect_match(shown, words, fixed = TRUE)
  for (i in seq_along(found$code)) {
    here <- list2env(list(data = data))
    eval(parse(text = found$code[[i]]), here)
    # What leaves has no levels without records.
    expect_identical(
      as.data.frame(quietly(apply_recoding(found, data, i))), droplevels(here$data)
    )
  }
  expect_match(format(hierarchy(data$region))[[1]], "from frequencies alone", fixed = TRUE)
  expect_no_match(format(hierarchy(c("f", "m")))[[1]], "frequencies", fixed = TRUE)
})

test_that("codes of a nomenclature merge by their first characters, and the print says so", {
  level <- function(codes, at) quietly(as.data.frame(hierarchy(codes)))[[paste0("level_", at)]]
  nuts <- c("AT11", "AT12", "AT2", "AT31", "DE1", "DE11", "DEA", "DEA1")
  expect_identical(level(nuts, 1), c("AT1", "AT1", "AT2", "AT3", "DE1", "DE1", "DEA", "DEA"))
  expect_identical(level(nuts, 2), substr(nuts, 1, 2))
  nace <- c("01.11", "10.71", "10.89", "25.62")
  expect_identical(level(nace, 1), substr(nace, 1, 2))
  isco <- c("0110", "11", "1120", "2", "2221")
  expect_identical(level(isco, 1), c("01", "11", "11", "2", "22"))
  # Rare codes do not meet those of another branch, however rare.
  set.seed(3)
  data <- data.frame(
    nuts = sample(c("AT11", "AT12", "AT21", "AT22"), 400, TRUE, c(1, 9, 1, 9)),
    isco = sample(c("11", "2", "2221", "3322"), 400, TRUE)
  )
  said <- expect_message(
    x <- recode_search(data, c("nuts", "isco"), constraint = list(k = 3)),
    class = "sdcRisk_message_proposed_hierarchy"
  )
  page <- paste(format(x, width = 1e4), collapse = " ")
  for (words in list(conditionMessage(said), page)) {
    expect_match(words, "Groups of \"nuts\" have the same first characters")
    expect_match(words, "Groups of \"isco\" join neighbouring codes")
  }
  # Days are no codes, many ages without gaps no nomenclature.
  expect_identical(hierarchy(c("01.02.1990", "05.02.1990", "07.08.1991"))$kind, "proposed_levels")
  expect_identical(hierarchy(as.character(5:80))$kind, "proposed_levels")
  expect_identical(hierarchy(as.character(1:9))$kind, "proposed_codes")
  expect_match(format(hierarchy(nuts))[[1]], "codes with the same first characters", fixed = TRUE)
})

test_that("ages and years that are text get bands of numbers, not first digits", {
  level <- function(x, at) as.data.frame(hierarchy(x))[[paste0("level_", at)]]
  age <- as.character(18:80)
  expect_identical(hierarchy(age)$kind, "proposed_levels")
  expect_identical(level(age, 1)[c(1, 2, 3, 7, 8, 63)], c(
    "15-19", "15-19", "20-24", "20-24", "25-29", "80-84"
  ))
  expect_identical(level(age, 2), paste0(18:80 %/% 10 * 10, "-", 18:80 %/% 10 * 10 + 9))
  expect_identical(level(as.character(1950:2010), 1)[c(1, 6)], c("1950-1954", "1955-1959"))
  # The ages of a small file have gaps, and codes of two digits may be filled with zeros.
  for (x in list(as.character(seq(18, 80, 4)), sprintf("%02d", 1:60))) {
    expect_identical(hierarchy(x)$kind, "proposed_codes")
    expect_match(level(x, 2)[[length(x)]], "^(60-69|70-79)$")
  }
  # Codes of three digits have gaps.
  isco <- as.character(c(111:114, 121:124, 131:134, 211:216, 221:226, 941, 951, 961))
  expect_identical(level(isco, 1), substr(isco, 1, 2))
})

test_that("few whole numbers are merged as neighbours, and the print says so", {
  set.seed(4)
  data <- data.frame(region = sample(9, 300, TRUE, 9:1), half = sample(9, 300, TRUE) / 2)
  said <- expect_message(
    x <- recode_search(data, constraint = list(k = 8)),
    class = "sdcRisk_message_proposed_hierarchy"
  )
  words <- "Groups of \"region\" join neighbouring codes. Check that their order has a meaning."
  for (shown in list(conditionMessage(said), paste(format(x, width = 1e4), collapse = " "))) {
    expect_match(shown, words, fixed = TRUE)
    expect_no_match(shown, "\"half\" join", fixed = TRUE)
  }
  expect_match(format(hierarchy(data$region))[[1]], "their order has a meaning", fixed = TRUE)
  # Two values are joined by dropping the variable.
  expect_identical(hierarchy(1:2)$kind, "proposed_levels")
})
