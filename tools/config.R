# Writes src/Makevars (src/Makevars.win) for one of three situations: a
# checkout, a tarball with vendored crates, a tarball without.

source("tools/msrv.R")
path <- find_rust()

windows <- .Platform$OS.type == "windows"
linux <- Sys.info()[["sysname"]] == "Linux"
checkout <- file.exists("Cargo.toml")
vendored <- !checkout && file.exists("src/rust/vendor.tar.xz")
debug <- nzchar(Sys.getenv("SDCRISK_DEBUG"))

if (!checkout) {
  manifest <- readLines("src/rust/Cargo.toml")
  if (!any(manifest == "[workspace]")) {
    writeLines(
      c(manifest, readLines("src/rust/standalone.toml")), "src/rust/Cargo.toml"
    )
  }
}

# A checkout shares one target directory with `cargo test`; a tarball builds
# inside itself, with at most two jobs and nothing left behind, as CRAN asks.
target <- if (checkout) "../target" else "rust/target"
jobs <- if (checkout) "" else "-j 2"
offline <- if (vendored) "--offline --locked" else ""
lto <- nzchar(Sys.getenv("SDCRISK_LTO"))
profile <- if (debug) "dev" else if (lto) "release-lto" else "release"
cargo_home <- if (vendored) "CARGO_HOME=\"$(CURDIR)/rust/.cargo\"" else ""

link_flags <- if (linux) {
  # The static library carries symbols, debug sections and unused code of the
  # standard library; without this the shared object is six times as large.
  "-Wl,-S -Wl,-x -Wl,--gc-sections -Wl,--exclude-libs,ALL"
} else {
  ""
}

fields <- c(
  TARGET_DIR = target,
  PROFILE_DIR = if (debug) "debug" else profile,
  MANIFEST = "rust/Cargo.toml",
  LINK_FLAGS = link_flags,
  UNPACK_VENDOR = if (vendored) {
    paste(
      "mkdir -p rust/.cargo && tar -xJf rust/vendor.tar.xz -C rust &&",
      "cp rust/vendor-config.toml rust/.cargo/config.toml"
    )
  } else {
    "true"
  },
  CARGO_ENV = trimws(paste(sprintf("PATH=\"%s\"", path), cargo_home)),
  CARGO_FLAGS = trimws(gsub(" +", " ", paste("--profile", profile, jobs, offline))),
  # Names of functions are a megabyte; R CMD check looks for two of them.
  STRIP = if (linux && !debug) {
    "-@strip -s -K R_registerRoutines -K R_useDynamicSymbols $(SHLIB)"
  } else {
    "@true"
  },
  REMOVE_BUILD = if (checkout) "@true" else "@rm -rf rust/target",
  REMOVE_SOURCES = if (vendored) "rm -rf rust/vendor rust/.cargo" else "true",
  CLEAN = if (checkout) "" else "rust/target"
)

makevars <- if (windows) "src/Makevars.win" else "src/Makevars"
text <- readLines(paste0(makevars, ".in"))
for (field in names(fields)) {
  text <- gsub(paste0("@", field, "@"), fields[[field]], text, fixed = TRUE)
}
writeLines(text, makevars)

# The versions of the crates the core is built from, which reports state.
lock <- c("Cargo.lock", "src/rust/Cargo.lock")
lock <- lock[file.exists(lock)]
if (length(lock)) {
  depends <- unlist(lapply(c("src/rust/Cargo.toml", "src/rust/core/Cargo.toml"), function(file) {
    lines <- readLines(file)
    section <- cumsum(grepl("^\\[", lines))
    within <- section == section[match("[dependencies]", lines)]
    sub(" *=.*", "", grep("^[a-z].*=", lines[within], value = TRUE))
  }))
  lines <- readLines(lock[[1]])
  names <- sub("name = \"(.*)\"", "\\1", lines[grepl("^name = ", lines)])
  versions <- sub("version = \"(.*)\"", "\\1", lines[which(grepl("^name = ", lines)) + 1])
  used <- names %in% depends & !startsWith(names, "sdcrisk")
  dir.create("inst/report", FALSE, TRUE)
  writeLines(paste(names, versions)[used], "inst/report/crates.txt")
}
