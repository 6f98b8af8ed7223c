# Linkage of two tables of a database: all numbers are those of the data frames. The suite
# runs on every engine that is installed.

skip_on_cran()

keys <- c("region", "age", "income", "job")

# Two waves: most people of the first are in the second, some with other values; some have
# no id, or are in one wave only.
two_waves <- function(seed, n = 120) {
  one <- engine_file(seed, n)
  one$id <- sample(1000, n)
  two <- one[sample(n, 2 * n %/% 3), ]
  change <- function(x) {
    at <- stats::runif(length(x)) < 0.15
    x[at] <- sample(x, sum(at))
    x
  }
  two[keys] <- lapply(two[keys], change)
  new <- engine_file(seed + 100, n %/% 4)
  new$id <- 2000 + seq_len(nrow(new))
  two <- rbind(two, new)
  one$id[1:3] <- NA
  two$id[1:2] <- NA
  list(one = one, two = two[sample(nrow(two)), ])
}

# What is said of records, each kind with its number, in no order.
kinds <- function(table, n = rep(1, nrow(table))) {
  text <- do.call(paste, c(lapply(table, function(x) {
    if (is.numeric(x)) format(x, digits = 10, trim = TRUE) else as.character(x)
  }), sep = "|"))
  counts <- tapply(n, text, sum)
  data.frame(text = names(counts), n = as.vector(counts))
}

expect_same_linkage <- function(by_engine, by_records, two, info) {
  expect_null(by_engine$records, info = info)
  parts <- c(
    "estimates", "differences", "sensitivity", "overlap", "rules", "curve", "variables", "levels"
  )
  for (part in parts) {
    expect_equal(by_engine[[part]], by_records[[part]], tolerance = 1e-9, info = paste(info, part))
  }
  patterns <- by_engine$patterns
  columns <- setdiff(names(by_records$records), "id")
  expect_identical(names(patterns), c(keys, "n", columns), info = info)
  # A pattern has a row for each kind of record, and no two rows are equal.
  expect_false(anyDuplicated(patterns[names(patterns) != "n"]) > 0, info = info)
  of_patterns <- kinds(patterns[c(keys, columns)], patterns$n)
  of_records <- kinds(cbind(two[keys], by_records$records[columns]))
  expect_equal(of_patterns, of_records, info = info)
  expect_equal(sum(patterns$n), nrow(two))
  # What prints and verbs make of them.
  text <- function(x) sub("x\\$.*", "", format(x))
  expect_identical(text(by_engine), text(by_records), info = info)
  expect_identical(interpret(by_engine), interpret(by_records), info = info)
  expect_equal(
    summary(by_engine)$match_prob_by_strata, summary(by_records)$match_prob_by_strata,
    info = info
  )
}

for (engine in setdiff(suite_engines, "data frame")) {
  test_that(paste("waves on", engine, "are linked as data frames are"), {
    linked <- list(
      list(id = "id"), list(), list(id = "id", min_overlap = 2, sensitivity = TRUE),
      list(id = "id", tolerance = list(age = c(0, 1)))
    )
    waves <- two_waves(1)
    tables <- lapply(waves, function(wave) engine_table(engine, wave))
    for (more in linked) {
      link <- function(data) {
        quietly(do.call(longitudinal_link, c(unname(data), list(keys), more)))
      }
      expect_same_linkage(
        link(tables), link(waves), waves$two, paste(engine, paste(names(more), collapse = " "))
      )
    }
  })

  test_that(paste("files on", engine, "are attacked as data frames are"), {
    waves <- two_waves(2)
    tables <- lapply(waves, function(wave) engine_table(engine, wave))
    for (more in list(
      list(id = "id", weights = c("calibrated", "prior", "em")), list(weights = "prior"),
      list(id = "id", weights = "calibrated", by_value = FALSE, tolerance = list(age = 1))
    )) {
      attack <- function(data) quietly(do.call(link_attack, c(unname(data), list(keys), more)))
      expect_same_linkage(
        attack(tables), attack(waves), waves$two,
        paste(engine, paste(names(more), collapse = " "))
      )
    }
  })
}

