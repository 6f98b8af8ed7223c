# Errors say what must hold, what was found, and what to do.

message_of <- function(code) {
  caught <- tryCatch(code, error = identity)
  expect_s3_class(caught, "sdcRisk_error")
  conditionMessage(caught)
}

test_that("every function names the argument it was not given", {
  functions <- setdiff(
    getNamespaceExports("sdcRisk"),
    c("tidy", "glance", "augment", "candidates", "sdc_threads", "compare_risk", "interpret")
  )
  for (name in functions) {
    caught <- tryCatch(do.call(name, list(), envir = asNamespace("sdcRisk")), error = identity)
    expect_s3_class(caught, "sdcRisk_error_bad_argument")
    first <- names(formals(getExportedValue("sdcRisk", name)))[[1]]
    if (name != "uniqueness_to_correctness") expect_identical(caught$argument, first)
  }
})

test_that("an argument called missing does not hide base::missing()", {
  expect_match(
    message_of(individual_risk(nals_prison, "GENDER", "WEIGHT", missing = mean)), "`missing` must"
  )
})

test_that("what was given is said, and what was probably meant", {
  expect_match(message_of(n_matches(adult, sampling_fraction = 10)), "10 was given.*10 % is 0.1")
  expect_match(
    message_of(n_matches(adult, ~ age + sex)), "key_vars = c(\"age\", \"sex\")", fixed = TRUE
  )
  expect_match(message_of(qar_risk(adult, p = "3")), "Text was given: \"3\"", fixed = TRUE)
  expect_match(message_of(n_matches(adult, pop_size = "8 million")), "\"8 million\"", fixed = TRUE)
  expect_match(
    message_of(n_matches(adult, c("agee", "Sex"))), "Did you mean \"age\", \"sex\"?", fixed = TRUE
  )
  expect_match(message_of(qar_risk(adult, aplha = 0.1)), "Did you mean \"alpha\"?", fixed = TRUE)
  risk <- quietly(qar_risk(nals_prison, c("GENDER", "CENREG", "DAGE3"), p = 2, pi_u = 0.6))
  expect_match(message_of(removal_path(risk, nals_prison, 0.05)), "0.05 of 182 records is 9")
  expect_match(message_of(qar_risk(structure(list(), class = "sdcMicroObj"))), "extractManipData")
  fit <- quietly(copula_fit(nals_prison, c("GENDER", "CENREG")))
  lacking <- message_of(predict(fit, nals_prison["GENDER"], pop_size = 1e5))
  expect_match(lacking, "`newdata` must have.*\"CENREG\"")
  expect_false(grepl("key_vars", lacking))
})

test_that("tables of keys answer tidy() and glance()", {
  overview <- key_overview(nals_prison, c("GENDER", "CENREG"))
  expect_identical(
    tidy(overview)$estimate[tidy(overview)$term == "n_levels"], as.double(overview$n_levels)
  )
  expect_identical(glance(overview)$n_records, 182L)
  waves <- key_stability(panel_waves$wave1, panel_waves$wave2, c("gender", "education"), "id")
  expect_identical(
    tidy(waves)$estimate[tidy(waves)$term == "n_changed"], as.double(waves$n_changed)
  )
  expect_identical(glance(waves)$n_linked, 5310L)
})
