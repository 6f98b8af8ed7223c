# The road from import to report on a table of a database: the figures, verdicts and cells of the
# data frame, and a release whose form tells nothing.

skip_on_cran()

# The road leaves its release in a temporary table. DuckDB by Python and Spark have a session for
# every query, in which none lasts.
road_engines <- c("sqlite", "postgres")

# Two files: a survey with weights, and a register with missing values and text. The weights are
# rounded, so that they reveal no key variable: in a database other columns are not examined.
road_files <- function() {
  set.seed(41)
  register <- engine_file(41, 600)[c("region", "age", "job")]
  register$kind <- sample(c("p", "q", "r", "s", "t"), 600, TRUE, c(40, 30, 20, 9, 1))
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  survey <- transform(nals_prison[c(keys, "WEIGHT")], WEIGHT = round(WEIGHT, -2))
  list(
    survey = list(data = survey, keys = keys, weight_var = "WEIGHT"),
    register = list(data = register, keys = names(register), weight_var = NULL)
  )
}

# Sorted by its first key variable.
sorted_register <- function(n = 600) {
  set.seed(19)
  data.frame(
    id = seq_len(n), region = rep(1:12, each = n / 12), edu = sample(4, n, TRUE),
    age = sample(20:60, n, TRUE), note = "as it was", stringsAsFactors = FALSE
  )
}

sorted_rows <- function(data) {
  data <- as.data.frame(data)
  data <- data[do.call(order, c(unname(as.list(data)), list(method = "radix"))), , drop = FALSE]
  rownames(data) <- NULL
  data
}

# The road on a file, a list of what each step gives.
walk_road <- function(file, internal = TRUE) {
  path <- tempfile(fileext = ".html")
  page <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, page, sub("html$", "json", c(path, page)))))
  quietly({
    check <- file_check(file)
    protected <- suppress_cells(file, k = 3)
    after <- file_check(protected)
    loss <- utility_loss(protected)
    compared <- compare_risk(protected)
    sdc_report(
      check, protected, after, loss, compared, file = path, internal = internal, pictures = FALSE
    )
    sdc_report(suppress_cells(file, k = 3), page, internal = internal, pictures = FALSE)
  })
  logs <- lapply(sub("html$", "json", c(path, page)), jsonlite::read_json, simplifyVector = TRUE)
  list(
    check = check, protected = protected, after = after, loss = loss, compared = compared,
    log = logs[[1]], alone = logs[[2]]
  )
}

expect_same_numbers <- function(found, expected, info) {
  expect_identical(names(found), names(expected), info = info)
  for (name in names(found)) {
    expect_equal(found[[name]], expected[[name]], tolerance = 1e-12, info = paste(info, name))
  }
}

