# SPDX-License-Identifier: MIT
#
# What Kafka's DumpLogSegments prints, as lines with '|' between the fields, the first of which says
# what it is; PLACE is PARTITION/FILE.
#
#   batch|PLACE|position|size|base offset|last offset|records|leader epoch|timestamp type|
#         max timestamp|codec|crc|producer id|producer epoch|base sequence|transactional|control
#   record|PARTITION|offset|leader epoch|timestamp|key size|value size|producer id|producer epoch|
#         sequence|what a control record says
#   index|PLACE|offset|position
#   timeindex|PLACE|timestamp|offset
#   aborted|PLACE|producer id|first offset|last offset|last stable offset
#   producer|PLACE|producer id|producer epoch|coordinator epoch|first offset of its transaction|
#         timestamp|last sequence|last offset|offset delta
#   complaint|PLACE|whatever else it says
#
# Sizes are -1 for null; a number that is not there is -1.

# The value behind "name: ", up to the next blank; -1 where there is none.
function value(name,    at, rest) {
    at = index(" " $0, " " name ": ")
    if (at == 0) return -1
    rest = substr($0, at + length(name) + 2)
    sub(/ .*/, "", rest)
    if (rest == "OptionalLong.empty") return -1
    if (rest ~ /^OptionalLong\[/) gsub(/OptionalLong\[|\]/, "", rest)
    return rest
}

function flag(name) { return value(name) == "true" ? 1 : 0 }


/^Dumping / {
    count = split($2, parts, "/")
    partition = parts[count - 1]
    place = partition "/" parts[count]
    next
}
/^Log starting offset: / { next }
/ is empty\.$/ { next }
/ passed sanity check\.$/ { next }
/^$/ { next }

/^baseOffset: .* isvalid: true$/ {
    type = / CreateTime: / ? "CreateTime" : "LogAppendTime"
    epoch = value("partitionLeaderEpoch")
    producer = value("producerId")
    producer_epoch = value("producerEpoch")
    print "batch|" place "|" value("position") "|" value("size") "|" value("baseOffset") "|" \
        value("lastOffset") "|" value("count") "|" epoch "|" type "|" value(type) "|" \
        value("compresscodec") "|" value("crc") "|" producer "|" producer_epoch "|" \
        value("baseSequence") "|" flag("isTransactional") "|" flag("isControl")
    next
}
/^\| offset: / {
    control = value("endTxnMarker")
    print "record|" partition "|" value("offset") "|" epoch "|" value(type) "|" value("keySize") \
        "|" value("valueSize") "|" producer "|" producer_epoch "|" value("sequence") "|" \
        (control == -1 ? "" : control)
    next
}
# The tool takes the first entry of an index file of zeros only, as a killed broker leaves it, for one.
# No entry points to the first batch of a segment.
/^offset: [0-9]+ position: 0$/ { next }
/^offset: [0-9]+ position: [0-9]+$/ {
    print "index|" place "|" value("offset") "|" value("position")
    next
}
/^timestamp: [0-9]+ offset: [0-9]+$/ {
    print "timeindex|" place "|" value("timestamp") "|" value("offset")
    next
}
/^version: 0 producerId: / {
    print "aborted|" place "|" value("producerId") "|" value("firstOffset") "|" \
        value("lastOffset") "|" value("lastStableOffset")
    next
}
/^producerId: / {
    print "producer|" place "|" value("producerId") "|" value("producerEpoch") "|" \
        value("coordinatorEpoch") "|" value("currentTxnFirstOffset") "|" value("lastTimestamp") \
        "|" value("lastSequence") "|" value("lastOffset") "|" \
        (value("lastOffset") == -1 ? 0 : value("offsetDelta"))
    next
}
{ print "complaint|" place "|" $0 }
