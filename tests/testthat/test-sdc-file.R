# A file with roles is a data frame to every verb of R and dplyr.

skip_on_cran()

people <- function(n = 60) {
  set.seed(4)
  data.frame(
    age = sample(20:60, n, TRUE), sex = sample(c("f", "m"), n, TRUE),
    region = sample(letters[1:4], n, TRUE), income = round(stats::runif(n, 1, 9e4)),
    w = stats::runif(n, 5, 50)
  )
}
keys <- c("age", "sex", "region")
people_file <- function(data = people(), ...) sdc_file(data, keys, weight_var = "w", ...)
roles <- list(key_vars = keys, weight_var = "w")
told <- function(code, kind) {
  n <- 0
  value <- withCallingHandlers(code, sdcRisk_message = function(m) {
    if (inherits(m, paste0("sdcRisk_message_", kind))) n <<- n + 1
    invokeRestart("muffleMessage")
  })
  list(n = n, value = value)
}

test_that("a file is the data frame that it was made of, in its class", {
  file <- people_file()
  expect_identical(class(file), c("sdc_file", "data.frame"))
  expect_identical(dim(file), c(60L, 5L))
  expect_identical(names(file), names(people()))
  expect_identical(file$age, people()$age)
  expect_identical(file[["sex"]], people()$sex)
  expect_null(file$roles)
  expect_identical(as.data.frame(file), people())
  expect_identical(sdc_roles(file), roles)
  skip_if_not_installed("tibble")
  tibble <- tibble::as_tibble(people())
  expect_identical(class(people_file(tibble)), c("sdc_file", "tbl_df", "tbl", "data.frame"))
  expect_identical(tibble::as_tibble(people_file()), tibble)
})

# What a verb makes of the file has the values that it makes of the data frame.
verbs <- list(
  subset = function(x) subset(x, age > 30),
  rows = function(x) x[x$age > 30, ],
  order = function(x) x[order(x$age), ],
  columns = function(x) x[c("age", "sex", "region", "w")],
  both = function(x) x[1:20, c("age", "sex", "region", "w")],
  assign = function(x) {
    x$age[[3]] <- 99L
    x
  },
  new = function(x) {
    x[["old"]] <- x$age > 50
    x
  },
  within = function(x) within(x, band <- age %/% 10),
  transform = function(x) transform(x, age = age %/% 10),
  rbind = function(x) rbind(x, x[1:5, ]),
  cbind = function(x) cbind(x, extra = 1),
  merge = function(x) merge(x, data.frame(region = letters[1:4], code = 1:4)),
  na.omit = function(x) stats::na.omit(x),
  unique = function(x) unique(x)
)
of_dplyr <- list(
  filter = function(x) dplyr::filter(x, age > 30),
  arrange = function(x) dplyr::arrange(x, age),
  mutate = function(x) dplyr::mutate(x, age = age %/% 10, band = age),
  relocate = function(x) dplyr::relocate(x, w),
  select = function(x) dplyr::select(x, -income),
  slice = function(x) dplyr::slice(x, 1:10),
  distinct = function(x) dplyr::distinct(x),
  left_join = function(x) {
    dplyr::left_join(x, data.frame(region = letters[1:4], code = 1:4), by = "region")
  },
  bind_rows = function(x) dplyr::bind_rows(x, x),
  bind_cols = function(x) dplyr::bind_cols(x, extra = seq_len(nrow(x))),
  group = function(x) {
    dplyr::ungroup(dplyr::mutate(dplyr::group_by(x, region), n = dplyr::n()))
  },
  group_filter = function(x) {
    dplyr::ungroup(dplyr::filter(dplyr::group_by(x, region), dplyr::n() > 2))
  },
  group_slice = function(x) dplyr::ungroup(dplyr::slice_head(dplyr::group_by(x, region), n = 2)),
  group_arrange = function(x) dplyr::ungroup(dplyr::arrange(dplyr::group_by(x, region), age)),
  group_distinct = function(x) dplyr::ungroup(dplyr::distinct(dplyr::group_by(x, region))),
  across = function(x) dplyr::mutate(x, dplyr::across(dplyr::all_of("age"), as.character))
)

