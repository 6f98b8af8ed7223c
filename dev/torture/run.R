# The campaign against every fault. `make torture MINUTES=5` goes on from where the last
# run stopped; see README.md.
#
#   Rscript dev/torture/run.R inputs <minutes>     random inputs to every function
#   Rscript dev/torture/run.R case <function> <seed>    one of them, in this process
#   Rscript dev/torture/run.R failures             the recorded failures once more
#   Rscript dev/torture/run.R interrupts <minutes> interrupts at random moments
#   Rscript dev/torture/run.R valgrind | sanitizer    every entry point under memory checkers

arguments <- commandArgs(trailingOnly = TRUE)
part <- arguments[1]
dir.create("target/torture", showWarnings = FALSE, recursive = TRUE)
minutes <- as.numeric(arguments[2])

tally_file <- "target/torture/inputs.csv"
failures_file <- "target/torture/failures.csv"
counts <- c("inputs", "right", "accepted", "refused", "failed", "verbs", "seconds")

read_table <- function(file, empty) {
  if (file.exists(file)) utils::read.csv(file, colClasses = unlist(lapply(empty, class))) else empty
}
no_tally <- data.frame(
  fun = character(), last_seed = numeric(), inputs = numeric(), right = numeric(),
  accepted = numeric(), refused = numeric(), failed = numeric(), verbs = numeric(),
  seconds = numeric()
)
no_failures <- data.frame(
  fun = character(), seed = numeric(), kind = character(), where = character(), text = character()
)

# A seed that takes more seconds of the processor than this hangs, and so does one that
# takes ten times as long on a clock: the machine may be busy with other things.
patience <- 60
batch <- 20

start_child <- function(tasks) {
  folder <- tempfile("child")
  dir.create(folder)
  command <- paste(
    "ulimit -v 8000000; Rscript dev/torture/child.R", folder, paste(tasks, collapse = " "),
    ">", file.path(folder, "output"), "2>&1; echo $? >", file.path(folder, "rc")
  )
  system(paste0("sh -c ", shQuote(command), " &"))
  list(folder = folder, tasks = tasks, size = 0, since = Sys.time(), worked = 0)
}

# Seconds of the processor that a process has had, where the system tells.
seconds_of <- function(pid) {
  file <- file.path("/proc", pid, "stat")
  if (length(pid) == 0 || !file.exists(file)) return(0)
  # It may end while it is looked at.
  text <- tryCatch(suppressWarnings(readLines(file)), error = function(e) character())
  if (length(text) == 0) return(0)
  fields <- strsplit(sub(".*[)] ", "", text), " ")[[1]]
  sum(as.numeric(fields[12:13])) / 100
}

# Waits until a child has ended, or has been ended.
watch <- function(child) {
  log <- file.path(child$folder, "log")
  size <- if (file.exists(log)) file.size(log) else 0
  pid_file <- file.path(child$folder, "pid")
  pid <- if (file.exists(pid_file)) readLines(pid_file)
  if (size > child$size) {
    child$size <- size
    child$since <- Sys.time()
    child$worked <- seconds_of(pid)
  }
  child$ended <- file.exists(file.path(child$folder, "rc"))
  waited <- as.numeric(difftime(Sys.time(), child$since, units = "secs"))
  hangs <- seconds_of(pid) - child$worked > patience || waited > 10 * patience
  if (!child$ended && hangs && length(pid)) {
    tools::pskill(as.integer(pid), tools::SIGKILL)
    child$hung <- TRUE
    child$since <- Sys.time()
  }
  child
}

