#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs tests that are built already and adds them up. Each test program, story, experiment, README
# and check is a job of its own, with a time limit and a log; a job that crashes or hangs costs at
# least one failed test and stops nothing else. The last line is "N passed, N failed".
#
# usage: tests/run.sh [--build DIR] [--jobs N] [--timeout SECONDS] [--wrap COMMAND]
#                     [--built STATUS] [--without "NAME ..."] SUITE...
#
#   core sql     the cmocka programs tests/test_*.c, without and with SQLite
#   live         tests/test_live_*.c, where librdkafka is there
#   threads      those tests/test_sql_*.c whose name has "thread" in it
#   golden       tests/golden/*.test           experiments   sql/*.sql
#   readme       sessions in README files      checks        layers, symbols, the command line, ...
#
# COMMAND goes in front of test programs and stories: "valgrind --error-exitcode=1".
# STATUS is the exit status of building: programs that did not build may be there from before, so
# another one than 0 costs a failed test.
# TESTS in the environment, a list of patterns, narrows it: TESTS='test_log_* golden/isr*'.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build jobs=1 timeout=120 wrap= built=0 without=
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    --timeout) timeout=$2 && shift 2 ;;
    --wrap) wrap=$2 && shift 2 ;;
    --built) built=$2 && shift 2 ;;
    --without) without=$2 && shift 2 ;;
    *) break ;;
    esac
done
logs=$build/test-logs
rm -rf "$logs"
mkdir -p "$logs"

# The jobs, by the same index: a name; how it is counted ("sum": by what its output adds up to,
# "status": as one test, by its exit status); and a command.
names=() counted=() commands=()
add() {
    local how=$1 name=$2
    shift 2
    if [[ " $without " == *" $name "* ]]; then
        echo "$name: left out"
    elif is_wanted "$name"; then
        names+=("$name") counted+=("$how") commands+=("$*")
    fi
}

is_wanted() {
    local pattern
    [ -n "${TESTS:-}" ] || return 0
    set -f
    for pattern in $TESTS; do
        # Not quoted: it is a pattern.
        case $1 in $pattern) set +f && return 0 ;; esac
    done
    set +f
    return 1
}

add_suite() {
    local file name
    shopt -s nullglob
    case $1 in
    core | sql | threads)
        for file in tests/test_*.c; do
            name=$(basename "$file" .c)
            case $1:$name in
            core:test_sql_* | core:test_live_*) ;;
            core:* | sql:test_sql_* | threads:test_sql_*thread*)
                add sum "$name" $wrap "$build/$name"
                ;;
            esac
        done
        ;;
    live)
        # What cannot be tried is said, and is no failure: highwater.so does not need librdkafka.
        if [ ! -e "$build/highwater_live.so" ]; then
            echo 'test_live_*: left out, there is no librdkafka 2.0.2 or later (Debian: librdkafka-dev)'
        else
            for file in tests/test_live_*.c; do
                name=$(basename "$file" .c)
                add sum "$name" $wrap "$build/$name"
            done
        fi
        ;;
    golden)
        for file in tests/golden/*.test; do
            add sum "golden/$(basename "$file" .test)" \
                $wrap "$build/golden_sql" "$build/highwater.so" "$file"
        done
        ;;
    experiments)
        for file in sql/*.sql; do
            add sum "sql/$(basename "$file" .sql)" tests/experiments.sh --build "$build" "$file"
        done
        ;;
    readme)
        for file in README.md */README.md; do
            if tests/readme.sh --has-session "$file"; then
                add sum "$file" tests/readme.sh --build "$build" "$file"
            fi
        done
        ;;
    checks)
        add status layers env BUILD="$build" tests/layers.sh
        add status symbols tests/symbols.sh "$build"
        add status documented tests/documented.sh "$build"
        add status traceability tests/traceability.sh --brief
        add sum command_line tests/command_line.sh "$build"
        ;;
    *)
        echo "tests/run.sh: no suite $1" >&2
        exit 2
        ;;
    esac
    shopt -u nullglob
}

# "passed failed skipped" of a job, from how it is counted, its exit status and its log.
count() {
    awk -v how="$1" -v status="$2" '
        # cmocka announces how many there are: what is missing at the end has failed.
        /^\[==========\].* Running [0-9]+ test\(s\)/ { planned += $(NF - 1); in_summary = 0 }
        /^\[==========\].* [0-9]+ test\(s\) run/ { in_summary = 1 }
        /\[       OK \] / { passed++ }
        /\[  SKIPPED \] / && !in_summary { skipped++ }
        # Our own runners print their sum.
        /^[a-z]+: [0-9]+ passed, [0-9]+ failed$/ { passed += $2; failed += $4 }
        END {
            if (how == "status") passed = status == 0
            if (planned > passed + skipped + failed) failed = planned - passed - skipped
            # A crash after the last test, or no test at all.
            if (failed == 0 && (status != 0 || passed + skipped == 0)) failed = 1
            print passed + 0, failed + 0, skipped + 0
        }' "$3"
}

run_job() {
    local name=$1 how=$2 command=$3 log=$logs/${1//\//-}.log
    local status=0 start=$EPOCHREALTIME scratch passed failed skipped
    scratch=$(mktemp -d)
    TMPDIR=$scratch timeout --kill-after=5 "$timeout" $command >"$log" 2>&1 </dev/null || status=$?
    rm -rf "$scratch"
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo "timed out or killed (limit: $timeout s)" >>"$log"
    elif [ "$status" -gt 128 ]; then
        echo "ended by signal $((status - 128))" >>"$log"
    fi
    read -r passed failed skipped < <(count "$how" "$status" "$log")
    echo "$passed $failed $skipped" >"$log.count"
    {
        printf '%-44s %5d passed, %d failed%s' "$name" "$passed" "$failed" \
            "$([ "$skipped" -eq 0 ] || echo ", $skipped SKIPPED")"
        awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "  %.1f s\n", to - from }'
        if [ "$failed" -gt 0 ]; then
            { grep -v -e '^\[ RUN  ' -e '^\[       OK \]' "$log" || true; } |
                tail -n 60 | sed 's/^/    /'
            echo "    the whole of it: $log"
        fi
    } >"$log.report"
    # One write, so that jobs that end together do not mix their lines.
    cat "$log.report"
}

for suite in "$@"; do
    add_suite "$suite"
done
if [ "$built" -ne 0 ]; then
    names+=(build) counted+=(status) commands+=(false)
fi
if [ "${#names[@]}" -eq 0 ] && [ -n "${TESTS:-}" ]; then
    echo "no test has a name like $TESTS" >&2
    exit 2
fi
for i in "${!names[@]}"; do
    while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do
        wait -n || true
    done
    run_job "${names[i]}" "${counted[i]}" "${commands[i]}" &
done
wait

# Every job has left a count. One that has not is a fault of this script.
find "$logs" -name '*.count' -exec cat {} + | awk -v jobs="${#names[@]}" '
    { passed += $1; failed += $2; skipped += $3 }
    END {
        failed += jobs - NR
        if (skipped) printf "%d tests were SKIPPED\n", skipped
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0
    }'
