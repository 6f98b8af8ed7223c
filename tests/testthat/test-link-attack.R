# The intruder who weighs keys: against all pairs one by one, worked values,
# bad input, hard cases.

skip_on_cran()

# Two small files with missing values, ties and a shifting number.
random_files <- function(seed) {
  waves <- random_waves(seed)
  waves$rule <- if (seed %% 3 == 0) list(age = c(0, 2)) else list()
  waves
}

test_that("calibrated and prior weights equal brute force over all pairs", {
  for (seed in seeds(60)) {
    files <- random_files(seed)
    by_value <- seed %% 2 == 0
    rule <- if (length(files$rule)) files$rule
    coverage <- c(1, 0.6)[1 + seed %% 2]
    found <- quiet_attack(
      files$wave1, files$wave2, files$keys, "id",
      by_value = by_value, tolerance = rule, coverage = coverage,
      weights = c("calibrated", "prior", "em", "count")
    )
    slow <- slow_attack(
      files$wave1, files$wave2, files$keys, "id",
      by_value = by_value, rules = files$rule, coverage = coverage
    )
    expect_identical(found$records$n_best, slow$n_best, info = seed)
    expect_equal(found$records$match_prob, slow$match_prob, info = seed)
    expect_equal(found$records$posterior, slow$posterior, tolerance = 1e-9, info = seed)
    e <- found$estimates[2, ]
    expect_equal(e$expected_correct, slow$expected)
    expect_equal(e$own_estimate, slow$own_estimate)
    expect_equal(found$variables$m, slow$m)
    expect_equal(found$variables$u, slow$u)
    expect_equal(
      found$diagnostics$log_likelihood[["calibrated"]], slow$log_likelihood,
      tolerance = 1e-9
    )
    expect_equal(
      e$ceiling, slow_ceiling(files$wave1, files$wave2, files$keys, "id", files$rule),
      info = seed
    )
    # Without a tolerance the prior is one probability of agreement.
    if (is.null(rule)) {
      found <- quiet_attack(
        files$wave1, files$wave2, files$keys, "id",
        weights = "prior", by_value = by_value, prior_match = 0.9
      )
      m <- rlang::set_names(rep(list(c(0.9, 0.1)), length(files$keys)), files$keys)
      slow <- slow_attack(
        files$wave1, files$wave2, files$keys, "id",
        m = m, by_value = by_value,
        coverage = found$settings$coverage
      )
      expect_identical(found$records$n_best, slow$n_best, info = seed)
      expect_equal(found$records$posterior, slow$posterior, tolerance = 1e-9, info = seed)
    }
  }
})

test_that("counting equals longitudinal_link()", {
  for (seed in seeds(20)) {
    files <- random_files(seed)
    found <- quiet_attack(files$wave1, files$wave2, files$keys, "id", weights = "count")
    link <- quiet_link(files$wave1, files$wave2, files$keys, "id")
    expect_identical(found$estimates$intruder, "count")
    expect_identical(found$estimates$expected_correct, link$estimates$expected_correct)
    expect_identical(found$estimates$n_certain, link$estimates$n_certain)
    expect_identical(found$estimates$n_single_best, link$estimates$n_single_best)
    expect_identical(found$records$match_prob, link$records$match_prob)
    expect_identical(found$records$n_best, link$records$n_best)
  }
})

test_that("three records by hand", {
  known <- data.frame(id = 1:3, a = c(1, 1, 2), b = c(1, 2, 2))
  released <- data.frame(id = c(2, 8), a = c(1, 1), b = c(2, NA))
  found <- quiet_attack(known, released, c("a", "b"), "id", weights = "prior", by_value = FALSE)
  # u of both keys from all pairs: 4 of 6 pairs agree on a, 2 of 3 on b.
  u <- c(4.5 / 7, 2.5 / 4)
  agree <- log(0.95 / u)
  differ <- log(0.05 / (1 - u))
  z <- sum(exp(c(agree[1] + differ[2], sum(agree), differ[1] + agree[2])))
  rho <- 1 / 2
  expect_equal(found$settings$coverage, rho)
  expect_equal(found$records$posterior[1], exp(sum(agree)) / (z + 3), tolerance = 1e-9)
  expect_identical(found$records$n_best, c(1L, 2L))
  expect_equal(found$records$match_prob, c(1, NA))
  expect_identical(found$records$true_in_best, c(TRUE, FALSE))
  certain <- quiet_attack(
    known, released, c("a", "b"), "id",
    weights = "prior", by_value = FALSE, coverage = 1
  )
  expect_equal(certain$records$posterior[1], exp(sum(agree)) / z, tolerance = 1e-9)
})