test_that("verbs of R keep values, class and roles", {
  for (name in names(verbs)) {
    made <- quietly(verbs[[name]](people_file()))
    expect_s3_class(made, "sdc_file")
    expect_equal(as.data.frame(made), verbs[[name]](people()), info = name)
    expect_identical(sdc_roles(made), roles, info = name)
  }
})

test_that("verbs of dplyr keep values, class and roles", {
  skip_if_not_installed("dplyr")
  for (name in names(of_dplyr)) {
    for (data in list(people(), tibble::as_tibble(people()))) {
      made <- quietly(of_dplyr[[name]](people_file(data)))
      expect_s3_class(made, "sdc_file")
      expect_equal(
        as.data.frame(made), as.data.frame(of_dplyr[[name]](people())), info = name
      )
      expect_identical(sdc_roles(made), roles, info = name)
      expect_identical(inherits(made, "tbl_df"), inherits(of_dplyr[[name]](data), "tbl_df"))
    }
  }
  counts <- dplyr::count(people_file(), sex)
  expect_equal(counts, dplyr::count(people(), sex))
  expect_equal(
    dplyr::summarise(dplyr::group_by(people_file(), sex), n = dplyr::n()),
    dplyr::summarise(dplyr::group_by(people(), sex), n = dplyr::n())
  )
})

test_that("a renamed column keeps its role, a dropped one loses it with a message", {
  file <- people_file()
  names(file)[[1]] <- "years"
  expect_identical(sdc_roles(file)$key_vars, c("years", "sex", "region"))
  lost <- told(file[c("years", "sex", "w")], "role_lost")
  expect_identical(lost$n, 1)
  expect_identical(sdc_roles(lost$value)$key_vars, c("years", "sex"))
  file$w <- NULL
  expect_message(found <- sdc_roles(file), "\"w\"", class = "sdcRisk_message_role_lost")
  expect_null(found$weight_var)
  skip_if_not_installed("dplyr")
  renamed <- dplyr::rename(people_file(), weight = w, home = region)
  expect_identical(
    sdc_roles(renamed), list(key_vars = c("age", "sex", "home"), weight_var = "weight")
  )
  chosen <- told(dplyr::select(people_file(), years = age, sex), "role_lost")
  expect_identical(chosen$n, 1)
  expect_identical(sdc_roles(chosen$value), list(key_vars = c("years", "sex")))
})

test_that("fewer records are a part, which is told once, without the population", {
  file <- people_file(pop_size = 8000)
  e <- expect_message(part <- file[1:30, ], class = "sdcRisk_message_file_part")
  expect_null(sdc_roles(part)$pop_size)
  expect_no_message(part[1:10, ])
  expect_no_message(head(file))
  expect_no_message(file[order(file$age), ])
  expect_identical(sdc_roles(file[order(file$age), ])$pop_size, 8000)
  expect_identical(
    n_matches(part)$estimates, n_matches(people()[1:30, ], keys, weight_var = "w")$estimates
  )
})

test_that("codes are never those of other columns", {
  file <- people_file()
  n_unique <- function(file) n_matches(file)$estimates$n_unique
  by_hand <- function(data) {
    n_matches(as.data.frame(data), keys, weight_var = "w")$estimates$n_unique
  }
  expect_identical(n_unique(file), by_hand(file))
  changed <- file
  changed$age <- changed$age %/% 10
  swapped <- file
  names(swapped)[1:2] <- c("sex", "age")
  for (other in list(changed, swapped, file[60:1, ], quietly(file[1:25, ]), rbind(file, file))) {
    expect_identical(n_unique(other), by_hand(other))
    expect_identical(n_unique(file), by_hand(file))
  }
})

test_that("risks of records stand beside the data, and in the file further on", {
  file <- people_file()
  found <- n_matches(file)
  beside <- augment(found, file)
  expect_identical(beside$.n_matches, found$records$n_matches)
  expect_identical(sdc_roles(beside), roles)
  alone <- quietly(beside[beside$.n_matches == 1, ])
  expect_equal(nrow(alone), found$estimates$n_unique)
})

