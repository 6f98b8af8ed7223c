# One suite for all engines: what a table of a database gives is what the data frame
# gives. Engines that are not installed are skipped.

skip_on_cran()

keys <- c("region", "age", "income", "job")

# Patterns as text with their counts, in no order.
counted <- function(table) {
  patterns <- as.data.frame(table)
  text <- do.call(paste, c(lapply(table$key_vars, function(key) {
    value_names(patterns[[key]])
  }), sep = "|"))
  order <- order(text)
  data.frame(text = text[order], patterns[order, setdiff(names(patterns), table$key_vars)])
}
value_names <- function(x) if (is.numeric(x)) format(x, digits = 15) else as.character(x)

numbers_of <- function(result) {
  result$estimates[vapply(result$estimates, is.numeric, NA)]
}
asked_of_engines <- list(
  n_matches = list(weight_var = "w"), n_matches = list(missing = "exclude", pop_size = 1e4),
  individual_risk = list(weight_var = "w"), exhaustive_tabulation = list(),
  qar_risk = list(p = 2, pi_u = 0.4), population_uniqueness = list(pop_size = 1e4),
  key_overview = list(), loglinear_risk = list(weight_var = "w", interval = "none")
)
ask <- function(data) {
  Map(function(f, more) {
    numbers_of(quietly(do.call(f, c(list(data, keys), more))))
  }, names(asked_of_engines), asked_of_engines)
}
of_records <- ask(engine_file(1))

for (engine in suite_engines) {
  test_that(paste("patterns and methods on", engine, "are those of the records"), {
    for (seed in 3:1) {
      data <- engine_file(seed, c(200, 1, 40)[[seed]])
      table <- engine_table(engine, data)
      expected <- pattern_table(data, keys, weight_var = "w")
      found <- pattern_table(table, keys, weight_var = "w")
      a <- counted(found)
      b <- counted(expected)
      expect_identical(trimws(a$text), trimws(b$text), info = seed)
      expect_identical(as.double(a$n), as.double(b$n), info = seed)
      expect_equal(a$w, b$w, tolerance = 1e-12, info = seed)
      expect_equal(sum(found$squares), sum(data$w^2), tolerance = 1e-12)
      expect_identical(as.double(found$weight_range), range(data$w))
    }
    skip_if(engine == "data frame")
    direct <- quietly(n_matches(table, keys, weight_var = "w"))
    expect_same_numbers(numbers_of(direct), of_records[[1]], engine, 1e-9)
    by_engine <- ask(found)
    for (i in seq_along(of_records)) {
      info <- paste(engine, names(of_records)[[i]])
      expect_same_numbers(by_engine[[i]], of_records[[i]], info, 1e-9)
    }
  })

  test_that(paste("too many patterns on", engine, "are counted, not collected"), {
    data <- engine_file(4)
    table <- engine_table(engine, data)
    error <- expect_error(
      pattern_table(table, keys, max_patterns = 20), class = "sdcRisk_error_too_large"
    )
    expect_equal(error$n_patterns, nrow(oracle_patterns(data, keys)))
    skip_if(engine == "data frame")
    # qar_risk() asks for every key set instead.
    for (missing in c("category", "exclude")) {
      by <- function(data, ...) {
        quietly(qar_risk(
          data, keys, p = if (missing == "exclude") 2 else c(1, 3), pi_u = 0.4,
          alpha = c(0.1, 0.4), missing = missing, ...
        ))
      }
      by_queries <- by(table, max_patterns = 20)
      by_records <- by(data)
      for (part in c("estimates", "sets", "variables")) {
        expect_equal(by_queries[[part]], by_records[[part]], info = paste(engine, part))
      }
      expect_identical(format(by_queries), format(by_records))
    }
    grouped <- function(data, ...) {
      quietly(qar_risk(
        data, keys, p = 2, pi_u = 0.4, key_groups = list(who = c("age", "job")), ...
      ))$estimates
    }
    expect_equal(grouped(table, max_patterns = 20), grouped(data))
    expect_error(
      qar_risk(table, keys, p = 2, max_patterns = 20, max_sets = 3),
      class = "sdcRisk_error_too_large"
    )
    expect_error(
      n_matches(table, keys, weight_var = "job"), class = "sdcRisk_error"
    )
  })

  test_that(paste("a register on", engine, "grows by its new records alone"), {
    old <- engine_file(5)
    new <- engine_file(6, 50)
    first <- pattern_table(engine_table(engine, old), keys, weight_var = "w")
    both <- update(first, engine_table(engine, new))
    whole <- pattern_table(rbind(old, new), keys, weight_var = "w")
    expect_identical(both$n_records, 250L)
    expect_identical(as.double(counted(both)$n), as.double(counted(whole)$n))
    expect_equal(counted(both)$w, counted(whole)$w, tolerance = 1e-12)
    back <- update(both, engine_table(engine, new), remove = TRUE)
    expect_identical(counted(back)$n, counted(first)$n)
  })

  test_that(paste("counts made elsewhere on", engine, "are taken"), {
    data <- data.frame(k = c("a", "b", "b"), m = c(1, 1, 2), times = c(2, 3e9, 5), total = 1:3)
    table <- engine_table(engine, data)
    found <- pattern_table(table, c("k", "m"), count_var = "times", weight_var = "total")
    expected <- pattern_table(data, c("k", "m"), count_var = "times", weight_var = "total")
    expect_identical(counted(found)[c("text", "n", "total")], counted(expected))
    expect_equal(found$n_records, 3e9 + 7)
    for (bad in list(c(0, 1, 2), c(1, 1.5, 2), c(NA, 1, 2))) {
      data$times <- bad
      expect_error(
        pattern_table(engine_table(engine, data), c("k", "m"), count_var = "times"),
        "whole numbers", class = "sdcRisk_error_bad_argument"
      )
    }
    for (bad in list(c(0, 1, 2), c(-1, 1, 2), c(NA, 1, 2))) {
      data$total <- bad
      expect_error(
        pattern_table(engine_table(engine, data), c("k", "m"), weight_var = "total"),
        class = "sdcRisk_error_bad_weights"
      )
    }
  })

  test_that(paste("names and questions on", engine, "are checked before any query"), {
    table <- engine_table(engine, engine_file(7, 20))
    expect_error(pattern_table(table, "nobody"), class = "sdcRisk_error_unknown_key_var")
    expect_error(pattern_table(table, c("age", "age")), class = "sdcRisk_error")
    expect_error(pattern_table(table, keys, weight_var = "wt"), class = "sdcRisk_error")
    expect_error(pattern_table(table, c("age", "w"), weight_var = "w"), class = "sdcRisk_error")
    expect_identical(pattern_table(table, 1:2)$key_vars, keys[1:2])
    expect_identical(pattern_table(table, weight_var = "w")$key_vars, keys)
    file <- sdc_file(table, keys, weight_var = "w", pop_size = 1e4)
    expect_equal(
      individual_risk(file)$estimates$n, 20
    )
    expect_equal(n_matches(file)$estimates$n_unique, n_matches(table, keys)$estimates$n_unique)
  })
}

