# The road from a check to the page: which file each result is about, where a guess could be
# wrong, and what must not be written at all.

skip_on_cran()

skip_if_not_installed("xml2")

road_keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
road_file <- sdc_file(nals_prison, road_keys, weight_var = "WEIGHT")
quietly <- function(code) suppressWarnings(suppressMessages(code))

# A report as it is written: page, rows of the board, checklist, log.
road <- function(..., pictures = FALSE) {
  path <- tempfile(fileext = ".html")
  quietly(sdc_report(..., file = path, pictures = pictures))
  html <- xml2::read_html(path)
  rows_of <- function(table) {
    lapply(xml2::xml_find_all(table, ".//tr[td]"), function(row) {
      xml2::xml_text(xml2::xml_find_all(row, "td"))
    })
  }
  log <- jsonlite::fromJSON(sub("html$", "json", path), simplifyVector = FALSE)
  list(
    path = path, html = html, text = xml2::xml_text(xml2::xml_find_first(html, "//body")),
    board = rows_of(xml2::xml_find_first(html, "//section[@class='board']//table")),
    rows = rows_of(html), log = log, stages = vapply(log$results, `[[`, "", "stage")
  )
}

rows_with <- function(rows, start) Filter(function(row) startsWith(row[[1]], start), rows)

refused <- function(..., found) {
  expect_error(road(...), found, fixed = TRUE, class = "sdcRisk_error_mismatched_data")
}

test_that("a protection that changes nothing leaves the check of the original before", {
  check <- quietly(file_check(road_file))
  of_educ <- quietly(suppress_cells(road_file, "EDUC3", k = 3))
  drawn <- quietly(invariant_pram(road_file, "GENDER"))
  expect_identical(of_educ$estimates$n_suppressed + drawn$estimates$n_changed, 0L)
  for (protection in list(of_educ, drawn)) {
    for (page in list(
      road(check, protection), road(protection, check), road(before = check, protection),
      road(check, protection, data = nals_prison)
    )) {
      expect_identical(page$stages, c("before", "before"))
      expect_match(page$text, "^.*For the board\\s*The protection \\([a-z_]+\\) was made on ")
      k <- rows_with(page$board, "Fewest matches, k")[[1]]
      expect_identical(k[3:6], c("1", "above", "", ""))
    }
  }
  # The same asked of the release is after.
  again <- quietly(file_check(as.data.frame(release_data(of_educ)), road_keys))
  expect_identical(road(check, of_educ, again)$stages, c("before", "after", "before"))
  matches <- list(
    n_matches(nals_prison, road_keys), n_matches(nals_prison, road_keys, missing = "category")
  )
  expect_identical(road(matches, of_educ)$stages, rep("before", 3))
})

test_that("a check beside a protection of other variables is before", {
  check <- quietly(file_check(road_file, road_keys[1:4]))
  others <- quietly(suppress_cells(road_file, road_keys[5:6], k = 3))
  expect_gt(others$estimates$n_suppressed, 0)
  for (page in list(road(check, others), road(others, check))) {
    expect_identical(page$stages, c("before", "before"))
    expect_match(page$text, "was made on BORNUSA, DRACE3; the check (file_check) on", fixed = TRUE)
  }
  # Neither of two alternatives is about the file of the other.
  first <- quietly(suppress_cells(road_file, road_keys[1:2], k = 20))
  second <- quietly(suppress_cells(road_file, road_keys[3:4], k = 20))
  expect_identical(road(first, second)$stages, c("before", "before"))
  # A protection of a released file is after.
  protected <- suppress_cells(road_file, k = 3)
  further <- suppress_cells(release_data(protected), road_keys, k = 5)
  for (page in list(road(protected, further), road(further, protected))) {
    expect_identical(sort(page$stages), c("after", "before"))
  }
})

test_that("what fits both files that differ is asked for a name", {
  check <- quietly(file_check(road_file))
  protected <- quietly(suppress_cells(road_file, road_keys[1:2], k = 3))
  expect_gt(protected$estimates$n_suppressed, 0)
  gender <- n_matches(nals_prison, "GENDER")
  refused(check, protected, gender, found = "Result 3, of n_matches(), has variables that are")
  refused(check, protected, gender, data = nals_prison, found = "Name the result: `before = `")
  expect_identical(
    road(check, protected, before = gender)$stages, c("before", "before", "before")
  )
  expect_identical(road(check, protected, after = gender)$stages, c("before", "before", "after"))
})