test_that("grouped files are refused", {
  skip_if_not_installed("dplyr")
  for (grouped in list(
    dplyr::group_by(people(), sex), dplyr::rowwise(people()),
    dplyr::group_by(people_file(), sex)
  )) {
    e <- expect_error(n_matches(grouped, keys), class = "sdcRisk_error_bad_data")
    expect_match(conditionMessage(e), "dplyr::ungroup()", fixed = TRUE)
    expect_error(file_check(grouped, keys), class = "sdcRisk_error_bad_data")
    expect_error(suppress_cells(grouped, keys), class = "sdcRisk_error_bad_data")
  }
  grouped <- dplyr::group_by(cbind(people(), id = 1:60), sex)
  calls <- list(
    function() pattern_table(grouped, keys), function() utility_loss(people(), grouped, keys),
    function() link_attack(grouped, people(), keys),
    function() interval_disclosure(grouped, people(), "income"),
    function() key_stability(grouped, grouped, keys, "id"),
    function() longitudinal_link(grouped, grouped, keys),
    function() change_moments(list(grouped, grouped), "id", keys)
  )
  for (call in calls) expect_error(call(), "ungroup", class = "sdcRisk_error_bad_data")
})

test_that("the print is a line of roles above the records", {
  shown <- utils::capture.output(print(people_file()))
  expect_match(
    shown[[1]], "# sdc_file of 60 records; key variables age, sex, region; weights w", fixed = TRUE
  )
  expect_lte(max(nchar(shown)), 80)
  expect_lte(length(shown), 16)
  expect_no_error(utils::capture.output(utils::str(people_file())))
})

test_that("a file that was saved is the same file", {
  file <- people_file()
  first <- n_matches(file)$estimates
  again <- unserialize(serialize(file, NULL))
  expect_identical(n_matches(again)$estimates, first)
  expect_identical(sdc_roles(again), roles)
  expect_identical(as.data.frame(again), people())
})

test_that("files in data.tables are data.tables", {
  skip_if_not_installed("data.table")
  file <- people_file(data.table::as.data.table(people()))
  expect_s3_class(file, "data.table")
  # Outside of this package, which does not know data.table's expressions.
  part <- quietly(eval(quote(file[age > 30]), list2env(list(file = file), parent = globalenv())))
  expect_identical(as.data.frame(part)$age, subset(people(), age > 30)$age)
  expect_identical(sdc_roles(part), roles)
  for (code in list(quote(file[1:5, ]), quote(file[, ]), quote(file[order(file$age), ]))) {
    part <- quietly(eval(code, list2env(list(file = file), parent = globalenv())))
    by_hand <- eval(code, list(file = people()))
    expect_equal(as.data.frame(part), by_hand, ignore_attr = TRUE)
    expect_identical(sdc_roles(part), roles)
  }
})

test_that("roles of other objects are an error", {
  e <- expect_error(sdc_roles(people()), class = "sdcRisk_error_bad_data")
  expect_match(conditionMessage(e), "sdc_file(x, key_vars", fixed = TRUE)
  expect_error(sdc_roles(1), class = "sdcRisk_error_bad_data")
  expect_identical(sdc_roles(suppress_cells(people_file(), k = 2))$key_vars, keys)
})

test_that("a file knows identifiers, continuous variables, clusters and other names of roles", {
  data <- cbind(people(), id = 1:60, psu = rep(1:6, 10), ill = rep(c("y", "n"), 30))
  file <- sdc_file(
    data, c(age, sex), weight_var = w, id_vars = id, num_vars = income, cluster = psu,
    sensitive_vars = ill, strata = region
  )
  expect_identical(sdc_roles(file), list(
    key_vars = c("age", "sex"), weight_var = "w", strata_var = "region", sensitive = "ill",
    id_vars = "id", num_vars = "income", cluster = "psu"
  ))
  renamed <- file
  names(renamed)[names(renamed) == "psu"] <- "unit"
  expect_identical(sdc_roles(renamed)$cluster, "unit")
  expect_identical(sdc_roles(sdc_file(file, id_vars = psu))$id_vars, "psu")
  open <- quietly(sdc_file(people(), num_vars = "income", weight_var = "w"))
  expect_identical(sdc_roles(open)$key_vars, keys)
  expect_false("id" %in% names(quietly(release_data(suppress_cells(file, k = 2)))))
  looks <- quietly(file_check(file))$roles
  roles <- looks$role[match(c("id", "income"), looks$variable)]
  expect_identical(roles, c("identifier", "continuous"))
  e <- expect_error(sdc_file(data, age, id_var = id), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(e), "id_var", fixed = TRUE)
})

