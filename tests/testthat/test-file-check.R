# The page: its numbers are the methods' own, and no verdict is "ok" by default.

skip_on_cran()

keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
# Without the age and the education that their groups follow from.
prison <- nals_prison[setdiff(names(nals_prison), c("DAGE", "EDUC_DET"))]
checked <- quietly(file_check(prison, keys, weight_var = "WEIGHT"))

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
    file_of_all(), four, weight_var = "weight", hh_id = "home", sensitive = "ill",
    missing = "category"
  ))
  data <- file_of_all()
  own <- quietly(list(
    matches = n_matches(data, four, sensitive = "ill", missing = "category"),
    qar = qar_risk(data, four),
    law = population_risk(
      data, four, weight_var = "weight", hh_id = "home", missing = "category"
    ),
    tables = exhaustive_tabulation(data, four, missing = "category")$estimates,
    keys = key_overview(data, four)
  ))
  expected <- list(
    k = min(own$matches$records$n_matches), n_unique = own$matches$estimates$n_unique,
    prop_unique = own$matches$estimates$prop_unique,
    n_homogeneous = own$matches$estimates$n_homogeneous, l = own$matches$estimates$l_distinct,
    n_special = sum(special_uniques(
      data, four, max_size = 2, missing = "category"
    )$estimates$n_smallest),
    qar = own$qar$estimates$risk, set_risk = own$qar$sets$set_risk[[1]],
    household = max(1 - apply(matrix(1 - own$law$records$risk, 3), 2, prod)),
    small_cells = own$tables$prop_cells, small_cell_records = own$tables$prop_records
  )
  for (measure in setdiff(names(expected), "household")) {
    expect_identical(value_of(x, measure), as.double(expected[[measure]]), label = measure)
  }
  expect_equal(value_of(x, "household"), expected$household, tolerance = 1e-12)
  law <- own$law$estimates
  named <- c(
    population_uniqueness = "uniqueness", tau1 = "tau1", tau2 = "tau2",
    expected_reidentifications = "reidentifications", journalist = "largest"
  )
  for (column in c("value", "low", "high")) {
    of_law <- law[[column]][match(named, law$measure)]
    expect_identical(value_of(x, names(named), column), of_law)
    shares <- value_of(x, c("tau1_rate", "reidentification_rate"), column)
    expect_equal(shares, of_law[c(2, 4)] / 300, tolerance = 1e-12)
  }
  # No estimator of the same quantities has a row of its own.
  expect_setequal(
    x$estimates$measure[x$estimates$scenario == "journalist"],
    c(names(named), "tau1_rate", "reidentification_rate", "household")
  )
  at <- match(x$drivers$variable, own$keys$estimates$variable)
  expect_identical(x$drivers$n_unique_without, own$keys$estimates$n_unique_without[at])
  expect_identical(x$records$n_matches, own$matches$records$n_matches)
  expect_identical(x$records$journalist_risk, own$law$records$risk)
  expect_identical(x$records$prob_unique, own$law$records$prob_unique)
})

