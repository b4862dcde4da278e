#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tries highwater_live.so on Apache Kafka itself, of the release that tests/interop fetches: one node, three
# nodes of which some are killed, transactions, wrong ports and passwords, administration.
#
# usage: tests/live.sh [--build DIR] [--bench] [PROGRAM...]
#
#   --bench   how fast a live table is beside librdkafka without SQL, and kcat where it is there
#   PROGRAM   one, three: the files in tests/live; all of them if none is named
#
# HW_LIVE_TEST=pattern in the environment chooses tests by their names.
#
# Needs librdkafka, Java 17 and Maven. What it writes is below DIR/live. The nodes listen on the loopback
# interface only, and halt by themselves when this has gone.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

build=build bench=
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    --bench) bench=yes && shift ;;
    *) break ;;
    esac
done
if [ ! -e "$build/highwater_live.so" ]; then
    echo 'live: left out, there is no librdkafka 2.0.2 or later (Debian: librdkafka-dev)' >&2
    exit 1
fi
tests/interop.sh --build "$build" --fetch
jars=$(realpath -m "$build/interop")
HW_LIVE_NODE="env CLASSPATH='$jars/maven/classes:$jars/lib/*' java -Xmx256m -Xms64m -XX:+UseSerialGC"
HW_LIVE_NODE+=" -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error Node"
export HW_LIVE_NODE

# Run a program with a fresh directory for its nodes, and no longer than that many seconds.
run() {
    local name=$1 seconds=$2
    shift 2
    HW_LIVE_DIR=$(realpath -m "$build/live/$name")
    export HW_LIVE_DIR
    rm -rf "$HW_LIVE_DIR"
    mkdir -p "$HW_LIVE_DIR"
    printf '\n--- %s\n' "$name"
    timeout --kill-after=5 "$seconds" "$build/live_$name" "$@" || { failed="$failed $name" && tail -n 5 "$HW_LIVE_DIR/nodes.log" >&2; }
}

failed=
if [ -n "$bench" ]; then
    run bench 600 "$@"
else
    [ $# -gt 0 ] || set -- one three
    for name in "$@"; do
        run "$name" 400
    done
fi
[ -z "$failed" ] || { echo "live: failed:$failed" && exit 1; }
