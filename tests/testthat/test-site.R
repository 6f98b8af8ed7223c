# The site of the documentation lists what the package exports. Its settings stay in the
# checkout: an installed package has none.

site <- testthat::test_path("..", "..", "_pkgdown.yml")
skip_if_not(file.exists(site))

test_that("every exported topic and every vignette stands on the site", {
  lines <- readLines(site)
  listed <- unlist(strsplit(gsub("contents:|[][,]", " ", lines), "\\s+"))
  folder <- testthat::test_path("..", "..", "man")
  internal <- "\\\\keyword\\{internal\\}"
  topics <- Filter(function(path) {
    !any(grepl(internal, readLines(path, encoding = "UTF-8")))
  }, list.files(folder, "[.]Rd$", full.names = TRUE))
  expect_gt(length(topics), 60)
  expect_identical(setdiff(sub("[.]Rd$", "", basename(topics)), listed), character())
  vignettes <- list.files(testthat::test_path("..", "..", "vignettes"), "[.]Rmd$")
  expect_identical(setdiff(sub("[.]Rmd$", "", vignettes), listed), character())
  expect_identical(anyDuplicated(listed[listed %in% sub("[.]Rd$", "", basename(topics))]), 0L)
})
