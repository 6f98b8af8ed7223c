# The page: its numbers are the methods' own, and no verdict is "ok" by default.

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
checked <- quietly(file_check(nals_prison, keys, weight_var = "WEIGHT"))

value_of <- function(x, measure, field = "value") {
  x$estimates[[field]][match(measure, x$estimates$measure)]
}

# A file whose columns have every role.
file_of_all <- function(n = 300, seed = 5) {
  set.seed(seed)
  data.frame(
    region = sample(4, n, TRUE), age = sample(c(20:60, NA), n, TRUE),
    sex = sample(c("f", "m"), n, TRUE), job = sample(c(letters[1:6], NA), n, TRUE),
    weight = round(runif(n, 20, 60), 1), home = rep(seq_len(n / 3), each = 3),
    ill = sample(c("yes", "no"), n, TRUE)
  )
}
four <- c("region", "age", "sex", "job")

test_that("numbers are the methods' own, to the last digit", {
  x <- quietly(file_check(
    file_of_all(), four, weight_var = "weight", hh_id = "home", sensitive = "ill"
  ))
  data <- file_of_all()
  own <- quietly(list(
    matches = n_matches(data, four, sensitive = "ill"), qar = qar_risk(data, four),
    single = individual_risk(data, four, "weight", "home"),
    model = loglinear_risk(data, four, weight_var = "weight")$estimates,
    copula = copula_uniqueness(
      data, four, pop_size = sum(data$weight), weight_var = "weight"
    )$estimates,
    pitman = population_uniqueness(data, four, pop_size = sum(data$weight))$estimates,
    tables = exhaustive_tabulation(data, four)$estimates, keys = key_overview(data, four)
  ))
  expected <- list(
    k = min(own$matches$records$n_matches), n_unique = own$matches$estimates$n_unique,
    prop_unique = own$matches$estimates$prop_unique,
    n_homogeneous = own$matches$estimates$n_homogeneous,
    qar = own$qar$estimates$risk, set_risk = own$qar$sets$set_risk[[1]],
    journalist = own$single$estimates$journalist_max,
    expected_reidentifications = own$single$estimates$expected_reidentifications,
    reidentification_rate = own$single$estimates$reidentification_rate,
    household = own$single$estimates$household_max,
    tau1 = own$model$tau1, tau1_rate = own$model$tau1_rate, tau2 = own$model$tau2,
    population_uniqueness = own$copula$population_uniqueness,
    pitman = own$pitman$population_uniqueness,
    small_cells = own$tables$prop_cells, small_cell_records = own$tables$prop_records
  )
  for (measure in names(expected)) {
    expect_identical(value_of(x, measure), as.double(expected[[measure]]), label = measure)
  }
  expect_identical(value_of(x, "population_uniqueness", "high"), own$copula$uniqueness_high)
  if (!is.na(own$model$tau1_low)) {
    expect_identical(value_of(x, "tau1_corrected"), own$model$tau1_corrected)
    expect_identical(value_of(x, "tau1_corrected", "low"), own$model$tau1_low)
  }
  at <- match(x$drivers$variable, own$keys$estimates$variable)
  expect_identical(x$drivers$n_unique_without, own$keys$estimates$n_unique_without[at])
  expect_identical(x$records$n_matches, own$matches$records$n_matches)
  expect_identical(x$records$journalist_risk, own$single$records$risk)
})

test_that("verdicts and records above follow the limits", {
  e <- checked$estimates
  expect_identical(names(e), c(
    "question", "measure", "value", "low", "high", "scenario", "limit", "verdict",
    "n_records_above", "reason"
  ))
  expect_identical(value_of(checked, "k", "verdict"), "above")
  expect_identical(value_of(checked, "k", "n_records_above"), 88L)
  expect_identical(value_of(checked, "journalist", "verdict"), "ok")
  expect_identical(e$verdict[is.na(e$limit)], rep("no limit", nrow(e) - 2))
  strict <- quietly(file_check(
    nals_prison, keys, weight_var = "WEIGHT",
    limit = list(journalist = 0.01, qar = 0.5, tau1 = 0, small_cells = 0.05)
  ))
  expect_identical(value_of(strict, "journalist", "verdict"), "above")
  expect_identical(
    value_of(strict, "journalist", "n_records_above"), sum(strict$records$journalist_risk > 0.01)
  )
  expect_identical(value_of(strict, "qar", "verdict"), "ok")
  expect_identical(value_of(strict, "small_cells", "verdict"), "above")
  # Limits given take the place of the defaults.
  expect_identical(value_of(strict, "k", "verdict"), "no limit")
  expect_identical(
    records_at_risk(strict)$record,
    records_at_risk(quietly(individual_risk(nals_prison, keys, "WEIGHT")), 0.01)$record |>
      (\(r) r[order(strict$records$n_matches[r], -strict$records$journalist_risk[r])])()
  )
})

