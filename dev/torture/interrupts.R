# Interrupts at random moments of every long function, and R's time limits. A call that is
# short is made several times over. Every twenty signals, a known answer is computed again,
# threads are counted, and memory.
#
#   Rscript dev/torture/interrupts.R <minutes>    goes on until each function has had 200
#       interrupts that hit, or its share of the minutes is over; ONLY=qar_risk,n_matches
#       names functions, WORKERS=2 is how many run at a time, each in a process of its own
#   Rscript dev/torture/interrupts.R child <function> <seconds>    one of them, in this process
#
# The table adds up. A function has one row:
#
# | column | means |
# |---|---|
# | call_seconds | how long a call takes (at most 2 are waited for) |
# | signals | interrupts sent |
# | interrupted | those that stopped the call; `in_core` while the compiled core was at work |
# | late, other | those that came after its end; an error came first |
# | time_limits | R's time limits that stopped it |
# | answers_checked, wrong_after | known answers computed afterwards, and wrong ones |
# | ended_r | processes that ended before their time |
# | longest_seconds | the longest time from a signal to the stop, on a clock |
# | longest_processor | the longest, in seconds of the processor that all threads worked |
# | longest_in | the function that was running when R heard of that one |
# | threads_left | most threads more than before, 5 seconds after the last stop |
# | mb_left | most megabytes resident more than before |
# | mb_trimmed | the same after the C library has given back what is free |
# | mb_of_r | most megabytes more in use by R's heap |

arguments <- commandArgs(trailingOnly = TRUE)
interrupts_file <- "target/torture/interrupts.csv"
wanted <- as.integer(Sys.getenv("INTERRUPTS", "200"))
keys <- c("a", "b", "c", "d", "e")
quiet <- function(code) suppressMessages(suppressWarnings(code))

# Files and results are made when a call asks for them.
place <- new.env(parent = globalenv())
given <- function(...) {
  made <- as.list(substitute(list(...)))[-1]
  for (name in names(made)) {
    eval(bquote(delayedAssign(.(name), quiet(.(made[[name]])), place, place)))
  }
}
people_of <- function(n) {
  set.seed(52)
  data.frame(
    id = seq_len(n), a = sample(90, n, TRUE), b = sample(200, n, TRUE), c = sample(12, n, TRUE),
    d = sample(30, n, TRUE), e = sample(7, n, TRUE), hh = sample(n / 3, n, TRUE),
    w = stats::runif(n, 1, 90)
  )
}
later_of <- function(people) {
  set.seed(53)
  later <- people[sample(nrow(people)), ]
  later$a <- later$a + stats::rbinom(nrow(later), 1, 0.3)
  later
}
wide_of <- function(n) {
  set.seed(54)
  wide <- as.data.frame(lapply(1:16, function(v) sample.int(10 + v, n, TRUE)), col.names = 1:16)
  stats::setNames(wide, paste0("v", 1:16))
}
with_blanks <- function(people) {
  for (v in keys) people[[v]][stats::runif(nrow(people)) < 0.3] <- NA
  people
}
intervals_of <- function(n) {
  set.seed(55)
  low <- stats::runif(n) * 1000
  intervals <- data.frame(z = seq_along(low))
  intervals$i <- candidate_interval(low, low + 300)
  intervals$j <- candidate_interval(rev(low), rev(low) + 400)
  intervals
}
in_sqlite <- function(people) {
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(connection, "people", people)
  dplyr::tbl(connection, "people")
}
report_of <- function(...) {
  log <- tempfile(fileext = ".html")
  sdc_report(..., file = log)
  log
}
given(
  many = people_of(3e5), people = people_of(1e5), some = people_of(20000), few = people_of(4000),
  least = people_of(500), later = later_of(people), some_later = later_of(some),
  few_later = later_of(few), least_later = later_of(least), wide = wide_of(40000),
  blanks = with_blanks(people), intervals = intervals_of(2000), remote = in_sqlite(some),
  lists = lapply(people$a[1:40000], function(v) v + 0:3),
  qar = qar_risk(wide, p = 2, pi_u = 0.2), fit = copula_fit(some, keys),
  pram = invariant_pram(some[keys], unprotected = "keep"), log = report_of(qar)
)

