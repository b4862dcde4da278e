#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs each package of build/packages into a clean environment, without a network where that can be, and
# runs the first session of README.md there; runs the pages' programs with them; looks at what the libraries
# need and export.
#
# usage: tests/packages.sh
#
# What a registry does not bring is SKIPPED, in words. The sum is "packages: N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/packages
log=$out/log
python3=$out/tools/bin/python
skipped=0
. tests/check.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
skip() { echo "SKIPPED: $1" && skipped=$((skipped + 1)); }

# --- The libraries: what they export, what they need ----------------------------------------------

exports_the_entry_points() { diff <(entries) <(nm -D --defined-only "$1" | awk '{ print $3 }' | sort); }
# glibc's threads were a library of their own before 2.34.
needs_libc_only() { ! readelf -d "$1" | grep NEEDED | grep -vE '\[(libc\.so\.6|libpthread\.so\.0|libc\.so|ld-linux.*)\]'; }
needs_glibc_2_17_at_most() {
    local newest
    newest=$({ readelf -V --wide "$1" | grep -oE 'GLIBC_[0-9.]+' || echo GLIBC_2; } | sort -uV | tail -n 1)
    echo "needs $newest"
    [ "$(printf '%s\n' "$newest" GLIBC_2.17 | sort -V | tail -n 1)" = GLIBC_2.17 ]
}
for library in "$out"/libraries/*/highwater.so; do
    platform=$(basename "$(dirname "$library")")
    check "$platform exports the entry points only" exports_the_entry_points "$library"
    check "$platform needs libc only" needs_libc_only "$library"
    case $platform in linux-*) check "$platform runs from glibc 2.17 on" needs_glibc_2_17_at_most "$library" ;; esac
done

# --- Stories, on the platforms that can be run here -----------------------------------------------

# The program that plays stories, for a platform, with the SQLite that the library is compiled against.
player() {
    local sqlite
    sqlite=$(ext/packaging/fetch.sh sqlite-3.39.0)
    $2 -O1 -w -std=gnu11 -I. -I"$sqlite" -DHW_TEST_EXTENSION='""' -DSQLITE_ENABLE_MATH_FUNCTIONS -o "$1" \
        tests/golden_sql.c "$sqlite/sqlite3.c" -lm -ldl -lpthread
}
stories() { HW_TEST_QUICK=1 "$@" tests/golden/{first_minute,errors,losses,topic_table,transactions,why}*.test; }
plays() {
    local platform=$1 compiler=$2 library=$out/libraries/$1/highwater.so
    shift 2
    [ -e "$library" ] || return 0
    check "a program for $platform" player "$scratch/player-$platform" "$compiler"
    check "stories on $platform" stories "$@" "$scratch/player-$platform" "$library"
}
plays linux-x86_64 "$python3 -m ziglang cc -target x86_64-linux-gnu.2.17"
plays musl-x86_64 musl-gcc
plays linux-aarch64 "$python3 -m ziglang cc -target aarch64-linux-gnu.2.17" qemu-aarch64-static -L /usr/aarch64-linux-gnu

# --- Python ---------------------------------------------------------------------------------------

system_python=
for candidate in ${PYTHON3:-/usr/bin/python3 python3}; do
    if [ -z "$system_python" ] && "$candidate" -c 'import sqlite3, venv; sqlite3.connect("").enable_load_extension(True)' 2>/dev/null; then
        system_python=$candidate
    fi
done
cat >"$scratch/session.py" <<'END'
import importlib, sys
import sqlite_highwater
driver = importlib.import_module(sys.argv[1])
connect = getattr(driver, "Connection") if sys.argv[1] == "apsw" else driver.connect
db = connect(":memory:")
sqlite_highwater.load(db)
sqlite_highwater.load(db)
ask = lambda sql: db.cursor().execute(sql).fetchall()
ask("CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3, min.insync.replicas=2)")
ask("BEGIN")
ask("INSERT INTO orders(key, value) VALUES ('k1', 'hello')")
ask("COMMIT")
assert ask("SELECT count(*) FROM orders") == [(0,)]
assert ask("SELECT fetch_round('orders')") == [(2,)]
assert ask('SELECT "offset", key, value FROM orders') == [(0, "k1", "hello")]
try:
    ask("SELECT load_extension('x')")
    raise SystemExit("loading of extensions is still on")
except driver.Error as error:
    assert "not authorized" in str(error) or "not enabled" in str(error), error
assert "\"commit\":\"unknown\"" not in ask("SELECT highwater_build()")[0][0]
assert sqlite_highwater.__version__ == ask("SELECT highwater_version()")[0][0]
END
python_session() { (cd "$scratch" && "$1/bin/python" session.py "$2"); }
environment() { "$system_python" -m venv "$1" && "$1/bin/python" -m pip install --quiet --disable-pip-version-check "${@:2}"; }

wheel=$(ls "$out"/python/sqlite_highwater-*manylinux*_x86_64.whl)
is_for_glibc_2_17() { "$out/tools/bin/auditwheel" show "$wheel" | tee /dev/stderr | grep -E 'manylinux_2_([0-9]|1[0-7])_x86_64'; }
check 'auditwheel: the wheel is for glibc 2.17 or older ones' is_for_glibc_2_17
check 'pip installs the wheel, without a network' environment "$scratch/wheel" --no-index "$wheel"
check 'the session in sqlite3' python_session "$scratch/wheel" sqlite3
check 'the programs of the pages' tests/pages.sh python "$scratch/wheel/bin/python" ext/packaging/pages/python.md ext/packaging/pages/testing.md
for driver in apsw pysqlite3-binary:pysqlite3 sqlean.py:sqlean; do
    if "$scratch/wheel/bin/python" -m pip install --quiet --disable-pip-version-check "${driver%:*}" >"$log" 2>&1; then
        check "the session in ${driver%:*}" python_session "$scratch/wheel" "${driver#*:}"
        [ "$driver" != apsw ] ||
            check 'the program of the page in apsw' tests/pages.sh py "$scratch/wheel/bin/python" ext/packaging/pages/python.md
    else
        skip "PyPI does not bring ${driver%:*}"
    fi
done
sdist() {
    environment "$scratch/sdist" "setuptools>=77" &&
        "$scratch/sdist/bin/python" -m pip install --quiet --no-index --no-build-isolation "$out"/python/sqlite_highwater-*.tar.gz
}
check 'pip compiles the source distribution' sdist
check 'the session with it' python_session "$scratch/sdist" sqlite3

# --- Datasette: what a stranger's GET can do ------------------------------------------------------

# Datasette ends with 1 where its answer is an error.
datasette_get() { (cd "$scratch" && "$scratch/datasette/bin/datasette" "$@" 2>&1) || true; }
looks() { datasette_get --memory --get "/_memory.json?_shape=array&sql=select+highwater_version()+as+v" | grep '"v"'; }
writes_nothing() {
    datasette_get --memory --get "/_memory.json?sql=select+open_cluster('$scratch/stolen')+union+all+select+create_topic('a')" | tee /dev/stderr |
        grep 'no such function' && [ ! -e "$scratch/stolen" ]
}
reads_no_other_folder() { datasette_get --memory --get "/_memory.json?sql=select+*+from+kafka_log('/etc')" | tee /dev/stderr | grep '"ok": false'; }
if environment "$scratch/datasette" datasette "$wheel" "$out"/python/datasette_sqlite_highwater-*.whl >"$log" 2>&1; then
    check 'Datasette has the restricted extension' looks
    check 'no GET writes a file' writes_nothing
    check 'no GET reads a folder that was not named' reads_no_other_folder
else
    skip "PyPI does not bring datasette: $(tail -n 1 "$log")"
fi

# --- npm ------------------------------------------------------------------------------------------

npm_install() {
    mkdir -p "$scratch/node" && cd "$scratch/node" && npm init --yes >/dev/null &&
        npm install --no-audit --no-fund --silent "$out"/npm/sqlite-highwater-linux-x64-[0-9]*.tgz "$out"/npm/sqlite-highwater-[0-9]*.tgz --omit=optional &&
        npm install --no-audit --no-fund --silent better-sqlite3@12
}
# node_session COMMAND...: which runs session.mjs, in the driver that it is given.
node_session() {
    cd "$scratch/node" && cat >session.mjs <<'END'
import assert from 'node:assert';
import { getLoadablePath, load } from 'sqlite-highwater';
const open = {
  'better-sqlite3': async () => new (await import('better-sqlite3')).default(':memory:'),
  'node:sqlite': async () => new (await import('node:sqlite')).DatabaseSync(':memory:', { allowExtension: true }),
};
const db = await open[process.argv[2]]();
load(db);
db.exec('CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3, min.insync.replicas=2)');
db.prepare('INSERT INTO orders(key, value) VALUES (?, ?)').run('k1', 'hello');
assert.strictEqual(db.prepare("SELECT fetch_round('orders') AS n").get().n, 2);
assert.deepStrictEqual({ ...db.prepare('SELECT "offset", key, value FROM orders').get() }, { offset: 0, key: 'k1', value: 'hello' });
assert.match(getLoadablePath(), /sqlite-highwater-linux-x64/);
END
    "$@"
}
names_what_is_missing() {
    cd "$scratch" && rm -rf alone && mkdir -p alone/node_modules && cp -r node/node_modules/sqlite-highwater alone/node_modules &&
        cd alone && node -e "try { require('sqlite-highwater').getLoadablePath() } catch (e) { console.log(e.message) }" |
        grep -q 'the package sqlite-highwater-linux-x64 is not installed'
}
if (npm_install) >"$log" 2>&1; then
    check 'the session in better-sqlite3' eval '(node_session node session.mjs better-sqlite3)'
    check 'a missing platform is named' eval '(names_what_is_missing)'
    # Programs lie elsewhere: where node looks for packages is said.
    check 'the programs of the page' env NODE_PATH="$scratch/node/node_modules" tests/pages.sh js node ext/packaging/pages/node.md
    if node22=$(ext/packaging/fetch.sh node-22.13.0)/bin/node; then
        check 'the session in node:sqlite' eval '(node_session "$node22" session.mjs node:sqlite)'
        check 'the programs of the page in node:sqlite' env NODE_PATH="$scratch/node/node_modules" \
            tests/pages.sh cjs "$node22 --disable-warning=ExperimentalWarning" ext/packaging/pages/node.md
    else
        skip 'npm does not bring Node 22'
    fi
else
    skip "npm does not bring better-sqlite3: $(tail -n 1 "$log")"
fi

# --- Go -------------------------------------------------------------------------------------------

go_module() {
    mkdir -p "$scratch/go" && cd "$scratch/go" && go mod init example >/dev/null && go get github.com/mattn/go-sqlite3@v1.14.32
}
if ! command -v go >/dev/null; then
    skip 'there is no go'
elif (go_module) >"$log" 2>&1; then
    # `go run` wants a file of the module.
    cat >"$scratch/go/run" <<END
#!/bin/sh
cp "\$1" "$scratch/go/main.go" && cd "$scratch/go" && exec go run main.go
END
    chmod +x "$scratch/go/run"
    check 'the program of the page in Go' env HIGHWATER_LIBRARY="$out/libraries/linux-x86_64/highwater.so" \
        tests/pages.sh go "$scratch/go/run" ext/packaging/pages/go.md
else
    skip "Go's proxy does not bring go-sqlite3: $(tail -n 1 "$log")"
fi

# --- Debian ---------------------------------------------------------------------------------------

in_root() { unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' sh "$scratch/root" "$@" </dev/null; }
deb_session() {
    in_root highwater version && in_root sqlite3 -batch /tmp/exp.db ".load $1" \
        'CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3, compression.type=snappy)' \
        "INSERT INTO orders(value) VALUES ('hello')" "SELECT fetch_round('orders')" 'SELECT "offset", value FROM orders' |
        diff - <(printf '2\n0|hello\n') && in_root highwater check /tmp/exp.db-highwater/broker-1
}
deb_live() { in_root sqlite3 -batch :memory: ".load $1" 'SELECT live_version()' | grep -q 'librdkafka 2'; }
deb_is_gone() {
    in_root apt-get -qq purge -y highwater highwater-live libsqlite3-mod-highwater &&
        ! find "$scratch/root/usr" "$scratch/root/etc" -name '*highwater*' | grep .
}
deb_install() { cp "$out"/debian/*.deb "$scratch/root/root" && in_root sh -c 'apt-get -qq update && apt-get -qq install -y /root/highwater_*.deb /root/libsqlite3-mod-highwater_*.deb /root/highwater-live_*.deb'; }
no_lintian_error() { ! lintian --fail-on none --tag-display-limit 0 "$out"/debian/*.changes 2>&1 | grep -E '^[EW]:'; }
check 'lintian has no error and no warning' no_lintian_error
if [ "$(id -u)" -ne 0 ]; then
    skip 'the Debian packages are installed in a chroot, which needs root'
elif debootstrap --variant=minbase --include=sqlite3 bookworm "$scratch/root" >"$log" 2>&1; then
    cp /etc/resolv.conf "$scratch/root/etc/resolv.conf"
    check 'apt installs the Debian packages in a bare system' deb_install
    check 'the session with them' deb_session "$(dpkg -c "$out"/debian/libsqlite3-mod-highwater_*.deb | grep -o '/usr/lib/.*/highwater\.so')"
    check 'the second library, with librdkafka' deb_live "$(dpkg -c "$out"/debian/highwater-live_*.deb | grep -o '/usr/lib/.*/highwater_live\.so')"
    check 'nothing is left of them' deb_is_gone
