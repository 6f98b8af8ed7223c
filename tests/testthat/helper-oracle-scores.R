# Slow and obvious versions of the scores of records.

# The interval of every category in the latent normal variable.
oracle_limits <- function(shares, places) {
  upto <- cumsum(shares[order(places)])
  upper <- c(qnorm(upto[-length(upto)]), Inf)
  lower <- c(-Inf, upper[-length(upper)])
  cbind(lower[places], upper[places])
}

# Equation 18 by mvtnorm, for records given by categories per key variable.
oracle_rectangle <- function(fit, categories, abseps = 1e-9, maxpts = 2e5) {
  limits <- Map(oracle_limits, fit$shares, fit$orders)
  apply(categories, 1, function(category) {
    ends <- t(mapply(function(l, c) l[c, ], limits, category))
    as.numeric(mvtnorm::pmvnorm(
      ends[, 1], ends[, 2],
      corr = fit$correlation,
      algorithm = mvtnorm::GenzBretz(maxpts, abseps, 0)
    ))
  })
}

# Tree probabilities from counts, cell by cell. `own` records are left out.
oracle_tree <- function(codes, edges, prior, record, n = nrow(codes), own = 0) {
  total <- n - own
  share <- function(j, x) max(sum(codes[, j] == x) - own, 0.3) / total
  p <- prod(mapply(share, seq_len(ncol(codes)), record))
  for (e in seq_len(ncol(edges))) {
    i <- edges[1, e]
    j <- edges[2, e]
    if (!record[[i]] %in% codes[, i] || !record[[j]] %in% codes[, j]) next
    independent <- share(i, record[[i]]) * share(j, record[[j]])
    both <- sum(codes[, i] == record[[i]] & codes[, j] == record[[j]]) - own
    p <- p * (both + prior[[e]] * independent) / ((total + prior[[e]]) * independent)
  }
  p
}

# The variance of the logarithm of a tree's probability likewise.
oracle_variance <- function(codes, edges, prior, record, n = nrow(codes), own = 0) {
  total <- n - own
  share <- function(j, x) max(sum(codes[, j] == x) - own, 0.3) / total
  v <- 0
  for (e in seq_len(ncol(edges))) {
    i <- edges[1, e]
    j <- edges[2, e]
    if (!record[[i]] %in% codes[, i] || !record[[j]] %in% codes[, j]) next
    both <- sum(codes[, i] == record[[i]] & codes[, j] == record[[j]]) - own
    v <- v + 1 / (both + prior[[e]] * share(i, record[[i]]) * share(j, record[[j]]))
  }
  v
}

# Likelihoods of a record where its probability is `p` times a gamma variable.
oracle_xi <- function(p, v, n, alpha, spread) {
  a <- 1 / (1 / alpha + spread * v)
  (1 + (n - 1) * p / a)^-(a + 1)
}

oracle_kappa <- function(p, v, n, alpha, spread) {
  a <- 1 / (1 / alpha + spread * v)
  (1 - (1 + n * p / a)^-a) / (n * p)
}

# Where the posterior density of (ln alpha, ln lambda, ln c) is largest, given who of
# the sample is unique in it.
oracle_mixture <- function(p, v, unique) {
  n <- length(p)
  minus <- function(at) {
    xi <- oracle_xi(p * exp(at[[2]]), v, n, exp(at[[1]]), exp(at[[3]]))
    xi <- pmin(pmax(xi, 1e-300), 1 - 1e-15)
    -sum(ifelse(unique, log(xi), log1p(-xi))) + sum(at^2 / c(0.8, 0.7, 0.5)^2) / 2
  }
  found <- optim(c(0, 0, 0), minus, method = "BFGS", control = list(reltol = 1e-14, maxit = 1e4))
  exp(found$par)
}

# The ln likelihood of a table under a Dirichlet-multinomial with `prior` records
# of independence.
oracle_dirichlet <- function(prior, table) {
  share <- outer(rowSums(table), colSums(table)) / sum(table)^2
  alpha <- prior * share[share > 0]
  x <- table[share > 0]
  lgamma(prior) - lgamma(prior + sum(x)) + sum(lgamma(x + alpha) - lgamma(alpha))
}

# The number of records that a partition of Pitman's kind leaves alone, simulated
# by its seating rule.
simulate_partition <- function(n, alpha, theta) {
  counts <- integer()
  for (i in seq_len(n)) {
    cells <- length(counts)
    weight <- c(counts - alpha, theta + alpha * cells)
    chosen <- sample.int(cells + 1, 1, prob = weight)
    if (chosen > cells) counts <- c(counts, 1L) else counts[chosen] <- counts[chosen] + 1L
  }
  counts
}

# The categories of records as numbers, in the order of the fit.
categories_of <- function(fit, data) {
  mapply(function(values, column) {
    match(as.character(column), as.character(values))
  }, fit$levels, data[names(fit$levels)])
}
