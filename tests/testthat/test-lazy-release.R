# Tables of a database that are protected where they lie: the new table is the release of
# the data frame in the order of the row ids, to the last value, whatever the chunks. The
# suite runs on every engine that is installed.

skip_on_cran()

keys <- c("region", "age", "income", "job")

# The file of the suite with a row id, whole numbers or text, in no order.
file_with_ids <- function(seed, n, text = FALSE) {
  file <- engine_file(seed, n)
  file$id <- sample(10 * n, n)
  if (text) file$id <- sprintf("p%05d", file$id)
  file
}

in_order <- function(data) {
  data <- data[order(data$id, method = "radix"), ]
  rownames(data) <- NULL
  data
}

# What is in a table of the engine, in the order of the ids.
rows_of <- function(table) in_order(as.data.frame(dplyr::collect(table)))

# A data frame of R in the types that the engine gives.
as_engine <- function(data, like) {
  data[] <- Map(function(x, like) {
    methods::as(if (is.character(like)) as.character(x) else x, class(like))
  }, data, like[names(data)])
  data
}

new_name <- function() {
  engine_state$n_released <- c(engine_state$n_released, 0)
  paste0("released_", length(engine_state$n_released))
}

expect_same_release <- function(by_engine, by_records, info) {
  expect_null(by_engine$records, info = info)
  numbers <- setdiff(names(by_records$estimates), "gap")
  expect_equal(
    by_engine$estimates[numbers], by_records$estimates[numbers], tolerance = 1e-12, info = info
  )
  expect_equal(by_engine$variables, by_records$variables, tolerance = 1e-12, info = info)
  text <- function(x) {
    lines <- sub("\\$cells.*", "", format(x, width = 200))
    grep("Implausible|mplausible|Missing:", lines, value = TRUE, invert = TRUE)
  }
  expect_identical(text(by_engine), text(by_records), info = info)
  found <- rows_of(release_data(by_engine, keep_ids = TRUE))
  expected <- as.data.frame(release_data(by_records, keep_ids = TRUE))
  expect_identical(found, as_engine(expected, found), info = info)
}

# Chunks are made in R, for all engines alike: several and one by turns.
chunk_on <- function(engine, i) {
  if (engine == "sqlite") c(40, 1e6)[[1 + (i %/% 2) %% 2]] else if (engine == "postgres") 40 else 80
}

