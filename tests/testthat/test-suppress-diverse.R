# Suppression with limits on sensitive values, against all subsets of every record.

skip_on_cran()

patients <- function(n = 40, seed = 2) {
  set.seed(seed)
  data.frame(
    age = sample(1:5, n, TRUE), region = sample(c("a", "b", "c", NA), n, TRUE, c(4, 4, 2, 1)),
    sex = sample(c("m", "f"), n, TRUE),
    disease = sample(c("flu", "cold", "hiv"), n, TRUE, c(5, 3, 1))
  )
}
patient_keys <- c("age", "region", "sex")

# The least cost of the blanks after which enough diverse originals fit a record.
slow_diverse_cost <- function(data, k, l, t, importance = c(age = 1, region = 1, sex = 1),
                              c = Inf) {
  q <- table(data$disease) / nrow(data)
  sets <- c(list(character()), unlist(lapply(1:3, function(n) {
    utils::combn(patient_keys, n, simplify = FALSE)
  }), recursive = FALSE))
  vapply(seq_len(nrow(data)), function(i) {
    costs <- vapply(sets, function(set) {
      left <- setdiff(patient_keys, set)
      fits <- if (length(left)) {
        as.vector(slow_agree(data[i, , drop = FALSE], data, left))
      } else {
        rep(TRUE, nrow(data))
      }
      p <- table(factor(data$disease[fits], names(q))) / sum(fits)
      good <- sum(fits) >= k && sum(p > 0) >= l && sum(abs(p - q)) / 2 <= t + 1e-9 &&
        (is.infinite(c) || slow_recursive(data$disease[fits], l) < c)
      known <- set[!is.na(unlist(data[i, set]))]
      if (good) sum(importance[known]) else Inf
    }, 0)
    min(costs)
  }, 0)
}

test_that("every record loses the least that serves k, l and t", {
  for (seed in 1:4) {
    data <- patients(seed = seed)
    for (limit in list(list(k = 3, l = 2), list(k = 2, l = 3), list(k = 2, t = 0.35))) {
      x <- quietly(do.call(suppress_cells, c(
        list(data, patient_keys, sensitive = "disease"), limit
      )))
      slow <- slow_diverse_cost(
        data, limit$k, if (is.null(limit$l)) 1 else limit$l, if (is.null(limit$t)) 1 else limit$t
      )
      info <- paste(seed, paste(names(limit), limit, collapse = " "))
      expect_equal(x$records$n_suppressed, slow, info = info)
      expect_identical(x$estimates$gap, 0)
      released <- attribute_risk(x$data, patient_keys, "disease")
      measure <- function(name) released$estimates$value[released$estimates$measure == name]
      if (!is.null(limit$l)) expect_gte(measure("l_distinct"), limit$l)
      expect_gte(min(n_matches(x$data, patient_keys)$records$n_matches), limit$k)
      expect_identical(x$data$disease, data$disease)
    }
  }
})

test_that("released records that keep no limit among themselves are counted", {
  data <- patients(200)
  x <- quietly(suppress_cells(data, patient_keys, k = 3, l = 2, c = 3, sensitive = "disease"))
  released <- as.data.frame(x$data)
  kept <- vapply(seq_len(nrow(data)), function(i) {
    fits <- as.vector(slow_agree(released[i, , drop = FALSE], released, patient_keys))
    slow_recursive(released$disease[fits], 2) < 3
  }, NA)
  expect_gt(sum(!kept), 5)
  expect_identical(x$diagnostics$n_beyond, sum(!kept))
  expect_message(
    suppress_cells(data, patient_keys, k = 3, l = 2, c = 3, sensitive = "disease"),
    paste(sum(!kept), "do not keep the limits on \"disease\""), fixed = TRUE
  )
  expect_output(print(x), "Of the released records", fixed = TRUE)
  # A report for others says so, too, but not of how many.
  expect_match(
    unname(measures(x)$note[measures(x)$measure == "n_violations_after"]),
    "suppressed; not all released records keep the limits on \"disease\"", fixed = TRUE
  )
  x <- quietly(suppress_cells(data, patient_keys, k = 3, l = 2, sensitive = "disease"))
  expect_identical(x$diagnostics$n_beyond, 0L)
})

test_that("strata are suppressed as if each were a file", {
  data <- patients(200)
  data$part <- rep(c("n", "s", NA, "w"), 50)
  for (limit in list(list(l = 2), list(l = 2, c = 3), list(l = 3))) {
    ask <- function(data, ...) {
      quietly(do.call(suppress_cells, c(
        list(data, patient_keys, k = 3, sensitive = "disease", ...), limit
      )))
    }
    x <- ask(data, strata_var = "part")
    alone <- numeric(200)
    matches <- alone
    for (part in unique(data$part)) {
      at <- which(data$part %in% part)
      of_part <- ask(data[at, names(data) != "part"])
      alone[at] <- of_part$records$n_suppressed
      matches[at] <- of_part$records$n_matches
    }
    expect_equal(x$records$n_suppressed, alone)
    expect_equal(x$records$n_matches, matches)
    expect_identical(x$data$part, data$part)
  }
})

