#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds the compression libraries from pinned sources into FOLDER/libcodecs.a: zlib, lz4, zstd, and Snappy in
# C. None of their names leaves a library that they are linked into, and they need libc only.
#
# usage: CC=... AR=... CFLAGS=... ext/packaging/codecs.sh FOLDER      build
#        ext/packaging/codecs.sh --includes     print the -I options of their headers
#        ext/packaging/codecs.sh --copy FOLDER  copy what is compiled, and FOLDER/options, into a tree of its own
set -euo pipefail
cd "$(dirname "$0")/../.."

# zstd and lz4 would mark their functions for export, whatever -fvisibility says.
options=(-fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -w -DZSTDLIB_VISIBLE= -DZSTDERRORLIB_VISIBLE= -DZDICTLIB_VISIBLE=
    -DLZ4LIB_VISIBILITY= -DLZ4FLIB_VISIBILITY= -DZSTD_DISABLE_ASM)
mapfile -t sources < <(ext/packaging/fetch.sh zlib lz4 zstd)
[ "${#sources[@]}" -eq 3 ] || exit 75
zlib=${sources[0]} lz4=${sources[1]} zstd=${sources[2]}

if [ "$1" = --includes ]; then
    echo "-Iext/packaging/snappy -I$zlib -I$lz4 -I$zstd/lib"
    exit 0
fi
files=(ext/packaging/snappy/snappy.c "$lz4"/lz4.c "$lz4"/lz4hc.c "$lz4"/lz4frame.c "$lz4"/xxhash.c)
for name in adler32 crc32 deflate inffast inflate inftrees trees zutil; do
    files+=("$zlib/$name.c")
done
files+=("$zstd"/lib/common/*.c "$zstd"/lib/compress/*.c "$zstd"/lib/decompress/*.c)

if [ "$1" = --copy ]; then
    for file in "${files[@]}"; do
        here=$(dirname "$file")
        case $file in
        ext/*) to=$2/snappy ;;
        "$zlib"/*) to=$2/zlib ;;
        "$lz4"/*) to=$2/lz4 ;;
        *) to=$2/zstd/$(basename "$here") ;;
        esac
        mkdir -p "$to"
        cp "$file" "$here"/*.h "$to"
    done
    # zstd's files include "../common/..." and its header stands above them.
    cp "$zstd"/lib/*.h "$2/zstd"
    printf '%s\n' "${options[@]}" >"$2/options"
    exit 0
fi

folder=$1
mkdir -p "$folder"
rm -f "$folder"/*.o "$folder/libcodecs.a"
compile=(${CC:-cc} -O2 ${CFLAGS:-} "${options[@]}" -I.)
export folder
printf '%s\n' "${files[@]}" | xargs -P "${JOBS:-$(nproc)}" -n 1 sh -c '
    for file; do :; done
    name=$(basename "$(dirname "$file")" | cut -c 1-4)-$(basename "$file" .c)
    exec "$@" -c -o "$folder/$name.o"
' sh "${compile[@]}"
${AR:-ar} rcs "$folder/libcodecs.a" "$folder"/*.o
