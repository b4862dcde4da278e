#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs the experiments of sql/ and compares what they print with sql/NAME.out, word for word.
# Each runs as a user would run it, `sqlite3 <sql/NAME.sql`, but in a fresh directory that holds
# links to highwater.so, sql/ and tests/; a script that wants its database in a file says `.open exp.db`.
#
# usage: tests/experiments.sh [--rewrite | --show] [--build DIR] [FILE.sql...]
#
#   --rewrite  put what was printed into the .out files
#   --show     print it too
#
# SQLITE3 in the environment is the shell to use.
set -euo pipefail
cd "$(dirname "$0")/.."

rewrite= show= build=build
while [ $# -gt 0 ]; do
    case $1 in
    --rewrite) rewrite=yes && shift ;;
    --show) show=yes && shift ;;
    --build) build=$2 && shift 2 ;;
    *) break ;;
    esac
done
shopt -s nullglob
[ $# -gt 0 ] || set -- sql/*.sql

# As Linux names it, or Windows.
extension=$(realpath "$build"/highwater.[sd][ol]*)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

for script in "$@"; do
    name=$(basename "$script" .sql)
    expected=${script%.sql}.out
    mkdir "$scratch/$name"
    ln -s "$extension" "$scratch/$name"
    ln -s "$PWD/sql" "$scratch/$name/sql"
    ln -s "$PWD/tests" "$scratch/$name/tests"
    input=$(realpath "$script")
    status=0
    # An SQL error is a part of the output (the shell ends with 1); a signal is not.
    (cd "$scratch/$name" && ${SQLITE3:-sqlite3} -batch -init /dev/null :memory: \
        <"$input" >"$scratch/$name.out" 2>&1) || status=$?
    [ -z "$show" ] || cat "$scratch/$name.out"
    if [ "$status" -gt 1 ]; then
        echo "$script: the shell ended with status $status"
        tail -n 20 "$scratch/$name.out"
        failed=$((failed + 1))
    elif [ -n "$rewrite" ]; then
        cp "$scratch/$name.out" "$expected"
        passed=$((passed + 1))
    elif diff -u --label "$expected" --label printed "$expected" "$scratch/$name.out"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    rm -rf "${scratch:?}/$name"
done
echo "experiments: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
