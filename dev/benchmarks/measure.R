# Measures one task in a process of its own:
#   Rscript dev/benchmarks/measure.R <task> <fixture> <threads> <repeats> [<more>]
# prints seconds of every repeat, the peak of resident memory after loading the
# data and at the end (kB), and a check value that tools must agree on.

source("dev/benchmarks/fixtures.R")
arguments <- commandArgs(TRUE)
task <- arguments[[1]]
data <- fixture(arguments[[2]])
threads <- as.integer(arguments[[3]])
repeats <- as.integer(arguments[[4]])
more <- arguments[-(1:4)]
options(sdcRisk.threads = threads)

peak_memory <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("\\D", "", grep("^VmHWM", status, value = TRUE)))
}

tool <- sub(".*@", "", task)
if (tool == "sdcRisk") {
  library(sdcRisk)
  invisible(qar_risk(adult, pi_u = 0.1))
} else {
  library(data.table)
  setDTthreads(threads)
  data <- as.data.table(data)
  invisible(uniqueN(data[1:2]))
}
invisible(gc(FALSE))
before <- peak_memory()

group <- names(Filter(function(rows) any(sub(" .*", "", rows[, 1]) == task), tasks))
for (make in prepare[intersect(group, names(prepare))]) make()
run <- runs[[task]]

seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  invisible(gc(FALSE))
  seconds[[i]] <- system.time(check <- suppressWarnings(run()))[["elapsed"]]
  # Later runs find what the collector has not yet freed of the first.
  if (i == 1) after <- peak_memory()
}
cat(
  "RESULT", format(check, digits = 15), before, after,
  paste(format(seconds, digits = 4, trim = TRUE), collapse = ","), nrow(data), ncol(data),
  if (task == "qar@data.table") length(key_sets()) else NA, "\n"
)
