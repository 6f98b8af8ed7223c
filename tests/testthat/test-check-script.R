# Scripts run line by line: what is found, at which line, and what is said of the rest.

skip_on_cran()

skip_if_not_installed("callr")

golden <- list.files(script_folder(), "R$")
needs <- c("03" = "data.table", "04" = "haven", "10" = "dplyr", "21" = "readr", "24" = "data.table")

test_that("each fault has its repaired twin", {
  faults <- grep("-fault.R$", golden, value = TRUE)
  expect_gte(length(faults), 16)
  expect_identical(sub("-fault", "-fixed", faults), grep("-fixed.R$", golden, value = TRUE))
  codes <- unlist(lapply(script_folder(golden), function(path) wanted_findings(path)$code))
  expect_gte(length(unique(codes)), 12)
})

golden <- golden[vapply(needs[substr(golden, 1, 2)], function(package) {
  is.na(package) || requireNamespace(package, quietly = TRUE)
}, NA)]
scripts <- lapply(script_folder(golden), readLines, encoding = "UTF-8")
names(scripts) <- golden
found <- check_many(scripts)

test_that("every fault is found at its line, and its twin has none", {
  known <- sdcRisk:::script_codes()
  for (name in golden) {
    wanted <- wanted_findings(script_folder(name))
    expect_identical(found[[name]][c("line", "code")], wanted, info = name)
    severity <- known$severity[match(wanted$code, known$code)]
    if (grepl("-fixed", name)) {
      expect_true(all(found[[name]]$severity %in% c("information", "hint")), info = name)
    } else {
      expect_identical(found[[name]]$severity, severity, info = name)
    }
  }
})

test_that("every repair removes its finding and adds none", {
  fixes <- do.call(rbind, Map(function(name, of) {
    if (nrow(of)) cbind(name = name, of)
  }, names(found), found))
  fixes <- fixes[nzchar(fixes$fix), ]
  expect_gte(nrow(fixes), 14)
  after <- check_many(lapply(seq_len(nrow(fixes)), function(i) {
    repaired(scripts[[fixes$name[[i]]]], fixes[i, ])
  }))
  for (i in seq_len(nrow(fixes))) {
    fix <- fixes[i, ]
    before <- found[[fix$name]]
    left <- before$code[before$line != fix$line | before$code != fix$code]
    expect_true(all(after[[i]]$code %in% left), info = paste(fix$name, fix$fix))
    expect_lt(nrow(after[[i]]), nrow(before))
  }
})

start <- c(
  "library(sdcRisk)", "keys <- c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\")",
  "people <- sdc_file(nals_prison[c(keys, \"SCORE\")], all_of(keys))"
)

test_that("figures are those of file_check()", {
  x <- check_text(c(start, "write.csv(people, \"a.csv\")"))
  page <- measures(file_check(nals_prison, c("CENREG", "DAGE3", "EDUC3", "GENDER")))
  k <- page[page$measure == "k", ]
  expect_identical(k$n_above, 19)
  expect_match(x$findings$message, "19 of 182 records (10.4%)", fixed = TRUE)
  expect_identical(x$frames$lens, "k = 1, 19 records below 3")
  weighted <- check_text(c(
    "library(sdcRisk)",
    "w <- sdc_file(nals_prison, key_vars = c(GENDER, DAGE3, CENREG), weight_var = WEIGHT)",
    "saveRDS(w, \"w.rds\")"
  ), k = 2, limit = list(journalist = 0.001))
  page <- measures(file_check(
    nals_prison, c("GENDER", "DAGE3", "CENREG"), weight_var = "WEIGHT", k = 2,
    limit = list(journalist = 0.001)
  ))
  words <- sdcRisk:::rows_verdict(page, 182)
  expect_identical(weighted$frames$verdict, words)
  # The limit of the population waits until the frame is written.
  journalist <- sdcRisk:::format_risk(page$value[page$measure == "journalist"])
  expect_identical(weighted$frames$lens, paste0(
    "k = 1, 3 records below 2, journalist ", journalist, " above 0.001"
  ))
  unwritten <- check_text(c(
    "library(sdcRisk)",
    "w <- sdc_file(nals_prison, key_vars = c(GENDER, DAGE3), weight_var = WEIGHT)"
  ))
  k <- min(table(interaction(nals_prison[c("GENDER", "DAGE3")], drop = TRUE)))
  expect_identical(unwritten$frames$lens, paste0("k = ", k, ", journalist judged when written"))
})

test_that("what cannot be run is said, with its line", {
  expect_identical(codes_at(check_text(c("x <- 1", "y <- )"))), "2 syntax_error")
  stopped <- check_text(c(start, "stop(\"secret 4711\")", "write.csv(people, \"a.csv\")"))
  expect_identical(codes_at(stopped), "4 script_error")
  expect_no_match(stopped$findings$message, "4711")
  ours <- check_text(c("library(sdcRisk)", "n_matches(nals_prison, \"nowhere\")"))
  expect_match(ours$findings$message, "columns of `data`")
  endless <- check_text(c(start, "write.csv(people, \"a.csv\")", "repeat {}"), time_limit = 8)
  expect_identical(codes_at(endless), c("4 above_limit", "5 time_limit"))
  ended <- check_text(c(start, "write.csv(people, \"a.csv\"); q()", "write.csv(people, \"b.csv\")"))
  expect_identical(codes_at(ended), c("4 above_limit", "4 script_ended"))
  killed <- check_text(c(start, "tools::pskill(Sys.getpid(), 9)", "x <- 1"))
  expect_identical(codes_at(killed), "4 script_error")
  expect_identical(codes_at(check_text(character())), character())
})

