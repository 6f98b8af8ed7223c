# Recoding, top and bottom coding by hand: each a step that gives the file back.

skip_on_cran()

file <- sdc_file(adult, c("age", "sex", "race"))

test_that("numbers are cut into bands, closed below", {
  made <- quietly(global_recode(file, age = c(0, 30, 50, 65)))
  expect_identical(levels(made$age), c("0-29", "30-49", "50-64", "65+"))
  by_hand <- cut(adult$age, c(0, 30, 50, 65, Inf), right = FALSE)
  expect_identical(as.integer(made$age), as.integer(by_hand))
  expect_true(is.ordered(made$age))
  others <- setdiff(names(adult), "age")
  expect_identical(as.data.frame(made)[others], as.data.frame(adult)[others])
  expect_identical(sdc_roles(made), sdc_roles(file))
  expect_identical(summary(made)$history, "global_recode(): age in 4 bands")
  expect_identical(summary(made)$states$variable, "age")
  expect_lt(n_matches(made)$estimates$n_unique, n_matches(file)$estimates$n_unique)
})

test_that("categories are joined by name, factors, text and labels", {
  data <- data.frame(
    region = factor(c("Tyrol", "Vorarlberg", "Vienna", NA)), code = c(1, 2, 3, 2),
    text = c("a", "b", "c", "a")
  )
  made <- quietly(global_recode(
    data, region = list(West = c("Tyrol", "Vorarlberg")), text = list(ab = c("a", "b")),
    code = list(low = 1:2)
  ))
  expect_identical(as.character(made$region), c("West", "West", "Vienna", NA))
  expect_identical(as.character(made$text), c("ab", "ab", "c", "ab"))
  expect_identical(as.character(made$code), c("low", "low", "3", "low"))
  skip_if_not_installed("haven")
  data$code <- haven::labelled(c(1, 2, 3, 2), c(Tyrol = 1, Vorarlberg = 2, Vienna = 3))
  labelled <- quietly(global_recode(data, code = list(West = c("Tyrol", "Vorarlberg"))))
  expect_identical(as.character(labelled$code), c("West", "West", "Vienna", "West"))
  # Codes name values as well as labels do, mixed too, but no value twice.
  for (west in list(1:2, c("1", "Vorarlberg"))) {
    by_code <- quietly(global_recode(data, code = list(West = west)))
    expect_identical(by_code$code, labelled$code)
  }
  refused <- function(...) {
    expect_error(global_recode(data, code = list(...)), class = "sdcRisk_error_bad_argument")
  }
  expect_match(conditionMessage(refused(West = 4)), "Not found: \"4\"", fixed = TRUE)
  expect_match(conditionMessage(refused(a = 1, b = "Tyrol")), "in two of them")
})

test_that("ends are cut and types stay", {
  made <- quietly(top_code(bottom_code(file, age = 20), age = 65))
  expect_identical(made$age, pmin(pmax(adult$age, 20L), 65L))
  expect_identical(
    summary(made)$history,
    c("bottom_code(): age bottom coded at 20", "top_code(): age top coded at 65")
  )
  # Nothing is above the end.
  expect_identical(quietly(top_code(file, age = 1000))$age, adult$age)
  loss <- quietly(utility_loss(made))
  expect_identical(loss$estimates, quietly(utility_loss(file, as.data.frame(made)))$estimates)
})

test_that("recoded files flow on", {
  coarse <- quietly(global_recode(file, age = c(0, 30, 50, 65)))
  safe <- quietly(suppress_cells(coarse, k = 3))
  expect_equal(quietly(n_matches(safe, below = 3))$estimates$n_below_3, 0)
  expect_length(summary(quietly(release_data(safe)))$history, 2)
  expect_identical(
    as.data.frame(quietly(release_data(coarse))), as.data.frame(coarse)
  )
})

test_that("values before a recoding are not in what is saved or sent", {
  data <- data.frame(town = rep(c("zqcanary a", "zqcanary b", "c"), 20), age = 1:60)
  made <- quietly(global_recode(data, town = list(z = c("zqcanary a", "zqcanary b"))))
  loss <- quietly(utility_loss(made))$variables
  expect_identical(loss$n_values_before[loss$variable == "town"], 3L)
  for (held in list(made, made[60:1, ], quietly(release_data(made)), summary(made)$history)) {
    expect_false(grepl("zqcanary", rawToChar(serialize(held, NULL, ascii = TRUE))))
  }
})

