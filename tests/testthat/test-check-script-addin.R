# The addin of RStudio, with an RStudio that is not there.

skip_on_cran()

skip_if_not_installed("callr")
skip_if_not_installed("rstudioapi")

# RStudio with a script open, whose user answers `yes`; what was asked of it is in `seen`.
with_rstudio <- function(code, path = "", contents = "", row = 1, yes = TRUE, project = NULL,
                         can = TRUE) {
  seen <- new.env()
  place <- asNamespace("rstudioapi")
  fake <- list(
    isAvailable = function(...) TRUE, hasFun = function(...) can,
    getActiveProject = function() project,
    getSourceEditorContext = function(...) {
      at <- c(row = row, column = 1)
      list(
        id = "d1", path = path, contents = contents,
        selection = list(list(range = list(start = at, end = at)))
      )
    },
    sourceMarkers = function(name, markers, ...) seen$markers <- markers,
    showQuestion = function(title, message, ...) {
      seen$question <- message
      yes
    },
    insertText = function(location, text, id) seen$inserted <- list(location, text, id)
  )
  old <- mget(names(fake), place)
  put <- function(functions) {
    for (name in names(functions)) {
      rlang::env_binding_unlock(place, name)
      assign(name, functions[[name]], place)
      rlang::env_binding_lock(place, name)
    }
  }
  put(fake)
  on.exit(put(old))
  seen$result <- force(code)
  seen
}

script <- c(
  "library(sdcRisk)", "keys <- c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\")",
  "people <- sdc_file(nals_prison[c(keys, \"SCORE\")], all_of(keys))",
  "write.csv(people, \"a.csv\")"
)

test_that("findings are markers, and a repair is inserted if it is wanted", {
  folder <- tempfile("addin")
  dir.create(folder)
  path <- file.path(folder, "s.R")
  seen <- with_rstudio(check_script_addin(), path, script)
  expect_identical(seen$markers$type, "error")
  expect_identical(seen$markers$file, path)
  expect_identical(c(seen$markers$line, seen$markers$column), c(4L, 1L))
  expect_match(seen$markers$message, "above_limit: .*19 of 182 records")
  expect_match(seen$question, "Line 4. Repair above_limit: people <- suppress_cells(", fixed = TRUE)
  expect_identical(seen$inserted[[1]]$start, rstudioapi::document_position(4, 1))
  expect_match(seen$inserted[[2]], "^people <- suppress_cells.*\n$")
  expect_identical(seen$inserted[[3]], "d1")
  expect_true(file.exists(file.path(folder, "a.csv")))
  expect_s3_class(seen$result, "sdc_script_check")

  # The data frame at the cursor comes before the first finding.
  seen <- with_rstudio(check_script_addin(), path, script, row = 3, yes = FALSE)
  expect_match(seen$question, "Line 3. Protect \"people\"", fixed = TRUE)
  expect_null(seen$inserted)

  # In the folder of a project, and without a finding nothing is asked.
  project <- file.path(folder, "project")
  dir.create(project)
  seen <- with_rstudio(
    check_script_addin(k = 1), path, c(script[1:3], "writeLines(\"here\", \"b.txt\")"),
    project = project
  )
  expect_identical(nrow(seen$markers), 0L)
  expect_null(seen$question)
  expect_true(file.exists(file.path(project, "b.txt")))
})

test_that("RStudio must run and show a script that has a name", {
  expect_error(check_script_addin(), "RStudio", class = "sdcRisk_error_no_client")
  expect_error(with_rstudio(check_script_addin()), "name", class = "sdcRisk_error_no_client")
  expect_error(
    with_rstudio(check_script_addin(), "s.R", can = FALSE), class = "sdcRisk_error_no_client"
  )
  expect_error(check_script_addin(k = "a"), class = "sdcRisk_error_bad_argument")
})