test_that("without one connection, one kind or single ids there is no linkage", {
  waves <- two_waves(3, 40)
  tables <- lapply(waves, function(wave) engine_table("sqlite", wave))
  expect_error(
    longitudinal_link(tables$one, waves$two, keys), "wave2", class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    link_attack(waves$one, tables$two, keys), "known", class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    longitudinal_link(tables$one, tables$two, c("age", "salary")),
    class = "sdcRisk_error_unknown_key_var"
  )
  expect_error(
    longitudinal_link(tables$one, tables$two, c("age", "id"), "id"), "not name the id"
  )
  expect_error(
    link_attack(tables$one, tables$two, keys, "id", one_to_one = TRUE), "data|database",
    class = "sdcRisk_error_bad_argument"
  )
  error <- expect_error(
    longitudinal_link(tables$one, tables$two, keys, max_patterns = 5),
    class = "sdcRisk_error_too_large"
  )
  expect_equal(error$n_patterns, nrow(oracle_patterns(waves$one, keys)))
  for (f in list(
    function() key_stability(tables$one, tables$two, keys, "id"),
    function() change_indicators(tables$one, tables$two, "age", "id")
  )) {
    expect_error(f(), "table of a database", class = "sdcRisk_error_bad_data")
  }
  tables$named <- dplyr::mutate(tables$two, sdc_partner = 1L)
  expect_error(
    link_attack(tables$named, tables$named, c(keys, "sdc_partner"), "id"), "begin with",
    class = "sdcRisk_error_bad_data"
  )
  # Another connection, which the engine cannot join with.
  other <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(other))
  DBI::dbWriteTable(other, "two", waves$two)
  there <- dplyr::tbl(other, "two")
  expect_error(
    longitudinal_link(tables$one, there, keys, "id"), "two connections",
    class = "sdcRisk_error_bad_argument"
  )
  expect_equal(
    quietly(longitudinal_link(tables$one, there, keys))$estimates,
    quietly(longitudinal_link(waves$one, waves$two, keys))$estimates
  )
  twice <- rbind(waves$two, waves$two[1:6, ])
  expect_error(
    longitudinal_link(tables$one, engine_table("sqlite", twice), keys, "id"),
    paste(sum(!is.na(waves$two$id[1:6])), "records of `wave2`"),
    class = "sdcRisk_error_bad_data"
  )
  waves$two$id <- waves$two$id + 5000
  expect_warning(
    found <- longitudinal_link(tables$one, engine_table("sqlite", waves$two), keys, "id"),
    class = "sdcRisk_warning_no_common_ids"
  )
  expect_identical(found$estimates$n_linked, 0L)
  expect_identical(found$diagnostics$n_missing_id, c(3L, 2L))
})

test_that("a key variable named like what is judged keeps apart", {
  waves <- lapply(two_waves(4, 40), function(wave) {
    names(wave)[names(wave) == "job"] <- "certain"
    wave
  })
  tables <- lapply(waves, function(wave) engine_table("sqlite", wave))
  found <- quietly(longitudinal_link(tables$one, tables$two, c("age", "certain"), "id"))
  expect_identical(
    names(found$patterns),
    c("age", "certain.key", "n", "n_diff", "n_best", "true_diff", "match_prob", "certain")
  )
  expect_equal(
    quietly(longitudinal_link(waves$one, waves$two, c("age", "certain"), "id"))$estimates,
    found$estimates
  )
})

test_that("waves without records, without ids or without values are what they are", {
  waves <- two_waves(5, 40)
  tables <- lapply(waves, function(wave) engine_table("sqlite", wave))
  none <- lapply(tables, function(table) dplyr::filter(table, age > 1000))
  for (id in list(NULL, "id")) {
    expect_error(
      longitudinal_link(none$one, tables$two, keys, id), "`wave1` must have at least one record",
      class = "sdcRisk_error_bad_data"
    )
    expect_error(
      link_attack(tables$one, none$two, keys, id), "`released` must have at least one record",
      class = "sdcRisk_error_bad_data"
    )
  }
  without <- function(wave, column) {
    wave[[column]] <- wave[[column]][NA_integer_]
    wave
  }
  for (column in c("id", "region", "income")) {
    for (at in list("one", "two", c("one", "two"))) {
      changed <- waves
      changed[at] <- lapply(waves[at], without, column)
      lazy <- lapply(changed, function(wave) engine_table("sqlite", wave))
      link <- function(data) quietly(longitudinal_link(data$one, data$two, keys, "id"))
      expect_equal(link(lazy)$estimates, link(changed)$estimates, info = paste(column, at))
    }
  }
  expect_error(
    longitudinal_link(tables$one, dplyr::select(tables$two, -age), keys, "id"), "`wave2`: \"age\"",
    class = "sdcRisk_error_unknown_key_var"
  )
})

