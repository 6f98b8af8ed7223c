# The intruder of link_attack() who takes the nearest record on continuous key variables. What
# "near" means is tried in several ways, each exact over all pairs; the one that finds most leads.

# Intruders without weights of agreements, hence without a posterior.
unweighed <- c("count", "distance")

is_measured <- function(x, named) {
  numbers <- tryCatch(number_column(x, ""), sdcRisk_error = function(e) NULL)
  if (is.null(numbers)) {
    return(FALSE)
  }
  known <- numbers[!is.na(numbers)]
  n_values <- length(unique(known))
  whole <- all(known == round(known))
  named || length(known) >= 20 && n_values > 0.2 * length(known) && (!whole || n_values > 100)
}

# In the form in which the core gives what other intruders find, with the figures of each metric
# (`distances`) and of each margin (`margins`).
attack_by_distance <- function(coded, continuous) {
  linked <- !is.null(coded$partners) & !is.na(coded$partners)
  metrics <- distance_metrics(coded, continuous)
  each <- lapply(metrics, function(m) {
    find_nearest(m$known, m$released, m$metric, coded$partners)
  })
  expected <- unname(vapply(each, function(one) sum(one$true_in_best / one$n_best), 0))
  best <- if (any(linked)) which.max(round(expected, 9)) else 1L
  n_linked <- if (is.null(coded$partners)) NA_integer_ else sum(linked)
  interval <- binomial_interval(expected, n_linked)
  distances <- frame(
    metric = names(metrics), expected_correct = if (is.na(n_linked)) NA_real_ else expected,
    low = interval$low, high = interval$high,
    n_single_best = unname(vapply(each, function(one) sum(one$n_best == 1), 0L)),
    n_certain = if (is.na(n_linked)) {
      NA_integer_
    } else {
      unname(vapply(each, function(one) sum(one$n_best == 1 & one$true_in_best), 0L))
    }
  )
  one <- each[[best]]
  list(
    found = list(
      n_best = as.integer(one$n_best), true_in_best = one$true_in_best,
      posterior = numeric(), expected = expected[[best]],
      n_certain = sum(one$n_best == 1 & one$true_in_best), n_single_best = sum(one$n_best == 1),
      own_estimate = NA_real_, n_claimed = rep(NA_real_, length(claim_thresholds)),
      n_right = rep(NA_real_, length(claim_thresholds)), one_to_one = NA_real_
    ),
    distances = distances, margins = margin_table(one, is.na(n_linked)),
    metric = names(metrics)[[best]], continuous = continuous
  )
}

# Of records whose next nearest record is at least so many times as far, how many claims are
# right. Costs are squares or sums of logarithms; their root is a distance.
margin_table <- function(one, unknown) {
  at <- c(1, 1.25, 1.5, 2, 3, 5, 10, 100)
  ratio <- sqrt(one$second / one$first)
  ratio[one$n_best > 1 | is.nan(ratio)] <- 1
  right <- one$true_in_best / one$n_best
  frame(
    margin = at, n_claimed = vapply(at, function(m) sum(ratio >= m), 0L),
    n_right = if (unknown) NA_real_ else vapply(at, function(m) sum(right[ratio >= m]), 0)
  )
}

# The interval of Clopper and Pearson for an expected number of n.
binomial_interval <- function(x, n) {
  if (is.na(n) || n == 0) {
    return(list(low = NA_real_, high = NA_real_))
  }
  list(
    low = n * ifelse(x > 0, stats::qbeta(0.025, x, n - x + 1), 0),
    high = n * ifelse(x < n, stats::qbeta(0.975, x + 1, n - x), 1)
  )
}

distance_metrics <- function(coded, continuous) {
  numbers <- lapply(unname(coded$waves), number_columns, continuous)
  others <- which(!coded$key_vars %in% continuous &
                    vapply(coded$tables[[1]]$sets, is.null, NA))
  codes <- lapply(all_codes(coded$tables), function(columns) {
    lapply(columns[others], function(x) as.double(replace(x, x == 0L, NA)))
  })
  scaled <- lapply(numbers, Map, f = standardised, numbers[[1]])
  ranks <- lapply(numbers, lapply, uniform_ranks)
  made <- list(
    standardised = measured_by(scaled, square_cost), mahalanobis = whitened(scaled),
    rank = measured_by(ranks, square_cost), gower = gower_parts(numbers),
    learned = learned_parts(scaled)
  )
  if (any(!is.na(coded$partners))) {
    made$calibrated <- calibrated_parts(scaled, coded$partners)
    made$calibrated_rank <- calibrated_parts(ranks, coded$partners)
  }
  made <- made[!vapply(made, is.null, NA)]
  Map(function(parts, name) {
    category <- lapply(seq_along(others), function(v) {
      category_cost(codes[[1]][[v]], codes[[2]][[v]], name, coded$partners)
    })
    list(
      known = c(parts$known, codes[[1]]), released = c(parts$released, codes[[2]]),
      metric = c(parts$metric, category)
    )
  }, made, names(made))
}

measured_by <- function(columns, cost) {
  list(known = columns[[1]], released = columns[[2]], metric = lapply(columns[[1]], function(x) {
    cost()
  }))
}

# Ranks in units of the standard deviation of a uniform variable.
uniform_ranks <- function(x) {
  n <- sum(!is.na(x))
  (rank(x, na.last = "keep") - (n + 1) / 2) / max(n, 1) * sqrt(12)
}

