# The verbs that read a result.

skip_on_cran()

example_file <- function() {
  random_file(90, levels = c(2, 8, 5, 3, 7, 2, 4), missing_rate = 0.05, seed = 61)
}

example_risk <- function(data = example_file(), ...) {
  arguments <- utils::modifyList(list(p = 2:3, alpha = c(0.05, 0.1), pi_u = 0.3), list(...))
  quietly(do.call(qar_risk, c(list(data), arguments)))
}

# A method of its own, with one risk per record, to see what all have in common.
for (method in list(
  list("format", function(x, ...) "Demonstration"),
  list("record_risk", function(x) x$records$risk)
)) {
  registerS3method(method[[1]], "sdc_demo", method[[2]], envir = asNamespace("sdcRisk"))
}

sdcRisk:::declare_measure("demo", ids = "model", terms = c("mean", "max"))

demo_result <- function(data, risk) {
  table <- sdcRisk:::key_table(data, c("v1", "v2"))
  sdcRisk:::new_sdc_result(
    "sdc_demo",
    estimates = data.frame(
      model = c("a", "b"), mean = c(0.25, 0.5), max = c(1, 2), mean_se = c(0.01, 0.02),
      mean_low = c(0.2, 0.4), mean_high = c(0.3, 0.6)
    ),
    records = if (!is.null(risk)) data.frame(risk = risk, unique = risk == 1),
    settings = list(key_vars = c("v1", "v2"), fingerprint = table$fingerprint),
    diagnostics = list(), call = quote(demo(data))
  )
}

# Tables of results --------------------------------------------------------

test_that("tables below each other are those of rbind()", {
  parts <- list(
    data.frame(p = 1L, name = "a", risk = 0.25), NULL,
    data.frame(p = 2.5, name = c("b", NA), risk = c(NA, 1)),
    data.frame(p = integer(), name = character(), risk = double())
  )
  stack <- sdcRisk:::stack_frames
  expect_identical(stack(parts), do.call(rbind, parts))
  expect_identical(stack(parts[c(4, 1)]), do.call(rbind, parts[c(4, 1)]))
  expect_identical(stack(list(x = parts[[3]])), parts[[3]])
  expect_null(stack(list()))
  rows <- data.frame(a = 1:3, b = letters[1:3])
  picked <- sdcRisk:::numbered_rows(rows, c(3, 1))
  expect_identical(picked, data.frame(a = c(3L, 1L), b = c("c", "a")))
  expect_identical(nrow(sdcRisk:::numbered_rows(rows, rep(FALSE, 3))), 0L)
})

# Print and words ----------------------------------------------------------

test_that("a print has at most 16 lines, all of them to the standard output", {
  data <- example_file()
  with_id <- cbind(data, id = seq_len(nrow(data)))
  results <- list(
    example_risk(), example_risk(p = 2), example_risk(sets = FALSE),
    example_risk(with_id, p = 1:3), example_risk(with_id, p = 1:6, theta_one = "exclude"),
    example_risk(with_id, p = 3, theta_one = "clamp"), example_risk(p = 7),
    example_risk(missing = "exclude"), example_risk(data.frame(a = 1:3, b = 3:1), p = 1)
  )
  for (result in results) {
    errors <- utils::capture.output(
      lines <- utils::capture.output(returned <- withVisible(print(result))),
      type = "message"
    )
    expect_identical(errors, character())
    expect_lte(length(lines), 16)
    expect_gte(length(lines), 5)
    expect_identical(returned, list(value = result, visible = FALSE))
    expect_identical(lines, format(result))
    expect_lte(max(nchar(lines)), getOption("width"))
  }
})

test_that("the print says question, numbers, scenario and what the risk is given", {
  data <- example_file()
  result <- example_risk(data, p = 3, alpha = 0.05)
  shown <- paste(lines_of(result), collapse = "\n")
  for (part in c(
    "90 records", "7 key variables", "missing is a value of its own", "prosecutor",
    "risks are conditional on an attempt", "T(3, 0.05)", result$sets$key_set[[1]],
    formatC(result$estimates$risk, digits = 3, format = "fg", flag = "#"),
    formatC(result$estimates$threshold, digits = 3, format = "fg", flag = "#"),
    paste0("35 key sets, ", result$estimates$n_exceedances, " above u"),
    "pi_u from 0.02 to 0.20"
  )) {
    expect_match(shown, part, fixed = TRUE)
  }
  threshold <- range(result$diagnostics$threshold$risk, na.rm = TRUE)
  for (risk in threshold) {
    expect_match(shown, formatC(risk, digits = 3, format = "fg", flag = "#"), fixed = TRUE)
  }
  complete <- sum(stats::complete.cases(data))
  excluded <- paste(lines_of(example_risk(data, missing = "exclude")), collapse = "\n")
  expect_match(excluded, paste(90 - complete, "incomplete records excluded"))
  expect_match(excluded, paste(complete, "records, 7 key"))
})

test_that("the print of several sizes names the riskiest key set of the size it speaks of", {
  result <- example_risk(p = 2:4)
  line <- grep("Riskiest", lines_of(result), value = TRUE)
  first <- result$sets[result$sets$p == 2, ][1, ]
  names_size <- grepl("4", sub("\\(.*", "", line))
  expect_true(grepl(paste0(": ", first$key_set, " ("), line, fixed = TRUE) || names_size)
})

test_that("the print makes no claim that the numbers refute", {
  # Every record is identified by every set: nothing has more than 100%.
  certain <- example_risk(data.frame(a = 1:9, b = 9:1, c = rep(1:3, 3)), p = 1)
  expect_false(any(grepl("more than 100", lines_of(certain))))
  # One set only: no share of the sets lies above its risk.
  single <- example_risk(p = 7)
  expect_false(any(grepl("of the key sets have more than", lines_of(single))))
  # No exceedance: T is the largest risk.
  equal <- example_risk(data.frame(a = c(1, 1, 2), b = c(1, 2, 2), c = c(2, 1, 1)), p = 1)
  expect_identical(equal$estimates$status, rep("no_exceedance", 2))
  expect_false(any(grepl("of the key sets have more than", lines_of(equal))))
})

test_that("interpret() is three sentences with the number, its level, scenario and limits", {
  result <- example_risk(p = 3, alpha = 0.05)
  sentence <- interpret(result)
  expect_s3_class(sentence, c("sdc_sentence", "character"))
  expect_length(sentence, 1)
  for (part in c(
    formatC(result$estimates$risk, digits = 3, format = "fg", flag = "#"), "alpha = 0.05",
    "p = 3", "prosecutor", "conditional on an attempt", "90 records", "7 key variables",
    "pi_u = 0.3",
    "2023", "another risk", "5%", "35 sets", paste(result$estimates$n_exceedances, "riskiest")
  )) {
    expect_match(sentence, part, fixed = TRUE)
  }
  expect_match(sentence, "[.]$")
  expect_length(gregexpr("[.] [A-Z]", sentence)[[1]], 2)
  expect_identical(
    paste(utils::capture.output(print(sentence)), collapse = " "), as.character(unclass(sentence))
  )
  expect_error(interpret(1), class = "sdcRisk_error_bad_argument")
  expect_error(interpret(data.frame(a = 1)), class = "sdcRisk_error_bad_argument")
})

test_that("interpret() of a T that is not determined makes no statement about it", {
  data <- data.frame(lapply(c(2, 3, 4, 6, 10, 30), function(k) pmin(1:50, k)))
  names(data) <- letters[1:6]
  result <- example_risk(data, p = 1, alpha = 0.05, pi_u = 0.2, pwm = "unbiased")
  expect_identical(result$estimates$risk, NA_real_)
  expect_match(interpret(result), "could not be determined")
  expect_false(grepl("has a larger average chance", interpret(result)))
})

