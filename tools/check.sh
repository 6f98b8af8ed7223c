#!/usr/bin/env sh
# Checks the source package in check/ as CRAN does, and fails on anything but
# Status: OK or the note on a new submission. Arguments go to R CMD check.
set -eu
cd check
export _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_=true
export _R_CHECK_SYSTEM_CLOCK_=0
# The compiled core has 7.8 MB, R code, help and data 4.3 MB, and vignettes with their
# pictures 2.3 MB, if they are installed. The note on sizes begins above 15 MB.
export _R_CHECK_PKG_SIZES_THRESHOLD_=15
# The source package is to stay below 5 MB, for which R 4.2 looks and newer ones do not.
export _R_CHECK_CRAN_INCOMING_TARBALL_THRESHOLD_=5e6
# The check wants a UTF-8 locale and does not find one by itself everywhere.
case $(locale charmap) in UTF-8) ;; *) export LC_ALL=C.UTF-8 ;; esac
R CMD check --as-cran --no-manual "$@" sdcRisk_*.tar.gz
log=sdcRisk.Rcheck/00check.log
if grep -q '^Status: OK' "$log"; then exit 0; fi
if grep -q '^Status: 1 NOTE' "$log" && grep -q 'New submission' "$log"; then exit 0; fi
exit 1