test_that("values that engines tell apart and R does not are one value", {
  skip_if_not_installed("bit64")
  # NaN beside NULL, -0 beside 0.
  number <- "x DOUBLE PRECISION"
  table <- engine_sql(
    "postgres", "nan", paste0("CREATE TABLE nan (", number, ", k BIGINT, d NUMERIC(12, 2))"),
    paste(
      "INSERT INTO nan VALUES ('NaN', 1, 1), (NULL, 1, 1), ('-0', 9007199254740993, 1),",
      "(0, 9007199254740993, 1), (2, NULL, 2.5)"
    )
  )
  found <- as.data.frame(pattern_table(table, "x"))
  expect_identical(found$n[match(c(0, 2, NA), found$x)], c(2L, 1L, 2L))
  expect_identical(sum(as.data.frame(pattern_table(table, c("x", "d")))$n), 5L)
  # Fixed width: padded, and one value whatever was written.
  padded <- engine_sql(
    "postgres", "padded", "CREATE TABLE padded (x CHAR(4))",
    "INSERT INTO padded VALUES ('a'), ('a '), ('b')"
  )
  expect_identical(sort(as.data.frame(pattern_table(padded))$n), c(1L, 2L))
  # Sums of whole weights beyond 2^31, and their squares.
  heavy <- engine_sql(
    "postgres", "heavy", "CREATE TABLE heavy (x INTEGER, w INTEGER)",
    "INSERT INTO heavy VALUES (1, 2000000000), (1, 2000000000), (2, 1)"
  )
  found <- pattern_table(heavy, "x", weight_var = "w")
  expect_equal(found$patterns$w, c(4e9, 1))
  expect_equal(found$squares, c(8e18, 1))
})

