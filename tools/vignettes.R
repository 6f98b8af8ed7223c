# Renders the vignettes that have changed since they were last rendered, with the installed
# package.

sources <- tools::pkgVignettes(dir = ".")$docs
pages <- file.path("inst/doc", sub("Rmd$", "html", basename(sources)))
stale <- !file.exists(pages) | file.mtime(pages) < file.mtime(sources)
if (any(stale)) {
  dir.create("inst/doc", showWarnings = FALSE)
  dir.create("build", showWarnings = FALSE)
  # Each in a folder of its own, which is cleaned after it.
  render <- function(source) {
    folder <- tempfile(basename(source))
    dir.create(folder)
    tools::buildVignette(source, folder, quiet = TRUE)
    all(file.copy(c(source, list.files(folder, full.names = TRUE)), "inst/doc", overwrite = TRUE))
  }
  cores <- if (.Platform$OS.type == "unix") 2 else 1
  done <- parallel::mclapply(sources[stale], render, mc.cores = cores, mc.preschedule = FALSE)
  failed <- !vapply(done, isTRUE, NA)
  if (any(failed)) {
    writeLines(paste(basename(sources[stale])[failed], done[failed], sep = ": "))
    quit(status = 1)
  }
  # What `R CMD build` writes: vignette() looks there.
  rendered <- tools::pkgVignettes(dir = ".", subdirs = "inst/doc", output = TRUE, source = TRUE)
  saveRDS(tools:::.build_vignette_index(rendered), "build/vignette.rds")
}
