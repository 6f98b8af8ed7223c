# Reports and logs of a small made-up file: a town and a job that occur once, names
# of columns that look like markup, and text beyond ASCII.

skip_on_cran()

made_file <- function(n = 120) {
  set.seed(20)
  data <- data.frame(
    town = sample(c("Aston", "Bex", "Corby"), n, TRUE), age = sample(30:37, n, TRUE),
    job = sample(c("cook", "smith", "clerk"), n, TRUE), weight = 5 + (seq_len(n) %% 3),
    stringsAsFactors = FALSE
  )
  data$town[57] <- "Canaryville"
  data$job[91] <- "Zwitscherm\u00fchle"
  data
}
made_keys <- c("town", "age", "job")

made_results <- function(data = made_file(), keys = made_keys) {
  file <- sdc_file(data, keys, weight_var = "weight")
  suppressWarnings(suppressMessages(list(
    n_matches(file), qar_risk(file, p = 2, pi_u = 0.5), individual_risk(file),
    loglinear_risk(file), exhaustive_tabulation(file), key_overview(file),
    population_uniqueness(file, pop_size = 720)
  )))
}

# Both parts of a report in a folder of its own, as texts.
write_made <- function(..., ext = ".html", pictures = FALSE) {
  folder <- withr_folder()
  file <- file.path(folder, paste0("report", ext))
  sdc_report(..., file = file, pictures = pictures)
  list(
    file = file, log_file = file.path(folder, "report.json"),
    html = if (ext == ".html") paste(readLines(file, encoding = "UTF-8"), collapse = "\n"),
    log = paste(readLines(file.path(folder, "report.json"), encoding = "UTF-8"), collapse = "\n")
  )
}
with_id <- function(data) transform(data, id = seq_len(nrow(data)))

withr_folder <- function() {
  folder <- tempfile("reports")
  dir.create(folder)
  folder
}

test_that("the figures of the page and of the log are those of the results", {
  results <- made_results()
  folder <- withr_folder()
  file <- file.path(folder, "report.html")
  sdc_report(results, file = file, pictures = FALSE, internal = TRUE)
  made <- list(
    html = paste(readLines(file, encoding = "UTF-8"), collapse = "\n"),
    log_file = file.path(folder, "report.json")
  )
  values <- regmatches(made$html, gregexpr("data-value=\"[^\"]*\"", made$html))[[1]]
  values <- as.numeric(gsub("data-value=\"|\"", "", values))
  for (x in results) {
    numbers <- unlist(x$estimates[vapply(x$estimates, is.numeric, NA)])
    expect_true(all(numbers[!is.na(numbers)] %in% values))
  }
  log <- jsonlite::fromJSON(made$log_file, simplifyVector = FALSE)
  expect_identical(
    vapply(log$results, `[[`, "", "function"), vapply(results, function(x) {
      sub("sdc_", "", class(x)[[1]])
    }, "")
  )
  expect_identical(
    unlist(log$results[[3]]$tables$estimates$journalist_max),
    results[[3]]$estimates$journalist_max
  )
  shown <- format(results[[1]]$estimates$n_unique)
  expect_match(made$html, paste0(">", shown, "</td>"), fixed = TRUE)
})

test_that("a report needs no network and no script, and is whole", {
  made <- write_made(made_results()[1:2], pictures = TRUE, internal = TRUE)
  expect_no_match(made$html, "https?://", perl = TRUE)
  expect_no_match(made$html, "<script|<link|@import|url\\(", perl = TRUE)
  skip_if_not_installed("ggplot2")
  expect_length(gregexpr("src=\"data:image/png;base64,", made$html)[[1]], 2)
  expect_match(made$html, "^<!DOCTYPE html>")
  expect_match(made$html, "</html>\\s*$")
  for (heading in c("For the board", "Not examined", "Checklist", "Methods", "Versions")) {
    expect_match(made$html, heading)
  }
  expect_no_match(made$html, "{{", fixed = TRUE)
  skip_if_not_installed("xml2")
  page <- xml2::read_html(made$html)
  expect_length(xml2::xml_find_all(page, "//section[@class='board']"), 1)
})

