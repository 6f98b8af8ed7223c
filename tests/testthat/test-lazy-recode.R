# Recoding of a table of a database, which stays there: the figures of the data frame, its values,
# and an order that tells nothing.

skip_on_cran()

recode_engines <- c("sqlite", "postgres")

recode_keys <- c("region", "age", "size", "job")

# Text with missing values, whole numbers, other numbers, many names.
recode_file <- function(n = 200) {
  set.seed(12)
  file <- engine_file(7, n)[c("region", "age", "job", "w")]
  file$size <- c(0.25, 0.3, 0.35, 2, 1e6)[sample(5, n, TRUE)]
  file$income <- round(exp(stats::rnorm(n, 9)), 2)
  file$town <- sprintf("town %03d", sample(150, n, TRUE))
  file$id <- seq_len(n)
  file[order(file$age), c("id", recode_keys, "income", "town", "w")]
}

recode_roads <- list(
  bands = function(file) {
    file <- global_recode(file, age = c(21, 23), income = c(0, 5000, 20000))
    file <- top_code(file, size = 2)
    global_recode(file, region = list(ab = c("a", "B")), job = list(xy = c("x", "y")))
  },
  ends = function(file) {
    file <- top_code(file, size = 0.2, .by = "share", .replace = "mean")
    file <- bottom_code(file, age = 60, .by = "records")
    file <- top_code(file, age = 24, .replace = "mean")
    global_recode(file, age = c(0, 23), size = list(low = "2"))
  },
  names = function(file) {
    towns <- sort(unique(recode_file()$town))
    groups <- split(towns, rep(1:40, length.out = length(towns)))
    global_recode(file, town = rlang::set_names(groups, paste("group", 1:40)))
  }
)

says <- function(code, class, words) {
  error <- expect_error(quietly(code), class = paste0("sdcRisk_error_", class))
  expect_match(conditionMessage(error), words)
}

# Values as the engine has them, which has no factors.
recoded_rows <- function(data) {
  data <- as.data.frame(data)
  data[] <- lapply(data, function(x) if (is.factor(x)) as.character(x) else x)
  data <- data[order(data$id), ]
  rownames(data) <- NULL
  data
}

recoded_figures <- function(x) {
  quietly({
    protected <- suppress_cells(x, k = 3)
    results <- list(
      file_check(x), utility_loss(x), protected, compare_risk(protected), utility_loss(protected),
      utility_loss(suppress_cells(protected, k = 4))
    )
  })
  lapply(results, function(x) {
    x <- unclass(x)
    x[intersect(names(x), c("estimates", "variables", "pairs", "table"))]
  })
}