test_that("verdicts and records above follow the limits", {
  e <- checked$estimates
  expect_identical(names(e), c(
    "question", "measure", "value", "low", "high", "scenario", "limit", "verdict",
    "n_records_above", "reason"
  ))
  expect_identical(value_of(checked, "k", "verdict"), "above")
  expect_identical(value_of(checked, "k", "n_records_above"), 88L)
  # A very small sampling fraction: E(1/F) of .078 is not known to be above.
  expect_identical(value_of(checked, "journalist", "verdict"), "unclear")
  expect_identical(e$verdict[is.na(e$limit)], rep("no limit", nrow(e) - 2))
  strict <- quietly(file_check(
    prison, keys, weight_var = "WEIGHT",
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
    records_at_risk(population_risk(nals_prison, keys, weight_var = "WEIGHT"), 0.01)$record |>
      (\(r) r[order(strict$records$n_matches[r], -strict$records$journalist_risk[r])])()
  )
})

test_that("a sensitive value that a key tells is above, unless a limit says otherwise", {
  # Both records of region 2 have the disease; the one of region 3 is alone.
  data <- data.frame(
    region = c(1, 1, 1, 2, 2, 3), ill = c("yes", "no", "no", "yes", "yes", "no")
  )
  x <- quietly(file_check(data, "region", sensitive = "ill"))
  expect_identical(value_of(x, "l"), 1)
  expect_identical(value_of(x, "l", "limit"), 2)
  expect_identical(value_of(x, "l", "verdict"), "above")
  expect_identical(value_of(x, "l", "n_records_above"), 3L)
  expect_identical(x$records$above, c(FALSE, FALSE, FALSE, TRUE, TRUE, TRUE))
  expect_match(
    text_of(x), "the matches of 3 (50%) have fewer than 2 sensitive values", fixed = TRUE
  )
  expect_true("special_uniques(file)" %in% x$next_steps)
  expect_identical(value_of(x, "n_special"), 1)
  one <- quietly(file_check(data, "region", sensitive = "ill", limit = list(l = 1)))
  expect_identical(value_of(one, "l", "verdict"), "ok")
  expect_identical(value_of(one, "k", "verdict"), "no limit")
  mixed <- data[c(1, 2, 1, 2), ]
  two <- quietly(file_check(mixed, "region", sensitive = "ill", k = 2))
  expect_identical(value_of(two, "l", "verdict"), "ok")
  # One record that misses every key variable has another value for all to match.
  same <- data.frame(region = c(rep(1:2, each = 4), NA), ill = c(rep("yes", 8), "no"))
  blank <- quietly(file_check(same, "region", sensitive = "ill"))
  expect_identical(value_of(blank, "l"), 2)
  expect_identical(value_of(blank, "l", "verdict"), "unclear")
  expect_match(value_of(blank, "l", "reason"), "8 records would match too few sensitive values")
  expect_identical(value_of(blank, "k", "verdict"), "ok")
  # Without a sensitive variable nothing is judged.
  expect_identical(value_of(quietly(file_check(data, "region")), "l"), NA_real_)
  asked <- quietly(file_check(data, "region", limit = list(l = 2)))
  expect_identical(value_of(asked, "l", "verdict"), "not judged")
  expect_match(value_of(asked, "l", "reason"), "no sensitive variable was named")
})

test_that("what was not measured is never ok, and says why", {
  bare <- quietly(file_check(nals_prison[keys]))
  gone <- bare$estimates[bare$estimates$scenario == "journalist", ]
  expect_identical(unique(gone$verdict), "not judged")
  expect_match(gone$reason, "neither weights nor the size")
  expect_match(text_of(bare), "journalist not judged")
  expect_match(unclass(interpret(bare)), "journalist not judged \\(neither weights")
  # A household that is missing costs the household risk alone.
  data <- file_of_all()
  data$home[[1]] <- NA
  partly <- quietly(file_check(
    data, four, weight_var = "weight", hh_id = "home", limit = list(household = 0.5)
  ))
  expect_identical(value_of(partly, "household", "verdict"), "not judged")
  expect_match(value_of(partly, "household", "reason"), "must have a household")
  expect_false(is.na(value_of(partly, "journalist")))
  # A limit on what has no row.
  limited <- quietly(file_check(nals_prison, keys, limit = list(household = 0.1)))
  expect_identical(value_of(limited, "household", "verdict"), "not judged")
  expect_match(value_of(limited, "household", "reason"), "hh_id")
  for (x in list(bare, partly, limited)) {
    e <- x$estimates
    expect_true(all(is.na(e$value) == (e$verdict == "not judged")))
    expect_true(all(nzchar(e$reason) == (e$verdict %in% c("not judged", "unclear"))))
  }
})

test_that("all of an interval keeps a limit, exceeds it, or the verdict is unclear", {
  # Without columns that are more detailed than a key variable.
  wave <- subset(panel_waves$wave2, select = -c(age, household_size))
  six <- c("gender", "age_group", "education", "civil_status", "n_children", "urbanity")
  # 83 of the records are population uniques; the interval of tau1 is 36 to 155.
  verdict <- function(...) {
    x <- quietly(file_check(wave, six, weight_var = "weight", limit = list(...)))
    expect_true(all(x$estimates$low <= x$estimates$value, na.rm = TRUE))
    unlist(lapply(c("verdict", "reason"), function(field) value_of(x, names(list(...)), field)))
  }
  bounds <- population_risk(wave, six, weight_var = "weight")$estimates[3, c("low", "high")]
  expect_lt(bounds$low, 83)
  expect_gt(bounds$high, 83)
  expect_identical(verdict(tau1 = bounds$high), c("ok", ""))
  expect_identical(verdict(tau1 = bounds$low - 0.001), c("above", ""))
  between <- c("unclear", "the limit lies within its interval")
  expect_identical(verdict(tau1 = bounds$low), between)
  expect_identical(verdict(tau1 = bounds$high - 0.001), between)
  expect_identical(verdict(tau1_rate = bounds$high / nrow(wave)), c("ok", ""))
  expect_identical(verdict(tau1_rate = bounds$low / nrow(wave)), between)
})

test_that("the figures of one law are in order on every page", {
  folder <- Sys.getenv("SDCRISK_DATA")
  files <- lapply(1:12, function(i) {
    set.seed(i)
    n <- sample(60:400, 1)
    lapply(sample(2:9, 3), function(k) sample(k, n, TRUE, stats::rexp(k))) |>
      rlang::set_names(c("a", "b", "c")) |> as.data.frame() |>
      cbind(w = if (i %% 2) 20 else stats::runif(n, 2, 40))
  })
  pages <- lapply(files, function(d) quietly(file_check(d, c("a", "b", "c"), weight_var = "w")))
  pages$adult <- quietly(file_check(adult[1:900, c("age", "sex", "race")], pop_size = 32561))
  pages$nals <- checked
  if (nzchar(folder)) {
    testdata <- utils::read.csv(file.path(folder, "testdata.csv"))
    seven <- c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
    pages$testdata <- quietly(file_check(testdata, seven, weight_var = "sampling_weight"))
    # The individual risk of Benedetti and Franconi is .0465 at most.
    expect_gt(value_of(pages$testdata, "journalist"), 0.2)
    expect_identical(value_of(pages$testdata, "journalist", "verdict"), "unclear")
    homes <- quietly(file_check(
      testdata, seven, weight_var = "sampling_weight", hh_id = "ori_hid"
    ))
    expect_identical(value_of(homes, "journalist", "verdict"), "above")
    expect_identical(value_of(homes, "journalist", "n_records_above"), 82L)
  }
  for (x in pages) {
    for (column in c("value", "low", "high")) {
      of <- value_of(x, c("tau1", "tau2", "expected_reidentifications"), column)
      expect_false(is.unsorted(of))
      expect_false(anyNA(of))
    }
    n_unique <- value_of(x, "n_unique")
    expect_lte(value_of(x, "tau2", "high"), n_unique + 1e-9)
    expect_equal(sum(x$records$journalist_risk), value_of(x, "expected_reidentifications"))
    expect_equal(max(x$records$journalist_risk), value_of(x, "journalist"))
  }
})

test_that("enough records with every key need no model", {
  data <- data.frame(a = rep(1:4, each = 25), b = "x")
  page <- function(limit, data) {
    x <- quietly(file_check(data, c("a", "b"), pop_size = 1e5, limit = list(journalist = limit)))
    value_of(x, "journalist", "verdict")
  }
  # 25 records of 1e5 people: the model is not relied on, and 1/F is 1/25 at most.
  expect_identical(page(0.04, data), "ok")
  expect_identical(page(0.039, data), "unclear")
  # Not if a record may be any of these.
  data$a[[1]] <- NA
  expect_identical(page(0.05, data), "unclear")
})

test_that("a limit of 1 / k on the largest record risk is k-map", {
  at <- seq(1, nrow(adult), by = 10)
  verdicts <- vapply(list(
    c("sex", "race"), c("sex", "relationship"), c("age", "sex", "race"),
    c("sex", "marital_status", "education_num")
  ), function(keys) {
    key <- do.call(paste, adult[keys])
    in_population <- min(table(key)[key[at]])
    vapply(c(2, 5, 20, 100), function(k) {
      found <- quietly(file_check(
        adult[at, keys], keys, pop_size = nrow(adult), limit = list(journalist = 1 / k)
      ))
      verdict <- value_of(found, "journalist", "verdict")
      expect_true(switch(verdict, ok = in_population >= k, above = in_population < k, TRUE))
      verdict
    }, "")
  }, rep("", 4))
  expect_identical(c(table(verdicts)), c(above = 7L, ok = 7L, unclear = 2L))
})

test_that("a census, equal weights and weights that average 1 are told apart", {
  data <- transform(file_of_all()[c("region", "sex")], job = rep(1:6, 50))
  census <- quietly(file_check(data, pop_size = 300))
  expect_equal(value_of(census, "journalist"), 1 / value_of(census, "k"), tolerance = 1e-12)
  # Nothing is estimated: the limit is kept to the last digit.
  at_k <- quietly(file_check(data, pop_size = 300, limit = list(
    journalist = 1 / value_of(census, "k")
  )))
  expect_identical(value_of(at_k, "journalist", "verdict"), "ok")
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
  expect_match(text_of(mean_one), "not judged \\(the weights sum to 300 in a file of 300 records")
  expect_no_match(text_of(mean_one), "the whole population")
})

test_that("measures that contradict each other are named with the reason", {
  expect_identical(checked$contradictions$measures[1:2], c("k and journalist", "n_unique and tau1"))
  expect_match(text_of(checked), "prosecutor or journalist")
  expect_match(text_of(checked), "sample or population")
  other <- quietly(file_check(
    file_of_all(), four, weight_var = "weight", pop_size = 5e4, limit = list(journalist = 0.01)
  ))
  expect_match(text_of(other), "weights and population disagree")
})

test_that("the page fits, code runs as it stands, values of records stay out", {
  x <- quietly(file_check(
    file_of_all(), four, weight_var = "weight", hh_id = "home", sensitive = "ill"
  ))
  for (page in list(checked, x)) {
    lines <- format(page, width = 80)
    expect_lte(length(lines), 25)
    expect_lte(max(nchar(lines)), 80)
  }
  expect_identical(length(strsplit(unclass(interpret(x)), "[.] [A-Z]")[[1]]), 3L)
  here <- new.env()
  for (line in checked$next_steps) {
    expect_no_error(quietly(eval(parse(text = line), here)))
  }
  # Next steps name the data as the caller did.
  expect_match(checked$next_steps[[1]], "sdc_file(prison, ", fixed = TRUE)
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
  all <- quietly(file_check(file_of_all()[c(four, "weight")], c(four, "weight")))
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
  refused(list(journalist = 5), "5% is 0.05")
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
    # Without the numbers of households, whose members tell each other's suppressed values.
    sdcMicro::testdata[c("urbrur", "roof", "walls", "water", "relat", "sampling_weight")],
    c("urbrur", "roof", "walls", "water", "relat"), weightVar = "sampling_weight"
  )
  object <- quietly(sdcMicro::kAnon(object, k = 3))
  x <- quietly(file_check(object))
  own <- quietly(list(n_matches(object), population_risk(object)))
  expect_identical(value_of(x, "k"), as.double(min(own[[1]]$records$n_matches)))
  expect_identical(value_of(x, "k", "verdict"), "ok")
  expect_identical(own[[2]]$settings$missing, "wildcard")
  expect_identical(value_of(x, "journalist"), own[[2]]$estimates$value[[6]])
})

