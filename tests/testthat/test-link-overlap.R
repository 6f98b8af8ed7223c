# What linking is worth when records have few observed keys, and what is said of
# it; rules that true partners break; links of other waves.

skip_on_cran()

# Twenty people whom keys tell apart, and one wave-1 record that knows next to
# nothing of a person in neither wave.
hidden_waves <- function() {
  people <- data.frame(id = 1:20, a = 1:20, b = 20:1, c = "x")
  empty <- data.frame(id = 99, a = NA, b = NA, c = "x")
  list(rbind(people, empty), people)
}
three <- c("a", "b", "c")

test_that("matches under every least number of shared keys equal brute force", {
  for (seed in seeds(150)) {
    waves <- random_waves(seed)
    complete <- !anyNA(waves$wave1[waves$keys]) && !anyNA(waves$wave2[waves$keys])
    found <- quiet_link(waves$wave1, waves$wave2, waves$keys, "id")$overlap
    if (complete) {
      expect_null(found)
      next
    }
    expect_identical(found$min_overlap, 0:length(waves$keys))
    for (least in found$min_overlap) {
      slow <- slow_link(waves$wave1, waves$wave2, waves$keys, "id", least)
      row <- found[found$min_overlap == least, ]
      expect_equal(row$expected_correct, slow$expected_correct, info = seed)
      expect_equal(row$n_certain, slow$n_certain)
      expect_equal(row$n_single_best, slow$n_single_best)
      expect_equal(row$n_matched, sum(slow$n_best > 0))
    }
    blind <- quiet_link(waves$wave1, waves$wave2, waves$keys)$overlap
    expect_identical(blind$n_single_best, found$n_single_best)
    expect_true(all(is.na(blind[c("n_certain", "expected_correct")])))
  }
})

test_that("a record that hides matches is told of, with the value that helps", {
  waves <- hidden_waves()
  warning <- expect_warning(
    found <- longitudinal_link(waves[[1]], waves[[2]], three, "id"),
    class = "sdcRisk_warning_empty_records"
  )
  # The empty record is as near as the true one: 20 halves.
  expect_equal(found$estimates$expected_correct, 10)
  expect_equal(found$overlap$expected_correct, c(10, 10, 20, 20))
  expect_identical(warning$min_overlap, 2L)
  expect_equal(warning$expected_correct, 20)
  expect_match(
    conditionMessage(warning), "10.0 under `min_overlap = 0`, 20.0 under `min_overlap = 2`"
  )
  expect_match(lines_of(found), "10.0 to 20.0 correct matches expected, most with 2", all = FALSE)
  expect_true("by_min_overlap" %in% names(summary(found)))
  # Who follows the advice is told of the record that is left out, and no more.
  warning <- expect_warning(
    strict <- longitudinal_link(waves[[1]], waves[[2]], three, "id", min_overlap = 2)
  )
  expect_match(conditionMessage(warning), "1 record of wave 1, 0 of wave 2")
  expect_no_match(conditionMessage(warning), "hide")
  expect_equal(strict$estimates$n_certain, 20)
  expect_no_match(interpret(strict), "is expected to link 20.0.*is expected to link")
  expect_match(interpret(strict), "a match shares at least 2 observed key variables")
})

test_that("nothing is advised that does not help", {
  # The partners of the empty records cannot be linked at all.
  one <- data.frame(id = 1:3, a = c(1, 2, NA), b = c("x", "y", NA))
  two <- data.frame(id = 7:9, a = c(1, 2, NA), b = c("x", "y", NA))
  words <- function(...) {
    conditionMessage(tryCatch(
      suppressWarnings(longitudinal_link(...), "sdcRisk_warning_no_common_ids"), warning = identity
    ))
  }
  expect_match(words(one, two, c("a", "b"), "id"), "No `min_overlap` brings clearly more")
  expect_match(words(one, two, c("a", "b")), "`overlap` of the result compares its values")
  expect_match(words(one, two, c("a", "b"), min_overlap = 1), "they match nobody")
  expect_match(empty_records_advice(NULL, NULL, 0), "sensitivity = TRUE")
})

test_that("linkage of FEBRL 4 is hidden by 2.9% of the records, and found again", {
  waves <- lapply(c("febrl4a.csv", "febrl4b.csv"), function(name) {
    wave <- trial_file(name, strip.white = TRUE, colClasses = "character", na.strings = "")
    wave$id <- as.integer(sub("rec-([0-9]+)-.*", "\\1", wave$rec_id))
    wave$year <- substr(wave$date_of_birth, 1, 4)
    wave$month <- substr(wave$date_of_birth, 5, 6)
    wave
  })
  keys <- c("state", "year", "month")
  warning <- expect_warning(
    found <- longitudinal_link(waves[[1]], waves[[2]], keys, "id"),
    class = "sdcRisk_warning_empty_records"
  )
  expect_equal(round(found$overlap$expected_correct, 1), c(244.9, 298.9, 2817.4, 2849.1))
  expect_identical(found$overlap$n_certain, c(0L, 4L, 1748L, 1812L))
  expect_identical(warning$min_overlap, 3L)
  strict <- quiet_link(waves[[1]], waves[[2]], keys, "id", min_overlap = 3)
  expect_equal(strict$estimates$expected_correct, warning$expected_correct)
})

