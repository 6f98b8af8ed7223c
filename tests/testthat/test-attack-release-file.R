# Attacks on a released file, counted one by one.

skip_on_cran()

original <- data.frame(
  key = c("p", "p", "q", "r", "r", "s"), value = c("a", "b", "a", "b", "b", "a")
)
synthetic <- data.frame(key = c("p", "q", "r", "r", "t"), value = c("a", "a", "b", "a", "a"))

test_that("three attacks are worked by hand", {
  found <- attack_release(original, synthetic, "key", sensitive = "value")
  e <- found$estimates
  expect_identical(e$attack, c("identity", "attribute", "singling_out"))
  expect_identical(e$sensitive, c(NA, "value", NA))
  # q is alone in both; p and r have a as their most frequent or first value, s has no match.
  expect_identical(e$n_targets, c(6L, 6L, 3L))
  expect_identical(e$n_right, c(1L, 3L, 1L))
  expect_equal(e$rate, c(1 / 6, 3 / 6, 1 / 3))
  expect_equal(e$baseline, c(1 / 6, 0.5, NA))
  for (i in 1:3) {
    wilson <- suppressWarnings(
      stats::prop.test(e$n_right[[i]], e$n_targets[[i]], correct = FALSE)$conf.int
    )
    expect_equal(c(e$low[[i]], e$high[[i]]), as.vector(wilson))
  }
  expect_true(all(is.na(e$control_rate)))
  expect_null(found$records)
})

test_that("a control group is attacked in the same way", {
  control <- data.frame(key = c("t", "q", "z"), value = c("a", "b", "a"))
  e <- attack_release(original, synthetic, "key", "value", control)$estimates
  # t is in no original record and in one released one; q is an original's key.
  expect_equal(e$control_rate, c(1 / 3, 2 / 3, 2 / 3))
  alone <- attack_release(original, synthetic, "key", control = control)$estimates
  expect_identical(alone$attack, c("identity", "singling_out"))
  expect_equal(alone$control_rate, c(1 / 3, 2 / 3))
})

test_that("random files equal the counts of pairs, suppressed values included", {
  set.seed(3)
  draw <- function(n) {
    data.frame(a = sample(c(1:4, NA), n, TRUE), b = sample(c("x", "y", NA), n, TRUE),
               s = sample(c("u", "v", "w", NA), n, TRUE))
  }
  keys <- c("a", "b")
  for (i in 1:12) {
    before <- draw(20)
    after <- draw(15)
    for (rule in c("wildcard", "category")) {
      e <- attack_release(before, after, keys, "s", missing = rule)$estimates
      own <- rowSums(slow_agree(before, before, keys, rule))
      across <- slow_agree(before, after, keys, rule)
      inside <- rowSums(slow_agree(after, after, keys, rule))
      first_mode <- function(x) {
        counts <- table(x[!is.na(x)])
        if (length(counts)) names(counts)[[which.max(counts)]] else NA
      }
      guess <- apply(across, 1, function(m) {
        mode <- first_mode(after$s[m])
        if (is.na(mode)) first_mode(after$s) else mode
      })
      expect_identical(e$n_right, c(
        sum(own == 1 & rowSums(across) == 1), sum(guess == before$s, na.rm = TRUE),
        sum(inside == 1 & colSums(across) == 1)
      ), info = paste(i, rule))
      expect_identical(e$n_targets, c(20L, sum(!is.na(before$s)), sum(inside == 1)))
    }
  }
})

test_that("measures, words and pictures name the attacks", {
  found <- attack_release(original, synthetic, "key", sensitive = "value", control = original)
  figures <- measures(found)
  expect_identical(nrow(figures), 3L)
  expect_match(figures$label[[2]], "attribute (value)", fixed = TRUE)
  expect_match(figures$note[[1]], "control group")
  expect_match(interpret(found), "16.7% of 6|17% of 6|17 % of 6|16.7 % of 6")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(found), "ggplot")
})

test_that("what cannot be attacked is refused with its class", {
  bad <- "sdcRisk_error_bad_argument"
  expect_error(attack_release(original), class = bad)
  expect_error(attack_release(original, synthetic["key"], "key", "value"), class = bad)
  expect_error(attack_release(original, synthetic, "key", "key"), class = bad)
  expect_error(attack_release(original, 1:3, "key"), class = "sdcRisk_error_bad_data")
})
