#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Checks highwater and Apache Kafka against each other, with Kafka's released server and tools:
#
#   1. Kafka's DumpLogSegments reads directories that highwater wrote.
#   2. highwater reads directories that a real broker wrote: after a clean stop, after kill -9, and
#      while it runs; and they are compared with what Kafka's own consumer and tool say, the records
#      of internal topics with what its decoders say.
#   3. highwater goes on in a directory of the broker, and the broker goes on behind highwater.
#   4. What kafka_files() says of the next start is what a start does, after a clean stop and kill -9.
#   5. kafka_recovery() says what a start does to damaged directories; a broker is started on copies.
#
# usage: tests/interop.sh [--build DIR] [--record | --fetch | --starts] [--kafka VERSION]
#
#   --fetch    only fetch Kafka and build the programs that drive it
#   --starts   the fifth only
#   --record   put the broker's directories into tests/data/kafka (see the README there)
#   --kafka    another release than pom.xml names
#
# Needs Java 17 and Maven. What it fetches and writes is below DIR/interop. The broker listens on
# the loopback interface only, and stops by itself when this script is killed.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

build=build record= fetch_only= starts_only= kafka=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    --record) record=yes && shift ;;
    --fetch) fetch_only=yes && shift ;;
    --starts) starts_only=yes && shift ;;
    --kafka) kafka=(-Dkafka.version="$2") && shift 2 ;;
    *) echo "tests/interop.sh: what is $1?" >&2 && exit 2 ;;
    esac
done

# --- What it needs ----------------------------------------------------------------------------

java_version() {
    java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'
}

missing=()
for command in java javac; do
    command -v "$command" >/dev/null 2>&1 || missing=(default-jdk-headless)
done
if [ "${#missing[@]}" -eq 0 ] && [ "$(java_version)" -lt 17 ]; then
    echo "interop: Kafka 4 needs Java 17 or later, and java here is $(java_version)" >&2
    exit 1
fi
command -v mvn >/dev/null 2>&1 || missing+=(maven)
if [ "${#missing[@]}" -gt 0 ]; then
    echo "interop: needs Java 17 or later and Maven. Missing are the Debian packages: ${missing[*]}" >&2
    echo "  sudo apt-get install -y ${missing[*]}" >&2
    exit 1
fi

directory=$(realpath -m "$build/interop")
work=$directory/work
extension=$(realpath -m "$build/highwater.so")
queries=$PWD/tests/interop
data=$PWD/tests/data/kafka
rm -rf "$work"
mkdir -p "$work"

# --- The pieces -------------------------------------------------------------------------------

started=$SECONDS passed=0 failed=0

section() { printf '\n--- %s (%d s)\n' "$1" $((SECONDS - started)); }

# Count a check: its name, and whether it holds.
check() {
    local name=$1
    shift
    if "$@" >"$work/check.log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        head -n 15 "$work/check.log" | cut -c 1-300 | sed 's/^/    /'
    fi
}

same() { diff -u --label "$1" --label "$2" "$1" "$2"; }
is_empty() { ! grep . "$1"; }
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }

java_command=(env CLASSPATH="$directory/maven/classes:$directory/lib/*" java -Xmx256m -Xms64m
    -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error)
jvm() { "${java_command[@]}" "$@"; }

# Run the statements on standard input in a database file, the extension loaded. An error stops it.
sql() {
    { printf '.bail on\n.load %s\n.open %s\n.load %s\n' "${extension%.so}" "$1" "${extension%.so}"; cat; } |
        sqlite3 -batch -init /dev/null -list
}

# Let Kafka's tool read the partitions in log directory $2; what it says goes into $1, in lines as
# dump.awk makes them.
dump() {
    local out=$1 logs=$2 files
    files=$(cd "$logs" && find . -regextype posix-extended -type f \
        -regex '.*/[0-9]{20}\.(log|index|timeindex|txnindex|snapshot)' -not -path './__*' -not -path './*-delete/*' |
        sed 's/..//' | sort | paste -sd ,)
    (cd "$logs" && jvm "$dump_tool" --deep-iteration --files "$files") \
        >"$out.printed" 2>"$out.stderr" || echo "ended with status $?" >>"$out.stderr"
    awk -f "$queries/dump.awk" "$out.printed" >"$out"
    # Release 4.4 takes the offset before the first record of every segment to be -1.
    awk '/^Non-consecutive offsets in / { place = $0; next }
         / -1 is followed by / { next }
         { print "complaint|" place "|" $0 }' "$out.stderr" >>"$out"
    (cd "$logs" && jvm "$dump_tool" --index-sanity-check --files "$files" ||
        echo "the check of an index ended with status $?") 2>/dev/null |
        awk '/index/ && !/^Dumping / && !/ (passed sanity check|is empty)\.$/ { print "complaint|sanity|" $0 }' \
            >>"$out"
}

