#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds all packages into build/packages, for the platforms that are named: linux-x86_64 linux-aarch64
# musl-x86_64 musl-aarch64 macos-x86_64 macos-aarch64 windows-x86_64, or --all of them. Nothing is published.
#
#     python/  a source distribution, a wheel of each platform, the plugin for Datasette
#     npm/     the package and one of each platform
#     assets/  archives with the library of each platform, the amalgamation, checksums.txt, sqlpkg.json
#
# usage: ext/packaging/packages.sh --all | PLATFORM...
#        ext/packaging/packages.sh --fetch      only fetch compiler and sources; exit status 75 where a registry does not answer
set -euo pipefail
cd "$(dirname "$0")/../.."
. ext/packaging/packaging.conf

all=(linux-x86_64 linux-aarch64 musl-x86_64 musl-aarch64 macos-x86_64 macos-aarch64 windows-x86_64)
out=$PWD/build/packages

# --- From the registries: a Python of its own with setuptools and zig, sources ------------------

python=$out/tools/bin/python
if ! [ -e "$out/tools/complete" ]; then
    "${PYTHON3:-python3}" -m venv "$out/tools"
    "$python" -m pip install --quiet --disable-pip-version-check $ZIGLANG $PYTHON_BUILD ||
        { echo 'packages: PyPI does not answer' >&2 && exit 75; }
    touch "$out/tools/complete"
fi

fetched=$(ext/packaging/fetch.sh zlib lz4 zstd sqlite-3.39.0)
mapfile -t sources <<<"$fetched"
[ "${1:-}" != --fetch ] || exit 0
[ "${1:-}" != --all ] || set -- "${all[@]}"
platforms=("$@")

version=$(sed -n 's/^#define HW_VERSION "\(.*\)"/\1/p' core/highwater.h)
# Archives hold the time of the commit, so that one commit gives the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 1)
export SOURCE_DATE_EPOCH

rm -rf "$out/python" "$out/npm" "$out/assets" "$out/trees"
mkdir -p "$out/python" "$out/npm" "$out/assets" "$out/trees"

# A template with its placeholders filled in; NAME=VALUE sets more of them.
fill() {
    local template=$1 pair script=
    shift
    for pair in "VERSION=$version" "OWNER=$OWNER" "URL=$URL" "MAINTAINER=$MAINTAINER" "EMAIL=$EMAIL" "$@"; do
        # Lines of a value go in as lines.
        script+="s|@${pair%%=*}@|$(printf '%s' "${pair#*=}" | sed 's/[&|\\]/\\&/g; $!s/$/\\/')|g;"$'\n'
    done
    sed "$script" "$template"
}

library_of() { find "$out/libraries/$1" -maxdepth 1 -name 'highwater.*' ! -name '*.pdb'; }

# The back end of Python's packages, in a tree: build_sdist or build_wheel.
backend() {
    (cd "$1" && rm -rf build && "$python" -W ignore -c '
import sys, setuptools.build_meta as backend
getattr(backend, sys.argv[1])(sys.argv[2])' "$2" "$out/python") >"$out/log" 2>&1 || { cat "$out/log" && exit 1; }
}

archive() {
    tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw "$@" | gzip -n
}

# --- Libraries ------------------------------------------------------------------------------------

ext/packaging/amalgamate.py build/amalgamation
ZIG="$python -m ziglang" ext/packaging/libraries.sh "$out/libraries" "${platforms[@]}"

{
    echo 'highwater holds the sources, or what was compiled from them, of:'
    for name in zlib:README lz4:LICENSE zstd:LICENSE; do
        folder=$(printf '%s\n' "${sources[@]}" | grep "/${name%:*}-")
        printf '\n=== %s\n\n' "${name%:*}"
        # Of zlib's README the licence is the end.
        if [ "$name" = zlib:README ]; then sed -n '/^Copyright notice:/,$p' "$folder/README"; else cat "$folder/${name#*:}"; fi
    done
    printf '\n=== SQLite\n\nIts headers are in the public domain.\n'
} >"$out/trees/THIRD-PARTY-LICENSES"

# --- Python ---------------------------------------------------------------------------------------

tree=$out/trees/python
mkdir -p "$tree/src"
cp -r ext/packaging/python/. "$tree"
rm "$tree/pyproject.toml.in"
fill ext/packaging/python/pyproject.toml.in >"$tree/pyproject.toml"
fill ext/packaging/python/sqlite_highwater/__init__.py >"$tree/sqlite_highwater/__init__.py"
cp LICENSE "$out/trees/THIRD-PARTY-LICENSES" "$tree"
cp ext/packaging/pages/python.md "$tree/README.md"
cp build/amalgamation/highwater.c "${sources[3]}/sqlite3.h" "${sources[3]}/sqlite3ext.h" "$tree/src"
ext/packaging/codecs.sh --copy "$tree/src"
backend "$tree" build_sdist
for platform in "${platforms[@]}"; do
    case $platform in
    linux-*) tag=manylinux_2_17_${platform#linux-}.manylinux2014_${platform#linux-} ;;
    musl-*) tag=musllinux_1_2_${platform#musl-} ;;
    macos-x86_64) tag=macosx_11_0_x86_64 ;;
    macos-aarch64) tag=macosx_11_0_arm64 ;;
    windows-x86_64) tag=win_amd64 ;;
    esac
    HIGHWATER_LIBRARY=$(library_of "$platform") HIGHWATER_PLATFORM=$tag backend "$tree" build_wheel