test_that("numbers that R cannot tell apart do not link persons", {
  make <- function(name, value) {
    engine_sql(
      "postgres", name, paste("CREATE TABLE", name, "(id BIGINT, d NUMERIC(20, 10), x FLOAT8)"),
      paste0("INSERT INTO ", name, " VALUES (9007199254740993, 1.1234567891, 'NaN'), ",
             "(9007199254740992, 0.1, '-0'), (3, NULL, ", value, ")")
    )
  }
  one <- make("wide_one", "0")
  two <- make("wide_two", "NULL")
  found <- quietly(longitudinal_link(one, two, c("d", "x"), "id"))
  # The same persons, whose ids are one double.
  records <- lapply(c("wide_one", "wide_two"), function(name) {
    sorted <- DBI::dbGetQuery(
      dbplyr::remote_con(one), paste("SELECT d, x FROM", name, "ORDER BY id DESC")
    )
    data.frame(id = 1:3, sorted)
  })
  expected <- quietly(longitudinal_link(records[[1]], records[[2]], c("d", "x"), "id"))
  expect_identical(found$estimates, expected$estimates)
})

test_that("text that compares without regard to case is not linked", {
  make <- function(name, values) {
    engine_sql(
      "sqlite", name, paste("CREATE TABLE", name, "(id TEXT COLLATE NOCASE, x TEXT COLLATE NOCASE,",
                            "y TEXT, z TEXT)"),
      paste("INSERT INTO", name, "VALUES", values)
    )
  }
  one <- make("case_one", "('p', 'a', 'p', 'a'), ('q', 'A', 'q', 'A'), ('r', 'b', 'r', 'b')")
  two <- make("case_two", "('P', 'a', 'P', 'a'), ('q', 'A', 'q', 'A'), ('r', 'b', 'r', 'b')")
  refused <- function(key, id, columns) {
    for (f in list(longitudinal_link, link_attack)) {
      error <- expect_error(f(one, two, key, id), class = "sdcRisk_error_bad_data")
      expect_identical(error$columns, columns)
    }
  }
  refused("x", NULL, "x")
  refused("z", "id", "id")
  refused("x", "y", "x")
  expect_error(
    longitudinal_risk(one, two, "z", "z", "x", "y", pop_size = 100), "letter by letter",
    class = "sdcRisk_error_bad_data"
  )
  found <- quietly(longitudinal_link(one, two, "z", "y"))
  expect_identical(found$estimates$n_linked, 2L)
})

