# One child: judges seeds `from` to `to` of one function after the other, and writes
# what it does before it does it, so that a crash or a hang is charged to its seed.
#
#   Rscript dev/torture/child.R <folder> <function>:<from>:<to> ...

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[[1]]
writeLines(as.character(Sys.getpid()), file.path(folder, "pid"))
suppressMessages(library(sdcRisk))
source("dev/torture/load.R")
grDevices::pdf(NULL)

clean <- function(text) gsub("[\t\r\n]+", " / ", iconv(text, "", "UTF-8", sub = "byte"))
log <- file(file.path(folder, "log"), "a")
for (task in strsplit(arguments[-1], ":")) {
  for (seed in as.integer(task[[2]]):as.integer(task[[3]])) {
    writeLines(paste("began", task[[1]], seed, sep = "\t"), log)
    flush(log)
    began <- proc.time()[["elapsed"]]
    found <- tryCatch(
      judge(task[[1]], seed), error = function(e) fail("judge", "judge", conditionMessage(e))
    )
    took <- round(proc.time()[["elapsed"]] - began, 2)
    failure <- found$outcome == "failed"
    writeLines(paste(
      "done", task[[1]], seed, found$outcome, took, if (failure) 0 else found$n_verbs,
      if (failure) found$kind else "", if (failure) found$where else "",
      if (failure) clean(found$text) else "", sep = "\t"
    ), log)
    flush(log)
  }
}
close(log)