test_that("odd files have a page or a classed error", {
  expect_error(file_check(nals_prison[0, ]), class = "sdcRisk_error_bad_data")
  incomplete <- transform(nals_prison, WEIGHT = replace(WEIGHT, 3, NA))
  expect_error(
    file_check(incomplete, keys, weight_var = "WEIGHT"), class = "sdcRisk_error_bad_weights"
  )
  pages <- quietly(list(
    one = file_check(nals_prison[1, ], keys, weight_var = "WEIGHT"),
    unique = file_check(data.frame(id = 1:60, x = 60:1 / 7), 1:2, pop_size = 1e4),
    empty = file_check(data.frame(a = rep(NA, 30), b = NA_real_), pop_size = 1000),
    column = file_check(nals_prison, "EDUC3", weight_var = "WEIGHT"),
    cell = file_check(data.frame(a = rep(1, 60), b = "x"), pop_size = 600)
  ))
  for (x in pages) {
    expect_lte(length(format(x)), 25)
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

test_that("code to run next stays whole, whatever the data and their names", {
  set.seed(2)
  long <- stats::setNames(
    as.data.frame(matrix(sample(4, 1200, TRUE), 200)),
    paste("a rather long variable name number", 1:6)
  )
  lines <- format(quietly(file_check(long)), width = 80, all = TRUE)
  at <- grep("file <- sdc_file(", lines, fixed = TRUE)
  ends <- at + which(grepl(")$", lines[at:length(lines)]))[[1]] - 1
  code <- paste(lines[at:ends], collapse = "\n")
  file <- eval(parse(text = sub("file <- ", "", code, fixed = TRUE)))
  expect_identical(sdc_roles(file)$key_vars, names(long))

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
  expect_lte(length(format(x, width = 80)), 25)
  expect_match(step(x), "key_vars = names(many)[1:60]", fixed = TRUE)
  expect_identical(eval(runs_code(c(1:3, 5, 7:8))), c(1:3, 5, 7:8) + 0)
})

test_that("a table of the page is never cut by a long interval", {
  set.seed(1)
  data <- data.frame(a = sample(9, 300, TRUE), b = sample(7, 300, TRUE), w = 10 + stats::runif(300))
  x <- quietly(file_check(data, c("a", "b"), weight_var = "w"))
  lines <- format(x, width = 80, all = TRUE)
  expect_true(any(grepl("\\[[0-9.]+, [0-9.]+\\]$", lines)))
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
  expect_identical(x$estimates$verdict[[at]], "unclear")
  expect_identical(x$estimates$reason[[at]], "weights and population disagree")
  lines <- format(x, width = 80)
  expect_match(paste(lines[1:3], collapse = " "), "journalist unclear \\(weights and")
  expect_true(any(grepl("Largest record risk .*unclear", lines)))
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
    paste(
      "the weights sum to 90 in a file of 300 records, not to the population;",
      "give pop_size or weights that sum to it"
    )
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

# A page by one rule ------------------------------------------------------------------

# Measures that have no rule by which a missing value may be any value.
need_cells <- c(
  "qar", "set_risk", "small_cells", "small_cell_records"
)

# What is above before a remedy is ok behind it. The risk in the population is that of the release.
# Weights by region tell a suppressed region: the page says so then.
expect_cured <- function(data, keys, weight_var, hh_id, k, journalist, rule = "own") {
  data <- data[c(keys, weight_var, hh_id)]
  file <- sdc_file(data, keys, weight_var = weight_var, hh_id = hh_id)
  remedy <- quietly(suppress_cells(file, k = k, rule = rule))
  released <- sdc_file(remedy$data, keys, weight_var = weight_var, hh_id = hh_id)
  x <- quietly(file_check(released, limit = list(k = k, journalist = journalist)))
  e <- remedy$estimates
  law <- population_risk(released)$estimates
  for (column in c("value", "low", "high")) {
    testthat::expect_identical(
      value_of(x, c("expected_reidentifications", "journalist"), column), law[[column]][5:6]
    )
  }
  told <- rbind(x$diagnostics$told_missing, x$diagnostics$told_before)
  testthat::expect_true(all(told$by == weight_var))
  good <- if (NROW(told)) "unclear" else "ok"
  largest <- law[6, ]
  sure <- !anyNA(remedy$data[keys]) && 1 / value_of(x, "k") <= journalist
  kept <- sure || largest$high <= journalist && largest$status == "ok"
  testthat::expect_identical(
    value_of(x, "journalist", "verdict"),
    if (largest$low > journalist) "above" else if (kept) good else "unclear"
  )
  # The page counts records; with households the remedy asks for more.
  counted <- quietly(n_matches(released))$records$n_matches
  testthat::expect_identical(counted, remedy$records$n_matches)
  testthat::expect_identical(e$n_violations_after, sum(counted < k))
  testthat::expect_gte(value_of(x, "k"), min(counted))
  if (is.null(hh_id)) {
    testthat::expect_identical(value_of(x, "k"), as.double(min(counted)))
    testthat::expect_identical(value_of(x, "n_unique"), sum(counted == 1) + 0)
    testthat::expect_identical(x$records$n_matches, remedy$records$n_matches)
  }
  # Values that were missing before are no cover of those that have all.
  complete <- stats::complete.cases(remedy$data[keys])
  key <- do.call(paste, unname(remedy$data[complete, keys]))
  alone <- if (!is.null(hh_id)) {
    homes <- tapply(remedy$data[[hh_id]][complete], key, function(home) length(unique(home)))
    sum(homes[key] < k)
  }
  many <- sum(alone) > min(sum(!complete), 0.01 * nrow(data))
  of_none <- !any(complete) && remedy$diagnostics$n_resting > 0
  rests <- anyNA(data[keys]) && (any(table(key) < k) || many || of_none)
  testthat::expect_identical(value_of(x, "k", "verdict"), if (rests) "unclear" else good)
  testthat::expect_identical(value_of(x, "k", "n_records_above"), 0L)
  if (anyNA(remedy$data[keys])) {
    testthat::expect_identical(
      unique(x$estimates$verdict[x$estimates$measure %in% need_cells]), "not judged"
    )
  }
}

test_that("a page by the wildcard agrees with the remedy to the last digit", {
  for (k in c(2, 3, 5)) for (limit in c(0.05, 0.01)) {
    expect_cured(nals_prison, keys, "WEIGHT", NULL, k, limit)
  }
  people <- file_of_all()
  people$weight <- ave(people$weight, people$home)
  for (k in c(2, 3, 5)) for (hh_id in list(NULL, "home")) for (rule in c("own", "strict")) {
    expect_cured(people, four, "weight", hh_id, k, 0.01, rule)
  }
})

test_that("the same holds on the files of other packages", {
  folder <- Sys.getenv("SDCRISK_DATA")
  skip_if(!nzchar(folder), "SDCRISK_DATA is not set")
  testdata <- utils::read.csv(file.path(folder, "testdata.csv"))
  seven <- c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
  francdat <- utils::read.csv(file.path(folder, "francdat.csv"))
  for (k in c(2, 3, 5)) for (limit in c(0.05, 0.01)) {
    for (hh_id in list(NULL, "ori_hid")) {
      expect_cured(testdata, seven, "sampling_weight", hh_id, k, limit)
    }
    expect_cured(francdat, c("Key1", "Key2", "Key3", "Key4"), "w", NULL, k, limit)
  }
})

test_that("the same holds on the surveys of laeken", {
  # A package that the check of the package does not know, and need not have.
  surveys <- "laeken"
  skip_if_not_installed(surveys)
  found <- new.env()
  utils::data("eusilc", "ses", package = surveys, envir = found)
  five <- c("db040", "hsize", "age", "rb090", "pl030")
  some <- c("location", "NACE1", "size", "sex", "education")
  for (k in c(2, 3, 5)) {
    for (hh_id in list(NULL, "db030")) expect_cured(found$eusilc, five, "rb050", hh_id, k, 0.01)
    # Employees of an enterprise have weights of their own: no weights of households.
    expect_cured(found$ses, some, "weights", NULL, k, 0.05)
  }
})

test_that("measures without the wildcard are not judged on incomplete files, and say why", {
  data <- file_of_all()
  x <- quietly(file_check(data, four, weight_var = "weight", limit = list(l = 1, qar = 0.1)))
  at <- x$estimates$measure %in% need_cells
  n <- sum(!stats::complete.cases(data[four]))
  expect_identical(unique(x$estimates$verdict[at]), "not judged")
  expect_identical(x$estimates$value[at], rep(NA_real_, sum(at)))
  expect_match(x$estimates$reason[at], paste0("^", n, " records .* miss a key value"))
  expect_true("file_check(file, missing = \"exclude\")" %in% x$next_steps)
  expect_no_match(text_of(x), "missing rule|and T where|and population_uniqueness where")
  # By the rule of the page, to which key_overview() has no answer.
  without <- quietly(n_matches(data, setdiff(four, "age")))$estimates$n_unique
  expect_identical(x$drivers$n_unique_without[x$drivers$variable == "age"] + 0, without)
  # Told that nothing was suppressed, the page judges complete records.
  told <- quietly(file_check(data, four, weight_var = "weight", missing = "exclude"))
  own <- quietly(population_risk(data, four, weight_var = "weight", missing = "exclude"))
  expect_identical(value_of(told, "tau1"), own$estimates$value[[3]])
  expect_identical(value_of(told, "qar"), quietly(
    qar_risk(data, four, missing = "exclude")
  )$estimates$risk)
})

test_that("by \"exclude\" every share of the page is of the complete records", {
  data <- file_of_all(seed = 6)
  data$job[data$region == 1] <- NA
  complete <- data[stats::complete.cases(data[four]), ]
  x <- quietly(file_check(data, four, sensitive = "ill", missing = "exclude"))
  # In base R, on the complete records alone.
  n <- nrow(complete)
  key <- function(keys) do.call(paste, complete[keys])
  matches <- as.vector(table(key(four))[key(four)])
  values <- tapply(complete$ill, key(four), function(v) length(unique(v)))[key(four)]
  slow <- slow_tabulation(complete[four], 1:2, 3)
  sets <- vapply(utils::combn(four, 3, simplify = FALSE), function(keys) {
    length(unique(key(keys))) / n
  }, 0)
  expected <- c(
    prop_unique = mean(matches == 1), n_homogeneous = sum(values == 1), set_risk = max(sets),
    small_cells = sum(slow$tables$n_violations) / sum(slow$tables$n_cells),
    small_cell_records = mean(slow$violations > 0)
  )
  expect_equal(value_of(x, names(expected)), unname(expected), tolerance = 1e-12)
  terms <- as.data.frame(tidy(x))
  expect_equal(terms$estimate[match(names(expected), terms$term)], unname(expected))
  # Of the page and of its patterns.
  patterns <- quietly(file_check(pattern_table(data, four), missing = "exclude"))
  cells <- c("small_cells", "small_cell_records")
  expect_equal(value_of(patterns, cells), unname(expected[cells]), tolerance = 1e-12)
  few <- sum(matches < 3)
  words <- paste0(few, " of ", n, " records (", format(signif(100 * few / n, 3)), "%) share")
  expect_match(text_of(x), words, fixed = TRUE)
  expect_match(text_of(x), paste0(nrow(data) - n, " incomplete records excluded"))
  alone <- vapply(four, function(v) sum(table(key(setdiff(four, v))) == 1), 0)
  at <- match(four, x$drivers$variable)
  expect_equal(x$drivers$n_unique_without[at], unname(alone))
  expect_equal(x$drivers$unique_change[at], unname(alone) - sum(matches == 1))
})

test_that("two functions count the same sample uniques", {
  keys <- c("age", "workclass", "occupation", "sex", "race")
  weighted <- transform(adult, w = 10)
  counts <- quietly(c(
    n_matches(adult, keys)$estimates$n_unique,
    individual_risk(weighted, keys, "w")$estimates$n_unique,
    value_of(file_check(weighted, keys, weight_var = "w"), "n_unique")
  ))
  expect_equal(counts, c(800, 800, 800))
})

test_that("the next step counts what the page counts", {
  file <- sdc_file(file_of_all(), four, weight_var = "weight", hh_id = "home")
  x <- quietly(file_check(file))
  step <- grep("n_matches(file", x$next_steps, fixed = TRUE, value = TRUE)
  expect_identical(step, "records_at_risk(n_matches(file, hh_id = NULL), k = 3)")
  expect_identical(
    nrow(eval(parse(text = step))), value_of(x, "k", "n_records_above")
  )
})

test_that("weights that average 1 are not judged in the first line", {
  set.seed(3)
  data <- data.frame(a = sample(8, 400, TRUE), b = sample(6, 400, TRUE), w = runif(400, 0.2, 2))
  data$w <- data$w / mean(data$w)
  x <- quietly(file_check(data, c("a", "b"), weight_var = "w"))
  expect_match(format(x, width = 400)[[1]], paste0(
    "journalist not judged (the weights sum to 400 in a file of 400 ",
    "records, not to the population; give pop_size or weights that sum to it"
  ), fixed = TRUE)
  at <- x$estimates$scenario == "journalist"
  expect_identical(unique(x$estimates$verdict[at]), "not judged")
  # A part of a file that they were normalised for.
  part <- quietly(file_check(data[data$w > 0.3, ], c("a", "b"), weight_var = "w"))
  expect_identical(value_of(part, "journalist", "verdict"), "not judged")
  expect_warning(
    individual_risk(data, c("a", "b"), "w"), "expand the file to the population",
    class = "sdcRisk_warning_small_weights"
  )
  # With the size of the population they are as good as others.
  sized <- quietly(file_check(data, c("a", "b"), weight_var = "w", pop_size = 20000))
  scaled <- quietly(file_check(transform(data, w = w * 50), c("a", "b"), weight_var = "w"))
  expect_equal(sized$estimates$value, scaled$estimates$value, tolerance = 1e-9)
  expect_identical(sized$estimates$verdict, scaled$estimates$verdict)
})

test_that("columns that look like weights, households or ids are no key variables unasked", {
  data <- file_of_all()
  data$id <- sprintf("p%03d", seq_len(300))
  names(data)[names(data) == "home"] <- "hid"
  said <- "\"id\" an identifier; \"weight\" a weight; \"hid\" a household"
  expect_message(sdc_file(data), said, class = "sdcRisk_message_columns_left_out")
  # The page proposes and asks; the proposal runs.
  asked <- expect_error(file_check(data), said, class = "sdcRisk_error_no_key_vars")
  expect_identical(
    asked$proposed,
    quote(file_check(data, key_vars = KEYS, weight_var = "weight", hh_id = "hid")) |>
      as.list() |> utils::modifyList(list(key_vars = c(four, "ill"))) |> as.call()
  )
  page <- quietly(eval(asked$proposed))
  expect_identical(page$settings$key_vars, c(four, "ill"))
  expect_error(
    file_check(data, weight_var = "weight", hh_id = "hid"), "\"id\" an identifier[.]",
    class = "sdcRisk_error_no_key_vars"
  )
  expect_identical(quietly(file_check(data[four], pop_size = 1e4))$settings$key_vars, four)
  expect_identical(sdc_roles(quietly(sdc_file(data)))$key_vars, c(four, "ill"))
  named <- c(four, "id")
  expect_identical(sdc_roles(sdc_file(data, named))$key_vars, named)
})

test_that("a page names what it found of every column, or how much it left out", {
  set.seed(3)
  n <- 900
  data <- data.frame(
    age = sample(18:60, n, TRUE), edu = sample(c("low", "high", "-9", "99"), n, TRUE),
    town = sample(c("Wien", "wien ", "Graz", "Linz"), n, TRUE), pid = sprintf("p%04d", seq_len(n)),
    w = runif(n, 20, 60), pay = ifelse(runif(n) < 0.8, 0, round(rlnorm(n, 8), 2)),
    job = sample(1000:1250, n, TRUE), wage = rlnorm(n)
  )
  data$near <- data$town
  data$kids <- structure(
    sample(c(0, 1, 2, 98), n, TRUE), na_values = 98,
    class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double")
  )
  x <- quietly(file_check(data, c("age", "edu", "town", "kids"), weight_var = "w"))
  pages <- lapply(c(75, 80, 120), function(width) format(x, width = width))
  expect_true(all(lengths(pages) <= 25))
  for (page in pages) {
    text <- paste(trimws(page), collapse = " ")
    # The gravest is there, and the others are counted.
    expect_match(text, "Released columns reveal key variables: \"near\"", fixed = TRUE)
    shown <- sum(vapply(
      c("Released columns", "Missing: kids", "Looks like:", "Possible missing", "Not examined:",
        "Spelling:"),
      grepl, NA, text, fixed = TRUE
    ))
    counted <- regexpr("[0-9]+(?= more notes? and everything else: )", text, perl = TRUE)
    hidden <- regmatches(text, counted)
    expect_identical(shown + sum(as.integer(hidden)), 6L)
    expect_match(text, "summary(x), print(x, all = TRUE).", fixed = TRUE)
  }
  all <- paste(trimws(format(x, all = TRUE)), collapse = " ")
  expect_match(all, "declared codes 98", fixed = TRUE)
  coded <- sum(data$edu %in% c("-9", "99"))
  expect_match(all, sprintf("edu = \"-9\", \"99\" (%d records)", coded), fixed = TRUE)
  expect_match(all, paste0(
    "Not examined: 3 columns of numbers with many values, \"pay\", \"job\", \"wage\"."
  ), fixed = TRUE)
  expect_match(all, "Spelling: 2 values of \"town\"", fixed = TRUE)
  # The summary of a file has all of them.
  file <- utils::capture.output(print(summary(sdc_file(data, c("age", "edu", "town", "kids")))))
  expect_match(file, "Spelling: 2 values of \"town\"", fixed = TRUE, all = FALSE)
  expect_no_match(file, "more note", fixed = TRUE)
})

test_that("numbers among words are missing codes, answers among numbers are not", {
  codes <- function(...) missing_codes(c(...))
  expect_identical(codes("yes", "no", "99"), "99")
  expect_identical(codes("single", "married", "-9", "998"), c("-9", "998"))
  expect_identical(codes("0", "1", "2", "3 or more"), character())
  expect_identical(codes("none yet", "some", "5", "99"), character())
  expect_identical(codes("yes", "99"), character())
})

test_that("every page ends in one next line that runs", {
  set.seed(4)
  common <- data.frame(a = rep(1:3, 40), b = rep(c("x", "y"), 60))
  gone <- transform(common, a = replace(a, 1:50, NA))
  for (x in quietly(list(
    file_check(common), file_check(common, pop_size = 1200), file_check(common, limit = list()),
    file_check(gone), file_check(common, limit = list(journalist = 0.5))
  ))) {
    page <- paste(trimws(format(x, width = 120)), collapse = " ")
    expect_match(page, "Next: ", fixed = TRUE)
    line <- gsub("report.html", tempfile(fileext = ".html"), next_line(x), fixed = TRUE)
    expect_no_error(quietly(eval(parse(text = line))))
  }
})

test_that("proposed roles leave amounts and the weight of households to others", {
  set.seed(5)
  n <- 600
  home <- rep(seq_len(n / 3), each = 3)
  data <- data.frame(
    hid = home, db090 = runif(n / 3, 20, 60)[home], age = sample(18:60, n, TRUE),
    job = sample(letters, n, TRUE), pay = ifelse(runif(n) < 0.8, 0, round(rlnorm(n, 8), 2)),
    scale = sample(seq(1, 3, 0.1), n, TRUE)
  )
  data$rb050 <- data$db090
  asked <- expect_error(file_check(data), class = "sdcRisk_error_no_key_vars")
  expect_identical(asked$proposed, quote(file_check(sdc_file(
    data, key_vars = KEYS, weight_var = "rb050", hh_id = "hid", num_vars = "pay"
  ))) |> (\(code) {
    code[[2]]$key_vars <- c("age", "job", "scale")
    code
  })())
  expect_identical(quietly(eval(asked$proposed))$settings$weight_var, "rb050")
  names(data)[c(2, 7)] <- c("wt", "weight")
  data$weight <- data$weight * runif(n, 0.9, 1.1)
  expect_identical(persons_weight(data, c("wt", "weight"), "hid"), "weight")
  expect_identical(proposed_roles(data)$weight_var, "weight")
})

test_that("a verdict is of all of an interval", {
  of <- function(low, high, unit = "count") judge(5, 4, unit, low, high)
  expect_identical(of(NA, NA), "above")
  expect_identical(of(4.1, 9), "above")
  expect_identical(of(4, 9), "unclear")
  expect_identical(judge(3, 4, "count", 1, 4 + 1e-12), "ok")
  expect_identical(judge(3, 4, "count", 1, 4.1), "unclear")
  expect_identical(judge(c(3, 3), c(4, NA), "count", c(NA, 1), c(NA, 9)), c("ok", "no limit"))
  expect_identical(judge(NA_real_, 4, "count", 1, 9), "not judged")
  expect_identical(of(5, 5, "matches"), "ok")
})

test_that("no width cuts a value or an interval of the page", {
  set.seed(1)
  data <- file_of_all(900)
  data <- stats::na.omit(data)
  x <- quietly(file_check(data, four, weight_var = "weight", hh_id = "home", sensitive = "ill"))
  all <- check_figures(x, TRUE)
  expect_gt(nrow(all), 15)
  for (width in c(60, 75, 80, 120)) {
    lines <- format(x, width = width, all = TRUE)
    expect_lte(max(nchar(lines)), width)
    for (text in figure_cells(all)) {
      expect_true(any(grepl(text, lines, fixed = TRUE)), label = paste(text, "at", width))
    }
    page <- format(x, width = width)
    if (width >= 75) expect_lte(length(page), 25)
    expect_match(page, "^Fewest matches, .* +[0-9]+ +(below|at least) 3", all = FALSE)
    expect_match(page, "^Next: ", all = FALSE)
  }
})

test_that("a comparison of pages before and after a remedy invents no change", {
  file <- sdc_file(stats::na.omit(file_of_all(900)), four, weight_var = "weight")
  after <- sdc_file(quietly(suppress_cells(file, k = 3))$data, four, weight_var = "weight")
  table <- as.data.frame(compare_risk(quietly(file_check(file)), quietly(file_check(after))))
  of <- function(term) table[table$term == term & table$result == "after", ]
  expect_lt(of("tau1_rate")$ratio, 1)
  expect_lt(of("population_uniqueness")$ratio, 1)
  expect_lt(of("journalist")$ratio, 1)
  expect_lt(of("expected_reidentifications")$ratio, 1)
})

test_that("records that miss every key variable make no file safe", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  file <- nals_prison
  file[1:2, keys] <- NA
  page <- quietly(file_check(file, keys, weight_var = "WEIGHT"))
  row <- function(measure) page$estimates[page$estimates$measure == measure, ]
  expect_identical(row("k")$value, 3)
  expect_identical(row("k")$verdict, "unclear")
  expect_identical(row("journalist")$verdict, "unclear")
  alone <- n_matches(file[-(1:2), ], keys)$records$n_matches
  expect_match(row("k")$reason, paste0("^", sum(alone < 3), " records would have too few"))
  expect_match(row("k")$reason, "without 2 records missing every key variable")
  # A file that needs no such record stays ok.
  safe <- data.frame(a = rep(c("x", "y"), 20), b = "z")
  safe[1, ] <- NA
  page <- quietly(file_check(safe))
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "ok")
})

test_that("members of one household are no cover for each other", {
  set.seed(9)
  size <- sample(3:6, 60, TRUE)
  file <- data.frame(
    home = rep(1:60, size), region = rep(sample(1:8, 60, TRUE), size),
    dwelling = rep(sample(1:5, 60, TRUE), size), cars = rep(sample(0:3, 60, TRUE), size)
  )
  keys <- c("region", "dwelling", "cars")
  page <- quietly(file_check(file, keys, hh_id = "home", pop_size = 1e5))
  k <- page$estimates[page$estimates$measure == "k", ]
  expect_gte(k$value, 3)
  expect_identical(k$verdict, "unclear")
  apart <- sum(n_matches(file, keys, hh_id = "home")$records$n_matches < 3)
  expect_match(k$reason, paste0("^", apart, " records would have too few matches in other house"))
  # Nor in a release without their numbers, unless it was protected by households.
  verdict <- function(x) {
    e <- quietly(file_check(quietly(release_data(x))))$estimates
    e$verdict[e$measure == "k"]
  }
  asked <- sdc_file(file, keys, hh_id = "home")
  expect_identical(verdict(quietly(top_code(asked, cars = 2))), "unclear")
  expect_identical(verdict(quietly(suppress_cells(asked, k = 3))), "ok")
})

test_that("records of one person by an identifier are no cover for each other", {
  set.seed(10)
  file <- data.frame(
    farm = rep(1:100, each = 6), season = rep(1:6, 100),
    region = rep(sample(6, 100, TRUE), each = 6), status = rep(sample(3, 100, TRUE), each = 6),
    size = rep(sample(4, 100, TRUE), each = 6)
  )
  keys <- c("region", "status", "size")
  limit <- list(k = 3, journalist = 0.9)
  page <- quietly(file_check(sdc_file(file, keys, id_vars = "farm"), pop_size = 1e4, limit = limit))
  k <- page$estimates[page$estimates$measure == "k", ]
  expect_gte(k$value, 6)
  expect_identical(k$verdict, "unclear")
  farms <- unique(file[c("farm", keys)])
  n_farms <- stats::ave(seq_len(100), farms[keys], FUN = length)
  expect_identical(k$reason, paste(
    6 * sum(n_farms < 3), "records would have too few matches if each value of \"farm\" is",
    "counted once: hh_id = \"farm\", or one record of each"
  ))
  # Six records of a farm are not six farms of the population.
  journalist <- page$estimates[page$estimates$measure == "journalist", ]
  expect_identical(journalist$verdict, "unclear")
  expect_match(journalist$reason, "may be one person's")
  expect_message(
    suppressed <- suppress_cells(sdc_file(file, keys, id_vars = "farm")), "one value of \"farm\"",
    class = "sdcRisk_message_repeated_id"
  )
  # Nor when it was left out, as none of them can be told from the others.
  released <- quietly(release_data(suppressed))
  expect_false("farm" %in% names(released))
  page <- quietly(file_check(released, pop_size = 1e4, limit = limit))
  k <- page$estimates[page$estimates$measure == "k", ]
  expect_identical(k$verdict, "unclear")
  expect_match(k$reason, "each value of \"farm\", which was left out, is counted once")
  journalist <- page$estimates[page$estimates$measure == "journalist", ]
  expect_identical(journalist$verdict, "unclear")
  # An identifier of each record changes nothing.
  file$line <- seq_len(600)
  page <- quietly(file_check(sdc_file(file[-1], keys, id_vars = "line"), pop_size = 1e4))
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "ok")
})

test_that("next steps ask what the page was asked, and run on two key variables", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
  strict <- quietly(file_check(nals_prison, keys, limit = list(k = 8), missing = "category"))
  expect_match(strict$next_steps, "limit = list(k = 8), missing = \"category\"", fixed = TRUE,
               all = FALSE)
  two <- quietly(file_check(nals_prison, c("DRACE3", "CENREG")))
  here <- new.env(parent = globalenv())
  steps <- grep("suppress_cells|file_check", two$next_steps, value = TRUE, invert = TRUE)
  expect_match(steps, "qar_risk(file, p = 2)$variables", fixed = TRUE, all = FALSE)
  for (step in steps) quietly(eval(parse(text = step), here))
})

test_that("a file of exchanged values is not judged by its matches", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  exchanged <- quietly(invariant_pram(nals_prison, keys, max_match_prob = 0.6))
  page <- quietly(file_check(exchanged))
  k <- page$estimates[page$estimates$measure == "k", ]
  expect_identical(k$verdict, "not judged")
  expect_match(k$reason, "values were exchanged")
  expect_false(any(page$estimates$verdict %in% c("ok", "above")))
})

