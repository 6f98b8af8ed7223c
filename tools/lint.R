# Lints the R code and fails where there is something to mend.

found <- c(lintr::lint_package("."), lintr::lint_dir("tools"), lintr::lint_dir("data-raw"))
if (dir.exists("benchmarks")) {
  found <- c(found, lintr::lint_dir("benchmarks"))
}
for (lint in found) print(lint)
cat(length(found), "lints\n")
if (length(found) > 0) quit(status = 1)
