#!/usr/bin/env sh
# Builds what a release needs in check/, without a network: the source package and a binary
# for this system. Says what is left to do by hand, and fails as long as DESCRIPTION does not
# name a maintainer to whom CRAN can write.
set -eu
export CARGO_NET_OFFLINE=true
sh tools/tarball.sh
version=$(sed -n 's/^Version: //p' DESCRIPTION)
cd check
rm -rf library
mkdir library
SDCRISK_LTO=1 R CMD INSTALL --build --library=library "sdcRisk_$version.tar.gz"
installed=$(du -sk library/sdcRisk | cut -f 1)
cd ..

echo "sdcRisk $version"
say() { printf '  [%s] %s\n' "$1" "$2"; }
holds() { if eval "$1"; then say x "$2"; else say ' ' "$2"; fi; }
for file in check/sdcRisk_*.tar.gz; do
  say x "$file: $(wc -c <"$file") bytes"
done
say x "installed: $installed kB"
holds 'grep -q "^# sdcRisk $version" NEWS.md' "NEWS.md has a heading for it"
holds '[ -z "$(git status --porcelain)" ]' "everything is committed"
say ' ' "make check and make check-next: Status OK with R 4.2 and R 4.5"
say ' ' "make test-windows and make check-targets; win-builder and mac-builder of CRAN"
say ' ' "make bench and make truth, and read what changed in inst/extdata"
say ' ' "make crates: licences of the crates that ship, and open advisories"
say ' ' "read a report of sdc_report() as a page, in both variants"
say ' ' "cran-comments.md, CITATION.cff, git tag v$version"
if tools/maintainer; then
  say x "DESCRIPTION names the maintainer"
else
  say ' ' "the maintainer: tools/maintainer \"Given Family\" address"
  exit 1
fi