# The lines of one kind, sorted as text: the order of files is the tool's own.
lines() { grep "^$1|" "$2" | sort || true; }

# --- Kafka ------------------------------------------------------------------------------------

section 'Apache Kafka, and the programs that drive it'
stamp=$directory/built
if [ ! -e "$stamp" ] || [ -n "${kafka[*]}" ] ||
    [ -n "$(find tests/interop -newer "$stamp" \( -name '*.java' -o -name pom.xml \))" ]; then
    rm -rf "$directory/lib" "$directory/maven" "$stamp"
    mvn -B -q -f tests/interop/pom.xml -Dinterop.directory="$directory" ${kafka[@]+"${kafka[@]}"} prepare-package
    [ -n "${kafka[*]}" ] || touch "$stamp"
fi
echo "$(cd "$directory/lib" && ls kafka_2.13-*.jar), Java $(java_version)"
[ -z "$fetch_only" ] || exit 0
# Release 4.0 has it under another name.
dump_tool=org.apache.kafka.tools.DumpLogSegments
jvm "$dump_tool" --version >/dev/null 2>&1 || dump_tool=kafka.tools.DumpLogSegments

# How many checks there were, and the exit status.
finish() {
    printf '\ninterop: %d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
}

broker_pid=
if [ -n "$starts_only" ]; then
    . tests/interop/recovery.sh
    finish
    exit
fi

# --- 1: what highwater wrote, read by Kafka's tool --------------------------------------------

# Compare the directories of a closed database with its tables; $2 says how it was closed.
check_ours() {
    local db=$1 name=$2 broker out kind
    for broker in 1 2 3; do
        out=${db%.db}-broker-$broker
        dump "$out.dump" "$db-highwater/broker-$broker"
        { echo "CREATE TEMP TABLE broker AS SELECT $broker AS id;" && cat "$queries/ours_tables.sql"; } |
            sql "$db" >"$out.tables"
        { lines start "$out.tables" && cat "$out.dump"; } |
            awk -f "$queries/summary.awk" >"$out.summary"
        lines complaint "$out.dump" >"$out.complaints"
        check "$name, broker $broker: the tool has no complaint" is_empty "$out.complaints"
        for kind in record segment epoch; do
            lines "$kind" "$out.summary" >"$out.$kind.kafka"
            lines "$kind" "$out.tables" >"$out.$kind.highwater"
            check "$name, broker $broker: ${kind}s are the same" \
                same "$out.$kind.kafka" "$out.$kind.highwater"
        done
        lines batch "$out.dump" >"$out.batches"
        {
            echo "CREATE TEMP TABLE source AS SELECT '$db-highwater/broker-$broker' AS path;"
            cat "$data/batches.sql" && echo ';'
        } | sql :memory: | sort >"$out.batches.highwater"
        check "$name, broker $broker: batches and their CRCs are the same" \
            same "$out.batches" "$out.batches.highwater"
        # The topics gzip, snappy, lz4 and zstd are named after their compression.type.
        awk -F '|' '$2 ~ /^(gzip|snappy|lz4|zstd)-0\// && index($2, $11 "-") != 1' \
            "$out.batches" >"$out.codecs"
        check "$name, broker $broker: batches have the codec of their topic" is_empty "$out.codecs"
        grep -e "^aborted|" -e "^producer|" "$out.dump" | sort >"$out.transactions"
        {
            echo "CREATE TEMP TABLE source AS SELECT '$db-highwater/broker-$broker' AS path;"
            cat "$data/indexes.sql" && echo ';'
        } | sql :memory: | grep -e "^aborted|" -e "^producer|" | sort >"$out.transactions.highwater"
        check "$name, broker $broker: aborted transactions and producers are the same" \
            same "$out.transactions" "$out.transactions.highwater"
        check "$name, broker $broker: transactions were aborted, in several segments" \
            test "$(grep '^aborted|' "$out.transactions" | cut -d '|' -f 2 | sort -u | wc -l)" -gt 3
        check "$name, broker $broker: there was something to compare" \
            has_lines "$out.record.kafka" 8000
    done
}

