#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds the library for platforms, from build/amalgamation/highwater.c and pinned codec sources, with the
# compiler that the PyPI package ziglang brings: it needs libc only, and any Linux builds them all.
#
# usage: ZIG='...' ext/packaging/libraries.sh FOLDER PLATFORM...      prints the libraries, with their sizes
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
shift
zig=${ZIG:-zig}
sqlite=$(ext/packaging/fetch.sh sqlite-3.39.0)

for platform in "$@"; do
    suffix=so link=(-shared -Wl,--gc-sections -Wl,-z,defs) more=() files=()
    case $platform in
    linux-x86_64 | linux-aarch64) target=${platform#linux-}-linux-gnu.2.17 ;;
    linux-s390x) target=s390x-linux-gnu.2.17 ;;
    musl-x86_64 | musl-aarch64) target=${platform#musl-}-linux-musl ;;
    macos-aarch64) target=aarch64-macos.11.0 suffix=dylib link=(-dynamiclib) ;;
    macos-x86_64) target=x86_64-macos.11.0 suffix=dylib link=(-dynamiclib) ;;
    windows-x86_64) target=x86_64-windows-gnu suffix=dll ;;
    *) echo "libraries.sh: no platform $platform" >&2 && exit 2 ;;
    esac
    [ "${platform#*-}" != x86_64 ] || files=(ext/packaging/zig/cpu_model.c)
    # zlib 1.2.13 takes macOS for a system that has no fdopen().
    [ "$suffix" != dylib ] || more+=(-Dfdopen=fdopen)
    here=$folder/$platform
    library=$here/highwater.$suffix
    mkdir -p "$here"
    more+=(-fno-sanitize=undefined "-ffile-prefix-map=$PWD=.")
    CC="$zig cc -target $target" AR="$zig ar" CFLAGS="${more[*]}" ext/packaging/codecs.sh "$here/codecs"
    $zig cc -target "$target" -std=c11 -O2 -s -fPIC -fvisibility=hidden "${more[@]}" \
        "${link[@]}" -I"$sqlite" $(ext/packaging/codecs.sh --includes) \
        -o "$library" build/amalgamation/highwater.c "${files[@]}" "$here/codecs/libcodecs.a"
    rm -f "$here/highwater.lib" # For linking with it, which nobody does.
    printf '%s %d\n' "$library" "$(stat -c %s "$library")"
done
