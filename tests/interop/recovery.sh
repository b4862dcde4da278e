# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Sourced by ../interop.sh: what kafka_recovery() says of damaged directories, against what a broker
# does that is started on a copy of them.
#
# One topic for each kind of damage, all alike before it (java/Starts.java). Each round starts from
# one way to stop: cleanly, killed, killed without a recovery point. What keeps a broker from
# starting has a round of its own.

starts=$work/starts
kinds=(ready whole torn zeros garbage crc-last crc-earlier no-index no-index-last no-index-crc no-time
    bad-index bad-index-last zero-index-last long-index far-index-last swap swap-renamed deleted cleaned
    no-snapshot bad-snapshot no-epochs epochs-ahead bad-epochs epoch-back bad-txnindex half-txnindex
    log-start no-log no-metadata bad-metadata hole no-file bad-checkpoint intruder)

flip() { # the byte at $2 of file $1
    printf '%b' "$(printf '\\0%o' $(($(od -An -tu1 -j "$2" -N 1 "$1") ^ 255)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Damage the partition's directory $1 by the rule $2.
damage() {
    local home=$1 logs snapshots file
    logs=("$home"/*.log) snapshots=("$home"/*.snapshot)
    local last=${logs[-1]%.log} earlier=${logs[1]%.log}
    case $2 in
    torn) truncate -s -10 "$last.log" ;;
    zeros) truncate -s +4096 "$last.log" ;;
    garbage) printf '%0.sz' {1..100} >>"$last.log" ;;
    crc-last) flip "$last.log" 100 ;;
    crc-earlier) flip "$earlier.log" 1000 ;;
    no-index) rm "$earlier.index" ;;
    no-index-last) rm "$last.index" ;;
    no-index-crc) rm "$earlier.index" && flip "$earlier.log" 1000 ;;
    no-time) rm "$earlier.timeindex" ;;
    bad-index) head -c 64 /dev/zero | tr '\0' '\377' >"$earlier.index" ;;
    bad-index-last) head -c 64 /dev/zero | tr '\0' '\377' >"$last.index" ;;
    zero-index-last) truncate -s 0 "$last.index" && truncate -s 64 "$last.index" ;;
    long-index) truncate -s +803 "$last.index" ;;
    far-index-last) printf '\0\0\0\100\0\20\0\0' >"$last.index" ;;
    swap) for file in "$earlier".{log,index,timeindex}; do cp "$file" "$file.swap"; done ;;
    swap-renamed) for file in "$earlier".{log,index,timeindex}; do mv "$file" "$file.swap"; done ;;
    deleted) for file in "$earlier".{log,index,timeindex}; do cp "$file" "$file.deleted"; done ;;
    cleaned) cp "$earlier.log" "$earlier.log.cleaned" && cp "${logs[2]}" "${logs[2]}.swap" ;;
    no-snapshot) rm "$home"/*.snapshot ;;
    bad-snapshot) flip "${snapshots[-1]}" 7 ;;
    no-epochs) rm "$home/leader-epoch-checkpoint" ;;
    epochs-ahead) printf '0\n2\n0 0\n9 100000\n' >"$home/leader-epoch-checkpoint" ;;
    bad-epochs) echo nonsense >"$home/leader-epoch-checkpoint" ;;
    epoch-back) # In the last segment's first batch.
        printf '\0\0\0\7' | dd of="$last.log" bs=1 seek=12 conv=notrunc status=none ;;
    bad-txnindex) head -c 34 /dev/zero >"$earlier.txnindex" ;;
    half-txnindex) truncate -s -5 "$earlier.txnindex" ;;
    log-start) printf '0\n1\nlog-start 0 100000\n' >"$home/../log-start-offset-checkpoint" ;;
    no-log) rm "$home"/0* ;;
    no-metadata) rm "$home/partition.metadata" ;;
    bad-metadata) echo nonsense >"$home/partition.metadata" ;;
    hole) rm "$earlier.log" ;;
    no-file) mkdir "$home/00000000000000000001.log" ;;
    bad-checkpoint) echo nonsense >"$home/../recovery-point-offset-checkpoint" ;;
    intruder) mkdir "$home/../lost+found" ;;
    ready | whole) ;;
    *) echo "recovery.sh: what is $2?" >&2 && exit 2 ;;
    esac
}

# Start a broker on the log directory $1/logs.
run_starts() {
    rm -f "$1/bootstrap"
    "${java_command[@]}" Broker "$1" 200 >>"$1.log" 2>&1 &
    broker_pid=$!
    until [ -s "$1/bootstrap" ] || ! kill -0 "$broker_pid" 2>/dev/null; do
        sleep 0.1
    done
}

stop_starts() {
    kill "-$1" "$broker_pid" 2>/dev/null || true
    wait "$broker_pid" 2>/dev/null || true
    broker_pid=
}
trap '[ -z "$broker_pid" ] || kill -9 "$broker_pid"' EXIT

# Lay a copy of the directory $2, each topic of $3... damaged by its name, into $1/logs, and what
# kafka_recovery() says of it into $1.rows.
lay_starts() {
    local home=$1 from=$2 name
    shift 2
    mkdir -p "$home"
    cp -a "$starts/$from" "$home/logs"
    for name in "$@"; do
        damage "$home/logs/$name-0" "$name"
    done
    cp -a "$home/logs" "$home/before"
    {
        echo '.separator |'
        echo "SELECT coalesce(topic, 'intruder'), file, action, bytes_cut, leo"
        echo "FROM kafka_recovery('$home/logs') WHERE topic IS NULL OR topic NOT GLOB '__*';"
    } | sql :memory: >"$home.rows"
    check "$(basename "$home"): kafka_recovery() has left the directory as it was" \
        diff -r "$home/before" "$home/logs"
}

# The lines "topic|end|offset", "topic|gone|file", "topic|cut|file|bytes", "topic|changed|segment" of
# what a start did: $1.before against $1/logs; indexes of the last segment are always changed.
done_by_start() {
    local home=$1 name before after file last
    shift
    for name in "$@"; do
        before=$home/before/$name-0 after=$home/after/$name-0
        last=$(cd "$before" && printf '%s\n' 0*.log | tail -n 1)
        for file in $(cd "$before" && find . -type f -regex '.*\.\(log\|swap\|cleaned\|deleted\)' -printf '%P\n'); do
            if [ ! -e "$after/$file" ]; then
                echo "$name|gone|$file"
            elif [ "$(stat -c %s "$after/$file")" -lt "$(stat -c %s "$before/$file")" ]; then
                echo "$name|cut|$file|$(($(stat -c %s "$before/$file") - $(stat -c %s "$after/$file")))"
            fi
        done
        for file in $(cd "$after" && printf '%s\n' 0*.*index); do
            # What was renamed, and what was cut, is another file anyway.
            if [ "${file%%.*}" != "${last%%.*}" ] && [ ! -e "$before/${file%%.*}.log.swap" ] &&
                [ -e "$before/${file%%.*}.log" ] && ! cmp -s "$before/$file" "$after/$file"; then
                echo "$name|changed|${file%%.*}"
            fi
        done | sort -u
    done
}

# The same lines out of the rows of kafka_recovery().
told_of_start() {
    awk -F '|' -v OFS='|' '
        { segment = $2; sub(/\..*/, "", segment) }
        $2 ~ /\.log$/ && $4 > 0 && $3 ~ /^cut/ { print $1, "cut", $2, $4; print $1, "changed", segment }
        $2 ~ /\.log$/ && $3 == "deleted" || $2 ~ /\.(swap|cleaned|deleted)$/ { gone[$1 "|gone|" $2] = 1 }
        $2 ~ /index$/ && ($3 ~ /^rebuilt/ || $3 ~ /^made empty/) { print $1, "changed", segment }
        END {
            for (line in gone) {
                # What takes its place has its name.
                if (!((line ".swap") in gone)) {
                    print line
                }
            }
        }' "$1.rows"
}

