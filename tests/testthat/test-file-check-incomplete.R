# What a check says of k if incomplete records match many others.

skip_on_cran()

keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")

test_that("few incomplete records make no file safe", {
  data <- rbind(
    data.frame(a = 1:500 %% 25, b = 1:500 %/% 25, sex = rep(c("f", "m"), 250)),
    data.frame(a = NA, b = NA, sex = c("f", "f", "m", "m"))
  )
  of_k <- function(...) {
    estimates <- quietly(file_check(...))$estimates
    estimates[estimates$measure == "k", ]
  }
  reason <- "500 records would have too few matches without 4 incomplete records"
  # Two of three values are missing, or two of five, since all have the same c and d.
  half <- cbind(data, c = 1, d = 1)
  set.seed(1)
  twice <- rbind(half, half[rep(501:504, 2), ])[sample(512), ]
  for (x in list(data, half, pattern_table(data, names(data)), pattern_table(half, names(half)))) {
    k <- of_k(x)
    expect_identical(k[c("value", "verdict", "reason")], frame(
      value = 3, verdict = "unclear", reason = reason
    ), ignore_attr = TRUE)
  }
  expect_match(of_k(twice)$reason, "^500 records .* without 12 incomplete records$")
  # Each record twice, as a pattern: one more original is missing for k = 3.
  pairs <- pattern_table(rbind(data[1:500, ], data), names(data))
  expect_identical(of_k(pairs, k = 3)$verdict, "unclear")
  expect_identical(of_k(pairs, k = 2)$verdict, "ok")
})

test_that("counting without incomplete records names no column that the user did not name", {
  data <- data.frame(id = c(1:600, rep(NA, 4)), a = 1)
  told <- character()
  page <- withCallingHandlers(
    file_check(data, c("id", "a")),
    message = function(m) told <<- c(told, conditionMessage(m)),
    warning = function(w) told <<- c(told, conditionMessage(w))
  )
  expect_false(any(grepl("key1", told)))
  expect_match(page$estimates$reason[page$estimates$measure == "k"], "^600 records .* without 4")
})

test_that("what a remedy cured is unclear only if suppressed or missing values carry it", {
  judged <- function(data, keys, k, rule) {
    told <- character()
    cured <- quietly(withCallingHandlers(
      suppress_cells(data[keys], keys, k = k, rule = rule),
      sdcRisk_message_resting_records = function(m) told <<- conditionMessage(m)
    ))
    after <- quietly(file_check(quietly(release_data(cured)), k = k))
    of_k <- after$estimates[after$estimates$measure == "k", ]
    # Complete records, counted in base R.
    key <- do.call(paste, cured$data[stats::complete.cases(cured$data[keys]), keys])
    rare <- sum(table(key)[key] < k)
    expect_identical(cured$diagnostics$n_resting, as.double(rare))
    expect_identical(of_k$verdict, if (rare > 0) "unclear" else "ok")
    expect_identical(length(told) > 0, rule == "own" && rare > 0)
    strict <- any(grepl("rule = \"strict\"", after$next_steps, fixed = TRUE))
    expect_identical(strict, rare > 0)
    print <- paste(utils::capture.output(cured), collapse = " ")
    list(rare = rare, reason = of_k$reason, print = print)
  }
  of <- function(...) judged(...)$rare
  expect_identical(of(nals_prison, keys, 5, "own"), 0L)
  expect_identical(of(nals_prison, keys, 5, "shared"), 82L)
  expect_identical(of(nals_prison, keys, 5, "strict"), 0L)
  adult_keys <- c("age", "workclass", "education_num", "occupation", "sex")
  # 1,843 of the originals have no occupation.
  own <- judged(adult, adult_keys, 3, "own")
  expect_identical(own$rare, 4483L)
  expect_identical(own$reason, paste(
    "4,483 records would have too few matches without 7,684 incomplete records"
  ))
  expect_match(own$print, "4,483 records would have too few matches without incomplete")
  expect_identical(of(adult, adult_keys, 3, "strict"), 0L)
})

