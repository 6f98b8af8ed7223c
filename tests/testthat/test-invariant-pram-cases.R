skip_on_cran()

released <- function(...) quietly(invariant_pram(...))

lone <- data.frame(area = c("n", "s", "s", "s", "s"), job = c(1, 2, 3, 4, 4))

test_that("a cell alone in its level is refused, merged or kept", {
  for (scope in c("all", "risky")) {
    error <- expect_error(
      invariant_pram(lone, within = "area", scope = scope, key_vars = 1:2),
      class = "sdcRisk_error_unprotectable"
    )
    expect_identical(error$lowest, 1)
    expect_match(conditionMessage(error), "merge", fixed = TRUE)
    expect_message(
      x <- invariant_pram(lone, 1:2, within = "area", scope = scope, unprotected = "merge"),
      class = "sdcRisk_message_merged_levels"
    )
    expect_lte(x$estimates$worst_match_prob, 0.8 + 1e-9)
    expect_warning(
      y <- invariant_pram(lone, 1:2, within = "area", scope = scope, unprotected = "keep"),
      class = "sdcRisk_warning_unprotected_cells"
    )
    expect_identical(y$estimates$n_unprotected, 1L)
    expect_identical(y$estimates$worst_match_prob, 1)
    expect_identical(y$cells$match_prob[[1]], 1)
    expect_match(paste(lines_of(y), collapse = " "), "above the bound still +1")
  }
})

test_that("a bound out of reach names the lowest one, which then works", {
  data <- data.frame(k = 1:10)
  error <- expect_error(
    invariant_pram(data, max_match_prob = 0.05), class = "sdcRisk_error_unprotectable"
  )
  expect_identical(error$lowest, 0.1)
  expect_match(conditionMessage(error), "0.1", fixed = TRUE)
  x <- released(data, max_match_prob = 0.1)
  expect_equal(x$estimates$worst_match_prob, 0.1, tolerance = 1e-9)
  for (scope in c("all", "risky")) {
    files <- data.frame(k = rep(1:3, each = 5))
    error <- expect_error(
      invariant_pram(files, max_match_prob = 0.15, scope = scope),
      class = "sdcRisk_error_unprotectable"
    )
    expect_equal(error$lowest, 0.19, tolerance = 0.01)
    x <- released(files, max_match_prob = error$lowest, scope = scope)
    expect_lte(x$estimates$worst_match_prob, error$lowest + 1e-9)
    expect_warning(
      y <- invariant_pram(files, max_match_prob = 0.15, scope = scope, unprotected = "keep"),
      class = "sdcRisk_warning_unprotected_cells"
    )
    expect_lte(y$estimates$worst_match_prob, error$lowest)
  }
})

test_that("the published scheme asks for a bound its theorem covers", {
  error <- expect_error(
    invariant_pram(lone, max_match_prob = 0.42, calibration = "paper"),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(error), "The theorem", fixed = TRUE)
  two <- data.frame(k = c(1, 2, 2))
  error <- expect_error(
    invariant_pram(two, max_match_prob = 0.45, calibration = "paper"),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(error), "three keys", fixed = TRUE)
  expect_s3_class(error, "sdcRisk_error_unprotectable")
  x <- released(two, max_match_prob = 0.5, calibration = "paper")
  expect_equal(x$estimates$theta_max, pram_theta(0.5))
  expect_lte(x$estimates$worst_match_prob, 0.5 + 1e-12)
  y <- released(data.frame(k = 1:3), max_match_prob = 0.45, calibration = "paper")
  expect_lte(y$estimates$worst_match_prob, 0.45)
  # Small blocks of three, where two are not covered.
  z <- released(data.frame(k = 1:30), max_match_prob = 0.45, calibration = "paper",
                scope = "risky")
  expect_gte(min(z$blocks$n_cells), 3)
  expect_lte(z$estimates$worst_match_prob, 0.45)
  # 1,1,2,3,5 at 0.8: one theta, the worked worst case.
  w <- released(
    data.frame(k = rep(1:5, c(1, 1, 2, 3, 5))), calibration = "paper", scope = "all"
  )
  expect_lt(abs(w$estimates$theta_max - 0.3903882), 1e-7)
  expect_lt(abs(w$estimates$worst_match_prob - 0.79157), 1e-5)
  expect_equal(w$estimates$expected_changed, 5 * 0.3903882, tolerance = 1e-6)
})

