# sdc_file(): roles said once, taken by every function.

survey <- function(n = 300, seed = 1) {
  set.seed(seed)
  data.frame(
    id = seq_len(n), age = sample(20:60, n, TRUE), sex = sample(c("f", "m"), n, TRUE),
    region = factor(sample(letters[1:5], n, TRUE)), hh = rep(seq_len(n / 3), each = 3),
    weight = rep(round(runif(n / 3, 5, 50), 1), each = 3),
    illness = sample(c("yes", "no"), n, TRUE), stratum = sample(1:4, n, TRUE)
  )
}
keys <- c("age", "sex", "region")
survey_file <- function(...) {
  sdc_file(
    survey(), keys,
    ...,
    weight_var = "weight", hh_id = "hh", strata_var = "stratum", sensitive = "illness",
    pop_size = 8000
  )
}

# What a result says, but for how it was asked.
numbers <- function(x) unclass(x)[setdiff(names(x), c("call", "fit"))]

test_that("every function gives the same with a file as with its arguments", {
  data <- survey()
  file <- survey_file()
  expect_identical(
    numbers(quietly(qar_risk(file, p = 2))),
    numbers(quietly(qar_risk(data, keys, p = 2, hh_id = "hh")))
  )
  expect_identical(
    numbers(quietly(n_matches(file))),
    numbers(quietly(n_matches(
      data, keys,
      weight_var = "weight", hh_id = "hh", sensitive = "illness", pop_size = 8000
    )))
  )
  expect_identical(
    numbers(quietly(individual_risk(file))),
    numbers(quietly(individual_risk(data, keys, "weight", "hh")))
  )
  expect_identical(
    numbers(quietly(loglinear_risk(file))),
    numbers(quietly(loglinear_risk(
      data, keys,
      weight_var = "weight", pop_size = 8000, hh_id = "hh"
    )))
  )
  expect_identical(
    numbers(quietly(exhaustive_tabulation(file))),
    numbers(quietly(exhaustive_tabulation(data, keys, weight_var = "weight")))
  )
  expect_identical(
    numbers(quietly(population_uniqueness(file))),
    numbers(quietly(population_uniqueness(data, keys, 8000)))
  )
  expect_identical(
    numbers(quietly(copula_fit(file))),
    numbers(quietly(copula_fit(data, keys, weight_var = "weight")))
  )
  expect_identical(
    numbers(quietly(copula_uniqueness(file))),
    numbers(quietly(copula_uniqueness(data, keys, 8000, weight_var = "weight", hh_id = "hh")))
  )
  expect_identical(
    numbers(quietly(key_overview(file))), numbers(quietly(key_overview(data, keys)))
  )
  set.seed(3)
  ours <- quietly(invariant_pram(file, unprotected = "keep", hh_id = NULL))
  set.seed(3)
  # The bound of a file is that of k = 3.
  theirs <- quietly(invariant_pram(
    data, keys, 1 / 3, unprotected = "keep", weight_var = "weight"
  ))
  # Data that came with roles have them after the step, too.
  expect_identical(class(ours$data), c("sdc_file", "data.frame"))
  expect_identical(class(theirs$data), "data.frame")
  ours$data <- as.data.frame(ours$data)
  expect_identical(numbers(ours), numbers(theirs))
})

test_that("waves are files, too", {
  one <- survey()
  two <- one[sample(nrow(one), 200), ]
  given <- quietly(longitudinal_link(one, two, keys, id = "id"))
  linked <- quietly(longitudinal_link(sdc_file(one, keys), two, id = "id"))
  expect_identical(numbers(linked), numbers(given))
  expect_identical(
    numbers(quietly(longitudinal_link(sdc_file(one, keys), sdc_file(two, "age"), id = "id"))),
    numbers(given)
  )
  expect_identical(
    numbers(quietly(key_stability(sdc_file(one, keys), sdc_file(two), id = "id"))),
    numbers(quietly(key_stability(one, two, keys, id = "id")))
  )
  expect_identical(
    numbers(quietly(link_attack(sdc_file(one, keys), sdc_file(two), id = "id"))),
    numbers(quietly(link_attack(one, two, keys, id = "id")))
  )
})

