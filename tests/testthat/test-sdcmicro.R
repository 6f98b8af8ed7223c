# sdcMicro objects as files, protected objects, stored results; our numbers beside
# sdcMicro's on the same data.

skip_on_cran()

skip_if_not_installed("sdcMicro")
# Its methods are found where it is attached or loaded.
requireNamespace("sdcMicro", quietly = TRUE)

hushed <- function(expr) suppressWarnings(suppressMessages(expr))
message_of <- function(code) {
  caught <- tryCatch(code, error = identity)
  expect_s3_class(caught, "sdcRisk_error")
  conditionMessage(caught)
}
keys <- c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
shipped <- function(name) {
  place <- new.env()
  utils::data(list = name, package = "sdcMicro", envir = place)
  as.data.frame(place[[name]])
}
testdata <- shipped("testdata")
object_of <- function(data = testdata, key_vars = keys, ..., weightVar = "sampling_weight") {
  hushed(sdcMicro::createSdcObj(data, keyVars = key_vars, weightVar = weightVar, ...))
}
slot_of <- function(object, slot) sdcMicro::get.sdcMicroObj(object, slot)
full <- object_of(
  numVars = c("expend", "income", "savings"), hhId = "ori_hid", sensibleVar = "hhcivil"
)
numbers <- function(x) unclass(x)[setdiff(names(x), c("call", "fit"))]
as_plain <- function(x) as.numeric(unname(x))

# Small files with missing values; `k1`, ... are the key variables.
random_file <- function(seed, n_keys = 3, prop_missing = 0.15, n = 60, n_levels = 3) {
  set.seed(seed)
  columns <- lapply(seq_len(n_keys), function(j) {
    x <- sample(n_levels, n, TRUE)
    factor(replace(x, stats::runif(n) < prop_missing, NA))
  })
  data <- as.data.frame(rlang::set_names(columns, paste0("k", seq_len(n_keys))))
  data$w <- round(stats::runif(n, 1, 30), 1)
  data$s <- factor(sample(letters[1:4], n, TRUE))
  data$h <- rep(seq_len(n / 3), each = 3)
  data
}

# The object as a file -----------------------------------------------------------

test_that("an object brings its roles, and arguments come before them", {
  file <- sdc_file(full)
  expect_s3_class(file, "sdc_file")
  expect_identical(sdc_roles(file), list(
    key_vars = keys, weight_var = "sampling_weight", hh_id = "ori_hid", sensitive = "hhcivil",
    num_vars = c("expend", "income", "savings")
  ))
  expect_identical(as.data.frame(file), testdata)
  other <- sdc_file(full, "sex", weight_var = "household_weights")
  expect_identical(sdc_roles(other)$key_vars, "sex")
  stratified <- object_of(strataVar = "age")
  expect_identical(sdc_roles(sdc_file(stratified))$strata_var, "age")
  expect_identical(sdc_roles(sdc_file(stratified, pop_size = 5e5))$pop_size, 5e5)
  text <- text_of(summary(file))
  expect_match(text, "From an sdcMicroObj; alpha = 1.", fixed = TRUE)
})

test_that("every function takes an object and gives what it gives for the data", {
  expect_identical(
    numbers(hushed(qar_risk(full))),
    numbers(hushed(qar_risk(testdata, keys, hh_id = "ori_hid")))
  )
  expect_identical(
    numbers(hushed(n_matches(full))),
    numbers(hushed(n_matches(
      testdata, keys,
      weight_var = "sampling_weight", hh_id = "ori_hid", sensitive = "hhcivil"
    )))
  )
  expect_identical(
    numbers(hushed(individual_risk(full))),
    numbers(hushed(individual_risk(
      testdata, keys, "sampling_weight", "ori_hid",
      missing = "wildcard"
    )))
  )
  expect_identical(
    numbers(hushed(loglinear_risk(full))),
    numbers(hushed(loglinear_risk(
      testdata, keys,
      weight_var = "sampling_weight", hh_id = "ori_hid"
    )))
  )
  expect_identical(
    numbers(hushed(exhaustive_tabulation(full))),
    numbers(hushed(exhaustive_tabulation(testdata, keys, weight_var = "sampling_weight")))
  )
  expect_identical(
    numbers(hushed(key_overview(full))), numbers(hushed(key_overview(testdata, keys)))
  )
  expect_identical(
    numbers(hushed(population_uniqueness(full, pop_size = 5e5))),
    numbers(hushed(population_uniqueness(testdata, keys, 5e5)))
  )
})

