# An interrupt stops long work at once and leaves R as it was.

skip_on_cran()

# Evaluates `expr`, with an interrupt sent to this process after `delay`
# seconds. Waits for the interrupt if `expr` is done before it, so that it
# never hits the test that follows.
interrupted <- function(expr, delay = 0.3) {
  began <- proc.time()[["elapsed"]]
  stopped_by <- tryCatch(
    {
      system(paste0("(sleep ", delay, "; kill -INT ", Sys.getpid(), ") &"))
      force(expr)
      done <- TRUE
      Sys.sleep(delay + 2)
      "nothing"
    },
    interrupt = function(i) "interrupt",
    error = function(e) conditionMessage(e)
  )
  list(
    by = stopped_by, before_end = !exists("done", inherits = FALSE),
    after = proc.time()[["elapsed"]] - began
  )
}

expect_stopped <- function(outcome, within = 1.5) {
  expect_identical(outcome$by, "interrupt")
  expect_true(outcome$before_end)
  expect_lt(outcome$after, within)
}

# The package works, and works as it did.
expect_healthy <- function() {
  data <- random_file(100, levels = c(3, 4, 5, 6), missing_rate = 0.1, seed = 51)
  result <- quietly(qar_risk(data, p = 2, pi_u = 0.4))
  expect_oracle(result, oracle_qar(data, p = 2, pi_u = 0.4))
}

skip_unless_signals <- function() {
  skip_on_os("windows")
}

# Half a minute of work.
long_file <- function() {
  set.seed(52)
  as.data.frame(lapply(1:30, function(v) sample.int(10 + v, 2e5, TRUE)), col.names = 1:30)
}

test_that("an interrupt stops the core within a second and the session goes on", {
  skip_unless_signals()
  for (i in 1:2) {
    outcome <- interrupted(sdcRisk:::unwrap(sdcRisk:::rs_wait(20000L, NULL)))
    expect_stopped(outcome)
    expect_gte(outcome$after, 0.25)
  }
  expect_healthy()
})

test_that("an interrupt stops a long qar_risk() and the session goes on", {
  skip_unless_signals()
  data <- long_file()
  expect_stopped(interrupted(qar_risk(data, p = 4)))
  expect_healthy()
  expect_stopped(interrupted(qar_risk(data, p = 4), delay = 0.9), within = 2)
  expect_healthy()
})

test_that("an interrupt stops work that shows its progress", {
  skip_unless_signals()
  old <- options(sdcRisk.progress = TRUE)
  on.exit(options(old))
  data <- long_file()
  shown <- utils::capture.output(type = "message", {
    # Before and after the bar appears.
    early <- interrupted(qar_risk(data, p = 4))
    late <- interrupted(qar_risk(data, p = 4), delay = 1.8)
  })
  expect_stopped(early)
  expect_stopped(late, within = 3)
  expect_false(any(grepl("Error", shown)))
  expect_healthy()
})

test_that("a progress function that asks to stop is an interrupt", {
  stopped <- tryCatch(
    sdcRisk:::unwrap(sdcRisk:::rs_wait(20000L, function(done, total) FALSE)),
    interrupt = function(i) "interrupt"
  )
  expect_identical(stopped, "interrupt")
  expect_healthy()
})

test_that("progress is told in steps that rise to the total", {
  told <- list()
  answer <- sdcRisk:::rs_wait(400L, function(done, total) {
    told <<- c(told, list(c(done, total)))
    TRUE
  })
  expect_true(answer)
  done <- vapply(told, `[[`, 0, 1)
  expect_gte(length(told), 3)
  expect_false(is.unsorted(done))
  expect_true(all(done >= 0 & done <= 400))
  expect_identical(unique(vapply(told, `[[`, 0, 2)), 400)
})

test_that("a bar that is told more than there is, or cannot be drawn, costs no answer", {
  old <- options(sdcRisk.progress = TRUE)
  on.exit(options(old))
  told <- function(...) {
    utils::capture.output(type = "message", answer <- with_progress("Work", {
      Sys.sleep(1.1)
      for (done in c(...)) running$tick(done, 10)
      "answer"
    }))
    answer
  }
  expect_identical(told(12, 13), "answer")
  expect_identical(told(5, NaN), "answer")
})

test_that("progress that is shown changes no result", {
  old <- options(sdcRisk.progress = FALSE)
  on.exit(options(old))
  data <- random_file(100, levels = c(3, 4, 5, 6), seed = 53)
  hidden <- quietly(qar_risk(data, p = 1:3))
  options(sdcRisk.progress = TRUE)
  shown <- quietly(qar_risk(data, p = 1:3))
  expect_identical(shown, hidden)
})

