# The oracle of loglinear_risk(): the whole table, fitted by stats::loglin, and
# every sum over cells literally.

# All cells of the observed levels: counts, weights, and the fitted expected
# population counts of the model whose margins are `margins`.
oracle_table <- function(data, keys, weights, margins, pi, iter = 20000) {
  codes <- lapply(data[keys], function(x) factor(x, exclude = NULL))
  counts <- table(codes, useNA = "ifany")
  weighted <- tapply(weights, codes, sum, default = 0)
  fit <- if (length(margins) == 0) {
    weighted
  } else {
    stats::loglin(
      array(weighted, dim(counts)), margins, fit = TRUE, eps = 1e-11, iter = iter, print = FALSE
    )$fit
  }
  list(
    counts = as.vector(counts), weighted = as.vector(weighted),
    lambda = as.vector(fit) * sum(counts) / pi / sum(weighted)
  )
}

oracle_h2 <- function(q) ifelse(q > 0, -expm1(-q) / q, 1)

# The measures of Skinner and Shlomo from the whole table, by the formulas of
# the help page.
oracle_loglinear <- function(table, pi, sampling = "overall") {
  f <- table$counts
  lambda <- table$lambda
  scale <- sum(f) / pi / sum(table$weighted)
  p <- rep(pi, length(f))
  if (sampling == "cell") {
    p[f > 0] <- (f / (table$weighted * scale))[f > 0]
  }
  mu <- p * lambda
  q <- (1 - p) * lambda
  h <- oracle_h2(q)
  unique <- f == 1
  a1 <- (1 - p) * lambda * exp(-lambda)
  b1 <- (1 - p)^2 * lambda * exp(-lambda) / (2 * p)
  a2 <- exp(-mu) * h - exp(-lambda)
  # Below, the literal formula loses all its digits.
  b2 <- ifelse(
    q > 1e-3, (exp(-mu) * h - exp(-lambda) * (1 + q / 2)) / mu,
    exp(-mu) * (q / 6 - q^2 / 8) * (1 - p) / p
  )
  e <- f - mu
  of <- function(a, b) {
    terms <- ifelse(lambda > 0, a * e + b * (e^2 - f), 0)
    v <- ifelse(lambda > 0, a^2 * mu + 2 * b^2 * mu^2, 0)
    c(
      b = sum(terms), z = sum(terms) / sqrt(sum(v)),
      robust = mean(terms) / (stats::sd(terms) / sqrt(length(terms)))
    )
  }
  one <- of(a1, b1)
  two <- of(a2, b2)
  data.frame(
    n = sum(f), n_cells = length(f), n_unique = sum(unique),
    tau1 = sum(exp(-q[unique])), tau2 = sum(h[unique]),
    b1 = one[["b"]], z1 = one[["z"]], z1_robust = one[["robust"]],
    b2 = two[["b"]], z2 = two[["z"]], z2_robust = two[["robust"]]
  )
}

# A file of `n` records with dependent key variables and weights.
loglinear_file <- function(n, levels, seed) {
  set.seed(seed)
  class <- sample.int(3, n, TRUE)
  data <- as.data.frame(lapply(levels, function(k) {
    p <- matrix(stats::rexp(3 * k), 3)
    vapply(class, function(g) sample.int(k, 1, prob = p[g, ]), 1L)
  }))
  names(data) <- letters[seq_along(levels)]
  data$w <- stats::runif(n, 2, 12)
  data
}

quiet_loglinear <- function(...) {
  suppressMessages(suppressWarnings(loglinear_risk(...)))
}
