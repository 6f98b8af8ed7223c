# Hierarchies in a log: what it holds, what replay() takes, and what is refused.

skip_on_cran()

recode_keys <- c("age", "sex", "education_num")
recode_file <- adult[1:1500, ]

recode_log <- function(..., internal = TRUE) {
  folder <- tempfile("logs")
  dir.create(folder)
  file <- file.path(folder, "report.html")
  sdc_report(..., file = file, internal = internal, pictures = FALSE)
  sub("html$", "json", file)
}

search_with <- function(hierarchies, k = 2, ...) {
  suppressMessages(
    recode_search(recode_file, recode_keys, hierarchies, constraint = list(k = k), ...)
  )
}

by_rule <- function() list(age = hierarchy(recode_file$age, widths = c(5, 10, 20), origin = 17))

by_category <- function() {
  list(
    age = hierarchy(recode_file$age, breaks = list(c(25, 30, 50), 30)),
    sex = data.frame(value = c("Male", "Female"), all = "person")
  )
}

test_that("hierarchies by a rule are in every log and are made of the data again", {
  expect_identical(by_rule()$age$rule, list(widths = c(5, 10, 20), origin = 17))
  found <- search_with(by_rule())
  for (internal in c(TRUE, FALSE)) {
    log <- recode_log(found, internal = internal)
    again <- replay(log, recode_file)
    # An external log has no `cost`: sizes of categories follow from it.
    expect_identical(nrow(again), if (internal) 10L else 9L)
    expect_true(all(again$equal))
  }
  # Proposals, that of the search and one that was given.
  own <- search_with(list(age = hierarchy(recode_file$age)))
  expect_identical(own$hierarchies$age$rule, rlang::set_names(list(), character()))
  expect_true(all(replay(recode_log(own, internal = FALSE), recode_file)$equal))
  # Every rule says all it was asked.
  x <- c(10, 12, 14, 25, 27, 31, 35)
  expect_identical(
    hierarchy(x, widths = 10, top = 30, bottom = 11, drop = FALSE)$rule,
    list(widths = 10, top = 30, bottom = 11, drop = FALSE)
  )
  expect_identical(
    hierarchy(c("11", "12", "2"), digits = 1, pad = "0")$rule, list(digits = 1, pad = "0")
  )
})

test_that("categories are in the internal log alone; replay() takes them", {
  found <- search_with(by_category())
  expect_true(all(replay(recode_log(found), recode_file)$equal))
  log <- recode_log(found, internal = FALSE)
  text <- paste(readLines(log), collapse = " ")
  for (value in c("Male", "Female", "person", "\"breaks\"", "\"table\"")) {
    expect_no_match(text, value, fixed = TRUE)
  }
  page <- paste(readLines(sub("json$", "html", log), encoding = "UTF-8"), collapse = " ")
  expect_match(page, "age: 4 levels (not in an external report)", fixed = TRUE)
  expect_no_match(page, "Female", fixed = TRUE)
  open <- replay(log, recode_file)
  expect_true(all(is.na(open$equal)))
  expect_match(open$note[[1]], "hierarchy of age, sex", fixed = TRUE)
  expect_true(all(replay(log, recode_file, hierarchies = by_category())$equal))
  part <- replay(log, recode_file, hierarchies = by_category()["age"])
  expect_match(part$note[[1]], "hierarchy of sex;", fixed = TRUE)
})

test_that("other hierarchies are refused", {
  log <- recode_log(search_with(by_category()), internal = FALSE)
  other <- by_category()
  other$age <- hierarchy(recode_file$age, breaks = list(c(25, 31, 50), 31))
  wrong <- "sdcRisk_error_mismatched_data"
  expect_error(replay(log, recode_file, hierarchies = other), "\"age\"", class = wrong)
  inside <- recode_log(search_with(by_category()))
  expect_error(replay(inside, recode_file, hierarchies = other["age"]), class = wrong)
  bad <- "sdcRisk_error_bad_argument"
  expect_error(replay(log, recode_file, hierarchies = list(town = other$age)), class = bad)
  expect_error(replay(log, recode_file, hierarchies = 1:3), class = bad)
  none <- recode_log(n_matches(recode_file, recode_keys))
  expect_error(
    replay(none, recode_file, hierarchies = other), "No result in the log", class = bad
  )
})

test_that("a rule of other values and a long table are arguments of replay()", {
  wider <- list(age = hierarchy(c(1, recode_file$age, 120), widths = c(5, 25)))
  log <- recode_log(search_with(wider))
  expect_match(replay(log, recode_file)$note[[1]], "hierarchy of age", fixed = TRUE)
  expect_true(all(replay(log, recode_file, hierarchies = wider)$equal))
  ages <- sort(unique(c(recode_file$age, 1000 + seq_len(6000))))
  long <- list(age = data.frame(value = ages, half = ages > 40))
  log <- recode_log(search_with(long))
  expect_lt(file.size(log), 20000)
  expect_match(replay(log, recode_file)$note[[1]], "hierarchy of age", fixed = TRUE)
  expect_true(all(replay(log, recode_file, hierarchies = long)$equal))
})

test_that("the recoded file need not be given, also where it was protected again", {
  found <- search_with(by_rule(), k = 2, suppress = 0.05)
  second <- apply_recoding(found, recode_file, 2)
  blanked <- suppress_cells(second, recode_keys, k = 40)
  expect_gt(blanked$estimates$n_suppressed, 0)
  log <- recode_log(
    found, after = n_matches(second, recode_keys), `after, blanked` = blanked,
    `after both` = n_matches(release_data(blanked), recode_keys),
    utility_loss(recode_file, release_data(blanked), recode_keys)
  )
  again <- replay(log, recode_file)
  expect_gt(nrow(again), 100)
  expect_true(all(again$equal))
  expect_identical(replay(log, list(second, recode_file))$now, again$now)
})

test_that("damaged hierarchies are refused", {
  log <- recode_log(search_with(by_category()))
  parsed <- jsonlite::fromJSON(log, simplifyVector = FALSE)
  refused <- function(change) {
    parsed$results[[1]]$call$arguments$hierarchies$of <- change(
      parsed$results[[1]]$call$arguments$hierarchies$of
    )
    path <- tempfile(fileext = ".json")
    jsonlite::write_json(parsed, path, auto_unbox = TRUE, null = "null", digits = NA)
    expect_error(
      replay(path, recode_file), "Hierarchies in it are damaged",
      class = "sdcRisk_error_bad_argument"
    )
  }
  refused(function(of) list())
  refused(function(of) unname(of))
  refused(function(of) {
    names(of$age$rule)[[1]] <- "table"
    of
  })
  refused(function(of) {
    of$age["fingerprint"] <- list(NULL)
    of
  })
  refused(function(of) {
    of$sex$table[[1]] <- of$sex$table[[1]][1]
    of
  })
  refused(function(of) {
    of$sex$table <- "file.csv"
    of
  })
})
