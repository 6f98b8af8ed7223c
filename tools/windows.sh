#!/usr/bin/env sh
# Builds the package's library for Windows on Linux and runs the core's tests under Wine.
# The Makefiles are those that R for Windows uses, except that the compiler is Debian's and
# that the library of R holds all names that R on this machine exports.
set -eu
sh tools/setup.sh windows
triple=x86_64-pc-windows-gnu
gnu=x86_64-w64-mingw32
root=$(pwd)
work=$root/target/windows
sources=$work/sdcRisk
rm -rf "$sources"
mkdir -p "$sources" "$work/rust"
git ls-files -z --cached --others --exclude-standard -- DESCRIPTION src tools |
  tar --null --files-from=- -cf - | tar -C "$sources" -xf -
# The build removes its folder, here a link to one that stays.
ln -s "$work/rust" "$sources/src/rust/target"

r_home() { Rscript -e "cat(R.home('$1'))"; }
{
  echo "LIBRARY R.dll"
  echo EXPORTS
  nm -D --defined-only "$(r_home lib)/libR.so" |
    sed -n -e 's/^[0-9a-f]* T //p' -e 's/^[0-9a-f]* [BDR] \(.*\)/\1 DATA/p'
} >"$work/R.def"
$gnu-dlltool -d "$work/R.def" -l "$work/libR.dll.a"

cd "$sources"
SDCRISK_TARGET=$triple Rscript tools/config.R
cd src
make -f Makevars.win -f "$(r_home share)/make/winshlib.mk" SHLIB=sdcRisk.dll OBJECTS=entrypoint.o \
  CC=$gnu-gcc CPPFLAGS="-I$(r_home include)" NM=$gnu-nm SHLIB_LD=$gnu-gcc SHLIB_LDFLAGS=-shared \
  DLLFLAGS="-s -static-libgcc" ALL_LIBS='$(PKG_LIBS) -L'"$work"' -lR'

# Names that the library takes from R.
$gnu-objdump -p sdcRisk.dll |
  sed -n '/DLL Name: R.dll/,/^$/s/^\t[0-9a-f]\{1,\}\t *[0-9]\{1,\} *//p' | sort >"$work/imports"
Rscript - "$work/imports" <<'CHECK'
imports <- readLines(commandArgs(TRUE))
# Names that R 4.5 and newer calls non-API, beside those of this R.
not_api <- c(tools:::nonAPI, "BODY", "CLOENV", "DATAPTR", "ENCLOS", "FORMALS")
found <- intersect(imports, not_api)
cat("sdcRisk.dll:", length(imports), "names of R,", length(found), "not of its API,",
  file.size("sdcRisk.dll"), "bytes\n"
)
if (length(imports) == 0 || length(found)) stop(paste(found, collapse = ", "))
CHECK

cd "$root"
# Wine before version 9 lacks the random numbers that the standard library asks for.
wine_path=$work/wine
mkdir -p "$wine_path"
printf '%s\n' 'int SystemFunction036(void *, unsigned long);' \
  'int ProcessPrng(void *to, unsigned long long n) { return SystemFunction036(to, n); }' \
  >"$work/random.c"
$gnu-gcc -shared -o "$wine_path/bcryptprimitives.dll" "$work/random.c" -ladvapi32
export WINEPREFIX="$work/prefix" WINEDEBUG=-all WINEPATH="Z:$wine_path"
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
cargo test --locked -p sdcrisk-core --lib --target $triple
