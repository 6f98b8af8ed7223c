# Exhaustive tabulation, individual and longitudinal risk. sdcMicro's riskyCells() was
# measured elsewhere at 8 s of processor time for what tables@sdcRisk does on
# 100,000 records, and cannot be installed here.

# Eight key variables and a weight.
fixtures$weighted <- function(n) {
  data <- eight_keys(as.numeric(n))
  data$w <- stats::runif(nrow(data), 5, 50)
  data
}

fixtures$latest_wave <- function() sdcRisk::panel_waves$wave2

tasks$tables <- rbind(
  c("tables@sdcRisk", "weighted:1e5", 1, 9),
  c("tables@sdcRisk", "weighted:1e5", 2, 9),
  c("tables@data.table", "weighted:1e5", 2, 3),
  c("tables@sdcRisk", "weighted:1e6", 2, 5),
  c("tables@data.table", "weighted:1e6", 2, 1),
  c("tables_many@sdcRisk", "synthetic:1e6:20", 1, 3),
  c("tables_many@sdcRisk", "synthetic:1e6:20", 2, 3),
  c("individual@sdcRisk", "weighted:1e5", 2, 9),
  c("individual@data.table", "weighted:1e5", 2, 3),
  c("individual@sdcRisk", "weighted:1e6", 2, 5),
  c("individual@data.table", "weighted:1e6", 2, 1),
  c("longitudinal@sdcRisk", "latest_wave", 1, 3),
  c("longitudinal@sdcRisk", "latest_wave", 2, 3)
)

keys_of <- function(data) setdiff(names(data), "w")

# All tables of one to three variables, fewer than 3 records or weights below
# 100; what tools must agree on is the sum of the violations of records.
runs[["tables@sdcRisk"]] <- function() {
  exhaustive_tabulation(
    data, keys_of(data), 1:3, weight_threshold = 100, weight_var = "w"
  )$estimates$violations_sum
}

runs[["tables@data.table"]] <- function() {
  violations <- integer(nrow(data))
  for (dim in 1:3) {
    for (set in utils::combn(keys_of(data), dim, simplify = FALSE)) {
      bad <- data[, list(bad = rep(.N < 3 || sum(w) < 100, .N), row = .I), by = set]
      at <- bad$row[bad$bad]
      violations[at] <- violations[at] + 1L
    }
  }
  sum(violations)
}

runs[["tables_many@sdcRisk"]] <- function() {
  exhaustive_tabulation(data, names(data), 1:3)$estimates$violations_sum
}

runs[["individual@sdcRisk"]] <- function() {
  round(individual_risk(data, keys_of(data), "w")$estimates$expected_reidentifications, 6)
}

# One quadrature per distinct frequency and weight would take hours: the
# recurrence in f from the closed form at f = 1, enough digits for this file.
runs[["individual@data.table"]] <- function() {
  cells <- data[, list(f = .N, population = sum(w)), by = c(keys_of(data))]
  x <- cells$population / cells$f - 1
  risk <- log1p(x) / x
  for (f in seq_len(max(cells$f) - 1)) {
    further <- cells$f > f
    risk[further] <- (1 / f - risk[further]) / x[further]
  }
  round(sum(cells$f * risk), 6)
}

# Three fits with all two-way interactions, the larger two of 3.2 million cells.
runs[["longitudinal@sdcRisk"]] <- function() {
  change_vars <- c("civil_status", "n_children", "urbanity", "occupation")
  found <- longitudinal_risk(
    sdcRisk::panel_waves$wave1, data,
    key_vars = c("gender", "age_group", "born_abroad", "education", change_vars),
    link_vars = c(
      "gender", "born_abroad", "education", "degree_year", "degree_field", "birth_region"
    ),
    change_vars = change_vars, id = "id", weight_var = "weight"
  )
  round(found$estimates$tau1[[3]], 3)
}
