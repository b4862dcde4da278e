#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Loads the extension in Python's sqlite3 module and in Node's better-sqlite3, and has each write
# and read a topic in a database file: the same rows, transactions, errors in words, a second
# process that is told who has the directory.
#
# usage: tests/bindings.sh [--build DIR]
#
# Needs a python3 whose sqlite3 module can load extensions (PYTHON3 names one), and node with npm,
# which fetches better-sqlite3 into DIR/bindings. What is missing is said and counts as failed.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    *) echo "tests/bindings.sh: what is $1?" >&2 && exit 2 ;;
    esac
done
extension=$(realpath "$build/highwater.so")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# What both print.
cat >"$scratch/expected" <<'END'
0|k|hello
1|null|b
rolled back: 2 rows
INVALID_REQUIRED_ACKS: acks must be 0, 1, -1 or 'all', not 7
reopened: 2 rows
another process: refused
END

# Run a program, compare what it prints.
check() {
    local name=$1
    shift
    if "$@" >"$scratch/got" 2>"$scratch/errors" && diff "$scratch/expected" "$scratch/got"; then
        echo "[       OK ] $name" && passed=$((passed + 1))
    else
        cat "$scratch/errors"
        echo "[  FAILED  ] $name" && failed=$((failed + 1))
    fi
}
missing() {
    echo "[  FAILED  ] $1: $2" && failed=$((failed + 1))
}

cat >"$scratch/topic.py" <<'END'
import sqlite3, subprocess, sys

extension, path = sys.argv[1:3]

def connect():
    db = sqlite3.connect(path)
    db.enable_load_extension(True)
    db.load_extension(extension)
    return db

if len(sys.argv) == 4:
    try:
        connect().execute("SELECT count(*) FROM log").fetchall()
    except sqlite3.OperationalError as error:
        sys.exit(3 if "process" in str(error) else 1)
    sys.exit(0)
db = connect()
db.execute("CREATE VIRTUAL TABLE log USING highwater(replication.factor=1)")
db.execute("INSERT INTO log(key, value) VALUES (?, ?), (NULL, ?)", ("k", "hello", b"b"))
db.commit()
for offset, key, value in db.execute('SELECT "offset", key, value FROM log'):
    print(offset, "null" if key is None else key, value, sep="|")
db.execute("INSERT INTO log(value) VALUES ('lost')")
db.rollback()
print("rolled back: %d rows" % db.execute("SELECT count(*) FROM log").fetchone())
try:
    db.execute("SELECT produce('log', 0, NULL, 'x', 7)").fetchone()
except sqlite3.OperationalError as error:
    print(error)
db.close()
db = connect()
print("reopened: %d rows" % db.execute("SELECT count(*) FROM log").fetchone())
other = subprocess.run([sys.executable, *sys.argv, "other"])
print("another process: " + ("refused" if other.returncode == 3 else "status %d" % other.returncode))
END

cat >"$scratch/topic.js" <<'END'
const { spawnSync } = require('node:child_process');
const [modules, extension, path, other] = process.argv.slice(2);
const Database = require(modules + '/better-sqlite3');

function connect() {
  const db = new Database(path);
  db.loadExtension(extension);
  return db;
}

if (other) {
  try {
    connect().prepare('SELECT count(*) FROM log').get();
  } catch (error) {
    process.exit(/process/.test(error.message) ? 3 : 1);
  }
  process.exit(0);
}
let db = connect();
const count = () => db.prepare('SELECT count(*) AS n FROM log').get().n;
db.exec('CREATE VIRTUAL TABLE log USING highwater(replication.factor=1)');
db.prepare('INSERT INTO log(key, value) VALUES (?, ?), (NULL, ?)').run('k', 'hello', Buffer.from('b'));
for (const row of db.prepare('SELECT "offset", key, value FROM log').iterate()) {
  console.log([row.offset, row.key === null ? 'null' : row.key, row.value].join('|'));
}
try {
  db.transaction(() => {
    db.prepare('INSERT INTO log(value) VALUES (?)').run('lost');
    throw new Error('no');
  })();
} catch (error) {
  console.log(`rolled back: ${count()} rows`);
}
try {
  db.prepare("SELECT produce('log', 0, NULL, 'x', 7)").get();
} catch (error) {
  console.log(error.message);
}
db.close();
db = connect();
console.log(`reopened: ${count()} rows`);
const { status } = spawnSync(process.execPath, [...process.argv.slice(1), 'other']);
console.log('another process: ' + (status === 3 ? 'refused' : `status ${status}`));
END

can_load='import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)'
python=
for candidate in ${PYTHON3:-python3 /usr/bin/python3}; do
    if [ -z "$python" ] && "$candidate" -c "$can_load" 2>/dev/null; then
        python=$candidate
    fi
done
if [ -n "$python" ]; then
    check python "$python" "$scratch/topic.py" "$extension" "$scratch/python.db"
else
    missing python 'no python3 whose sqlite3 module can load extensions: PYTHON3=... names one'
fi

modules=$(realpath -m "$build/bindings/node_modules")
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    missing node 'node and npm are missing'
elif [ ! -d "$modules/better-sqlite3/build" ] &&
    ! npm install --silent --no-audit --no-fund --prefix "$build/bindings" better-sqlite3@12 >"$scratch/npm" 2>&1; then
    tail -n 5 "$scratch/npm"
    missing node 'npm could not install better-sqlite3@12'
else
    check node node "$scratch/topic.js" "$modules" "$extension" "$scratch/node.db"
fi

echo "bindings: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
