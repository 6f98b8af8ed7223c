# Minimal sample uniques by their definition, scores by their sources.

skip_on_cran()

handbook <- data.frame(
  residence = c("U", "U", "U", "U", "R", "U", "U", "U", "U", "U"),
  gender = c("F", "F", "F", "M", "F", "M", "F", "M", "F", "F"),
  education = c("s-", "s-", "p-", "s", "s", "s", "p", "ps", "s-", "s-"),
  labour = c("e", "e", "n", "e", "u", "e", "n", "u", "n", "n")
)

test_that("the example of the handbook holds", {
  # IHSN, Statistical Disclosure Control for Microdata: a practice guide, table 4.5; the
  # second row: sdcMicro's issue 227, the first program of IHSN.
  found <- special_uniques(handbook)
  expect_identical(found$records$score_elliot, c(0, 0, 6, 0, 12, 0, 6, 10, 0, 0))
  expect_identical(found$records$score_sdcmicro, found$records$score_elliot)
  expect_equal(found$records$score_ihsn, c(0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0))
  expect_identical(found$records$smallest[c(3, 5, 8)], c(1L, 1L, 1L))
  expect_identical(found$records$variables[c(3, 5, 8)], c("education", "residence", "education"))
  expect_identical(found$estimates$n_smallest, c(4L, 0L, 0L))
})

test_that("the worked example of contributions holds", {
  # sdcMicro's issue 275: a, b and c contribute 50, 37.5 and 37.5 per cent.
  data <- data.frame(a = c(2, 1, 1), b = c(0, 3, 0), c = c(0, 6, 0))
  found <- special_uniques(data, max_size = 3)
  expect_identical(found$variables$contribution, c(0.5, 0.375, 0.375))
  expect_identical(found$variables$n_msu, c(3L, 2L, 2L))
  pairs <- data.frame(
    variable = c("a", "a", "b"), other = c("b", "c", "c"), contribution = c(0.125, 0.125, 0)
  )
  expect_identical(as.data.frame(found$pairs), pairs)
  expect_identical(found$records$score_elliot, c(2, 4, 2))
})

test_that("the minimal sample uniques of the packaged file are counted", {
  # The first release of Adult, 30,162 records of nine variables, where it is at hand.
  keys <- c("age", "sex", "education_num", "occupation", "hours_per_week")
  data <- sample_of(300, keys)
  expect_equal(special_uniques(data)$estimates$n_msu, slow_special(data, 3)$n_msu)
  path <- file.path(Sys.getenv("SDCRISK_DATA"), "arx", "adult.csv")
  skip_if_not(file.exists(path), "the file of nine variables is not at hand")
  nine <- utils::read.csv2(path)
  expect_identical(dim(nine), c(30162L, 9L))
  expect_identical(
    quietly(special_uniques(nine, max_size = 8))$estimates$n_msu,
    c(2L, 1204L, 14890L, 26029L, 15983L, 4172L, 498L, 31L)
  )
})

test_that("small files equal the definition under every rule", {
  set.seed(11)
  for (i in 1:60) {
    d <- sample(1:6, 1)
    n <- sample(1:12, 1)
    k <- sample(2:4, 1)
    data <- as.data.frame(lapply(seq_len(d), function(v) {
      sample(c(letters[1:k], if (i %% 2) NA), n, TRUE)
    }))
    names(data) <- paste0("v", seq_len(d))
    size <- sample(d, 1)
    for (rule in c("wildcard", "category", "exclude")) {
      if (rule == "exclude" && !any(stats::complete.cases(data))) next
      found <- quietly(special_uniques(data, max_size = size, missing = rule))
      slow <- slow_special(data, size, rule)
      info <- paste("file", i, rule)
      expect_equal(found$estimates$n_msu, slow$n_msu, info = info)
      expect_identical(found$records$smallest, slow$smallest, info = info)
      expect_identical(found$records$variables, slow$variables, info = info)
      expect_equal(found$records$score_elliot, slow$score, info = info)
      expect_equal(found$variables$contribution, slow$by_variable, info = info)
      expect_equal(found$pairs$contribution, slow$by_pair, info = info)
    }
  }
})

test_that("uniques that a released file repeats equal the definition", {
  set.seed(12)
  for (i in 1:40) {
    d <- sample(1:4, 1)
    file <- function() {
      as.data.frame(lapply(rlang::set_names(seq_len(d), paste0("v", seq_len(d))), function(v) {
        sample(c(letters[1:3], if (i %% 2) NA), n, TRUE)
      }))
    }
    n <- sample(2:10, 1)
    data <- file()
    n <- sample(2:10, 1)
    # A file of its own, or records of the original, some of them with other values.
    released <- if (i %% 3) data[sample(nrow(data), n, TRUE), , drop = FALSE] else file()
    if (i %% 3 == 1) released[[1]][[1]] <- "z"
    size <- sample(d, 1)
    for (rule in c("wildcard", "category", "exclude")) {
      complete <- c(any(stats::complete.cases(data)), any(stats::complete.cases(released)))
      if (rule == "exclude" && !all(complete)) next
      found <- quietly(special_uniques(data, max_size = size, missing = rule, released = released))
      slow <- slow_replicated(data, released, size, rule)
      smallest <- apply(slow, 1, function(n) which(n > 0)[1])
      info <- paste("file", i, rule)
      expect_identical(found$records$n_replicated, as.integer(rowSums(slow)), info = info)
      expect_identical(found$records$smallest_replicated, smallest, info = info)
      e <- found$estimates
      expect_identical(e$n_replicated, as.integer(colSums(slow, na.rm = TRUE)), info = info)
      expect_identical(e$n_smallest_replicated, tabulate(smallest, size), info = info)
    }
  }
})

