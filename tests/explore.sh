#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What hw_explore() must find, and what it must not: each line of tests/data/explore.txt is one exploration with its
# verdict, the promise that is broken and how long the shortest run is. Prints states, calls and time of each.
#
# usage: tests/explore.sh [--build DIR] [--large]
#
#   --large   those that take minutes too
set -euo pipefail
cd "$(dirname "$0")/.."

build=build large=
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    --large) large=1 && shift ;;
    *) echo "tests/explore.sh: what is $1?" >&2 && exit 2 ;;
    esac
done
extension=$(realpath "$build/highwater.so")
passed=0 failed=0 left_out=0

explore() {
    sqlite3 -batch -init /dev/null -separator ' ' -cmd ".load $extension" :memory: \
        "CREATE TEMP TABLE set_ AS SELECT configure(value ->> 0, value ->> 1) FROM json_each('$1');
         CREATE TEMP TABLE run AS SELECT * FROM hw_explore('$2');
         SELECT verdict || ' ' || coalesce(broken, '-') || ' ' || (SELECT coalesce(max(step), 0) FROM run),
                states || ' states, ' || transitions || ' calls, ' || seconds || ' s' FROM hw_explorations;" 2>&1
}

while IFS=$'\t' read -r size settings options expected; do
    case $size in
    '' | '#'*) continue ;;
    large) [ -n "$large" ] || { left_out=$((left_out + 1)) && continue; } ;;
    esac
    got=$(explore "$settings" "$options")
    if [ "${got#"$expected "}" != "$got" ]; then
        passed=$((passed + 1))
        printf '%s  %s\n    %s: %s\n' "$settings" "$options" "$expected" "${got#"$expected "}"
    else
        failed=$((failed + 1))
        printf 'NOT SO: %s  %s\n    expected %s\n    got      %s\n' "$settings" "$options" "$expected" "$got"
    fi
done <tests/data/explore.txt

[ "$left_out" -eq 0 ] || echo "$left_out large ones left out: --large takes them too"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
