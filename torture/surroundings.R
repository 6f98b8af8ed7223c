# The same calls in every surrounding that a script may meet: forks and other processes,
# options, locales, no home, no standard input. Answers must be those of a plain R session, and
# whatever is done with them must not fail.
#
#   Rscript torture/surroundings.R          all; ONLY=fork,locale_tr names surroundings
#   Rscript torture/surroundings.R child <folder> <way>   one of them, in this process
#
# | column | means |
# |---|---|
# | calls | calls made, with their prints, summaries and sentences, three with their pictures |
# | equal | those whose answers were identical to the plain session's |
# | differ, failed | those that were not, those that ended in an error (or, with warn = 2, a warning) |
# | which | the functions of these |
# | in_home | files left in the home, which is empty at the start |

arguments <- commandArgs(trailingOnly = TRUE)
surroundings_file <- "torture/results/surroundings.csv"

# Futures have generators of their own.
seeded <- function(seed) {
  set.seed(seed, "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
}
small_files <- function() {
  seeded(61)
  n <- 300
  words <- c("i", "I", "\u0131", "\u0130", "\u00e4", "\u00c4", "a", "z", "\u00df", "\u011f", "10", "9")
  people <- data.frame(
    id = seq_len(n), age = sample(18:60, n, TRUE), town = sample(words, n, TRUE),
    sex = factor(sample(c("f", "m"), n, TRUE)), job = sprintf("%03d", sample(30, n, TRUE)),
    half = sample(seq(0.5, 4, 0.5), n, TRUE), hh = sample(100, n, TRUE), w = sample(5:40, n, TRUE)
  )
  later <- people[sample(n), ]
  later$age <- later$age + stats::rbinom(n, 1, 0.3)
  blanks <- people
  blanks$town[1:20] <- NA
  list(people = people, later = later, blanks = blanks)
}

calls_to_make <- list(
  key_overview = quote(key_overview(people, keys)),
  qar_risk = quote(qar_risk(people, keys, p = 2, pi_u = 0.4)),
  risk_contribution = quote(
    risk_contribution(qar_risk(people, keys, p = 2, pi_u = 0.4), people)
  ),
  removal_path = quote(removal_path(qar_risk(people, keys, p = 2, pi_u = 0.4), people, 5)),
  exhaustive_tabulation = quote(exhaustive_tabulation(people, keys, 1:2)),
  n_matches = quote(n_matches(blanks, keys)),
  individual_risk = quote(individual_risk(people, keys, "w")),
  household_risk = quote(household_risk(people, keys[1:3], "hh")),
  loglinear_risk = quote(loglinear_risk(people, keys[1:3], weight_var = "w")),
  population_uniqueness = quote(population_uniqueness(people, keys[1:3], 20000)),
  copula_fit = quote(copula_fit(people, keys)),
  simulate = quote(simulate(copula_fit(people, keys), 200)),
  copula_uniqueness = quote(copula_uniqueness(people, keys, pop_size = 5000)),
  invariant_pram = quote(invariant_pram(people, keys[1:3], unprotected = "keep")),
  suppress_cells = quote(suppress_cells(people, keys[1:3], k = 2)),
  hierarchy_text = quote(hierarchy(people$town)),
  hierarchy_numbers = quote(hierarchy(people$half)),
  recode_search = quote(recode_search(people, keys[1:3], constraint = list(k = 2), suppress = 0.1)),
  longitudinal_link = quote(longitudinal_link(people, later, keys[1:3], "id")),
  link_attack = quote(link_attack(people, later, keys[1:3], "id")),
  key_stability = quote(key_stability(people, later, keys, "id")),
  change_indicators = quote(change_indicators(people, later, keys, "id")),
  longitudinal_risk = quote(
    longitudinal_risk(people, later, keys[1:2], keys[1:2], "age", "id", weight_var = "w")
  ),
  utility_loss = quote(utility_loss(people, later, keys[1:3])),
  file_check = quote(file_check(people, keys, weight_var = "w", hh_id = "hh")),
  pattern_table = quote(pattern_table(people, keys[1:3])),
  pattern_text = quote(n_matches(pattern_table(people, keys[1:3]))),
  candidates = quote(candidates(lapply(people$age, function(v) v + 0:2))),
  report = quote(logged(qar_risk(people, keys, p = 2, pi_u = 0.4)))
)
keys <- c("age", "town", "sex", "job", "half")
# Pictures take longer than all the rest.
drawn <- c("qar_risk", "n_matches", "link_attack")

# What a report logs, but for its time and its place.
logged <- function(result) {
  file <- tempfile(fileext = ".html")
  sdc_report(result, file = file)
  log <- jsonlite::fromJSON(sub("html$", "json", file), simplifyVector = FALSE)
  list(
    results = lapply(log$results, function(r) r[setdiff(names(r), c("call", "made", "time"))])
  )
}

# What data a result holds: what is no data belongs to its process, texts for people follow
# OutDec, and code is what R reads in it.
data_of <- function(x) {
  if (is.list(x)) {
    x <- unclass(x)
    x[names(x) %in% c("text", "reason", "next_steps")] <- NULL
    if (is.list(x$code)) x$code <- lapply(x$code, function(code) pieces(parse(text = code)))
    return(lapply(x, data_of))
  }
  if (typeof(x) %in% c("externalptr", "environment", "closure", "language", "symbol")) {
    return(NULL)
  }
  attributes(x) <- attributes(x)[names(attributes(x)) %in% c("levels", "dim", "names")]
  if (is.character(x)) enc2utf8(x) else x
}

# The names and constants of code, in order.
pieces <- function(code) {
  if (is.call(code) || is.expression(code)) return(lapply(as.list(code), pieces))
  if (is.symbol(code)) as.character(code) else code
}

shown <- function(x, name) {
  utils::capture.output({
    print(x)
    if (inherits(x, "sdc_result")) {
      print(summary(x))
      print(interpret(x))
    }
    # grid itself cannot place text with such a scipen.
    if (name %in% drawn && getOption("scipen") >= 0) {
      picture <- tryCatch(ggplot2::autoplot(x), sdcRisk_error = function(e) NULL)
      if (!is.null(picture)) print(picture)
    }
  })
}

# Each call with what is shown of its answer: its data, or the words of a failure.
answers <- function(functions = names(calls_to_make)) {
  place <- list2env(c(files, list(keys = keys, logged = logged)), parent = globalenv())
  lapply(stats::setNames(functions, functions), function(name) {
    seeded(7)
    tryCatch(
      {
        # With warn = 2 warnings of R's own are errors; those of the package are heard.
        x <- withCallingHandlers(
          suppressMessages(eval(calls_to_make[[name]], place)),
          sdcRisk_warning = function(w) tryInvokeRestart("muffleWarning")
        )
        grDevices::pdf(NULL)
        on.exit(grDevices::dev.off())
        withCallingHandlers(
          suppressMessages(shown(x, name)),
          sdcRisk_warning = function(w) tryInvokeRestart("muffleWarning")
        )
        data_of(x)
      },
      error = function(e) structure(conditionMessage(e), class = "failure")
    )
  })
}

with_set <- function(...) {
  force(list(...))
  function() {
    options(...)
    answers()
  }
}
# Names are shared out, as users share out their files.
shared <- function(map) function() do.call(c, unname(map(as.list(names(calls_to_make)), answers)))
in_other_r <- function(names) {
  callr::r(
    function(names, script) {
      commandArgs <- function(...) "sourced"
      source(script, local = environment())
      answers(names)
    },
    list(names = names, script = "torture/surroundings.R"), libpath = .libPaths()
  )
}
by_future <- function(plan) {
  function() {
    future::plan(plan, workers = 2)
    on.exit(future::plan("sequential"))
    halves <- split(names(calls_to_make), rep(1:2, length.out = length(calls_to_make)))
    script <- normalizePath("torture/surroundings.R")
    jobs <- lapply(unname(halves), function(names) {
      future::future(
        {
          commandArgs <- function(...) "sourced"
          source(script, local = TRUE)
          answers(names)
        },
        globals = list(names = names, script = script), packages = "sdcRisk", seed = TRUE
      )
    })
    do.call(c, lapply(jobs, future::value))
  }
}

# `how`: what the child does; `env`, `before`, `after`: of its process.
way <- function(how = answers, env = character(), redirect = "") {
  list(how = how, env = env, redirect = redirect)
}
ways <- function() {
  locale <- function(name, language = "") {
    way(env = c(
      paste0("LOCPATH=", file.path(dirname(tempdir()), "sdcrisk-locales")),
      paste0("LC_ALL=", name), paste0("LANGUAGE=", language)
    ))
  }
  list(
    plain = way(), again = way(),
    fork = way(shared(function(x, f) parallel::mclapply(x, f, mc.cores = 2))),
    fork_after_use = way(function() {
      answers()
      shared(function(x, f) parallel::mclapply(x, f, mc.cores = 2))()
    }),
    callr = way(function() in_other_r(names(calls_to_make))),
    future_multisession = way(by_future("multisession")),
    future_multicore = way(by_future("multicore")),
    warn_2 = way(with_set(warn = 2)), digits_3 = way(with_set(digits = 3)),
    digits_22 = way(with_set(digits = 22)), comma = way(with_set(OutDec = ",")),
    scipen_99 = way(with_set(scipen = 99)), scipen_minus_9 = way(with_set(scipen = -9)),
    width_20 = way(with_set(width = 20)), width_400 = way(with_set(width = 400)),
    strings_as_factors = way(with_set(stringsAsFactors = TRUE)),
    na_fail = way(with_set(na.action = "na.fail")),
    one_thread = way(with_set(sdcRisk.threads = 1)),
    many_threads = way(with_set(sdcRisk.threads = 16)),
    progress = way(with_set(sdcRisk.progress = TRUE)),
    locale_c = locale("C"), locale_c_utf8 = locale("C.UTF-8"),
    locale_de = locale("de_DE.UTF-8", "de"), locale_de_latin1 = locale("de_DE.ISO-8859-1", "de"),
    locale_tr = locale("tr_TR.UTF-8"),
    # Nothing can be written there, not even by root.
    no_home = way(env = c("HOME=/sys", "R_USER=/sys", "XDG_CACHE_HOME=/sys")),
    no_input = way(redirect = "< /dev/null"), closed_input = way(redirect = "<&-")
  )
}

make_locales <- function() {
  folder <- file.path(dirname(tempdir()), "sdcrisk-locales")
  dir.create(folder, showWarnings = FALSE)
  for (l in list(c("de_DE", "UTF-8"), c("tr_TR", "UTF-8"), c("de_DE", "ISO-8859-1"))) {
    to <- file.path(folder, paste(l, collapse = "."))
    if (!dir.exists(to)) system2("localedef", c("-f", l[[2]], "-i", l[[1]], to))
  }
}

files <- small_files()
suppressMessages(library(sdcRisk))

if (identical(arguments[1], "child")) {
  if (is.null(getOption("sdcRisk.threads"))) options(sdcRisk.threads = 2)
  how <- ways()[[arguments[[3]]]]$how
  saveRDS(
    list(answers = how(), locale = Sys.getlocale()),
    file.path(arguments[[2]], paste0(arguments[[3]], ".rds"))
  )
}

run_surroundings <- function() {
  make_locales()
  folder <- tempfile("surroundings")
  dir.create(folder)
  all <- ways()
  only <- Sys.getenv("ONLY")
  if (nzchar(only)) all <- all[c("plain", strsplit(only, ",")[[1]])]
  rows <- lapply(names(all), function(name) {
    home <- file.path(folder, paste0("home-", name))
    dir.create(home)
    env <- c(paste0("HOME=", home), all[[name]]$env)
    status <- system(paste(
      "env", paste(env, collapse = " "), "Rscript torture/surroundings.R child", folder, name,
      all[[name]]$redirect
    ))
    out <- file.path(folder, paste0(name, ".rds"))
    written <- length(list.files(home, all.files = TRUE, no.. = TRUE))
    if (!file.exists(out)) {
      return(data.frame(
        surrounding = name, calls = length(calls_to_make), equal = 0, differ = 0,
        failed = length(calls_to_make), which = paste("R ended with", status), in_home = written
      ))
    }
    got <- readRDS(out)
    plain <- readRDS(file.path(folder, "plain.rds"))$answers
    failed <- vapply(names(plain), function(f) inherits(got$answers[[f]], "failure"), NA)
    equal <- mapply(identical, got$answers[names(plain)], plain) & !failed
    for (f in names(plain)[failed]) cat(name, f, got$answers[[f]], "\n")
    for (f in names(plain)[!failed & !equal]) {
      cat(name, f, utils::head(all.equal(plain[[f]], got$answers[[f]]), 3), sep = "\n  ")
    }
    row <- data.frame(
      surrounding = name, calls = length(plain), equal = sum(equal),
      differ = sum(!equal & !failed), failed = sum(failed),
      which = paste(names(plain)[!equal], collapse = " "), in_home = written
    )
    cat(name, row$equal, "of", row$calls, "equal,", row$failed, "failed;", got$locale, "\n")
    row
  })
  table <- do.call(rbind, rows)
  if (nzchar(only) && file.exists(surroundings_file)) {
    before <- utils::read.csv(
      surroundings_file, na.strings = NULL, colClasses = c(which = "character")
    )
    table <- rbind(before[!before$surrounding %in% table$surrounding, ], table)
  }
  table <- table[order(match(table$surrounding, names(ways()))), ]
  utils::write.csv(table, surroundings_file, row.names = FALSE)
  print(table, row.names = FALSE)
  if (any(table$equal < table$calls)) quit(status = 1)
}

if (length(arguments) == 0) run_surroundings()
