#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The library for Windows, compiled by zig and run under wine: the cases of the store over its files, and the
# experiments in a sqlite3.exe.
#
# usage: tests/windows.sh
#
# Left out of the experiments are those that take a shell of Unix, minutes, or the last digit of a logarithm.
set -euo pipefail
cd "$(dirname "$0")/.."
ext/packaging/packages.sh --fetch
zig="$PWD/build/packages/tools/bin/python -m ziglang"
work=$PWD/build/windows
export WINEPREFIX=$work/wine WINEDEBUG=-all DISPLAY=
mapfile -t sources < <(ext/packaging/fetch.sh shell-3.44.2 cmocka)
log=$work/log
. tests/check.sh

compile() { $zig cc -target x86_64-windows-gnu -std=gnu11 -O1 -w -fno-sanitize=undefined "$@"; }
library() {
    ext/packaging/amalgamate.py build/amalgamation &&
        ZIG=$zig ext/packaging/libraries.sh "$work/libraries" windows-x86_64 && cp "$work/libraries/windows-x86_64/highwater.dll" "$work"
}
exports_the_entry_points() {
    diff <(entries) \
        <(objdump -p "$work/highwater.dll" | awk '/^\[Ordinal\/Name Pointer\] Table/ { on = 1; next } /^$/ { on = 0 } on { print $NF }' | sort)
}
shell() { compile -DSQLITE_ENABLE_MATH_FUNCTIONS -o "$work/sqlite3.exe" "${sources[0]}/shell.c" "${sources[0]}/sqlite3.c"; }

# What the tests take of POSIX, and Windows has otherwise.
store_test() {
    cat >"$work/posix.h" <<'END'
#include <stdio.h>
char *mkdtemp(char *path);
int remove_any(const char *path);
#ifndef HERE
#define remove remove_any
#endif
END
    cat >"$work/posix.c" <<'END'
#define HERE
#include "posix.h"
#include <direct.h>
#include <io.h>
char *mkdtemp(char *path) { return _mktemp(path) != NULL && _mkdir(path) == 0 ? path : NULL; }
int remove_any(const char *path) { return _rmdir(path) == 0 ? 0 : remove(path); }
END
    compile -c "$work/posix.c" -o "$work/posix.o"
    compile -include "$work/posix.h" -DHAVE_INTTYPES_H -I. -I"${sources[1]}/include" -o "$work/test_io_store.exe" tests/test_io_store.c \
        tests/support_{directory,heap,faulty_store,faulty_record,store}.c core/io/*.c core/base/*.c "${sources[1]}/src/cmocka.c" \
        ext/packaging/zig/cpu_model.c "$work/posix.o"
}
run_store_test() { TMPDIR=$work timeout 300 wine "$work/test_io_store.exe"; }

# The shell as tests/experiments.sh calls it: its lines end as those of Unix.
experiments() {
    cat >"$work/sqlite3" <<'END'
#!/bin/sh
timeout 120 wine "$(dirname "$(realpath "$0")")/sqlite3.exe" -batch -init NUL :memory: 2>&1 | tr -d '\r'
END
    chmod +x "$work/sqlite3"
    SQLITE3=$work/sqlite3 tests/experiments.sh --build "$work" $(ls sql/[0-9]*.sql | grep -vE '/(24|25|27|34|60|61)_')
}

mkdir -p "$work"
check 'the library for Windows' library
check 'it exports the entry points only' exports_the_entry_points
check 'a shell of SQLite for Windows' shell
check 'the test of the store for Windows' store_test
check 'the cases of the store, under wine' run_store_test
check 'experiments, under wine' experiments
tail -n 1 "$log"
echo "windows: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
