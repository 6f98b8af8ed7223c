#!/usr/bin/env sh
# Installs what is missing on a Debian-like machine:
#   setup.sh demo   to build the package and draw its pictures
#   setup.sh test   also to test and check it
#   setup.sh site   also to build the documentation site
#   setup.sh coverage   also to measure coverage
#   setup.sh spark   to test on Apache Spark: Java, rJava, and Spark itself (500 MB) in
#                    target/spark, from its Python package
#   setup.sh duckdb   to test on DuckDB without its R package, by that of Python
#   setup.sh windows   to build and test for Windows
#   setup.sh roots   to make roots of other Debians
#   setup.sh targets   to check the Rust code for other systems
# Cargo is expected (rustup); crates come with the build.
set -eu

packages="r-base-core r-base-dev r-cran-cli r-cran-rlang r-cran-tidyselect r-cran-generics r-cran-jsonlite r-cran-ggplot2"
if [ "${1:-demo}" != demo ]; then
  packages="$packages r-cran-testthat r-cran-lintr r-cran-roxygen2 r-cran-knitr
    r-cran-rmarkdown r-cran-tibble r-cran-tidyr r-cran-data.table r-cran-dplyr r-cran-vctrs r-cran-haven r-cran-xml2
    r-cran-dbplyr r-cran-dbi r-cran-rsqlite r-cran-rpostgresql postgresql
    r-cran-bit64 r-cran-callr r-cran-processx r-cran-survey r-cran-pls r-cran-mvtnorm r-cran-shiny r-cran-miniui r-cran-spelling r-cran-rstudioapi
    hunspell-en-gb neovim pandoc qpdf devscripts tidy xz-utils"
fi
[ "${1:-demo}" = site ] && packages="$packages r-cran-pkgdown"
[ "${1:-demo}" = coverage ] && packages="$packages r-cran-covr"
[ "${1:-demo}" = spark ] && packages="$packages r-cran-rjava default-jre-headless python3-venv"
[ "${1:-demo}" = duckdb ] && packages="$packages python3-venv"
[ "${1:-demo}" = roots ] && packages="debootstrap"
[ "${1:-demo}" = windows ] && packages="$packages gcc-mingw-w64-x86-64 wine64 wine"

missing=""
for package in $packages; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
    missing="$missing $package"
done

if [ -n "$missing" ]; then
  echo "Installing:$missing"
  as_root=""
  [ "$(id -u)" -eq 0 ] || as_root="sudo"
  $as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends \
    $missing >/dev/null
fi

if [ "${1:-demo}" = spark ] && ! ls target/spark/lib/*/site-packages/pyspark/jars >/dev/null 2>&1
then
  echo "Installing Apache Spark in target/spark"
  rm -rf target/spark
  python3 -m venv target/spark
  target/spark/bin/pip install --quiet --disable-pip-version-check pyspark==4.3.0
fi

if [ "${1:-demo}" = duckdb ] && ! target/duckdb/bin/python3 -c "import duckdb" 2>/dev/null; then
  rm -rf target/duckdb
  python3 -m venv target/duckdb
  target/duckdb/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.0
fi

if ! command -v cargo >/dev/null 2>&1; then
  echo "cargo is missing: install Rust with rustup, see https://rust-lang.org/tools/install" >&2
  exit 1
fi

case "${1:-demo}" in
windows) rustup target add x86_64-pc-windows-gnu ;;
targets) rustup target add x86_64-pc-windows-gnu aarch64-apple-darwin x86_64-apple-darwin \
  wasm32-unknown-emscripten ;;
esac
