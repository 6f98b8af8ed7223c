sex_changes <- matrix(
  c(TRUE, FALSE, TRUE, FALSE, TRUE, FALSE, TRUE, TRUE, TRUE), 3,
  dimnames = list(c("f", "m", "x"), c("f", "m", "x"))
)

expect_link <- function(found, slow, info) {
  columns <- c("n_diff", "n_best", "match_prob")
  expect_identical(as.list(found$records[columns]), slow[columns], info = info)
  counts <- c("n_single_best", "n_linked", "n_certain", "expected_correct")
  expect_equal(as.list(found$estimates[counts]), slow[counts], info = info)
}

test_that("linkage equals brute force on random waves of all types", {
  for (seed in seeds(480)) {
    waves <- random_waves(seed)
    least <- if (seed %% 3 == 0) sample(0:length(waves$keys), 1) else 0
    allow <- switch(seed %% 4 + 1,
      NULL, list(age = c(0, 2)), list(sex = sex_changes),
      list(sex = sex_changes, age = c(-1, 1))
    )
    found <- quiet_link(
      waves$wave1, waves$wave2, waves$keys, "id", min_overlap = least, tolerance = allow
    )
    slow <- slow_link(waves$wave1, waves$wave2, waves$keys, "id", least, allow)
    expect_link(found, slow, paste("seed", seed))
    is_own <- is.finite(slow$own)
    expect_equal(found$records$true_diff[is_own], slow$own[is_own])
  }
})

test_that("both algorithms give the same, on several tiles of rows", {
  set.seed(5)
  n <- 3000
  draw <- function(k) sample(c(NA, seq_len(k)), n, TRUE)
  people <- data.frame(lapply(c(12, 9, 40, 3, 2, 7), draw))
  names(people) <- letters[1:6]
  later <- people[sample(n, 2500), ]
  later$a[1:500] <- sample(12, 500, TRUE)
  coded <- code_waves(
    cbind(people, id = seq_len(n)), cbind(later, id = as.integer(rownames(later))),
    letters[1:6], "id", "key_vars"
  )
  for (least in c(0, 4)) {
    agreements <- rep(list(NULL), 6)
    run <- function(method) {
      found <- find_links(coded, agreements, as.integer(least), method, FALSE)
      found[c("n_diff", "n_best", "true_diff", "is_best", "score")]
    }
    expect_identical(run("counters"), run("walk"))
  }
})

test_that("the arithmetic of the paper holds for counts like the paper's", {
  # Li et al., section 3.2 and Table 1: 63,654 of 80,882 respondents took part
  # before; 14,673 of them (23%) matched with certainty, 23,793 correct matches
  # (37%) expected. A sixth of the size, rounded, with the same shares.
  n_linked <- 10609
  n_certain <- 2446
  # Records beyond the certain ones lie in groups of alike records: 1,520 groups
  # add 1,520 expected correct matches.
  groups <- rep(seq_len(1520), length.out = n_linked - n_certain)
  wave1 <- data.frame(id = seq_len(n_linked), key = c(seq_len(n_certain), n_certain + groups))
  fresh <- data.frame(id = n_linked + seq_len(2871), key = -seq_len(2871))
  wave2 <- rbind(wave1, fresh)
  found <- longitudinal_link(wave1, wave2, "key", "id")$estimates
  expect_equal(found$n_certain, n_certain)
  expect_equal(found$expected_correct, n_certain + 1520)
  expect_equal(round(100 * found$prop_linked, 2), 78.70)
  expect_equal(round(100 * found$prop_certain), 23)
  expect_equal(round(100 * found$prop_expected), 37)
})

test_that("published counts and shares of the paper agree", {
  # Li et al., Table 1 and section 3.2.
  shares <- function(n_certain, expected, n_linked, n_wave2) {
    score <- list(n_certain = n_certain, expected = expected, n_single_best = n_certain)
    records <- data.frame(n_best = rep(2L, n_wave2), match_prob = 0)
    link_estimates(
      list(score = score), records, seq_len(n_wave2) <= n_linked, TRUE, 80000L
    )
  }
  found <- shares(14673, 23793, 63654L, 80882L)
  expect_equal(round(100 * found$prop_linked, 2), 78.70)
  expect_equal(found$n_wave2 - found$n_linked, 17228)
  expect_equal(round(17228 / 80882 * 100, 2), 21.30)
  expect_equal(round(100 * found$prop_certain), 23)
  expect_equal(round(100 * found$prop_expected), 37)
})

