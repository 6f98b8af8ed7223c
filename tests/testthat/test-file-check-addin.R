# The window that checks a file: what it proposes, runs, writes and shows as code.

skip_on_cran()

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

test_that("the window protects as the page proposes, and reports on both files", {
  folder <- tempfile("window")
  dir.create(folder)
  file <- file.path(folder, "r.html")
  place <- new.env()
  place$prison <- prison <- nals_prison[c(keys, "WEIGHT")]
  shiny::testServer(sdcRisk:::gadget_server(place), {
    session$setInputs(data = "prison", k = 3, journalist = 0.9, pop_size = NA)
    session$setInputs(protect = 1)
    expect_identical(output$protected, "Check the file first.")
    session$setInputs(key_vars = keys, weight_var = "WEIGHT", hh_id = "", sensitive = NULL)
    session$setInputs(run = 1, protect = 2)
    expect_match(output$protected, "File check", fixed = TRUE)
    k <- function(x) x$estimates$verdict[x$estimates$measure == "k"]
    expect_identical(c(k(state$checked), k(state$protected$after)), c("above", "ok"))
    session$setInputs(file = file, internal = FALSE, overwrite = FALSE, write = 1)
    expect_match(output$written, "Written", fixed = TRUE)
    expect_match(output$code, "sdc_report(checked, released, after, file = ", fixed = TRUE)
    assign("shown", utils::head(strsplit(output$code, "\n")[[1]], -1), envir = place)
    assign("after", state$protected$after$estimates, envir = place)
    # A page without a remedy proposes none.
    session$setInputs(key_vars = "GENDER", run = 2, protect = 3)
    expect_identical(output$protected, "The page proposes no protection.")
  })
  there <- new.env()
  there$prison <- prison
  suppressMessages(for (line in parse(text = place$shown)) eval(line, there))
  expect_equal(there$after$estimates, place$after)
  expect_setequal(list.files(folder), c("r.html", "r.json"))
})

test_that("the roles and limits of all fields are those of the check", {
  set.seed(4)
  place <- new.env()
  place[["my file"]] <- data.frame(
    town = sample(letters[1:6], 90, TRUE), age = sample(20:27, 90, TRUE),
    ill = sample(c("yes", "no"), 90, TRUE), home = rep(1:30, each = 3), wgt = 4 + (1:90 %% 3)
  )
  data <- place[["my file"]]
  found <- suppressWarnings(suppressMessages(file_check(
    sdc_file(data, c("town", "age"), weight_var = "wgt", hh_id = "home", sensitive = "ill",
             pop_size = 600),
    limit = list(k = 2, journalist = 0.2)
  )))
  shiny::testServer(sdcRisk:::gadget_server(place), {
    session$setInputs(data = "my file", k = 2, journalist = 0.2, pop_size = 600)
    session$setInputs(
      key_vars = c("town", "age"), weight_var = "wgt", hh_id = "home", sensitive = "ill", run = 1
    )
    checked <- suppressWarnings(suppressMessages(state$checked))
    expect_identical(checked$estimates, found$estimates)
    expect_identical(
      checked$estimates$value[checked$estimates$measure == "n_unique"],
      as.double(sum(!duplicated(data[1:2]) & !duplicated(data[1:2], fromLast = TRUE)))
    )
    expect_identical(unlist(checked$settings$limit), c(k = 2, journalist = 0.2))
    for (part in c(
      "file_check(`my file`", "hh_id = \"home\"", "sensitive = \"ill\"", "pop_size = 600",
      "limit = list(k = 2,"
    )) {
      expect_match(gsub("\\s+", " ", output$code), part, fixed = TRUE)
    }
    there <- new.env()
    there[["my file"]] <- data
    suppressWarnings(suppressMessages(
      for (line in head(parse(text = output$code), -1)) eval(line, there)
    ))
    expect_identical(there$checked$estimates, found$estimates)
    skip_if_not_installed("ggplot2")
    expect_true(file.size(output$picture$src) > 5000 || nchar(output$picture$src) > 5000)
  })
})

test_that("without key variables nothing is checked, and another file begins anew", {
  place <- workspace()
  shiny::testServer(sdcRisk:::gadget_server(place), {
    session$setInputs(data = "prison", k = 3, journalist = 0.05, pop_size = NA)
    session$setInputs(key_vars = NULL, weight_var = "", run = 1)
    expect_identical(output$found, "Choose key variables first.")
    expect_identical(output$code, "No check has run yet.")
    session$setInputs(key_vars = keys, run = 2)
    expect_match(output$found, "182 records", fixed = TRUE)
    code <- output$code
    # What ran stays to be copied, what it found does not.
    session$setInputs(data = "other")
    expect_identical(output$found, "No check has run yet.")
    expect_identical(output$code, code)
    expect_match(output$looks, "\"wgt\" a weight", fixed = TRUE)
    session$setInputs(file = file.path(tempdir(), "never.html"), write = 1)
    expect_identical(output$written, "Check the file first.")
    expect_false(file.exists(file.path(tempdir(), "never.html")))
    # Limits that cannot be are said.
    session$setInputs(data = "prison", key_vars = keys, k = -1, run = 3)
    expect_match(output$found, "-1 was given", fixed = TRUE)
    expect_identical(output$code, "No check has run yet.")
    session$setInputs(k = 3, journalist = 5, run = 4)
    expect_match(output$found, "journalist", fixed = TRUE)
  })
})

test_that("a file that cannot be taken is said, and the window stays open", {
  place <- workspace()
  place$twice <- stats::setNames(data.frame(1:4, 2:5), c("a", "a"))
  shiny::testServer(sdcRisk:::gadget_server(place), {
    session$setInputs(data = "twice")
    expect_match(output$looks, "\"a\"", fixed = TRUE)
    session$setInputs(data = "prison")
    expect_match(output$looks, "WEIGHT", fixed = TRUE)
    rm("other", envir = place)
    session$setInputs(data = "other")
    expect_match(output$looks, "other", fixed = TRUE)
    session$setInputs(data = "prison", key_vars = keys, k = 3, journalist = 0.05, run = 1)
    expect_match(output$found, "182 records", fixed = TRUE)
  })
})

test_that("RStudio finds the addin", {
  found <- read.dcf(system.file("rstudio", "addins.dcf", package = "sdcRisk"))
  expect_true(all(found[, "Binding"] %in% getNamespaceExports("sdcRisk")))
  page <- as.character(sdcRisk:::gadget_page(c("a", "b")))
  for (id in c("data", "key_vars", "weight_var", "k", "journalist", "run", "file", "write")) {
    expect_match(page, paste0("id=\"", id, "\""), fixed = TRUE)
  }
})