test_that("what was not measured is never ok, and says why", {
  bare <- quietly(file_check(nals_prison[keys]))
  gone <- bare$estimates[bare$estimates$scenario == "journalist", ]
  expect_identical(unique(gone$verdict), "not applicable")
  expect_match(gone$reason, "neither weights nor the size")
  expect_match(text_of(bare), "not measured: journalist")
  expect_match(unclass(interpret(bare)), "not measured: journalist \\(neither weights")
  # An error's first line.
  few <- quietly(file_check(nals_prison[1:20, ], keys, weight_var = "WEIGHT"))
  expect_match(value_of(few, "population_uniqueness", "reason"), "at least 50 records")
  # A household that is missing costs the household risk alone.
  data <- file_of_all()
  data$home[[1]] <- NA
  partly <- quietly(file_check(
    data, four, weight_var = "weight", hh_id = "home", limit = list(household = 0.5)
  ))
  expect_identical(value_of(partly, "household", "verdict"), "not applicable")
  expect_match(value_of(partly, "household", "reason"), "must have a household")
  expect_false(is.na(value_of(partly, "journalist")))
  # A limit on what has no row.
  limited <- quietly(file_check(nals_prison, keys, limit = list(household = 0.1)))
  expect_identical(value_of(limited, "household", "verdict"), "not applicable")
  expect_match(value_of(limited, "household", "reason"), "hh_id")
  for (x in list(bare, few, partly, limited)) {
    expect_true(all(is.na(x$estimates$value) == (x$estimates$verdict == "not applicable")))
    expect_true(all(nzchar(x$estimates$reason) == is.na(x$estimates$value)))
  }
})

test_that("a model that does not fit keeps no limit", {
  wave <- panel_waves$wave2
  six <- c("gender", "age_group", "education", "civil_status", "n_children", "urbanity")
  # By the plain model 53.6 population uniques are expected; there are 83.
  x <- quietly(file_check(wave, six, weight_var = "weight", limit = list(tau1 = 60, tau2 = 100)))
  expect_lt(value_of(x, "tau1"), 60)
  expect_identical(value_of(x, "tau1", "verdict"), "not applicable")
  expect_identical(value_of(x, "tau2", "verdict"), "above")
  expect_match(text_of(x), "do not report its tau1 and tau2")
  expect_identical(utils::tail(x$next_steps, 1), better_model)
  expect_lte(max(nchar(format(x, width = 80))), 80)
})

test_that("large files leave models for later, and the page says what to run", {
  off <- quietly(file_check(nals_prison, keys, weight_var = "WEIGHT", models = FALSE))
  expect_match(value_of(off, "tau1", "reason"), "run loglinear_risk(file)", fixed = TRUE)
  expect_true("loglinear_risk(file)" %in% off$next_steps)
  expect_true(any(startsWith(off$next_steps, "copula_uniqueness(file, pop_size = 123105")))
  expect_match(not_modelled(most_modelled + 1, NULL, "f()"), "more than 200,000 records; run f()",
               fixed = TRUE)
  expect_null(not_modelled(most_modelled, NULL, "f()"))
  expect_null(not_modelled(1e7, TRUE, "f()"))
})

test_that("a census, equal weights and weights that average 1 are told apart", {
  data <- transform(file_of_all()[c("region", "sex")], job = rep(1:6, 50))
  census <- quietly(file_check(data, pop_size = 300))
  expect_identical(value_of(census, "journalist"), 1 / value_of(census, "k"))
  expect_match(text_of(census), "the file is the whole population")
  ones <- quietly(file_check(transform(data, w = 1), weight_var = "w"))
  expect_equal(ones$estimates$value, census$estimates$value)
  sample <- quietly(file_check(data, sampling_fraction = 0.1))
  same <- quietly(file_check(transform(data, w = 10), weight_var = "w"))
  expect_equal(value_of(sample, "journalist"), value_of(same, "journalist"))
  expect_match(text_of(sample), "No weights: every record stands for as many people")
  mean_one <- quietly(file_check(
    transform(data, w = rep(c(0.5, 1.5), 150)), weight_var = "w"
  ))
  expect_match(text_of(mean_one), "they do not expand the file")
  expect_no_match(text_of(mean_one), "the whole population")
})

