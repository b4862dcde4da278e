#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Holds what the folders promise: includes only go down, core/ knows no SQLite, only
# core/io/posix_* and windows_* know the operating system, and memory, time and chance come from the caller.
#
#     core/base < core/io < core/format < core/record < core/decode < core/inspect, core/log < core/replication
#       < core/timed < core/config < core/durable < core/cluster < core/verbs < core/explore < core/stage < core/look < core/highwater.h < ext
#
# core/inspect and core/log stand beside each other: neither includes the other.
#
# Files of one folder call each other in one direction: a circle is found by the names that their
# objects in $BUILD define and need.
#
# ext/live is a library of its own: nothing else of ext/ includes it.
#
# Prints file:line and what is wrong with it; fails if there is anything.
set -euo pipefail
shopt -s extglob
export LC_ALL=C # What is sorted here is sorted the same everywhere.
cd "$(dirname "$0")/.."

layers=(core/base core/io core/format core/record core/decode core/inspect core/log core/replication core/timed core/config core/durable
        core/cluster core/verbs core/explore core/stage core/look core)
# Includes that still go up, since these files moved into rooms of their own. None may come, all must go.
still_up=' core/durable/loss_file.c core/durable/state_file.h '
build=${BUILD:-build}
# What the C library may be used for without asking the operating system anything.
plain='assert|ctype|errno|float|inttypes|limits|math|setjmp|stdalign|stdarg|stdatomic|stdbool|stddef|stdint'
plain+='|stdio|stdlib|stdnoreturn|string'
# Instructions of a processor, for the files that are written for it.
intrinsics='immintrin|nmmintrin|wmmintrin|arm_acle|arm_neon'
codecs='zlib|lz4|lz4frame|lz4hc|snappy-c|zstd|zstd_errors'
the_system_files='core/io/@(posix|windows)_*'
the_memory_file=core/base/memory.c

# Sets rank to the place of a folder in layers: a value that is printed would cost a process an include.
rank_of() {
    for rank in "${!layers[@]}"; do
        if [ "${layers[rank]}" = "$1" ]; then
            return
        fi
    done
    echo "tests/layers.sh does not know the layer $1" >&2
    return 1
}

# Lines "file:line:header" of every include in the files of stdin; header with its < or ".
includes() {
    xargs -r grep -nHE '^[[:space:]]*#[[:space:]]*include' |
        sed -E 's/^([^:]+:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*([<"][^>"]*).*/\1:\2/'
}

core_includes() {
    local file line header allowed rank own
    find core -name '*.[ch]' | sort | includes | while IFS=: read -r file line header; do
        case $header in
        '"core/'*)
            header=${header#?}
            rank_of "${file%/*}"
            own=$rank
            rank_of "${header%/*}"
            if [[ $still_up != *"$file"* ]] && [ "$rank" -gt "$own" ]; then
                echo "$file:$line: $header stands above it"
            fi
            if [[ $file == core/log/* && $header == core/inspect/* ]]; then
                echo "$file:$line: $header stands beside it"
            fi
            ;;
        '"'*) echo "$file:$line: ${header#?} is not named from the root of the repository" ;;
        '<'*)
            header=${header#?}
            allowed="^($plain)\.h$"
            case $file in
            $the_system_files) allowed='^(sys/)?[a-z0-9_-]+\.h$' ;;
            core/base/crc32c_* | core/base/utf8.c) allowed="^($plain|$intrinsics)\.h$" ;;
            core/record/*) allowed="^($plain|$codecs)\.h$" ;;
            esac
            if [[ ! $header =~ $allowed || $header == sqlite3*.h ]]; then
                echo "$file:$line: <$header> is not for core/, or not for this folder of it"
            fi
            ;;
        esac
    done
}

ext_includes() {
    local file line header allowed
    find ext -path ext/packaging -prune -o -name '*.[ch]' -print | sort | includes | while IFS=: read -r file line header; do
        if [[ $header == '"ext/live/'* && $file != ext/live/* ]]; then
            echo "$file:$line: ${header#?} belongs to another library"
        fi
        case $header in
        '"core/highwater.h' | '"ext/'* | '<sqlite3ext.h' | '"sqlite3ext.h') ;;
        '<'*)
            allowed="^($plain)\.h$"
            # The second library talks to a cluster, waits, and knows a process that was forked.
            [[ $file != ext/live/* ]] || allowed="^($plain|librdkafka/rdkafka|pthread|time)\.h$"
            if [[ ! ${header#?} =~ $allowed ]]; then
                echo "$file:$line: ext/ uses core/highwater.h and sqlite3ext.h, not <${header#?}>"
            fi
            ;;
        *) echo "$file:$line: ext/ uses core/highwater.h and its own headers, not ${header#?}" ;;
        esac
    done
}

# Lines "file:line:code" of core: without comments, and without strings, which may name a function.
code_of_core() {
    find core -name '*.[ch]' | sort | xargs awk '{
        gsub(/"([^"\\]|\\.)*"/, "")
        gsub(/\/\*.*\*\//, "")
        sub(/^[ \t]*\/?\*.*/, "")
        print FILENAME ":" FNR ":" $0
    }'
}

# Calls of functions (an extended regular expression of names) in all of core but one file.
calls() {
    local names=$1 except=$2 call
    { grep -E "(^|[^A-Za-z0-9_>.])($names) *\(" "$scratch/code" || true; } | while IFS= read -r call; do
        [[ $call == $except:* ]] || printf '%s\n' "$call"
    done
}

# Lines "file file" of one folder: the first one calls something that the second one defines. The pointer to
# SQLite's functions, which a library's door has for all, does not count.
calls_within() {
    local objects
    objects=$(find "$1" -maxdepth 1 -name '*.c' | sed "s|^|$build/|; s|c$|o|")
    xargs nm -A --defined-only --extern-only <<<"$objects" |
        sed -E 's|^.*/([^/]*)\.o:.* ([A-Za-z_0-9]+)$|\2 \1|' | sort >"$scratch/defined"
    xargs nm -A --undefined-only <<<"$objects" | grep -v ' sqlite3_api$' |
        sed -E 's|^.*/([^/]*)\.o:.* ([A-Za-z_0-9]+)$|\2 \1|' | sort >"$scratch/needed"
    join "$scratch/needed" "$scratch/defined" | awk '$2 != $3 { print $2, $3 }' | sort -u
}

circles() {
    local folder circle
    find core ext -path ext/packaging -prune -o -name '*.c' -exec dirname {} + | sort -u | while IFS= read -r folder; do
        [ -d "$build/$folder" ] || continue
        # Of each circle tsort names the files.
        circle=$(calls_within "$folder" | tsort 2>&1 >"$scratch/sorted" |
            sed -nE 's|^tsort: ([a-z0-9_]+)$|\1.c|p' | sort -u | paste -sd ' ')
        [ -z "$circle" ] || echo "$folder: a circle of files: $circle"
    done
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=$(
    exec 2>&1 # What a check complains of while it runs is found, too.
    core_includes
    ext_includes
    circles
    code_of_core >"$scratch/code"
    calls 'malloc|calloc|realloc|aligned_alloc|strdup|strndup|free' "$the_memory_file" |
        sed 's|$|   <- memory comes from an hw_allocator|'
    calls 'time|clock|clock_gettime|gettimeofday|difftime|localtime|gmtime|rand|srand|random|getenv' '' |
        sed 's|$|   <- time, chance and settings come from the caller|'
    calls 'fopen|freopen|tmpfile|remove|rename|system|exit|signal' "$the_system_files" |
        sed 's|$|   <- only core/io/posix_* and windows_* touch the system|'
)
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi
