# Logs: every figure again, and nothing that is no figure.

skip_on_cran()

replay_keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")

write_log <- function(..., internal = TRUE) {
  folder <- tempfile("logs")
  dir.create(folder)
  file <- file.path(folder, "report.html")
  sdc_report(..., file = file, internal = internal, pictures = FALSE)
  sub("html$", "json", file)
}

# The log after `change` was made to its text.
changed_log <- function(log, change) {
  text <- change(paste(readLines(log), collapse = "\n"))
  path <- tempfile(fileext = ".json")
  writeLines(text, path)
  path
}

test_that("figures of the measures of a file and its perturbation are equal", {
  change <- matrix(c(0.9, 0.1, 0.1, 0.9), 2, dimnames = list(1:2, 1:2))
  results <- quietly(list(
    population_risk(nals_prison, replay_keys, weight_var = "WEIGHT"),
    special_uniques(nals_prison, replay_keys),
    attribute_risk(nals_prison, replay_keys[1:3], "BORNUSA"),
    perturbation_risk(
      nals_prison, replay_keys, transition = list(GENDER = change), pop_size = 50000
    )
  ))
  found <- replay(write_log(results), nals_prison)
  expect_true(all(found$equal))
  expect_length(unique(found$result), 4)
  released <- quietly(suppress_cells(nals_prison, replay_keys[1:3]))$data
  set.seed(1)
  log <- write_log(attack_release(nals_prison, released, replay_keys[1:3], "BORNUSA"))
  expect_true(all(replay(log, list(original = nals_prison, released = released))$equal))
})

test_that("all figures are equal, on any number of threads and from any type of file", {
  file <- sdc_file(nals_prison, replay_keys, weight_var = "WEIGHT", pop_size = 8e5)
  results <- suppressWarnings(suppressMessages(list(
    n_matches(file), n_matches(file, list(a = replay_keys[1:3], b = replay_keys)),
    qar_risk(file, p = 2:3, pi_u = 0.4), individual_risk(file), loglinear_risk(file),
    exhaustive_tabulation(file, dims = 1:3), key_overview(file),
    population_uniqueness(file, method = c("pitman", "zayatz")), copula_uniqueness(file)
  )))
  log <- write_log(results)
  old <- options(sdcRisk.threads = 1)
  one <- replay(log, nals_prison)
  options(sdcRisk.threads = 3)
  three <- replay(log, sdc_file(nals_prison))
  options(old)
  expect_true(all(one$equal))
  expect_identical(one$now, three$now)
  expect_gt(nrow(one), 150)
  expect_named(one, c("figure", "logged", "now", "equal", "note", "result"))
  expect_match(format(one)[[1]], paste(nrow(one), "of", nrow(one), "figures equal"))
  external <- replay(write_log(results, internal = FALSE), nals_prison)
  expect_true(all(external$equal))
})

test_that("results of results, protections and released files are found", {
  risk <- suppressWarnings(qar_risk(nals_prison, replay_keys, pi_u = 0.4))
  protected <- suppress_cells(nals_prison, replay_keys, k = 3)
  released <- release_data(protected, shuffle = FALSE)
  log <- write_log(
    risk, removal_path(risk, nals_prison, 5), removal_bound(risk, nals_prison, c(3, 9)),
    risk_contribution(risk, nals_prison), protected,
    after = n_matches(released, replay_keys), utility_loss(nals_prison, released, replay_keys),
    compare_risk(individual_risk(nals_prison, replay_keys, "WEIGHT"), individual_risk(
      released, replay_keys, "WEIGHT"
    ))
  )
  found <- replay(log, nals_prison)
  expect_true(all(found$equal))
  expect_identical(replay(log, list(released, nals_prison))$now, found$now)
  expect_true(all(replay(log, list(nals_prison, released, released))$equal))
})