# What a child did: its lines, with a last one for the seed it died of, and the tasks
# that are left.
harvest <- function(child) {
  file <- file.path(child$folder, "log")
  lines <- if (file.exists(file)) strsplit(readLines(file), "\t", fixed = TRUE) else list()
  done <- Filter(function(l) l[[1]] == "done", lines)
  table <- do.call(rbind, lapply(done, function(l) {
    length(l) <- 9
    data.frame(
      fun = l[[2]], seed = as.numeric(l[[3]]), outcome = l[[4]], seconds = as.numeric(l[[5]]),
      verbs = as.numeric(l[[6]]), kind = l[[7]], where = l[[8]], text = l[[9]]
    )
  }))
  last <- if (length(lines)) lines[[length(lines)]] else NULL
  tasks <- child$tasks
  if (is.null(last)) {
    said <- readLines(file.path(child$folder, "output"))
    # Ended from outside before it began: once more.
    if (!isTRUE(child$again)) {
      message("A child could not begin, and is started again: ", paste(said, collapse = " / "))
      return(list(table = NULL, left = tasks, again = TRUE))
    }
    stop("A child could not begin: ", said, call. = FALSE)
  }
  left <- character()
  if (last[[1]] == "began") {
    table <- rbind(table, data.frame(
      fun = last[[2]], seed = as.numeric(last[[3]]), outcome = "failed",
      seconds = if (isTRUE(child$hung)) patience else 0, verbs = 0,
      kind = if (isTRUE(child$hung)) "hang" else "crash", where = "process",
      text = paste(utils::tail(readLines(file.path(child$folder, "output")), 3), collapse = " / ")
    ))
    parts <- strsplit(tasks, ":")
    seed <- as.numeric(last[[3]])
    at <- which(vapply(parts, function(t) {
      t[[1]] == last[[2]] && as.numeric(t[[2]]) <= seed && seed <= as.numeric(t[[3]])
    }, NA))[[1]]
    to <- parts[[at]][[3]]
    if (seed < as.numeric(to)) left <- paste(last[[2]], seed + 1, to, sep = ":")
    left <- c(left, tasks[-seq_len(at)])
  }
  unlink(child$folder, recursive = TRUE)
  list(table = table, left = left)
}

add_up <- function(tally, found) {
  for (fun in unique(found$fun)) {
    own <- found[found$fun == fun, ]
    if (!fun %in% tally$fun) {
      row <- as.list(rep(0, ncol(no_tally) - 1))
      tally <- rbind(tally, data.frame(fun = fun, stats::setNames(row, names(no_tally)[-1])))
    }
    at <- match(fun, tally$fun)
    tally$last_seed[at] <- max(tally$last_seed[at], own$seed)
    tally$inputs[at] <- tally$inputs[at] + nrow(own)
    for (outcome in c("right", "accepted", "refused", "failed")) {
      tally[[outcome]][at] <- tally[[outcome]][at] + sum(own$outcome == outcome)
    }
    tally$verbs[at] <- tally$verbs[at] + sum(own$verbs)
    tally$seconds[at] <- round(tally$seconds[at] + sum(own$seconds), 1)
  }
  tally[order(tally$fun), ]
}

write_tables <- function(tally, failures) {
  utils::write.csv(tally, tally_file, row.names = FALSE)
  utils::write.csv(failures[order(failures$fun, failures$seed), ], failures_file, row.names = FALSE)
}

say <- function(tally, failures) {
  sum_of <- colSums(tally[counts])
  cat(sprintf(
    paste0(
      "%.0f inputs to %d functions and verbs: %.0f right, %.0f accepted, %.0f refused, ",
      "%.0f failed;\n%s\n"
    ),
    sum_of[["inputs"]], nrow(tally), sum_of[["right"]], sum_of[["accepted"]],
    sum_of[["refused"]], sum_of[["failed"]],
    sprintf("%.0f calls of verbs on the answers", sum_of[["verbs"]])
  ))
  if (nrow(failures)) {
    cat(nrow(failures), "failures. Rscript dev/torture/run.R case FUNCTION SEED repeats one:\n")
    print(table(paste(failures$fun, failures$kind)))
  }
}