test_that("where no cell is risky the data come back as they are, and it is said", {
  data <- data.frame(a = rep(1:4, each = 2), b = letters[rep(1:4, each = 2)])
  for (scope in c("all", "risky")) {
    expect_message(
      x <- invariant_pram(data, scope = scope), class = "sdcRisk_message_nothing_to_do"
    )
    expect_identical(x$data, data)
    expect_identical(x$estimates$n_changed, 0L)
    expect_identical(x$estimates$theta_max, 0)
    expect_identical(x$estimates$worst_match_prob, 0.5)
    expect_lte(length(format(x)), 16)
    expect_silent(a <- pram_audit(x, data, 5))
    expect_identical(a$estimates$worst_match_prob, 0.5)
    expect_identical(nrow(a$simulation), 0L)
  }
  # One cell: nothing to exchange, nothing to do.
  expect_message(y <- invariant_pram(data[1:2, ]), class = "sdcRisk_message_nothing_to_do")
  expect_identical(y$data, data[1:2, ])
  expect_error(
    invariant_pram(data[1, ]), class = "sdcRisk_error_unprotectable"
  )
  # The published scheme is applied all the same.
  expect_message(
    z <- invariant_pram(data, calibration = "paper", scope = "all"), "published",
    class = "sdcRisk_message_nothing_to_do"
  )
  expect_gt(z$estimates$theta_max, 0)
})

test_that("missing values are a value of their own and stay missing values", {
  data <- data.frame(a = c(NA, 1, 2, NA), b = c("x", "x", NA, "y"))
  x <- released(data)
  expect_identical(nrow(x$cells), 4L)
  expect_true(all(names(cell_counts(x$data)) %in% names(cell_counts(data))))
})

households <- function(n, seed) {
  set.seed(seed)
  size <- sample(1:4, n, TRUE, c(0.4, 0.3, 0.2, 0.1))
  id <- rep(seq_len(n), size)
  data.frame(
    hh = id, area = sample(letters[1:8], n, TRUE)[id], rent = sample(1:6, n, TRUE)[id],
    age = sample(20:60, length(id), TRUE), sex = sample(c("m", "f"), length(id), TRUE)
  )
}

one_per_household <- function(x, id) {
  all(tapply(x, id, function(v) length(unique(v))) == 1)
}

test_that("households are drawn as a whole where all keys are theirs", {
  data <- households(120, 1)
  x <- suppressWarnings(released(
    data, c("area", "rent"), hh_id = "hh", hh_vars = c("area", "rent"), unprotected = "keep"
  ))
  expect_gt(x$estimates$n_changed, 0)
  expect_true(one_per_household(paste(x$data$area, x$data$rent), data$hh))
  expect_identical(x$data[c("hh", "age", "sex")], data[c("hh", "age", "sex")])
  # Counts are of households, and so are the probabilities.
  once <- !duplicated(data$hh)
  sized <- data
  sized$size <- as.vector(table(data$hh))[data$hh]
  y <- suppressWarnings(released(
    sized[once, ], c("area", "rent"), within = "size", unprotected = "keep"
  ))
  expect_equal(x$cells[1:5], y$cells[1:5])
  expect_equal(x$cells$household_size, sized$size[match(seq_len(nrow(x$cells)), x$records$cell)])
  expect_equal(
    x$cells$persons_before, as.vector(table(x$records$cell))
  )
  moves <- pram_transitions(x, seq_len(nrow(x$cells)))
  expect_equal(
    x$cells$persons_expected,
    as.vector(rowsum(x$cells$persons_before[moves$from] * moves$prob, moves$to))
  )
  expected <- sum((1 - x$cells$stay_prob) * x$cells$persons_before)
  expect_equal(x$estimates$expected_changed, expected)
  # Variances of counts of persons, household by household.
  size <- as.vector(table(data$hh))
  margin <- pram_variance(x, data, "area")
  of_cell <- data$area[match(seq_len(nrow(x$cells)), x$records$cell)]
  variance <- vapply(margin$area, function(area) {
    p <- vapply(seq_along(of_cell), function(i) {
      sum(moves$prob[moves$from == i & of_cell[moves$to] == area])
    }, 0)[x$records$cell[once]]
    sum(size^2 * p * (1 - p))
  }, 0)
  expect_equal(margin$std_error, sqrt(unname(variance)))
  expect_equal(margin$count, as.vector(table(data$area)))
  expect_lte(length(format(x)), 16)
})

