# Month of birth: the cases of the paper, and brute force over all months.

skip_on_cran()

waves_of <- function(from, to, change = NULL, age = 30, skip = NULL) {
  # every month from year 2009, `change` the months in which the age rises
  month <- setdiff(seq(from, to), skip)
  data.frame(
    id = 1, year = 2009 + (month - 1) %/% 12, month = (month - 1) %% 12 + 1,
    age = age + vapply(month, function(m) sum(change <= m), 1)
  )
}

months_of <- function(data, ...) {
  birth_month(data, "id", "year", "month", "age", ...)
}

test_that("case A: changes in March of two years leave February and March", {
  found <- months_of(waves_of(1, 16, c(3, 15)))
  expect_identical(format(found$month), "2|3")
  expect_identical(found$n_candidates, 2L)
  expect_identical(found$status, "candidates")
})

test_that("case B: changes in June, July and June leave June", {
  found <- months_of(waves_of(-8, 20, c(-6, 7, 18)))
  expect_identical(format(found$month), "6")
  expect_identical(found$status, "known")
})

test_that("case C: seven months without change tell nothing without a year of birth", {
  data <- waves_of(1, 7, age = 50)
  found <- months_of(data)
  expect_identical(format(found$month), NA_character_)
  expect_identical(found$n_candidates, NA_integer_)
  expect_identical(found$status, "unknown")
  data$born <- 1958
  found <- months_of(data, birth_year = "born")
  expect_identical(format(found$month), "7|8|9|10|11|12")
  expect_identical(found$status, "candidates")
})

test_that("case D: a change in January keeps December first", {
  expect_identical(format(months_of(waves_of(10, 15, 13))$month), "12|1")
})

test_that("case E: gaps widen, and answers without change narrow", {
  data <- data.frame(id = 1, year = 2009, month = c(2, 5), age = c(30, 31))
  expect_identical(format(months_of(data)$month), "2|3|4|5")
  more <- data.frame(id = 1, year = 2010, month = 1:4, age = 31)
  expect_identical(format(months_of(rbind(data, more))$month), "4|5")
})

test_that("gaps of a year and more count the birthdays in them", {
  # gap 12 with jump 2: the month of the answers
  data <- data.frame(id = 1, year = 2009:2010, month = 5, age = c(30, 32))
  expect_identical(format(months_of(data)$month), "5")
  # gap 14 from January with jump 2
  data <- data.frame(id = 1, year = 2009:2010, month = c(1, 3), age = c(30, 32))
  expect_identical(format(months_of(data)$month), "1|2|3")
  # gap 12 with jump 1 excludes nothing
  data <- data.frame(id = 1, year = 2009:2010, month = 5, age = 30:31)
  expect_identical(months_of(data)$status, "unknown")
  # gap 12 with jump 0: the month of the answers
  data$age <- 30
  expect_identical(oracle_months(2009:2010, c(5, 5), c(30, 30)), 5L)
  expect_identical(months_of(data)$status, "unknown")
})

test_that("ages that fall, or jump too far, are conflicts and taken as missing", {
  data <- rbind(
    data.frame(id = 1, year = 2009, month = c(2, 5), age = c(31, 30)),
    data.frame(id = 2, year = 2009, month = c(2, 5), age = c(31, 33)),
    data.frame(id = 3, year = 2009, month = c(2, 2), age = c(31, 30)),
    data.frame(id = 4, year = 2009, month = c(2, 2), age = c(31, 33))
  )
  found <- months_of(data)
  expect_identical(found$status, c("conflict", "conflict", "known", "conflict"))
  expect_identical(format(found$month), c(NA, NA, "2", NA))
  expect_identical(found$n_candidates, c(NA, NA, 1L, NA))
})

test_that("one wave informs with a year of birth; two years of birth conflict", {
  data <- data.frame(
    id = c(1, 2, 3, 4, 4, 5, 5, 6), year = 2009, month = c(3, 3, 12, 3, 4, 3, 4, 3), age = 30,
    born = c(1979, 1978, 1979, 1979, NA, 1979, 1978, 1970)
  )
  found <- months_of(data, birth_year = "born")
  expect_identical(
    format(found$month), c("1|2|3", "3|4|5|6|7|8|9|10|11|12", NA, "1|2|3", NA, NA)
  )
  expect_identical(
    found$status,
    c("candidates", "candidates", "unknown", "candidates", "conflict", "conflict")
  )
})

