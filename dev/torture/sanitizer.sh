#!/usr/bin/env sh
# Builds the package with the address sanitizer in target/sanitizer: see checkers.R. The
# target is named so that what rustc itself loads (macros) is built without. It is a debug
# build: overflow, alignment and the preconditions of the standard library's unsafe functions
# are checked too. With WRONG=yes, one entry point reads behind a block.
set -eu
work=target/sanitizer
target=x86_64-unknown-linux-gnu
export RUSTUP_TOOLCHAIN="${RUSTUP_TOOLCHAIN:-nightly}"
rm -rf $work/source
mkdir -p $work/source $work/library
git ls-files -z | tar --null -cT - | tar -x -C $work/source
cd $work/source
entry=src/rust/src/individual_risk.rs
if [ "${WRONG:-}" = yes ]; then
  wrong='vec![unsafe { std::ptr::read_volatile(risk.as_ptr().add(risk.len())) }]'
  sed -i "s/Ok(r!(risk))/Ok(r!($wrong))/" $entry
  grep -q read_volatile $entry
fi
touch $entry
RUSTFLAGS="-Zsanitizer=address -Zub-checks=yes -Cforce-frame-pointers=yes" \
  cargo build --lib --locked --manifest-path=src/rust/Cargo.toml --target-dir=../build \
  --target $target
Rscript tools/config.R
printf 'PKG_LIBS = %s -Wl,--gc-sections -Wl,--exclude-libs,ALL\n' \
  "$(realpath ../build/$target/debug/libsdcrisk.a)" >src/Makevars
# The library of the sanitizer is loaded before R: without it the package cannot be loaded.
R CMD INSTALL --no-multiarch --no-configure --no-test-load --no-docs --library=../library .
