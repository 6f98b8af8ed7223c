# Interrupts at random moments of every long function, and R's time limits. A call that is
# short is made several times over. Every twenty signals, a known answer is computed again.
#
#   Rscript torture/run.R interrupts <minutes>    goes on until each function has had 200
#       interrupts that hit, or its share of the minutes is over; ONLY=qar_risk,n_matches
#
# The table adds up (`call_seconds`, at most 2, is how long a call takes): signals sent, those that stopped the call (`in_core`: the compiled core
# was at work), those that came too late, R's time limits, the longest time from the signal to
# the stop, answers that were wrong afterwards, and the most threads and megabytes that were
# left.

suppressMessages(library(sdcRisk))
options(sdcRisk.threads = 2)
interrupts_file <- "torture/results/interrupts.csv"
wanted <- as.integer(Sys.getenv("INTERRUPTS", "200"))

long_files <- function() {
  set.seed(52)
  wide <- as.data.frame(lapply(1:16, function(v) sample.int(10 + v, 4e4, TRUE)), col.names = 1:16)
  names(wide) <- paste0("v", 1:16)
  n <- 1e5
  people <- data.frame(
    id = seq_len(n), a = sample(90, n, TRUE), b = sample(200, n, TRUE), c = sample(12, n, TRUE),
    d = sample(30, n, TRUE), e = sample(7, n, TRUE), hh = sample(n / 3, n, TRUE),
    w = stats::runif(n, 1, 90)
  )
  later <- people[sample(n), ]
  later$a <- later$a + stats::rbinom(n, 1, 0.3)
  low <- stats::runif(6000) * 1000
  intervals <- data.frame(z = seq_along(low))
  intervals$i <- candidate_interval(low, low + 300)
  intervals$j <- candidate_interval(rev(low), rev(low) + 400)
  blanks <- people
  for (v in c("a", "b", "c", "d", "e")) blanks[[v]][stats::runif(n) < 0.3] <- NA
  list(
    wide = wide, people = people, part = people[1:20000, ], later = later,
    later_part = later[later$id <= 20000, ], intervals = intervals, blanks = blanks[1:40000, ]
  )
}

files <- long_files()
keys <- c("a", "b", "c", "d", "e")
quiet <- function(code) suppressMessages(suppressWarnings(code))
made <- quiet(list(
  qar = qar_risk(files$wide, p = 2, pi_u = 0.2),
  fit = copula_fit(files$part, keys),
  pram = invariant_pram(files$part[keys], unprotected = "keep")
))

long_calls <- list(
  qar_risk = quote(qar_risk(wide, p = 4)),
  n_matches = quote(n_matches(blanks, keys)),
  n_matches_overlap = quote(n_matches(intervals, c("i", "j"), rule = "overlap")),
  copula_uniqueness = quote(copula_uniqueness(fit, pop_size = c(1e8, 1e9), newdata = people)),
  simulate = quote(simulate(fit, 1e6)),
  invariant_pram = quote(invariant_pram(people, keys, unprotected = "keep")),
  longitudinal_link = quote(longitudinal_link(part, later_part, keys, "id", sensitivity = TRUE)),
  link_attack = quote(link_attack(part, later_part, keys, "id", sensitivity = TRUE)),
  loglinear_risk = quote(loglinear_risk(people, keys, weight_var = "w", model = "search")),
  removal_path = quote(removal_path(qar, wide, 500, by = "proper")),
  suppress_cells = quote(suppress_cells(people, keys, k = 5, rule = "shared")),
  recode_search = quote(recode_search(part, keys, constraint = list(qar = 0.001))),
  file_check = quote(file_check(people, keys, weight_var = "w", hh_id = "hh")),
  sdc_report = quote(sdc_report(pram, qar, file = tempfile(fileext = ".html"))),
  risk_contribution = quote(risk_contribution(qar, wide, entropy = TRUE)),
  household_risk = quote(household_risk(people, keys, "hh", known = 2)),
  exhaustive_tabulation = quote(
    exhaustive_tabulation(wide, names(wide), 1:4, max_tables = 1e9)
  ),
  key_overview = quote(key_overview(wide)),
  individual_risk = quote(individual_risk(people, keys, "w", "hh")),
  copula_fit = quote(copula_fit(wide)),
  copula_uniqueness_copula = quote(
    copula_uniqueness(fit, pop_size = 1e6, newdata = people, score = "copula")
  ),
  uniqueness_by_size = quote(uniqueness_by_size(fit, 1e8)),
  validate_uniqueness = quote(validate_uniqueness(fit, people)),
  population_uniqueness = quote(population_uniqueness(people, keys, 1e7)),
  pram_audit = quote(pram_audit(pram, part[keys], n_sim = 3000)),
  pram_match_prob = quote(pram_match_prob(rep(1:50, 400), 0.4, a = 1:100)),
  suppress_cells_own = quote(suppress_cells(people, keys, k = 5)),
  hierarchy = quote(hierarchy(stats::rnorm(20000))),
  key_stability = quote(key_stability(people, later, keys, "id")),
  longitudinal_risk = quote(
    longitudinal_risk(people, later, keys, keys, "a", "id", weight_var = "w")
  ),
  utility_loss = quote(utility_loss(people, later, keys)),
  latest_values = quote(latest_values(list(people, later), "id"))
)
place <- list2env(c(files, made, list(keys = keys)), parent = globalenv())

