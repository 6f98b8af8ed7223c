#!/usr/bin/env sh
# Builds the source package with vendored crates and its vignettes in check/, from the files git
# knows, so that neither build products nor stray files can get into it, and installs it in
# check/library: the vignettes are rendered with it, and tools/check.sh takes it.
set -eu
sh tools/vendor.sh
rm -rf check/source check/library
mkdir -p check/source/sdcRisk check/library
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
R CMD build --no-build-vignettes source/sdcRisk
# The table of symbols is what `R CMD check` looks for in what it installs itself.
_R_SHLIB_BUILD_OBJECTS_SYMBOL_TABLES_=true \
  R CMD INSTALL --library=library sdcRisk_*.tar.gz >install.log 2>&1 ||
  { cat install.log >&2; exit 1; }
# Without its vignettes it is no source package.
rm sdcRisk_*.tar.gz
(cd source/sdcRisk && R_LIBS="../../library:${R_LIBS:-}" Rscript ../../../tools/vignettes.R --render)
R CMD build --no-build-vignettes source/sdcRisk
ls -l sdcRisk_*.tar.gz