test_that("with keys of persons besides, those of a household never differ inside it", {
  data <- households(300, 2)
  keys <- c("area", "rent", "age", "sex")
  for (scope in c("all", "risky")) {
    x <- released(
      data, keys, scope = scope, hh_id = "hh", hh_vars = c("area", "rent"),
      unprotected = "keep"
    )
    expect_gt(x$estimates$n_changed, 0)
    expect_true(one_per_household(paste(x$data$area, x$data$rent), data$hh))
    size <- as.vector(table(data$hh))[data$hh]
    moved <- x$data$area != data$area
    expect_true(all(size[moved] == 1))
    expect_true(any(moved))
    expect_lte(pram_audit(x, data, 0, keys)$estimates$worst_match_prob, 0.8 + 1e-9)
  }
})

test_that("households that do not fit are refused", {
  data <- households(30, 3)
  bad <- data
  bad$area[bad$hh == bad$hh[duplicated(bad$hh)][[1]]][1] <- "other"
  error <- expect_error(
    invariant_pram(bad, c("area", "age"), hh_id = "hh", hh_vars = "area"),
    class = "sdcRisk_error_bad_data"
  )
  expect_identical(error$names, "area")
  ask <- function(...) invariant_pram(data, c("area", "age"), ...)
  expect_error(ask(hh_id = "hh"), class = "sdcRisk_error_bad_argument")
  expect_error(ask(hh_vars = "area"), class = "sdcRisk_error_bad_argument")
  expect_error(ask(hh_id = "hh", hh_vars = "rent"), class = "sdcRisk_error_bad_argument")
  expect_error(ask(hh_id = "home", hh_vars = "area"), class = "sdcRisk_error_unknown_key_var")
  data$hh[[1]] <- NA
  expect_error(ask(hh_id = "hh", hh_vars = "area"), class = "sdcRisk_error_bad_data")
  data <- households(30, 3)
  expect_error(
    invariant_pram(data, "area", hh_id = "hh", hh_vars = "area", within = "age"),
    class = "sdcRisk_error_bad_data"
  )
})

test_that("new pairs of values are counted as in base R", {
  data <- adult[1:1500, c("age", "sex", "occupation", "education_num", "marital_status")]
  x <- released(data, c("age", "sex", "occupation"), scope = "risky")
  for (i in seq_len(nrow(x$plausibility))) {
    row <- x$plausibility[i, ]
    before <- paste(data[[row$variable]], data[[row$other]])
    after <- paste(x$data[[row$variable]], data[[row$other]])
    changed <- paste(data[[row$variable]]) != paste(x$data[[row$variable]])
    expect_equal(row$n_changed, sum(changed))
    expect_equal(row$n_new, sum(!after[changed] %in% before))
  }
  expect_identical(nrow(x$plausibility), 6L)
  expect_identical(x$variables$n_changed, vapply(x$variables$variable, function(v) {
    sum(paste(data[[v]]) != paste(x$data[[v]]))
  }, 1L, USE.NAMES = FALSE))
})

test_that("bad arguments are refused before any work", {
  data <- adult[1:50, c("age", "sex", "race")]
  bad <- function(..., class = "bad_argument") {
    expect_error(invariant_pram(data, ...), class = paste0("sdcRisk_error_", class))
  }
  for (bound in list(0, 1, -1, NA, "0.8", NULL, c(0.7, 0.8))) bad(max_match_prob = bound)
  bad(scope = "some")
  bad(calibration = 1)
  bad(prefer = "farthest")
  bad(unprotected = NA)
  bad(bound = 0.8)
  bad(c("age", "age"))
  bad("height", class = "unknown_key_var")
  bad(within = "height", class = "unknown_key_var")
  bad(weight_var = "race", class = "bad_weights")
  bad(c("age", "sex"), weight_var = "age", key = 1)
  bad("age", weight_var = "age")
  bad("age", hh_id = "age", hh_vars = "age")
  bad(forbid = matrix(1:2, ncol = 2))
  bad(forbid = list(matrix(1:2, ncol = 2)))
  bad(forbid = list(height = matrix(1:2, ncol = 2)))
  bad(forbid = list(sex = 1:2))
  bad(forbid = list(sex = matrix(c("Male", "other"), ncol = 2)))
  bad(forbid = list(sex = matrix(c("Male", "Male"), ncol = 2)))
  data$list <- I(as.list(1:50))
  bad("list", class = "bad_column")
  for (other in list(1:3, as.matrix(data[1:2]), NULL, "file.csv")) {
    expect_error(invariant_pram(other), class = "sdcRisk_error_bad_data")
  }
  expect_error(invariant_pram(data[0, ]), class = "sdcRisk_error_bad_data")
})

