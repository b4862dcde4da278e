#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes the page of timeline() for each script of tests/page, and for a run of ten thousand events, and the
# gallery of sql/, and looks at them in a headless Chromium. Needs chromium, node and npm (tests/deps.sh page); what it takes
# from npm goes into build/page. Pictures: build/page/pictures.
#
# usage: tests/page.sh [--build DIR]
set -euo pipefail
cd "$(dirname "$0")/.."
build=build
[ "${1:-}" = --build ] && build=$2
work=$build/page
mkdir -p "$work/pictures"
export NODE_MODULES=$PWD/$work/node_modules

if [ ! -e "$NODE_MODULES/axe-core" ]; then
    npm --prefix "$work" --silent install puppeteer-core@24 axe-core@4 >/dev/null || {
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
for script in tests/page/*.sql "$work/long.sql"; do
    name=$(basename "$script" .sql)
    for run in 1 2; do
        {
            echo ".load $build/highwater"
            echo '.output /dev/null'
            cat "$script"
            echo "SELECT writefile('$work/$name.$run.html', timeline());"
            echo ".output $work/$name.json"
            echo "SELECT json_object('events', (SELECT count(*) FROM hw_journal), 'lost', (SELECT count(*) FROM hw_lost));"
        } | TZ=Asia/Tokyo LC_ALL=C sqlite3 -batch
    done
    echo "--- $name"
    if cmp "$work/$name.1.html" "$work/$name.2.html"; then
        echo 'ok K2 the same run gives the same bytes'
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    mkdir -p "$work/pictures/$name"
    node tests/page/check.mjs "$work/$name.1.html" "$work/$name.json" "$work/pictures/$name" |
        tee "$work/$name.log" || true
    count "$work/$name.log"
done
echo '--- gallery'
sql/gallery.py --build "$build"
node tests/page/gallery.mjs "$build/gallery" "$work/pictures/gallery.png" | tee "$work/gallery.log" || true
count "$work/gallery.log"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
