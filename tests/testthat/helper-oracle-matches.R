# Numbers of matches by their definition, one pair of records after the other.

# How well cell `i` of column `x` as a target agrees with cell `j` of column
# `y`: 0 or 1, or, for rule "mean", the share of the target's values.
oracle_agree <- function(x, i, y, j, rule, missing, tolerance) {
  if (is.na(x[i]) || is.na(y[j])) {
    if (missing == "category") {
      return(as.numeric(is.na(x[i]) && is.na(y[j])))
    }
    return(1)
  }
  if (!is.null(tolerance)) {
    return(as.numeric(abs(as.numeric(x[i]) - as.numeric(y[j])) <= tolerance + 1e-9))
  }
  if (!inherits(x, "sdc_candidates") && !inherits(y, "sdc_candidates")) {
    return(as.numeric(as.character(x[i]) == as.character(y[j])))
  }
  cell <- function(z, k) {
    values <- if (inherits(z, "sdc_candidates")) as.list(z)[[k]] else z[[k]]
    if (inherits(x, "sdc_candidate_interval")) seq(values[1], values[length(values)]) else values
  }
  a <- cell(x, i)
  b <- cell(y, j)
  switch(rule,
    first = as.numeric(a[1] %in% b), overlap = as.numeric(any(a %in% b)), mean = mean(a %in% b)
  )
}

# The matrix of targets by records of what each pair counts.
oracle_match_matrix <- function(data, targets = NULL, rule = "first", missing = "wildcard",
                                min_overlap = 0, partial_weight = 1, tolerance = list(),
                                keys = as.list(names(data))) {
  own <- is.null(targets)
  if (own) targets <- data
  known <- function(d, i) vapply(names(data), function(v) !is.na(d[[v]][i]), NA)
  # Cells agree to be the same, blanks and all.
  same <- function(i, j) {
    all(vapply(names(data), function(v) {
      x <- targets[[v]][i]
      y <- data[[v]][j]
      if (is.na(x) || is.na(y)) is.na(x) && is.na(y) else format(x) == format(y)
    }, NA))
  }
  out <- matrix(0, nrow(targets), nrow(data))
  for (i in seq_len(nrow(targets))) {
    for (j in seq_len(nrow(data))) {
      agree <- prod(vapply(names(data), function(v) {
        oracle_agree(targets[[v]], i, data[[v]], j, rule, missing, tolerance[[v]])
      }, 0))
      both <- known(targets, i) & known(data, j)
      if (missing == "category") both[] <- TRUE
      shared <- sum(vapply(keys, function(key) any(both[key]), NA))
      if (shared < min_overlap && !(own && i == j)) agree <- 0
      partial <- missing == "wildcard" && !all(known(data, j)) && !same(i, j)
      out[i, j] <- agree * if (partial) partial_weight else 1
    }
  }
  out
}

# A small file with columns of several types, some of them candidates.
match_file <- function(n, seed, candidates = TRUE) {
  set.seed(seed)
  blank <- function(x, rate = stats::runif(1, 0, 0.6)) {
    x[stats::runif(n) < rate] <- NA
    x
  }
  data <- list(
    a = blank(factor(sample(c("x", "y", "z"), n, TRUE))),
    b = blank(sample(c("\u00e9", "e", "NA"), n, TRUE)),
    c = blank(sample(10L, n, TRUE) * 5L),
    d = blank(sample(c(0.5, 1, 2.25), n, TRUE)),
    e = blank(sample(c(TRUE, FALSE), n, TRUE))
  )
  if (candidates) {
    draw <- function(k) sample(5L, sample(3L, 1))
    data$f <- blank(candidates(lapply(seq_len(n), draw)))
    low <- sample(8L, n, TRUE)
    data$g <- blank(candidate_interval(low, low + sample(0:3, n, TRUE)))
  }
  data <- data[sort(sample(length(data), sample(2:length(data), 1)))]
  as.data.frame(data)
}