test_that("models, searches and comparisons take an object", {
  few <- object_of(testdata[1:400, ], c("urbrur", "water", "sex"))
  expect_identical(
    numbers(hushed(copula_uniqueness(few, pop_size = 1e5))),
    numbers(hushed(copula_uniqueness(
      testdata[1:400, ], c("urbrur", "water", "sex"), 1e5,
      weight_var = "sampling_weight"
    )))
  )
  expect_identical(
    numbers(hushed(recode_search(few)))$best,
    numbers(hushed(recode_search(testdata[1:400, ], c("urbrur", "water", "sex"))))$best
  )
  risk <- hushed(qar_risk(full, p = 4, alpha = 0.1, pi_u = 0.3))
  expect_s3_class(risk_contribution(risk, full), "sdc_risk_contribution")
  expect_s3_class(hushed(removal_path(risk, full, 2)), "sdc_removal_path")
  matches <- hushed(n_matches(full))
  expect_identical(augment(matches, full), augment(matches, testdata))
  expect_identical(
    summary(matches, by = "urbrur", data = full), summary(matches, by = "urbrur", data = testdata)
  )
  loss <- utility_loss(sdc_file(few, state = "original"), few)
  expect_identical(loss$settings$key_vars, c("urbrur", "water", "sex"))
  wave <- object_of(transform(testdata[1:400, ], id = 1:400), c("urbrur", "water", "sex"))
  expect_identical(hushed(longitudinal_link(wave, wave, id = "id"))$estimates$n_linked, 400L)
  expect_s3_class(hushed(link_attack(wave, wave, id = "id")), "sdc_link_attack")
})

test_that("text keys, ordered factors and recoded numbers keep their values", {
  data <- transform(
    testdata[1:500, c("sex", "age", "water", "sampling_weight")],
    sex = ifelse(sex == 1, "m", "f"), water = ordered(water)
  )
  object <- object_of(data, c("sex", "age", "water"))
  expect_identical(as.data.frame(sdc_file(object)), data)
  recoded <- hushed(sdcMicro::globalRecode(
    object, "age",
    breaks = c(-1, 19, 59, 99), labels = c("young", "middle", "old")
  ))
  expect_identical(levels(sdc_file(recoded)$age), c("young", "middle", "old"))
  expect_identical(sdc_file(recoded)$sex, data$sex)
  # The same records agree in what sdcMicro releases, where the labels are lost.
  released <- sdcMicro::extractManipData(recoded)
  expect_true(is.numeric(released$age))
  expect_identical(
    hushed(n_matches(recoded))$records$n_matches,
    hushed(n_matches(released, c("sex", "age", "water")))$records$n_matches
  )
  expect_identical(as.data.frame(sdc_file(recoded, state = "original")), data)
})

test_that("suppressed cells match everything, or a message says what they do", {
  protected <- hushed(sdcMicro::kAnon(object_of(), k = 3))
  suppressed <- colSums(is.na(slot_of(protected, "manipKeyVars")))
  expect_gt(sum(suppressed), 0)
  expect_identical(colSums(is.na(as.data.frame(sdc_file(protected))[keys])), suppressed)
  expect_no_message(matches <- n_matches(protected))
  expect_equal(matches$estimates$n_unique, 0)
  expect_true(all(matches$records$n_matches >= 3))
  expect_no_message(risk <- individual_risk(protected))
  expect_identical(risk$settings$missing, "wildcard")
  expect_message(
    suppressWarnings(qar_risk(protected)), "value of their own",
    class = "sdcRisk_message_suppressed_values"
  )
  expect_message(
    suppressWarnings(loglinear_risk(protected)), "left out",
    class = "sdcRisk_message_suppressed_values"
  )
  expect_match(text_of(summary(sdc_file(protected))), paste(sum(suppressed), "values suppressed"))
  before <- sdc_file(protected, state = "original")
  expect_identical(as.data.frame(before), testdata)
  expect_gt(individual_risk(before)$estimates$expected_reidentifications, 4 *
    risk$estimates$expected_reidentifications)
  expect_match(text_of(summary(before)), "before its protection")
})

