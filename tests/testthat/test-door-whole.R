# What was made by the package and is handed back: objects that lost parts are refused before
# any work.

skip_on_cran()

people <- function() {
  set.seed(71)
  n <- 60
  data.frame(
    age = sample(18:30, n, TRUE), town = sample(letters[1:5], n, TRUE), w = stats::runif(n, 2, 9)
  )
}
refused <- function(code) expect_error(code, class = "sdcRisk_error_damaged_result")
# The object without one of its parts.
without <- function(x, part) structure(unclass(x)[setdiff(names(x), part)], class = class(x))

test_that("objects that lost a part are refused by all that read them", {
  data <- people()
  table <- pattern_table(data, c("age", "town"), weight_var = "w")
  for (part in c("patterns", "key_vars", "n_records")) {
    broken <- without(table, part)
    for (verb in list(print, as.data.frame, n_matches, pattern_table, sdc_file)) {
      refused(verb(broken))
    }
    refused(update(broken, data))
    refused(update(table, broken))
    refused(longitudinal_link(table, broken, c("age", "town")))
  }
  file <- sdc_file(data, c("age", "town"), weight_var = "w")
  for (part in c("roles", "kept")) {
    broken <- file
    attr(broken, part) <- NULL
    for (verb in list(n_matches, pattern_table, sdc_roles)) refused(verb(broken))
    refused(longitudinal_link(data, broken, c("age", "town")))
  }
  ages <- hierarchy(data$age)
  for (part in c("name", "kind", "values", "steps", "labels")) {
    broken <- without(ages, part)
    refused(print(broken))
    refused(as.data.frame(broken))
    refused(recode_search(data, c("age", "town"), hierarchies = list(age = broken)))
  }
  # As they were, saved and read again.
  again <- unserialize(serialize(list(table, file), NULL))
  for (i in 1:2) {
    expect_identical(n_matches(again[[i]])$estimates, n_matches(list(table, file)[[i]])$estimates)
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
