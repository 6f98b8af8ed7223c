#!/usr/bin/env sh
# Builds and installs the package from this checkout into the first library of
# R, which is the user's own where the system's cannot be written.
set -eu
mkdir -p "$(Rscript -e 'cat(path.expand(Sys.getenv("R_LIBS_USER")))')"
R CMD INSTALL --no-multiarch .
