# Columns of candidates: what a cell holds, and that it keeps it in every
# container and under every verb.

months <- function() candidates(list(c(2, 3), 6, NA, c(12, 1)))

test_that("a list and vectors element by element give the same cells", {
  x <- months()
  expect_identical(format(x), c("2|3", "6", NA, "12|1"))
  y <- candidates(c(2, 6, NA, 12), c(3, 6, NA, 1))
  expect_identical(as.list(x), as.list(y))
  expect_true(all((x == y)[c(1, 2, 4)]))
  expect_s3_class(x, "sdc_candidates", exact = TRUE)
  expect_type(x, "integer")
  expect_identical(attr(x, "sets"), list(c(2, 3), 6, c(12, 1)))
})

test_that("order is kept, duplicates are dropped, equal sets share a code", {
  x <- candidates(list(c(3, 2, 3), c(2, 3), c(3, 3, 2)))
  expect_identical(as.list(x), list(c(3, 2), c(2, 3), c(3, 2)))
  expect_identical(as.integer(x), c(1L, 2L, 1L))
  expect_identical(x == c(3, 2, 3), rep(FALSE, 3))
  expect_identical(x == x[c(1, 1, 1)], c(TRUE, FALSE, TRUE))
})

test_that("cells of random lists come back as they were given", {
  set.seed(41)
  for (round in 1:50) {
    cells <- lapply(seq_len(sample(0:30, 1)), function(i) {
      sample.int(5, sample(1:4, 1), replace = TRUE)
    })
    x <- candidates(cells)
    expect_identical(as.list(x), lapply(cells, unique))
    expect_false(anyDuplicated(attr(x, "sets")) > 0)
    expect_setequal(unique(as.integer(x)), seq_along(attr(x, "sets")))
  }
})

test_that("a cell that names NA is unknown, and said to be so beside values", {
  expect_silent(candidates(list(NA, c(NA, NA), 1)))
  expect_message(
    x <- candidates(list(c(1, NA), 2, c(NA, 3, 4))),
    class = "sdcRisk_message_partial_candidates"
  )
  expect_identical(format(x), c(NA, "2", NA))
  expect_message(
    candidates(1:3, c(2L, NA, NA)), "2 sets that contain",
    class = "sdcRisk_message_partial_candidates"
  )
  expect_identical(is.na(x), c(TRUE, FALSE, TRUE))
  expect_identical(summary(x), c(known = 1L, candidates = 0L, unknown = 2L))
  expect_identical(format(candidates(list(NaN, NA_character_, 3))), c(NA, NA, "3"))
})

test_that("types are told by class and kept", {
  days <- as.Date("2009-03-01") + 0:2
  x <- candidates(list(days[1:2], NA, days[3]))
  expect_identical(as.list(x)[[1]], days[1:2])
  expect_identical(format(x), c("2009-03-01|2009-03-02", NA, "2009-03-03"))
  expect_identical(as.list(candidates(days, rev(days)))[[2]], days[2])
  times <- as.POSIXct("2009-03-01 12:00", tz = "UTC") + 0:1
  expect_s3_class(as.list(candidates(list(times)))[[1]], "POSIXct")
  expect_identical(
    as.list(candidates(factor(c("b", "a")), factor(c("a", "a")))),
    list(c("b", "a"), "a")
  )
  expect_identical(as.list(candidates(list(TRUE, c(TRUE, FALSE))))[[2]], c(TRUE, FALSE))
  expect_identical(as.list(candidates(list(1L, 2.5))), list(1, 2.5))
  expect_identical(format(candidates(list(1e5, c(0.1, 1 / 3)))[1]), "100000")
  labelled <- structure(c(1, 9), class = "haven_labelled", na_values = 9)
  expect_identical(format(candidates(labelled)), c("1", NA))
})

test_that("text of a cell tells it apart", {
  x <- candidates(list("a|b", c("a", "b"), "a\"b"))
  expect_identical(anyDuplicated(format(x)), 0L)
  expect_identical(match(x, rev(x)), 3:1)
})

