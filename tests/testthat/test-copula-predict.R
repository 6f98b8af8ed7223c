sampled <- local({
  set.seed(21)
  sample(nrow(adult), 3256)
})
keys <- c("age", "sex", "education_num", "occupation", "hours_per_week")
fit <- copula_fit(adult[sampled, ], keys)
person <- data.frame(
  age = 51L, sex = "Female", education_num = 14L, occupation = "Exec-managerial",
  hours_per_week = 55L
)

test_that("predict() gives one row per person and agrees with copula_uniqueness()", {
  set.seed(1)
  result <- suppressWarnings(copula_uniqueness(fit, pop_size = c(32561, 1e5), n_refits = 0))
  scored <- predict(result, person)
  expect_named(scored, c("prob", "xi", "kappa", "prob_error", "prob_shape"))
  shape <- scored$prob_shape
  expect_equal(scored$xi, (1 + 32560 * scored$prob / shape)^-(shape + 1), tolerance = 1e-9)
  expect_equal(
    scored$kappa, (1 - (1 + 32561 * scored$prob / shape)^-shape) / (32561 * scored$prob),
    tolerance = 1e-9
  )
  expect_gt(scored$xi, predict(result, person, pop_size = 1e5)$xi)
  set.seed(2)
  expect_equal(predict(fit, person, 32561)$xi, scored$xi, tolerance = 0.02)
  set.seed(3)
  by_rectangle <- predict(result, person, score = "copula")
  expect_gt(by_rectangle$prob_error, 0)
  expect_lt(by_rectangle$prob_error, 0.01 * by_rectangle$prob + 0.002 / 32561)
  expect_equal(
    by_rectangle$kappa, uniqueness_to_correctness(by_rectangle$xi, 32561), tolerance = 1e-9
  )
  # A population not in the result is drawn.
  expect_lt(predict(result, person, pop_size = 2e5)$xi, scored$xi)
})

test_that("bad input of predict() is refused", {
  bad <- function(..., class = "bad_argument") {
    expect_error(predict(fit, ...), class = paste0("sdcRisk_error_", class))
  }
  bad(person)
  bad(pop_size = 32561)
  bad(person, 100)
  bad(person, c(32561, 40000))
  bad(person, Inf)
  bad(person, 32561, score = "best")
  bad(person, 32561, calibrate = NA)
  bad(person, 32561, accuracy = 0)
  bad(person, 32561, size = 1)
  bad(person[-1], 32561, class = "unknown_key_var")
  bad(list(1), 32561, class = "bad_data")
})

test_that("a profile goes through the values of variables", {
  set.seed(4)
  known <- person[c("age", "sex", "occupation")]
  profile <- uniqueness_profile(fit, known, 32561, vary = "sex", add = "education_num")
  expect_identical(profile$estimates$variable, c("sex", "education_num"))
  values <- as.data.frame(profile)
  expect_identical(values$value[values$own], "Female")
  expect_equal(values$xi[values$own], profile$base$xi)
  expect_equal(tapply(values$share, values$variable, sum)[["education_num"]], 1)
  # More knowledge makes more unique, whatever the value.
  added <- profile$estimates[2, ]
  expect_gt(added$xi_q05, profile$base$xi)
  expect_true(added$xi_q25 <= added$xi_median && added$xi_median <= added$xi_q75)
  expect_lte(length(format(profile)), 16)
  expect_match(interpret(profile), "journalist")
  expect_identical(generics::glance(profile)$n_known, 3L)
  expect_identical(nrow(generics::tidy(profile)), 6L)
})

test_that("the profile of a person known on all variables is that of predict()", {
  set.seed(5)
  result <- copula_uniqueness(fit, pop_size = 32561, n_refits = 0)
  profile <- uniqueness_profile(result, person, vary = "occupation")
  expect_identical(nrow(profile$values), length(fit$levels$occupation))
  expect_identical(profile$base, predict(result, person))
  other <- person
  other$occupation <- "Sales"
  expect_equal(
    profile$values$xi[profile$values$value %in% "Sales"], predict(result, other)$xi
  )
})

