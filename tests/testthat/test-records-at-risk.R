# Records above a limit: the same by hand, for every result with a risk per record.

skip_on_cran()

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")

by_hand <- function(risk, limit) {
  rows <- which(!is.na(risk) & risk > limit)
  rows <- rows[order(-risk[rows], rows)]
  data.frame(record = rows, risk = risk[rows])
}

test_that("the records are those by hand, riskiest first", {
  matches <- quietly(n_matches(nals_prison, keys))
  expect_equal(records_at_risk(matches, 1 / 3), by_hand(1 / matches$records$n_matches, 1 / 3))
  # A limit is exceeded, not reached.
  expect_setequal(records_at_risk(matches, 0.5)$record, which(matches$records$n_matches == 1))
  risk <- quietly(individual_risk(nals_prison, keys, "WEIGHT"))
  expect_equal(records_at_risk(risk, 0.01), by_hand(risk$records$risk, 0.01))
  expect_identical(nrow(records_at_risk(risk, 1)), 0L)
  model <- quietly(loglinear_risk(nals_prison, keys, weight_var = "WEIGHT"))
  expect_equal(records_at_risk(model, 0.01), by_hand(model$records$tau2, 0.01))
})

test_that("results of all kinds have their risks", {
  sample <- adult[1:1000, c("age", "sex", "education_num")]
  copula <- quietly(copula_uniqueness(sample, pop_size = 1e5))
  expect_equal(records_at_risk(copula, 0.1), by_hand(copula$records$kappa, 0.1))
  set.seed(3)
  secret <- quietly(invariant_pram(nals_prison, keys))
  expect_equal(records_at_risk(secret, 0.5), by_hand(secret$records$match_prob, 0.5))
  # The bound is reached up to its last digits, and kept.
  kept <- quietly(invariant_pram(nals_prison, keys, max_match_prob = 1 / 3))
  expect_gt(sum(abs(kept$records$match_prob - 1 / 3) < 1e-9), 0)
  expect_identical(nrow(records_at_risk(kept)), 0L)
  expect_identical(nrow(records_at_risk(kept, 1 / 3)), 0L)
  tables <- quietly(exhaustive_tabulation(nals_prison, keys))
  # Not a probability: any number will do.
  expect_equal(records_at_risk(tables, 1), by_hand(tables$records$n_violations, 1))
  blanks <- quietly(suppress_cells(nals_prison, keys))
  # A remedy stands for its release.
  released <- n_matches(blanks$data, keys)$records$n_matches
  expect_equal(quietly(records_at_risk(blanks, 0.3)), by_hand(1 / released, 0.3))
})

test_that("links of waves have them, too", {
  wave1 <- data.frame(id = 1:6, a = c(1, 1, 2, 3, 3, 4), b = c(1, 2, 1, 1, 2, 2))
  wave2 <- wave1[c(1:4, 6), ]
  link <- quietly(longitudinal_link(wave1, wave2, c("a", "b"), id = "id", limit = 0.5))
  expect_equal(records_at_risk(link), by_hand(link$records$match_prob, 0.5))
  attack <- quietly(link_attack(wave1, wave2, c("a", "b"), id = "id", limit = 0.5))
  expect_equal(records_at_risk(attack), by_hand(attack$records$match_prob, 0.5))
  nobody <- quietly(link_attack(wave1, wave2, c("a", "b"), limit = 0.5))
  expect_match(text_of(nobody), "No record has a risk to compare with the limit[.]$")
})

test_that("prints end with how many are above, sentences say it", {
  results <- list(
    n_matches(nals_prison, keys, limit = 1 / 3),
    individual_risk(nals_prison, keys, "WEIGHT", limit = 0.01),
    loglinear_risk(nals_prison, keys, weight_var = "WEIGHT", limit = 0.01)
  ) |> quietly()
  above <- vapply(results, function(x) nrow(records_at_risk(x)), 0L)
  expect_identical(above[1:2], c(88L, 30L))
  for (i in seq_along(results)) {
    lines <- format(results[[i]])
    expect_lte(length(lines), 16)
    expect_lte(max(nchar(lines)), 80)
    said <- paste0(above[[i]], " of the 182 records are above the limit of ")
    expect_match(paste(utils::tail(lines, 2), collapse = " "), said)
    expect_match(unclass(interpret(results[[i]])), said)
  }
  # Without a limit nothing is said.
  expect_no_match(text_of(quietly(n_matches(nals_prison, keys))), "above the limit")
})

