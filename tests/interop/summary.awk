# SPDX-License-Identifier: MIT
#
# Records, segments and leader epochs, from the lines of dump.awk. Lines "start|PARTITION|offset" in
# front of them give log starts: what is below is left out, and an epoch that began there begins at
# the log start.
#
#   record|...                                  as they come
#   segment|PARTITION|base offset|next offset|size|index entries|largest timestamp
#   epoch|PARTITION|epoch|start offset|end offset

BEGIN { FS = "|" }

$1 == "start" { log_start[$2] = $3 }
$1 == "record" && $3 >= log_start[$2] + 0
$1 == "batch" || $1 == "index" {
    split($2, place, "/")
    partition = place[1]
    sub(/\..*/, "", place[2])
    segment = partition "|" place[2] + 0
}
$1 == "index" { entries[segment]++ }
$1 == "batch" {
    next_offset = $6 + 1
    end[segment] = next_offset
    size[segment] = $3 + $4
    if (!(segment in newest) || $10 > newest[segment]) newest[segment] = $10
    if (next_offset > log_start[partition] + 0) {
        epoch = partition "|" $8
        if (!(epoch in first))
            first[epoch] = $5 > log_start[partition] + 0 ? $5 : log_start[partition]
        last[epoch] = next_offset
    }
}
END {
    for (segment in end)
        print "segment|" segment "|" end[segment] "|" size[segment] "|" entries[segment] + 0 "|" \
            newest[segment]
    for (epoch in first)
        print "epoch|" epoch "|" first[epoch] "|" last[epoch]
}
