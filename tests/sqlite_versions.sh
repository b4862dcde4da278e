#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The SQL tests, the generated ones among them, and the stories against other SQLites than the system's:
# the same programs and the same highwater.so, with another libsqlite3.so.0 in front. The extension is
# compiled against the headers of the oldest one too, so that it names nothing that came later.
# Case: F-01
#
# usage: tests/sqlite_versions.sh [--build DIR] [--jobs N] [--all | VERSION...]
#
# Without a version: the oldest and the newest of ext/packaging/sources.txt. --all: every one of them.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build jobs=1 versions=()
mapfile -t known < <(sed -n 's/^sqlite-\([0-9.]*\) .*/\1/p' ext/packaging/sources.txt | sort -V)
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    --all) versions=("${known[@]}") && shift ;;
    *) versions+=("$1") && shift ;;
    esac
done
[ "${#versions[@]}" -gt 0 ] || versions=("${known[0]}" "${known[-1]}")
failed=0
promised=$(sed -n 's/^#define EXT_SQLITE_OLDEST_TEXT "\(.*\)"/\1/p' ext/ext_version.h)
if [ "$promised" != "${known[0]}" ]; then
    echo "SQLite $promised is promised in ext/ext_version.h, but ${known[0]} is the oldest in ext/packaging/sources.txt"
    exit 1
fi

# Build that version's library; prints its folder.
library() {
    local source=$1 version=$2 folder
    folder=$(realpath -m "$build/sqlite/$version")
    if [ ! -e "$folder/libsqlite3.so.0" ]; then
        mkdir -p "$folder"
        ${CC:-cc} -O1 -w -shared -fPIC -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_MATH_FUNCTIONS \
            -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_PREUPDATE_HOOK \
            -Wl,-soname,libsqlite3.so.0 -o "$folder/library" "$source/sqlite3.c" -lm -ldl -lpthread
        mv "$folder/library" "$folder/libsqlite3.so.0"
    fi
    echo "$folder"
}

for version in "${versions[@]}"; do
    status=0
    source=$(ext/packaging/fetch.sh "sqlite-$version") || status=$?
    if [ "$status" -eq 75 ]; then
        echo "SQLite $version SKIPPED: npm's registry does not answer"
        continue
    elif [ "$status" -ne 0 ]; then
        failed=1
        continue
    fi
    if [ "$version" = "${known[0]}" ]; then
        echo "--- compiling ext/ against SQLite $version"
        find ext -maxdepth 2 -name '*.c' -not -path 'ext/live/*' -print0 | sort -z | xargs -0 -n 8 -P "$jobs" "${CC:-cc}" -std=c11 -fsyntax-only \
            -Wall -Wextra -Werror -I. -I"$source" || failed=1
    fi
    folder=$(library "$source" "$version")
    echo "--- tests against SQLite $version"
    tests/run.sh --build "$build" --jobs "$jobs" --timeout 300 --wrap "env LD_LIBRARY_PATH=$folder" sql golden || failed=1
done
exit "$failed"