test_that("a copy repeats all, patterns cannot be compared, absent columns are named", {
  found <- special_uniques(handbook, released = handbook[10:1, 4:1])
  expect_identical(found$estimates$n_replicated, found$estimates$n_msu)
  expect_identical(found$records$n_replicated, found$records$n_msu)
  expect_identical(measures(found)$value[measures(found)$label == paste(
    "Records alone by at most 1 value in the released file as well"
  )], 4)
  expect_match(interpret(found), "4 .* are so in the released file as well", all = FALSE)
  expect_error(
    special_uniques(pattern_table(handbook), released = handbook),
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    special_uniques(handbook, released = handbook[-1]), "Not found: \"residence\"",
    class = "sdcRisk_error_bad_argument"
  )
  expect_null(special_uniques(handbook)$estimates$n_replicated)
})

test_that("every file of three records and two variables equals the definition", {
  files <- expand.grid(rep(list(c(1, 2, NA)), 6))
  for (i in seq(1, nrow(files), 7)) {
    data <- data.frame(a = unlist(files[i, 1:3]), b = unlist(files[i, 4:6]))
    for (rule in c("wildcard", "category")) {
      found <- quietly(special_uniques(data, missing = rule))
      slow <- slow_special(data, 2, rule)
      expect_equal(found$estimates$n_msu, slow$n_msu, info = paste(i, rule))
      expect_equal(found$records$score_elliot, slow$score, info = paste(i, rule))
    }
  }
})

test_that("a pattern is no record", {
  found <- special_uniques(pattern_table(handbook))
  at <- which(found$patterns$score_elliot == 12)
  expect_match(interpret(found, record = at), paste("Pattern", at, "is alone"))
  expect_no_match(format(found), "record =")
})

test_that("results do not depend on threads, order, or the form of the file", {
  data <- sample_of(800, c("age", "sex", "race", "occupation", "education_num"))
  data$race[sample(800, 60)] <- NA
  run <- function(threads, data) {
    old <- options(sdcRisk.threads = threads)
    on.exit(options(old))
    quietly(special_uniques(data, max_size = 4, sampling_fraction = 0.02))
  }
  one <- run(1, data)
  for (field in c("estimates", "records", "variables", "pairs", "levels", "riskiest")) {
    expect_identical(one[[field]], run(2, data)[[field]], info = field)
  }
  order <- sample(800)
  expect_equal(run(2, data[order, ])$records$dis, one$records$dis[order])
  patterns <- run(2, pattern_table(data))
  expect_identical(patterns$estimates, one$estimates)
  expect_equal(patterns$diagnostics$dis, one$diagnostics$dis)
  at <- patterns$patterns$n == 1
  expect_equal(
    sort(patterns$patterns$score_elliot[at]), sort(one$records$score_elliot[
      one$records$score_elliot > 0 | n_matches(data, missing = "category")$records$n_matches == 1
    ])
  )
})

test_that("DIS and DIS-SUDA follow their formulas", {
  data <- sample_of(500, c("age", "sex", "race", "occupation"))
  found <- quietly(special_uniques(data, max_size = 4, pop_size = 25000))
  counts <- quietly(n_matches(data))$estimates
  u <- counts$n_unique
  p <- counts$n_pairs
  expect_equal(found$diagnostics$dis, u * 0.02 / (u * 0.02 + 2 * p * 0.98))
  expect_equal(found$records$dis, slow_dis(found$records$score_elliot, u, p, 0.02, 4))
  expect_true(all(is.na(quietly(special_uniques(data))$records$dis)))
  # Equal scores: every unique record has DIS itself.
  even <- data.frame(a = c(1, 2, 3, 4, 4), b = 1)
  found <- special_uniques(even, max_size = 1, sampling_fraction = 0.1)
  expect_equal(found$records$dis, c(rep(0.3 / (0.3 + 2 * 0.9), 3), 0, 0))
  # Pairs of incomplete records match each other as wildcards.
  data$race[1:200] <- NA
  found <- quietly(special_uniques(data, sampling_fraction = 0.02))
  counts <- quietly(n_matches(data))$estimates
  expect_identical(found$diagnostics$n_unique, as.double(counts$n_unique))
  expect_equal(found$diagnostics$n_pairs, counts$n_pairs)
})

