#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs tests that are built already and adds them up. Each test program, story, experiment, README
# and check is a job of its own, with a time limit and a log; a job that crashes or hangs costs at
# least one failed test and stops nothing else. The last line is "N passed, N failed".
#
# usage: tests/run.sh [--build DIR] [--jobs N] [--timeout SECONDS] [--wrap COMMAND] SUITE...
#
#   core sql     the cmocka programs tests/test_*.c, without and with SQLite
#   threads      those tests/test_sql_*.c whose name has "thread" in it
#   golden       tests/golden/*.test           experiments   sql/*.sql
#   readme       sessions in README files      checks        layers, symbols, documented, ...
#
# COMMAND goes in front of test programs and stories: "valgrind --error-exitcode=1".
# TESTS in the environment, a list of patterns, narrows it: TESTS='test_log golden/isr*'.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build jobs=1 timeout=120 wrap=
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    --timeout) timeout=$2 && shift 2 ;;
    --wrap) wrap=$2 && shift 2 ;;
    *) break ;;
    esac
done
logs=$build/test-logs
rm -rf "$logs"
mkdir -p "$logs"

# The jobs: a name and a command each, by the same index.
names=() commands=()
add() {
    local name=$1 pattern
    shift
    if [ -n "${TESTS:-}" ]; then
        for pattern in $TESTS; do
            # shellcheck disable=SC2254
            case $name in $pattern) pattern= && break ;; esac
        done
        [ -z "$pattern" ] || return 0
    fi
    names+=("$name")
    commands+=("$*")
}

add_suite() {
    local file name
    shopt -s nullglob
    case $1 in
    core | sql | threads)
        for file in tests/test_*.c; do
            name=$(basename "$file" .c)
            case $1:$name in
            core:test_sql_*) ;;
            core:* | sql:test_sql_* | threads:test_sql_*thread*) add "$name" $wrap "$build/$name" ;;
            esac
        done
        ;;
    golden)
        for file in tests/golden/*.test; do
            add "golden/$(basename "$file" .test)" \
                $wrap "$build/golden_sql" "$build/highwater.so" "$file"
        done
        ;;
    experiments)
        for file in sql/*.sql; do
            add "sql/$(basename "$file" .sql)" tests/experiments.sh --build "$build" "$file"
        done
        ;;
    readme)
        for file in README.md */README.md; do
            add "${file%.md}" tests/readme.sh --build "$build" "$file"
        done
        ;;
    checks)
        add layers tests/layers.sh
        add symbols tests/symbols.sh "$build"
        add documented tests/documented.sh "$build"
        add traceability tests/traceability.sh --brief
        ;;
    *)
        echo "tests/run.sh: no suite $1" >&2
        exit 2
        ;;
    esac
    shopt -u nullglob
}

# "passed failed skipped" of a job, from its exit status and its log.
count() {
    awk -v status="$1" '
        # cmocka announces how many there are: what is missing at the end has failed.
        /^\[==========\].* Running [0-9]+ test\(s\)/ {
            planned += $(NF - 1); summary = 0
        }
        /^\[==========\].* [0-9]+ test\(s\) run/ { summary = 1 }
        /\[       OK \] / { ok++ }
        /\[  SKIPPED \] / && !summary { skipped++ }
        # Our own runners print their sum.
        /^[a-z]+: [0-9]+ passed, [0-9]+ failed$/ { ok += $2; own_failed += $4; own = 1 }
        END {
            failed = own_failed
            if (planned > 0) failed += planned - ok - skipped
            # A check prints nothing to add up: its exit status is the result.
            if (!planned && !own && status == 0) ok = 1
            if (status != 0 && failed < 1) failed = 1
            if (failed < 0) failed = 0
            print ok + 0, failed + 0, skipped + 0
        }' "$2"
}

run_job() {
    local name=$1 command=$2 log=$logs/${1//\//-}.log status=0 start=$EPOCHREALTIME
    local passed failed skipped seconds
    timeout --kill-after=5 "$timeout" $command >"$log" 2>&1 </dev/null || status=$?
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo "timed out or killed (limit: $timeout s)" >>"$log"
    elif [ "$status" -gt 128 ]; then
        echo "ended by signal $((status - 128))" >>"$log"
    fi
    read -r passed failed skipped < <(count "$status" "$log")
    seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    echo "$passed $failed $skipped" >"$log.count"
    {
        printf '%-44s %5d passed, %d failed%s  %s s\n' "$name" "$passed" "$failed" \
            "$([ "$skipped" -eq 0 ] || echo ", $skipped SKIPPED")" "$seconds"
        if [ "$failed" -gt 0 ]; then
            grep -v -e '^\[ RUN      \]' -e '^\[       OK \]' "$log" | tail -n 60 | sed 's/^/    /'
            echo "    the whole of it: $log"
        fi
    } >"$log.report"
    # One write, so that jobs that end together do not mix their lines.
    cat "$log.report"
}

for suite in "$@"; do
    add_suite "$suite"
done
for i in "${!names[@]}"; do
    while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do
        wait -n || true
    done
    run_job "${names[$i]}" "${commands[$i]}" &
done
wait

cat /dev/null "$logs"/*.count 2>/dev/null | awk '
    { passed += $1; failed += $2; skipped += $3 }
    END {
        if (skipped) printf "%d tests were SKIPPED\n", skipped
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0
    }'