test_that("a chain with a recoding needs the recoded file, and says so", {
  keys <- c("CENREG", "DAGE", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT")
  recoded <- quietly(global_recode(file, DAGE = c(0, 25, 35, 120)))
  protected <- quietly(suppress_cells(recoded, k = 3))
  results <- quietly(list(
    file_check(file), protected, file_check(protected), utility_loss(protected)
  ))
  for (internal in c(FALSE, TRUE)) {
    path <- tempfile(fileext = ".html")
    quietly(sdc_report(results, file = path, internal = internal, pictures = FALSE))
    alone <- quietly(replay(path, nals_prison))
    expect_true(all(alone$equal[alone$result == "file_check"]))
    of_remedy <- alone[alone$result == "suppress_cells", ]
    expect_true(all(is.na(of_remedy$equal)))
    expect_match(of_remedy$note, "give data = list(original, recoded)", fixed = TRUE)
    # With both files all figures are computed again, those of the loss by weights, too.
    again <- quietly(replay(path, list(nals_prison, as.data.frame(recoded))))
    expect_true(all(again$equal))
    expect_setequal(
      again$result, c("file_check", "suppress_cells", "after: file_check", "utility_loss")
    )
    unlink(c(path, sub("html$", "json", path)))
  }
})

test_that("two files are found by the names of arguments", {
  keys <- c("gender", "age_group", "education", "income_class")
  one <- panel_waves$wave1[1:600, ]
  two <- panel_waves$wave2[1:500, ]
  log <- write_log(suppressWarnings(longitudinal_link(one, two, keys, "id")))
  expect_true(all(replay(log, list(wave1 = one, wave2 = two))$equal))
  expect_error(
    replay(log, list(wave1 = one[-1, ], wave2 = two)), class = "sdcRisk_error_mismatched_data"
  )
  expect_true(all(is.na(replay(log, list(wave1 = one))$equal)))
})

test_that("a validation needs its sample and its population", {
  keys <- c("age", "sex", "education_num")
  sample <- adult[1:1000, ]
  people <- adult[1:2500, ]
  fit <- suppressMessages(copula_fit(sample, keys))
  for (log in list(
    write_log(suppressMessages(validate_uniqueness(fit, people))),
    write_log(suppressMessages(
      validate_uniqueness(copula_uniqueness(sample, keys, 2500), people, rows = 50:400)
    ))
  )) {
    expect_true(all(replay(log, list(data = sample, population = people))$equal))
    # Either file alone, then each with another for its partner.
    alone <- replay(log, list(population = people))
    expect_identical(alone$equal, rep(NA, nrow(alone)))
    expect_match(alone$note[[1]], "not among the files: data", fixed = TRUE)
    other <- function(...) {
      expect_error(replay(log, list(...)), class = "sdcRisk_error_mismatched_data")
    }
    other(data = sample[-1, ], population = people)
    other(data = sample, population = people[-60, ])
    other(sample[-1, ], people[-60, ])
  }
  log <- write_log(suppressMessages(validate_uniqueness(fit, people)))
  expect_true(all(replay(log, list(people, sample))$equal))
  expect_error(replay(log, people[-1, ]), class = "sdcRisk_error_mismatched_data")
})

test_that("files beside the data are found by name", {
  keys <- c("age", "sex", "education_num")
  sample <- adult[1:1000, ]
  fit <- suppressMessages(copula_fit(sample, keys))
  released <- adult[300:700, ]
  applied <- write_log(copula_uniqueness(fit, pop_size = 9000, newdata = released))
  expect_true(all(replay(applied, list(sample, released))$equal))
  person <- sample[5, keys]
  profile <- write_log(uniqueness_profile(fit, person, 9000))
  expect_match(replay(profile, sample)$note[[1]], "data = list(record = )", fixed = TRUE)
  expect_true(all(replay(profile, list(sample, record = person))$equal))
  expect_true(any(!replay(profile, list(sample, record = sample[6, keys]))$equal))
  link <- write_log(suppressWarnings(link_attack(
    panel_waves$wave1[1:300, ], panel_waves$wave2[1:300, ], c("gender", "age_group"), "id"
  )))
  expect_error(
    replay(link, list(panel_waves$wave1[1:300, ], panel_waves$wave2[1:300, ])),
    "given by name: data = list(known = , released = )", fixed = TRUE
  )
})

test_that("random figures are repeated from the seed of an internal log", {
  set.seed(3)
  perturbed <- suppressMessages(invariant_pram(nals_prison, replay_keys))
  audit <- pram_audit(perturbed, nals_prison, n_sim = 50)
  set.seed(4)
  sampled <- suppressWarnings(suppressMessages(
    qar_risk(adult, p = 3, max_sets = 100, pi_u = 0.2)
  ))
  expect_length(attr(sampled, "asked")$seeds, 1)
  expect_true(all(replay(write_log(sampled), adult)$equal))
  withheld <- replay(write_log(sampled, internal = FALSE), adult)
  expect_true(all(is.na(withheld$equal)))
  expect_match(withheld$note[[1]], "internal log")
  # PRAM keeps none on purpose, and what hangs on it cannot be repeated either.
  log <- write_log(perturbed, audit)
  found <- replay(log, nals_prison)
  expect_true(all(is.na(found$equal)))
  expect_match(found$note[[1]], "no seed on purpose")
  outside <- replay(write_log(perturbed, audit, internal = FALSE), nals_prison)
  expect_match(outside$note, "no seed on purpose", all = TRUE)
  expect_length(attr(perturbed, "asked")$seeds, 0)
  expect_identical(is.na(found$now), rep(TRUE, nrow(found)))
})

test_that("other data are refused", {
  log <- write_log(n_matches(nals_prison, replay_keys))
  other <- nals_prison
  other$GENDER[5] <- 3L - other$GENDER[5]
  wrong <- "sdcRisk_error_mismatched_data"
  expect_error(replay(log, other), class = wrong)
  expect_error(replay(log, nals_prison[rev(seq_len(nrow(nals_prison))), ]), class = wrong)
  expect_error(replay(log, nals_prison[1:2]), class = wrong)
  expect_error(replay(log, list(nals_prison, other)), class = wrong)
  external <- write_log(n_matches(nals_prison, replay_keys), internal = FALSE)
  expect_error(replay(external, other), class = wrong)
})

test_that("an error says which of several files are of no result, before any work", {
  released <- release_data(suppress_cells(nals_prison, replay_keys, k = 3))
  log <- write_log(
    n_matches(nals_prison, replay_keys), after = n_matches(released, replay_keys)
  )
  refused <- function(data, ...) {
    expect_error(replay(log, data), paste0(...), class = "sdcRisk_error_mismatched_data")
  }
  other <- nals_prison[-1, ]
  refused(list(nals_prison, released, other), "Element 3 of the list fits none of its results")
  refused(list(other, nals_prison, other), "Elements 1, 3 of the list fit none of its results")
  # The released file alone fits, and the file of the report is missing.
  refused(list(released), "It is not that of \"n_matches\"")
  expect_no_match(
    conditionMessage(tryCatch(replay(log, other), error = identity)), "Element", fixed = TRUE
  )
  one <- panel_waves$wave1[1:300, ]
  two <- panel_waves$wave2[1:300, ]
  log <- write_log(suppressWarnings(
    longitudinal_link(one, two, c("gender", "age_group", "education"), "id")
  ))
  refused(list(wave1 = one, wave2 = two[-3, ]), "It differs in \"wave2\"")
  refused(list(wave1 = one[-3, ], wave2 = two[-3, ]), "It differs in \"wave1\", \"wave2\"")
})

test_that("a figure that was changed in the log is found", {
  log <- write_log(n_matches(nals_prison, replay_keys))
  first <- replay(log, nals_prison)
  n <- first$logged[first$figure == "n_matches: n_unique"]
  other <- changed_log(log, function(text) {
    sub(paste0("(\"n_unique\": \\[\\s*)", n), paste0("\\1", n + 1), text)
  })
  found <- replay(other, nals_prison)
  expect_identical(found$figure[!found$equal], "n_matches: n_unique")
  expect_match(paste(format(found), collapse = " "), "1 differ")
})

test_that("damaged logs and foreign calls are refused, and nothing is run", {
  log <- write_log(suppressWarnings(loglinear_risk(
    nals_prison, replay_keys[1:3], weight_var = "WEIGHT", model = ~ CENREG * DAGE3 + EDUC3
  )))
  expect_true(all(replay(log, nals_prison)$equal))
  refused <- function(from, to, found) {
    path <- changed_log(log, function(text) sub(from, to, text))
    expect_error(replay(path, nals_prison), found, class = "sdcRisk_error_bad_argument")
  }
  refused("\"sdcRisk report log\"", "\"another log\"", "does not say")
  refused("\"log_version\": 1", "\"log_version\": 2", "another version")
  refused("\"n_unique\": ", "\"\": ", "are damaged")
  refused("\"sdcRisk\": \"0[^\"]*\"", "\"sdcRisk\": \"99.0.0\"", "99.0.0")
  for (foreign in c("system", "sdc_report", "eval")) {
    refused(
      "\"function\": \"loglinear_risk\",\\s*\"arguments\"",
      paste0("\"function\": \"", foreign, "\", \"arguments\""), foreign
    )
  }
  refused("~CENREG", "~I(stop(1)) + CENREG", "formula")
  refused("\"type\": \"formula\"", "\"type\": \"language\"", "no type")
  refused("\"results\"", "\"outcomes\"", "no results")
  # An argument that the function does not take stops it, which the rows say.
  odd <- changed_log(log, function(text) sub("\"model\": \\{", "\"modell\": {", text))
  expect_match(replay(odd, nals_prison)$note[[1]], "it stops now")
  short <- changed_log(log, function(text) substr(text, 1, nchar(text) %/% 2))
  expect_error(replay(short, nals_prison), "cut short", class = "sdcRisk_error_bad_argument")
  expect_error(replay("nowhere.json", nals_prison), class = "sdcRisk_error_bad_argument")
  expect_error(replay(log, 1:3), class = "sdcRisk_error_bad_argument")
  expect_error(replay(log, nals_prison, 1), class = "sdcRisk_error_bad_argument")
})

test_that("results know what they were asked, and hold no data for it", {
  x <- n_matches(nals_prison, replay_keys[1:2], below = 4)
  asked <- attr(x, "asked")
  expect_identical(asked$name, "n_matches")
  expect_identical(asked$arguments$below, 4)
  expect_s3_class(asked$arguments$data, "sdc_asked_part")
  expect_true(asked$repeatable)
  big <- adult[rep(seq_len(nrow(adult)), 3), ]
  expect_lt(
    as.numeric(utils::object.size(attr(key_overview(big, 1:3), "asked"))), 10000
  )
  called <- do.call(n_matches, list(nals_prison, replay_keys[1:2]))
  expect_identical(attr(called, "asked")$arguments$key_vars, replay_keys[1:2])
})

test_that("file_check() stands first, with its limits, and is computed again", {
  file <- sdc_file(nals_prison, replay_keys, weight_var = "WEIGHT")
  checked <- suppressWarnings(suppressMessages(file_check(file, limit = list(k = 4))))
  log <- write_log(n_matches(nals_prison, replay_keys), checked, internal = FALSE)
  found <- replay(log, nals_prison)
  expect_true(all(found$equal))
  expect_identical(found$result[[1]], "file_check")
  page <- paste(readLines(sub("json$", "html", log), encoding = "UTF-8"), collapse = "\n")
  expect_match(page, "at least 4", fixed = TRUE)
  expect_match(page, "every key is shared by at least 4 records", fixed = TRUE)
  # Rounded, and without the risk of the one record that is riskiest. In cells of one or two are as
  # many records as are unique by a variable alone, which is withheld, as is the share of cells.
  shown <- checked$estimates[!is.na(checked$estimates$value), ]
  expect_equal(shown$value[shown$measure == "small_cell_records"], 13 / 182)
  expect_true(-13 %in% checked$drivers$unique_change)
  cells <- shown$value[shown$measure == "small_cells"]
  expect_no_match(page, sprintf("data-value=\"%.3g\"", cells), fixed = TRUE)
  withheld <- c("journalist", "small_cells", "small_cell_records")
  for (value in shown$value[!shown$measure %in% withheld]) {
    text <- sprintf("%.15g", if (value == round(value)) value else signif(value, 3))
    expect_match(page, sprintf("data-value=\"%s\"", text), fixed = TRUE)
  }
  risk <- shown$value[shown$measure == "journalist"]
  expect_no_match(page, sprintf("%.3g", risk), fixed = TRUE)
})

test_that("an sdcMicroObj is a file, and so is what was released from it", {
  skip_if_not_installed("sdcMicro")
  place <- new.env()
  utils::data(list = "testdata", package = "sdcMicro", envir = place)
  keys <- c("urbrur", "roof", "walls", "sex")
  object <- suppressWarnings(
    sdcMicro::createSdcObj(place$testdata, keys, weightVar = "sampling_weight")
  )
  protected <- suppressWarnings(suppress_cells(object, k = 3))
  log <- write_log(n_matches(object), protected, after = n_matches(protected$data))
  expect_true(all(replay(log, object)$equal))
  expect_true(all(replay(log, list(object, protected$data))$equal))
  expect_true(all(replay(log, place$testdata)$equal))
})

test_that("a log that is not JSON is refused, whatever its bytes, and one with a mark is read", {
  log <- write_log(suppressWarnings(n_matches(nals_prison, replay_keys[1:3])))
  bytes <- readBin(log, "raw", file.size(log))
  path <- tempfile(fileext = ".json")
  replayed <- function(bytes) {
    writeBin(bytes, path)
    replay(path, nals_prison)
  }
  refused <- function(bytes) {
    expect_error(replayed(bytes), "not JSON", class = "sdcRisk_error_bad_argument")
  }
  # jsonlite took these for formats, and R ended.
  for (sign in c("%s", "%n%n", "%s%s%s%s%s%s%s%s", "%5$n")) refused(c(charToRaw(sign), bytes))
  refused(c(bytes[1], charToRaw("%n%s"), bytes[-1]))
  refused(c(bytes[1:100], as.raw(c(0xff, 0xfe)), bytes[-(1:100)]))
  refused(c(bytes[1:100], as.raw(0), bytes[-(1:100)]))
  refused(raw())
  right <- suppressWarnings(replayed(bytes))
  expect_true(all(right$equal))
  expect_identical(suppressWarnings(replayed(c(as.raw(c(0xef, 0xbb, 0xbf)), bytes))), right)
})

test_that("a percent sign in a name comes back from a log", {
  data <- stats::setNames(nals_prison[replay_keys[1:3]], c("share %", "%s%n", "\\%"))
  log <- write_log(suppressWarnings(n_matches(data, names(data))))
  found <- suppressWarnings(replay(log, data))
  expect_gt(nrow(found), 3)
  expect_true(all(found$equal))
})

test_that("whatever part of a log is damaged, it is refused, without a word of R's", {
  log <- write_log(suppressWarnings(n_matches(nals_prison, replay_keys[1:3])))
  tree <- jsonlite::fromJSON(log, simplifyVector = FALSE)
  found <- function(change) {
    path <- tempfile(fileext = ".json")
    text <- jsonlite::toJSON(change(tree), auto_unbox = TRUE, null = "null", digits = NA)
    writeLines(text, path)
    tryCatch(
      replay(path, nals_prison),
      sdcRisk_error_bad_argument = function(e) conditionMessage(e), warning = identity
    )
  }
  expect_match(found(function(l) replace(l, "versions", "0.1.0")), "not what it should be")
  expect_match(found(function(l) replace(l, "log_version", "x")), "not what it should be")
  expect_match(found(function(l) replace(l, "results", list(list(1)))), "damaged")
  expect_match(found(function(l) {
    l$results[[1]]$tables <- stats::setNames(list(), character())
    l
  }), "no figures")
  for (digits in list(1e10, 3, -4, "4", TRUE, list(4), NULL)) {
    expect_match(found(function(l) {
      l$results[[1]]$file["digits"] <- list(digits)
      l
    }), "damaged")
  }
  # An array is of the values that are there: nobody fills it up, or makes room for it.
  sizes <- list(list(2), list(1.5), list(-1, -1), list(2147483647, 9), list(NULL), list("NaN"))
  for (dim in sizes) {
    expect_match(found(function(l) {
      l$results[[1]]$call$arguments$rule <- list(
        type = "character", values = list("missing"), dim = dim
      )
      l
    }), "damaged")
    expect_match(found(function(l) {
      l$results[[1]]$call$arguments$rule <- list(type = "double", dim = dim)
      l
    }), "damaged")
  }
  # Arguments lost, a column of texts under the name of figures, one figure that is two.
  expect_error(found(function(l) {
    l$results[[1]]$call$arguments <- list()
    l
  }), class = "sdcRisk_error_mismatched_data")
  estimates <- tree$results[[1]]$tables$estimates
  texts <- found(function(l) {
    names(l$results[[1]]$tables$estimates)[[match("n", names(estimates))]] <- "key_set"
    l
  })
  expect_s3_class(texts, "sdc_replay")
  expect_true(any(texts$equal %in% FALSE))
  two <- found(function(l) {
    l$results[[1]]$tables$estimates$n <- list(list(1, 2))
    l
  })
  expect_false(any(grepl(": n$", two$figure)))
  # Fifteen digits are written here: whole numbers stay what they are.
  expect_true(all(two$equal[grepl(": n_unique$", two$figure)]))
})

test_that("T in steps, as few uniques need it, is that of the same file again", {
  x <- data.frame(
    a = rep(1:4, c(500, 300, 150, 50)), b = rep(1:5, 200), c = rep(1:2, 500)
  )
  x$a[1:3] <- 5
  x$b[1:3] <- c(3, 1, 1)
  x$c[1:3] <- c(2, 1, 2)
  page <- quietly(file_check(x, c("a", "b", "c"), k = 3))
  expect_equal(page$estimates$value[page$estimates$measure == "n_unique"], 3)
  file <- tempfile(fileext = ".html")
  quietly(sdc_report(page, file = file))
  found <- quietly(replay(sub("html$", "json", file), x))
  # 43 classes of 1,000 records, in steps of 5.
  expect_identical(found$logged[match("file_check: value [5]", found$figure)], 0.045)
  expect_identical(nrow(found[found$equal %in% FALSE, ]), 0L)
})
