# Roles that several functions take in the same way.

test_that("a sampling fraction stands for a population size everywhere", {
  data <- adult[1:1000, c("age", "sex", "education_num", "occupation")]
  same <- function(f) {
    a <- quietly(f(pop_size = 20000))
    b <- quietly(f(sampling_fraction = 0.05))
    expect_equal(a, b)
  }
  fit <- quietly(copula_fit(data))
  same(function(...) population_uniqueness(data, ...)$estimates)
  same(function(...) copula_uniqueness(fit, ...)$estimates)
  same(function(...) copula_uniqueness(data, ..., records = FALSE)$estimates)
  same(function(...) predict(fit, data[1:3, ], ...))
  same(function(...) uniqueness_profile(fit, data[1, ], ...)$estimates)
  error <- expect_error(
    population_uniqueness(data, pop_size = 20000, sampling_fraction = 0.5),
    class = "sdcRisk_error_bad_argument"
  )
  expect_identical(error$argument, "sampling_fraction")
})

test_that("positions of columns of two waves are those of the first", {
  one <- panel_waves$wave1
  two <- panel_waves$wave2[rev(names(panel_waves$wave2))]
  by_name <- quietly(longitudinal_risk(
    one, two, c("gender", "age_group", "education"), c("gender", "age_group"), "education", "id",
    weight_var = "weight", model = "independence", interval = "none"
  ))
  at <- function(names) match(names, names(one))
  by_place <- quietly(longitudinal_risk(
    one, two, at(c("gender", "age_group", "education")), at(c("gender", "age_group")),
    "education", "id",
    weight_var = "weight", model = "independence", interval = "none"
  ))
  expect_identical(by_place$estimates, by_name$estimates)
})

test_that("a role without a meaning says why", {
  error <- expect_error(
    qar_risk(adult, weight_var = "age"),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(error), "weights change nothing", fixed = TRUE)
})

test_that("whole numbers that are counted are those that unique() finds", {
  set.seed(3)
  for (i in 1:200) {
    values <- sample(c(NA, -5:5, -.Machine$integer.max, .Machine$integer.max), i %% 4 + 1)
    x <- as.integer(values)
    x <- sample(rep(x, 2), sample(0:30, 1), TRUE)
    expect_identical(sorted_values(x), sort(unique(x)))
  }
})