# Runs queues of tasks until `until`, in as many children as WORKERS says.
run_children <- function(next_tasks, until, take) {
  workers <- as.integer(Sys.getenv("WORKERS", "2"))
  children <- list()
  waiting <- list()
  repeat {
    while (length(children) < workers && Sys.time() < until) {
      tasks <- if (length(waiting)) waiting[[1]] else next_tasks()
      waiting <- waiting[-1]
      if (length(tasks) == 0) break
      child <- start_child(tasks)
      child$again <- attr(tasks, "again")
      children <- c(children, list(child))
    }
    if (length(children) == 0) break
    Sys.sleep(0.2)
    children <- lapply(children, watch)
    ended <- vapply(children, `[[`, NA, "ended")
    for (child in children[ended]) {
      got <- harvest(child)
      if (!is.null(got$table)) take(got$table)
      if (length(got$left)) waiting <- c(waiting, list(structure(got$left, again = got$again)))
    }
    children <- children[!ended]
  }
}

run_inputs <- function() {
  suppressMessages(library(sdcRisk))
  source("dev/torture/load.R")
  names <- ls(draws)
  only <- Sys.getenv("ONLY")
  if (nzchar(only)) names <- intersect(names, strsplit(only, ",")[[1]])
  tally <- read_table(tally_file, no_tally)
  failures <- read_table(failures_file, no_failures)
  given <- stats::setNames(tally$last_seed, tally$fun)
  given[setdiff(names, names(given))] <- 0
  queue <- character()
  next_tasks <- function() {
    if (length(queue) == 0) queue <<- sample(names)
    taken <- utils::head(queue, 10)
    queue <<- setdiff(queue, taken)
    tasks <- sprintf("%s:%.0f:%.0f", taken, given[taken] + 1, given[taken] + batch)
    given[taken] <<- given[taken] + batch
    tasks
  }
  take <- function(found) {
    tally <<- add_up(tally, found)
    new <- found[found$outcome == "failed", names(no_failures)]
    failures <<- rbind(failures, new)
    write_tables(tally, failures)
  }
  run_children(next_tasks, Sys.time() + 60 * minutes, take)
  say(tally, failures)
  if (nrow(failures)) quit(status = 1)
}

# Recorded failures once more; those that are mended leave the table.
run_failures <- function() {
  failures <- read_table(failures_file, no_failures)
  tally <- read_table(tally_file, no_tally)
  queue <- sprintf("%s:%.0f:%.0f", failures$fun, failures$seed, failures$seed)
  open <- no_failures
  next_tasks <- function() {
    tasks <- utils::head(queue, 20)
    queue <<- queue[-seq_along(tasks)]
    tasks
  }
  take <- function(found) {
    # Every child takes its tasks one by one, several of one function among them.
    open <<- rbind(open, found[found$outcome == "failed", names(no_failures)])
  }
  if (nrow(failures)) run_children(next_tasks, Sys.time() + 3600, take)
  cat(nrow(failures), "failures made again,", nrow(open), "still fail\n")
  write_tables(tally, open)
  if (nrow(open)) print(open, right = FALSE)
}

run_case <- function(name, seed) {
  suppressMessages(library(sdcRisk))
  source("dev/torture/load.R")
  grDevices::pdf(NULL)
  set.seed(seed)
  drawn <- draws[[name]]()
  cat(drawn$fun, "\n")
  utils::str(drawn$args, max.level = 2, list.len = 30, vec.len = 6, give.attr = FALSE)
  print(utils::head(rlang::set_names(judge(name, seed))))
}

# A part that is a program of its own.
program <- function(file, ...) {
  quit(status = system2("Rscript", c(file.path("dev", "torture", file), ...)))
}

switch(part,
  inputs = run_inputs(),
  failures = run_failures(),
  case = run_case(arguments[2], as.integer(arguments[3])),
  interrupts = program("interrupts.R", if (is.na(minutes)) 5 else minutes),
  valgrind = ,
  sanitizer = program("checkers.R", part),
  stop("Unknown part: ", part, call. = FALSE)
)
