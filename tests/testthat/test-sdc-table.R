# The file of a table of a database keeps its roles as a data frame does: each verb is run on
# both.

skip_on_cran()

keys <- c("region", "age", "sex")

people <- function(n = 300) {
  set.seed(8)
  data.frame(
    id = seq_len(n), region = sample(c("a", "b", "c"), n, TRUE), age = sample(20:29, n, TRUE),
    sex = sample(c("f", "m"), n, TRUE), w = sample(2:9, n, TRUE), note = "x"
  )
}

table_of_people <- function(data = people()) engine_table("sqlite", data)

with_roles <- function(data, ...) {
  sdc_file(data, c("region", "age", "sex"), weight_var = "w", id_vars = "id", pop_size = 5000, ...)
}

# Roles and messages of a verb.
roles_after <- function(verb, file) {
  classes <- character()
  made <- withCallingHandlers(verb(file), sdcRisk_message = function(m) {
    classes <<- c(classes, class(m)[[1]])
    rlang::cnd_muffle(m)
  })
  list(roles = sdc_roles(made), classes = classes)
}

verbs <- list(
  rename = function(x) dplyr::rename(x, place = region, weight = w),
  rename_with = function(x) dplyr::rename_with(x, toupper),
  select = function(x) dplyr::select(x, place = region, sex, w, id),
  relocate = function(x) dplyr::relocate(x, w),
  filter = function(x) dplyr::filter(x, age > 22),
  mutate = function(x) dplyr::mutate(x, old = age > 25, age = age + 1L),
  transmute = function(x) dplyr::transmute(x, region, age, w, new = age + 1L),
  arrange = function(x) dplyr::arrange(x, age),
  names = function(x) {
    names(x)[2] <- "place"
    x
  }
)

test_that("verbs of dplyr keep the roles as on a data frame", {
  skip_if_not_installed("dbplyr")
  table <- with_roles(table_of_people())
  for (name in names(verbs)) {
    found <- roles_after(verbs[[name]], table)
    expected <- roles_after(verbs[[name]], with_roles(people()))
    expect_setequal(names(found$roles), names(expected$roles))
    expect_identical(found$roles[names(expected$roles)], expected$roles, info = name)
    expect_identical(found$classes, expected$classes, info = name)
    made <- quietly(verbs[[name]](table))
    in_r <- quietly(verbs[[name]](with_roles(people())))
    expect_s3_class(made, c("sdc_table", "sdc_file", "tbl_lazy"), exact = FALSE)
    expect_identical(dim(made), dim(in_r), info = name)
    expect_identical(names(made), names(in_r), info = name)
    expect_equal(
      quietly(n_matches(made))$estimates, quietly(n_matches(in_r))$estimates, info = name
    )
  }
  # The population of the whole is said once.
  expect_message(part <- dplyr::filter(table, age > 22), class = "sdcRisk_message_file_part")
  expect_silent(dplyr::filter(part, age > 25))
})

test_that("a file of a table is computed, collected and printed with its roles", {
  skip_if_not_installed("dbplyr")
  table <- table_of_people()
  file <- with_roles(table)
  expect_identical(sdc_roles(dplyr::compute(file)), sdc_roles(file))
  expect_identical(sdc_roles(dplyr::collapse(file)), sdc_roles(file))
  coarse <- quietly(global_recode(file, age = c(20, 25)))
  in_r <- quietly(global_recode(with_roles(people()), age = c(20, 25)))
  found <- dplyr::collect(coarse)
  expect_s3_class(found, c("sdc_file", "tbl_df", "tbl", "data.frame"), exact = TRUE)
  expect_equal(as.data.frame(found), as.data.frame(in_r), ignore_attr = TRUE)
  expect_identical(levels(found$age), levels(in_r$age))
  expect_setequal(unname(unlist(sdc_roles(found))), unname(unlist(sdc_roles(in_r))))
  expect_identical(summary(found)$history, summary(in_r)$history)
  expect_identical(unclass(summary(found))$states, unclass(summary(in_r))$states)
  # Levels follow the names.
  renamed <- dplyr::collect(dplyr::rename(coarse, band = age))
  expect_identical(levels(renamed$band), levels(in_r$age))
  expect_message(dplyr::collect(file, n = 5), class = "sdcRisk_message_file_part")
  # What the engine prints stands below the roles.
  printed <- utils::capture.output(print(file))
  expect_match(printed[[1]], "^# sdc_file of a table of a database; key variables region")
  expect_true(any(grepl("SELECT|table<|\\?\\?", printed)))
  expect_match(utils::capture.output(str(file))[[1]], "^# sdc_file of a table")
  old <- options(width = 60)
  on.exit(options(old))
  lines <- utils::capture.output(print(coarse))
  expect_true(all(nchar(lines[startsWith(lines, "# sdc") | startsWith(lines, "# Done")]) <= 60))
  # Groups and counts are no files of records.
  grouped <- dplyr::group_by(file, region)
  expect_error(n_matches(grouped), "groups", class = "sdcRisk_error_bad_data")
  expect_identical(sdc_roles(dplyr::ungroup(grouped)), sdc_roles(file))
  for (x in list(dplyr::count(file, sex), dplyr::summarise(file, n = dplyr::n()))) {
    expect_false(inherits(x, "sdc_file"))
  }
  expect_identical(sort(dplyr::pull(file, id)), people()$id)
})

