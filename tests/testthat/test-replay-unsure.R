# Data that a log has no fingerprint of: known by their number of records, or by name.

skip_on_cran()

unsure_keys <- c("CENREG", "DAGE3")

unsure_log <- function(..., internal) {
  file <- tempfile(fileext = ".html")
  sdc_report(..., file = file, internal = internal, pictures = FALSE)
  sub("html$", "json", file)
}

test_that("figures that differ say that it may be another file", {
  # Few blanks: the external log has no fingerprint.
  protected <- suppressWarnings(suppressMessages(
    suppress_cells(nals_prison, unsure_keys, k = 3)
  ))
  expect_lt(protected$estimates$n_suppressed, 16)
  expect_gt(protected$estimates$n_suppressed, 0)
  results <- list(n_matches(nals_prison, unsure_keys), protected)
  external <- unsure_log(results, internal = FALSE)
  expect_true(all(replay(external, nals_prison)$equal))
  expect_identical(unique(replay(external, nals_prison)$note), "")
  other <- nals_prison
  other$CENREG <- seq_len(182) %/% 2
  found <- replay(external, other)
  differs <- found$equal %in% FALSE
  expect_true(any(differs))
  said <- "no fingerprint in the log, so it may be another file: data"
  expect_identical(unique(found$note[differs]), said)
  expect_identical(unique(found$note[!differs]), "")
  expect_match(paste(format(found), collapse = " "), paste0("Of n_matches: ", said), fixed = TRUE)
  # The internal log knows the file.
  internal <- unsure_log(results, internal = TRUE)
  expect_error(replay(internal, other), class = "sdcRisk_error_mismatched_data")
  # Nor does the external one take another number of records.
  expect_error(replay(external, other[-1, ]), class = "sdcRisk_error_mismatched_data")
})

test_that("another person than that of a profile is named", {
  keys <- c("age", "sex", "education_num")
  sample <- adult[1:500, ]
  fit <- copula_fit(sample, keys)
  log <- unsure_log(uniqueness_profile(fit, sample[5, keys], 4000), internal = TRUE)
  expect_true(all(replay(log, list(sample, record = sample[5, keys]))$equal))
  found <- replay(log, list(sample, record = sample[6, keys]))
  expect_identical(
    unique(found$note[found$equal %in% FALSE]),
    "no fingerprint in the log, so it may be another file: record"
  )
})
