# Every method on files of one kind and 10^4 to 10^7 records: how seconds grow.
# inst/extdata/growth-exponents.csv holds the exponent of each task: seconds grow as n to
# that power, fitted over the sizes above 20 ms, where starting a call weighs little.

# Persons with eight key variables of 2 to 10 levels that lean on a common factor, one
# value in fifty missing, a weight of 20, in households of three.
people <- function(n, seed = 20261123) {
  set.seed(seed)
  levels <- c(2, 2, 3, 3, 4, 5, 6, 10)
  common <- stats::rnorm(n)
  data <- lapply(levels, function(k) {
    cuts <- stats::qnorm(cumsum(seq_len(k)^-0.8 / sum(seq_len(k)^-0.8))[-k])
    x <- findInterval(0.8 * common + 0.6 * stats::rnorm(n), cuts) + 1L
    x[stats::runif(n) < 0.02] <- NA
    x
  })
  names(data) <- sprintf("v%d", seq_along(data))
  data$weight <- 20
  data$home <- (seq_len(n) - 1L) %/% 3L
  data$id <- seq_len(n)
  as.data.frame(data)
}

# A later wave, where one value in thirty is another one, beside the first.
later_people <- function(data) {
  set.seed(20261124)
  for (key in person_keys) {
    moved <- which(stats::runif(nrow(data)) < 1 / 30)
    data[[key]][moved] <- sample(data[[key]], length(moved))
  }
  data
}

person_keys <- sprintf("v%d", 1:8)
fixtures$people <- function(n) people(as.numeric(n))
fixtures$people_waves <- function(n) {
  data <- people(as.numeric(n))
  structure(later_people(data), wave1 = data)
}

# Calls by task: `data` holds persons.
growing <- list(
  key_overview = function() sum(key_overview(data, person_keys)$estimates$n_unique_without),
  qar_risk = function() qar_risk(data, person_keys)$estimates$risk,
  risk_contribution = function() {
    sum(risk_contribution(qar_risk(data, person_keys), data)$records$n_unique_sets)
  },
  removal_path = function() {
    risk <- qar_risk(data, person_keys)
    utils::tail(suppressMessages(removal_path(risk, data, 100))$estimates$risk, 1)
  },
  n_matches = function() sum(n_matches(data, person_keys)$records$n_matches),
  exhaustive_tabulation = function() {
    exhaustive_tabulation(data, person_keys, 1:3)$estimates$violations_sum
  },
  individual_risk = function() {
    individual_risk(data, person_keys, "weight")$estimates$expected_reidentifications
  },
  household_risk = function() {
    household_risk(data, person_keys, "home")$estimates$n_unique
  },
  loglinear_risk = function() {
    loglinear_risk(data, person_keys, weight_var = "weight")$estimates$tau2
  },
  population_uniqueness = function() {
    found <- population_uniqueness(data, person_keys, pop_size = 20 * nrow(data))
    found$estimates$population_uniqueness[[1]]
  },
  copula_uniqueness = function() {
    set.seed(1)
    found <- suppressMessages(copula_uniqueness(data, person_keys, pop_size = 20 * nrow(data)))
    found$estimates$population_uniqueness
  },
  invariant_pram = function() {
    set.seed(1)
    suppressMessages(invariant_pram(data, person_keys))$estimates$n_cells
  },
  suppress_own = function() blanked("own"),
  suppress_shared = function() blanked("shared"),
  suppress_strict = function() blanked("strict"),
  recode_search = function() {
    found <- recode_search(data, person_keys, grown_levels(), suppress = 0.02)
    found$estimates$cost[[1]]
  },
  file_check = function() {
    checked <- file_check(data, person_keys, weight_var = "weight")
    checked$estimates$value[checked$estimates$measure == "n_unique"]
  }
)
growing_waves <- list(
  longitudinal_link = function() {
    found <- longitudinal_link(attr(data, "wave1"), data, person_keys, "id")
    found$estimates$expected_correct[[1]]
  },
  link_attack = function() {
    found <- link_attack(attr(data, "wave1"), data, person_keys, "id")
    found$estimates$expected_correct[[1]]
  }
)
# Those that 10^7 records leave memory and a minute for.
to_ten_million <- c(
  "key_overview", "qar_risk", "n_matches", "exhaustive_tabulation", "individual_risk",
  "household_risk", "population_uniqueness", "invariant_pram"
)

blanked <- function(rule) {
  suppress_cells(data, person_keys, k = 3, rule = rule)$estimates$n_suppressed
}

# Values in pairs, in fours, all.
grown_levels <- function() {
  lapply(data[person_keys], function(x) hierarchy(sort(unique(x)), widths = c(2, 4)))
}

growth_rows <- function(names, fixture, largest) {
  sizes <- c("1e4", "1e5", "1e6", "1e7")
  sizes <- sizes[as.numeric(sizes) <= largest]
  repeats <- c(5, 3, 3, 1)[seq_along(sizes)]
  do.call(rbind, lapply(names, function(name) {
    cbind(paste0("grow_", name, "@sdcRisk"), paste0(fixture, ":", sizes), 2, repeats)
  }))
}
tasks$growth <- rbind(
  growth_rows(to_ten_million, "people", 1e7),
  growth_rows(setdiff(names(growing), to_ten_million), "people", 1e6),
  growth_rows(names(growing_waves), "people_waves", 1e6)
)
for (name in c(names(growing), names(growing_waves))) {
  runs[[paste0("grow_", name, "@sdcRisk")]] <- c(growing, growing_waves)[[name]]
}

# The slope of log seconds on log records.
exponent <- function(one) {
  if (nrow(one) < 2) return(NA)
  round(stats::coef(stats::lm(log(median_s) ~ log(rows), one))[[2]], 2)
}

summaries$growth <- function(rows) {
  large <- rows[rows$median_s >= 0.02, ]
  exponents <- lapply(split(large, large$task), function(one) {
    data.frame(
      task = one$task[[1]], exponent = exponent(one),
      from = min(one$rows), to = max(one$rows), slowest_s = max(one$median_s)
    )
  })
  write_results(do.call(rbind, exponents), shipped_file("growth-exponents"))
}