test_that("line ends, encodings and the form of a script do not matter", {
  script <- c(start, "# M\u00fcnchen", "ort <- \"M\u00fcnchen\"", "write.csv(people, \"a.csv\")")
  for (ending in c("\n", "\r\n", "\r")) {
    expect_identical(codes_at(check_text(script, ending = ending)), "6 above_limit")
  }
  expect_identical(codes_at(check_text(script, encoding = "latin1")), "6 above_limit")
  expect_identical(codes_at(check_text(c("\ufeffx <- 1", "y <- x"))), character())
})

test_that("two statements share a line, and a call may lie deep in a pipe", {
  x <- check_text(c(
    start, "a <- people; saveRDS(a, \"a.rds\"); b <- 1; saveRDS(people, \"b.rds\")",
    "people |>", "  as.data.frame() |>", "  utils::write.csv(", "    \"c.csv\"", "  )"
  ))
  expect_identical(x$findings$line, c(4L, 4L, 7L))
  expect_identical(x$findings$column, c(14L, 43L, 10L))
})

test_that("scripts within scripts, removed and overwritten frames are known", {
  other <- tempfile(fileext = ".R")
  writeLines("write.csv(people, \"inner.csv\")", other)
  x <- check_text(c(
    start, paste0("source(\"", other, "\")"),
    "people <- data.frame(age = 1:30, CENREG = 100 + 1:30)", "saveRDS(people, \"other.rds\")",
    "rm(people)", "gone <- 1"
  ))
  expect_identical(codes_at(x)[[1]], "4 above_limit")
  expect_match(x$findings$fix[[1]], "^people <- suppress_cells")
  expect_false(any(x$findings$line > 4 & x$findings$code == "above_limit"))
  # What the other script makes cannot be repaired above the line that runs it.
  made <- "made <- sdc_file(nals_prison[rev(keys)], keys)"
  writeLines(c(made, "write.csv(made, \"inner.csv\")"), other)
  x <- check_text(c(start, paste0("source(\"", other, "\")")))
  expect_identical(codes_at(x), "4 above_limit")
  expect_identical(x$findings$fix, "")
  # A seed can be set above it.
  writeLines("moved <- invariant_pram(people, max_match_prob = 0.4)", other)
  x <- check_text(c(start, paste0("source(\"", other, "\")")))
  expect_identical(codes_at(x), "4 no_seed")
  expect_match(x$findings$fix, "^set.seed")
})

test_that("a table that changes in place is followed", {
  skip_if_not_installed("data.table")
  x <- check_text(c(
    "library(data.table)", "library(sdcRisk)", "#| sdc: key_vars = c(GENDER, DAGE3)",
    "dt <- as.data.table(nals_prison[c(\"GENDER\", \"DAGE3\", \"SCORE\")])",
    "fwrite(dt, \"a.csv\")",
    "dt[, GENDER := seq_len(.N)]", "fwrite(dt, \"b.csv\")"
  ))
  expect_true("7 above_limit" %in% codes_at(x))
  expect_false("5 above_limit" %in% codes_at(x))
})

test_that("comments give roles, allow findings, and are refused if they cannot be read", {
  data <- "prison <- nals_prison[c(\"CASEID\", \"GENDER\", \"DAGE3\")]"
  write <- "write.csv(prison, \"a.csv\")"
  roles <- "#| sdc: key_vars = c(GENDER, DAGE3)"
  expect_identical(
    codes_at(check_text(c("library(sdcRisk)", roles, data, write))), "4 identifier_written"
  )
  allowed <- c("library(sdcRisk)", roles, data, "#| sdc: allow = \"identifier_written\"", write)
  expect_identical(codes_at(check_text(allowed)), character())
  bad <- check_text(c("library(sdcRisk)", "#| sdc: key_vars = c(NOWHERE)", data))
  expect_identical(codes_at(bad), "2 bad_comment")
  expect_identical(
    codes_at(check_text(c("library(sdcRisk)", "#| sdc: GENDER", data))), "2 bad_comment"
  )
  # Nobody's roles are not passed over in silence.
  misplaced <- check_text(c(roles, "library(sdcRisk)", data))
  expect_identical(codes_at(misplaced), "1 bad_comment")
  expect_match(misplaced$findings$message, "makes no data frame. Write it above the line")
})

