# Which file every result of a report is about: never a guess.

skip_on_cran()

stage_keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
stage_file <- sdc_file(nals_prison, stage_keys, weight_var = "WEIGHT")
quietly <- function(code) suppressWarnings(suppressMessages(code))

stages_in <- function(...) {
  file <- tempfile(fileext = ".html")
  quietly(sdc_report(..., file = file, pictures = FALSE))
  log <- jsonlite::fromJSON(sub("html$", "json", file), simplifyVector = FALSE)
  vapply(log$results, `[[`, "", "stage")
}

# The cells of the board's rows whose first cell begins with `start`.
board_cells <- function(file, start) {
  board <- xml2::xml_find_first(xml2::read_html(file), "//section[@class='board']//table")
  rows <- xml2::xml_find_all(board, ".//tr[td]")
  cells <- lapply(rows, function(row) xml2::xml_text(xml2::xml_find_all(row, "td")))
  Filter(function(row) startsWith(row[[1]], start), cells)
}

test_that("a result of the released file is after, whatever its roles", {
  check <- quietly(file_check(stage_file))
  protected <- suppress_cells(stage_file, k = 3)
  released <- release_data(protected)
  after <- n_matches(released, stage_keys)
  expect_identical(stages_in(check, protected, after), c("before", "before", "after"))
  expect_identical(stages_in(check, after, protected), c("before", "after", "before"))
  expect_identical(stages_in(after, protected), c("after", "before"))
  own <- n_matches(nals_prison, stage_keys)
  some <- n_matches(nals_prison, stage_keys[1:2])
  expect_identical(stages_in(check, own, some), rep("before", 3))
  expect_identical(
    stages_in(check, protected, own, after, some),
    c("before", "before", "before", "after", "before")
  )
  few <- n_matches(released, stage_keys[c(1, 6)])
  expect_identical(stages_in(check, protected, few)[[3]], "after")
  weighted <- individual_risk(released, stage_keys, "WEIGHT")
  expect_identical(stages_in(protected, own, weighted)[[3]], "after")
  for (data in list(nals_prison, stage_file)) {
    expect_identical(
      stages_in(check, protected, own, after, some, few, data = data),
      c("before", "before", "before", "after", "before", "after")
    )
  }
})

test_that("a release in another order of records is recognised", {
  protected <- suppress_cells(stage_file, k = 3)
  set.seed(11)
  shuffled <- release_data(protected)[sample(nrow(nals_prison)), ]
  for (result in list(
    n_matches(shuffled, stage_keys), n_matches(shuffled, stage_keys[c(2, 5)]),
    individual_risk(shuffled, stage_keys, "WEIGHT")
  )) {
    expect_identical(stages_in(protected, result), c("before", "after"))
  }
  # Unused levels and other columns are gone from it.
  factors <- nals_prison
  factors$CENREG <- factor(factors$CENREG, 1:9)
  factors$id <- seq_len(nrow(factors))
  protected <- quietly(suppress_cells(factors, stage_keys, k = 3))
  leaner <- droplevels(release_data(protected))[sample(nrow(nals_prison)), stage_keys]
  expect_identical(stages_in(protected, n_matches(leaner, stage_keys)), c("before", "after"))
  # One column in another order is another file.
  foreign <- shuffled
  foreign$GENDER <- sample(foreign$GENDER)
  expect_error(
    stages_in(protected, n_matches(foreign, stage_keys)), class = "sdcRisk_error_mismatched_data"
  )
})