test_that("records that were left out are never above, and counted", {
  incomplete <- nals_prison
  incomplete$EDUC3[1:10] <- NA
  matches <- quietly(n_matches(incomplete, keys, missing = "exclude", limit = 1 / 3))
  expect_false(any(1:10 %in% records_at_risk(matches)$record))
  expect_match(text_of(matches), "; 10 without a risk[.]$")
})

test_that("limits that are none and results without risks are refused", {
  matches <- quietly(n_matches(nals_prison, keys))
  expect_error(records_at_risk(matches), "must be given", class = "sdcRisk_error_bad_argument")
  expect_error(
    records_at_risk(matches, 5), "5% is 0.05.*limit = 1 / 5",
    class = "sdcRisk_error_bad_argument"
  )
  for (wrong in list(-1, "a", NA_real_, c(0.1, 0.2), 2)) {
    expect_error(records_at_risk(matches, wrong), class = "sdcRisk_error_bad_argument")
    expect_error(n_matches(nals_prison, keys, limit = wrong), class = "sdcRisk_error_bad_argument")
  }
  expect_error(
    records_at_risk(quietly(key_overview(nals_prison, keys)), 0.1), "risk per record",
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(records_at_risk(nals_prison, 0.1), class = "sdcRisk_error_bad_argument")
  expect_error(records_at_risk(matches, 0.1, 2), class = "sdcRisk_error_bad_argument")
})

test_that("households have a limit, too, and a NULL limit is told from none", {
  people <- data.frame(home = c(1, 1, 2, 2, 3, 3, 4), age = c(40, 38, 40, 38, 12, 40, 38))
  found <- household_risk(people, "age", "home", limit = 0.5)
  expect_identical(records_at_risk(found), data.frame(record = 5:7, risk = c(1, 1, 1)))
  expect_match(
    paste(format(found), collapse = " "), "3 of the 7 records are above the limit of 0.5"
  )
  expect_error(records_at_risk(found, NULL), "NULL was given", class = "sdcRisk_error_bad_argument")
})

test_that("a suppression and its release have the same records at risk", {
  s <- quietly(suppress_cells(sdc_file(nals_prison, keys), k = 3))
  release <- quietly(release_data(s, shuffle = FALSE))
  expect_identical(quietly(records_at_risk(s)), quietly(records_at_risk(release)))
  expect_identical(nrow(quietly(records_at_risk(s))), 0L)
  expect_identical(nrow(quietly(records_at_risk(s, k = 5))), {
    sum(n_matches(s$data, keys)$records$n_matches < 5)
  })
  # Whoever knows the values that are blank still finds people.
  told <- expect_message(records_at_risk(s), class = "sdcRisk_message_original_values")
  expect_identical(told$n, as_count(sum(s$records$n_candidates < 3)))
  expect_gt(told$n, 0)
})

test_that("k = 3 names the records with fewer than 3 matches", {
  matches <- quietly(n_matches(nals_prison, keys))
  for (k in c(2, 3, 5, 7, 49)) {
    expect_setequal(records_at_risk(matches, k = k)$record, which(matches$records$n_matches < k))
  }
  expect_identical(records_at_risk(matches, k = 3), records_at_risk(matches, 1 / 3))
  # 0.33 is below 1/3, the risk of a record with three matches.
  expect_identical(records_at_risk(matches, 0.33), records_at_risk(matches, k = 4))
  checked <- quietly(file_check(nals_prison, keys, limit = list(journalist = 0.01)))
  expect_identical(nrow(records_at_risk(checked, k = 3)), 88L)
  expect_error(records_at_risk(matches, 0.1, k = 3), "NULL if `limit`", class = "sdcRisk_error")
  expect_error(records_at_risk(matches, k = 0.5), "whole number", class = "sdcRisk_error")
  tables <- quietly(exhaustive_tabulation(nals_prison, keys))
  expect_error(records_at_risk(tables, k = 3), "not a probability", class = "sdcRisk_error")
})

test_that("0.33 is below 1/3 for limits of records and of remedies alike", {
  matches <- quietly(n_matches(nals_prison, keys))
  for (limit in c(0.33, 1 / 3, 0.34, 0.5, 0.25, 0.2)) {
    k <- quietly(suppress_cells(nals_prison, keys, max_risk = limit))$settings$k
    expect_identical(k, switch(as.character(limit), "0.33" = 4L, "0.5" = 2L, "0.25" = 4L,
                               "0.2" = 5L, 3L))
    flagged <- records_at_risk(matches, limit = limit)$record
    expect_setequal(flagged, which(matches$records$n_matches < k))
  }
  expect_true(any(matches$records$n_matches == 3))
})
