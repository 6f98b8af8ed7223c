# The first vignette is the road that a newcomer takes: few calls, each of which runs.

skip_on_cran()

test_that("the first vignette leads from import to report in twelve calls", {
  skip_if_not_installed("haven")
  # That of the installed package, or else of its sources.
  path <- system.file("doc", "sdcRisk.Rmd", package = "sdcRisk")
  if (!nzchar(path)) path <- test_path("..", "..", "vignettes", "sdcRisk.Rmd")
  skip_if_not(file.exists(path), "the sources of the vignettes are not here")
  lines <- readLines(path)
  starts <- grep("^```\\{r", lines)
  ends <- vapply(starts, function(at) at + grep("^```$", lines[-seq_len(at)])[[1]], 0)
  chunks <- Map(function(from, to) parse(text = lines[seq(from + 1, to - 1)]), starts, ends)
  names(chunks) <- sub("^```\\{r ([a-z]+).*", "\\1", lines[starts])
  road <- unlist(lapply(chunks[setdiff(names(chunks), c("setup", "picture"))], as.list))
  expect_lte(length(road), 12)
  env <- new.env(parent = globalenv())
  setup <- Filter(function(e) !grepl("knitr|options", deparse(e)[[1]]), as.list(chunks$setup))
  for (e in c(setup, road)) quietly(eval(e, env))
  expect_s3_class(env$file, "sdc_file")
  expect_true(file.exists(env$path))
  expect_equal(quietly(n_matches(env$protected, below = 3))$estimates$n_below_3, 0)
  found <- quietly(replay(env$path, env$people))
  expect_gt(sum(found$equal %in% TRUE), 50)
  expect_false(any(found$equal %in% FALSE))
  expect_length(summary(env$public)$history, 2)
  unlink(env$folder, recursive = TRUE)
})

test_that("vignettes are found once the package is installed with them", {
  skip_if_not_installed("rmarkdown")
  skip_if_not_installed("callr")
  script <- test_path("..", "..", "tools", "vignettes.R")
  skip_if_not(file.exists(script), "the tools of the checkout are not here")
  skip_if_not(rmarkdown::pandoc_available(), "there is no pandoc")
  # The script that `make install` runs, on a package of one vignette.
  library <- tempfile("library")
  package <- tempfile("package")
  for (dir in c(library, file.path(package, c("vignettes", "inst")))) {
    dir.create(dir, recursive = TRUE)
  }
  on.exit(unlink(c(library, package), recursive = TRUE))
  writeLines(c(
    "Package: onevignette", "Version: 1.0", "Title: One Vignette", "Description: One.",
    "License: MIT", "Author: A", "Maintainer: A <a@example.org>", "VignetteBuilder: knitr",
    "Encoding: UTF-8"
  ), file.path(package, "DESCRIPTION"))
  file.create(file.path(package, "NAMESPACE"))
  writeLines(c(
    "---", "title: Road", "output: rmarkdown::html_vignette", "vignette: >",
    "  %\\VignetteIndexEntry{Road}", "  %\\VignetteEngine{knitr::rmarkdown}",
    "  %\\VignetteEncoding{UTF-8}", "---", "", "A road."
  ), file.path(package, "vignettes", "road.Rmd"))
  callr::rscript(
    normalizePath(script), libpath = c(library, .libPaths()), wd = package, show = FALSE
  )
  found <- utils::vignette("road", package = "onevignette", lib.loc = library)
  expect_true(file.exists(file.path(found$Dir, "doc", found$PDF)))
})

test_that("every vignette that help and README name is in the package", {
  root <- test_path("..", "..")
  skip_if_not(dir.exists(file.path(root, "man")), "the sources of the help pages are not here")
  pages <- list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE)
  pages <- c(pages, file.path(root, "README.md"))
  text <- unlist(lapply(pages[file.exists(pages)], readLines))
  named <- unlist(regmatches(text, gregexpr("(?<=vignette\\(\")[a-z-]+", text, perl = TRUE)))
  expect_gt(length(unique(named)), 5)
  there <- sub("[.]Rmd$", "", list.files(file.path(root, "vignettes"), "[.]Rmd$"))
  expect_identical(setdiff(named, there), character())
  # Installed with vignettes, as a source package is, vignette() finds all of them.
  if (nzchar(system.file("doc", package = "sdcRisk"))) {
    found <- utils::vignette(package = "sdcRisk")$results[, "Item"]
    expect_identical(setdiff(named, found), character())
  }
})
