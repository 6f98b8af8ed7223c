# What an external report says, read to its end: one part does not deny another.

read_keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")

# The text of a report, without marks of HTML.
report_text <- function(...) {
  file <- tempfile(fileext = ".html")
  sdc_report(..., file = file, pictures = FALSE)
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = " ")
  gsub("\\s+", " ", gsub("<[^>]*>", " ", sub(".*<body", "", text)))
}

lacks_of <- function(text) {
  sub("Checklist.*", "", sub(".*What was not examined", "", text))
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
  loglinear <- quiet(loglinear_risk(nals_prison, read_keys[1:3], weight_var = "WEIGHT"))
  expect_no_match(lacks_of(report_text(loglinear)), "unique in the file", fixed = TRUE)
})

test_that("the figure for the board is the one its question asks for", {
  rows <- function(x, limit = list(k = 3)) sdcRisk:::board_rows(x, limit)
  risk <- quiet(qar_risk(nals_prison, read_keys, pi_u = 0.4))
  path <- removal_path(risk, nals_prison, 3)
  expect_identical(rows(path)$measure, "Extreme risk T(3, 0.01) without 3 records")
  expect_identical(rows(path)$value, path$estimates$risk)
  expect_identical(rows(path)$note, "before: 0.2505")
  bound <- removal_bound(risk, nals_prison, c(1, 9))
  expect_identical(rows(bound)$value, bound$estimates$risk_empirical_least)
  expect_match(rows(bound)$measure, "whichever (1 record goes|9 records go)$")
  contribution <- risk_contribution(risk, nals_prison)
  expect_identical(rows(contribution)$value, risk$estimates$risk)
  expect_match(rows(contribution)$note, "lowers it by at most 0.02142", fixed = TRUE)
  sample <- adult[1:500, ]
  keys <- c("age", "sex", "education_num")
  fit <- quiet(copula_fit(sample, keys))
  expect_identical(rows(fit)$value, mean(!duplicated(sample[keys]) &
                                           !duplicated(sample[keys], fromLast = TRUE)))
  expect_identical(rows(fit)$kind, "share")
  person <- uniqueness_profile(fit, sample[5, keys], 4000)
  expect_identical(rows(person)$value, person$estimates$xi_base[[1]])
  expect_match(rows(person)$measure, "unique among 4,000 people", fixed = TRUE)
  set.seed(1)
  sizes <- uniqueness_by_size(fit, 4000, n_sim = 3)
  expect_identical(rows(sizes)$value, sizes$estimates$uniqueness_mean[[3]])
  expect_identical(rows(sizes)$measure, "People unique on 3 key variables among 4,000")
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
  expect_identical(by_table$value[[2]], 88)
  expect_identical(by_table$verdict[1:2], c("above", "above"))
})

test_that("answers say whether they are of the file before or after", {
  protected <- suppress_cells(nals_prison, read_keys, k = 3)
  released <- release_data(protected)
  check <- quiet(file_check(sdc_file(nals_prison, read_keys, weight_var = "WEIGHT")))
  text <- report_text(check, protected, after = n_matches(released, read_keys))
  expect_match(
    text, "unique on them? Before: Sample uniques 52. After: 0 (0 %) on 6 key variables.",
    fixed = TRUE
  )
  expect_match(text, "at worst? Before: Extreme risk T 0.1911.", fixed = TRUE)
  expect_match(text, "A protection is judged by what it was asked for.", fixed = TRUE)
  expect_match(text, "Fewest matches, k: 88 records beyond the limit", fixed = TRUE)
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
  expect_identical(rows$measure, c(
    "Records that match one household only", "Records with fewer than 3 matching households",
    "Probability to pick the right household, mean"
  ))
  expect_identical(rows$value, c(2, 8, (6 / 2 + 2) / 8))
  text <- report_text(before, after = n_matches(data[, "a", drop = FALSE], "a"))
  expect_no_match(text, "Ratio", fixed = TRUE)
  expect_match(text, paste(
    "unique on them? Before: 2 (25 %) on 1 key variable, where they match one household only.",
    "After: 0 (0 %) on 1 key variable."
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
  expect_match(report_text(recoding), paste0(
    "The cheapest recoding: ", share, " of the information lost, 2 records blanked."
  ), fixed = TRUE)
})

test_that("figures of a model that does not fit are not compared", {
  board <- data.frame(
    stage = rep(c("before", "after"), 2), fun = "file_check", keys = "a", kind = "count",
    plain = rep(c("Sample uniques", "Population uniques, tau1"), each = 2),
    value = c(8, 2, 29.4, 0), note = c("", "", "", "the model does not fit")
  )
  pairs <- sdcRisk:::paired_figures(board)
  expect_identical(pairs$measure, "Sample uniques")
  expect_identical(pairs$ratio, 0.25)
})

test_that("uniques have one limit, whichever function counted them", {
  check <- function(...) {
    quiet(file_check(sdc_file(nals_prison, read_keys, weight_var = "WEIGHT"), models = FALSE, ...))
  }
  uniques <- function(x, limit = list(k = 3)) {
    rows <- sdcRisk:::board_rows(x, limit)
    rows[rows$plain == "Sample uniques", c("value", "limit", "verdict")]
  }
  own <- uniques(n_matches(nals_prison, read_keys))
  expect_identical(own$limit, 0)
  expect_identical(own$verdict, "above")
  expect_equal(uniques(check()), own, ignore_attr = TRUE)
  expect_identical(uniques(check(limit = list(k = 1)))$verdict, "no limit")
  expect_identical(uniques(check(limit = list(k = 3, n_unique = 60)))$verdict, "ok")
  expect_identical(uniques(check(limit = list(k = 3, prop_unique = 0.5)))$verdict, "no limit")
  safe <- data.frame(a = rep(1:2, each = 40))
  expect_identical(uniques(quiet(file_check(sdc_file(safe, "a"))))$verdict, "ok")
})
