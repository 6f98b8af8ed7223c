groups <- function(h) vapply(as.data.frame(h), function(l) length(unique(l)), 1L, USE.NAMES = FALSE)

test_that("widths are bands that nest, and refuse to where they do not", {
  age <- hierarchy(c(17:90, NA), widths = c(5, 10, 20))
  expect_s3_class(age, "sdc_hierarchy")
  expect_identical(groups(age), c(74L, 16L, 9L, 5L, 1L))
  expect_identical(length(age), 5L)
  expect_true(all(c("15-19", "85-89") %in% as.data.frame(age)$level_1))
  persons <- data.frame(age = 1:40)
  error <- expect_error(
    hierarchy(persons$age, widths = c(2, 5)), class = "sdcRisk_error_bad_argument"
  )
  expect_identical(error$variable, "age")
  expect_match(conditionMessage(error), "\"age\" must have widths that divide each other")
})

test_that("bands of numbers with a fraction are half-open, whatever their width", {
  h <- hierarchy(c(0.1, 0.12, 0.2, 0.3, 0.65, 1.05), widths = c(0.15, 0.3), name = "dose")
  expect_identical(as.data.frame(h)$level_1, c(
    "[0,0.15)", "[0,0.15)", "[0.15,0.3)", "[0.3,0.45)", "[0.6,0.75)", "[1.05,1.2)"
  ))
})

test_that("top and bottom codes are a first level and hold above it", {
  h <- hierarchy(15:85, widths = c(5, 10), top = 80, bottom = 20)
  levels <- as.data.frame(h)
  expect_identical(levels$level_1[c(1, 6, 7, 66, 71)], c("20", "20", "21", "80", "80"))
  expect_identical(levels$level_2[c(1, 7, 66, 71)], c("<=20", "21-24", "80+", "80+"))
  expect_identical(levels$level_3[c(6, 71)], c("<=20", "80+"))
  size <- hierarchy(c(1:7, 9), top = c(6, 4, 2))
  expect_identical(groups(size), c(8L, 6L, 4L, 2L, 1L))
  expect_error(hierarchy(1:9, top = 3, bottom = 5), class = "sdcRisk_error_bad_argument")
  expect_error(hierarchy(letters, top = 3), "\"letters\" must have `top`")
})

test_that("breaks are open at both ends and must be subsets", {
  h <- hierarchy(c(10, 18, 30, 64, 65, 99), breaks = list(c(18, 30, 65), c(18, 65)))
  expect_identical(
    as.data.frame(h)$level_2, c("<18", "18-64", "18-64", "18-64", "65+", "65+")
  )
  expect_error(
    hierarchy(1:9, breaks = list(c(3, 6), c(4)), name = "v"), "\"v\" must be nested"
  )
})

test_that("breaks hold infinite values and refuse missing ones", {
  h <- hierarchy(c(-Inf, 1, 2, 3, Inf), breaks = c(2, 3))
  expect_identical(as.data.frame(h)$level_1, c("<2", "<2", "2", "3+", "3+"))
  expect_error(hierarchy(1:9, breaks = c(3, NA), name = "v"), "\"v\" must have rising numbers")
  expect_error(hierarchy(1:9, breaks = Inf, name = "v"), "\"v\" must have rising numbers")
})

test_that("digits of numbers are those of whole ones that are not negative", {
  for (x in list(c(1.5, 2.5), c(-11, 12), c(11, Inf))) {
    expect_error(
      hierarchy(x, digits = 1, name = "v"), "\"v\" must have `digits` for text",
      class = "sdcRisk_error_bad_argument"
    )
  }
})

