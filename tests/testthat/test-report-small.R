# Counts of few records in external reports: an intruder takes all printed figures, adds and
# subtracts them, and looks at the shares.

skip_on_cran()

skip_if_not_installed("xml2")

# Page and log of an external report on these results.
external <- function(...) {
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(sdc_report(..., file = path, pictures = FALSE))
  log <- jsonlite::read_json(sub("html$", "json", path))
  html <- xml2::read_html(path)
  list(log = log, text = xml2::xml_text(xml2::xml_find_first(html, "//body")))
}

# Every number of the tables of a log: result, name, value; rows of measures by their name.
printed_numbers <- function(log) {
  do.call(rbind, lapply(log$results, function(result) {
    do.call(rbind, lapply(names(result$tables), function(table) {
      columns <- result$tables[[table]]
      do.call(rbind, lapply(names(columns), function(name) {
        value <- lapply(columns[[name]], function(v) if (is.numeric(v)) v else NA_real_)
        of_rows <- name == "value" && !is.null(columns$measure)
        data.frame(
          result = result$id, stage = result$stage, table = table,
          name = if (of_rows) unlist(columns$measure) else rep(name, length(value)),
          value = as.numeric(unlist(value))
        )
      }))
    }))
  }))
}

# What the printed counts of records with few matches say of x_1, ..., x_10 and the rest, the
# numbers of records with 1, ..., 10 and more matches: an equation per figure.
equations <- function(printed, n, k) {
  upto <- function(j) as.numeric(seq_len(11) < j)
  rows <- list(c(rep(1, 11), n))
  for (i in seq_len(nrow(printed))) {
    name <- printed$name[[i]]
    value <- printed$value[[i]]
    of <- if (grepl("^n_unique(_complete)?$", name)) {
      upto(2)
    } else if (name == "n_pairs") {
      c(0, 0.5, rep(0, 9))
    } else if (grepl("^n_below_[0-9]+$", name)) {
      upto(as.numeric(sub("n_below_", "", name)))
    } else if (name == "n_violations_before") {
      upto(k)
    } else if (name %in% c("prop_unique", "prop_unique_all") && !is.na(value)) {
      # The whole numbers that round to the share.
      fits <- which(signif(seq_len(n) / n, 3) == value)
      value <- if (length(fits) == 1) fits else NA
      upto(2)
    }
    if (!is.null(of) && !is.na(value)) rows <- c(rows, list(c(of, value)))
  }
  do.call(rbind, rows)
}

# The sums of neighbouring x that follow from the equations, as a data frame of their values.
solved <- function(rows) {
  a <- t(rows[, 1:11, drop = FALSE])
  found <- list()
  for (from in 1:11) {
    for (to in from:11) {
      target <- as.numeric(1:11 %in% from:to)
      fit <- qr(a)
      coefficients <- qr.coef(fit, target)
      coefficients[is.na(coefficients)] <- 0
      if (max(abs(a %*% coefficients - target)) < 1e-8) {
        found <- c(found, list(data.frame(from = from, to = to,
                                          value = sum(coefficients * rows[, 12]))))
      }
    }
  }
  do.call(rbind, found)
}

# Files with few uniques, few others, and neither.
small_count_files <- function() {
  of <- function(sizes) {
    data.frame(
      a = rep(seq_along(sizes) %/% 6, sizes), b = rep(seq_along(sizes) %% 6, sizes),
      c = "x", w = 20
    )
  }
  list(
    few_uniques = of(c(1, 1, 1, rep(2, 5), rep(7, 6), 60)),
    few_pairs = of(c(rep(1, 20), 2, 2, rep(9, 9))),
    few_below = of(c(rep(1, 9), rep(2, 4), 3, rep(12, 7))),
    few_others = of(c(rep(1, 70), rep(2, 20), 4)),
    one_group = of(c(rep(1, 12), rep(2, 6), rep(3, 5), 6, 60))
  )
}

test_that("a page's share of small cells has no number of cells beside it", {
  # 3 of 253 cells: two figures of one report, of the page and of the tables, gave them.
  set.seed(3)
  data <- as.data.frame(lapply(c(a = 5, b = 5, c = 5, e = 5, f = 4), sample, 220, TRUE))
  check <- quietly(file_check(data, limit = list(k = 3)))
  tables <- quietly(exhaustive_tabulation(data, names(data)))
  expect_identical(tables$estimates$n_cell_violations, 3)
  written <- external(check, tables)
  printed <- printed_numbers(written$log)
  expect_true(all(is.na(printed$value[printed$name %in% c("small_cells", "prop_cells")])))
  expect_identical(sum(printed$name == "small_cells"), 1L)
  expect_match(written$text, "Cells below 3: not shown", fixed = TRUE)
})

