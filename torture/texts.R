# Many small cases, one after the other in this process: logs that somebody changed,
# formulas, hierarchies, candidates. A case is judged by its own check alone; what every
# answer can be asked for is the business of `inputs`.
#
# `torture/results/texts.csv` adds up; seeds begin at a million, and go on.

texts_file <- "torture/results/texts.csv"
text_draws <- c("random_log", "random_formula", "hierarchy", "candidates", "candidate_interval")

run_texts <- function(minutes) {
  suppressMessages(library(sdcRisk))
  source("torture/load.R", local = globalenv())
  none <- data.frame(
    draw = text_draws, last_seed = 1e6, right = 0, accepted = 0, refused = 0, failed = 0, seconds = 0
  )
  done <- if (file.exists(texts_file)) utils::read.csv(texts_file) else none
  failures <- read_table(failures_file, no_failures)
  only <- Sys.getenv("ONLY")
  asked <- if (nzchar(only)) strsplit(only, ",")[[1]] else text_draws
  for (name in asked) {
    at <- match(name, done$draw)
    began <- proc.time()[["elapsed"]]
    until <- began + 60 * minutes / length(asked)
    seed <- done$last_seed[[at]]
    counts <- c(right = 0, accepted = 0, refused = 0, failed = 0)
    while (proc.time()[["elapsed"]] < until) {
      seed <- seed + 1
      found <- tryCatch(
        judge(name, seed, brief = TRUE), error = function(e) fail("judge", "judge", conditionMessage(e))
      )
      counts[[found$outcome]] <- counts[[found$outcome]] + 1
      if (found$outcome == "failed") {
        failures[nrow(failures) + 1, ] <- list(name, seed, found$kind, found$where, found$text)
      }
      # Each case leaves a file at most.
      if (seed %% 500 == 0) unlink(list.files(tempdir(), "^file.*json$", full.names = TRUE))
    }
    done[at, names(counts)] <- done[at, names(counts)] + counts
    done$last_seed[[at]] <- seed
    done$seconds[[at]] <- round(done$seconds[[at]] + proc.time()[["elapsed"]] - began, 1)
    utils::write.csv(done, texts_file, row.names = FALSE)
    utils::write.csv(failures[order(failures$fun, failures$seed), ], failures_file, row.names = FALSE)
    cat(name, counts, "\n")
  }
  print(done)
}