test_that("what fits no file of the report is refused by name", {
  check <- quietly(file_check(stage_file))
  protected <- suppress_cells(stage_file, k = 3)
  set.seed(5)
  other <- nals_prison
  other$GENDER <- sample(other$GENDER)
  refused <- function(..., found) {
    expect_error(stages_in(...), found, fixed = TRUE, class = "sdcRisk_error_mismatched_data")
  }
  foreign <- n_matches(other, stage_keys)
  refused(check, foreign, found = "Result 2, of n_matches(), has another fingerprint")
  refused(check, protected, mine = foreign, found = "`mine`, of n_matches(),")
  refused(check, list(foreign), data = nals_prison, found = "Result 2, of n_matches(),")
  refused(check, n_matches(other, stage_keys[3:4]), found = "Result 2")
  refused(check, before = foreign, found = "`before`, of n_matches(),")
  refused(check, before = n_matches(release_data(protected), stage_keys), protected,
          found = "`before`, of n_matches(),")
  refused(check, n_matches(other[-1, ], "CENREG"), found = "has 181 records, the file 182")
  # Another column of weights, the keys being equal.
  weighed <- nals_prison
  weighed$WEIGHT <- rev(weighed$WEIGHT)
  refused(check, individual_risk(weighed, stage_keys, "WEIGHT"), found = "Result 2")
  # Nothing in common, so nothing is known: a name or the file tells.
  apart <- n_matches(nals_prison, stage_keys[3:6])
  first <- n_matches(nals_prison, stage_keys[1:2])
  refused(first, apart, found = "Nothing tells which file result 2")
  expect_identical(stages_in(first, before = apart), c("before", "before"))
  expect_identical(stages_in(first, apart, data = nals_prison), c("before", "before"))
  expect_identical(stages_in(first, after = foreign), c("before", "after"))
})

test_that("a loss of information is of the files in the report", {
  protected <- suppress_cells(stage_file, k = 3)
  losses <- list(
    utility_loss(nals_prison, protected, stage_keys), utility_loss(stage_file, protected$data)
  )
  for (loss in losses) {
    expect_identical(stages_in(protected, loss), c("before", "before"))
    expect_identical(stages_in(protected, loss, data = nals_prison), c("before", "before"))
    expect_identical(stages_in(protected, loss, data = stage_file), c("before", "before"))
  }
  other <- protected$data
  other$GENDER <- rev(other$GENDER)
  foreign <- utility_loss(nals_prison, other, stage_keys)
  expect_error(
    stages_in(protected, foreign), "`after` of result 2", class = "sdcRisk_error_mismatched_data"
  )
  expect_identical(stages_in(protected, loss = foreign), c("before", "before"))
  expect_error(
    stages_in(protected, utility_loss(other, protected, stage_keys)),
    class = "sdcRisk_error_mismatched_data"
  )
})

test_that("results of results and of two waves know their files", {
  risk <- quietly(qar_risk(nals_prison, stage_keys, pi_u = 0.4))
  protected <- suppress_cells(stage_file, k = 3)
  expect_identical(
    stages_in(
      risk, removal_path(risk, nals_prison, 3), removal_bound(risk, nals_prison, 3),
      risk_contribution(risk, nals_prison), protected
    ), rep("before", 5)
  )
  sample <- adult[1:500, ]
  keys <- c("age", "sex", "education_num")
  fit <- quietly(copula_fit(sample, keys))
  set.seed(1)
  expect_identical(
    stages_in(
      n_matches(sample, keys[1:2]), quietly(copula_uniqueness(fit, pop_size = 4000)),
      uniqueness_by_size(fit, 4000, n_sim = 3)
    ), rep("before", 3)
  )
  with_id <- function(data) transform(data, id = seq_len(nrow(data)))
  released <- with_id(release_data(protected))
  attack <- quietly(link_attack(with_id(nals_prison), released, stage_keys, "id"))
  expect_identical(stages_in(protected, attack), c("before", "after"))
  expect_error(
    stages_in(n_matches(nals_prison, stage_keys), quietly(link_attack(
      with_id(nals_prison[rev(1:182), ]), released, stage_keys, "id"
    ))), class = "sdcRisk_error_mismatched_data"
  )
})

