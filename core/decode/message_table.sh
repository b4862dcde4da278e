#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes the C table of message.h out of message_fields.txt, which says what its lines mean.
#
# usage: core/decode/message_table.sh OUT.c
set -euo pipefail
here=$(dirname "$0")
out=$1
mkdir -p "$(dirname "$out")"
awk '
    function fail(what) {
        printf "message_fields.txt:%d: %s: %s\n", FNR, what, $0 >"/dev/stderr"
        failed = 1
        exit 1
    }
    # "3+", "1" or "0-4" as "first, last".
    function versions(text,    part) {
        if (text ~ /^[0-9]+\+$/) return substr(text, 1, length(text) - 1) ", INT16_MAX"
        if (split(text, part, "-") == 2) return part[1] ", " part[2]
        return text ", " text
    }
    # The lists of the structs that the line stands in: list[0] is that of the key or value.
    function list_at(depth) {
        if (depth > 0 && list[depth] == 0) fail("it is indented below a field that is no struct")
        return list[depth]
    }
    BEGIN {
        split("bool int8 int16 uint16 int32 int64 float64 uuid string bytes struct", known, " ")
        for (i in known) types[known[i]] = toupper(known[i])
    }
    /^#/ || /^$/ { next }
    $1 == "R" {
        if (NF != 6 || sub(/^v=/, "", $5) != 1 || sub(/^flex=/, "", $6) != 1) fail("no record")
        records++
        head[records] = "HW_MESSAGES_" toupper($2) ", " $3 ", \"" $4 "\", " versions($5) ", " \
            ($6 == "-" ? "INT16_MAX" : $6 + 0)
        keys[records] = values[records] = 0
        next
    }
    $1 == "K" || $1 == "V" {
        match($0, /^[KV] */)
        depth = (RLENGTH - 2) / 2
        if (depth == 0 && $1 == "K" && keys[records] == 0) keys[records] = ++lists
        if (depth == 0 && $1 == "V" && values[records] == 0) values[records] = ++lists
        if (depth == 0) list[0] = $1 == "K" ? keys[records] : values[records]
        own = list_at(depth)
        type = $3
        is_array = sub(/^\[\]/, "", type)
        if (!(type in types)) fail("no type")
        if (length($2) > 35) fail("a name longer than HW_MESSAGE_NAME_MAX allows")
        has = "0, INT16_MAX"
        tag = -1
        is_nullable = default_is_null = secret = default_number = members = 0
        secret_by = "NULL"
        for (i = 4; i <= NF; i++) {
            if ($i == "null") is_nullable = 1
            else if ($i == "secret") secret = 1
            else if (sub(/^secret=/, "", $i)) secret_by = "\"" $i "\""
            else if (sub(/^v=/, "", $i)) has = versions($i)
            else if (sub(/^tag=/, "", $i)) tag = $i + 0
            else if (sub(/^like=/, "", $i)) {
                if (!((own, $i) in members_of)) fail("nothing above has that name")
                members = members_of[own, $i]
            } else if ($i == "def=null") default_is_null = 1
            else if ($i == "def=true") default_number = 1
            else if ($i ~ /^def=-?[0-9]+$/) default_number = substr($i, 5)
            else fail("an attribute that is none")
        }
        if (type == "struct" && members == 0) members = ++lists
        members_of[own, $2] = members
        for (i in list) if (i > depth) delete list[i]
        list[depth + 1] = members
        field[own, ++count[own]] = sprintf("\"%s\", \",\\\"%s\\\":\", %d, %%s, HW_MESSAGE_%s, %d, %d, %d, %d, %s, %s, %d, %s", \
            $2, $2, length($2) + 4, types[type], is_array, is_nullable, default_is_null, secret, secret_by, has, tag, \
            default_number)
        below[own, count[own]] = members
        if (tag < 0) plain_end[own] = count[own]
        next
    }
    { fail("no line") }
    function reference(number) {
        return "{" (number == 0 ? "NULL" : "message_fields_" number) ", " count[number] + 0 ", " plain_end[number] + 0 "}"
    }
    END {
        if (failed) exit 1
        print "/* Made by core/decode/message_table.sh of message_fields.txt. */"
        print "#include \"core/decode/message.h\""
        print "#include <stddef.h>"
        # A struct stands behind the one that it is in, so the last one comes first.
        for (i = lists; i > 0; i--) {
            print "static const struct hw_message_field message_fields_" i "[] = {"
            for (k = 1; k <= count[i]; k++)
                printf "    {" field[i, k] "},\n", reference(below[i, k])
            print "};"
        }
        print "const struct hw_message_layout hw_message_layouts[] = {"
        for (i = 1; i <= records; i++)
            print "    {" head[i] ", " reference(keys[i]) ", " reference(values[i]) "},"
        print "};"
        print "const size_t hw_message_layout_count = " records ";"
    }' "$here/message_fields.txt" >"$out.new"
mv "$out.new" "$out"