attack_file <- function(name) {
  trial_file(name, strip.white = TRUE, colClasses = "character", na.strings = "")
}

febrl <- function() {
  lapply(c("febrl4a.csv", "febrl4b.csv"), function(name) {
    file <- attack_file(name)
    file$id <- as.integer(sub("rec-([0-9]+)-.*", "\\1", file$rec_id))
    file
  })
}

gss_keys <- c(
  "age5", "sex", "race", "hispanic", "born", "parborn", "granborn", "region", "reg16",
  "family16", "padeg", "madeg", "relig16"
)

# Rows: expected, certain, single, wrong (of linked records).
expect_figures <- function(found, intruder, expected, certain, single = NULL, wrong = NULL,
                           tolerance = 1e-6) {
  e <- found$estimates[found$estimates$intruder == intruder, ]
  testthat::expect_equal(e$expected_correct, expected, tolerance = tolerance / expected)
  testthat::expect_equal(e$n_certain, certain)
  if (!is.null(single)) testthat::expect_equal(e$n_single_best, single)
  if (!is.null(wrong)) testthat::expect_equal(e$n_single_best_wrong, wrong)
}

test_that("FEBRL 4 by pooled weights is what all pairs give", {
  files <- febrl()
  attack <- function(keys, ...) {
    quiet_attack(files[[1]], files[[2]], keys, "id", by_value = FALSE, ...)
  }
  a <- attack(c("street_number", "postcode", "state", "date_of_birth"))
  expect_figures(a, "calibrated", 4880.309532, 4858, 4912, 54)
  expect_equal(a$estimates$own_estimate[2], 4881.29, tolerance = 1e-6)
  expect_equal(
    a$variables$m, c(0.87319, 0.84373, 0.96246, 0.93212),
    tolerance = 1e-4
  )
  expect_equal(
    a$variables$u, c(0.0141282, 0.0009758, 0.225238, 2.7114e-05),
    tolerance = 1e-3
  )
  expect_equal(a$estimates$ceiling[1], 4901, tolerance = 0.5 / 4901)
  expect_figures(
    attack(c("suburb", "state", "date_of_birth")), "calibrated", 4694.303739, 4611, 4678, 67
  )
  expect_figures(
    attack(c("given_name", "surname", "state", "postcode")),
    "calibrated", 4427.175212, 4272, 4431, 159
  )
})

test_that("FEBRL 4 by value and blind", {
  files <- febrl()
  keys <- c("street_number", "postcode", "state", "date_of_birth")
  found <- quiet_attack(
    files[[1]], files[[2]], keys, "id",
    weights = c("calibrated", "em", "prior"), sensitivity = FALSE
  )
  e <- found$estimates
  expect_identical(e$intruder, c("count", "calibrated", "em", "prior"))
  expect_equal(e$expected_correct, c(3971, 4886, 4885, 4883), tolerance = 2 / 4000)
  expect_identical(found$diagnostics$m_at_one, character())
})