# The road of vignette("sdcRisk"), of vignette("report") and of ?sdc_report, cell by cell.
test_that("the examples of the vignettes have the right figures in the right columns", {
  skip_if_not_installed("xml2")
  keys <- stage_keys
  below <- function(data) sum(n_matches(data, keys)$records$n_matches < 3)
  written <- function(...) {
    path <- tempfile(fileext = ".html")
    quietly(sdc_report(..., file = path, pictures = FALSE))
    path
  }
  row <- function(path, start) board_cells(path, start)[[1]][-1]

  check <- quietly(file_check(stage_file))
  protected <- suppress_cells(stage_file, k = 3)
  released <- release_data(protected)
  after <- n_matches(released, keys)
  path <- written(check, protected, after, utility_loss(nals_prison, protected, keys))
  # Figure, limit, before, its verdict, after, its verdict.
  expect_identical(row(path, "Fewest matches, k")[2:3], c("1", "above"))
  expect_length(board_cells(path, paste(
    "Fewest matches, k: before", below(nals_prison), "records beyond the limit"
  )), 1)
  expect_identical(
    row(path, "Records with fewer than 3 matches"), c("0", "", "", "0", "ok")
  )
  expect_identical(row(path, "Sample uniques:")[2:5], c("52", "", "0", ""))
  expect_match(paste(readLines(path), collapse = " "), paste(
    "Before the protection: 1 of 2 figures with a limit is above it, 1 is unclear; 13 figures",
    "without a verdict."
  ), fixed = TRUE)
  # The secret order of the release cannot be computed again.
  expect_true(all(replay(path, list(nals_prison, released))$equal))

  before <- individual_risk(stage_file)
  matches <- n_matches(nals_prison, keys)
  protected <- suppress_cells(nals_prison, keys, k = 3)
  released <- release_data(protected)
  after <- n_matches(released, keys)
  cost <- utility_loss(nals_prison, protected, keys)
  expect_identical(below(nals_prison), 88L)
  for (path in list(
    written(before, matches, protected, after, cost), written(matches, protected, after, cost)
  )) {
    expect_identical(row(path, "Records with fewer than 3 matches"), c("0", "", "", "0", "ok"))
    expect_identical(row(path, "Fewest matches, k"), c("at least 3", "1", "above", "3", "ok"))
    cells <- board_cells(path, "Sample uniques")[[1]]
    expect_identical(cells[-1], c("none", "52", "", "0", ""))
    expect_no_match(paste(readLines(path), collapse = " "), "The protection (", fixed = TRUE)
  }
})

test_that("what was made on other keys or households than the check stands first", {
  check <- quietly(file_check(sdc_file(
    transform(nals_prison, home = (seq_len(182) - 1) %/% 2), stage_keys, hh_id = "home"
  )))
  page <- function(...) {
    file <- tempfile(fileext = ".html")
    quietly(sdc_report(..., file = file, pictures = FALSE))
    list(file = file, text = gsub("<[^>]*>", " ", paste(readLines(file), collapse = " ")))
  }
  # A position in place of k: one key variable was protected.
  trap <- suppress_cells(nals_prison, "DAGE3", k = 3)
  made <- page(check, trap)
  expect_match(made$text, paste0(
    "For the board +The protection \\(suppress_cells\\) was made on DAGE3, without households; ",
    "the check \\(file_check\\) on CENREG, DAGE3, EDUC3, GENDER, BORNUSA, DRACE3, with households ",
    "home[.]"
  ))
  cells <- board_cells(made$file, "Records with fewer than 3 matches (rule")[[1]]
  expect_identical(utils::tail(cells, 1), "not judged")
  after <- page(check, after = n_matches(release_data(trap), "DAGE3"))
  expect_match(
    after$text, "The result after the protection (n_matches) was made on DAGE3", fixed = TRUE
  )
  cells <- board_cells(after$file, "Fewest matches, k: of other")[[1]]
  expect_identical(utils::tail(cells, 1), "not judged")
  # Households that were left out.
  made <- page(check, suppress_cells(nals_prison, stage_keys, k = 3))
  expect_match(made$text, "was made without households; the check (file_check) with", fixed = TRUE)
  # Other weights are named, and a verdict that does not depend on them stands.
  weighted <- quietly(file_check(stage_file))
  made <- page(weighted, suppress_cells(nals_prison, stage_keys, k = 3))
  expect_match(made$text, "without weights; the check (file_check) with weights WEIGHT",
               fixed = TRUE)
  cells <- board_cells(made$file, "Records with fewer than 3 matches (rule")[[1]]
  expect_identical(utils::tail(cells, 1), "ok")
  same <- page(weighted, suppress_cells(stage_file, k = 3))
  expect_no_match(same$text, "The protection (", fixed = TRUE)
})