test_that("a name is no reason to take another file", {
  check <- quietly(file_check(road_file))
  protected <- suppress_cells(road_file, k = 3)
  set.seed(5)
  other <- nals_prison
  other$GENDER <- sample(other$GENDER)
  of_other <- n_matches(other, road_keys)
  of_original <- n_matches(nals_prison, road_keys)
  refused(check, protected, after = of_other, found = "`after`, of n_matches(), is about another")
  refused(check, protected, after = of_original, found = "`after`, of n_matches(), is about")
  refused(check, protected, before = of_other, found = "`before`, of n_matches(), has another")
  refused(check, protected, before = n_matches(release_data(protected), road_keys),
          found = "`before`, of n_matches(), has another")
  for (data in list(protected$data, release_data(protected))) {
    page <- road(check, protected, after = n_matches(data, road_keys))
    expect_identical(sort(page$stages), c("after", "before", "before"))
  }
  # The released file is not known.
  expect_identical(road(check, after = of_other)$stages, c("before", "after"))
})

test_that("a loss measured on a shuffled release is refused", {
  check <- quietly(file_check(road_file))
  protected <- suppress_cells(road_file, k = 3)
  shuffled <- quietly(utility_loss(nals_prison, release_data(protected), road_keys))
  refused(check, protected, shuffled, found = "result 3, of utility_loss(), is in another order")
  refused(check, protected, loss = shuffled, found = "utility_loss(before, protected)")
  refused(check, shuffled, found = "is in another order")
  page <- road(check, protected, utility_loss(road_file, protected))
  expect_identical(rows_with(page$rows, "Exchanged values, share")[[1]][[2]], "0%")
})

# A model of main effects on variables that follow from each other, in households of three.
misfit_file <- function() {
  set.seed(4)
  n <- 1200
  a <- sample(6, n, TRUE)
  data <- data.frame(
    a = a, b = (a + sample(0:1, n, TRUE)) %% 6, c = (a * 2 + sample(0:2, n, TRUE)) %% 7,
    d = sample(5, n, TRUE), w = 40, home = (seq_len(n) - 1) %/% 3
  )
  sdc_file(data, c("a", "b", "c", "d"), weight_var = "w", hh_id = "home")
}

# Every figure of a table whose name has tau in it, of columns and of rows.
tau_figures_of <- function(log) {
  unlist(lapply(log$results, function(result) {
    lapply(result$tables, function(table) {
      own <- grepl("tau[12]", unlist(table$measure))
      c(
        table[grep("tau[12]", names(table))],
        if (any(own)) lapply(table[c("value", "low", "high")], `[`, own)
      )
    })
  }))
}

test_that("no figure of a model that does not fit is written", {
  file <- misfit_file()
  model <- quietly(loglinear_risk(file))
  expect_identical(model$estimates$status, "underfits")
  expect_false(anyNA(model$estimates[c("households_tau1", "households_tau2")]))
  for (internal in c(FALSE, TRUE)) {
    page <- road(model, internal = internal)
    expect_length(tau_figures_of(page$log), 0)
    for (row in Filter(function(row) grepl("tau[12]", row[[1]]), page$rows)) {
      expect_no_match(row[-1], "[0-9]")
    }
    for (row in Filter(function(row) grepl("tau[12]", row[[1]]), page$board)) {
      expect_match(row[[1]], ": the model does not fit")
      expect_identical(row[[2]], "\u2013")
      expect_identical(utils::tail(row, 1), "not judged")
    }
    exact <- unlist(model$estimates[grep("tau[12]", names(model$estimates))])
    for (value in exact[!is.na(exact) & exact > 0.01]) {
      for (digits in 3:4) {
        expect_no_match(page$text, paste0("\\b", signif(value, digits), "[0-9]*\\b"))
      }
    }
    of <- function(row) any(startsWith(row, "How many of the sample uniques"))
    answer <- Filter(of, page$rows)[[1]][[3]]
    expect_match(answer, "Not judged: the model does not fit.", fixed = TRUE)
  }
  # One law answers for the population if there is one.
  check <- quietly(file_check(file))
  page <- road(check, model, internal = TRUE)
  of <- function(row) any(startsWith(row, "How many of the sample uniques"))
  answer <- Filter(of, page$rows)[[1]][[3]]
  expect_match(answer, "^Population uniqueness .*[.] Population uniques, tau1 .*[.]$")
  # A model that fits is written.
  fits <- quietly(loglinear_risk(road_file))
  expect_gt(length(tau_figures_of(road(fits)$log)), 0)
})

