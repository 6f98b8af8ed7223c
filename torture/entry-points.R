# Entry points of the compiled core with a garbage collection at every allocation of their
# call (gctorture): a value of R that the glue does not protect is gone then, and the answer
# is another one, or R ends.
#
#   Rscript torture/entry-points.R calls       every entry point, by the calls below
#   Rscript torture/entry-points.R examples    the first use of each in every help page
#   Rscript torture/entry-points.R tests       the first use of each in every file of tests
#
# A second argument is the number of minutes after which no call, page or file is begun.
# ENOUGH=0.2 is how many seconds of the processor a use may take until its collections are
# frequent enough; without it a second. With COLLECT=no nothing is collected or written, and each
# call is made twice: for other checkers (checkers.R).
#
# `torture/results/entry-points.csv` has a row for each call, page or file; what has a row is
# not run again. Each use is made without collections, and with: of pages and files at every
# 10,000th, 1,000th, 100th, 10th and every allocation, until that takes long enough.
# The answers are compared. `every` is the coarsest of the steps at which uses of the item
# ended. A row says "ended R" until its item has ended.

suppressMessages(library(sdcRisk))
options(sdcRisk.threads = 2)
part <- c(commandArgs(trailingOnly = TRUE), "calls")[[1]]
minutes <- as.numeric(c(commandArgs(trailingOnly = TRUE), NA, NA)[[2]])
until <- Sys.time() + 60 * if (is.na(minutes)) 600 else minutes
entries_file <- "torture/results/entry-points.csv"

# Tables of the core are pointers, which differ.
comparable <- function(x) {
  if (typeof(x) == "externalptr") return(class(x))
  if (is.list(x)) {
    kept <- attributes(x)
    x <- lapply(x, comparable)
    attributes(x) <- kept
  }
  x
}

space <- asNamespace("sdcRisk")
entries <- grep("^rs_", ls(space), value = TRUE)
seen <- new.env()
seen$tortured <- !identical(Sys.getenv("COLLECT"), "no")
seen$used <- character()
seen$differ <- character()
seen$calls <- 0
# A collection at every so many allocations, until a call takes more than `enough` seconds of
# the processor.
steps <- if (part == "calls") 1 else c(10000, 1000, 100, 10, 1)
enough <- as.numeric(Sys.getenv("ENOUGH", "1"))
seen$every <- 0
originals <- mget(entries, envir = space)
for (name in entries) {
  local({
    own <- name
    entry <- originals[[own]]
    wrapped <- function(...) {
      first <- !own %in% seen$used
      seen$used <- c(seen$used, if (first) own)
      seen$calls <- seen$calls + 1
      if (!first || !seen$tortured) return(entry(...))
      arguments <- list(...)
      # What is let go cannot be let go twice.
      plain <- if (own != "rs_release") do.call(entry, arguments, quote = TRUE)
      on.exit(gctorture2(0))
      # Fewer collections first: nobody knows how many allocations a call makes.
      for (step in if (own == "rs_release") 1 else steps) {
        began <- sum(proc.time()[1:2])
        gctorture2(step)
        out <- do.call(entry, arguments, quote = TRUE)
        gctorture2(0)
        if (own != "rs_release" && !identical(comparable(plain), comparable(out))) {
          seen$differ <- c(seen$differ, own)
        }
        if (sum(proc.time()[1:2]) - began > enough) break
      }
      seen$every <- max(seen$every, step)
      out
    }
    get("unlockBinding", baseenv())(own, space)
    assign(own, wrapped, space)
  })
}

quiet <- function(code) suppressMessages(suppressWarnings(code))

none <- data.frame(
  source = character(), item = character(), outcome = character(), seconds = numeric(),
  entries = character(), differ = character(), every = numeric(), said = character()
)
rows <- if (file.exists(entries_file)) {
  utils::read.csv(entries_file, colClasses = unlist(lapply(none, class)), na.strings = NULL)
} else {
  none
}
# Runs an item; `code` gives what went wrong besides, "" for nothing.
try_item <- function(item, code) {
  if (!seen$tortured) {
    cat(item, force(code), "\n")
    return(invisible())
  }
  if (any(rows$source == part & rows$item == item) || Sys.time() > until) return(invisible())
  at <- nrow(rows) + 1
  write_row <- function(...) {
    rows[at, ] <<- list(part, item, ...)
    # Other parts may be running.
    now <- if (file.exists(entries_file)) {
      utils::read.csv(entries_file, colClasses = unlist(lapply(none, class)), na.strings = NULL)
    }
    now <- rbind(now[!(now$source == part & now$item == item), ], rows[at, ])
    now <- now[order(now$source, now$item, method = "radix"), ]
    utils::write.csv(now, entries_file, row.names = FALSE, na = "")
  }
  write_row("ended R", 0, "", "", 0, "")
  seen$every <- 0
  seen$used <- character()
  seen$differ <- character()
  began <- proc.time()[["elapsed"]]
  said <- tryCatch(force(code), error = function(e) paste("error:", conditionMessage(e)))
  gctorture2(0)
  outcome <- if (length(seen$differ)) "differs" else if (nzchar(said)) "failed" else "same"
  write_row(
    outcome, round(proc.time()[["elapsed"]] - began, 1), paste(seen$used, collapse = " "),
    paste(seen$differ, collapse = " "), seen$every, substr(gsub("[\r\n]+", " / ", said), 1, 200)
  )
  cat(
    item, outcome, rows$seconds[[at]], "s, every", seen$every, length(seen$used),
    "entry points", said, "\n"
  )
}

