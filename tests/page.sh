#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes the page of timeline() for each script of tests/page, for a run that the journal does not hold as a whole and for ten thousand
# events, and the gallery of sql/, and looks at them in a headless Chromium, and at some in Firefox too. Needs chromium, firefox-esr, node
# and npm (tests/deps.sh page); what it takes from npm goes into build/page. Pictures: build/page/pictures.
#
# usage: tests/page.sh [--build DIR]
set -euo pipefail
cd "$(dirname "$0")/.."
build=build
[ "${1:-}" = --build ] && build=$2
work=$build/page
mkdir -p "$work/pictures"
export NODE_MODULES=$PWD/$work/node_modules

if [ ! -e "$NODE_MODULES/mermaid" ]; then
    npm --prefix "$work" --silent install puppeteer-core@24 axe-core@4 mermaid@11 >/dev/null || {
        echo 'make page SKIPPED: npm does not answer'
        exit 3
    }
fi

# A long run: small produces and rounds, until the journal has forgotten its beginning.
{
    echo "CREATE VIRTUAL TABLE long USING highwater(replication.factor=3, min.insync.replicas=2);"
    for i in $(seq 700); do
        echo "SELECT produce('long', 0, 'k$i', 'value $i', 'all'), fetch_round('long');"
        [ $((i % 100)) -ne 50 ] || echo "SELECT crash(3), tick(12000), fetch_round('long'), restart(3), replicate('long');"
    done
} >"$work/long.sql"

passed=0 failed=0
# K22: nothing that would let text act, or make a page of the same run another one.
if grep -nE 'innerHTML|eval\(|style="|toLocale|new Date|Date\.|Math\.random|https?:' core/look/page.{js,html,css} |
    grep -vF 'http://www.w3.org/2000/svg'; then
    failed=1
else
    echo 'ok K22 no innerHTML, eval, clock, chance or address'
    passed=1
fi
# Add what a check has counted; its log says so in a line.
count() {
    local p f
    read -r p f < <(sed -n 's/^page: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$1") || true
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
}
# Look at a page: its name, and in the environment which browser.
look() {
    local log=$work/$1.${BROWSER:-chromium}.log
    echo "--- $1 ${BROWSER:-}"
    mkdir -p "$work/pictures/$1${BROWSER:-}"
    node tests/page/check.mjs "$work/$1.1.html" ${2+"$work/$1.json" "$work/$1.calls"} ${2+"$work/pictures/$1${BROWSER:-}"} | tee "$log" || true
    count "$log"
}
# What P4 of the page calls a key event: who leads, who is in sync, what is lost, who runs, and what was refused.
is_key="event IN ('election', 'isr', 'loss', 'broker', 'network', 'truncate', 'promise') OR (event = 'topic' AND detail = 'deleted')
    OR (event = 'ack' AND detail NOT LIKE '%NONE') OR detail GLOB 'diverging*'
    OR (instr(detail, '_') > 1 AND substr(detail, 1, instr(detail, '_') - 1) NOT GLOB '*[^A-Z]*')"
# Play a script: its page, what the tables say in the end, and what they said after each call. The number is that of the page.
play() {
    local name
    name=$(basename "$1" .sql)
    rm -f "$work/$name".{said,json,calls,"$2".html} "$work/$name".*.mmd # Of a run before.
    {
        echo ".load $build/highwater"
        echo ".output $work/$name.said"
        # A call is a line that ends a statement.
        sed 's|;$|;\n.read tests/page/probe.sql|' "$1"
        echo "SELECT writefile('$work/$name.$2.html', timeline());"
        echo "SELECT writefile('$work/$name.' || topic || '-' || partition || '.mmd', sequence_diagram(topic, partition)) FROM hw_partitions;"
        echo ".output $work/$name.json"
        echo "SELECT json_object('journal', (SELECT json_group_array(json_array(topic, partition, $is_key, json_object('seq', seq,
                'time_ms', time_ms, 'event', event, 'broker', broker, 'peer', peer, 'leader_epoch', leader_epoch, 'offset', \"offset\",
                'end_offset', end_offset, 'hw', hw, 'detail', detail, 'producer_id', producer_id))) FROM hw_journal),
            'why', (SELECT json_group_array(json_array(topic, partition, value, why(topic, partition, value)))
                FROM (SELECT topic, partition, max(leo) AS leo FROM hw_replicas GROUP BY topic, partition),
                    generate_series(max(0, leo - 20), leo - 1)),
            'lost', (SELECT json_group_array(json_array(topic, partition, \"offset\", by_event, leader_epoch, acks, acknowledged))
                FROM hw_lost));"
    } | TZ=${3:-Asia/Tokyo} LC_ALL=C sqlite3 -batch || echo "$name has calls that are refused"
    grep '^{"seq"' "$work/$name.said" >"$work/$name.calls"
}
for script in ${PAGES:-tests/page/*.sql "$work/long.sql"}; do
    name=$(basename "$script" .sql)
    [ "$name" != probe ] || continue
    play "$script" 2 America/New_York
    play "$script" 1
    if cmp "$work/$name.1.html" "$work/$name.2.html"; then
        echo "ok K2 $name: the same run gives the same bytes"
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    look "$name" tables
done
[ -z "${PAGES:-}" ] || exit $((failed > 0))
# The journal holds fewer than ten thousand events, and a page more: those of a long run, again and again.
python3 tests/page/repeat.py "$work/long.1.html" "$work/ten-thousand.1.html" 10000
look ten-thousand
for name in incident odd timed nothing; do
    BROWSER=firefox look "$name" tables
done
echo '--- random runs'
for seed in $(seq 8); do
    tests/page/random.py "$seed" >"$work/random$seed.sql"
    play "$work/random$seed.sql" 1 2>/dev/null
done
node tests/page/walk.mjs "$work" $(seq -f random%g 8) | tee "$work/walk.log" || true
count "$work/walk.log"
echo '--- sequence diagrams'
node tests/page/mermaid.mjs "$work"/*.mmd | tee "$work/mermaid.log" || true
count "$work/mermaid.log"
# Fonts differ by machine, so this fails nothing.
sql/timeline.sh --build "$build" "$work/timeline.png" >/dev/null
cmp -s sql/timeline.png "$work/timeline.png" || echo 'note: sql/timeline.sh makes another picture here than sql/timeline.png'
echo '--- gallery'
sql/gallery.py --build "$build"
node tests/page/gallery.mjs "$build/gallery" "$work/pictures/gallery.png" | tee "$work/gallery.log" || true
count "$work/gallery.log"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