# What is no file any more has the values that the data frame gives.
other_verbs <- list(
  lapply = function(x) lapply(x, class),
  vapply = function(x) vapply(x, function(column) length(unique(column)), 1L),
  apply = function(x) apply(x[c("age", "w")], 2, max),
  aggregate = function(x) stats::aggregate(income ~ sex, x, mean),
  by = function(x) c(by(x, x$sex, nrow)),
  table = function(x) table(x$sex, x$region),
  xtabs = function(x) c(stats::xtabs(w ~ sex, x)),
  tapply = function(x) tapply(x$w, x$region, sum),
  model = function(x) stats::coef(stats::lm(income ~ age, x)),
  frame = function(x) stats::model.frame(income ~ age + sex, x),
  matrix = function(x) as.matrix(x),
  list = function(x) as.list(x),
  duplicated = function(x) duplicated(x[c("age", "sex")]),
  with = function(x) with(x, sum(w)),
  stack = function(x) {
    both <- c("age", "w")
    stats::reshape(x[both], direction = "long", varying = list(both), v.names = "value")$value
  },
  csv = function(x) {
    path <- tempfile(fileext = ".csv")
    on.exit(unlink(path))
    utils::write.csv(x, path, row.names = FALSE)
    utils::read.csv(path)
  }
)

test_that("verbs of R that leave the file have the values of the data frame", {
  for (name in names(other_verbs)) {
    made <- quietly(other_verbs[[name]](people_file()))
    expect_equal(made, other_verbs[[name]](people()), info = name, ignore_attr = TRUE)
  }
  expect_output(utils::str(people_file()), "60 obs. of  *5 variables")
})

test_that("parts of a file are files, and together the file again", {
  parts <- quietly(split(people_file(), people()$sex))
  for (name in names(parts)) {
    expect_identical(sdc_roles(parts[[name]]), roles, info = name)
    expect_equal(as.data.frame(parts[[name]]), split(people(), people()$sex)[[name]])
  }
  whole <- quietly(do.call(rbind, unname(parts)))
  expect_identical(sdc_roles(whole), roles)
  expect_identical(
    quietly(n_matches(whole))$estimates$n_unique, n_matches(people_file())$estimates$n_unique
  )
})

# A stack of verbs, and verbs of tidyr.
more_of_dplyr <- list(
  joins = function(x) {
    codes <- data.frame(region = letters[1:4], code = 1:4)
    x <- dplyr::inner_join(x, codes, by = "region")
    x <- dplyr::full_join(x, data.frame(code = 1:4, name = LETTERS[1:4]), by = "code")
    dplyr::anti_join(dplyr::semi_join(x, codes[1:3, ], by = "region"), codes[1, ], by = "region")
  },
  rename_with = function(x) dplyr::rename_with(x, toupper, "income"),
  keep = function(x) dplyr::mutate(x, band = age + nchar(sex) + nchar(region) + w, .keep = "used"),
  pipe = function(x) {
    dplyr::select(dplyr::arrange(dplyr::mutate(x, band = age %/% 10), band, w), -income)
  },
  drop_na = function(x) tidyr::drop_na(x),
  replace_na = function(x) tidyr::replace_na(x, list(income = 0)),
  fill = function(x) tidyr::fill(x, "income"),
  sample = function(x) {
    set.seed(1)
    dplyr::slice_sample(x, n = 20)
  },
  transmute = function(x) dplyr::transmute(x, age, sex, region, w),
  unite = function(x) tidyr::unite(x, "place", region, income, remove = FALSE),
  separate = function(x) {
    tidyr::separate(dplyr::mutate(x, both = paste(sex, region)), both, c("one", "two"))
  },
  extract = function(x) {
    tidyr::extract(dplyr::mutate(x, both = paste(sex, region)), both, "one", "([fm]) ")
  },
  complete = function(x) tidyr::complete(x, sex, region, age, fill = list(w = 1)),
  union = function(x) dplyr::union(x[1:30, ], x[20:60, ]),
  intersect = function(x) dplyr::intersect(x, x[5:40, ]),
  setdiff = function(x) dplyr::setdiff(x, x[5:40, ]),
  rowwise = function(x) {
    dplyr::ungroup(dplyr::mutate(dplyr::rowwise(x), most = max(age, w)))
  },
  update = function(x) {
    x$id <- seq_len(nrow(x))
    x <- dplyr::rows_update(x, data.frame(id = 2L, age = 99L), by = "id")
    x <- dplyr::rows_insert(x, data.frame(id = 999L, age = 1L), by = "id")
    x <- dplyr::rows_upsert(x, data.frame(id = c(3L, 1000L), age = 98L), by = "id")
    dplyr::rows_delete(x, data.frame(id = 4L), by = "id")
  }
)

