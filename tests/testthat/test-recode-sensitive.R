# Recodings in which no cell tells a sensitive value, by trying all of them.

skip_on_cran()

ill <- function(n = 120) {
  set.seed(9)
  data.frame(
    age = sample(20:49, n, TRUE), region = sample(sprintf("%02d", 11:34), n, TRUE),
    sex = sample(c("m", "f"), n, TRUE),
    disease = sample(c("flu", "cold", "hiv", "none"), n, TRUE, c(4, 3, 1, 6))
  )
}
levels_of_ill <- function(data) {
  list(
    age = hierarchy(data$age, widths = c(5, 15)), region = hierarchy(data$region, digits = 1),
    sex = hierarchy(data$sex)
  )
}

# Every recoding with its cost and the least diverse cell.
all_recodings <- function(data) {
  keys <- c("age", "region", "sex")
  hierarchies <- levels_of_ill(data)
  nodes <- expand.grid(lapply(hierarchies, function(h) seq_along(h) - 1L))
  rows <- lapply(seq_len(nrow(nodes)), function(i) {
    keep <- as.list(nodes[i, ])
    x <- recode_search(data, keys, hierarchies, constraint = list(k = 1), keep = keep, n_best = 1)
    slow <- slow_attribute(apply_recoding(x, data), keys, "disease", "category")
    cells <- do.call(paste, apply_recoding(x, data)[keys])
    recursive <- function(l) max(tapply(data$disease, cells, slow_recursive, l))
    data.frame(
      cost = x$best$cost, l = slow$l_distinct, t = slow$t, k = min(table(cells)),
      c2 = recursive(2), c3 = recursive(3)
    )
  })
  do.call(rbind, rows)
}

test_that("l and t are kept by the cheapest recoding of all", {
  data <- ill()
  keys <- c("age", "region", "sex")
  nodes <- quietly(all_recodings(data))
  search <- function(...) {
    quietly(recode_search(
      data, keys, levels_of_ill(data), constraint = list(...), sensitive = "disease"
    ))
  }
  for (l in 2:4) {
    x <- search(k = 2, l = l)
    expect_equal(x$best$cost[[1]], min(nodes$cost[nodes$l >= l & nodes$k >= 2]), info = l)
    expect_true(all(x$best$l >= l))
    expect_true(x$estimates$proven)
    own <- attribute_risk(apply_recoding(x, data), keys, "disease", missing = "category")
    expect_gte(own$estimates$value[own$estimates$measure == "l_distinct"], l)
  }
  for (t in c(0.5, 0.3)) {
    x <- search(t = t)
    expect_equal(x$best$cost[[1]], min(nodes$cost[nodes$t <= t + 1e-12]), info = t)
    expect_equal(x$best$risk, x$best$t)
  }
  for (limit in list(c(l = 2, c = 1.5), c(l = 3, c = 3))) {
    x <- search(l = limit[["l"]], c = limit[["c"]])
    ratio <- nodes[[paste0("c", limit[["l"]])]]
    within <- ratio < limit[["c"]]
    expect_equal(x$best$cost[[1]], min(nodes$cost[within]), info = limit)
    expect_equal(x$best$c[[1]], ratio[within][which.min(nodes$cost[within])], info = limit)
    expect_lt(max(x$best$c), limit[["c"]])
  }
  expect_match(paste(format(x), collapse = " "), "recursive (3, 3)-diversity", fixed = TRUE)
  only <- search(l = 3)
  expect_equal(only$best$risk, 1 / only$best$l)
  expect_match(paste(format(only), collapse = " "), "3 sensitive values +in every class")
})

test_that("single values are suppressed until c holds", {
  data <- ill(60)
  keys <- c("age", "region", "sex")
  x <- quietly(recode_search(
    data, keys, levels_of_ill(data), constraint = list(k = 2, l = 2, c = 4), sensitive = "disease",
    suppress = 0.1, blanks = "cells", n_best = 1
  ))
  done <- quietly(apply_recoding(x, data))
  fits <- slow_agree(done, done, keys)
  expect_equal(
    x$best$c, max(apply(fits, 1, function(m) slow_recursive(done$disease[m], 2))),
    tolerance = 1e-12
  )
  expect_lt(x$best$c, 4)
})

test_that("a search by cells keeps limits that suppression alone would break", {
  set.seed(4)
  data <- data.frame(
    age = sample(20:49, 400, TRUE), region = sample(sprintf("%02d", 11:34), 400, TRUE),
    sex = sample(c("m", "f"), 400, TRUE), disease = sample(c("no", "yes"), 400, TRUE, c(9, 1))
  )
  keys <- c("age", "region", "sex")
  search <- function(limit, ...) {
    quietly(recode_search(
      data, keys, levels_of_ill(data), constraint = limit, sensitive = "disease", ...
    ))
  }
  limit <- list(k = 2, l = 2)
  whole <- search(limit)
  cells <- search(limit, blanks = "cells", suppress = 0.1, n_best = 1)
  expect_lt(cells$estimates$cost, whole$estimates$cost)
  done <- quietly(apply_recoding(cells, data))
  # The originals that match a released record, by suppress_cells()'s own limit.
  recoded <- quietly(apply_recoding(cells, data, blanks = FALSE))
  known <- quietly(suppress_cells(recoded, keys, k = 2, l = 2, sensitive = "disease"))
  expect_identical(cells$best$n_suppressed, known$estimates$n_suppressed + 0)
  expect_identical(as.data.frame(done)[keys], as.data.frame(known$data)[keys])
  # No value may be lost: what keeps the limit by itself is found.
  none <- search(limit, blanks = "cells", suppress = 0, n_best = 1)
  expect_equal(none$estimates$cost, whole$estimates$cost)
})

test_that("with single values suppressed l holds within strata", {
  data <- ill(240)
  data$part <- rep(c("n", "s", "w"), 80)
  file <- sdc_file(data, c("age", "region", "sex"), strata_var = "part", sensitive = "disease")
  found <- quietly(recode_search(
    file, hierarchies = levels_of_ill(data), constraint = list(k = 3, l = 2), suppress = 0.5,
    blanks = "cells", n_best = 1
  ))
  recoded <- quietly(apply_recoding(found))
  within <- n_matches(
    as.data.frame(recoded), c("age", "region", "sex", "part"), sensitive = "disease",
    missing = "wildcard"
  )
  expect_gte(within$estimates$l_distinct, 2L)
  expect_gte(min(within$records$n_matches), 3L)
  expect_identical(found$best$l, as.double(within$estimates$l_distinct))
})

test_that("what is out of reach or not said is an error", {
  data <- ill()
  keys <- c("age", "region", "sex")
  expect_error(
    recode_search(data, keys, levels_of_ill(data), constraint = list(l = 2)),
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    recode_search(data, keys, levels_of_ill(data), constraint = list(l = 9), sensitive = "disease"),
    class = "sdcRisk_error_unprotectable"
  )
  expect_error(
    recode_search(data, keys, levels_of_ill(data), constraint = list(c = 2), sensitive = "disease"),
    "`constraint$c` must come with `l`", fixed = TRUE, class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    recode_search(
      data, keys, levels_of_ill(data), constraint = list(l = 2, c = 0.1), sensitive = "disease"
    ),
    paste0("l 4 (limit 2); c ", signif(slow_recursive(data$disease, 2), 3), " (limit 0.1)"),
    fixed = TRUE, class = "sdcRisk_error_unprotectable"
  )
})