test_that("measures that contradict each other are named with the reason", {
  expect_true(all(c("k and journalist", "n_unique and tau1") %in% checked$contradictions$measures))
  expect_match(text_of(checked), "prosecutor or journalist")
  expect_match(text_of(checked), "sample or population")
  x <- quietly(file_check(file_of_all(), four, weight_var = "weight"))
  rules <- x$contradictions[x$contradictions$measures == "sample uniques", ]
  counts <- quietly(c(
    n_matches(file_of_all(), four)$estimates$n_unique,
    individual_risk(file_of_all(), four, "weight")$estimates$n_unique,
    loglinear_risk(file_of_all(), four, weight_var = "weight")$estimates$n_unique
  ))
  expect_match(rules$reason, paste0(
    "missing rule. ", counts[[1]], " by n_matches.*", counts[[2]], " by individual_risk.*",
    counts[[3]], " by loglinear_risk"
  ))
  # One rule for all, and nothing differs.
  one <- quietly(file_check(file_of_all(), four, weight_var = "weight", missing = "exclude"))
  expect_false("sample uniques" %in% one$contradictions$measures)
  other <- quietly(file_check(file_of_all(), four, weight_var = "weight", pop_size = 5e4))
  expect_match(text_of(other), "the weights sum to")
})

test_that("the page fits, code runs as it stands, values of records stay out", {
  x <- quietly(file_check(
    file_of_all(), four, weight_var = "weight", hh_id = "home", sensitive = "ill"
  ))
  for (page in list(checked, x)) {
    lines <- format(page, width = 80)
    expect_lte(length(lines), 60)
    expect_lte(max(nchar(lines)), 80)
  }
  expect_identical(length(strsplit(unclass(interpret(x)), "[.] [A-Z]")[[1]]), 3L)
  here <- new.env()
  for (line in checked$next_steps) {
    expect_no_error(quietly(eval(parse(text = line), here)))
  }
  # Next steps name the data as the caller did.
  expect_match(checked$next_steps[[1]], "sdc_file(nals_prison, ", fixed = TRUE)
  secret <- data.frame(a = c(rep(1, 30), 987654), b = c(rep("x", 30), "canary"))
  print <- text_of(quietly(file_check(secret, pop_size = 1000)))
  expect_no_match(print, "987654|canary")
})

test_that("roles come from the file, guesses are shown and never taken", {
  file <- sdc_file(file_of_all(), four, weight_var = "weight", missing = "category")
  x <- quietly(file_check(file))
  expect_identical(x$settings$missing, "category")
  expect_identical(x$settings$weight_var, "weight")
  expect_identical(x$roles$role[x$roles$variable == "weight"], "weight")
  all <- quietly(file_check(file_of_all()[c(four, "weight")]))
  expect_identical(all$settings$key_vars, c(four, "weight"))
  expect_identical(all$roles$looks_like[all$roles$variable == "weight"], "weight")
  expect_match(all$next_steps[[2]], "weight_var = \"weight\"", fixed = TRUE)
})

test_that("limits are checked", {
  refused <- function(limit, pattern) {
    expect_error(
      file_check(nals_prison, keys, limit = limit), pattern,
      class = "sdcRisk_error_bad_argument"
    )
  }
  refused(list(jornalist = 0.05), "Did you mean \"journalist\"")
  refused(list(journalist = 5), "5 % is 0.05")
  refused(list(k = 0.05), "is one of 20")
  refused(list(k = 2.5), "whole number of records of at least 1")
  refused(list(k = 3, k = 5), "once")
  refused(3, "named by its measure")
  refused(list(tau1 = -1), "at least 0")
  refused(list(qar = "a"), "from 0 to 1")
  none <- quietly(file_check(nals_prison, keys, limit = list()))
  expect_identical(sum(none$estimates$verdict %in% c("ok", "above")), 0L)
  expect_match(text_of(none), "no limit was set")
  expect_error(records_at_risk(none), class = "sdcRisk_error_bad_argument")
  # A named vector is a list of limits.
  expect_identical(
    quietly(file_check(nals_prison, keys, limit = c(k = 2)))$settings$limit, list(k = 2)
  )
})

test_that("an sdcMicroObj has the numbers of its own, blanks matching everything", {
  skip_if_not_installed("sdcMicro")
  object <- sdcMicro::createSdcObj(
    sdcMicro::testdata, c("urbrur", "roof", "walls", "water", "relat"),
    weightVar = "sampling_weight"
  )
  object <- quietly(sdcMicro::kAnon(object, k = 3))
  x <- quietly(file_check(object, models = FALSE))
  own <- quietly(list(n_matches(object), individual_risk(object)))
  expect_identical(value_of(x, "k"), as.double(min(own[[1]]$records$n_matches)))
  expect_identical(value_of(x, "k", "verdict"), "ok")
  expect_identical(own[[2]]$settings$missing, "wildcard")
  expect_identical(value_of(x, "journalist"), own[[2]]$estimates$journalist_max)
})

