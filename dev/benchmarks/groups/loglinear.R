# Log-linear risk. Targets, whole call on 2 threads: nals without intervals 20 ms;
# all two-way interactions at 1.2 million cells 1.5 s, at 15 million 6 s; search
# over 66 pairs at 350,000 cells 60 s.

# Key variables with the given numbers of levels, dependent through a latent
# class, and equal weights of 40.
latent_keys <- function(n, levels, seed = 20261121) {
  set.seed(seed)
  n_class <- 6
  class <- sample.int(n_class, n, TRUE, prob = n_class:1)
  data <- lapply(levels, function(k) {
    probability <- t(vapply(seq_len(n_class), function(g) {
      p <- seq_len(k)^-0.7 * exp(0.5 * stats::rnorm(k))
      cumsum(p / sum(p))
    }, numeric(k)))
    pmin(1L + rowSums(stats::runif(n) > probability[class, , drop = FALSE]), k)
  })
  names(data) <- paste0("v", seq_along(levels))
  data$w <- rep(40, n)
  as.data.frame(data)
}

loglinear_levels <- list(
  "1.2e6" = c(2, 2, 3, 4, 5, 6, 7, 8, 15),
  "1.5e7" = c(2, 2, 3, 4, 5, 6, 7, 8, 12, 15),
  # The key variables of the Survey of Doctorate Recipients in the paper of Li
  # and others, and four indicators of change.
  "3.5e5" = c(2, 9, 2, 3, 2, 2, 10, 5, 2, 2, 2, 2)
)
fixtures$table <- function(n_cells, n = "8e4") {
  latent_keys(as.numeric(n), loglinear_levels[[n_cells]])
}

tasks$loglinear <- rbind(
  c("nals_independence@sdcRisk", "nals_prison", 2, 51),
  c("nals_two_way@sdcRisk", "nals_prison", 2, 51),
  c("nals_two_way@loglin", "nals_prison", 2, 9),
  c("nals_interval@sdcRisk", "nals_prison", 2, 9),
  c("loglinear_two_way@sdcRisk", "table:1.2e6", 2, 5),
  c("loglinear_two_way@loglin", "table:1.2e6", 1, 1),
  c("loglinear_default@sdcRisk", "table:1.2e6", 2, 5),
  c("loglinear_independence@sdcRisk", "table:1.2e6", 2, 5),
  c("loglinear_independence@loglin", "table:1.2e6", 1, 1),
  c("loglinear_two_way@sdcRisk", "table:1.5e7", 1, 3),
  c("loglinear_two_way@sdcRisk", "table:1.5e7", 2, 3),
  c("loglinear_default@sdcRisk", "table:1.5e7", 2, 3),
  c("loglinear_sparse@sdcRisk", "table:1.5e7", 2, 3),
  c("loglinear_search@sdcRisk", "table:3.5e5", 2, 1)
)

nals_keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")

nals_risk <- function(model, interval = "none") {
  set.seed(1)
  loglinear_risk(
    data, nals_keys, weight_var = "WEIGHT", model = model, interval = interval
  )$estimates$tau2
}
keyed_risk <- function(model, interval = "none") {
  # The table that loglin() fits is the weighted one.
  loglinear_risk(
    data,
    weight_var = "w", model = model, sampling = "overall", interval = interval
  )$estimates$tau2
}

# Plain R: the fit of the whole table, and the risk from it. `data` is a
# data.table in a process of a peer.
loglin_risk <- function(keys, weight, two_way) {
  frame <- as.data.frame(data)
  codes <- lapply(frame[keys], function(x) factor(x))
  counts <- table(codes)
  weights <- tapply(frame[[weight]], codes, sum, default = 0)
  margins <- if (two_way) {
    utils::combn(length(keys), 2, simplify = FALSE)
  } else {
    as.list(seq_along(keys))
  }
  lambda <- stats::loglin(weights, margins, eps = 1e-4, iter = 100, fit = TRUE, print = FALSE)$fit
  q <- (1 - sum(counts) / sum(weights)) * lambda[counts == 1]
  sum(-expm1(-q) / q)
}

runs[["nals_independence@sdcRisk"]] <- function() nals_risk("independence")
runs[["nals_two_way@sdcRisk"]] <- function() nals_risk("two_way")
runs[["nals_interval@sdcRisk"]] <- function() nals_risk("two_way", "corrected")
runs[["nals_two_way@loglin"]] <- function() loglin_risk(nals_keys, "WEIGHT", TRUE)
runs[["loglinear_two_way@sdcRisk"]] <- function() keyed_risk("two_way")
runs[["loglinear_default@sdcRisk"]] <- function() keyed_risk("two_way", "corrected")
runs[["loglinear_independence@sdcRisk"]] <- function() keyed_risk("independence")
runs[["loglinear_sparse@sdcRisk"]] <- function() {
  # A cycle of four variables and a chord-free neighbour: on a junction tree.
  keyed_risk(~ v10 * v9 + v9 * v8 + v8 * v7 + v7 * v10 + v6 * v5)
}
runs[["loglinear_search@sdcRisk"]] <- function() keyed_risk("search")
runs[["loglinear_two_way@loglin"]] <- function() {
  loglin_risk(setdiff(names(data), "w"), "w", TRUE)
}
runs[["loglinear_independence@loglin"]] <- function() {
  loglin_risk(setdiff(names(data), "w"), "w", FALSE)
}
