# Several hundred tiny files under each rule, against what their definitions say,
# record by record, and against all releases there are where these are few.

skip_on_cran()

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

test_that("strata, links, importance and households hold in tiny files under every rule", {
  set.seed(12)
  n_tested <- c(own = 0, shared = 0, strict = 0)
  for (file in 1:60) {
    n <- sample(4:8, 1)
    k <- sample(2:3, 1)
    x <- matrix(sample(1:3, n * 3, TRUE), n, dimnames = list(NULL, c("a", "b", "z")))
    if (file %% 4 == 0) x[sample(n, 1), "b"] <- NA
    stratum <- if (file %% 3 == 0) sample(1:2, n, TRUE, c(3, 1)) else rep(1, n)
    household <- if (file %% 5 == 0) sample(1:5, n, TRUE) else seq_len(n)
    data <- data.frame(x, stratum, household)
    never <- file %% 6 == 1
    asked <- list(
      data, list(first = "a", both = c("a", "b")), k,
      linked = if (file %% 2 == 0) list(a = "z"), strata_var = "stratum",
      hh_id = if (file %% 5 == 0) "household", importance = if (never) c(b = Inf)
    )
    # Records of the stratum that agree, by household.
    reach <- function(same) {
      same <- same & outer(stratum, stratum, `==`)
      apply(same, 1, function(row) length(unique(household[row])))
    }
    agree <- function(u, v, wild) {
      Reduce(`&`, lapply(seq_len(ncol(u)), function(j) {
        same <- outer(u[, j], v[, j], `==`)
        both <- outer(is.na(u[, j]), is.na(v[, j]), `&`)
        if (wild) is.na(same) | same else both | (!is.na(same) & same)
      }))
    }
    for (rule in names(n_tested)) {
      found <- tryCatch(
        suppressMessages(do.call(suppress_cells, c(asked, rule = rule))),
        sdcRisk_error_unprotectable = function(e) NULL
      )
      if (is.null(found)) next
      n_tested[[rule]] <- n_tested[[rule]] + 1
      y <- as.matrix(found$data[colnames(x)])
      blank <- is.na(y) & !is.na(x)
      for (set in asked[[2]]) {
        u <- y[, set, drop = FALSE]
        of <- if (rule == "own") x[, set, drop = FALSE] else u
        expect_true(all(reach(agree(u, of, rule != "strict")) >= k))
      }
      expect_true(!never || !any(blank[, "b"]))
      expect_true(file %% 2 > 0 || all(is.na(y[blank[, "a"], "z"])))
      if (file %% 2 > 0) expect_true(!any(blank[, "z"]))
      for (key in c("a", "b")) {
        shared <- all(tapply(x[, key], household, function(v) length(unique(v))) == 1)
        if (file %% 5 == 0 && shared && !anyNA(x[, key])) {
          members <- tapply(blank[, key], household, function(v) length(unique(v)))
          expect_true(all(members == 1))
        }
      }
      expect_lte(found$estimates$lower_bound, found$estimates$cost + 1e-9)
    }
  }
  expect_true(all(n_tested >= 25))
})

test_that("a blank that a linked variable has already costs nothing in the lower bound", {
  data <- data.frame(a = c(1, 1, 1, 2, 3, 3, 3), z = c(1, 2, NA, NA, 5, 6, 7))
  for (k in c(2, 4)) {
    found <- suppressMessages(
      suppress_cells(data, "a", k = k, rule = "strict", linked = list(a = "z"))
    )$estimates
    expect_lte(found$lower_bound, found$cost)
  }
})
