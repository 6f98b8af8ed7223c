skip_on_cran()

nals_tables <- function(...) {
  data <- nals_prison
  # The manual of SDCNway treats code 5 as missing.
  data$BIE0601[data$BIE0601 == 5] <- NA
  variables <- c(
    "BIB1201", "BIC0501", "BID0101", "BIE0601", "BORNUSA", "CENREG", "DAGE3", "DRACE3",
    "EDUC3", "GENDER"
  )
  exhaustive_tabulation(data, variables, ..., weight_var = "WEIGHT")
}

test_that("the published tabulation of nals_prison holds", {
  # SDCNway user's manual and help of sdc_extabs(): ten variables, two- and
  # three-way tables, fewer than 3 records or weights below 3,000.
  found <- nals_tables(dims = 2:3, weight_threshold = 3000)
  n <- found$records$n_violations
  expect_identical(unname(quantile(n)), c(0, 1, 6, 16, 74))
  expect_identical(sum(n), 2055L)
  expect_equal(mean(n), 11.29, tolerance = 0.005 / 11.29)
  expect_equal(found$estimates$violations_sum, 2055)
  expect_equal(found$estimates$violations_max, 74)
  pct <- function(dim, variable, category) {
    cells <- found$cells
    cells$pct_cells[cells$dim == dim & cells$variable == variable & cells$category == category]
  }
  expect_equal(pct(2, "DAGE3", "3"), 77.27, tolerance = 0.005 / 77.27)
  expect_equal(pct(3, "DAGE3", "3"), 92.70, tolerance = 0.005 / 92.70)
  expect_equal(pct(2, "GENDER", "2"), 47.83, tolerance = 0.005 / 47.83)
  expect_equal(pct(3, "GENDER", "2"), 84.32, tolerance = 0.005 / 84.32)
  expect_identical(found$cells$category[[1]], "3")
  expect_identical(nrow(found$tables), 165L)
})

test_that("tables equal slow counting, whatever the settings", {
  for (seed in seeds(25)) {
    set.seed(seed)
    v <- sample(2:5, 1)
    data <- random_file(
      sample(1:40, 1), levels = sample(1:4, v, TRUE), missing_rate = sample(c(0, 0.2), 1),
      seed = seed,
      types = sample(c("factor", "ordered", "character", "integer", "logical", "Date"), v, TRUE)
    )
    keys <- names(data)
    data$w <- round(runif(nrow(data), 0.5, 4), 1)
    dims <- sort(sample(seq_len(min(v, 4)), sample(seq_len(min(v, 4)), 1)))
    both <- sample(1:3, 1)
    threshold <- if (both != 2) sample(1:4, 1)
    weight_threshold <- if (both != 1) runif(1, 1, 10)
    combine <- sample(c("or", "and"), 1)
    missing <- sample(c("exclude", "category"), 1)
    found <- exhaustive_tabulation(
      data, keys, dims, threshold, weight_threshold, combine, "w", missing
    )
    slow <- slow_tabulation(
      data[keys], dims, threshold, weight_threshold, combine, data$w, missing
    )
    expect_equal(found$records$n_violations, slow$violations)
    at <- match(slow$tables$key_set, found$tables$key_set)
    expect_equal(
      found$tables[at, names(slow$tables)], slow$tables, ignore_attr = TRUE
    )
    label <- ifelse(is.na(found$cells$category), "(missing)", found$cells$category)
    for (row in seq_len(nrow(found$cells))) {
      mine <- found$cells[row, ]
      its <- slow$cells$bad[
        slow$cells$dim == mine$dim & slow$cells$variable == mine$variable &
          slow$cells$category == label[[row]]
      ]
      expect_equal(c(mine$n_cells, mine$n_violations), c(length(its), sum(its)))
      expect_equal(mine$pct_cells, if (length(its)) 100 * mean(its) else NA_real_)
    }
    for (row in seq_len(nrow(found$categories))) {
      mine <- found$categories[row, ]
      values <- as.character(data[[mine$variable]])
      its <- if (is.na(mine$category)) is.na(values) else values %in% mine$category
      expect_equal(mine$n_records, sum(its))
      expect_equal(mine$pct_records, 100 * mean(slow$violations[its] > 0))
      expect_equal(mine$mean_violations, mean(slow$violations[its]))
    }
    complete <- rowSums(!is.na(data[keys]))
    if (missing == "category") complete <- rep(v, nrow(data))
    n_tables <- vapply(complete, function(c) sum(choose(c, dims)), 0)
    expect_equal(found$records$n_tables, n_tables)
  }
})