test_that("intervals hold their bounds", {
  x <- candidate_interval(c(30, 41, NA, 18, 30), c(34, 41, NA, Inf, 34))
  expect_identical(format(x), c("[30,34]", "[41,41]", NA, "[18,Inf]", "[30,34]"))
  expect_s3_class(x, c("sdc_candidate_interval", "sdc_candidates"), exact = TRUE)
  expect_identical(as.integer(x), c(1L, 2L, NA, 3L, 1L))
  expect_identical(attr(x, "sets"), list(c(30, 34), c(41, 41), c(18, Inf)))
  expect_identical(summary(x), c(known = 1L, candidates = 3L, unknown = 1L))
  expect_identical(format(candidate_interval(1:2, c(NA, 5L))), c(NA, "[2,5]"))
  days <- candidate_interval(as.Date("2009-03-01"), as.Date("2009-03-31"))
  expect_identical(format(days), "[2009-03-01,2009-03-31]")
})

test_that("faults are classed errors raised at once", {
  bad <- function(expr) expect_error(expr, class = "sdcRisk_error_bad_argument")
  bad(candidates())
  bad(candidates(list(1, "a")))
  bad(candidates(1, "a"))
  bad(candidates(list(1, as.Date("2009-03-01"))))
  bad(candidates(list(1, integer())))
  bad(candidates(list(1, NULL)))
  bad(candidates(1:2, 1:3))
  bad(candidates(list(sum)))
  bad(candidates(list(1i)))
  bad(candidates(structure(1, class = "strange")))
  bad(candidate_interval(2, 1))
  bad(candidate_interval(1:2, 3))
  bad(candidate_interval("a", "b"))
  bad(candidate_interval(1, as.Date("2009-03-01")))
  bad(c(months(), "a"))
  bad(c(months(), candidate_interval(1, 2)))
  bad(months() + 1)
  bad(months() < months())
  bad(-months())
  bad(log(months()))
  bad(range(months()))
  x <- months()
  bad(x[[1]] <- 1:2)
  bad(x[1] <- "a")
})

test_that("errors name the number of faulty cells and no value", {
  e <- tryCatch(candidate_interval(c(777, 1), c(1, 2)), error = identity)
  expect_false(grepl("777", conditionMessage(e)))
  expect_match(conditionMessage(e), "1 interval")
})

test_that("vectors of candidates subset, combine and repeat like values", {
  x <- months()
  expect_identical(format(x[c(4, 1, 9)]), c("12|1", "2|3", NA))
  expect_identical(format(x[-1]), c("6", NA, "12|1"))
  expect_identical(format(x[[4]]), "12|1")
  expect_identical(format(rep(x, 2)), rep(format(x), 2))
  expect_identical(format(rep(x[1:2], times = 2:1)), c("2|3", "2|3", "6"))
  expect_identical(format(rev(x)), rev(format(x)))
  expect_identical(format(unique(rep(x, 3))), format(x))
  expect_identical(duplicated(rep(x, 2)), rep(c(FALSE, TRUE), each = 4))
  both <- c(x, candidates(list(c(7, 8), 6)), 9)
  expect_identical(format(both), c(format(x), "7|8", "6", "9"))
  expect_identical(anyDuplicated(attr(both, "sets")), 0L)
  expect_identical(
    format(c(candidate_interval(1, 2), candidate_interval(5, 6), 1)),
    c("[1,2]", "[5,6]", "[1,1]")
  )
  x[2] <- candidates(list(c(7, 8)))
  x[3] <- 1
  x[4] <- NA
  expect_identical(format(x), c("2|3", "7|8", "1", NA))
  x[[1]] <- NA
  expect_identical(is.na(x), c(TRUE, FALSE, FALSE, TRUE))
  length(x) <- 2
  expect_identical(format(x), c(NA, "7|8"))
  expect_length(candidates(list()), 0)
  expect_length(c(candidates(list()), months()), 4)
  expect_identical(format(stats::setNames(months(), letters[1:4])[["b"]]), "6")
})

