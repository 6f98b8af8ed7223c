# Rarely used arguments: `<name>_control()`, and their way through `...`.

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")

exported_functions <- function() {
  names <- sort(getNamespaceExports("sdcRisk"))
  names[vapply(names, function(name) is.function(getExportedValue("sdcRisk", name)), NA)]
}

with_controls <- function() {
  sub("_control$", "", grep("_control$", exported_functions(), value = TRUE))
}

test_that("no exported function has more than twelve arguments of its own", {
  n <- vapply(exported_functions(), function(name) {
    length(formals(args(getExportedValue("sdcRisk", name))))
  }, 0L)
  expect_identical(n[n > 12], n[0])
  expect_length(with_controls(), 12)
})

test_that("rarely used arguments are no others' names and come through `...` alone", {
  for (name in with_controls()) {
    own <- names(formals(getExportedValue("sdcRisk", name)))
    rare <- setdiff(names(formals(getExportedValue("sdcRisk", paste0(name, "_control")))), "...")
    expect_true("..." %in% own, info = name)
    expect_identical(intersect(own, rare), character(), info = name)
    # Every one of them has a default, and the function knows it by its full name.
    known <- sdcRisk:::arguments_of(name)
    expect_true(all(rare %in% names(known)), info = name)
    expect_false(any(vapply(known[rare], identical, NA, rlang::missing_arg())), info = name)
  }
})

test_that("one by one or together, rarely used arguments are the same", {
  one <- n_matches(nals_prison, keys, min_overlap = 6, level = 0.9, sampling_fraction = 0.1)
  both <- n_matches(
    nals_prison, keys,
    control = n_matches_control(min_overlap = 6, level = 0.9), sampling_fraction = 0.1
  )
  expect_identical(one$settings$min_overlap, 6L)
  expect_identical(both[names(both) != "call"], one[names(one) != "call"])
  expect_identical(attr(both, "asked")$arguments, attr(one, "asked")$arguments)
  # A name of its own comes before what is kept together.
  mixed <- n_matches(
    nals_prison, keys,
    level = 0.9, control = n_matches_control(6, level = 0.5), sampling_fraction = 0.1
  )
  expect_identical(mixed$estimates, one$estimates)
})

test_that("a file's roles, NULL and values of data reach rarely used arguments", {
  sampled <- sdc_file(nals_prison, keys, sampling_fraction = 0.1)
  check <- function(...) file_check(sampled, ...)$diagnostics$population
  expect_identical(check()$pop_size, 1820)
  expect_identical(check(sampling_fraction = 0.2)$pop_size, 910)
  expect_null(check(control = file_check_control(sampling_fraction = NULL))$pop_size)
  outside <- data.frame(age = c(23, 99))
  people <- data.frame(age = c(40, 36, 23, 23))
  found <- n_matches(people, patterns = outside)
  expect_identical(found$records$n_matches, c(2L, 0L))
})

test_that("an unknown name is refused with the nearest one, and none is completed", {
  e <- expect_error(
    n_matches(nals_prison, keys, min_over = 1), class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(e), "Did you mean \"min_overlap\"?", fixed = TRUE)
  e <- expect_error(n_matches(nals_prison, keys, levl = 0.9), class = "sdcRisk_error_bad_argument")
  expect_match(conditionMessage(e), "Did you mean \"level\"?", fixed = TRUE)
  for (name in with_controls()) {
    control <- getExportedValue("sdcRisk", paste0(name, "_control"))
    first <- names(formals(control))[[1]]
    e <- expect_error(
      do.call(control, rlang::set_names(list(1), paste0(first, "x"))),
      class = "sdcRisk_error_bad_argument", info = name
    )
    expect_match(conditionMessage(e), paste0("Did you mean \"", first, "\"?"), fixed = TRUE)
    expect_s3_class(do.call(control, rlang::set_names(list(1), first)), paste0(name, "_control"))
  }
})

test_that("values are checked as ever, and named in errors", {
  e <- expect_error(n_matches(nals_prison, keys, level = 2), class = "sdcRisk_error_bad_argument")
  expect_identical(e$argument, "level")
  expect_match(conditionMessage(e), "2 was given.", fixed = TRUE)
  e <- expect_error(
    n_matches(nals_prison, keys, control = n_matches_control(level = 2)),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(e), "2 was given.", fixed = TRUE)
  for (control in list(qar_risk_control(), list(level = 0.9), NULL, 3)) {
    e <- expect_error(
      n_matches(nals_prison, keys, control = control), class = "sdcRisk_error_bad_argument"
    )
    expect_match(conditionMessage(e), "must be made by n_matches_control()", fixed = TRUE)
  }
  e <- expect_error(
    do.call(n_matches, list(nals_prison, keys, level = 0.9, level = 0.8)),
    class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(e), "It was given 2 times.", fixed = TRUE)
})

test_that("a report repeats results with rarely used arguments", {
  file <- tempfile(fileext = ".html")
  found <- qar_risk(nals_prison, keys, pi_u = 0.6, alpha = 0.5, control = qar_risk_control(100))
  sdc_report(found, file = file, internal = TRUE)
  again <- replay(sub("html$", "json", file), nals_prison)
  expect_gt(nrow(as.data.frame(again)), 0)
  expect_true(all(as.data.frame(again)$equal))
})