for (engine in setdiff(suite_engines, "data frame")) {
  test_that(paste("PRAM on", engine, "is that of the data frame, whatever the chunks"), {
    questions <- list(
      list(), list(within = "job", unprotected = "keep", weight_var = "w"),
      list(max_match_prob = 0.5, prefer = "nearest", unprotected = "keep"), list()
    )
    for (i in seq_along(questions)) {
      text <- engine == "spark" || i %% 2 == 0
      more <- questions[[i]]
      data <- file_with_ids(11 + text, 150, text)
      table <- engine_table(engine, data)
      ordered <- in_order(data)
      perturb <- function(data, ...) {
        set.seed(5)
        quietly(do.call(invariant_pram, c(list(data, keys[1:3]), more, list(...))))
      }
      expected <- perturb(ordered)
      expect_gt(expected$estimates$n_changed, 0)
      chunk_size <- chunk_on(engine, i)
      found <- perturb(table, row_id = "id", into = new_name(), chunk_size = chunk_size)
      info <- paste(engine, text, paste(names(more), collapse = " "), chunk_size)
      expect_same_release(found, expected, info)
      expect_equal(found$cells, expected$cells, tolerance = 1e-12, info = info)
      expect_equal(found$blocks, expected$blocks, info = info)
      expect_identical(
        as.integer(found$diagnostics$new_counts), expected$diagnostics$new_counts
      )
      patterns <- found$patterns
      expect_equal(sum(patterns$n), 150)
      expect_equal(sum(patterns$n_changed), found$estimates$n_changed)
      expect_equal(
        rowsum(patterns$n, patterns$cell)[, 1], expected$cells$count, ignore_attr = TRUE
      )
    }
    # What was there stays as it was.
    expect_identical(rows_of(table), as_engine(in_order(data), rows_of(table)))
  })

  test_that(paste("suppression on", engine, "is that of the data frame, whatever the chunks"), {
    data <- file_with_ids(13, 120)
    table <- engine_table(engine, data)
    ordered <- in_order(data)
    questions <- list(
      list(keys), list(list(a = keys[1:3], b = keys[2:4]), k = 4, weight_var = "w"),
      list(keys[1:3], linked = list(age = "job"), importance = c(age = 2), k = 5),
      list(keys[2:4], strata_var = "region", k = 2)
    )
    for (i in seq_along(questions)) {
      blank <- function(data, ...) {
        quietly(do.call(suppress_cells, c(list(data), questions[[i]], list(...))))
      }
      expected <- blank(ordered)
      expect_gt(expected$estimates$n_suppressed, 0)
      chunk_size <- chunk_on(engine, i)
      found <- blank(table, row_id = "id", into = new_name(), chunk_size = chunk_size)
      info <- paste(engine, i, chunk_size)
      expect_same_release(found, expected, info)
      expect_equal(found$sets, expected$sets, tolerance = 1e-12, info = info)
      expect_identical(found$estimates$gap, 0)
      expect_identical(names(found$cells), c("pattern", "variable", "reason", "n"))
      expect_equal(sum(found$cells$n), nrow(expected$cells))
      expect_equal(
        tapply(found$cells$n, paste(found$cells$variable, found$cells$reason), sum),
        table(paste(expected$cells$variable, expected$cells$reason)), ignore_attr = TRUE
      )
      expect_equal(summary(found)$risk_by_strata, summary(expected)$risk_by_strata)
    }
  })

  test_that(paste("nothing is left on", engine, "when it goes wrong"), {
    data <- file_with_ids(14, 60)
    table <- engine_table(engine, data)
    connection <- dbplyr::remote_con(table)
    patterns <- pattern_table(table, keys)$patterns
    into <- new_name()
    # Interrupted, or an error of R or of the engine's records, after chunks that were written.
    failures <- list(
      function(found) rlang::interrupt(), function(found) stop("by us"), NULL
    )
    tables <- function() sort(DBI::dbListTables(connection))
    before <- if (engine %in% c("sqlite", "postgres")) tables()
    for (fails in failures) {
      calls <- 0
      work <- function(at) {
        calls <<- calls + 1
        found <- list(rows = seq_along(at), to = at, flags = list(rep(1L, length(at))))
        if (calls == 3 && !is.null(fails)) fails(found) else found
      }
      lazy <- list(
        data = table, columns = keys, row_id = "id", into = into, chunk_size = 10, n = 60,
        connection = connection,
        # Donors that are not there are found out when all chunks are written.
        first = if (is.null(fails)) -seq_len(nrow(patterns)) else seq_len(nrow(patterns))
      )
      caught <- tryCatch(
        write_release(lazy, patterns, list(age = seq_len(nrow(patterns))), work),
        error = identity, interrupt = identity
      )
      expect_true(inherits(caught, c("error", "interrupt")))
      expect_identical(calls, if (is.null(fails)) 6 else 3)
      expect_false(DBI::dbExistsTable(connection, into))
      if (!is.null(before)) expect_identical(tables(), before)
    }
  })

  test_that(paste("what cannot be released on", engine, "is refused before any work"), {
    data <- file_with_ids(15, 30)
    data$twice <- c(1, 1, 3:30)
    data$gap <- c(NA, 2:30)
    data$part <- 1:30 / 2
    table <- engine_table(engine, data)
    into <- new_name()
    refused <- function(...) {
      arguments <- utils::modifyList(list(data = table, key_vars = keys, row_id = "id",
                                          into = into, k = 2), list(...))
      error <- expect_error(
        do.call(suppress_cells, arguments), class = "sdcRisk_error_bad_argument"
      )
      expect_false(DBI::dbExistsTable(dbplyr::remote_con(table), into))
      error
    }
    expect_identical(refused(row_id = "age")$argument, "row_id")
    expect_error(
      suppress_cells(table, keys, row_id = "nobody", into = into), "nobody", class = "sdcRisk_error"
    )
    expect_match(conditionMessage(refused(row_id = "twice")), "1 record with the value of another")
    expect_match(conditionMessage(refused(row_id = "gap")), "1 record without a value")
    expect_match(conditionMessage(refused(row_id = "part")), "have a fraction")
    for (bad in list(c("a", "b"), "", NA, 1)) {
      expect_identical(refused(into = bad)$argument, "into")
    }
    expect_identical(refused(chunk_size = 0)$argument, "chunk_size")
    expect_identical(refused(hh_id = "twice")$argument, "hh_id")
    for (rule in c("shared", "strict")) {
      expect_match(conditionMessage(refused(rule = rule)), "depend on those of all others")
    }
    expect_error(
      suppress_cells(table, keys, row_id = "id", into = into, max_patterns = 3),
      class = "sdcRisk_error_too_large"
    )
    expect_error(
      suppress_cells(table, c("age", "salary"), row_id = "id", into = into),
      class = "sdcRisk_error_unknown_key_var"
    )
    expect_error(
      invariant_pram(table, c("age", "age"), row_id = "id", into = into), class = "sdcRisk_error"
    )
    expect_error(
      invariant_pram(table, keys, row_id = "id", into = into, max_match_prob = 80),
      class = "sdcRisk_error_bad_argument"
    )
    made <- quietly(suppress_cells(table, keys, k = 2, row_id = "id", into = into))
    error <- expect_error(
      suppress_cells(table, keys, k = 2, row_id = "id", into = into), "not exist yet",
      class = "sdcRisk_error_bad_argument"
    )
    expect_identical(error$argument, "into")
    expect_equal(nrow(rows_of(made$data)), 30)
    none <- dplyr::filter(table, age > 1000)
    expect_error(
      suppress_cells(none, keys, row_id = "id", into = new_name()), "at least one record",
      class = "sdcRisk_error_bad_data"
    )
    gone <- dplyr::mutate(table, sdc_row = 1L)
    expect_error(
      suppress_cells(gone, keys, row_id = "id", into = new_name()), "begin with",
      class = "sdcRisk_error_bad_data"
    )
  })
}

