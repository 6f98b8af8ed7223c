ten <- c(
  "BIB1201", "BIC0501", "BID0101", "BIE0601", "BORNUSA", "CENREG", "DAGE3", "DRACE3",
  "EDUC3", "GENDER"
)

test_that("the published risks of nals_prison hold", {
  # SDCNway user's manual: mu-Argus and El Emam measures of ten variables.
  found <- individual_risk(
    nals_prison, ten, "WEIGHT", tau_prosecutor = 0.5, tau_journalist = 0.001
  )
  e <- found$estimates
  expect_equal(e$n_unique, 156)
  expect_equal(e$expected_unique, 1.6187, tolerance = 5e-5 / 1.6187)
  expect_equal(e$expected_reidentifications, 1.6529, tolerance = 5e-5 / 1.6529)
  expect_equal(e$prosecutor_above, 0.8571, tolerance = 5e-5 / 0.8571)
  expect_identical(e$prosecutor_max, 1)
  expect_equal(e$prosecutor_mean, 0.9231, tolerance = 5e-5 / 0.9231)
  expect_equal(e$journalist_above, 0.9670, tolerance = 5e-5 / 0.9670)
  expect_equal(e$journalist_max, 0.03945, tolerance = 5e-6 / 0.03945)
  expect_equal(e$journalist_mean, 0.009082, tolerance = 5e-7 / 0.009082)
})

test_that("the table of another program holds", {
  # sdcMicro 5.8.0, indivRisk() on its example of eight records, whose keys
  # occur once or twice: there its formulas are exact.
  f <- c(2, 2, 2, 1, 1, 1, 1, 2)
  population <- c(110, 84.5, 84.5, 17, 541, 8, 5, 110)
  printed <- c(
    0.017144, 0.022042, 0.022042, 0.177076, 0.011654, 0.297063, 0.402359, 0.017144
  )
  expect_equal(rs_expected_inverse(f, population), printed, tolerance = 5e-7 / 0.011)
})

test_that("the expectation of 1/F equals its sum over the distribution", {
  for (f in c(1:12, 25, 30, 31, 60, 200, 1000)) {
    for (p in c(0.9999, 0.99, 0.7, 0.5, 0.3, 0.1, 0.02, 0.005)) {
      expect_equal(
        rs_expected_inverse(f, f / p), slow_expected_inverse(f, f / p),
        tolerance = 1e-12, label = paste("f =", f, "p =", p)
      )
    }
  }
})

test_that("the expectation of 1/F equals its integral for any fraction", {
  for (f in c(1:10, 29, 30, 31, 100, 1e4, 1e6)) {
    for (p in c(1 - 1e-12, 0.5, 0.49, 0.11, 0.1, 0.09, 1e-3, 1e-6, 1e-9)) {
      expect_equal(
        rs_expected_inverse(f, f / p), slow_expected_integral(f, f / p),
        tolerance = 1e-10, label = paste("f =", f, "p =", p)
      )
    }
  }
})

test_that("limits have their known values", {
  expect_equal(rs_expected_inverse(1, 1e300), log(1e300) / 1e300, tolerance = 1e-13)
  expect_equal(rs_expected_inverse(5, 1e200), 5 / 1e200 / 4, tolerance = 1e-13)
  expect_identical(rs_expected_inverse(c(1, 4, 1e9), c(1, 4, 1e9)), 1 / c(1, 4, 1e9))
  expect_equal(rs_expected_inverse(1e15, 1e18), 1e-18, tolerance = 1e-12)
})

test_that("records and households equal slow counting", {
  for (seed in 1:15) {
    set.seed(seed)
    data <- random_file(
      sample(1:60, 1), levels = sample(1:4, 3, TRUE), missing_rate = 0.1, seed = seed
    )
    keys <- names(data)
    data$w <- runif(nrow(data), 1, 50)
    data$hh <- sample(c("p", "q", "r", letters), nrow(data), TRUE)
    found <- individual_risk(data, keys, "w", "hh", missing = "category")
    slow <- slow_individual(data[keys], data$w, data$hh)
    expect_equal(found$records$risk, slow$risk, tolerance = 1e-11)
    expect_equal(found$records$frequency, slow$frequency)
    expect_equal(found$records$population, slow$population)
    expect_equal(found$records$prosecutor_risk, 1 / slow$frequency)
    expect_equal(found$records$household_risk, slow$household, tolerance = 1e-11)
    e <- found$estimates
    expect_equal(e$expected_reidentifications, sum(slow$risk), tolerance = 1e-11)
    expect_equal(e$prosecutor_mean, nrow(unique(data[keys])) / nrow(data))
    expect_equal(e$expected_households, sum(slow$household[!duplicated(data$hh)]))
    expect_equal(e$expected_in_households, sum(slow$household))
    expect_equal(e$household_max, max(slow$household))
    expect_equal(sum(found$frequencies$expected), sum(slow$risk))
    expect_equal(sum(found$frequencies$n_cells), e$n_cells)
  }
})

