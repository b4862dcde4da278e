# SPDX-License-Identifier: MIT
#
# What DumpLogSegments prints with a decoder, as lines with tabs between: file, offset, key, value. Of a
# control record the value is all that it prints of it, and the key is empty.

/^Dumping / {
    count = split($2, parts, "/")
    name = parts[count]
    next
}
/^\| offset: / {
    offset = $3
    key = value = ""
    if (match($0, / key: /)) {
        key = substr($0, RSTART + 6)
        sub(/ payload: .*/, "", key)
    }
    if (match($0, / payload: /)) {
        value = substr($0, RSTART + 10)
    } else if (key == "") {
        value = $0
        sub(/^.* (sequence|headerKeys): [^ ]* */, "", value)
    }
    print name "\t" offset "\t" key "\t" value
}
