#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Which rules, conformance rows and behaviour cases have a test, and which have none. A test names
# what it holds in its comment, on one line:
#
#     Semantics: R5.1, R5.3     a rule of Kafka's replication       tests/data/ids/rules.txt
#     Semantics: X4.1           one of its producers and transactions
#     Row: C004  Row: C011-C014 a conformance row; T... of transactions,   tests/data/ids/rows.txt
#                               I... of internal topics
#     Case: A-05                a case from a public bug report     tests/data/ids/cases.txt
#     Semantics: W5.4, F13, W-S30, W-C39, M5      rules, formulas, scenarios, cases and metrics of what takes time
#                               tests/data/ids/times.txt
#
# in tests/*.c, tests/live/*.c, tests/*.sh, tests/golden/*.test or sql/*.sql. An id that has no test stands with the reason in
# tests/data/ids/without_test.txt. Fails where a tag names an id that does not exist, where an id has
# neither test nor reason, and where it has both.
#
# And where each rule is decided: a comment in core/ names it in or above a function, after a colon, in
# parentheses or as "Source". A rule that two functions name stands with the reason in $ids/two_places.txt.
#
# usage: tests/traceability.sh [--brief]      --brief: without the ids that have no test
set -euo pipefail
cd "$(dirname "$0")/.."
ids=tests/data/ids
status=0

# Lines "file:line:id" of every id named with a tag; a range is written out.
tagged() {
    local tag=$1 pattern=$2
    shopt -s nullglob
    grep -HnE "(^|[^A-Za-z])$tag: " tests/*.c tests/*.sh tests/live/*.c tests/golden/*.test sql/*.sql |
        grep -v '^tests/traceability.sh:' |
        awk -v tag="$tag: " -v pattern="$pattern" '
            {
                match($0, /^[^:]*:[0-9]+:/)
                place = substr($0, 1, RLENGTH)
                rest = substr($0, RLENGTH + 1)
                rest = substr(rest, index(rest, tag) + length(tag))
                # Up to the next tag on the line.
                sub(/(Semantics|Row|Case): .*/, "", rest)
                previous = ""
                while (match(rest, pattern)) {
                    between = substr(rest, 1, RSTART - 1)
                    id = substr(rest, RSTART, RLENGTH)
                    if (previous != "" && between ~ /^ *(-|to) *$/) expand(place, previous, id)
                    print place id
                    previous = id
                    rest = substr(rest, RSTART + RLENGTH)
                }
            }
            # The ids between two that differ in their last digits.
            function expand(place, first, last,    head, width, i) {
                match(first, /[0-9]+$/)
                head = substr(first, 1, RSTART - 1)
                width = substr(first, RSTART, 1) == "0" ? RLENGTH : 1
                i = substr(first, RSTART) + 1
                match(last, /[0-9]+$/)
                for (; i < substr(last, RSTART) + 0; i++) printf "%s%s%0" width "d\n", place, head, i
            }'
    shopt -u nullglob
}

# The ids of without_test.txt, ranges written out.
explained() {
    sed '/^#/d; s/^\([^ ]*\) .*/\1/' "$ids/without_test.txt" |
        awk -v pattern='[0-9]+$' '
            !/.-./ || /^[A-FL]-[0-9]+$/ || /^W-[A-Z][0-9]+$/ { print; next }
            {
                match($0, /-[A-Z]+[0-9.]*-?[0-9]+$/)
                first = substr($0, 1, RSTART - 1)
                last = substr($0, RSTART + 1)
                match(first, /[0-9]+$/)
                head = substr(first, 1, RSTART - 1)
                width = substr(first, RSTART, 1) == "0" || RLENGTH == 3 ? RLENGTH : 1
                for (i = substr(first, RSTART) + 0; i <= substr(last, RSTART) + 0; i++)
                    printf "%s%0" width "d\n", head, i
            }'
}