test_that("permuting records, keys and labels changes nothing", {
  for (seed in seeds(40)) {
    waves <- random_waves(seed)
    one <- waves$wave1
    two <- waves$wave2
    base <- quiet_link(one, two, waves$keys, "id")
    turned <- quiet_link(
      one[rev(seq_len(nrow(one))), ], two[rev(seq_len(nrow(two))), ], rev(waves$keys), "id"
    )
    back <- turned$records[rev(seq_len(nrow(two))), ]
    expect_identical(base$records, back, ignore_attr = TRUE)
    expect_identical(base$estimates, turned$estimates)
    names <- c(f = "B", m = "A", x = "C")
    one$sex <- factor(names[as.character(one$sex)])
    two$sex <- factor(names[as.character(two$sex)])
    relabelled <- quiet_link(one, two, waves$keys, "id")
    expect_identical(base$records, relabelled$records)
  }
})

test_that("doubling wave 1 halves every probability", {
  for (seed in seeds(30)) {
    waves <- random_waves(seed)
    again <- waves$wave1
    again$id <- again$id + 1000
    once <- quiet_link(waves$wave1, waves$wave2, waves$keys, "id")
    twice <- quiet_link(rbind(waves$wave1, again), waves$wave2, waves$keys, "id")
    expect_equal(twice$records$match_prob, once$records$match_prob / 2)
    expect_identical(twice$records$n_diff, once$records$n_diff)
    expect_identical(twice$records$n_best, 2L * once$records$n_best)
  }
})

test_that("the smallest difference is at most the true one, and a key more adds at most one", {
  for (seed in seeds(40)) {
    waves <- random_waves(seed)
    all <- quiet_link(waves$wave1, waves$wave2, waves$keys, "id")$records
    expect_true(all(all$n_diff <= all$true_diff, na.rm = TRUE))
    less <- quiet_link(waves$wave1, waves$wave2, waves$keys[-1], "id")$records
    expect_true(all(all$n_diff >= less$n_diff & all$n_diff <= less$n_diff + 1))
  }
})

test_that("a key that is the id makes all matches certain", {
  waves <- list(
    data.frame(id = 1:200, person = 1:200, sex = rep(1:2, 100)),
    data.frame(id = 200:51, person = 200:51, sex = rep(2:1, 75))
  )
  found <- longitudinal_link(waves[[1]], waves[[2]], c("person", "sex"), "id")
  expect_true(all(found$records$certain))
  expect_equal(found$estimates$prop_false, 0)
  expect_equal(found$estimates$n_single_best_wrong, 0)
})

test_that("without id there are distances and ties only", {
  waves <- random_waves(3)
  found <- quiet_link(waves$wave1, waves$wave2, waves$keys)
  known <- quiet_link(waves$wave1, waves$wave2, waves$keys, "id")
  expect_identical(found$records$n_diff, known$records$n_diff)
  expect_identical(found$records$n_best, known$records$n_best)
  expect_identical(found$records$id, seq_len(nrow(waves$wave2)))
  expect_true(all(is.na(found$records[c("true_diff", "match_prob", "certain")])))
  expect_true(is.na(found$estimates$n_linked))
  expect_identical(found$estimates$n_single_best, known$estimates$n_single_best)
  expect_output(print(found), "needs `id`")
  expect_match(interpret(found), "ids were not at hand")
})

test_that("single best matches that are wrong are counted over all of wave 2", {
  wave1 <- data.frame(id = 1:3, key = c("a", "b", "c"))
  wave2 <- data.frame(id = c(1, 2, 9), key = c("a", "c", "b"))
  found <- longitudinal_link(wave1, wave2, "key", "id")$estimates
  expect_identical(found$n_single_best, 3L)
  expect_identical(found$n_single_best_wrong, 2L)
  expect_identical(found$n_single_best_unlinked, 1L)
  expect_equal(found$prop_false, 2 / 3)
})

