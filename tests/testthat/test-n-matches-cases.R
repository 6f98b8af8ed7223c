# Cases beside the plain ones: what is left when listwise deletion leaves
# nothing, households whose ids are of unusual types, names and words.

skip_on_cran()

tiny <- 4.940656458412465e-324
# What bit64 would make, without it: whole numbers as the bits of doubles.
wide <- function(k) structure(ifelse(is.na(k), -0, k * tiny), class = "integer64")

test_that("columns asked for are there when no record is complete", {
  data <- data.frame(
    a = c(NA, 1), b = c(1, NA), w = c(1, 2), s = c("x", "y"), h = c(1, 1)
  )
  keys <- c("a", "b")
  own <- n_matches(data, keys, missing = "exclude", weight_var = "w", sensitive = "s")
  told <- c("n_sensitive", "l_entropy", "t_closeness")
  expect_identical(names(own$records), c("n_matches", "n_matches_weighted", told))
  expect_true(all(is.na(own$records)))
  sets <- n_matches(
    data, list(p = "a", q = keys),
    missing = "exclude", weight_var = "w", sensitive = "s"
  )$records
  expect_identical(names(sets), c(
    "p", "p_n_matches_weighted", paste0("p_", told), "q", "q_n_matches_weighted",
    paste0("q_", told)
  ))
  expect_equal(sets$p, c(NA, 1))
  expect_equal(sets$p_n_matches_weighted, c(NA, 2))
  home <- n_matches(transform(data, w = 2), keys,
    missing = "exclude", weight_var = "w", hh_id = "h"
  )$records
  expect_identical(names(home), c(
    "n_matches", "n_matches_weighted", "n_matched_records", "n_matches_household"
  ))
})

test_that("a complete pattern has no match among no complete records", {
  data <- data.frame(a = c(NA, 1), b = c(1, NA), w = 1:2)
  asked <- data.frame(a = c(1, NA, 2), b = c(1, 1, 9))
  x <- n_matches(data, c("a", "b"), patterns = asked, missing = "exclude", weight_var = "w")
  expect_equal(x$records$n_matches, c(0, NA, 0))
  expect_equal(x$records$n_matches_weighted, c(0, NA, 0))
  counts <- unlist(x$estimates[c("n", "n_deleted", "n_below_5")])
  expect_equal(unname(counts), c(2, 1, 2))
  # No pattern is complete, but records are: they are counted still.
  full <- data.frame(a = c(1, 1, 2, NA), b = c(1, 1, 2, 3))
  y <- n_matches(full, patterns = data.frame(a = NA, b = 1), missing = "exclude")
  expect_equal(y$records$n_matches, NA_integer_)
  expect_equal(y$estimates$n_complete, 3)
  expect_equal(y$estimates$n_unique_complete, 1)
  expect_match(lines_of(y), "No pattern is complete", all = FALSE)
  expect_no_match(interpret(y), "NA|0 of 0")
  expect_no_match(interpret(n_matches(data, 1:2, missing = "exclude")), "NA|0 of 0")
})

test_that("households without id are told as the core tells them", {
  # 0, missing, 5: the missing integer64 has the bits of -0.
  plain <- c(0, 0, NA, NA, 5, 5)
  data <- data.frame(a = c(1, 1, 1, 2, 2, NA), w = c(1, 1, 2, 3, 4, 4))
  expected <- data.frame(
    n_matches = c(3, 3, 3, 2, 2, 4), n_matches_weighted = c(7, 7, 7, 7, 7, 10),
    n_matched_records = c(4, 4, 4, 3, 3, 6), n_matches_household = c(3, 3, 3, 2, 2, 2)
  )
  labelled <- structure(
    ifelse(is.na(plain), 9, plain),
    class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"), na_values = 9
  )
  for (id in list(
    plain, as.integer(plain), as.character(plain), wide(plain), labelled,
    factor(plain, exclude = NULL), replace(plain, 3, NaN)
  )) {
    data$h <- id
    found <- n_matches(data, "a", hh_id = "h", weight_var = "w")$records
    expect_equal(found, expected, info = class(id)[[1]], ignore_attr = TRUE)
  }
  data$h <- candidates(list(1, 1, 2, 2, 3, 3))
  expect_error(
    n_matches(data, "a", hh_id = "h", weight_var = "w"), class = "sdcRisk_error_bad_column"
  )
  expect_match(interpret(n_matches(data, "a", hh_id = "w")), "picks the right\\s+household")
})

