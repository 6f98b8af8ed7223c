# Which lines the tests reach, in a table with one row per file, the least reached first:
#   coverage.R run FOLDER      runs the test files that no other process took, on the
#                              installed package, and writes to FOLDER what they reached,
#                              after each file: a run that is stopped is not lost
#   coverage.R report FOLDER   R: all that was written there
#   coverage.R core FILE       the core: a file that llvm-cov wrote in the format of lcov

# What a test starts in another process is not counted. A file of tests belongs to the
# process that makes its folder first. covr hands its counts over when all is done; they are
# read where it keeps them, so that each file of tests leaves what was reached by then.
run_tests <- function(folder) {
  runner <- tempfile(fileext = ".R")
  found_in <- tempfile("found-", folder, ".rds")
  body <- bquote({
    counters <- get(".counters", asNamespace("covr"))
    reached <- function() structure(as.list(counters), class = "coverage")
    for (file in list.files("tests/testthat", "^test-.*[.]R$")) {
      if (dir.create(file.path(.(folder), file), showWarnings = FALSE)) {
        name <- sub("^test-(.*)[.]R$", "\\1", file)
        spent <- system.time(found <- as.data.frame(testthat::test_local(
          ".",
          filter = paste0("^", name, "$"), load_package = "installed",
          reporter = "silent", stop_on_failure = FALSE
        )))
        cat(sprintf(
          "%s: %d passed, %d failed, %d skipped, %.0f s of processor\n", name,
          sum(found$passed), sum(found$failed) + sum(found$error), sum(found$skipped),
          sum(spent[c(1, 2, 4, 5)])
        ))
        saveRDS(reached(), .(paste0(found_in, ".new")))
        file.rename(.(paste0(found_in, ".new")), .(found_in))
      }
    }
  })
  writeLines(deparse(body), runner)
  covr::environment_coverage(asNamespace("sdcRisk"), runner)
}

lines_of_r <- function(folder) {
  found <- lapply(list.files(folder, "^found-.*[.]rds$", full.names = TRUE), readRDS)
  all <- Reduce(function(a, b) {
    for (i in seq_along(a)) a[[i]]$value <- a[[i]]$value + b[[names(a)[[i]]]]$value
    a
  }, found)
  lines <- covr::tally_coverage(all, by = "line")
  lines$file <- basename(lines$filename)
  lines <- lines[lines$file != "extendr-wrappers.R", ]
  # A line with several functions is reached where all of it is.
  stats::aggregate(cbind(reached = value > 0) ~ file + line, lines, min)
}

# Tests are not counted: they are files of their own, or the last part of a file.
lines_of_core <- function(path) {
  text <- readLines(path)
  file <- cumsum(startsWith(text, "SF:"))
  names <- sub("^SF:", "", text[startsWith(text, "SF:")])
  counted <- startsWith(text, "DA:")
  numbers <- strsplit(sub("^DA:", "", text[counted]), ",")
  lines <- data.frame(
    file = names[file[counted]],
    line = as.integer(vapply(numbers, `[[`, "", 1)),
    reached = as.integer(as.double(vapply(numbers, `[[`, "", 2)) > 0)
  )
  core <- "^.*/src/rust/core/src/"
  is_test <- grepl("(^|[/_])(tests|cases)([.]rs$|/)", sub(core, "", lines$file))
  lines <- lines[grepl(core, lines$file) & !is_test, ]
  tests_from <- vapply(unique(lines$file), function(name) {
    at <- which(readLines(name) == "mod tests {")
    if (length(at)) at[[1]] else Inf
  }, 0)
  lines <- lines[lines$line < tests_from[lines$file], ]
  lines$file <- sub(core, "", lines$file)
  lines
}

print_table <- function(lines, what) {
  files <- stats::aggregate(cbind(lines = 1L, reached) ~ file, lines, sum)
  files$percent <- round(100 * files$reached / files$lines, 1)
  print(files[order(files$percent, files$file), ], row.names = FALSE)
  cat(sprintf(
    "%d of %d lines of %s are reached: %.1f%%\n\n", sum(files$reached), sum(files$lines), what,
    100 * sum(files$reached) / sum(files$lines)
  ))
}

arguments <- commandArgs(TRUE)
switch(arguments[[1]],
  run = run_tests(normalizePath(arguments[[2]])),
  report = print_table(lines_of_r(arguments[[2]]), "R"),
  core = print_table(lines_of_core(arguments[[2]]), "the core")
)
