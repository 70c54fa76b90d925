#!/bin/sh
# Builds the C library and installs it: header, shared and static library, pkg-config file.
#
#   include/install.sh [PREFIX]     PREFIX is /usr/local by default; packagers set DESTDIR, which is put before it
set -eu

case "${1:-/usr/local}" in
    /*) prefix="${1:-/usr/local}" ;;
    *) echo "usage: include/install.sh [PREFIX], an absolute path" >&2; exit 2 ;;
esac
to="${DESTDIR:-}$prefix"
cd "$(dirname "$0")/.."
header=include/hermes_spawn.h
defined() { sed -n "s/^#define $1 \"*\([^\"]*\)\"*\$/\1/p" $header; }
shared="libhermes_spawn.so.$(defined HERMES_ABI_VERSION)"

# Without the program and what only that needs.
"${CARGO:-cargo}" build --release --locked --lib --no-default-features
built="${CARGO_TARGET_DIR:-target}/release"

install -d "$to/include" "$to/lib/pkgconfig"
install -m 644 $header "$to/include"
install -m 755 "$built/libhermes_spawn.so" "$to/lib/$shared"
# What the linker looks for at build time; programs look for the name with the version.
ln -sf "$shared" "$to/lib/libhermes_spawn.so"
install -m 644 "$built/libhermes_spawn.a" "$to/lib"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$(defined HERMES_VERSION_STRING)|" include/hermes_spawn.pc.in \
    > "$to/lib/pkgconfig/hermes_spawn.pc"
