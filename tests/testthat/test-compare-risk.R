# Results side by side.

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA")

test_that("results of one analysis each are compared whatever their key sets", {
  with <- quietly(n_matches(nals_prison, keys))
  without <- quietly(n_matches(nals_prison, keys[-1]))
  found <- compare_risk(with, without)
  table <- as.data.frame(found)
  unique_after <- table[table$term == "n_unique" & table$result == "after", ]
  expect_identical(unique_after$estimate, as.double(without$estimates$n_unique))
  expect_identical(
    unique_after$change, as.double(without$estimates$n_unique - with$estimates$n_unique)
  )
  expect_identical(unique_after$ratio, without$estimates$n_unique / with$estimates$n_unique)
  expect_false(anyNA(table$estimate[table$term != "theta"]))
  lines <- lines_of(found)
  expect_match(
    lines[[1]],
    "^Comparison of 2 results of n_matches.*: sample uniques down from [0-9]+ to "
  )
  expect_true("Key variables of `after`: without \"CENREG\"." %in% lines)
  # The measure first, parameters last.
  expect_match(lines[[2]], "^term .*ratio +change$")
  expect_match(lines[[3]], "^n_unique ")
})

test_that("settings that differ are named", {
  before <- quietly(qar_risk(nals_prison, keys, p = 2, pi_u = 0.4))
  after <- quietly(qar_risk(nals_prison, keys, p = 2, pi_u = 0.5, pwm = "unbiased"))
  expect_true(
    "Settings differ: pi_u (0.4, 0.5), pwm (plotting, unbiased)." %in%
      gsub("\n *", " ", lines_of(compare_risk(before, after)))
  )
  expect_false(any(grepl("differ", lines_of(compare_risk(before, before)))))
})

test_that("quotients that are not finite are NA", {
  data <- data.frame(a = rep(1:5, 2))
  common <- quietly(n_matches(data))
  apart <- quietly(n_matches(data.frame(a = 1:10)))
  table <- as.data.frame(compare_risk(common, apart))
  expect_identical(table$ratio[table$term == "n_unique" & table$result == "after"], NA_real_)
  expect_false(any(is.infinite(table$ratio) | is.nan(table$ratio)))
})

test_that("a comparison answers tidy() and glance(), and is drawn in three pictures", {
  before <- quietly(qar_risk(nals_prison, keys, p = 2, pi_u = 0.4))
  after <- quietly(qar_risk(nals_prison, keys[-1], p = 2, pi_u = 0.4))
  found <- compare_risk(before, after)
  expect_identical(as.data.frame(tidy(found)), as.data.frame(found))
  expect_identical(glance(found)$ratio, after$estimates$risk / before$estimates$risk)
  expect_identical(nrow(glance(found)), 1L)
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::ggplot_build(ggplot2::autoplot(found))
  expect_identical(nrow(drawn$layout$layout), 3L)
})

test_that("one result, or a list of results, is told what to do", {
  x <- quietly(n_matches(nals_prison, keys))
  expect_error(compare_risk(x), class = "sdcRisk_error_bad_argument")
  expect_error(compare_risk(list(x, x)), class = "sdcRisk_error_bad_argument")
  listed <- tryCatch(compare_risk(list(x), x), error = identity)
  expect_match(conditionMessage(listed), "do.call", fixed = TRUE)
})

test_that("a name short for `before` or `after` does not turn a comparison round", {
  data <- data.frame(a = c(1, 1, 2, 3, 4, 4), b = c(1, 2, 1, 2, 1, 1))
  first <- n_matches(data, c("a", "b"))
  second <- n_matches(data, "a")
  expect_error(
    compare_risk(a = first, b = second), "`b` is short for `before`",
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(compare_risk(first, af = second), class = "sdcRisk_error_bad_argument")
  table <- as.data.frame(compare_risk(first, second, coarser = second))
  uniques <- table[table$term == "n_unique", ]
  expect_identical(uniques$result, c("before", "after", "coarser"))
  expect_equal(uniques$estimate, c(4, 2, 2))
  expect_equal(uniques$change, c(0, -2, -2))
  in_full <- compare_risk(after = second, before = first)
  expect_equal(as.data.frame(in_full), as.data.frame(compare_risk(first, second)))
})

test_that("overviews of key variables are compared variable by variable", {
  data <- data.frame(a = c(1, 1, 2, 2, 3), b = c("x", "y", "x", "y", "y"))
  later <- transform(data, a = 1)
  found <- compare_risk(key_overview(data), key_overview(later))
  table <- as.data.frame(found)
  uniques <- table[table$variable == "a" & table$term == "n_unique_without", ]
  # Without `a`, nobody is alone by `b`; `a` of one value has one level.
  expect_identical(uniques$estimate, c(0, 0))
  levels <- table[table$variable == "a" & table$term == "n_levels", ]
  expect_identical(levels$estimate, c(3, 1))
  expect_match(interpret(found), "key_overview\\(\\)")
  waves <- cbind(id = 1:5, data)
  changed <- transform(waves, b = rev(b))
  moved <- compare_risk(
    key_stability(waves, waves, id = "id"), key_stability(waves, changed, id = "id")
  )
  table <- as.data.frame(moved)
  # b is x y x y y, reversed y y x y x: two of five differ.
  expect_identical(
    table$estimate[table$variable == "b" & table$term == "n_changed"], c(0, 2)
  )
  expect_false(any(grepl("fingerprint", format(moved))))
})

test_that("of two pages the figures with a limit come first, in table and picture", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  file <- sdc_file(nals_prison[c(keys, "WEIGHT")], keys, weight_var = "WEIGHT")
  compared <- quietly(compare_risk(quietly(suppress_cells(file, k = 3))))
  expect_identical(unique(compared$table$term)[1:3], c("k", "journalist", "n_unique"))
  expect_identical(compared$table$estimate[1:2], c(1, 3))
  error <- expect_error(compare_risk(file, file), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(error), "Give file_check() of both files", fixed = TRUE)
})

test_that("results with other names than before and after are counted", {
  x <- quietly(n_matches(nals_prison, keys))
  expect_error(compare_risk(before = x, recoded = x, last = x), "2 results with other names")
  expect_error(compare_risk(x), "Two results are needed", class = "sdcRisk_error_bad_argument")
})
