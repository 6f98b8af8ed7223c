# The window that checks a file: what it proposes, runs, writes and shows as code.

skip_if_not_installed("shiny")
skip_if_not_installed("miniUI")

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
workspace <- function() {
  place <- new.env()
  place$prison <- nals_prison
  place$other <- data.frame(x = rep(1:4, 6), serial = rep(1:12, each = 2), wgt = 1.5)
  place$one <- data.frame(x = 1:3)
  place$empty <- data.frame(x = integer(), y = integer())
  place$text <- "no data"
  place
}

test_that("data frames with records are offered, the others are not", {
  expect_identical(sdcRisk:::data_frames_in(workspace()), c("other", "prison", "one"))
  expect_error(file_check_addin(new.env()), class = "sdcRisk_error_bad_data")
  expect_error(file_check_addin(3), class = "sdcRisk_error_bad_argument")
})

test_that("roles are proposed as sdc_file() sees the columns", {
  found <- sdcRisk:::proposed_roles(workspace()$other)
  expect_identical(found$weight_var, "wgt")
  expect_identical(found$hh_id, "serial")
  expect_identical(found$key_vars, "x")
  expect_match(sdcRisk:::looks_text(found$seen)[[1]], "\"wgt\" a weight")
  expect_identical(sdcRisk:::proposed_roles(nals_prison)$weight_var, "WEIGHT")
})

test_that("the window checks, reports, and its code does the same", {
  folder <- tempfile("window")
  dir.create(folder)
  file <- file.path(folder, "r.html")
  place <- workspace()
  prison <- nals_prison
  shiny::testServer(sdcRisk:::gadget_server(place), {
    session$setInputs(data = "prison", k = 3, journalist = 0.05, pop_size = NA)
    expect_match(output$looks, "WEIGHT", fixed = TRUE)
    expect_identical(output$code, "No check has run yet.")
    session$setInputs(write = 1)
    expect_identical(output$written, "Check the file first.")
    session$setInputs(key_vars = keys, weight_var = "WEIGHT", hh_id = "", sensitive = NULL)
    session$setInputs(run = 1)
    expect_identical(
      output$found,
      paste(format(file_check(prison, keys, weight_var = "WEIGHT"), width = 90), collapse = "\n")
    )
    session$setInputs(file = file, internal = FALSE, overwrite = FALSE, write = 2)
    expect_match(output$written, "Written", fixed = TRUE)
    session$setInputs(write = 3)
    expect_match(output$written, "There already", fixed = TRUE)
    expect_match(output$code, "sdc_report(checked, file = ", fixed = TRUE)
    shown <- strsplit(output$code, "\n")[[1]]
    found <- output$found
    # An error is said in the window, which goes on.
    session$setInputs(key_vars = "nowhere", run = 2)
    expect_match(output$found, "Not found: \"nowhere\"", fixed = TRUE)
    expect_identical(output$code, "No check has run yet.")
    session$setInputs(key_vars = keys, k = NA, journalist = NA, pop_size = 8e5, run = 3)
    expect_match(output$code, "limit = list())", fixed = TRUE)
    expect_match(output$code, "pop_size = 8e+05", fixed = TRUE)
    assign("shown", shown, envir = place)
    assign("found", found, envir = place)
  })
  unlink(list.files(folder, full.names = TRUE))
  there <- new.env()
  there$prison <- nals_prison
  for (line in parse(text = place$shown)) eval(line, there)
  expect_identical(there$checked$estimates$value[[1]], 1)
  expect_identical(paste(format(there$checked, width = 90), collapse = "\n"), place$found)
  expect_setequal(list.files(folder), c("r.html", "r.json"))
  expect_true(all(replay(file, nals_prison)$equal))
})

test_that("RStudio finds the addin", {
  found <- read.dcf(system.file("rstudio", "addins.dcf", package = "sdcRisk"))
  expect_true(all(found[, "Binding"] %in% getNamespaceExports("sdcRisk")))
  page <- as.character(sdcRisk:::gadget_page(c("a", "b")))
  for (id in c("data", "key_vars", "weight_var", "k", "journalist", "run", "file", "write")) {
    expect_match(page, paste0("id=\"", id, "\""), fixed = TRUE)
  }
})