test_that("pramVars and ghostVars are what they are said to be", {
  data <- transform(testdata, ghost = relat)
  data$hhcivil <- factor(data$hhcivil)
  object <- object_of(data, ghostVars = list(list("relat", "ghost")), pramVars = "hhcivil")
  expect_match(
    text_of(summary(sdc_file(object))),
    "suppressed values of \"relat\" are those of \"ghost\" too"
  )
  set.seed(1)
  perturbed <- hushed(sdcMicro::pram(object))
  expect_identical(sdc_file(perturbed)$hhcivil, sdcMicro::extractManipData(perturbed)$hhcivil)
  expect_false(identical(sdc_file(perturbed)$hhcivil, data$hhcivil))
  expect_no_message(n_matches(perturbed))
  linked <- suppress_cells(object)
  expect_identical(is.na(release_data(linked)$ghost), is.na(release_data(linked)$relat))
})

test_that("key variables perturbed by PRAM, or copied in pramVars, are reported", {
  data <- transform(testdata, sex = factor(sex))
  set.seed(1)
  perturbed <- hushed(sdcMicro::pram(object_of(data), variables = "sex"))
  # Matches of exchanged values judge nobody.
  judged <- measures(hushed(file_check(perturbed)))
  judged <- judged[!is.na(judged$limit) & !is.na(judged$value), ]
  expect_identical(unique(judged$verdict), "not judged")
  expect_match(judged$note[[1]], "values were exchanged", fixed = TRUE)
  expect_message(
    n_matches(perturbed), "\"sex\"",
    class = "sdcRisk_message_perturbed_keys"
  )
  expect_no_message(n_matches(sdc_file(perturbed, state = "original")))
  # sdcMicro releases the copy, in which nothing is suppressed.
  copied <- hushed(sdcMicro::kAnon(object_of(pramVars = "relat"), k = 5))
  expect_gt(sum(is.na(slot_of(copied, "manipKeyVars")$relat)), 0)
  expect_identical(sum(is.na(sdcMicro::extractManipData(copied)$relat)), 0L)
  expect_warning(file <- sdc_file(copied), "relat", class = "sdcRisk_warning_unsafe_copy")
  expect_identical(is.na(file$relat), is.na(slot_of(copied, "manipKeyVars")$relat))
})

# Errors ---------------------------------------------------------------------------

test_that("damaged objects are classed errors", {
  damaged <- function(slot, value) {
    object <- full
    methods::slot(object, slot, check = FALSE) <- value
    object
  }
  cases <- list(
    damaged("origData", NULL), damaged("manipKeyVars", slot_of(full, "manipKeyVars")[1:10, ]),
    damaged("manipKeyVars", NULL), damaged("keyVars", 99), damaged("keyVars", 2:8),
    damaged("weightVar", 44), damaged("options", list(alpha = "a")),
    damaged("ghostVars", list(3)), damaged("keyVars", NULL),
    structure(list(), class = "sdcMicroObj")
  )
  for (case in cases) {
    expect_error(qar_risk(case), class = "sdcRisk_error_bad_data")
    expect_error(sdc_file(case), class = "sdcRisk_error_bad_data")
    expect_error(store_result(case, n_matches(full)), class = "sdcRisk_error_bad_data")
  }
  # As if made by a version with other slots.
  old <- full
  attr(old, "manipGhostVars") <- NULL
  expect_error(n_matches(old), "sdcMicro that is installed", class = "sdcRisk_error_bad_data")
  expect_match(message_of(n_matches(cases[[2]])), "have 10 records, its data 4580")
})

test_that("parts of an object, and sdcMicro's words, lead to the object", {
  expect_match(message_of(n_matches(slot_of(full, "risk"))), "give the object itself")
  counts <- sdcMicro::freqCalc(testdata, keys)
  expect_match(message_of(n_matches(counts)), "give the data, or the sdcMicroObj")
  expect_match(
    message_of(n_matches(full, slot_of(full, "manipKeyVars"))), "An sdcMicroObj brings its own"
  )
  expect_match(
    message_of(n_matches(full, keyVars = keys, w = "age")),
    "`keyVars` is `key_vars`, `w` is `weight_var` here",
    fixed = TRUE
  )
  expect_error(n_matches(full, "income2"), class = "sdcRisk_error_unknown_key_var")
  unweighted <- object_of(weightVar = NULL)
  expect_match(message_of(individual_risk(unweighted)), "`weightVar` of createSdcObj")
  expect_error(loglinear_risk(unweighted), class = "sdcRisk_error_bad_argument")
  expect_identical(
    as_plain(hushed(n_matches(unweighted))$records$n_matches),
    as_plain(sdcMicro::freq(unweighted))
  )
})

