#!/usr/bin/env sh
# Runs a command in a bare Debian, at /sdcRisk, which holds the files that git knows and the
# source package of check/:
#   root.sh <suite> <command>
# The root is made by debootstrap in target/roots/ and kept. Needs the rights of root.
set -eu
suite=$1
command=$2
sh tools/setup.sh roots
root=$(pwd)/target/roots/$suite
if [ ! -f "$root/made" ]; then
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" \
    http://deb.debian.org/debian >"$root.log"
  touch "$root/made"
fi
rm -rf "$root/sdcRisk"
mkdir -p "$root/sdcRisk/check"
git ls-files -z --cached --others --exclude-standard |
  tar --null --files-from=- -cf - | tar -C "$root/sdcRisk" -xf -
cp check/sdcRisk_*.tar.gz "$root/sdcRisk/check/" 2>/dev/null || true
# What is mounted is gone when the command has ended.
unshare --mount sh -c '
  mount -t proc proc "$1/proc"
  exec chroot "$1" env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive sh -c "PATH=\$HOME/.cargo/bin:\$PATH; cd /sdcRisk && $2"
' sh "$root" "$command"
