# Results about pattern tables in reports, and computed again from the table or its file.

skip_on_cran()

pattern_keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")

both_results <- function() {
  table <- pattern_table(nals_prison, pattern_keys, weight_var = "WEIGHT")
  bare <- pattern_table(nals_prison, pattern_keys)
  file <- sdc_file(nals_prison, pattern_keys, weight_var = "WEIGHT")
  suppressWarnings(suppressMessages(list(
    n_matches(table), individual_risk(table), loglinear_risk(table), exhaustive_tabulation(table),
    key_overview(table), population_uniqueness(bare, pop_size = 8e5), copula_fit(bare),
    qar_risk(table, pi_u = 0.4), file_check(table), n_matches(file), individual_risk(file)
  )))
}

pattern_report <- function(..., internal = TRUE) {
  folder <- tempfile("reports")
  dir.create(folder)
  file <- file.path(folder, "report.html")
  sdc_report(..., file = file, internal = internal, pictures = FALSE)
  file
}

test_that("one report holds results about a file and about its pattern table", {
  results <- both_results()
  file <- pattern_report(results, data = nals_prison)
  page <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  # Both count the same, and only records are named.
  counts <- results[[1]]$estimates$n_unique
  expect_identical(counts, results[[10]]$estimates$n_unique)
  expect_identical(
    lengths(regmatches(page, gregexpr(paste0("data-value=\"", counts, "\""), page))) >= 4L, TRUE
  )
  named <- regmatches(page, regexpr("Records of highest risk.*Versions", page))
  expect_match(named, "<h3>n_matches 2</h3>")
  expect_no_match(named, "<h3>n_matches</h3>")
  for (data in list(nals_prison, list(nals_prison, pattern_table(nals_prison, pattern_keys)))) {
    again <- replay(file, data)
    expect_gt(nrow(again), 250)
    expect_true(all(again$equal))
  }
  outside <- pattern_report(results, internal = FALSE)
  expect_true(all(replay(outside, nals_prison)$equal))
})

test_that("the table alone is enough for results about it, in any order", {
  table <- pattern_table(nals_prison, pattern_keys, weight_var = "WEIGHT")
  file <- pattern_report(suppressWarnings(individual_risk(table)), n_matches(table))
  expect_true(all(replay(file, table)$equal))
  expect_true(all(replay(file, sdc_file(table))$equal))
  expect_true(all(replay(file, nals_prison)$equal))
  # Records that came in another order made the same patterns.
  last <- update(
    pattern_table(nals_prison[101:182, ], pattern_keys), nals_prison[1:100, ]
  )
  file <- pattern_report(n_matches(last))
  expect_true(all(replay(file, last)$equal))
  expect_true(all(replay(file, nals_prison)$equal))
})

test_that("tables of other files are refused", {
  wrong <- "sdcRisk_error_mismatched_data"
  table <- pattern_table(nals_prison, pattern_keys)
  other <- nals_prison
  other$GENDER[5] <- 3L - other$GENDER[5]
  other <- pattern_table(other, pattern_keys)
  expect_error(pattern_report(n_matches(table), key_overview(other)), class = wrong)
  expect_error(pattern_report(key_overview(other), data = nals_prison), class = wrong)
  short <- pattern_table(nals_prison[-1, ], pattern_keys)
  expect_error(pattern_report(n_matches(nals_prison, pattern_keys), n_matches(short)),
               "has 181 records, the file 182", class = wrong)
  file <- pattern_report(n_matches(table), n_matches(nals_prison, pattern_keys))
  expect_error(replay(file, table), class = wrong)
  expect_error(replay(file, list(nals_prison, other)), class = wrong)
  expect_error(replay(file, nals_prison[-1, ]), class = wrong)
})
