#!/usr/bin/env sh
# Checks the crates of Cargo.lock: LICENSE.note names each that ships, in its version, with a
# licence; and none has an open advisory of RustSec, by cargo-audit, which is installed in
# target/audit where it is missing. ADVISORIES names a clone of RustSec's database, for
# machines without a network.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo tree --locked --manifest-path src/rust/Cargo.toml -e normal,build --prefix none \
  --target all | sed -n 's/^\([^ ]*\) v\([^ ]*\).*/\1 \2/p' | grep -v '^sdcrisk' |
  sort -u >"$work/ships"
grep -B1 '^  Licence: .' LICENSE.note | grep '^[a-zA-Z]' | sort -u >"$work/noted"
if ! diff "$work/ships" "$work/noted"; then
  echo "LICENSE.note is not that of Cargo.lock (<): run make vendor" >&2
  exit 1
fi
echo "$(wc -l <"$work/ships") crates ship, each with its licence in LICENSE.note"

PATH="$(pwd)/target/audit/bin:$PATH"
command -v cargo-audit >/dev/null ||
  cargo install --locked --quiet --root target/audit cargo-audit
set --
if [ -n "${ADVISORIES:-}" ]; then set -- --db "$ADVISORIES" --no-fetch --stale; fi
cargo-audit audit --file Cargo.lock "$@"
