#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# One C file of everything: does it compile without a warning, is a library of it the library, and does a
# shell that has it built in, with SQLite's own amalgamation, replicate? Case: F-25
#
# usage: tests/amalgamation.sh [FOLDER]      default: build/amalgamation
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/amalgamation}
mkdir -p "$folder"
libraries='-lz -llz4 -lzstd -lsnappy'
log=$folder/log
. tests/check.sh

library() {
    ${CC:-cc} -std=c11 -O1 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -shared -Wl,-z,defs \
        "$folder/highwater.c" -o "$folder/highwater.so" $libraries
}

# The shell of npm's sqlite3, with highwater in every connection from the start.
shell() {
    cat >"$folder/builtin.c" <<'END'
#include "highwater.h"

int register_highwater(const char *unused);
int register_highwater(const char *unused)
{
    (void)unused;
    return sqlite3_auto_extension((void (*)(void))sqlite3_highwater_init);
}
END
    ${CC:-cc} -std=c11 -O1 -w -DSQLITE_CORE -DSQLITE_EXTRA_INIT=register_highwater -I"$folder" -I"$1" -o "$folder/sqlite3" \
        "$folder/highwater.c" "$folder/builtin.c" "$1/sqlite3.c" "$1/shell.c" $libraries -lm -ldl -lpthread
}

session() {
    rm -rf "$folder/exp.db" "$folder/exp.db-highwater"
    diff - <("$folder/sqlite3" -batch -init /dev/null "$folder/exp.db" <<'END'
CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3, min.insync.replicas=2, compression.type=snappy);
INSERT INTO orders(key, value) VALUES ('k1', 'hello');
SELECT count(*) FROM orders;
SELECT fetch_round('orders');
SELECT "offset", key, value FROM orders;
SELECT broker, role, leo, hw FROM hw_replicas;
END
    ) <<'END'
0
2
0|k1|hello
1|leader|1|1
2|follower|1|0
3|follower|1|0
END
}

check 'core/ and ext/ as one file' ext/packaging/amalgamate.py "$folder"
tail -n 1 "$folder/log"
check 'no warning' library
check 'the sessions of README.md' tests/readme.sh --build "$folder" README.md
status=0
sqlite=$(ext/packaging/fetch.sh shell-3.44.2) || status=$?
if [ "$status" -eq 75 ]; then
    echo 'a shell with highwater built in: SKIPPED, npm does not answer'
else
    check 'a shell with highwater built in' shell "$sqlite"
    check 'a session in it' session
fi
echo "amalgamation: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
