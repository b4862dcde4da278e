#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Does the command line say what is there, with the exit status that it promises?
#
# usage: tests/command_line.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
export HIGHWATER_LIBRARY=$PWD/$1/highwater.so
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# claim STATUS OUTPUT ARGUMENTS...: what highwater prints (of several lines the last), and its exit status.
claim() {
    local status=0 wanted=$1 output=$2 got
    shift 2
    got=$(ext/packaging/highwater "$@" 2>&1 <"$scratch/input") || status=$?
    if [ "$status" -eq "$wanted" ] && [ "$(tail -n 1 <<<"$got")" = "$output" ]; then
        passed=$((passed + 1))
    else
        printf 'status %d, not %d, and:\n%s\n' "$status" "$wanted" "$got"
        echo "[  FAILED  ] highwater $*" && failed=$((failed + 1))
    fi
}

cat >"$scratch/script.sql" <<'END'
CREATE VIRTUAL TABLE log USING highwater(replication.factor=2);
INSERT INTO log(key, value) VALUES ('k', 'it''s');
SELECT replicate('log') > 0;
INSERT INTO log(key, value, timestamp) VALUES ('k2', 'only the leader has it', 7);
SELECT count(*) FROM log;
CREATE VIRTUAL TABLE bytes USING highwater(replication.factor=1);
INSERT INTO bytes(value) VALUES (x'00ff');
END
: >"$scratch/input"
db="$scratch/a database's.db"
one="$db-highwater/broker-1" two="$db-highwater/broker-2"

claim 0 1 run "$scratch/script.sql" "$db"
mkdir "$scratch/empty" "$scratch/empty/log-0" && : >"$scratch/empty/log-0/00000000000000000000.log"
claim 0 'log|0|1|0|7|k2|only the leader has it|{}|above_hw|' dump "$one"
claim 0 '[{"topic":"bytes","partition":0,"offset":0,"leader_epoch":0,"timestamp":0,"key":null,"value":"X'"'00FF'"'","headers":"{}","visibility":"visible","error":null}]' \
    dump --json "$one/bytes-0"
claim 0 '[]' --json dump "$scratch/empty"
claim 0 '' check "$one"
claim 0 '[]' check --json "$one"
claim 0 '' diff "$one" "$one"
claim 1 'log|0|longer|a|1|[[1,1]]|1|[]|0|1||' diff "$one" "$two"
claim 1 'log|0|longer|b|1|[]|0|[[1,1]]|1||1|' diff "$two" "$one"

cp -r "$two" "$scratch/two"$'\n'
claim 1 'log|0|longer|a|1|[[1,1]]|1|[]|0|1||' diff "$one" "$scratch/two"$'\n'

cp -r "$one" "$scratch/damaged"
printf X | dd of="$scratch/damaged/log-0/00000000000000000000.log" bs=1 seek=65 conv=notrunc status=none
claim 1 "batch|log|0|$scratch/damaged/log-0/00000000000000000000.log|0|the batch at byte 0 has the checksum 0xda2ed429, but its bytes make 0x941be83b" check "$scratch/damaged"
claim 1 'log|0|same|||[]|0|[]|0|||b: 00000000000000000000.log: the batch at byte 0 has the checksum 0xda2ed429, but its bytes make 0x941be83b' diff "$one" "$scratch/damaged"
claim 2 "highwater: there is no $scratch/nothing" diff "$one" "$scratch/nothing"

echo 'SELECT 1; SELECT 2 AS two;' >"$scratch/input"
claim 0 '[{"two":2}]' --json run -
echo 'SELECT nobody;' >"$scratch/input"
ext/packaging/highwater run - <"$scratch/input" >"$scratch/got" 2>&1 && status=0 || status=$?
[ "$status" -eq 1 ] && passed=$((passed + 1)) || { echo "[  FAILED  ] an error in a script: status $status" && failed=$((failed + 1)); }
claim 2 "highwater: cannot read $scratch" run "$scratch"
claim 2 "Error: unable to open database \"$scratch/nothing/x.db\": unable to open database file" run - "$scratch/nothing/x.db"
SQLITE3=$scratch/nothing ext/packaging/highwater run - <"$scratch/input" >"$scratch/got" 2>&1 && status=0 || status=$?
[ "$status" -eq 2 ] && passed=$((passed + 1)) || { echo "[  FAILED  ] no shell: status $status" && failed=$((failed + 1)); }
claim 0 '  FROM kafka_log('"'it''s')"';' --sql dump "it's"
claim 2 "highwater: there is no $scratch/nothing" check "$scratch/nothing"
claim 2 'highwater: there is no command look: see highwater --help' look
claim 2 'highwater: dump takes other arguments: see highwater --help' dump
claim 2 'highwater: there is no option --fast: see highwater --help' --fast dump x
claim 2 'highwater: there is no --fast' dump -- --fast
claim 0 'HIGHWATER_LIBRARY names the library; SQLITE3 the shell.' --help
claim 0 'HIGHWATER_LIBRARY names the library; SQLITE3 the shell.' dump --help

echo "commands: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