test_that("an external report holds no category, no record number, no seed", {
  data <- made_file()
  protected <- suppress_cells(data, made_keys, k = 3)
  released <- release_data(protected)
  set.seed(7)
  perturbed <- suppressMessages(suppressWarnings(invariant_pram(data, made_keys)))
  audit <- suppressWarnings(pram_audit(perturbed, data, n_sim = 50))
  risk <- suppressWarnings(qar_risk(data, made_keys, p = 2, pi_u = 0.5))
  everything <- list(
    made_results(data), protected, after = n_matches(released, made_keys), perturbed, audit,
    utility_loss(data, released, made_keys), risk_contribution(risk, data),
    removal_path(risk, data, 3), suppressMessages(recode_search(data, made_keys)),
    compare_risk(n_matches(data, made_keys), n_matches(released, made_keys)),
    n_matches(data, made_keys, patterns = data[57, made_keys]),
    suppressWarnings(suppressMessages(file_check(sdc_file(data, made_keys, pop_size = 720)))),
    household_risk(transform(data, home = (seq_len(120) - 1) %/% 3), c("town", "job"), "home"),
    after_attack = link_attack(with_id(data), with_id(released), made_keys, "id"),
    after_links = suppressWarnings(
      longitudinal_link(with_id(data), with_id(released), made_keys, "id")
    )
  )
  made <- write_made(everything, pictures = TRUE)
  canaries <- c("Canaryville", "Zwitscherm", "Aston", "smith", "cook", "clerk", "Corby")
  for (text in c(made$html, made$log)) {
    for (canary in canaries) expect_no_match(text, canary, fixed = TRUE)
    expect_no_match(text, "Records of highest risk")
    for (seed in attr(audit, "asked")$seeds[[1]]) {
      expect_no_match(text, sprintf("%.0f", seed), fixed = TRUE)
    }
    expect_no_match(text, protected$settings$fingerprint, fixed = TRUE)
  }
  expect_match(made$html, "no record number", fixed = TRUE)
  expect_match(made$html, "EXTERNAL", fixed = TRUE)
  internal <- write_made(everything, internal = TRUE)
  expect_match(internal$html, "Records of highest risk")
  expect_match(internal$html, "INTERNAL", fixed = TRUE)
  expect_match(internal$log, protected$settings$fingerprint, fixed = TRUE)
})

test_that("numbers of records that were an argument stay in the agency", {
  keys <- c("age", "sex", "education_num")
  known <- c(1217, 1318, 1419, 1511, 1612, 1713, 1814, 1915, 2016, 2117)
  fit <- copula_uniqueness(adult[1:1000, ], keys, 2500)
  x <- suppressWarnings(suppressMessages(validate_uniqueness(fit, adult[1:2500, ], rows = known)))
  external <- write_made(x)
  internal <- write_made(x, internal = TRUE)
  for (row in known[c(1, 5, 10)]) {
    alone <- paste0("(?<![0-9.])", row, "(?![0-9.])")
    expect_no_match(external$log, alone, perl = TRUE)
    expect_no_match(external$html, alone, perl = TRUE)
    expect_match(internal$log, alone, perl = TRUE)
  }
  expect_match(external$html, "<td>rows</td><td>(not in an external report)</td>", fixed = TRUE)
  files <- list(data = adult[1:1000, ], population = adult[1:2500, ])
  expect_identical(unique(replay(external$file, files)$note), "not in the log: rows")
  expect_true(all(replay(internal$file, files)$equal))
})

test_that("records of highest risk stand by what they share, at most twenty", {
  top <- function(risk, fun = "n_matches") {
    rows <- strsplit(html_top_records(risk, fun), "</tr>", fixed = TRUE)[[1]]
    cells <- lapply(rows, function(row) {
      trimws(gsub("<[^>]*>", "", strsplit(row, "</t[dh]>")[[1]]))
    })
    Filter(length, lapply(cells, function(x) x[nzchar(x)]))
  }
  expect_identical(
    top(c(0.5, NA, 1, 0.5, 0)), list(c("Risk", "Records"), c("1.00", "3"), c("0.500", "1, 4"))
  )
  expect_identical(
    top(rep(1:2, c(3, 30)), "exhaustive_tabulation"),
    list(c("Small cells", "Records"), c("2", paste(paste(4:23, collapse = ", "), "and 10 more")))
  )
  # More than six risks are in two halves, read downwards.
  found <- top(seq(0.9, 0.3, -0.1))
  expect_length(found, 5)
  expect_identical(found[[2]], c("0.900", "1", "0.500", "5"))
  expect_identical(found[[5]], c("0.600", "4"))
  # Where nobody is at risk there are none to be named.
  safe <- data.frame(a = rep(1:2, each = 40))
  page <- suppressMessages(write_made(loglinear_risk(safe, pop_size = 800), internal = TRUE))$html
  expect_no_match(page, "Records of highest risk")
})