test_that("the warning about identifying sets says what became of T", {
  data <- data.frame(a = 1:6, b = 6:1, c = letters[1:6])
  warned <- tryCatch(
    qar_risk(data, p = 2, theta_one = "exclude"),
    sdcRisk_warning_theta_one = conditionMessage
  )
  expect_false(grepl("risk is 1", warned))
})

# Tables -------------------------------------------------------------------

test_that("as.data.frame() is the table of key sets", {
  result <- example_risk()
  expect_identical(as.data.frame(result), result$sets)
  expect_identical(nrow(result$sets), 21L + 35L)
  expect_false(is.unsorted(-result$sets$set_risk))
  error <- expect_error(
    as.data.frame(example_risk(sets = FALSE)), class = "sdcRisk_error_bad_argument"
  )
  expect_match(conditionMessage(error), "sets = TRUE", fixed = TRUE)
})

test_that("tidy() has the estimates in long form", {
  result <- example_risk()
  long <- tidy(result)
  expect_named(long, c(
    "p", "alpha", "term", "estimate", "std.error", "conf.low", "conf.high"
  ))
  terms <- c("risk", "risk_empirical", "threshold", "shape", "scale")
  expect_identical(long$term, rep(terms, 4))
  expect_identical(long$p, rep(c(2L, 3L), each = 10))
  for (term in terms) {
    expect_identical(long$estimate[long$term == term], result$estimates[[term]])
  }
  expect_true(all(is.na(long[c("std.error", "conf.low", "conf.high")])))
  expect_identical(generics::tidy(result), long)
})

test_that("tidy() finds standard errors and limits where a method has them", {
  result <- demo_result(example_file(), NULL)
  expect_s3_class(tidy(result), "tbl_df")
  expect_identical(as.data.frame(tidy(result)), data.frame(
    model = c("a", "a", "b", "b"), term = rep(c("mean", "max"), 2),
    estimate = c(0.25, 1, 0.5, 2), std.error = c(0.01, NA, 0.02, NA),
    conf.low = c(0.2, NA, 0.4, NA), conf.high = c(0.3, NA, 0.6, NA)
  ))
})

test_that("glance() is one row about the worst analysis", {
  result <- example_risk()
  row <- glance(result)
  expect_identical(nrow(row), 1L)
  worst <- which.max(result$estimates$risk)
  expect_identical(row$risk, result$estimates$risk[[worst]])
  expect_identical(row$p, result$estimates$p[[worst]])
  expect_identical(row$n_records, 90L)
  expect_identical(row$n_keys, 7L)
  expect_identical(row$n_analyses, 4L)
  expect_identical(row$fingerprint, result$settings$fingerprint)
  nothing <- example_risk(data.frame(a = 1:6, b = 6:1), p = 1, theta_one = "exclude")
  expect_identical(glance(nothing)$risk, NA_real_)
  expect_identical(nrow(glance(nothing)), 1L)
})

test_that("summary() tells where the set risks lie", {
  result <- example_risk()
  summary <- summary(result)
  expect_s3_class(summary, "sdc_summary")
  risks <- split(result$sets$set_risk, result$sets$p)
  expect_identical(summary$set_risk$p, 2:3)
  expect_identical(summary$set_risk$n_sets, c(21L, 35L))
  expect_equal(summary$set_risk$mean, unname(vapply(risks, mean, 0)))
  expect_identical(summary$set_risk$max, unname(vapply(risks, max, 0)))
  expect_equal(
    summary$set_risk$q95, unname(vapply(risks, oracle_quantile, 0, share = 0.05)),
    tolerance = 1e-14
  )
  expect_identical(summary$riskiest_key_sets, utils::head(result$sets, 10))
  expect_output(print(summary), result$sets$key_set[[1]], fixed = TRUE)
})

