weights_of <- function(w) sdcRisk:::check_weights(data.frame(w = w), "w")

test_that("weights are finite and positive, and bad ones are counted", {
  expect_identical(weights_of(c(2L, 3L)), c(2, 3))
  expect_null(sdcRisk:::check_weights(data.frame(w = 1), NULL))
  error <- expect_error(
    weights_of(c(1, NA, 0, -2, Inf)), class = "sdcRisk_error_bad_weights"
  )
  expect_match(conditionMessage(error), "1 missing, 2 zero or negative, 1 infinite", fixed = TRUE)
  expect_identical(error$column, "w")
  expect_error(weights_of(factor(1)), class = "sdcRisk_error_bad_weights")
  expect_error(weights_of("1"), class = "sdcRisk_error_bad_weights")
  expect_error(
    sdcRisk:::check_weights(data.frame(w = 1), "v"), class = "sdcRisk_error_unknown_key_var"
  )
})

test_that("a population size or a fraction suffices, and both must agree", {
  fraction <- function(...) sdcRisk:::check_fraction(100, ...)
  expect_null(fraction(NULL, NULL))
  expect_identical(fraction(400, NULL), 0.25)
  expect_identical(fraction(NULL, 0.25), 0.25)
  expect_identical(fraction(400, 0.2500001), 0.25)
  expect_identical(fraction(NULL, 1), 1)
  for (size in list(99, Inf, NA_real_, "400", c(400, 500))) {
    error <- expect_error(fraction(size, NULL), class = "sdcRisk_error_bad_argument")
    expect_identical(error$argument, "pop_size")
  }
  for (share in list(0, 1.1, -1, NA_real_, c(0.1, 0.2))) {
    error <- expect_error(fraction(NULL, share), class = "sdcRisk_error_bad_argument")
    expect_identical(error$argument, "sampling_fraction")
  }
  expect_error(fraction(400, 0.3), class = "sdcRisk_error_bad_argument")
})

test_that("weights of classes that are no numbers are bad weights", {
  skip_if_not_installed("vctrs")
  strange <- vctrs::new_vctr(c(1, 2), class = "strange")
  data <- data.frame(a = 1:2)
  data$w <- strange
  for (call in list(
    quote(individual_risk(data, "a", "w")), quote(n_matches(data, "a", weight_var = "w")),
    quote(exhaustive_tabulation(data, "a", weight_var = "w")),
    quote(loglinear_risk(data, "a", weight_var = "w"))
  )) {
    expect_error(eval(call), class = "sdcRisk_error_bad_weights")
  }
  labelled <- structure(
    c(2, 3), label = "weight", class = c("haven_labelled", "vctrs_vctr", "double")
  )
  expect_identical(weights_of(labelled), c(2, 3))
})

test_that("errors of weights count the records and name the way out", {
  keys <- c("GENDER", "DAGE3")
  refused <- function(weights) {
    data <- nals_prison
    data$WEIGHT <- weights
    e <- expect_error(individual_risk(data, keys, "WEIGHT"), class = "sdcRisk_error_bad_weights")
    conditionMessage(e)
  }
  weights <- nals_prison$WEIGHT
  message <- refused(replace(weights, 1:4, c(NA, NA, NA, 0)))
  expect_match(message, "In 4 of 182 records: 3 missing, 1 zero or negative.", fixed = TRUE)
  expect_match(message, "data <- data[which(data$WEIGHT > 0), ]", fixed = TRUE)
  expect_match(refused(as.character(weights)), "as.numeric(data$WEIGHT)", fixed = TRUE)
  expect_match(
    refused(factor(weights)), "as.numeric(as.character(data$WEIGHT))", fixed = TRUE
  )
})

test_that("survey designs bring their weights and strata", {
  data <- nals_prison
  data$stratum <- rep(1:2, 91)
  # The parts that svydesign() makes.
  design <- structure(
    list(
      variables = data, prob = 1 / data$WEIGHT, has.strata = TRUE,
      strata = data["stratum"], cluster = data["CASEID"]
    ),
    class = c("survey.design2", "survey.design")
  )
  file <- sdc_file(design, c(GENDER, DAGE3))
  expect_identical(sdc_roles(file), list(
    key_vars = c("GENDER", "DAGE3"), weight_var = "WEIGHT", strata_var = "stratum",
    cluster = "CASEID"
  ))
  expect_identical(as.data.frame(file), data)
  expect_equal(
    individual_risk(design, c("GENDER", "DAGE3"))$estimates,
    individual_risk(data, c("GENDER", "DAGE3"), "WEIGHT")$estimates
  )
  # A design without clusters numbers the records as `id`, whatever a column of that name holds.
  plain <- design
  plain$variables$id <- data$DAGE3
  plain$cluster <- data.frame(id = seq_len(nrow(data)))
  expect_null(sdc_roles(sdc_file(plain, c(GENDER, DAGE3)))$cluster)
  # Half of the records are a domain; weights that no column has become one.
  design$prob <- ifelse(data$GENDER == 1, 2 / data$WEIGHT, Inf)
  part <- sdc_file(design, c(GENDER, DAGE3))
  expect_identical(nrow(part), sum(data$GENDER == 1))
  expect_equal(part$sampling_weight, data$WEIGHT[data$GENDER == 1] / 2)
  replicates <- structure(list(variables = data, pweights = data$WEIGHT), class = "svyrep.design")
  expect_identical(sdc_roles(sdc_file(replicates, GENDER))$weight_var, "WEIGHT")
  skip_if_not_installed("survey")
  made <- survey::svydesign(~CASEID, strata = ~stratum, weights = ~WEIGHT, data = data)
  expect_identical(sdc_roles(sdc_file(made, c(GENDER, DAGE3))), sdc_roles(file))
})

test_that("the population of a file with weights is their sum", {
  file <- sdc_file(nals_prison, c(GENDER, DAGE3, EDUC3), weight_var = WEIGHT)
  people <- round(sum(nals_prison$WEIGHT))
  expect_identical(
    population_uniqueness(file)$estimates, population_uniqueness(file, pop_size = people)$estimates
  )
  expect_identical(
    quietly(copula_uniqueness(file, records = FALSE))$estimates,
    quietly(copula_uniqueness(file, pop_size = people, records = FALSE))$estimates
  )
  small <- transform(file, WEIGHT = WEIGHT / mean(WEIGHT))
  e <- expect_error(population_uniqueness(small), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(e), "the weights sum to 182", fixed = TRUE)
  expect_error(
    population_uniqueness(nals_prison, "GENDER"), "`pop_size` must be given",
    class = "sdcRisk_error_bad_argument"
  )
})