test_that("no count of fewer than five records follows from an external report", {
  files <- c(small_count_files(), list(prison = nals_prison[c("CENREG", "DAGE3", "EDUC3", "GENDER",
                                                             "WEIGHT")]))
  n_withheld <- 0
  for (name in names(files)) {
    data <- files[[name]]
    n <- nrow(data)
    weight_var <- utils::tail(names(data), 1)
    file <- sdc_file(data, setdiff(names(data), weight_var), weight_var = weight_var)
    results <- quietly(list(
      file_check(file), n_matches(file, below = c(3, 5)), individual_risk(file),
      key_overview(file)
    ))
    protected <- quietly(suppress_cells(file, k = 3))
    loss <- quietly(utility_loss(protected))
    for (given in list(results, c(results, list(protected, loss)), results[1], results[2])) {
      made <- do.call(external, given)
      printed <- printed_numbers(made$log)
      n_withheld <- n_withheld + sum(is.na(printed$value) & grepl("^n_", printed$name))
      counts <- printed[grepl("^n_", printed$name) & !printed$name %in% other_counts, ]
      counts <- counts[!is.na(counts$value), ]
      expect_false(any(counts$value %in% 1:4), info = name)
      expect_false(any((n - counts$value) %in% 1:4), info = name)
      # Shares whose only counts are few.
      shares <- printed[grepl("^prop_(unique|records|missing)", printed$name), ]
      for (p in unique(shares$value[!is.na(shares$value) & shares$value > 0])) {
        fits <- which(signif(seq_len(n) / n, 3) == p)
        expect_false(all(fits %in% c(1:4, n - 1:4)) && length(fits) > 0, info = paste(name, p))
      }
      # All sums and differences of all equations.
      found <- solved(equations(printed, n, 3))
      expect_false(any(round(found$value) %in% 1:4), info = name)
      # What depends on one variable alone.
      changes <- printed$value[printed$name == "unique_change"]
      expect_false(any(abs(changes) %in% 1:4), info = name)
      # In words.
      expect_no_match(
        made$text, "(?<!than )(?<!least )(?<!most )\\b[1-4] (records?|sample uniques?)\\b",
        perl = TRUE
      )
    }
  }
  expect_gt(n_withheld, 20)
})

# A file of groups of these sizes.
grouped_file <- function(sizes) {
  data.frame(a = rep(seq_along(sizes), sizes), b = 1, w = 20)
}

# The numbers of groups of each size, for all files of n records.
partitions <- function(n, largest = n) {
  if (n == 0) return(list(integer()))
  unlist(lapply(seq_len(min(n, largest)), function(size) {
    lapply(partitions(n - size, size), function(rest) c(size, rest))
  }), recursive = FALSE)
}

# Figures of a result as an external report states them, of files of any size.
stated_figures <- function(x) {
  entry <- list(
    exact = x, result = stated_result(x, FALSE), stage = "before",
    fun = sub("^sdc_", "", class(x)[[1]])
  )
  entry <- withhold_small_counts(withhold_few(list(entry)))[[1]]
  Filter(is.numeric, as.list(unclass(entry$result)$estimates))
}

test_that("of all files with the printed figures several have other numbers of uniques", {
  all_files <- partitions(24)
  uniques <- vapply(all_files, function(sizes) sum(sizes == 1), 0)
  below_5 <- vapply(all_files, function(sizes) sum(sizes[sizes < 5]), 0)
  pairs <- vapply(all_files, function(sizes) sum(sizes == 2), 0)
  for (sizes in list(c(8, 8, 4, 1, 1, 1, 1), c(12, 9, 2, 1), c(10, 5, 5, 3, 1))) {
    data <- data.frame(a = rep(seq_along(sizes), sizes), b = 1)
    shown <- stated_figures(quietly(n_matches(data, c("a", "b"), below = 5)))
    value <- function(name) shown[[name]]
    expect_true(is.na(value("n_unique")))
    fits <- (is.na(value("n_below_5")) | below_5 == value("n_below_5")) &
      (is.na(value("n_pairs")) | pairs == value("n_pairs"))
    risk <- vapply(all_files, length, 0L) / 24
    if (!is.na(value("risk_mean"))) fits <- fits & signif(risk, 3) == value("risk_mean")
    expect_gt(length(unique(uniques[fits])), 1)
  }
})