test_that("values missing at random make no record safe, and a search does not rest on them", {
  set.seed(7)
  n <- 400
  data <- data.frame(
    a = sample(60, n, TRUE), b = sample(c("x", "y", "z"), n, TRUE), c = sample(3, n, TRUE)
  )
  data$a[sample(n, 28)] <- NA
  found <- quietly(recode_search(data, k = 3, suppress = 0.2, blanks = "cells"))
  expect_match(found$code[[1]], "rule = \"strict\"", fixed = TRUE, all = FALSE)
  made <- quietly(apply_recoding(found, data))
  key <- do.call(paste, as.data.frame(made))
  expect_gte(min(table(key)), 3)
  page <- quietly(file_check(made, k = 3))$estimates
  expect_identical(page$verdict[page$measure == "k"], "ok")
})

# The rule in base R, each pair of records compared: matches of all records, within strata, of other
# households or persons (`units`), and those of complete records.
verdict_in_base_r <- function(data, k, stratum = NULL, units = list()) {
  matches <- function(x, unit = NULL) {
    x <- as.matrix(x)
    vapply(seq_len(nrow(x)), function(i) {
      equal <- t(is.na(x) | x == rep(x[i, ], each = nrow(x))) | is.na(x[i, ])
      fits <- colSums(equal) == ncol(x)
      if (is.null(unit)) sum(fits) else length(unique(unit[fits]))
    }, 0)
  }
  few <- function(...) any(matches(...) < k)
  within <- data
  within$stratum <- stratum
  if (few(data)) {
    return("above")
  }
  n_missing <- rowSums(is.na(data))
  p <- ncol(data)
  full <- stats::complete.cases(within)
  # Of households that a suppression has left, some may rest on others.
  rests <- function(units) {
    alone <- lapply(units, function(unit) matches(within[full, , drop = FALSE], unit[full]) < k)
    least <- if ("who" %in% names(units)) 0 else min(sum(n_missing > 0), 0.01 * nrow(data))
    length(units) > 0 && any(full) && sum(Reduce(`|`, alone)) > least
  }
  if (few(within) || any(vapply(units, function(unit) few(data, unit), NA)) ||
    few(data[n_missing < p, , drop = FALSE]) || few(data[n_missing == 0, , drop = FALSE]) ||
    few(within[full, , drop = FALSE]) ||
    any(vapply(units, function(unit) few(within, unit), NA)) ||
    rests(units)) {
    return("unclear")
  }
  # Few records that miss much, each of which carries many.
  carried <- function(levels, data, units) {
    any(vapply(levels, function(least) {
      gone <- n_missing >= least
      each <- if (least > p / 2) 10 else 100
      alone <- lapply(units, function(unit) matches(data[!gone, , drop = FALSE], unit[!gone]) < k)
      any(gone) && sum(Reduce(`|`, alone)) > max(0.03 * nrow(data), each * sum(gone))
    }, NA))
  }
  if (carried(seq_len(p)[-c(1, p)], data, list(NULL)) ||
    length(units) && carried(seq_len(p), within, units)) {
    return("unclear")
  }
  "ok"
}

test_that("the verdict on k is that of the rule in base R", {
  verdicts <- vapply(seq_len(24), function(seed) {
    set.seed(seed)
    n <- sample(c(60, 150, 300), 1)
    p <- sample(2:4, 1)
    k <- sample(2:4, 1)
    data <- as.data.frame(lapply(seq_len(p), function(j) sample(sample(2:12, 1), n, TRUE)))
    data <- data[rep(sample(n, n %/% 6), each = 6), , drop = FALSE]
    names(data) <- letters[seq_len(p)]
    # Records that match all with the last value, and a third that is alone without them.
    blank <- data[rep(1, 1 + seed %% 5), , drop = FALSE]
    blank[seq_len(p - seed %% 2)] <- NA
    alone <- seq_len(nrow(data) %/% 3)
    data$a[alone] <- 1000 + alone
    data[[p]] <- if (seed %% 2) 1 else data[[p]]
    if (seed %% 2) blank[[p]] <- 1
    # In the order of the file neighbours would reveal missing values.
    data <- rbind(data, blank)[sample(nrow(data) + nrow(blank)), ]
    found <- quietly(file_check(data, names(data), k = k))$estimates
    verdict <- found$verdict[found$measure == "k"]
    expect_identical(verdict, verdict_in_base_r(data, k), info = seed)
    verdict
  }, "")
  expect_true(all(c("above", "unclear") %in% verdicts))
})