# A file that is sorted by its first key variable in the order of the row ids.
sorted_file <- function(n = 600) {
  set.seed(19)
  data.frame(
    id = seq_len(n), region = rep(1:12, each = n / 12), edu = sample(4, n, TRUE),
    age = sample(20:60, n, TRUE), note = "as it was", stringsAsFactors = FALSE
  )
}

for (engine in setdiff(suite_engines, "data frame")) {
  test_that(paste("a release on", engine, "has its records in the order of the row ids"), {
    data <- sorted_file()
    table <- engine_table(engine, data)
    connection <- dbplyr::remote_con(table)
    set.seed(4)
    names <- c(new_name(), new_name())
    perturbed <- quietly(invariant_pram(
      table, c("region", "edu", "age"), max_match_prob = 0.6, row_id = "id", into = names[[1]]
    ))
    blanked <- quietly(suppress_cells(
      table, c("region", "edu", "age"), row_id = "id", into = names[[2]], chunk_size = 250
    ))
    for (found in list(perturbed, blanked)) {
      name <- names[[1 + identical(found, blanked)]]
      for (rows in list(
        DBI::dbGetQuery(connection, paste("SELECT * FROM", name)),
        as.data.frame(release_data(found, keep_ids = TRUE, shuffle = FALSE))
      )) {
        expect_equal(rows$id, data$id)
        differs <- Reduce(`|`, Map(function(x, y) is.na(x) | x != y, rows[2:4], data[2:4]))
        # They lie among the others, not beside each other.
        expect_gt(sum(differs), 50)
        expect_lt(abs(mean(which(differs)) - 300.5), 60)
        expect_gt(sum(diff(differs) != 0), 20)
      }
    }
  })
}

test_that("the order of the row ids is attacked, as that of a data frame is", {
  data <- sorted_file()
  table <- engine_table("sqlite", data)
  told_by <- function(data, ...) {
    told <- NULL
    set.seed(6)
    withCallingHandlers(
      invariant_pram(data, c("region", "edu", "age"), max_match_prob = 0.6, ...),
      sdcRisk_message_told_by_order = function(m) told <<- m,
      message = function(m) invokeRestart("muffleMessage"),
      warning = function(w) invokeRestart("muffleWarning")
    )
    told
  }
  expected <- told_by(data[2:4])$told
  for (chunk_size in c(1e6, 77)) {
    into <- new_name()
    found <- told_by(table, row_id = "id", into = into, chunk_size = chunk_size)
    expect_equal(found$told, expected)
    expect_match(
      conditionMessage(found), "dplyr::compute(release_data(x), name = , temporary = FALSE)",
      fixed = TRUE
    )
  }
  # An intruder who takes what both neighbours have finds as much.
  released <- DBI::dbReadTable(dbplyr::remote_con(table), into)$region
  moved <- which(released != data$region)
  moved <- moved[moved > 1 & moved < 600]
  back <- released[moved - 1] == data$region[moved] & released[moved + 1] == data$region[moved]
  expect_gt(found$told$share, mean(back) - 0.05)
  expect_gt(mean(back), 0.7)
  # In a random order of the ids nothing is told.
  data$id <- sample(600)
  expect_null(told_by(engine_table("sqlite", data), row_id = "id", into = new_name()))
})