for (engine in road_engines) {
  test_that(paste("the road on", engine, "is that of the data frame"), {
    connection <- engine_connection(engine)
    for (name in names(road_files())) {
      given <- road_files()[[name]]
      expected <- walk_road(sdc_file(given$data, given$keys, weight_var = given$weight_var))
      table <- engine_table(engine, given$data)
      before <- sort(DBI::dbListTables(connection))
      file <- sdc_file(table, given$keys, weight_var = given$weight_var)
      found <- walk_road(file)
      info <- paste(engine, name)
      for (part in c("check", "after", "protected", "loss")) {
        expect_same_numbers(
          found[[part]]$estimates, expected[[part]]$estimates, paste(info, part)
        )
      }
      expect_gt(found$protected$estimates$n_suppressed, 0)
      for (part in c("variables", "pairs")) {
        expect_same_numbers(found$loss[[part]], expected$loss[[part]], paste(info, part))
      }
      expect_same_numbers(found$compared$table, expected$compared$table, paste(info, "compared"))
      # Cell by cell.
      released <- release_data(found$protected)
      expect_identical(colnames(released), names(given$data), info = info)
      expect_equal(
        sorted_rows(released), sorted_rows(expected$protected$data), tolerance = 1e-12,
        info = info, ignore_attr = TRUE
      )
      # The report has the same stages and figures.
      for (log in c("log", "alone")) {
        expect_identical(
          found[[log]]$results$stage, expected[[log]]$results$stage, info = paste(info, log)
        )
        figures <- function(made) {
          all <- unlist(lapply(made[[log]]$results$tables$estimates, as.list))
          suppressWarnings(as.numeric(all))
        }
        expect_equal(
          figures(found), figures(expected), tolerance = 1e-9, info = paste(info, log)
        )
      }
      # Check and protection are about one file, whatever table it was counted from.
      prints <- vapply(found[c("check", "protected")], function(x) x$settings$fingerprint, "")
      expect_identical(prints[[1]], prints[[2]], info = info)
      patterns <- quietly(file_check(
        pattern_table(
          given$data[rev(seq_len(nrow(given$data))), ], given$keys, weight_var = given$weight_var
        )
      ))
      expect_identical(patterns$settings$fingerprint, prints[[1]], info = info)
      # Numbers of records and changes do not stay behind.
      left <- setdiff(DBI::dbListTables(connection), before)
      expect_false(any(grepl("sdc_records|sdc_changes", left)), info = info)
      replayed <- quietly(file_check(found$protected))
      expect_identical(replayed$settings$fingerprint, found$after$settings$fingerprint)
    }
  })

  test_that(paste("a recoded file on", engine, "has a report with the file before"), {
    connection <- engine_connection(engine)
    set.seed(1)
    data <- data.frame(age = sample(15:60, 900, TRUE), race = sample(3, 900, TRUE, c(90, 9, 1)))
    changed <- replace(data, 1, list(rev(data$age)))
    sources <- list(
      list(data, changed), list(engine_table(engine, data), engine_table(engine, changed))
    )
    report <- function(...) {
      path <- tempfile(fileext = ".html")
      on.exit(unlink(c(path, sub("html$", "json", path))))
      quietly(sdc_report(..., file = path, pictures = FALSE))
      jsonlite::read_json(sub("html$", "json", path), simplifyVector = TRUE)$results$stage
    }
    stages <- lapply(sources, function(source) {
      file <- sdc_file(source[[1]], c("age", "race"))
      recoded <- quietly(global_recode(file, age = c(0, 30, 45)))
      protected <- quietly(suppress_cells(recoded, k = 3))
      after <- quietly(file_check(release_data(protected)))
      expect_error(
        report(file_check(sdc_file(source[[2]], c("age", "race"))), protected),
        class = "sdcRisk_error_mismatched_data"
      )
      list(
        report(file_check(file), protected, after), report(file_check(file), protected, data = file)
      )
    })
    expect_identical(stages[[2]], stages[[1]])
    expect_identical(
      lapply(stages[[1]], sort), list(c("after", "before", "before"), c("before", "before"))
    )
  })

  test_that(paste("a release on", engine, "without row ids is in a random order"), {
    data <- sorted_register()
    table <- engine_table(engine, data)
    file <- sdc_file(table, c("region", "edu", "age"), id_vars = "id")
    made <- lapply(1:2, function(i) quietly(suppress_cells(file, k = 3)))
    drawn <- quietly(invariant_pram(file, max_match_prob = 0.6))
    for (x in c(made, list(drawn))) {
      rows <- as.data.frame(x$data)
      expect_identical(names(rows), names(data))
      expect_setequal(rows$id, data$id)
      # Neither the old order nor that of the changes.
      expect_lt(abs(stats::cor(seq_along(rows$id), rows$id)), 0.2)
      old <- data[match(rows$id, data$id), ]
      differs <- Reduce(`|`, Map(function(x, y) is.na(x) | x != y, rows[2:4], old[2:4]))
      expect_gt(sum(differs), 20)
      expect_lt(abs(mean(which(differs)) - 300.5), 90)
      # An intruder who takes what a neighbour has finds no more than by chance.
      at <- which(rows$region != old$region | is.na(rows$region))
      at <- at[at > 1 & at < 600]
      if (length(at) > 20) {
        told <- rows$region[at - 1] == old$region[at] & rows$region[at + 1] == old$region[at]
        expect_lt(mean(told, na.rm = TRUE), 0.15)
      }
      # The ids stay.
      expect_identical(colnames(release_data(x)), c("region", "edu", "age", "note"))
    }
    ids <- lapply(made, function(x) as.data.frame(x$data)$id)
    expect_false(identical(ids[[1]], ids[[2]]))
    # The old order tells: the same attack on it.
    told <- data$region[1:598] == data$region[2:599] & data$region[3:600] == data$region[2:599]
    expect_gt(mean(told), 0.9)
  })
}

