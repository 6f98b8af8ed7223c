# Slow and obvious versions of contributions and removal, in base R: records
# are really removed and the extreme risk computed anew.

# Distinct keys of every set of p columns, in the order of combn().
slow_distinct <- function(data, p) {
  apply(utils::combn(ncol(data), p), 2, function(v) {
    nrow(unique(data[v]))
  })
}

# T, u, shape and the empirical quantile of a file.
slow_tail <- function(data, p, alpha, pi_u, pwm = "plotting", theta_one = "one") {
  n <- nrow(data)
  theta <- slow_distinct(data, p) / n
  certain <- theta == 1
  none <- c(
    risk = NA_real_, threshold = NA_real_, shape = NA_real_, risk_empirical = NA_real_
  )
  if (theta_one == "exclude") {
    theta <- theta[!certain]
    if (length(theta) == 0) {
      return(none)
    }
  } else if (theta_one == "clamp") {
    theta[certain] <- (n - 0.5) / n
  }
  u <- oracle_quantile(theta, pi_u)
  out <- c(
    risk = u, threshold = u, shape = NA,
    risk_empirical = oracle_quantile(theta, alpha)
  )
  if (theta_one == "one" && any(certain)) {
    out[["risk"]] <- 1
    return(out)
  }
  excess <- sort(stats::qlogis(theta[theta > u]) - stats::qlogis(u))
  m <- length(excess)
  if (m == 0) {
    return(out)
  }
  if (pwm == "unbiased" && m == 1) {
    out[["risk"]] <- if (alpha == pi_u) u else NA
    return(out)
  }
  j <- seq_len(m)
  weight <- if (pwm == "plotting") 1 - (j - 0.35) / m else (m - j) / (m - 1)
  a0 <- mean(excess)
  a1 <- mean(weight * excess)
  shape <- 2 - a0 / (a0 - 2 * a1)
  scale <- 2 * a0 * a1 / (a0 - 2 * a1)
  if (pwm == "unbiased" && diff(range(theta[theta > u])) == 0) {
    out[["risk"]] <- if (alpha == pi_u) u else max(theta)
    return(out)
  }
  rise <- scale / shape * ((alpha / pi_u)^-shape - 1)
  out[["risk"]] <- stats::plogis(stats::qlogis(u) + rise)
  out[["shape"]] <- shape
  out
}

slow_contribution <- function(data, ...) {
  whole <- slow_tail(data, ...)[["risk"]]
  vapply(seq_len(nrow(data)), function(i) {
    whole - slow_tail(data[-i, , drop = FALSE], ...)[["risk"]]
  }, 0)
}

# Records by key sets: is the record unique?
slow_unique <- function(data, p) {
  sets <- utils::combn(ncol(data), p)
  matrix(apply(sets, 2, function(v) {
    key <- do.call(paste, c(lapply(data[v], as.character), sep = "\r"))
    key %in% names(which(table(key) == 1))
  }), nrow(data))
}

slow_entropy <- function(data, p) {
  n <- nrow(data)
  sets <- utils::combn(ncol(data), p)
  ranks <- matrix(apply(sets, 2, function(v) {
    at_most <- vapply(seq_len(n), function(i) {
      sum(Reduce(`&`, lapply(data[v], function(x) x <= x[[i]])))
    }, 0)
    vapply(at_most, function(f) sum(at_most <= f), 0)
  }), n)
  m <- floor(sqrt(ncol(sets)))
  # G = rank / n in whole numbers, so that ends of intervals are exact.
  interval <- pmin((ranks * m) %/% n, m - 1)
  apply(interval, 1, function(k) {
    share <- table(k) / ncol(sets)
    -sum(share * log(share))
  })
}

# `n` records of `v` columns with up to `k` values each.
small_file <- function(n, v, k, seed) {
  set.seed(seed)
  data <- lapply(seq_len(v), function(i) sample.int(k, n, TRUE))
  names(data) <- letters[seq_len(v)]
  as.data.frame(data)
}

quiet_qar <- function(...) {
  suppressMessages(suppressWarnings(qar_risk(...)))
}
