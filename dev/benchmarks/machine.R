# What stands on top of every file of results.

machine <- function() {
  model <- grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[[1]]
  c(
    paste("processor:", sub(".*: ", "", model), "-", parallel::detectCores(), "cores"),
    paste("R:", R.version.string),
    paste("sdcRisk:", utils::packageVersion("sdcRisk")),
    paste("data.table:", utils::packageVersion("data.table")),
    if (requireNamespace("sdcMicro", quietly = TRUE)) {
      paste("sdcMicro:", utils::packageVersion("sdcMicro"))
    },
    system2("rustc", "--version", stdout = TRUE)
  )
}

# Results of the last run, which git ignores. What a vignette shows is in inst/extdata/.
result_file <- function(name) file.path("target", "benchmarks", paste0(name, ".csv"))
shipped_file <- function(name) file.path("inst", "extdata", paste0(name, ".csv"))

# A table below the lines that say where it was made.
write_results <- function(table, file, lines = machine()) {
  dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
  writeLines(paste("#", lines), file)
  suppressWarnings(utils::write.table(
    table, file,
    append = TRUE, sep = ",", row.names = FALSE, quote = FALSE
  ))
}