test_that("joins keep the roles of their first table, or say that they are lost", {
  skip_if_not_installed("dbplyr")
  data <- people()
  table <- table_of_people()
  more <- table_of_people(data.frame(id = 1:100, work = rep(c("p", "q"), 50)))
  file <- with_roles(table)
  joined <- dplyr::left_join(file, more, by = "id")
  expect_identical(sdc_roles(joined), sdc_roles(file))
  expect_identical(names(joined), c(names(data), "work"))
  inner <- quietly(dplyr::inner_join(file, more, by = "id"))
  expect_null(sdc_roles(inner)$pop_size)
  expect_identical(dim(inner), c(100L, 7L))
  expect_message(
    dplyr::semi_join(file, more, by = "id"), class = "sdcRisk_message_file_part"
  )
  expect_identical(dim(dplyr::union_all(file, table)), c(600L, 6L))
  expect_message(
    second <- dplyr::left_join(more, file, by = "id"), class = "sdcRisk_message_role_lost"
  )
  expect_false(inherits(second, "sdc_file"))
})

test_that("verbs that need the records in R give the way out", {
  skip_if_not_installed("dbplyr")
  file <- with_roles(table_of_people())
  calls <- list(
    function() file$age, function() file[["age"]], function() file[[1]], function() file[1, ],
    function() file["age"], function() file$age <- 1, function() file[["age"]] <- 1,
    function() file[1, 1] <- 1, function() tail(file), function() transform(file, age = 1),
    function() merge(file, file), function() rbind(file, file), function() cbind(file, 1),
    function() unique(file), function() subset(file, age > 1), function() with(file, age)
  )
  for (call in calls) {
    e <- expect_error(call(), class = "sdcRisk_error_bad_data")
    expect_match(conditionMessage(e), "dplyr::", fixed = TRUE)
    expect_match(conditionMessage(e), "dplyr::collect(x)", fixed = TRUE)
  }
  expect_null(file$nobody)
})

