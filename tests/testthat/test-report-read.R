# What an external report says, read to its end: one part does not deny another.

skip_on_cran()

read_keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")

# The text of a report, without marks of HTML.
report_text <- function(...) {
  file <- tempfile(fileext = ".html")
  sdc_report(..., file = file, pictures = FALSE)
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = " ")
  gsub("\\s+", " ", gsub("<[^>]*>", " ", sub(".*<body", "", text)))
}

lacks_of <- function(text) {
  sub("Checklist.*", "", sub(".*Not examined", "", text))
}

quiet <- function(code) suppressWarnings(suppressMessages(code))

test_that("what a result examined is not among what was not examined", {
  risk <- quiet(qar_risk(nals_prison, read_keys, pi_u = 0.4))
  some_keys <- "Intruders who know only some of the key variables"
  in_population <- "Uniqueness in the population"
  for (x in list(
    risk_contribution(risk, nals_prison), removal_path(risk, nals_prison, 3),
    removal_bound(risk, nals_prison, 3)
  )) {
    lacks <- lacks_of(report_text(x))
    expect_no_match(lacks, some_keys, fixed = TRUE)
    expect_match(lacks, in_population, fixed = TRUE)
  }
  sample <- adult[1:500, ]
  fit <- quiet(copula_fit(sample, c("age", "sex", "education_num")))
  expect_no_match(lacks_of(report_text(fit)), "unique in the file", fixed = TRUE)
  expect_match(lacks_of(report_text(fit)), in_population, fixed = TRUE)
  set.seed(1)
  for (x in list(
    uniqueness_profile(fit, sample[5, c("age", "sex")], 4000),
    uniqueness_by_size(fit, 4000, n_sim = 3), quiet(validate_uniqueness(fit, adult[1:1500, ]))
  )) {
    expect_no_match(lacks_of(report_text(x)), in_population, fixed = TRUE)
  }
  # Households were examined though few are found, and how many is withheld.
  homes <- transform(nals_prison, home = (seq_len(182) - 1) %/% 2)
  file <- sdc_file(homes, c("DAGE3", "GENDER", "EDUC3"), hh_id = "home", weight_var = "WEIGHT")
  text <- report_text(quiet(file_check(file)))
  expect_match(text, "Largest risk, any member: not shown", fixed = TRUE)
  expect_no_match(lacks_of(text), "Households that can be found", fixed = TRUE)
  loglinear <- quiet(loglinear_risk(nals_prison, read_keys[1:3], weight_var = "WEIGHT"))
  expect_no_match(lacks_of(report_text(loglinear)), "unique in the file", fixed = TRUE)
})

test_that("the figure for the board is the one its question asks for", {
  rows <- function(x, limit = list(k = 3)) sdcRisk:::board_rows(x, limit)
  risk <- quiet(qar_risk(nals_prison, read_keys, pi_u = 0.4))
  path <- removal_path(risk, nals_prison, 3)
  expect_identical(rows(path)$label, "Extreme risk T without 3 records")
  expect_identical(rows(path)$value, path$estimates$risk)
  expect_identical(rows(path)$note, "before: 0.251")
  bound <- removal_bound(risk, nals_prison, c(1, 9))
  expect_identical(rows(bound)$value, bound$estimates$risk_empirical_least)
  expect_match(rows(bound)$label, "without any (1 record|9 records)$")
  contribution <- risk_contribution(risk, nals_prison)
  expect_identical(rows(contribution)$value, risk$estimates$risk)
  expect_match(rows(contribution)$note, "lowers it by at most 0.0214", fixed = TRUE)
  sample <- adult[1:500, ]
  keys <- c("age", "sex", "education_num")
  fit <- quiet(copula_fit(sample, keys))
  expect_identical(rows(fit)$value, mean(!duplicated(sample[keys]) &
                                           !duplicated(sample[keys], fromLast = TRUE)))
  expect_identical(rows(fit)$unit, "share")
  person <- uniqueness_profile(fit, sample[5, keys], 4000)
  expect_identical(rows(person)$value, person$estimates$xi_base[[1]])
  expect_match(rows(person)$label, "unique among 4,000 people", fixed = TRUE)
  set.seed(1)
  sizes <- uniqueness_by_size(fit, 4000, n_sim = 3)
  expect_identical(rows(sizes)$value, sizes$estimates$uniqueness_mean[[3]])
  expect_identical(rows(sizes)$label, "People unique on 3 key variables among 4,000")
  expect_identical(rows(sizes)$note, "")
  known <- quiet(validate_uniqueness(fit, adult[1:1500, ]))
  expect_identical(
    rows(known)$value,
    c(known$estimates$population_uniqueness, known$estimates$estimated_uniqueness)
  )
})

test_that("a pattern table is judged by the same limits as its file", {
  table <- pattern_table(nals_prison, read_keys)
  by_table <- sdcRisk:::board_rows(n_matches(table), list(k = 3))
  by_record <- sdcRisk:::board_rows(n_matches(nals_prison, read_keys), list(k = 3))
  expect_identical(by_table[c("measure", "value", "verdict")],
                   by_record[c("measure", "value", "verdict")])
  expect_identical(by_table$n_above[[1]], 88)
  expect_identical(by_table$verdict[1:2], c("above", "no limit"))
})