test_that("a result keeps no data, however the function was called", {
  data <- data.frame(
    a = c("SECRET42", "SECRET43", "x", "x"), b = c(1, 1, 2, 2), c = c(4711, 2, 3, 4711)
  )
  text_of <- function(x) rawToChar(serialize(x, NULL, ascii = TRUE))
  results <- list(
    quietly(qar_risk(data, p = 2)),
    quietly(do.call(qar_risk, list(data, p = 2))),
    quietly(do.call("qar_risk", list(data = data, p = 2))),
    quietly(do.call("qar_risk", list(data = data, p = 2), quote = TRUE)),
    quietly(eval(bquote(qar_risk(.(data)[1:4, ], p = 2))))
  )
  for (result in results) {
    expect_false(grepl("SECRET|4711", text_of(result)))
  }
  # What is code stays.
  kept <- quietly(qar_risk(data[1:4, ], c("a", "b"), p = 2 - 1))
  expect_identical(
    kept$call, quote(qar_risk(data = data[1:4, ], key_vars = c("a", "b"), p = 2 - 1))
  )
})

test_that("a result saved and read again is the same", {
  result <- example_risk()
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(result, file)
  expect_identical(readRDS(file), result)
  expect_identical(lines_of(readRDS(file)), lines_of(result))
})

# Records ------------------------------------------------------------------

test_that("augment() adds the records to the data they belong to", {
  data <- example_file()
  risk <- seq_len(90) / 90
  augmented <- augment(demo_result(data, risk), data)
  expect_named(augmented, c(names(data), ".risk", ".unique"))
  expect_identical(augmented$.risk, risk)
  expect_identical(augmented[names(data)], data)
  # Other columns may have changed.
  data$v7 <- 0
  expect_identical(augment(demo_result(data, risk), data)$.risk, risk)
})

test_that("augment() keeps the class of the data", {
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  data <- example_file()
  result <- demo_result(data, seq_len(90))
  expect_s3_class(augment(result, tibble::as_tibble(data)), "tbl_df")
  table <- data.table::as.data.table(data)
  augmented <- expect_silent(augment(result, table))
  expect_s3_class(augmented, "data.table")
  expect_identical(augmented[[".risk"]], seq_len(90))
  expect_named(table, names(data))
})

test_that("augment() refuses other data, and results without records", {
  data <- example_file()
  result <- demo_result(data, seq_len(90))
  others <- list(
    data[-1, ], data[90:1, ], data[setdiff(names(data), "v2")], data[c(1:90, 1), ],
    transform(data, v1 = v2), stats::setNames(data, toupper(names(data))), data[0, ],
    as.list(data), as.matrix(data), NULL, 1
  )
  for (other in others) {
    expect_error(augment(result, other), class = "sdcRisk_error_mismatched_data")
  }
  expect_error(
    augment(example_risk(data), data), "records", class = "sdcRisk_error_bad_argument"
  )
})

test_that("as.data.frame() of a result with records is its records", {
  result <- demo_result(example_file(), seq_len(90))
  expect_identical(as.data.frame(result), result$records)
  expect_error(
    as.data.frame(demo_result(example_file(), NULL)), class = "sdcRisk_error_bad_argument"
  )
})

