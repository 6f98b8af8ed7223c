# Measures one task in a process of its own:
#   Rscript benchmarks/measure.R <task> <fixture> <threads> <repeats> [<more>]
# prints seconds of every repeat, the peak of resident memory after loading the
# data and at the end (kB), and a check value that tools must agree on.

source("benchmarks/fixtures.R")
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

# The key sets a peer counts: all, or an even sample of `more[1]` of them.
key_sets <- function(p = 3) {
  sets <- utils::combn(names(data), p, simplify = FALSE)
  if (length(more) > 0 && as.integer(more[[1]]) < length(sets)) {
    sets <- sets[round(seq(1, length(sets), length.out = as.integer(more[[1]])))]
  }
  sets
}

# What tasks about records start from.
if (grepl("^(contribution|removal)", task)) {
  risk <- suppressWarnings(qar_risk(data))
}
removal <- function(n, by, ...) {
  suppressMessages(removal_path(risk, data, n, by, ...))$estimates$risk
}

run <- switch(task,
  "contribution@sdcRisk" = function() {
    sum(risk_contribution(risk, data)$records$n_unique_sets)
  },
  "contribution_entropy@sdcRisk" = function() {
    sum(risk_contribution(risk, data, entropy = TRUE)$records$entropy)
  },
  "removal_top_count@sdcRisk" = function() removal(2500, "top_count"),
  "removal_u_plus_updated@sdcRisk" = function() removal(2500, "u_plus_updated"),
  "removal_proper@sdcRisk" = function() removal(2500, "proper"),
  "removal_contribution@sdcRisk" = function() removal(2500, "contribution"),
  "removal_random@sdcRisk" = function() {
    set.seed(1)
    removal(2500, "random")
  },
  "removal_bound@sdcRisk" = function() {
    removal_bound(risk, data, 2500)$estimates$threshold_least
  },
  "qar@sdcRisk" = function() {
    sum(qar_risk(data, p = 3)$sets$n_distinct)
  },
  "qar_4@sdcRisk" = function() {
    sum(qar_risk(data, p = 4)$sets$n_distinct)
  },
  "qar_no_sets@sdcRisk" = function() {
    qar_risk(data, p = 3, sets = FALSE)$estimates$risk
  },
  "qar@data.table" = function() {
    sum(vapply(key_sets(), function(set) uniqueN(data, by = set), 0L))
  },
  "code@sdcRisk" = function() {
    table <- sdcRisk:::key_table(data)
    on.exit(sdcRisk:::release(table))
    table$n_values
  },
  "group@sdcRisk" = function() {
    table <- sdcRisk:::key_table(data)
    on.exit(sdcRisk:::release(table))
    length(sdcRisk:::group_records(table)$counts)
  },
  "group@data.table" = function() {
    nrow(data[, .N, by = c(names(data))])
  }
)

seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  invisible(gc(FALSE))
  seconds[[i]] <- system.time(check <- suppressWarnings(run()))[["elapsed"]]
  # Later runs find what the collector has not yet freed of the first.
  if (i == 1) after <- peak_memory()
}
cat(
  "RESULT", format(check, digits = 15), before, after,
  paste(format(seconds, digits = 4), collapse = ","), nrow(data), ncol(data),
  if (tool == "data.table") length(key_sets()) else NA, "\n"
)