test_that("the board holds the originals with a single candidate in the release", {
  protected <- suppress_cells(road_file, k = 3)
  row <- rows_with(road(protected)$board, "Originals that fit only one released record")[[1]]
  expect_match(row[[1]], paste0(": ", protected$estimates$n_single_before, " before;"))
  n_single <- protected$estimates$n_single_candidate
  expect_true(as.character(n_single) %in% row[-1])
})

test_that("alternative texts of pictures state what is found, rounded as the report", {
  skip_if_not_installed("ggplot2")
  check <- quietly(file_check(road_file))
  protected <- quietly(suppress_cells(road_file, k = 5))
  compared <- compare_risk(
    n_matches(road_file), n_matches(release_data(protected), road_keys)
  )
  loss <- utility_loss(road_file, protected)
  page <- road(check, loss, compared, key_overview(road_file), pictures = TRUE)
  alt <- xml2::xml_attr(xml2::xml_find_all(page$html, "//figure/img"), "alt")
  of <- function(id) alt[startsWith(alt, paste0(id, ": "))]
  expect_match(of("file_check"), "Fewest matches, k: 1 [(]above the limit[)]; Sample uniq.*: 52;")
  expect_match(of("comparison"), "from 52 to 0", fixed = TRUE)
  expect_match(
    of("utility_loss"), paste("Suppressed values:", format_percent(
      protected$estimates$n_suppressed / (nrow(road_file) * length(road_keys))
    )), fixed = TRUE
  )
  # Its bars are of few records.
  expect_length(of("key_overview"), 0)
  numbers <- unlist(regmatches(alt, gregexpr("[0-9]+[.][0-9]+", alt)))
  expect_true(all(nchar(gsub("^[0.]*|[.]", "", numbers)) <= 3))
  titles <- xml2::xml_text(xml2::xml_find_all(page$html, "//figure/figcaption"))
  expect_false(any(alt %in% titles))
})

test_that("a release in an order that reveals protected values is named first", {
  check <- quietly(file_check(road_file))
  protected <- suppress_cells(road_file, k = 3)
  told <- protected$diagnostics$told_by_order
  # An external page gives no share of few values.
  worst <- told[is.na(told$by) & told$n * (1 - told$share) >= 5, ]
  worst <- worst[which.max(worst$share - worst$chance), ]
  words <- paste0("of ", worst$variable, ", ", sprintf("%.3g", 100 * worst$share), "% come back")
  first <- "For the board\\s*The records are in the order of the original \\(n_matches\\)"
  as_it_was <- release_data(protected, shuffle = FALSE)
  for (data in list(as_it_was, protected$data)) {
    page <- road(check, protected, n_matches(data, road_keys))
    expect_match(page$text, first)
    expect_match(page$text, words, fixed = TRUE)
  }
  shuffled <- road(check, protected, n_matches(release_data(protected), road_keys))
  expect_no_match(shuffled$text, "order of the original (", fixed = TRUE)
  # The patterns of a table of a database are the same in any order.
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  table <- cbind(as.data.frame(road_file)[road_keys], row = seq_len(nrow(road_file)))
  DBI::dbWriteTable(con, "road", table)
  file <- sdc_file(dplyr::tbl(con, "road"), road_keys, id_vars = "row")
  protected <- quietly(suppress_cells(file, k = 3, row_id = "row"))
  expect_gt(nrow(protected$diagnostics$told_by_order), 0)
  after <- quietly(n_matches(quietly(release_data(protected))))
  page <- road(quietly(file_check(file)), protected, after)
  expect_no_match(page$text, "records are in the order of the original", fixed = TRUE)
  expect_match(page$text, "In the order of the original the records would reveal", fixed = TRUE)
})