test_that("patterns of another type are compared as text, without a warning", {
  data <- data.frame(a = c(1, 2, NA, 2))
  expect_no_warning(x <- n_matches(data, patterns = data.frame(a = c("2", "x", NA))))
  expect_equal(x$records$n_matches, c(3, 1, 4))
  data$k <- wide(c(3, NA, 4, 3))
  skip_if_not_installed("bit64")
  expect_no_warning(y <- n_matches(data, "k", patterns = data.frame(k = c(3, NA, 7))))
  expect_equal(y$records$n_matches, c(3, 4, 1))
})

test_that("candidates of another type are refused by the name of their column", {
  data <- data.frame(a = c(1, 2), b = c("x", "y"))
  for (patterns in list(
    data.frame(a = candidates(list("u")), b = "x"),
    data.frame(a = 1, b = candidate_interval(1, 2))
  )) {
    error <- expect_error(
      n_matches(data, c("a", "b"), patterns = patterns), class = "sdcRisk_error_bad_column"
    )
    expect_true(error$columns %in% c("a", "b"))
  }
})

test_that("a weighted theta stays a number where partners count in part", {
  set.seed(1)
  for (k in 1:300) {
    n <- sample(5:40, 1)
    data <- data.frame(
      a = sample(c(1:6, NA), n, TRUE), b = sample(c(1:3, NA), n, TRUE), w = 1 + stats::rexp(n)^3
    )
    part <- sample(c(0, 0.25, 0.5, 1 / 3), 1)
    expect_no_warning(
      theta <- n_matches(data, c("a", "b"), weight_var = "w", partial_weight = part)$estimates
    )
    if (!is.na(theta$theta)) {
      expect_true(is.finite(theta$theta_se))
      expect_lte(theta$theta_low, theta$theta)
      expect_gte(theta$theta_high, theta$theta)
    }
  }
})

test_that("weighted theta is that of its definition on a complete file", {
  set.seed(5)
  data <- data.frame(a = sample(60, 90, TRUE), w = stats::runif(90, 1, 20))
  m <- as.vector(table(data$a)[as.character(data$a)])
  pairs <- split(data$w[m == 2], data$a[m == 2])
  triples <- split(data$w[m == 3], data$a[m == 3])
  u <- sum(m == 1)
  theta <- u / (u + sum(data$w[m == 2] - 1))
  variance <- sum(data$w[m == 2] - 1) + sum(vapply(pairs, function(w) (sum(w) - 2)^2, 0)) +
    2 * sum(vapply(triples, function(w) {
      (w[1] - 1) * (w[2] - 1) + (w[1] - 1) * (w[3] - 1) + (w[2] - 1) * (w[3] - 1)
    }, 0))
  found <- n_matches(data, "a", weight_var = "w")$estimates
  expect_equal(found$theta, theta)
  expect_equal(found$theta_se, theta^2 * sqrt(variance) / u)
})

