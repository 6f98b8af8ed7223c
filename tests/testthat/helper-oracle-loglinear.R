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
  p <- if (is.null(table$pi)) rep(pi, length(f)) else table$pi
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
      b = sum(terms), v = sum(v), z = sum(terms) / sqrt(sum(v)),
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

# Raked fractions in base R: the fit to the counts, raked to the weighted
# one-way margins by iterative proportional fitting; then a table as
# oracle_table() makes it, with `pi` per cell.
oracle_raked <- function(data, keys, weights, margins, pi, iter = 20000) {
  codes <- lapply(data[keys], function(x) factor(x, exclude = NULL))
  plain <- oracle_table(data, keys, rep(1, nrow(data)), margins, pi, iter)
  sizes <- lengths(lapply(codes, levels))
  lambda <- array(plain$lambda, sizes)
  weighted <- array(
    tapply(weights, codes, sum, default = 0) * sum(plain$counts) / pi / sum(weights), sizes
  )
  for (round in 1:2000) {
    before <- lambda
    for (v in seq_along(sizes)) {
      factor <- apply(weighted, v, sum) / apply(lambda, v, sum)
      lambda <- sweep(lambda, v, factor, "*")
    }
    if (max(abs(lambda / before - 1), na.rm = TRUE) < 1e-13) break
  }
  mu <- plain$lambda * pi
  lambda <- pmax(as.vector(lambda), mu)
  list(
    counts = plain$counts, weighted = as.vector(weighted), lambda = lambda,
    pi = ifelse(mu > 0, mu / lambda, pi)
  )
}

# What chance in raked weights adds to tau1 and tau2, by the help page, the
# second derivatives taken by differences.
oracle_chance <- function(data, keys, weights, table) {
  key <- function(d) do.call(paste, c(lapply(d, as.character), sep = "|"))
  codes <- lapply(data[keys], function(x) factor(x, exclude = NULL))
  cells <- expand.grid(lapply(codes, levels))
  at <- match(key(data[keys]), key(cells))
  # Weights over what the fractions make of them.
  ratio <- weights * table$pi[at]
  effect <- length(ratio) * sum(ratio^2) / sum(ratio)^2 - 1
  unique <- at[!(duplicated(at) | duplicated(at, fromLast = TRUE))]
  inverse <- Reduce(`+`, Map(
    function(code, cell) 1 / as.vector(table(code)[as.character(cell)]), codes, cells[unique, ]
  ))
  variance <- effect * (inverse - (length(keys) - 1) / nrow(data))
  lambda <- table$lambda[unique]
  q <- (1 - table$pi[unique]) * lambda
  of <- function(h) {
    second <- (h(q + 1e-3) - 2 * h(q) + h(q - 1e-3)) / 1e-6
    sum(pmin(0.5 * variance * lambda^2 * second, 0.5 * h(q)))
  }
  c(tau1 = of(function(q) exp(-q)), tau2 = of(function(q) -expm1(-q) / q))
}

# The corrected estimate and its interval, by the formulas of the help page.
# `step` is half a step of what is estimated.
oracle_corrected <- function(tau, b, v, se, top, step = 0, level = 0.95) {
  z <- b / sqrt(v)
  bias <- z^2 / (1 + z^2) * b
  bias <- sign(bias) * min(abs(bias), tau + se)
  corrected <- min(max(tau - bias, 0), top)
  s <- sqrt(se^2 + min(v, (max(tau, corrected) + se)^2))
  reach <- stats::qnorm((1 + level) / 2) * s / (2 * sqrt(corrected))
  c(
    corrected = corrected, se = s,
    low = max(max(sqrt(corrected) - reach, 0)^2 - min(step, 2 * se), 0),
    high = min((sqrt(corrected) + reach)^2 + min(step, 2 * se), top)
  )
}
