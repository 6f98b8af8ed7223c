# Finds cargo and rustc and stops with advice if they are missing or too
# old. Returns the PATH to build with.

find_rust <- function() {
  wanted <- sub(
    ".*rustc \\(>= ([0-9.]+)\\).*", "\\1",
    read.dcf("DESCRIPTION", fields = "SystemRequirements")[[1]]
  )
  path <- Sys.getenv("PATH")
  if (.Platform$OS.type != "windows") {
    # rustup installs here, and R started from a desktop may not look here.
    home <- Sys.getenv("CARGO_HOME", file.path(path.expand("~"), ".cargo"))
    path <- paste(path, file.path(home, "bin"), sep = ":")
    Sys.setenv(PATH = path)
  }
  version <- function(tool) {
    found <- tryCatch(
      system2(tool, "--version", stdout = TRUE, stderr = FALSE),
      error = function(e) character(), warning = function(w) character()
    )
    if (length(found)) sub("^\\S+ ([0-9.]+).*", "\\1", found[[1]]) else NA
  }
  cargo <- version("cargo")
  rustc <- version("rustc")
  message("Using cargo ", cargo, ", rustc ", rustc)
  if (is.na(cargo) || is.na(rustc)) {
    stop(
      "sdcRisk needs Rust (cargo and rustc >= ", wanted, ").\n",
      "Install it with rustup, see https://rust-lang.org/tools/install.",
      call. = FALSE
    )
  }
  if (package_version(rustc) < wanted) {
    stop(
      "sdcRisk needs rustc >= ", wanted, ", found ", rustc, ".\n",
      "Update it with `rustup update stable`.",
      call. = FALSE
    )
  }
  path
}
