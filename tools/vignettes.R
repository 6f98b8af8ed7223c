# Renders the vignettes that have changed since they were last rendered, with the installed
# package, and installs the package with them.

sources <- tools::pkgVignettes(dir = ".")$docs
pages <- file.path("inst/doc", sub("Rmd$", "html", basename(sources)))
stale <- !file.exists(pages) | file.mtime(pages) < file.mtime(sources)
if (any(stale)) {
  dir.create("inst/doc", showWarnings = FALSE)
  dir.create("build", showWarnings = FALSE)
  for (source in sources[stale]) {
    cat("Rendering", basename(source), "\n")
    tools::buildVignette(source, "inst/doc", quiet = TRUE)
    file.copy(source, "inst/doc", overwrite = TRUE)
  }
  # What `R CMD build` writes: vignette() looks there.
  rendered <- tools::pkgVignettes(dir = ".", subdirs = "inst/doc", output = TRUE, source = TRUE)
  saveRDS(tools:::.build_vignette_index(rendered), "build/vignette.rds")
  quit(status = system2(file.path(R.home("bin"), "R"), "CMD INSTALL --no-multiarch ."))
}