test_that("summary() gives record risks by strata", {
  data <- example_file()
  set.seed(62)
  risk <- stats::runif(90)
  risk[c(5, 17)] <- NA
  result <- demo_result(data, risk)
  of <- function(strata, values) {
    f <- function(what) {
      vapply(values, function(v) {
        r <- risk[strata %in% v]
        what(r[!is.na(r)])
      }, 0, USE.NAMES = FALSE)
    }
    data.frame(
      stratum = as.character(values),
      n = vapply(values, function(v) sum(strata %in% v), 1L, USE.NAMES = FALSE),
      n_missing = vapply(values, function(v) sum(is.na(risk[strata %in% v])), 1L,
                         USE.NAMES = FALSE),
      mean = f(mean), q95 = f(function(r) oracle_quantile(r, 0.05)),
      q99 = f(function(r) oracle_quantile(r, 0.01)), max = f(max)
    )
  }
  all <- summary(result)$strata
  expect_equal(all[-1], of(rep("all records", 90), "all records")[-1])

  strata <- rep(c("north", "south", NA), 30)
  expect_equal(summary(result, by = strata)$strata, of(strata, c("north", "south", NA)))
  expect_identical(summary(result, by = factor(strata))$strata, summary(result, strata)$strata)

  data$region <- strata
  by_name <- summary(result, by = "region", data = data)$strata
  expect_equal(by_name, of(strata, c("north", "south", NA)))

  empty <- factor(rep("north", 90), levels = c("north", "west"))
  west <- summary(result, by = empty)$strata[2, ]
  expect_equal(west$n, 0)
  expect_identical(west$mean, NA_real_)
})

test_that("strata that do not fit are errors", {
  data <- example_file()
  result <- demo_result(data, seq_len(90) / 90)
  expect_error(summary(result, by = 1:89), "90", class = "sdcRisk_error_bad_argument")
  expect_error(summary(result, by = "v1"), "data", class = "sdcRisk_error_bad_argument")
  expect_error(
    summary(result, by = "nowhere", data = data), class = "sdcRisk_error_unknown_key_var"
  )
  expect_error(
    summary(result, by = "v3", data = data[90:1, ]), class = "sdcRisk_error_mismatched_data"
  )
  expect_error(
    summary(example_risk(data), by = rep(1, 90)), class = "sdcRisk_error_bad_argument"
  )
})

# Comparison ---------------------------------------------------------------

test_that("compare_risk() sets results side by side", {
  data <- example_file()
  before <- example_risk(data, p = 2:3, alpha = 0.1)
  coarser <- transform(data, v2 = NULL)
  after <- example_risk(coarser, p = 3:4, alpha = 0.1)
  third <- example_risk(coarser, p = 3, alpha = 0.1, pwm = "unbiased")
  comparison <- compare_risk(before, after, third, other = third)
  table <- as.data.frame(comparison)
  expect_named(table, c("p", "alpha", "term", "result", "estimate", "change", "ratio"))
  expect_identical(nrow(table), 3L * 5L * 4L)
  expect_identical(unique(table$result), c("before", "after", "result_3", "other"))
  at <- function(p, result, column) {
    table[table$p == p & table$term == "risk" & table$result == result, column]
  }
  risk_before <- before$estimates$risk[[2]]
  risk_after <- after$estimates$risk[[1]]
  expect_identical(at(3, "before", "estimate"), risk_before)
  expect_identical(at(3, "after", "estimate"), risk_after)
  expect_identical(at(3, "after", "change"), risk_after - risk_before)
  expect_identical(at(3, "after", "ratio"), risk_after / risk_before)
  expect_identical(at(3, "before", "change"), 0)
  expect_identical(at(3, "other", "estimate"), third$estimates$risk)
  expect_identical(at(2, "after", "estimate"), NA_real_)
  expect_identical(at(4, "before", "estimate"), NA_real_)
  expect_identical(at(4, "after", "estimate"), after$estimates$risk[[2]])
  expect_identical(at(4, "after", "change"), NA_real_)
  expect_output(print(comparison), formatC(risk_after, digits = 3, format = "g"), fixed = TRUE)
})

test_that("a comparison of many analyses prints 16 lines and says how many are left", {
  data <- example_file()
  sets <- utils::combn(names(data)[1:4], 2, simplify = FALSE)
  comparison <- compare_risk(n_matches(data, sets), n_matches(data, sets))
  n <- nrow(as.data.frame(comparison)) / 2
  lines <- format(comparison)
  expect_length(lines, 16)
  table <- grep("^key_set ", lines)
  rest <- grep("^[.]{3} and ", lines)
  expect_identical(
    lines[[rest]],
    paste("... and", format_count(n - (rest - table - 1)), "more in as.data.frame(x)")
  )
})