test_that("odd files have a page or a classed error", {
  expect_error(file_check(nals_prison[0, ]), class = "sdcRisk_error_bad_data")
  incomplete <- transform(nals_prison, WEIGHT = replace(WEIGHT, 3, NA))
  expect_error(
    file_check(incomplete, keys, weight_var = "WEIGHT"), class = "sdcRisk_error_bad_weights"
  )
  pages <- quietly(list(
    one = file_check(nals_prison[1, ], keys, weight_var = "WEIGHT"),
    unique = file_check(data.frame(id = 1:60, x = 60:1 / 7), pop_size = 1e4),
    empty = file_check(data.frame(a = rep(NA, 30), b = NA_real_), pop_size = 1000),
    column = file_check(nals_prison, "EDUC3", weight_var = "WEIGHT"),
    cell = file_check(data.frame(a = rep(1, 60), b = "x"), pop_size = 600)
  ))
  for (x in pages) {
    expect_lte(length(format(x)), 60)
    expect_lte(max(nchar(format(x, width = 80))), 80)
    expect_s3_class(interpret(x), "sdc_sentence")
    expect_false(any(x$estimates$verdict == "ok" & is.na(x$estimates$value)))
  }
  expect_identical(value_of(pages$unique, "k", "n_records_above"), 60L)
  expect_identical(pages$column$settings$p, 1L)
  # One key variable: leaving it out leaves nothing.
  expect_true(all(is.na(pages$column$drivers$unique_change)))
})

test_that("verbs work: tidy, glance, augment, summary, comparison, picture", {
  expect_identical(generics::tidy(checked)$estimate, checked$estimates$value)
  expect_identical(generics::glance(checked)$n_above, 1L)
  expect_identical(as.data.frame(checked), checked$estimates)
  added <- generics::augment(checked, nals_prison)
  expect_identical(added$.n_matches, checked$records$n_matches)
  expect_error(
    generics::augment(checked, nals_prison[-1, ]), class = "sdcRisk_error_mismatched_data"
  )
  expect_output(print(summary(checked, by = "EDUC3", data = nals_prison)), "record risk")
  fewer <- quietly(file_check(nals_prison, keys[-1], weight_var = "WEIGHT"))
  comparison <- compare_risk(checked, fewer)
  expect_match(text_of(comparison), "without \"CENREG\"")
  table <- as.data.frame(comparison)
  expect_identical(
    table$estimate[table$term == "n_unique"],
    c(value_of(checked, "n_unique"), value_of(fewer, "n_unique"))
  )
  skip_if_not_installed("ggplot2")
  points <- ggplot2::layer_data(ggplot2::autoplot(checked), 4)
  e <- checked$estimates[!are_plain(checked$estimates), ]
  expect_identical(nrow(points), nrow(e))
  # k stands as 1/k, and limits beside their measures.
  limits <- ggplot2::layer_data(ggplot2::autoplot(checked), 3)
  expect_setequal(round(10^limits$x, 6), round(c(1 / 3, 0.05), 6))
})

test_that("the page is the one that was read", {
  local_reproducible_output(width = 80)
  expect_snapshot(checked)
  expect_snapshot(interpret(checked), transform = no_version)
})

test_that("one page never says both to report tau1 and not to", {
  set.seed(4)
  n <- 1200
  a <- sample(6, n, TRUE)
  data <- data.frame(
    a = a, b = (a + sample(0:1, n, TRUE)) %% 6, c = (a * 2 + sample(0:2, n, TRUE)) %% 7,
    d = sample(5, n, TRUE), w = 40
  )
  x <- quietly(file_check(data, c("a", "b", "c", "d"), weight_var = "w"))
  expect_identical(
    quietly(loglinear_risk(data, c("a", "b", "c", "d"), weight_var = "w"))$estimates$status[[1]],
    "underfits"
  )
  page <- paste(format(x), collapse = " ")
  expect_match(page, "do not report its tau1 and tau2")
  expect_false(any(grepl("tau", x$contradictions$report)))
  expect_match(gsub(" +", " ", page), "journalist risk and population_uniqueness where nobody can")
})

