# Writes src/Makevars (src/Makevars.win) for one of three situations: a
# checkout, a tarball with vendored crates, a tarball without.

source("tools/msrv.R")
path <- find_rust()

# The triple of a build for another machine; "" is this one. SDCRISK_TARGET tries another.
target <- Sys.getenv("SDCRISK_TARGET", switch(R.version$platform,
  "x86_64-w64-mingw32" = "x86_64-pc-windows-gnu",
  "wasm32-unknown-emscripten" = R.version$platform,
  ""
))
windows <- grepl("windows", target)
linux <- target == "" && Sys.info()[["sysname"]] == "Linux"
macos <- grepl("darwin", paste(target, R.version$os))
wasm <- grepl("emscripten", target)
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
target_dir <- if (checkout) "../target" else "rust/target"
lto <- nzchar(Sys.getenv("SDCRISK_LTO"))
profile <- if (debug) "dev" else if (lto) "release-lto" else "release"

# The static library carries symbols, debug sections and unused code of the standard
# library; without these flags the shared object is six times as large.
link_flags <- if (linux) {
  "-Wl,-S -Wl,-x -Wl,--gc-sections -Wl,--exclude-libs,ALL"
} else if (windows) {
  "-Wl,--gc-sections -lws2_32 -ladvapi32 -luserenv -lbcrypt -lntdll -ldbghelp"
} else if (macos) {
  "-Wl,-dead_strip -Wl,-exported_symbol,_R_init_sdcRisk"
}

cargo_env <- c(
  # R on Windows lists folders by ";", which its shell does not: cargo is on the PATH there.
  if (!windows) sprintf("PATH=\"%s\"", path),
  if (vendored) "CARGO_HOME=\"$(CURDIR)/rust/.cargo\"",
  # The oldest systems that R for macOS runs on.
  if (macos) {
    arm <- grepl("aarch64|arm64", paste(target, R.version$arch))
    paste0("MACOSX_DEPLOYMENT_TARGET=", if (arm) "11.0" else "10.13")
  },
  # A panic ends R in a browser: the standard library there cannot unwind.
  if (wasm) "CARGO_PROFILE_RELEASE_PANIC=abort"
)

cargo_flags <- c(
  "--lib --manifest-path=rust/Cargo.toml", paste0("--target-dir=", target_dir),
  if (nzchar(target)) paste0("--target=", target), paste("--profile", profile),
  if (!checkout) "-j 2 --locked", if (vendored) "--offline"
)

fields <- list(
  TARGET_DIR = target_dir,
  LIB_DIR = paste(c(target_dir, target[nzchar(target)], if (debug) "debug" else profile),
    collapse = "/"
  ),
  LINK_FLAGS = link_flags,
  UNPACK_VENDOR = if (vendored) {
    paste(
      "mkdir -p rust/.cargo && tar -xJf rust/vendor.tar.xz -C rust &&",
      "cp rust/vendor-config.toml rust/.cargo/config.toml"
    )
  },
  CARGO_ENV = cargo_env,
  CARGO_FLAGS = cargo_flags,
  # Names of functions are a megabyte; R CMD check looks for two of them.
  STRIP = if (linux && !debug) {
    "-@strip -s -K R_registerRoutines -K R_useDynamicSymbols $(SHLIB)"
  },
  REMOVE_BUILD = if (!checkout) "@rm -rf rust/target",
  REMOVE_SOURCES = if (vendored) "rm -rf rust/vendor rust/.cargo",
  CLEAN = if (!checkout) "rust/target"
)

makevars <- if (windows) "src/Makevars.win" else "src/Makevars"
text <- readLines(paste0(makevars, ".in"))
for (field in names(fields)) {
  text <- gsub(paste0("@", field, "@"), paste(fields[[field]], collapse = " "), text, fixed = TRUE)
}
# With the line ends that make takes, on Windows too.
connection <- file(makevars, "wb")
writeLines(text, connection)
close(connection)

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