test_that("a role of PostgreSQL that only reads is found out before any work", {
  table <- engine_table("postgres", file_with_ids(20, 30))
  connection <- dbplyr::remote_con(table)
  statement <- function(...) for (sql in c(...)) DBI::dbExecute(connection, sql)
  on.exit(statement("RESET ROLE", "SET default_transaction_read_only = off"))
  statement(
    "CREATE ROLE reader", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    "REVOKE CREATE ON SCHEMA public FROM PUBLIC"
  )
  refused <- function() {
    for (f in list(suppress_cells, invariant_pram)) {
      error <- expect_error(
        f(table, keys, row_id = "id", into = "read_only"), "may write to",
        class = "sdcRisk_error_bad_argument"
      )
      expect_identical(error$argument, "data")
    }
  }
  statement("SET ROLE reader")
  refused()
  statement("RESET ROLE", "SET default_transaction_read_only = on")
  refused()
})

test_that("arguments for databases are refused for data in R", {
  data <- file_with_ids(16, 30)
  expect_error(
    suppress_cells(data, keys, row_id = "id"), "left out", class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    invariant_pram(data, keys, into = "a"), "left out", class = "sdcRisk_error_bad_argument"
  )
})

test_that("a connection that only reads is found out before any work", {
  file <- tempfile(fileext = ".sqlite")
  on.exit(unlink(file))
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  connection <- DBI::dbConnect(RSQLite::SQLite(), file)
  DBI::dbWriteTable(connection, "people", file_with_ids(17, 30))
  DBI::dbDisconnect(connection)
  connection <- DBI::dbConnect(RSQLite::SQLite(), file, flags = RSQLite::SQLITE_RO)
  on.exit(DBI::dbDisconnect(connection), add = TRUE, after = FALSE)
  people <- dplyr::tbl(connection, "people")
  for (f in list(suppress_cells, invariant_pram)) {
    error <- expect_error(
      f(people, keys, row_id = "id", into = "a"), "may write to",
      class = "sdcRisk_error_bad_argument"
    )
    expect_match(conditionMessage(error), "readonly")
  }
  simulated <- dbplyr::tbl_lazy(data.frame(id = 1, a = 1), con = dbplyr::simulate_postgres())
  expect_error(
    suppress_cells(simulated, "a", row_id = "id", into = "b"), class = "sdcRisk_error"
  )
})

test_that("columns of the engine keep their types, and values their last digit", {
  table <- engine_sql(
    "postgres", "typed", paste(
      "CREATE TABLE typed (id BIGINT, code CHAR(4), day DATE, amount NUMERIC(20, 12), big BIGINT,",
      "x DOUBLE PRECISION)"
    ),
    paste(
      "INSERT INTO typed SELECT 900719925474000 + i, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'bc' END,",
      "DATE '2020-01-01' + (i % 5)::int, 1.123456789012 * (i % 4), 9007199254740993 + i,",
      "CASE WHEN i % 7 = 0 THEN 'NaN'::float8 WHEN i % 7 = 1 THEN NULL ELSE i % 7 END",
      "FROM generate_series(1, 60) AS i"
    )
  )
  connection <- dbplyr::remote_con(table)
  types <- function(name) {
    DBI::dbGetQuery(connection, paste0(
      "SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE ",
      "attrelid = '", name, "'::regclass AND attnum > 0 ORDER BY attnum"
    ))
  }
  count <- function(sql) as.numeric(DBI::dbGetQuery(connection, sql)[[1]])
  set.seed(3)
  perturbed <- quietly(invariant_pram(
    table, c("code", "day", "amount", "x"), row_id = "id", into = "typed_pram", chunk_size = 7
  ))
  blanked <- quietly(suppress_cells(
    table, c("code", "day", "amount", "x"), k = 2, row_id = "id", into = "typed_blank",
    chunk_size = 7
  ))
  for (name in c("typed_pram", "typed_blank")) {
    expect_identical(types(name), types("typed"))
    # Beyond 2^53, which R cannot hold.
    expect_identical(count(paste(
      "SELECT count(*) FROM typed t JOIN", name, "r USING (id) WHERE t.big = r.big"
    )), 60)
  }
  # All that differs are the records that were changed; no new value appears.
  differs <- paste(
    "(t.code, t.day, t.amount, t.x) IS DISTINCT FROM (r.code, r.day, r.amount, r.x)"
  )
  both <- "FROM typed t JOIN typed_pram r USING (id) WHERE"
  expect_equal(count(paste("SELECT count(*)", both, differs)), perturbed$estimates$n_changed)
  expect_identical(count(paste(
    "SELECT count(*) FROM (SELECT code, day, amount, x FROM typed_pram EXCEPT",
    "SELECT code, day, amount, x FROM typed) AS new"
  )), 0)
  blanks <- paste0(
    "(t.", c("code", "day", "amount", "x"), " IS DISTINCT FROM r.",
    c("code", "day", "amount", "x"), ")::int", collapse = " + "
  )
  expect_equal(
    count(paste("SELECT sum(", blanks, ") FROM typed t JOIN typed_blank r USING (id)")),
    blanked$estimates$n_suppressed
  )
  # Nor is one whose last digit the driver does not write.
  wide <- engine_sql(
    "postgres", "wide_ids", "CREATE TABLE wide_ids (id BIGINT, a INTEGER)",
    "INSERT INTO wide_ids SELECT 9007199254740000 + i, i FROM generate_series(1, 9) AS i"
  )
  expect_error(
    quietly(suppress_cells(wide, "a", k = 2, row_id = "id", into = "p")), "finds again",
    class = "sdcRisk_error_bad_argument"
  )
  expect_false(DBI::dbExistsTable(connection, "p"))
})

