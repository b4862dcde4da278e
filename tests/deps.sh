#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Sees to it that what highwater needs is there. Looks at the tools and libraries themselves, not at
# a package database, so a compiler or an SQLite of your own counts; when nothing is missing it does
# nothing and needs no network.
#
# usage: tests/deps.sh [--check] GROUP...
#
#   build  a compiler, SQLite's headers, the compression libraries
#   test   cmocka and the sqlite3 shell
#   live   librdkafka: for highwater_live.so and `make live`
#   page   a browser, node and npm: for `make page`
#   dev    clang and its tools, valgrind, python3: for `make check`
#   bare   debootstrap: for `make bare`
#   ports  musl, cross compilers, an emulator of their processors: for `make ports`
#   pip    a Python that makes environments: for `make live-newest`
#   npm    npm, which brings other SQLites: for `make sqlite-versions`
#   amalgamation  python3: for `make amalgamation`
#   windows       wine: for `make windows`
#   packages      a Python that makes environments and loads extensions, emulators, debhelper: for `make packages`
#
# Root on Debian or a relative of it: missing packages are installed with apt-get. Otherwise, and
# with --check, it names them and fails.
set -euo pipefail

CC=${CC:-cc}

has_command() { command -v "$1" >/dev/null 2>&1; }

# Does a program that includes these headers (first argument) link with these flags (the rest)?
links() {
    local headers=$1
    shift
    { printf '#include <%s>\n' $headers; echo 'int main(void) { return 0; }'; } |
        "$CC" -x c - -o /dev/null "$@" >/dev/null 2>&1
}

fuzzer_links() {
    echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -x c - -fsanitize=fuzzer,address -o /dev/null >/dev/null 2>&1
}

# The Debian packages of one group that are missing.
missing_of() {
    case $1 in
    build)
        has_command "$CC" || echo gcc
        has_command make || echo make
        has_command pkg-config || echo pkg-config
        links stdio.h || echo libc6-dev
        links sqlite3ext.h || echo libsqlite3-dev
        links zlib.h -lz || echo zlib1g-dev
        links 'lz4.h lz4frame.h' -llz4 || echo liblz4-dev
        links snappy-c.h -lsnappy || echo libsnappy-dev
        links zstd.h -lzstd || echo libzstd-dev
        ;;
    test)
        has_command sqlite3 || echo sqlite3
        links sqlite3.h -lsqlite3 || echo libsqlite3-dev
        links 'stdarg.h stddef.h stdint.h setjmp.h cmocka.h' -lcmocka || echo libcmocka-dev
        ;;
    dev)
        has_command gcc || echo gcc
        has_command clang || echo clang
        has_command clang-format || echo clang-format
        has_command clang-tidy || echo clang-tidy
        has_command valgrind || echo valgrind
        has_command python3 || echo python3
        fuzzer_links || echo libclang-rt-14-dev
        ;;
    bare)
        has_command debootstrap || echo debootstrap
        has_command unshare || echo util-linux
        ;;
    ports)
        has_command musl-gcc || echo musl-tools
        has_command s390x-linux-gnu-gcc || echo gcc-s390x-linux-gnu libc6-dev-s390x-cross
        has_command i686-linux-gnu-gcc || echo gcc-i686-linux-gnu libc6-dev-i386-cross
        has_command qemu-s390x-static || echo qemu-user-static
        ;;
    npm)
        has_command npm || echo npm
        ;;
    pip)
        /usr/bin/python3 -c 'import venv, ensurepip, sqlite3' 2>/dev/null || echo python3 python3-venv
        ;;
    packages)
        missing_of pip
        has_command qemu-aarch64-static || echo qemu-user-static
        has_command musl-gcc || echo musl-tools
        [ -d /usr/aarch64-linux-gnu/lib ] || echo libc6-arm64-cross
        has_command dpkg-buildpackage || echo dpkg-dev
        has_command dh || echo debhelper
        has_command lintian || echo lintian
        has_command debootstrap || echo debootstrap
        has_command go || echo golang-go
        ;;
    windows)
        has_command wine || echo wine wine64
        has_command objdump || echo binutils
        ;;
    live)
        has_command pkg-config || echo pkg-config
        pkg-config --exists 'rdkafka >= 2.0.2' 2>/dev/null || echo librdkafka-dev
        ;;
    amalgamation)
        has_command python3 || echo python3
        ;;
    page)
        has_command chromium || echo chromium
        has_command firefox-esr || echo firefox-esr
        has_command python3 || echo python3
        has_command node || echo nodejs
        has_command npm || echo npm
        ;;
    *)
        echo "tests/deps.sh: no group $1; there are build, test, live, page, dev, bare, ports, pip, npm, amalgamation, packages and windows" >&2
        exit 2
        ;;
    esac
}

missing() {
    local group
    for group in "$@"; do
        missing_of "$group"
    done | sort -u | paste -sd ' ' -
}

check_only=
if [ "${1:-}" = --check ]; then
    check_only=yes
    shift
fi
packages=$(missing "$@")
[ -n "$packages" ] || exit 0

if [ -n "$check_only" ]; then
    echo "highwater needs what these Debian packages hold: $packages" >&2
    echo "\`make deps\` installs them, or: sudo apt-get install -y $packages" >&2
    exit 1
fi
if ! has_command apt-get; then
    echo "highwater needs what these packages hold (Debian's names): $packages" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "Some packages are missing. Install them, then run this again:" >&2
    echo "  sudo apt-get install -y $packages" >&2
    exit 1
fi

echo "installing $packages"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# $packages is a list of words.
apt-get -qq install -y $packages >/dev/null

packages=$(missing "$@")
if [ -n "$packages" ]; then
    echo "still missing after apt-get install: $packages" >&2
    exit 1
fi
