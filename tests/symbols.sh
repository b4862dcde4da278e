#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The entry points alone leave the library, so that it can be loaded into any process; and core/ keeps no
# variable outside its objects, so that two clusters in one process never meet.
#
# usage: tests/symbols.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
status=0

exported=$(nm -D --defined-only "$build/highwater.so" | awk '{ print $3 }' | sort)
entries=$'sqlite3_highwater_init\nsqlite3_highwater_readonly_init'
if [ "$exported" != "$entries" ]; then
    echo "$build/highwater.so exports"
    printf '%s\n' "$exported"
    echo 'and should export these only:'
    printf '%s\n' "$entries"
    status=1
fi

# The second library, where it was built. What it takes of librdkafka's newer versions is weak, not its own.
if [ -e "$build/highwater_live.so" ]; then
    exported=$(nm -D --defined-only "$build/highwater_live.so" | awk '{ print $3 }')
    if [ "$exported" != sqlite3_highwaterlive_init ]; then
        printf '%s exports\n%s\nand should export sqlite3_highwaterlive_init only\n' "$build/highwater_live.so" "$exported"
        status=1
    fi
fi

# Constants that hold pointers are in .data.rel.ro: nobody writes to them.
variables=$(find core -name '*.c' | sort | sed "s|^|$build/|; s|c\$|o|" |
    xargs -r nm --print-file-name --format=sysv | tr -d ' ' |
    awk -F'|' '$NF ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $NF !~ /^\.data\.rel\.ro/ {
        print $1
    }')
if [ -n "$variables" ]; then
    echo "variables of core/ that outlive a call:"
    printf '%s\n' "$variables"
    status=1
fi
exit "$status"
