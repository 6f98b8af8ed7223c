# Talking to the compiled core: errors, threads, progress, seeds.

# Raises the error a call into the core came back with.
unwrap <- function(x) {
  if (!inherits(x, "sdcRisk_rust_error")) {
    return(x)
  }
  if (identical(x$kind, "interrupted")) {
    if (inherits(x$condition, "error")) {
      # R's own error, such as that of setTimeLimit(), as R raised it.
      x$condition["call"] <- list(bare_call())
      stop(x$condition)
    }
    rlang::interrupt()
  }
  advice <- if (identical(x$kind, "internal")) {
    c(i = "This is a bug in sdcRisk. Please report it with the call.")
  }
  stop_sdc(x$kind, c(core_message(x$message), advice))
}

# Parses a message of the core line by line: the requirement, then the finding, and after ">" the
# advice.
core_message <- function(text) {
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
  advice <- startsWith(lines, "> ")
  lines[advice] <- substring(lines[advice], 3)
  rlang::set_names(lines, c("", ifelse(advice, "i", "x")[-1]))
}

# An error of R's time limits, told in the language of the session, ends what is going on:
# no handler may take it for a fault of what it watches.
pass_on_time_limit <- function(e) {
  limits <- paste("reached", c("", "session "), rep(c("elapsed", "CPU"), each = 2), "time limit")
  limits <- gsub("  ", " ", limits)
  if (conditionMessage(e) %in% c(limits, vapply(limits, gettext, "", domain = "R"))) stop(e)
}

#' Set the number of threads
#'
#' Long computations run on several threads of the processor. Results never
#' depend on their number, and neither do random numbers.
#'
#' The number is the option `sdcRisk.threads`, 2 by default:
#' `options(sdcRisk.threads = 4)`.
#'
#' @return The number of threads, an integer. An option that is not a whole
#'   number from 1 to 1024 is an error of class `sdcRisk_error_bad_argument`.
#' @export
#' @examples
#' sdc_threads() # 2 unless the option says otherwise
sdc_threads <- function() {
  check_whole(getOption("sdcRisk.threads", 2L), "options(sdcRisk.threads)", high = 1024)
}

# Calls an entry point of the core: threads and progress are added, and what went
# wrong is raised.
core <- function(entry, ...) {
  unwrap(call_core(entry, ..., list(threads = sdc_threads(), tick = listen)))
}

# Calls compiled code, out of which R must not jump: after a garbage collection of any of
# its values R would, where an interrupt waits, and memory and values would be left behind.
call_core <- function(entry, ...) {
  # Arguments are made here, where that can be interrupted.
  list(...)
  suspendInterrupts(entry(...))
}

# Callback of the core while it works: the only place that handles interrupts and time limits.
listen <- function(done, total) {
  goes_on <- is.null(running$tick) || running$tick(done, total)
  allowInterrupts(Sys.sleep(0))
  goes_on
}

# The version of the package, without a look into its files.
own_version <- function() getNamespaceVersion("sdcRisk")[["version"]]

running$tick <- NULL
# Seeds that replay() takes from a log, to be drawn next.
running$seeds <- list()

# Runs `code`, whose calls into the core are watched. The bar appears after one
# second.
with_progress <- function(label, code) {
  if (!isTRUE(getOption("sdcRisk.progress", interactive()))) {
    return(code)
  }
  bar <- NULL
  here <- environment()
  began <- proc.time()[["elapsed"]]
  # The answer is there: a bar that cannot be drawn does not take it away.
  on.exit(if (!is.null(bar)) {
    tryCatch(cli::cli_progress_done(id = bar, .envir = here), error = function(e) NULL)
  })
  draw <- function(done, total) {
    if (proc.time()[["elapsed"]] - began < 1 || total <= 0) {
      return(TRUE)
    }
    if (is.null(bar)) {
      old <- options(cli.progress_show_after = 0)
      on.exit(options(old))
      bar <<- cli::cli_progress_bar(label, total = total, .auto_close = FALSE, .envir = here)
    }
    cli::cli_progress_update(set = min(done, total), total = total, id = bar, .envir = here)
    TRUE
  }
  # A method within a method has no bar of its own.
  if (!is.null(running$tick)) {
    return(code)
  }
  on.exit(running$tick <- NULL, add = TRUE)
  # A bar that cannot be drawn is no reason to stop. Interrupts and time limits
  # wait until the core asks for them.
  running$tick <- function(done, total) {
    suspendInterrupts(tryCatch(draw(done, total), error = function(e) TRUE))
  }
  code
}

# Eight 32-bit draws of R's generator: set.seed() governs all random numbers. A
# result keeps these, never the generator's state: from that the draws before it
# could be read, those of a release among them.
draw_seed <- function() {
  note_seed(function() {
    if (length(running$seeds) == 0) {
      return(floor(stats::runif(8, 0, 2^32)))
    }
    seed <- running$seeds[[1]]
    running$seeds <- running$seeds[-1]
    seed
  })
}

# R's own random numbers from a drawn seed, so that they can be drawn again.
with_drawn_seed <- function(code) {
  seed <- draw_seed()
  state <- random_state()
  on.exit(assign(".Random.seed", state, envir = globalenv()))
  set.seed(
    seed[[1]] %/% 2,
    kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection"
  )
  force(code)
}

random_state <- function() {
  if (!exists(".Random.seed", globalenv(), inherits = FALSE)) set.seed(NULL)
  get(".Random.seed", globalenv(), inherits = FALSE)
}

# A seed would undo the release.
keeps_no_seed <- function(name) name == "invariant_pram"

# A seed that was drawn is noted by every function that is running; numbers drawn
# from R's generator besides cannot be repeated from it.
note_seed <- function(draw) {
  notes <- running_asked()
  before <- random_state()
  for (asked in notes) {
    if (!identical(before, asked$state)) asked$elsewhere <- TRUE
  }
  seed <- draw()
  secret <- any(vapply(notes, function(asked) keeps_no_seed(asked$name), NA))
  for (asked in notes) {
    asked$state <- random_state()
    if (!secret) asked$seeds <- c(asked$seeds, list(seed))
  }
  seed
}
