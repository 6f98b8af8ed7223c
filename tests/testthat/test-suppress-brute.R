# Several hundred tiny files under each rule, against what their definitions say,
# record by record, and against all releases there are where these are few.

# Matches of every row of `a` in `b`.
fits <- function(a, b) {
  agree <- lapply(seq_len(ncol(a)), function(v) {
    same <- outer(a[, v], b[, v], `==`)
    is.na(same) | same
  })
  rowSums(Reduce(`&`, agree))
}
equals <- function(a) {
  text <- apply(a, 1, paste, collapse = "|")
  as.vector(table(text)[text])
}
holds <- function(rule, x, y, k) {
  all(switch(rule, own = fits(y, x), shared = fits(y, y), strict = equals(y)) >= k)
}

# The fewest blanks with which a record alone fits k originals.
least_alone <- function(x, i, k) {
  p <- ncol(x)
  best <- Inf
  for (mask in 0:(2^p - 1)) {
    row <- x[i, ]
    blank <- bitwAnd(mask, 2^(seq_len(p) - 1)) > 0
    cost <- sum(blank & !is.na(row))
    row[blank] <- NA
    if (cost < best && fits(t(row), x) >= k) best <- cost
  }
  best
}

# The fewest cells of any release under the rule.
least_release <- function(rule, x, k, alone) {
  cells <- which(!is.na(x))
  best <- Inf
  for (mask in 0:(2^length(cells) - 1)) {
    blank <- cells[bitwAnd(mask, 2^(seq_along(cells) - 1)) > 0]
    if (length(blank) >= best) next
    y <- x
    y[blank] <- NA
    within <- rule != "shared" || all(rowSums(is.na(y) & !is.na(x)) <= alone)
    if (within && holds(rule, x, y, k)) best <- length(blank)
  }
  best
}

test_that("releases of tiny files hold what their rule says, at a cost between its bounds", {
  set.seed(11)
  for (file in 1:70) {
    n <- sample(3:8, 1)
    p <- sample(2:3, 1)
    k <- sample(2:3, 1)
    values <- c(1:3, if (file %% 3 == 0) NA)
    x <- matrix(sample(values, n * p, TRUE), n, dimnames = list(NULL, letters[seq_len(p)]))
    alone <- vapply(seq_len(n), function(i) least_alone(x, i, k), 0)
    for (rule in c("own", "shared", "strict")) {
      found <- suppressMessages(suppress_cells(as.data.frame(x), k = k, rule = rule))
      y <- as.matrix(found$data)
      blank <- is.na(y) & !is.na(x)
      e <- found$estimates
      expect_true(all(y == x, na.rm = TRUE) && all(is.na(y[is.na(x)])))
      expect_true(holds(rule, x, y, k) && all(fits(y, y) >= k))
      expect_equal(c(e$n_suppressed, nrow(found$cells)), rep(sum(blank), 2))
      expect_lte(e$lower_bound, e$cost + 1e-9)
      if (rule == "own") expect_equal(e$cost, sum(alone))
      if (rule == "shared") expect_true(all(rowSums(blank) <= alone))
      if (n * p <= 9 && rule != "own" && file %% 2 == 0) {
        least <- least_release(rule, x, k, alone)
        expect_gte(e$cost, least)
        expect_lte(e$lower_bound, least + 1e-9)
      }
    }
  }
})
