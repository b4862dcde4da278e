#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes the C file with the pieces of timeline()'s page out of page.html, page.css and page.js, which
# stand beside this script. The hashes that the page's content security policy names are those of the
# exact text between the tags.
#
# usage: core/look/page_template.sh OUT.c
set -euo pipefail
here=$(dirname "$0")
out=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "sha256-..." of a file, as a content security policy writes it.
hash_of() {
    printf 'sha256-'
    sha256sum "$1" | cut -c 1-64 | sed 's/../\\x&/g' | { read -r hex && printf '%b' "$hex"; } | base64
}

if LC_ALL=C grep -n '[^[:print:][:space:]]' "$here/page.html" "$here/page.css" "$here/page.js"; then
    echo "the page has to be ASCII" >&2
    exit 1
fi
# Every page has it: without indentation, comments and empty lines it is a quarter smaller.
for name in page.js page.css; do
    sed -E 's/^[[:space:]]*//; /^\/\*.*\*\/$/d; /^\/\*/,/\*\//d; s,(^|[[:space:]])// .*,,; /^$/d' "$here/$name" >"$work/$name"
done
script_hash=$(hash_of "$work/page.js") style_hash=$(hash_of "$work/page.css")

# The page line by line: STYLE and SCRIPT stand in a line of their own tag and become their file.
# TITLE and DATA are where pieces end.
awk -v script="$script_hash" -v style="$style_hash" -v here="$work" '
    function include(name, before, after,    line, first) {
        printf "%s", before
        first = 1
        while ((getline line < (here "/" name)) > 0) printf "%s\n", line
        printf "%s\n", after
    }
    /@STYLE@/ { split($0, part, "@STYLE@"); include("page.css", part[1], part[2]); next }
    /@SCRIPT@/ { split($0, part, "@SCRIPT@"); include("page.js", part[1], part[2]); next }
    { sub(/^ +/, ""); gsub(/@SCRIPT_HASH@/, script); gsub(/@STYLE_HASH@/, style); print }
' "$here/page.html" >"$work/page"

# Pieces: text up to a mark, then the mark.
awk -v work="$work" '
    { page = page $0 "\n" }
    END {
        n = 0
        while (match(page, /@(TITLE|DATA)@/)) {
            printf "%s", substr(page, 1, RSTART - 1) >(work "/piece." n)
            print n, substr(page, RSTART + 1, RLENGTH - 2)
            page = substr(page, RSTART + RLENGTH)
            n++
        }
        printf "%s", page >(work "/piece." n)
        print n, "END"
    }' "$work/page" >"$work/marks"

mkdir -p "$(dirname "$out")"
{
    echo '/* Made by core/look/page_template.sh of page.html, page.css and page.js. */'
    echo '#include "core/look/page_template.h"'
    while read -r n mark; do
        echo "static const unsigned char page_piece_$n[] = {"
        od -An -v -tu1 "$work/piece.$n" | sed 's/^ *//; s/  */,/g; s/$/,/'
        echo '};'
    done <"$work/marks"
    echo 'const struct hw_page_piece hw_page_pieces[] = {'
    while read -r n mark; do
        echo "    {page_piece_$n, sizeof page_piece_$n, HW_PAGE_$mark},"
    done <"$work/marks"
    echo '};'
} >"$work/template.c"
mv "$work/template.c" "$out"
