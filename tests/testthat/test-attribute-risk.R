# Attribute disclosure by its definitions, and the published values of other programs.

skip_on_cran()

measure_of <- function(x, measure, column = "value") {
  x$estimates[[column]][x$estimates$measure == measure]
}

test_that("pycanon's values of its k-anonymous files hold", {
  # pycanon 1.3.6 on its files adult_anonymized_3, 10 and 20: t-closeness and basic beta-likeness
  # of salary-class. The fixture has the counts of keys and values.
  path <- test_path("fixtures", "sainzpardo-2022-adult.csv")
  fixture <- utils::read.csv(path, comment.char = "#")
  published <- list(
    t = c("3" = 0.713563698, "10" = 0.634944543, "20" = 0.668451400),
    beta_basic = c("3" = 2.491177599, "10" = 1.739309827, "20" = 2.016149068)
  )
  for (k in c("3", "10", "20")) {
    counts <- fixture[fixture$k == k, ]
    data <- counts[rep(seq_len(nrow(counts)), counts$n), c("key", "value")]
    found <- quietly(attribute_risk(data, "key", "value"))
    expect_equal(measure_of(found, "t"), published$t[[k]], tolerance = 1e-9, info = k)
    expect_equal(
      measure_of(found, "beta_basic"), published$beta_basic[[k]], tolerance = 1e-9, info = k
    )
    expect_gte(min(table(data$key)), as.integer(k))
  }
})

test_that("pycanon's values of 216 students hold", {
  # Its tests/test_anonymity.py, TestMathScores.
  path <- test_path("fixtures", "sainzpardo-2022-math-scores.csv")
  found <- quietly(attribute_risk(utils::read.csv(path, comment.char = "#"), "cell", "score"))
  expect_equal(measure_of(found, "beta_basic"), 71)
  expect_equal(measure_of(found, "beta_enhanced"), 5.375278407684164)
  expect_equal(measure_of(found, "delta"), 4.276666119016055)
  expect_equal(measure_of(found, "t"), 0.4165919952210274)
  expect_identical(measure_of(found, "l_distinct"), 1)
  expect_identical(measure_of(found, "alpha"), 1)
})

test_that("the values of one table are worked by hand", {
  data <- data.frame(key = c(1, 1, 1, 2, 2), value = c("a", "a", "b", "a", "a"))
  found <- attribute_risk(data, "key", "value")
  expected <- c(
    l_distinct = 1, l_entropy = 1, l_recursive = Inf, t = 0.2, alpha = 1,
    beta_basic = 1 / 3 / 0.2 - 1, beta_enhanced = 1 / 3 / 0.2 - 1, delta = log(1 / 3 / 0.2),
    uio = 0, dorig = 0.4, cap = (2 / 3 + 2 / 3 + 1 / 3 + 2) / 5
  )
  expect_identical(found$estimates$measure, names(expected))
  expect_equal(found$estimates$value, unname(expected))
  expect_equal(measure_of(found, "cap", "baseline"), 0.8^2 + 0.2^2)
  expect_equal(measure_of(found, "l_recursive", "baseline"), 4)
  expect_identical(found$records$told, c(FALSE, FALSE, FALSE, TRUE, TRUE))
  expect_equal(found$records$posterior, c(2, 2, 1, 3, 3) / 3)
})

test_that("a synthetic file is worked by hand", {
  # Raab, Nowok and Dibben, appendices 1 and 2.
  original <- data.frame(
    key = c("p", "p", "q", "r", "r", "s"), value = c("a", "b", "a", "b", "b", "a")
  )
  synthetic <- data.frame(key = c("p", "q", "q", "r", "t"), value = c("a", "a", "b", "b", "a"))
  found <- attribute_risk(original, "key", "value", released = synthetic)
  # p is told as a, right for one of two; q is not told; r is told rightly; s is not there.
  expect_equal(measure_of(found, "disco"), 3 / 6)
  expect_equal(measure_of(found, "tcap"), 3 / 5)
  expect_equal(measure_of(found, "cap"), (1 + 0 + 0.5 + 1 + 1 + 0) / 6)
  expect_equal(measure_of(found, "repu"), 0)
  expect_equal(measure_of(found, "uio"), 2 / 6)
  expect_equal(measure_of(found, "dorig"), 4 / 6)
  expect_identical(found$records$told, c(TRUE, FALSE, FALSE, TRUE, TRUE, FALSE))
  expect_equal(found$diagnostics$n_found, 5)
  same <- attribute_risk(original, "key", "value", released = original)
  expect_equal(measure_of(same, "disco"), measure_of(same, "dorig"))
  expect_equal(measure_of(same, "repu"), measure_of(same, "uio"))
})