test_that("repeated records give what one table of them gives", {
  data <- random_file(60, levels = c(2, 3, 4), seed = 3)
  often <- data[rep(seq_len(60), 200), ]
  found <- exhaustive_tabulation(often, names(often), 1:3, threshold = 300)
  slow <- slow_tabulation(data, 1:3, threshold = 1.5)
  expect_equal(found$records$n_violations, rep(slow$violations, 200))
})

test_that("a violation stays one in finer tables", {
  two <- nals_tables(dims = 2)$records$n_violations
  three <- nals_tables(dims = 3)$records$n_violations
  expect_true(all(three[two > 0] > 0))
})

test_that("permuting records or relabelling values changes nothing", {
  data <- random_file(50, levels = c(3, 4, 2, 5), missing_rate = 0.1, seed = 8)
  found <- exhaustive_tabulation(data, names(data), 1:3)
  order <- sample(50)
  again <- exhaustive_tabulation(data[order, ], names(data), 1:3)
  expect_identical(again$records, found$records[order, ], ignore_attr = TRUE)
  expect_identical(again$tables, found$tables)
  relabelled <- as.data.frame(lapply(data, function(x) {
    factor(x, labels = rev(letters[seq_along(unique(stats::na.omit(x)))]))
  }))
  expect_identical(
    exhaustive_tabulation(relabelled, names(data), 1:3)$records, found$records
  )
})

test_that("threads change nothing", {
  before <- options(sdcRisk.threads = 1)
  on.exit(options(before))
  one <- exhaustive_tabulation(adult[1:3000, ], dims = 1:3, key_vars = NULL)
  options(sdcRisk.threads = 4)
  four <- exhaustive_tabulation(adult[1:3000, ], dims = 1:3, key_vars = NULL)
  expect_identical(one, four)
})

test_that("all kinds of columns have categories with names", {
  data <- data.frame(
    f = factor(c("x", "y", "x")), t = c("a", "b", "a"), d = c(0.5, 1e5, 0.5),
    l = c(TRUE, FALSE, TRUE), day = as.Date("2020-01-01") + c(0, 1, 0)
  )
  found <- exhaustive_tabulation(data, NULL, 1, threshold = 2)
  expect_setequal(
    found$cells$category[found$cells$pct_cells == 100],
    c("y", "b", "100000", "FALSE", "2020-01-02")
  )
})

test_that("hard files have right answers", {
  same <- data.frame(a = rep(1, 10), b = rep("x", 10))
  found <- exhaustive_tabulation(same, c("a", "b"))
  expect_identical(found$records$n_violations, rep(0L, 10))
  expect_false(any(grepl("most small cells", lines_of(found))))
  expect_lte(length(format(found)), 16)
  one <- exhaustive_tabulation(data.frame(a = 1), "a")
  expect_identical(one$settings$dims, 1L)
  expect_identical(one$records$n_violations, 1L)
  # A variable that is missing wherever the other is not has no two-way cell.
  apart <- data.frame(a = c(1, NA, 1, NA), b = c(NA, 2, NA, 2))
  found <- exhaustive_tabulation(apart, NULL, 2)
  expect_identical(found$records$n_violations, rep(0L, 4))
  expect_identical(found$records$n_tables, rep(0L, 4))
  expect_true(all(is.na(found$cells$pct_cells)))
  expect_identical(found$estimates$n_cells, 0)
  expect_output(print(found), "Small cells +0")
  empty <- data.frame(a = c(NA, NA), b = 1:2)
  found <- exhaustive_tabulation(empty, NULL, 1:2)
  expect_identical(found$records$n_violations, c(1L, 1L))
  found <- exhaustive_tabulation(empty, NULL, 1:2, missing = "category")
  expect_identical(found$records$n_violations, c(3L, 3L))
})