# Start a broker on each topic of $3... damaged, as it was stopped in $2.
check_starts() {
    local home=$starts/$1 from=$2 name last
    shift 2
    lay_starts "$home" "$from" "$@"
    run_starts "$home"
    jvm Starts "$home" ends "$@" >"$home.ends" 2>"$home.offline" || true
    check "$(basename "$home"): the broker runs" kill -0 "$broker_pid"
    cp -a "$home/logs" "$home/after"
    stop_starts KILL
    awk -F '|' '{ print $1 "|" $5 }' "$home.rows" | sort -u >"$home.told.ends"
    for name in "${kinds[@]}"; do # Those that are not damaged are topics too.
        [[ " $* " == *" $name "* ]] || sed -i "/^$name|/d" "$home.told.ends"
    done
    check "$(basename "$home"): kafka_recovery() knows the log ends" \
        same <(grep -v '^ready|' "$home.ends" | sort) <(grep -v '^ready|' "$home.told.ends")
    # A directory that is set aside is compared by its end only; the last segment, whose indexes are
    # changed in any case, by its .log only.
    done_by_start "$home" "$@" | grep -v '^no-metadata|' | sort -u >"$home.done"
    told_of_start "$home" | grep -v '^no-metadata|' | sort -u >"$home.told"
    for name in "$@"; do
        last=$(cd "$home/before/$name-0" && printf '%s\n' 0*.log | tail -n 1)
        sed -i "/^$name|changed|${last%%.*}\$/d" "$home.told"
    done
    # Where all is recovered, indexes that were right are made again too, and not the same.
    [ "$from" != unflushed ] || sed -i '/|changed|/d' "$home.told" "$home.done"
    check "$(basename "$home"): kafka_recovery() knows what is cut, deleted, renamed and rebuilt" \
        same "$home.done" "$home.told"
    check "$(basename "$home"): there was something to compare" has_lines "$home.told" 10
}