test_that("row ids of fixed width are refused before any work, and taken without their blanks", {
  table <- engine_sql(
    "postgres", "padded_ids", "CREATE TABLE padded_ids (id CHAR(6), x TEXT)",
    "INSERT INTO padded_ids VALUES ('a', 'p'), ('b', 'p'), ('c', 'q')"
  )
  connection <- dbplyr::remote_con(table)
  for (f in list(suppress_cells, invariant_pram)) {
    error <- expect_error(
      f(table, "x", row_id = "id", into = "padded_out"), "3 records with blanks",
      class = "sdcRisk_error_bad_argument"
    )
    expect_identical(error$argument, "row_id")
    expect_false(DBI::dbExistsTable(connection, "padded_out"))
  }
  trimmed <- dplyr::mutate(table, id = trimws(id))
  found <- quietly(suppress_cells(trimmed, "x", k = 2, row_id = "id", into = "padded_out"))
  expect_identical(rows_of(found$data), data.frame(id = c("a", "b", "c"), x = c("p", "p", NA)))
})

test_that("text that compares without regard to case is not released", {
  table <- engine_sql(
    "sqlite", "nocase_release", "CREATE TABLE nocase_release (id INTEGER, x TEXT COLLATE NOCASE)",
    "INSERT INTO nocase_release VALUES (1, 'a'), (2, 'A'), (3, 'b')"
  )
  error <- expect_error(
    suppress_cells(table, "x", k = 2, row_id = "id", into = "c"), "letter by letter",
    class = "sdcRisk_error_bad_data"
  )
  expect_identical(error$columns, "x")
})

test_that("verbs of a release in a database answer, or say why not", {
  data <- file_with_ids(18, 100)
  table <- engine_table("sqlite", data)
  set.seed(2)
  perturbed <- quietly(invariant_pram(table, keys[1:3], row_id = "id", into = "verbs_pram"))
  blanked <- quietly(suppress_cells(table, keys[1:3], row_id = "id", into = "verbs_blank"))
  expect_s3_class(release_data(perturbed), "tbl_lazy")
  for (x in list(perturbed, blanked)) {
    expect_match(format(x), ".", all = TRUE)
    expect_type(interpret(x), "character")
    expect_s3_class(generics::tidy(x), "data.frame")
    expect_identical(nrow(generics::glance(x)), 1L)
    expect_s3_class(summary(x), "sdc_summary")
    expect_error(generics::augment(x, data), "patterns", class = "sdcRisk_error_bad_argument")
    expect_s3_class(compare_risk(x, x), "sdc_comparison")
  }
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(perturbed), "ggplot")
  expect_s3_class(ggplot2::autoplot(perturbed, "counts"), "ggplot")
  for (f in list(
    function() pram_audit(perturbed, data), function() pram_variance(perturbed, data),
    function() pram_transitions(perturbed, 1, data)
  )) {
    expect_error(f(), "table of a database", class = "sdcRisk_error_bad_argument")
  }
  expect_equal(sum(pram_transitions(perturbed, 1)$prob), 1)
  # No seed, which would undo it.
  expect_null(perturbed$settings$seed)
})

stop_engines()