test_that("the GSS panel is what all pairs give", {
  files <- lapply(c("gss_wave1.csv", "gss_wave2.csv"), attack_file)
  attack <- function(...) {
    quiet_attack(files[[1]], files[[2]], gss_keys, "id", ..., sensitivity = FALSE)
  }
  pooled <- attack(weights = c("calibrated", "prior", "em"), by_value = FALSE)
  expect_figures(pooled, "count", 1904.339677, 1438)
  expect_figures(pooled, "calibrated", 2203.228347, 1999, 3435, 1436)
  expect_figures(pooled, "prior", 1987.963932, 1810, 3552, 1742)
  expect_equal(mean(pooled$records$posterior), 0.451417, tolerance = 1e-5)
  expect_equal(pooled$estimates$n_claims_90[2], 614)
  expect_equal(pooled$estimates$n_right_90[2], 596, tolerance = 1e-3)
  expect_equal(pooled$estimates$ceiling[1], 3458, tolerance = 1e-3)
  expect_equal(
    pooled$variables$m_em,
    c(
      0.7074, 0.9660, 0.9040, 0.9619, 0.9928, 0.9694, 0.8802, 0.9813, 0.9865, 0.7261, 0.8787,
      0.8543, 0.8594
    ),
    tolerance = 1e-3
  )
  em <- pooled$estimates[pooled$estimates$intruder == "em", ]
  expect_equal(em$expected_correct, 2066.73, tolerance = 3 / 2066)
  expect_equal(pooled$diagnostics$log_likelihood[["em"]], 1.91094, tolerance = 1e-4)
  expect_equal(pooled$diagnostics$phi, 0.61, tolerance = 0.02)

  valued <- attack(weights = c("calibrated", "em"))
  expect_figures(valued, "calibrated", 2318.847626, 2106, 3570, 1464)
  em <- valued$estimates[valued$estimates$intruder == "em", ]
  expect_equal(em$expected_correct, 2266.87, tolerance = 3 / 2266)
  expect_equal(
    valued$variables$m_em,
    c(
      0.6063, 0.9350, 0.9497, 0.9881, 0.9942, 0.9860, 0.9204, 0.9719, 0.9801, 0.8640, 0.8893,
      0.8891, 0.9016
    ),
    tolerance = 1e-3
  )
  # Age moves by one class: a level of its own tells more than one probability.
  for (wave in 1:2) files[[wave]]$age5 <- as.integer(files[[wave]]$age5)
  near <- attack(tolerance = list(age5 = c(0, 1)))
  expect_gt(near$estimates$expected_correct[2], valued$estimates$expected_correct[2])
  expect_identical(near$levels$level, c("equal", "within tolerance", "beyond"))
})

test_that("posteriors are calibrated where the model holds", {
  set.seed(7)
  n <- 4000
  people <- data.frame(
    a = sample(30, n, TRUE), b = sample(20, n, TRUE), c = sample(12, n, TRUE),
    d = sample(8, n, TRUE), id = seq_len(n)
  )
  keys <- c("a", "b", "c", "d")
  released <- people
  for (v in keys) {
    moved <- stats::runif(n) < 0.1
    released[[v]][moved] <- sample(max(people[[v]]), sum(moved), TRUE)
  }
  # Half of the released persons are not in the known file.
  known <- people[sample(n, n / 2), ]
  found <- quiet_attack(known, released, keys, "id", weights = c("calibrated", "em"))
  expect_equal(found$settings$coverage, 0.5)
  for (intruder in c("calibrated", "em")) {
    curve <- found$curve[found$curve$intruder == intruder, ]
    for (t in c(0, 0.5, 0.9)) {
      at <- curve[abs(curve$posterior - t) < 1e-9, ]
      spread <- 4 * sqrt(at$n_expected * (1 - at$n_expected / at$n_claimed) + 1)
      expect_lt(abs(at$n_right - at$n_expected), spread)
    }
  }
  m <- found$variables$m_em
  expect_equal(m, 0.9 + 0.1 / c(30, 20, 12, 8), tolerance = 0.03)
})

test_that("the ceiling holds for rules that look at agreement alone", {
  for (seed in seeds(30)) {
    files <- random_files(seed)
    found <- quiet_attack(
      files$wave1, files$wave2, files$keys, "id",
      weights = c("calibrated", "prior", "em"), by_value = FALSE
    )$estimates
    expect_true(all(found$expected_correct <= found$ceiling + 1e-9))
  }
})

test_that("leaving out a key is an attack without it", {
  files <- random_files(4)
  found <- quiet_attack(files$wave1, files$wave2, files$keys, "id", sensitivity = TRUE)
  for (v in seq_along(files$keys)) {
    less <- quiet_attack(files$wave1, files$wave2, files$keys[-v], "id")$estimates
    expect_equal(found$variables$without[v], less$expected_correct[2])
  }
  expect_equal(
    found$variables$loss, found$estimates$expected_correct[2] - found$variables$without
  )
  none <- quiet_attack(files$wave1, files$wave2, files$keys, "id", sensitivity = FALSE)
  expect_true(all(is.na(none$variables$loss)))
})

test_that("one to one gives every known record away once", {
  known <- data.frame(id = 1:3, a = c("x", "x", "y"), b = 1:3)
  released <- data.frame(id = 1:3, a = c("x", "x", "y"), b = c(1, NA, 3))
  found <- quiet_attack(known, released, c("a", "b"), "id", one_to_one = TRUE)
  # The second record has two best ones; the first is taken.
  expect_equal(found$estimates$expected_one_to_one[2], 3)
  expect_equal(found$estimates$expected_correct[2], 2.5)
  turned <- quiet_attack(released, known, c("a", "b"), "id", one_to_one = TRUE)
  expect_equal(turned$estimates$expected_one_to_one[2], 3)
  more <- quiet_attack(known[2:3, ], released, c("a", "b"), "id", one_to_one = TRUE)
  expect_true(more$estimates$expected_one_to_one[2] <= 2)
})