test_that("strata, households, persons and missing values are counted at once", {
  verdicts <- vapply(seq_len(120), function(seed) {
    set.seed(seed)
    n <- sample(20:60, 1)
    keys <- data.frame(a = sample(sample(2:4, 1), n, TRUE), b = sample(2, n, TRUE))
    if (seed %% 2) keys$a[sample(n, 1 + seed %% 3)] <- NA
    k <- 2 + seed %% 2
    roles <- data.frame(
      hh = sample(n %/% sample(1:4, 1), n, TRUE), who = sample(n %/% sample(1:3, 1), n, TRUE),
      part = sample(c("S", "T"), n, TRUE, c(0.8, 0.2))
    )
    used <- rep(c(seed %/% 2, seed %/% 4, seed %/% 8) %% 2 == 1)
    names <- list(hh_id = "hh", id_vars = "who", strata_var = "part")[used]
    file <- cbind(keys, roles[unlist(names)])
    file <- quietly(do.call(sdc_file, c(list(file, c("a", "b")), names)))
    page <- quietly(file_check(file, k = k))
    of_k <- page$estimates[page$estimates$measure == "k", ]
    # What other columns reveal is another question.
    told <- grepl("reveal", of_k$reason)
    verdict <- verdict_in_base_r(
      keys, k, if (used[[3]]) roles$part, as.list(roles[c("hh", "who")][used[1:2]])
    )
    if (!told) expect_identical(of_k$verdict, verdict, info = seed)
    if (told) "told" else verdict
  }, "")
  expect_gte(min(table(factor(verdicts, c("ok", "above", "unclear")))), 10)
})

test_that("one match is the record itself, within a stratum too", {
  data <- data.frame(a = 1:6, part = c("S", "T"))
  page <- quietly(file_check(sdc_file(data, "a", strata_var = "part"), k = 1))$estimates
  expect_identical(page$verdict[page$measure == "k"], "ok")
  e <- tryCatch(suppress_cells(sdc_file(
    cbind(data, other = 1), "a", strata_var = c("part", "other")
  ), k = 2), sdcRisk_error = identity)
  expect_match(conditionMessage(e), "2 values of type character were given", fixed = TRUE)
})

test_that("incomplete records make no file diverse", {
  data <- data.frame(a = c(rep(1:60, each = 3), NA), b = "x", s = c(rep("p", 180), "q"))
  page <- quietly(file_check(
    sdc_file(data, c("a", "b"), sensitive = "s"), limit = list(k = 3, l = 2, n_homogeneous = 0)
  ))$estimates
  page <- page[match(c("k", "l", "n_homogeneous"), page$measure), ]
  expect_identical(page$verdict, c("ok", "unclear", "unclear"))
  reason <- "180 records would match too few sensitive values without 1 incomplete record"
  expect_identical(page$reason, c("", reason, reason))
})

test_that("the summary of an incomplete file has no empty columns of its key variables", {
  data <- nals_prison[c(keys, "WEIGHT")]
  data$DAGE3[1:30] <- NA
  of <- function(data) summary(quietly(file_check(data, keys)))$drivers
  found <- of(data)
  expect_identical(names(found), c("variable", "n_unique_without", "unique_change"))
  alone <- function(names) n_matches(data, names)$estimates$n_unique
  expect_equal(found$n_unique_without, vapply(found$variable, function(v) {
    alone(setdiff(keys, v))
  }, 0, USE.NAMES = FALSE))
  expect_identical(names(of(nals_prison)), c(names(found), "risk_without", "share_top"))
})