long_calls <- list(
  qar_risk = quote(qar_risk(wide, p = 4)),
  qar_risk_lazy = quote(qar_risk(remote, keys, p = 3)),
  n_matches = quote(n_matches(many, keys)),
  n_matches_blanks = quote(n_matches(blanks, keys)),
  n_matches_overlap = quote(n_matches(intervals, c("i", "j"), rule = "overlap")),
  n_matches_lazy = quote(n_matches(remote, keys)),
  copula_fit = quote(copula_fit(many, keys)),
  copula_uniqueness = quote(copula_uniqueness(fit, pop_size = 5e5, newdata = few)),
  copula_uniqueness_copula = quote(
    copula_uniqueness(fit, pop_size = 5e5, newdata = few, score = "copula")
  ),
  uniqueness_by_size = quote(uniqueness_by_size(fit, 1e5)),
  validate_uniqueness = quote(validate_uniqueness(fit, people)),
  simulate = quote(simulate(fit, 1e6)),
  invariant_pram = quote(invariant_pram(some, keys, unprotected = "keep")),
  perturbation_risk = quote(perturbation_risk(some[keys], pram = pram, pop_size = 1e6)),
  pram_audit = quote(pram_audit(pram, some[keys], n_sim = 500)),
  pram_match_prob = quote(pram_match_prob(rep(1:50, 500), 0.4, a = 1:200)),
  longitudinal_link = quote(longitudinal_link(some, some_later, keys, "id", sensitivity = TRUE)),
  link_attack = quote(link_attack(some, some_later, keys, "id", sensitivity = TRUE)),
  longitudinal_risk = quote(
    longitudinal_risk(least, least_later, keys, keys, "a", "id", weight_var = "w")
  ),
  joint_release_risk = quote(joint_release_risk(list(some, some_later), "id", keys)),
  key_stability = quote(key_stability(people, later, keys, "id")),
  change_indicators = quote(change_indicators(people, later, keys, "id")),
  change_moments = quote(change_moments(list(people, later), "id", keys)),
  latest_values = quote(latest_values(list(people, later), "id")),
  microaggregate = quote(microaggregate(
    data.frame(x = stats::runif(2e5), y = stats::runif(2e5), z = stats::runif(2e5)), x:z
  )),
  utility_loss = quote(utility_loss(people, later, keys)),
  loglinear_risk = quote(loglinear_risk(people, keys, weight_var = "w")),
  loglinear_risk_search = quote(loglinear_risk(some, keys, weight_var = "w", model = "search")),
  removal_path = quote(removal_path(qar, wide, 5000, by = "proper")),
  risk_contribution = quote(risk_contribution(qar, wide, entropy = TRUE)),
  exhaustive_tabulation = quote(
    exhaustive_tabulation(wide, names(wide)[1:11], 1:4, max_tables = 1e9)
  ),
  key_overview = quote(key_overview(many, keys)),
  individual_risk = quote(individual_risk(many, keys, "w", "hh")),
  special_uniques = quote(special_uniques(wide, names(wide)[1:20])),
  attribute_risk = quote(attribute_risk(many, keys[-1], keys[1], released = many)),
  attack_release = quote(attack_release(many, many, keys[-1], keys[1])),
  population_risk = quote(population_risk(many, keys, weight_var = "w")),
  household_risk = quote(household_risk(many, keys, "hh", known = 2)),
  population_uniqueness = quote(population_uniqueness(many, keys, 1e8)),
  pattern_table = quote(pattern_table(many, keys)),
  suppress_cells = quote(suppress_cells(some, keys, k = 5)),
  suppress_cells_shared = quote(suppress_cells(few, keys, k = 5, rule = "shared")),
  recode_search = quote(recode_search(few, keys, constraint = list(qar = 0.001))),
  recode_search_blanks = quote(
    recode_search(few, keys, constraint = list(k = 3), suppress = 0.3)
  ),
  hierarchy = quote(hierarchy(stats::rnorm(20000))),
  candidates = quote(candidates(lists)),
  file_check = quote(file_check(some, keys, weight_var = "w", hh_id = "hh")),
  sdc_report = quote(sdc_report(qar, file = tempfile(fileext = ".html"))),
  replay = quote(replay(log, wide))
)

