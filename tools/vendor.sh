#!/usr/bin/env sh
# Writes what lets the source package build without a network:
#   src/rust/Cargo.lock          the workspace's lock, pruned to what ships
#   src/rust/vendor.tar.xz       the sources of all crates
#   src/rust/vendor-config.toml  where cargo finds them
# and LICENSE.note and inst/AUTHORS, their licences and authors.
set -eu
root=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Outside the workspace, with its lock: cargo then drops what only
# development needs and keeps every version.
mkdir "$work/rust"
cp -R src/rust/Cargo.toml src/rust/src "$work/rust/"
mkdir "$work/rust/core"
cp -R src/rust/core/Cargo.toml src/rust/core/src "$work/rust/core/"
# The benchmark is not there; its entry would be an error.
sed -i '/^\[\[bench\]\]/,/^$/d' "$work/rust/core/Cargo.toml"
cat src/rust/standalone.toml >>"$work/rust/Cargo.toml"
cp Cargo.lock "$work/rust/Cargo.lock"
cd "$work/rust"
cargo metadata --format-version 1 >/dev/null
cargo vendor --locked --versioned-dirs vendor >vendor-config.toml 2>vendor.log || { cat vendor.log >&2; exit 1; }
sed -i 's|^directory = .*|directory = "vendor"|' vendor-config.toml
LC_ALL=C.UTF-8 Rscript "$root/tools/licenses.R" vendor "$root/LICENSE.note" "$root/inst/AUTHORS"
# Tests, benchmarks and lists of changes do not build the package. Without them cargo must
# not look for them.
for crate in vendor/*; do
  (cd "$crate" && rm -rf tests benches examples ci doc docs ./*.orig Cargo.lock \
    CHANGELOG* RELEASES* FAQ* .github &&
    find src \( -name test.rs -o -name tests.rs \) -exec truncate -s 0 {} +)
  sed -i 's/"files":{[^}]*}/"files":{}/' "$crate/.cargo-checksum.json"
done
# Nor do crates that cargo only looks for: those of systems without atomic operations, and libc,
# which the ARM code of cpufeatures takes, while only the x86 code of chacha20 takes cpufeatures.
for crate in vendor/portable-atomic-* vendor/libc-*; do
  rm -rf "$crate/src"
  mkdir "$crate/src"
  touch "$crate/src/lib.rs"
done
XZ_OPT=-9e tar --sort=name --mtime='2026-01-01 00:00Z' --owner=0 --group=0 --numeric-owner \
  -cJf vendor.tar.xz vendor
cp Cargo.lock vendor-config.toml vendor.tar.xz "$root/src/rust/"
echo "src/rust/vendor.tar.xz: $(wc -c <vendor.tar.xz) bytes, $(ls vendor | wc -l) crates"