test_that("what is not known is said and not guessed", {
  folder <- tempfile("data")
  dir.create(folder)
  path <- file.path(folder, "people.csv")
  utils::write.csv(data.frame(age = rep(1:40, 2), sex = 1:2), path, row.names = FALSE)
  read <- paste0("x <- read.csv(\"", path, "\")")
  expect_identical(codes_at(check_text(c("y <- 1", read))), "2 unknown_file")
  known <- c("library(sdcRisk)", read, "file <- sdc_file(x, c(age, sex))")
  expect_identical(codes_at(check_text(known)), character())
  table <- check_text(c(
    start, "counts <- aggregate(SCORE ~ CENREG + DAGE3 + EDUC3 + GENDER, people, length)",
    "write.csv(counts, \"counts.csv\")"
  ))
  expect_identical(codes_at(table), "5 not_followed")
})

test_that("another order of the records is no protection, and parts are judged when written", {
  x <- check_text(c(
    start, "people <- people[order(people$SCORE, people$CENREG), ]",
    "people <- merge(people, data.frame(CENREG = 1:4, AREA = 5:8))",
    "people <- people[rev(seq_len(nrow(people))), ]", "part <- people[people$CENREG == 1, ]",
    "other <- people[people$CENREG == 2, ]", "write.csv(part, \"a.csv\")",
    "other <- other[order(other$SCORE), ]"
  ))
  expect_identical(codes_at(x)[grepl("undone|returned", codes_at(x))], character())
  expect_true("9 above_limit" %in% codes_at(x))
  expect_identical(x$frames$line, c(3L, 4L, 5L, 6L, 7L))
  expect_identical(x$frames$records[[5]], sum(nals_prison$CENREG == 1))
})

test_that("records in another order are the same records, and others are not", {
  hash <- function(data) sdcRisk:::record_hash(as.list(data))
  set.seed(6)
  same <- replicate(300, {
    n <- sample(2:6, 1)
    a <- data.frame(
      x = sample(c(1L, 2L, NA), n, TRUE), y = sample(c("a", "b", NA), n, TRUE),
      z = sample(c(0.5, NA, NaN), n, TRUE), f = factor(sample(c("u", "v"), n, TRUE), c("u", "v"))
    )
    b <- a[sample(n), ]
    if (runif(1) < 0.5) b$y <- sample(b$y)
    text <- function(data) sort(do.call(paste, data))
    c(hash(a) == hash(b), identical(text(a), text(b)))
  })
  expect_identical(same[1, ], same[2, ])
  expect_true(all(table(same[1, ]) > 30))
  expect_false(hash(list(a = 1:3)) == hash(list(b = 1:3)))
  expect_false(hash(list(a = factor(c("u", "v")))) == hash(list(a = factor(c("w", "v")))))
})

test_that("random numbers of the script stay its own", {
  folder <- tempfile("seed")
  dir.create(folder)
  script <- c(start, "set.seed(7)", "a <- people", "b <- runif(3)", "saveRDS(b, \"b.rds\")")
  path <- file.path(folder, "s.R")
  writeLines(script, path)
  check_script(path, dir = folder)
  set.seed(7)
  expect_identical(readRDS(file.path(folder, "b.rds")), runif(3))
  public <- check_text(c(start, "set.seed(1)", "x <- invariant_pram(people, max_match_prob = 0.5)"))
  expect_identical(codes_at(public), "4 seed_in_script")
})

test_that("an sdcMicroObj is followed, and a merge after kAnon() is found", {
  skip_if_not_installed("sdcMicro")
  x <- check_text(c(
    "suppressMessages(library(sdcMicro)); library(sdcRisk)",
    "raw <- nals_prison[c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\")]",
    "raw[] <- lapply(raw, factor)", "object <- createSdcObj(raw, names(raw))",
    "object <- kAnon(object, k = 3)", "released <- extractManipData(object)",
    "released$area <- raw$CENREG", "saveRDS(object, \"object.rds\")"
  ))
  expect_true(all(c("7 value_returned", "8 original_written") %in% codes_at(x)))
})

test_that("the result has its tables, status and files", {
  x <- check_text(c(start, "write.csv(people, \"a.csv\")", "sdcGUI <- function() 1; sdcGUI()"))
  table <- as.data.frame(x)
  expect_identical(names(table)[1:7], c(
    "file", "line", "column", "severity", "code", "message", "fix"
  ))
  expect_s3_class(generics::tidy(x), "tbl_df")
  expect_identical(quit_status(x), 1L)
  expect_identical(quit_status(check_text(start)), 0L)
  hint <- check_text("sdcGUI <- function() 1; sdcGUI()")
  expect_identical(quit_status(hint), 0L)
  expect_identical(quit_status(hint, "hint"), 1L)

  path <- tempfile(fileext = ".sarif")
  expect_identical(write_findings(x, path), path)
  sarif <- jsonlite::fromJSON(path, simplifyVector = FALSE)
  expect_identical(sarif$version, "2.1.0")
  run <- sarif$runs[[1]]
  expect_length(run$results, 2)
  expect_identical(run$results[[1]]$ruleId, "above_limit")
  expect_identical(run$tool$driver$rules[[run$results[[1]]$ruleIndex + 1]]$id, "above_limit")
  expect_identical(run$results[[1]]$level, "error")
  expect_identical(
    run$results[[1]]$locations[[1]]$physicalLocation$region, list(startLine = 4L, startColumn = 1L)
  )
  skip_if_not_installed("xml2")
  path <- tempfile(fileext = ".xml")
  write_findings(x, path)
  suite <- xml2::read_xml(path)
  expect_identical(xml2::xml_attr(suite, "failures"), "1")
  expect_identical(xml2::xml_attr(xml2::xml_find_first(suite, "testsuite"), "errors"), "0")
  expect_length(xml2::xml_find_all(suite, ".//failure"), 1)
})

