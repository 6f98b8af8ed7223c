# What the promise of invariant_pram() covers, and what is said where it ends.

test_that("levels of a variable that is no key are not merged", {
  data <- data.frame(a = c("x", "x", "y", "y", "z", "w"), g = c("u", "v", "v", "v", "v", "v"))
  error <- expect_error(
    invariant_pram(data, "a", within = "g", unprotected = "merge"),
    class = "sdcRisk_error_unprotectable"
  )
  expect_identical(error$lowest, 1)
  expect_match(conditionMessage(error), "never merged", fixed = TRUE)
  # As a key it may be: the level u is perturbed with the others then.
  expect_message(
    x <- invariant_pram(data, c("a", "g"), within = "g", unprotected = "merge"),
    class = "sdcRisk_message_merged_levels"
  )
  all <- all_releases(x, data, 1:6, data[0])
  expect_lte(intruder_worst(all, c("a", "g"), NULL), 0.8 + 1e-9)
  # With another level of a key beside it, merged inside u only.
  wide <- data.frame(
    a = c("x", "y", "z", "x", "y"), b = c(1, 1, 2, 1, 1), g = c("u", "u", "u", "v", "v")
  )
  expect_message(
    y <- invariant_pram(wide, c("a", "b"), within = c("b", "g"), unprotected = "merge"),
    class = "sdcRisk_message_merged_levels"
  )
  level <- wide$g[match(seq_len(nrow(y$cells)), y$records$cell)]
  expect_true(all(tapply(level, y$cells$block, function(g) length(unique(g))) == 1))
  all <- all_releases(y, wide, 1:5, wide["g"])
  expect_lte(intruder_worst(all, c("a", "b"), "g"), 0.8 + 1e-9)
})

test_that("the size of a household is part of its cell", {
  data <- data.frame(reg = c("a", "b", "b"), hh = c(1, 2, 2))
  ask <- function(data, ...) {
    quietly(invariant_pram(data, "reg", hh_id = "hh", hh_vars = "reg", ...))
  }
  error <- expect_error(ask(data), class = "sdcRisk_error_unprotectable")
  expect_match(conditionMessage(error), "shows in the release", fixed = TRUE)
  expect_error(ask(data, unprotected = "merge"), class = "sdcRisk_error_unprotectable")
  kept <- suppressWarnings(ask(data, unprotected = "keep"))
  expect_identical(kept$estimates$worst_match_prob, 1)
  expect_identical(kept$data, data)
  data <- data.frame(reg = c("a", "b", "b", "b", "c", "c"), hh = c(1, 2, 2, 3, 4, 4))
  x <- ask(data)
  expect_equal(x$cells$household_size, c(1, 2, 1, 2))
  expect_equal(x$cells$persons_before, x$cells$count * x$cells$household_size)
  expect_equal(x$cells$persons_expected, x$cells$persons_before)
  all <- all_releases(x, data, data$hh, data.frame(size = c(1, 2, 2, 1, 2, 2)))
  for (own in list(NULL, "size")) {
    expect_lte(intruder_worst(all, "reg", own), 0.8 + 1e-9)
    expect_lte(intruder_worst(all, "reg", own, right = "household"), 0.8 + 1e-9)
  }
  expect_match(paste(lines_of(x), collapse = " "), "household size", fixed = TRUE)
  expect_match(interpret(x), "household size", fixed = TRUE)
})

test_that("members of larger households keep to households of their size", {
  data <- data.frame(
    area = "n", age = c(20, 30, 40, 50, 60), hh = c(1, 1, 2, 2, 2)
  )
  for (scope in c("all", "risky")) {
    x <- quietly(invariant_pram(
      data, c("area", "age"), scope = scope, hh_id = "hh", hh_vars = "area"
    ))
    size <- x$cells$household_size
    expect_true(all(tapply(size, x$cells$block, function(s) length(unique(s))) == 1))
  }
})