# Protected objects ------------------------------------------------------------------

expect_alive <- function(object, before) {
  expect_true(methods::validObject(object))
  for (type in c("kAnon", "risk", "pram", "ls", "recode", "general", "numrisk")) {
    expect_no_error(hushed(utils::capture.output(sdcMicro::print(object, type = type))))
  }
  expect_no_error(hushed(utils::capture.output(sdcMicro::show(object))))
  again <- hushed(sdcMicro::calcRisks(object))
  expect_true(all.equal(slot_of(again, "risk"), slot_of(object, "risk")))
  back <- sdcMicro::undolast(object)
  expect_identical(slot_of(back, "manipKeyVars"), slot_of(before, "manipKeyVars"))
  expect_identical(slot_of(back, "risk"), slot_of(before, "risk"))
}

test_that("suppress_cells() gives the object back as localSuppression() leaves it", {
  found <- hushed(suppress_cells(full, hh_id = NULL))
  object <- found$data
  expect_s4_class(object, "sdcMicroObj")
  plain <- hushed(suppress_cells(testdata, keys, weight_var = "sampling_weight"))
  released <- hushed(release_data(found, shuffle = FALSE, keep_ids = "ori_hid"))
  expect_identical(as.data.frame(released), plain$data)
  expect_identical(sdcMicro::extractManipData(object), plain$data)
  expect_identical(
    as.numeric(sdcMicro::kAnon_violations(object, FALSE, 3)), 0
  )
  expect_equal(
    as_plain(sdcMicro::freq(object)), as_plain(n_matches(object, hh_id = NULL)$records$n_matches)
  )
  noted <- slot_of(object, "localSuppression")
  expect_equal(noted$newSupps, found$estimates$n_suppressed)
  expect_identical(names(noted$supps), keys)
  expect_alive(object, full)
  again <- hushed(sdcMicro::kAnon(object, k = 5))
  expect_identical(as.numeric(sdcMicro::kAnon_violations(again, FALSE, 5)), 0)
})

test_that("invariant_pram() gives the object back as pram() leaves it", {
  data <- transform(testdata, roof = as.character(roof), sex = factor(sex))
  before <- object_of(data)
  set.seed(3)
  found <- hushed(invariant_pram(before))
  set.seed(3)
  plain <- hushed(invariant_pram(data, keys, weight_var = "sampling_weight"))
  released <- hushed(release_data(found, shuffle = FALSE, keep_ids = "ori_hid"))
  expect_identical(as.data.frame(released), plain$data)
  expect_identical(sdcMicro::extractManipData(found$data), plain$data)
  summary <- slot_of(found$data, "pram")$summary
  expect_identical(summary$nrChanges, plain$variables$n_changed)
  params <- slot_of(found$data, "pram")$params
  for (name in keys) {
    Rs <- params[[name]]$Rs
    expect_equal(unname(rowSums(Rs)), rep(1, nrow(Rs)))
    # Invariant: the expected margin is the margin.
    margin <- table(data[[name]])[rownames(Rs)]
    expect_equal(as_plain(as_plain(margin) %*% Rs), as_plain(margin))
  }
  expect_alive(found$data, before)
  expect_s3_class(pram_audit(found, before, n_sim = 10), "sdc_pram_audit")
  # Households of the object are kept together where it is said how.
  expect_no_error(hushed(invariant_pram(full)))
})

test_that("apply_recoding() gives the object back with factors", {
  few <- object_of(testdata, c("urbrur", "water", "relat", "sex"))
  levels <- list(water = hierarchy(testdata$water, widths = c(2, 4)))
  found <- hushed(recode_search(
    few,
    hierarchies = levels, constraint = list(k = 3), suppress = 0.02
  ))
  object <- apply_recoding(found, few)
  expect_s4_class(object, "sdcMicroObj")
  plain <- as.data.frame(apply_recoding(found, testdata))
  expect_identical(as.data.frame(sdc_file(object)), plain)
  expect_identical(as.numeric(sdcMicro::kAnon_violations(object, FALSE, 3)), 0)
  expect_alive(object, few)
})