for (engine in recode_engines) {
  test_that(paste("a recoding on", engine, "is that of the data frame"), {
    data <- recode_file()
    table <- engine_table(engine, data)
    connection <- dbplyr::remote_con(table)
    before <- sort(DBI::dbListTables(connection))
    file <- sdc_file(table, recode_keys, weight_var = "w")
    in_r <- sdc_file(data, recode_keys, weight_var = "w")
    for (road in names(recode_roads)) {
      made <- quietly(recode_roads[[road]](file))
      expected <- quietly(recode_roads[[road]](in_r))
      expect_identical(summary(made)$history, summary(expected)$history, info = road)
      expect_identical(unclass(summary(made))$states, summary(expected)$states, info = road)
      expect_identical(sdc_roles(made), sdc_roles(expected), info = road)
      # Value by value, and with the levels of bands and groups.
      rows <- as.data.frame(quietly(release_data(made, keep_ids = TRUE)))
      expect_equal(recoded_rows(rows), recoded_rows(expected), tolerance = 1e-12, info = road)
      for (name in intersect(recode_keys, unclass(summary(made))$states$variable)) {
        counted <- unclass(summary(made))$data[[name]]
        expect_identical(levels(counted), levels(expected[[name]]), info = paste(road, name))
        expect_identical(is.ordered(counted), is.ordered(expected[[name]]))
      }
      if (road != "bands") next
      expect_equal(
        recoded_figures(made), recoded_figures(expected), tolerance = 1e-12, ignore_attr = TRUE,
        info = road
      )
      # Nothing is written but releases, and the table is as it was.
      left <- setdiff(DBI::dbListTables(connection), before)
      expect_true(all(grepl("^sdc_release_", left)), info = road)
      expect_equal(
        recoded_rows(dplyr::collect(table)), recoded_rows(data), tolerance = 1e-14, info = road
      )
    }
  })

  test_that(paste("a release on", engine, "has no level of suppressed values only"), {
    data <- data.frame(age = c(95, rep(c(25, 33, 47, 51), 25)), sex = rep(1:2, length.out = 101))
    file <- sdc_file(engine_table(engine, data), c("age", "sex"))
    coarse <- quietly(global_recode(file, age = c(0, 40, 60)))
    levels_of <- function(x) lapply(attr(quietly(release_data(x)), "sdc_levels"), levels)
    expect_identical(levels_of(coarse), list(age = c("0-39", "40-59", "60+")))
    protected <- quietly(suppress_cells(coarse, k = 3))
    release <- quietly(release_data(protected))
    expect_identical(levels_of(protected), list(age = c("0-39", "40-59")))
    expect_false("60+" %in% unlist(as.data.frame(release)))
    # The release counted again has the figures of the data frame.
    in_r <- quietly(suppress_cells(global_recode(
      sdc_file(data, c("age", "sex")), age = c(0, 40, 60)
    ), k = 3))
    expect_identical(
      n_matches(sdc_file(release, c("age", "sex")))$estimates$n,
      n_matches(release_data(in_r, shuffle = FALSE))$estimates$n
    )
  })

  test_that(paste("the order of a recoded release on", engine, "tells nothing"), {
    data <- recode_file()
    file <- sdc_file(engine_table(engine, data), recode_keys, id_vars = "town")
    coarse <- quietly(top_code(file, age = 22))
    first <- as.data.frame(quietly(release_data(coarse, keep_ids = "id")))
    second <- as.data.frame(quietly(release_data(coarse, keep_ids = "id")))
    expect_identical(names(first), setdiff(names(data), "town"))
    expect_setequal(first$id, data$id)
    expect_false(identical(first$id, second$id))
    old <- data$age[match(first$id, data$id)]
    changed <- which(old > 22)
    expect_gt(length(changed), 50)
    # The file is sorted by age, the release is not.
    expect_lt(abs(stats::cor(seq_along(old), old, use = "complete.obs")), 0.3)
    expect_lt(abs(mean(changed) - 100), 25)
    expect_gt(stats::cor(seq_along(data$age), data$age, use = "complete.obs"), 0.9)
  })
}

test_that("a recoded table has a report with the stages and figures of the data frame", {
  data <- recode_file()
  logged <- function(file) {
    path <- tempfile(fileext = ".html")
    on.exit(unlink(c(path, sub("html$", "json", path))))
    coarse <- quietly(recode_roads$bands(file))
    quietly(sdc_report(coarse, file = path, pictures = FALSE))
    log <- jsonlite::read_json(sub("html$", "json", path), simplifyVector = TRUE)$results
    values <- unlist(lapply(log$tables$estimates, as.list))
    list(log$stage, suppressWarnings(as.numeric(values)))
  }
  found <- logged(sdc_file(engine_table("sqlite", data), recode_keys, weight_var = "w"))
  expected <- logged(sdc_file(data, recode_keys, weight_var = "w"))
  expect_identical(found[[1]], expected[[1]])
  expect_equal(found[[2]], expected[[2]], tolerance = 1e-9)
})

test_that("what a suppression loses follows from counted patterns, strata included", {
  data <- recode_file()
  table <- engine_table("sqlite", data)
  blank <- function(file) {
    suppress_cells(file, c("region", "size", "job"), k = 3, strata_var = "age")
  }
  loss <- function(file) quietly(utility_loss(blank(file)))
  found <- loss(sdc_file(table, c("region", "size", "job"), weight_var = "w"))
  expected <- loss(sdc_file(data, c("region", "size", "job"), weight_var = "w"))
  for (part in c("estimates", "variables", "pairs")) {
    expect_equal(found[[part]], expected[[part]], tolerance = 1e-12)
  }
  expect_gt(found$estimates$n_blank, 0)
  # A regression is that of the records.
  coarse <- function(file) quietly(utility_loss(top_code(file, size = 2), model = size ~ age))
  keys <- c("size", "age")
  expect_equal(
    coarse(sdc_file(table, keys))$coefficients, coarse(sdc_file(data, keys))$coefficients,
    tolerance = 1e-9
  )
})