test_that("individual risks by equal weights tell no number of few sample uniques", {
  # All 176 files of 15 records: their figures told the sample uniques of 97 if these were few.
  files <- partitions(15)
  figures <- vapply(files, function(sizes) {
    x <- quietly(individual_risk(grouped_file(sizes), c("a", "b"), "w"))
    paste(signif(unlist(stated_figures(x)), 9), collapse = " ")
  }, "")
  uniques <- vapply(files, function(sizes) sum(sizes == 1), 0)
  others <- ave(uniques, figures, FUN = function(x) length(unique(x)))
  expect_lte(sum(uniques %in% 1:4 & others == 1), 1)
  # Few groups, and many records: 1, 2, 3 and 4 sample uniques have the same figures.
  figures <- lapply(1:4, function(n) {
    sizes <- c(rep(1, n), rep(60, 11), 200 - n)
    stated_figures(quietly(individual_risk(grouped_file(sizes), c("a", "b"), "w")))
  })
  expect_length(unique(figures), 1)
  # In a large file hardly any digit is lost.
  sizes <- c(1, 1, rep(2:9, 300))
  large <- quietly(individual_risk(grouped_file(sizes), c("a", "b"), "w"))
  shown <- stated_figures(large)$expected_reidentifications
  expect_equal(shown, large$estimates$expected_reidentifications, tolerance = 0.01)
  # The number of records with few matches less that of sample uniques.
  few <- quietly(individual_risk(grouped_file(c(rep(1, 20), 3, rep(40, 5))), c("a", "b"), "w"))
  expect_equal(stated_figures(few)$n_unique, 20)
  expect_identical(stated_figures(few)$prosecutor_above, NA_real_)
})

test_that("an external report of a small file is a warning, an internal one is not", {
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  x <- quietly(n_matches(grouped_file(c(rep(9, 11))), c("a", "b")))
  e <- expect_warning(
    sdc_report(x, file = path, pictures = FALSE), class = "sdcRisk_warning_small_file"
  )
  expect_match(conditionMessage(e), "The file has 99 records.", fixed = TRUE)
  expect_match(conditionMessage(e), "internal = TRUE", fixed = TRUE)
  unlink(c(path, sub("html$", "json", path)))
  expect_no_warning(sdc_report(x, file = path, internal = TRUE, pictures = FALSE))
  expect_true(file.exists(path))
  x <- quietly(n_matches(grouped_file(c(rep(9, 11), 1)), c("a", "b")))
  expect_no_error(external(x))
})

test_that("the number of keys is not told where two records make a pair", {
  # 8 uniques and 2 pairs: 13 keys tell them with the 12 records below 3 and three large keys.
  data <- grouped_file(c(rep(1, 8), 2, 2, 50, 60, 90))
  check <- quietly(file_check(data, c("a", "b"), limit = list(k = 3)))
  cured <- quietly(suppress_cells(sdc_file(data, c("a", "b")), k = 3))
  printed <- printed_numbers(external(check, quietly(n_matches(data, c("a", "b"))), cured)$log)
  told <- function(name) printed$value[printed$name %in% name]
  expect_true(12 %in% told("n_below_10"))
  hidden <- c("n_unique", "risk_mean", "qar", "set_risk")
  expect_identical(printed$name[printed$name %in% hidden & !is.na(printed$value)], character())
  # A multiple of five times the largest risk.
  expect_identical(told("tau_before") %% 5, 0)
})

test_that("internal reports have every count, and large ones stay in external reports", {
  data <- small_count_files()$few_uniques
  result <- quietly(n_matches(data, c("a", "b")))
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(sdc_report(result, file = path, pictures = FALSE, internal = TRUE))
  log <- jsonlite::read_json(sub("html$", "json", path))
  expect_identical(log$results[[1]]$tables$estimates$n_unique[[1]], 3L)
  made <- external(result)
  expect_null(made$log$results[[1]]$tables$estimates$n_unique[[1]])
  expect_match(made$text, "not shown: reveals fewer than 5 records", fixed = TRUE)
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  made <- external(n_matches(nals_prison, keys))
  expect_identical(made$log$results[[1]]$tables$estimates$n_unique[[1]], 52L)
  expect_identical(made$log$results[[1]]$tables$estimates$prop_unique[[1]], 0.286)
})

