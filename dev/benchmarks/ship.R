# Replaces the rows of `groups` in inst/extdata/performance.csv, which the vignette
# `performance` shows. Python's tools may run on another machine than the rest: `peers` is
# left out.

ship_results <- function(groups) {
  file <- shipped_file("performance")
  groups <- Filter(function(group) file.exists(result_file(group)), setdiff(groups, "peers"))
  columns <- c(
    "task", "fixture", "rows", "columns", "threads", "median_s", "min_s", "max_s",
    "memory_mb", "sets_counted"
  )
  rows <- lapply(groups, function(group) {
    table <- utils::read.csv(result_file(group), comment.char = "#")
    # Seconds to four digits: what noise leaves.
    seconds <- c("median_s", "min_s", "max_s")
    table[seconds] <- lapply(table[seconds], signif, 4)
    cbind(group = group, table[columns])
  })
  before <- utils::read.csv(file, comment.char = "#")
  kept <- before[!before$group %in% groups, ]
  processors <- unlist(lapply(c(if (nrow(kept)) file, result_file(groups)), function(name) {
    sub("^# ", "", grep("^# processor", readLines(name), value = TRUE))
  }))
  all <- do.call(rbind, c(list(kept), rows))
  write_results(all[order(all$group, method = "radix"), ], file, unique(processors))
}