test_that("a file most of whose records are below k is recoded first", {
  set.seed(12)
  file <- data.frame(
    age = sample(18:90, 400, TRUE), income = sample(1000, 400, TRUE),
    town = factor(sample(60, 400, TRUE)), weight = runif(400, 50, 90)
  )
  page <- quietly(file_check(file, c("age", "income", "town"), weight_var = "weight"))
  recode <- grep("recode_search(file, constraint = list(k = 3)", page$next_steps, fixed = TRUE)
  cells <- grep("suppress_cells(coarser, k = 3)", page$next_steps, fixed = TRUE)
  expect_length(recode, 1)
  expect_gt(cells, recode)
  here <- new.env()
  for (step in page$next_steps[seq_len(cells)]) {
    expect_no_error(quietly(eval(parse(text = step), here)))
  }
  released <- here$released
  expect_gte(min(n_matches(released)$records$n_matches), 3)
  expect_lt(released$estimates$n_suppressed, 0.1 * 400 * 3)
  expect_identical(released$settings$weight_var, sdc_roles(here$coarser)$weight_var)
})

test_that("a verdict that does not hold within strata is unclear", {
  set.seed(1)
  data <- data.frame(a = sample(3, 1500, TRUE), b = sample(3, 1500, TRUE),
                     st = sample(100, 1500, TRUE))
  file <- sdc_file(data, c("a", "b"), strata_var = "st")
  page <- quietly(file_check(file))
  check <- page$estimates
  below <- sum(stats::ave(rep(1, 1500), data$st, data$a, data$b, FUN = length) < 3)
  expect_identical(check$verdict[check$measure == "k"], "unclear")
  shown <- paste(format(page), collapse = " ")
  expect_match(shown, paste0("at least one value in +each of ", below))
  # They are listed by their own count, and suppressed by the step that is proposed.
  said <- expect_message(
    expect_identical(nrow(records_at_risk(page)), 0L), class = "sdcRisk_message_unlisted_records"
  )
  call <- regmatches(conditionMessage(said), regexpr("records_at_risk[(].*, k = 3[)]",
                                                     conditionMessage(said)))
  expect_identical(nrow(eval(parse(text = call))), below)
  expect_match(page$next_steps, "^released <- suppress_cells[(].*, k = 3[)]$", all = FALSE)
  expect_match(
    check$reason[check$measure == "k"],
    paste(below, "records would have too few matches within their strata"), fixed = TRUE
  )
  protected <- quietly(suppress_cells(file, k = 3))
  expect_identical(protected$estimates$n_violations_before, below)
  again <- quietly(file_check(sdc_file(
    protected$data, c("a", "b"), strata_var = "st"
  )))$estimates
  expect_identical(again$verdict[again$measure == "k"], "ok")
  # One record that is rare in the whole file hides the others no more.
  data$a[[1]] <- 9L
  rare <- quietly(file_check(sdc_file(data, c("a", "b"), strata_var = "st")))
  below <- sum(stats::ave(rep(1, 1500), data$st, data$a, data$b, FUN = length) < 3)
  k <- rare$estimates[rare$estimates$measure == "k", ]
  expect_identical(c(k$verdict, k$n_records_above), c("above", "1"))
  expect_match(k$reason, paste(below, "records would have too few"), fixed = TRUE)
  expect_match(format(rare)[[2]], paste0("(", below, " records would"), fixed = TRUE)
})