test_that("a print has 25 lines of the width at most", {
  x <- check_text(c(start, rep("saveRDS(people, \"a.rds\")", 40)))
  for (width in c(40, 60, 75, 120)) {
    lines <- format(x, width = width)
    expect_lte(length(lines), 25)
    expect_true(all(nchar(lines) <= width))
  }
  expect_match(paste(format(x, width = 75), collapse = " "), "40 errors")
  expect_output(print(check_text(start)), "no finding")
})

test_that("arguments are checked", {
  expect_error(check_script(), class = "sdcRisk_error_bad_argument")
  expect_error(check_script(1), class = "sdcRisk_error_bad_argument")
  expect_error(check_script("nowhere.R"), class = "sdcRisk_error_bad_argument")
  path <- tempfile(fileext = ".R")
  writeBin(as.raw(c(65, 0, 66)), path)
  expect_error(check_script(path), "zero bytes", class = "sdcRisk_error_bad_argument")
  writeLines("1", path)
  expect_error(check_script(path, time_limit = 0), class = "sdcRisk_error_bad_argument")
  expect_error(check_script(path, dir = "nowhere"), class = "sdcRisk_error_bad_argument")
  expect_error(check_script(path, lmit = 3), class = "sdcRisk_error_bad_argument")
  expect_error(quit_status(1), class = "sdcRisk_error_bad_argument")
  x <- check_script(path)
  expect_error(write_findings(x, "x.txt"), class = "sdcRisk_error_bad_argument")
})

test_that("what is written as text, bytes, models or by unknown functions is said", {
  not_followed <- function(...) codes_at(check_text(c(start, ...)))
  for (line in c(
    "writeLines(do.call(paste, as.list(people)), \"a.txt\")",
    "cat(do.call(paste, as.list(people)), sep = \"\\n\", file = \"a.txt\")",
    "write(t(as.matrix(people)), \"a.txt\")",
    "for (i in 1:30) cat(people$SCORE[i], \"\\n\", file = \"a.txt\", append = TRUE)",
    "capture.output(print(people), file = \"a.txt\")",
    "{ sink(\"a.txt\"); print(people); sink() }",
    "writeBin(serialize(people, NULL), \"a.bin\")",
    "saveRDS(as.matrix(people), \"a.rds\")", "saveRDS(lm(SCORE ~ GENDER, people), \"a.rds\")",
    "write.table(do.call(paste, as.list(people)), \"a.txt\")",
    "file.copy(system.file(\"DESCRIPTION\", package = \"sdcRisk\"), \"a.txt\")",
    "{ con <- file(\"a.txt\", \"w\"); writeLines(do.call(paste, people), con); close(con) }"
  )) {
    expect_identical(not_followed(line), "4 not_followed", info = line)
  }
  # Words, prints, pictures, reports and files of the session are no records.
  expect_identical(not_followed(
    "cat(\"done\\n\", file = \"log.txt\")", "writeLines(do.call(paste, people), tempfile())",
    "cat(do.call(paste, people))", "pdf(\"a.pdf\"); plot(people$SCORE); invisible(dev.off())",
    "saveRDS(1:3, \"a.rds\")", "sdc_report(n_matches(people), file = \"a.html\", pictures = FALSE)"
  ), character())
})

test_that("a frame without the weights of its comment is judged by k", {
  checked <- check_text(c(
    "keys <- c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\")",
    "#| sdc: key_vars = keys, weight_var = \"WEIGHT\"",
    "people <- sdcRisk::nals_prison[c(keys, \"WEIGHT\", \"SCORE\")]",
    "write.csv(people[c(keys, \"SCORE\")], \"a.csv\")"
  ))
  expect_identical(codes_at(checked), "4 above_limit")
  expect_match(checked$findings$message, "19 of 182 records", fixed = TRUE)
  expect_identical(quit_status(checked), 1L)
})

test_that("columns that := makes in place are compared", {
  skip_if_not_installed("data.table")
  checked <- check_text(c(
    "library(data.table)",
    "#| sdc: key_vars = c(GENDER), id_vars = id",
    "dt <- data.table(GENDER = sdcRisk::nals_prison$GENDER, id = 1000 + 1:182)",
    "ids <- dt$id", "dt[, id := NULL]", "dt[, id := ids]", "fwrite(dt, \"a.csv\")"
  ))
  expect_identical(codes_at(checked), c("6 identifier_returned", "7 identifier_written"))
})