test_that("shares of tau1 have one denominator on the page, in the report and in tidy()", {
  data <- nals_prison
  data$CENREG[1:30] <- NA
  file <- sdc_file(data, road_keys, weight_var = "WEIGHT")
  check <- quietly(file_check(file, missing = "exclude"))
  model <- quietly(loglinear_risk(file, missing = "exclude"))
  tau1 <- check$estimates$value[check$estimates$measure == "tau1"]
  rates <- c(tau1, model$estimates$tau1) / 152
  of <- function(table) table$value[table$measure == "tau1_rate"]
  expect_equal(c(of(measures(check)), of(measures(model))), rates)
  tidied <- as.data.frame(tidy(check))
  expect_equal(tidied$estimate[tidied$term == "tau1_rate"], rates[[1]])
  page <- road(check, model, internal = TRUE)
  logged <- vapply(page$log$results, function(r) {
    table <- r$tables$estimates
    if (is.null(table$measure)) table$tau1_rate[[1]] else
      table$value[[which(unlist(table$measure) == "tau1_rate")]]
  }, 0)
  expect_equal(logged, rates)
  shown <- format_percent(rates[[1]])
  expect_identical(rows_with(page$board, "tau1, share")[[1]][[2]], shown)
})

test_that("the loss of a protection is in the column of the release, matches have its scenario", {
  file <- sdc_file(nals_prison, c("CENREG", "DAGE3", "GENDER"), weight_var = "WEIGHT")
  protected <- quietly(suppress_cells(file, k = 3))
  entries <- report_entries(
    report_results(with_histories(list(protected))), NULL
  )
  entries <- lapply(entries, function(e) c(e, list(exact = e$result)))
  board <- board_table(entries, list(limit = list(k = 3, journalist = 0.05), internal = TRUE))
  loss <- board[board$fun == "utility_loss", ]
  expect_gt(nrow(loss), 3)
  expect_identical(unique(loss$stage), "after")
  correct <- board[grepl("Correct matches of someone", board$label), ]
  expect_identical(correct$scenario, "prosecutor")
  expect_equal(correct$value, sum(1 / protected$records$n_candidates))
  # No figure ends in a decimal mark.
  expect_identical(format_risk(c(236.4, 99.96, 23.64, 2364)), c("236", "100", "23.6", "2,364"))
})

test_that("a file with unclear figures is not called within the limit", {
  data <- nals_prison[c("CENREG", "DAGE3", "GENDER", "DAGE", "WEIGHT")]
  file <- sdc_file(data, c("CENREG", "DAGE3", "GENDER"), weight_var = "WEIGHT")
  protected <- quietly(suppress_cells(file, k = 8))
  after <- quietly(file_check(protected, k = 8))
  k <- after$estimates[after$estimates$measure == "k", ]
  # The age tells the suppressed groups.
  expect_identical(k$verdict, "unclear")
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(sdc_report(protected, file = path, limit = list(k = 8)))
  page <- paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  expect_no_match(page, "After the protection: within the limit", fixed = TRUE)
  expect_match(page, "After the protection: not known to be within the limit: 2 of 3 figures with",
               fixed = TRUE)
  expect_no_match(page, "class=\"verdict ok\"", fixed = TRUE)
  words <- function(...) limit_count_words(c(...))
  expect_identical(
    words(above = 1, unclear = 0, open = 0, ok = 1), "1 of 2 figures with a limit is above it"
  )
  expect_identical(
    words(above = 2, unclear = 1, open = 0, ok = 0),
    "2 of 3 figures with a limit are above it, 1 is unclear"
  )
  expect_identical(
    words(above = 0, unclear = 2, open = 1, ok = 3),
    "not known to be within the limit: 2 of 6 figures with a limit are unclear, 1 is not judged"
  )
  expect_identical(
    words(above = 0, unclear = 0, open = 0, ok = 2),
    "within the limit: all figures that have one (2)"
  )
  # Without the size of the population nobody judges the journalist's risk.
  d <- nals_prison[c("CENREG", "GENDER")][nals_prison$CENREG < 4, ]
  check <- file_check(d, c("CENREG", "GENDER"), limit = list(k = 1, journalist = 0.05))
  expect_identical(check$estimates$verdict[!is.na(check$estimates$limit)], c("ok", "not judged"))
  quietly(sdc_report(check, file = path, overwrite = TRUE))
  page <- paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  expect_match(page, "1 of 2 figures with a limit is not judged", fixed = TRUE)
  expect_no_match(page, "all figures that have one", fixed = TRUE)
})

