# A hundred calls on 1,000 and 10,000 records: what every function pays on its way to
# the core and back. Seconds are those of the hundred; target on 1,000 records: 0.3 s.

fixtures$small <- function(n) {
  set.seed(1)
  data <- sdcRisk::adult[sample(nrow(sdcRisk::adult), as.numeric(n)), ]
  data$weight <- stats::runif(nrow(data), 5, 60)
  data$household <- sort(sample(nrow(data) %/% 2, nrow(data), TRUE))
  data$id <- seq_len(nrow(data))
  data
}

small_keys <- c("age", "sex", "race", "marital_status")

# The files, and what is read of each answer.
small_calls <- list(
  n_matches = function() n_matches(data, small_keys)$estimates$n_unique,
  n_matches_weights = function() {
    n_matches(data, small_keys, weight_var = "weight")$estimates$n_unique
  },
  individual_risk = function() individual_risk(data, small_keys, "weight")$estimates$n,
  key_overview = function() glance(key_overview(data, small_keys))$n_unique,
  exhaustive_tabulation = function() {
    exhaustive_tabulation(data, small_keys, 1:3)$estimates$n_cell_violations
  },
  household_risk = function() household_risk(data, small_keys, "household")$estimates$n,
  population_uniqueness = function() {
    population_uniqueness(data, small_keys, pop_size = sum(data$weight))$diagnostics$n_cells
  },
  longitudinal_link = function() {
    longitudinal_link(data, data, small_keys, id = "id")$estimates$n_certain
  },
  suppress_cells = function() suppress_cells(data, small_keys)$estimates$n_suppressed,
  qar_risk_8_keys = function() qar_risk(data[1:8], pi_u = 0.1)$estimates$risk[[1]]
)

tasks$small <- do.call(rbind, lapply(names(small_calls), function(name) {
  rbind(
    c(paste0("small_", name, "@sdcRisk"), "small:1e3", 2, 5),
    c(paste0("small_", name, "@sdcRisk"), "small:1e4", 2, 5)
  )
}))

for (name in names(small_calls)) {
  runs[[paste0("small_", name, "@sdcRisk")]] <- local({
    call <- small_calls[[name]]
    function() {
      for (i in 1:100) answer <- suppressWarnings(suppressMessages(call()))
      answer
    }
  })
}
