# The intruder who takes the nearest record, against all pairs; files of numbers.

skip_on_cran()

measured <- function(seed, n = 60, d = 3, noise = 0.3, digits = 2) {
  set.seed(seed)
  x <- as.data.frame(round(matrix(stats::rnorm(n * d), n), digits))
  y <- as.data.frame(round(as.matrix(x) + stats::rnorm(n * d, sd = noise), digits))
  list(known = cbind(x, id = seq_len(n)), released = cbind(y, id = seq_len(n))[sample(n), ])
}
distance_of <- function(x, metric) x$distances$expected_correct[x$distances$metric == metric]

test_that("each metric finds what all pairs say, ties included", {
  for (seed in 1:6) {
    digits <- 1 + seed %% 3
    files <- measured(seed, n = 40 + 10 * seed, d = 1 + seed %% 4, digits = digits)
    keys <- setdiff(names(files$known), "id")
    known <- sdc_file(files$known, num_vars = keys)
    found <- link_attack(known, files$released, keys, "id")
    partners <- match(files$released$id, files$known$id)
    square <- rep(list(function(x, y) (x - y)^2), length(keys))
    slow <- function(known, released, metric) {
      one <- slow_nearest(known, released, metric, partners)
      sum(one$true_in_best / one$n_best)
    }
    scale <- lapply(files$known[keys], function(x) c(mean(x), stats::sd(x)))
    to <- function(data) Map(function(x, s) (x - s[[1]]) / s[[2]], data[keys], scale)
    expect_equal(
      distance_of(found, "standardised"), slow(to(files$known), to(files$released), square)
    )
    ranks <- function(data) lapply(data[keys], function(x) rank(x) / length(x))
    expect_equal(
      distance_of(found, "rank"), slow(ranks(files$known), ranks(files$released), square)
    )
    span <- lapply(files$known[keys], function(x) diff(range(x)))
    spans <- function(data) Map(`/`, data[keys], span)
    absolute <- rep(list(function(x, y) abs(x - y)), length(keys))
    expect_equal(
      distance_of(found, "gower"), slow(spans(files$known), spans(files$released), absolute)
    )
    # The row leads with the strongest.
    row <- found$estimates[found$estimates$intruder == "distance", ]
    expect_equal(row$expected_correct, max(found$distances$expected_correct))
    expect_equal(sum(found$records$match_prob), row$expected_correct)
  }
})

test_that("categories and missing values cost what the page says", {
  files <- measured(11, n = 80)
  set.seed(12)
  files$known$sex <- sample(c("f", "m"), 80, TRUE)
  files$released$sex <- files$known$sex[match(files$released$id, files$known$id)]
  files$known$V1[1:6] <- NA
  files$released$V2[3:9] <- NA
  files$released$sex[10] <- NA
  keys <- c("V1", "V2", "V3", "sex")
  found <- link_attack(files$known, files$released, keys, "id")
  expect_setequal(found$estimates$intruder, c("distance", "count", "calibrated"))
  expect_identical(found$diagnostics$continuous, keys[1:3])
  to <- function(data) {
    c(Map(function(x, y) (x - mean(y, na.rm = TRUE)) / stats::sd(y, na.rm = TRUE),
          data[keys[1:3]], files$known[keys[1:3]]), list(data$sex))
  }
  share <- function(x) c(table(factor(x, c("f", "m"))) / sum(!is.na(x)))
  u <- sum(share(files$known$sex) * share(files$released$sex))
  metric <- c(
    rep(list(function(x, y) ifelse(is.na(x - y), 2, (x - y)^2)), 3),
    list(function(x, y) ifelse(is.na(x) | is.na(y), 2, ifelse(x == y, 0, 2 / (1 - u))))
  )
  slow <- slow_nearest(
    to(files$known), to(files$released), metric, match(files$released$id, files$known$id)
  )
  expect_equal(distance_of(found, "standardised"), sum(slow$true_in_best / slow$n_best))
  # Mahalanobis distances are those of complete records.
  expect_false("mahalanobis" %in% found$distances$metric)
})

test_that("evidence of differences is that of pairs, and never falls with nearness", {
  files <- measured(21, n = 300, d = 1)
  x <- files$known$V1
  y <- files$released$V1
  partners <- match(files$released$id, files$known$id)
  cost <- sdcRisk:::level_cost(x, y, partners)
  expect_false(is.unsorted(cost$costs))
  expect_length(cost$costs, length(cost$edges) + 1)
  gap <- abs(x[partners] - y)
  all <- abs(outer(x, y, "-"))
  part <- function(g) {
    tabulate(findInterval(g, cost$edges, left.open = TRUE) + 1, length(cost$costs))
  }
  evidence <- log(part(gap) / length(gap)) - log(part(all) / length(all))
  # The class of equal values has few pairs.
  # The class of equal values has few pairs, that beyond all none.
  middle <- seq(2, length(evidence) - 1)
  expect_equal(
    cost$costs[middle] - cost$costs[[2]], evidence[[2]] - evidence[middle], tolerance = 0.1
  )
  # A class of rank swapping: no difference beyond a window.
  swapped <- sdcRisk:::level_cost(1:200 / 10, 1:200 / 10 + rep(c(-1, 1), 100), 1:200)
  expect_gt(diff(utils::tail(swapped$costs, 2)), 3)
})

