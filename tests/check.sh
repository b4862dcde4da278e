# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Sourced by scripts that count what passes; $log is the file for what a command prints.

passed=0 failed=0

# check NAME COMMAND...
check() {
    local name=$1
    shift
    if "$@" >"$log" 2>&1; then
        echo "[       OK ] $name" && passed=$((passed + 1))
    else
        tail -n 25 "$log" | sed 's/^/    /'
        echo "[  FAILED  ] $name" && failed=$((failed + 1))
    fi
}

# The entry points that the amalgamation declares.
entries() { sed -n 's/^int \(sqlite3_highwater_[a-z_]*init\)(.*/\1/p' build/amalgamation/highwater.h | sort; }