test_that("what cannot be recoded is told", {
  bad <- function(call, text) {
    e <- expect_error(call, class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(e), text, fixed = TRUE)
  }
  bad(global_recode(file), "global_recode(file, age = c(0, 15, 30, 65))")
  bad(global_recode(file, c(0, 15)), "A name is missing")
  bad(global_recode(file, age, c(0, 15)), "global_recode(file, age = c(0, 15, 30, 65))")
  bad(top_code(file, age, 80), "top_code(file, age = 80)")
  bad(global_recode(file, race = list(Other = "Martian")), "Not found: \"Martian\"")
  bad(global_recode(file, race = list("Other")), "be a list of values by the name")
  bad(global_recode(file, sex = c(1, 2)), "must be a number")
  bad(top_code(file, age = c(1, 2)), "be one number")
  expect_error(global_recode(file, agee = 1:3), "age", class = "sdcRisk_error_unknown_key_var")
})

test_that("ends are cut by share and by number of records", {
  data <- data.frame(income = c(1:8, 8, 20), w = rep(1:2, 5))
  top <- function(...) quietly(top_code(data, ...))
  expect_equal(top(income = 0.1, .by = "share")$income, c(1:8, 8, 8))
  # Equal values are not divided: two eights and the 20 are more than a fifth.
  expect_equal(top(income = 0.2, .by = "share")$income, c(1:8, 8, 8))
  expect_equal(top(income = 2, .by = "records")$income, c(1:7, 7, 7, 7))
  expect_equal(
    quietly(bottom_code(data, income = 0.2, .by = "share"))$income, c(3, 3, 3:8, 8, 20)
  )
  expect_equal(
    quietly(bottom_code(data, income = 2, .by = "records"))$income, c(3, 3, 3:8, 8, 20)
  )
  words <- summary(top(income = 0.1, .by = "share"))$history
  expect_identical(words, "top_code(): income top coded, at most 10%")
  expect_error(top(income = 2, .by = "share"), class = "sdcRisk_error_bad_argument")
  expect_error(top(income = 10, .by = "records"), class = "sdcRisk_error_bad_argument")
  expect_error(top(income = 0.5, .by = "records"), class = "sdcRisk_error_bad_argument")
})

test_that("the mean of the coded values can stay", {
  data <- data.frame(income = c(1:8, 8, 20), w = rep(1:2, 5))
  made <- quietly(top_code(data, income = 3, .by = "records", .replace = "mean"))
  expect_equal(made$income, c(1:7, 12, 12, 12))
  expect_equal(mean(made$income), mean(data$income))
  weighed <- quietly(top_code(
    sdc_file(data, "income", weight_var = "w"), income = 7, .replace = "mean"
  ))
  expect_equal(sum(weighed$w * weighed$income), sum(data$w * data$income))
  low <- quietly(bottom_code(data, income = 4, .replace = "mean"))
  expect_equal(low$income[1:3], rep(2, 3))
  expect_error(
    quietly(top_code(data, income = 8, .replace = "mean")), class = "sdcRisk_error_unprotectable"
  )
  expect_equal(quietly(top_code(data, income = 99, .replace = "mean"))$income, data$income)
})

test_that("cut points must be given, and a short name of a variable needs the file by name", {
  expect_error(global_recode(data.frame(a = 1:9), a = NULL), class = "sdcRisk_error_bad_argument")
  d <- data.frame(d = 1:9)
  said <- expect_error(top_code(d, d = 5), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(said), "data = file", fixed = TRUE)
  expect_identical(max(top_code(data = d, d = 5)$d), 5L)
})

test_that("errors speak of the argument, not of a hierarchy", {
  data <- data.frame(age = c(10, 20, 30, 40), band = factor(c("a", "b", "c", "d")))
  of <- function(code) conditionMessage(expect_error(code, class = "sdcRisk_error_bad_argument"))
  expect_match(of(global_recode(data, age = c(50, 30))), "The numbers do not rise", fixed = TRUE)
  expect_match(of(global_recode(data, age = c(1, NA))), "cut points that rise", fixed = TRUE)
  for (said in c(of(global_recode(data, band = c(0, 3))), of(top_code(data, band = 3)))) {
    expect_match(said, "band = list(group = ", fixed = TRUE)
    expect_no_match(said, "hierarchy", fixed = TRUE)
  }
})

