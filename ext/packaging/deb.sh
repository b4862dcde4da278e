#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds the Debian packages into build/packages/debian, from what git knows of the work tree. They link Debian's
# own compression libraries.
#
# usage: ext/packaging/deb.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
. ext/packaging/packaging.conf
version=$(sed -n 's/^#define HW_VERSION "\(.*\)"/\1/p' core/highwater.h)
oldest=$(sed -n 's/^sqlite-\([0-9.]*\) .*/\1/p' ext/packaging/sources.txt | sort -V | head -n 1)
out=$PWD/build/packages/debian tree=$PWD/build/packages/trees/highwater-$version
date=$(date -u -R -d "@$(git log -1 --format=%ct 2>/dev/null || echo 1)")

rm -rf "$out" "$tree"
mkdir -p "$out" "$tree"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$tree"
mv "$tree/ext/packaging/debian" "$tree/debian"
for template in control changelog; do
    sed "s|@VERSION@|$version|g; s|@OLDEST@|$oldest|g; s|@MAINTAINER@|$MAINTAINER|g; s|@EMAIL@|$EMAIL|g; s|@URL@|$URL|g; s|@DATE@|$date|g" \
        "$tree/debian/$template.in" >"$tree/debian/$template"
    rm "$tree/debian/$template.in"
done
(cd "$tree" && dpkg-buildpackage --build=binary --no-sign --jobs="$(nproc)") >"$out/log" 2>&1 || { tail -n 30 "$out/log" && exit 1; }
mv "$tree"/../*highwater*"$version"*.{deb,buildinfo,changes} "$out"