test_that("a release with new numbers of persons may reveal suppressed values", {
  panel <- tempfile(fileext = ".csv")
  on.exit(unlink(panel))
  utils::write.csv(panel_file(), panel, row.names = FALSE)
  script <- function(release) {
    c(
      "library(sdcRisk)", paste0("panel <- read.csv(", deparse(panel), ")"),
      "file <- sdc_file(panel, c(age, sex, in_school), id_vars = pid)",
      paste0("released <- release_data(suppress_cells(file, k = 30)", release, ")"),
      "write.csv(released, \"a.csv\")"
    )
  }
  found <- check_text(script(", new_ids = \"pid\""))$findings
  expect_identical(found$code, "told_by_column")
  expect_match(found$message, "\"pid [+] year\" reveals about [0-9,]+ of [0-9,]+ values of \"age\"")
  expect_identical(codes_at(check_text(script(""))), character())
})

test_that("a repair runs in a script that has not attached the package", {
  script <- c(
    "#| sdc: key_vars = c(CENREG, DAGE3, EDUC3, GENDER)",
    "people <- sdcRisk::nals_prison[c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\", \"SCORE\")]",
    "write.csv(people, \"a.csv\")"
  )
  found <- check_text(script)$findings
  expect_identical(found$code, "above_limit")
  expect_match(found$fix, "^people <- sdcRisk::suppress_cells\\(sdcRisk::sdc_file\\(people")
  expect_match(found$fix, "sdcRisk::release_data()", fixed = TRUE)
  expect_identical(nrow(check_text(append(script, found$fix, 2))$findings), 0L)
})

test_that("a limit of the population that is unclear is information if k is kept", {
  script <- c(
    "library(sdcRisk)",
    "people <- sdc_file(nals_prison[c(\"GENDER\", \"DAGE3\", \"WEIGHT\")], c(GENDER, DAGE3),",
    "  weight_var = WEIGHT)",
    "saveRDS(people, \"a.rds\")"
  )
  page <- measures(file_check(
    nals_prison, c("GENDER", "DAGE3"), weight_var = "WEIGHT", limit = list(journalist = 0.05)
  ))
  row <- page[page$measure == "journalist", ]
  skip_if_not(row$low < row$high)
  limit <- (row$low + row$high) / 2
  both <- check_text(script, k = 3, limit = list(journalist = limit))
  expect_identical(codes_at(both), "4 limit_unclear")
  expect_identical(both$findings$severity, "information")
  expect_match(both$findings$message, "k is kept.", fixed = TRUE)
  expect_identical(quit_status(both), 0L)
  alone <- check_text(script, limit = list(journalist = limit))
  expect_identical(alone$findings$severity, "warning")
  expect_identical(quit_status(alone), 1L)
  above <- check_text(script, k = 1000, limit = list(journalist = limit))
  expect_identical(above$findings$code, "above_limit")
})

test_that("no value travels in a class or in a name", {
  x <- check_text(c(
    start, "people$who <- paste0(\"SECRET\", seq_len(nrow(people)))",
    "assign(people$who[7], people)", "SECRET <- stats::setNames(people, rev(people$who)[1:6])",
    "saveRDS(get(people$who[7]), paste0(people$who[8], \".rds\"))",
    "stop(errorCondition(people$who[9], class = people$who[9]))"
  ))
  text <- unlist(lapply(c(x$findings, x$frames), as.character))
  expect_false(any(grepl("SECRET[0-9]", text)))
  expect_match(x$findings$message[x$findings$line == 8], "class \"error\"", fixed = TRUE)
})

test_that("no value travels in a fix, nor after its column was dropped", {
  read <- c(
    "library(sdcRisk)", "x <- cbind(nals_prison, who = paste0(\"SECRET\", 1:182))",
    "write.csv(x, \"x.csv\", row.names = FALSE)", "rm(x)",
    "#| sdc: key_vars = c(CENREG, DAGE3, EDUC3)", "people <- read.csv(\"x.csv\")",
    "nm <- people$who[1]"
  )
  more <- list(
    column = c("people[[nm]] <- seq(0.5, 91, 0.5)", "people[[people$who[2]]] <- people$DAGE3"),
    key = "names(people)[names(people) == \"DAGE3\"] <- nm"
  )
  for (lines in more) {
    x <- check_text(c(read, lines, "people$who <- NULL", "write.csv(people, \"o.csv\")"))
    expect_true("above_limit" %in% x$findings$code)
    expect_match(x$findings$message, "a name that is a value", fixed = TRUE, all = FALSE)
    expect_false(any(grepl("SECRET[0-9]", unlist(lapply(c(x$findings, x$frames), as.character)))))
  }
})

test_that("parts that a loop writes are compared with the file that they are of", {
  lines <- c(
    "library(sdcRisk)", "i <- 1:400", "keys <- c(\"age\", \"sex\", \"region\", \"educ\")",
    "#| sdc: key_vars = all_of(keys)", "people <- data.frame(",
    "  age = 18 + (i * 37) %% 73, sex = (i * 7) %% 5 %/% 3,",
    "  region = letters[(i * i) %% 7 + 1], educ = (i * 11) %% 13 %/% 4", ")",
    "file <- global_recode(sdc_file(people, keys), age = c(18, 40, 60))",
    "out <- release_data(suppress_cells(file, k = 3, rule = \"strict\"))",
    "for (r in unique(na.omit(out$region))) {", "  part <- out[which(out$region == r), ]",
    "  write.csv(part, paste0(r, \".csv\"))", "}"
  )
  expect_identical(check_text(lines, limit = list(k = 3))$findings$code, character())
  lines[11:12] <- gsub("out", "people", lines[11:12], fixed = TRUE)
  found <- check_text(lines, limit = list(k = 3))$findings
  expect_identical(unique(found$line[found$code == "above_limit"]), 13L)
  expect_false("remedy_undone" %in% found$code)
})