test_that("an order of row ids that reveals values leaves a table only if that is asked for", {
  set.seed(23)
  data <- data.frame(
    id = 1:600, region = rep(1:60, each = 10), edu = sample(4, 600, TRUE),
    sex = sample(2, 600, TRUE)
  )
  file <- sdc_file(engine_table("sqlite", data), c("region", "edu", "sex"), id_vars = "id")
  reasons <- function(release) {
    rows <- quietly(file_check(release))$estimates
    rows$reason[rows$measure == "k"]
  }
  x <- quietly(suppress_cells(file, k = 3, row_id = "id", importance = c(edu = 9, sex = 9)))
  expect_identical(x$diagnostics$told_by_order$variable, "region")
  notes <- capture.output(print(x, rows = Inf))
  expect_match(notes, "reveals region .*release_data[(][)] shuffles", all = FALSE)
  expect_message(release_data(x), class = "sdcRisk_message_shuffled")
  expect_identical(reasons(quietly(release_data(x))), "")
  release <- quietly(release_data(x, keep_ids = "id"))
  expect_lt(abs(stats::cor(1:600, as.data.frame(release)$id)), 0.2)
  # Sorted by them, the records are in the old order.
  expect_match(reasons(release), "not compared with the key variables: \"id\"")
  kept <- quietly(release_data(x, shuffle = FALSE))
  expect_match(reasons(kept), "the order of the records")
  # Of missing values between two neighbours that agree.
  region <- as.data.frame(kept)$region
  at <- which(is.na(region[2:599]) & region[1:598] == region[3:600]) + 1
  expect_gt(length(at), 20)
  expect_identical(as.integer(region[at - 1]), data$region[at])
  moved <- quietly(invariant_pram(file, max_match_prob = 0.6, row_id = "id"))
  expect_message(release_data(moved), class = "sdcRisk_message_shuffled")
  # What the order reveals of the values before two protections is not compared.
  again <- quietly(suppress_cells(suppress_cells(file, k = 3), k = 3, row_id = "id"))
  recoded <- quietly(global_recode(file, region = c(20, 40)))
  for (x in list(again, recoded, quietly(suppress_cells(recoded, k = 3, row_id = "id")))) {
    release <- quietly(release_data(x, keep_ids = "id"))
    expect_lt(abs(stats::cor(1:600, as.data.frame(release)$id)), 0.2)
    expect_error(release_data(x, shuffle = FALSE), class = "sdcRisk_error_bad_argument")
    expect_match(reasons(release), "not compared with the key variables: \"id\"")
  }
})

test_that("a protection of a protection in a database is one more step", {
  given <- road_files()$survey
  file <- sdc_file(engine_table("sqlite", given$data), given$keys)
  first <- quietly(suppress_cells(file, k = 3))
  second <- quietly(suppress_cells(first, k = 5))
  in_r <- quietly(suppress_cells(suppress_cells(sdc_file(given$data, given$keys), k = 3), k = 5))
  # A table does not keep the originals of its records.
  by_first <- c("n_single_candidate", "tau_intruder")
  same <- setdiff(names(in_r$estimates), by_first)
  expect_equal(second$estimates[same], in_r$estimates[same])
  expect_lt(second$estimates$tau_intruder, in_r$estimates$tau_intruder)
  line <- "Candidates fit the values before this protection: an intruder who knows those"
  expect_match(paste(format(second, width = 1e4), collapse = " "), line, fixed = TRUE)
  expect_no_match(paste(format(in_r, width = 1e4), collapse = " "), line, fixed = TRUE)
  expect_equal(sorted_rows(release_data(second)), sorted_rows(in_r$data), ignore_attr = TRUE)
  expect_identical(sdc_roles(second)$key_vars, given$keys)
  expect_length(attr(second, "past")$history, 1)
  # The comparison is with the first file.
  expect_equal(
    quietly(compare_risk(second))$table, quietly(compare_risk(in_r))$table, ignore_attr = TRUE
  )
  # A saved result does not hold it.
  path <- tempfile(fileext = ".rds")
  on.exit(unlink(path))
  saveRDS(second, path)
  expect_null(rlang::wref_value(attr(readRDS(path), "original")$columns))
})

# What goes wrong -------------------------------------------------------------------

