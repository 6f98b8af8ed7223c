# Cases beside the plain ones of linking waves and of tables of people.

test_that("ids in whole numbers here and numbers there are the same people", {
  one <- data.frame(id = 1:2, x = c(TRUE, NA), f = c("u", "v"))
  two <- data.frame(id = c(2, 3), x = c(7L, NA), f = factor(c("w", NA)))
  latest <- as.data.frame(latest_values(list(a = one, b = two), "id"))
  expect_equal(latest$id, c(1, 2, 3))
  expect_equal(latest$x, c(1, 7, NA))
  expect_identical(latest$f, c("u", "w", NA))
  expect_identical(as.character(latest$x_wave), c("a", "b", NA))
  members <- as.data.frame(panel_members(one, two, "id"))
  expect_equal(members$id, c(1, 2, 3))
  expect_identical(members$reason, c("background only", "member", "nothing"))
  expect_error(
    latest_values(list(one, transform(one, x = as.Date("2020-01-01"))), "id"),
    class = "sdcRisk_error_bad_column"
  )
})

test_that("waves of labelled and wide columns keep their class", {
  label <- function(x) structure(x, class = c("haven_labelled", "double"), labels = c(low = 1))
  one <- data.frame(id = 1:2)
  one$x <- label(c(1, NA))
  two <- data.frame(id = c(2, 3))
  two$x <- label(c(2, 1))
  latest <- as.data.frame(latest_values(list(one, two), "id"))
  expect_s3_class(latest$x, "haven_labelled")
  expect_equal(as.vector(unclass(latest$x)), c(1, 2, 1))
  expect_identical(attr(latest$x, "labels"), c(low = 1))
  skip_if_not_installed("bit64")
  one$x <- bit64::as.integer64(c(5, NA))
  two$x <- bit64::as.integer64(c(6, 7))
  latest <- as.data.frame(latest_values(list(one, two), "id"))
  expect_s3_class(latest$x, "integer64")
  expect_identical(as.character(latest$x), c("5", "6", "7"))
})

test_that("nobody in common gives zeros, without a sign", {
  one <- data.frame(id = 1:2, x = c("a", "b"))
  two <- data.frame(id = 8:9, x = c("a", "b"))
  link <- suppressWarnings(longitudinal_link(one, two, "x", id = "id"))
  expect_identical(link$estimates$expected_correct, 0)
  expect_identical(1 / link$estimates$expected_correct, Inf)
  stable <- suppressWarnings(key_stability(one, two, "x", "id"))
  expect_identical(1 / stable$expected_correct, Inf)
  expect_no_match(lines_of(stable), "-0")
  expect_match(lines_of(stable), "with the first key variable", all = FALSE)
})

test_that("keys must be said, and columns of other types give one warning", {
  one <- data.frame(id = 1:3, y = c(1, 2, NA))
  expect_error(longitudinal_link(one, one), class = "sdcRisk_error_bad_argument")
  two <- transform(one, y = factor(y))
  seen <- character()
  withCallingHandlers(
    link <- longitudinal_link(one, two, "y", id = "id", min_overlap = 1),
    warning = function(w) {
      seen <<- c(seen, class(w)[[1]])
      invokeRestart("muffleWarning")
    }
  )
  expect_identical(seen, c("sdcRisk_warning_waves_differ", "sdcRisk_warning_empty_records"))
  expect_equal(link$records$match_prob, c(1, 1, 0))
})

test_that("change indicators take the link of these waves only", {
  one <- data.frame(id = 1:4, x = c("a", "b", "c", "d"), y = 1:4)
  two <- data.frame(id = c(2, 4, 9), x = c("b", "d", "e"), y = c(7, 4, 1))
  link <- longitudinal_link(one, two, "x", id = "id")
  quiet <- function(...) suppressWarnings(change_indicators(...))
  expect_identical(quiet(one, two, "y", "id", link, "certain")$y_changed, c(1L, 0L, 0L))
  expect_error(
    quiet(one[-2, ], two, "y", "id", link, "certain"), class = "sdcRisk_error_mismatched_data"
  )
  expect_error(quiet(one, two, "y", "id", link = 5), class = "sdcRisk_error_bad_argument")
})