test_that("bands without a value are not counted", {
  bands <- function(...) summary(quietly(global_recode(file, age = c(...))))$history
  expect_identical(bands(0, 30, 100), "global_recode(): age in 2 bands")
  expect_identical(bands(40, 60), "global_recode(): age in 3 bands")
})

test_that("a group takes the name of a value that others have only with them", {
  regions <- data.frame(region = c("Tyrol", "Vienna", "Vorarlberg"))
  error <- expect_error(
    global_recode(regions, region = list(Vienna = c("Tyrol", "Vorarlberg"))),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(error), "Vienna = c(\"Vienna\", ...)", fixed = TRUE)
  made <- quietly(global_recode(regions, region = list(Vienna = c("Tyrol", "Vienna"))))
  expect_identical(as.character(made$region), c("Vienna", "Vienna", "Vorarlberg"))
})

test_that("a variable is not left with one value", {
  data <- data.frame(size = c(3, 8, 8, 20), kind = c("a", "b", "b", NA))
  refused <- function(code) {
    conditionMessage(expect_error(code, class = "sdcRisk_error_bad_argument"))
  }
  expect_match(refused(top_code(data, size = -5)), "No value lies below -5. One", fixed = TRUE)
  expect_match(refused(top_code(data, size = 2, .replace = "mean")), "below 2.", fixed = TRUE)
  expect_match(refused(bottom_code(data, size = 20)), "No value lies above 20.", fixed = TRUE)
  # A cut that follows from the records is not told.
  said <- refused(top_code(data, size = 0.8, .by = "share"))
  expect_match(said, "No value lies below the cut. One would be left.", fixed = TRUE)
  for (cuts in list(3, 2, 21, c(0, 21))) {
    said <- refused(global_recode(data, size = cuts))
    expect_match(said, "in one band: no cut point lies between them", fixed = TRUE)
  }
  expect_match(said, "release_data(file, drop = \"size\")", fixed = TRUE)
  # One group of all values is asked for by name.
  made <- quietly(global_recode(data, kind = list(any = c("a", "b"))))
  expect_identical(as.character(made$kind), c("any", "any", "any", NA))
  # Two values, and a variable that had one before.
  made <- quietly(global_recode(data, size = 8))
  expect_identical(as.character(made$size), c("<8", "8+", "8+", "8+"))
  expect_identical(quietly(top_code(data.frame(size = c(5, 5)), size = 4))$size, c(4, 4))
})

test_that("a recoding that changes nothing is told and is no step", {
  unchanged <- function(code, text) {
    expect_message(made <- code, text, fixed = TRUE, class = "sdcRisk_message_nothing_to_do")
    expect_identical(as.data.frame(made)$age, adult$age)
    expect_s3_class(made, "sdc_file")
    expect_null(summary(made)$history)
  }
  unchanged(top_code(file, age = 1000), "\"age\" is unchanged: no value lies above 1000.")
  unchanged(top_code(adult, age = 3e9), "no value lies above 3e+09.")
  unchanged(bottom_code(file, age = -5), "no value lies below -5.")
  unchanged(top_code(file, age = 99, .replace = "mean"), "no value lies above 99.")
  unchanged(top_code(file, age = 1e-9, .by = "share"), "no value lies above the cut.")
  # A step names what it changed.
  expect_message(
    made <- top_code(file, age = 65, hours_per_week = 1e4), "\"hours_per_week\" is unchanged"
  )
  expect_identical(summary(made)$history, "top_code(): age top coded at 65")
  expect_identical(summary(made)$states$variable, "age")
})