test_that("random files equal the definitions under every rule", {
  set.seed(5)
  draw <- function(n, blank) {
    data.frame(
      a = sample(c("x", "y", "z", if (blank) NA), n, TRUE),
      b = sample(c(1:3, if (blank) NA), n, TRUE),
      s = sample(c("h", "i", "j", if (blank) NA), n, TRUE, c(4, 2, 1, if (blank) 1)),
      o = sample(c(5, 7, 9, 20), n, TRUE)
    )
  }
  for (i in 1:15) {
    data <- draw(25, i %% 3 > 0)
    released <- if (i %% 2) draw(20, i %% 3 > 0)
    for (rule in c("wildcard", "category", "exclude")) {
      found <- quietly(attribute_risk(
        data, c("a", "b"), c("s", "o"), missing = rule, released = released
      ))
      for (name in c("s", "o")) {
        # Records without a value among their matches are not in the definitions' worst.
        slow <- suppressWarnings(
          slow_attribute(data, c("a", "b"), name, rule, name == "o", released)
        )
        own <- found$estimates[found$estimates$sensitive == name, ]
        for (measure in setdiff(own$measure, if (name == "s" && i %% 3) c(
          "l_distinct", "l_entropy", "l_recursive", "t", "alpha", "beta_basic", "delta",
          "beta_enhanced", "dorig"
        ))) {
          expect_equal(
            own$value[own$measure == measure], slow[[measure]],
            info = paste(i, rule, name, measure)
          )
        }
        expect_equal(own$baseline[own$measure == "cap"], slow$guess)
        used <- if (rule == "exclude") stats::complete.cases(data[c("a", "b")]) else TRUE
        expect_equal(found$records[[paste0("posterior_", name)]][used], slow$posterior)
      }
    }
  }
})

test_that("n_matches() agrees where it measures the same", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
  data <- nals_prison
  data$DAGE3[1:9] <- NA
  matches <- n_matches(data, keys, sensitive = "DRACE3")
  found <- attribute_risk(data, keys, "DRACE3")
  e <- matches$estimates
  expect_equal(measure_of(found, "dorig"), e$n_homogeneous / e$n)
  expect_equal(measure_of(found, "l_distinct"), e$l_distinct)
  expect_equal(measure_of(found, "l_entropy"), e$l_entropy)
  expect_equal(measure_of(found, "t"), e$t_closeness)
  expect_equal(measure_of(found, "uio"), e$prop_unique)
})

test_that("similar values count as one", {
  data <- data.frame(key = rep(1:2, each = 3), s = c("hiv", "hep", "hep", "flu", "hiv", "none"))
  apart <- attribute_risk(data, "key", "s")
  similar <- attribute_risk(data, "key", "s", group_similar = list(s = list(c("hiv", "hep"))))
  expect_equal(measure_of(apart, "dorig"), 0)
  expect_equal(measure_of(similar, "dorig"), 0.5)
  expect_equal(measure_of(similar, "l_distinct"), 1)
  expect_equal(measure_of(similar, "l_distinct", "baseline"), 3)
  by_hand <- transform(data, s = ifelse(s %in% c("hiv", "hep"), "infection", s))
  expect_equal(similar$estimates$value, attribute_risk(by_hand, "key", "s")$estimates$value)
  released <- attribute_risk(
    data, "key", "s", group_similar = list(s = c("hiv", "hep")), released = data
  )
  expect_equal(measure_of(released, "disco"), 0.5)
  expect_error(
    attribute_risk(data, "key", "s", group_similar = list(s = list("cold"))),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("risks of records, limits and pictures read the same numbers", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
  found <- attribute_risk(nals_prison, keys, c("DRACE3", "BORNUSA"), limit = 0.9)
  worst <- pmax(found$records$posterior_DRACE3, found$records$posterior_BORNUSA)
  expect_identical(sort(records_at_risk(found)$record), which(worst > 0.9))
  expect_match(format(found), "above the limit of 0.9", all = FALSE)
  figures <- measures(found, limit = list(l = 2, t = 0.5))
  expect_identical(
    figures$verdict[figures$measure == "l_distinct"],
    rep("above", 2)
  )
  skip_if_not_installed("ggplot2")
  for (type in c("measures", "records")) {
    expect_s3_class(ggplot2::autoplot(found, type = type), "ggplot")
  }
})

test_that("what cannot be asked is refused with its class", {
  data <- data.frame(a = 1:3, s = c("x", "y", "x"))
  bad <- "sdcRisk_error_bad_argument"
  expect_error(attribute_risk(data, "a"), class = bad)
  expect_error(attribute_risk(data, "a", "a"), class = bad)
  expect_error(attribute_risk(data, "a", "s", released = data["a"]), class = bad)
  expect_error(attribute_risk(data, "a", "s", group_similar = list(z = list(1))), class = bad)
  expect_error(attribute_risk(data, "a", "s", limit = 5), class = bad)
  file <- sdc_file(data, "a", sensitive = "s")
  expect_identical(attribute_risk(file)$estimates, attribute_risk(data, "a", "s")$estimates)
})

test_that("a released file without a match is told, as is a file without a complete record", {
  data <- data.frame(age = c(31, 32, 47), ill = c("yes", "no", "no"))
  recoded <- data.frame(age = c("30-39", "30-39", "40-49"), ill = data$ill)
  expect_warning(
    attribute_risk(data, "age", "ill", released = recoded), class = "sdcRisk_warning_no_matches"
  )
  expect_warning(attack_release(data, recoded, "age", "ill"), class = "sdcRisk_warning_no_matches")
  blank <- data.frame(age = rep(NA, 3), ill = data$ill)
  none <- quietly(attribute_risk(blank, "age", "ill", missing = "exclude"))
  expect_identical(none$records$posterior, rep(NA_real_, 3))
  expect_identical(measure_of(none, "dorig"), NA_real_)
})

test_that("no sensitive variable is a classed error, and no attack on attributes", {
  d <- data.frame(a = c("x", "x", "y"), s = c("p", "q", "p"))
  expect_error(attribute_risk(d, "a", character()), class = "sdcRisk_error_bad_argument")
  expect_identical(
    attack_release(d, d, "a", character())$estimates, attack_release(d, d, "a")$estimates
  )
})
