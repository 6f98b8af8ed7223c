# Renders the vignettes that have changed since they were last rendered, with the installed
# package, and installs the package with them, unless called with --render.

sources <- tools::pkgVignettes(dir = ".")$docs
pages <- file.path("inst/doc", sub("Rmd$", "html", basename(sources)))
stale <- !file.exists(pages) | file.mtime(pages) < file.mtime(sources)

# In a folder of its own: what else is made there stays out of the checkout.
render <- function(source) {
  folder <- tempfile(basename(source))
  dir.create(folder)
  file.copy(source, folder)
  tryCatch({
    tools::buildVignette(file.path(folder, basename(source)), folder, quiet = TRUE)
    list.files(folder, "[.](R|Rmd|html)$", full.names = TRUE)
  }, error = function(e) structure(conditionMessage(e), class = "failed"))
}

if (any(stale)) {
  # Two processes, each with temporary files of its own, which rmarkdown clears.
  workers <- parallel::makePSOCKcluster(2)
  made <- parallel::clusterApplyLB(workers, sources[stale], render)
  failed <- vapply(made, inherits, NA, "failed")
  if (any(failed)) {
    writeLines(paste0(basename(sources[stale])[failed], ": ", unlist(made[failed])))
    quit(status = 1)
  }
  dir.create("inst/doc", showWarnings = FALSE)
  dir.create("build", showWarnings = FALSE)
  file.copy(unlist(made), "inst/doc", overwrite = TRUE)
  parallel::stopCluster(workers)
  # What `R CMD build` writes: vignette() looks there.
  rendered <- tools::pkgVignettes(dir = ".", subdirs = "inst/doc", output = TRUE, source = TRUE)
  saveRDS(tools:::.build_vignette_index(rendered), "build/vignette.rds")
  if (!"--render" %in% commandArgs(TRUE)) {
    quit(status = system2(file.path(R.home("bin"), "R"), "CMD INSTALL --no-multiarch ."))
  }
}