test_that("missing never differs, and min_overlap keeps empty records out", {
  wave1 <- data.frame(id = 1:3, a = c(1, 2, NA), b = c("x", "y", NA))
  wave2 <- data.frame(id = 1:4, a = c(1, 3, NA, 2), b = c("x", NA, NA, "x"))
  expect_warning(
    longitudinal_link(wave1, wave2, c("a", "b"), "id"),
    class = "sdcRisk_warning_empty_records"
  )
  found <- quiet_link(wave1, wave2, c("a", "b"), "id")$records
  expect_identical(found$n_diff, c(0L, 0L, 0L, 0L))
  expect_identical(found$n_best, c(2L, 1L, 3L, 1L))
  expect_identical(found$match_prob, c(1 / 2, 0, 1 / 3, NA))
  strict <- quiet_link(wave1, wave2, c("a", "b"), "id", min_overlap = 1)$records
  expect_identical(strict$n_diff, c(0L, 1L, NA, 1L))
  expect_identical(strict$n_best, c(1L, 2L, 0L, 2L))
  expect_identical(strict$match_prob, c(1, 1 / 2, 0, NA))
  expect_identical(strict$certain, c(TRUE, FALSE, FALSE, FALSE))
  expect_match(
    lines_of(quiet_link(wave1, wave2, c("a", "b"), "id", min_overlap = 2)),
    "shares at least 2 observed key variables", all = FALSE
  )
})

test_that("admissible changes hold for numbers, dates, ordered factors and fractions", {
  rule <- function(one, two, allow) {
    found <- quiet_link(data.frame(k = one), data.frame(k = two), "k", tolerance = list(k = allow))
    found$records$n_diff
  }
  expect_identical(rule(30, 29:33, c(0, 2)), c(1L, 0L, 0L, 0L, 1L))
  expect_identical(rule(30L, c(29, 30.5, 33), c(0, Inf)), c(1L, 0L, 0L))
  expect_identical(rule(30L, c(29, 30.5, 33), c(-Inf, 0)), c(0L, 1L, 1L))
  expect_identical(rule(0.1, 0.3, c(0.2, 0.2)), 0L)
  # One number is that much up or down.
  expect_identical(rule(30, 27:33, 2), rule(30, 27:33, c(-2, 2)))
  day <- as.Date("2020-01-01")
  expect_identical(rule(day, day + c(0, 365, 366), c(365, 366)), c(1L, 0L, 0L))
  sizes <- c("small", "middle", "large")
  size <- function(x) factor(x, sizes, ordered = TRUE)
  expect_identical(rule(size("middle"), size(sizes), c(0, 1)), c(1L, 0L, 0L))
})

test_that("rules that make no sense are refused", {
  waves <- data.frame(id = 1:3, age = 1:3, sex = c("f", "m", "x"))
  bad <- function(allow, class = "sdcRisk_error_bad_argument") {
    expect_error(
      longitudinal_link(waves, waves, c("age", "sex"), "id", tolerance = allow),
      class = class
    )
  }
  bad(c(0, 2))
  bad(list(c(0, 2)))
  bad(list())
  bad(list(age = c(0, 2), age = c(0, 1)))
  bad(list(height = c(0, 2)))
  bad(list(age = c(2, 0)))
  bad(list(age = c(0, NA)))
  bad(list(age = -2))
  bad(list(age = c(0, 1, 2)))
  bad(list(age = "2"))
  bad(list(sex = sex_changes[1:2, ]))
  bad(list(sex = sex_changes * 1))
  bad(list(sex = unname(sex_changes)))
  bad(list(sex = replace(sex_changes, 2, NA)))
  bad(list(sex = c(0, 1)), "sdcRisk_error_bad_column")
})

test_that("values are compared as values where types or levels differ, with a warning", {
  wave1 <- data.frame(
    id = 1:3, born = c(1950L, 1960L, 1970L), sex = factor(c("f", "m", "f")),
    size = factor(c("a", "b", "c"), ordered = TRUE)
  )
  wave2 <- data.frame(
    id = c("1", "2", "3"), born = c("1950", "1960", "1971"), sex = c("f", "m", "m"),
    size = factor(c("a", "b", "c"), c("c", "b", "a"), ordered = TRUE)
  )
  keys <- c("born", "sex", "size")
  warning <- expect_warning(
    found <- longitudinal_link(wave1, wave2, keys, "id"),
    class = "sdcRisk_warning_waves_differ"
  )
  expect_identical(warning$columns, c("id", keys))
  expect_identical(found$records$true_diff, c(0L, 0L, 2L))
  expect_silent(longitudinal_link(wave1, wave1[2:3, ], keys, "id"))
  wave2 <- wave1
  levels(wave2$sex) <- c("f", "w")
  warning <- expect_warning(longitudinal_link(wave1, wave2, keys, "id"))
  expect_identical(warning$columns, "sex")
  expect_match(conditionMessage(warning), "1 level only in wave 1 and 1 only in wave 2")
})