run_calls <- function() {
  set.seed(7)
  n <- 12
  place <- new.env(parent = globalenv())
  place$data <- data <- data.frame(
    a = sample(3, n, TRUE), b = factor(sample(c("x", "y"), n, TRUE), ordered = TRUE),
    c = sample(4, n, TRUE), w = stats::runif(n, 2, 9), hh = rep(1:6, each = 2), id = seq_len(n)
  )
  place$n <- n
  place$keys <- c("a", "b", "c")
  place$later <- transform(data[-2, ], c = replace(c, 1, NA))
  place$blanks <- replace(data, "c", replace(data$c, 3, NA))
  place$kinds <- data.frame(
    text = rep(c("x", "\u00e9", NA), 4), latin1 = rep(iconv(c("\u00e9", "\u00fc"), "UTF-8", "latin1"), 6),
    real = rep(c(0.1, NA, 1e300), 4), yes = rep(c(TRUE, NA), 6), wide = bit64::as.integer64(rep(1:3, 4)),
    day = as.Date("2020-01-01") + rep(1:2, 6), time = as.POSIXct("2020-01-01", tz = "UTC") + rep(1:4, 3)
  )
  place$kinds$may <- candidates(rep(list(1:2, 2, 3), 4))
  place$kinds$between <- candidate_interval(1:12, 1:12 + 2)
  if (requireNamespace("dbplyr", quietly = TRUE) && requireNamespace("RSQLite", quietly = TRUE)) {
    place$connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
    DBI::dbWriteTable(place$connection, "people", transform(data, b = as.character(b)))
  }
  calls <- entry_calls
  if (is.null(place$connection)) calls <- calls[!startsWith(names(calls), "lazy_")]
  stopped <- character()
  # Later calls ask the answers of earlier ones, which are needed even if they have a row.
  for (name in names(calls)) {
    if (seen$tortured) seen$used <- entries
    # What each call leaves behind is seen in two.
    for (again in seq_len(if (seen$tortured) 1 else 2)) {
      set.seed(3)
      place[[name]] <- tryCatch(quiet({
        utils::capture.output(x <- eval(calls[[name]], place))
        x
      }), error = function(e) {
        stopped <<- c(stopped, paste0(name, ": ", conditionMessage(e)))
        NULL
      })
    }
    set.seed(3)
    if (seen$tortured) {
      try_item(name, {
        quiet(utils::capture.output(eval(calls[[name]], place)))
        ""
      })
    }
  }
  if (length(stopped)) cat("Stopped without collections:\n", paste0(stopped, "\n"))
}