test_that("results of different kinds cannot be compared", {
  data <- example_file()
  risk <- example_risk(data)
  for (wrong in list(1, data, NULL, demo_result(data, NULL))) {
    expect_error(compare_risk(risk, wrong), class = "sdcRisk_error_bad_argument")
    expect_error(compare_risk(wrong, risk), class = "sdcRisk_error_bad_argument")
    expect_error(compare_risk(risk, risk, wrong), class = "sdcRisk_error_bad_argument")
  }
  expect_error(
    compare_risk(risk, risk, x = risk, x = risk), class = "sdcRisk_error_bad_argument"
  )
})

test_that("as many strata as records are refused", {
  data <- data.frame(a = rep(1:5, 30), x = seq_len(150) / 7)
  found <- n_matches(data, "a")
  expect_error(
    summary(found, by = "x", data = data), "at most 100 values.*It has 150",
    class = "sdcRisk_error_bad_argument"
  )
  expect_identical(nrow(summary(found, by = "a", data = data)$record_risk), 5L)
})

test_that("a saved result of an older version, or a damaged one, is refused", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
  whole <- list(
    n_matches(nals_prison, keys), quietly(qar_risk(nals_prison, keys, p = 2)),
    individual_risk(nals_prison, keys, "WEIGHT"),
    quietly(loglinear_risk(nals_prison, keys, weight_var = "WEIGHT")),
    quietly(copula_fit(nals_prison, keys)), key_overview(nals_prison, keys)
  )
  damage <- list(
    function(x) {
      x$estimates <- x$estimates[1]
      x
    },
    function(x) {
      x$settings$key_vars <- NULL
      x
    },
    function(x) {
      x$diagnostics <- "none"
      x
    },
    function(x) structure(list(), class = class(x))
  )
  verbs <- list(
    print, summary, interpret, generics::tidy, function(x) compare_risk(x, x),
    function(x) sdc_report(x, file = tempfile(fileext = ".html")), ggplot2::autoplot
  )
  # As version 0.1.0 left them: without the names of their fields.
  for (x in whole) {
    old <- x
    attr(old, "fields") <- NULL
    old$settings$version <- "0.1.0"
    for (verb in verbs) {
      expect_error(
        quietly(verb(old)), "made by version 0.1.0 of sdcRisk",
        class = "sdcRisk_error_damaged_result"
      )
      for (harm in damage) {
        expect_error(
          quietly(verb(harm(x))), "lost fields", class = "sdcRisk_error_damaged_result"
        )
      }
    }
    expect_error(print(structure(1, class = class(x))), class = "sdcRisk_error_damaged_result")
    # What was saved and read again is whole, and so is one without its records.
    file <- tempfile(fileext = ".rds")
    saveRDS(x, file)
    again <- readRDS(file)
    expect_identical(utils::capture.output(print(again)), utils::capture.output(print(x)))
    again["records"] <- list(NULL)
    expect_identical(generics::tidy(again), generics::tidy(x))
  }
  fit <- whole[[5]]
  attr(fit, "fields") <- NULL
  expect_error(
    copula_uniqueness(fit, pop_size = 1e4), class = "sdcRisk_error_damaged_result"
  )
  expect_error(stats::simulate(fit), class = "sdcRisk_error_damaged_result")
  # A picture needs the records, and so does what counts them.
  matches <- whole[[1]]
  matches["records"] <- list(NULL)
  for (verb in list(summary, ggplot2::autoplot)) {
    expect_error(verb(matches), "have its records", class = "sdcRisk_error_bad_argument")
  }
  blanked <- quietly(suppress_cells(nals_prison, keys, k = 2))
  blanked$estimates$rule <- NULL
  expect_error(interpret(blanked), class = "sdcRisk_error_damaged_result")
})