test_that("sorting goes by the first value, then by the second", {
  x <- candidates(list(c(2, 3), 10, 2, NA, c(2, 1), c(1, 12)))
  expect_identical(format(sort(x)), c("1|12", "2", "2|1", "2|3", "10"))
  expect_identical(order(x), c(6L, 3L, 5L, 1L, 2L, 4L))
  expect_identical(format(sort(candidate_interval(c(3, 1, 1), c(4, 9, 2)))), c(
    "[1,2]", "[1,9]", "[3,4]"
  ))
})

test_that("cells compare by value, whatever their columns hold", {
  x <- candidates(list(1, c(1, 2), NA))
  y <- candidates(list(9, 1, c(1, 2), c(2, 1)))[c(2, 4, 1)]
  expect_identical(x == y, c(TRUE, FALSE, NA))
  expect_identical(x != y, c(FALSE, TRUE, NA))
  expect_identical(x == 1, c(TRUE, FALSE, NA))
})

test_that("prints are short and say how much is left out", {
  expect_snapshot(months())
  expect_snapshot(candidate_interval(c(30, NA), c(34, NA)))
  expect_snapshot(candidates(list()))
  expect_snapshot(print(rep(months(), 100), max = 4))
  expect_snapshot(str(list(month = months(), other = rep(months(), 9))))
  expect_snapshot(data.frame(id = 1:4, month = months()))
  expect_snapshot(summary(data.frame(id = 1:4, month = months())))
})

test_that("data frames keep candidates under subsetting, rbind and merge", {
  data <- data.frame(id = 1:4, month = months())
  expect_named(as.data.frame(months()), "months()")
  expect_identical(format(data[c(4, 2), "month"]), c("12|1", "6"))
  expect_identical(format(subset(data, id > 2)$month), c(NA, "12|1"))
  other <- data.frame(id = 5:6, month = candidates(list(c(8, 9), c(2, 3))))
  both <- rbind(data, other)
  expect_identical(format(both$month), c("2|3", "6", NA, "12|1", "8|9", "2|3"))
  expect_identical(format(rbind(other, data)$month), c("8|9", "2|3", "2|3", "6", NA, "12|1"))
  expect_identical(
    format(merge(data.frame(id = c(4, 9, 1)), data, all.x = TRUE)$month),
    c("2|3", "12|1", NA)
  )
  met <- merge(data, other, by = "month", all = TRUE)
  expect_identical(sum(!is.na(met$id.x) & !is.na(met$id.y)), 1L)
  expect_setequal(met$id.x, c(1:4, NA))
  expect_identical(format(do.call(rbind, split(data, data$id))$month), format(months()))
  parts <- split(months(), c(1, 1, 2, 2))
  expect_identical(format(parts[[2]]), c(NA, "12|1"))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(data, file)
  expect_identical(readRDS(file), data)
  expect_identical(format(ifelse(TRUE, format(months()), "")), "2|3")
  expect_identical(vapply(months(), length, 1L), c(2L, 1L, 1L, 2L))
})

test_that("tibbles keep candidates", {
  skip_if_not_installed("tibble")
  data <- tibble::tibble(id = 1:4, month = months())
  expect_identical(format(data[c(4, 2), ]$month), c("12|1", "6"))
  expect_output(print(data), "12|1", fixed = TRUE)
  expect_identical(format(data$month), format(months()))
  data$month[1] <- 5
  expect_identical(format(data$month), c("5", "6", NA, "12|1"))
  expect_identical(format(rbind(data, data)$month), rep(format(data$month), 2))
  skip_if_not_installed("vctrs")
  both <- vctrs::vec_rbind(
    data, tibble::tibble(id = 5L, month = candidates(list(c(8, 9))))
  )
  expect_identical(format(both$month), c("5", "6", NA, "12|1", "8|9"))
  expect_identical(format(vctrs::vec_c(months(), NA)), c(format(months()), NA))
  expect_identical(vctrs::vec_match(candidates(list(6)), months()), 2L)
  intervals <- vctrs::vec_c(candidate_interval(1, 2), candidate_interval(3, 4))
  expect_identical(format(intervals), c("[1,2]", "[3,4]"))
  ages <- tibble::tibble(age = candidate_interval(1:2, 2:3))
  more <- tibble::tibble(age = candidate_interval(c(5, 2), c(6, 3)))
  expect_identical(format(vctrs::vec_rbind(ages, more)$age), c("[1,2]", "[2,3]", "[5,6]", "[2,3]"))
  expect_identical(vctrs::vec_match(more$age, ages$age), c(NA, 2L))
  expect_output(print(ages), "interval", fixed = TRUE)
})

