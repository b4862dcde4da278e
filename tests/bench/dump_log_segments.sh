#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The tables over Kafka's files against Kafka's own DumpLogSegments, on one segment and in one run:
# how many records there are (it prints a line for each batch, of which awk adds up the counts), the
# bytes of all values (--deep-iteration, whose lines awk adds up), the batches (its lines), the
# records (--print-data-log). Lists are printed, counted, not kept. Ours, Kafka's, ours, Kafka's, ...
# after one warm-up of each; the medians of the ratios are printed, by processor time and by the clock.
#
# usage: tests/bench/dump_log_segments.sh [--build DIR]
#
# HW_BENCH_MIB (1024, of the segment), HW_BENCH_PAIRS (3). Needs Java 17 and Maven, and fetches Kafka
# as tests/interop.sh does; where that cannot be, it says so and is done.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."

build=build
[ "${1:-}" != --build ] || build=$2
mib=${HW_BENCH_MIB:-1024} pairs=${HW_BENCH_PAIRS:-3}

if ! fetched=$(tests/interop.sh --build "$build" --fetch 2>&1); then
    echo "DumpLogSegments: skipped, Kafka could not be fetched: $(tail -n 1 <<<"$fetched")"
    exit 0
fi
tail -n 1 <<<"$fetched"

extension=$(realpath "$build/highwater")
directory=$(realpath "$build/interop")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
segment=$work/cluster.db-highwater/broker-1/log-0/00000000000000000000.log

sql() { sqlite3 -batch -init /dev/null -cmd ".load $extension" "$@"; }
kafka() {
    env CLASSPATH="$directory/lib/*" java -Xmx1g -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
        org.apache.kafka.tools.DumpLogSegments --files "$segment" "$@"
}

# Values of 100 bytes: a record of 111 to 117 bytes.
sql "$work/cluster.db" "CREATE VIRTUAL TABLE log USING highwater(\"segment.bytes\"=2147483647);
    INSERT INTO log(value) SELECT printf('%0100d', value) FROM generate_series(1, $mib * 9000)"
echo "one segment of $(($(stat -c %s "$segment") >> 20)) MiB, $((mib * 9000)) records"

our_count() { sql :memory: "SELECT count(*) FROM kafka_log('$segment')"; }
kafka_count() {
    kafka | awk '/^baseOffset/ { for (i = 1; i < NF; i++) if ($i == "count:") n += $(i + 1) } END { print n }'
}
our_sizes() { sql :memory: "SELECT sum(length(value)) FROM kafka_log('$segment')"; }
kafka_sizes() {
    kafka --deep-iteration |
        awk '{ for (i = 1; i < NF; i++) if ($i == "valueSize:") n += $(i + 1) } END { print n }'
}
our_batches() { sql :memory: "SELECT * FROM kafka_batches('$segment')"; }
our_records() {
    sql :memory: "SELECT \"offset\", timestamp, leader_epoch, codec, key, value, headers, crc_ok
                  FROM kafka_log('$segment')"
}
kafka_batches() { kafka; }
kafka_records() { kafka --print-data-log; }

# Run "$1"; print "<processor ms> <ms by the clock> <lines>".
measure() {
    local lines
    TIMEFORMAT='%U %S %R'
    { time lines=$("$1" | wc -l); } 2>"$work/time"
    awk -v lines="$lines" '{ print ($1 + $2) * 1000, $3 * 1000, lines }' "$work/time"
}

compare() {
    local what=$1
    measure "our_$what" >/dev/null
    measure "kafka_$what" >/dev/null
    for ((i = 0; i < pairs; i++)); do
        echo "$(measure "our_$what") $(measure "kafka_$what")"
    done |
        awk '{ print $4 / $1, $5 / $2, $0 }' | sort -n |
        awk -v what="$what" '{ row[NR] = $0 }
            END {
                split(row[int((NR + 1) / 2)], m, " ")
                printf "%-10s %.0fx by processor time, %.0fx by the clock   ", what, m[1], m[2]
                printf "ours %.0f ms, %d lines; DumpLogSegments %.0f ms, %d lines\n", m[4], m[5], m[7], m[8]
            }'
}

[ "$(our_count)" = "$(kafka_count)" ] || echo 'they do not agree on the number of records'
[ "$(our_sizes)" = "$(kafka_sizes)" ] || echo 'they do not agree on the bytes of the values'
compare count
compare sizes
compare batches
compare records
