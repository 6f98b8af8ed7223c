# Levels that are intervals, numbers or dates, in the spellings of statistical offices.

rank_of <- function(...) sdcRisk:::text_order(as.character(c(...)))$rank

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
    expect_identical(quietly(apply_recoding(found, data, i)), droplevels(here$data))
  }
  expect_match(format(hierarchy(data$region))[[1]], "from frequencies alone", fixed = TRUE)
  expect_no_match(format(hierarchy(c("f", "m")))[[1]], "frequencies", fixed = TRUE)
})