test_that("words, rows of the board and pictures have no count of few records", {
  keys <- c("a", "b")
  file <- sdc_file(grouped_file(c(1, 1, rep(8, 13))), keys, weight_var = "w")
  results <- quietly(list(
    file_check(file), n_matches(file), individual_risk(file), loglinear_risk(file),
    suppress_cells(file, k = 3)
  ))
  made <- do.call(external, results)
  of <- c("record", "sample unique", "value", "person")
  found <- paste0("(?<!than )(?<!least )(?<!most )\\b[1-4] (", paste(of, collapse = "|"), ")s?\\b")
  expect_no_match(made$text, found, perl = TRUE)
  expect_no_match(made$text, "2 (are unique|of the records|[(]1[.]89%[)])")
  # The verdict of a count that is not shown stays.
  expect_match(made$text, "Fewest matches, k[^.]{0,60}above")
  skip_if_not_installed("ggplot2")
  drawn <- function(...) {
    path <- tempfile(fileext = ".html")
    on.exit(unlink(c(path, sub("html$", "json", path))))
    quietly(sdc_report(..., file = path))
    alt <- xml2::xml_attr(xml2::xml_find_all(xml2::read_html(path), "//figure/img"), "alt")
    sub(":.*", "", alt)
  }
  expect_identical(drawn(results[1:2], key_overview(file)), "file_check")
  large <- sdc_file(grouped_file(c(rep(1, 12), rep(2, 6), rep(8, 12))), keys, weight_var = "w")
  expect_identical(drawn(n_matches(large)), "n_matches")
})

test_that("shares of values that columns reveal are withheld as their counts are", {
  told <- data.frame(variable = c("race", "region"), by = "weight", n = c(30, 11))
  told$share <- told$n / c(60, 73)
  page <- structure(list(diagnostics = list(told_missing = told)), class = "sdc_file_check")
  gone <- function(others) is.na(without_few_told(page, others)$diagnostics$told_missing$share)
  expect_identical(gone(700), c(FALSE, FALSE))
  # 75 records have too few matches: 2 of these were missing before.
  expect_identical(gone(c(700, 75)), c(FALSE, TRUE))
  expect_identical(gone(c(700, 33)), c(TRUE, FALSE))
  text <- "reveals 30 of 60 values of race, 11 of 73 values of region"
  expect_identical(
    few_as_na(text, c(700, 75)), "reveals 30 of 60 values of race, NA of NA values of region"
  )
})

test_that("a chance of guessing few values is not told", {
  # The chance of the one category that was suppressed is the square of its share.
  set.seed(3)
  n <- 1000
  region <- sort(sample(LETTERS[1:5], n, TRUE, c(0.4, 0.25, 0.15, 0.12, 0.08)))
  of_order <- function(job) {
    file <- sdc_file(data.frame(region, sex = rep_len(1:2, n), job), c("region", "sex", "job"))
    x <- quietly(suppress_cells(file, k = 3, importance = c(region = 0.3)))
    told <- x$diagnostics$told_by_order
    list(told = told[told$variable == "region", ], text = external(x)$text)
  }
  # All with the fourth job live in A, but for one, or 30.
  job <- rep_len(1:3, n)
  job[which(region == "A")[1:40]] <- 4
  few <- of_order(replace(job, match("C", region), 4))
  expect_identical(few$told$n, 1L)
  expect_match(few$text, "The order reveals region: ", fixed = TRUE)
  expect_no_match(few$text, "by chance", fixed = TRUE)
  job[which(region == "A")[1:300]] <- rep(5:34, each = 10)
  job[which(region == "C")[1:30]] <- 5:34
  many <- of_order(job)
  expect_identical(many$told$n, 30L)
  chance <- regmatches(many$text, regexpr("(?<=by chance )[0-9.]+(?=%)", many$text, perl = TRUE))
  expect_identical(as.numeric(chance) / 100, signif(many$told$chance, 1))
})

test_that("keys that PRAM changes do not tell withheld uniques", {
  set.seed(2)
  n <- 1000
  d <- data.frame(
    age = sample(5, n, TRUE, c(40, 30, 20, 8, 2)), sex = sample(2, n, TRUE),
    status = sample(3, n, TRUE, c(50, 45, 5)), car = sample(2, n, TRUE)
  )
  size <- table(do.call(paste, d))
  x <- quietly(invariant_pram(sdc_file(d, names(d)), max_match_prob = 1 / 3))
  # So many uniques are withheld, and twice the keys less the records would be their number.
  expect_lt(sum(size == 1), 5)
  expect_identical(
    2L * x$estimates$n_risky - sum(size[size < 3]), sum(size == 1)
  )
  printed <- printed_numbers(external(x)$log)
  expect_true(all(is.na(printed$value[printed$name %in% c("n_risky", "expected_changed")])))
  expect_gt(sum(printed$name == "n_risky"), 0)
})

test_that("a withheld share is no share of nobody", {
  set.seed(3)
  n <- 1000
  d <- data.frame(
    age = sample(3, n, TRUE, c(50, 45, 5)), sex = sample(2, n, TRUE),
    status = sample(3, n, TRUE, c(50, 48, 2)), region = sample(2, n, TRUE),
    ill = sample(2, n, TRUE, c(1, 3))
  )
  file <- sdc_file(d, names(d)[1:4], sensitive = "ill")
  x <- quietly(attribute_risk(file))
  kinds <- stats::ave(d$ill, do.call(paste, d[1:4]), FUN = function(ill) length(unique(ill)))
  expect_gt(sum(kinds == 1), 0)
  said <- "0% of the records have a value that the key reveals"
  expect_no_match(external(quietly(file_check(file)), x)$text, paste0("\\b", said))
})