# Without the message that a file is now a part.
quiet_part <- function(code) {
  withCallingHandlers(
    code, sdcRisk_message_file_part = function(m) invokeRestart("muffleMessage")
  )
}

test_that("stacks of joins, and verbs of tidyr, keep values, class and roles", {
  skip_if_not_installed("dplyr")
  skip_if_not_installed("tidyr")
  for (name in names(more_of_dplyr)) {
    made <- quietly(more_of_dplyr[[name]](people_file()))
    expect_s3_class(made, "sdc_file")
    expect_equal(as.data.frame(made), as.data.frame(more_of_dplyr[[name]](people())), info = name)
    expect_identical(sdc_roles(made), roles, info = name)
  }
  # Renamed key variables keep their roles in any verb that renames.
  made <- quietly(dplyr::rename_with(people_file(), toupper))
  expect_identical(sdc_roles(made), list(key_vars = toupper(keys), weight_var = "W"))
  # Steps inside a verb lose nothing that is told.
  expect_silent(dplyr::rows_update(people_file(), data.frame(w = 1, age = 1L)[0, ], by = "w"))
  expect_silent(dplyr::bind_cols(people_file(), data.frame(extra = seq_len(nrow(people())))))
  expect_silent(quiet_part(tidyr::drop_na(people_file())))
  expect_silent(quiet_part(unique(people_file())))
})

test_that("roles that a verb cannot keep are not lost in silence", {
  skip_if_not_installed("dplyr")
  skip_if_not_installed("tidyr")
  lost <- list(
    longer = function(x) tidyr::pivot_longer(x, c("age", "income")),
    wider = function(x) tidyr::pivot_wider(x, names_from = sex, values_from = income),
    nest = function(x) tidyr::nest(x, rest = c(age, income)),
    unnest = function(x) tidyr::unnest(dplyr::mutate(x, l = lapply(age, seq_len)), l),
    rows = function(x) tidyr::separate_rows(dplyr::mutate(x, l = "a,b"), l),
    second = function(x) dplyr::left_join(data.frame(region = letters[1:4]), x, by = "region"),
    merge = function(x) merge(data.frame(region = letters[1:4]), x)
  )
  for (name in names(lost)) {
    told <- expect_message(
      made <- lost[[name]](people_file()), class = "sdcRisk_message_role_lost"
    )
    expect_identical(unname(told$columns), unname(unlist(roles)), info = name)
    expect_false(inherits(made, "sdc_file"), info = name)
    expect_equal(
      as.data.frame(made), as.data.frame(quietly(lost[[name]](people()))), info = name,
      ignore_attr = TRUE
    )
  }
  # A file that comes first, and a table that is asked for, are as ever.
  expect_silent(tibble::as_tibble(people_file()))
  expect_silent(merge(people_file(), data.frame(region = letters[1:4], code = 1:4)))
  region <- quietly(dplyr::distinct(people_file()[1:3, "region", drop = FALSE]))
  expect_silent(dplyr::left_join(people_file(), region, by = "region"))
  # Records that a join repeats make every class larger.
  file <- people_file()
  twice <- data.frame(region = rep(unique(file$region), 2), code = 1)
  told <- expect_message(grown <- merge(file, twice), class = "sdcRisk_message_file_grown")
  expect_identical(c(told$n, told$n_before), c(2L, 1L) * nrow(file))
  expect_identical(nrow(grown), 2L * nrow(file))
})

