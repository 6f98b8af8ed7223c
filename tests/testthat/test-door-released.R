# A result of a protection is taken as the file it protects.

skip_on_cran()

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT", pop_size = 123105)
blanked <- suppress_cells(file, k = 3)
swapped <- suppressMessages(suppressWarnings(invariant_pram(file)))

test_that("results of suppress_cells() are files with the roles of the original", {
  roles <- sdc_roles(sdc_file(blanked))
  expect_identical(roles[names(sdc_roles(file))], sdc_roles(file))
  by_hand <- sdc_file(blanked$data, keys, weight_var = "WEIGHT", pop_size = 123105)
  expect_identical(n_matches(blanked)$estimates, n_matches(by_hand)$estimates)
  expect_equal(n_matches(blanked)$estimates$n_unique, 0)
  # Blanks are unknown values where the function knows of such.
  expect_equal(
    individual_risk(blanked)$estimates,
    individual_risk(by_hand, missing = "wildcard")$estimates
  )
  check <- file_check(blanked)
  expect_identical(check$estimates$value[check$estimates$measure == "k"], 3)
  expect_match(format(summary(sdc_file(blanked))), "97 values suppressed", all = FALSE)
  expect_equal(pattern_table(blanked)$n_records, 182)
  expect_message(population_uniqueness(blanked), class = "sdcRisk_message_suppressed_values")
})

test_that("roles given to the protection itself come with its result", {
  direct <- suppress_cells(
    nals_prison, keys[-1], weight_var = "WEIGHT", strata_var = "RATE", k = 2
  )
  roles <- sdc_roles(sdc_file(direct))
  expect_identical(roles$weight_var, "WEIGHT")
  expect_identical(roles$strata_var, "RATE")
  sets <- suppress_cells(nals_prison, list(keys[1:3], keys[3:5]))
  expect_identical(sdc_roles(sdc_file(sets))$key_vars, keys[1:5])
})

test_that("the cost of a protection is measured with its result", {
  loss <- utility_loss(file, blanked)
  by_hand <- utility_loss(nals_prison, blanked$data, keys, weight_var = "WEIGHT")
  expect_identical(loss$estimates, by_hand$estimates)
  expect_identical(loss$estimates$n_blank, 97L)
  expect_identical(
    utility_loss(file, swapped)$estimates,
    utility_loss(nals_prison, swapped$data, keys, weight_var = "WEIGHT")$estimates
  )
  expect_identical(utility_loss(blanked)$estimates, loss$estimates)
})

test_that("counts of a perturbed file come with a message", {
  expect_message(n_matches(swapped), class = "sdcRisk_message_perturbed_keys")
  expect_message(sdc_file(swapped), class = "sdcRisk_message_perturbed_keys")
  expect_no_message(utility_loss(file, swapped))
  # Once, though a function that compares two files asks for their continuous variables first.
  released <- suppressMessages(release_data(swapped))
  messages <- capture_messages(utility_loss(file, released))
  expect_identical(sum(grepl("are perturbed", messages)), 1L)
})

test_that("a damaged result is no file", {
  broken <- blanked
  broken$settings <- NULL
  expect_error(n_matches(broken), class = "sdcRisk_error_damaged_result")
  expect_error(n_matches(n_matches(file)), class = "sdcRisk_error_bad_data")
})

test_that("a release in a database is measured by its patterns", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "people", cbind(id = 1:182, nals_prison))
  released <- suppress_cells(
    dplyr::tbl(con, "people"), keys, weight_var = "WEIGHT", row_id = "id", into = "public"
  )
  in_r <- suppress_cells(nals_prison, keys, weight_var = "WEIGHT")
  figures <- c("n", "expected_reidentifications", "risk_max")
  figures <- intersect(figures, names(individual_risk(in_r)$estimates))
  expect_equal(
    individual_risk(released)$estimates[figures], individual_risk(in_r)$estimates[figures]
  )
  expect_identical(sdc_roles(sdc_file(released))$weight_var, "WEIGHT")
})
