# Recodings finished by cells, against all recodings finished one by one.

skip_on_cran()

cells_file <- function(n, seed, missing = 0) {
  set.seed(seed)
  data <- data.frame(
    age = sample(20:39, n, TRUE), region = sample(c("11", "12", "21", "22"), n, TRUE),
    sex = sample(c("m", "f"), n, TRUE, c(0.7, 0.3))
  )
  data[] <- lapply(data, function(x) replace(x, stats::runif(n) < missing, NA))
  data
}
cells_levels <- function(data) {
  list(
    age = hierarchy(data$age, widths = c(5, 10)), region = hierarchy(data$region, digits = 1),
    sex = hierarchy(data$sex)
  )
}

# Bits lost by a recoding, and by the cells that suppress_cells() then blanks.
finished_by_hand <- function(data, levels, node, k, price, home = NULL) {
  recoded <- data
  for (v in names(data)) {
    step <- levels[[v]]$steps[[node[[v]] + 1]]$expr
    if (node[[v]] > 0) recoded[[v]] <- eval(step, list(x = data[[v]]), baseenv())
  }
  rule <- if (anyNA(data)) "strict" else "own"
  recoded$home <- home
  file <- sdc_file(recoded, names(data), hh_id = if (!is.null(home)) "home")
  released <- as.data.frame(quietly(suppress_cells(file, k = k, rule = rule))$data)
  text <- function(x) addNA(factor(as.character(x)))
  n <- nrow(data)
  parts <- lapply(names(data), function(v) {
    own <- tabulate(text(data[[v]]))[text(data[[v]])]
    group <- tabulate(text(recoded[[v]]))[text(recoded[[v]])]
    blank <- is.na(released[[v]]) & !is.na(recoded[[v]])
    c(sum(log2(group / own)) + price * sum(log2(n / group)[blank]), sum(blank))
  })
  c(cost = sum(vapply(parts, `[[`, 0, 1)), n = sum(vapply(parts, `[[`, 0, 2)))
}

test_that("the best with blanks by cells are those of all recodings tried", {
  for (seed in 1:6) {
    data <- cells_file(40, seed, missing = if (seed %% 3 == 0) 0.1 else 0)
    levels <- cells_levels(data)
    k <- 2 + seed %% 2
    price <- c(1, 4)[[1 + seed %% 2]]
    share <- c(0.3, 0.1, 0.05)[[1 + seed %% 3]]
    nodes <- expand.grid(lapply(levels, function(h) seq_along(h$steps) - 1L))
    all <- t(apply(nodes, 1, function(node) {
      finished_by_hand(data, levels, as.list(node), k, price)
    }))
    fits <- all[, "n"] <= floor(share * 120 + 1e-9)
    x <- recode_search(
      data, hierarchies = levels, constraint = list(k = k), suppress = share, blanks = "cells",
      blank_price = price, n_best = 4
    )
    wanted <- utils::head(sort(all[fits, "cost"]), 4)
    expect_equal(x$best$cost, unname(wanted))
    expect_true(x$estimates$proven)
    expect_lte(x$estimates$bound, x$estimates$cost + 1e-9)
    for (i in seq_len(nrow(x$best))) {
      node <- x$best[i, names(data)]
      at <- which(colSums(t(nodes) == unlist(node)) == 3)
      expect_equal(x$best$cost[[i]], all[[at, "cost"]])
      expect_equal(x$best$n_suppressed[[i]], all[[at, "n"]])
      recoded <- expect_no_message(apply_recoding(x, data, i))
      here <- list2env(list(data = data))
      suppressMessages(eval(parse(text = x$code[[i]]), here))
      expect_identical(as.data.frame(recoded), here$data)
      matches <- suppressMessages(n_matches(recoded))$records$n_matches
      expect_gte(min(matches), k)
      expect_equal(x$best$k[[i]], min(matches))
    }
  }
})

test_that("the best for households are those of all recodings tried", {
  for (seed in 7:10) {
    data <- cells_file(60, seed)
    home <- sample(30, 60, TRUE)
    data$region <- data$region[match(home, home)]
    levels <- cells_levels(data)
    nodes <- expand.grid(lapply(levels, function(h) seq_along(h$steps) - 1L))
    all <- t(apply(nodes, 1, function(node) {
      finished_by_hand(data, levels, as.list(node), 3, 1, home)
    }))
    share <- c(0.02, 0.06)[[1 + seed %% 2]]
    x <- quietly(recode_search(
      sdc_file(cbind(data, home), names(data), hh_id = "home"), hierarchies = levels, k = 3,
      suppress = share, blanks = "cells", n_best = 3
    ))
    wanted <- sort(all[all[, "n"] <= floor(share * 180 + 1e-9), "cost"])
    expect_equal(x$best$cost, unname(utils::head(wanted, 3)))
  }
})

