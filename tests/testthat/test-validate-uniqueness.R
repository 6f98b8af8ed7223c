sampled <- tenth_of_adult()
keys <- five_keys
fit <- copula_fit(adult[sampled, keys])

test_that("validation measures are those of their definitions", {
  set.seed(8)
  xi <- round(runif(300), 2)
  unique <- runif(300) < xi
  found <- sdcRisk:::judge_scores(xi, unique)
  pairs <- expand.grid(yes = xi[unique], no = xi[!unique])
  expect_equal(found$auc, mean((pairs$yes > pairs$no) + 0.5 * (pairs$yes == pairs$no)))
  expect_equal(found$brier, mean((xi - unique)^2))
  expect_equal(found$fdr$fdr_90, mean(!unique[xi > 0.9]))
  expect_identical(sum(found$calibration$n), 300L)
  # The area under the curve drawn.
  roc <- sdcRisk:::roc_curve(unique, xi)
  area <- sum(diff(roc$false_positive) * (head(roc$true_positive, -1) + roc$true_positive[-1]) / 2)
  expect_equal(area, found$auc, tolerance = 1e-12)
  expect_identical(sdcRisk:::area_under_curve(c(TRUE, TRUE), c(0.1, 0.2)), NA_real_)
})

test_that("validate_uniqueness() finds the truth in the population", {
  set.seed(9)
  outside <- setdiff(seq_len(nrow(adult)), sampled)
  found <- suppressMessages(validate_uniqueness(fit, adult, rows = outside))
  cells <- do.call(paste, adult[keys])
  unique <- !cells %in% cells[duplicated(cells)]
  expect_equal(found$estimates$population_uniqueness, mean(unique))
  expect_identical(found$records$unique[outside], unique[outside])
  expect_true(all(is.na(found$records$xi[sampled])))
  expect_gt(found$estimates$auc, 0.9)
  expect_gt(found$estimates$skill, 0.45)
  expect_lt(found$estimates$fdr_95, 0.08)
  expect_lte(length(format(found)), 16)
  expect_match(interpret(found), "AUC")
  expect_identical(nrow(generics::tidy(found)), 6L)
  expect_identical(nrow(summary(found, by = adult$sex)$strata), 2L)
  expect_identical(names(generics::augment(found, adult))[12:13], c(".xi", ".unique"))
})

test_that("bad input of validate_uniqueness() is refused", {
  bad <- function(..., class = "bad_argument") {
    expect_error(validate_uniqueness(...), class = paste0("sdcRisk_error_", class))
  }
  bad(adult, adult)
  bad(fit, adult[1:100, ])
  bad(fit, adult, rows = 1e6)
  bad(fit, adult, rows = "a")
  bad(fit, adult, score = "x")
  bad(fit, adult[-1], class = "unknown_key_var")
  bad(fit, 1, class = "bad_data")
  bad(fit, adult, seed = 1)
})

test_that("the print of a validation does not depend on options of numbers", {
  fit <- quietly(copula_fit(adult[1:100, c("age", "sex")]))
  found <- quietly(validate_uniqueness(fit, adult[1:300, c("age", "sex")]))
  usual <- grep("Not unique", format(found, width = 400), value = TRUE)
  old <- options(scipen = -9)
  on.exit(options(old))
  expect_length(usual, 2)
  expect_identical(grep("Not unique", format(found, width = 400), value = TRUE), usual)
})

test_that("results of other methods and scores stand side by side", {
  data <- hard_sample()
  fit <- copula_fit(data)
  drawn <- quietly(copula_uniqueness(fit, pop_size = 1e5, calibrate = FALSE))
  held <- quietly(copula_uniqueness(fit, pop_size = 1e5, calibrate = TRUE))
  table <- as.data.frame(compare_risk(drawn, held))
  expect_identical(nrow(table), 4L)
  expect_false(anyNA(table$change))
  judged <- lapply(c("tree", "copula"), function(s) validate_uniqueness(fit, data, score = s))
  table <- as.data.frame(compare_risk(judged[[1]], judged[[2]]))
  expect_identical(nrow(table), 12L)
  expect_false(anyNA(table$change[table$term %in% c("auc", "brier", "skill")]))
})

test_that("a validation copes with nobody and with everybody unique", {
  nobody <- data.frame(a = rep(1:2, 40), b = rep(1:2, each = 40))
  set.seed(1)
  found <- suppressWarnings(validate_uniqueness(copula_fit(nobody), nobody))
  expect_true(is.na(found$estimates$skill) && is.na(found$estimates$auc))
  expect_match(text_of(found), "nobody judged is unique")
  text <- paste(c(lines_of(found), interpret(found)), collapse = "\n")
  expect_false(grepl("Inf|NA", text))
  everybody <- data.frame(a = 1:500, b = 1:500)
  found <- suppressWarnings(validate_uniqueness(copula_fit(everybody), everybody))
  expect_true(is.na(found$estimates$skill))
  text <- paste(c(lines_of(found), interpret(found)), collapse = "\n")
  expect_match(text, "verybody judged is unique")
  expect_false(grepl("Inf|NA", text))
})
