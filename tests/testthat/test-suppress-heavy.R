skip_on_cran()

# An enterprise id: few units of many records.
enterprises <- function() {
  set.seed(6)
  data.frame(
    id = rep(1:20, each = 25), branch = rep(sample(1:9, 20, TRUE), each = 25),
    sex = sample(2, 500, TRUE), age = sample(1:12, 500, TRUE), job = sample(1:8, 500, TRUE)
  )
}
keys <- c("branch", "sex", "age", "job")

test_that("a heavy suppression says so first, with the figures of cheaper ways", {
  d <- enterprises()
  said <- list()
  x <- withCallingHandlers(
    suppress_cells(d, keys, hh_id = "id"),
    message = function(m) {
      said[[length(said) + 1]] <<- m
      invokeRestart("muffleMessage")
    }
  )
  kinds <- vapply(said, function(m) class(m)[[1]], "")
  expect_setequal(
    kinds, paste0("sdcRisk_message_", c("large_households", "heavy_suppression"))
  )
  cheaper <- x$diagnostics$cheaper
  most <- x$variables[which.max(x$variables$prop_suppressed), ]
  expect_identical(cheaper$variable, most$variable)
  expect_gt(most$prop_suppressed, 0.2)
  expect_equal(cheaper$prop_variable, most$n_suppressed / 500)
  expect_equal(cheaper$prop_all, x$estimates$n_suppressed / (4 * 500))
  # The figures are those of the calls that are proposed.
  n_of <- function(...) suppressMessages(suppress_cells(d, ...))$estimates$n_suppressed
  expect_equal(cheaper$n_without_variable, n_of(setdiff(keys, most$variable), hh_id = "id"))
  expect_equal(cheaper$n_without_households, n_of(keys))
  line <- grep("^Suppression removes .* of the values of ", format(x, width = 1000), value = TRUE)
  expect_length(line, 1)
  for (figure in c(cheaper$n_without_variable, cheaper$n_without_households)) {
    expect_match(line, format(figure, big.mark = ","), fixed = TRUE)
  }
  expect_match(line, "recode_search(data, constraint = list(k = 3)", fixed = TRUE)
  expect_match(conditionMessage(said[[which(kinds == "sdcRisk_message_large_households")]]),
    "25 records on average", fixed = TRUE
  )
  # A variable in several key sets is left out of all.
  sets <- list(a = c("branch", "age", "job"), b = c("age", "sex"))
  y <- suppressMessages(suppress_cells(d, sets))
  without <- lapply(sets, setdiff, y$diagnostics$cheaper$variable)
  expect_equal(y$diagnostics$cheaper$n_without_variable, n_of(without))
})

test_that("every function that takes households asks about large groups, once", {
  d <- enterprises()
  d$w <- 3
  calls <- list(
    sdc_file = function() sdc_file(d, keys, hh_id = "id"),
    individual_risk = function() individual_risk(d, keys, "w", hh_id = "id"),
    household_risk = function() household_risk(d, keys, "id"),
    n_matches = function() n_matches(d, keys, hh_id = "id"),
    file_check = function() file_check(d, keys, hh_id = "id"),
    qar_risk = function() qar_risk(d, keys, hh_id = "id"),
    suppress_cells = function() suppress_cells(d, keys, hh_id = "id"),
    invariant_pram = function() {
      invariant_pram(d, keys, hh_id = "id", hh_vars = "branch", unprotected = "keep")
    },
    loglinear_risk = function() loglinear_risk(d, keys[1:2], pop_size = 5000, hh_id = "id")
  )
  d$branch <- ave(d$branch, d$id, FUN = min)
  for (name in names(calls)) {
    n <- 0
    tryCatch(
      withCallingHandlers(
        calls[[name]](), sdcRisk_message_large_households = function(m) n <<- n + 1,
        message = function(m) tryInvokeRestart("muffleMessage"),
        warning = function(w) tryInvokeRestart("muffleWarning")
      )
    )
    expect_identical(n, 1, info = name)
  }
  # Households of two ask nothing; nor does what is not a column.
  d$hh <- rep(1:250, each = 2)
  expect_no_message(n_matches(d, keys, hh_id = "hh"), class = "sdcRisk_message_large_households")
  expect_error(n_matches(d, keys, hh_id = "none"), class = "sdcRisk_error_unknown_key_var")
})

test_that("households of one record each are asked about", {
  d <- enterprises()
  d$pid <- sample(9e5, 500)
  said <- "sdcRisk_message_single_households"
  m <- expect_message(sdc_file(d, keys, hh_id = "pid"), class = said)
  expect_match(conditionMessage(m), "Every record has a value of its own of \"pid\"", fixed = TRUE)
  expect_identical(m$columns, "pid")
  expect_message(household_risk(d, keys, "pid"), class = said)
  # Two people of one household, a few records, and what is no household.
  expect_no_message(sdc_file(d[1:19, ], keys, hh_id = "pid"), class = said)
  expect_no_message(sdc_file(d, keys, id_vars = "pid"), class = said)
  d$pid[2] <- d$pid[[1]]
  expect_no_message(sdc_file(d, keys, hh_id = "pid"), class = said)
})

test_that("a light suppression, or households, say nothing", {
  d <- enterprises()
  d <- rbind(d, transform(d[1:2, ], branch = 30))
  d$hh <- rep(1:251, each = 2)
  expect_no_message(
    x <- suppress_cells(d, c("branch", "sex"), k = 3, hh_id = "hh"),
    class = "sdcRisk_message_heavy_suppression"
  )
  expect_gt(x$estimates$n_suppressed, 0)
  expect_null(x$diagnostics$cheaper)
  expect_no_match(format(x), "Suppression removes")
})