test_that("an origin and a number of rare records that are none are refused", {
  for (origin in list(NA, Inf, "1", 1:2)) {
    expect_error(
      hierarchy(1:9, widths = 2, origin = origin), "`origin` must be one finite number",
      class = "sdcRisk_error_bad_argument"
    )
  }
  expect_error(
    hierarchy(letters, rare = c(-1, 2), name = "v"), "\"v\" must have numbers above 0 as `rare`",
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("codes lose digits, and codes of different lengths are refused", {
  isco <- c("2511", "2512", "2521", "2611", "9111", NA)
  h <- hierarchy(isco, digits = c(3, 2, 1))
  expect_identical(as.data.frame(h)$level_2, c("25", "26", "91")[c(1, 1, 1, 2, 3)])
  numbers <- hierarchy(c(2511L, 2512L, 2521L, 2611L, 9111L), digits = c(3, 2, 1))
  expect_identical(as.data.frame(numbers)$level_2, as.data.frame(h)$level_2)
  expect_error(hierarchy(c("1", "11"), digits = 1, name = "nace"), "\"nace\" must have codes")
  padded <- hierarchy(c("101", "2511", "2512"), digits = 1, pad = "0")
  expect_identical(as.data.frame(padded)$level_1, c("0", "2", "2"))
  as_is <- hierarchy(c("E10", "E10.1", "E11"), digits = 3, pad = "")
  expect_identical(as.data.frame(as_is)$level_1, c("E10", "E10", "E11"))
})

test_that("dates go by month, quarter, year and bands of years", {
  days <- as.Date(c(
    "2019-12-31", "2020-01-01", "2020-01-31", "2020-03-31", "2020-04-01", "2027-01-01",
    "2029-05-05", NA
  ))
  h <- hierarchy(days, units = c("month", "quarter", "year", "5 years", "10 years"))
  levels <- as.data.frame(h)
  expect_identical(levels$level_2, c(
    "2019-Q4", "2020-Q1", "2020-Q1", "2020-Q1", "2020-Q2", "2027-Q1", "2029-Q2"
  ))
  expect_identical(levels$level_3, c("2019", "2020", "2020", "2020", "2020", "2027", "2029"))
  expect_identical(levels$level_4[[7]], "2025-2029")
  expect_identical(levels$level_5[1:2], c("2010-2019", "2020-2029"))
  expect_error(hierarchy(days, units = "week"), "Weeks do not nest in months")
})

test_that("tables are taken as they are, also from files as ARX writes them", {
  table <- data.frame(v = c("a", "b", "c", NA), g = c("x", "x", "y", "none"), all = "*")
  expect_identical(groups(hierarchy(table, drop = FALSE)), c(4L, 3L, 1L))
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  writeLines(c("1;0-4;*", "2;0-4;*", "7;5-9;*"), file)
  expect_identical(as.data.frame(hierarchy(file))$level_1, c("0-4", "0-4", "5-9"))
  expect_error(
    hierarchy(data.frame(v = 1:3, a = c(1, 1, 2), b = c(1, 2, 2)), name = "v"),
    "\"v\" must be nested"
  )
  expect_error(hierarchy(data.frame(v = c(1, 1), a = 1:2)), "list every value once")
  expect_error(hierarchy(data.frame(v = 1:2, a = c("x", NA))), "every value a group")
  expect_error(
    hierarchy(c("a", "z"), table = table, name = "v"), "\"v\" must cover every value"
  )
  expect_error(hierarchy("none.csv"), "come from a file that exists")
})

test_that("rare values are merged by count and by share", {
  x <- rep(c("a", "b", "c", "d"), c(50, 30, 15, 5))
  h <- hierarchy(x, rare = c(20, 40))
  expect_identical(as.data.frame(h)$level_1, c("a", "b", "(other)", "(other)"))
})

test_that("areas are merged until all have enough people", {
  areas <- c("a", "b", "c", "d", "e")
  people <- c(e = 90, a = 500, b = 30, c = 120, d = 20, elsewhere = 9)
  merged <- function(...) as.data.frame(hierarchy(areas, population = people, ...))$level_1
  # Two areas below 40 have 50 together, three below 100 have 140.
  expect_identical(merged(rare = 40), c("a", "(other)", "c", "(other)", "e"))
  expect_identical(merged(rare = 100), c("a", "(other)", "c", "(other)", "(other)"))
  # The two below 60 have 50, so that the next one joins them.
  expect_identical(merged(rare = 60), c("a", "(other)", "c", "(other)", "(other)"))
  # A share is one of the people: a tenth of 760.
  expect_identical(merged(rare = 0.1), c("a", "(other)", "c", "(other)", "(other)"))
  expect_identical(unique(merged(rare = 800)), "(other)")
  # Every group of every level, for random populations.
  set.seed(4)
  for (i in 1:30) {
    people <- rlang::set_names(round(rexp(12, 1 / 1000)), letters[1:12])
    for (share in c(0.05, 0.2, 0.6)) {
      found <- hierarchy(letters[1:12], rare = share, population = people, drop = FALSE)
      reached <- min(tapply(people, as.data.frame(found)$level_1, sum)) / sum(people)
      expect_gte(reached, share)
    }
  }
  expect_error(
    hierarchy(areas, rare = 10, population = people[1:4], name = "area"),
    "1 value of 5 without a number", class = "sdcRisk_error_bad_argument"
  )
  expect_error(hierarchy(areas, rare = 10, population = 1:5), "named by the values")
  expect_error(hierarchy(areas, population = people), "be given with `rare`")
})

test_that("levels that change nothing are dropped, and said", {
  expect_message(
    h <- hierarchy(c(0, 10, 20), widths = c(5, 20)), class = "sdcRisk_message_dropped_level"
  )
  expect_identical(groups(h), c(3L, 2L, 1L))
})

test_that("proposals are nested, of few levels, and follow frequencies", {
  text <- rep(letters[1:16], 1:16)
  h <- hierarchy(text)
  expect_identical(groups(h), c(16L, 9L, 5L, 3L, 2L, 1L))
  ordered <- factor(rep(1:9, 9:1), 1:9, ordered = TRUE)
  expect_true(all(diff(groups(hierarchy(ordered))) < 0))
  expect_identical(groups(hierarchy(c("f", "m"))), c(2L, 1L))
  expect_identical(groups(hierarchy(c(TRUE, FALSE, NA))), c(2L, 1L))
  expect_identical(groups(hierarchy(rep(3, 5))), 1L)
  # One value and missing: dropping joins the two.
  expect_identical(length(hierarchy(c(3, NA))), 2L)
  codes <- sprintf("%04d", seq(1000, 1100, 4))
  expect_identical(as.data.frame(hierarchy(codes))$level_1[[1]], "100")
  days <- as.Date("2000-01-01") + seq(0, 9000, 30)
  expect_true(all(diff(groups(hierarchy(days))) < 0))
})

test_that("what is no variable is refused", {
  expect_error(hierarchy(list(1, 2)), class = "sdcRisk_error_bad_argument")
  expect_error(hierarchy(c(NA, NA)), "All are missing")
  whole <- data.frame(a = 1:9, empty = NA)
  expect_error(recode_search(whole, c("a", "empty"), k = 3), "Leave it out of the key variables")
  expect_error(hierarchy(1:9, widths = 2, digits = 1), "the only way")
  expect_error(hierarchy(1:9, width = 2), "Did you mean \"widths\"")
  expect_error(hierarchy(), "must be given")
})

test_that("a hierarchy prints its levels", {
  local_reproducible_output(width = 80)
  expect_snapshot(hierarchy(17:90, widths = c(5, 10), name = "age"))
  refused <- expect_error(
    hierarchy(17:90, widths = c(2, 5), name = "age"), class = "sdcRisk_error_bad_argument"
  )
  expect_snapshot(cat(conditionMessage(refused)))
})

test_that("what cannot be a hierarchy is refused for what it is", {
  refused <- function(expr, pattern) {
    error <- expect_error(expr, class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(error), pattern)
  }
  refused(hierarchy(numeric(), name = "v"), "\"v\".*has no values")
  refused(hierarchy(1:9, breaks = "a"), "rising numbers as `breaks`.*\"a\"")
  refused(hierarchy(1:9, widths = -5), "widths above 0")
  table <- data.frame(v = 1:4, g = c("a", "a", "b", "b"), h = c("x", "y", "x", "x"))
  refused(hierarchy(table, name = "v"), "must share one at every level above")
  days <- as.Date("2020-01-01") + 0:3000
  steps <- hierarchy(days, widths = c(1, 5))$steps
  expect_identical(steps[[2]]$words, "by year")
  refused(hierarchy("\xff\xfe", digits = 1, name = "v"), "bytes are characters")
})

test_that("a level that is missing is a missing value", {
  x <- addNA(factor(c("b", "a", NA, "c", "c", "d", "d", NA), levels = c("b", "a", "c", "d")))
  made <- hierarchy(x)
  expect_identical(made$values, factor(c("b", "a", "c", "d"), levels = c("b", "a", "c", "d")))
  bare <- factor(x, exclude = NA)
  expect_identical(as.data.frame(made), as.data.frame(hierarchy(bare)))
  data <- data.frame(x = x, y = rep(1:2, 4))
  plain <- data.frame(x = bare, y = rep(1:2, 4))
  for (blanks in c("records", "cells")) {
    found <- suppressMessages(recode_search(data, constraint = list(k = 2), blanks = blanks))
    other <- suppressMessages(recode_search(plain, constraint = list(k = 2), blanks = blanks))
    expect_equal(found$best, other$best)
    recoded <- suppressMessages(apply_recoding(found, data))
    expect_identical(as.character(recoded$x), as.character(apply_recoding(other, plain)$x))
  }
})

test_that("values beyond the top and the bottom need no band", {
  levels_of <- function(...) {
    unname(as.list(as.data.frame(suppressMessages(hierarchy(..., drop = FALSE, name = "x")))))
  }
  # All of them, which were an error.
  expect_identical(levels_of(85L, top = 80, bottom = 10, widths = 10)[[1]], "85")
  beyond <- levels_of(c(85L, 90L, 95L), top = 80, widths = 10)
  expect_identical(beyond[[2]], rep("80", 3))
  # Those at both ends alone.
  ends <- levels_of(c(5L, 8L, 10L, 11L, 30L), bottom = 10, top = 11, widths = 20)
  expect_identical(ends[[2]], rep(c("10", "11"), c(3, 2)))
  # A bottom is in the bottom band of numbers that are not whole, too.
  parts <- levels_of(c(5, 10, 15.5, 17.25), bottom = 10, widths = 10)
  expect_identical(parts[[2]], c("10", "10", "15.5", "17.25"))
  expect_identical(parts[[3]], c("<=10", "<=10", "[10,20)", "[10,20)"))
})

test_that("widths that make no sense of the values are refused", {
  refused <- function(..., found) {
    expect_error(hierarchy(..., name = "x"), found, class = "sdcRisk_error_bad_argument")
  }
  refused(c(1, 1e7), widths = 1e-3, found = "of the first width")
  refused(1e308, widths = c(5, 10), found = "larger `widths`")
  refused(c(1, -Inf), widths = 5, found = "Infinite ones")
  refused(1:4, widths = matrix(1:4, 2), found = "rising numbers")
  refused(1:4 + 0i, found = "class \"complex\"")
  refused(as.raw(1:4), found = "class \"raw\"")
})

level_file <- function(...) {
  file <- tempfile(fileext = ".csv")
  con <- file(file, "wb")
  on.exit(close(con))
  for (part in list(...)) writeBin(if (is.character(part)) charToRaw(part) else part, con)
  file
}

test_that("files of levels are read with any line ends, quotes and byte order mark", {
  same <- as.data.frame(hierarchy(level_file("a;x;*\nb;x;*\nc;y;*\n")))
  expect_identical(same$level_1, c("x", "x", "y"))
  bom <- as.raw(c(0xef, 0xbb, 0xbf))
  files <- list(
    level_file(bom, "a;x;*\nb;x;*\nc;y;*\n"), level_file("a;x;*\r\nb;x;*\r\nc;y;*\r\n"),
    level_file("a;x;*\rb;x;*\rc;y;*"), level_file("\"a\"; x ;\"*\"\n\nb;x;*\n\nc;y;*\n\n")
  )
  for (file in files) expect_identical(as.data.frame(hierarchy(file)), same)
  quoted <- as.data.frame(hierarchy(level_file("\"a;b\nc\";\"an \"\"x\"\"\"\nd;y\n"), drop = FALSE))
  expect_identical(quoted$level_0, c("a;b\nc", "d"))
})

test_that("the longest line of a file of levels can be any", {
  lines <- paste0(letters[1:9], ";", rep(c("x", "y", "z"), each = 3), c(rep("", 8), ";*"))
  expect_error(
    hierarchy(level_file(paste(lines, collapse = "\n"))), "At level 2, 8 values without one",
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("files that hold no levels are refused by what is wrong with them", {
  refused <- function(file, what) {
    expect_no_warning(expect_error(hierarchy(file), what, class = "sdcRisk_error_bad_argument"))
  }
  refused(level_file(""), "It is empty")
  refused(level_file("\n\n"), "It is empty")
  refused(level_file("a,x,*\nb,x,*\n"), "1 column.*semicolons separate")
  refused(level_file("\"a;x;*\nb;x;*\n"), "every quote is closed")
  refused(level_file(as.raw(0xe9), ";x\nb;x\n"), "come from a file in UTF-8")
  refused(level_file(as.raw(c(0xff, 0xfe)), as.raw(c(0x61, 0, 0x3b, 0, 0x78, 0))), "in UTF-8")
  folder <- file.path(tempfile(), "levels.csv")
  dir.create(folder, recursive = TRUE)
  refused(folder, "come from a file that exists")
})

test_that("numbers are the same codes whatever the options for printing them are", {
  numbers <- c(300000, 300001, 310000, 1e5)
  found <- lapply(list(0, 100, -10), function(scipen) {
    old <- options(scipen = scipen, OutDec = ",")
    on.exit(options(old))
    as.data.frame(hierarchy(numbers, digits = c(4, 1), pad = "", drop = FALSE))
  })
  expect_identical(found[[1]]$level_1, c("1000", "3000", "3000", "3100"))
  expect_identical(found[[1]]$level_2, c("1", "3", "3", "3"))
  expect_identical(found[2:3], found[c(1, 1)])
  filled <- hierarchy(c(1e5, 100001, 5, NA), digits = 5, pad = "x", drop = FALSE)
  expect_identical(as.data.frame(filled)$level_1, c("xxxxx", "10000", "10000"))
})

test_that("integer64 is a number, one beyond 2^53 is refused", {
  skip_if_not_installed("bit64")
  age <- rep(c(15:60, NA), 10)
  wide <- hierarchy(bit64::as.integer64(age), name = "age")
  expect_identical(as.data.frame(wide), as.data.frame(hierarchy(age)))
  expect_error(
    hierarchy(bit64::as.integer64("9007199254740993"), name = "v"), "\"v\" must be made from whole",
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("hierarchies of integer64 are those of the numbers", {
  skip_if_not_installed("bit64")
  numbers <- c(1:30, 30:1)
  expect_identical(
    lapply(as.data.frame(hierarchy(bit64::as.integer64(numbers))), as.character),
    lapply(as.data.frame(hierarchy(numbers)), as.character)
  )
})