test_that("few records with equal gaps do not stand for all others", {
  # Five men without a date match every man; that no woman has one makes such gaps no rarer.
  data <- data.frame(
    sex = rep(c("m", "f"), c(900, 60)), date = c(rep(NA, 5), rep(1:448, 2)[1:895], rep(NA, 60))
  )
  page <- quietly(file_check(data, c("sex", "date"), k = 3))
  k <- page$estimates[page$estimates$measure == "k", ]
  alone <- table(data$date[6:900])
  expect_identical(k$value, as.double(min(alone) + 5))
  expect_identical(k$verdict, "unclear")
  words <- paste(sum(alone[alone < 3]), "records would have too few matches without 65")
  expect_match(k$reason, words)
  # Gaps of which each stands for few are those of a suppression.
  set.seed(4)
  people <- data.frame(a = sample(20, 900, TRUE), b = sample(12, 900, TRUE))
  protected <- quietly(file_check(quietly(suppress_cells(people, k = 3)), k = 3))$estimates
  expect_identical(protected$verdict[protected$measure == "k"], "ok")
})

test_that("records alike in a sensitive value within their stratum are in doubt", {
  # Every key has two values in the file, and one within each stratum.
  data <- expand.grid(i = 1:5, key = letters[1:4], st = c("N", "S"), stringsAsFactors = FALSE)
  data$ill <- ifelse((data$key %in% c("a", "b")) == (data$st == "N"), "flu", "cold")
  file <- sdc_file(data, "key", strata_var = "st", sensitive = "ill")
  page <- quietly(file_check(file, limit = list(k = 3, l = 2, n_homogeneous = 0)))
  rows <- page$estimates[match(c("k", "l", "n_homogeneous"), page$estimates$measure), ]
  expect_identical(rows$value, c(10, 2, 0))
  expect_identical(rows$verdict, c("ok", "unclear", "unclear"))
  expect_identical(rows$reason[-1], paste("it is", c(1, 40), "within the strata"))
  expect_match(page$next_steps, "suppress_cells[(]file, k = 3, l = 2[)]", all = FALSE)
  released <- quietly(suppress_cells(file, k = 3, l = 2))
  expect_identical(released$data$st, data$st)
  after <- n_matches(released$data, c("key", "st"), sensitive = "ill", missing = "wildcard")
  expect_identical(after$estimates$l_distinct, 2L)
  again <- quietly(file_check(released, limit = list(k = 3, l = 2, n_homogeneous = 0)))$estimates
  expect_identical(again$verdict[match(rows$measure, again$measure)], rep("ok", 3))
})

