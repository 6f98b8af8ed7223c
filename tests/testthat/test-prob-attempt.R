# The probability of an attempt, which a file states once.

skip_on_cran()

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
stated <- sdc_file(nals_prison[c(keys, "WEIGHT")], keys, weight_var = "WEIGHT", prob_attempt = 0.1)
plain <- sdc_file(nals_prison[c(keys, "WEIGHT")], keys, weight_var = "WEIGHT")
times_line <- function(x) {
  lines <- paste(format(x, width = 400), collapse = "\n")
  regmatches(lines, regexpr("Times the probability of an attempt[^\n]*", lines))
}

test_that("a file states it once, and every figure and verdict stays conditional on an attempt", {
  expect_identical(sdc_roles(stated)$prob_attempt, 0.1)
  expect_null(sdc_roles(plain)$prob_attempt)
  expect_identical(sdc_roles(stated[1:100, ])$prob_attempt, 0.1)
  expect_null(sdc_roles(sdc_file(stated, prob_attempt = NULL))$prob_attempt)
  expect_output(print(stated), "probability of an attempt 0.1")
  expect_output(print(summary(stated)), "probability of an attempt 0.1")
  for (f in list(file_check, population_risk, n_matches, individual_risk)) {
    with <- quietly(f(stated))
    without <- quietly(f(plain))
    expect_identical(measures(with), measures(without))
    expect_identical(with$records, without$records)
    expect_length(times_line(without), 0)
  }
  for (x in list(0, 1.5, "a", NA, c(0.1, 0.2))) {
    expect_error(sdc_file(plain, prob_attempt = x), class = "sdcRisk_error_bad_argument")
  }
})

test_that("prints have products in a line of their own", {
  risk <- population_risk(stated)
  value <- risk$estimates$value[match(c("tau2", "reidentifications"), risk$estimates$measure)]
  shown <- vapply(c("correct matches, tau2 ", "expected re-identifications "), function(label) {
    as.numeric(sub(paste0(".*", label, "([0-9.]+).*"), "\\1", times_line(risk)))
  }, 0)
  expect_equal(unname(shown), signif(0.1 * value, 3))
  # Shares of uniques describe the file: nobody tries them.
  expect_no_match(times_line(risk), "uniqueness|tau1")
  check <- quietly(file_check(stated))
  largest <- check$estimates$value[check$estimates$measure == "journalist"]
  expect_match(times_line(check), format(signif(0.1 * largest, 3)), fixed = TRUE)
  expect_no_match(times_line(check), "records with the same key")
  expect_lte(length(format(risk)), 16)
  expect_no_match(times_line(risk), "[[]")
  expect_lte(length(format(check)), 25)
  # A remedy hands it on.
  expect_length(times_line(quietly(file_check(suppress_cells(stated)))), 1)
})

test_that("a report takes it from the files, unless it is given one", {
  written <- function(...) {
    file <- tempfile(fileext = ".html")
    on.exit(unlink(c(file, sub("html$", "json", file))))
    quietly(sdc_report(..., file = file, pictures = FALSE))
    log <- jsonlite::fromJSON(sub("html$", "json", file))
    list(prob = log$prob_attempt, page = paste(readLines(file), collapse = "\n"))
  }
  risk <- population_risk(stated)
  expect_identical(written(risk)$prob, 0.1)
  expect_match(written(risk)$page, "with 0.1", fixed = TRUE)
  expect_identical(written(risk, prob_attempt = 0.5)$prob, 0.5)
  expect_identical(written(population_risk(plain))$prob, 1L)
  expect_no_match(written(population_risk(plain))$page, "with 1", fixed = TRUE)
  half <- sdc_file(plain, prob_attempt = 0.5)
  expect_identical(written(risk, n_matches(half), n_matches(plain))$prob, 0.5)
})

test_that("a log repeats the call of a file with it, and a table of a database has it", {
  file <- tempfile(fileext = ".html")
  on.exit(unlink(c(file, sub("html$", "json", file))))
  quietly(sdc_report(population_risk(stated), file = file, pictures = FALSE, internal = TRUE))
  expect_true(all(replay(sub("html$", "json", file), nals_prison)$equal))
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(connection), add = TRUE)
  DBI::dbWriteTable(connection, "prison", nals_prison[keys])
  table <- sdc_file(dplyr::tbl(connection, "prison"), keys, pop_size = 50000, prob_attempt = 0.1)
  expect_identical(sdc_roles(table)$prob_attempt, 0.1)
  expect_length(times_line(population_risk(table)), 1)
})