counted <- c(
  "signals", "interrupted", "in_core", "late", "time_limits", "other", "answers_checked",
  "wrong_after", "ended_r"
)
measured <- c(
  "longest_seconds", "longest_processor", "threads_left", "mb_left", "mb_trimmed", "mb_of_r"
)
rows_so_far <- function() {
  if (file.exists(interrupts_file)) utils::read.csv(interrupts_file)
}
# Adds to the row of a function. Other processes write other rows, one at a time.
add_row <- function(name, counts, most, seconds = NA, longest_in = "") {
  lock <- paste0(interrupts_file, ".lock")
  patient <- Sys.time() + 10
  while (!dir.create(lock, showWarnings = FALSE) && Sys.time() < patient) Sys.sleep(0.05)
  on.exit(unlink(lock, recursive = TRUE))
  rows <- rows_so_far()
  old <- rows[rows$fun == name, ]
  all_counts <- stats::setNames(rep(0, length(counted)), counted)
  all_most <- stats::setNames(rep(0, length(measured)), measured)
  all_counts[names(counts)] <- counts
  all_most[names(most)] <- most
  if (NROW(old)) {
    if (old$longest_processor >= all_most[["longest_processor"]]) longest_in <- old$longest_in
    if (is.na(seconds)) seconds <- old$call_seconds
    all_counts <- all_counts + unlist(old[counted])
    all_most <- pmax(all_most, unlist(old[measured]))
  }
  row <- data.frame(
    fun = name, call_seconds = seconds, t(all_counts), t(all_most[1:2]), longest_in = longest_in,
    t(all_most[-(1:2)]), row.names = NULL
  )
  rows <- rbind(rows[rows$fun != name, ], row)
  utils::write.csv(rows[order(rows$fun), ], interrupts_file, row.names = FALSE)
  row
}

# Seconds of the processor in a line of /proc/<pid>/stat.
worked_in <- function(stat) {
  sum(as.numeric(strsplit(sub(".*[)] ", "", stat), " ")[[1]][12:13])) / 100
}
uptime <- function() as.numeric(strsplit(readLines("/proc/uptime"), " ")[[1]][[1]])

# A signal after `delay` seconds, from outside; what it did, and how long after it. A call
# is made `times` times.
stopped <- function(call, delay, times, limit) {
  done <- FALSE
  stack <- list()
  sent <- tempfile("sent")
  own <- Sys.getpid()
  began <- proc.time()
  end <- tryCatch(
    withCallingHandlers(
      {
        if (limit) {
          setTimeLimit(elapsed = delay, transient = TRUE)
        } else {
          system(paste0(
            "(sleep ", delay, "; read s < /proc/", own, "/stat; read u x < /proc/uptime; ",
            "echo \"$s\" > ", sent, "; echo \"$u\" >> ", sent, "; kill -INT ", own, ") &"
          ))
        }
        how <- tryCatch(
          {
            for (i in seq_len(times)) quiet(eval(call, place))
            "answered"
          },
          error = function(e) {
            stack <<- sys.calls()
            if (limit && grepl("time limit", conditionMessage(e))) return("time limit")
            message("Error: ", conditionMessage(e))
            "error"
          }
        )
        done <- TRUE
        # A signal that is still on its way must not hit what follows.
        if (limit) setTimeLimit() else Sys.sleep(delay + 60)
        how
      },
      interrupt = function(i) stack <<- sys.calls()
    ),
    interrupt = function(i) if (!done) "interrupt" else if (how == "error") "error" else "late",
    # A time limit that came just after the end.
    error = function(e) "late"
  )
  setTimeLimit()
  names <- vapply(stack, function(c) deparse(c[[1]], nlines = 1)[[1]], "")
  ours <- intersect(names, ls(asNamespace("sdcRisk"), all.names = TRUE))
  after <- (proc.time() - began)[["elapsed"]] - delay
  worked <- 0
  if (!limit) {
    lines <- readLines(sent)
    after <- uptime() - as.numeric(lines[[2]])
    worked <- worked_in(readLines("/proc/self/stat")) - worked_in(lines[[1]])
    unlink(sent)
  }
  # The core tells an interrupt by an answer, which R raises again.
  list(
    end = end, after = after, worked = worked, in_core = end == "interrupt" && "unwrap" %in% names,
    place = paste(utils::tail(setdiff(ours, c("unwrap", "quiet")), 2), collapse = "/")
  )
}

known_answer <- function() {
  records <- place$least
  quiet(list(
    qar_risk(records, keys, p = 2, pi_u = 0.4)$estimates, n_matches(records, keys)$records,
    copula_uniqueness(records, keys, 5000)$estimates,
    suppress_cells(records, keys, k = 2)$estimates,
    loglinear_risk(records, keys, weight_var = "w")$estimates
  ))
}

