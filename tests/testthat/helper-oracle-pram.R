# Slow and obvious versions of invariant PRAM: releases are enumerated.

# P(CM | S_j = a) of every cell (rows) and a (columns), by enumerating all k^n
# releases of one block, destination by destination.
enumerated_match_prob <- function(counts, theta) {
  k <- length(counts)
  from <- rep(seq_len(k), counts)
  n <- length(from)
  to <- as.matrix(expand.grid(rep(list(seq_len(k)), n)))
  prob <- rep(1, nrow(to))
  for (r in seq_len(n)) {
    stay <- 1 - theta / counts[from[r]]
    move <- theta / ((k - 1) * counts[from[r]])
    prob <- prob * ifelse(to[, r] == from[r], stay, move)
  }
  t(vapply(seq_len(k), function(j) {
    s <- rowSums(to == j)
    target <- match(j, from)
    vapply(seq_len(n), function(a) {
      sum(prob[s == a & to[, target] == j]) / sum(prob[s == a]) / a
    }, 0)
  }, numeric(n)))
}

# The table of the probabilities that record r (rows) lands in cell j (columns).
landing_matrix <- function(cells, row_cell, thetas) {
  t(vapply(row_cell, function(i) {
    p <- numeric(nrow(cells))
    block <- cells$block[[i]]
    members <- if (is.na(block)) i else which(cells$block %in% block)
    theta <- if (is.na(block)) 0 else thetas[[block]]
    p[members] <- if (length(members) > 1) {
      theta / cells$count[[i]] / (length(members) - 1)
    } else {
      0
    }
    p[[i]] <- if (length(members) > 1) 1 - theta / cells$count[[i]] else 1
    p
  }, numeric(nrow(cells))))
}

# For groups of cells: the worst P(CM | S = a) over a and the records of the
# group, and mean and variance of the released count; from all 2^n cases of who
# lands in the group.
enumerated_groups <- function(cells, row_cell, thetas, group) {
  landing <- landing_matrix(cells, row_cell, thetas)
  n <- length(row_cell)
  cases <- as.matrix(expand.grid(rep(list(0:1), n)))
  out <- lapply(seq_len(max(group)), function(g) {
    alpha <- rowSums(landing[, group == g, drop = FALSE])
    prob <- apply(cases, 1, function(case) prod(ifelse(case == 1, alpha, 1 - alpha)))
    s <- rowSums(cases)
    worst <- 0
    for (r in which(group[row_cell] == g)) {
      for (a in seq_len(n)) {
        whole <- sum(prob[s == a])
        if (whole > 1e-13) {
          worst <- max(worst, sum(prob[s == a & cases[, r] == 1]) / whole / a)
        }
      }
    }
    data.frame(
      match_prob = worst, mean = sum(prob * s), variance = sum(prob * s^2) - sum(prob * s)^2
    )
  })
  do.call(rbind, out)
}

# All ways to write n as a sum of falling counts.
count_partitions <- function(n, most = n) {
  if (n == 0) {
    return(list(integer()))
  }
  unlist(lapply(seq_len(min(n, most)), function(first) {
    lapply(count_partitions(n - first, first), function(rest) c(first, rest))
  }), recursive = FALSE)
}

# A file with `times` levels, each with cells of these counts.
repeated_levels <- function(counts, times) {
  cell <- rep(seq_along(counts), counts)
  data.frame(
    level = rep(seq_len(times), each = length(cell)),
    key = factor(letters[rep(cell, times)])
  )
}

# Counts of the cells of a file: all columns pasted together.
cell_counts <- function(data) {
  text <- lapply(data, function(x) {
    # A labelled column has no text of its own; its values do.
    if (inherits(x, "haven_labelled")) x <- as.vector(unclass(x))
    ifelse(is.na(x), "NA", as.character(x))
  })
  table(do.call(paste, c(text, sep = "\r")))
}
