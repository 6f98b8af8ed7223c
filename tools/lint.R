# Lints the R code and fails where there is something to mend.

found <- c(lintr::lint_package("."), lintr::lint_dir("tools"), lintr::lint_dir("data-raw"))
if (dir.exists("benchmarks")) {
  found <- c(found, lintr::lint_dir("benchmarks"))
}
for (lint in found) print(lint)

# A name that two files define means the one that is read last.
defined <- unlist(lapply(list.files("R", "[.]R$", full.names = TRUE), function(file) {
  calls <- Filter(function(e) is.call(e) && identical(e[[1]], as.name("<-")), parse(file))
  vapply(calls, function(e) paste(deparse(e[[2]]), collapse = ""), "")
}))
twice <- unique(defined[duplicated(defined)])
for (name in twice) cat("defined twice:", name, "\n")

# The check of the package refuses a package that DESCRIPTION does not name.
declared <- unlist(strsplit(
  read.dcf("DESCRIPTION", c("Package", "Imports", "Suggests", "Enhances")), "[,\\s]+(\\([^)]*\\))?",
  perl = TRUE
))
with_code <- list.files(c("R", "tests"), "[.]R$", full.names = TRUE, recursive = TRUE)
undeclared <- unlist(lapply(with_code, function(file) {
  data <- utils::getParseData(parse(file, keep.source = TRUE))
  package <- data$text[data$token == "SYMBOL_PACKAGE"]
  package <- setdiff(package, c(declared, rownames(installed.packages(priority = "base"))))
  if (length(package)) paste(file, package)
}))
for (use in undeclared) cat("not in DESCRIPTION:", use, "\n")

# One word per thing in texts for people.
source("tools/glossary.R")
words <- find_words(texts_for_people())
for (word in words) cat(word, "\n")

n_lints <- length(found) + length(twice) + length(undeclared) + length(words)
cat(n_lints, "lints\n")
if (n_lints > 0) quit(status = 1)