test_that("values are recoded that no others are joined with", {
  data <- data.frame(size = c(1, 2, 3, 900))
  expect_identical(quietly(top_code(data, size = 10))$size, c(1, 2, 3, 10))
  expect_identical(quietly(bottom_code(data, size = 2.5))$size, c(2.5, 2.5, 3, 900))
  expect_identical(quietly(bottom_code(data, size = 1.5))$size, c(1.5, 2, 3, 900))
  made <- quietly(global_recode(data, size = c(0, 2, 3, 10)))
  expect_identical(as.character(made$size), c("0-1", "2", "3-9", "10+"))
  # A bound between whole numbers, and one beyond them.
  data$size <- as.integer(data$size)
  expect_identical(quietly(top_code(data, size = 2.5))$size, c(1, 2, 2.5, 2.5))
  expect_error(
    bottom_code(data, size = 3e9), "No value lies above 3e+09", fixed = TRUE,
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("codes of non-response are not cut as numbers", {
  ages <- c(20:49, 85, 98, 98)
  file <- function(x) sdc_file(data.frame(x = x, g = rep(1:3, 11)), c(x, g))
  labelled <- file(haven::labelled(ages, c("Don't know" = 98)))
  for (code in list(
    quote(top_code(labelled, x = 80)), quote(top_code(labelled, x = 0.05, .by = "share")),
    quote(top_code(labelled, x = 4, .by = "records", .replace = "mean")),
    quote(global_recode(labelled, x = c(20, 40)))
  )) {
    said <- expect_error(eval(code), class = "sdcRisk_error_bad_column")
    expect_match(conditionMessage(said), "\"x\": 98 is \"Don't know\".", fixed = TRUE)
  }
  # Beyond the other end they are nobody's concern.
  bottom <- quietly(bottom_code(labelled, x = 30))$x
  expect_identical(bottom, haven::labelled(pmax(ages, 30), c("Don't know" = 98)))
  # Declared ones stay as they are, in a mean, too.
  declared <- haven::labelled_spss(ages, c(old = 85, "Don't know" = 98), na_values = 98)
  expected <- declared
  expected[31] <- 80
  # The label of a value that is gone does not leave.
  attr(expected, "labels") <- c("Don't know" = 98)
  expect_identical(quietly(top_code(file(declared), x = 80))$x, expected)
  expected[28:31] <- mean(ages[28:31])
  made <- quietly(top_code(file(declared), x = 4, .by = "records", .replace = "mean"))
  expect_equal(made$x, expected, tolerance = 1e-12)
  bands <- quietly(global_recode(file(declared), x = c(20, 40)))$x
  expect_identical(as.vector(table(bands, useNA = "always")), c(20L, 11L, 2L))
  # A number that only looks like a code is coded, and named.
  odd <- file(c(ages[1:31], 999, 999))
  expect_message(
    made <- top_code(odd, x = 80), "\"x\": 999.", fixed = TRUE,
    class = "sdcRisk_message_coded_missing"
  )
  expect_identical(made$x, c(ages[1:30], 80, 80, 80))
})

test_that("arguments without their dot are named", {
  said <- expect_error(
    top_code(file, by = "share", age = 0.1), class = "sdcRisk_error_unknown_key_var"
  )
  expect_match(conditionMessage(said), "Did you mean `.by`?", fixed = TRUE)
  said <- expect_error(
    bottom_code(file, replace = "mean", age = 30), class = "sdcRisk_error_unknown_key_var"
  )
  expect_match(conditionMessage(said), "Did you mean `.replace`?", fixed = TRUE)
  # A column of that name is a variable.
  data <- data.frame(by = 1:9)
  expect_identical(max(quietly(top_code(data, by = 5))$by), 5L)
})

test_that("dates are put in bands by years or by a unit", {
  set.seed(5)
  birth <- as.Date("1950-01-01") + sample(20000, 300)
  birth[c(3, 70)] <- NA
  year <- as.integer(format(birth, "%Y"))
  file <- sdc_file(data.frame(birth, time = as.POSIXct(birth), sex = 1:2), c("birth", "sex"))
  coarse <- quietly(global_recode(file, birth = c(1970, 1990), time = c(1970, 1990)))
  expected <- cut(
    year, c(-Inf, 1970, 1990, Inf), c("<1970", "1970-1989", "1990+"), right = FALSE,
    ordered_result = TRUE
  )
  expect_identical(coarse$birth, expected)
  expect_identical(coarse$time, expected)
  decade <- quietly(global_recode(file, birth = "10 years"))
  expect_identical(as.character(decade$birth[1]), paste0(year[1] %/% 10, "0-", year[1] %/% 10, "9"))
  expect_identical(quietly(global_recode(file, birth = "year"))$birth, year)
  expect_identical(
    quietly(n_matches(coarse, c("birth", "sex"), missing = "category"))$estimates$n_unique,
    as.double(sum(table(addNA(expected), coarse$sex) == 1))
  )
  for (wrong in list(as.Date("1970-01-01"), "decade", c(1990, 1970))) {
    expect_error(global_recode(file, birth = !!wrong), class = "sdcRisk_error_bad_argument")
  }
  expect_error(top_code(file, birth = 1990), "10 years", class = "sdcRisk_error_bad_argument")
})
