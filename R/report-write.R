# Path of a report: checked before anything is computed, written under another name and renamed at
# the end, so that the path never has half a file.

report_paths <- function(file, overwrite) {
  if (!is.character(file) || length(file) != 1 || is.na(file) || !nzchar(file)) {
    stop_argument("file", "be the name of one file", given_words(file))
  }
  kind <- tolower(sub(".*[.]", "", basename(file)))
  if (!grepl(".", basename(file), fixed = TRUE) || !kind %in% c("html", "htm", "docx")) {
    stop_argument("file", "end in .html or .docx", given_words(file))
  }
  file <- path.expand(file)
  paths <- list(
    kind = if (kind == "docx") "docx" else "html", report = file,
    log = sub("[.][^.]*$", ".json", file), pandoc = if (kind == "docx") find_pandoc()
  )
  check_report_folder(dirname(file))
  check_new_files(c(paths$report, paths$log), overwrite)
  paths
}

check_report_folder <- function(folder) {
  if (!dir.exists(folder) || file.access(folder, 2) != 0) {
    stop_argument(
      "file", "be in a folder that can be written",
      found = if (dir.exists(folder)) "It cannot be written." else "The folder does not exist."
    )
  }
}

check_new_files <- function(paths, overwrite) {
  exists <- paths[file.exists(paths)]
  folders <- exists[dir.exists(exists)]
  if (length(exists) && (!overwrite || length(folders))) {
    stop_argument(
      "file", "name files that do not exist yet",
      found = paste0("There already: ", quote_names(basename(exists)), "."),
      advice = if (length(folders)) {
        "A folder is not replaced: take another name."
      } else {
        "overwrite = TRUE replaces them."
      }
    )
  }
}

# rmarkdown knows the pandoc that comes with RStudio.
find_pandoc <- function() {
  path <- Sys.which("pandoc")[[1]]
  if (!nzchar(path) && requireNamespace("rmarkdown", quietly = TRUE)) {
    folder <- rmarkdown::find_pandoc()$dir
    if (!is.null(folder)) path <- unname(Sys.which(file.path(folder, "pandoc")))
  }
  if (!nzchar(path)) {
    stop_sdc(
      "missing_package", "Pandoc must be installed to write a report for Word.",
      x = "It was not found.",
      i = "A file that ends in .html needs no pandoc, and Word opens it.",
      package = "pandoc"
    )
  }
  path
}

write_report <- function(content, log, paths) {
  folder <- dirname(paths$report)
  temporary <- c(
    report = tempfile("report-", folder, paste0(".", paths$kind)),
    log = tempfile("log-", folder, ".json")
  )
  on.exit(unlink(temporary))
  written <- tryCatch({
    body <- c(
      html_head(content), html_board(content), html_before_after(content), html_pictures(content),
      html_checklist(content), html_methods(content), html_tables(content),
      if (content$settings$internal) html_records(content), html_versions(content)
    )
    page <- fill_template(list(
      title = html_text(content$settings$title), body = paste(body, collapse = "\n"),
      style = paste(read_text(report_file("style.css")), collapse = "\n")
    ))
    if (paths$kind == "docx") {
      write_docx(page, temporary[["report"]], paths$pandoc)
    } else {
      write_utf8(page, temporary[["report"]])
    }
    write_utf8(log, temporary[["log"]])
    all(file.exists(temporary)) && file.rename(temporary[["log"]], paths$log) &&
      file.rename(temporary[["report"]], paths$report)
  }, sdcRisk_error = function(e) stop(e), warning = function(w) FALSE)
  if (!isTRUE(written)) {
    stop_argument("file", "name a file that can be written", found = "Writing failed.")
  }
}

write_utf8 <- function(text, path) {
  connection <- file(path, "wb")
  on.exit(close(connection))
  writeLines(enc2utf8(text), connection, useBytes = TRUE)
}

# Converts the page by pandoc.
write_docx <- function(page, path, pandoc) {
  source <- tempfile(fileext = ".html")
  on.exit(unlink(source))
  write_utf8(page, source)
  out <- suppressWarnings(system2(
    pandoc, c("-f", "html", "-t", "docx", "-o", shQuote(path), shQuote(source)),
    stdout = TRUE, stderr = TRUE
  ))
  status <- attr(out, "status")
  if (!is.null(status) && status != 0) {
    stop_sdc(
      "internal", c("Pandoc must be able to write the report.", x = paste(out, collapse = " "))
    )
  }
}