test_that("incomplete records are left out when asked", {
  data <- random_file(80, levels = c(3, 4), missing_rate = 0.1, seed = 4)
  keys <- names(data)
  data$w <- 2 + seq_len(80)
  data$hh <- rep(1:20, 4)
  complete <- complete.cases(data)
  found <- individual_risk(data, keys, "w", "hh", missing = "exclude")
  alone <- individual_risk(data[complete, ], keys, "w", "hh")
  expect_equal(found$records[complete, ], alone$records, ignore_attr = TRUE)
  expect_true(all(is.na(unlist(found$records[!complete, ]))))
  expect_equal(found$estimates, alone$estimates)
  expect_identical(found$diagnostics$n_excluded, sum(!complete))
})

test_that("a file that is its population has the risk 1/f", {
  data <- random_file(50, levels = c(3, 3), seed = 5)
  data$w <- 1
  found <- expect_silent(individual_risk(data, 1:2, "w"))
  expect_identical(found$records$risk, found$records$prosecutor_risk)
  expect_identical(found$estimates$journalist_max, found$estimates$prosecutor_max)
  data$w <- 0.5
  expect_warning(
    small <- individual_risk(data, 1:2, "w"), class = "sdcRisk_warning_small_weights"
  )
  expect_identical(small$records$risk, found$records$risk)
  expect_identical(small$estimates$journalist_population, found$estimates$n_cells / 25)
})

test_that("the risk grows with the sampling fraction and falls with company", {
  data <- random_file(100, levels = c(4, 5), seed = 6)
  risk_at <- function(w) {
    data$w <- w
    individual_risk(data, 1:2, "w")$records$risk
  }
  expect_true(all(risk_at(2) > risk_at(10)))
  expect_true(all(risk_at(10) > risk_at(1000)))
  found <- individual_risk(transform(data, w = 7), 1:2, "w")$records
  expect_false(is.unsorted(-found$risk[order(found$frequency)]))
})

test_that("permuting records permutes risks, and threads change nothing", {
  data <- adult[1:2000, ]
  data$w <- 10 + seq_len(2000) %% 17
  keys <- c("age", "race", "sex", "occupation")
  found <- individual_risk(data, keys, "w")
  again <- individual_risk(data[2000:1, ], keys, "w")
  expect_equal(again$records, found$records[2000:1, ], ignore_attr = TRUE, tolerance = 1e-14)
  before <- options(sdcRisk.threads = 1)
  on.exit(options(before))
  expect_identical(individual_risk(data, keys, "w"), found)
})

test_that("another program's file risk is near, without its approximation", {
  data <- trial_file("testdata.csv")
  keys <- c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
  found <- individual_risk(data, keys, "sampling_weight", "ori_hid")
  # sdcMicro 5.8.0 gives 10.7783 and 51.8129; from f = 3 on it approximates.
  approximate <- with(found$records, {
    p <- frequency / population
    ifelse(frequency < 3, risk, p / (frequency - (1 - p)))
  })
  expect_equal(sum(approximate), 10.7783, tolerance = 5e-5 / 10.8)
  expect_equal(found$estimates$expected_reidentifications, 10.7783, tolerance = 0.01)
  expect_equal(found$estimates$expected_in_households, 51.8129, tolerance = 0.01)
})

