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
  expect_match(of_k(twice)$reason, "^$")
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

test_that("what a remedy cured is unclear only if few suppressed values carry it", {
  verdict <- function(data, keys, k, rule) {
    cured <- quietly(suppress_cells(data[keys], keys, k = k, rule = rule))
    after <- quietly(file_check(quietly(release_data(cured)), k = k))$estimates
    after[after$measure == "k", c("verdict", "reason")]
  }
  adult_keys <- c("age", "workclass", "education_num", "occupation", "sex")
  for (rule in c("own", "shared", "strict")) {
    expect_identical(verdict(nals_prison, keys, 5, rule)$verdict, "ok")
  }
  expect_identical(verdict(adult, adult_keys, 3, "own")$verdict, "ok")
  shared <- verdict(adult, adult_keys, 3, "shared")
  expect_identical(shared$verdict, "unclear")
  expect_match(shared$reason, "^4,609 records .* without 60 incomplete records$")
})

# The rule in base R, each pair of records compared.
verdict_in_base_r <- function(data, k) {
  matches <- function(x) {
    x <- as.matrix(x)
    vapply(seq_len(nrow(x)), function(i) {
      equal <- t(is.na(x) | x == rep(x[i, ], each = nrow(x))) | is.na(x[i, ])
      sum(colSums(equal) == ncol(x))
    }, 0)
  }
  if (min(matches(data)) < k) {
    return("above")
  }
  n_missing <- rowSums(is.na(data))
  p <- ncol(data)
  without <- function(gone) sum(matches(data[!gone, , drop = FALSE]) < k)
  if (any(n_missing == p) && without(n_missing == p) > 0) {
    return("unclear")
  }
  for (least in seq_len(p - 1)) {
    gone <- n_missing >= least
    each <- if (least > p / 2) 10 else 100
    if (any(gone) && without(gone) > max(0.03 * nrow(data), each * sum(gone))) {
      return("unclear")
    }
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