test_that("matches without a sensitive value are not known to be diverse", {
  data <- data.frame(a = rep(1:4, each = 10), s = c("x", "y"), t = c("u", "v", "w", "u", "v"))
  of <- function(x, ...) {
    e <- quietly(file_check(x, limit = list(l = 2, n_homogeneous = 0), ...))$estimates
    e[match(c("l", "n_homogeneous"), e$measure), c("value", "verdict", "reason")]
  }
  expect_identical(of(data, "a", sensitive = c("s", "t"))$verdict, c("ok", "ok"))
  # One of several values of s, and all values of t of one key.
  data$s[1:5] <- NA
  expect_identical(of(data, "a", sensitive = "s")$verdict, c("ok", "ok"))
  data$t[31:40] <- NA
  reason <- "the matches of 10 records have no value of \"t\""
  found <- of(data, "a", sensitive = c("s", "t"))
  expect_identical(found$value, c(2, 0))
  expect_identical(found$verdict, c("unclear", "unclear"))
  expect_identical(found$reason, c(reason, reason))
  expect_identical(of(data, "a", sensitive = "s")$verdict, c("ok", "ok"))
  counted <- pattern_table(data, c("a", "t"))
  expect_identical(of(counted, "a", sensitive = "t")$reason, c(reason, reason))
  # The suppression that keeps two values of all matches helps, but for what t tells of it.
  safe <- quietly(release_data(suppress_cells(data, "a", k = 3, l = 2, sensitive = "t")))
  expect_match(
    of(safe, "a", sensitive = "t")$reason, "^released columns reveal protected values: \"t\""
  )
  # Others are above, whatever these are.
  data$t[21:30] <- "u"
  expect_identical(of(data, "a", sensitive = "t")$verdict, c("above", "above"))
  data$t <- NA_character_
  expect_identical(of(data, "a", sensitive = "t")$verdict, c("not judged", "unclear"))
})

test_that("a key variable without any value changes no verdict", {
  data <- data.frame(age = c(21:40, rep(NA, 4)), sex = rep(1:2, 12), job = NA_integer_)
  rows <- function(keys) {
    found <- quietly(file_check(data, keys, limit = list(k = 3, n_unique = 0)))$estimates
    found[found$measure %in% c("k", "n_unique"), c("measure", "value", "verdict", "reason")]
  }
  expect_equal(rows(c("age", "sex", "job")), rows(c("age", "sex")), ignore_attr = TRUE)
  expect_identical(rows(c("age", "sex", "job"))$verdict, c("unclear", "unclear"))
})

test_that("complete records of one household or person are not safe by incomplete ones", {
  data <- data.frame(
    age = c(rep(21:40, each = 3), NA, NA, NA), sex = 1L, home = c(rep(1:20, each = 3), 21:23)
  )
  of_k <- function(...) {
    estimates <- quietly(file_check(..., k = 3))$estimates
    estimates[estimates$measure == "k", ]
  }
  for (role in c("hh_id", "id_vars")) {
    file <- do.call(sdc_file, c(
      list(data, c("age", "sex")), rlang::set_names(list("home"), role)
    ))
    k <- of_k(file)
    expect_identical(k$value, 6)
    expect_identical(k$verdict, "unclear")
    expect_match(k$reason, "^60 records .* and without 3 incomplete records$")
  }
  # A suppression that counted households knows that enough originals match.
  x <- quietly(suppress_cells(data[1:60, ], c("age", "sex"), hh_id = "home", k = 3))
  expect_identical(sum(is.na(x$data$age)), 60L)
})

test_that("incomplete records that know most match those that know as much", {
  # Each half lacks another key variable.
  data <- data.frame(
    age = c(1:20, rep(NA, 20)), sex = rep(1:2, 20), job = c(rep(NA, 20), rep(1:10, 2))
  )
  # Most of the incomplete records are alone by what they have, beside complete ones that are not.
  beside <- rbind(data, data.frame(age = 1, sex = rep(1:2, each = 5), job = 1))
  of_k <- function(data) {
    estimates <- quietly(file_check(data, names(data), k = 3))$estimates
    estimates[estimates$measure == "k", ]
  }
  wild <- min(quietly(n_matches(data, names(data)))$records$n_matches)
  expect_gte(wild, 3)
  # All of them, counted in base R.
  few <- function(data) {
    has <- !is.na(data)
    sum(vapply(seq_len(nrow(data)), function(i) {
      knows <- rowSums(has[, has[i, ], drop = FALSE]) == sum(has[i, ])
      same <- Reduce(`&`, lapply(names(data)[has[i, ]], function(v) data[[v]] == data[[v]][i]))
      any(!has[i, ]) && sum(same & knows) < 3
    }, NA))
  }
  for (x in list(data, beside)) expect_match(of_k(x)$reason, paste0("^", few(x), " incomplete"))
  set.seed(3)
  verdicts <- replicate(60, {
    x <- as.data.frame(lapply(c(a = 2, b = 2, c = 3), sample, 12, TRUE))
    lacks <- sample(1:3, 12, TRUE)
    for (v in 1:3) x[lacks == v, v] <- NA
    k <- of_k(x)
    # Nobody knows all: every record knows most.
    if (k$value >= 3) expect_identical(k$verdict, if (few(x) > 0) "unclear" else "ok")
    k$verdict
  })
  expect_gte(sum(verdicts == "unclear"), 20)
  same <- data.frame(a = rep(c(1, NA), each = 6), b = rep(c(NA, 1), each = 6))
  expect_identical(of_k(same)$verdict, "ok")
})