test_that("other columns, a copy for PRAM and ghosts follow", {
  object <- object_of(testdata, c("urbrur", "sex"), pramVars = "sex")
  found <- hushed(suppress_cells(object, c("urbrur", "water", "sex"), k = 60))
  released <- sdcMicro::extractManipData(found$data)
  expect_identical(as.data.frame(released), as.data.frame(release_data(found, shuffle = FALSE)))
  expect_gt(sum(is.na(released$water)), 0)
  # Its copy for PRAM is blank where the key variable is.
  safe <- suppress_cells(object_of(key_vars = keys, pramVars = "relat"), k = 3)
  expect_no_warning(sdc_file(safe$data))
  released <- sdcMicro::extractManipData(safe$data)
  expect_identical(is.na(released$relat), is.na(slot_of(safe$data, "manipKeyVars")$relat))
  expect_gt(sum(is.na(released$relat)), 0)
})

# Stored results ----------------------------------------------------------------------

test_that("results survive calcRisks() and kAnon(), and come back", {
  object <- store_result(full, n_matches(full), qar = hushed(qar_risk(full)))
  expect_named(stored_results(object), c("n_matches", "qar"))
  expect_identical(stored_results(object, "qar"), hushed(qar_risk(full)))
  expect_identical(slot_of(object, "risk")$global, slot_of(full, "risk")$global)
  later <- hushed(sdcMicro::calcRisks(sdcMicro::kAnon(object, k = 3)))
  expect_message(
    stored <- stored_results(later), "\"n_matches\", \"qar\"",
    class = "sdcRisk_message_stale_result"
  )
  expect_identical(stored, stored_results(object))
  later <- store_result(later, after = n_matches(later), qar = NULL)
  expect_named(hushed(stored_results(later)), c("n_matches", "after"))
  expect_no_message(stored_results(later, "after"))
  expect_named(stored_results(sdcMicro::undolast(later)), c("n_matches", "qar"))
  emptied <- store_result(object, n_matches = NULL, qar = NULL)
  expect_identical(unname(stored_results(emptied)), list())
  expect_null(slot_of(emptied, "risk")$sdcRisk)
  expect_no_error(hushed(utils::capture.output(sdcMicro::show(object))))
})

test_that("a protection is stored without its data", {
  found <- hushed(suppress_cells(full, hh_id = NULL))
  object <- store_result(found$data, found)
  kept <- hushed(stored_results(object, "suppress_cells"))
  expect_null(kept$data)
  expect_identical(kept$estimates, found$estimates)
  expect_no_error(utils::capture.output(print(kept)))
})

test_that("every verb takes the result of a protection of an object", {
  blanked <- hushed(suppress_cells(full, k = 3, hh_id = NULL))
  set.seed(1)
  perturbed <- hushed(invariant_pram(full, hh_id = NULL))
  for (found in list(blanked, perturbed)) {
    expect_s4_class(found$data, "sdcMicroObj")
    expect_identical(dim(hushed(release_data(found, keep_ids = "ori_hid"))), dim(testdata))
    expect_gt(length(utils::capture.output(print(found))), 3)
    expect_s3_class(summary(found), "sdc_summary")
    expect_gt(nrow(as.data.frame(found)), 0)
    expect_identical(nrow(records_at_risk(found, 0)), nrow(testdata))
    expect_s3_class(utility_loss(full, found$data), "sdc_utility_loss")
    expect_identical(names(stored_results(hushed(store_result(found$data, found)))),
      sub("sdc_", "", class(found)[[1]])
    )
    file <- tempfile(fileext = ".html")
    expect_true(file.exists(hushed(sdc_report(found, file = file, pictures = FALSE))))
  }
  expect_true(all(pram_audit(perturbed, full, n_sim = 10)$estimates$n_above == 0))
  expect_equal(sum(pram_variance(perturbed, full, "sex")$count), nrow(testdata))
  expect_equal(sum(pram_transitions(perturbed, 1, full)$prob), 1)
})

test_that("continuous variables of an object are named, and are no identifiers", {
  numbers <- c("expend", "income", "savings")
  expect_match(
    text_of(summary(sdc_file(full))),
    "Not examined: 3 columns of numbers with many values, \"expend\", \"income\", \"savings\".",
    fixed = TRUE
  )
  roles <- file_check(full)$roles
  expect_identical(roles$role[match(numbers, roles$variable)], rep("continuous", 3))
  expect_no_match(text_of(summary(sdc_file(full))), "expend\" an identifier", fixed = TRUE)
})