test_that("a share is shown or withheld with the count of its own row", {
  before <- data.frame(inc = 1000 + 10 * 1:700, debt = 500 + 7 * 1:700)
  shown <- function(after, width, vars = c("inc", "debt")) {
    made <- external(quietly(interval_disclosure(before, after, vars, width = width)))
    value <- printed_numbers(made$log)
    list(text = made$text, of = function(name) value$value[value$name == name])
  }
  # 50 values are 6% off, and 2 are 2% off: of 1,350 and 1,348 values one count is shown.
  after <- before
  after$inc[1:52] <- after$inc[1:52] * rep(c(1.06, 1.02), c(50, 2))
  found <- shown(after, c(percent = 0.05, sd = 0.01))
  expect_identical(found$of("n_within"), c(1350, NA))
  expect_identical(found$of("prop_within"), c(0.964, NA))
  expect_match(found$text, "Values disclosed (percent)96.4%", fixed = TRUE)
  expect_match(found$text, "Values disclosed (sd): not shown", fixed = TRUE)
  # 8 of 1,400 values are the share of 4 of 700 records, and no fewer for it.
  after <- before
  after$inc[1:8] <- 2 * after$inc[1:8]
  found <- shown(after, c(percent = 0.05))
  expect_identical(found$of("n_within"), 1392)
  expect_identical(found$of("prop_within"), 0.994)
  # A share and its count tell that 2 values are missing.
  after$inc[1:300] <- 2 * before$inc[1:300]
  after$inc[301:302] <- NA
  found <- shown(after, c(percent = 0.05), "inc")
  expect_identical(found$of("n_values"), NA_real_)
  expect_identical(found$of("n_within"), 398)
  expect_identical(found$of("prop_within"), NA_real_)
})

test_that("a number in a name is no count", {
  # 240 records in 24 groups of 10.
  wave <- data.frame(a = rep(1:8, 30), b = rep(1:3, each = 80), id = 1:240)
  made <- external(quietly(longitudinal_link(wave, wave, c("a", "b"), id = "id")))
  found <- gregexpr("takes one of the wave-1 records that differ in fewest", made$text)[[1]]
  expect_length(found, 2)
  expect_no_match(made$text, "not shown")
  expect_identical(few_as_na("2 records of wave-2 records", 99), "NA records of wave-2 records")
})

test_that("the number of groups does not tell the uniques among small ones", {
  value <- function(sizes, name, of = n_matches) {
    printed <- printed_numbers(external(quietly(of(grouped_file(sizes), c("a", "b"), "w")))$log)
    printed$value[printed$name == name][[1]]
  }
  matches <- function(data, keys, weight_var) n_matches(data, keys)
  # 2 uniques and 49 pairs are 51 groups in 100 records.
  small <- c(1, 1, rep(2, 49))
  expect_identical(value(small, "risk_mean", matches), NA_real_)
  for (name in c("n_cells", "prosecutor_mean", "journalist_population")) {
    expect_identical(value(small, name, individual_risk), NA_real_)
  }
  # One pair is a group less than records.
  expect_identical(value(c(rep(1, 110), 2), "risk_mean", matches), NA_real_)
  # Nor do few groups: by their number the mean risk tells the uniques.
  expect_identical(value(c(1, 1, rep(20, 5)), "n_cells", individual_risk), NA_real_)
  expect_identical(value(rep(20, 12), "n_cells", individual_risk), 12)
})

test_that("counts that are not shown are left out of a replay", {
  data <- grouped_file(c(1, 1, 1, rep(7, 15)))
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  sdc_report(n_matches(data, c("a", "b")), file = path, pictures = FALSE)
  again <- replay(sub("html$", "json", path), data)
  expect_true(all(again$equal))
  expect_false("n_matches: n_unique" %in% again$figure)
  expect_true("n_matches: n" %in% again$figure)
})

