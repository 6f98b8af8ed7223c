# Population uniqueness by a copula. Targets: fit of the 11 columns of adult 0.15 s;
# 3 million people x 10 keys drawn and counted 2 s. `growth` with keys and records.

fixtures$latent <- function(n, keys, levels = 10) {
  n <- as.integer(as.numeric(n))
  set.seed(20190723)
  common <- stats::rnorm(n)
  columns <- lapply(seq_len(as.integer(keys)), function(j) {
    z <- sqrt(0.3) * common + sqrt(0.7) * stats::rnorm(n)
    cuts <- stats::qnorm(cumsum(seq_len(levels)) / sum(seq_len(levels)))
    findInterval(z, cuts[-length(cuts)])
  })
  names(columns) <- paste0("k", seq_along(columns))
  as.data.frame(columns)
}

tasks$copula <- rbind(
  c("copula_fit@sdcRisk", "adult", 1, 15),
  c("copula_fit@sdcRisk", "adult", 2, 15),
  c("copula_sampling@sdcRisk", "latent:1e4:10", 1, 3),
  c("copula_sampling@sdcRisk", "latent:1e4:10", 2, 3),
  c("copula_uniqueness@sdcRisk", "adult", 2, 3),
  c("copula_fit@sdcRisk", "latent:1e6:10", 2, 3),
  c("copula_fit@sdcRisk", "latent:1e7:10", 2, 1),
  c("copula_fit@sdcRisk", "latent:1e5:20", 2, 3),
  c("copula_fit@sdcRisk", "latent:1e5:50", 2, 3),
  c("copula_sampling@sdcRisk", "latent:1e4:20", 2, 1),
  c("copula_sampling@sdcRisk", "latent:1e4:50", 2, 1)
)

# The fit that drawing starts from, made once and not timed.
drawn_from <- local({
  fit <- NULL
  function() {
    if (is.null(fit)) fit <<- suppressWarnings(copula_fit(data))
    fit
  }
})
prepare$copula <- drawn_from

runs[["copula_fit@sdcRisk"]] <- function() {
  sum(suppressWarnings(copula_fit(data))$diagnostics$pairs$information)
}

# Three million people: alone, without refits or scores of records.
runs[["copula_sampling@sdcRisk"]] <- function() {
  set.seed(1)
  found <- suppressWarnings(suppressMessages(copula_uniqueness(
    drawn_from(),
    pop_size = 3e6, records = FALSE, calibrate = FALSE, n_refits = 0
  )))
  found$estimates$population_uniqueness
}

# Everything: fit, three million people, refits and scores of all records.
runs[["copula_uniqueness@sdcRisk"]] <- function() {
  set.seed(1)
  found <- suppressWarnings(copula_uniqueness(data, pop_size = 3e6))
  found$estimates$population_uniqueness
}