test_that("a file that leaves the temporary folder is judged there", {
  x <- check_text(c(
    start, "one <- tempfile(fileext = \".csv\")", "two <- tempfile(fileext = \".csv\")",
    "write.csv(people, one)", "file.rename(one, two)", "file.copy(two, tempdir())",
    "file.rename(two, \"a.csv\")", "file.copy(\"a.csv\", \"b.csv\")",
    "writeLines(do.call(paste, people), one)", "file.copy(one, \"c.csv\")"
  ))
  expect_identical(codes_at(x), c("9 above_limit", "12 not_followed"))
})

test_that("a repair stands where its variable is made", {
  lines <- c(
    "for (i in 1:2) { a <- x[i]; write(a) }", "b <- x; write(b)", "for (i in 1:2) {",
    "\ta <- x", "\twrite(a)", "}"
  )
  insert <- function(line, column, fix, place) {
    repaired(lines, data.frame(line = line, column = column, fix = fix, place = place))
  }
  expect_identical(
    insert(1, 29, "a <- f(a)", "above")[[1]],
    "for (i in 1:2) { a <- x[i]; a <- f(a); write(a) }"
  )
  expect_identical(insert(2, 9, "b <- f(b)", "above")[[2]], "b <- x; b <- f(b); write(b)")
  expect_identical(insert(2, 1, "b <- f(b)", "below")[[2]], "b <- x; b <- f(b); write(b)")
  expect_identical(
    insert(5, 2, "a <- f(a)", "above")[4:6], c("\ta <- x", "\ta <- f(a)", "\twrite(a)")
  )
  expect_identical(insert(5, 2, "x <- f(x)", "above")[2:4], c(lines[[2]], "x <- f(x)", lines[[3]]))
})

test_that("a table that changes in place is judged anew, whatever changes it", {
  skip_if_not_installed("data.table")
  for (line in c(
    "dt[3, GENDER := 7L]", "set(dt, 3L, \"GENDER\", 7L)", "setorder(dt, -GENDER)[1, TEXT := \"c\"]",
    "{ f <- function(x) x[1:2, TEXT := \"d\"]; f(dt) }"
  )) {
    x <- check_text(c(
      "library(data.table)", "#| sdc: key_vars = c(GENDER, TEXT)",
      "dt <- data.table(GENDER = rep(1:2, 91), TEXT = \"a\", SCORE = rep(1, 182))", line, "y <- 1"
    ))
    dt <- data.table::data.table(GENDER = rep(1:2, 91), TEXT = "a", SCORE = rep(1, 182))
    eval(parse(text = line), list2env(list(dt = dt), parent = asNamespace("data.table")))
    expect_identical(x$frames$line, c(3L, 4L), info = line)
    k <- min(table(paste(dt$GENDER, dt$TEXT)))
    expect_match(x$frames$lens[[2]], paste0("^k = ", k, "\\b"), info = line)
  }
})

test_that("values that come back are counted as by comparing all texts", {
  # All values as text, one by one.
  all_texts <- function(column, shown, before) {
    column <- as.character(sdcRisk:::column_plain(column))
    shown <- as.character(sdcRisk:::column_plain(shown))
    first <- unique(as.character(sdcRisk:::column_plain(before)))
    both <- !is.na(column) & !is.na(shown)
    hidden <- !is.na(column) & is.na(shown)
    if (any(hidden) && any(both) && mean(column[both] == shown[both]) >= 0.99) {
      return(sum(hidden))
    }
    values <- unique(column[!is.na(column)])
    finer <- length(values) > length(unique(shown[!is.na(shown)])) && all(values %in% first)
    pairs <- paste(column, shown, sep = "\r")[both]
    if (finer && length(unique(pairs)) <= 1.01 * length(unique(column[both]))) {
      sum(!is.na(column))
    } else {
      0
    }
  }
  set.seed(5)
  found <- replicate(300, {
    n <- sample(c(20, 400), 1)
    before <- sample(1:12, n, TRUE)
    shown <- replace(before, sample(n, n / 10), NA)
    if (runif(1) < 0.3) shown <- (shown + 1L) %/% 2L
    column <- before
    column[sample(n, sample(c(0, 1, n / 90, n / 50, n), 1))] <- sample(c(3L, 77L, NA), 1)
    as <- sample(list(identity, as.double, as.character, factor, function(x) x + 0.5), 1)[[1]]
    column <- as(column)
    if (is.double(column)) column[sample(n, 1)] <- NaN
    wanted <- all_texts(column, shown, before)
    expect_equal(sdcRisk:::n_told(column, shown, before), wanted)
    wanted
  })
  expect_gt(sum(found > 0), 50)
  expect_gt(sum(found == 0), 50)
})

