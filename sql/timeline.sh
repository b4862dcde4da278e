#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes sql/timeline.png, the picture of README.md: the page of tests/page/incident.sql at one of its events, in a headless
# Chromium.
#
# usage: sql/timeline.sh [--build DIR [OUT.png]]
set -euo pipefail
cd "$(dirname "$0")/.."
build=build
[ "${1:-}" = --build ] && build=$2
out=$PWD/${3:-sql/timeline.png}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    echo ".load $build/highwater"
    echo '.output /dev/null'
    cat tests/page/incident.sql
    echo "SELECT writefile('$work/page.html', timeline());"
} | sqlite3 -batch
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb --window-size=1000,515 \
    --user-data-dir="$work/profile" --screenshot="$out" "file://$work/page.html#60" >/dev/null 2>&1
ls -l "$out"
