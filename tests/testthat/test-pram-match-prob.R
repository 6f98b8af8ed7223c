# Published and worked values: Nayak, sections 3 and 5; the table of worked
# values was made by enumeration, to five digits.

skip_on_cran()

test_that("the published theta solves its equation", {
  bounds <- c(3 / 7, 0.5, 0.75, 0.8, 0.9, 0.95)
  theta <- c(2 / 3, 0.6180339887, 0.4342585459, 0.3903882032, 0.2823756961, 0.2046043260)
  expect_equal(pram_theta(bounds), theta, tolerance = 1e-9)
  g <- function(theta) (1 - theta) / (1 - theta + theta^2)
  expect_equal(g(pram_theta(bounds)), bounds, tolerance = 1e-12)
  # Section 3 of the paper: g(0.40) = 0.789, g(0.25) = 0.923.
  expect_lt(abs(pram_theta(0.789) - 0.40), 1e-3)
  expect_lt(abs(pram_theta(0.923) - 0.25), 1e-3)
})

worked <- data.frame(
  counts = I(list(
    c(1, 1, 2, 3, 5), c(1, 1, 2, 3, 5), c(1, 2), rep(1, 10), c(1, 1), rep(2, 4), c(1, 100)
  )),
  bound = c(0.8, 0.5, 0.8, 0.8, 0.8, 0.8, 0.8),
  worst = c(0.79157, 0.47889, 0.76299, 0.79281, 0.70917, 0.47590, 0.79937),
  smallest = c(0.38292, 0.60393, 0.36159, 0.38397, 0.33333, 0, 0.38981)
)

test_that("worked values of the worst case and of the smallest theta are met", {
  for (i in seq_len(nrow(worked))) {
    counts <- worked$counts[[i]]
    bound <- worked$bound[[i]]
    most <- min(sum(counts), 12)
    worst <- max(pram_match_prob(counts, pram_theta(bound), seq_len(most)), na.rm = TRUE)
    expect_lt(abs(worst - worked$worst[[i]]), 1e-5)
    theta <- pram_theta(bound, counts, "exact")
    expect_lt(abs(theta - worked$smallest[[i]]), 1e-5)
    if (theta > 0) {
      expect_equal(max(pram_match_prob(counts, theta)), bound, tolerance = 1e-10)
    }
  }
})

test_that("match probabilities equal enumeration of all releases", {
  # The core's own tests enumerate every file of up to 8 records.
  files <- unlist(lapply(2:6, count_partitions), recursive = FALSE)
  files <- files[lengths(files) > 1]
  expect_length(files, 23)
  for (counts in files) {
    for (theta in c(0.2, 0.39, 0.7)) {
      found <- pram_match_prob(counts, theta, seq_len(sum(counts)))
      expect_equal(found, enumerated_match_prob(counts, theta), tolerance = 1e-10)
    }
  }
})

test_that("match probabilities equal the corrected equation 8 of the paper", {
  # Sums of products of binomial coefficients, over all ways to reach a total.
  sigma <- function(m, left, beta) {
    ways <- as.matrix(expand.grid(lapply(left, function(t) 0:t)))
    ways <- ways[rowSums(ways) == m, , drop = FALSE]
    sum(apply(ways, 1, function(a) prod(choose(left, a) * beta^a)))
  }
  counts <- c(2, 1, 3)
  theta <- 0.45
  for (j in 1:3) {
    alpha <- theta / (2 * counts)
    alpha[[j]] <- 1 - theta / counts[[j]]
    beta <- alpha / (1 - alpha)
    left <- counts - (seq_along(counts) == j)
    expected <- vapply(1:6, function(a) {
      1 / a / (1 + sigma(a, left, beta) / sigma(a - 1, left, beta) / beta[[j]])
    }, 0)
    expect_equal(pram_match_prob(counts, theta, 1:6)[j, ], expected, tolerance = 1e-12)
  }
})

test_that("a unique match is the worst case, and Results 1 and 2 hold", {
  set.seed(5)
  for (i in 1:150) {
    counts <- sample(c(1, 1, 2, 3, 7, 40), sample(2:8, 1), TRUE)
    bound <- stats::runif(1, 3 / 7, 0.99)
    if (length(counts) == 2 && bound < 0.5) next
    found <- pram_match_prob(counts, pram_theta(bound), seq_len(min(sum(counts), 15)))
    expect_lte(max(found, na.rm = TRUE), bound + 1e-12)
    exact <- pram_theta(max(bound, 0.5), counts, "exact")
    expect_lte(exact, pram_theta(max(bound, 0.5)) + 1e-9)
    falling <- pram_match_prob(counts, exact, seq_len(min(sum(counts), 15)))
    expect_true(all(apply(falling, 1, diff) <= 1e-9))
  }
})