# A count that is withheld under one name may stand elsewhere under another one: in words, as a
# share, as the number of the other records. With a limit of 61 instead of 5 few numbers are equal
# by chance.
test_that("no withheld count stands elsewhere in a report", {
  space <- asNamespace("sdcRisk")
  put <- function(value) {
    unlock <- get("unlockBinding", envir = baseenv())
    unlock("least_alike", space)
    assign("least_alike", value, envir = space)
    lockBinding("least_alike", space)
  }
  on.exit(put(5))
  put(61)
  set.seed(12)
  sizes <- c(rep(1, 37), rep(2, 11), rep(3, 7), rep(4, 3))
  data <- data.frame(
    a = sample(5, 1110, TRUE), b = sample(4, 1110, TRUE), c = sample(3, 1110, TRUE)
  )
  i <- seq_along(sizes)
  data <- rbind(data, data.frame(a = 5 + i, b = 1 + i %% 4, c = 1 + i %% 3)[rep(i, sizes), ])
  n <- nrow(data)
  data$s <- sample(c("u", "v", "w"), n, TRUE)
  data$w <- round(runif(n, 20, 60), 2)
  data$c[sample(n, 13)] <- NA
  # It reveals some of the suppressed values.
  data$half <- ifelse(data$b == 1, data$a, NA)
  data$id <- seq_len(n)
  keys <- c("a", "b", "c")
  plain <- sdc_file(data[setdiff(names(data), "id")], keys, weight_var = "w")
  later <- data
  moved <- sample(n, 23)
  later$b[moved] <- later$b[moved] %% 4 + 1
  protected <- quietly(suppress_cells(plain, k = 3))
  released <- quietly(release_data(protected, shuffle = FALSE))
  reports <- quietly(list(
    list(file_check(plain), protected, after = file_check(released)), list(utility_loss(protected)),
    list(file_check(released)), list(n_matches(plain, sensitive = "s", below = c(3, 5))),
    list(
      before = individual_risk(plain), after = individual_risk(released),
      before = key_overview(plain), after = key_overview(released)
    ),
    list(loglinear_risk(plain), special_uniques(plain), exhaustive_tabulation(plain)),
    list(attribute_risk(data, keys, "s", released = later)),
    list(attack_release(data, later, keys, "s")), list(link_attack(data, later, keys, "id")),
    list(key_stability(data, later, keys, id = "id")),
    list(longitudinal_risk(data, later, keys, keys, "b", "id", weight_var = "w")),
    list(compare_risk(n_matches(plain), n_matches(released)))
  ))
  # Counts of records, wherever a result has them; a comparison has those of two.
  hidden <- function(x) {
    tables <- Filter(is.data.frame, c(
      unclass(x)[c("estimates", "drivers", "variables")], x$diagnostics
    ))
    found <- unlist(lapply(tables, function(t) {
      values <- as.list(t)[setdiff(grep("^n_|change$", names(t), value = TRUE), other_counts)]
      if (all(c("measure", "value") %in% names(t))) {
        values <- c(values, list(t$value[grepl("^n_", t$measure)]))
      }
      unlist(Filter(is.numeric, values))
    }))
    singles <- unlist(x$diagnostics[c("n_incomplete", "n_excluded", "n_unique", "n_pairs")])
    found <- unique(abs(as.numeric(c(found, singles))))
    found[!is.na(found) & found >= 5 & found < 61]
  }
  n_hidden <- 0
  for (given in reports) {
    made <- do.call(external, given)
    printed <- printed_numbers(made$log)
    printed <- printed[!is.na(printed$value) & !printed$name %in% other_counts, ]
    values <- printed$value
    # Numbers before a noun, and shares.
    numbers <- function(pattern) {
      found <- regmatches(made$text, gregexpr(pattern, made$text, perl = TRUE))[[1]]
      as.numeric(gsub(",", "", found))
    }
    counts <- numbers("[0-9][0-9,]*(?= (of|records?|values?|sample|people|in unique))")
    shares <- numbers("[0-9][0-9.]*(?=%)") / 100
    results <- lapply(unname(given), function(x) {
      if (inherits(x, "sdc_comparison")) unclass(x)$results else list(x)
    })
    secret <- unique(unlist(lapply(unlist(results, recursive = FALSE), hidden)))
    # The other records of a secret, and what rounds to its share.
    for (count in secret) {
      info <- paste(class(given[[1]])[[1]], count)
      near <- function(share) share > 0 & share < 1 & share == signif(count / n, 3)
      stated <- values == count | values == n - count | near(values)
      expect_identical(as.character(printed$name[stated]), character(), info = info)
      said <- c(counts[counts == count | counts == n - count], shares[near(shares)])
      expect_identical(said, numeric(), info = info)
    }
    n_hidden <- n_hidden + length(secret)
  }
  expect_gt(n_hidden, 30)
})