test_that("hard files have answers", {
  one <- data.frame(id = 1, a = "x", b = 2)
  found <- quiet_attack(one, one, c("a", "b"), "id")
  expect_equal(found$estimates$expected_correct, c(1, 1))
  expect_equal(found$records$posterior, 1)
  # All values missing: nothing is known of anybody.
  empty <- data.frame(id = 1:4, a = NA_character_, b = NA_real_)
  found <- quiet_attack(empty, empty, c("a", "b"), "id", weights = all_intruders)
  expect_equal(found$estimates$expected_correct, rep(1, 4))
  expect_equal(found$records$posterior, rep(0.25, 4))
  # No value in common.
  two <- data.frame(id = 1:3, a = c("x", "y", "z"))
  other <- data.frame(id = 1:3, a = c("u", "v", "w"))
  found <- quiet_attack(two, other, "a", "id", weights = all_intruders)
  expect_equal(found$estimates$expected_correct, rep(1, 4))
  # Nobody in common.
  expect_warning(
    found <- link_attack(two, transform(two, id = 7:9), "a", "id"),
    class = "sdcRisk_warning_no_common_ids"
  )
  expect_equal(found$estimates$expected_correct, c(0, 0))
  expect_output(print(found), "0 of the same persons")
  # One constant key, and one released record.
  same <- data.frame(id = 1:5, a = "x", b = 1:5)
  found <- quiet_attack(same, same[2, ], c("a", "b"), "id", weights = all_intruders)
  expect_equal(found$records$match_prob, 1)
  # 64 keys.
  wide <- as.data.frame(matrix(sample(2, 20 * 64, TRUE), 20))
  wide$id <- 1:20
  found <- quiet_attack(wide, wide, NULL, "id")
  expect_equal(found$estimates$expected_correct[2], 20)
})

test_that("without ids the intruder learns and no match is known to be right", {
  files <- random_files(11)
  found <- quiet_attack(files$wave1, files$wave2, files$keys)
  expect_identical(found$estimates$intruder, c("count", "em"))
  expect_true(all(is.na(found$estimates$expected_correct)))
  expect_true(all(is.na(found$records$match_prob)))
  expect_true(all(is.na(found$curve$n_right)))
  expect_false(anyNA(found$records$posterior))
  expect_output(print(found), "Without true links")
  expect_match(interpret(found), "They expect to be right for")
})

test_that("candidates and protected files are attacked like others", {
  known <- data.frame(id = 1:4, a = c(1, 2, 3, 4), b = c("x", "x", "y", "y"))
  released <- known
  released$a <- candidates(list(1:2, 1:2, 3, NA))
  found <- quiet_attack(known, released, c("a", "b"), "id", weights = c("prior", "count"))
  # Two in the set of the first two, one for the third; the last says b alone.
  expect_identical(found$records$n_best, c(2L, 2L, 1L, 2L))
  expect_equal(found$records$match_prob, c(0.5, 0.5, 1, 0.5))
})

test_that("results do not depend on threads", {
  files <- random_files(9)
  run <- function(threads) {
    old <- options(sdcRisk.threads = threads)
    on.exit(options(old))
    quiet_attack(files$wave1, files$wave2, files$keys, "id", weights = all_intruders)
  }
  one <- run(1)
  for (threads in c(2, 5)) expect_equal(run(threads), one, tolerance = 0)
})