test_that("what cannot be stored or found is a classed error", {
  expect_error(store_result(full), class = "sdcRisk_error_bad_argument")
  expect_error(store_result(full, 3), class = "sdcRisk_error_bad_argument")
  expect_error(store_result(testdata, n_matches(full)), class = "sdcRisk_error_bad_argument")
  matches <- n_matches(full)
  expect_error(store_result(full, matches, matches), "n_matches")
  object <- store_result(full, matches)
  expect_match(message_of(stored_results(object, "n_match")), "Did you mean \"n_matches\"?")
  expect_error(stored_results(full, "qar"), "Nothing is stored")
})

# The same numbers ------------------------------------------------------------------------

test_that("fk and Fk of freqCalc() are the numbers of matches", {
  francdat <- shipped("francdat")
  with_missing <- francdat
  with_missing[cbind(c(3, 4, 4, 5, 6), c(5, 2, 4, 6, 2))] <- NA
  free1 <- shipped("free1")
  cases <- list(
    list(testdata, keys, "sampling_weight"),
    list(francdat, c("Key1", "Key2", "Key3", "Key4"), "w"),
    list(with_missing, c("Num1", "Key1", "Num2", "Key2"), "w"),
    list(with_missing, c("Key1", "Key2", "Key3", "Key4"), "w"),
    list(free1, c("REGION", "SEX", "AGE", "MARSTAT", "KINDPERS"), "WEIGHT")
  )
  for (case in cases) {
    for (alpha in c(0, 0.5, 1)) {
      theirs <- sdcMicro::freqCalc(case[[1]], case[[2]], w = case[[3]], alpha = alpha)
      ours <- hushed(n_matches(
        case[[1]], case[[2]],
        weight_var = case[[3]], partial_weight = alpha
      ))$records
      expect_equal(as_plain(ours$n_matches), as_plain(theirs$fk))
      expect_equal(as_plain(ours$n_matches_weighted), as_plain(theirs$Fk))
    }
  }
})

test_that("alpha of the object counts, and records that miss all keys are the difference", {
  for (n_keys in c(1, 3)) {
    for (seed in 1:4) {
      for (prop in c(0.15, 0.4)) {
        for (alpha in c(0, 0.5, 1)) {
          data <- random_file(seed, n_keys, prop)
          object <- object_of(data, paste0("k", seq_len(n_keys)), weightVar = "w", alpha = alpha)
          ours <- hushed(n_matches(object))$records
          blank <- rowSums(!is.na(data[seq_len(n_keys)])) == 0
          complete <- rowSums(is.na(data[seq_len(n_keys)])) == 0
          expected <- ours$n_matches
          weighted <- ours$n_matches_weighted
          if (n_keys > 1) {
            expected[complete] <- expected[complete] - alpha * sum(blank)
            weighted[complete] <- weighted[complete] - alpha * sum(data$w[blank])
            expected[blank] <- nrow(data)
            weighted[blank] <- sum(data$w)
          }
          expect_equal(as_plain(sdcMicro::freq(object, "fk")), as_plain(expected))
          expect_equal(as_plain(sdcMicro::freq(object, "Fk")), as_plain(weighted))
        }
      }
    }
  }
})

test_that("individual risks are indivRisk()'s where it does not approximate", {
  counts <- sdcMicro::freqCalc(testdata, keys, w = "sampling_weight")
  ours <- individual_risk(object_of())$records$risk
  series <- sdcMicro::indivRisk(counts)$rk
  # Its exact method takes minutes where cells are large.
  some <- testdata[1:300, ]
  of_some <- sdcMicro::freqCalc(some, keys, w = "sampling_weight")
  exact <- sdcMicro::indivRisk(of_some, method = "exact")$rk
  expect_true(all(is.finite(exact)))
  expect_gt(max(of_some$fk), 5)
  expect_equal(
    individual_risk(some, keys, "sampling_weight")$records$risk, exact,
    tolerance = 1e-12
  )
  few <- counts$fk <= 2
  expect_equal(ours[few], series[few], tolerance = 1e-12)
  expect_equal(sum(series), 10.7783, tolerance = 1e-5)
  expect_equal(sum(ours), 10.7755, tolerance = 1e-5)
  expect_lt(max(abs(series / ours - 1)), 0.005)
  francdat <- shipped("francdat")
  theirs <- sdcMicro::measure_risk(francdat, keyVars = c(2, 4, 5, 6), w = 8)$Res[, "risk"]
  risk <- individual_risk(francdat, c("Key1", "Key2", "Key3", "Key4"), "w")$records$risk
  expect_equal(risk, as_plain(theirs), tolerance = 1e-12)
})