test_that("bounds outside the theorem and bounds out of reach are named", {
  error <- expect_error(pram_theta(0.42), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(error), "theorem", fixed = TRUE)
  error <- expect_error(pram_theta(0.45, c(1, 3), "paper"), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(error), "three or more keys", fixed = TRUE)
  expect_equal(pram_theta(0.45, c(1, 3, 3), "paper"), pram_theta(0.45))
  expect_equal(pram_theta(0.5, c(1, 3), "paper"), pram_theta(0.5))
  error <- expect_error(
    pram_theta(0.09, rep(1, 10), "exact"), class = "sdcRisk_error_unprotectable"
  )
  expect_equal(error$lowest, 0.1)
  expect_equal(pram_theta(0.1, rep(1, 10), "exact"), 0.9, tolerance = 1e-6)
  error <- expect_error(
    pram_theta(0.1, c(5, 5, 5), "exact"), class = "sdcRisk_error_unprotectable"
  )
  expect_equal(error$lowest, 0.19, tolerance = 0.01)
  expect_gt(pram_theta(error$lowest, c(5, 5, 5), "exact"), 0)
  expect_error(pram_theta(0.5, 1, "exact"), class = "sdcRisk_error_unprotectable")
  expect_error(pram_theta(0.5, 1, "paper"), class = "sdcRisk_error_unprotectable")
  expect_identical(pram_theta(0.5, 2, "exact"), 0)
})

test_that("bad arguments of both formulas are refused", {
  for (bound in list(0, 1, -1, NA_real_, "0.8", NULL, Inf)) {
    expect_error(pram_theta(bound), class = "sdcRisk_error_bad_argument")
  }
  expect_error(pram_theta(0.8, calibration = "exact"), class = "sdcRisk_error_bad_argument")
  expect_error(pram_theta(0.8, 1:2, "closed"), class = "sdcRisk_error_bad_argument")
  expect_error(pram_theta(c(0.8, 0.9), 1:2, "exact"), class = "sdcRisk_error_bad_argument")
  for (counts in list(0, 1.5, -1, NA, "1", numeric(), Inf, NULL, factor(1))) {
    expect_error(pram_match_prob(counts, 0.3), class = "sdcRisk_error_bad_argument")
  }
  for (theta in list(-0.1, 1.1, NA_real_, c(0.1, 0.2), "0.3", NULL)) {
    expect_error(pram_match_prob(1:3, theta), class = "sdcRisk_error_bad_argument")
  }
  for (a in list(0, 1.5, NA, "1", NULL)) {
    expect_error(pram_match_prob(1:3, 0.3, a), class = "sdcRisk_error_bad_argument")
  }
})

test_that("impossible numbers of records and degenerate blocks have documented answers", {
  expect_identical(pram_match_prob(c(1, 2), 0.3, 4), c(NA_real_, NA_real_))
  expect_identical(pram_match_prob(5, 0.3, 5), 0.2)
  expect_identical(pram_match_prob(5, 0.3), NA_real_)
  expect_equal(pram_match_prob(c(1, 2, 4), 0), 1 / c(1, 2, 4))
  expect_equal(pram_match_prob(c(1, 2, 4), 0, 3), 1 / c(3, 3, 4))
  # Two uniques that always swap: the target is never found, S is always 1.
  expect_identical(pram_match_prob(c(1, 1), 1), c(0, 0))
  expect_identical(pram_match_prob(c(1, 1), 1, 2), c(NA_real_, NA_real_))
  expect_identical(dim(pram_match_prob(1:3, 0.2, 1:2)), c(3L, 2L))
  # Large counts neither underflow nor exceed one over the count.
  large <- pram_match_prob(c(1, 5000, 1e6), 0.39, c(1, 5000))
  expect_true(all(large > 0 & large <= 1 / c(1, 5000, 1e6) * (1 + 1e-9)))
})

test_that("many numbers of records found are answered as one by one", {
  for (case in list(
    list(1:20, 0.4, c(1:40, 150, 211, 7)), list(c(1, 1, 2, 3, 5), 0.6, 12:1),
    list(rep(1, 400), 0.4, c(1, 200, 400, 401)), list(c(2, 700, 5000), 0.39, c(1, 3000, 5702))
  )) {
    many <- pram_match_prob(case[[1]], case[[2]], case[[3]])
    one <- vapply(case[[3]], function(a) {
      pram_match_prob(case[[1]], case[[2]], a)
    }, numeric(length(case[[1]])))
    expect_equal(many, one, tolerance = 1e-11)
  }
  # 50 distinct counts, 1,000 numbers: the work of one number, not of a thousand.
  alone <- system.time(pram_match_prob(1:50, 0.4, 1000))[["user.self"]]
  all <- system.time(pram_match_prob(1:50, 0.4, 1:1000))[["user.self"]]
  expect_lt(all, 20 * alone + 1)
  # The matrix itself is bounded.
  expect_error(
    pram_match_prob(rep(1, 2e4), 0.4, rep(1, 1e4)), class = "sdcRisk_error_too_large"
  )
})
