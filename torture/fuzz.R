# Very many tiny texts and tables, in this process, to what reads them: formulas of
# models, hierarchies, candidates, logs. Each case knows what its answer must be.
#
#   Rscript torture/run.R fuzz <minutes>, with ONLY=formula,log for some of them
#
# `results/fuzz.csv` adds up, a row per draw, and its runs go on with the next seed;
# `distinct` counts within each 2,000. The
# package's conditions are raised without the trace and the layout that make them slow
# (a refusal takes six milliseconds with them); one case in a thousand is judged with them
# too, and must come to the same.

fuzz_file <- "torture/results/fuzz.csv"
fuzz_draws <- c("formula", "hierarchy", "candidates", "log")

suppressMessages(library(sdcRisk))
core <- asNamespace("sdcRisk")
quiet <- function(code) suppressMessages(suppressWarnings(code))
draws <- list()
for (part in c("data", "calls-texts", "fuzz-cases")) {
  source(file.path("torture", paste0(part, ".R")))
}

own_conditions <- mget(c("stop_sdc", "inform_sdc", "warn_sdc"), core)
bare_conditions <- list(
  stop_sdc = function(kind, message, ...) {
    stop(structure(
      list(message = paste(message, collapse = "\n"), call = NULL, ...),
      class = c(paste0("sdcRisk_error_", kind), "sdcRisk_error", "error", "condition")
    ))
  },
  # What is said is made, and nobody listens.
  inform_sdc = function(kind, message, ...) invisible(paste(message, collapse = "\n")),
  warn_sdc = function(kind, message, ...) invisible(paste(message, collapse = "\n"))
)
use_conditions <- function(given) {
  for (name in names(given)) {
    unlockBinding(name, core)
    assign(name, given[[name]], core)
  }
}

# What became of a case: right, accepted (nothing to compare with), refused, or in which
# words it failed.
judge_case <- function(case) {
  found <- tryCatch(list(value = case$call()), sdcRisk_error = identity, error = function(e) {
    paste0("error of R's own: ", conditionMessage(e))
  }, warning = function(w) paste0("warning of R's own: ", conditionMessage(w)))
  if (is.character(found)) {
    return(found)
  }
  if (inherits(found, "sdcRisk_error")) {
    if (inherits(found, "sdcRisk_error_internal")) {
      return(paste0("internal: ", conditionMessage(found)))
    }
    return(if (isTRUE(case$valid)) paste("refused:", conditionMessage(found)) else "refused")
  }
  if (isFALSE(case$valid)) {
    return("taken, and it should not be")
  }
  if (is.null(case$check)) {
    return("accepted")
  }
  wrong <- tryCatch(case$check(found$value), error = function(e) conditionMessage(e))
  if (is.null(wrong)) "right" else paste("wrong:", wrong)
}

quietly <- function(code) {
  withCallingHandlers(
    code, sdcRisk_message = function(m) tryInvokeRestart("muffleMessage"),
    sdcRisk_warning = function(w) tryInvokeRestart("muffleWarning")
  )
}

draw_case <- function(name, seed) {
  set.seed(seed)
  fuzz[[name]]()
}

# With the package's own conditions.
judge_slowly <- function(name, seed) {
  use_conditions(own_conditions)
  on.exit(use_conditions(bare_conditions))
  case <- draw_case(name, seed)
  call <- case$call
  case$call <- function() quietly(call())
  judge_case(case)
}

# Judges the next `n` seeds of a draw, and adds them up.
run_some <- function(name, n) {
  none <- data.frame(
    draw = fuzz_draws, last_seed = 0, right = 0, accepted = 0, refused = 0, failed = 0,
    distinct = 0, seconds = 0
  )
  read <- function() if (file.exists(fuzz_file)) utils::read.csv(fuzz_file) else none
  first <- read()$last_seed[[match(name, fuzz_draws)]]
  counts <- c(right = 0, accepted = 0, refused = 0, failed = 0)
  keys <- character(n)
  began <- proc.time()[["elapsed"]]
  for (i in seq_len(n)) {
    seed <- first + i
    case <- draw_case(name, seed)
    outcome <- judge_case(case)
    keys[[i]] <- case$key
    if (seed %% 1000 == 0 && outcome %in% names(counts)) {
      again <- judge_slowly(name, seed)
      if (!identical(again, outcome)) outcome <- paste(outcome, "or", again)
    }
    if (!outcome %in% names(counts)) {
      cat(name, seed, outcome, "\n")
      outcome <- "failed"
    }
    counts[[outcome]] <- counts[[outcome]] + 1
  }
  # Another process may have written its own row since.
  done <- read()
  at <- match(name, done$draw)
  done[at, names(counts)] <- done[at, names(counts)] + counts
  done$last_seed[[at]] <- first + n
  done$distinct[[at]] <- done$distinct[[at]] + length(unique(keys))
  done$seconds[[at]] <- round(done$seconds[[at]] + proc.time()[["elapsed"]] - began, 1)
  utils::write.csv(done, fuzz_file, row.names = FALSE)
}

run_fuzz <- function(minutes) {
  only <- Sys.getenv("ONLY")
  asked <- if (nzchar(only)) strsplit(only, ",")[[1]] else fuzz_draws
  use_conditions(bare_conditions)
  for (name in asked) {
    until <- Sys.time() + 60 * minutes / length(asked)
    if (name == "log") {
      set.seed(1)
      begin_logs()
    }
    while (Sys.time() < until) run_some(name, 2000)
  }
  print(utils::read.csv(fuzz_file))
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments)) run_fuzz(as.numeric(arguments[[1]]))
