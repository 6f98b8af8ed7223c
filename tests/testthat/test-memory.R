# Too little memory ends a call in an error, and never R.

# What a script says under a limit of so many megabytes of virtual memory beyond what R
# and the package take: its last line, "ended" where R did.
under <- function(mb, code) {
  script <- tempfile(fileext = ".R")
  writeLines(c(
    paste0(".libPaths(", deparse1(.libPaths()), ")"),
    "suppressMessages(library(sdcRisk)); options(sdcRisk.threads = 2)",
    # Threads and R's own work once, before the limit is met.
    "invisible(suppressWarnings(qar_risk(adult[1:2000, 1:4], p = 2, pi_u = 0.1)))",
    code
  ), script)
  rscript <- shQuote(file.path(R.home("bin"), "Rscript"))
  limit <- if (!is.null(mb)) {
    paste0("ulimit -c 0; ulimit -v ", format(loaded() + 1024 * mb, scientific = FALSE), ";")
  }
  said <- suppressWarnings(system2(
    "sh", c("-c", shQuote(paste(limit, "exec", rscript, "--vanilla", script))),
    stdout = TRUE, stderr = FALSE
  ))
  if (is.null(attr(said, "status"))) utils::tail(said, 1) else "ended"
}

# Kilobytes that R takes with the package, once per session: the most of three, as a thread that
# finds no work left sets no memory aside, 64 MB less.
known <- new.env()
loaded <- function() {
  if (is.null(known$kb)) {
    lines <- replicate(3, under(
      NULL, "cat(grep('VmPeak', readLines('/proc/self/status'), value = TRUE))"
    ))
    known$kb <- max(as.numeric(gsub("[^0-9]", "", lines)))
  }
  known$kb
}

tried <- function(call) {
  paste0(
    "cat(tryCatch({", call, "; 'answered'}, sdcRisk_error_too_large = function(e) 'too large', ",
    "error = function(e) if (grepl('allocate|memory', conditionMessage(e))) 'of R' else 'other'))"
  )
}

skip_elsewhere <- function() {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status") && nzchar(Sys.which("sh")))
}

hoard <- function(pieces, bytes) {
  paste0("sdcRisk:::unwrap(sdcRisk:::rs_hoard(", pieces, "L, ", bytes, "L))")
}

test_that("memory that runs out bit by bit ends the call", {
  skip_elsewhere()
  # 400 MB in pieces that the standard library asks for.
  for (bytes in c(1000, 4000, 1e6)) {
    expect_identical(under(200, tried(hoard(4e8 / bytes, bytes))), "too large")
  }
  expect_identical(under(1000, tried(hoard(400, 1e6))), "answered")
})

test_that("each of two threads finds memory in reserve, whatever is left", {
  skip_elsewhere()
  # 64 MB are an arena of the C library: what is left may go to one thread as a whole.
  for (mb in rep(c(40, 104, 136), each = 2)) {
    expect_identical(under(mb, tried(hoard(4e5, 1000))), "too large", label = paste(mb, "MB"))
  }
})

test_that("a call that found no memory leaves R as it was", {
  skip_elsewhere()
  code <- c(
    paste0("hoard <- function() inherits(try(", hoard(4e5, 1000), ", silent = TRUE), 'try-error')"),
    "failed <- c(hoard(), hoard())",
    "found <- suppressWarnings(qar_risk(adult[1:2000, 1:4], p = 2, pi_u = 0.1))$estimates$risk",
    "cat(all(failed), format(found, digits = 15))"
  )
  here <- suppressWarnings(qar_risk(adult[1:2000, 1:4], p = 2, pi_u = 0.1))
  right <- format(here$estimates$risk, digits = 15)
  expect_identical(under(200, code), paste(c("TRUE", right), collapse = " "))
})

test_that("methods on a file of uniques are answered or refused under every limit", {
  skip_elsewhere()
  skip_if_not(identical(Sys.getenv("SDCRISK_EXTENDED"), "true"), "SDCRISK_EXTENDED is not true")
  data <- paste0(
    "set.seed(1); n <- 1e5; keys <- letters[1:5]; data <- as.data.frame(lapply(",
    "c(a = 90, b = 200, c = 12, d = 30, e = 7), function(k) sample.int(k, n, TRUE)))"
  )
  calls <- c(
    "suppress_cells(data, keys, k = 3)",
    "recode_search(data, keys, constraint = list(k = 2), suppress = 0.3)",
    "copula_uniqueness(data, keys, pop_size = 5e7)",
    "exhaustive_tabulation(data, keys, 1:3)",
    "invariant_pram(data, keys, unprotected = 'keep')"
  )
  all_ends <- lapply(calls, function(call) {
    ends <- vapply(c(60, 120, 250), function(mb) {
      under(mb, c(data, tried(paste0("suppressMessages(", call, ")"))))
    }, "")
    good <- c("answered", "too large", "of R")
    expect_true(all(ends %in% good), label = paste(call, toString(ends)))
    ends
  })
  # The least limit is one.
  expect_gte(sum(vapply(all_ends, `[[`, "", 1) == "too large"), 2)
})