test_that("every check of a report is judged by the limits of the report", {
  skip_if_not_installed("xml2")
  before <- quietly(file_check(nals_prison, stage_keys, limit = list(k = 5)))
  protected <- quietly(suppress_cells(nals_prison, stage_keys, k = 3))
  after <- quietly(file_check(protected$data, stage_keys))
  path <- tempfile(fileext = ".html")
  quietly(sdc_report(before, protected, after = after, file = path, pictures = FALSE))
  row <- board_cells(path, "Fewest matches, k")[[1]]
  below <- sum(n_matches(protected$data, stage_keys)$records$n_matches < 5)
  expect_gt(below, 0)
  expect_identical(utils::tail(row, 2), c("3", "above"))
  page <- paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  expect_match(page, "every key is shared by at least 5 records")
  expect_no_match(page, "After the protection: within the limit")
})

test_that("a protection on several key sets is not one on all variables together", {
  set.seed(1)
  data <- data.frame(a = sample(12, 1500, TRUE), b = sample(12, 1500, TRUE),
                     c = sample(12, 1500, TRUE))
  check <- quietly(file_check(data))
  sets <- quietly(suppress_cells(data, list(x = c("a", "b"), y = "c"), k = 2))
  file <- tempfile(fileext = ".html")
  quietly(sdc_report(check, sets, file = file, pictures = FALSE))
  text <- gsub("<[^>]*>", " ", paste(readLines(file), collapse = " "))
  expect_match(text, "suppress_cells\\) was made on a, b; on c; the check .* on a, b, c")
  expect_no_match(text, "After the protection: within the limit", fixed = TRUE)
})

test_that("the check of the file before all steps of a chain is before, a foreign one refused", {
  check <- quietly(file_check(stage_file))
  coarse <- global_recode(stage_file, EDUC3 = list(low = 1:2))
  protected <- quietly(suppress_cells(coarse, k = 3))
  after <- quietly(file_check(protected))
  expect_identical(stages_in(check, protected, after), c("before", "after", "before"))
  expect_identical(
    stages_in(protected, after, n_matches(stage_file), utility_loss(stage_file, protected)),
    c("after", "before", "before", "before")
  )
  expect_identical(
    stages_in(check, protected, after, data = nals_prison), c("before", "after", "before")
  )
  # The file between the steps is the one that was protected, if nothing is about another.
  expect_identical(stages_in(n_matches(coarse), protected), c("before", "before"))
  expect_error(
    stages_in(check, n_matches(coarse), protected), class = "sdcRisk_error_mismatched_data"
  )
  # A file of the same size and values.
  foreign <- transform(nals_prison, EDUC3 = rev(EDUC3))
  of_foreign <- quietly(file_check(sdc_file(foreign, stage_keys, weight_var = "WEIGHT")))
  expect_error(stages_in(of_foreign, protected, after), class = "sdcRisk_error_mismatched_data")
  expect_error(
    stages_in(check, protected, data = foreign), class = "sdcRisk_error_mismatched_data"
  )
})

test_that("files of different size are named as such", {
  check <- function(n) quietly(file_check(people(n), c("age", "sex")))
  lines <- function(...) {
    path <- tempfile(fileext = ".html")
    on.exit(unlink(c(path, sub("html$", "json", path))))
    quietly(sdc_report(..., file = path, pictures = FALSE))
    grep("The file before has 300 records, the file after 200", readLines(path))
  }
  expect_length(lines(before = check(300), after = check(200)), 1)
  expect_length(lines(before = check(300), after = check(300)), 0)
})

test_that("a file whose columns were made longer is one file", {
  set.seed(1)
  grown <- data.frame(a = as.double(sample(5, 400, TRUE)), b = sample(3, 400, TRUE))
  grown <- rbind(grown, data.frame(a = 5 + 1:20, b = 1))
  file <- sdc_file(grown, c("a", "b"))
  protected <- quietly(suppress_cells(file, k = 3))
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  expect_no_error(quietly(sdc_report(
    file_check(file), protected, utility_loss(protected), file = path, pictures = FALSE
  )))
})
