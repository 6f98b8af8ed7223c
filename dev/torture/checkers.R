# Every entry point, called twice, under programs that watch its memory.
#
#   Rscript dev/torture/checkers.R valgrind     memcheck, with the installed package
#   Rscript dev/torture/checkers.R sanitizer    the address sanitizer, with a build of its own in
#       target/sanitizer, by the nightly rustc that RUSTUP_TOOLCHAIN or rustup names, and with
#       gcc's libasan
#
# `target/torture/checkers.csv` counts what was found. Of memcheck, an error or a block that
# is lost for sure is ours if it has a frame in our shared object; those of a bare R are
# counted separately. First each checker is shown faults that it must find.

checkers_file <- "target/torture/checkers.csv"

keep <- function(checker, source, said, seconds, what) {
  row <- data.frame(checker = checker, source = source, reached(said), seconds = seconds, what)
  now <- if (file.exists(checkers_file)) utils::read.csv(checkers_file)
  now <- rbind(now[!(now$checker == checker & now$source == source), ], row)
  utils::write.csv(now[order(now$checker, now$source), ], checkers_file, row.names = FALSE)
  print(row, row.names = FALSE)
  row
}

# How far the calls came, from what they print at their end.
reached <- function(said) {
  line <- grep("calls of .* entry points; not called", said, value = TRUE)
  status <- attr(said, "status")
  number <- function(pattern) if (length(line)) as.integer(sub(pattern, "\\1", line)) else NA
  data.frame(
    ended = if (is.null(status)) "yes" else paste("status", status),
    calls = number("^([0-9]+) calls.*"), entry_points = number(".*calls of ([0-9]+) of.*")
  )
}

quiet_run <- function(command, arguments, environment = character()) {
  began <- proc.time()[["elapsed"]]
  said <- suppressWarnings(
    system2(command, arguments, stdout = TRUE, stderr = TRUE, env = environment)
  )
  writeLines(utils::tail(said, 2))
  list(said = said, seconds = round(proc.time()[["elapsed"]] - began))
}

# Reports of memcheck, which blank lines divide.
memcheck_reports <- function(log) {
  text <- sub("^==[0-9]+== ?", "", readLines(log))
  blocks <- split(text, cumsum(!nzchar(text)))
  errors <- paste0(
    "^ *(Invalid|Conditional jump|Use of uninit|Mismatched|Source and dest|Syscall|Jump to|",
    "Argument '|Process terminating)"
  )
  lost <- vapply(blocks, function(b) any(grepl("definitely lost in loss record", b)), NA)
  error <- vapply(blocks, function(b) any(grepl(errors, b)), NA)
  # A frame names its source, and not its object, where it knows it.
  ours <- vapply(blocks, function(b) any(grepl("sdcRisk[.]so|[.]rs:[0-9]+[)]", b)), NA)
  for (block in blocks[ours & (lost | error)]) writeLines(block)
  known <- sub(".*from ([0-9]+)[)].*", "\\1", grep("^ERROR SUMMARY", text, value = TRUE))
  data.frame(
    errors_ours = sum(error & ours), lost_ours = sum(lost & ours),
    errors_others = sum(error & !ours), lost_others = sum(lost & !ours),
    suppressed = if (length(known)) as.integer(known) else NA
  )
}

memcheck <- function(source, r_arguments) {
  log <- tempfile(fileext = ".log")
  options <- paste0(
    "valgrind --log-file=", log, " --num-callers=40 --leak-check=full",
    " --show-leak-kinds=definite --error-limit=no --suppressions=dev/torture/memcheck.supp"
  )
  run <- quiet_run("R", c("-d", shQuote(options), "--no-echo", "--no-restore", r_arguments))
  found <- memcheck_reports(log)
  keep("memcheck", source, run$said, run$seconds, found)
}

# A shared object of our name that reads behind its block, and loses one.
wrong_library <- function() {
  folder <- tempfile("wrong")
  dir.create(folder)
  writeLines(c(
    "#include <stdlib.h>", "#include <Rinternals.h>",
    "SEXP wrong(void) {", "  volatile char *block = malloc(40);", "  char behind = block[40];",
    "  block = 0;", "  return ScalarInteger(behind != 0);", "}"
  ), file.path(folder, "wrong.c"))
  system2("R", c(
    "CMD", "SHLIB", "-o", file.path(folder, "sdcRisk.so"), file.path(folder, "wrong.c")
  ), stdout = FALSE, env = "PKG_LIBS=-Wl,-S")
  file.path(folder, "sdcRisk.so")
}

run_valgrind <- function() {
  code <- sprintf("dyn.load('%s'); invisible(.Call('wrong'))", wrong_library())
  found <- memcheck("a wrong read, a lost block", c("-e", shQuote(code)))
  if (found$errors_ours == 0 || found$lost_ours == 0) {
    stop("memcheck does not find what is wrong on purpose.", call. = FALSE)
  }
  memcheck("R alone", c("-e", shQuote("invisible(1)")))
  memcheck("library(sdcRisk)", c("-e", shQuote("suppressMessages(library(sdcRisk))")))
  found <- memcheck("every entry point", c("-f", "dev/torture/entry-points.R"))
  quit(status = as.integer(found$ended != "yes" || found$errors_ours + found$lost_ours > 0))
}

# Reports of the sanitizer that name our shared object in a frame.
sanitized <- function(source, r_arguments) {
  log <- file.path(normalizePath("target/sanitizer"), "report")
  unlink(Sys.glob(paste0(log, ".*")))
  preload <- system2("gcc", "-print-file-name=libasan.so", stdout = TRUE)
  run <- quiet_run("Rscript", r_arguments, c(
    paste0("LD_PRELOAD=", preload),
    paste0("ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1:log_path=", log),
    paste0("R_LIBS=", normalizePath("target/sanitizer/library"), ":", Sys.getenv("R_LIBS"))
  ))
  reports <- lapply(Sys.glob(paste0(log, ".*")), readLines)
  ours <- vapply(reports, function(text) any(grepl("sdcRisk[.]so|sdcrisk", text)), NA)
  for (report in reports) writeLines(utils::head(report, 40))
  keep("address sanitizer", source, run$said, run$seconds, data.frame(
    errors_ours = sum(ours), lost_ours = NA, errors_others = sum(!ours), lost_others = NA,
    suppressed = NA
  ))
}

run_sanitizer <- function() {
  build <- function(wrong) {
    if (system2("sh", "dev/torture/sanitizer.sh", env = paste0("WRONG=", wrong)) != 0) {
      stop("The build failed.", call. = FALSE)
    }
  }
  # In the copy, rs_expected_inverse() reads behind a block.
  build("yes")
  call <- "sdcRisk:::rs_expected_inverse(as.double(1:4), as.double(5:8))"
  if (sanitized("a wrong read", c("-e", shQuote(call)))$errors_ours == 0) {
    stop("The sanitizer does not find what is wrong on purpose.", call. = FALSE)
  }
  build("")
  found <- sanitized("every entry point", "dev/torture/entry-points.R")
  quit(status = as.integer(found$ended != "yes" || found$errors_ours > 0))
}

switch(commandArgs(TRUE)[[1]], valgrind = run_valgrind(), sanitizer = run_sanitizer())
