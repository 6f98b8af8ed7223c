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