test_that("uniques by households are in doubt where no more records are below k", {
  # The pairs of a home are below 3 by both counts, and unique by homes alone.
  data <- data.frame(home = rep(1:60, each = 2), a = c(rep(1:20, each = 2), rep(21L, 80)), b = 1L)
  page <- function(data, ...) {
    quietly(file_check(sdc_file(data, c("a", "b"), ...), limit = list(k = 3, n_unique = 10)))
  }
  of <- function(x, column) x$estimates[[column]][match(c("k", "n_unique"), x$estimates$measure)]
  expect_identical(of(page(data[-1]), "verdict"), c("above", "ok"))
  with <- page(data, hh_id = "home")
  expect_identical(of(with, "value"), c(2, 0))
  expect_identical(of(with, "verdict"), c("above", "unclear"))
  why <- "40 records would have too few matches in other households"
  expect_identical(of(with, "reason"), c("", why))
  expect_length(with$diagnostics$few_elsewhere, 0)
})

test_that("the first line says that a released column tells suppressed values", {
  set.seed(9)
  n <- 1500
  data <- data.frame(
    age = sample(18:90, n, TRUE), sex = sample(2, n, TRUE), region = sample(letters[1:5], n, TRUE)
  )
  data$born <- 2020 - data$age
  keys <- c("age", "sex", "region")
  x <- quietly(suppress_cells(data, keys))
  page <- quietly(file_check(data.frame(x$data), keys))
  n_blank <- sum(is.na(x$data$age))
  shown <- format(n_blank, big.mark = ",")
  told <- page$diagnostics$told_missing
  expect_identical(told[c("variable", "by")], data.frame(variable = "age", by = "born"))
  expect_identical(c(told$n, told$share), c(n_blank, 1))
  why <- paste0(
    "released columns reveal missing values: \"born\" reveals about ", shown, " of ", shown,
    " values of \"age\""
  )
  expect_match(format(page, width = 1e4)[[1]], paste0("k unclear (", why, ")"), fixed = TRUE)
  k <- page$estimates[page$estimates$measure == "k", ]
  expect_identical(k$verdict, "unclear")
  expect_identical(k$reason, why)
  # What is above its limit stays so, and has the words, too.
  above <- quietly(file_check(data.frame(x$data), keys, k = 100))
  expect_identical(above$estimates$verdict[above$estimates$measure == "k"], "above")
  expect_match(format(above, width = 1e4)[[1]], why, fixed = TRUE)
  # The next line runs, and has no such column.
  next_line <- sub("Next: ", "", utils::tail(format(page, width = 1e4), 1))
  bare <- data.frame(x$data)
  expect_identical(
    next_line,
    paste0(
      "file_check(subset(sdc_file(data.frame(x$data), ",
      "key_vars = c(\"age\", \"sex\", \"region\")), select = -born))"
    )
  )
  after <- quietly(eval(parse(text = next_line)))
  expect_identical(after$estimates$verdict[after$estimates$measure == "k"], "ok")
  # Not if both are missing, nor without the column.
  linked <- quietly(suppress_cells(data, keys, linked = list(age = "born")))
  for (release in list(data.frame(linked$data), data.frame(x$data)[keys])) {
    page <- quietly(file_check(release, keys))
    expect_identical(NROW(page$diagnostics$told_missing), 0L)
    expect_no_match(format(page, width = 1e4)[[1]], "reveal missing values")
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "ok")
  }
})

