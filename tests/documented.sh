#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Everything that loading the extension adds - functions, tables and their columns - has a row in
# hw_help and stands in ext/README.md. SQLite itself is asked what was added, so nothing has to be
# kept in step with the source.
#
# A function counts as documented where the file has `name(`, a table or a column where it has the
# word.
#
# usage: tests/documented.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
extension=$(realpath "$1/highwater.so")
manual=ext/README.md
status=0

# In `kind name` lines what the functions and modules are before and after loading.
kinds='SELECT DISTINCT '\''function '\'' || name FROM pragma_function_list
    UNION SELECT '\''table '\'' || name FROM pragma_module_list'
ask() { sqlite3 -batch -bail -init /dev/null -cmd ".load $extension" :memory: "$1"; }

# A topic's columns are those of the module.
columns="CREATE VIRTUAL TABLE topic USING highwater();
    SELECT iif(m.name = 'topic', 'highwater', m.name) || '.' || c.name
    FROM (SELECT name FROM pragma_module_list WHERE name GLOB 'hw_*' OR name GLOB 'kafka_*'
          UNION SELECT 'topic') m, pragma_table_xinfo(m.name) c"

added=$(comm -13 <(sqlite3 -batch -init /dev/null :memory: "$kinds" | sort) <(ask "$kinds" | sort))
helped=$(ask "SELECT name FROM hw_help WHERE kind NOT IN ('column', 'config', 'promise')")
added_columns=$(ask "$columns")
helped_columns=$(ask "SELECT name FROM hw_help WHERE kind = 'column'")
if [ -z "$added" ] || [ -z "$helped" ]; then
    echo "loading $extension adds nothing, or hw_help is empty"
    exit 1
fi

missing() {
    echo "$1"
    status=1
}

while read -r kind name; do
    case $kind in
    function)
        grep -qE "(^|[^A-Za-z0-9_])$name\(" "$manual" || missing "$manual lacks $name()"
        ;;
    table)
        grep -qw "$name" "$manual" || missing "$manual lacks the table $name"
        ;;
    esac
    grep -qx "$name" <<<"$helped" || missing "hw_help lacks $name"
done <<<"$added"

while read -r name; do
    grep -qw "${name#*.}" "$manual" || missing "$manual lacks the column $name"
    grep -qx "$name" <<<"$helped_columns" || missing "hw_help lacks $name"
done <<<"$added_columns"

for name in $helped; do
    grep -q " $name\$" <<<"$added" || missing "hw_help has $name, which does not exist"
done
# The release that protocol=kafka means is the one that the interop tests compare with.
release=$(sed -n 's|.*<kafka.version>\(.*\)</kafka.version>.*|\1|p' tests/interop/pom.xml)
grep -q "release $release," "$manual" || missing "$manual does not say that kafka is release $release"

# The second library, where it was built: its manual is another one.
live=$(realpath "$1")/highwater_live.so
manual=ext/live/README.md
if [ -e "$live" ]; then
    ask_live() { sqlite3 -batch -bail -init /dev/null -cmd ".load $live" :memory: "$1"; }
    while read -r kind name; do
        case $kind in
        function) grep -qE "(^|[^A-Za-z0-9_])$name\(" "$manual" || missing "$manual lacks $name()" ;;
        table) grep -qw "$name" "$manual" || missing "$manual lacks the table $name" ;;
        esac
    done < <(comm -13 <(sqlite3 -batch -init /dev/null :memory: "$kinds" | sort) <(ask_live "$kinds" | sort))
    while read -r name; do
        grep -qw "$name" "$manual" || missing "$manual lacks the column $name"
    done < <(ask_live "SELECT DISTINCT c.name FROM pragma_module_list m, pragma_table_xinfo(m.name) c WHERE m.name GLOB 'live_*'")
fi
exit "$status"