test_that("mistakes are refused with the argument's name", {
  data <- data.frame(a = 1:3, b = c(1, 1, 2), w = c(10, 20, 30), hh = c(1, 1, 2))
  bad <- function(..., kind = "bad_argument") {
    expect_error(individual_risk(data, ...), class = paste0("sdcRisk_error_", kind))
  }
  bad("a", NULL)
  bad("a", "v", kind = "unknown_key_var")
  bad("z", "w", kind = "unknown_key_var")
  bad(c("a", "w"), "w")
  bad(c("a", "hh"), "w", "hh")
  bad("a", "w", "w")
  bad("a", "w", "h", kind = "unknown_key_var")
  for (tau in list(0, 1, -1, NA, "a", c(0.1, 0.2))) {
    bad("a", "w", tau_prosecutor = tau)
    bad("a", "w", tau_journalist = tau)
  }
  bad("a", "w", missing = "drop")
  bad("a", "w", mising = "exclude")
  for (weights in list(c(1, NA, 2), c(1, 0, 2), c(1, -2, 3), c(1, Inf, 2), letters[1:3])) {
    data$w <- weights
    bad("a", "w", kind = "bad_weights")
  }
  data$w <- 10
  data$hh[[2]] <- NA
  error <- expect_error(
    individual_risk(data, "a", "w", "hh"), class = "sdcRisk_error_bad_data"
  )
  expect_identical(error$names, "hh")
  data$a <- NA
  expect_error(
    individual_risk(data, "a", "w", missing = "exclude"), class = "sdcRisk_error_bad_data"
  )
  expect_error(individual_risk(1:3, "a", "w"), class = "sdcRisk_error_bad_data")
  expect_error(individual_risk(data[0, ], "a", "w"), class = "sdcRisk_error_bad_data")
})

test_that("hard files have right answers", {
  same <- data.frame(a = rep("x", 20), w = 5)
  found <- individual_risk(same, "a", "w")
  expect_equal(found$records$risk, rep(slow_expected_inverse(20, 100), 20), tolerance = 1e-12)
  expect_identical(found$estimates$n_unique, 0L)
  expect_identical(found$estimates$expected_unique, 0)
  expect_lte(length(format(found)), 16)
  one <- individual_risk(data.frame(a = 1, w = 100), "a", "w")
  expect_equal(one$records$risk, log(100) / 99)
})

test_that("the verbs of results work", {
  found <- individual_risk(nals_prison, ten, "WEIGHT", "VARSTRAT")
  expect_s3_class(found, c("sdc_individual_risk", "sdc_result"), exact = TRUE)
  expect_lte(length(format(found)), 16)
  expect_match(lines_of(found), "Largest risk, any member", all = FALSE)
  expect_identical(as.data.frame(found), found$records)
  expect_identical(
    tidy(found)$estimate[tidy(found)$term == "expected_unique"],
    found$estimates$expected_unique
  )
  expect_identical(glance(found)$n_cells, 168L)
  expect_identical(augment(found, nals_prison)$.risk, found$records$risk)
  expect_error(
    augment(found, nals_prison[182:1, ]), class = "sdcRisk_error_mismatched_data"
  )
  strata <- summary(found, by = "GENDER", data = nals_prison)$risk_by_strata
  expect_identical(strata$n, c(168L, 14L))
  expect_match(interpret(found), "expected to find 1.65 \\([0-9.]+%\\) people of the population")
  both <- compare_risk(found, found)
  expect_true(all(both$table$change == 0))
  all_but <- individual_risk(nals_prison[c(ten, "WEIGHT")], NULL, "WEIGHT")
  expect_identical(all_but$records, found$records[names(all_but$records)])
})

test_that("pictures show the numbers of the records", {
  skip_if_not_installed("ggplot2")
  found <- individual_risk(nals_prison, ten, "WEIGHT")
  bars <- ggplot2::layer_data(ggplot2::autoplot(found), 1)
  expect_equal(sum(bars$count), 182)
  bars <- ggplot2::layer_data(ggplot2::autoplot(found, "frequency"), 1)
  expect_equal(bars$y[bars$PANEL == 2], found$frequencies$expected)
  boxes <- ggplot2::layer_data(
    ggplot2::autoplot(found, "strata", by = "GENDER", data = nals_prison), 1
  )
  expect_identical(nrow(boxes), 2L)
  expect_error(ggplot2::autoplot(found, "strata"), class = "sdcRisk_error_bad_argument")
  expect_error(ggplot2::autoplot(found, "tau"), class = "sdcRisk_error_bad_argument")
})

