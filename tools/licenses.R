# Lists the vendored crates with their authors and licences:
#   Rscript licenses.R <folder of crates> <file to write>

arguments <- commandArgs(TRUE)
manifests <- sort(Sys.glob(file.path(arguments[[1]], "*", "Cargo.toml")), method = "radix")

field <- function(lines, name) {
  start <- grep(paste0("^", name, " = "), lines)
  if (length(start) == 0) {
    return("")
  }
  end <- start[[1]]
  # An array can go on over several lines.
  while (grepl("[[,]$", lines[[end]])) end <- end + 1
  text <- paste(lines[start[[1]]:end], collapse = " ")
  values <- regmatches(text, gregexpr("\"[^\"]*\"", text))[[1]]
  paste(gsub("\"", "", values), collapse = ", ")
}

entries <- vapply(manifests, function(manifest) {
  lines <- readLines(manifest, warn = FALSE)
  # Fields of the package only, not of its dependencies.
  lines <- lines[seq_len(c(grep("^\\[", lines)[-1], length(lines) + 1)[[1]] - 1)]
  authors <- field(lines, "authors")
  paste0(
    field(lines, "name"), " ", field(lines, "version"), "\n",
    "  Licence: ", field(lines, "license"), "\n",
    "  Authors: ", if (nzchar(authors)) authors else "the authors of the crate",
    "\n"
  )
}, "")

# Crates that leave the text of their licence to their repository.
without_text <- manifests[vapply(dirname(manifests), function(folder) {
  !any(grepl("^(LICEN[CS]E|COPYING|UNLICENSE)", list.files(folder), ignore.case = TRUE))
}, NA)]
names_without <- vapply(without_text, function(m) field(readLines(m, warn = FALSE), "name"), "")
of_extendr <- grepl("^extendr-", names_without)
if (!all(of_extendr)) {
  stop("No licence text for: ", paste(names_without[!of_extendr], collapse = ", "))
}

mit <- strwrap(width = 79, c(
  "Copyright (c) 2021 The Extendr contributors (See CONTRIBUTORS.md)", "",
  paste(
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this",
    "software and associated documentation files (the \"Software\"), to deal in the Software",
    "without restriction, including without limitation the rights to use, copy, modify, merge,",
    "publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons",
    "to whom the Software is furnished to do so, subject to the following conditions:"
  ), "",
  paste(
    "The above copyright notice and this permission notice shall be included in all copies or",
    "substantial portions of the Software."
  ), "",
  paste(
    "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,",
    "INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR",
    "PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE",
    "FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR",
    "OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER",
    "DEALINGS IN THE SOFTWARE."
  )
))

writeLines(c(
  "sdcRisk is licensed under the MIT licence, see LICENSE.",
  "",
  "Its source package carries the sources of the following Rust crates, in",
  "src/rust/vendor.tar.xz. Each is used under one of the licences it names;",
  "their texts stand in the folder of each crate, or at the end of this file.",
  "",
  unname(entries),
  if (length(without_text)) {
    c(
      paste0(paste(names_without, collapse = ", "), " come without the text of their licence."),
      "In their repository, https://github.com/extendr/extendr, it reads:", "", mit
    )
  }
), arguments[[2]])
