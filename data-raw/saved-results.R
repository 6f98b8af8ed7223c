# What version 0.1.0 saved: a result of each of its functions, on nine records, for
# tests/testthat/test-saved-results.R. To be run with that version installed.

library(sdcRisk)
stopifnot(utils::packageVersion("sdcRisk") == "0.1.0")
set.seed(1)
n <- 9
data <- data.frame(
  a = c(1, 1, 1, 2, 2, 2, 3, 3, 1), b = c("x", "y", "x", "x", "y", "y", "x", "x", "x"),
  c = factor(c("u", "v", "u", "u", "v", "u", "v", "u", "v")), w = 10 + seq_len(n),
  hh = rep(1:3, each = 3), id = seq_len(n)
)
later <- data[-2, ]
later$a[[3]] <- 1
keys <- c("a", "b", "c")
quiet <- function(code) suppressMessages(suppressWarnings(code))
saved <- list()
keep <- function(name, code) {
  saved[[name]] <<- tryCatch(quiet(code), error = function(e) {
    message(name, ": ", conditionMessage(e))
    NULL
  })
}
keep("qar_risk", qar_risk(data, keys, p = 2, pi_u = 0.4))
keep("risk_contribution", risk_contribution(saved$qar_risk, data))
keep("removal_path", removal_path(saved$qar_risk, data, 2))
keep("removal_bound", removal_bound(saved$qar_risk, data, 2))
keep("key_overview", key_overview(data, keys))
keep("n_matches", n_matches(data, keys, weight_var = "w"))
keep("individual_risk", individual_risk(data, keys, "w", "hh"))
keep("exhaustive_tabulation", exhaustive_tabulation(data, keys))
keep("population_uniqueness", population_uniqueness(data, keys, 90))
keep("copula_fit", copula_fit(data, keys, min_records = 2))
keep("copula_uniqueness", copula_uniqueness(saved$copula_fit, pop_size = 90, newdata = data))
keep("uniqueness_by_size", uniqueness_by_size(saved$copula_fit, 90))
keep("uniqueness_profile", uniqueness_profile(saved$copula_fit, data[1, keys], 90))
keep("validate_uniqueness", validate_uniqueness(saved$copula_fit, data))
keep("loglinear_risk", loglinear_risk(data, keys, weight_var = "w"))
keep("invariant_pram", invariant_pram(data, keys, unprotected = "keep"))
keep("pram_audit", pram_audit(saved$invariant_pram, data, n_sim = 2))
keep("longitudinal_link", longitudinal_link(data, later, keys, "id"))
keep("key_stability", key_stability(data, later, keys, "id"))
keep("longitudinal_risk", longitudinal_risk(data, later, keys, keys, "a", "id", weight_var = "w"))
keep("compare_risk", compare_risk(saved$n_matches, saved$individual_risk))
keep("candidates", candidates(list(1:2, 3, NA)))
keep("candidate_interval", candidate_interval(1:2, 2:3))
saveRDS(saved, "tests/testthat/fixtures/saved-by-0.1.0.rds", version = 2, compress = "xz")
cat(length(saved), "of 23 saved\n")