test_that("a release without its history sees columns that narrow, and pairs that tell", {
  set.seed(5)
  n <- 1500
  data <- data.frame(
    industry = sample(sprintf("%02d.%d", rep(1:20, each = 3), 1:3), n, TRUE, rep(c(8, 1, 1), 20)),
    size = sample(5, n, TRUE), year = sample(2000:2020, n, TRUE), age = sample(18:80, n, TRUE)
  )
  data$division <- substr(data$industry, 1, 2)
  data$born <- data$year - data$age
  for (case in list(c("industry", "division"), c("age", "born + year"))) {
    keys <- c(case[[1]], "size")
    x <- quietly(suppress_cells(data, keys, k = 5))
    n_blank <- sum(is.na(x$data[[case[[1]]]]))
    bare <- data.frame(x$data)
    told <- quietly(file_check(bare, keys))$diagnostics$told_missing
    expect_identical(told$by, case[[2]])
    # Of a division the commonest industry that is left.
    counts <- table(bare$division, bare$industry)
    shares <- (apply(counts, 1, max) / rowSums(counts))[bare$division[is.na(bare$industry)]]
    n_told <- if (case[[2]] == "division") round(sum(shares)) else n_blank
    expect_identical(c(told$n, told$share), c(n_told, n_told / n_blank))
    page <- quietly(file_check(bare, keys))$estimates
    expect_identical(page$verdict[page$measure == "k"], "unclear")
    without <- bare[setdiff(names(bare), c("division", "born"))]
    page <- quietly(file_check(without, keys))$estimates
    expect_identical(page$verdict[page$measure == "k"], "ok")
  }
})

test_that("a page within its limits leads to the report, with what was suppressed", {
  file <- sdc_file(adult[1:600, c("sex", "race", "income")], pop_size = 1e5)
  x <- quietly(suppress_cells(file, k = 5))
  released <- quietly(release_data(x))
  page <- quietly(file_check(released, limit = list(k = 5)))
  expect_false(any(grepl("exclude", c(page$next_steps, page$estimates$reason))))
  expect_identical(
    next_line(page),
    "sdc_report(file_check(released, limit = list(k = 5)), file = \"report.html\")"
  )
  # Values of unknown origin are a question in summary(), not the next line.
  gaps <- as.data.frame(x$data)
  page <- quietly(file_check(gaps, names(gaps), pop_size = 1e5, limit = list(k = 5)))
  expect_true("file_check(file, missing = \"exclude\")" %in% page$next_steps)
  expect_match(next_line(page), "^sdc_report[(]file_check[(]sdc_file[(]gaps")
})

test_that("the next step for sensitive values is a suppression that keeps several of them", {
  data <- nals_prison[c("CENREG", "DAGE3", "GENDER", "EDUC3")]
  page <- function(x, ...) quietly(file_check(x, sensitive = "EDUC3", ...))
  of_l <- function(x) x$estimates$verdict[x$estimates$measure == "l"]
  for (k in 2:3) {
    check <- page(data, c("CENREG", "DAGE3", "GENDER"), limit = list(k = k, l = 2))
    expect_identical(of_l(check), "above")
    line <- sub("Next: ", "", utils::tail(format(check, width = 1e4), 1))
    expect_match(line, paste0("^released <- suppress_cells\\(.*, k = ", k, ", l = 2\\)$"))
    here <- list2env(list(x = data))
    quietly(eval(parse(text = line), here))
    after <- quietly(file_check(here$released, limit = list(k = k, l = 2)))
    expect_identical(after$estimates$verdict[match(c("k", "l"), after$estimates$measure)],
                     c("ok", "ok"))
  }
  # Every `file` of a line is the file.
  check <- page(data, c("CENREG", "DAGE3", "GENDER"), strata_var = "GENDER",
                limit = list(l = 2))
  line <- sub("Next: ", "", utils::tail(format(check, width = 1e4), 1))
  expect_no_match(line, "[(]file[,)]")
  expect_s3_class(quietly(eval(parse(text = line), list2env(list(x = data)))), "sdc_result")
})

test_that("every next step runs, whatever the file is", {
  set.seed(1)
  people <- data.frame(
    age = sample(20:60, 200, TRUE), sex = sample(c("f", "m"), 200, TRUE),
    region = sample(letters[1:6], 200, TRUE), edu = sample(4, 200, TRUE),
    w = runif(200, 5, 50), home = (0:199) %/% 2, ill = sample(c("a", "b", "c"), 200, TRUE)
  )
  people$year <- 2000 - people$age
  keys <- c("age", "sex", "region", "edu")
  sets <- people
  sets$age <- candidates(ifelse(seq_len(200) %% 3 == 0, paste0(sets$age, "|", 7), sets$age))
  holes <- people
  holes$age[1:20] <- NA
  files <- list(
    plain = people[keys], weights = sdc_file(people, keys, weight_var = "w"),
    homes = sdc_file(people, keys, weight_var = "w", hh_id = "home"),
    sensitive = sdc_file(people, keys, sensitive = "ill"), one = sdc_file(people, "age"),
    strata = sdc_file(people, keys, strata_var = "region"),
    other_strata = sdc_file(people, keys[1:3], strata_var = "edu"),
    patterns = pattern_table(people[keys]), sets = sdc_file(sets, keys),
    set_patterns = sdc_file(sets, keys[-1]), holes = sdc_file(holes, keys, missing = "category"),
    protected = quietly(suppress_cells(people, keys, k = 2)),
    coarse = global_recode(sdc_file(people, keys), age = c(20, 40)),
    groups = sdc_file(people, key_groups = list(a = keys[1:2], b = keys[3:4]))
  )
  if (requireNamespace("RSQLite", quietly = TRUE) && requireNamespace("dbplyr", quietly = TRUE)) {
    connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
    on.exit(DBI::dbDisconnect(connection))
    DBI::dbWriteTable(connection, "people", people)
    files$table <- sdc_file(dplyr::tbl(connection, "people"), keys, weight_var = "w")
  }
  folder <- tempfile("steps")
  dir.create(folder)
  before <- setwd(folder)
  on.exit(setwd(before), add = TRUE)
  for (name in names(files)) {
    for (limit in list(list(k = 3, journalist = 0.01), list(k = 1))) {
      of_file <- files[[name]]
      page <- quietly(file_check(of_file, limit = limit))
      here <- new.env()
      shown <- sdcRisk:::next_line(page)
      for (line in unique(c(page$next_steps, shown))) {
        unlink(c("report.html", "report.json"))
        expect_no_error(quietly(eval(parse(text = line), here)), message = NULL)
      }
      here <- NULL
    }
  }
  # Remedies take records with one value each.
  for (name in c("patterns", "sets")) {
    page <- quietly(file_check(files[[name]]))
    expect_no_match(c(page$next_steps, format(page)), "suppress_cells|recode_search|suppression")
    expect_match(format(page), "records_at_risk(n_matches(", fixed = TRUE, all = FALSE)
  }
})

test_that("a page with declared missing codes names plainly missing values, too", {
  skip_if_not_installed("haven")
  d <- data.frame(
    stat = haven::labelled_spss(rep(c(1, 2, -9, 3), 50), na_values = -9),
    edu = replace(rep(1:4, 50), 1:11, NA), sex = rep(c("f", "m"), each = 100)
  )
  page <- paste(format(quietly(file_check(d, c(stat, edu, sex))), width = 1e4), collapse = " ")
  expect_match(page, "Missing: stat 25% (declared codes -9), edu 5.5%.", fixed = TRUE)
})

test_that("members of a household show suppressed values, whatever its role", {
  set.seed(21)
  hh <- rep(1:700, sample(7, 700, TRUE, c(0.3, 0.3, 0.18, 0.13, 0.06, 0.02, 0.01)))
  data <- data.frame(
    hh, sex = sample(2, length(hh), TRUE), age = sample(6, length(hh), TRUE),
    region = sort(sample(5, 700, TRUE, c(0.4, 0.3, 0.2, 0.09, 0.01)))[hh]
  )
  keys <- c("region", "sex", "age")
  x <- quietly(suppress_cells(sdc_file(data, keys, id_vars = "hh"), k = 25))
  written <- as.data.frame(quietly(release_data(x, new_ids = "hh")))
  gone <- is.na(written$region)
  shown <- sum(written$hh[gone] %in% written$hh[!gone])
  expect_gt(shown, 10)
  for (role in c("hh_id", "id_vars", "cluster")) {
    file <- do.call(sdc_file, c(list(written, keys), stats::setNames(list("hh"), role)))
    page <- quietly(file_check(file, limit = list(k = 25)))
    expect_identical(measures(page)$verdict[[1]], "unclear")
    expect_identical(page$diagnostics$told_missing$n, shown)
    expect_identical(page$diagnostics$told_missing$by, "hh")
  }
})

test_that("the next line of a page made from a call runs", {
  d <- as.data.frame(adult)
  page <- file_check(sdc_file(d, c("age", "sex")))
  expect_true("file <- sdc_file(d, c(\"age\", \"sex\"))" %in% page$next_steps)
  # A key variable of a group is not left out alone.
  d$w <- as.double(seq_len(nrow(d)) %% 700) + 0.5
  grouped <- sdc_file(d, c("w", "age", "sex"), key_groups = list(g = c("w", "sex")))
  page <- quietly(file_check(grouped))
  expect_false(any(grepl("setdiff|select = -w", page$next_steps)))
})

