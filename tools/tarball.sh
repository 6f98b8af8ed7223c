#!/usr/bin/env sh
# Builds the source package with vendored crates in check/, from the files git
# knows, so that neither build products nor stray files can get into it.
set -eu
sh tools/vendor.sh
rm -rf check/source
mkdir -p check/source/sdcRisk
git ls-files -z --cached --others --exclude-standard |
  tar --null --files-from=- -cf - | tar -C check/source/sdcRisk -xf -
cp src/rust/Cargo.lock src/rust/vendor-config.toml src/rust/vendor.tar.xz \
  check/source/sdcRisk/src/rust/
# Without the developers' workspace the package builds as a tarball does.
rm -f check/source/sdcRisk/Cargo.toml check/source/sdcRisk/Cargo.lock
# Test files that CRAN skips as a whole would take a tenth of the 5 MB.
grep -l '^skip_on_cran()' check/source/sdcRisk/tests/testthat/*.R | xargs rm
cd check
rm -f sdcRisk_*.tar.gz
R CMD build source/sdcRisk
ls -l sdcRisk_*.tar.gz