test_that("the intruder with a calculator finds no more than link_attack()", {
  skip_if_not_installed("sdcMicro")
  place <- new.env()
  utils::data(list = "CASCrefmicrodata", package = "sdcMicro", envir = place)
  # What the best tolerance finds over all other intruders; rankSwap() has no seed.
  by_tolerance <- list("3" = c(228, 180, 8.5, 0), "6" = c(263, 456, 21, 0))
  for (d in c(3, 6)) {
    original <- place$CASCrefmicrodata[seq_len(d)]
    set.seed(1)
    files <- suppressWarnings(list(
      grouped = sdcMicro::microaggregation(original, method = "mdav", aggr = 3)$mx,
      noise_20 = sdcMicro::addNoise(original, noise = 20, method = "additive")$xm,
      noise_100 = sdcMicro::addNoise(original, noise = 100, method = "additive")$xm,
      swapped = sdcMicro::rankSwap(original, P = 10)
    ))
    by_calculator <- by_distance <- numeric()
    for (name in names(files)) {
      released <- stats::setNames(as.data.frame(files[[name]]), names(original))
      scale <- function(x) Map(function(x, y) (x - mean(y)) / stats::sd(y), x, original)
      square <- rep(list(function(x, y) (x - y)^2), d)
      slow <- slow_nearest(scale(original), scale(released), square, seq_len(1080))
      # Integers became numbers.
      found <- suppressWarnings(link_attack(
        cbind(original, id = 1:1080), cbind(released, id = 1:1080), names(original), "id"
      ))
      by_calculator[[name]] <- sum(slow$true_in_best / slow$n_best)
      by_distance[[name]] <- max(found$estimates$expected_correct)
      expect_identical(found$settings$weights[[1]], "distance")
    }
    expect_equal(by_calculator[["grouped"]], c("3" = 339, "6" = 341)[[as.character(d)]])
    expect_true(all(by_distance + 1e-9 >= by_calculator), info = d)
    expect_true(all(by_distance > by_tolerance[[as.character(d)]]), info = d)
  }
})

test_that("intervals are those of Clopper and Pearson, margins count claims", {
  files <- measured(31, n = 200)
  found <- link_attack(files$known, files$released, V1:V3, "id")
  best <- found$distances[which.max(found$distances$expected_correct), ]
  x <- best$expected_correct
  if (x == round(x)) {
    exact <- stats::binom.test(x, 200)$conf.int
    expect_equal(c(best$low, best$high), 200 * as.vector(exact))
  }
  expect_true(best$low < x && x < best$high)
  margins <- found$margins
  expect_equal(margins$n_claimed[[1]], 200)
  expect_equal(margins$n_right[[1]], x)
  expect_false(is.unsorted(rev(margins$n_claimed)))
  expect_true(all(margins$n_right <= margins$n_claimed))
})

test_that("without ids nothing is called safe", {
  files <- measured(41, n = 100)
  found <- link_attack(files$known[1:3], files$released[1:3], V1:V3)
  row <- found$estimates[found$estimates$intruder == "distance", ]
  expect_true(is.na(row$expected_correct))
  expect_equal(row$n_single_best, 100)
  text <- text_of(found)
  expect_match(text, "100 records have one nearest record by standardised values", fixed = TRUE)
  expect_match(text, "not known which matches are right", fixed = TRUE)
})

test_that("means of large groups are few values, and are compared by distance all the same", {
  files <- measured(45, n = 300)
  grouped <- quietly(microaggregate(files$known, V1:V3, k = 15))
  released <- cbind(as.data.frame(grouped)[1:3], id = files$known$id)
  found <- link_attack(files$known, released, V1:V3, "id")
  # One of each group of 15 is nearest to its mean.
  row <- found$estimates[found$estimates$intruder == "distance", ]
  expect_gt(row$expected_correct, 12)
  expect_lte(row$expected_correct, 21)
})

test_that("roles make whole numbers continuous, and few values leave them as they are", {
  set.seed(51)
  known <- data.frame(age = sample(20:80, 300, TRUE), id = 1:300)
  released <- transform(known, age = age + sample(-1:1, 300, TRUE))
  plain <- link_attack(known, released, "age", "id")
  expect_false("distance" %in% plain$estimates$intruder)
  expect_null(plain$distances)
  by_role <- link_attack(sdc_file(known, num_vars = age), released, "age", "id")
  expect_true("distance" %in% by_role$estimates$intruder)
})

test_that("hard columns: constant, huge, one record, all equal, decimal commas, threads", {
  n <- 30
  known <- data.frame(a = 1, b = seq_len(n) * 1e300, c = stats::rnorm(n), id = seq_len(n))
  file <- sdc_file(known, num_vars = a:c)
  found <- link_attack(file, known, a:c, "id")
  expect_equal(max(found$estimates$expected_correct), n)
  one <- link_attack(sdc_file(known[1, ], num_vars = a:c), known[1, ], a:c, "id")
  expect_equal(max(one$estimates$expected_correct), 1)
  equal <- transform(known, b = 1, c = 1)
  same <- link_attack(sdc_file(equal, num_vars = a:c), equal, a:c, "id")
  expect_equal(max(same$estimates$expected_correct), 1)
  files <- measured(61, n = 500)
  first <- link_attack(files$known, files$released, V1:V3, "id")
  old <- options(sdcRisk.threads = 1, OutDec = ",")
  on.exit(options(old))
  again <- link_attack(files$known, files$released, V1:V3, "id")
  expect_identical(again$distances, first$distances)
  expect_identical(again$records, first$records)
  expect_match(text_of(again), "[0-9],[0-9] right")
})

test_that("tables of patterns say that they have no distances", {
  files <- measured(51, n = 60)
  expect_warning(
    found <- link_attack(
      pattern_table(files$known[1:3]), pattern_table(files$released[1:3]), V1:V3,
      weights = "count"
    ),
    class = "sdcRisk_warning_no_distances"
  )
  expect_false("distance" %in% found$estimates$intruder)
  codes <- data.frame(a = rep(1:3, 20), b = rep(1:4, 15))
  expect_no_warning(
    link_attack(pattern_table(codes), pattern_table(codes), c("a", "b"), weights = "count")
  )
})
