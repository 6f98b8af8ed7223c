test_that("the data alone are handed out, and the object is said to be confidential", {
  data <- adult[1:200, c("age", "sex", "income")]
  set.seed(1)
  x <- quietly(invariant_pram(data, c("age", "sex")))
  expect_identical(as.data.frame(release_data(x, shuffle = FALSE)), x$data)
  expect_error(release_data(data), class = "sdcRisk_error_bad_argument")
  expect_error(release_data(x, 1), class = "sdcRisk_error_bad_argument")
  said <- paste(lines_of(x), collapse = " ")
  expect_match(said, "release_data(x), and only this", fixed = TRUE)
  expect_match(said, "n_matches() and other risk measures do not hold", fixed = TRUE)
})

test_that("columns of candidates keep the sets that records have, and no others", {
  waves <- list(
    a = data.frame(id = 1:6, status = c("x", "y", "x", "y", "x", "y")),
    b = data.frame(id = c(1, 2), status = c("y", "y")),
    c = data.frame(id = 1:6, status = c("y", "y", "y", "x", "x", "x"))
  )
  data <- change_moments(waves, "id", "status")
  data$sex <- rep(c("f", "m"), 3)
  file <- sdc_file(data, c("status_moment", "sex"), id_vars = "id")
  recoded <- global_recode(file, sex = list(all = c("f", "m")))
  expect_identical(format(recoded$status_moment), format(data$status_moment))
  expect_identical(
    n_matches(recoded)$records$n_matches, n_matches(data, "status_moment")$records$n_matches
  )
  released <- quietly(release_data(recoded, shuffle = TRUE))
  expect_setequal(format(released$status_moment), format(data$status_moment))
  expect_output(print(released), "b|c", fixed = TRUE)
  # The order of the sets is that of the release, and the set of a lost record is gone.
  part <- as_released(data[data$id != 1, ], order = 5:1)
  expect_identical(format(part$status_moment), rev(format(data$status_moment[-1])))
  expect_false(list("b") %in% attr(part$status_moment, "sets"))
  expect_identical(unique(unclass(part$status_moment)[1:5]), seq_along(
    attr(part$status_moment, "sets")
  ))
  # Intervals too.
  ages <- data.frame(age = candidate_interval(c(1, 5, 9), c(4, 8, 9)), sex = "f")
  expect_identical(
    format(as_released(ages, 3:1)$age), rev(format(ages$age))
  )
})
