# Results refuse data they were not made from, and take the same values in
# another guise.

file <- function() {
  data.frame(
    a = factor(rep(c("x", "y", "z"), 20), c("z", "x", "y")), b = rep(1:4, 15),
    c = ordered(rep(c("low", "mid", "high"), each = 20), c("low", "mid", "high")),
    w = rep(1:30, 2), h = rep(1:30, 2), s = rep(c("p", "q", "r"), 20)
  )
}

refused <- function(x, data) {
  expect_error(augment(x, data), class = "sdcRisk_error_mismatched_data")
}

test_that("equal values are equal however they are stored", {
  data <- file()
  x <- quietly(n_matches(data, c("a", "b", "c")))
  same <- list(
    transform(data, a = as.character(a)), transform(data, a = factor(a, c("y", "z", "x"))),
    transform(data, a = factor(a, c("y", "unused", "z", "x"))), transform(data, b = as.double(b))
  )
  for (other in same) {
    expect_identical(augment(x, other)$.n_matches, x$records$n_matches)
  }
})

test_that("other values with the same codes are refused", {
  data <- file()
  x <- quietly(n_matches(data, c("a", "b", "c")))
  swapped <- data
  levels(swapped$a) <- rev(levels(swapped$a))
  refused(x, swapped)
  refused(x, transform(data, b = b * 10L))
  refused(x, transform(data, b = as.character(b)))
  refused(x, transform(data, c = factor(c, c("mid", "low", "high"), ordered = TRUE)))
  refused(x, transform(data, a = sub("z", "zz", a)))
  refused(x, data[60:1, ])
  # The same levels in the same order, one record's changed.
  changed <- data
  changed$a[[1]] <- "z"
  refused(x, changed)
})

test_that("weights, households and sensitive columns belong to the data", {
  data <- file()
  risk <- quietly(individual_risk(data, c("a", "b"), "w", "h"))
  expect_identical(augment(risk, data)$.risk, risk$records$risk)
  refused(risk, transform(data, w = w * 100))
  refused(risk, transform(data, h = c(h[-1], 31L)))
  expect_s3_class(augment(risk, transform(data, s = "other")), "data.frame")

  matches <- quietly(n_matches(data, c("a", "b"), weight_var = "w", hh_id = "h", sensitive = "s"))
  expect_s3_class(augment(matches, data), "data.frame")
  for (other in list(
    transform(data, w = w + 0.5), transform(data, h = c(31L, h[-1])), transform(data, s = rev(s))
  )) {
    refused(matches, other)
  }
  refused(quietly(loglinear_risk(data, c("a", "b"), weight_var = "w")), transform(data, w = w + 1))
  likely <- quietly(copula_uniqueness(data, c("a", "b"), pop_size = 1e4, weight_var = "w"))
  refused(likely, transform(data, w = w + 1))
  refused(likely, data[names(data) != "w"])
  expect_s3_class(augment(likely, data), "data.frame")
  table <- quietly(exhaustive_tabulation(data, c("a", "b"), weight_var = "w", weight_threshold = 9))
  refused(table, transform(data, w = w + 1))
})

test_that("a second result of the same kind does not silently replace the first", {
  data <- file()
  once <- augment(quietly(n_matches(data, "a")), data)
  twice <- tryCatch(augment(quietly(n_matches(data, "a")), once), error = identity)
  expect_s3_class(twice, "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(twice), "\".n_matches\"", fixed = TRUE)
})

test_that("augment() gives a data.table that takes further columns", {
  skip_if_not_installed("data.table")
  data <- data.table::as.data.table(file())
  added <- augment(quietly(n_matches(data, c("a", "b"))), data)
  expect_s3_class(added, "data.table")
  expect_false(".n_matches" %in% names(data))
  expect_silent(data.table::set(added, j = "new", value = 1))
  expect_identical(ncol(added), ncol(data) + 2L)
})