test_that("recursive (c, l)-diversity is kept with the least loss", {
  for (seed in 1:3) {
    data <- patients(seed = seed)
    for (l in 1:3) {
      # All records together keep it.
      c <- round(1.2 * slow_recursive(data$disease, l), 2)
      x <- quietly(suppress_cells(data, patient_keys, k = 2, l = l, c = c, sensitive = "disease"))
      slow <- slow_diverse_cost(data, 2, l, 1, c = c)
      expect_equal(x$records$n_suppressed, slow, info = paste(seed, l, c))
      fits <- slow_agree(x$data, data, patient_keys)
      expect_lt(max(apply(fits, 1, function(m) slow_recursive(data$disease[m], l))), c)
    }
    expect_match(paste(format(x), collapse = " "), paste0("l = 3; c = +", c, " of"))
  }
})

test_that("the limit on c is strict, holds for each variable, and ignores missing values", {
  # Six against two: 3 is not below 3.
  data <- data.frame(
    region = rep(1:2, c(9, 8)),
    illness = c(rep(c("flu", "cold"), c(6, 2)), NA, rep(c("flu", "cold"), 4)),
    income = rep(1:2, length.out = 17)
  )
  lost <- function(c, sensitive) {
    x <- quietly(suppress_cells(data, "region", k = 2, l = 2, c = c, sensitive = sensitive))
    x$records$n_suppressed
  }
  expect_equal(lost(3, "illness"), rep(1:0, c(9, 8)))
  expect_equal(lost(3.01, "illness"), rep(0, 17))
  expect_equal(lost(3, c("income", "illness")), rep(1:0, c(9, 8)))
  expect_equal(lost(3, "income"), rep(0, 17))
})

test_that("c of classes is that of the matches of each record", {
  for (i in 1:20) {
    data <- data.frame(
      a = sample(c("x", "y", NA), 50, TRUE), b = sample(3, 50, TRUE),
      s = sample(c("p", "q", "r", NA), 50, TRUE), u = sample(2, 50, TRUE)
    )
    if (i > 10) data$a[is.na(data$a)] <- "x"
    for (l in 1:3) for (missing in c("wildcard", "category")) {
      expected <- vapply(seq_len(50), function(j) {
        same <- data$a == data$a[[j]]
        open <- if (missing == "wildcard") is.na(same) else is.na(data$a) == is.na(data$a[[j]])
        fits <- (same %in% TRUE | is.na(same) & open) & data$b == data$b[[j]]
        max(vapply(data[fits, c("s", "u")], function(x) {
          if (all(is.na(x))) NA else slow_recursive(x[!is.na(x)], l)
        }, 0), na.rm = TRUE)
      }, 0)
      found <- recursive_ratio(data, c("a", "b"), list(sensitive = c("s", "u"), l = l), missing)
      expect_equal(found, expected)
    }
  }
})

test_that("importance decides what goes, and special uniques can give it", {
  data <- patients()
  cost <- c(age = 3, region = 1, sex = 2)
  x <- quietly(suppress_cells(
    data, patient_keys, k = 3, l = 2, sensitive = "disease", importance = cost
  ))
  expect_equal(x$estimates$cost, sum(slow_diverse_cost(data, 3, 2, 1, cost)))
  special <- special_uniques(data, patient_keys)
  y <- quietly(suppress_cells(data, patient_keys, importance = special))
  share <- special$variables$contribution
  expect_equal(y$variables$importance, pmin(max(share) / share, 10))
  by_hand <- quietly(suppress_cells(data, patient_keys, importance = stats::setNames(
    pmin(max(share) / share, 10), patient_keys
  )))
  expect_identical(y$cells, by_hand$cells)
})

test_that("what l and t do not go with is an error", {
  data <- patients()
  ask <- function(...) suppress_cells(data, patient_keys, l = 2, ...)
  bad <- "sdcRisk_error_bad_argument"
  expect_error(ask(), class = bad)
  expect_error(ask(sensitive = "disease", c = 0), class = bad)
  expect_error(
    suppress_cells(data, patient_keys, c = 2, sensitive = "disease"), "`c` must come with `l`",
    class = bad
  )
  expect_error(ask(sensitive = "disease", rule = "strict"), class = bad)
  expect_error(ask(sensitive = "disease", hh_id = "age"), class = bad)
  out_of_reach <- function(...) {
    conditionMessage(expect_error(
      quietly(suppress_cells(data, patient_keys, l = 4, sensitive = "disease", ...)),
      class = "sdcRisk_error_unprotectable"
    ))
  }
  expect_false(grepl("importances", out_of_reach()))
  expect_match(out_of_reach(importance = c(age = Inf)), "or finite importances")
})
