# Lists the vendored crates with their licences in LICENSE.note and their authors in
# inst/AUTHORS, which DESCRIPTION names:
#   Rscript licenses.R <folder of crates> <LICENSE.note> <inst/AUTHORS>

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

# Authors that an earlier version of a crate named in its Cargo.toml.
named_before <- c(
  either = "bluss (named by version 1.8.1)",
  extendr = paste(
    "Andy Thomason, Thomas Down, Mossa Merhi Reimert, Josiah Parry, Claus O. Wilke,",
    "Hiroaki Yutani, Ilia A. Kosenkov, Michael Milton (named by version 0.8.1)"
  )
)

# Names in Cargo.toml, or else in the licence, or else those of an earlier version.
authors_of <- function(folder, lines) {
  authors <- gsub(" *<[^>]*>", "", field(lines, "authors"))
  if (nzchar(authors)) {
    return(authors)
  }
  texts <- list.files(folder, "^LICEN[CS]E", full.names = TRUE)
  notices <- unlist(lapply(texts, readLines, warn = FALSE))
  holder <- "^Copyright (\\(c\\) )?[0-9, -]*(The [A-Z].*)$"
  notices <- grep(holder, notices, value = TRUE)
  if (length(notices)) {
    return(sub(holder, "\\2", notices[[1]]))
  }
  before <- named_before[sub("-.*", "", field(lines, "name"))]
  if (is.na(before)) paste("not named in the crate, see", field(lines, "repository")) else before
}

crates <- do.call(rbind, lapply(manifests, function(manifest) {
  lines <- readLines(manifest, warn = FALSE)
  # Fields of the package only, not of its dependencies.
  lines <- lines[seq_len(c(grep("^\\[", lines)[-1], length(lines) + 1)[[1]] - 1)]
  data.frame(
    name = paste(field(lines, "name"), field(lines, "version")),
    licence = field(lines, "license"), authors = authors_of(dirname(manifest), lines)
  )
}))

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
  paste0(
    crates$name, "\n  Licence: ", crates$licence, "\n  Authors: ", crates$authors, "\n"
  ),
  if (length(without_text)) {
    c(
      paste0(paste(names_without, collapse = ", "), " come without the text of their licence."),
      "In their repository, https://github.com/extendr/extendr, it reads:", "", mit
    )
  }
), arguments[[2]])

writeLines(c(
  "Authors of the Rust crates whose sources the package carries, see LICENSE.note:", "",
  strwrap(paste0(crates$name, ": ", crates$authors), width = 79, exdent = 2)
), arguments[[3]])