test_that("single values are suppressed by the households and strata of the file", {
  set.seed(6)
  of_home <- sample(1:4, 200, TRUE)
  home <- rep(1:200, of_home)
  homes <- data.frame(
    home, region = sample(1:6, 200, TRUE)[home], age = sample(1:8, length(home), TRUE),
    part = sample(1:5, 200, TRUE)[home]
  )
  for (role in c("hh_id", "strata_var")) {
    column <- c(hh_id = "home", strata_var = "part")[[role]]
    file <- do.call(sdc_file, c(list(homes, c("region", "age")), rlang::set_names(column, role)))
    found <- quietly(recode_search(file, k = 3, suppress = 0.4, blanks = "cells", n_best = 2))
    for (i in seq_len(nrow(found$best))) {
      recoded <- as.data.frame(quietly(apply_recoding(found, which = i)))
      # Others, by household or in the stratum, whose known values agree.
      fits <- vapply(seq_along(home), function(r) {
        agree <- rep(TRUE, length(home))
        for (key in c("region", "age")) {
          values <- as.character(recoded[[key]])
          agree <- agree & (is.na(values) | is.na(values[[r]]) | values == values[[r]])
        }
        if (role == "hh_id") {
          length(unique(home[agree]))
        } else {
          sum(agree & homes$part == homes$part[[r]])
        }
      }, 0L)
      expect_gte(min(fits), 3)
      expect_identical(found$best$n_suppressed[[i]], as.double(sum(is.na(recoded[2:3]))))
      here <- list2env(list(data = homes))
      quietly(eval(parse(text = found$code[[i]]), here))
      expect_identical(as.list(here$data)[2:3], as.list(recoded)[2:3])
    }
  }
  expect_error(
    apply_recoding(found, homes[c("region", "age")]), class = "sdcRisk_error_mismatched_data"
  )
})

test_that("a recoding does not rest on few missing values", {
  set.seed(8)
  data <- data.frame(sex = sample(c("f", "m"), 600, TRUE, c(1, 9)), date = sample(500, 600, TRUE))
  data$date[which(data$sex == "m")[1:3]] <- NA
  found <- quietly(recode_search(
    data, c("sex", "date"),
    list(sex = hierarchy(data$sex), date = hierarchy(data$date, widths = c(5, 50))),
    k = 3, suppress = 0.2, blanks = "cells", n_best = 1
  ))
  page <- quietly(file_check(quietly(apply_recoding(found)), k = 3))$estimates
  expect_identical(page$verdict[page$measure == "k"], "ok")
  expect_true(found$best$date != 0)
})

test_that("every limit is judged on the file with its blanks", {
  data <- cells_file(80, 11)
  data$w <- 20
  levels <- cells_levels(data)
  keys <- names(levels)
  x <- recode_search(
    data, keys, levels, constraint = list(k = 2, journalist = 0.1), suppress = 0.2,
    blanks = "cells", weight_var = "w", n_best = 1
  )
  page <- suppressMessages(file_check(apply_recoding(x, data), limit = list(journalist = 0.1)))
  page <- page$estimates[page$estimates$measure == "journalist", ]
  expect_identical(page$verdict, "ok")
  expect_identical(x$best$journalist[[1]], page$value)
  expect_error(
    recode_search(
      data, keys, levels, constraint = list(k = 2, journalist = 1e-9), suppress = 0.2,
      blanks = "cells", weight_var = "w"
    ),
    class = "sdcRisk_error_unprotectable"
  )
})

test_that("a limit that no recoding meets by cells is said with the best reachable", {
  data <- cells_file(12, 1)
  short <- lapply(cells_levels(data), function(h) {
    hierarchy(as.data.frame(h)[1:2], drop = FALSE)
  })
  ask <- function(k, ...) {
    recode_search(data, hierarchies = short, constraint = list(k = k), blanks = "cells", ...)
  }
  error <- expect_error(ask(12), class = "sdcRisk_error_unprotectable")
  expect_match(conditionMessage(error), "Best reachable")
  error <- expect_error(ask(8, suppress = 0.35), class = "sdcRisk_error_unprotectable")
  expect_match(conditionMessage(error), "of the key values suppressed")
  expect_error(ask(1), "`k` of 2 or more")
  expect_error(
    recode_search(
      data, hierarchies = short, constraint = list(prop_unique = 0.1), blanks = "cells"
    ),
    "It has no `k`"
  )
})

test_that("a search by cells says what it found", {
  local_reproducible_output(width = 80)
  data <- cells_file(60, 5)
  x <- recode_search(
    data, hierarchies = cells_levels(data), constraint = list(k = 3), suppress = 0.1,
    blanks = "cells"
  )
  expect_snapshot(x)
  expect_snapshot(interpret(x), transform = no_version)
  expect_lte(length(utils::capture.output(print(x))), 16)
  expect_true(all(diff(x$frontier$cost) > 0) && all(diff(x$frontier$risk) < 0))
  expect_true(all(x$frontier$n_suppressed == 0))
})