test_that("people without answered waves are unknown, whatever their ids are", {
  data <- data.frame(
    id = factor(c("b", "b", "a", "c")), year = c(2009, 2009, NA, 2009),
    month = c(2, 3, 2, NA), age = c(30, 31, 30, 30)
  )
  found <- months_of(data)
  expect_identical(found$id, factor(c("b", "a", "c")))
  expect_identical(found$status, c("candidates", "unknown", "unknown"))
  data$age <- NA_real_
  expect_identical(months_of(data)$status, rep("unknown", 3))
})

test_that("brute force over all months agrees on random panels", {
  set.seed(12)
  panels <- lapply(1:300, function(id) {
    n <- sample(1:9, 1)
    time <- sort(sample.int(sample(c(6, 14, 40), 1) + 9, n, replace = id %% 3 == 0))
    year <- 2009 + (time - 1) %/% 12
    month <- (time - 1) %% 12 + 1
    born <- sample.int(12, 1)
    passed <- ifelse(month > born, 1, ifelse(month < born, 0, sample(0:1, n, TRUE)))
    if (id %% 5 == 0) passed <- passed + sample(0:1, n, TRUE)
    data.frame(
      id = id, year = year, month = month, age = year - 1971 + passed,
      born = if (id %% 2 == 0) 1970L else NA, truth = if (id %% 5 == 0) NA else born
    )
  })
  data <- do.call(rbind, panels)
  shuffled <- data[sample.int(nrow(data)), ]
  for (with_year in c(FALSE, TRUE)) {
    found <- months_of(shuffled, birth_year = if (with_year) "born")
    found <- found[match(seq_along(panels), found$id), ]
    sets <- as.list(found$month)
    seen <- c(known = 0, candidates = 0, unknown = 0, conflict = 0)
    for (id in seq_along(panels)) {
      p <- panels[[id]]
      born <- if (with_year && !is.na(p$born[1])) p$born[1]
      expected <- oracle_months(p$year, p$month, p$age, born)
      if (is.null(born)) {
        expect_identical(expected, oracle_simulated_months(p$year, p$month, p$age))
      }
      status <- if (length(expected) == 0) {
        "conflict"
      } else if (length(expected) == 12 || (is.null(born) && length(unique(p$age)) == 1)) {
        "unknown"
      } else if (length(expected) == 1) {
        "known"
      } else {
        "candidates"
      }
      seen[status] <- seen[status] + 1
      expect_identical(found$status[id], status)
      if (status %in% c("known", "candidates")) {
        expect_setequal(sets[[id]], expected)
        expect_identical(found$n_candidates[id], length(expected))
        if (!is.na(p$truth[1])) expect_true(p$truth[1] %in% sets[[id]])
        # calendar order from the answer before the first change
        change <- which(diff(p$age[order(p$year, p$month, p$age)]) != 0)
        start <- if (length(change)) p$month[order(p$year, p$month, p$age)][change[1]] else 1
        expect_identical(sets[[id]], sets[[id]][order((sets[[id]] - start) %% 12)])
      }
    }
    expect_true(all(seen > 0))
  }
})

test_that("order of rows and of other people change nothing", {
  background <- panel_waves$background[1:3000, ]
  found <- months_of(background)
  turned <- months_of(background[rev(seq_len(nrow(background))), ])
  turned <- turned[match(found$id, turned$id), ]
  expect_identical(format(found$month), format(turned$month))
  one <- months_of(background[background$id == 7, ])
  expect_identical(format(one$month), format(found$month[found$id == 7]))
})

test_that("the true month is among the candidates of the simulated panel", {
  background <- panel_waves$background
  truth <- panel_waves$truth
  for (born in list(NULL, "birth_year")) {
    found <- months_of(background, birth_year = born)
    expect_identical(nrow(found), 17924L)
    told <- !is.na(found$n_candidates)
    true <- truth$birth_month[match(found$id, truth$id)]
    hit <- mapply(function(set, m) m %in% set, as.list(found$month)[told], true[told])
    # Only those of the 30 people with a corrected date whose ages agree miss.
    expect_lte(sum(!hit), 30)
    expect_lte(sum(found$status == "conflict"), 30)
    expect_gte(sum(found$status == "conflict"), 20)
  }
})

