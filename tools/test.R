# Runs the tests of the installed package, or of the files that an argument matches, and
# prints a closing line; with TESTTHAT_PARALLEL=false the slowest files too.

filter <- commandArgs(trailingOnly = TRUE)
results <- testthat::test_local(
  ".",
  filter = if (length(filter)) filter[[1]], load_package = "installed", reporter = "check",
  stop_on_failure = FALSE
)
table <- as.data.frame(results)
# Files that run side by side have no times.
if (identical(Sys.getenv("TESTTHAT_PARALLEL"), "false")) {
  seconds <- sort(tapply(table$real, table$file, sum), decreasing = TRUE)
  cat("\nSlowest files, in seconds:\n")
  print(round(head(seconds, 20)))
}
failed <- sum(table$failed) + sum(table$error)
cat(sprintf(
  "\ntestthat: %d passed, %d failed, %d skipped\n",
  sum(table$passed), failed, sum(table$skipped)
))
if (failed > 0) quit(status = 1)
