# Prints which share of the lines of R the tests reach, file by file, the least first.

Sys.setenv(NOT_CRAN = "true")
found <- covr::package_coverage(type = "tests", quiet = FALSE, line_exclusions = list(
  "R/extendr-wrappers.R", "src/entrypoint.c"
))
lines <- covr::tally_coverage(found, by = "line")
files <- stats::aggregate(
  cbind(n = 1, reached = lines$value > 0), list(file = lines$filename), sum
)
files$percent <- round(100 * files$reached / files$n, 1)
print(files[order(files$percent), ], row.names = FALSE)
cat(sprintf(
  "%d of %d lines of R are reached by the tests: %.1f %%\n",
  sum(files$reached), sum(files$n), 100 * sum(files$reached) / sum(files$n)
))