test_that("the print counts people and shows no one's values", {
  data <- waves_of(1, 16, c(3, 15))
  expect_snapshot(months_of(rbind(data, transform(data, id = 2, age = rev(age)))))
  expect_s3_class(months_of(data)[1, ], "data.frame", exact = TRUE)
  expect_s3_class(as.data.frame(months_of(data)), "data.frame", exact = TRUE)
  short <- months_of(data)
  short$status <- NULL
  expect_output(print(short), "2|3", fixed = TRUE)
})

test_that("faults in the columns are classed errors", {
  data <- waves_of(1, 5, 3)
  bad <- function(kind, ...) {
    expect_error(birth_month(...), class = paste0("sdcRisk_error_", kind))
  }
  bad("bad_data", as.list(data), "id", "year", "month", "age")
  bad("bad_data", data[0, ], "id", "year", "month", "age")
  bad("unknown_key_var", data, "nobody", "year", "month", "age")
  bad("bad_argument", data, c("id", "year"), "year", "month", "age")
  bad("unknown_key_var", data, "id", "jaar", "month", "age")
  bad("bad_argument", transform(data, month = 13), "id", "year", "month", "age")
  bad("bad_argument", transform(data, month = 0), "id", "year", "month", "age")
  bad("bad_argument", transform(data, month = "May"), "id", "year", "month", "age")
  bad("bad_argument", transform(data, month = factor(month)), "id", "year", "month", "age")
  bad("bad_argument", transform(data, age = 30.5), "id", "year", "month", "age")
  bad("bad_argument", transform(data, age = -1), "id", "year", "month", "age")
  bad("bad_argument", transform(data, age = Inf), "id", "year", "month", "age")
  bad("bad_argument", transform(data, year = as.Date("2009-01-01")), "id", "year", "month", "age")
  bad("bad_argument", transform(data, id = NA), "id", "year", "month", "age")
  bad("bad_argument", transform(data, b = 1.5), "id", "year", "month", "age", birth_year = "b")
  bad("unknown_key_var", data, "id", "year", "month", "age", birth_year = "b")
})

test_that("labelled columns and data.tables are taken as well, positions are not", {
  data <- waves_of(1, 16, c(3, 15))
  expect_error(birth_month(data, 1, 2, 3, 4), class = "sdcRisk_error_bad_argument")
  data$age <- structure(c(99, data$age[-1]), class = "haven_labelled", na_values = 99)
  expect_identical(format(months_of(data)$month), "2|3")
  skip_if_not_installed("data.table")
  expect_identical(format(months_of(data.table::as.data.table(data))$month), "2|3")
})

test_that("equal sets of months are one value, whatever change they come from", {
  answers <- data.frame(
    id = c("A", "A", "C", "C", "C", "C"), y = c(2009, 2009, 2009, 2009, 2010, 2010),
    m = c(2, 3, 1, 3, 2, 3), age = c(30, 31, 30, 31, 31, 32)
  )
  month <- birth_month(answers, "id", "y", "m", "age")$month
  expect_identical(format(month), c("2|3", "2|3"))
  expect_true(month[1] == month[2])
  expect_length(unique(month), 1)
  expect_length(attr(month, "sets"), 1)
  # Months known in full of one person, and as those two of the other.
  people <- data.frame(sex = "f", job = NA_character_)[c(1, 1), ]
  people$month <- month
  found <- n_matches(people, partial_weight = 0.5)
  expect_identical(found$records$n_matches, c(2, 2))
  expect_identical(key_overview(people)$n_unique_without, c(0L, 0L, 0L))
  panel <- birth_month(panel_waves$background, "id", "year", "month", "age")$month
  expect_identical(key_overview(data.frame(m = panel))$n_levels, 73L)
  expect_equal(key_overview(data.frame(m = panel))$entropy, 3.003, tolerance = 5e-4)
  expect_length(unique(panel), length(unique(format(panel))))
})

test_that("a column of columns is no month", {
  answers <- data.frame(id = 1:2, y = 2009, age = 30)
  answers$m <- matrix(1:4, 2)
  expect_error(
    birth_month(answers, "id", "y", "m", "age"), "whole numbers from 1 to 12",
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("one column is not the year and the month", {
  answers <- data.frame(id = 1, year = 2009, month = 2, age = 30)
  expect_error(
    birth_month(answers, "id", "month", "month", "age"),
    "`month` must name another column than `year`", class = "sdcRisk_error_bad_argument"
  )
})