test_that("households and persons are counted by every rule for missing values", {
  data <- data.frame(a = rep(1:4, each = 10), unit = rep(1:8, each = 5))
  incomplete <- rbind(data, data.frame(a = NA, unit = 9:12))
  of_k <- function(file, missing) {
    estimates <- quietly(file_check(file, missing = missing))$estimates
    estimates[estimates$measure == "k", ]
  }
  for (role in c("hh_id", "id_vars")) for (missing in c("wildcard", "category", "exclude")) {
    file <- function(data) {
      do.call(sdc_file, c(list(data, "a"), rlang::set_names(list("unit"), role)))
    }
    expect_identical(of_k(file(data), missing)$verdict, "unclear", info = paste(role, missing))
    expect_match(of_k(file(data), missing)$reason, "^40 records would have too few matches")
    expect_identical(of_k(file(incomplete), missing)$verdict, "unclear")
    # Three units share each value.
    many <- rbind(data, transform(data, unit = unit + 20))
    expect_identical(of_k(file(many), missing)$verdict, "ok", info = paste(role, missing))
  }
})

test_that("persons without their number are still no matches by incomplete records", {
  data <- data.frame(
    a = c(1, 1, 1, 1, NA, NA, 2, 2, 2), pid = c(1, 1, 2, 2, 3:7), z = 1:9
  )
  of_k <- function(file) {
    estimates <- quietly(file_check(file, k = 3))$estimates
    estimates[estimates$measure == "k", c("verdict", "reason")]
  }
  file <- sdc_file(data, "a", id_vars = "pid", num_vars = "z")
  expect_match(of_k(file)$reason, "^4 records .* and without 2 incomplete records$")
  released <- quietly(release_data(top_code(file, z = 5)))
  expect_false("pid" %in% names(released))
  expect_identical(of_k(released)$verdict, "unclear")
  expect_match(of_k(released)$reason, "which was left out, is counted once")
  three <- rbind(data, data.frame(a = 1, pid = 8, z = 9))
  file <- sdc_file(three, "a", id_vars = "pid", num_vars = "z")
  expect_identical(of_k(quietly(release_data(top_code(file, z = 5))))$verdict, "ok")
})

test_that("what reveals values that were missing before stays named after another step", {
  set.seed(5)
  data <- data.frame(
    sex = sample(c("f", "m"), 2000, TRUE), age = sample(20:59, 2000, TRUE),
    region = sample(4, 2000, TRUE)
  )
  data$births <- ifelse(data$sex == "f", sample(0:4, 2000, TRUE), NA)
  data$sex[sample(2000, 100)] <- NA
  file <- sdc_file(data, c("sex", "age", "region"))
  told <- function(file) {
    told <- quietly(file_check(file))$diagnostics$told_missing
    told$n[told$variable == "sex" & told$by == "births"]
  }
  n <- told(file)
  expect_gt(n, 80)
  coarse <- quietly(global_recode(file, age = c(30, 40, 50)))
  expect_identical(told(coarse), n)
  expect_identical(told(quietly(release_data(coarse))), n)
  k <- measures(quietly(file_check(coarse)))[1, ]
  expect_identical(k$verdict, "unclear")
})