test_that("before and after share a row where fewer scenarios apply after", {
  before <- sdc_file(made_file(), made_keys, weight_var = "weight", pop_size = 720)
  safe <- made_file()
  safe[made_keys] <- lapply(c("x", "y", "z"), rep, nrow(safe))
  after <- sdc_file(safe, made_keys, weight_var = "weight", pop_size = 720)
  results <- suppressMessages(list(before = n_matches(before), after = n_matches(after)))
  expect_false(identical(said_of(results[[1]])$scenario$who, said_of(results[[2]])$scenario$who))
  page <- write_made(results)$html
  # One part for either intruder.
  expect_length(gregexpr("class=\"question\"", page, fixed = TRUE)[[1]], 2)
  unique <- results[[1]]$estimates$n_unique
  expect_match(page, paste0(
    "<tr><td>Sample uniques[^\n]*data-value=\"", unique, "\"[^\n]*data-value=\"0\""
  ), perl = TRUE)
})

test_that("notes and intervals of both sides are kept apart", {
  before <- made_file(400)
  file <- function(x) sdc_file(x, made_keys, weight_var = "weight")
  page <- suppressWarnings(suppressMessages(write_made(
    before = loglinear_risk(file(before)), after = loglinear_risk(file(before[1:300, ]))
  )))$html
  expect_match(page, "tau1, bias corrected: before [^<]*95% interval [0-9.]+ to [0-9.]+; after ")
})

test_that("before and after stand in one row, each with its verdict", {
  data <- made_file()
  protected <- suppress_cells(data, made_keys, k = 3)
  released <- n_matches(release_data(protected), made_keys)
  made <- write_made(n_matches(data, made_keys), protected, released, prob_attempt = 0.5)
  skip_if_not_installed("xml2")
  board <- xml2::xml_find_first(xml2::read_html(made$html), "//section[@class='board']//table")
  text <- function(path) xml2::xml_text(xml2::xml_find_all(board, path))
  expect_identical(text(".//th"), c(
    "Figure", "Limit", "Before", "Before with 0.5", "Verdict before", "After", "After with 0.5",
    "Verdict after"
  ))
  row <- text(".//tr[td[starts-with(., 'Fewest matches, k')]][1]/td")
  below <- sum(n_matches(data, made_keys)$records$n_matches < 3)
  expect_identical(row, c(
    paste0("Fewest matches, k: before ", below, " records beyond the limit"), "at least 3", "1",
    "\u2013", "above", format(min(released$records$n_matches)), "\u2013", "ok"
  ))
  # What one file alone has leaves the other's place empty.
  row <- text(".//tr[td[starts-with(., 'Correct matches of someone who knows')]]/td")
  expect_identical(row[c(2, 3, 5, 8)], c("none", "", "", ""))
  once <- write_made(n_matches(data, made_keys))
  expect_no_match(once$html, "Verdict before|95% interval")
})

test_that("counts of records in a perturbed file are not judged", {
  data <- made_file()
  set.seed(7)
  perturbed <- suppressMessages(suppressWarnings(invariant_pram(data, made_keys)))
  after <- n_matches(release_data(perturbed), made_keys)
  made <- write_made(n_matches(data, made_keys), perturbed, after = after)
  expect_match(made$html, "Not judged: figures that count records with equal keys")
  # A promise of 0.8 keeps no limit of k = 3; against k = 1 it is judged by itself.
  expect_no_match(made$html, "After the protection: within the limit", fixed = TRUE)
  lax <- write_made(n_matches(data, made_keys), perturbed, after = after, limit = list(k = 1))
  expect_match(lax$html, paste0(
    "After the protection: not known to be within the limit: 1 of 2 figures with a limit is not ",
    "judged"
  ), fixed = TRUE)
  expect_match(made$html, paste(
    "<p class=\"quiet\">After the protection these take perturbed values at their word, and are",
    "not judged: Fewest matches, k; Sample uniques.</p>"
  ), fixed = TRUE)
  expect_gt(after$estimates$n_unique, 0)
  plain <- write_made(n_matches(data, made_keys), after = after)
  expect_no_match(plain$html, "not judged")
})

test_that("wide tables stand on end, and nothing is lost", {
  data <- made_file()
  sets <- list(a = "town", b = "age", c = "job", d = made_keys[1:2], e = made_keys)
  x <- n_matches(data, sets)
  made <- write_made(x, internal = TRUE)
  values <- as.numeric(unlist(regmatches(made$html, gregexpr(
    "(?<=data-value=\")[^\"]*", made$html, perl = TRUE
  ))))
  expect_true(all(x$estimates$n_pairs %in% values))
  skip_if_not_installed("xml2")
  tables <- xml2::xml_find_all(
    xml2::read_html(made$html), "//div[@class='figures']//table/thead/tr"
  )
  expect_identical(xml2::xml_text(tables), c("figure1234", "figure5"))
})