test_that("what has no picture says what has one", {
  table <- pattern_table(people(), keys)
  for (x in list(people_file(), quietly(top_code(people_file(), age = 40)), table)) {
    e <- expect_error(plot(x), class = "sdcRisk_error_bad_argument")
    expect_match(conditionMessage(e), "plot(file_check(x))", fixed = TRUE)
    skip_if_not_installed("ggplot2")
    expect_error(ggplot2::autoplot(x), class = "sdcRisk_error_bad_argument")
  }
  e <- expect_error(plot(hierarchy(1:60, widths = 10)), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(e), "plot(recode_search(data))", fixed = TRUE)
})

test_that("the file of a table of a database has its size, first records and history", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "people", people())
  table <- dplyr::tbl(con, "people")
  file <- quietly(sdc_file(table, keys, weight_var = "w"))
  expect_identical(dim(file), dim(people()))
  expect_identical(nrow(file), nrow(people()))
  expect_equal(head(file, 3), head(people(), 3), ignore_attr = TRUE)
  refused <- list(
    function() file$age, function() tail(file), function() recode_search(file, blanks = "cells")
  )
  for (f in refused) {
    e <- expect_error(f(), class = "sdcRisk_error_bad_data")
    expect_match(conditionMessage(e), "dplyr::collect(", fixed = TRUE)
  }
  expect_null(file$nobody)
  coarse <- quietly(top_code(file, age = 40))
  expect_identical(summary(coarse)$history, "top_code(): age top coded at 40")
  blanked <- quietly(suppress_cells(file, k = 2))
  expect_match(summary(quietly(sdc_file(blanked)))$history, "^suppress_cells")
  path <- tempfile(fileext = ".html")
  quietly(sdc_report(n_matches(file), file = path, internal = TRUE, pictures = FALSE))
  e <- expect_error(replay(path, table), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(e), "sdc_file(data, key_vars", fixed = TRUE)
  expect_true(all(quietly(replay(path, file))$equal))
  patterns <- quietly(sdc_file(pattern_table(people(), keys)))
  expect_error(head(patterns), class = "sdcRisk_error_bad_data")
  expect_identical(dim(patterns), c(nrow(people()), length(keys)))
})

test_that("a file in a data.table changes in place, as a data.table does", {
  skip_if_not_installed("data.table")
  table <- data.table::as.data.table(people(60))
  file <- sdc_file(table, c("age", "sex"))
  before <- n_matches(file)$estimates$n_unique
  # As in a script: the package itself is none that knows data.table.
  script <- new.env(parent = globalenv())
  script$file <- file
  run <- function(code) eval(substitute(code), script)
  expect_silent(run(file[, group := seq_len(.N), by = sex]))
  expect_identical(file$group, as.integer(stats::ave(seq_len(60), file$sex, FUN = seq_along)))
  expect_false("group" %in% names(table))
  expect_s3_class(file, "sdc_file")
  run(file[1:30, age := 99L])
  expect_identical(
    n_matches(file)$estimates$n_unique,
    n_matches(data.frame(age = file$age, sex = file$sex))$estimates$n_unique
  )
  expect_lt(n_matches(file)$estimates$n_unique, before)
  run(file[, group := NULL])
  expect_false("group" %in% names(file))
})

test_that("a database takes a file as the data frame that it is", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  data <- nals_prison[c("GENDER", "SCORE")]
  for (made in list(identity, tibble::as_tibble, data.table::as.data.table)) {
    file <- sdc_file(made(data), GENDER)
    expect_silent(DBI::dbWriteTable(con, "file", file, overwrite = TRUE))
    expect_equal(DBI::dbReadTable(con, "file"), data, ignore_attr = TRUE)
  }
})

test_that("columns without a name lose their role by the name they had", {
  file <- sdc_file(nals_prison, c("DAGE3", "EDUC3"), weight_var = "WEIGHT")
  expect_message(found <- unname(file), "\"DAGE3\", \"EDUC3\", \"WEIGHT\"", fixed = TRUE)
  expect_null(names(found))
  at <- match("EDUC3", names(file))
  expect_message(names(file)[at] <- NA, "columns with a role: \"EDUC3\"", fixed = TRUE)
  expect_identical(attr(file, "roles")$key_vars, "DAGE3")
})
