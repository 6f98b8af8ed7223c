skip_on_cran()

fit <- copula_fit(adult[tenth_of_adult(), five_keys])

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

test_that("what a profile has to say of a person is said once", {
  fit <- copula_fit(hard_sample())
  person <- data.frame(sex = "?", race = "White", education_num = 9L, income = "small")
  told <- 0
  withCallingHandlers(
    profile <- uniqueness_profile(fit, person, 1e5, calibrate = FALSE),
    sdcRisk_message_unseen_categories = function(m) {
      told <<- told + 1
      rlang::cnd_muffle(m)
    }
  )
  expect_identical(told, 1)
  expect_identical(profile$estimates$variable, hard_keys)
})

test_that("a profile takes the score of its result", {
  data <- sample_of(1500, five_keys)
  result <- quietly(copula_uniqueness(data, pop_size = 32561, score = "copula", n_refits = 0))
  person <- data[7, ]
  set.seed(3)
  by_result <- uniqueness_profile(result, person, vary = "sex")
  expect_identical(by_result$settings$score, "copula")
  set.seed(3)
  expect_equal(
    by_result$base, uniqueness_profile(result, person, vary = "sex", score = "copula")$base
  )
  expect_identical(
    uniqueness_profile(result$fit, person, 32561, vary = "sex")$settings$score, "tree"
  )
  set.seed(4)
  judged <- validate_uniqueness(result, adult, rows = 1:50)
  expect_identical(judged$estimates$score, "copula")
})