test_that("a rule that true partners break is named", {
  one <- data.frame(name = 1:4, age = c(20, 30, 40, NA), status = c("a", "b", "b", "b"))
  two <- data.frame(name = 1:4, age = c(22, 32, 42, 52), status = c("b", "b", "b", "a"))
  one$id <- two$id <- 1:4
  keys <- c("age", "name")
  expect_silent(found <- longitudinal_link(one, two, keys, "id", tolerance = list(age = c(2, 2))))
  expect_identical(found$rules$n_compared, 3L)
  expect_identical(found$rules$n_excluded, 0L)
  expect_no_match(lines_of(found), "excludes")
  warning <- expect_warning(
    found <- longitudinal_link(two, one, keys, "id", tolerance = list(age = c(2, 2))),
    class = "sdcRisk_warning_broken_rules"
  )
  expect_identical(warning$columns, "age")
  expect_equal(warning$prop_excluded, 1)
  expect_match(conditionMessage(warning), "excludes 100% of the 3 pairs")
  expect_match(conditionMessage(warning), "are the waves swapped")
  expect_match(lines_of(found), "age \\(excludes 100% of the true partners\\)", all = FALSE)
  expect_match(interpret(found), "admissible changes of age \\(excludes 100%")
  # Changes of status from a to b only, of four pairs one breaks it.
  up <- matrix(
    c(TRUE, FALSE, TRUE, TRUE), 2, dimnames = list(c("a", "b"), c("a", "b"))
  )
  rules <- list(status = up, age = c(2, 2))
  warning <- expect_warning(
    found <- longitudinal_link(one, two, c(keys, "status"), "id", tolerance = rules),
    class = "sdcRisk_warning_broken_rules"
  )
  expect_identical(found$rules$variable, c("status", "age"))
  expect_equal(found$rules$prop_excluded, c(1 / 4, 0))
  expect_identical(warning$columns, "status")
  expect_warning(
    key_stability(two, one, keys, "id", tolerance = list(age = c(2, 2))),
    class = "sdcRisk_warning_broken_rules"
  )
  expect_null(longitudinal_link(two, one, keys, tolerance = list(age = c(2, 2)))$rules)
})

test_that("swapped waves of the panel are found by their rule", {
  keys <- c("gender", "degree_field", "degree_year", "age")
  link <- function(...) longitudinal_link(..., keys, "id", tolerance = list(age = c(1, 2)))
  few <- "sdcRisk_warning_empty_records"
  right <- quiet_link(
    panel_waves$wave1, panel_waves$wave2, keys, "id", tolerance = list(age = c(1, 2))
  )
  expect_identical(right$rules$n_excluded, 0L)
  expect_no_condition(
    suppressWarnings(link(panel_waves$wave1, panel_waves$wave2), few),
    class = "sdcRisk_warning_broken_rules"
  )
  warning <- expect_warning(
    suppressWarnings(link(panel_waves$wave2, panel_waves$wave1), few),
    class = "sdcRisk_warning_broken_rules"
  )
  expect_equal(warning$prop_excluded, 1)
})

test_that("words go with their numbers", {
  one <- data.frame(id = 1:2, key = c("a", "b"))
  expect_match(
    interpret(longitudinal_link(one, one[1, ], "key")),
    "1 \\(100%\\) of the records have a single best match, right or wrong"
  )
  found <- longitudinal_link(one, data.frame(id = 1:2, key = c("a", "a")), "key", "id")
  expect_match(lines_of(found), "^Single best matches that are wrong +1 \\(50%\\)", all = FALSE)
  expect_match(interpret(found), "1 \\(50%\\) of the single best matches are wrong")
  twice <- data.frame(id = 1:2, key = "a")
  none <- longitudinal_link(twice, twice, "key", "id")
  expect_match(interpret(none), "0 of the single best matches are wrong")
  expect_match(lines_of(none), "^Single best matches +0 \\(0%\\)", all = FALSE)
  nobody <- suppressWarnings(longitudinal_link(one, data.frame(id = 8, key = "a"), "key", "id"))
  expect_match(
    interpret(nobody), "link 0 of the 0 .*1 \\(100%\\) of the single best matches are wrong"
  )
  expect_identical(plural(0:2, "match", "es"), c("0 matches", "1 match", "2 matches"))
})

test_that("ids that repeat in both waves are one error of both", {
  waves <- data.frame(id = c(1, 1, 2), x = 1:3)
  for (f in list(longitudinal_link, key_stability, change_indicators)) {
    error <- expect_error(f(waves, waves, "x", "id"), class = "sdcRisk_error_bad_data")
    expect_match(conditionMessage(error), "1 record of `wave1`.*\n.*1 record of `wave2`")
  }
})

test_that("certain changes are taken from a link of both these waves only", {
  one <- data.frame(id = 1:6, x = rep(1:3, 2), y = letters[1:6])
  two <- transform(one, y = toupper(y))
  changes <- function(one, two, id = "id") {
    suppressWarnings(change_indicators(one, two, "y", id, link, "certain"))$y_changed
  }
  link <- longitudinal_link(one, two, c("x"), "id")
  expect_identical(changes(one, two), rep(0L, 6))
  other <- transform(one, x = c(1:3, 7:9))
  error <- expect_error(changes(other, two), class = "sdcRisk_error_mismatched_data")
  expect_match(conditionMessage(error), "`wave1`")
  error <- expect_error(changes(one, other), class = "sdcRisk_error_mismatched_data")
  expect_match(conditionMessage(error), "`wave2`")
  # The same people in another order of records, and other people under the ids.
  expect_error(changes(one[6:1, ], two), class = "sdcRisk_error_mismatched_data")
  moved <- transform(two, id = c(2:6, 1))
  expect_error(changes(one, moved), class = "sdcRisk_error_mismatched_data")
  names(two)[[1]] <- names(one)[[1]] <- "person"
  expect_error(changes(one, two, "person"), class = "sdcRisk_error_mismatched_data")
})