test_that("text that compares without regard to case is pointed out", {
  table <- engine_sql(
    "sqlite", "nocase", "CREATE TABLE nocase (x TEXT COLLATE NOCASE, y TEXT)",
    "INSERT INTO nocase VALUES ('a', 'a'), ('A', 'A'), ('b', '1')"
  )
  expect_warning(
    found <- pattern_table(table, c("x", "y")), class = "sdcRisk_warning_ignores_case"
  )
  expect_identical(nrow(as.data.frame(found)), 3L)
  expect_no_warning <- function(code) expect_warning(code, NA)
  expect_no_warning(pattern_table(table, "y"))
})

test_that("text that compares without regard to blanks is pointed out where some are", {
  table <- engine_sql(
    "sqlite", "rtrim", "CREATE TABLE rtrim (x TEXT COLLATE RTRIM, y TEXT, z TEXT COLLATE RTRIM)",
    "INSERT INTO rtrim VALUES ('a', 'a', 'a'), ('a ', 'a ', 'b'), ('b', '1', 'bc')"
  )
  warning <- expect_warning(
    found <- pattern_table(table, "x"), class = "sdcRisk_warning_ignores_blanks"
  )
  expect_identical(warning$columns, "x")
  expect_identical(found$patterns$n, c(2L, 1L))
  expect_warning(found <- pattern_table(table, c("y", "z")), NA)
  expect_identical(nrow(found$patterns), 3L)
  expect_warning(found <- pattern_table(dplyr::mutate(table, x = trimws(x)), "x"), NA)
  expect_identical(found$patterns$n, c(2L, 1L))
  # Fixed width: all values are as wide, to the engine and to R.
  padded <- engine_sql(
    "postgres", "padded_key", "CREATE TABLE padded_key (x CHAR(4), u UUID, t TIME)",
    "INSERT INTO padded_key SELECT 'a', gen_random_uuid(), '10:00'",
    "INSERT INTO padded_key VALUES ('bc')"
  )
  # What is no text is not asked about its letters and blanks.
  suppressWarnings(
    expect_warning(pattern_table(padded), NA, class = "sdcRisk_warning"), classes = "simpleWarning"
  )
})

test_that("case is ignored among more codes of digits than are looked at", {
  codes <- c(sprintf("%04d", 1:3000), "k1", "K1")
  table <- engine_sql(
    "sqlite", "digits", "CREATE TABLE digits (x TEXT COLLATE NOCASE)",
    paste0("INSERT INTO digits VALUES ('", paste(codes, collapse = "'), ('"), "')")
  )
  expect_warning(pattern_table(table), class = "sdcRisk_warning_ignores_case")
})

test_that("names that mean something else in a query are refused, all others are right", {
  set.seed(9)
  data <- data.frame(
    a = sample(c("x", "y", "z"), 300, TRUE), b = sample(5, 300, TRUE), c = sample(7, 300, TRUE),
    id = 1:300, stringsAsFactors = FALSE
  )
  named <- function(name) rlang::set_names(data, c("a", name, "c", "id"))
  measures <- list(
    pattern_table, n_matches, individual_risk, qar_risk, file_check,
    function(...) qar_risk(..., p = 1:2, max_patterns = 1),
    function(...) suppress_cells(..., row_id = "id", into = "odd_out"),
    function(...) invariant_pram(..., row_id = "id", into = "odd_out")
  )
  for (name in c("NULL", "pi", "SDC_n")) {
    table <- engine_table("sqlite", named(name))
    for (f in measures) {
      error <- expect_error(
        f(table, c("a", name, "c")), "another meaning", class = "sdcRisk_error_bad_data"
      )
      expect_identical(error$names, name)
    }
  }
  for (engine in c("sqlite", "postgres")) {
    for (name in c("NA", "TRUE", "group by", "q\"x", "q01")) {
      table <- engine_table(engine, named(name))
      expect_identical(
        n_matches(table, c("a", name, "c"))$estimates,
        n_matches(named(name), c("a", name, "c"))$estimates,
        info = paste(engine, name)
      )
    }
  }
  # The second count finds what the first one misreads.
  for (name in c("NULL", "pi")) {
    expect_error(
      engine_patterns(engine_table("sqlite", named(name)), list(key_vars = c("a", name, "c")), 1e6),
      "Two queries", class = "sdcRisk_error_bad_data"
    )
  }
})