test_that("names of key sets cannot make columns of one name", {
  data <- data.frame(a = 1:2, b = 1:2, w = 1:2)
  expect_error(
    n_matches(data, list(a = "a", a_n_matches_weighted = "b"), weight_var = "w"),
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("tolerance goes with every rule for missing values", {
  data <- data.frame(a = c(0.1, NA, 1, 0.3))
  tolerance <- list(a = 0.7)
  count <- function(missing) n_matches(data, tolerance = tolerance, missing = missing)$records[[1]]
  expect_equal(count("wildcard"), c(3, 4, 3, 4))
  expect_equal(count("category"), c(2, 1, 2, 3))
  expect_equal(count("exclude"), c(2, NA, 2, 3))
  # 0.3 - 0.2 is more than 0.1 in binary, and no more for people.
  tenths <- data.frame(a = (1:4) / 10)
  expect_equal(n_matches(tenths, tolerance = list(a = 0.1))$records[[1]], c(2, 3, 3, 2))
})

test_that("the bounds of open intervals print without blanks", {
  expect_identical(
    format(candidate_interval(c(-Inf, 0.1), c(Inf, 1e5))), c("[-Inf,Inf]", "[0.1,100000]")
  )
})

test_that("sets in patterns match intervals of the file, and the reverse", {
  file <- data.frame(id = 1:5)
  file$age <- candidate_interval(c(30, 31, 20, 35, NA), c(34, 31, 29, 40, NA))
  who <- data.frame(row.names = 1:3)
  who$age <- candidates(list(c(30, 32), c(41, 34.5, 31), NA))
  count <- function(rule) n_matches(file, "age", patterns = who, rule = rule)$records$n_matches
  expect_identical(count("overlap"), c(2L, 3L, 5L))
  expect_identical(count("first"), c(2L, 1L, 5L))
  # The first in both values, the second in 31 of three (twice), the missing cell in all.
  expect_equal(count("mean"), c(2, 1 + 2 / 3, 5))
  turned <- data.frame(row.names = 1:5)
  turned$age <- file$age
  reverse <- function(rule) n_matches(who, patterns = turned, rule = rule)$records$n_matches
  expect_identical(reverse("overlap"), c(3L, 2L, 1L, 1L, 3L))
  expect_identical(reverse("first"), c(2L, 2L, 1L, 1L, 3L))
  # Of 30 to 34 the first set has two, the second one, and the missing cell five.
  expect_equal(reverse("mean"), c(1 + 3 / 5, 2, 1, 1, 3))
  # An equal cell is the same pattern, an interval of one value or a set of it.
  one <- data.frame(row.names = 1:2)
  one$age <- candidates(list(31, c(30, 34)))
  expect_identical(
    n_matches(file, "age", patterns = one, partial_weight = 0.5)$records$n_matches, c(2.5, 1.5)
  )
  days <- as.Date("2020-01-01") + 0:4
  file$day <- candidate_interval(days, days + 1)
  who$day <- candidates(list(days[c(1, 5)], days[2], days[3]))
  expect_identical(
    n_matches(file, "day", patterns = who["day"], rule = "overlap")$records$n_matches,
    c(3L, 2L, 2L)
  )
  # Nothing known on one side, or on both.
  who$age <- candidates(c(NA, NA, NA))
  for (rule in c("first", "overlap", "mean")) {
    expect_equal(count(rule), rep(5, 3))
    file$age <- candidate_interval(rep(NA_real_, 5), rep(1, 5))
    expect_equal(count(rule), rep(5, 3))
  }
  who$day <- candidates(list("a", "b", "c"))
  expect_error(
    n_matches(file, "day", patterns = who["day"]), class = "sdcRisk_error_bad_column"
  )
})

test_that("missing values are treated variable by variable", {
  rules <- c("wildcard", "category", "exclude")
  for (seed in seeds(25)) {
    data <- match_file(30, seed, candidates = seed %% 2 == 0)
    set.seed(seed)
    by <- rlang::set_names(as.list(sample(rules, length(data), TRUE)), names(data))
    left <- rowSums(is.na(data[unlist(by) == "exclude"])) == 0
    given <- by[sample(length(by))]
    given <- given[unlist(given) != "wildcard" | seq_along(given) == 1]
    if (!any(left)) next
    used <- data[left, , drop = FALSE]
    agree <- Reduce(`*`, lapply(names(data), function(v) {
      oracle_match_matrix(
        used[v], missing = if (by[[v]] == "category") "category" else "wildcard"
      )
    }))
    found <- suppressMessages(n_matches(data, missing = given))
    expected <- rep(NA_integer_, nrow(data))
    expected[left] <- as.integer(rowSums(agree))
    expect_identical(found$records$n_matches, expected)
    expect_identical(found$estimates$n_deleted, as.double(sum(!left)))
  }
  data <- data.frame(a = c(1, NA, 1, 2), b = c("x", "x", NA, "y"))
  expect_identical(
    n_matches(data, missing = list(a = "category", b = "category"))$records,
    n_matches(data, missing = "category")$records
  )
  grouped <- n_matches(
    data, key_groups = list(g = c("a", "b")), missing = list(g = "category", b = "wildcard")
  )
  expect_identical(grouped$settings$missing, c(a = "category", b = "wildcard"))
  expect_match(
    lines_of(grouped), "missing matches everything (\"b\"), missing is a value of its own (\"a\").",
    fixed = TRUE, all = FALSE
  )
  expect_match(interpret(grouped), "missing matches everything (\"b\")", fixed = TRUE)
  expect_identical(generics::glance(grouped)$missing, "category: a; wildcard: b")
  for (bad in list(list(), list("category"), list(z = "category"), list(a = "drop"), NA)) {
    expect_error(n_matches(data, missing = bad), class = "sdcRisk_error_bad_argument")
  }
})

test_that("declared codes are counted apart and named", {
  labelled <- function(x, ...) {
    structure(x, class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"), ...)
  }
  tagged <- function(letter) {
    bytes <- as.raw(c(0xa2, 0x07, 0, 0, utf8ToInt(letter), 0, 0xf0, 0x7f))
    readBin(bytes, "double", endian = "little")
  }
  data <- data.frame(row.names = 1:10)
  data$age <- c(NA, NA, 3:10)
  data$stat <- labelled(
    c(-9, 99, 98, NA, 5, 97, 1, 1, 2, 2), na_values = c(-9, -8), na_range = c(97, 99)
  )
  data$tag <- c(tagged("a"), tagged("z"), NaN, NA, 1, 1, 1, 2, 2, 2)
  found <- n_matches(data)
  expect_identical(found$diagnostics$missing$n_missing, c(2L, 5L, 4L))
  expect_identical(found$diagnostics$missing$n_declared, c(0L, 4L, 2L))
  expect_identical(found$diagnostics$missing$codes, c("", "-9, 97 to 99", "NA(a), NA(z)"))
  expect_match(
    lines_of(found), paste(
      "Missing: stat 50% (declared codes -9, 97 to 99: 40%),",
      "tag 40% (declared codes NA(a), NA(z): 20%), age 20%."
    ), fixed = TRUE, all = FALSE
  )
  expect_match(
    lines_of(key_overview(data)), "Missing: stat 50% (declared codes -9, 97 to 99: 40%)",
    fixed = TRUE, all = FALSE
  )
  # As a value of its own a code matches the other ones only.
  one <- n_matches(data, "stat", missing = list(stat = "category"))$records$n_matches
  expect_identical(one, c(5L, 5L, 5L, 5L, 1L, 5L, 2L, 2L, 2L, 2L))
  plain <- data.frame(a = 1:3)
  expect_false(any(grepl("^Missing:", lines_of(n_matches(plain)))))
})

test_that("records that tell a sensitive value by their key are counted", {
  data <- data.frame(
    key = c("a", "a", "b", "b", "b", "c", "d", "d"),
    ill = c(1, 1, 1, 2, NA, 1, NA, NA)
  )
  found <- n_matches(data, "key", sensitive = "ill")
  expect_identical(found$records$n_sensitive, c(1L, 1L, 2L, 2L, 2L, 1L, 0L, 0L))
  expect_identical(found$estimates$n_homogeneous, 3L)
  expect_identical(found$estimates$l_distinct, 1L)
  expect_match(lines_of(found), "One shared sensitive value +3 \\(37.5%\\)", all = FALSE)
  expect_match(
    interpret(found), "for 3 (37.5%) of the records all matches share one value of \"ill\"",
    fixed = TRUE
  )
  expect_true(all(c("n_homogeneous", "l_distinct") %in% generics::tidy(found)$term))
  expect_identical(n_matches(data[3:5, ], "key", sensitive = "ill")$estimates$l_distinct, 2L)
  data$ill <- NA
  nothing <- n_matches(data, "key", sensitive = "ill")$estimates
  expect_identical(nothing$n_homogeneous, 0L)
  expect_identical(nothing$l_distinct, NA_integer_)
  expect_null(n_matches(data, "key")$estimates$n_homogeneous)
  several <- n_matches(data, list(one = "key", two = "key"), sensitive = "ill")
  expect_match(lines_of(several), "one value", all = FALSE)
})

test_that("weights far from one are summed to the last digits", {
  data <- data.frame(a = c(1, 1, 2, NA))
  for (unit in c(1e-300, 1e-290, 1e-200, 1e200, 1e300)) {
    data$w <- c(1, 3, 7, 5) * unit
    weighted <- n_matches(data, "a", weight_var = "w")$records$n_matches_weighted
    expect_equal(weighted / unit, c(9, 9, 12, 16), tolerance = 1e-14)
  }
  data$w <- c(1e-300, 1e-308, 1e-300, 1e-308)
  weighted <- n_matches(data, "a", weight_var = "w")$records$n_matches_weighted
  expect_equal(weighted[c(1, 3)] / 1e-300, c(1 + 2e-8, 1 + 1e-8), tolerance = 1e-14)
})

test_that("patterns without a match are nobody in the file", {
  data <- data.frame(a = c(1, 2, 2))
  sentence <- interpret(n_matches(data, patterns = data.frame(a = c(8, 9))))
  expect_match(sentence, "No pattern has a match, so that nobody behind them can be in the file")
  expect_false(grepl("who knows that the target is in the file", sentence))
  some <- n_matches(data, patterns = data.frame(a = c(1, 2, 9, 9)))
  expect_match(interpret(some), "looks up each pattern .* mean probability of 0.375[.]")
  expect_match(lines_of(some), "Mean record risk +0.375", all = FALSE)
  expect_match(lines_of(some), "2 patterns without a match: the risk is 0.", all = FALSE)
})

test_that("a tolerance on one key is no work for every pair", {
  set.seed(1)
  x <- replace(stats::runif(2e5), 7, NA)
  took <- system.time(found <- n_matches(data.frame(a = x), tolerance = list(a = 0.5)))
  known <- sort(x)
  within <- findInterval(x + 0.5, known) - findInterval(x - 0.5, known, left.open = TRUE) + 1L
  within[7] <- length(x)
  expect_identical(found$records$n_matches, within)
  # Seconds where pairs would take minutes.
  expect_lt(took[["elapsed"]], 20)
  weighted <- n_matches(
    data.frame(a = c(1, 2, 4, NA), w = 1:4), "a", tolerance = list(a = 1), weight_var = "w"
  )
  expect_identical(weighted$records$n_matches_weighted, c(7, 7, 7, 10))
})

test_that("arguments of other classes are refused in our own words", {
  data <- data.frame(a = 1:3)
  expect_error(
    n_matches(data, key_vars = as.POSIXlt(Sys.time())), class = "sdcRisk_error_bad_argument"
  )
  ragged <- structure(
    list(id = 1:3, a = 1:2), class = "data.frame", row.names = 1:3
  )
  for (call in list(
    quote(n_matches(ragged, "a")), quote(n_matches(ragged, "a", hh_id = "id")),
    quote(latest_values(list(ragged), "id")), quote(panel_members(ragged, list(data), "id")),
    quote(key_overview(ragged))
  )) {
    error <- expect_error(eval(call), class = "sdcRisk_error_bad_data")
    expect_match(conditionMessage(error), "Other lengths: \"a\"", fixed = TRUE)
  }
})

test_that("a factor with codes without a level is refused on every path", {
  for (code in c(9L, 0L, -3L)) {
    bad <- data.frame(id = 1:2)
    bad$f <- structure(c(code, 1L), levels = c("a", "b"), class = "factor")
    good <- data.frame(id = 1:2, f = factor(c("a", "b")))
    for (call in list(
      quote(n_matches(bad, "f")), quote(n_matches(good, "f", patterns = bad)),
      quote(n_matches(bad, "f", patterns = good)), quote(longitudinal_link(bad, good, "f", "id")),
      quote(key_stability(bad, good, "f", "id")),
      quote(panel_members(rlang::set_names(bad["f"], "id"), list(good), "id"))
    )) {
      error <- expect_error(eval(call), class = "sdcRisk_error_bad_column")
      expect_match(conditionMessage(error), "codes without a level")
    }
  }
})

test_that("records can be drawn by strata", {
  skip_if_not_installed("ggplot2")
  data <- data.frame(a = rep(1:5, 1:5), b = rep(c("x", "y", NA), 5))
  found <- n_matches(data, "a")
  drawn <- ggplot2::autoplot(found, "strata", by = "b", data = data)$data
  expect_equal(drawn$value, 1 / rep(1:5, 1:5))
  expect_identical(levels(drawn$stratum), c("x", "y", "(missing)"))
  expect_error(ggplot2::autoplot(found, "strata"), class = "sdcRisk_error_bad_argument")
  # One key set is drawn as bars, not as dots.
  layers <- function(x) setdiff(vapply(x$layers, function(l) class(l$geom)[[1]], ""), "GeomBlank")
  one <- ggplot2::autoplot(found, "unique")
  expect_identical(layers(one), "GeomCol")
  two <- ggplot2::autoplot(n_matches(data, list(a = "a", b = "b")), "unique")
  expect_identical(layers(two), c("GeomLine", "GeomPoint"))
})

test_that("no key variables named are not all key variables", {
  data <- data.frame(a = c(1, 1, 2), b = 1:3)
  expect_error(n_matches(data, character()), class = "sdcRisk_error_bad_argument")
  expect_error(n_matches(data, integer()), class = "sdcRisk_error_bad_argument")
  expect_identical(n_matches(data, NULL)$records$n_matches, c(1L, 1L, 1L))
})

test_that("weights and households are no key variables", {
  data <- data.frame(a = c(1, 1, 2, 2), w = c(2, 3, 4, 5), h = c(1, 1, 2, 3))
  expect_error(
    n_matches(data, c("a", "w"), weight_var = "w"), "In both: \"w\"",
    class = "sdcRisk_error_bad_argument"
  )
  expect_error(
    n_matches(data, list(one = "a", two = c("a", "h")), hh_id = "h"), "In both: \"h\"",
    class = "sdcRisk_error_bad_argument"
  )
  found <- n_matches(data, "a", weight_var = "w")
  expect_equal(found$records$n_matches_weighted, c(5, 5, 9, 9))
})

test_that("patterns without rows are named as what is empty", {
  data <- data.frame(a = c(1, 1, 2))
  expect_error(
    n_matches(data, "a", patterns = data[0, , drop = FALSE]), "`patterns` must have at least",
    class = "sdcRisk_error_bad_data"
  )
})

# Li, Li and Venkatasubramanian (2007), t-closeness, Table 3 and section 5: nine
# salaries in three cells, whose first two have distances 0.375 and 0.167.
test_that("the published distances of salaries are found", {
  data <- data.frame(
    cell = rep(1:3, each = 3), salary = 1000 * c(3, 4, 5, 6, 11, 8, 7, 9, 10)
  )
  found <- n_matches(data, "cell", sensitive = "salary")
  expect_equal(found$records$t_closeness[[1]], 0.375)
  expect_equal(round(found$records$t_closeness[[4]], 3), 0.167)
  expect_equal(unique(found$records$l_entropy), 3)
  expect_equal(found$estimates$t_closeness, 0.375)
  # Without an order all values are equally far apart.
  data$salary <- factor(data$salary)
  expect_equal(unique(n_matches(data, "cell", sensitive = "salary")$records$t_closeness), 2 / 3)
})

# The same numbers of distinct values as sdcMicro's, and its entropy l.
test_that("sdcMicro's ldiversity() counts the same", {
  skip_if_not_installed("sdcMicro")
  keys <- c("urbrur", "roof", "walls", "water", "sex")
  data <- get(utils::data("testdata", package = "sdcMicro", envir = environment()))[1:1500, ]
  data$relat <- as.integer(data$relat)
  theirs <- sdcMicro::ldiversity(
    data[c(keys, "relat")], keyVars = keys, ldiv_index = "relat"
  )
  ours <- n_matches(data, keys, sensitive = "relat")$records
  expect_equal(ours$n_sensitive, as.integer(theirs[, "relat_Distinct_Ldiversity"]))
  expect_equal(ours$l_entropy, as.numeric(theirs[, "relat_Entropy_Ldiversity"]))
})

test_that("several sensitive columns are each told of, and the worst of them in words", {
  data <- data.frame(
    key = c("a", "a", "b", "b"), ill = c("x", "x", "x", "y"), income = c(1, 2, 3, 3)
  )
  found <- n_matches(data, "key", sensitive = c("ill", "income"))
  expect_identical(names(found$records), c(
    "n_matches", "n_sensitive_ill", "l_entropy_ill", "t_closeness_ill",
    "n_sensitive_income", "l_entropy_income", "t_closeness_income"
  ))
  expect_identical(found$estimates$n_homogeneous, 4L)
  expect_identical(found$sensitive$n_homogeneous, c(2L, 2L))
  expect_match(text_of(found), "One shared sensitive value +4 \\(100%\\)")
  expect_match(interpret(found), "one value of at least one of \"ill\", \"income\"")
  sets <- n_matches(data, list(p = "key", q = "key"), sensitive = c("ill", "income"))
  expect_true("q_t_closeness_income" %in% names(sets$records))
  expect_identical(nrow(sets$sensitive), 4L)
  # The key variables are the columns without another role.
  expect_identical(n_matches(data, sensitive = c("ill", "income"))$settings$key_vars, "key")
  file <- sdc_file(data, "key", sensitive = c("ill", "income"))
  expect_identical(n_matches(file)$records, found$records)
  expect_error(
    n_matches(data, "key", sensitive = c("ill", "wage")), class = "sdcRisk_error_unknown_key_var"
  )
})

test_that("a record that shares too little to match has its own value", {
  data <- data.frame(a = c(1, 1, NA), b = c(1, 1, NA), s = c("x", "y", "x"))
  found <- n_matches(data, min_overlap = 1, sensitive = "s")$records
  expect_identical(found$n_sensitive, c(2L, 2L, 1L))
  expect_equal(found$l_entropy, c(2, 2, 1))
  expect_equal(found$t_closeness, c(1 / 6, 1 / 6, 1 / 3))
})

# tests/test_anonymity.py of pyCANON 1.3 (Sainz-Pardo Diaz and Lopez Garcia 2022,
# doi 10.1038/s41597-022-01894-2): k = 1, l = 1, entropy l = 1 and t = 0.4165919952210274
# for the scores of 216 students by teacher, gender, ethnic group, kind of lunch and
# school. The fixture has the number of the cell and the score.
test_that("pyCANON's published k, l and t of mathematics scores are found", {
  path <- test_path("fixtures", "sainzpardo-2022-math-scores.csv")
  data <- utils::read.csv(path, comment.char = "#")
  found <- n_matches(data, "cell", sensitive = "score")
  expect_identical(min(found$records$n_matches), 1L)
  expect_identical(found$estimates$l_distinct, 1L)
  expect_identical(floor(found$estimates$l_entropy), 1)
  expect_equal(found$estimates$t_closeness, 0.4165919952210274, tolerance = 1e-12)
})