else
    skip "debootstrap cannot fetch Debian 12"
fi

# --- Archives -------------------------------------------------------------------------------------

archive_session() {
    rm -rf "$scratch/archive" && mkdir "$scratch/archive" && tar -xzf "$out"/assets/*-loadable-linux-x86_64.tar.gz -C "$scratch/archive" &&
        "$scratch/archive/highwater" version && HIGHWATER_LIBRARY='' "$scratch/archive/highwater" run - <<'END' | diff - <(echo '0|hello')
CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3);
INSERT INTO orders(value) VALUES ('hello');
.output /dev/null
SELECT fetch_round('orders');
.output
SELECT "offset", value FROM orders;
END
}
sums() { cd "$out/assets" && sha256sum --check --quiet checksums.txt && ! grep -vE '^[0-9a-f]{64}  [^ ]+$' checksums.txt; }
sqlpkg() {
    "$python3" - "$out/assets" <<'END'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
spec = json.loads((folder / "sqlpkg.json").read_text())
assert spec["owner"] and spec["name"] == "highwater" and len(spec["description"]) < 80
for platform, name in spec["assets"]["files"].items():
    assert (folder / name.replace("{version}", spec["version"])).exists(), name
END
}
check 'the archive, unpacked anywhere' archive_session
check 'checksums.txt' eval '(sums)'
check 'sqlpkg.json names archives that there are' sqlpkg

[ "$skipped" -eq 0 ] || echo "$skipped parts were SKIPPED"
echo "packages: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