test_that("what the check itself writes is no finding of a long script", {
  expect_identical(codes_at(check_text(c(start, paste0("x", 1:60, " <- mean(people$SCORE)")))),
                   character())
})

test_that("a protected number comes back by a sum, and a record by its neighbour", {
  with_number <- c(
    "library(sdcRisk)", "keys <- c(\"CENREG\", \"GENDER\")",
    "people <- sdc_file(nals_prison[c(keys, \"SCORE\")], all_of(keys), num_vars = SCORE)",
    "safe <- microaggregate(people, SCORE, k = 10)"
  )
  told <- function(line) {
    x <- check_text(c(with_number, line))$findings
    x$message[x$code == "value_returned"]
  }
  safe <- microaggregate(sdc_file(nals_prison, CENREG, num_vars = SCORE), SCORE, k = 10)
  n <- sum(safe$SCORE != nals_prison$SCORE)
  wanted <- paste0("brings ", n, " protected values of \"SCORE\" back")
  expect_match(told("safe$adjust <- nals_prison$SCORE - safe$SCORE"), wanted)
  expect_match(told("safe$twice <- nals_prison$SCORE + safe$SCORE"), wanted)
  expect_match(told(
    "safe <- cbind(safe, half = nals_prison$SCORE / 2 - 1, rest = nals_prison$SCORE / 2 + 1)"
  )[[1]], "protected values of \"SCORE\" back")
  expect_identical(told("safe$ratio <- safe$SCORE / 100"), character())
  expect_identical(told("set.seed(1); safe$noise <- rnorm(182)"), character())
})

test_that("records that are added as they were are a remedy undone", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
  lines <- c(start, "safe <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)")
  safe <- suppressMessages(release_data(suppress_cells(nals_prison[keys], k = 3), shuffle = FALSE))
  open <- !stats::complete.cases(safe)
  as_text <- function(data) do.call(paste, data)
  n <- sum(open & !as_text(nals_prison[keys]) %in% as_text(safe))
  x <- check_text(c(lines, "late <- nals_prison[!complete.cases(safe), ]",
                    "all <- rbind(safe, late[names(safe)])"))$findings
  x <- x[x$code == "remedy_undone", ]
  expect_identical(x$line, 6L)
  expect_match(x$message, paste0("adds ", n, " records with key values that line 4 had protected"))
  # Records as they were released are no news.
  x <- check_text(c(lines, "all <- rbind(safe, safe[complete.cases(safe), ])"))$findings
  expect_false("remedy_undone" %in% x$code)
})

test_that("the commonest value in place of suppressed ones is no value of before", {
  f <- sdcRisk:::n_restored
  before <- c(rep("a", 10), "a", "a", "b", "c", "c")
  hidden <- replace(before, 11:13, NA)
  expect_identical(f(replace(before, 13, "a"), hidden, before, TRUE), 0)
  expect_identical(f(before, hidden, before, TRUE), 3L)
  expect_identical(f(replace(before, 13, "c"), hidden, before, TRUE), 2L)
})

of_six <- c(
  "library(sdcRisk)",
  "keys <- c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\", \"BORNUSA\", \"DRACE3\")",
  "people <- sdc_file(nals_prison[keys], all_of(keys))"
)

test_that("of two columns that come back the repaired one is left out", {
  lines <- c(
    of_six, "safe <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)",
    "safe <- cbind(safe, r = nals_prison$CENREG, e = nals_prison$EDUC3)"
  )
  returned <- function(lines) {
    x <- check_text(lines)$findings
    x$message[x$code == "value_returned"]
  }
  both <- returned(lines)
  expect_match(both, "\"(r|e)\"", all = TRUE)
  expect_length(both, 2)
  expect_match(returned(c(lines, "safe$e <- NULL")), "^The column \"r\"")
  expect_match(returned(c(lines, "safe$r <- NULL")), "^The column \"e\"")
  expect_identical(returned(c(lines, "safe$r <- NULL", "safe$e <- NULL")), character())
})

test_that("a matrix in a frame is its columns", {
  lines <- c(
    of_six, "safe <- release_data(suppress_cells(people, k = 3), shuffle = FALSE)",
    "safe$m <- cbind(nals_prison$EDUC3, nals_prison$CENREG)"
  )
  x <- check_text(lines)$findings
  expect_setequal(x$code, "value_returned")
  variables <- sub(".*of \"([A-Z0-9]+)\" back.*", "\\1", x$message)
  expect_setequal(variables, c("CENREG", "EDUC3"))
})

