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

writeLines(c(
  "sdcRisk is licensed under the MIT licence, see LICENSE.",
  "",
  "Its source package carries the sources of the following Rust crates, in",
  "src/rust/vendor.tar.xz. Each is used under one of the licences it names;",
  "their texts stand in the folder of each crate.",
  "",
  unname(entries)
), arguments[[2]])