test_that("bad input is named in the words of this function", {
  files <- random_files(3)
  attack <- function(..., known = files$wave1, released = files$wave2, keys = files$keys,
                     id = "id") {
    link_attack(known, released, keys, id, ...)
  }
  error <- function(kind, words, code) {
    caught <- expect_error(code, class = paste0("sdcRisk_error_", kind))
    expect_match(conditionMessage(caught), words)
    expect_no_match(conditionMessage(caught), "wave")
  }
  error("bad_data", "`known` must be a data frame", attack(known = 1))
  error("bad_data", "`released` must", attack(released = files$wave2[0, ]))
  error("bad_argument", "`weights` must hold some of.*Did you mean", attack(weights = "calibratd"))
  error("bad_argument", "each once", attack(weights = c("em", "em")))
  error("bad_argument", "leave out \"calibrated\"", attack(id = NULL, weights = "calibrated"))
  error("bad_argument", "`prior_match` must", attack(prior_match = 1))
  error("bad_argument", "10% is 0.1", attack(coverage = 10))
  error("bad_argument", "`coverage` must", attack(coverage = 0))
  error("bad_argument", "`by_value` must", attack(by_value = NA))
  error("bad_argument", "`max_work` must", attack(max_work = -1))
  error("bad_argument", "`sensitivity` must be FALSE", attack(id = NULL, sensitivity = TRUE))
  error("bad_argument", "`one_to_one` must be FALSE", attack(id = NULL, one_to_one = TRUE))
  error("bad_argument", "`tolerance` must", attack(tolerance = 2))
  error("bad_argument", "`tolerance` must", attack(tolerance = list(age = c(2, 0))))
  error("bad_argument", "name key variables", attack(tolerance = list(ages = 2)))
  error("unknown_key_var", "columns of both files", attack(keys = "zz"))
  error("bad_argument", "not name the id", attack(keys = c(files$keys, "id")))
  error("bad_argument", "Unknown: \"weight\"", attack(weight = "em"))
  twice <- rbind(files$wave1, files$wave1)
  error("bad_data", "once in each file", attack(known = twice))
  error("too_large", "max_work", attack(max_work = 1))
  large <- data.frame(id = 1:10001, a = 1)
  error("too_large", "10,000 records", link_attack(large, large, "a", "id", one_to_one = TRUE))
  error("bad_argument", "be given", link_attack())
})

test_that("differing types are told of in the words of this function", {
  known <- data.frame(id = 1:3, a = c("1", "2", "3"))
  released <- data.frame(id = 1:3, a = 1:3)
  warning <- expect_warning(
    found <- link_attack(known, released, "a", "id"),
    class = "sdcRisk_warning_waves_differ"
  )
  expect_match(conditionMessage(warning), "in the known file")
  expect_equal(found$estimates$expected_correct, c(3, 3))
})

test_that("keys that say the same are named where weights are learned", {
  set.seed(3)
  n <- 300
  known <- data.frame(id = 1:n, a = sample(9, n, TRUE), c = sample(30, n, TRUE))
  known$b <- known$a
  released <- known
  released$c[1:60] <- sample(30, 60, TRUE)
  warning <- expect_warning(
    found <- link_attack(known, released, c("a", "b", "c"), "id", weights = c("em", "prior")),
    class = "sdcRisk_warning_not_learned"
  )
  expect_equal(warning$phi, 1)
  expect_setequal(warning$columns, c("a", "b"))
  expect_match(text_of(found), "learned weights are in doubt")
  calibrated <- quiet_attack(known, released, c("a", "b", "c"), "id")
  expect_match(text_of(calibrated), "go together \\(phi 1")
})

test_that("print, sentence and tables go with the numbers", {
  files <- random_files(21)
  found <- quiet_attack(files$wave1, files$wave2, files$keys, "id", weights = all_intruders)
  lines <- utils::capture.output(print(found))
  expect_lte(length(lines), 16)
  expect_lte(max(nchar(lines)), 80)
  expect_match(text_of(found), "conditional on an attempt")
  expect_match(text_of(found), "Record risk")
  expect_no_match(text_of(found), "upper bound")
  sentence <- interpret(found)
  expect_match(sentence, "the most successful of the intruders", ignore.case = TRUE)
  expect_identical(nrow(generics::tidy(found)), 4L * 12L)
  expect_identical(generics::glance(found)$n_analyses, 4L)
  expect_identical(
    nrow(generics::augment(found, files$wave2)), nrow(files$wave2)
  )
  expect_error(
    generics::augment(found, files$wave1),
    class = "sdcRisk_error_mismatched_data"
  )
  expect_true("claims" %in% names(summary(found)))
  expect_identical(as.data.frame(found), found$records)
})

