# Interrupts at random moments of every long function, and R's time limits. Each call
# takes longer than the latest signal. Afterwards a known answer is computed again.
#
# The table: signals sent, those that stopped the call, the longest time from the signal
# to the stop, answers that were wrong afterwards, threads and megabytes more than before.

suppressMessages(library(sdcRisk))
options(sdcRisk.threads = 2)
interrupts_file <- "torture/results/interrupts.csv"

long_files <- function() {
  set.seed(52)
  wide <- as.data.frame(lapply(1:24, function(v) sample.int(10 + v, 1e5, TRUE)), col.names = 1:24)
  names(wide) <- paste0("v", 1:24)
  n <- 1e5
  people <- data.frame(
    id = seq_len(n), a = sample(90, n, TRUE), b = sample(200, n, TRUE), c = sample(12, n, TRUE),
    d = sample(30, n, TRUE), e = sample(7, n, TRUE), hh = sample(n / 3, n, TRUE),
    w = stats::runif(n, 1, 90)
  )
  later <- people[sample(n), ]
  later$a <- later$a + stats::rbinom(n, 1, 0.3)
  low <- stats::runif(12000) * 1000
  intervals <- data.frame(z = seq_along(low))
  intervals$i <- candidate_interval(low, low + 300)
  intervals$j <- candidate_interval(rev(low), rev(low) + 400)
  blanks <- people
  for (v in c("a", "b", "c", "d", "e")) blanks[[v]][stats::runif(n) < 0.3] <- NA
  list(wide = wide, people = people, later = later, intervals = intervals, blanks = blanks)
}

files <- long_files()
keys <- c("a", "b", "c", "d", "e")
quiet <- function(code) suppressMessages(suppressWarnings(code))
made <- quiet(list(
  qar = qar_risk(files$wide, p = 2, pi_u = 0.2),
  fit = copula_fit(files$people[1:20000, ], keys),
  pram = invariant_pram(files$people[1:20000, keys], unprotected = "keep")
))

long_calls <- with(c(files, made), list(
  qar_risk = quote(qar_risk(wide, p = 4)),
  risk_contribution = quote(risk_contribution(qar, wide, entropy = TRUE)),
  removal_path = quote(removal_path(qar, wide, 2000, by = "proper")),
  n_matches = quote(n_matches(blanks, keys)),
  n_matches_intervals = quote(n_matches(intervals, c("i", "j"), rule = "overlap")),
  household_risk = quote(household_risk(people, keys, "hh", known = 2)),
  exhaustive_tabulation = quote(exhaustive_tabulation(wide, names(wide), 1:4, max_tables = 1e9)),
  key_overview = quote(key_overview(wide)),
  individual_risk = quote(for (i in 1:100) individual_risk(people, keys, "w", "hh")),
  copula_fit = quote(copula_fit(wide)),
  copula_uniqueness = quote(copula_uniqueness(fit, pop_size = c(1e8, 1e9), newdata = people)),
  copula_uniqueness_copula = quote(copula_uniqueness(fit, pop_size = 1e6, newdata = people,
    score = "copula")),
  simulate = quote(for (i in 1:100) simulate(fit, 2e6)),
  uniqueness_by_size = quote(for (i in 1:100) uniqueness_by_size(fit, 1e8)),
  validate_uniqueness = quote(for (i in 1:100) validate_uniqueness(fit, people)),
  population_uniqueness = quote(for (i in 1:100) population_uniqueness(people, keys, 1e7)),
  invariant_pram = quote(for (i in 1:100) invariant_pram(people, keys, unprotected = "keep")),
  pram_audit = quote(pram_audit(pram, people[1:20000, keys], n_sim = 1e6)),
  pram_match_prob = quote(pram_match_prob(rep(1:50, 400), 0.4, a = 1:1000)),
  suppress_cells = quote(suppress_cells(people, keys, k = 5, rule = "shared", n_rounds = 1e6)),
  suppress_cells_own = quote(for (i in 1:100) suppress_cells(people, keys, k = 5)),
  recode_search = quote(recode_search(people, keys, constraint = list(qar = 0.001))),
  hierarchy = quote(for (i in 1:1000) hierarchy(stats::rnorm(20000))),
  longitudinal_link = quote(longitudinal_link(people, later, keys, "id", sensitivity = TRUE)),
  link_attack = quote(link_attack(people, later, keys, "id", sensitivity = TRUE)),
  key_stability = quote(key_stability(people, later, keys, "id")),
  loglinear_risk = quote(for (i in 1:100) loglinear_risk(people, keys, weight_var = "w",
    model = "search")),
  longitudinal_risk = quote(for (i in 1:100) longitudinal_risk(people, later, keys, keys, "a",
    "id", weight_var = "w")),
  file_check = quote(for (i in 1:100) file_check(people, keys, weight_var = "w", hh_id = "hh")),
  utility_loss = quote(for (i in 1:100) utility_loss(people, later, keys)),
  sdc_report = quote(for (i in 1:100) sdc_report(pram, file = tempfile(fileext = ".html"))),
  latest_values = quote(for (i in 1:1000) latest_values(list(people, later), "id"))
))
place <- list2env(c(files, made, list(keys = keys)), parent = globalenv())