test_that("who weighs all counts is told for, and small blocks are the default", {
  file <- adult[1:3000, c("age", "sex", "education_num")]
  x <- quietly(invariant_pram(file))
  expect_identical(x$settings$scope, "risky")
  whole <- quietly(invariant_pram(file, scope = "all"))
  expect_gt(whole$estimates$all_counts_prob, 0.99)
  expect_lte(x$estimates$all_counts_prob, 0.84)
  expect_lt(x$estimates$expected_changed, whole$estimates$expected_changed)
  expect_lte(max(x$variables$se_inflation), max(whole$variables$se_inflation))
  pairs <- x$blocks$n_cells == 2
  expect_true(all(x$blocks$all_counts_prob[pairs] <= 0.8 + 1e-9))
  expect_match(paste(lines_of(whole), collapse = " "), "all frequencies +0.99")
  # Four uniques: two pairs, or one block.
  four <- data.frame(k = 1:4)
  expect_equal(quietly(invariant_pram(four))$estimates$all_counts_prob, 0.8)
  expect_match(
    paste(lines_of(invariant_pram(four)), collapse = " "), "all frequencies +0.800"
  )
  one <- invariant_pram(four, scope = "all")
  expect_equal(one$estimates$all_counts_prob, 0.8658, tolerance = 1e-4)
  all <- all_releases(one, four, 1:4, four[0])
  expect_equal(one$estimates$all_counts_prob, all_counts_worst(all, 4), tolerance = 1e-7)
  # Below 1/2 the number is a lower one, and is said to be.
  low <- invariant_pram(data.frame(k = 1:8), max_match_prob = 0.3)
  expect_match(
    paste(lines_of(low), collapse = " "), "At least, for an intruder who uses", fixed = TRUE
  )
})

test_that("the lowest bound that is named works, and the next below it does not", {
  data <- data.frame(a = c(4, 4, 1, 4, 1, 3, 1, 1, 3, 1, 4, 2))
  error <- expect_error(
    invariant_pram(data, "a", 0.28, scope = "risky"), class = "sdcRisk_error_unprotectable"
  )
  expect_identical(error$lowest, 0.3)
  expect_match(conditionMessage(error), "0.3.", fixed = TRUE)
  n_below <- n_files <- 0
  for (seed in seeds(40)) {
    set.seed(seed)
    data <- data.frame(a = sample(5, 12, TRUE), b = sample(2, 12, TRUE))
    scope <- sample(c("all", "risky"), 1)
    try_bound <- function(bound) {
      tryCatch(
        quietly(invariant_pram(data, max_match_prob = bound, scope = scope)),
        sdcRisk_error_unprotectable = function(e) e
      )
    }
    error <- try_bound(stats::runif(1, 0.05, 0.3))
    if (!inherits(error, "error") || error$lowest == 1) next
    n_files <- n_files + 1
    expect_lte(try_bound(error$lowest)$estimates$worst_match_prob, error$lowest + 1e-9)
    n_below <- n_below + !inherits(try_bound(error$lowest - 1e-4), "error")
  }
  expect_gte(n_files, length(seeds(40)) / 2)
  expect_identical(n_below, 0)
})

test_that("columns that tell a key are named", {
  set.seed(4)
  home <- rep(1:60, each = 2)
  data <- data.frame(
    id = home, area = sample(letters[1:5], 60, TRUE)[home], age = sample(20:60, 120, TRUE),
    other = sample(letters, 120, TRUE)
  )
  message <- expect_message(
    invariant_pram(data, c("area", "age")), class = "sdcRisk_message_determined_keys"
  )
  expect_identical(message$columns, list(id = "area"))
  quiet <- function(...) {
    expect_no_message(invariant_pram(data, c("area", "age"), ...),
                      class = "sdcRisk_message_determined_keys")
  }
  quiet(within = "id", unprotected = "merge", scope = "all", max_match_prob = 0.99)
  quiet(hh_id = "id", hh_vars = "area", unprotected = "keep")
  # Fewer than some dozen repeats tell nothing.
  expect_no_message(
    invariant_pram(data[1:12, ], c("area", "age")), class = "sdcRisk_message_determined_keys"
  )
})