test_that("suda2() of sdcMicro finds the same on complete files", {
  skip_if_not_installed("sdcMicro")
  data <- stats::na.omit(sample_of(430, c("age", "sex", "race", "occupation", "education_num")))
  data[] <- lapply(data, function(x) as.integer(factor(x)))
  found <- quietly(special_uniques(data, max_size = 5, sampling_fraction = 0.05))
  theirs <- quietly(sdcMicro::suda2(data, DisFraction = 0.05))
  expect_equal(found$records$score_sdcmicro, unname(theirs$score))
  expect_equal(found$records$score_elliot, unname(theirs$score))
  ihsn <- quietly(sdcMicro::suda2(data, original_scores = FALSE))
  expect_equal(found$records$score_ihsn, unname(ihsn$score))
})

test_that("records at risk, limits and sentences name records and variables, no values", {
  keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
  found <- special_uniques(nals_prison, keys, sampling_fraction = 0.001, limit = 0.005)
  risky <- records_at_risk(found)
  expect_identical(sort(risky$record), which(found$records$dis > 0.005))
  expect_match(format(found), "above the limit of 0.005", all = FALSE)
  by_score <- records_at_risk(special_uniques(nals_prison, keys), 20)
  expect_true(all(by_score$risk > 20))
  expect_error(
    records_at_risk(special_uniques(nals_prison, keys), k = 3),
    class = "sdcRisk_error_bad_argument"
  )
  record <- risky$record[[1]]
  said <- interpret(found, record = record)
  variables <- strsplit(found$records$variables[[record]], " + ", fixed = TRUE)[[1]]
  for (v in variables) expect_match(said, v, fixed = TRUE)
  expect_no_match(said, " = ")
  told <- interpret(found, record = record, data = nals_prison)
  value <- as.character(nals_prison[[variables[[1]]]][[record]])
  expect_match(told, paste(variables[[1]], "=", value), fixed = TRUE)
  expect_match(interpret(special_uniques(handbook), record = 1), "not alone in the file by 3")
  expect_error(interpret(found, record = 1000), class = "sdcRisk_error_bad_argument")
  expect_error(
    interpret(found, record = 1, data = nals_prison[-1, ]), class = "sdcRisk_error_mismatched_data"
  )
})

test_that("levels and the riskiest records add up", {
  data <- sample_of(300, c("age", "sex", "race", "occupation"))
  data$race[1:20] <- NA
  for (rule in c("wildcard", "category", "exclude")) {
    found <- quietly(special_uniques(data, missing = rule))
    sums <- tapply(found$levels$contribution, found$levels$variable, sum)
    expect_equal(as.vector(sums), rep(1, 4), info = rule)
    expect_identical(anyNA(found$levels$level), rule == "category")
    top <- unique(found$riskiest$record)
    scores <- found$records$score_elliot
    expect_identical(scores[top], sort(scores, decreasing = TRUE)[seq_along(top)])
  }
  # Level by level, as sdcMicro counts them.
  plain <- data.frame(a = c(2, 1, 1), b = c(0, 3, 0))
  levels <- special_uniques(plain)$levels
  expect_identical(levels$level, c("1", "2", "0", "3"))
  expect_identical(levels$contribution, c(0.5, 0.5, 0.5, 0.5))
})

test_that("what cannot be asked is refused with its class", {
  data <- sample_of(50, c("age", "sex"))
  expect_error(special_uniques(data, max_size = 3), class = "sdcRisk_error_bad_argument")
  expect_error(special_uniques(data, max_size = 0), class = "sdcRisk_error_bad_argument")
  expect_error(special_uniques(data, sampling_fraction = 2), class = "sdcRisk_error_bad_argument")
  expect_error(special_uniques(data, weight_var = "age"), class = "sdcRisk_error_bad_argument")
  wide <- as.data.frame(matrix(1:2, 2, 60))
  expect_error(special_uniques(wide, max_size = 30), class = "sdcRisk_error_too_large")
})

test_that("pictures are drawn", {
  skip_if_not_installed("ggplot2")
  found <- special_uniques(handbook)
  for (type in c("records", "variables", "sizes")) {
    expect_s3_class(ggplot2::autoplot(found, type = type), "ggplot")
  }
  built <- ggplot2::ggplot_build(ggplot2::autoplot(found, n = 2))
  expect_identical(nrow(built$data[[1]]), 8L)
})

test_that("a file recoded on one side only is asked about", {
  recoded <- data.frame(a = c("x", "y"), b = c("20-29", "30-39"))
  data <- data.frame(a = c("x", "y"), b = c("21", "35"))
  expect_warning(
    found <- special_uniques(data, c("a", "b"), released = recoded),
    class = "sdcRisk_warning_no_matches"
  )
  expect_identical(found$estimates$n_replicated, c(2L, 0L))
  # Nor are two variables forgotten, and what is missing is not another value.
  recoded$a <- c("p", "q")
  told <- expect_warning(
    special_uniques(data, c("a", "b"), released = recoded), class = "sdcRisk_warning_no_matches"
  )
  expect_match(conditionMessage(told), "none in \"a\" and \"b\"|none in \"a\", \"b\"")
  recoded$a <- NA_character_
  recoded$b <- data$b
  expect_no_warning(special_uniques(data, c("a", "b"), released = recoded))
})
