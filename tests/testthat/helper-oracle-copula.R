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

# What copula_uniqueness() says of N people from one key whose categories have the
# shares `q`, of whose n records s are unique and d distinct: the sum over a fine
# grid, with the closed form of cells that vary by a gamma variable.
slow_outlook <- function(q, n, s, d, N, draws = 2e5) {
  cell <- -log1p(-q)
  spreads <- c(0, 0.015 * (8 / 0.015)^((1:12) / 12))
  y <- log(n - 1) + seq(-2.5, 6 + log(N / n), 0.01)
  shares <- lapply(spreads, function(a) {
    lambda <- outer(cell, exp(y))
    value <- if (a == 0) exp(-lambda) else (1 + a * lambda)^(-1 / a - 1)
    stats::approxfun(y, colSums(q * value))
  })
  shifts <- seq(-2, 2, 0.02)
  grid <- do.call(rbind, lapply(seq_along(spreads), function(j) {
    a <- spreads[[j]]
    alone <- pmin(pmax(shares[[j]](log(n - 1) + shifts), 1e-12), 1 - 1e-12)
    data.frame(
      j = j, a = a, shift = shifts, alone = alone,
      ln = s * log(alone) + (n - s) * log1p(-alone) +
        stats::dnorm(shifts, 0, 0.3, log = TRUE) +
        stats::dnorm(log(max(a, 0.015)), log(0.12), 1.5, log = TRUE)
    )
  }))
  grid$w <- exp(grid$ln - max(grid$ln))
  grid <- grid[grid$w > 1e-4, ]
  grid$w <- grid$w / sum(grid$w)
  # Models that had to be bent err more.
  bent <- pmin(pmax(log(pmax(grid$a, 0.015) / 0.12), 0), 3)
  grid$error <- sqrt(0.02 + 4 / n + 0.03 * bent^2)
  z <- stats::qnorm((1:15 - 0.5) / 15)
  ratios <- seq(0, log(N / n), length.out = 100)
  points <- expand.grid(i = seq_len(nrow(grid)), z = z)
  found <- t(mapply(function(i, z) {
    at <- log(n - 1) + grid$shift[[i]] + pmax(0, ratios + z * grid$error[[i]] * sqrt(ratios))
    u <- shares[[grid$j[[i]]]](at)
    arrivals <- n * exp(ratios) * u
    last <- u[[length(u)]]
    c(
      u = last, kept = last / grid$alone[[i]],
      new = sum(diff(ratios) * (utils::head(arrivals, -1) + arrivals[-1]) / 2)
    )
  }, points$i, points$z))
  w <- grid$w[points$i] / length(z)
  unique_people <- s * found[, "kept"] + (N - n) * found[, "u"]
  drawn <- sample(nrow(points), draws, TRUE, w)
  counts <- stats::rbinom(draws, s, pmin(found[drawn, "kept"], 1)) +
    stats::rpois(draws, (N - n) * found[drawn, "u"])
  list(
    uniqueness = sum(w * unique_people) / N,
    correctness = (d + sum(w * found[, "new"])) / N,
    interval = stats::quantile(counts / N, c(0.025, 0.975), names = FALSE),
    ln_scale = sum(w * grid$shift[points$i]),
    ln_spread = sum(w * log(pmax(grid$a[points$i], 0.015)))
  )
}
