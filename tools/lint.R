# Lints the R code and the texts, and fails if there is something to fix:
#   lint.R            everything, in minutes
#   lint.R <commit>   of the code only the style of files that changed since, in seconds

folders <- c("R", "tests", "tools", "data-raw", "dev", "vignettes")
files <- list.files(folders, "[.](R|Rmd)$", full.names = TRUE, recursive = TRUE)
files <- setdiff(files, "R/extendr-wrappers.R")
since <- commandArgs(TRUE)
styled <- if (length(since)) {
  changed <- system2("git", c("diff", "--name-only", since), stdout = TRUE)
  intersect(files, c(changed, system2("git", "ls-files -o --exclude-standard", stdout = TRUE)))
} else {
  files
}
cores <- if (.Platform$OS.type == "windows") 1L else as.integer(Sys.getenv("LINT_CORES", "2"))
found <- parallel::mclapply(styled, lintr::lint, mc.cores = cores, mc.preschedule = FALSE)
broken <- vapply(found, inherits, NA, "try-error")
for (file in styled[broken]) cat("not linted:", file, "\n")
found <- unlist(found[!broken], recursive = FALSE)
invisible(loadNamespace("lintr"))
for (lint in found) print(lint)

# Branches are counted where a definition has a dozen words that branch: counting takes long.
branch <- c("if", "for", "while", "repeat", "switch", "&&", "||", "next", "break", "function")
branched <- unlist(lapply(grep("^R/", styled, value = TRUE), function(file) {
  code <- Filter(function(e) sum(all.names(e) %in% branch) >= 12, parse(file, keep.source = FALSE))
  n <- vapply(code, cyclocomp::cyclocomp, 0)
  paste(file, vapply(code, function(e) deparse(e[[2]])[[1]], ""), n)[n > 25]
}))
for (one in branched) cat("more than 25 branches:", one, "\n")

# A name that two files define means the one that is read last.
defined <- unlist(lapply(list.files("R", "[.]R$", full.names = TRUE), function(file) {
  calls <- Filter(function(e) is.call(e) && identical(e[[1]], as.name("<-")), parse(file))
  vapply(calls, function(e) paste(deparse(e[[2]]), collapse = ""), "")
}))
twice <- unique(defined[duplicated(defined)])
for (name in twice) cat("defined twice:", name, "\n")

# Three files that belong together may call each other; more cannot be read one by one.
source("tools/circles.R")
wide <- Filter(function(circle) length(circle) > 3, file_circles(files[startsWith(files, "R/")]))
for (circle in wide) cat("in a circle:", circle, "\n")

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

# The crates and the citation have the version of the package.
version <- read.dcf("DESCRIPTION", "Version")[[1]]
versioned <- c("CITATION.cff", "src/rust/Cargo.toml", "src/rust/core/Cargo.toml")
others <- Filter(function(file) {
  line <- grep("^version(:| =) ", readLines(file), value = TRUE)[[1]]
  gsub("[^0-9.]", "", line) != version
}, versioned)
for (file in others) cat("not version", version, "as DESCRIPTION has:", file, "\n")

# One word per thing in texts for people.
source("tools/glossary.R")
words <- find_words(texts_for_people())
for (word in words) cat(word, "\n")

# Habits that plain English has not, long sentences and long help pages.
source("tools/reading.R")
unreadable <- read_texts()
for (line in unreadable) cat(line, "\n")

# Words that no dictionary has, nor inst/WORDLIST, in help pages, README, news, vignettes.
misspelt <- spelling::spell_check_package(".")
for (i in seq_len(nrow(misspelt))) {
  cat("spelling:", misspelt$word[[i]], "in", paste(misspelt$found[[i]], collapse = ", "), "\n")
}

n_lints <- length(found) + sum(broken) + length(branched) + length(twice) + length(wide) +
  length(undeclared) + length(others) + length(words) + length(unreadable) + nrow(misspelt)
cat(n_lints, "lints\n")
if (n_lints > 0) quit(status = 1)
