# Prints and sentences of all results: laws that hold for each of them, and their
# words as they are.

skip_on_cran()

# The version changes; words do not.

with_print_options <- function(width, mark, code) {
  old <- options(width = width, OutDec = mark)
  on.exit(options(old))
  force(code)
}

printed <- function(x) utils::capture.output(print(x))

# Tables of people, which no intruder attacks.
without_scenario <- c("latest_values", "panel_members", "birth_month")

test_that("every print fits 16 rows of the console and follows OutDec", {
  results <- results_in_words()
  for (name in names(results)) {
    for (width in c(60, 80, 120)) {
      for (mark in c(".", ",")) {
        lines <- with_print_options(width, mark, printed(results[[name]]))
        info <- paste(name, width, mark)
        expect_true(length(lines) <= 16 && max(nchar(lines)) <= width, info = info)
        if (mark == ",") {
          # A point is a mark between thousands.
          plain <- gsub("(?<=[0-9])[.](?=[0-9]{3}(?![0-9]))", "", lines, perl = TRUE)
          expect_false(any(grepl("[0-9][.][0-9]", plain)), info = info)
        }
      }
    }
  }
})

# An object of every class that prints in words; records and values are those of the file.
printable <- function() {
  data <- nals_prison
  keys <- c("GENDER", "CENREG", "DAGE3", "EDUC3")
  file <- tempfile(fileext = ".html")
  on.exit(unlink(sub("html$", "*", file)))
  counts <- quietly(n_matches(data, keys))
  log <- quietly(sdc_report(counts, file = file))
  found <- c(results_in_words(), unlist(unname(secret_results()), FALSE), quietly(list(
    file_check = file_check(data, keys, weight_var = "WEIGHT"),
    incomplete = file_check(suppress_cells(data, keys)),
    suppress_cells = suppress_cells(data, keys, weight_var = "WEIGHT"),
    strict = suppress_cells(data, keys, rule = "strict"),
    recode_search = recode_search(data, keys, suppress = 0.05, blanks = "cells"),
    utility_loss = utility_loss(data, suppress_cells(data, keys)),
    hierarchy = hierarchy(data$DAGE, widths = c(5, 10)),
    pattern_table = pattern_table(data, keys), replay = replay(sub("html$", "json", file), data)
  )))
  found <- Filter(function(x) any(grepl("^sdc_", class(x))) && !inherits(x, "sdc_file"), found)
  summaries <- Filter(function(x) inherits(x, "sdc_result"), found)
  c(found, lapply(summaries, summary))
}

test_that("no width takes away a number, an interval or a column of any class", {
  # With room for all of it, and with as much as there is.
  results <- printable()
  classes <- unique(vapply(results, function(x) class(x)[[1]], ""))
  expect_gte(length(classes), 30)
  numbers_of <- function(x, width, mark) {
    text <- with_print_options(width, mark, {
      if (inherits(x, c("sdc_result", "sdc_comparison"))) format(x, rows = Inf) else printed(x)
    })
    expect_lte(max(nchar(text)), width, label = paste(class(x)[[1]], "at", width))
    text <- paste(text, collapse = " ")
    expect_no_match(text, "[0-9][.,]*[.]{3}", info = paste(class(x)[[1]], width))
    regmatches(text, gregexpr("[0-9][0-9.,]*", text))[[1]]
  }
  for (i in seq_along(results)) {
    for (mark in c(".", ",")) {
      whole <- unique(numbers_of(results[[i]], 1e4, mark))
      for (width in if (mark == ".") c(60, 75, 80, 120) else c(60, 80)) {
        lost <- setdiff(whole, numbers_of(results[[i]], width, mark))
        expect_identical(lost, character(), info = paste(class(results[[i]])[[1]], width, mark))
        lines <- with_print_options(width, mark, printed(results[[i]]))
        expect_lte(max(nchar(lines)), width, label = paste(class(results[[i]])[[1]], "at", width))
      }
    }
  }
})

test_that("every print says its question, scenario and that risks need an attempt", {
  results <- results_in_words()
  for (name in names(results)) {
    text <- paste(trimws(printed(results[[name]])), collapse = " ")
    if (!grepl("^comparison", name)) expect_match(text, "Question: ", info = name)
    if (!name %in% without_scenario) {
      expect_match(text, "Scenario: (prosecutor|journalist) \\(the target is", info = name)
      expect_match(text, "risks are conditional on an attempt[.]", info = name)
    }
  }
})

test_that("a print of records never lacks the largest and the 99% and 95% risks", {
  results <- results_in_words()
  with_records <- setdiff(
    names(results)[!vapply(results, function(x) {
      !inherits(x, "sdc_result") || is.null(record_risk(x))
    }, NA)],
    # Several key sets have columns of their own, and likelihoods are judged.
    c("n_matches_sets", "validate_uniqueness")
  )
  expect_gt(length(with_records), 8)
  for (name in setdiff(with_records, "longitudinal_link_no_id")) {
    for (width in c(60, 80)) {
      text <- paste(
        trimws(with_print_options(width, ".", printed(results[[name]]))), collapse = " "
      )
      expect_match(text, "largest .*, 99% of the .* at most .*, 95% at most", info = name)
    }
  }
})

test_that("every sentence is one string of at most three sentences with its source", {
  results <- results_in_words()
  for (name in names(results)) {
    said <- interpret(results[[name]])
    expect_s3_class(said, c("sdc_sentence", "character"))
    expect_length(said, 1)
    n <- lengths(regmatches(said, gregexpr("[.!?]( |$)", said)))
    expect_true(n >= 2 && n <= 3, info = paste(name, n))
    expect_match(said, "sdcRisk [0-9.]+\\)", info = name)
    if (!name %in% without_scenario) {
      expect_match(said, "scenarios?.*, conditional on an attempt", info = name)
    }
    expect_identical(paste(printed(said), collapse = " "), as.character(said), info = name)
  }
})

test_that("summaries fit 80 columns", {
  for (x in Filter(function(x) inherits(x, "sdc_result"), results_in_words())) {
    expect_lte(max(nchar(printed(summary(x)))), 80)
  }
})

test_that("prints say this", {
  local_reproducible_output(width = 80)
  results <- results_in_words()
  for (name in names(results)) {
    expect_snapshot(writeLines(c(paste0("<", name, ">"), printed(results[[name]]))))
  }
})

test_that("sentences say this", {
  local_reproducible_output(width = 80)
  results <- results_in_words()
  for (name in names(results)) {
    said <- strwrap(no_version(interpret(results[[name]])), 80)
    expect_snapshot(writeLines(c(paste0("<", name, ">"), said)))
  }
})

test_that("a print without room for a note says how many there are", {
  x <- suppressMessages(suppress_cells(nals_prison, c("CENREG", "DAGE3", "EDUC3"), k = 5))
  expect_identical(
    setdiff(format(x, rows = 1), format(x, rows = Inf)), "4 more notes: print(x, rows = Inf)."
  )
})
