# How much memory a call takes beyond its data, per record, beside what its help page says:
#   Rscript benchmarks/memory.R                every function
#   Rscript benchmarks/memory.R n_matches      those named
# writes benchmarks/results/memory.csv, and fails where a page says nothing, less than was
# measured, or more than three times as much.
#
# Every line is a process of its own, which makes a small call first, so that what is loaded
# once is not counted, reads the file and what the call needs besides, and makes the call.
# Counted is the peak of resident memory during the call, less what was resident before it;
# the answer is part of it.
#
# A page says "at most 60 bytes a record", of five key variables, two threads, and the worst
# of the files below.

arguments <- commandArgs(trailingOnly = TRUE)
memory_file <- "benchmarks/results/memory.csv"
keys <- c("a", "b", "c", "d", "e")

# `few`: 5,000 cells; `unique`: nearly every record its own cell; `text`: `few` in words;
# `blanks`: `unique`, 5 % missing.
draw_people <- function(kind, n) {
  set.seed(21)
  sizes <- if (kind %in% c("unique", "blanks")) c(90, 200, 12, 30, 7) else c(5, 7, 12, 4, 3)
  data <- as.data.frame(lapply(stats::setNames(sizes, keys), function(k) sample.int(k, n, TRUE)))
  if (kind == "text") data[] <- lapply(data, function(v) paste("level", v))
  if (kind == "blanks") data[] <- lapply(data, function(v) replace(v, stats::runif(n) < 0.05, NA))
  data$id <- seq_len(n)
  data$hh <- sample.int(max(1, n %/% 3), n, TRUE)
  data$w <- stats::runif(n, 1, 90)
  data
}
later_wave <- function(data) {
  set.seed(22)
  later <- data[sample.int(nrow(data)), ]
  rownames(later) <- NULL
  moved <- stats::runif(nrow(data)) < 0.2
  later$a[moved] <- sample(later$a[moved])
  later
}

# For each call: the page that states its memory, its kinds of file, records, what comes
# before, the call.
complete <- c("few", "unique", "text")
every <- c(complete, "blanks")
calls <- list(
  key_overview = list(every, 1e6, NULL, quote(key_overview(data, keys))),
  n_matches = list(every, 1e6, NULL, quote(n_matches(data, keys))),
  individual_risk = list(every, 1e6, NULL, quote(individual_risk(data, keys, "w", "hh"))),
  household_risk = list(complete, 1e6, NULL, quote(household_risk(data, keys, "hh"))),
  population_uniqueness = list(every, 1e6, NULL, quote(population_uniqueness(data, keys, 1e8))),
  qar_risk = list(every, 1e6, NULL, quote(qar_risk(data, keys, p = 3, pi_u = 0.1))),
  risk_contribution = list(
    every, 1e6, quote(x <- qar_risk(data, keys, p = 3, pi_u = 0.2)),
    quote(risk_contribution(x, data))
  ),
  removal_path = list(
    every, 1e6, quote(x <- qar_risk(data, keys, p = 3, pi_u = 0.2)),
    quote(removal_path(x, data, 100))
  ),
  exhaustive_tabulation = list(every, 1e6, NULL, quote(exhaustive_tabulation(data, keys, 1:3))),
  copula_fit = list(complete, 1e6, NULL, quote(copula_fit(data, keys))),
  copula_uniqueness = list(
    complete, 1e6, NULL, quote(copula_uniqueness(data, keys, pop_size = 2 * nrow(data)))
  ),
  validate_uniqueness = list(
    complete, 1e6, quote(x <- copula_fit(data[seq_len(nrow(data) / 4), ], keys)),
    quote(validate_uniqueness(x, data))
  ),
  simulate = list("few", 1e6, quote(x <- copula_fit(data, keys)), quote(simulate(x, nrow(data)))),
  loglinear_risk = list(
    complete, 1e6, NULL,
    quote(loglinear_risk(data, keys, weight_var = "w", model = "independence"))
  ),
  invariant_pram = list(
    complete, 1e6, NULL, quote(invariant_pram(data, keys, unprotected = "keep"))
  ),
  pram_audit = list(
    complete, 1e6, quote(x <- invariant_pram(data, keys, unprotected = "keep")),
    quote(pram_audit(x, data, n_sim = 5))
  ),
  pram_variance = list(
    complete, 1e6, quote(x <- invariant_pram(data, keys, unprotected = "keep")),
    quote(pram_variance(x, data))
  ),
  `suppress_cells own` = list(every, 1e6, NULL, quote(suppress_cells(data, keys, k = 3))),
  `suppress_cells shared` = list(
    every, 2e5, NULL, quote(suppress_cells(data, keys, k = 3, rule = "shared", n_rounds = 2))
  ),
  `suppress_cells strict` = list(
    every, 2e5, NULL, quote(suppress_cells(data, keys, k = 3, rule = "strict", n_rounds = 2))
  ),
  recode_search = list(
    complete, 2e5, NULL,
    quote(recode_search(data, keys, constraint = list(k = 2), suppress = 0.3))
  ),
  longitudinal_link = list(
    complete, 2e5, quote(later <- later_wave(data)),
    quote(longitudinal_link(data, later, keys, "id"))
  ),
  link_attack = list(
    complete, 2e5, quote(later <- later_wave(data)), quote(link_attack(data, later, keys, "id"))
  ),
  key_stability = list(
    complete, 2e5, quote(later <- later_wave(data)), quote(key_stability(data, later, keys, "id"))
  ),
  change_indicators = list(
    every, 1e6, quote(later <- later_wave(data)),
    quote(change_indicators(data, later, keys, "id"))
  ),
  longitudinal_risk = list(
    "few", 2e5, quote(later <- later_wave(data)),
    quote(longitudinal_risk(
      data, later, keys, keys, "a", "id", weight_var = "w", model = "independence"
    ))
  ),
  utility_loss = list(
    every, 1e6, quote(later <- later_wave(data)), quote(utility_loss(data, later, keys))
  ),
  file_check = list(
    every, 1e6, NULL, quote(file_check(data, keys, weight_var = "w", hh_id = "hh"))
  ),
  pattern_table = list(every, 1e6, NULL, quote(pattern_table(data, keys))),
  candidates = list(
    "few", 1e6, quote(sets <- lapply(data$a, function(v) v + 0:3)), quote(candidates(sets))
  ),
  `candidates intervals` = list("few", 1e6, NULL, quote(candidate_interval(data$w, data$w + 1))),
  hierarchy = list("few", 1e6, NULL, quote(hierarchy(data$a))),
  latest_values = list(
    complete, 1e6, quote(later <- later_wave(data)), quote(latest_values(list(data, later), "id"))
  ),
  birth_month = list(
    "few", 1e6, quote({
      # Four answers a person, a year apart.
      answers <- data.frame(
        id = rep(seq_len(nrow(data) / 4), each = 4), year = rep(2001:2004, nrow(data) / 4),
        month = data$c
      )
      answers$age <- answers$year - 1960 - (answers$month < data$a)
    }), quote(birth_month(answers, "id", "year", "month", "age"))
  )
)

