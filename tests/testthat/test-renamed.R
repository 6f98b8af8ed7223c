# Arguments by their former names still work, and say what they are called now.

test_that("former names give the same, with a message of a class of its own", {
  one <- data.frame(id = 1:6, age = c(30, 31, NA, 40, 41, 42), sex = c("f", "m", "f", "m", "f", NA))
  two <- transform(one, age = age + 1)
  now <- quietly(longitudinal_link(
    one, two, c("age", "sex"), "id",
    min_overlap = 1, tolerance = list(age = c(0, 1))
  ))
  expect_message(
    former <- longitudinal_link(
      one, two, c("age", "sex"), "id",
      min_shared = 1, allow = list(age = c(0, 1))
    ),
    class = "sdcRisk_message_renamed"
  )
  expect_identical(former$records, now$records)
  expect_identical(former$settings$min_overlap, 1L)
  message <- tryCatch(
    uniqueness_to_correctness(0.58, n = 6.2e6),
    sdcRisk_message_renamed = identity
  )
  expect_identical(message$former, "n")
  expect_identical(message$present, "pop_size")
  expect_match(conditionMessage(message), "`n` is called `pop_size` now", fixed = TRUE)
  expect_equal(
    quietly(uniqueness_to_correctness(0.58, n = 6.2e6)),
    uniqueness_to_correctness(0.58, pop_size = 6.2e6)
  )
  data <- random_file(80, levels = c(3, 4, 5, 6), seed = 1)
  x <- quietly(qar_risk(data, p = 2, pi_u = 0.4))
  set.seed(1)
  now <- removal_path(x, data, 5, "random", n_sim = 3)
  set.seed(1)
  expect_message(
    former <- removal_path(x, data, 5, "random", draws = 3),
    class = "sdcRisk_message_renamed"
  )
  expect_identical(former$path, now$path)
})

test_that("both names at once, and other strange arguments, are errors", {
  error <- expect_error(
    quietly(longitudinal_link(adult, adult, "age", min_overlap = 1, min_shared = 1)),
    class = "sdcRisk_error_bad_argument"
  )
  expect_identical(error$argument, "min_overlap")
  error <- expect_error(
    qar_risk(adult, weight_var = "age"),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(error), "weights change nothing", fixed = TRUE)
})

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
    at("education"), at("id"),
    weight_var = at("weight"), model = "independence", interval = "none"
  ))
  expect_identical(by_place$estimates, by_name$estimates)
})