# What is damaged as $2 says keeps a broker from starting on what was stopped as $1 says.
check_refused() {
    local home=$starts/refused-$1-$2 tries=300
    lay_starts "$home" "$1" "$2"
    check "$1, $2: kafka_recovery() says that it is refused" grep -q "^$2|.*|refused: .*|0|\$" "$home.rows"
    run_starts "$home"
    while kill -0 "$broker_pid" 2>/dev/null && [ "$tries" -gt 0 ]; do
        tries=$((tries - 1))
        sleep 0.1
    done
    check "$1, $2: the broker does not start" test "$tries" -gt 0
    stop_starts KILL
}

section '5. What would a start do? Asked before a broker starts'
mkdir -p "$starts"
run_starts "$starts/broker"
jvm Starts "$starts/broker" create "${kinds[@]}"
jvm Starts "$starts/broker" fill "${kinds[@]}"
stop_starts TERM
cp -a "$starts/broker/logs" "$starts/clean"
run_starts "$starts/broker"
jvm Starts "$starts/broker" fill "${kinds[@]}"
sleep 2 # For the recovery points.
stop_starts KILL
cp -a "$starts/broker/logs" "$starts/crash"
cp -a "$starts/crash" "$starts/unflushed"
rm "$starts/unflushed/recovery-point-offset-checkpoint"

survived=()
for kind in "${kinds[@]}"; do
    case $kind in
    zeros | bad-epochs | bad-metadata | bad-checkpoint | intruder) ;;
    *) survived+=("$kind") ;;
    esac
done
check_starts started-clean clean "${survived[@]}"
check_starts started-crash crash "${survived[@]}" zeros
check_starts started-unflushed unflushed "${survived[@]}" zeros
check_refused clean zeros
check_refused clean bad-epochs
check_refused crash bad-metadata
check_refused crash bad-checkpoint
check_refused clean intruder