test_that("identifiers in comments, labels and names are written", {
  lines <- c(
    "library(sdcRisk)", "raw <- nals_prison", "raw$id <- 900000 + 7 * seq_len(182)",
    "people <- sdc_file(raw[c(\"id\", \"GENDER\", \"SCORE\")], GENDER, id_vars = id)",
    "people$id <- NULL"
  )
  for (line in c(
    "comment(people) <- as.character(raw$id)", "attr(people, \"ids\") <- raw$id",
    "attr(people$SCORE, \"label\") <- toString(raw$id)"
  )) {
    expect_identical(codes_at(check_text(c(lines, line, "saveRDS(people, \"a.rds\")"))),
                     "7 identifier_written", info = line)
  }
  plain <- c(lines, "comment(people) <- \"Survey of 1992\"", "saveRDS(people, \"a.rds\")")
  expect_identical(codes_at(check_text(plain)), character())
  # CSV has neither.
  expect_identical(codes_at(check_text(c(
    lines, "comment(people) <- as.character(raw$id)", "write.csv(people, \"a.csv\")"
  ))), character())
  expect_identical(codes_at(check_text(c(
    lines, "attr(people, \"seen\") <- rnorm(182)", "saveRDS(people, \"a.rds\")"
  ))), "7 not_followed")
})

test_that("columns that a function puts together again are judged by all keys of their file", {
  keys <- "c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\", \"BORNUSA\", \"DRACE3\")"
  checked <- check_text(c(
    "library(sdcRisk)", paste0("f <- sdc_file(nals_prison[", keys, "])"),
    "build <- function() {", "  part <- f[\"GENDER\"]",
    paste0("  for (v in ", keys, ") part[[v]] <- f[[v]]"), "  part", "}",
    "write.csv(build(), \"part.csv\", row.names = FALSE)"
  ), limit = list(k = 3))
  expect_identical(codes_at(checked), "8 above_limit")
  few <- sum(n_matches(nals_prison, eval(parse(text = keys)))$records$n_matches < 3)
  expect_match(checked$findings$message, paste(few, "of 182 records"), fixed = TRUE)
})

test_that("parts of a file that nothing protected are put together without a finding", {
  made <- list(
    c("rel <- p[\"GENDER\"]", "rel$DRACE3 <- p$DRACE3"),
    c("a <- p[c(\"nr\", \"GENDER\")]", "b <- p[c(\"nr\", \"DRACE3\")]",
      "rel <- merge(a, b, by = \"nr\")[-1]")
  )
  for (lines in made) {
    checked <- check_text(c(
      "library(sdcRisk)", "#| sdc: key_vars = c(GENDER, DRACE3), id_vars = nr",
      "p <- transform(nals_prison[c(\"GENDER\", \"DRACE3\")], nr = seq_len(182))", lines,
      "rel <- suppress_cells(sdc_file(rel, c(GENDER, DRACE3)), k = 3, rule = \"strict\")",
      "write.csv(release_data(rel), \"rel.csv\", row.names = FALSE)"
    ), limit = list(k = 3))
    expect_identical(codes_at(checked), character())
  }
})

test_that("a release that is sorted by its originals is unclear", {
  checked <- check_text(c(
    "library(sdcRisk)", "keys <- c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\", \"DRACE3\")",
    "raw <- nals_prison[order(nals_prison$SCORE), keys]",
    "out <- release_data(suppress_cells(sdc_file(raw, keys), k = 10, rule = \"strict\"),",
    "  shuffle = FALSE)", "out <- out[order(raw$DAGE3, raw$EDUC3), ]",
    "write.csv(out, \"rel.csv\", row.names = FALSE)"
  ), limit = list(k = 3))
  expect_identical(codes_at(checked), "7 limit_unclear")
  expect_match(checked$findings$message, "in an order of its records", fixed = TRUE)
})

test_that("serialize() to a file is a writer, and in memory it is none", {
  checked <- check_text(c(
    "keys <- c(\"CENREG\", \"DAGE3\", \"GENDER\")", "#| sdc: key_vars = keys",
    "p <- sdcRisk::nals_prison[keys]", "size <- length(serialize(p, NULL))",
    "con <- file(\"p.bin\", \"wb\")", "serialize(p, con)", "close(con)"
  ), limit = list(k = 3))
  expect_identical(codes_at(checked), "6 above_limit")
})

test_that("a script that runs in the folder of the session has no findings of the check", {
  path <- tempfile(fileext = ".R")
  on.exit(unlink(path))
  writeLines(c("#| sdc: key_vars = GENDER", "p <- sdcRisk::nals_prison[\"GENDER\"]"), path)
  expect_identical(nrow(check_script(path, dir = tempdir())$findings), 0L)
})

test_that("names that are pasted of values are not told", {
  checked <- check_text(c(
    "library(sdcRisk)", "people <- transform(nals_prison[c(\"CENREG\", \"DAGE3\", \"GENDER\")],",
    "  id = paste0(\"Q\", 224001:224182))",
    "people <- sdc_file(people, c(CENREG, DAGE3, GENDER), id_vars = id)",
    "out <- release_data(suppress_cells(people, k = 3))",
    "out[[paste0(\"x\", people$id[5])]] <- people$CENREG", "write.csv(out, \"a.csv\")"
  ))
  expect_true("value_returned" %in% checked$findings$code)
  shown <- paste(unlist(lapply(checked$findings, as.character)), unlist(checked$frames$name))
  expect_false(any(grepl("Q22400", shown, fixed = TRUE)))
})