section '1. DumpLogSegments reads what highwater wrote'
cat "$queries/ours.sql" "$queries/transactions.sql" | sql "$work/closed.db" >/dev/null
check_ours "$work/closed.db" 'closed'
{ cat "$queries/ours.sql" "$queries/transactions.sql" && echo '.shell kill -9 $PPID'; } | sql "$work/killed.db" >/dev/null 2>&1 || true
check 'killed: it was not closed' test ! -e "$work/killed.db-highwater/broker-1/.kafka_cleanshutdown"
sql "$work/killed.db" <<<'SELECT count(*) FROM hw_replicas;' >/dev/null
check_ours "$work/killed.db" 'killed and recovered'

# --- 2: what a broker wrote, read by highwater ------------------------------------------------

broker=$work/broker

start_broker() {
    rm -f "$broker/bootstrap"
    # Not through the function, so that $! is the broker itself.
    "${java_command[@]}" Broker "$broker" 400 >>"$work/broker.log" 2>&1 &
    broker_pid=$!
    local tries=600
    until [ -s "$broker/bootstrap" ]; do
        tries=$((tries - 1))
        if [ "$tries" -eq 0 ] || ! kill -0 "$broker_pid" 2>/dev/null; then
            echo 'interop: the broker did not start:' >&2
            tail -n 30 "$work/broker.log" >&2
            exit 1
        fi
        sleep 0.1
    done
}

# Stop it with signal $1.
stop_broker() {
    kill "-$1" "$broker_pid"
    wait "$broker_pid" 2>/dev/null || true
    broker_pid=
}
trap '[ -z "$broker_pid" ] || kill -9 "$broker_pid"' EXIT

client() { jvm Client "$broker" "$@" >>"$work/client.log" 2>&1 || { tail -n 30 "$work/client.log" >&2 && exit 1; }; }

# Keep the log directory as it is now under $1: the broker's own topics, and the one that only they
# tell of, apart.
keep() {
    mkdir -p "$work/$1/internal"
    cp -a "$broker/logs" "$work/$1/logs"
    mv "$work/$1/logs"/__* "$work/$1/logs"/grouped-* "$work/$1/internal"
}

# The lines that a consumer wrote into directory $1; $2 is records or committed.
consumed() {
    local file
    for file in "$1"/*."$2"; do
        sed "s/^/$(basename "$file" ".$2")#/" "$file"
    done | sort
}

section '2. A broker writes, highwater reads'
start_broker
client create
client first
client cleaned
stop_broker TERM
start_broker
client second
client groups
client cleaned
client print "$work/stopped"
stop_broker TERM
keep stopped
start_broker
client last
client print "$work/killed"
stop_broker KILL
keep killed
start_broker
client print "$work/recovered"
stop_broker TERM
keep recovered

# Compare the log directory that was kept under $1 with what the consumer and the tool said of it.
check_kept() {
    local name=$1 at=$work/$1 query kind
    consumed "$at" records >"$at.records"
    comm -23 "$at.records" <(consumed "$at" committed) >"$at.uncommitted"
    dump "$at.dump" "$at/logs"
    lines record "$at.dump" >"$at.log"
    lines batch "$at.dump" >"$at.batches"
    grep -e "^index|" -e "^timeindex|" -e "^aborted|" -e "^producer|" "$at.dump" | sort >"$at.indexes"
    grep "|records|" "$at/offsets" | sort >"$at.ends"
    for query in records uncommitted log batches indexes ends; do
        {
            echo "CREATE TEMP TABLE source AS SELECT '$at/logs' AS path;"
            echo 'CREATE TEMP TABLE bounds(topic, "partition", kind, first, last);'
            printf '.mode ascii\n.separator "|" "\\n"\n.import %s bounds\n.mode list\n' "$at/offsets"
            cat "$data/$query.sql" && echo ';'
        } | sql :memory: | sort >"$at.$query.highwater"
        check "$name: kafka_* and Kafka agree on $query" same "$at.$query" "$at.$query.highwater"
    done
    check "$name: there was something to compare" has_lines "$at.log" 1000
}

# What Kafka's own decoders print of the internal topics kept under $1, and the same out of highwater:
# OFFSET|key|value, as JSON with one order of members; records of a control batch without a key.
check_internal() {
    local at=$work/$1/internal topic decoder files file out
    for decoder in offsets transaction-log share-group-state cluster-metadata; do
        case $decoder in
        offsets) topic=__consumer_offsets ;;
        transaction-log) topic=__transaction_state ;;
        share-group-state) topic=__share_group_state ;;
        cluster-metadata) topic=__cluster_metadata ;;
        esac
        out=$work/$1.$topic
        files=$(cd "$at" && find "$topic"-* -name '*.log' -o -path "*cluster_metadata*" -name '*.checkpoint' |
            sort | paste -sd ,)
        (cd "$at" && jvm "$dump_tool" "--$decoder-decoder" --files "$files") >"$out.printed" 2>"$out.stderr"
        awk -f "$queries/decoded.awk" "$out.printed" >"$out.decoded"
        for file in ${files//,/ }; do
            printf "INSERT INTO source VALUES ('%s', '%s', '%s');\n" "$topic" "$at/$file" "${file##*/}"
        done | cat <(echo 'CREATE TEMP TABLE source(topic, path, name);') - "$queries/decoded.sql" |
            sql :memory: | sort >"$out.highwater"
        {
            printf '.mode ascii\n.separator "\\t" "\\n"\n'
            echo 'CREATE TEMP TABLE printed(name, "offset", key, value);'
            printf '.import %s printed\n.mode list\n' "$out.decoded"
            cat "$queries/decoded_printed.sql"
        } | sql :memory: | sort >"$out.kafka"
        check "$1: kafka_record() and Kafka's decoder agree on $topic" same "$out.kafka" "$out.highwater"
        check "$1: there was something of $topic to compare" has_lines "$out.kafka" 4
    done
}