test_that("the risk of a household is one of these risks' product", {
  theirs <- slot_of(full, "risk")
  ours <- individual_risk(full)$records
  home <- match(testdata$ori_hid, unique(testdata$ori_hid))
  of_theirs <- 1 - tapply(1 - theirs$individual[, "risk"], home, prod)[home]
  expect_equal(ours$household_risk, as_plain(of_theirs), tolerance = 1e-3)
  expect_equal(sum(of_theirs), theirs$global$hier_risk_ER, tolerance = 1e-10)
})

test_that("with missing values risks agree where alpha is 1", {
  for (seed in 1:4) {
    data <- random_file(seed)
    usable <- rowSums(!is.na(data[1:3])) > 0
    data <- data[usable, ]
    object <- object_of(data, c("k1", "k2", "k3"), weightVar = "w")
    expect_no_message(ours <- individual_risk(object))
    theirs <- slot_of(object, "risk")$individual
    few <- theirs[, "fk"] <= 2
    expect_equal(ours$records$risk[few], as_plain(theirs[few, "risk"]), tolerance = 1e-9)
    expect_equal(ours$records$risk, as_plain(theirs[, "risk"]), tolerance = 0.05)
    less <- object_of(data, c("k1", "k2", "k3"), weightVar = "w", alpha = 0)
    expect_message(individual_risk(less), class = "sdcRisk_message_alpha_ignored")
  }
})

test_that("SUDA's records with a score are the sample uniques", {
  for (set in list(keys, keys[1:5], keys[c(2, 4, 6)])) {
    theirs <- sdcMicro::suda2(testdata, variables = set)
    ours <- hushed(n_matches(testdata, set))
    expect_identical(as_plain(theirs$score > 0), as_plain(ours$records$n_matches == 1))
    expect_equal(sum(theirs$disScore > 0), ours$estimates$n_unique)
  }
  # It skips what the record misses, and takes what others miss for another value.
  for (seed in 1:4) {
    data <- random_file(seed, 4)[1:4]
    values <- as.matrix(data)
    alone <- vapply(seq_len(nrow(values)), function(i) {
      known <- !is.na(values[i, ])
      wanted <- values[i, known]
      agrees <- apply(values[, known, drop = FALSE], 1, function(row) {
        all(!is.na(row)) && all(row == wanted)
      })
      any(known) && sum(agrees) == 1
    }, NA)
    theirs <- hushed(sdcMicro::suda2(data, variables = names(data)))
    expect_identical(as_plain(theirs$score > 0), as_plain(alone))
  }
})

test_that("distinct l-diversity is the number of sensitive values among the matches", {
  distinct <- function(object) {
    found <- slot_of(hushed(sdcMicro::ldiversity(object)), "risk")$ldiversity
    as_plain(found[, grep("Distinct", colnames(found))[1]])
  }
  object <- object_of(sensibleVar = "hhcivil")
  ours <- n_matches(object)
  expect_identical(as_plain(ours$records$n_sensitive), distinct(object))
  expect_identical(as_plain(ours$estimates$l_distinct), min(distinct(object)))
  # A missing sensitive value is a value to sdcMicro.
  some <- object_of(transform(
    testdata[1:20, ],
    hhcivil = replace(hhcivil, 2, NA)
  ), c("urbrur", "walls"), sensibleVar = "hhcivil")
  expect_true(all(distinct(some) >= hushed(n_matches(some))$records$n_sensitive))
  skip_if(
    utils::packageVersion("sdcMicro") < "5.8.1",
    "ldiversity() of sdcMicro before 5.8.1 treats missing keys in another way"
  )
  for (seed in 1:4) {
    object <- object_of(
      random_file(seed), c("k1", "k2", "k3"),
      weightVar = "w", sensibleVar = "s"
    )
    ours <- hushed(n_matches(object, missing = "category"))$records$n_sensitive
    expect_identical(as_plain(ours), distinct(object))
  }
})

