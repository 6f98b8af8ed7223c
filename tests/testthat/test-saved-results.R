# Results that were saved by another version, or damaged since.

# What a verb does: it answers, it refuses, or it fails in words of R's.
outcome_of <- function(code) {
  tryCatch(
    {
      quietly(utils::capture.output(print(code)))
      "answered"
    },
    sdcRisk_error_internal = function(e) paste("internal:", conditionMessage(e)),
    sdcRisk_error = function(e) {
      if (inherits(e, "sdcRisk_error_damaged_result")) "damaged_result" else "refused"
    },
    error = function(e) paste("failed:", conditionMessage(e))
  )
}

test_that("every result that version 0.1.0 saved is refused by its version, or read", {
  saved <- readRDS(test_path("fixtures", "saved-by-0.1.0.rds"))
  expect_gte(length(saved), 20)
  verbs <- list(
    print = print, interpret = interpret, tidy = tidy, glance = glance, summary = summary,
    compare = function(x) compare_risk(x, x), plot = plot,
    report = function(x) sdc_report(x, file = tempfile(fileext = ".html"))
  )
  for (name in names(saved)) {
    x <- saved[[name]]
    if (inherits(x, "sdc_result")) {
      for (verb in names(verbs)) {
        expect_identical(outcome_of(verbs[[verb]](x)), "damaged_result", info = paste(name, verb))
      }
      error <- expect_error(print(x), class = "sdcRisk_error_damaged_result")
      expect_match(conditionMessage(error), "made by version 0.1.0 of sdcRisk", fixed = TRUE)
      # The tables that it holds can be read.
      expect_no_match(outcome_of(as.data.frame(x)), "failed|internal", info = name)
    } else {
      # An overview is a result now.
      wanted <- if (name == "key_overview") "damaged_result" else "answered"
      expect_identical(outcome_of(print(x)), wanted, info = name)
    }
  }
  expect_identical(outcome_of(interpret(saved$key_overview)), "damaged_result")
  # Candidates are values: they are read.
  expect_identical(format(saved$candidates), format(candidates(list(1:2, 3, NA))))
  expect_identical(format(saved$candidate_interval), format(candidate_interval(1:2, 2:3)))
  expect_identical(release_data(saved$invariant_pram), saved$invariant_pram$data)
  # What works on a result refuses it too.
  data <- data.frame(a = 1:3, b = 1)
  on_results <- list(
    risk_contribution = function() risk_contribution(saved$qar_risk, data),
    removal_path = function() removal_path(saved$qar_risk, data, 1),
    copula_uniqueness = function() copula_uniqueness(saved$copula_fit, pop_size = 10),
    simulate = function() stats::simulate(saved$copula_fit),
    pram_audit = function() pram_audit(saved$invariant_pram, data),
    records_at_risk = function() records_at_risk(saved$individual_risk)
  )
  for (name in names(on_results)) {
    expect_identical(outcome_of(on_results[[name]]()), "damaged_result", info = name)
  }
})