check_kept stopped
check_kept killed
check_kept recovered
check_internal stopped
check_internal killed
check 'the default partitioner chooses the same partitions' same \
    <(sql :memory: <<<"CREATE VIRTUAL TABLE keyed USING highwater(partitions=4, replication.factor=1);
                       INSERT INTO keyed(key, value) SELECT key, value
                         FROM kafka_log('$work/stopped/logs') WHERE topic = 'keyed';
                       SELECT \"partition\", key FROM keyed ORDER BY key;") \
    <(sql :memory: <<<"SELECT \"partition\", key FROM kafka_log('$work/stopped/logs')
                        WHERE topic = 'keyed' ORDER BY key;")

# What is kept for tests that run without Java: all but the large topic.
record() {
    local from=$work/$1 to=$data/$1 file
    rm -rf "$to"
    mkdir -p "$to"
    cp -a "$from/logs" "$to/logs"
    rm -rf "$to/logs/big-0"
    sed -i '/^big /d' "$to/logs"/*-checkpoint
    # The second line of a checkpoint says how many there are.
    for file in "$to/logs"/*-checkpoint; do
        sed -i "2s/.*/$(($(wc -l <"$file") - 2))/" "$file"
    done
    for file in records uncommitted log batches indexes ends; do
        grep -v -e "^big[#|]" -e "|big-0" "$from.$file" >"$to/$file"
    done
    grep -v '^big|' "$from/offsets" >"$to/offsets"
}

if [ -n "$record" ]; then
    record stopped
    record killed
fi


# --- 3: highwater goes on where a broker stopped, and the other way round ----------------------

# Lay the log directory $2 into a new database $1, whose partitions are to lead in epoch $3.
adopt() {
    local db=$1 logs=$2 home partition id
    { echo "CREATE TEMP TABLE told AS SELECT $3 AS leader_epoch;" && cat "$queries/adopt_create.sql"; } |
        sql "$db" >/dev/null
    for home in "$db-highwater"/broker-*; do
        for partition in "$home"/*-[0-9]*/; do
            # The id of our topic, in place of the broker's: a directory of another topic is refused.
            id=$(<"$partition/partition.metadata")
            rm -r "$partition"
            cp -a "$logs/$(basename "$partition")" "$partition"
            printf '%s' "$id" >"$partition/partition.metadata"
        done
        cp "$logs"/*-checkpoint "$home"
        [ -e "$logs/.kafka_cleanshutdown" ] || rm "$home/.kafka_cleanshutdown"
    done
}

# Our directory $1 against the broker's $2: all files but what the next leader wrote, the ids, and what
# the cleaner went on with.
same_files() {
    diff -rq -x partition.metadata -x leader-epoch-checkpoint -x "*.snapshot" -x "*-checkpoint" \
        -x ".*" -x meta.properties -x "*-delete" -x "compacted-*" "$1" "$2"
}

section '3. highwater goes on in the directories of a broker'
adopt "$work/unclean.db" "$work/killed/logs" 5
sql "$work/unclean.db" <"$queries/records.sql" | sort >"$work/unclean.records"
check 'a killed broker: the records that its consumer got' \
    same "$work/killed.records" "$work/unclean.records"
sql "$work/unclean.db" <"$queries/committed.sql" | sort >"$work/unclean.committed"
consumed "$work/killed" committed | grep '^tx#' >"$work/killed.committed"
check 'a killed broker: read_committed gives what its consumer got' \
    same "$work/killed.committed" "$work/unclean.committed"
sql :memory: <<<"SELECT 'tx#' || \"partition\", \"offset\", \"timestamp\", leader_epoch, quote(key), quote(value),
                        quote(headers) FROM kafka_log('$work/killed/logs/tx-0') WHERE visibility = 'visible';" |
    sort >"$work/killed.visible"
check 'a killed broker: the same is visible in its files' same "$work/killed.committed" "$work/killed.visible"
check 'a killed broker: the same end for read_committed' same \
    <(grep '^tx|0|committed|' "$work/killed/offsets" | cut -d '|' -f 5) \
    <(sql "$work/unclean.db" <<<"SELECT lso FROM hw_partitions WHERE topic = 'tx';")
check 'a killed broker: there were records' has_lines "$work/killed.records" 1000
{
    echo "CREATE TEMP TABLE asked(topic, \"partition\", time, told);"
    printf '.mode ascii\n.separator "|" "\\n"\n.import %s asked\n.mode list\n' "$work/killed/times"
    echo "SELECT topic, \"partition\", time,
                 coalesce(list_offsets(topic, CAST(\"partition\" AS INTEGER), CAST(time AS INTEGER)), -1)
            FROM asked;"
} | sql "$work/unclean.db" >"$work/unclean.times"
check 'a killed broker: the same offsets for times' same "$work/killed/times" "$work/unclean.times"
mkdir "$work/unclean"
cp -a "$work/unclean.db-highwater"/broker-*/*-[0-9]* "$work/unclean"
check 'a killed broker: recovery leaves what the broker left, byte for byte' \
    same_files "$work/unclean" "$work/recovered/logs"

adopt "$work/clean.db" "$work/recovered/logs" 7
cat "$queries/adopt_append.sql" "$queries/transactions.sql" | sql "$work/clean.db" >/dev/null
sql "$work/clean.db" <"$queries/committed.sql" | sort >"$work/clean.committed"
sql "$work/clean.db" <"$queries/records.sql" | sort >"$work/clean.records"
for replica in 1 2 3; do
    home=$work/clean.db-highwater/broker-$replica
    dump "$work/clean-$replica.dump" "$home"
    # What the tool says of the broker's own files, too: compaction leaves gaps, and a batch that it
    # emptied keeps its largest timestamp, for which the tool finds no record.
    lines complaint "$work/clean-$replica.dump" |
        grep -v -e 'Non-consecutive offsets in .*compacted-0' -e 'log timestamp: -1$' \
            -e 'Found timestamp mismatch in .*compacted-0' >"$work/clean-$replica.complaints" || true
    check "appended behind a broker, broker $replica: the tool has no complaint" \
        is_empty "$work/clean-$replica.complaints"
done

# Give them back to the broker: the leader's copy of each.
sql "$work/clean.db" <<<'SELECT dir FROM hw_replicas WHERE role = '\''leader'\'';' |
    while read -r home; do
        partition=$broker/logs/$(basename "$home")
        id=$(<"$partition/partition.metadata")
        rm -r "$partition"
        cp -a "$home" "$partition"
        printf '%s' "$id" >"$partition/partition.metadata"
    done
start_broker
client print "$work/back"

section 'highwater reads while the broker writes'
client pour &
pouring=$!
looks=0
while kill -0 "$pouring" 2>/dev/null; do
    # Everything up to where it happens to end: no error, nothing missing in between.
    sql :memory: <<<"SELECT count(*), sum(error IS NOT NULL), max(\"offset\") + 1
                       FROM kafka_log('$broker/logs/big-0');" >>"$work/looks"
    looks=$((looks + 1))
done
wait "$pouring"
awk -F '|' '$1 != $3 || $2 != 0 || $1 < most { print } { most = $1 }' "$work/looks" >"$work/looks.bad"
check 'while it writes: every look finds a log without holes or errors' is_empty "$work/looks.bad"
check 'while it writes: the looks saw it grow' \
    test "$(sort -u "$work/looks" | wc -l)" -gt 2 -a "$looks" -gt 2
stop_broker TERM
consumed "$work/back" records >"$work/back.records"
for side in clean back; do
    grep -v "^compacted#" "$work/$side.records" >"$work/$side.kept"
    grep "^compacted#" "$work/$side.records" >"$work/$side.compacted"
done
check 'given back to the broker: its consumer gets the records that we have' \
    same "$work/clean.kept" "$work/back.kept"
consumed "$work/back" committed | grep '^tx#' >"$work/back.committed"
check 'given back to the broker: its consumer of read_committed gets what ours does' \
    same "$work/clean.committed" "$work/back.committed"
check 'given back to the broker: more was committed, and one transaction is open' test \
    "$(wc -l <"$work/back.committed")" -gt "$(wc -l <"$work/killed.committed")" -a \
    "$(sql "$work/clean.db" <<<"SELECT hw > lso FROM hw_partitions WHERE topic = 'tx';")" = 1
# The cleaner may take some away.
comm -13 "$work/clean.compacted" "$work/back.compacted" >"$work/back.unknown"
check 'given back to the broker, compacted: no record is new' is_empty "$work/back.unknown"
check 'given back to the broker, compacted: ours are there' grep -q "highwater 40" "$work/back.compacted"

# --- 4: what is told of a start, and what it does ----------------------------------------------

# Leave in log directory $1 what crashes, people and other programs leave there.
disturb() (
    cd "$1"
    touch README x.tmp
    mkdir -p remote-log-index-cache
    cd plain-0
    touch some.deleted 00000000000000700000.log.cleaned leader-epoch-checkpoint.old
    cp 00000000000000000000.log 00000000000000800000.log.swap
    cp 00000000000000000000.index 88.index
    cp 00000000000000000000.timeindex 00000000000000500000.timeindex
    mkdir -p below
    cd ../codecs-0
    cp 00000000000000000000.log 00000000000000000000.log.swap
    cp 00000000000000000000.timeindex 00000000000000000000.timeindex.swap
    cd ../tx-0
    rm "$(ls -- *.index | head -n 1)"
    for file in *.snapshot; do echo damaged >"$file" && break; done
    cp "$(ls -- *.snapshot | tail -n 1)" 00000000000000000001.snapshot
    rm ../keyed-1/partition.metadata
)

# What is told of $broker/logs before a start, against what is there once the broker serves. An index
# or a snapshot that goes may be made anew.
check_start() {
    local name=$1 at=$work/$1-start
    {
        echo "CREATE TEMP TABLE source AS SELECT '$broker/logs/' AS path;"
        cat "$queries/start.sql"
    } | sql :memory: >"$at.told"
    grep '^there|' "$at.told" | cut -d '|' -f 2 | sort >"$at.there"
    # A directory that is to be deleted goes a minute later.
    grep '^gone|' "$at.told" | cut -d '|' -f 2 | grep -v -- '-delete/' | sort | comm -23 - "$at.there" >"$at.gone"
    start_broker
    client print "$at"
    stop_broker "$2"
    (cd "$broker/logs" && find . -mindepth 1 | sed 's/..//' | sort) >"$at.after"
    comm -23 "$at.there" "$at.after" >"$at.missing"
    comm -12 "$at.gone" "$at.after" >"$at.left"
    check "a start, $name: what was to stay is there" is_empty "$at.missing"
    check "a start, $name: what was to go has gone" is_empty "$at.left"
    check "a start, $name: files were told of" has_lines "$at.there" 60
    check "a start, $name: some were to go" has_lines "$at.gone" 3
}

section '4. What is told of a start, and what it does'
disturb "$broker/logs"
check_start 'behind a clean stop' KILL
disturb "$broker/logs"
check_start 'behind a kill' TERM
mkdir "$broker/logs/lost+found"
check 'a directory that is no partition: a start is refused' grep -q '|refused|' <(
    sql :memory: <<<"SELECT '', at_start, '' FROM kafka_files('$broker/logs') WHERE error IS NOT NULL;")
start_broker
check 'a directory that is no partition: the broker ends by itself' timeout 60 tail --pid="$broker_pid" -f /dev/null
wait "$broker_pid" 2>/dev/null || true
broker_pid=

. tests/interop/recovery.sh
finish