# Resident memory in bytes: now, and at most since `forget_peak()`.
resident <- function(field) {
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
forget_peak <- function() writeLines("5", "/proc/self/clear_refs")

quiet <- function(code) suppressMessages(suppressWarnings(code))
# The file and what comes before the call.
prepared <- function(call, kind, n) {
  suppressMessages(library(sdcRisk))
  options(sdcRisk.threads = 2)
  place <- list2env(list(data = draw_people(kind, n)), parent = globalenv())
  quiet(eval(call[[3]], place))
  place
}

run_child <- function(name, kind, file) {
  call <- calls[[name]]
  small <- prepared(call, kind, 2000)
  quiet(eval(call[[4]], small))
  large <- list2env(readRDS(file), parent = globalenv())
  gc(full = TRUE)
  gc(full = TRUE)
  before <- resident("VmRSS")
  forget_peak()
  quiet(answer <- eval(call[[4]], large))
  cat(
    "RESULT", resident("VmHWM") - before, as.numeric(utils::object.size(answer)),
    nrow(large$data), "\n"
  )
}

# What a page says: the largest of its "at most N bytes a record", or that of a rule.
stated <- function(name) {
  page <- sub(" .*", "", name)
  rule <- if (page == "suppress_cells") paste0(" under \\code{\"", sub(".* ", "", name), "\"}")
  if (page == "simulate") page <- "simulate.sdc_copula_fit"
  text <- gsub("\\s+", " ", paste(readLines(file.path("man", paste0(page, ".Rd"))), collapse = " "))
  found <- regmatches(text, gregexpr("at most [0-9,]+ bytes a record[^.,;]*", text))[[1]]
  if (length(rule)) found <- found[endsWith(found, rule)]
  if (length(found) == 0) return(NA_real_)
  max(as.numeric(gsub(",", "", sub("at most ([0-9,]+) .*", "\\1", found))))
}

run_all <- function(names) {
  rows <- NULL
  for (name in names) {
    call <- calls[[name]]
    for (kind in call[[1]]) {
      file <- tempfile(fileext = ".rds")
      saveRDS(as.list(prepared(call, kind, call[[2]])), file, compress = FALSE)
      gc()
      said <- system2("Rscript", c("benchmarks/memory.R", "child", shQuote(name), kind, file),
        stdout = TRUE, stderr = FALSE)
      unlink(file)
      line <- grep("^RESULT", said, value = TRUE)
      if (length(line) == 0) stop("no result: ", name, " ", kind, call. = FALSE)
      found <- as.numeric(strsplit(line, " ", fixed = TRUE)[[1]][2:4])
      row <- data.frame(
        call = name, file = kind, rows = found[[3]],
        bytes_a_record = round(found[[1]] / found[[3]], 1),
        answer_bytes = round(found[[2]] / found[[3]], 1), stated = stated(name)
      )
      cat(do.call(paste, row), "\n")
      rows <- rbind(rows, row)
    }
  }
  rows
}

if (identical(arguments[1], "child")) {
  run_child(arguments[[2]], arguments[[3]], arguments[[4]])
} else {
  source("benchmarks/machine.R")
  asked <- if (length(arguments)) arguments else names(calls)
  rows <- run_all(asked)
  if (file.exists(memory_file)) {
    old <- utils::read.csv(memory_file, comment.char = "#")
    rows <- rbind(old[!old$call %in% asked, ], rows)
  }
  rows <- rows[order(match(rows$call, names(calls))), ]
  write_results(rows, memory_file)
  rows <- rows[rows$call %in% asked, ]
  most <- tapply(rows$bytes_a_record, rows$call, max)
  said <- tapply(rows$stated, rows$call, max)
  wrong <- names(most)[is.na(said) | most > said | said > 3 * pmax(most, 16)]
  if (length(wrong)) stop("The pages are not right: ", toString(wrong), call. = FALSE)
}
