# Errors say what must hold, what was found, and what to do.

message_of <- function(code) {
  caught <- tryCatch(code, error = identity)
  expect_s3_class(caught, "sdcRisk_error")
  conditionMessage(caught)
}

test_that("every function names the argument it was not given", {
  functions <- setdiff(
    grep("_control$", getNamespaceExports("sdcRisk"), value = TRUE, invert = TRUE),
    c(
      "tidy", "glance", "augment", "candidates", "sdc_threads", "compare_risk", "interpret",
      "measures",
      "file_check_addin", "check_script_addin", "language_server"
    )
  )
  for (name in functions) {
    caught <- tryCatch(do.call(name, list(), envir = asNamespace("sdcRisk")), error = identity)
    expect_s3_class(caught, "sdcRisk_error_bad_argument")
    first <- names(formals(getExportedValue("sdcRisk", name)))[[1]]
    # Results come before the file of a report.
    expected <- if (name == "sdc_report") "file" else first
    if (name != "uniqueness_to_correctness") expect_identical(caught$argument, expected)
  }
})

test_that("an argument called missing does not hide base::missing()", {
  expect_match(
    message_of(individual_risk(nals_prison, "GENDER", "WEIGHT", missing = mean)), "`missing` must"
  )
})

test_that("what was given is said, and what was probably meant", {
  expect_match(message_of(n_matches(adult, sampling_fraction = 10)), "10 was given.*10% is 0.1")
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

# Calls that are refused, of every family.
refused_calls <- function() {
  rlang::exprs(
    # What is given as data.
    qar_risk(1), n_matches(as.matrix(nals_prison)), key_overview(NULL),
    individual_risk(nals_prison[0, ], keys, "WEIGHT"), latest_values(1, "id"),
    # Columns.
    qar_risk(adult, c("age", "hieght")), n_matches(adult, 99), qar_risk(adult, c("age", "age")),
    n_matches(adult, ~ age + sex), copula_fit(nals_prison, list(1)),
    longitudinal_link(waves$wave1, waves$wave2, c("gender", "nothing"), "id"),
    key_stability(waves$wave1, waves$wave2, "gender", "person"),
    n_matches(data.frame(a = I(list(1, 2)))),
    # Numbers, words and flags.
    qar_risk(adult, p = "3"), qar_risk(adult, p = 99), qar_risk(adult, alpha = 10),
    qar_risk(adult, pwm = "best"), qar_risk(adult, sets = NA),
    qar_risk(adult, missing = "wildcard"),
    n_matches(adult, sampling_fraction = 10), n_matches(nals_prison, keys, min_overlap = 4),
    exhaustive_tabulation(nals_prison, keys, dims = 4),
    exhaustive_tabulation(nals_prison, keys, weight_threshold = "many"),
    loglinear_risk(nals_prison, keys),
    loglinear_risk(nals_prison, keys, pop_size = 1000, model = 3),
    individual_risk(nals_prison, keys), individual_risk(nals_prison, keys, "GENDER", "WEIGHT", -1),
    match_theta(5, -1, 0.1), match_theta(5, 1, 10), uniqueness_to_correctness(2, 100),
    copula_uniqueness(fit, pop_size = 10), copula_uniqueness(fit), predict(fit, nals_prison, 1),
    uniqueness_profile(fit, nals_prison[1:2, ], 1e5), uniqueness_profile(fit, adult[1, ], 1e5),
    population_uniqueness(nals_prison, keys, pop_size = 1e5, method = "guess"),
    invariant_pram(nals_prison, keys, max_match_prob = 80),
    invariant_pram(nals_prison, keys, prefer = "similar_weights"),
    invariant_pram(nals_prison, keys, hh_id = "WEIGHT"),
    pram_match_prob(3, 0.2), pram_match_prob(c(1, 2), 2), pram_theta(0.8, 1),
    # What does not belong together.
    qar_risk(adult, aplha = 0.1), risk_contribution(1, adult), risk_contribution(risk, adult),
    removal_path(risk, nals_prison, 0.05), removal_path(risk, nals_prison, 500),
    pram_audit(risk, nals_prison), pram_audit(secret, adult), release_data(risk),
    summary(risk, by = "GENDER"), as.data.frame(fit, 1, 2, 3), augment(risk, nals_prison),
    compare_risk(risk), compare_risk(risk, fit), compare_risk(risk, risk, z = risk, z = risk),
    interpret(1), interpret(NULL),
    candidates(), candidates(1, "a"), candidate_interval("a", "b"),
    change_indicators(waves$wave1, waves$wave2, "gender"),
    latest_values(list(nals_prison), "nobody"), panel_members(adult, list(adult), "id"),
    birth_month(adult, "id", "year", "month", "age")
  )
}

test_that("errors say what must hold, and always what was found", {
  local_reproducible_output(width = 80)
  keys <- c("GENDER", "CENREG", "DAGE3")
  scope <- list(
    keys = keys, risk = quietly(qar_risk(nals_prison, keys, p = 2, pi_u = 0.6)),
    fit = quietly(copula_fit(nals_prison, keys)),
    secret = quietly(invariant_pram(nals_prison, keys)),
    waves = panel_waves[c("wave1", "wave2")]
  )
  said <- unlist(lapply(refused_calls(), function(code) {
    caught <- tryCatch({
      quietly(eval(code, scope))
      NULL
    }, error = identity)
    if (is.null(caught)) {
      return(NULL)
    }
    what <- paste(deparse(code, 500), collapse = " ")
    expect_s3_class(caught, "sdcRisk_error")
    expect_match(conditionMessage(caught), "\nx ", fixed = TRUE, info = what)
    c(paste(">", what), conditionMessage(caught), "")
  }))
  expect_gt(sum(startsWith(said, ">")), 55)
  expect_snapshot(writeLines(said))
})

test_that("a letter is no name of an argument", {
  expect_match(
    message_of(qar_risk(adult, c("age", "sex"), k = 3)), "Unknown: \"k\""
  )
  expect_match(message_of(n_matches(adult, c("age", "sex"), k = 3)), "Unknown: \"k\"")
  expect_identical(
    n_matches(nals_prison, key = c("GENDER", "CENREG"))$estimates,
    n_matches(nals_prison, c("GENDER", "CENREG"))$estimates
  )
})

test_that("an error names the function that was called, not one it called in turn", {
  called <- function(code) {
    as.character(conditionCall(tryCatch(code, sdcRisk_error = identity))[[1]])
  }
  expect_identical(called(file_check(adult, "height")), "file_check")
  expect_identical(called(copula_uniqueness(adult, "height", pop_size = 1e6)), "copula_uniqueness")
  expect_identical(called(n_matches(sdc_file(adult, "height"))), "sdc_file")
  expect_identical(called(sdcRisk::n_matches(adult, "height")), "n_matches")
  expect_identical(called(do.call(n_matches, list(adult, "height"))), "n_matches")
  expect_identical(called(lapply(list(adult), n_matches, "height")), "n_matches")
  expect_identical(called(records_at_risk(n_matches(nals_prison, "GENDER"), 7)), "records_at_risk")
})