test_that("codes that are kept with a file are those of its data", {
  data <- data.frame(a = rep(1:5, 10), b = rep(1:2, 25), w = 1)
  file <- sdc_file(data, c("a", "b"), weight_var = "w")
  size <- length(serialize(file, NULL))
  n_unique <- function(file) n_matches(file)$estimates$n_unique
  expect_equal(n_unique(file), 0)
  # What is saved is the file alone.
  expect_lt(length(serialize(file, NULL)), size + 1000)
  expect_equal(n_unique(unserialize(serialize(file, NULL))), 0)
  # A copy shares the place of the codes.
  copy <- file
  copy$a <- 1:50
  expect_equal(n_unique(copy), 50)
  expect_equal(n_unique(file), 0)
  file$a[[1]] <- 9L
  expect_equal(n_unique(file), 1)
  names(file)[1:2] <- names(file)[2:1]
  expect_equal(n_matches(file)$estimates$n_unique, 1)
  overview <- as.data.frame(key_overview(file))
  expect_equal(overview$n_levels[match(c("a", "b"), overview$variable)], c(2, 6))
  # Patterns that are other records.
  table <- sdc_file(pattern_table(data, c("a", "b")))
  expect_equal(n_matches(table)$estimates$n, 50)
  attr(table$data, "patterns")$times <- rep(1, nrow(table$data))
  expect_equal(n_unique(table), nrow(table$data))
})

test_that("results know their data in a file", {
  data <- survey()
  file <- survey_file()
  x <- quietly(qar_risk(file, p = 2))
  expect_identical(
    risk_contribution(x, file)$records, risk_contribution(x, data)$records
  )
  expect_identical(
    removal_path(x, file, 3)$path, removal_path(x, data, 3)$path
  )
  matches <- quietly(n_matches(file))
  expect_identical(augment(matches, file)$.n_matches, matches$records$n_matches)
  other <- data
  other$age[[1]] <- 99
  expect_error(risk_contribution(x, sdc_file(other)), class = "sdcRisk_error_mismatched_data")
})

test_that("an argument comes before the role, NULL included", {
  file <- survey_file()
  expect_identical(quietly(n_matches(file, "sex"))$settings$key_vars, "sex")
  plain <- quietly(n_matches(file, hh_id = NULL, sensitive = NULL, weight_var = NULL))
  expect_identical(names(plain$records), "n_matches")
  # The population size answers for the sampling fraction.
  half <- quietly(n_matches(file, weight_var = NULL, hh_id = NULL, sampling_fraction = 0.5))
  expect_identical(half$settings$sampling_fraction, 0.5)
})

test_that("a sampling fraction is a population size where one is asked for, and the reverse", {
  file <- sdc_file(survey(), keys, sampling_fraction = 0.05)
  expect_identical(
    quietly(population_uniqueness(file))$estimates$pop_size[[1]], 300 / 0.05
  )
})

test_that("roles are checked once, by name or position, and keep no positions", {
  file <- sdc_file(survey(), 2:4, weight_var = "weight", hh_id = "hh")
  expect_identical(
    sdc_roles(file), list(key_vars = keys, weight_var = "weight", hh_id = "hh")
  )
  expect_identical(
    sdc_roles(quietly(sdc_file(survey(), weight_var = "weight")))$key_vars,
    setdiff(names(survey()), c("id", "hh", "weight"))
  )
  bad <- function(..., class) {
    expect_error(sdc_file(survey(), ...), class = paste0("sdcRisk_error_", class))
  }
  bad("height", class = "unknown_key_var")
  bad(keys, weight_var = "sex", class = "bad_weights")
  bad(c(keys, "weight"), weight_var = "weight", class = "bad_argument")
  bad(keys, hh_id = "hh", weight_var = "hh", class = "bad_argument")
  bad(keys, pop_size = 100, class = "bad_argument")
  bad(keys, pop_size = 1000, sampling_fraction = 0.5, class = "bad_argument")
  bad(keys, missing = "wild", class = "bad_argument")
  bad(keys, weights = "weight", class = "bad_argument")
  bad(keys, key_groups = list(both = c("age", "id")), class = "bad_argument")
  expect_error(sdc_file(as.matrix(survey())), class = "sdcRisk_error_bad_data")
  expect_error(sdc_file(), class = "sdcRisk_error_bad_argument")
  strange <- survey()
  strange$sex <- as.list(strange$sex)
  expect_error(sdc_file(strange, keys), class = "sdcRisk_error_bad_column")
})

test_that("a file made from a file keeps the roles that are not given anew", {
  file <- survey_file()
  again <- sdc_file(file, c("age", "sex"), sampling_fraction = 0.1)
  expect_identical(sdc_roles(again)$key_vars, c("age", "sex"))
  expect_identical(sdc_roles(again)$weight_var, "weight")
  expect_null(sdc_roles(again)$pop_size)
  expect_identical(sdc_roles(again)$sampling_fraction, 0.1)
})