test_that("a share of few values that a column or the order reveals is not shown", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  file <- sdc_file(nals_prison, keys, weight_var = "WEIGHT")
  safe <- quietly(suppress_cells(file, k = 3))
  told <- safe$diagnostics
  expect_identical(told$told_by_columns$n[told$told_by_columns$by == "WEIGHT"], 3L)
  gender <- told$told_by_order[told$told_by_order$variable == "GENDER", ]
  expect_equal(gender$n * (1 - gender$share), rep(1, nrow(gender)))
  made <- external(safe, after = quietly(file_check(release_data(safe, shuffle = FALSE))))
  expect_no_match(made$text, "4.17%", fixed = TRUE)
  expect_no_match(made$text, "83.3%", fixed = TRUE)
  # The share of many, and all or none of few, tell no number.
  expect_match(made$text, "CENREG, 81.9% come back", fixed = TRUE)
  expect_match(made$text, "DAGE reveals 100% of the protected values", fixed = TRUE)
})

test_that("counts of records whose values are disclosed are withheld together", {
  set.seed(3)
  data <- data.frame(a = stats::rlnorm(600), g = rep(1:3, 200))
  file <- sdc_file(data, "g", num_vars = "a")
  x <- quietly(interval_disclosure(file, microaggregate(file, k = 3)))
  e <- x$estimates
  expect_identical(e$n_any, e$n_all)
  few <- 600 - e$n_any < 5
  expect_true(any(few))
  path <- tempfile(fileext = ".html")
  quietly(sdc_report(x, file = path, pictures = FALSE))
  log <- jsonlite::fromJSON(sub("html$", "json", path), simplifyVector = FALSE)
  shown <- log$results[[1]]$tables$estimates
  for (name in c("n_within", "n_any", "n_all", "prop_any", "prop_all")) {
    expect_false(any(vapply(shown[[name]][few], is.numeric, NA)), info = name)
  }
})

test_that("records that were incomplete before a suppression do not follow from three counts", {
  set.seed(1)
  d <- data.frame(
    a = sample(1:9, 600, TRUE, 9:1), b = sample(1:9, 600, TRUE, 9:1), s = sample(2, 600, TRUE)
  )
  d$a[1:40] <- NA
  d$b[3:4] <- 11:12
  x <- quietly(suppress_cells(sdc_file(d, c("a", "b", "s")), k = 3))
  changed <- rowSums(is.na(x$data)) > rowSums(is.na(d))
  before <- rowSums(is.na(d)) > 0
  expect_identical(sum(changed & before), 2L)
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(sdc_report(x, file = path, pictures = FALSE))
  page <- paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  miss <- "records [(][^)]*[)] miss a key value"
  expect_match(page, paste(sum(before), miss))
  expect_no_match(page, paste(sum(rowSums(is.na(x$data)) > 0), miss))
  expect_match(page, "records miss a key value, which this method cannot take", fixed = TRUE)
})

test_that("classes before a suppression are counted in steps if few records are unique", {
  shown <- vapply(list(c(1, 1, 1, 2, 2), c(1, 1, 1, 2), c(1, 2, 2)), function(few) {
    sizes <- c(few, 20:49)
    d <- data.frame(a = rep(seq_along(sizes), sizes))
    d$b <- d$a %% 3
    x <- quietly(suppress_cells(sdc_file(d, c("a", "b")), k = 3))
    expect_equal(x$estimates$tau_before, length(sizes))
    path <- tempfile(fileext = ".html")
    on.exit(unlink(c(path, sub("html$", "json", path))))
    quietly(sdc_report(x, file = path, pictures = FALSE))
    log <- jsonlite::fromJSON(sub("html$", "json", path), simplifyVector = FALSE)
    tables <- lapply(log$results, function(result) result$tables$estimates$tau_before)
    unlist(tables)[[1]]
  }, 1)
  # In steps of what five sample uniques add at least.
  expect_identical(shown, c(40, 30, 30))
})

test_that("a withheld number of classes follows from no risk without a variable and no error", {
  set.seed(12)
  n <- 200
  d <- data.frame(
    age = sample(18:92, n, TRUE), sex = sample(2, n, TRUE), service = sample(2, n, TRUE),
    race = sample(3, n, TRUE, c(0.9, 0.06, 0.04)), cancer = sample(2, n, TRUE, c(0.9, 0.1))
  )
  file <- sdc_file(d, names(d), pop_size = 10000)
  check <- quietly(file_check(file))
  matches <- quietly(n_matches(file))
  printed <- printed_numbers(external(check, matches)$log)
  value <- function(name) printed$value[printed$name == name]
  expect_identical(value("set_risk"), NA_real_)
  # That of the riskiest key set, which is risk_without of the variables that are not in it.
  risk <- check$estimates$value[check$estimates$measure == "set_risk"]
  expect_true(any(abs(check$drivers$risk_without - risk) < 1e-9))
  expect_false(any(abs(value("risk_without") - risk) < 0.005, na.rm = TRUE))
  expect_identical(value("risk_mean"), NA_real_)
  expect_gt(matches$estimates$theta_se, 0)
  expect_true(all(is.na(printed$value[startsWith(printed$name, "theta")])))
  # Nor by the method that computes it.
  extreme <- quietly(qar_risk(file, p = 3))
  expect_equal(extreme$estimates$risk, risk)
  printed <- printed_numbers(external(check, extreme)$log)
  expect_identical(printed$value[printed$name %in% c("risk", "risk_empirical")], c(NA_real_, NA))
})

