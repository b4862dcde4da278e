#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A bare machine: Debian 12 as debootstrap makes it, in a chroot. `make demo` and `make test` run there
# as root, and once more without a network, as another user, with a locale that has a decimal comma, in
# another time zone and nine years later. Nothing printed may differ. Case: F-03
#
# usage: tests/bare.sh [DIRECTORY]      default: build/bare; needs root
#
# Mounts live in a namespace of their own and are gone when it ends.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$(realpath -m "${1:-build/bare}")
root=$here/root
passed=0 failed=0

if [ "$(id -u)" -ne 0 ]; then
    echo "bare: needs root, for debootstrap and chroot" >&2
    exit 1
fi
rm -rf "$here"
mkdir -p "$here"

# Run a command line in the chroot. "unshare" options may come first.
inside() {
    local options=()
    while [[ $1 == --* ]]; do options+=("$1") && shift; done
    unshare --mount --pid --fork "${options[@]}" sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" && shift_root=$1 && shift &&
        exec chroot "$shift_root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb "$@"
    ' sh "$root" "$@" </dev/null
}

# A step with a log of its own; of a passed one the sums are shown.
step() {
    local name=$1 log=$here/${1// /-}.log
    shift
    if "$@" >"$log" 2>&1; then
        grep -E '^([a-z]+: )?[0-9]+ passed, [0-9]+ failed$' "$log" | sed "s/^/    /" || true
        echo "[       OK ] $name" && passed=$((passed + 1))
    else
        tail -n 60 "$log" | sed 's/^/    /'
        echo "[  FAILED  ] $name; the whole of it: $log" && failed=$((failed + 1))
    fi
}

if ! debootstrap bookworm "$root" >"$here/debootstrap.log" 2>&1; then
    tail -n 5 "$here/debootstrap.log"
    echo 'bare SKIPPED: debootstrap cannot fetch Debian 12'
    exit 0
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
# What git knows, as it lies in the work tree.
mkdir "$root/home/highwater"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$root/home/highwater"

# What the README asks for, and what the second run is disturbed with.
if ! inside sh -c 'apt-get -qq update && apt-get -qq install -y make >/dev/null &&
        apt-get -qq install -y --no-install-recommends locales faketime >/dev/null &&
        localedef -i de_DE -f UTF-8 de_DE.UTF-8 && useradd --home-dir /home/highwater somebody' \
    >"$here/prepare.log" 2>&1; then
    tail -n 5 "$here/prepare.log"
    echo 'bare SKIPPED: apt-get cannot fetch packages'
    exit 0
fi

step demo inside sh -c 'cd /home/highwater && make demo'
step test inside sh -c 'cd /home/highwater && make test'
chroot "$root" chown -R somebody /home/highwater
for target in demo test; do
    step "$target again" inside --net setpriv --reuid somebody --regid somebody --clear-groups \
        env HOME=/home/highwater LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 TZ=Asia/Kathmandu \
        sh -c "cd /home/highwater && faketime -f +9y make $target"
done
# The demo's sessions are printed in full: both times the same.
session() { sed -n '/^--- The session/,$p' "$1"; }
step 'demo prints the same' diff <(session "$here/demo.log") <(session "$here/demo-again.log")

echo "bare: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
