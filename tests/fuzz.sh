#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Lets each fuzz target run for a while. It starts from the files of tests/data and from what
# earlier runs found, which is kept beside the program; what breaks it is kept there too, and is run
# again with `PROGRAM FILE`.
#
# usage: tests/fuzz.sh SECONDS PROGRAM...
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
status=0
for program in "$@"; do
    corpus=$program.corpus
    mkdir -p "$corpus"
    echo "  FUZZ  $program for $seconds s"
    # A memory limit finds sizes that are believed before they are checked.
    if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=256 \
        -print_final_stats=0 -artifact_prefix="$program-" "$corpus" tests/data >"$program.log" 2>&1; then
        grep -E 'ERROR|SUMMARY|runtime error|^ +#[0-9]+ |Assertion|Test unit|ALARM|oom' "$program.log" | head -n 40 ||
            tail -n 40 "$program.log"
        status=1
    fi
done
exit "$status"