test_that("text among numbers is refused, which a driver gives as 0", {
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(connection))
  DBI::dbExecute(connection, "create table m (a, b integer)")
  DBI::dbExecute(connection, "insert into m values (1, 1), ('x', 2), (2.5, 1), ('y', 1)")
  table <- dplyr::tbl(connection, "m")
  expect_error(
    pattern_table(table, c("a", "b")), "one type.*`a`: mixed type",
    class = "sdcRisk_error_bad_data"
  )
  text <- pattern_table(dplyr::mutate(table, a = as.character(a)), c("a", "b"))
  expect_setequal(text$patterns$a, c("1", "x", "2.5", "y"))
})

test_that("values that R cannot hold are refused", {
  wide <- engine_sql(
    "postgres", "wide_keys", "CREATE TABLE wide_keys (k BIGINT, d NUMERIC(20, 18), a TEXT)",
    paste(
      "INSERT INTO wide_keys VALUES (9007199254740993, 1.000000000000000001, 'x'),",
      "(9007199254740992, 1, 'x'), (9007199254740992, 1, 'x'), (5, 2, 'y')"
    )
  )
  for (key in c("k", "d")) {
    for (f in list(pattern_table, n_matches, individual_risk)) {
      error <- expect_error(f(wide, c(key, "a")), "as the engine", class = "sdcRisk_error_bad_data")
      expect_identical(error$columns, key)
    }
  }
  expect_error(link_attack(wide, wide, c("k", "a")), class = "sdcRisk_error_bad_data")
  text <- dplyr::mutate(wide, k = as.character(k))
  expect_identical(pattern_table(text, c("k", "a"))$patterns$n, c(1L, 2L, 1L))
  endless <- engine_sql(
    "postgres", "endless", "CREATE TABLE endless (d DATE, t TIMESTAMP, a INTEGER)",
    "INSERT INTO endless VALUES ('infinity', 'infinity', 1), ('2020-01-01', '2020-01-01', 1)",
    "INSERT INTO endless VALUES (NULL, NULL, 1), ('2020-01-02', '2020-01-02', 1)"
  )
  for (key in c("d", "t")) {
    error <- expect_error(
      suppressWarnings(pattern_table(endless, c(key, "a"))), "infinite dates",
      class = "sdcRisk_error_bad_data"
    )
    expect_identical(error$columns, key)
  }
  held <- dplyr::filter(endless, is.na(d) | d < "2021-01-01")
  expect_identical(sum(pattern_table(held, c("d", "a"))$patterns$n), 3L)
})

test_that("the query is one GROUP BY, and can be seen before it runs", {
  table <- engine_table("sqlite", engine_file(8, 30))
  query <- pattern_table(table, keys, weight_var = "w", collect = FALSE)
  expect_s3_class(query, "tbl_lazy")
  text <- as.character(dbplyr::sql_render(query))
  expect_identical(lengths(regmatches(text, gregexpr("GROUP BY", text))), 1L)
  found <- pattern_table(table, keys)
  expect_output(dplyr::show_query(found), "GROUP BY")
  expect_error(dplyr::show_query(pattern_table(data.frame(a = 1))), class = "sdcRisk_error")
  # Groups that the user made are none of ours.
  grouped <- dplyr::group_by(table, age)
  expect_identical(as.data.frame(pattern_table(grouped, keys)), as.data.frame(found))
  expect_error(
    pattern_table(dplyr::filter(table, age > 1000), keys), "at least one record",
    class = "sdcRisk_error_bad_data"
  )
  gone <- dplyr::tbl(engine_connection("sqlite"), dplyr::sql("SELECT 1 AS a, 2 AS b"))
  expect_identical(as.data.frame(pattern_table(gone))$n, 1L)
  # Every dialect of dbplyr has a translation.
  frame <- data.frame(a = 1, b = "x", w = 2)
  for (dialect in c("postgres", "mssql", "oracle", "snowflake", "hive", "impala", "mysql")) {
    simulated <- get(paste0("simulate_", dialect), asNamespace("dbplyr"))()
    query <- pattern_table(
      dbplyr::tbl_lazy(frame, con = simulated), c("a", "b"), weight_var = "w", collect = FALSE
    )
    text <- as.character(dbplyr::sql_render(query, con = simulated))
    expect_match(text, "GROUP BY", info = dialect)
    expect_match(text, "COUNT", info = dialect)
  }
})

test_that("what the engine complains of is an error with its words", {
  connection <- engine_connection("sqlite")
  DBI::dbWriteTable(connection, "dropped", data.frame(a = 1:2))
  table <- dplyr::tbl(connection, "dropped")
  DBI::dbRemoveTable(connection, "dropped")
  expect_error(pattern_table(table, "a"), "dropped", class = "sdcRisk_error_bad_data")
})