test_that("a missing value that matches everything takes all matches", {
  skip_on_cran()
  for (seed in seeds(20)) {
    set.seed(seed)
    n <- 40L
    blank <- function(x) replace(x, stats::runif(n) < 0.3, NA)
    data <- data.frame(
      a = blank(sample(3, n, TRUE)), b = blank(sample(letters[1:4], n, TRUE)),
      c = blank(sample(2, n, TRUE)), w = stats::runif(n, 1, 50), hh = sample(15, n, TRUE)
    )
    keys <- c("a", "b", "c")
    matches <- oracle_match_matrix(data[keys])
    f <- rowSums(matches)
    population <- as.vector(matches %*% data$w)
    found <- individual_risk(data, keys, "w", "hh", missing = "wildcard")
    expect_identical(found$records$frequency, as.integer(f))
    expect_equal(found$records$population, population, tolerance = 1e-14)
    expect_equal(found$records$risk, rs_expected_inverse(f, population), tolerance = 1e-14)
    # As n_matches() counts them.
    counted <- n_matches(data, keys, weight_var = "w")$records
    expect_identical(found$records$frequency, counted$n_matches)
    expect_identical(found$records$population, counted$n_matches_weighted)
    # Who finds one member has found the household.
    at_home <- 1 - tapply(1 - found$records$risk, data$hh, prod)[as.character(data$hh)]
    expect_equal(found$records$household_risk, as.vector(at_home), tolerance = 1e-12)
    e <- found$estimates
    expect_identical(e$n_cells, NA_integer_)
    expect_identical(e$journalist_population, NA_real_)
    expect_identical(e$n_unique, sum(f == 1))
    expect_equal(e$prosecutor_mean, mean(1 / f), tolerance = 1e-14)
    expect_equal(e$expected_reidentifications, sum(found$records$risk), tolerance = 1e-12)
    expect_true(all(is.na(found$frequencies$n_cells)))
    expect_identical(sum(found$frequencies$n_records), n)
  }
  # Without missing values there is nothing to match.
  complete <- stats::na.omit(data)
  expect_identical(
    individual_risk(complete, keys, "w")$estimates,
    individual_risk(complete, keys, "w", missing = "category")$estimates
  )
  table <- key_table(as_file(complete, "data"), keys)
  by_pairs <- core(
    rs_individual_risk, table$pointer, list(weights = complete$w, missing = "wildcard")
  )
  expect_equal(
    by_pairs$risk, individual_risk(complete, keys, "w")$records$risk, tolerance = 1e-14
  )
})

test_that("local suppression lowers the risk where blanks match everything", {
  keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
  before <- individual_risk(nals_prison, keys, "WEIGHT")
  suppressed <- nals_prison
  suppressed$EDUC3[before$records$frequency == 1] <- NA
  as_category <- individual_risk(suppressed, keys, "WEIGHT", missing = "category")
  as_blank <- individual_risk(suppressed, keys, "WEIGHT", missing = "wildcard")
  expect_lt(
    as_blank$estimates$expected_reidentifications,
    as_category$estimates$expected_reidentifications
  )
  expect_lt(as_blank$estimates$n_unique, as_category$estimates$n_unique)
  lines <- lines_of(as_blank)
  expect_match(
    lines, "missing matches everything (52 incomplete records).", fixed = TRUE, all = FALSE
  )
  expect_match(lines, "^Missing: EDUC3 28.6%\\.$", all = FALSE)
  expect_false(any(grepl("distinct key", lines)))
  expect_match(interpret(as_blank), "missing matches everything")
  expect_false(anyNA(generics::glance(as_blank)$n_unique))
})

test_that("records left out and identifiers are announced", {
  set.seed(1)
  data <- data.frame(a = replace(rep(1:3, 20), 1:6, NA), id = 1:60, w = 5)
  expect_message(
    individual_risk(data, "a", "w", missing = "exclude"),
    "6 incomplete records of 60 (10%) are left out", fixed = TRUE,
    class = "sdcRisk_message_many_excluded"
  )
  data$a[1:3] <- 1L
  expect_silent(individual_risk(data, "a", "w", missing = "exclude"))
  told <- expect_message(
    found <- individual_risk(data, c("a", "id"), "w"), class = "sdcRisk_message_identifying_key"
  )
  expect_identical(told$columns, "id")
  expect_match(lines_of(found), "Nearly all values differ: \"id\"", all = FALSE)
  # Of fewer than 20 values nobody can tell.
  expect_silent(individual_risk(data[1:19, ], c("a", "id"), "w"))
})