test_that("code to run next stays whole, whatever the data and their names", {
  set.seed(2)
  long <- stats::setNames(
    as.data.frame(matrix(sample(4, 1200, TRUE), 200)),
    paste("a rather long variable name number", 1:6)
  )
  lines <- format(quietly(file_check(long)), width = 80)
  at <- grep("file <- sdc_file(", lines, fixed = TRUE)
  ends <- at + which(grepl(")$", lines[at:length(lines)]))[[1]] - 1
  code <- paste(lines[at:ends], collapse = "\n")
  file <- eval(parse(text = sub("file <- ", "", code, fixed = TRUE)))
  expect_identical(file$roles$key_vars, names(long))

  files <- list(d = long)
  step <- function(x) x$next_steps[[1]]
  expect_match(step(quietly(file_check(files$d))), "sdc_file(files$d, ", fixed = TRUE)
  expect_match(step(quietly(file_check(head(long, 50)))), "sdc_file(head(long, 50), ", fixed = TRUE)
  expect_match(step(quietly(do.call(file_check, list(long)))), "sdc_file(data, ", fixed = TRUE)
  file <- other <- sdc_file(long)
  expect_identical(step(quietly(file_check(other))), "file <- other")
  expect_match(step(quietly(file_check(file))), "^records_at_risk\\(n_matches\\(file")
  expect_match(
    step(quietly(file_check(other, key_vars = 1:2))), "sdc_file(other, key_vars = ", fixed = TRUE
  )

  many <- stats::setNames(
    as.data.frame(matrix(sample(4, 200 * 60, TRUE), 200)),
    paste0("a rather long variable name number ", 1:60)
  )
  x <- quietly(file_check(many))
  expect_lte(length(format(x, width = 80)), 60)
  expect_match(step(x), "key_vars = names(many)[1:60]", fixed = TRUE)
  expect_identical(eval(runs_code(c(1:3, 5, 7:8))), c(1:3, 5, 7:8) + 0)
})

test_that("a table of the page is never cut by a long interval", {
  set.seed(1)
  data <- data.frame(a = sample(9, 300, TRUE), b = sample(7, 300, TRUE), w = 10 + stats::runif(300))
  lines <- format(quietly(file_check(data, c("a", "b"), weight_var = "w")), width = 80)
  expect_true(any(grepl("tau2 +[0-9.]+ \\[[0-9.]+, [0-9.]+\\]", lines)))
  expect_false(any(grepl("...", lines, fixed = TRUE)))
})

test_that("risks by weights are not judged where the population is another one", {
  set.seed(2)
  data <- data.frame(
    a = sample(8, 400, TRUE), b = sample(6, 400, TRUE), c = sample(3, 400, TRUE),
    w = stats::runif(400, 125, 375)
  )
  x <- quietly(file_check(data, c("a", "b", "c"), weight_var = "w", pop_size = 1000))
  at <- match("journalist", x$estimates$measure)
  expect_identical(x$estimates$verdict[[at]], "not applicable")
  expect_identical(x$estimates$reason[[at]], "weights and population disagree")
  lines <- format(x, width = 80)
  expect_match(lines[[1]], "unclear: journalist")
  expect_true(any(grepl("largest record risk .*unclear", lines)))
})

test_that("a record without a household takes nothing from the records", {
  data <- file_of_all()
  whole <- quietly(file_check(data, four, weight_var = "weight", hh_id = "home"))
  data$home[[1]] <- NA
  x <- quietly(file_check(data, four, weight_var = "weight", hh_id = "home"))
  for (measure in c("qar", "set_risk")) {
    expect_identical(value_of(x, measure), value_of(whole, measure))
  }
  expect_identical(value_of(x, "household"), NA_real_)
})

test_that("weights that sum to fewer people than records are named as what they are", {
  data <- file_of_all()
  data$weight <- 0.3
  x <- quietly(file_check(data, four, weight_var = "weight"))
  expect_identical(
    value_of(x, "population_uniqueness", "reason"),
    "the weights sum to fewer people than the file has records"
  )
  expect_false(any(grepl("sampling fraction", format(x))))
})

test_that("code in place of a value is refused by the argument it was given for", {
  data <- data.frame(a = 1:3, w = 4)
  refused <- expect_error(
    file_check(data, "a", weight_var = quote(x)), class = "sdcRisk_error_bad_argument"
  )
  expect_identical(refused$argument, "weight_var")
  refused <- expect_error(
    sdc_file(sdc_file(data), pop_size = quote(x + y)), class = "sdcRisk_error_bad_argument"
  )
  expect_identical(refused$argument, "pop_size")
})