test_that("R's own time limit arrives as R's error", {
  data <- long_file()
  limited <- function(progress) {
    old <- options(sdcRisk.progress = progress)
    on.exit(options(old))
    began <- proc.time()[["elapsed"]]
    caught <- tryCatch(
      {
        setTimeLimit(elapsed = 1.5, transient = TRUE)
        qar_risk(data, p = 4)
      },
      error = identity, interrupt = function(i) "interrupt"
    )
    setTimeLimit()
    # The work would take half a minute.
    expect_lt(proc.time()[["elapsed"]] - began, 8)
    caught
  }
  for (progress in c(FALSE, TRUE)) {
    utils::capture.output(type = "message", caught <- limited(progress))
    expect_s3_class(caught, "simpleError")
    expect_match(conditionMessage(caught), "time limit")
    expect_identical(conditionCall(caught), quote(qar_risk()))
    expect_healthy()
  }
})

test_that("an interrupt stops the matching of intervals and of sets", {
  skip_unless_signals()
  set.seed(5)
  low <- stats::runif(12000) * 1000
  data <- data.frame(z = seq_along(low))
  data$a <- candidate_interval(low, low + 300)
  data$b <- candidate_interval(rev(low), rev(low) + 400)
  expect_stopped(interrupted(n_matches(data, c("a", "b"), rule = "overlap"), delay = 0.6))
  # Too many pairs are refused before any is listed.
  data$a <- candidate_interval(low, low + 2000)
  took <- system.time(
    expect_error(
      n_matches(data, "a", rule = "overlap"), class = "sdcRisk_error_too_large"
    )
  )
  expect_lt(took[["elapsed"]], 3)
  expect_healthy()
})

test_that("R does not jump out of compiled code, and hears the interrupt after it", {
  skip_unless_signals()
  steps <- character()
  # As an entry point that allocates while an interrupt waits: a collection lets R jump.
  entry <- function(...) {
    system(paste0("(sleep 0.1; kill -INT ", Sys.getpid(), ") &"))
    # Sys.sleep() would hear it all the same.
    until <- Sys.time() + 0.5
    while (Sys.time() < until) NULL
    gc()
    steps <<- c(steps, "entry ended")
    "answer"
  }
  by <- tryCatch(
    {
      sdcRisk:::call_core(entry, 1)
      Sys.sleep(2)
      "nothing"
    },
    interrupt = function(i) "interrupt"
  )
  expect_identical(by, "interrupt")
  expect_identical(steps, "entry ended")
  # Arguments are made before that, where an interrupt stops at once.
  outcome <- interrupted(sdcRisk:::call_core(entry, Sys.sleep(20)))
  expect_stopped(outcome)
  expect_identical(steps, "entry ended")
})

test_that("stops at any moment leave no memory behind", {
  skip_unless_signals()
  skip_if_not(file.exists("/proc/self/status"))
  # An answer of 40 MB, which is most of the work.
  long <- quote(pram_match_prob(rep(1:50, 500), 0.4, a = 1:200))
  resident <- function() {
    # R keeps what its last jump returned until its next one.
    tryCatch(stop("another jump"), error = identity)
    gc(full = TRUE)
    line <- grep("^VmRSS:", readLines("/proc/self/status"), value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) / 1024
  }
  took <- system.time(for (i in 1:2) eval(long))[["elapsed"]] / 2
  set.seed(71)
  grown <- vapply(1:2, function(half) {
    before <- resident()
    for (i in 1:15) interrupted(eval(long), delay = round(stats::runif(1, 0.01, took), 3))
    resident() - before
  }, 0)
  # Each answer that was left behind would be 40 MB, in either half; what the allocator keeps once
  # is none.
  expect_lt(min(grown), 50)
})

test_that("no handler takes a time limit for a fault of what it watches", {
  out <- function() stop("reached elapsed time limit")
  limit <- "^reached elapsed time limit$"
  expect_error(sdcRisk:::with_engine(out()), limit)
  expect_error(sdcRisk:::attempt("n_matches", out(), new.env()), limit)
  registerS3method("autoplot", "slow_to_draw", function(...) out(), asNamespace("ggplot2"))
  expect_error(sdcRisk:::quiet_picture(structure(1, class = "slow_to_draw")), limit)
  # Other faults are what they were.
  expect_error(sdcRisk:::with_engine(stop("no such table")), class = "sdcRisk_error_bad_data")
  registerS3method("autoplot", "not_drawn", function(...) stop("no"), asNamespace("ggplot2"))
  expect_null(sdcRisk:::quiet_picture(structure(1, class = "not_drawn")))
})