report() {
    local what=$1 tag=$2 pattern=$3 list=$4 brief=$5 tested known unknown without
    known=$(sort -u "$ids/$list")
    tested=$(tagged "$tag" "$pattern" || true)
    unknown=$(grep -vwFf "$ids/$list" <<<"$tested" || true)
    if [ -n "$unknown" ]; then
        sed "s|\$| is not in $ids/$list|" <<<"$unknown"
        status=1
    fi
    without=$(comm -23 <(printf '%s\n' "$known") <(sed 's/.*://' <<<"$tested" | sort -u) | sort -V)
    printf '%s: %d of %d have a test\n' "$what" \
        "$(comm -12 <(printf '%s\n' "$known") <(sed 's/.*://' <<<"$tested" | sort -u) | wc -l)" \
        "$(wc -l <<<"$known")"
    if [ -z "$brief" ] && [ -n "$without" ]; then
        echo "  without, for the reasons in $ids/without_test.txt:"
        fmt -w 96 <<<"$(paste -sd ' ' - <<<"$without")" | sed 's/^/    /'
    fi
    while read -r id; do
        if [ -n "$id" ] && ! explained | grep -qx "$id"; then
            echo "$id has no test, and no reason in $ids/without_test.txt"
            status=1
        fi
    done <<<"$without"
    while read -r id; do
        if [ -n "$id" ] && explained | grep -qx "$id"; then
            echo "$id has a test: it needs no reason in $ids/without_test.txt"
            status=1
        fi
    done < <(sed 's/.*://' <<<"$tested" | sort -u)
}

# Lines "rule function file" of the rules that comments name in and right above a function of core.
places() {
    find core -name '*.c' | sort | xargs awk '
        FNR == 1 { inside = body = 0; above = "" }
        {
            ids = ""
            rest = $0
            while (match(rest, /(^|[^A-Za-z0-9])R[0-9]+[.][0-9]+/)) {
                id = substr(rest, RSTART, RLENGTH)
                sub(/^[^R]*/, "", id)
                ids = ids " " id
                rest = substr(rest, RSTART + RLENGTH)
            }
        }
        !inside && /^$/ { above = "" }
        !inside { above = above ids }
        !inside && /^[a-z].*[(]/ && !/;$/ {
            match($0, /[A-Za-z0-9_]+[(]/)
            name = substr($0, RSTART, RLENGTH - 1)
            inside = 1
            ids = above
        }
        inside {
            count = split(ids, list, " ")
            for (i = 1; i <= count; i++) print list[i], name, FILENAME
        }
        /^{/ { body = 1 }
        /^}/ || (inside && !body && /;$/) { inside = body = 0; above = "" }' | sort -u -V
}

# The rules and where they are decided; each in one place.
report_places() {
    local found twice
    found=$(places)
    if [ -z "$brief" ]; then
        echo 'rules: the functions that name them'
        sed 's/^/    /' <<<"$found"
    fi
    twice=$(cut -d' ' -f1 <<<"$found" | uniq -d)
    while read -r id; do
        if [ -n "$id" ] && ! grep -q "^$id " "$ids/two_places.txt"; then
            printf '%s is decided in two functions, and %s does not say why:\n' "$id" "$ids/two_places.txt"
            grep "^$id " <<<"$found"
            status=1
        fi
    done <<<"$twice"
    while read -r id _; do
        if ! grep -qx "$id" <<<"$twice"; then
            echo "$id is not named by two functions: $ids/two_places.txt need not say why"
            status=1
        fi
    done < <(grep -v '^#' "$ids/two_places.txt")
}

brief=${1:-}
report rules Semantics '[RX][0-9]+[.][0-9]+' rules.txt "$brief"
report rows Row '[CTI][0-9][0-9][0-9]' rows.txt "$brief"
report times Semantics '(W[0-9]+[.][0-9]+|W-[SCR][0-9]+|F[0-9]+|M[0-9]+)' times.txt "$brief"
report cases Case '[A-FL]-[0-9][0-9]' cases.txt "$brief"
report_places
exit "$status"