test_that("mistakes are refused with the argument's name", {
  data <- data.frame(a = 1:3, b = 1:3, w = c(1, 2, 3))
  bad <- function(..., kind = "bad_argument") {
    expect_error(
      exhaustive_tabulation(data, c("a", "b"), ...), class = paste0("sdcRisk_error_", kind)
    )
  }
  for (dims in list(0, 3, 1.5, c(1, 1), "two", NULL, NA)) bad(dims)
  for (threshold in list(0, -1, 1.5, "3", c(1, 2), NA, Inf)) bad(threshold = threshold)
  for (weight in list(0, -1, "3", c(1, 2), NA, Inf)) {
    bad(weight_threshold = weight, weight_var = "w")
  }
  bad(threshold = NULL)
  bad(weight_threshold = 3)
  bad(combine = "xor")
  bad(missing = "wildcard")
  bad(missing = "drop")
  bad(weight_var = "v", kind = "unknown_key_var")
  bad(max_tables = 2, kind = "too_large")
  bad(max_tables = 0)
  bad(treshold = 3)
  bad(weight_var = "a")
  data$w[[2]] <- NA
  bad(weight_var = "w", kind = "bad_weights")
  expect_error(exhaustive_tabulation(1:3, "a"), class = "sdcRisk_error_bad_data")
  expect_error(exhaustive_tabulation(data[0, ], "a"), class = "sdcRisk_error_bad_data")
  expect_error(exhaustive_tabulation(data, "z"), class = "sdcRisk_error_unknown_key_var")
})

test_that("the verbs of results work", {
  found <- nals_tables(dims = 2:3, weight_threshold = 3000)
  expect_s3_class(found, c("sdc_exhaustive_tabulation", "sdc_result"), exact = TRUE)
  expect_lte(length(format(found)), 16)
  expect_identical(as.data.frame(found), found$records)
  expect_identical(tidy(found)$estimate[tidy(found)$term == "violations_sum"], 2055)
  expect_identical(glance(found)$n_tables, 165L)
  data <- nals_prison
  data$BIE0601[data$BIE0601 == 5] <- NA
  expect_identical(augment(found, data)$.n_violations, found$records$n_violations)
  expect_error(augment(found, nals_prison), class = "sdcRisk_error_mismatched_data")
  strata <- summary(found, by = "GENDER", data = data)$violations_by_strata
  expect_identical(strata$n, c(168L, 14L))
  expect_match(interpret(found), "37.4% of the 2,348 cells hold")
  both <- compare_risk(found, nals_tables(dims = 2:3, weight_threshold = 3000))
  expect_true(all(both$table$change == 0))
})

test_that("pictures show the numbers of the tables", {
  skip_if_not_installed("ggplot2")
  found <- nals_tables(dims = 2:3)
  shown <- ggplot2::layer_data(ggplot2::autoplot(found, "categories", n = 5), 2)
  expect_identical(nrow(shown), 10L)
  expect_true(all(shown$x %in% found$cells$pct_cells))
  bars <- ggplot2::layer_data(ggplot2::autoplot(found, "records"), 1)
  expect_equal(sum(bars$count), 182)
  boxes <- ggplot2::layer_data(
    ggplot2::autoplot(found, "strata", by = nals_prison$GENDER), 1
  )
  expect_equal(boxes$xmiddle, rev(as.vector(tapply(
    found$records$n_violations, nals_prison$GENDER, median
  ))))
  expect_error(ggplot2::autoplot(found, "strata"), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(found, "cells"), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(found, nn = 3), class = "sdcRisk_error_bad_argument")
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(
    exhaustive_tabulation(data.frame(a = 1), "a"), "records"
  )))
})

