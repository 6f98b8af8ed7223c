# What was made by the package and is handed back: changed ones are refused before any work.

people <- function() {
  set.seed(71)
  n <- 60
  data.frame(
    age = sample(18:30, n, TRUE), town = sample(letters[1:5], n, TRUE), w = stats::runif(n, 2, 9)
  )
}
refused <- function(code) expect_error(code, class = "sdcRisk_error_damaged_result")
# The object with one of its parts changed.
with_part <- function(x, part, value) {
  kept <- class(x)
  x <- unclass(x)
  x[part] <- list(value)
  structure(x, class = kept)
}

test_that("a changed pattern table is refused by all that read it", {
  data <- people()
  table <- pattern_table(data, c("age", "town"), weight_var = "w")
  changes <- list(
    patterns = table$patterns[-1, ], patterns = "zqc", patterns = NULL, key_vars = character(),
    key_vars = c("age", "zqc"), key_vars = mean, weight_var = NA, weight_var = "zqc",
    weight_var = c("w", "w"), n_records = 7L, n_records = "60", squares = NULL,
    squares = -table$squares, weight_range = 3, weight_range = "zqc",
    patterns = transform(table$patterns, n = -n), patterns = transform(table$patterns, n = NA)
  )
  for (i in seq_along(changes)) {
    changed <- with_part(table, names(changes)[[i]], changes[[i]])
    refused(print(changed))
    refused(as.data.frame(changed))
    refused(n_matches(changed))
    refused(pattern_table(changed))
    refused(sdc_file(changed))
    refused(update(changed, data))
    refused(update(table, changed))
    refused(longitudinal_link(table, changed, c("age", "town")))
  }
  # As it was, saved and read again.
  again <- unserialize(serialize(table, NULL))
  expect_identical(n_matches(again)$estimates, n_matches(table)$estimates)
})

test_that("a changed file of sdc_file() is refused by all that read it", {
  data <- people()
  file <- sdc_file(data, c("age", "town"), weight_var = "w")
  changes <- list(
    data = "zqc", data = NULL, data = mean, roles = "zqc", roles = list(1), roles = NULL,
    roles = list(zqc = 1), roles = list(key_vars = mean), codes = "zqc"
  )
  for (i in seq_along(changes)) {
    changed <- with_part(file, names(changes)[[i]], changes[[i]])
    refused(print(changed))
    refused(n_matches(changed))
    refused(sdc_file(changed, key_vars = "age"))
    refused(pattern_table(changed))
    refused(longitudinal_link(changed, data, c("age", "town")))
    refused(longitudinal_link(data, changed, c("age", "town")))
  }
  n_matches(file)
  again <- unserialize(serialize(file, NULL))
  expect_identical(n_matches(again)$estimates, n_matches(file)$estimates)
})

test_that("a changed hierarchy is refused by all that read it", {
  data <- people()
  ages <- hierarchy(data$age)
  words <- ages$steps
  words[[2]]$words <- mean
  changes <- list(
    name = NULL, kind = "zqc", kind = NULL, values = mean, values = ages$values[-1],
    steps = ages$steps[-1], steps = "zqc", steps = list(), steps = words, labels = NULL,
    labels = lapply(ages$labels, rev)[-1], labels = list(mean), rule = "zqc"
  )
  for (i in seq_along(changes)) {
    changed <- with_part(ages, names(changes)[[i]], changes[[i]])
    refused(print(changed))
    refused(as.data.frame(changed))
    refused(quietly(recode_search(
      data, c("age", "town"), hierarchies = list(age = changed), constraint = list(k = 2)
    )))
  }
})

test_that("changed sets of candidates are refused by all that read them", {
  data <- people()
  columns <- list(
    candidates(lapply(data$age, function(v) v + 0:1)), candidate_interval(data$age, data$age + 2)
  )
  for (column in columns) {
    sets <- attr(column, "sets")
    changes <- list(
      "zqc", replace(sets, 2, list(mean)), replace(sets, 1, list(list(1))),
      replace(sets, 1, list(NULL))
    )
    if (inherits(column, "sdc_candidate_interval")) {
      changes <- c(changes, list(replace(sets, 1, list(18))))
    }
    for (change in changes) {
      changed <- structure(column, sets = change)
      refused(format(changed))
      refused(order(changed))
      file <- data["town"]
      file$age <- changed
      refused(n_matches(file, rule = "overlap"))
    }
  }
})

test_that("equal rows of a pattern table whose values were recoded are one pattern", {
  set.seed(72)
  keys <- c("a", "b")
  for (i in 1:40) {
    random <- function(n) {
      data.frame(
        a = sample(6, n, TRUE), b = sample(c("x", "y", NA), n, TRUE), w = sample(1:5, n, TRUE)
      )
    }
    weight_var <- if (i %% 2) "w"
    first <- random(sample(2:12, 1))
    later <- random(sample(2:5, 1))
    table <- pattern_table(first, keys, weight_var = weight_var)
    table$patterns$a <- table$patterns$a %/% 3
    first$a <- first$a %/% 3
    other <- pattern_table(later, keys, weight_var = weight_var)
    other$patterns$a <- other$patterns$a %/% 3
    later$a <- later$a %/% 3
    both <- pattern_table(rbind(first, later), keys, weight_var = weight_var)
    sorted <- function(table) {
      patterns <- as.data.frame(table)
      order <- order(patterns$a, patterns$b)
      list(as.list(patterns[order, ]), table$squares[order], table$n_records)
    }
    expect_equal(sorted(update(table, other)), sorted(both))
    expect_equal(sorted(update(table, later)), sorted(both))
    # What was added is taken away again; weights, too.
    again <- update(update(table, later), other, remove = TRUE)
    expect_equal(sorted(again), sorted(pattern_table(first, keys, weight_var = weight_var)))
  }
})

test_that("a release that is changed in place is another one", {
  skip_if_not_installed("data.table")
  data <- data.table::data.table(a = c(1, 1, 1, 1, 2), b = c("x", "x", "x", "y", "y"))
  for (result in list(
    quietly(suppress_cells(data, c("a", "b"), k = 2)),
    quietly(invariant_pram(data, c("a", "b"), unprotected = "keep"))
  )) {
    before <- as.data.frame(release_data(result))
    released <- release_data(result)
    data.table::set(released, j = "a", value = 9)
    expect_identical(as.data.frame(release_data(result)), before)
    expect_identical(released$a, rep(9, 5))
    result$data <- "zqc"
    refused(release_data(result))
  }
})