test_that("values before a recoding are held weakly", {
  data <- data.frame(town = rep(c("zqcanary a", "zqcanary b", "c"), 20), age = rep(1:20, 3))
  file <- sdc_file(engine_table("sqlite", data), c("town", "age"))
  made <- quietly(global_recode(file, town = list(z = c("zqcanary a", "zqcanary b"))))
  expect_identical(quietly(utility_loss(made))$variables$n_values_before, c(3L, 20L))
  # The query that recodes names them.
  expect_false(is.null(attr(made, "kept")$counted))
  expect_s3_class(rlang::wref_value(attr(made, "kept")$original), "sdc_open_file")
  held <- serialize(list(attr(made, "roles"), as.list(attr(made, "kept"))), NULL)
  expect_false(grepl("zqcanary", rawToChar(held[held != 0]), fixed = TRUE, useBytes = TRUE))
})

test_that("what cannot be recoded in a database is told", {
  data <- recode_file()
  table <- engine_table("sqlite", data)
  file <- sdc_file(table, recode_keys)
  says(global_recode(file, ages = c(1, 2)), "unknown_key_var", "age")
  says(global_recode(file, region = list(x = "Martian")), "bad_argument", "Not found")
  says(top_code(file, region = 3), "bad_argument", "number")
  says(
    global_recode(pattern_table(data, recode_keys), age = c(1, 2)), "bad_data", "pattern table"
  )
  says(release_data(file), "bad_argument", "As it came|as it came")
  made <- quietly(top_code(file, age = 22))
  says(release_data(made, new_ids = "region"), "bad_argument", "Use a query")
  says(utility_loss(quietly(invariant_pram(made))), "bad_data", "dplyr::collect")
  # Nothing is above the end: nothing is changed.
  same <- quietly(top_code(file, age = 1000))
  expect_identical(unclass(same)$states, NULL)
  expect_equal(n_matches(same)$estimates, n_matches(file)$estimates)
})

test_that("a recoding that was found for a sample is applied to the table", {
  data <- recode_file()
  found <- quietly(recode_search(data[1:150, ], c("age", "job"), constraint = list(k = 3)))
  levels <- unlist(found$best[1, c("age", "job")])
  expect_true(any(levels > 0))
  file <- sdc_file(engine_table("sqlite", data), c("age", "job"))
  made <- quietly(apply_recoding(found, file, blanks = FALSE))
  expected <- quietly(apply_recoding(found, sdc_file(data, c("age", "job")), blanks = FALSE))
  expect_identical(summary(made)$history, summary(expected)$history)
  expect_equal(
    recoded_rows(quietly(release_data(made, keep_ids = TRUE))), recoded_rows(expected),
    tolerance = 1e-12
  )
  expect_equal(
    quietly(utility_loss(made))$estimates, quietly(utility_loss(expected))$estimates,
    tolerance = 1e-12
  )
  expect_error(
    apply_recoding(found, file), "suppress_cells", class = "sdcRisk_error_bad_argument"
  )
})