# A signal after `delay` seconds, from outside; what it did, and how long after it.
stopped <- function(call, delay, limit) {
  began <- proc.time()[["elapsed"]]
  end <- tryCatch(
    {
      if (limit) {
        setTimeLimit(elapsed = delay, transient = TRUE)
      } else {
        system(paste0("(sleep ", delay, "; kill -INT ", Sys.getpid(), ") &"))
      }
      quiet(eval(call, place))
      done <- TRUE
      if (!limit) Sys.sleep(delay + 2)
      "answered"
    },
    interrupt = function(i) if (exists("done", inherits = FALSE)) "late" else "interrupt",
    error = function(e) {
      if (grepl("time limit", conditionMessage(e))) "time limit" else "error"
    }
  )
  setTimeLimit()
  list(end = end, after = proc.time()[["elapsed"]] - began - delay)
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
  part <- files$people[1:500, ]
  quiet(list(
    qar_risk(part, keys, p = 2, pi_u = 0.4)$estimates, n_matches(part, keys)$records,
    copula_uniqueness(part, keys, 5000)$estimates, suppress_cells(part, keys, k = 2)$estimates,
    loglinear_risk(part, keys, weight_var = "w")$estimates
  ))
}
right <- known_answer()

minutes <- if (is.na(minutes)) 5 else minutes
per_call <- 60 * minutes / length(long_calls)
only <- Sys.getenv("ONLY")
if (nzchar(only)) long_calls <- long_calls[strsplit(only, ",")[[1]]]
set.seed(as.integer(Sys.time()))
delays <- function() round(stats::runif(1, 0.02, 1.2), 3)
rows <- lapply(names(long_calls), function(name) {
  # Once, so that what a call keeps for later is not counted as lost.
  stopped(long_calls[[name]], 1, FALSE)
  before <- resident()
  threads <- status_of("Threads")
  until <- Sys.time() + per_call
  ends <- list()
  wrong <- 0
  while (Sys.time() < until) {
    limit <- length(ends) %% 4 == 3
    ends <- c(ends, list(stopped(long_calls[[name]], delays(), limit)))
    if (length(ends) %% 4 == 0) {
      again <- quiet(known_answer())
      wrong <- wrong + !identical(again, right)
    }
  }
  # Threads that were told to stop need a moment.
  Sys.sleep(2)
  how <- vapply(ends, `[[`, "", "end")
  after <- vapply(ends, `[[`, 0, "after")
  hit <- how %in% c("interrupt", "time limit")
  row <- data.frame(
    fun = name, signals = length(how), interrupted = sum(how == "interrupt"),
    time_limits = sum(how == "time limit"), answered_before = sum(how %in% c("answered", "late")),
    other = sum(how == "error"), median_seconds = round(stats::median(after[hit]), 2),
    longest_seconds = round(max(after[hit], -Inf), 2), wrong_after = wrong,
    threads_left = status_of("Threads") - threads, mb_left = round(resident() - before)
  )
  cat(do.call(paste, row), "\n")
  row
})
table <- do.call(rbind, rows)
utils::write.csv(table, interrupts_file, row.names = FALSE)
print(table)