test_that("a part of a fit is the fit of a part", {
  part <- sdcRisk:::select_keys(fit, c("age", "occupation", "sex"))
  direct <- copula_fit(adult[sampled, ], c("age", "sex", "occupation"), order = "natural")
  of <- function(f) sdcRisk:::individual_scores(f, adult[1:50, ], 32561, "tree")$prob
  expect_equal(of(part), of(direct), tolerance = 1e-10)
  expect_identical(part$pairs, fit$pairs[c("age + sex", "age + occupation", "sex + occupation")])
  # People drawn from the tree stand for the sample's records.
  set.seed(6)
  drawn <- sdcRisk:::part_tree(direct, direct$tree)
  people <- drawn$anchor
  expect_equal(
    weighted.mean(people$ln_p, people$weight), mean(direct$tree$anchor$ln_p), tolerance = 0.03
  )
  expect_equal(
    sdcRisk:::weighted_quantile(people$variance, people$weight, 0.5),
    median(direct$tree$anchor$variance), tolerance = 0.1
  )
  # Weights are shares over the shares drawn by: their mean is 1.
  expect_equal(mean(people$weight), 1, tolerance = 0.03)
  expect_lte(max(people$weight), 2)
  expect_identical(drawn$alpha, direct$tree$alpha)
})

test_that("people drawn by a mixture of shares are as frequent as the tree says", {
  part <- sdcRisk:::select_keys(fit, c("age", "sex"))
  set.seed(8)
  people <- sdcRisk:::draw_points(part, part$tree)
  # Of two key variables the tree is the shrunken pair table itself.
  pair <- sdcRisk:::shrunken_pair(part, 1:2, part$tree$prior[[1]], sdcRisk:::tree_parts(part))
  rare <- pair[pair > 0 & pair < 1e-3]
  found <- sum(people$weight * (people$ln_p < log(1e-3))) / sum(people$weight)
  expect_equal(found, sum(rare), tolerance = 0.05)
  alone <- function(p) exp(-2000 * p)
  expect_equal(
    sum(people$weight * alone(exp(people$ln_p))) / sum(people$weight),
    sum(pair * alone(pair)), tolerance = 0.05
  )
})

test_that("likelihoods of part of the key variables hardly move with the draws", {
  rare <- person[c("age", "education_num", "hours_per_week")]
  rare$age <- 79L
  kappas <- vapply(1:6, function(seed) {
    set.seed(seed)
    suppressMessages(uniqueness_profile(fit, rare, 32561, vary = "age"))$base$kappa
  }, 0)
  expect_lt(stats::sd(kappas) / mean(kappas), 0.02)
})

test_that("a variable with very many values is shown at some of them", {
  set.seed(7)
  profile <- uniqueness_profile(fit, person, 32561, vary = "age", add = NULL, max_values = 10)
  expect_identical(sum(profile$values$variable == "age"), 10L)
})

test_that("bad input of uniqueness_profile() is refused", {
  bad <- function(...) {
    expect_error(uniqueness_profile(...), class = "sdcRisk_error_bad_argument")
  }
  bad(adult, person, 32561)
  bad(fit, person)
  bad(fit, rbind(person, person), 32561)
  bad(fit, data.frame(height = 1), 32561)
  bad(fit, person, 32561, vary = "height")
  bad(fit, person, 32561, add = "age")
  bad(fit, person, 32561, vary = character(), add = character())
  bad(fit, person, 32561, max_values = 1)
  bad(fit, person, 32561, score = "x")
  bad(fit, person, 100)
  bad(fit, person, 32561, verbose = TRUE)
})

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
  roc <- sdcRisk:::roc_curve(xi, unique)
  area <- sum(diff(roc$false_positive) * (head(roc$true_positive, -1) + roc$true_positive[-1]) / 2)
  expect_equal(area, found$auc, tolerance = 1e-12)
  expect_identical(sdcRisk:::area_under_roc(c(0.1, 0.2), c(TRUE, TRUE)), NA_real_)
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

test_that("pictures are drawn", {
  skip_if_not_installed("ggplot2")
  set.seed(10)
  found <- suppressMessages(validate_uniqueness(fit, adult))
  for (type in c("roc", "fdr", "brier", "calibration")) {
    expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(found, type)))
  }
  expect_error(ggplot2::autoplot(found, "x"), class = "sdcRisk_error_bad_argument")
  profile <- uniqueness_profile(fit, person[1:3], 32561)
  expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(profile)))
})

test_that("the print of a validation does not depend on options of numbers", {
  fit <- quietly(copula_fit(adult[1:100, c("age", "sex")]))
  found <- quietly(validate_uniqueness(fit, adult[1:300, c("age", "sex")]))
  usual <- grep("Not unique", format(found, width = 400), value = TRUE)
  old <- options(scipen = -9)
  on.exit(options(old))
  expect_length(usual, 1)
  expect_identical(grep("Not unique", format(found, width = 400), value = TRUE), usual)
})