test_that("dplyr's verbs keep candidates", {
  skip_if_not_installed("dplyr")
  data <- tibble::tibble(id = 1:4, month = months())
  other <- tibble::tibble(id = c(4L, 9L), month = candidates(list(6, c(2, 3))))
  expect_identical(format(dplyr::filter(data, id > 3)$month), "12|1")
  expect_identical(format(dplyr::bind_rows(data, other)$month), c(
    format(months()), "6", "2|3"
  ))
  expect_identical(
    format(dplyr::left_join(other["id"], data, by = "id")$month), c("12|1", NA)
  )
  expect_identical(dplyr::inner_join(data, other, by = "month")$id.y, c(9L, 4L))
  expect_identical(format(dplyr::mutate(data, month = rev(month))$month), rev(format(months())))
  expect_identical(dplyr::arrange(data, month)$id, c(1L, 2L, 4L, 3L))
  counted <- dplyr::count(data[c(1, 1, 4), ], month)
  expect_identical(counted$n, c(2L, 1L))
  expect_identical(format(counted$month), c("2|3", "12|1"))
  expect_identical(
    format(dplyr::summarise(dplyr::group_by(data, id), month = month[1])$month),
    format(months())
  )
  expect_identical(
    format(dplyr::if_else(c(TRUE, FALSE, TRUE, TRUE), data$month, data$month)),
    format(months())
  )
  expect_identical(format(dplyr::distinct(data[c(1, 1, 2), ], month)$month), c("2|3", "6"))
})

test_that("data.table's brackets keep candidates", {
  skip_if_not_installed("data.table")
  data <- data.table::data.table(id = 1:4, month = months())
  rows <- c(4, 2)
  expect_identical(format(data[rows, ]$month), c("12|1", "6"))
  expect_identical(format(merge(data, data.table::data.table(id = 4L), by = "id")$month), "12|1")
  expect_identical(format(as.data.frame(data)$month), format(months()))
})

test_that("rbindlist keeps the sets of the first table: the documented hole", {
  skip_if_not_installed("data.table")
  one <- data.frame(month = candidates(list(c(2, 3))))
  two <- data.frame(month = candidates(list(c(8, 9))))
  wrong <- data.table::rbindlist(list(one, two))$month
  expect_identical(format(wrong), c("2|3", "2|3"))
  expect_identical(format(rbind(one, two)$month), c("2|3", "8|9"))
  expect_identical(format(c(one$month, two$month)), c("2|3", "8|9"))
  # Codes beyond the sets are caught where they can be seen.
  three <- data.frame(month = candidates(list(8, 9, 10)))
  broken <- data.table::rbindlist(list(one, three))$month
  expect_error(format(broken), class = "sdcRisk_error_bad_column")
})

test_that("columns of several tables share one list of sets", {
  x <- candidates(list(1, c(1, 2)))
  y <- candidates(list(c(2, 3), c(1, 2)))
  shared <- sdcRisk:::share_sets(list(x, y, c(2, NA, 1)))
  sets <- lapply(shared, attr, "sets")
  expect_identical(sets[[1]], sets[[2]])
  expect_identical(sets[[1]], sets[[3]])
  expect_identical(lapply(shared, format), list(format(x), format(y), c("2", NA, "1")))
})

test_that("many cells keep few sets", {
  set.seed(1)
  n <- 1e5
  first <- sample.int(12, n, TRUE)
  x <- candidates(first, first %% 12 + 1)
  expect_identical(as.vector(x[1:9] == candidates(first[1:9], first[1:9] %% 12 + 1)), rep(TRUE, 9))
  expect_lte(length(attr(x, "sets")), 12)
})