test_that("an object remembers what columns reveal of the values before a recoding", {
  set.seed(1)
  n <- 2000
  d <- data.frame(age = sample(20:59, n, TRUE), sex = sample(2, n, TRUE), w = 10)
  d$partner <- ifelse(stats::runif(n) < 0.85, d$age, sample(20:59, n, TRUE))
  told_of <- function(x) {
    recoded <- hushed(global_recode(x, age = c(20, 30, 40, 50)))
    release <- hushed(release_data(suppress_cells(recoded, k = 3)))
    lapply(list(recoded, release), function(file) {
      page <- hushed(file_check(file, k = 3))
      list(
        page$estimates$verdict[page$estimates$measure == "k"],
        page$diagnostics$told_before[c("variable", "by", "n")]
      )
    })
  }
  of_file <- told_of(sdc_file(d, c("age", "sex"), weight_var = "w"))
  expect_identical(of_file[[1]][[1]], "unclear")
  expect_identical(of_file[[1]][[2]]$by, "partner")
  object <- object_of(d, c("age", "sex"), weightVar = "w")
  expect_identical(told_of(object), of_file)
})

test_that("a recoded object is released and reported as its data frame is", {
  used <- c("urbrur", "roof", "age", "sex")
  plain <- sdc_file(testdata, used, weight_var = "sampling_weight", hh_id = "ori_hid")
  object <- object_of(key_vars = used, numVars = "income", hhId = "ori_hid")
  chains <- list(
    function(x) global_recode(x, age = c(0, 15, 30, 45, 60, 75)),
    function(x) top_code(x, age = 70), function(x) microaggregate(x, "income", k = 5)
  )
  for (chain in chains) {
    recoded <- hushed(chain(object))
    told <- attr(hushed(release_data(recoded)), "kept")$told$columns
    released <- hushed(release_data(recoded, shuffle = FALSE))
    expected <- hushed(release_data(chain(plain), shuffle = FALSE))
    expect_setequal(names(released), names(expected))
    expect_false("ori_hid" %in% names(released))
    for (name in names(expected)) {
      expect_identical(as.character(released[[name]]), as.character(expected[[name]]))
    }
    of_plain <- attr(hushed(release_data(chain(plain))), "kept")$told$columns
    expect_identical(told[c("variable", "by", "n")], of_plain[c("variable", "by", "n")])
    suppressed <- hushed(suppress_cells(recoded, k = 3))
    before <- hushed(file_check(object))
    path <- tempfile(fileext = ".html")
    hushed(sdc_report(before, suppressed, after = file_check(suppressed), file = path))
    log <- jsonlite::read_json(sub("html$", "json", path))
    expect_setequal(
      vapply(log$results, function(x) paste(x[["function"]], x$stage), ""),
      c("file_check before", "suppress_cells before", "file_check after")
    )
    hushed(sdc_report(data = object, before, file = path, overwrite = TRUE))
  }
  expect_match(message_of(release_data(object)), "It is as it came")
})

test_that("perturbed objects keep no household numbers in their release", {
  released <- hushed(release_data(invariant_pram(full, max_match_prob = 0.5)))
  expect_false("ori_hid" %in% names(released))
})

test_that("the page of an object says that the order of its records reveals suppressed values", {
  skip_if_not_installed("sdcMicro")
  set.seed(23)
  data <- data.frame(
    region = factor(rep(1:60, each = 10)), edu = factor(sample(4, 600, TRUE)),
    sex = factor(sample(2, 600, TRUE))
  )
  object <- sdcMicro::createSdcObj(data, keyVars = names(data))
  suppressed <- sdcMicro::localSuppression(object, k = 3, importance = c(3, 1, 2))
  told <- NULL
  withCallingHandlers(
    file_check(suppressed),
    sdcRisk_message_told_by_order = function(m) told <<- m,
    message = function(m) invokeRestart("muffleMessage")
  )
  expect_identical(told$told$variable[[1]], "region")
  expect_gt(told$told$share[[1]], 0.9)
  expect_match(conditionMessage(told), "extractManipData() keeps theirs", fixed = TRUE)
  # In a random order it reveals nothing.
  mixed <- sdcMicro::createSdcObj(data[sample(600), ], keyVars = names(data))
  mixed <- sdcMicro::localSuppression(mixed, k = 3, importance = c(3, 1, 2))
  expect_no_message(file_check(mixed), class = "sdcRisk_message_told_by_order")
  expect_no_match(text_of(summary(hushed(release_data(suppressed)))), "before its protection")
})