test_that("codes are made once for a file, and again where they are gone", {
  file <- survey_file()
  first <- crossings(one <- quietly(qar_risk(file, p = 2)))
  again <- crossings(two <- quietly(qar_risk(file, p = 2)))
  expect_identical(numbers(one), numbers(two))
  expect_true("rs_code" %in% first)
  expect_false(any(c("rs_code", "rs_release") %in% again))
  path <- tempfile()
  on.exit(unlink(path))
  saveRDS(file, path)
  expect_identical(numbers(quietly(qar_risk(readRDS(path), p = 2))), numbers(one))
})

test_that("other data never meet kept codes", {
  file <- survey_file()
  quietly(qar_risk(file, p = 2))
  changed <- as.data.frame(file)
  changed$age <- rev(changed$age)
  expect_identical(
    numbers(quietly(qar_risk(sdc_file(changed, keys), p = 2))),
    numbers(quietly(qar_risk(changed, keys, p = 2)))
  )
  skip_if_not_installed("data.table")
  table <- data.table::as.data.table(survey())
  file <- sdc_file(table, keys)
  quietly(qar_risk(file, p = 2))
  data.table::set(table, i = 1:50, j = "age", value = 1L)
  expect_identical(
    quietly(qar_risk(file, p = 2))$estimates, quietly(qar_risk(table, keys, p = 2))$estimates
  )
})

test_that("the print says what was found and what nobody said", {
  set.seed(2)
  n <- 400
  data <- data.frame(
    person = seq_len(n), HouseholdID = rep(1:100, each = 4), age = sample(18:80, n, TRUE),
    sex = sample(c("f", "m", "NA"), n, TRUE), wgt1 = runif(n, 1, 9), income = runif(n, 0, 1e5),
    answer = sample(c(1:3, 9), n, TRUE), change = c(-9, sample(0:5, n - 1, TRUE))
  )
  data$age[1:5] <- 99L
  looks <- sdcRisk:::look_at_columns(summary(sdc_file(data, c("age", "sex"))))
  expect_identical(
    looks$looks_like,
    c("identifier", "household", "", "", "weight", "continuous variable", "", "")
  )
  expect_identical(
    looks$missing_codes, c("", "", "99", "\"NA\"", "", "", "9", "-9")
  )
  expect_identical(looks$role, c("", "", "key variable", "key variable", "", "", "", ""))
  old <- options(width = 80)
  on.exit(options(old))
  shown <- utils::capture.output(print(summary(sdc_file(data, c("age", "sex"), pop_size = 20000))))
  expect_lte(length(shown), 16)
  expect_lte(max(nchar(shown)), 80)
  text <- paste(trimws(shown), collapse = " ")
  expect_match(text, "File of 400 records and 8 columns 2 key variables.", fixed = TRUE)
  expect_match(text, "Population: 20,000 people, sampling fraction 2%.", fixed = TRUE)
  expect_match(text, "\"person\" an identifier; \"wgt1\" a weight", fixed = TRUE)
  expect_match(
    text, "Possible missing codes: age = 99 (5 records), sex = \"NA\" (", fixed = TRUE
  )
  expect_match(text, ", and 1 more column. Counted as normal values;", fixed = TRUE)
  expect_identical(looks$n_coded_missing[c(3, 4, 8)], c(5, sum(data$sex == "NA"), 1))
})

test_that("gaps, not values, make a missing code", {
  codes <- function(x) sdcRisk:::code_words(sdcRisk:::missing_codes(x))
  expect_identical(codes(c(1:8, 9)), "")
  expect_identical(codes(c(1:5, 9)), "9")
  expect_identical(codes(c(0:96, 99)), "99")
  expect_identical(codes(c(0:98, 99)), "")
  expect_identical(codes(c(1, 2, 7, 8, 9)), "7, 8, 9")
  expect_identical(codes(c(-5:5)), "")
  expect_identical(codes(c(0, 1, -1)), "-1")
  expect_identical(codes(c(0.5, 99)), "")
  expect_identical(codes(c(10, 20, 998, 999)), "998, 999")
  expect_identical(codes(c(1:70, 72, 75, 80, 84, 90, 96, 99)), "")
  expect_identical(codes(factor(c("a", "Unknown"))), "\"Unknown\"")
  expect_identical(codes(as.Date(c("2020-01-01", "9999-12-31"))), "")
})

