# Individual likelihoods of uniqueness against the truth, over random sets of key
# variables: figure 2 of Rocher et al. (2019), who report for samples of 1% a mean
# AUC of 0.93, a false discovery rate at xi > 0.95 of 6.67% and a Brier score 39%
# below the best constant over their five corpora. The sets are ours: theirs are not
# published.

# Distinct sets of 2 to 11 columns, the set of all first.
column_sets <- function(data, n) {
  sets <- list(seq_along(data))
  while (length(sets) < n) {
    set <- sort(sample(ncol(data), sample(2:min(ncol(data), 11), 1)))
    if (!list(set) %in% sets) sets <- c(sets, list(set))
  }
  lapply(sets, function(set) names(data)[set])
}

# AUC (mean over sets), false discovery rate (pooled) and Brier scores (sums over
# sets) of 1,000 people outside samples of the given fraction.
score_accuracy <- function(data, fraction, n_sets, n_samples, seed, score = "tree") {
  set.seed(seed)
  sets <- column_sets(data, n_sets)
  n <- nrow(data)
  results <- list()
  for (s in seq_len(n_samples)) {
    sampled <- sample(n, round(fraction * n))
    outside <- setdiff(seq_len(n), sampled)
    judged <- outside[sample.int(length(outside), min(1000, length(outside)))]
    results <- c(results, lapply(sets, function(keys) {
      suppressMessages(suppressWarnings({
        fit <- copula_fit(data[sampled, keys])
        validate_uniqueness(fit, data, rows = judged, score = score)$estimates
      }))
    }))
  }
  results <- do.call(rbind, results)
  above <- results$n_95 > 0
  c(
    auc = mean(results$auc, na.rm = TRUE),
    fdr_95 = sum((results$fdr_95 * results$n_95)[above]) / sum(results$n_95),
    brier = mean(results$brier), constant = mean(results$brier_constant),
    skill = 1 - mean(results$brier) / mean(results$brier_constant)
  )
}

test_that("scores from a sample of 10% tell who is unique", {
  found <- score_accuracy(adult, 0.1, n_sets = 12, n_samples = 1, seed = 4401)
  expect_gte(found[["auc"]], 0.93)
  expect_lte(found[["fdr_95"]], 0.08)
  expect_gte(found[["skill"]], 0.44)
})

test_that("scores from a sample of 1% tell who is unique", {
  found <- score_accuracy(adult, 0.01, n_sets = 12, n_samples = 1, seed = 4402)
  expect_gte(found[["auc"]], 0.90)
  expect_lte(found[["fdr_95"]], 0.12)
  expect_gte(found[["skill"]], 0.32)
})

skip_unless_extended <- function() {
  testthat::skip_if_not(
    identical(tolower(Sys.getenv("SDCRISK_EXTENDED")), "true"), "SDCRISK_EXTENDED is not true"
  )
}

test_that("50 sets of columns meet the targets at 10% and 1%", {
  skip_unless_extended()
  ten <- score_accuracy(adult, 0.1, n_sets = 50, n_samples = 5, seed = 5501)
  one <- score_accuracy(adult, 0.01, n_sets = 50, n_samples = 5, seed = 5502)
  expect_gte(ten[["auc"]], 0.94)
  expect_lte(ten[["fdr_95"]], 0.065)
  expect_gte(ten[["skill"]], 0.48)
  expect_gte(one[["auc"]], 0.92)
  expect_lte(one[["fdr_95"]], 0.09)
  expect_gte(one[["skill"]], 0.38)
})

test_that("on other surveys the tree is better than the best constant", {
  skip_unless_extended()
  hdv <- trial_file("hdv2003.csv")
  hdv <- hdv[setdiff(names(hdv), c("id", "poids"))]
  esl <- trial_file("income_esl14.csv")
  for (data in list(hdv, esl)) {
    tree <- score_accuracy(data, 0.1, n_sets = 50, n_samples = 2, seed = 5503)
    expect_gte(tree[["skill"]], 0.15)
  }
})
