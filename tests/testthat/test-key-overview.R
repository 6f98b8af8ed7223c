# The overview of key variables against base R, and its special cases.

test_that("the overview equals base R on random files", {
  set.seed(7)
  for (round in 1:25) {
    n <- sample(c(2, 5, 30, 200), 1)
    p <- sample(1:5, 1)
    data <- as.data.frame(lapply(seq_len(p), function(v) {
      x <- sample.int(sample(1:6, 1), n, TRUE)
      x[stats::runif(n) < sample(c(0, 0.3), 1)] <- NA
      switch(sample(4, 1), x, factor(x), as.character(x), x / 7)
    }), col.names = paste0("k", seq_len(p)))
    found <- key_overview(data)
    expected <- oracle_key_overview(data)
    expect_equal(as.data.frame(found)[names(expected)], expected, ignore_attr = TRUE)
    expect_identical(found$diagnostics$n_unique, expected_uniques(data))
    together <- found$diagnostics$association
    expect_identical(together, t(together))
    expect_true(all(together >= 0 & together <= 1, na.rm = TRUE))
  }
})

test_that("types are told, and candidates count by their sets", {
  data <- data.frame(
    f = factor(c("a", "b", "a", "b")), t = c("a", "b", "c", NA), i = c(1L, 1L, 2L, NA),
    d = c(1.5, 2, 2, 2), l = c(TRUE, FALSE, NA, NA), day = as.Date("2009-01-01") + c(0, 0, 1, 1),
    time = as.POSIXct("2009-01-01", tz = "UTC") + c(0, 0, 1, 1)
  )
  data$o <- factor(data$f, ordered = TRUE)
  data$lab <- structure(c(1, 2, 9, 9), class = "haven_labelled", na_values = 9)
  data$m <- candidates(list(c(2, 3), c(3, 2), c(2, 3), NA))
  data$iv <- candidate_interval(c(1, 1, 2, 3), c(2, 2, 3, 4))
  found <- key_overview(data)
  expect_identical(found$type, c(
    "factor", "text", "integer", "number", "logical", "date", "time", "ordered", "labelled",
    "candidates", "interval"
  ))
  expect_identical(found$n_levels, c(2L, 3L, 2L, 2L, 2L, 2L, 2L, 2L, 2L, 2L, 3L))
  expect_identical(found$n_missing, c(0L, 1L, 1L, 0L, 2L, 0L, 0L, 0L, 2L, 1L, 0L))
  expect_equal(found$largest_share[10], 2 / 3)
  expect_equal(found$entropy[10], -2 / 3 * log(2 / 3) - 1 / 3 * log(1 / 3))
})

test_that("entropy, share and uniques of a small file are known", {
  data <- data.frame(a = c(1, 1, 2, 2), b = c(1, 2, 1, 2), c = 1)
  found <- key_overview(data)
  expect_equal(found$entropy, c(log(2), log(2), 0))
  expect_equal(found$largest_share, c(0.5, 0.5, 1))
  expect_identical(found$diagnostics$n_unique, 4L)
  expect_identical(found$unique_change, c(-4L, -4L, 0L))
  expect_identical(found$association, c(0, 0, NA))
  expect_identical(found$associated_with, c("b", "a", NA))
  expect_identical(key_overview(data, "a")$unique_change, 0L)
  expect_identical(key_overview(data[1, ], "a")$unique_change, 0L)
})

test_that("a copy is found, an independent key with many values is not", {
  set.seed(5)
  x <- sample.int(40, 2000, TRUE)
  data <- data.frame(x = x, copy = letters[x %% 26 + 1], other = sample.int(300, 2000, TRUE))
  found <- key_overview(data)
  expect_identical(found$associated_with[1:2], c("copy", "x"))
  expect_gt(found$association[1], 0.99)
  # Plain Cramer's V of independent keys with 40 and 300 values
  plain <- sqrt(suppressWarnings(stats::chisq.test(table(data$x, data$other)))$statistic /
                  2000 / 39)
  expect_gt(plain, 0.35)
  expect_lt(found$diagnostics$association["x", "other"], 0.1)
})