test_that("mistakes on a file of a database say what to do", {
  given <- road_files()$survey
  data <- transform(given$data, id = seq_len(nrow(given$data)))
  table <- engine_table("sqlite", data)
  connection <- dbplyr::remote_con(table)
  file <- sdc_file(table, given$keys, weight_var = "WEIGHT")
  says <- function(code, class, words) {
    error <- expect_error(quietly(code), class = paste0("sdcRisk_error", class))
    expect_match(conditionMessage(error), words)
  }
  says(sdc_file(table, c("CENREG", "nobody")), "_unknown_key_var", "nobody")
  says(sdc_file(table, given$keys, weight_var = "weigth"), "_unknown_key_var", "WEIGHT")
  says(sdc_file(table, given$keys, hh_id = "id"), "_bad_argument", "dplyr::collect")
  says(sdc_file(table, given$keys, cluster = "id"), "_bad_argument", "dplyr::collect")
  says(sdc_file(table, given$keys, weight_var = "CENREG"), "", "CENREG|weight_var")
  says(suppress_cells(file, 3), "", "k = 3|k =")
  says(suppress_cells(file, k = 3, row_id = "nobody"), "_unknown_key_var", "nobody")
  says(recode_search(file, blanks = "cells"), "_bad_data", "dplyr::collect")
  says(utility_loss(invariant_pram(file)), "_bad_data", "dplyr::collect")
  says(suppress_cells(file, l = 2, sensitive = "CENREG"), "_bad_argument", "dplyr::collect")
  # A query can recode, too.
  coarse <- sdc_file(dplyr::mutate(table, CENREG = ifelse(CENREG > 3L, 3L, CENREG)), given$keys)
  protected <- quietly(suppress_cells(coarse, k = 3))
  expect_equal(nrow(as.data.frame(release_data(protected))), nrow(data))
  in_r <- quietly(suppress_cells(transform(data, CENREG = pmin(CENREG, 3L)), given$keys, k = 3))
  expect_equal(protected$estimates$n_suppressed, in_r$estimates$n_suppressed)
  # Every column of the table may get a role.
  expect_identical(sdc_roles(sdc_file(file, c(CENREG, id)))$key_vars, c("CENREG", "id"))
  # A loss is that of the file that was protected.
  other <- sdc_file(table, given$keys[-1])
  says(utility_loss(other, protected), "_mismatched_data", "Give the protection alone")
  # A table that has changed since.
  DBI::dbExecute(connection, paste(
    "UPDATE", dbplyr::remote_name(table), "SET CENREG = 1 WHERE id = 1"
  ))
  says(suppress_cells(file, k = 3), "_bad_data", "Make the file again")
  DBI::dbExecute(connection, paste("DELETE FROM", dbplyr::remote_name(table), "WHERE id < 9"))
  says(suppress_cells(file, k = 3), "_bad_data", "Make the file again")
  # A connection that was closed.
  skip_if_not_installed("RSQLite")
  closed <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(closed, "people", data)
  lost <- sdc_file(dplyr::tbl(closed, "people"), given$keys)
  check <- quietly(file_check(lost))
  kept <- quietly(suppress_cells(lost, k = 3))
  DBI::dbDisconnect(closed)
  says(suppress_cells(lost, k = 3), "", "connection|Invalid|engine")
  says(file_check(kept), "_bad_data", "engine")
  # What was counted stays.
  expect_equal(quietly(file_check(lost))$estimates, check$estimates)
})

test_that("weights and sensitive columns of a table are other columns", {
  set.seed(4)
  data <- data.frame(age = sample(10, 2000, TRUE, 10:1), region = sample(40, 2000, TRUE, (1:40)^-1))
  data$weight <- 50 + data$region
  data$ill <- sample(3, 2000, TRUE)
  roles <- list(key_vars = c("age", "region"), weight_var = "weight", sensitive = "ill")
  reason <- function(data) {
    x <- quietly(suppress_cells(do.call(sdc_file, c(list(data), roles)), k = 4))
    k <- measures(quietly(file_check(release_data(x), limit = list(k = 4))))[1, ]
    expect_identical(k$verdict, "unclear")
    k$note
  }
  told <- regmatches(reason(data), regexpr("\"weight\" reveals about .*\"region\"", reason(data)))
  expect_length(told, 1)
  expect_match(reason(engine_table("sqlite", data)), told, fixed = TRUE)
  # Those of more records stay in the engine.
  data$region[1:9] <- NA
  file <- sdc_file(engine_table("sqlite", data), c("age", "region"), weight_var = "weight")
  asked <- list(keys = c("age", "region"), n_incomplete = 9)
  file <- as_file(file, "x")
  expect_named(beside_in_table(file, asked), c("age", "region", "weight"))
  expect_null(beside_in_table(file, asked, 1999))
  expect_identical(not_compared(file, asked), "weight")
})

