#!/usr/bin/env sh
# Checks the core and the glue for the systems that R runs on, webR's in a browser among them.
set -eu
sh tools/setup.sh targets
for triple in x86_64-pc-windows-gnu aarch64-apple-darwin x86_64-apple-darwin \
  wasm32-unknown-emscripten; do
  cargo check --quiet --workspace --locked --target "$triple"
  echo "$triple: core and glue checked"
done