test_that("Spark tells NaN from NULL, and not -0 from 0", {
  table <- engine_sql(
    "spark", "nan", paste(
      "CREATE OR REPLACE TEMPORARY VIEW nan AS SELECT * FROM VALUES",
      "(DOUBLE('NaN'), 1L, 1.5BD), (NULL, 1L, 1.5BD), (-0.0D, 9007199254740993L, 2.5BD),",
      "(0.0D, 9007199254740993L, 2.5BD), (2D, NULL, NULL) AS nan(x, k, d)"
    )
  )
  found <- as.data.frame(pattern_table(table, "x"))
  expect_identical(found$n[match(c(0, 2, NA), found$x)], c(2L, 1L, 2L))
  found <- as.data.frame(pattern_table(table, c("k", "d")))
  expect_identical(found$d[order(found$d)], c(1.5, 2.5, NA))
  expect_identical(found$n[order(found$d)], c(2L, 2L, 1L))
})

test_that("an executor of Spark that is killed at work changes nothing", {
  connection <- engine_connection("spark")
  session <- connection@state$session
  # Costly rows, so that the tasks last: the text has 128 letters, whatever it is of.
  DBI::dbExecute(connection, paste(
    "CREATE OR REPLACE TEMPORARY VIEW costly AS SELECT INT(id % 17) AS a,",
    "INT((id * id) % 53) AS b, INT(length(sha2(repeat(STRING(id), 100), 512))) AS c",
    "FROM range(0, 100000, 1, 8)"
  ))
  id <- as.double(0:99999)
  expected <- pattern_table(
    data.frame(a = as.integer(id %% 17), b = as.integer((id * id) %% 53), c = 128L)
  )
  table <- lazy_table(connection, "costly")
  expect_identical(counted(pattern_table(table)), counted(expected))
  # Otherwise Spark asks for the stages of a query one by one, out of our sight.
  session$conf()$set("spark.sql.adaptive.enabled", "false")
  killed <- NULL
  failed <- 0
  engine_state$watch <- function() {
    tasks <- spark_tasks(session)
    failed <<- max(failed, tasks[["failed"]])
    if (is.null(killed) && tasks[["running"]] >= 2) {
      killed <<- spark_executors()[[1]]
      tools::pskill(killed, tools::SIGKILL)
    }
  }
  on.exit(engine_state$watch <- NULL)
  expect_length(spark_executors(), 2)
  found <- pattern_table(table)
  expect_gt(killed, 0)
  expect_false(killed %in% spark_executors())
  # The task that was lost, which ran again.
  expect_gte(failed, 1)
  expect_identical(counted(found), counted(expected))
})

test_that("one row of figures is that of all records of any query", {
  for (engine in c("sqlite", "postgres")) {
    connected <- engine_table(engine, data.frame(a = c(1:5, 5, 5, NA), b = rep(c("x", "y"), 4)))
    skip_if(is.data.frame(connected), "no engine")
    asked <- list(
      n = quote(n()), d = quote(n_distinct(a)), most = quote(max(a, na.rm = TRUE)),
      gone = quote(sum(ifelse(is.na(a), 1L, 0L), na.rm = TRUE))
    )
    queries <- list(
      connected, dplyr::filter(connected, a > 2), dplyr::distinct(connected, a),
      dplyr::arrange(connected, b), utils::head(dplyr::arrange(connected, a, b), 3),
      dplyr::group_by(connected, b), dplyr::union_all(connected, connected),
      dplyr::summarise(dplyr::group_by(connected, a), n = n(), .groups = "drop"),
      dplyr::mutate(connected, a = a + 1)
    )
    for (query in queries) {
      expect_no_warning(found <- collect_one_row(query, asked))
      records <- as.data.frame(dplyr::collect(query))
      expect_identical(vapply(found, engine_counts, 0), c(
        n = nrow(records), d = length(unique(records$a[!is.na(records$a)])),
        most = max(records$a, na.rm = TRUE), gone = sum(is.na(records$a))
      ))
    }
  }
})

stop_engines()

test_that("what an engine complains of holds no value", {
  caught <- tryCatch(
    with_engine(stop("ERROR: invalid input for type numeric: \"zqc\" and 'zqd'\nDETAIL: zqe")),
    sdcRisk_error_bad_data = identity
  )
  expect_match(conditionMessage(caught), "invalid input for type numeric")
  expect_no_match(conditionMessage(caught), "zq[cde]")
  expect_null(caught$parent)
})
