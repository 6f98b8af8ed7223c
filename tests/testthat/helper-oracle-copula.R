# Slow and obvious versions of what copula_fit() computes.

# Mutual information of a two-way table, natural logarithms.
slow_information <- function(table) {
  p <- table / sum(table)
  q <- outer(rowSums(p), colSums(p))
  sum(ifelse(p > 0, p * log(p / q), 0))
}

# Its expectation under independence with fixed margins: hypergeometric cells.
slow_expected_information <- function(rows, columns) {
  n <- sum(rows)
  total <- 0
  for (a in rows) {
    for (b in columns) {
      k <- seq(max(1, a + b - n), min(a, b))
      total <- total + sum(k / n * log(n * k / (a * b)) * stats::dhyper(k, a, n - a, b))
    }
  }
  total
}

# Two-way table of a bivariate normal over margins in latent order.
slow_rectangles <- function(rows, columns, rho) {
  cuts <- function(p) c(-Inf, stats::qnorm(cumsum(p)[-length(p)]), Inf)
  h <- cuts(rows)
  k <- cuts(columns)
  sigma <- matrix(c(1, rho, rho, 1), 2)
  out <- matrix(0, length(rows), length(columns))
  for (i in seq_along(rows)) {
    for (j in seq_along(columns)) {
      out[i, j] <- mvtnorm::pmvnorm(c(h[i], k[j]), c(h[i + 1], k[j + 1]), sigma = sigma)
    }
  }
  out
}

# Correlation of one pair in natural order, on the side of the sign.
slow_correlation <- function(x, y, bound = 0.999) {
  table <- table(x, y)
  n <- sum(table)
  target <- slow_information(table) -
    slow_expected_information(rowSums(table), colSums(table))
  if (target <= 0) {
    return(0)
  }
  rows <- rowSums(table) / n
  columns <- colSums(table) / n
  score <- function(p) {
    cut <- stats::qnorm(c(0, cumsum(p)[-length(p)], 1))
    -diff(stats::dnorm(cut)) / p
  }
  side <- sign(sum(table * outer(score(rows), score(columns))))
  gap <- function(r) slow_information(slow_rectangles(rows, columns, side * r)) - target
  if (gap(bound) < 0) {
    return(side * bound)
  }
  side * stats::uniroot(gap, c(1e-9, bound), tol = 1e-10)$root
}

# A file of ordered integers with a latent normal behind them.
latent_file <- function(n, levels, rho, seed) {
  set.seed(seed)
  common <- stats::rnorm(n)
  columns <- lapply(levels, function(k) {
    z <- sqrt(rho) * common + sqrt(1 - rho) * stats::rnorm(n)
    as.integer(cut(z, c(-Inf, stats::qnorm(cumsum(rev(seq_len(k))[-k]) / sum(seq_len(k))), Inf)))
  })
  names(columns) <- letters[seq_along(levels)]
  as.data.frame(columns)
}

share_unique <- function(data) {
  key <- do.call(paste, c(data, sep = "\r"))
  mean(!(duplicated(key) | duplicated(key, fromLast = TRUE)))
}