test_that("answers say whether they are of the file before or after", {
  protected <- suppress_cells(nals_prison, read_keys, k = 3)
  released <- release_data(protected)
  check <- quiet(file_check(sdc_file(nals_prison, read_keys, weight_var = "WEIGHT")))
  text <- report_text(check, protected, after = n_matches(released, read_keys))
  expect_match(
    text, "unique on them? Before: Sample uniques 52. After: 0 (0%) on 6 key variables.",
    fixed = TRUE
  )
  expect_match(text, "at worst? Before: Extreme risk T 0.191.", fixed = TRUE)
  expect_match(text, "A protection is judged by what it was asked for.", fixed = TRUE)
  expect_match(text, "Fewest matches, k: before 88 records beyond the limit", fixed = TRUE)
  alone <- report_text(check)
  expect_match(alone, "unique on them? Sample uniques 52.", fixed = TRUE)
  expect_no_match(alone, "A protection is judged", fixed = TRUE)
  one <- panel_waves$wave1[1:300, ]
  two <- panel_waves$wave2[1:300, ]
  attack <- quiet(link_attack(one, two, c("gender", "age_group"), "id"))
  expect_match(report_text(attack), "of them as the only best match.", fixed = TRUE)
})

# The values 1 and 2 stand in two households each, and 3 in one.
test_that("figures about households are not set beside those about records", {
  data <- data.frame(hh = rep(1:4, each = 2), a = c(1, 1, 1, 2, 2, 2, 3, 3))
  before <- n_matches(data, "a", hh_id = "hh")
  expect_identical(before$estimates$n_unique, 2)
  rows <- sdcRisk:::board_rows(before, list(k = 3))
  expect_identical(rows$label, paste0(
    c("Fewest matches, k", "Sample uniques", "Mean record risk"), ", counted in households"
  ))
  expect_identical(rows$value, c(1, 2, (6 / 2 + 2) / 8))
  expect_identical(rows$n_above, c(8, NA, NA))
  after <- n_matches(data[, "a", drop = FALSE], "a")
  text <- report_text(before, after = after, internal = TRUE)
  expect_no_match(text, "Ratio", fixed = TRUE)
  expect_match(text, paste(
    "unique on them? Before: 2 (25%) on 1 key variable, on which they match one household only.",
    "After: 0 (0%) on 1 key variable."
  ), fixed = TRUE)
})

test_that("the checklist says what a recoding cost", {
  data <- data.frame(a = c(1, 1, 1, 2, 2, 3, 3, 3), b = "x")
  recoding <- quiet(recode_search(
    data, c("a", "b"), list(a = hierarchy(data$a, widths = 10)), constraint = list(k = 3),
    suppress = 0.25
  ))
  expect_identical(recoding$estimates$n_suppressed, 2)
  share <- sdcRisk:::format_percent(recoding$estimates$cost_share)
  expect_match(report_text(recoding, internal = TRUE), paste0(
    "The cheapest recoding: ", share, " of the information lost, 2 records suppressed."
  ), fixed = TRUE)
  many <- quiet(recode_search(
    rbind(data, data.frame(a = rep(3, 100), b = "x")), c("a", "b"),
    list(a = hierarchy(data$a, widths = 10)), constraint = list(k = 3), suppress = 0.25
  ))
  expect_match(report_text(many), paste0(
    "The cheapest recoding: (not shown: reveals fewer than 5 records) of the information lost, ",
    "(not shown: reveals fewer than 5 records) record"
  ), fixed = TRUE)
})

test_that("figures of a model that does not fit are not compared", {
  board <- data.frame(
    stage = rep(c("before", "after"), 2), fun = "file_check", keys = "a", unit = "count",
    label = rep(c("Sample uniques", "Population uniques, tau1"), each = 2),
    value = c(8, 2, 29.4, 0), note = c("", "", "", "the model does not fit")
  )
  pairs <- sdcRisk:::paired_figures(board)
  expect_identical(pairs$measure, "Sample uniques")
  expect_identical(pairs$ratio, 0.25)
})

test_that("sample uniques have the limit of the page of file_check(), whoever counted", {
  check <- function(...) {
    data <- nals_prison[c(read_keys, "WEIGHT")]
    quiet(file_check(sdc_file(data, read_keys, weight_var = "WEIGHT"), ...))
  }
  uniques <- function(x, limit = list(k = 3)) {
    rows <- sdcRisk:::board_rows(x, limit)
    rows[rows$label == "Sample uniques", c("value", "limit", "verdict")]
  }
  page <- check()$estimates
  page <- page[page$measure == "n_unique", ]
  own <- uniques(n_matches(nals_prison, read_keys))
  expect_identical(c(own$value, own$limit), c(page$value, page$limit))
  expect_identical(own$verdict, page$verdict)
  expect_equal(uniques(check()), own, ignore_attr = TRUE)
  expect_identical(uniques(check(limit = list(k = 3, n_unique = 60)))$verdict, "ok")
  # Fewer than 2 matches are uniques.
  two <- measures(n_matches(nals_prison, read_keys), limit = list(k = 2))
  expect_identical(two$n_above[two$measure == "k"], own$value)
  expect_identical(two$verdict[two$measure == "k"], "above")
})

test_that("shares have the denominator of the page and of tidy()", {
  data <- nals_prison
  data$EDUC3[seq(1, 182, 9)] <- NA
  file <- sdc_file(data, read_keys, weight_var = "WEIGHT")
  check <- quiet(file_check(file, missing = "exclude"))
  of <- function(measure) check$estimates$value[check$estimates$measure == measure]
  own <- as.data.frame(tidy(quiet(population_risk(file, missing = "exclude"))))
  expect_identical(of("tau1"), own$estimate[own$measure == "tau1"])
  n <- sum(stats::complete.cases(data[sdc_roles(file)$key_vars]))
  expect_equal(of("tau1_rate"), of("tau1") / n)
  expect_equal(of("reidentification_rate"), of("expected_reidentifications") / n)
})
