# Contributions and removal. Targets on gss18: contributions 0.3 s, removal by
# top_count and u_plus_updated 3 s, proper 15 s; on 10^6 x 20 contributions 10 s,
# 1,000 steps of proper 20 s.

tasks$records <- rbind(
  c("contribution@sdcRisk", "gss18", 2, 15),
  c("contribution_entropy@sdcRisk", "gss18", 2, 5),
  c("removal_top_count@sdcRisk", "gss18", 2, 5),
  c("removal_u_plus_updated@sdcRisk", "gss18", 2, 5),
  c("removal_proper@sdcRisk", "gss18", 2, 3),
  c("removal_contribution@sdcRisk", "gss18", 2, 5),
  c("removal_random@sdcRisk", "gss18", 2, 5),
  c("removal_bound@sdcRisk", "gss18", 2, 5),
  c("contribution@sdcRisk", "adult", 2, 5),
  c("removal_proper@sdcRisk", "adult", 2, 3),
  c("removal_proper_1000@sdcRisk", "synthetic:1e6:20", 2, 1),
  c("contribution@sdcRisk", "synthetic:1e6:20", 1, 3),
  c("contribution@sdcRisk", "synthetic:1e6:20", 2, 3)
)

# What tasks about records start from, made once and not timed.
whole_risk <- local({
  risk <- NULL
  function() {
    if (is.null(risk)) risk <<- suppressWarnings(qar_risk(data))
    risk
  }
})
prepare$records <- whole_risk

removal <- function(n, by, ...) {
  suppressMessages(removal_path(whole_risk(), data, n, by, ...))$estimates$risk
}

runs[["contribution@sdcRisk"]] <- function() {
  sum(risk_contribution(whole_risk(), data)$records$n_unique_sets)
}

runs[["contribution_entropy@sdcRisk"]] <- function() {
  sum(risk_contribution(whole_risk(), data, entropy = TRUE)$records$entropy)
}

runs[["removal_top_count@sdcRisk"]] <- function() removal(2500, "top_count")

runs[["removal_u_plus_updated@sdcRisk"]] <- function() removal(2500, "u_plus_updated")

runs[["removal_proper@sdcRisk"]] <- function() removal(2500, "proper")
runs[["removal_proper_1000@sdcRisk"]] <- function() removal(1000, "proper")

runs[["removal_contribution@sdcRisk"]] <- function() removal(2500, "contribution")

runs[["removal_random@sdcRisk"]] <- function() {
  set.seed(1)
  removal(2500, "random")
}

runs[["removal_bound@sdcRisk"]] <- function() {
  removal_bound(whole_risk(), data, 2500)$estimates$threshold_least
}