test_that("the riskiest of several key sets does not tell its number of classes", {
  set.seed(3)
  n <- 483
  data <- data.frame(a = sample(8, n, TRUE), b = sample(5, n, TRUE), c = sample(3, n, TRUE))
  alone <- ave(seq_len(n), data$a, data$b, data$c, FUN = length) == 1
  data <- data[!(alone & cumsum(alone) > 3), ]
  keys <- c("a", "b", "c")
  risk <- quietly(qar_risk(data, keys, p = 2))
  classes <- nrow(unique(data[c("a", "b")]))
  expect_equal(risk$estimates$risk * nrow(data), classes)
  printed <- printed_numbers(external(quietly(n_matches(data, keys)), risk)$log)
  told <- printed$value[printed$name %in% c("risk", "risk_empirical")]
  expect_length(told, 2)
  expect_false(any(abs(told * nrow(data) - classes) < 0.3, na.rm = TRUE))
})

test_that("a withheld number of classes is no risk of the only key set without a variable", {
  keys <- c("race", "sex", "relationship", "marital_status")
  set.seed(2)
  data <- adult[sample(nrow(adult), 700), keys]
  check <- quietly(file_check(sdc_file(data, keys, pop_size = 20000)))
  printed <- printed_numbers(external(check)$log)
  withheld <- is.na(printed$value[printed$name == "n_unique_without"])
  expect_true(any(withheld))
  classes <- vapply(keys, function(key) nrow(unique(data[setdiff(keys, key)])), 0L)
  expect_setequal(round(check$drivers$risk_without * 700, 6), classes)
  expect_true(all(is.na(printed$value[printed$name == "risk_without"][withheld])))
})

test_that("small cells and their records do not tell few cells of one record or of two", {
  keys <- c("race", "sex", "marital_status")
  cells_told <- vapply(1:20, function(seed) {
    set.seed(seed)
    data <- adult[sample(nrow(adult), 600), keys]
    found <- exhaustive_tabulation(data, keys, dims = 1:2)
    printed <- printed_numbers(external(found)$log)
    value <- function(name) printed$value[printed$name == name]
    told <- c(
      2 * value("n_cell_violations") - value("violations_sum"),
      value("violations_sum") - value("n_cell_violations"),
      value("violations_sum") - value("n_records_violating")
    )
    c(few = any(told %in% 1:4), shown = !anyNA(told[1:2]))
  }, c(few = NA, shown = NA))
  expect_identical(sum(cells_told["few", ]), 0L)
  expect_gt(sum(cells_told["shown", ]), 0)
})

test_that("theta is withheld with one of the two counts from which it follows", {
  keys <- c("race", "sex", "marital_status")
  withheld <- vapply(1:12, function(seed) {
    set.seed(seed)
    data <- adult[sample(nrow(adult), 500), keys]
    printed <- printed_numbers(external(quietly(n_matches(data, keys, pop_size = 20000)))$log)
    value <- function(name) printed$value[printed$name == name]
    theta <- printed$value[startsWith(printed$name, "theta")]
    counts <- is.na(c(value("n_unique"), value("n_pairs")))
    expect_identical(all(is.na(theta)), any(counts))
    counts
  }, c(unique = NA, pairs = NA))
  expect_true(any(withheld["pairs", ] & !withheld["unique", ]))
})

test_that("uniques without a variable are withheld in all tables or in none", {
  keys <- c("race", "sex", "relationship", "marital_status", "education_num")
  n_shown <- vapply(1:4, function(seed) {
    set.seed(seed)
    file <- sdc_file(adult[sample(nrow(adult), 400), ], keys)
    log <- external(quietly(file_check(file)), special_uniques(file), key_overview(file))$log
    printed <- printed_numbers(log)
    value <- printed$value[printed$name == "n_unique_without"]
    expect_length(value, 10)
    expect_true(all(table(value) %% 2 == 0))
    sum(!is.na(value))
  }, 0L)
  expect_gt(sum(n_shown), 0)
})

test_that("an order is named before harmless ones if its share is withheld", {
  told <- frame(
    variable = c("male", "village"), by = NA_character_, n = c(12, NA), share = c(0.5, NA),
    chance = c(0.4, 0.003)
  )
  said <- order_line(list(diagnostics = list(told_by_order = told)))
  expect_identical(said, "The order reveals village: release_data() shuffles.")
})
