#!/usr/bin/env sh
# What is left to do by hand before a release; what can be looked up is.
set -eu
version=$(sed -n 's/^Version: //p' DESCRIPTION)
echo "sdcRisk $version"
say() { printf '  [%s] %s\n' "$1" "$2"; }
if grep -q "^# sdcRisk $version" NEWS.md; then
  say x "NEWS.md has a heading for it"
else
  say ' ' "NEWS.md has no heading for it"
fi
if [ -z "$(git status --porcelain)" ]; then
  say x "nothing is uncommitted"
else
  say ' ' "there are uncommitted changes"
fi
if [ -f "check/sdcRisk_$version.tar.gz" ]; then
  say x "check/sdcRisk_$version.tar.gz is there: look that it is of this commit"
else
  say ' ' "make check: the source package, its manual and its vignettes"
fi
say ' ' "make bench and make truth, and read what changed in inst/extdata"
say ' ' "make crates: licences of the crates that ship, and open advisories"
say ' ' "put a real maintainer with an address into DESCRIPTION and CITATION.cff"
say ' ' "try it on Windows, macOS, the oldest and the newest R and rustc"
say ' ' "read a report of sdc_report() as a page, in both variants"
say ' ' "git tag v$version"