done
tree=$out/trees/datasette
mkdir -p "$tree"
cp ext/packaging/datasette/*.py LICENSE "$tree"
fill ext/packaging/datasette/pyproject.toml.in >"$tree/pyproject.toml"
backend "$tree" build_wheel

# --- npm ------------------------------------------------------------------------------------------

optional=()
for platform in "${all[@]}"; do
    libc= os=linux
    case $platform in
    *-x86_64) cpu=x64 ;;
    *) cpu=arm64 ;;
    esac
    case $platform in
    linux-*) package=linux-$cpu libc=$'\n  "libc": ["glibc"],' ;;
    musl-*) package=linux-$cpu-musl libc=$'\n  "libc": ["musl"],' ;;
    macos-*) package=darwin-$cpu os=darwin ;;
    windows-*) package=win32-$cpu os=win32 ;;
    esac
    optional+=("    \"sqlite-highwater-$package\": \"$version\"")
    [[ " ${platforms[*]} " == *" $platform "* ]] || continue
    tree=$out/trees/npm-$package library=$(library_of "$platform")
    mkdir -p "$tree"
    install -m 644 "$library" LICENSE "$out/trees/THIRD-PARTY-LICENSES" "$tree"
    fill ext/packaging/npm/platform.json.in "PACKAGE=$package" "OS=$os" "CPU=$cpu" "LIBC=$libc" \
        "FILE=$(basename "$library")" >"$tree/package.json"
    (cd "$out/npm" && npm pack --silent "$tree" >/dev/null)
done
tree=$out/trees/npm
mkdir -p "$tree"
install -m 644 ext/packaging/npm/index.* LICENSE "$tree"
cp ext/packaging/pages/node.md "$tree/README.md"
fill ext/packaging/npm/package.json.in "OPTIONAL=$(printf '%s,\n' "${optional[@]}" | sed '$s/,$//')" >"$tree/package.json"
(cd "$out/npm" && npm pack --silent "$tree" >/dev/null)

# --- Archives -------------------------------------------------------------------------------------

files=()
for platform in "${platforms[@]}"; do
    name=$platform
    [[ $platform != musl-* ]] || name=linux-${platform#musl-}-musl
    archive=sqlite-highwater-$version-loadable-$name.tar.gz
    install -D -m 755 -t "$out/trees/$name" "$(library_of "$platform")"
    install -m 755 ext/packaging/highwater "$out/trees/$name"
    cp -r LICENSE "$out/trees/THIRD-PARTY-LICENSES" ext/packaging/highwater.1 ext/packaging/completions "$out/trees/$name"
    archive --directory "$out/trees/$name" . >"$out/assets/$archive"
    case $name in
    *-musl) ;;
    *) files+=("      \"$(sed 's/macos/darwin/; s/x86_64/amd64/; s/aarch64/arm64/' <<<"$name")\": \"$(sed "s/$version/{version}/" <<<"$archive")\"") ;;
    esac
done
archive --directory build/amalgamation highwater.c highwater.h >"$out/assets/sqlite-highwater-$version-amalgamation.tar.gz"
fill ext/packaging/sqlpkg.json.in "FILES=$(printf '%s,\n' "${files[@]}" | sed '$s/,$//')" >"$out/assets/sqlpkg.json"
(cd "$out/assets" && sha256sum -- *.tar.gz >checksums.txt)

cd "$out"
wc --bytes python/* npm/* assets/* | sed '$d' | awk '{ printf "%10d  %s\n", $1, $2 }'