test_that("columns whose sets stand twice are read as if they stood once", {
  twice <- structure(
    c(1L, 2L, 3L, NA), sets = list(c(2, 3), c(2, 3), c(3, 2)), class = "sdc_candidates"
  )
  once <- candidates(list(c(2, 3), c(2, 3), c(3, 2), NA))
  expect_identical(twice[1] == twice[2], TRUE)
  expect_identical(twice[1] == twice[3], FALSE)
  expect_identical(twice == once, c(TRUE, TRUE, TRUE, NA))
  expect_identical(duplicated(twice), c(FALSE, TRUE, FALSE, FALSE))
  expect_identical(anyDuplicated(twice), 2L)
  expect_identical(format(unique(twice)), c("2|3", "3|2", NA))
  expect_identical(xtfrm(twice), xtfrm(once))
  table_of <- function(x) {
    data <- data.frame(a = c(1, NA, 1, 1))
    data$m <- x
    data
  }
  expect_identical(
    as.data.frame(key_overview(table_of(twice))), as.data.frame(key_overview(table_of(once)))
  )
  for (rule in c("first", "overlap", "mean")) {
    count <- function(x) {
      n_matches(table_of(x), rule = rule, partial_weight = 0.3)$records
    }
    expect_identical(count(twice), count(once))
  }
  # Numbers of two types, and intervals.
  mixed <- structure(1:2, sets = list(2L, 2), class = "sdc_candidates")
  expect_true(mixed[1] == mixed[2])
  intervals <- structure(
    1:2, sets = list(c(1, 4), c(1, 4)), class = c("sdc_candidate_interval", "sdc_candidates")
  )
  expect_identical(duplicated(intervals), c(FALSE, TRUE))
})

test_that("text is split where it is asked to be", {
  x <- candidates(c("2|3", "6", NA, "12|1", ""), split = "|")
  expect_identical(x == candidates(list(c(2, 3), 6, NA, c(12, 1), NA)), c(TRUE, TRUE, NA, TRUE, NA))
  expect_identical(as.list(x)[[1]], c(2, 3))
  expect_identical(as.list(candidates("b ; a", split = ";"))[[1]], c("b", "a"))
  expect_identical(as.list(candidates(factor("1.5|-2"), split = "|"))[[1]], c(1.5, -2))
  # Codes with leading zeros are text.
  expect_identical(as.list(candidates(c("01|2", "3"), split = "|")), list(c("01", "2"), "3"))
  expect_identical(names(candidates(c(a = "1|2"), split = "|")), "a")
  expect_identical(format(candidates(c(NA, NA), split = "|")), c(NA_character_, NA_character_))
  bad <- function(expr) expect_error(expr, class = "sdcRisk_error_bad_argument")
  bad(candidates(1:2, split = "|"))
  bad(candidates("1", "2", split = "|"))
  bad(candidates("1|2", split = ""))
  # A cell of which a part is missing is unknown, and said to be.
  expect_message(
    expect_true(is.na(candidates("2|NA", split = "|"))),
    class = "sdcRisk_message_partial_candidates"
  )
})

test_that("text that looks like several values is announced", {
  expect_message(
    x <- candidates(c("2|3", "6")), "1 value of text", class = "sdcRisk_message_unsplit_candidates"
  )
  expect_identical(as.list(x)[[1]], "2|3")
  expect_silent(candidates(c("2|3", "6"), split = "|"))
  expect_silent(candidates(list(c(2, 3))))
  people <- data.frame(month = 1:3)
  people$month <- candidates(c("2|3", "2", "3"), split = "|")
  expect_identical(n_matches(people, rule = "overlap")$records$n_matches, c(3L, 2L, 2L))
})

test_that("a damaged factor is no column of candidates", {
  expect_error(
    candidates(structure(c(9L, 1L), levels = "a", class = "factor")), "codes without a level",
    class = "sdcRisk_error_bad_argument"
  )
})
