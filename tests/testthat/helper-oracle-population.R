# population_risk() in base R: slow and obvious. Every class by itself, without bins; the
# posterior by importance sampling with R's own random numbers.

# ln p of every class: counts are made anew for every value and set of parents.
slow_network <- function(keys, f) {
  n <- sum(f)
  d <- length(keys)
  agree <- function(columns) {
    vapply(seq_along(f), function(i) {
      same <- Reduce(`&`, lapply(keys[columns], function(k) k == k[[i]]), TRUE)
      sum(f[same & seq_along(f) != i])
    }, 0)
  }
  fit <- function(num, den, low, exceptions) {
    grid <- expand.grid(c = 2^((0:30 - 6) / 2), e = exceptions)
    p <- function(c, e) (1 - e) * (num + c * low) / (den + c) + e * low
    value <- mapply(function(c, e) sum(f * log(p(c, e))), grid$c, grid$e)
    best <- grid[which.max(value), ]
    list(p = p(best$c, best$e), value = max(value))
  }
  level <- function(v, parents, below, exceptions = 0) {
    fit(agree(c(v, parents)), agree(parents), below$p, exceptions)
  }
  roots <- lapply(seq_len(d), function(v) {
    seen <- tapply(f, keys[[v]], sum)
    unseen <- sum(seen == 1) * (sum(seen == 1) - 1) / (2 * (sum(seen == 2) + 1))
    level(v, integer(), list(p = rep(1 / (length(seen) + 1 + unseen), length(f))))
  })
  gain <- function(v, parents, below) level(v, parents, below)$value - below$value
  entropy <- vapply(keys, function(k) {
    p <- tapply(f, k, sum) / n
    -sum(p * log(p))
  }, 0)
  order <- which.max(entropy)
  ln_p <- matrix(log(roots[[order]]$p), length(f), 3)
  while (length(order) < d) {
    open <- setdiff(seq_len(d), order)
    pairs <- expand.grid(q = order, v = open)
    gains <- mapply(function(q, v) gain(v, q, roots[[v]]), pairs$q, pairs$v)
    v <- pairs$v[[which.max(gains)]]
    levels <- roots[v]
    parents <- integer()
    while (length(parents) < 3 && length(setdiff(order, parents))) {
      below <- levels[[length(levels)]]
      trials <- setdiff(order, parents)
      gains <- vapply(trials, function(q) gain(v, c(parents, q), below), 0)
      if (max(gains) <= 2) break
      parents <- c(parents, trials[[which.max(gains)]])
      exceptions <- c(0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
      levels <- c(levels, list(level(v, parents, below, exceptions)))
    }
    ln_p <- ln_p + cbind(
      log(levels[[length(levels)]]$p), log(levels[[min(2, length(levels))]]$p), log(levels[[1]]$p)
    )
    order <- c(order, v)
  }
  weights <- rep(1 / 3, 3)
  for (step in 1:100) {
    shares <- sweep(exp(ln_p), 2, weights, "*")
    weights <- colSums(f * shares / rowSums(shares)) / n
  }
  log(drop(exp(ln_p) %*% weights))
}

slow_law <- function(z, y, n_people) {
  x <- c(0, -4, -1.6, -0.01, 0, 0) + c(0.2, 2.2, 1.3, 0.1, 0.15, 0.02) * z
  v <- exp(pmin(9, pmax(-9, x[[3]] + x[[5]] * y)))
  line <- x[[1]] + (1 + x[[4]]) * y + x[[6]] * y * abs(y)
  list(s = 1 + 1 / v, r = pmin(exp(line) * (1 + v) + exp(x[[2]]), n_people - 1))
}

slow_mean_inverse <- function(s, r) (1 - (1 + r / s)^-(s - 1)) * s / (r * (s - 1))

slow_posterior <- function(z, y, f, n, n_people) {
  law <- slow_law(z, y, n_people)
  m <- law$r * (n - 1) / (n_people - 1)
  sum(stats::dnbinom(f - 1, law$s, mu = m, log = TRUE) - log(slow_mean_inverse(law$s, m))) -
    sum(z^2) / 2
}

# The five measures, by `n_draws` draws from a normal around the mode.
slow_population_risk <- function(data, n_people, n_draws = 3000) {
  n <- nrow(data)
  class <- do.call(paste, c(data, sep = "|"))
  first <- !duplicated(class)
  f <- as.vector(table(class)[class[first]])
  y <- log(n_people) + slow_network(lapply(data[first, , drop = FALSE], as.character), f)
  minus <- function(z) -slow_posterior(z, y, f, n, n_people)
  starts <- list(rep(0, 6), c(0, 2, 0, 0, 0, 0), c(0, 0, 1.5, 0, 0, 0), c(0, 0, -1.5, 0, 0, 0))
  modes <- lapply(starts, stats::optim, minus, method = "BFGS", control = list(reltol = 1e-12))
  mode <- modes[[which.min(vapply(modes, `[[`, 0, "value"))]]$par
  root <- chol(1.3^2 * solve(stats::optimHess(mode, minus)))
  steps <- matrix(stats::rnorm(6 * n_draws), n_draws)
  ln_weight <- apply(steps, 1, function(step) {
    -minus(mode + drop(step %*% root)) + sum(step^2) / 2
  })
  weight <- exp(ln_weight - max(ln_weight))
  pi <- (n - 1) / (n_people - 1)
  figures <- apply(steps, 1, function(step) {
    law <- slow_law(mode + drop(step %*% root), y, n_people)
    q <- (law$s / law$r + pi) / (law$s / law$r + 1)
    found <- mapply(function(f, s, q) {
      rest <- 0:2000
      sum(stats::dnbinom(rest, s + f - 1, q) * f / (f + rest))
    }, f, law$s, q)
    alone <- (1 + law$r / law$s)^-law$s
    tau1 <- sum((q^law$s)[f == 1])
    outside <- (n_people - n) / n
    c(
      uniqueness = (tau1 + outside * sum(f * alone)) / n_people,
      correctness = (sum(found) + outside * sum(f * slow_mean_inverse(law$s, law$r))) / n_people,
      tau1 = tau1, tau2 = sum(found[f == 1]), reidentifications = sum(found)
    )
  })
  drop(figures %*% weight) / sum(weight)
}
