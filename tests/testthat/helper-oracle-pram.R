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

# All releases of a small file: where every unit goes (a row per release, a
# column per unit), the probability, and what a release shows. `unit` is the unit
# of every record, `own` the columns that are released as they are.
all_releases <- function(x, data, unit, own) {
  keys <- x$settings$key_vars
  unit_cell <- x$records$cell[match(seq_len(max(unit)), unit)]
  moves <- pram_transitions(x, seq_len(nrow(x$cells)))
  moves <- moves[moves$prob > 0, ]
  ways <- lapply(unit_cell, function(cell) moves[moves$from == cell, ])
  pick <- as.matrix(expand.grid(lapply(ways, function(way) seq_len(nrow(way)))))
  to <- prob <- pick
  for (u in seq_along(ways)) {
    to[, u] <- ways[[u]]$to[pick[, u]]
    prob[, u] <- ways[[u]]$prob[pick[, u]]
  }
  list(
    to = to, prob = apply(prob, 1, prod), unit = unit, own = own,
    cell = x$records$cell,
    # The key values that a record of a cell has, and so one that moved there.
    shown = data[match(seq_len(nrow(x$cells)), x$records$cell), keys, drop = FALSE],
    keys = data[keys]
  )
}

as_label <- function(columns) {
  if (length(columns) == 0) return("")
  do.call(paste, c(lapply(columns, function(v) ifelse(is.na(v), "NA", as.character(v)))))
}

# The largest probability, over all targets and all a, that an intruder is right
# who knows some keys and some of the columns released as they are, finds `a`
# records (or households) that agree, and picks one. `right`: the person, or one
# of the person's household.
intruder_worst <- function(all, known_keys, known_own, count = "records", right = "person") {
  shown <- as_label(all$shown[known_keys])
  wanted <- rep_len(as_label(all$keys[known_keys]), length(all$unit))
  own <- rep_len(as_label(all$own[known_own]), length(all$unit))
  if (length(known_keys) == 0) shown <- rep("", nrow(all$shown))
  targets <- which(!duplicated(paste(all$unit, wanted, own)))
  found_label <- matrix(shown[all$to[, all$unit]], nrow(all$to))
  worst <- 0
  for (b in targets) {
    found <- found_label == wanted[[b]] & rep(own == own[[b]], each = nrow(all$to))
    of_home <- found[, all$unit == all$unit[[b]], drop = FALSE]
    if (count == "households") {
      homes <- vapply(seq_len(max(all$unit)), function(u) {
        rowSums(found[, all$unit == u, drop = FALSE]) > 0
      }, logical(nrow(found)))
      s <- rowSums(matrix(homes, nrow(found)))
      hit <- rowSums(of_home) > 0
    } else {
      s <- rowSums(found)
      hit <- if (right == "person") found[, b] else rowSums(of_home)
    }
    for (a in setdiff(unique(s), 0)) {
      same <- s == a
      whole <- sum(all$prob[same])
      if (whole > 1e-13) worst <- max(worst, sum((all$prob * hit)[same]) / whole / a)
    }
  }
  worst
}

# The same for who knows all keys and weighs the counts of all cells.
all_counts_worst <- function(all, cells) {
  counts <- vapply(seq_len(cells), function(j) rowSums(all$to == j), numeric(nrow(all$to)))
  counts <- matrix(counts, ncol = cells)
  release <- apply(counts, 1, paste, collapse = " ")
  whole <- tapply(all$prob, release, sum)
  worst <- 0
  for (u in seq_len(ncol(all$to))) {
    home <- all$cell[match(u, all$unit)]
    there <- tapply(all$prob * (all$to[, u] == home), release, sum)
    s <- counts[match(names(whole), release), home]
    worst <- max(worst, (there / whole / s)[s > 0 & whole > 1e-13])
  }
  worst
}