test_that("a result has the verbs of all results and prints no record's values", {
  data <- adult[1:500, c("age", "education_num", "sex", "race", "occupation")]
  data$age <- data$age + 1000L
  x <- released(data, c("age", "education_num", "sex"), scope = "risky", within = "race",
                unprotected = "merge")
  lines <- lines_of(x)
  expect_lte(length(lines), 16)
  expect_match(
    paste(trimws(lines), collapse = " "), "Bound asked for +0.800"
  )
  expect_false(any(grepl("10[0-9]{2}", lines)))
  expect_identical(as.data.frame(x), x$cells)
  expect_identical(nrow(x$records), 500L)
  expect_identical(generics::glance(x)$n_changed, x$estimates$n_changed)
  long <- generics::tidy(x)
  expect_identical(long$estimate[long$term == "n_changed"], as.double(x$estimates$n_changed))
  augmented <- generics::augment(x, data)
  expect_identical(augmented$.match_prob, x$records$match_prob)
  strata <- summary(x, by = "sex", data = data)$match_prob_by_strata
  expect_identical(sum(strata$n), 500L)
  expect_true(all(strata$max <= 0.8 + 1e-9))
  expect_match(interpret(x), "at most 0.8 ", fixed = TRUE)
  comparison <- compare_risk(x, released(data, c("age", "education_num", "sex")))
  expect_s3_class(comparison, "sdc_comparison")
  expect_error(generics::augment(x, x$data), class = "sdcRisk_error_mismatched_data")
})

test_that("pictures show the cells", {
  skip_if_not_installed("ggplot2")
  data <- adult[1:400, c("age", "education_num", "sex")]
  x <- released(data)
  points <- ggplot2::layer_data(ggplot2::autoplot(x), 3)
  counts <- ggplot2::autoplot(x, "counts")
  expect_identical(sum(ggplot2::autoplot(x)$data$n), nrow(x$cells))
  expect_identical(sum(counts$data$n), nrow(x$cells))
  expect_equal(sum(counts$data$y * counts$data$n), 400)
  # Released counts are those of the released data.
  after <- x$diagnostics$new_counts
  first <- match(seq_along(after), x$records$cell)
  named <- cell_counts(x$data)
  found <- named[do.call(paste, c(lapply(data[first, ], as.character), sep = "\r"))]
  expect_equal(after, ifelse(is.na(found), 0, as.vector(found)), ignore_attr = TRUE)
  expect_lte(max(points$y), 1)
  for (type in c("match_prob", "counts")) {
    expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(x, type)))
  }
})

test_that("two runs in a row keep the bound for the whole", {
  # Households first, then persons: enumeration is out of reach, simulation not.
  hits <- 0
  found <- 0
  for (seed in seeds(300)) {
    set.seed(seed)
    data <- data.frame(hh = c(1, 1, 2, 2, 3, 3), area = rep(c("a", "b", "c"), each = 2),
                       sex = rep(c("m", "f"), 3))
    first <- released(data, "area", hh_id = "hh", hh_vars = "area")$data
    second <- released(first, c("area", "sex"), hh_id = "hh", hh_vars = "area")$data
    at <- which(second$area == "a" & second$sex == "m")
    if (length(at) == 1) {
      found <- found + 1
      hits <- hits + (at == 1)
    }
  }
  expect_lte(hits / found, 0.8 + 3 * sqrt(0.16 / found))
})

test_that("households that the file names and the call ignores are said to be torn apart", {
  data <- data.frame(
    home = rep(1:60, each = 2), area = rep(sample(6, 60, TRUE), each = 2),
    age = sample(20:40, 120, TRUE)
  )
  file <- sdc_file(data, c("area", "age"), hh_id = "home")
  said <- expect_message(
    x <- invariant_pram(file, max_match_prob = 0.8), class = "sdcRisk_message_torn_households"
  )
  expect_identical(said$hh_vars, "area")
  expect_match(conditionMessage(said), "hh_vars = \"area\"", fixed = TRUE)
  # In the first lines of the print, with the bound.
  lead <- text_of(x)
  expect_match(lead, "2.4 times the risk of k = 3", fixed = TRUE)
  expect_match(lead, "perturbed one by one", fixed = TRUE)
  expect_no_message(
    invariant_pram(file, hh_id = NULL), class = "sdcRisk_message_torn_households"
  )
  expect_no_message(
    y <- suppressWarnings(invariant_pram(file, hh_vars = "area", unprotected = "keep")),
    class = "sdcRisk_message_torn_households"
  )
  homes <- tapply(y$data$area, y$data$home, function(a) length(unique(a)))
  expect_identical(max(homes), 1L)
  expect_gt(max(tapply(x$data$area, x$data$home, function(a) length(unique(a)))), 1)
})