test_that("bad waves, keys and ids are classed errors", {
  one <- data.frame(id = 1:3, a = 1:3, b = 1)
  link <- function(wave1 = one, wave2 = one, key_vars = c("a", "b"), id = "id", ...) {
    longitudinal_link(wave1, wave2, key_vars, id, ...)
  }
  expect_error(link(wave1 = as.list(one)), class = "sdcRisk_error_bad_data")
  expect_error(link(wave2 = one[0, ]), class = "sdcRisk_error_bad_data")
  expect_error(link(wave1 = one[0]), class = "sdcRisk_error_bad_data")
  error <- expect_error(link(wave2 = one[-2]), class = "sdcRisk_error_unknown_key_var")
  expect_identical(error$unknown, "a")
  expect_error(link(id = "person"), class = "sdcRisk_error_unknown_key_var")
  expect_error(link(id = c("a", "b")), class = "sdcRisk_error_bad_argument")
  expect_error(link(key_vars = c("a", "id")), class = "sdcRisk_error_bad_argument")
  expect_error(link(key_vars = c("a", "a")), class = "sdcRisk_error_bad_argument")
  expect_error(link(key_vars = character()), class = "sdcRisk_error_bad_argument")
  expect_error(link(key_vars = TRUE), class = "sdcRisk_error_bad_argument")
  expect_error(link(wave1 = one[c(1, 1), ]), class = "sdcRisk_error_bad_data")
  expect_error(link(wave2 = one[c(1:3, 2), ]), class = "sdcRisk_error_bad_data")
  expect_error(link(min_overlap = 3), class = "sdcRisk_error_bad_argument")
  expect_error(link(min_overlap = -1), class = "sdcRisk_error_bad_argument")
  expect_error(link(sensitivity = 1), class = "sdcRisk_error_bad_argument")
  expect_error(link(id = NULL, sensitivity = TRUE), class = "sdcRisk_error_bad_argument")
  expect_error(link(minshared = 1), class = "sdcRisk_error_bad_argument")
  strange <- one
  strange$a <- list(1, 2, 3)
  expect_error(link(strange, strange), class = "sdcRisk_error_bad_column")
  many <- as.data.frame(matrix(1, 2, 65))
  expect_error(link(many, many, names(many), NULL), class = "sdcRisk_error_too_large")
  expect_identical(link(key_vars = 2:3)$settings$key_vars, c("a", "b"))
  expect_identical(link(key_vars = NULL)$settings$key_vars, c("a", "b"))
})

test_that("ids without a partner, missing ids and one-level keys have their answers", {
  one <- data.frame(id = c(1, 2, NA), a = 1:3, b = 1)
  expect_warning(
    found <- longitudinal_link(one, transform(one, id = id + 10), c("a", "b"), "id"),
    class = "sdcRisk_warning_no_common_ids"
  )
  expect_identical(found$estimates$n_linked, 0L)
  expect_identical(found$estimates$expected_correct, 0)
  expect_true(is.na(found$estimates$prop_certain))
  expect_equal(found$estimates$prop_false, 1)
  expect_lte(length(format(found)), 16)
  expect_match(interpret(found), "0 respondents of both waves")
  found <- longitudinal_link(one, one, "b", "id")
  expect_identical(found$estimates$n_linked, 2L)
  expect_identical(found$records$match_prob, c(1 / 3, 1 / 3, NA))
  expect_identical(found$diagnostics$n_missing_id, c(1L, 1L))
})

test_that("threads and containers change nothing", {
  waves <- random_waves(8)
  base <- quiet_link(waves$wave1, waves$wave2, waves$keys, "id")
  before <- options(sdcRisk.threads = 1)
  on.exit(options(before))
  expect_identical(quiet_link(waves$wave1, waves$wave2, waves$keys, "id")$records, base$records)
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  found <- quiet_link(
    tibble::as_tibble(waves$wave1), data.table::as.data.table(waves$wave2), waves$keys, "id"
  )
  expect_identical(found$records, base$records)
})

test_that("sensitivity is the linkage without each key", {
  waves <- random_waves(21)
  found <- quiet_link(waves$wave1, waves$wave2, waves$keys, "id", sensitivity = TRUE)
  for (v in seq_along(waves$keys)) {
    slow <- slow_link(waves$wave1, waves$wave2, waves$keys[-v], "id")
    expect_equal(found$sensitivity$expected_correct[[v]], slow$expected_correct)
    expect_equal(found$sensitivity$n_certain[[v]], slow$n_certain)
    expect_equal(found$sensitivity$n_single_best[[v]], slow$n_single_best)
  }
  expect_match(lines_of(found), "Key variable that helps the intruder most", all = FALSE)
})

