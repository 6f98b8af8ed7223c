# Runs the benchmarks and writes target/benchmarks/<group>.csv:
#   Rscript dev/benchmarks/run.R            all groups but those named _large
#   Rscript dev/benchmarks/run.R coding     one
# Every line is a process of its own; peers run in turn with us on the same
# data. Seconds are medians. Memory is the rise of peak resident memory over
# the process that had only loaded the data. At the end it prints what got slower than
# inst/extdata/performance.csv, and replaces the rows of the groups that ran there.

for (part in c("fixtures", "machine", "compare", "ship")) {
  source(file.path("dev", "benchmarks", paste0(part, ".R")))
}

measure <- function(task, fixture, threads, repeats) {
  words <- strsplit(task, " ", fixed = TRUE)[[1]]
  output <- system2(
    file.path(R.home("bin"), "Rscript"),
    c("dev/benchmarks/measure.R", words[[1]], fixture, threads, repeats, words[-1]),
    stdout = TRUE, stderr = FALSE
  )
  line <- grep("^RESULT", output, value = TRUE)
  if (length(line) == 0) {
    message("no result: ", task, " ", fixture)
    return(NULL)
  }
  field <- strsplit(line, " ", fixed = TRUE)[[1]][-1]
  seconds <- as.numeric(strsplit(field[[4]], ",", fixed = TRUE)[[1]])
  rows <- as.numeric(field[[5]])
  columns <- as.numeric(field[[6]])
  data.frame(
    task = words[[1]], fixture = fixture, rows = rows, columns = columns,
    threads = threads, median_s = stats::median(seconds), min_s = min(seconds),
    max_s = max(seconds), repeats = repeats,
    memory_mb = round((as.numeric(field[[3]]) - as.numeric(field[[2]])) / 1024, 1),
    # A peer that counts a sample of the key sets: how many it counted.
    sets_counted = if (length(words) > 1) field[[7]] else "all",
    check = field[[1]]
  )
}

# The same line for a tool of Python, which reads the fixture as a CSV file.
measure_python <- function(task, tool, fixture, threads, n_sets) {
  data <- fixture(fixture)
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  utils::write.csv(data, file, row.names = FALSE)
  output <- suppressWarnings(system2(
    "python3", c("dev/benchmarks/peers.py", tool, file, threads, n_sets, 3),
    stdout = TRUE, stderr = FALSE
  ))
  line <- grep("^RESULT", output, value = TRUE)
  if (length(line) == 0) {
    message("no result: ", tool, " ", fixture)
    return(NULL)
  }
  field <- strsplit(line, " ", fixed = TRUE)[[1]][-1]
  seconds <- as.numeric(field[[2]])
  data.frame(
    task = paste0(sub("@.*", "", task), "@", tool, "-", field[[1]]), fixture = fixture,
    rows = nrow(data), columns = ncol(data), threads = threads,
    median_s = seconds, min_s = seconds, max_s = seconds, repeats = 1,
    memory_mb = NA, sets_counted = field[[3]], check = field[[4]]
  )
}

wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- grep("_large$", names(tasks), invert = TRUE, value = TRUE)
both <- NULL
for (group in wanted) {
  rows <- apply(tasks[[group]], 1, function(x) {
    python <- regmatches(x[[1]], regexec("@(polars|duckdb|pycanon) (\\d+)", x[[1]]))[[1]]
    result <- if (length(python)) {
      measure_python(x[[1]], python[[2]], x[[2]], x[[3]], python[[3]])
    } else {
      measure(x[[1]], x[[2]], x[[3]], x[[4]])
    }
    if (!is.null(result)) message(paste(format(result), collapse = "  "))
    result
  })
  rows <- do.call(rbind, rows)
  if (is.null(rows)) next
  both <- rbind(both, beside_tracked(rows, tracked_results(group)))
  write_results(rows, result_file(group))
  if (!is.null(summaries[[group]])) summaries[[group]](rows)
}
if (!is.null(both)) report_slower(both)
ship_results(wanted)
