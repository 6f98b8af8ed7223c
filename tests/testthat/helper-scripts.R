# Scripts whose faults are known: a comment `#> code` ends the line that has one.

script_folder <- function(...) testthat::test_path("scripts", ...)

wanted_findings <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  at <- grep("#> ", lines, fixed = TRUE)
  codes <- strsplit(sub(".*#> ", "", lines[at]), " ", fixed = TRUE)
  data.frame(line = rep(at, lengths(codes)), code = as.character(unlist(codes)))
}

# Runs text as a script in a folder of its own.
check_text <- function(lines, ..., ending = "\n", encoding = NULL) {
  folder <- tempfile("script")
  dir.create(folder)
  path <- file.path(folder, "script.R")
  text <- paste0(paste(lines, collapse = ending), ending)
  if (!is.null(encoding)) text <- iconv(enc2utf8(text), "UTF-8", encoding, toRaw = TRUE)[[1]]
  writeBin(if (is.raw(text)) text else charToRaw(enc2utf8(text)), path)
  check_script(path, ..., dir = folder)
}

codes_at <- function(x) paste(x$findings$line, x$findings$code)
