# The road from import to report on five kinds of files: what the written page says is what the
# objects say.

skip_on_cran()

# File, check, remedy, release, check, report: the cells of the page by label.
walked <- function(data, keys, ...) {
  path <- tempfile(fileext = ".html")
  file <- sdc_file(data, keys, ...)
  check <- quietly(file_check(file))
  protected <- quietly(suppress_cells(file, k = 3))
  after <- quietly(file_check(protected))
  released <- quietly(release_data(protected))
  loss <- quietly(utility_loss(protected))
  quietly(sdc_report(
    check, protected, after = after, loss, file = path, internal = TRUE, pictures = FALSE
  ))
  html <- paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  log <- jsonlite::read_json(sub("html$", "json", path), simplifyVector = TRUE)
  rows <- regmatches(html, gregexpr("<tr>.*?</tr>", html, perl = TRUE))[[1]]
  cells <- lapply(rows, function(row) {
    found <- regmatches(row, gregexpr("<td[^>]*>.*?</td>", row, perl = TRUE))[[1]]
    # The value behind the text.
    number <- ifelse(grepl("data-value", found), sub(".*data-value=\"([^\"]*)\".*", "\\1", found),
                     gsub("<[^>]+>", "", found))
    number
  })
  unlink(c(path, sub("html$", "json", path)))
  list(
    check = check, protected = protected, after = after, released = released, loss = loss,
    cells = cells, log = log, file = file
  )
}

row_of <- function(made, label) {
  found <- Filter(function(cells) {
    length(cells) == 6 && sub(":.*", "", cells[[1]]) == label
  }, made$cells)
  expect_length(found, 1)
  found[[1]]
}

expect_page_agrees <- function(made, name) {
  value <- function(check, measure) check$estimates$value[check$estimates$measure == measure]
  verdict <- function(check, measure) check$estimates$verdict[check$estimates$measure == measure]
  k <- row_of(made, "Fewest matches, k")
  expect_equal(
    as.numeric(k[c(3, 5)]), c(value(made$check, "k"), value(made$after, "k")), info = name
  )
  expect_identical(k[c(4, 6)], c(verdict(made$check, "k"), verdict(made$after, "k")), info = name)
  uniques <- row_of(made, "Sample uniques")
  expect_equal(
    as.numeric(uniques[c(3, 5)]),
    c(value(made$check, "n_unique"), value(made$after, "n_unique")), info = name
  )
  # Counted once more on the values.
  data <- as.data.frame(made$file)
  keys <- sdc_roles(made$file)$key_vars
  if (!anyNA(data[keys])) {
    n <- table(do.call(paste, c(unname(lapply(data[keys], as.character)), sep = "\r")))
    expect_equal(as.numeric(uniques[[3]]), sum(n == 1), info = name)
    expect_equal(as.numeric(k[[3]]), min(n), info = name)
  }
  suppressed <- row_of(made, "Suppressed values")
  expect_equal(as.numeric(suppressed[[5]]), made$loss$estimates$prop_blank, tolerance = 1e-6)
  gone <- sum(is.na(made$released[keys])) - sum(is.na(made$file[keys]))
  expect_identical(as.numeric(gone), as.numeric(made$protected$estimates$n_suppressed), info = name)
  expect_identical(nrow(made$released), nrow(made$file), info = name)
  # The log holds the same figures.
  logged <- made$log$results$tables
  n_log <- unlist(lapply(logged$estimates$n_suppressed, as.numeric))
  expect_true(gone %in% n_log, info = name)
}

test_that("the page agrees with the objects on a survey, an SPSS file and a database", {
  skip_if_not_installed("haven")
  people <- adult[1:2500, c("age", "sex", "education_num", "race")]
  people$age <- people$age %/% 10
  path <- tempfile(fileext = ".sav")
  on.exit(unlink(path))
  haven::write_sav(people, path)
  keys <- names(people)
  of_spss <- walked(haven::read_sav(path), keys)
  expect_page_agrees(of_spss, "SPSS")
  plain <- walked(people, keys)
  expect_equal(of_spss$check$estimates$value, plain$check$estimates$value)
  expect_equal(of_spss$protected$estimates$n_suppressed, plain$protected$estimates$n_suppressed)
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con), add = TRUE)
  stored <- transform(people, sex = as.character(sex), race = as.character(race), id = 1:2500)
  DBI::dbWriteTable(con, "people", stored)
  table <- dplyr::tbl(con, "people")
  on_disk <- quietly(file_check(table, keys))
  of <- function(x, measure) x$estimates$value[x$estimates$measure == measure]
  for (measure in c("k", "n_unique", "prop_unique")) {
    expect_equal(of(on_disk, measure), of(plain$check, measure), info = measure)
  }
  written <- quietly(suppress_cells(table, keys, k = 3, row_id = "id", into = "public"))
  expect_equal(written$estimates$n_suppressed, plain$protected$estimates$n_suppressed)
  public <- as.data.frame(release_data(written))
  expect_equal(sum(is.na(public[keys])), plain$protected$estimates$n_suppressed)
  again <- quietly(file_check(public, keys))
  expect_equal(of(again, "k"), of(plain$after, "k"))
})

