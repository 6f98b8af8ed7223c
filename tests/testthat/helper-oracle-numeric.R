# Slow and obvious counts for continuous variables.

# Whether each value is in the interval of a rule, by its definition.
slow_interval <- function(x, y, rule, width) {
  n <- length(x)
  vapply(seq_len(n), function(i) {
    if (is.na(x[i]) || is.na(y[i])) {
      return(NA)
    }
    known <- y[!is.na(y)]
    switch(rule,
      rank = {
        r <- sum(known < y[i]) + (sum(known == y[i]) + 1) / 2
        at <- seq_along(known)
        inside <- sort(known)[abs(at - r) <= width * length(known) + 1e-9]
        # Of an even number of equal values the rank lies between two.
        if (length(inside) == 0) inside <- y[i]
        x[i] >= min(inside) && x[i] <= max(inside)
      },
      sd = abs(x[i] - y[i]) <= width * stats::sd(known) * (1 + 1e-12),
      percent = abs(x[i] - y[i]) <= width * abs(x[i])
    )
  }, NA)
}

# MDAV as on paper, on standardised columns.
slow_mdav <- function(columns, k) {
  x <- vapply(columns, function(v) {
    s <- stats::sd(v)
    if (s > 0) (v - mean(v)) / s else 0 * v
  }, numeric(length(columns[[1]])))
  left <- seq_len(nrow(x))
  group <- integer(nrow(x))
  n_groups <- 0L
  far <- function(from) left[which.max(round(distance(from), 9))]
  distance <- function(from) rowSums(sweep(x[left, , drop = FALSE], 2, from)^2)
  take <- function(from) {
    near <- left[order(round(distance(from), 9), left)][seq_len(k)]
    n_groups <<- n_groups + 1L
    group[near] <<- n_groups
    left <<- setdiff(left, near)
  }
  while (length(left) >= 2 * k) {
    one <- far(colMeans(x[left, , drop = FALSE]))
    two <- if (length(left) >= 3 * k) far(x[one, ])
    take(x[one, ])
    if (!is.null(two)) take(x[two, ])
  }
  if (length(left)) group[left] <- n_groups + 1L
  group
}

# The least sum of squares of all partitions of sorted values in groups of at least k.
slow_optimum <- function(x, k, w = rep(1, length(x))) {
  at <- order(x)
  x <- x[at]
  w <- w[at]
  n <- length(x)
  squares <- function(rows) {
    mean <- sum(w[rows] * x[rows]) / sum(w[rows])
    sum(w[rows] * (x[rows] - mean)^2)
  }
  cuts <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), n - 1)))
  min(apply(cuts, 1, function(cut) {
    group <- cumsum(c(TRUE, cut))
    if (any(tabulate(group) < k)) Inf else sum(vapply(split(seq_len(n), group), squares, 0))
  }))
}

# Nearest records over all pairs: `metric` are functions of two vectors, one per column.
slow_nearest <- function(known, released, metric, partners = NULL) {
  n <- length(released[[1]])
  out <- lapply(seq_len(n), function(i) {
    cost <- 0
    for (v in seq_along(metric)) cost <- cost + metric[[v]](known[[v]], released[[v]][i])
    near <- cost <= min(cost) * (1 + 1e-9) + 1e-24
    list(
      first = min(cost), n_best = sum(near),
      true = !is.null(partners) && !is.na(partners[i]) && near[partners[i]]
    )
  })
  list(
    first = vapply(out, `[[`, 0, "first"), n_best = vapply(out, `[[`, 0L, "n_best"),
    true_in_best = vapply(out, `[[`, NA, "true")
  )
}
