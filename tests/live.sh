#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tries highwater_live.so on Apache Kafka itself, of the release that tests/interop fetches: one node, three
# nodes of which some are killed, transactions, wrong ports and passwords, administration.
#
# usage: tests/live.sh [--build DIR] [--bench | --newest] [PROGRAM...]
#
#   --bench   how fast a live table is beside librdkafka without SQL, and kcat where it is there
#   --newest  not with the librdkafka of this machine but with the newest one, that of PyPI's
#             confluent-kafka; first the tests on its mock cluster
#   PROGRAM   one, three: the files in tests/live; all of them if none is named, with --newest one
#
# HW_LIVE_TEST=pattern in the environment chooses tests by their names.
#
# Needs librdkafka, Java 17 and Maven. What it writes is below DIR/live. The nodes listen on the loopback
# interface only, and halt by themselves when this has gone.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

build=build bench= newest=
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    --bench) bench=yes && shift ;;
    --newest) newest=yes && shift ;;
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

# The library that a Python package brings, under the name by which ours asks for it.
fetch_newest() {
    local to
    to=$(realpath -m "$build/live/newest")
    rm -rf "$to"
    python3 -m venv "$to/python"
    "$to/python/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps confluent-kafka
    ln -s "$(find "$to/python" -name 'librdkafka-*.so.1')" "$to/librdkafka.so.1"
    export LD_LIBRARY_PATH=$to
    basename "$(find "$to/python" -maxdepth 5 -name 'confluent_kafka-*.dist-info')" .dist-info
}

failed=
if [ -n "$newest" ]; then
    fetch_newest
    for program in tests/test_live_*.c; do
        program=$(basename "$program" .c)
        HW_TEST_QUICK=1 timeout --kill-after=5 300 "$build/$program" || failed="$failed $program"
    done
    [ $# -gt 0 ] || set -- one
fi
if [ -n "$bench" ]; then
    run bench 600 "$@"
else
    [ $# -gt 0 ] || set -- one three
    for name in "$@"; do
        run "$name" 400
    done
fi
[ -z "$failed" ] || { echo "live: failed:$failed" && exit 1; }