test_that("measures() has one row per analysis and figure, each judged by itself", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  sets <- list(few = "GENDER", all = keys)
  found <- measures(n_matches(nals_prison, sets))
  expect_identical(found$label[found$measure == "k"], paste("Fewest matches, k on", names(sets)))
  k <- found[found$measure == "k", ]
  expect_identical(k$value, c(14, 1))
  expect_identical(k$verdict, c("ok", "above"))
  expect_identical(k$n_above, c(0, 88))
  expect_identical(k$limit, c(3, 3))
  # By records, by patterns, and by a page of other limits.
  file <- sdc_file(nals_prison[c(keys, "WEIGHT")], keys, weight_var = "WEIGHT")
  check <- quietly(file_check(file))
  page <- measures(check)
  expect_identical(page$n_above[page$measure == "k"], 88)
  expect_identical(measures(check, limit = list(k = 5))$n_above[[1]],
                   sum(n_matches(nals_prison, keys)$records$n_matches < 5) + 0)
  expect_identical(measures(check, limit = list(k = 1))$verdict[[1]], "ok")
  risk <- measures(individual_risk(file), limit = list(journalist = 0.01))
  expect_identical(risk$n_above[[1]], sum(individual_risk(file)$records$risk > 0.01) + 0)
  expect_identical(unique(measures(individual_risk(file), limit = list())$verdict), "no limit")
  expect_error(measures(1), class = "sdcRisk_error_bad_argument")
})

test_that("every figure has one row on the page, and a short name there", {
  page <- sdcRisk:::page_figures()
  expect_false(anyDuplicated(page$measure) > 0)
  expect_lte(max(nchar(page$label)), 32)
})

test_that("limits and verdicts of tidy() are those of measures(), where a measure has one", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT")
  tidied <- function(x, term) {
    rows <- as.data.frame(tidy(x))
    as.list(rows[rows$term == term, c("estimate", "limit", "verdict")])
  }
  matches <- quietly(n_matches(file))
  expect_identical(
    tidied(matches, "risk_max"), list(estimate = 1, limit = 1 / 3, verdict = "above")
  )
  expect_identical(tidied(matches, "n_unique")$verdict, "no limit")
  # Each key set has its own.
  sets <- quietly(n_matches(nals_prison, list("GENDER", keys)))
  expect_identical(tidied(sets, "risk_max")$verdict, c("ok", "above"))
  risk <- quietly(individual_risk(file))
  own <- measures(risk)
  own <- own[own$measure == "journalist_max", ]
  expect_identical(
    tidied(risk, "journalist_max"),
    list(estimate = own$value, limit = 0.05, verdict = own$verdict)
  )
  law <- quietly(population_risk(file))
  rows <- as.data.frame(tidy(law))
  expect_identical(rows$limit[rows$measure == "largest"], 0.05)
  expect_true(all(is.na(rows$limit[rows$measure != "largest"])))
  at <- measures(law)
  expect_identical(rows$verdict[rows$measure == "largest"], at$verdict[at$measure == "largest"])
  secret <- quietly(invariant_pram(file))
  expect_identical(tidied(secret, "worst_match_prob")$limit, 1 / 3)
  # Those of a result without its records are the same.
  expect_identical(tidy(replace(matches, "records", list(NULL))), tidy(matches))
  # Results without a limit have no such columns.
  expect_false("limit" %in% names(tidy(quietly(key_overview(nals_prison, keys)))))
})

test_that("glance() is a tibble, as tidy() is", {
  keys <- c("CENREG", "DAGE3", "EDUC3")
  matches <- quietly(n_matches(nals_prison, keys))
  page <- quietly(file_check(nals_prison, keys))
  for (x in list(matches, page, quietly(compare_risk(matches, matches)))) {
    expect_s3_class(glance(x), c("tbl_df", "tbl", "data.frame"), exact = TRUE)
  }
})