test_that("a step that leaves a key variable out takes the column out of the file", {
  set.seed(1)
  d <- data.frame(sex = sample(2, 600, TRUE), age = sample(9, 600, TRUE))
  d$income <- sample(3000, 600)
  step <- "file_check(subset(file, select = -income))"
  page <- quietly(file_check(sdc_file(d, c("sex", "age", "income"))))
  expect_true(step %in% page$next_steps)
  expect_false(any(grepl("setdiff", page$next_steps)))
  without <- quietly(eval(str2lang(step), list(file = sdc_file(d, names(d)))))
  expect_identical(without$roles$variable, c("sex", "age"))
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite())
  on.exit(DBI::dbDisconnect(connection))
  DBI::dbWriteTable(connection, "d", d)
  file <- sdc_file(dplyr::tbl(connection, "d"), names(d))
  step <- grep("income", quietly(file_check(file))$next_steps, fixed = TRUE, value = TRUE)
  expect_identical(step, "file_check(dplyr::select(file, -income))")
  expect_identical(quietly(eval(str2lang(step)))$settings$key_vars, c("sex", "age"))
})

test_that("what was suppressed in vain leads to the column that reveals it, not to more of it", {
  set.seed(2)
  d <- data.frame(area = sample(40, 3000, TRUE), sex = sample(2, 3000, TRUE))
  d$area[1:4] <- 41:44
  d$place <- d$area * 7
  x <- quietly(suppress_cells(sdc_file(d, c("area", "sex")), k = 3, rule = "strict"))
  page <- quietly(file_check(x))
  expect_identical(next_line(page), "file_check(subset(sdc_file(x), select = -place))")
  expect_false(any(grepl("linked", page$next_steps)))
  after <- quietly(eval(str2lang(next_line(page))))
  expect_identical(NROW(after$diagnostics$told_missing), 0L)
  # A file that was written is not compared: its numbers are expected ones.
  counted <- page$diagnostics$told_missing
  expect_false(counted$expected)
  expect_identical(counted$n, sum(is.na(x$data$area)))
  expect_match(format(page, width = 1e4)[[1]], "\"place\" reveals ", fixed = TRUE)
  written <- quietly(file_check(as.data.frame(x$data), c("area", "sex")))
  expect_true(written$diagnostics$told_missing$expected)
  expect_match(format(written, width = 1e4)[[1]], "\"place\" reveals about ", fixed = TRUE)
})

test_that("the page of exchanged values leads to the function that judges them", {
  set.seed(3)
  d <- data.frame(a = sample(9, 500, TRUE), b = sample(9, 500, TRUE), c = sample(5, 500, TRUE))
  file <- sdc_file(d, names(d))
  moved <- quietly(invariant_pram(file, names(d), max_match_prob = 1 / 3))
  page <- quietly(file_check(moved))
  expect_identical(next_line(page), "pram_audit(moved, file)")
  expect_s3_class(quietly(eval(str2lang(next_line(page)))), "sdc_pram_audit")
})

test_that("a file that a long call made is the same in the next line", {
  set.seed(4)
  d <- data.frame(a = sample(30, 800, TRUE), b = sample(30, 800, TRUE), c = sample(30, 800, TRUE))
  page <- quietly(file_check(
    sdc_file(d[d$a < 1000 & d$b < 1000 & d$c < 1000, ], key_vars = c("a", "b"), id_vars = "c")
  ))
  expect_match(next_line(page), "d$c < 1000", fixed = TRUE)
  expect_no_error(quietly(eval(str2lang(next_line(page)))))
})

test_that("a page above a limit says which columns reveal values, and how to do without them", {
  file <- sdc_file(panel_file(), c(age, sex, in_school), id_vars = pid)
  banded <- suppressMessages(global_recode(file, age = seq(0, 90, 10)))
  kept <- suppressMessages(release_data(banded, new_ids = "pid"))
  page <- suppressMessages(file_check(kept, limit = list(k = 30)))
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "above")
  line <- "Released columns reveal protected values: \"pid + year\" reveals"
  expect_match(paste(format(page, width = 200), collapse = "\n"), line, fixed = TRUE)
  # Where the verdict says so, no note does.
  near <- suppressMessages(file_check(kept, limit = list(k = 2)))
  expect_identical(near$estimates$verdict[near$estimates$measure == "k"], "unclear")
  expect_no_match(paste(format(near, width = 200), collapse = "\n"), line, fixed = TRUE)
  expect_identical(near$next_steps[[length(near$next_steps)]], paste0(
    "file_check(subset(file, select = -pid), limit = list(k = 2))"
  ))
  without <- suppressMessages(file_check(subset(kept, select = -pid), limit = list(k = 2)))
  expect_identical(without$estimates$verdict[without$estimates$measure == "k"], "ok")
})

test_that("a page proposes no search of key variables that its result cannot name", {
  set.seed(5)
  d <- data.frame(risk = sample(90, 400, TRUE), age = sample(90, 400, TRUE))
  page <- quietly(file_check(sdc_file(d, names(d), pop_size = 900)))
  expect_false(any(grepl("recode_search", page$next_steps)))
  expect_match(next_line(page), "suppress_cells", fixed = TRUE)
  expect_error(recode_search(d, k = 3), class = "sdcRisk_error_bad_argument")
  names(d)[1] <- "danger"
  page <- quietly(file_check(sdc_file(d, names(d), pop_size = 900)))
  expect_match(next_line(page), "recode_search", fixed = TRUE)
})

test_that("next lines lead to an end, each another one", {
  set.seed(6)
  n <- 900
  people <- data.frame(
    id = seq_len(n), area = sort(sample(12, n, TRUE, 12:1)), age = sample(18:80, n, TRUE),
    sex = sample(2, n, TRUE), job = sample(c("a", "b", "c", "d"), n, TRUE, 4:1)
  )
  people$born <- 2020 - people$age
  people$ill <- sample(c("yes", "no"), n, TRUE, c(0.1, 0.9))
  files <- list(
    sdc_file(people, c("area", "age", "sex", "job"), id_vars = "id"),
    sdc_file(people, c("area", "sex", "job"), id_vars = "id", sensitive = "ill", pop_size = 30000),
    quietly(suppress_cells(sdc_file(people, c("age", "sex", "job")), k = 3)),
    global_recode(sdc_file(people, c("age", "sex")), age = c(30, 45, 60)), people[c("sex", "job")]
  )
  folder <- tempfile("steps")
  dir.create(folder)
  before <- setwd(folder)
  on.exit(setwd(before))
  here <- environment()
  for (file in files) {
    page <- quietly(file_check(file))
    seen <- character()
    repeat {
      line <- next_line(page)
      expect_false(line %in% seen)
      seen <- c(seen, line)
      made <- quietly(eval(str2lang(line), here))
      if (inherits(made, "sdc_recode_search")) made <- quietly(apply_recoding(made, file))
      ended <- grepl("^(sdc_report|release_data|records_at_risk)", line)
      if (ended || length(seen) > 8) break
      # The lines of a page are about the file that it was made of.
      if (!inherits(made, "sdc_file_check")) file <- made
      page <- if (inherits(made, "sdc_file_check")) made else quietly(file_check(file))
    }
    expect_true(ended)
    unlink(c("report.html", "report.json"))
  }
})

test_that("strata are for cells to protect, and incomplete records for neither", {
  set.seed(7)
  d <- data.frame(area = sample(2, 80, TRUE), sex = sample(2, 80, TRUE))
  d$year <- sample(20, 80, TRUE)
  file <- sdc_file(d, c("area", "sex"), strata_var = "year")
  page <- quietly(file_check(file))
  k <- page$estimates[page$estimates$measure == "k", ]
  expect_match(k$reason, "within their strata", fixed = TRUE)
  # More than a third of the records.
  expect_gt(3 * as.integer(sub(" .*", "", k$reason)), 80)
  expect_identical(next_line(page), "released <- suppress_cells(file, k = 3)")
  # A sensitive value is not made diverse by another suppression if incomplete records are why.
  x <- page
  x$estimates$verdict[x$estimates$measure == "l"] <- "unclear"
  steps <- function(why) {
    x$estimates$reason[x$estimates$measure == "k"] <- paste("4 records would match too few", why)
    x$settings$limit$l <- 2
    grepl("l = 2)", next_line(list(
      next_steps = check_next_steps(x, file, file), estimates = x$estimates,
      diagnostics = x$diagnostics, settings = x$settings
    )), fixed = TRUE)
  }
  expect_true(steps("sensitive values within their strata"))
  expect_false(steps("sensitive values within their strata and without 9 incomplete records"))
})