for (engine in recode_engines) {
  test_that(paste("the recodings of a table on", engine, "are those of the data frame"), {
    data <- recode_file(400)
    keys <- recode_keys[c(1, 2, 4)]
    in_r <- sdc_file(data, keys, weight_var = "w")
    file <- sdc_file(engine_table(engine, data), keys, weight_var = "w")
    for (asked in list(
      list(k = 3), list(k = 5, suppress = 0.05), list(k = 3, cost = "loss"),
      list(constraint = list(prop_unique = 0.01), suppress = 0.02, blank_price = 2),
      list(constraint = list(k = 2, qar = 0.1), cost = "levels")
    )) {
      found <- quietly(do.call(recode_search, c(list(file), asked)))
      expected <- quietly(do.call(recode_search, c(list(in_r), asked)))
      for (part in c("best", "frontier", "estimates")) {
        expect_equal(found[[part]], expected[[part]], tolerance = 1e-12)
      }
    }
    found <- quietly(recode_search(file, k = 3))
    expect_identical(found$estimates$n_suppressed, 0)
    made <- quietly(apply_recoding(found))
    expected <- quietly(apply_recoding(recode_search(in_r, k = 3)))
    expect_identical(summary(made)$history, summary(expected)$history)
    expect_equal(
      recoded_rows(quietly(release_data(made, keep_ids = TRUE))), recoded_rows(expected),
      tolerance = 1e-12
    )
    # What the recoding leaves is suppressed by suppress_cells().
    found <- quietly(recode_search(file, k = 5, suppress = 0.1))
    left <- found$estimates$n_suppressed
    expect_gt(left, 0)
    says(apply_recoding(found), "bad_argument", paste(left, "records above the limit"))
    expect_output(print(found), "apply_recoding\\(x, data, blanks = FALSE\\)")
    protected <- quietly(suppress_cells(apply_recoding(found, blanks = FALSE), k = 5))
    expect_lte(protected$estimates$n_suppressed, left * length(keys))
    expect_gte(quietly(file_check(protected))$estimates$value[[1]], 5)
  })
}

test_that("a page of a table proposes the remedies that run there", {
  file <- sdc_file(engine_table("sqlite", recode_file(100)), recode_keys)
  page <- quietly(file_check(file, k = 3))
  expect_output(print(page), "Next: recoding <- recode_search(file, ", fixed = TRUE)
  made <- startsWith(page$next_steps, "recoding") | startsWith(page$next_steps, "coarser") |
    startsWith(page$next_steps, "released")
  expect_identical(sum(made), 3L)
  for (step in page$next_steps[made]) quietly(eval(parse(text = step)))
  expect_gte(quietly(file_check(released))$estimates$value[[1]], 3)
})

test_that("a search among counts refuses what needs records", {
  data <- recode_file(100)
  keys <- recode_keys[1:2]
  file <- sdc_file(engine_table("sqlite", data), keys, weight_var = "w", sensitive = "job")
  says(recode_search(file, constraint = list(journalist = 0.1)), "bad_data", "dplyr::collect")
  says(
    recode_search(file, sensitive = "job", constraint = list(l = 2)), "bad_data", "dplyr::collect"
  )
  says(recode_search(file, suppress = 0.1, blanks = "cells"), "bad_data", "dplyr::collect")
  # Patterns without their table are searched, but there is nothing to recode.
  table <- pattern_table(data, keys)
  found <- quietly(recode_search(table, k = 3))
  expect_identical(found$best, quietly(recode_search(data, keys, k = 3))$best)
  says(apply_recoding(found), "bad_data", "pattern table")
  says(apply_recoding(found, table, blanks = FALSE), "bad_data", "pattern table")
})

for (engine in recode_engines) {
  test_that(paste("identifiers are left out of a release on", engine, "and named"), {
    data <- recode_file(1200)
    data$code <- sprintf("p%06d", 7 * data$id)
    data$income <- data$income + 0.01 * seq_along(data$income)
    file <- sdc_file(engine_table(engine, data), recode_keys[c(1, 4)])
    in_r <- sdc_file(data, recode_keys[c(1, 4)])
    for (protect in list(
      function(x) suppress_cells(x, k = 3), function(x) global_recode(x, region = list(ab = "a"))
    )) {
      found <- quietly(protect(file))
      expected <- quietly(protect(in_r))
      message <- expect_message(
        released <- release_data(found), class = "sdcRisk_message_identifier_left_out"
      )
      expect_match(conditionMessage(message), "\"id\", \"code\"")
      expect_identical(colnames(released), names(quietly(release_data(expected))))
      expect_identical(setdiff(names(data), colnames(released)), c("id", "code"))
      kept <- quietly(release_data(found, keep_ids = "code", drop = "town"))
      expect_identical(colnames(kept), setdiff(names(data), c("id", "town")))
    }
  })
}

stop_engines()