test_that("values that are labelled as missing are missing codes", {
  labelled <- function(x, ...) {
    structure(x, labels = c(...), class = c("haven_labelled", "vctrs_vctr"))
  }
  codes <- function(...) missing_codes(labelled(...))
  # Among others, and no code by the gaps between values.
  expect_identical(codes(c(1:8, 5), one = 1, "No answer" = 5), 5)
  found <- codes(c(1:4, 9, -9, 99), missing = -9, refused = 9, unknown = 99)
  expect_identical(found, c(-9, 9, 99))
  expect_identical(codes(c(1:4, 9, 0.5), "don't know" = 9), 9)
  # Labels of no value, or that say something, and values that are declared missing.
  expect_identical(codes(1:8, "no answer" = 9), numeric())
  expect_identical(codes(1:8, many = 8), numeric())
  declared <- structure(
    c(1:8, 5), labels = c("no answer" = 5), na_values = 5,
    class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr")
  )
  expect_identical(missing_codes(declared), numeric())
  data <- data.frame(b = rep(1:2, 50))
  data$a <- labelled(rep(1:5, 20), "keine Angabe" = 3)
  check <- quietly(file_check(data, c("a", "b")))
  expect_identical(check$roles$missing_codes, c("", "3"))
  expect_identical(check$roles$n_coded_missing, c(0, 20))
  shown <- paste(format(check, width = 200), collapse = " ")
  expect_match(shown, "Possible missing codes: a = 3 (20 records).", fixed = TRUE)
})

test_that("missing codes in text are noticed, whatever their case and blanks", {
  codes <- function(x) sdcRisk:::missing_codes(x)
  expect_identical(codes(c("1", "2", "3", "99")), "99")
  expect_identical(codes(c("0-14", "15-29", "30+", "-99", "k.A.")), c("-99", "k.A."))
  expect_identical(codes(factor(c("a", " N/A ", "UNKNOWN", "b "))), c(" N/A ", "UNKNOWN"))
  expect_identical(codes(as.character(c(0:98, 99))), character())
  expect_identical(codes(c("DK", "DE", "SE")), character())
  data <- data.frame(roof = rep(c(1:4, 9), c(50, 20, 20, 10, 16)), b = 1:2)
  found <- summary(sdc_file(data, c("roof", "b")))
  shown <- paste(utils::capture.output(print(found)), collapse = " ")
  expect_match(shown, "Possible missing codes: roof = 9 (16 records). Counted as", fixed = TRUE)
})

test_that("odd files print", {
  for (data in list(
    data.frame(a = 1), data.frame(a = NA), data.frame(a = c(NA_character_, "x")),
    data.frame(a = 1:3, b = I(list(1, 2, 3))), data.frame(x = rep(1, 50))
  )) {
    expect_output(print(summary(sdc_file(data, names(data)[[1]]))), "1 key variable", fixed = TRUE)
  }
})

test_that("a role that is given as NULL goes, an empty one is none", {
  file <- sdc_file(survey(), keys, weight_var = "weight", sensitive = character())
  expect_identical(sdc_roles(file)$weight_var, "weight")
  expect_null(sdc_roles(file)$sensitive)
  expect_null(sdc_roles(sdc_file(file, weight_var = NULL))$weight_var)
  expect_identical(sdc_roles(sdc_file(file)), sdc_roles(file))
})

test_that("one column is not both known and sensitive", {
  told <- expect_message(
    file <- sdc_file(people(), c("age", "sex"), sensitive = c("sex", "job")),
    class = "sdcRisk_message_known_sensitive"
  )
  expect_identical(told$columns, "sex")
  expect_identical(sdc_roles(file)$sensitive, "job")
  expect_message(
    file <- sdc_file(people(), c("age", "sex"), sensitive = "sex"),
    class = "sdcRisk_message_known_sensitive"
  )
  expect_null(sdc_roles(file)$sensitive)
})

test_that("usual names of weights are known", {
  for (name in c("pw", "wts", "pwt")) {
    data <- rlang::set_names(data.frame(rep(1:4, 25), rep(c(1.5, 2.5), 50)), c("a", name))
    looks <- look_at_columns(summary(sdc_file(data, "a")))
    expect_identical(looks$looks_like, c("", "weight"))
  }
})

test_that("answers that are none are known behind their codes, in text and in labels", {
  text <- c(
    "1. Yes", "2. No", "-9. Refused", "(-8) Don't know", "99 = not stated", "3. Refused a job"
  )
  none <- c("(-8) Don't know", "-9. Refused", "99 = not stated")
  expect_setequal(missing_codes(text), none)
  expect_setequal(missing_codes(factor(text)), none)
  labels <- c(One = 1, "8. Don't know" = 8)
  labelled <- structure(as.double(1:9), labels = labels, class = c("haven_labelled", "vctrs_vctr"))
  expect_identical(missing_codes(labelled), 8)
  spanish <- c("8.- no contesta", "-9.00 Refused", "1.- no")
  expect_setequal(missing_codes(spanish), spanish[1:2])
  # Places and counts are answers.
  counts <- c("10 unknown soldier street", "2 none left", "1 missing", "2 unknown")
  expect_identical(missing_codes(counts), character())
})