test_that("a table is told by columns with exceptions as its records are", {
  set.seed(8)
  data <- data.frame(
    sex = sample(c("f", "m"), 3000, TRUE), age = sample(8, 3000, TRUE, (1:8)^-1.5),
    region = sample(40, 3000, TRUE, (1:40)^-1)
  )
  # Asked of women alone.
  data$births <- ifelse(data$sex == "f", sample(0:4, 3000, TRUE), NA)
  keys <- c("sex", "age", "region")
  page <- function(data, ...) {
    file <- sdc_file(data, keys, sensitive = "births")
    x <- quietly(suppress_cells(file, k = 5, importance = c(age = 9, region = 9)))
    measures(quietly(file_check(release_data(x), limit = list(k = 5, ...))))
  }
  table <- page(engine_table("sqlite", data))
  expect_identical(table$verdict[table$measure == "k"], "unclear")
  expect_match(table$note[table$measure == "k"], "\"births\" reveals about", fixed = TRUE)
})

test_that("sensitive values of an incomplete table are judged as those of its records", {
  set.seed(9)
  data <- data.frame(sex = sample(c("f", "m"), 900, TRUE), age = sample(6, 900, TRUE))
  data$age[1:50] <- NA
  data$income <- sample(300, 900, TRUE)
  page <- function(data, l) {
    file <- sdc_file(data, c("sex", "age"), sensitive = "income")
    found <- measures(quietly(file_check(file, limit = list(k = 3, l = l))))
    found[c("measure", "value", "verdict", "note")]
  }
  for (l in c(2, 60)) expect_equal(page(engine_table("sqlite", data), l), page(data, l))
  table <- engine_table("sqlite", data)
  expect_error(
    suppress_cells(table, c("sex", "age"), k = 3, l = 2, sensitive = "income"),
    "`l` must be left out if `data` is a table", class = "sdcRisk_error_bad_argument"
  )
  for (file in list(data, table)) {
    expect_error(
      suppress_cells(sdc_file(file, c("sex", "age"), missing = "category"), k = 3),
      "counted by the same rule", class = "sdcRisk_error_bad_argument"
    )
  }
})

test_that("other columns of a table make the page of a protected file unclear", {
  set.seed(4)
  data <- data.frame(
    age = sample(10, 2000, TRUE, 10:1), job = sample(letters[1:9], 2000, TRUE, (1:9)^-1.2),
    region = sample(5, 2000, TRUE, c(50, 30, 10, 8, 2))
  )
  data$code <- c("c", "e", "a", "d", "b")[data$region]
  keys <- c("age", "job", "region")
  file <- sdc_file(engine_table("sqlite", data), keys)
  x <- quietly(suppress_cells(file, k = 4, importance = c(age = 3, job = 3)))
  found <- quietly(file_check(release_data(x)))
  k <- found$estimates[found$estimates$measure == "k", ]
  expect_identical(k$verdict, "unclear")
  expect_identical(k$reason, "columns are not compared with the key variables: \"code\"")
  expect_identical(found$diagnostics$not_compared, "code")
  # The code gives every region back: records are unique by it.
  released <- as.data.frame(dplyr::collect(release_data(x)))
  released$region <- match(released$code, c("c", "e", "a", "d", "b"))
  expect_identical(min(quietly(n_matches(released, keys))$records$n_matches), 1L)
  # Without it the suppression holds, and so does a table that nothing was done to.
  expect_identical(page_verdict(quietly(release_data(x, drop = "code"))), "ok")
  expect_length(quietly(file_check(file))$diagnostics$not_compared, 0)
})

test_that("the page of a table is that of its records now, compared letter by letter", {
  table <- engine_table("sqlite", data.frame(a = rep(1:2, each = 50), b = rep(1:5, 20)))
  con <- dbplyr::remote_con(table)
  file <- sdc_file(table, c("a", "b"))
  expect_identical(page_verdict(file), "ok")
  name <- dbplyr::remote_name(table)
  DBI::dbExecute(con, paste("UPDATE", DBI::dbQuoteIdentifier(con, name), "SET a = rowid"))
  expect_error(file_check(file), "must not change", class = "sdcRisk_error_bad_data")
  expect_identical(page_verdict(sdc_file(table, c("a", "b"))), "above")
  DBI::dbExecute(con, "CREATE TABLE cases (x TEXT COLLATE NOCASE, y INT)")
  on.exit(DBI::dbExecute(con, "DROP TABLE cases"))
  # Four x and one X, five by the engine.
  DBI::dbAppendTable(con, "cases", data.frame(x = c("X", rep(c("x", "y"), 4)), y = 1L))
  page <- quietly(file_check(sdc_file(dplyr::tbl(con, "cases"), c("x", "y"))))
  expect_identical(page$estimates$verdict[[1]], "unclear")
  expect_match(page$estimates$reason[[1]], "case or blanks alone as one: \"x\"", fixed = TRUE)
})