run_child <- function(name, seconds) {
  old <- rows_so_far()
  hits <- sum(old$interrupted[old$fun == name])
  if (hits >= wanted) return(invisible())
  suppressMessages(library(sdcRisk))
  source("dev/torture/held.R")
  options(sdcRisk.threads = 2)
  grDevices::pdf(NULL)
  allocator()
  known <- function() {
    set.seed(3)
    known_answer()
  }
  right <- known()
  set.seed(as.integer(Sys.time()) + Sys.getpid())
  until <- Sys.time() + seconds
  call <- long_calls[[name]]
  for (file in intersect(all.vars(call), ls(place))) force(place[[file]])
  # What takes longer than two seconds need not be waited for. Once before it is measured, so
  # that what a first call keeps is not counted as lost.
  took <- function() system.time(ended <<- stopped(call, 2, 1, TRUE)$end)[["elapsed"]]
  once <- min(took(), took())
  if (ended == "error") stop(name, "() is refused", call. = FALSE)
  latest <- function(once) min(0.9 * ceiling(0.2 / once) * once, 2)
  stopped(call, latest(once) / 2, ceiling(0.2 / once), FALSE)
  trimmed <- function() {
    invisible(.C("trimmed", integer(1)))
    figures()
  }
  gc(full = TRUE)
  before <- trimmed()
  threads <- status_of("Threads")
  while (hits < wanted && Sys.time() < until) {
    # The machine may be busy now, and idle later.
    now <- took()
    times <- ceiling(0.2 / now)
    ends <- lapply(1:20, function(i) {
      stopped(call, round(stats::runif(1, 0.01, latest(now)), 3), times, i == 20)
    })
    how <- vapply(ends, `[[`, "", "end")
    hit <- how %in% c("interrupt", "time limit")
    after <- vapply(ends, `[[`, 0, "after") * hit
    worked <- vapply(ends, `[[`, 0, "worked") * hit
    # Threads that were told to stop need a moment, on a busy machine a long one.
    patient <- Sys.time() + 5
    while (status_of("Threads") > threads && Sys.time() < patient) Sys.sleep(0.1)
    threads_left <- status_of("Threads") - threads
    # R keeps what its last jump returned, and the frames that hangs on, until its next one.
    tryCatch(stop("another jump"), error = identity)
    left <- figures() - before
    row <- add_row(
      name,
      c(
        signals = 19, interrupted = sum(how == "interrupt"),
        in_core = sum(vapply(ends, `[[`, NA, "in_core")),
        late = sum(how %in% c("answered", "late")), time_limits = sum(how == "time limit"),
        other = sum(how == "error"), answers_checked = 1,
        wrong_after = !identical(known(), right)
      ),
      c(
        longest_seconds = round(max(after), 2), longest_processor = round(max(worked), 2),
        threads_left = threads_left, mb_left = left[["resident"]],
        mb_trimmed = (trimmed() - before)[["resident"]], mb_of_r = left[["r_in_use"]]
      ),
      round(once, 2), ends[[which.max(worked)]]$place
    )
    hits <- row$interrupted
  }
  cat(do.call(paste, rows_so_far()[rows_so_far()$fun == name, ]), "\n")
}

run_all <- function(minutes) {
  names <- names(long_calls)
  only <- Sys.getenv("ONLY")
  if (nzchar(only)) names <- strsplit(only, ",")[[1]]
  rows <- rows_so_far()
  # Those first that have had least.
  had <- vapply(names, function(name) sum(rows$interrupted[rows$fun == name]), 0)
  names <- names(sort(had[had < wanted]))
  workers <- as.integer(Sys.getenv("WORKERS", "2"))
  share <- 60 * minutes * workers / max(1, length(names))
  parallel::mclapply(names, mc.cores = workers, mc.preschedule = FALSE, function(name) {
    status <- system2("Rscript", c("dev/torture/interrupts.R", "child", name, share))
    if (status != 0) add_row(name, c(ended_r = 1), numeric())
  })
  table <- rows_so_far()
  print(table, row.names = FALSE)
  cat(sum(table$interrupted), "interrupts of", nrow(table), "functions,", sum(table$in_core),
    "in the core;", sum(table$interrupted >= wanted), "functions have had", wanted, "\n")
}

if (identical(arguments[1], "child")) {
  run_child(arguments[[2]], as.numeric(arguments[[3]]))
} else {
  run_all(if (length(arguments)) as.numeric(arguments[[1]]) else 5)
}