entry_calls <- list(
  qar = quote(qar_risk(data, keys, p = 2, pi_u = 0.4)),
  qar_homes = quote(qar_risk(data, keys, p = 1, pi_u = 0.4, hh_id = "hh")),
  qar_alone = quote(qar_risk(data, keys, p = 2, pi_u = 0.4, sets = FALSE)),
  qar_sampled = quote(qar_risk(
    as.data.frame(lapply(stats::setNames(1:9, letters[1:9]), function(i) sample(3, n, TRUE))),
    p = 4, pi_u = 0.4, max_sets = 50
  )),
  contribution = quote(risk_contribution(qar, data, entropy = TRUE)),
  shown = quote(print(summary(contribution))),
  path = quote(removal_path(qar, data, 2)),
  adaptive = quote(removal_path(qar, data, 2, by = "u_plus_updated")),
  random_path = quote(removal_path(qar, data, 2, by = "random", n_sim = 2)),
  bound = quote(removal_bound(qar, data, 2)),
  overview = quote(key_overview(data, keys)),
  matches = quote(n_matches(data, keys, weight_var = "w")),
  of_0_1 = quote({
    old <- matches
    old$settings$version <- "0.1.0"
    old$settings$fingerprint <- "unknown"
    tryCatch(augment(old, data), sdcRisk_error = conditionMessage)
  }),
  two_sets = quote(n_matches(blanks, list(one = keys[1:2], two = keys), missing = "exclude")),
  classes = quote(n_matches(kinds[1:7])),
  candidates = quote(n_matches(kinds[7:9], rule = "overlap")),
  homes = quote(household_risk(data, keys, "hh", known = 1)),
  individual = quote(individual_risk(data, keys, "w", "hh")),
  tables = quote(exhaustive_tabulation(data, keys, 1:2)),
  population = quote(population_uniqueness(data, keys, 100)),
  fit = quote(copula_fit(data, keys, min_records = 2)),
  uniqueness = quote(copula_uniqueness(fit, pop_size = 100, newdata = data)),
  records = quote(copula_uniqueness(fit, pop_size = 100, newdata = blanks)),
  sizes = quote(uniqueness_by_size(fit, 100)),
  part = quote(uniqueness_by_size(fit, 100, sizes = 2)),
  profile = quote(uniqueness_profile(fit, data[1, keys], 100)),
  drawn = quote(simulate(fit, 5)),
  members = quote(copula_uniqueness(data, keys, pop_size = 100, min_records = 2, hh_id = "hh")),
  validated = quote(validate_uniqueness(fit, data)),
  loglinear = quote(loglinear_risk(data, keys, weight_var = "w")),
  loglinear_sets = quote(
    loglinear_risk(blanks, list(one = keys[1:2], two = keys), weight_var = "w", missing = "exclude")
  ),
  removed = quote(uniqueness_profile(fit, data[1, keys[1:2]], 100)),
  perturbed = quote(invariant_pram(data, keys[1:2], unprotected = "keep")),
  audit = quote(pram_audit(perturbed, data, n_sim = 2)),
  variance = quote(pram_variance(perturbed, data)),
  theta = quote(pram_theta(0.7, counts = c(1, 2, 5))),
  match_prob = quote(pram_match_prob(c(1, 2, 5), 0.4)),
  suppressed = quote(suppress_cells(data, keys, k = 2)),
  shared = quote(suppress_cells(data, keys, k = 2, rule = "shared")),
  recoded = quote(recode_search(data, keys, constraint = list(k = 2))),
  blanked = quote(recode_search(
    data, keys, constraint = list(k = 2), suppress = 0.3, blanks = "cells"
  )),
  searched = quote(recode_search(data, keys, constraint = list(k = 2, qar = 0.9), suppress = 0.5)),
  applied = quote(apply_recoding(searched, data)),
  linked = quote(longitudinal_link(data, later, keys, "id")),
  attack = quote(link_attack(data, later, keys, "id")),
  stability = quote(key_stability(data, later, keys, "id", steps = "greedy")),
  changed = quote(change_indicators(data, later, keys, "id")),
  panel = quote(longitudinal_risk(data, later, keys, keys, "c", "id", weight_var = "w")),
  patterns = quote(n_matches(pattern_table(data, keys))),
  counted = quote(longitudinal_link(pattern_table(data, keys), pattern_table(later, keys), keys)),
  loss = quote(utility_loss(data, later[c(1, seq_len(nrow(later))), ], keys)),
  check = quote(file_check(data, keys, weight_var = "w", hh_id = "hh")),
  by_formula = quote(sdcRisk:::rs_expected_inverse(as.double(1:4), as.double(5:8))),
  failed = quote(sdcRisk:::rs_fail("error", "100 %")),
  hoarded = quote(sdcRisk:::rs_hoard(8L, 1000L)),
  # R is called from within: a tick that allocates.
  waited = quote(sdcRisk:::rs_wait(300L, function(done, total) {
    is.list(lapply(1:20, function(i) list(i, "text")))
  })),
  drawn_seeds = quote(sdcRisk:::rs_draws(as.double(1:8), 3, 2L)),
  lazy_release = quote({
    DBI::dbExecute(connection, "DROP TABLE IF EXISTS released")
    x <- invariant_pram(
      dplyr::tbl(connection, "people"), keys[1:2], unprotected = "keep", row_id = "id",
      into = "released"
    )
    as.data.frame(release_data(x))
  }),
  lazy_counts = quote(
    qar_risk(dplyr::tbl(connection, "people"), keys, p = 2, pi_u = 0.4, max_patterns = 1)
  )
)

run_examples <- function() {
  pages <- tools::Rd_db("sdcRisk")
  grDevices::pdf(NULL)
  for (page in names(pages)) {
    code <- tempfile(fileext = ".R")
    tools::Rd2ex(pages[[page]], code, commentDontrun = TRUE)
    if (!file.exists(code)) next
    try_item(page, {
      set.seed(1)
      quiet(utils::capture.output(
        source(code, local = new.env(parent = globalenv()), echo = FALSE)
      ))
      ""
    })
  }
}

run_tests <- function() {
  files <- list.files("tests/testthat", "^test-.*R$", full.names = TRUE)
  for (file in files) {
    try_item(basename(file), {
      found <- as.data.frame(testthat::test_file(
        file, package = "sdcRisk", load_package = "installed", reporter = "silent",
        stop_on_failure = FALSE
      ))
      wrong <- found$test[found$failed > 0 | found$error]
      paste(wrong, collapse = "; ")
    })
  }
}

switch(part, calls = run_calls(), examples = run_examples(), tests = run_tests())
if (seen$tortured) {
  own <- rows[rows$source == part, ]
  reached <- unique(unlist(strsplit(own$entries, " ")))
  cat(
    nrow(own), "items:", paste(names(table(own$outcome)), table(own$outcome), collapse = ", "),
    "in", sum(own$seconds), "seconds;", sum(lengths(strsplit(own$entries, " "))),
    "calls under collections,", length(reached), "of", length(entries),
    "entry points; not called:", setdiff(entries, reached), "\n"
  )
} else {
  cat(seen$calls, "calls of", length(seen$used), "of", length(entries), "entry points; not called:",
    setdiff(entries, seen$used), "\n")
}
