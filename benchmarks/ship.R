# What the vignette `performance` shows: the results of all groups in one file of the
# package, and those of limits.R. Tools of Python run where Python has them, perhaps on
# another machine than the rest: `peers` is left out.

ship_results <- function(from = file.path("benchmarks", "results"), to = "inst/extdata") {
  found <- sub("[.]csv$", "", list.files(from, "[.]csv$"))
  groups <- intersect(setdiff(names(tasks), "peers"), found)
  columns <- c(
    "task", "fixture", "rows", "columns", "threads", "median_s", "min_s", "max_s",
    "memory_mb", "sets_counted"
  )
  files <- file.path(from, paste0(groups, ".csv"))
  rows <- Map(function(group, file) {
    table <- utils::read.csv(file, comment.char = "#")
    # Seconds to four digits: what noise leaves.
    seconds <- c("median_s", "min_s", "max_s")
    table[seconds] <- lapply(table[seconds], signif, 4)
    cbind(group = group, table[columns])
  }, groups, files)
  said <- lapply(files, function(file) {
    sub("^# ", "", grep("^# processor", readLines(file), value = TRUE))
  })
  write_results(
    do.call(rbind, rows), file.path(to, "performance.csv"), unique(unlist(said))
  )
  for (name in c("growth-exponents", "limits", "rates")) {
    file.copy(
      file.path(from, paste0(name, ".csv")), file.path(to, paste0(name, ".csv")),
      overwrite = TRUE
    )
  }
}