test_that("the page agrees with the objects on public files of other packages", {
  surveys <- "sdcMicro"
  skip_if_not_installed(surveys)
  here <- new.env()
  utils::data(list = "testdata", package = surveys, envir = here)
  keys <- c("urbrur", "roof", "walls", "sex", "relat")
  d <- here$testdata[c(keys, "sampling_weight")]
  expect_page_agrees(walked(d, keys, weight_var = "sampling_weight"), "testdata")
  surveys <- "laeken"
  skip_if_not_installed(surveys)
  utils::data(list = c("eusilc", "ses"), package = surveys, envir = here)
  keys <- c("db040", "hsize", "rb090", "pl030")
  d <- here$eusilc[c(keys, "rb050")]
  expect_page_agrees(walked(d, keys, weight_var = "rb050"), "eusilc")
  keys <- c("location", "size", "sex", "age", "education")
  expect_page_agrees(walked(here$ses[keys], keys), "ses")
})

test_that("twelve calls lead from file to report on five kinds of files", {
  for (package in c("sdcMicro", "laeken", "haven", "RSQLite", "dbplyr")) {
    skip_if_not_installed(package)
  }
  here <- new.env()
  packages <- c("sdcMicro", "laeken")
  utils::data(list = "testdata", package = packages[[1]], envir = here)
  utils::data(list = c("eusilc", "ses"), package = packages[[2]], envir = here)
  people <- adult[1:2500, c("age", "sex", "education_num", "race")]
  people$age <- people$age %/% 10
  path <- tempfile(fileext = ".sav")
  haven::write_sav(people, path)
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  people[c("sex", "race")] <- lapply(people[c("sex", "race")], as.character)
  DBI::dbWriteTable(con, "people", people)
  files <- list(
    testdata = here$testdata[c("urbrur", "roof", "walls", "sex", "relat", "sampling_weight")],
    eusilc = here$eusilc[c("db040", "hsize", "rb090", "pl030", "rb050")],
    ses = here$ses[c("location", "size", "sex", "age", "education")],
    spss = haven::read_sav(path), database = dplyr::tbl(con, "people")
  )
  found <- lapply(files, function(data) {
    page <- tempfile(fileext = ".html")
    weight <- intersect(c("sampling_weight", "rb050"), colnames(data))
    on.exit(unlink(c(page, sub("html$", "json", page))))
    quietly({
      file <- sdc_file(data, -all_of(weight), weight_var = if (length(weight)) weight)
      before <- file_check(file, k = 3)
      search <- recode_search(file, k = 3, suppress = 0.05)
      coarse <- apply_recoding(search, blanks = FALSE)
      protected <- suppress_cells(coarse, k = 3)
      after <- file_check(protected, k = 3)
      loss <- utility_loss(protected)
      compared <- compare_risk(protected)
      listed <- records_at_risk(before)
      sdc_report(protected, page)
      public <- release_data(protected)
      history <- summary(public)$history
    })
    expect_length(history, 2)
    expect_true(file.exists(page))
    released <- as.data.frame(public)
    expect_identical(nrow(released), as.integer(before$settings$n))
    n_new <- sum(is.na(released[sdc_roles(file)$key_vars]))
    n_old <- sum(is.na(as.data.frame(data)[sdc_roles(file)$key_vars]))
    expect_equal(n_new - n_old, protected$estimates$n_suppressed)
    expect_equal(loss$estimates$n_blank, protected$estimates$n_suppressed)
    k <- function(x) x$estimates$value[x$estimates$measure == "k"]
    c(k(before), k(after), protected$estimates$n_suppressed, nrow(compared$estimates) > 0)
  })
  expect_identical(vapply(found, `[[`, 1, 1), c(
    testdata = 1, eusilc = 1, ses = 1, spss = 1, database = 1
  ))
  expect_true(all(vapply(found, `[[`, 1, 2) >= 3))
  expect_identical(found$database, found$spss)
})
