# The main job on a real file: import, check, the cheapest remedy, check again, report.
# The last line is the path of the report: `make demo`.

library(sdcRisk)
options(width = 80)

folder <- "demo-output"
dir.create(folder, showWarnings = FALSE)
csv <- file.path(folder, "prison.csv")
keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
utils::write.csv(nals_prison[c(keys, "WEIGHT")], csv, row.names = FALSE)

show <- function(title, x) {
  cat("\n== ", title, "\n", sep = "")
  print(x)
  x
}

file <- sdc_file(utils::read.csv(csv), keys, weight_var = "WEIGHT")
check <- show("Check", file_check(file))

# The cheapest global recoding that leaves 3 records per key, and few suppressed values.
search <- show("Remedy", recode_search(
  file, constraint = list(k = 3), suppress = 0.02, blanks = "cells"
))
protected <- apply_recoding(search, file)
after <- show("Check again", file_check(protected))
loss <- show("Information loss", utility_loss(file, protected))

public <- release_data(protected, shuffle = TRUE)
utils::write.csv(public, file.path(folder, "release.csv"), row.names = FALSE)
report <- sdc_report(
  before = check, after = after, search, loss, file = file.path(folder, "report.html"),
  overwrite = TRUE
)
cat("\n", normalizePath(report), "\n", sep = "")
