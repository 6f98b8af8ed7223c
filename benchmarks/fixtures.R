# Data for benchmarks: seeded generators, and real files where they are at hand.

# `n` records of `columns` key variables with 2 to 100 levels, spread
# geometrically; shares of levels fall as 1 / rank^0.8, and all columns lean
# mildly (0.3) on one common factor.
synthetic <- function(n, columns, seed = 20261121) {
  set.seed(seed)
  levels <- round(exp(seq(log(2), log(100), length.out = columns)))
  common <- stats::rnorm(n)
  data <- lapply(sample(levels), function(k) {
    share <- seq_len(k)^-0.8
    cuts <- stats::qnorm(cumsum(share / sum(share))[-k])
    latent <- 0.3 * common + sqrt(1 - 0.3^2) * stats::rnorm(n)
    findInterval(latent, cuts) + 1L
  })
  names(data) <- sprintf("v%02d", seq_along(data))
  as.data.frame(data)
}

# Eight key variables with 2 to 100 levels, independent.
eight_keys <- function(n, seed = 20261121) {
  set.seed(seed)
  levels <- c(2, 2, 3, 5, 8, 12, 20, 100)
  data <- lapply(levels, function(k) {
    factor(sample.int(k, n, TRUE, prob = seq_len(k)^-0.8))
  })
  names(data) <- sprintf("v%d", seq_along(data))
  as.data.frame(data)
}

# One column of `n` rows of the given kind.
column <- function(kind, n, seed = 20261121) {
  set.seed(seed)
  x <- switch(kind,
    factor = factor(sample(letters[1:20], n, TRUE)),
    integer = sample.int(100L, n, TRUE),
    logical = sample(c(TRUE, FALSE, NA), n, TRUE),
    double = sample.int(100L, n, TRUE) / 7,
    ascii = sample(sprintf("region %d", 1:100), n, TRUE),
    utf8 = sample(sprintf("Stra\u00dfe %d", 1:50000), n, TRUE)
  )
  data.frame(x = x)
}

# A file of the folder that SDCRISK_DATA names, NULL without it.
real_file <- function(name) {
  folder <- Sys.getenv("SDCRISK_DATA")
  path <- file.path(folder, paste0(name, ".csv"))
  if (nzchar(folder) && file.exists(path)) utils::read.csv(path)
}

fixture <- function(name) {
  parts <- strsplit(name, ":", fixed = TRUE)[[1]]
  switch(parts[[1]],
    synthetic = synthetic(as.numeric(parts[[2]]), as.integer(parts[[3]])),
    keys = eight_keys(as.numeric(parts[[2]])),
    column = column(parts[[2]], as.numeric(parts[[3]])),
    real_file(parts[[1]])
  )
}
