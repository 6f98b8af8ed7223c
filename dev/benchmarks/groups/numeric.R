# Continuous variables. Targets on 2 threads: the nearest of 100,000 x 100,000 records and 6
# variables 5 s, of a million and 3 variables 60 s; MDAV of 100,000 records, 6 variables and
# k = 3 at least 20 times as fast as sdcMicro's, with no more loss. The check is the expected
# number of correct links, and the sum of squares lost.

fixtures$measured <- function(n, d) {
  n <- as.integer(as.numeric(n))
  set.seed(6)
  factor <- stats::rnorm(n)
  known <- as.data.frame(lapply(seq_len(as.integer(d)), function(v) {
    exp(0.6 * factor + 0.8 * stats::rnorm(n))
  }))
  names(known) <- paste0("v", seq_along(known))
  released <- as.data.frame(lapply(known, function(x) x * exp(stats::rnorm(n, sd = 0.2))))
  known$id <- released$id <- seq_len(n)
  structure(released, wave1 = known)
}

tasks$numeric <- rbind(
  c("nearest@sdcRisk", "measured:1e4:6", 2, 3),
  c("interval@sdcRisk", "measured:1e5:6", 2, 3),
  c("interval_sd@sdcRisk", "measured:1e5:6", 2, 3),
  c("interval_sd@sdcMicro", "measured:1e5:6", 1, 3),
  c("mdav@sdcRisk", "measured:1e4:6", 2, 5),
  c("mdav@sdcMicro", "measured:1e4:6", 1, 1),
  c("mdav@sdcRisk", "measured:1e5:6", 2, 3),
  c("optimal@sdcRisk", "measured:1e6:3", 2, 3)
)

tasks$numeric_large <- rbind(
  c("nearest@sdcRisk", "measured:1e5:6", 2, 3),
  c("nearest@sdcRisk", "measured:1e6:3", 2, 1),
  c("mdav@sdcMicro", "measured:1e5:6", 1, 1)
)

number_keys <- function() setdiff(names(data), "id")

runs[["nearest@sdcRisk"]] <- function() {
  found <- link_attack(attr(data, "wave1"), data, number_keys(), "id")
  max(found$estimates$expected_correct)
}

runs[["interval@sdcRisk"]] <- function() {
  interval_disclosure(attr(data, "wave1"), data, number_keys())$estimates$n_within[[1]]
}

# The share of records with all values within a fifth of a standard deviation.
runs[["interval_sd@sdcRisk"]] <- function() {
  interval_disclosure(
    attr(data, "wave1"), data, number_keys(), width = c(sd = 0.2)
  )$estimates$prop_all
}

runs[["interval_sd@sdcMicro"]] <- function() {
  known <- as.data.frame(attr(data, "wave1"))[number_keys()]
  sdcMicro::dRisk(known, as.data.frame(data)[number_keys()], k = 0.2)
}

# The sum of squares in standard deviations.
squares_lost <- function(made) {
  sum(vapply(number_keys(), function(v) {
    sum((made[[v]] - data[[v]])^2) / stats::var(data[[v]])
  }, 0))
}

runs[["mdav@sdcRisk"]] <- function() {
  squares_lost(suppressMessages(microaggregate(data, number_keys(), k = 3)))
}

runs[["mdav@sdcMicro"]] <- function() {
  squares_lost(as.data.frame(
    sdcMicro::microaggregation(as.data.frame(data)[number_keys()], method = "mdav", aggr = 3)$mx
  ))
}

runs[["optimal@sdcRisk"]] <- function() {
  squares_lost(suppressMessages(microaggregate(data, number_keys(), k = 3, method = "optimal")))
}
