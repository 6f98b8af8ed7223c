#!/usr/bin/env sh
# Measures which lines the tests reach, and prints a table of files for the core and for R.
# The glue in src/rust/src has no tests of its own: those of R reach it, uncounted.
set -eu
folder="$(pwd)/target/coverage"
rm -rf "$folder"
mkdir -p "$folder/library"

# The core. Its own crate alone is changed, so that dependencies are built once for all; the
# LLVM tools are those of the toolchain.
rustup component add llvm-tools
llvm="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin"
cat > "$folder/rustc" <<'END'
#!/bin/sh
exec "$@" -C instrument-coverage
END
chmod +x "$folder/rustc"
export RUSTC_WORKSPACE_WRAPPER="$folder/rustc" LLVM_PROFILE_FILE="$folder/core-%p.profraw"
cargo test -p sdcrisk-core --lib --locked
tests="$(cargo test -p sdcrisk-core --lib --locked --no-run --message-format=json |
  sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')"
unset RUSTC_WORKSPACE_WRAPPER LLVM_PROFILE_FILE
"$llvm/llvm-profdata" merge -sparse "$folder"/core-*.profraw -o "$folder/core.profdata"
"$llvm/llvm-cov" export -format=lcov -instr-profile="$folder/core.profdata" "$tests" \
  > "$folder/core.info"

# R, by two processes that share the files of tests.
R_LIBS="$folder/library:${R_LIBS:-}"
export R_LIBS NOT_CRAN=true TESTTHAT_PARALLEL=false
R_KEEP_PKG_SOURCE=yes R_KEEP_PKG_PARSE_DATA=yes sh tools/install.sh
Rscript dev/coverage.R run "$folder" &
first=$!
Rscript dev/coverage.R run "$folder"
wait $first

Rscript dev/coverage.R core "$folder/core.info"
Rscript dev/coverage.R report "$folder"