# A signal after `delay` seconds, from outside; what it did, and how long after it. A call
# is made `times` times.
stopped <- function(call, delay, times, limit) {
  done <- FALSE
  in_core <- FALSE
  began <- proc.time()[["elapsed"]]
  end <- tryCatch(
    withCallingHandlers(
      {
        if (limit) {
          setTimeLimit(elapsed = delay, transient = TRUE)
        } else {
          system(paste0("(sleep ", delay, "; kill -INT ", Sys.getpid(), ") &"))
        }
        for (i in seq_len(times)) quiet(eval(call, place))
        done <- TRUE
        if (!limit) Sys.sleep(delay + 2)
        "answered"
      },
      # The core tells an interrupt by an answer, which R raises again.
      interrupt = function(i) {
        in_core <<- any(vapply(sys.calls(), function(c) identical(c[[1]], quote(unwrap)), NA))
      }
    ),
    interrupt = function(i) if (done) "late" else "interrupt",
    error = function(e) {
      if (grepl("time limit", conditionMessage(e))) "time limit" else "error"
    }
  )
  setTimeLimit()
  list(end = end, after = proc.time()[["elapsed"]] - began - delay, in_core = in_core)
}

# A field of /proc/self/status.
status_of <- function(field) {
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line))
}
resident <- function() {
  gc(full = TRUE)
  status_of("VmRSS") / 1024
}

known_answer <- function() {
  set.seed(3)
  few <- files$people[1:500, ]
  quiet(list(
    qar_risk(few, keys, p = 2, pi_u = 0.4)$estimates, n_matches(few, keys)$records,
    copula_uniqueness(few, keys, 5000)$estimates, suppress_cells(few, keys, k = 2)$estimates,
    loglinear_risk(few, keys, weight_var = "w")$estimates
  ))
}
right <- known_answer()

counted <- c(
  "signals", "interrupted", "in_core", "late", "time_limits", "other", "answers_checked",
  "wrong_after"
)
measured <- c("longest_seconds", "threads_left", "mb_left")
rows_so_far <- function() {
  if (file.exists(interrupts_file)) utils::read.csv(interrupts_file)
}
# Adds to the row of a function; other processes may write other rows.
add_row <- function(name, seconds, counts, most) {
  rows <- rows_so_far()
  old <- rows[rows$fun == name, ]
  if (NROW(old)) {
    counts <- counts + unlist(old[counted])
    most <- pmax(most, unlist(old[measured]))
  }
  row <- data.frame(fun = name, call_seconds = seconds, t(counts), t(most))
  rownames(row) <- NULL
  rows <- rbind(rows[rows$fun != name, ], row)
  utils::write.csv(rows[order(rows$fun), ], interrupts_file, row.names = FALSE)
  row
}

only <- Sys.getenv("ONLY")
if (nzchar(only)) long_calls <- long_calls[strsplit(only, ",")[[1]]]
minutes <- if (is.na(minutes)) 5 else minutes
per_call <- 60 * minutes / length(long_calls)
set.seed(as.integer(Sys.time()))

for (name in names(long_calls)) {
  until <- Sys.time() + per_call
  old <- rows_so_far()
  hits <- sum(old$interrupted[old$fun == name])
  if (hits >= wanted) next
  call <- long_calls[[name]]
  # What takes longer than two seconds need not be waited for.
  once <- min(vapply(1:2, function(i) {
    system.time(stopped(call, 2, 1, TRUE))[["elapsed"]]
  }, 0))
  times <- max(1, ceiling(0.5 / once))
  latest <- min(0.85 * times * once, 1)
  # Once, so that what a call keeps for later is not counted as lost.
  stopped(call, latest / 2, times, FALSE)
  before <- resident()
  threads <- status_of("Threads")
  while (hits < wanted && Sys.time() < until) {
    ends <- lapply(1:20, function(i) {
      stopped(call, round(stats::runif(1, 0.01, latest), 3), times, i == 20)
    })
    how <- vapply(ends, `[[`, "", "end")
    after <- vapply(ends, `[[`, 0, "after")
    hit <- how %in% c("interrupt", "time limit")
    # Threads that were told to stop need a moment, on a busy machine a long one.
    patient <- Sys.time() + 5
    while (status_of("Threads") > threads && Sys.time() < patient) Sys.sleep(0.1)
    row <- add_row(name, round(once, 2), c(
      signals = 19, interrupted = sum(how == "interrupt"),
      in_core = sum(vapply(ends, `[[`, NA, "in_core")),
      late = sum(how %in% c("answered", "late")), time_limits = sum(how == "time limit"),
      other = sum(how == "error"), answers_checked = 1,
      wrong_after = !identical(quiet(known_answer()), right)
    ), c(
      longest_seconds = round(max(after[hit], 0), 2), threads_left = status_of("Threads") - threads,
      mb_left = round(resident() - before)
    ))
    hits <- row$interrupted
  }
  cat(do.call(paste, rows_so_far()[rows_so_far()$fun == name, ]), "\n")
}
table <- rows_so_far()
print(table, row.names = FALSE)
cat(sum(table$interrupted), "interrupts of", nrow(table), "functions,", sum(table$in_core),
  "in the core;", sum(table$interrupted >= wanted), "functions have had", wanted, "\n")