# Uncorrelated combinations of standardised variables; only of complete files.
whitened <- function(columns) {
  x <- do.call(cbind, columns[[1]])
  y <- do.call(cbind, columns[[2]])
  if (ncol(x) < 2 || nrow(x) < 3 || anyNA(x) || anyNA(y)) {
    return(NULL)
  }
  parts <- eigen(stats::cov(x), symmetric = TRUE)
  used <- parts$values > 1e-10 * max(parts$values)
  if (!any(used)) {
    return(NULL)
  }
  turn <- sweep(parts$vectors[, used, drop = FALSE], 2, sqrt(parts$values[used]), "/")
  as_columns <- function(m) lapply(seq_len(ncol(m)), function(v) m[, v])
  measured_by(list(as_columns(x %*% turn), as_columns(y %*% turn)), square_cost)
}

# Absolute differences in ranges of the known file. A missing value costs the mean difference.
gower_parts <- function(numbers) {
  largest <- lapply(numbers[[1]], function(x) max(abs(x), 0, na.rm = TRUE))
  range <- Map(function(x, largest) {
    if (all(is.na(x)) || largest == 0) 0 else diff(range(x / largest, na.rm = TRUE))
  }, numbers[[1]], largest)
  scale <- function(x, largest, range) if (range > 0) x / largest / range else 0 * x
  columns <- lapply(numbers, function(file) Map(scale, file, largest, range))
  parts <- measured_by(columns, square_cost)
  parts$metric <- lapply(columns[[1]], function(x) {
    x <- sort(x)
    n <- length(x)
    apart <- if (n > 1) 2 * sum((2 * seq_len(n) - n - 1) * x) / (n * (n - 1)) else 0
    list(shape = "absolute", costs = numeric(), edges = numeric(), missing = apart)
  })
  parts
}

# Normal changes whose scales are learned from the two files alone.
most_learned <- 3e6

learned_parts <- function(columns) {
  n <- length(columns[[1]][[1]])
  m <- length(columns[[2]][[1]])
  rows <- unique(round(seq(1, m, length.out = max(min(m, most_learned %/% n), 20))))
  if (n < 2) {
    return(NULL)
  }
  scales <- core(
    rs_learn_scales, unname(columns[[1]]), unname(lapply(columns[[2]], `[`, rows)),
    list(scales = rep(0.5, length(columns[[1]])), least = 1e-6, steps = 40L)
  )
  shrunk <- lapply(columns, function(file) Map(function(x, s) x / s / sqrt(2), file, scales))
  parts <- measured_by(shrunk, square_cost)
  parts$metric <- lapply(scales, function(s) square_cost(max(log(sqrt(2) / s), 0)))
  parts
}

# By how often differences of each size occur in records of one person and in any two: the
# logarithm of the quotient, as for levels of agreement. It never rises with the difference.
calibrated_parts <- function(columns, partners) {
  parts <- measured_by(columns, square_cost)
  parts$metric <- unname(Map(function(x, y) level_cost(x, y, partners), columns[[1]], columns[[2]]))
  parts
}

level_cost <- function(x, y, partners) {
  gap <- abs(x[partners] - y)
  gap <- gap[!is.na(gap)]
  n <- length(gap)
  x <- sort(x)
  y <- y[!is.na(y)]
  if (n == 0 || length(x) == 0) {
    return(square_cost())
  }
  n_levels <- min(30, max(1, floor(sqrt(n))))
  positive <- gap[gap > 0]
  edges <- unique(c(0, if (length(positive)) {
    stats::quantile(positive, seq_len(n_levels) / n_levels, type = 1, names = FALSE)
  }))
  y <- y[unique(round(seq(1, length(y), length.out = min(length(y), 2000))))]
  below <- vapply(edges, function(edge) {
    sum(as.double(findInterval(y + edge, x) - findInterval(y - edge, x, left.open = TRUE)))
  }, 0)
  all <- as.double(length(x)) * length(y)
  m <- diff(c(0, vapply(edges, function(edge) sum(gap <= edge), 0), n)) + 0.5
  u <- pmax(diff(c(0, below, all)), 0) + 0.5
  # Neighbouring levels are joined until the evidence falls.
  at <- 1
  while (at < length(m)) {
    if (m[at] / u[at] <= m[at + 1] / u[at + 1]) {
      m[at] <- m[at] + m[at + 1]
      u[at] <- u[at] + u[at + 1]
      m <- m[-(at + 1)]
      u <- u[-(at + 1)]
      edges <- edges[-at]
      at <- max(at - 1, 1)
    } else {
      at <- at + 1
    }
  }
  evidence <- log(m / sum(m)) - log(u / sum(u))
  list(
    shape = "steps", edges = edges, costs = evidence[[1]] - evidence,
    missing = max(evidence[[1]], 0)
  )
}

# Cost of two different categories: with standardised numbers as much on average as these, in
# Gower's distance 1, with evidence the logarithm of their evidence.
category_cost <- function(x, y, metric, partners) {
  levels <- max(x, y, 1, na.rm = TRUE)
  share <- function(v) tabulate(v, levels) / max(sum(!is.na(v)), 1)
  u <- min(max(sum(share(x) * share(y)), 1e-12), 1 - 1e-12)
  agree <- x[partners] == y
  known <- sum(!is.na(agree))
  m <- if (startsWith(metric, "calibrated") && known > 0) {
    (sum(agree, na.rm = TRUE) + 0.5) / (known + 1)
  } else {
    0.95
  }
  evidence <- c(log(m / u), log((1 - m) / (1 - u)))
  of <- switch(metric,
    gower = c(1, 1 - u), learned = , calibrated = , calibrated_rank = {
      pmax(c(evidence[[1]] - evidence[[2]], evidence[[1]]), 0)
    },
    c(2 / (1 - u), 2)
  )
  list(shape = "differ", costs = of[[1]], edges = numeric(), missing = of[[2]])
}