test_that("categories that one person may hold are not named", {
  data <- data.frame(
    income = c(1234567, 7654321, rep(c(10, 20, 30), 20)), sex = rep(c("f", "m"), 31)
  )
  found <- exhaustive_tabulation(data, c("income", "sex"))
  shown <- c(
    lines_of(found), format(summary(found)), interpret(found),
    utils::capture.output(print(found), print(summary(found)))
  )
  expect_false(any(grepl("1234567|7654321|1.235e|7.654e", shown)))
  expect_match(
    lines_of(found), "Not named, held by fewer than 3 records each: 2 of income.", fixed = TRUE,
    all = FALSE
  )
  # The tables of the result keep them.
  expect_true("1234567" %in% found$cells$category)
  expect_true("7654321" %in% found$categories$category)
  # A category of exactly `threshold` records is named.
  data$income[3:4] <- 1234567
  found <- exhaustive_tabulation(data, c("income", "sex"))
  expect_match(lines_of(found), "1234567", all = FALSE)
  expect_false(any(grepl("7654321", lines_of(found))))
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::autoplot(found)$data$name
  expect_true(any(grepl("1234567", drawn)))
  expect_false(any(grepl("7654321", drawn)))
  alone <- quietly(exhaustive_tabulation(data.frame(a = 1:30, b = 1:30), c("a", "b")))
  expect_error(ggplot2::autoplot(alone), class = "sdcRisk_error_bad_argument")
  expect_match(lines_of(alone), "30 of a, 30 of b", all = FALSE)
})

test_that("shares are of the records that are in a table", {
  set.seed(3)
  data <- random_file(60, levels = c(4, 5, 6), missing_rate = 0.5, seed = 3)
  for (dims in list(1, 2, 3, 1:2)) {
    e <- exhaustive_tabulation(data, NULL, dims)$estimates
    slow <- slow_tabulation(data, dims, 3)
    # A record with as many known values is in a table.
    seen <- rowSums(!is.na(data)) >= min(dims)
    expect_equal(e$n_in_tables, sum(seen))
    expect_equal(e$prop_records, sum(slow$violations > 0) / sum(seen))
    expect_equal(e$violations_mean, sum(slow$violations) / sum(seen))
    expect_equal(e$violations_median, stats::quantile(
      slow$violations[seen], 0.5, names = FALSE, type = 8
    ))
  }
  # Of the print, too.
  found <- exhaustive_tabulation(data, NULL, 3)
  e <- found$estimates
  share <- format(signif(100 * e$n_records_violating / e$n_in_tables, 3))
  words <- paste0(" ", e$n_records_violating, " (", share, "%)")
  expect_match(lines_of(found), words, fixed = TRUE, all = FALSE)
})

test_that("a file without a complete value has no cells and says so", {
  data <- data.frame(a = rep(NA, 5), b = rep(NA_character_, 5))
  found <- exhaustive_tabulation(data, c("a", "b"))
  expect_identical(found$estimates$prop_cells, NA_real_)
  expect_identical(found$estimates$prop_records, NA_real_)
  expect_false(any(grepl("most small cells", lines_of(found))))
  expect_match(interpret(found), "all 3 tables .* incomplete in every table")
  expect_match(lines_of(found), "(5 incomplete records, 100%)", fixed = TRUE, all = FALSE)
})

test_that("a threshold of one record does not name one person's value", {
  data <- data.frame(
    income = c(rep(1:3, each = 10), 987654), b = rep(1:2, length.out = 31),
    w = c(rep(30, 30), 2)
  )
  found <- exhaustive_tabulation(
    data, c("income", "b"), threshold = 1, weight_threshold = 20, weight_var = "w"
  )
  expect_equal(found$estimates$n_cell_violations, 2)
  shown <- c(format(found), format(summary(found)))
  expect_no_match(shown, "987654", fixed = TRUE)
  expect_match(
    shown, "Not named, held by fewer than 3 records each: 1 of income.", fixed = TRUE, all = FALSE
  )
  expect_true("987654" %in% found$categories$category)
})
