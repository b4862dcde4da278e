#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs the programs that stand in the pages of ext/packaging/pages: a fenced block of python, js or go is a
# program, and the block of text behind it is what it prints, word for word.
#
# usage: tests/pages.sh python|js|go COMMAND PAGE.md...
#
# COMMAND runs a program: a file is put behind it. The sum is "pages: N passed, N failed".
set -euo pipefail
language=$1 command=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

for page in "$@"; do
    # Files NNN.program and NNN.expected, from the blocks in their order.
    rm -f "$scratch"/*
    awk -v language="$language" -v scratch="$scratch" '
        /^```/ && !inside {
            inside = 1
            kind = substr($0, 4)
            if (kind == language) { n++; file = sprintf("%s/%03d.%s", scratch, n, language); wanted = 1 }
            else if (kind == "text" && wanted) { file = sprintf("%s/%03d.expected", scratch, n); wanted = 0 }
            else { file = ""; wanted = 0 }
            next
        }
        /^```/ { inside = 0; if (file != "") close(file); file = ""; next }
        inside && file != "" { print >file }
    ' "$page"
    for program in "$scratch"/*."$language"; do
        name="$(basename "$page") program $(basename "$program" ."$language" | sed 's/^0*//')"
        if $command "$program" >"$scratch/got" 2>"$scratch/errors" &&
            diff "${program%.*}.expected" "$scratch/got"; then
            echo "[       OK ] $name" && passed=$((passed + 1))
        else
            tail -n 10 "$scratch/errors"
            echo "[  FAILED  ] $name" && failed=$((failed + 1))
        fi
    done
done
echo "pages: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