test_that("a release in a database has roles, states and history", {
  skip_if_not_installed("dbplyr")
  for (engine in c("sqlite", "postgres")) {
    connection <- engine_connection(engine)
    file <- with_roles(engine_table(engine, people()))
    in_r <- with_roles(people())
    protected <- quietly(suppress_cells(quietly(top_code(file, age = 27)), k = 3))
    expected <- quietly(suppress_cells(quietly(top_code(in_r, age = 27)), k = 3))
    released <- quietly(release_data(protected))
    wanted <- quietly(release_data(expected))
    expect_s3_class(released, c("sdc_table", "sdc_file", "tbl_lazy"), exact = FALSE)
    expect_setequal(colnames(released), names(wanted))
    expect_setequal(unname(unlist(sdc_roles(released))), unname(unlist(sdc_roles(wanted))))
    for (pair in list(list(released, wanted), list(protected$data, expected$data))) {
      expect_identical(summary(pair[[1]])$history, summary(pair[[2]])$history)
      expect_identical(unclass(summary(pair[[1]]))$states, unclass(summary(pair[[2]]))$states)
      found <- quietly(measures(file_check(pair[[1]])))
      asked <- quietly(measures(file_check(pair[[2]])))
      # Nobody compares its other columns with the key variables.
      good <- asked$verdict == "ok"
      expect_match(found$note[good], "columns are not compared", fixed = TRUE)
      asked$verdict[good] <- "unclear"
      expect_equal(
        found[c("measure", "value", "verdict")], asked[c("measure", "value", "verdict")],
        ignore_attr = TRUE
      )
    }
    at_risk <- quietly(records_at_risk(released, k = 5))
    expect_identical(sum(at_risk$n), nrow(quietly(records_at_risk(wanted, k = 5))))
    # Neither holds the values before.
    for (x in list(released, wanted)) {
      expect_error(quietly(utility_loss(x)), "before", class = "sdcRisk_error_bad_argument")
    }
    # Result and loss are those of the protection.
    expect_equal(
      quietly(utility_loss(protected))$estimates, quietly(utility_loss(expected))$estimates
    )
    recoded <- quietly(release_data(quietly(top_code(file, age = 27))))
    expect_identical(summary(recoded)$history, "top_code(): age top coded at 27")
    again <- quietly(suppress_cells(released, k = 4))
    expect_length(summary(again$data)$history, 3)
    collected <- dplyr::collect(released)
    expect_identical(summary(collected)$history, summary(wanted)$history)
  }
})

stop_engines()

test_that("the page of a table asks for identifiers and finer columns as that of its records", {
  set.seed(1)
  ages <- data.frame(
    id = 1:600, person = rep(sample(200), each = 3), age = sample(20:69, 600, TRUE),
    sex = sample(1:2, 600, TRUE), note = sample(letters, 600, TRUE)
  )
  ages$group <- ages$age %/% 10
  ages$place <- rep(1:200, each = 3) %/% 10
  of <- function(file) {
    page <- quietly(file_check(file, limit = list(k = 3, n_unique = 0)))
    page$estimates[page$estimates$measure %in% c("k", "n_unique"), c("value", "verdict", "reason")]
  }
  both <- function(...) {
    rows <- lapply(list(ages, table_of_people(ages)), function(data) of(sdc_file(data, ...)))
    expect_identical(rows[[1]][c("value", "verdict")], rows[[2]][c("value", "verdict")])
    rows
  }
  rows <- both(c("group", "sex"))
  expect_identical(rows[[2]]$reason[[1]], paste(
    "released columns are more detailed than key variables: \"age\" than \"group\""
  ))
  expect_identical(both("age")[[2]]$verdict, c("ok", "ok"))
  # A person is all records of some places.
  persons <- ages[c("person", "place", "sex")]
  persons$sex <- 1
  persons$place <- persons$person %/% 2
  rows <- lapply(list(persons, table_of_people(persons)), function(data) {
    of(sdc_file(data, c("place", "sex"), id_vars = "person"))
  })
  few <- table(persons$place[!duplicated(persons$person)])
  n_few <- sum(few[as.character(persons$place)] < 3)
  reason <- paste(n_few, "records would have too few matches if each value of \"person\"")
  for (x in rows) {
    expect_identical(x$verdict, c("unclear", "unclear"))
    expect_match(x$reason, reason)
  }
  # Nor are they independent draws of a population.
  largest <- lapply(list(persons, table_of_people(persons)), function(data) {
    page <- quietly(file_check(sdc_file(data, "sex", id_vars = "person", pop_size = 1e5)))
    page$estimates[page$estimates$measure == "journalist", c("verdict", "reason")]
  })
  expect_equal(largest[[2]], largest[[1]])
  expect_match(largest[[1]]$reason, "may be one person's")
  # One record of each has the matches that the table counts.
  first <- persons[!duplicated(persons$place), ]
  many <- do.call(rbind, lapply(1:4, function(i) transform(first, person = 100 * i + person)))
  x <- of(sdc_file(table_of_people(many), c("place", "sex"), id_vars = "person"))
  expect_identical(x$verdict, c("ok", "ok"))
})