test_that("pictures show the numbers of the tables", {
  skip_if_not_installed("ggplot2")
  files <- random_files(21)
  found <- quiet_attack(
    files$wave1, files$wave2, files$keys, "id",
    weights = c("calibrated", "em"), sensitivity = TRUE
  )
  layer <- function(picture, i) ggplot2::layer_data(picture, i)
  claims <- layer(ggplot2::autoplot(found), 1)
  shown <- found$curve[found$curve$posterior >= 0.3, ]
  expect_setequal(claims$y, c(shown$n_claimed, shown$n_right))
  bars <- layer(ggplot2::autoplot(found, "intruders"), 1)
  expect_setequal(round(bars$x, 9), round(found$estimates$expected_correct, 9))
  keys <- layer(ggplot2::autoplot(found, "keys"), 1)
  expect_setequal(round(keys$x, 9), round(found$variables$loss, 9))
  blind <- quiet_attack(files$wave1, files$wave2, files$keys)
  expect_s3_class(ggplot2::autoplot(blind), "ggplot")
  expect_error(ggplot2::autoplot(blind, "keys"), class = "sdcRisk_error_bad_argument")
  none <- quiet_attack(files$wave1, files$wave2, files$keys, "id", weights = "count")
  expect_error(ggplot2::autoplot(none), class = "sdcRisk_error_bad_argument")
})

test_that("a key variable with one value tells nobody apart, blank or not", {
  set.seed(4)
  known <- data.frame(id = 1:40, a = "x", b = sample(8, 40, TRUE))
  released <- known
  released$a[c(3, 9)] <- NA
  known$a[5] <- NA
  attack <- function(keys) {
    quiet_attack(known, released, keys, "id", weights = c("calibrated", "em", "prior"))$records
  }
  with <- attack(c("a", "b"))
  without <- attack("b")
  # Counting prefers the record with a blank.
  columns <- grep("match_prob|n_best|true_in", names(with), value = TRUE)
  columns <- setdiff(columns, "match_prob_count")
  for (column in columns) expect_identical(with[[column]], without[[column]], info = column)
  expect_equal(with$posterior, without$posterior, tolerance = 1e-12)
})

test_that("nobody in both files is not the same as ids that are not at hand", {
  known <- data.frame(id = 1:8, n = 1:8)
  released <- transform(known, id = id + 100L)
  found <- quiet_attack(known, released, "n", "id")
  expect_match(text_of(found), "Nobody is in both files by their ids: every match is wrong")
  expect_match(interpret(found), "every match is wrong")
  blind <- quiet_attack(known, released, "n")
  expect_match(text_of(blind), "Without true links it is not known")
})

test_that("the table of intruders and the largest figure stay in narrow prints", {
  waves <- lapply(panel_waves[c("wave1", "wave2")], utils::head, 600)
  found <- quiet_attack(
    waves$wave1, waves$wave2, c("gender", "education", "age_group"), "id",
    weights = c("calibrated", "em", "prior")
  )
  for (width in c(60, 70, 80)) {
    lines <- format(found, width = width)
    expect_lte(length(lines), 16)
    expect_length(grep("^ *(count|calibrated|em|prior) +[0-9]", lines), 4)
    expect_match(paste(lines, collapse = " "), "Record risk")
  }
})

test_that("what is wrong with a rule or an intruder is said", {
  known <- data.frame(id = 1:3, age = 1:3)
  attack <- function(...) quiet_attack(known, known, "age", "id", ...)
  expect_error(attack(tolerance = list(age = c(2, 0))), "2 and 0 were given")
  expect_error(attack(tolerance = list(age = -1)), "-1 was given")
  expect_error(attack(weights = c("count", "xx")), "Unknown: \"xx\"")
  expect_error(attack(weights = c("em", "em")), "More than once: \"em\"")
  expect_error(quiet_attack(known, known, c(1, 99), "id"), "both files")
})

test_that("one-to-one links do not depend on the order of the records", {
  set.seed(7)
  for (i in 1:25) {
    n <- sample(5:40, 1)
    known <- data.frame(id = 1:n, a = sample(3, n, TRUE), b = sample(4, n, TRUE))
    released <- known[sample(n, sample(3:n, 1)), ]
    changed <- sample(nrow(released), 2)
    released$b[changed] <- sample(4, 2, TRUE)
    of <- function(known, released) {
      quiet_attack(
        known, released, c("a", "b"), "id", weights = c("prior", "calibrated"), one_to_one = TRUE
      )$estimates$expected_one_to_one
    }
    expect_equal(
      of(known, released), of(known[sample(n), ], released[sample(nrow(released)), ]),
      tolerance = 1e-6
    )
  }
})
