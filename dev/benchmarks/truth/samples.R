# Key sets and samples, fixed by seeds that are made of names: the same on every
# machine, whatever else is run.

n_key_sets <- 3
fractions <- c(0.001, 0.01, 0.05, 0.1, 0.5)
designs <- c("simple", "stratified", "unequal")

# A seed from words.
seed_of <- function(...) {
  letters <- utf8ToInt(paste(..., sep = "|"))
  as.integer(Reduce(function(seed, letter) (seed * 31 + letter) %% 2147483647, letters, 7))
}

# Sets of 4 to 8 keys, all keys where there are no more than four.
key_sets_of <- function(name) {
  keys <- populations[[name]]$keys
  set.seed(seed_of("key sets", name))
  sets <- lapply(seq_len(n_key_sets), function(i) {
    sizes <- 4:8
    sizes <- sizes[sizes <= length(keys)]
    # The order of the file, which no result depends on.
    keys[sort(sample(length(keys), sizes[sample(length(sizes), 1)]))]
  })
  unique(sets)
}

# Whether a sample of this fraction says anything.
worth_sampling <- function(n_people, fraction) {
  n_people * fraction >= if (fraction == 0.001) 100 else 30
}

# Rows of a sample and, for unequal probabilities, the weights 1 / pi.
draw_sample <- function(design, by, fraction) {
  n <- round(length(by) * fraction)
  switch(design,
    simple = list(rows = sort(sample(length(by), n))),
    stratified = list(rows = stratified_rows(by, fraction)),
    unequal = unequal_rows(by, n)
  )
}

# Proportional allocation: equal fractions in all strata, up to whole records.
stratified_rows <- function(by, fraction) {
  strata <- split(seq_along(by), by)
  sizes <- fraction * lengths(strata)
  # Remainders are rounded at random, so that no stratum is always left out.
  sizes <- floor(sizes) + (stats::runif(length(sizes)) < sizes - floor(sizes))
  rows <- Map(function(stratum, n) stratum[sample.int(length(stratum), n)], strata, sizes)
  sort(unlist(rows, use.names = FALSE))
}

# Systematic sampling from a random order, with probabilities that differ by a
# factor of eight between levels of `by`.
unequal_rows <- function(by, n) {
  levels <- sample(unique(by))
  size <- 2^((match(by, levels) - 1) %% 4)
  pi <- inclusion(size, n)
  order <- sample(length(by))
  ticks <- floor(cumsum(pi[order]) + stats::runif(1))
  rows <- sort(order[diff(c(0, ticks)) > 0])
  list(rows = rows, weights = 1 / pi[rows])
}

# Probabilities proportional to size that add up to n, none above 1.
inclusion <- function(size, n) {
  pi <- n * size / sum(size)
  while (any(pi > 1)) {
    sure <- pi >= 1
    pi[sure] <- 1
    pi[!sure] <- (n - sum(sure)) * size[!sure] / sum(size[!sure])
  }
  pi
}