test_that("the verbs of results work", {
  wave1 <- panel_waves$wave1[1:800, ]
  wave2 <- panel_waves$wave2[1:900, ]
  keys <- c("gender", "born_abroad", "degree_year", "birth_region", "age_group")
  found <- longitudinal_link(wave1, wave2, keys, "id", sensitivity = TRUE)
  expect_s3_class(found, c("sdc_longitudinal_link", "sdc_result"), exact = TRUE)
  expect_lte(length(format(found)), 16)
  expect_identical(as.data.frame(found), found$records)
  expect_identical(augment(found, wave2)$.match_prob, found$records$match_prob)
  expect_error(augment(found, wave1), class = "sdcRisk_error_mismatched_data")
  strata <- summary(found, by = "gender", data = wave2)$match_prob_by_strata
  expect_equal(sum(strata$n), 900)
  expect_equal(
    sum((strata$n - strata$n_missing) * strata$mean), found$estimates$expected_correct
  )
  expect_true("expected_correct" %in% tidy(found)$term)
  expect_identical(glance(found)$n_keys, 5L)
  expect_match(interpret(found), "journalist scenario")
  expect_equal(sum(found$differences$n), 900)
  expect_equal(sum(found$differences$expected_correct), found$estimates$expected_correct)
  expect_true(all(compare_risk(found, found)$table$change %in% c(0, NA)))
  # No print holds a record's id.
  expect_false(any(grepl("data.frame", deparse(found$call))))
})

test_that("candidates agree where a value is admissible in both waves", {
  wave1 <- data.frame(id = 1:4, sex = c("f", "f", "m", "m"))
  wave2 <- data.frame(id = c(1, 2, 3, 9), sex = c("f", "f", "m", "m"))
  wave1$month <- candidates(list(c(2, 3), 4, NA, c(11, 12)))
  wave2$month <- candidates(list(3, c(5, 6), 7, c(10, 12)))
  found <- longitudinal_link(wave1, wave2, c("sex", "month"), "id")
  expect_identical(found$records$n_diff, c(0L, 1L, 0L, 0L))
  expect_identical(found$records$n_best, c(1L, 3L, 1L, 2L))
  expect_identical(found$records$match_prob, c(1, 1 / 3, 1, NA))
  expect_identical(augment(found, wave2)$.n_diff, found$records$n_diff)
  wave2$month <- c(3, 5, 7, 12)
  expect_identical(
    longitudinal_link(wave1, wave2, c("sex", "month"), "id")$records, found$records
  )
  expect_identical(
    change_indicators(wave1, wave2, "month", "id")$month_changed, c(0L, 1L, 0L, 0L)
  )
  expect_error(
    longitudinal_link(wave1, wave2, c("sex", "month"), "id", tolerance = list(month = c(0, 1))),
    class = "sdcRisk_error_bad_argument"
  )
  wave1$month <- candidate_interval(c(20, 30, NA, 50), c(25, 34, NA, 54))
  wave2$month <- candidate_interval(c(25, 35, 40, 48), c(29, 39, 44, 50))
  found <- longitudinal_link(wave1, wave2, c("sex", "month"), "id")
  expect_identical(found$records$n_diff, c(0L, 1L, 0L, 0L))
})

test_that("pictures are drawn, or refused with a reason", {
  skip_if_not_installed("ggplot2")
  waves <- random_waves(21)
  found <- quiet_link(waves$wave1, waves$wave2, waves$keys, "id", sensitivity = TRUE)
  for (type in c("differences", "match_prob", "keys")) {
    expect_s3_class(ggplot2::autoplot(found, type), "ggplot")
  }
  expect_s3_class(
    ggplot2::autoplot(found, "match_prob", by = waves$wave2$sex), "ggplot"
  )
  expect_s3_class(ggplot2::autoplot(compare_risk(found, found)), "ggplot")
  plain <- quiet_link(waves$wave1, waves$wave2, waves$keys)
  expect_s3_class(ggplot2::autoplot(plain), "ggplot")
  for (bad in list(list(plain, "match_prob"), list(found, "ties"), list(found, by = 1))) {
    expect_error(do.call(ggplot2::autoplot, bad), class = "sdcRisk_error_bad_argument")
  }
})
