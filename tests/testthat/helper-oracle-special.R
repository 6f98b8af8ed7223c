# Oracles of special uniques: every set of variables of every record, by the definition.

# Logical matrix, records x sets (in the order of combn() by size): unique on the set.
slow_unique_sets <- function(codes, max_size, wild) {
  d <- ncol(codes)
  sets <- unlist(lapply(seq_len(max_size), function(k) {
    utils::combn(d, k, simplify = FALSE)
  }), recursive = FALSE)
  n <- nrow(codes)
  agree <- lapply(seq_len(d), function(v) {
    same <- outer(codes[, v], codes[, v], "==")
    absent <- is.na(codes[, v])
    same[is.na(same)] <- wild
    if (!wild) same[outer(absent, absent, "&")] <- TRUE
    same
  })
  unique <- vapply(sets, function(set) rowSums(Reduce(`&`, agree[set])) == 1, logical(n))
  list(sets = sets, unique = matrix(unique, nrow = n))
}

# The minimal ones among them: the sets, and a logical matrix, records x sets.
slow_minimal <- function(codes, max_size, wild) {
  found <- slow_unique_sets(codes, max_size, wild)
  minimal <- found$unique
  for (s in seq_along(found$sets)) {
    set <- found$sets[[s]]
    inside <- vapply(found$sets, function(t) length(t) < length(set) && all(t %in% set), NA)
    minimal[, s] <- found$unique[, s] & rowSums(found$unique[, inside, drop = FALSE]) == 0
  }
  if (wild) {
    # A record that misses the only variable is alone only in a file of one record.
    single <- which(lengths(found$sets) == 1)
    minimal[, single] <- minimal[, single] & !is.na(codes)
  }
  list(sets = found$sets, minimal = minimal)
}

# Per record and size, the minimal sample uniques that a record of `released` has as well.
slow_replicated <- function(data, released, max_size, missing = "wildcard") {
  codes_of <- function(of) {
    codes <- vapply(names(data), function(v) {
      match(as.character(of[[v]]), unique(c(as.character(data[[v]]), as.character(released[[v]]))))
    }, integer(nrow(of)))
    codes <- matrix(codes, nrow = nrow(of))
    if (missing != "category") codes[is.na(as.matrix(of[names(data)]))] <- NA
    codes
  }
  own <- codes_of(data)
  theirs <- codes_of(released)
  used <- if (missing == "exclude") stats::complete.cases(own) else rep(TRUE, nrow(own))
  if (missing == "exclude") theirs <- theirs[stats::complete.cases(theirs), , drop = FALSE]
  a <- slow_minimal(own[used, , drop = FALSE], max_size, missing == "wildcard")
  b <- slow_minimal(theirs, max_size, missing == "wildcard")
  counts <- matrix(NA_integer_, nrow(data), max_size)
  counts[used, ] <- 0L
  for (s in seq_along(a$sets)) {
    set <- a$sets[[s]]
    for (i in which(a$minimal[, s])) {
      row <- which(used)[i]
      same <- vapply(which(b$minimal[, s]), function(j) {
        identical(own[row, set], theirs[j, set])
      }, NA)
      counts[row, length(set)] <- counts[row, length(set)] + any(same)
    }
  }
  counts
}

# The minimal ones among them, and what they add up to.
slow_special <- function(data, max_size, missing = "wildcard") {
  codes <- vapply(data, function(x) as.integer(factor(x)), integer(nrow(data)))
  codes <- matrix(codes, nrow = nrow(data))
  used <- if (missing == "exclude") stats::complete.cases(codes) else rep(TRUE, nrow(codes))
  wild <- missing == "wildcard"
  d <- ncol(codes)
  found <- slow_minimal(codes[used, , drop = FALSE], max_size, wild)
  minimal <- found$minimal
  sizes <- lengths(found$sets)
  n_msu <- t(apply(minimal, 1, function(m) tabulate(sizes[m], max_size)))
  n_msu <- matrix(n_msu, ncol = max_size)
  last <- min(max_size, d - 1)
  weight <- vapply(seq_len(max_size), function(k) {
    prod(if (k <= last) d - k:last else 1)
  }, 0)
  first <- apply(minimal, 1, function(m) which(m)[1])
  text <- vapply(found$sets, function(set) paste(names(data)[set], collapse = " + "), "")
  total <- minimal %*% weight[sizes]
  by_variable <- vapply(seq_len(d), function(v) {
    sum((minimal %*% (weight[sizes] * vapply(found$sets, function(s) v %in% s, NA))))
  }, 0)
  pairs <- if (d > 1) utils::combn(d, 2, simplify = FALSE)
  by_pair <- vapply(pairs, function(pair) {
    sum(minimal %*% (weight[sizes] * vapply(found$sets, function(s) all(pair %in% s), NA)))
  }, 0)
  spread <- function(x) {
    out <- rep(x[NA_integer_], nrow(data))
    out[used] <- x
    out
  }
  list(
    n_msu = colSums(n_msu), smallest = spread(sizes[first]), variables = spread(text[first]),
    score = spread(as.vector(total)), by_variable = by_variable / max(sum(total), 1e-300),
    by_pair = by_pair / max(sum(total), 1e-300)
  )
}

# DIS and DIS-SUDA by their formulas.
slow_dis <- function(score, u, p, f, d) {
  dis <- u * f / (u * f + 2 * p * (1 - f))
  s <- score[score > 0]
  q <- 1 + (8 - d) / 20
  one <- function(x) {
    if (x == 0) 0 else 1 / (1 + (length(s) / dis - length(s)) / (x^q * sum(1 / s^q)))
  }
  vapply(score, one, 0)
}