test_that("few changed cells take fingerprint and distances out of an external report", {
  data <- made_file()
  released <- data
  released$job[c(57, 91)] <- NA
  loss <- utility_loss(data, released, made_keys)
  made <- write_made(n_matches(data, made_keys), loss, after = n_matches(released, made_keys))
  log <- jsonlite::fromJSON(made$log_file, simplifyVector = FALSE)
  expect_true(all(vapply(log$results, function(e) e$file$digits == 0, NA)))
  expect_false(any(grepl("bits|tv_", names(log$results[[2]]$tables$estimates))))
  expect_no_match(made$log, substr(loss$settings$fingerprint, 1, 4), fixed = TRUE)
  expect_true(all(replay(made$file, list(data, released))$equal))
})

test_that("names are text, whatever they look like", {
  data <- made_file()
  keys <- c("<b>&\"", "{{style}}", "gr\u00f6\u00dfe")
  names(data)[1:3] <- keys
  made <- write_made(
    list("<script>alert(1)</script>" = n_matches(data, keys)), title = "A < B & \"C\" {{body}}"
  )
  expect_no_match(made$html, "<script|<b>", perl = TRUE)
  expect_match(made$html, "&lt;b&gt;&amp;&quot; + {{style}} + gr\u00f6\u00dfe", fixed = TRUE)
  expect_match(made$html, "<title>A &lt; B &amp; &quot;C&quot; {{body}}</title>", fixed = TRUE)
  expect_true(all(replay(made$file, data)$equal))
})

test_that("the decimal mark of the session is in the words, not in the data", {
  old <- options(OutDec = ",")
  on.exit(options(old))
  data <- made_file()
  made <- write_made(made_results(data)[1:3])
  expect_match(made$html, "<td class=\"num\" data-value=\"0.0[0-9]+\">0,0[0-9]+</td>")
  expect_no_match(made$html, "data-value=\"[0-9]*,", perl = TRUE)
  expect_true(all(replay(made$file, data)$equal))
})

test_that("probabilities are multiplied by that of an attempt, and shares are not", {
  x <- individual_risk(made_file(), made_keys, "weight")
  made <- write_made(x, n_matches(made_file(), made_keys), prob_attempt = 0.25, internal = TRUE)
  expect_match(made$html, "with 0.25", fixed = TRUE)
  once <- sdcRisk:::format_risk(x$estimates$journalist_max / 4)
  expect_match(made$html, paste0(">", once, "<"), fixed = TRUE)
  board <- sdcRisk:::board_rows(n_matches(made_file(), made_keys), list(k = 3))
  expect_false(board$attempt[board$measure == "n_unique"])
  expect_no_match(write_made(x)$html, ">with 1<", fixed = TRUE)
})

test_that("verdicts are those of the limits", {
  data <- made_file()
  x <- n_matches(data, made_keys)
  rows <- sdcRisk:::board_rows(x, list(k = 3))
  below <- rows[rows$measure == "k", ]
  expect_identical(below$n_above, as.double(sum(x$records$n_matches < 3)))
  expect_identical(below$verdict, "above")
  protected <- suppress_cells(data, made_keys, k = 3)
  expect_identical(sdcRisk:::board_rows(protected, list())$verdict[[1]], "ok")
  expect_true(all(sdcRisk:::board_rows(x, list())$verdict == "no limit"))
})

test_that("results of different files are refused, those before and after are not", {
  data <- made_file()
  other <- data
  other$age[1] <- 30L + (other$age[1] == 30L)
  folder <- withr_folder()
  file <- file.path(folder, "r.html")
  x <- n_matches(data, made_keys)
  wrong <- "sdcRisk_error_mismatched_data"
  expect_error(sdc_report(x, n_matches(other, made_keys), file = file), class = wrong)
  expect_error(sdc_report(x, n_matches(data[-1, ], made_keys[1:2]), file = file), class = wrong)
  expect_error(sdc_report(x, key_overview(other, made_keys), file = file), class = wrong)
  expect_error(
    sdc_report(x, n_matches(other, made_keys[1:2]), file = file, data = data), class = wrong
  )
  expect_length(list.files(folder), 0)
  sdc_report(x, after = n_matches(other, made_keys), file = file, data = data)
  expect_length(list.files(folder), 2)
  protected <- suppress_cells(data, made_keys, k = 3)
  found <- write_made(x, protected, n_matches(release_data(protected), made_keys))
  log <- jsonlite::fromJSON(found$log_file, simplifyVector = FALSE)
  expect_identical(vapply(log$results, `[[`, "", "stage"), c("before", "before", "after"))
  expect_match(found$html, "Before and after the protection")
})