test_that("the check of a release with new household numbers is about the release", {
  set.seed(21)
  hh <- rep(1:700, sample(7, 700, TRUE, c(0.3, 0.3, 0.18, 0.13, 0.06, 0.02, 0.01)))
  data <- data.frame(
    hh, size = tabulate(hh)[hh], sex = sample(2, length(hh), TRUE),
    age = sample(6, length(hh), TRUE)
  )
  file <- sdc_file(data, c("size", "sex", "age"), hh_id = "hh")
  x <- quietly(suppress_cells(file, k = 10, rule = "strict"))
  released <- quietly(release_data(x, new_ids = "hh"))
  page <- road(before = quietly(file_check(file)), x, after = quietly(file_check(released)))
  expect_identical(sort(page$stages), c("after", "before", "before"))
  # The checklist names what the row of k names.
  n <- sum(is.na(released$size))
  alone <- road(quietly(file_check(released)), internal = TRUE)
  expect_match(alone$text, "hh reveals about 100% of the missing values of size.", fixed = TRUE)
  expect_match(alone$text, paste0("reveals about ", n, " of ", n, " values"), fixed = TRUE)
  # Other records, or households of other sizes, are another file.
  other <- released
  other$hh[1:40] <- 0L
  refused(before = file_check(file), x, after = quietly(file_check(other)), found = "another file")
})

test_that("a share that is withheld is not printed", {
  told <- data.frame(variable = "region", by = NA_character_, n = 72L, share = NA, chance = NA)
  x <- structure(list(diagnostics = list(told_by_order = told)), class = "sdc_suppress_cells")
  expect_identical(sdcRisk:::order_line(x), "The order reveals region: release_data() shuffles.")
})

test_that("a report of a file alone names what was done to it, and what numbers lost", {
  set.seed(5)
  data <- data.frame(sex = rep(1:2, 200), area = rep(1:4, each = 100), loss = round(rexp(400), 5))
  file <- sdc_file(data, c("sex", "area"), num_vars = "loss")
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  page <- function(x) {
    quietly(sdc_report(x, file = path, internal = TRUE, pictures = FALSE, overwrite = TRUE))
    paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  }
  averaged <- quietly(microaggregate(file, k = 3))
  il1s <- format_risk(mean(abs(data$loss - averaged$loss)) / (sqrt(2) * sd(data$loss)))
  found <- page(averaged)
  expect_match(found, "Protected by microaggregate(k = 3", fixed = TRUE)
  expect_match(found, paste0("IL1s of numbers ", il1s, "."), fixed = TRUE)
  found <- page(quietly(global_recode(file, area = list("1" = 1:2, "2" = 3:4))))
  expect_match(found, "Protected by global_recode(", fixed = TRUE)
  expect_no_match(found, "IL1s of numbers")
  # A suppression has its own section.
  expect_no_match(page(quietly(suppress_cells(file, k = 3))), "Protected by")
})

test_that("a report says what gives back a number that is no key variable", {
  set.seed(6)
  data <- data.frame(sex = rep(1:2, 200), born = sample(1930:2000, 400, TRUE))
  data$age <- 2020 - data$born
  file <- sdc_file(data, "sex", num_vars = "age")
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  page <- function(...) {
    quietly(sdc_report(..., file = path, internal = TRUE, pictures = FALSE, overwrite = TRUE))
    paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  }
  coded <- quietly(top_code(file, age = 60))
  line <- "After: born reveals 100% of the values of age."
  expect_match(page(coded), line, fixed = TRUE)
  expect_match(page(before = file_check(file), after = file_check(coded)), line, fixed = TRUE)
})