test_that("ids that an engine joins and a data frame does not are no ids", {
  make <- function(engine, name, type, values) {
    rows <- paste0("('", values, "', '", c("x", "y", "y"), "')", collapse = ", ")
    engine_sql(
      engine, name, paste("CREATE TABLE", name, "(id", paste0(type, ", k TEXT)")),
      paste("INSERT INTO", name, "VALUES", rows)
    )
  }
  refused <- function(one, two) {
    for (f in list(longitudinal_link, link_attack)) {
      error <- expect_error(f(one, two, "k", "id"), "blanks", class = "sdcRisk_error_bad_data")
      expect_identical(error$columns, "id")
      expect_match(conditionMessage(error), "trimws")
    }
  }
  linked <- function(one, two) quietly(longitudinal_link(one, two, "k", "id"))$estimates
  same <- function(one, two, n_linked) {
    expected <- linked(dplyr::collect(one), dplyr::collect(two))
    expect_identical(expected$n_linked, n_linked)
    expect_equal(linked(one, two), expected)
  }
  # Fixed width beside other text, and beside another width: PostgreSQL ignores the padding.
  six <- make("postgres", "ids_6", "CHAR(6)", c("a", "b", "c"))
  free <- make("postgres", "ids_free", "TEXT", c("a", "b ", "d"))
  refused(six, free)
  refused(free, six)
  refused(six, make("postgres", "ids_8", "CHAR(8)", c("a", "b", "d")))
  expect_error(
    longitudinal_risk(free, six, "k", "k", "k", "id", pop_size = 100), "blanks at its end",
    class = "sdcRisk_error_bad_data"
  )
  same(six, make("postgres", "ids_6b", "CHAR(6)", c("a", "b", "d")), 2L)
  expect_identical(linked(dplyr::mutate(six, id = trimws(id)), free)$n_linked, 1L)
  # Blanks that count, and a width that is full, tell nothing apart that R does not.
  same(free, make("postgres", "ids_var", "VARCHAR(5)", c("a", "b", "d")), 2L)
  same(
    make("postgres", "ids_full", "CHAR(1)", c("a", "b", "c")),
    make("postgres", "ids_one", "TEXT", c("a", "b", "d")), 2L
  )
  # A collation that ignores blanks.
  rtrim <- make("sqlite", "ids_rtrim", "TEXT COLLATE RTRIM", c("a", "b ", "c"))
  text <- make("sqlite", "ids_text", "TEXT", c("a ", "b", "c"))
  refused(rtrim, text)
  refused(text, rtrim)
  same(text, make("sqlite", "ids_text_2", "TEXT", c("a", "b", "d")), 1L)
  # Text of digits is compared with numbers as a number, in SQLite as in others.
  digits <- make("sqlite", "ids_digits", "TEXT", c("01", "2", "3"))
  for (type in c("INTEGER", "REAL")) {
    numbers <- make("sqlite", paste0("ids_", type), type, c(1, 2, 3))
    error <- expect_error(
      longitudinal_link(numbers, digits, "k", "id"), "numbers in `wave1`, text in `wave2`",
      class = "sdcRisk_error_bad_argument"
    )
    expect_identical(error$argument, "id")
    expect_error(
      link_attack(digits, numbers, "k", "id"), "text in `known`, numbers in `released`",
      class = "sdcRisk_error_bad_argument"
    )
  }
  same(dplyr::mutate(numbers, id = as.integer(id)), numbers, 3L)
})

test_that("pattern tables are waves where nobody asks who is who", {
  waves <- two_waves(6)
  tables <- lapply(waves, pattern_table, c(keys, "w"))
  lazy <- engine_table("sqlite", waves$one)
  for (more in list(list(), list(min_overlap = 2), list(tolerance = list(age = 1)))) {
    of <- function(data) quietly(do.call(longitudinal_link, c(unname(data), list(keys), more)))
    expected <- of(waves)
    info <- paste(names(more), collapse = " ")
    expect_same_linkage(of(tables), expected, waves$two, info)
    expect_same_linkage(of(list(lazy, tables$two)), expected, waves$two, info)
    expect_identical(of(lapply(tables, sdc_file))$estimates, expected$estimates)
  }
  attack <- function(data) {
    quietly(link_attack(data[[1]], data[[2]], keys, weights = c("prior", "em")))
  }
  expect_same_linkage(attack(tables), attack(waves), waves$two, "attack")
  for (f in list(longitudinal_link, link_attack)) {
    error <- expect_error(
      f(tables$one, tables$two, keys, "id"), "one person's", class = "sdcRisk_error_bad_argument"
    )
    expect_identical(error$argument, "id")
    expect_error(
      f(tables$one, waves$two, keys), "a pattern table too", class = "sdcRisk_error_bad_argument"
    )
    expect_error(
      f(tables$one, tables$two, c("age", "id")), class = "sdcRisk_error_unknown_key_var"
    )
  }
  for (f in list(
    function() key_stability(tables$one, tables$two, keys, "id"),
    function() change_indicators(tables$one, tables$two, "age", "id"),
    function() longitudinal_risk(tables$one, tables$two, keys, keys, "age", "id")
  )) {
    expect_error(f(), "pattern table", class = "sdcRisk_error_bad_data")
  }
})

stop_engines()
