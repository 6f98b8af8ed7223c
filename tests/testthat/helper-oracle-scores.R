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
