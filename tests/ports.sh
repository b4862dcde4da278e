#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds core/ and its tests for other C libraries and processors, linked statically with pinned codec
# sources, and runs them: x86_64 with musl, 64 bits big-endian, 32 bits, and 64-bit ARM. Case: F-25
#
# usage: tests/ports.sh [--jobs N] [PORT...]       PORT: musl s390x i686 aarch64; default: the first three
#
# TESTS in the environment narrows it, as for tests/run.sh. A port whose compiler or emulator cannot be
# installed is a failure that says so; sources that cannot be fetched are said, and are none.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=1
if [ "${1:-}" = --jobs ]; then
    jobs=$2 && shift 2
fi
[ $# -gt 0 ] || set -- musl s390x i686
failed=0

status=0
fetched=$(ext/packaging/fetch.sh zlib lz4 zstd cmocka) || status=$?
if [ "$status" -eq 75 ]; then
    echo 'ports SKIPPED: the sources that they are linked with cannot be fetched'
    exit 0
fi
[ "$status" -eq 0 ] || exit "$status"
cmocka=$(tail -n 1 <<<"$fetched")

port() {
    local cc=$1 ar=$2 folder=build/ports/$3 emulator=$4 opt=${5:--O1}
    CC=$cc AR=$ar JOBS=$jobs CFLAGS=-O1 ext/packaging/codecs.sh "$folder/codecs"
    $cc -O1 -w -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -DHAVE_STRINGS_H -DHAVE_STRSIGNAL -DHAVE_SIGLONGJMP \
        -DHAVE_GCC_THREAD_LOCAL_STORAGE -D_GNU_SOURCE -I"$cmocka/include" \
        -c "$cmocka/src/cmocka.c" -o "$folder/cmocka.o"
    # The libraries are there: the Makefile need not look for the system's.
    touch "$folder/libraries"
    make --no-print-directory -j"$jobs" BUILD="$folder" CC="$cc" AR="$ar" OPT="$opt" SQLITE_CFLAGS= \
        CFLAGS="$(ext/packaging/codecs.sh --includes) -I$cmocka/include" LDFLAGS=-static \
        CMOCKA_LIBS="$folder/cmocka.o" CODEC_LIBS="$folder/codecs/libcodecs.a" core-programs >"$folder/make.log" 2>&1 ||
        { tail -n 20 "$folder/make.log" && return 1; }
    HW_TEST_QUICK=1 tests/run.sh --build "$folder" --jobs "$jobs" --timeout 900 --wrap "$emulator" core
}

for name in "$@"; do
    case $name in
    musl) set -- musl-gcc ar musl '' ;;
    s390x | aarch64) set -- "$name-linux-gnu-gcc" "$name-linux-gnu-ar" "$name" "qemu-$name-static" ;;
    # The old registers of x86 compute with more than a double holds, and tests compare rates exactly.
    i686) set -- i686-linux-gnu-gcc i686-linux-gnu-ar i686 qemu-i386-static '-O1 -msse2 -mfpmath=sse' ;;
    *) echo "tests/ports.sh: what is $name?" >&2 && exit 2 ;;
    esac
    echo "--- $name"
    port "$@" || failed=1
done
exit "$failed"