test_that("what cannot be written is refused before anything is", {
  folder <- withr_folder()
  x <- n_matches(made_file(), made_keys)
  at <- function(name) file.path(folder, name)
  refused <- function(code, found) {
    expect_error(code, found, class = "sdcRisk_error_bad_argument")
    expect_length(setdiff(list.files(folder, all.files = TRUE, no.. = TRUE), "there.html"), 0)
  }
  refused(sdc_report(x, made_file(), file = at("r.html")), "hold results of sdcRisk")
  refused(sdc_report(x, internl = TRUE, file = at("r.html")), "internal")
  refused(sdc_report(file = at("r.html")), "hold a result")
  refused(sdc_report(x), "be given")
  refused(sdc_report(x, file = at("r.pdf")), "[.]html or [.]docx")
  refused(sdc_report(x, file = at("nowhere/r.html")), "does not exist")
  refused(sdc_report(x, file = at("r.html"), prob_attempt = 10), "0.1")
  refused(sdc_report(x, file = at("r.html"), limit = list(kk = 3)), "Did you mean")
  stands <- tempfile(fileext = ".html")
  dir.create(stands)
  refused(sdc_report(x, file = stands, overwrite = TRUE), "A folder is not replaced")
  expect_identical(dir.exists(stands), TRUE)
  writeLines("mine", at("there.html"))
  refused(sdc_report(x, file = at("there.html")), "There already")
  expect_identical(readLines(at("there.html")), "mine")
  sdc_report(x, file = at("there.html"), overwrite = TRUE)
  expect_true(file.size(at("there.html")) > 1000)
  expect_setequal(list.files(folder, all.files = TRUE, no.. = TRUE), c("there.html", "there.json"))
  skip_on_os("windows")
  skip_if(identical(Sys.info()[["user"]], "root"))
  Sys.chmod(folder, "0555")
  on.exit(Sys.chmod(folder, "0755"))
  expect_error(sdc_report(x, file = at("r.html")), class = "sdcRisk_error_bad_argument")
})

test_that("Word needs pandoc, and holds the same", {
  folder <- withr_folder()
  x <- n_matches(made_file(), made_keys)
  file <- file.path(folder, "r.docx")
  old <- Sys.getenv("PATH")
  on.exit(Sys.setenv(PATH = old))
  if (!requireNamespace("rmarkdown", quietly = TRUE) || !nzchar(Sys.getenv("RSTUDIO_PANDOC"))) {
    Sys.setenv(PATH = folder)
    found <- tryCatch(sdc_report(x, file = file), error = function(e) e)
    Sys.setenv(PATH = old)
    if (inherits(found, "error")) {
      expect_s3_class(found, "sdcRisk_error_missing_package")
      expect_identical(found$package, "pandoc")
      expect_length(list.files(folder), 0)
    }
  }
  skip_if(!nzchar(Sys.which("pandoc")))
  made <- write_made(x, ext = ".docx")
  text <- system2("pandoc", c("-t", "plain", shQuote(made$file)), stdout = TRUE)
  expect_true(any(grepl("For the board", text)))
  expect_true(any(grepl(format(x$estimates$n_unique), text, fixed = TRUE)))
  expect_false(any(grepl("Canaryville", text)))
})

test_that("results without a figure for the board are reported all the same", {
  data <- data.frame(a = rep(c(1, 1, 2), 40), b = rep(c(1, 2, 2), 40))
  wave <- cbind(id = 1:120, data)
  for (result in list(key_overview(data), key_stability(wave, wave, id = "id"))) {
    file <- tempfile(fileext = ".html")
    sdc_report(result, file = file, pictures = FALSE)
    page <- paste(readLines(file), collapse = "\n")
    expect_match(page, "These results have no figure that a limit applies to.", fixed = TRUE)
  }
  # With its picture, which is told by its title then.
  result <- key_stability(nals_prison, nals_prison, c("GENDER", "CENREG", "DAGE3"), "CASEID")
  sdc_report(result, file = file, overwrite = TRUE)
  alt <- regmatches(page <- paste(readLines(file), collapse = ""), gregexpr("alt=\"[^\"]*\"", page))
  expect_match(alt[[1]], "^alt=\"key_stability: .+[.]\"$")
})