test_that("all missing, all identical and all different keys have answers", {
  data <- data.frame(none = NA, same = "x", id = 1:6, half = c(1, 1, 1, 2, 2, 2))
  found <- key_overview(data)
  expect_identical(found$n_levels, c(0L, 1L, 6L, 2L))
  expect_equal(found$prop_missing, c(1, 0, 0, 0))
  expect_equal(found$entropy, c(0, 0, log(6), log(2)))
  expect_equal(found$largest_share, c(NA, 1, 1 / 6, 1 / 2))
  expect_identical(found$association, rep(NA_real_, 4))
  expect_identical(found$unique_change, c(0L, 0L, -6L, 0L))
})

test_that("columns of a group count as one key", {
  members <- panel_waves$modules$media
  found <- key_overview(
    members, c("facebook", "linkedin", "hyves"),
    key_groups = list(media = c("facebook", "linkedin", "hyves"))
  )
  expect_identical(found$variable, "media")
  expect_identical(found$type, "group")
  expect_identical(found$n_missing, sum(!stats::complete.cases(members)))
  expect_identical(found$n_levels, nrow(unique(members[-1])))
  shares <- table(do.call(paste, members[-1])) / nrow(members)
  expect_equal(found$entropy, -sum(shares * log(shares)))
})

test_that("the latest values of the simulated panel reproduce Mulder's Table 1", {
  found <- latest_values(
    panel_waves$background, "id", c("year", "month"), origin = FALSE
  )
  members <- panel_members(panel_waves$background, panel_waves$modules, "id")
  merged <- found[found$id %in% members$id[members$member], ]
  overview <- key_overview(merged, c("urbanity", "income", "income_class", "origin"))
  expect_identical(overview$n_missing, c(8L, 1783L, 406L, 2264L))
  expect_equal(round(overview$prop_missing, 3), c(0.001, 0.162, 0.037, 0.206))
})

test_that("threads and the order of records change nothing", {
  data <- panel_waves$wave1[4:19]
  found <- key_overview(data)
  old <- options(sdcRisk.threads = 1L)
  on.exit(options(old))
  expect_identical(key_overview(data), found)
  turned <- key_overview(data[rev(seq_len(nrow(data))), ])
  expect_equal(turned$estimates, found$estimates)
})

test_that("the print names keys and no record's values", {
  expect_snapshot(key_overview(panel_waves$wave1, c("gender", "age_group", "income_class")))
  expect_lte(length(format(key_overview(panel_waves$wave1[4:19]))), 16)
  expect_s3_class(key_overview(adult)[1:3, ], "data.frame", exact = TRUE)
})

test_that("pictures are drawn", {
  skip_if_not_installed("ggplot2")
  found <- key_overview(panel_waves$wave1, c("gender", "age_group", "income_class"))
  for (type in c("adds", "values")) {
    picture <- ggplot2::autoplot(found, type = type)
    expect_s3_class(picture, "ggplot")
    expect_silent(ggplot2::ggplot_build(picture))
  }
  expect_error(ggplot2::autoplot(found, type = "pie"), class = "sdcRisk_error_bad_argument")
})

test_that("faults are classed errors", {
  bad <- function(kind, ...) {
    expect_error(key_overview(...), class = paste0("sdcRisk_error_", kind))
  }
  bad("bad_data", 1:3)
  bad("bad_data", adult[0, ])
  bad("unknown_key_var", adult, "height")
  bad("bad_argument", adult, c("age", "age"))
  bad("bad_argument", adult, keys = "age")
  bad("bad_column", data.frame(x = I(list(1, 2))))
  bad("bad_argument", adult, c("age", "sex"), key_groups = list(g = c("age", "race")))
})
