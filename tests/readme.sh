#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Plays the sessions that stand in README files and compares each answer, word for word. A session
# is a fenced block as a terminal shows it:
#
#     $ sqlite3
#     sqlite> .load ./highwater
#     sqlite> SELECT broker, leo
#        ...> FROM hw_replicas;
#     1|1
#
# "$ sqlite3" starts a new shell (its banner is left out), with arguments if it has some. A block
# without it goes on where the block before stopped. All sessions of a file share one fresh
# directory, which holds highwater.so and links to tests/ and sql/, so `$ sqlite3 exp.db` finds what
# an earlier session of the file left. ls, cat, od, find, cp and mkdir after "$ " are run too, and
# other commands ("$ make") are passed over. A block without "sqlite> " or "$ sqlite3" is not a
# session.
#
# usage: tests/readme.sh [--rewrite | --show | --has-session] [--build DIR] [FILE.md...]
#
#   --rewrite      put what was printed into the files
#   --show         print the sessions as they went
#   --has-session  play nothing; succeed if there is anything to play
#
# SQLITE3 in the environment is the shell to use.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=check build=build
while [ $# -gt 0 ]; do
    case $1 in
    --rewrite) mode=rewrite && shift ;;
    --show) mode=show && shift ;;
    --has-session) mode=has-session && shift ;;
    --build) build=$2 && shift 2 ;;
    *) break ;;
    esac
done
shopt -s nullglob
[ $# -gt 0 ] || set -- README.md */README.md

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mark='--- the next answer ---'
passed=0 failed=0

# What the shell would print to a terminal: there, an error has no line number.
without_line_numbers() { sed -E 's/^((Parse |Runtime )?[Ee]rror):? near line [0-9]+:/\1:/'; }

# Sort the lines of the file: kinds[i] is text, command, input, more (of an input) or output;
# owners[i] is the line of the command or input that line i belongs to; expected[i] is the answer to
# the one at line i.
classify() {
    local i fence=-1 is_session=
    kinds=() owners=() expected=()
    for i in "${!lines[@]}"; do
        kinds[i]=text
        case ${lines[i]} in
        '```'*)
            if [ "$fence" -lt 0 ]; then
                fence=$i is_session=
            else
                [ -z "$is_session" ] || classify_session $((fence + 1)) $((i - 1))
                fence=-1
            fi
            ;;
        'sqlite> '* | '$ sqlite3'*) is_session=yes ;;
        esac
    done
}

classify_session() {
    local i owner=-1
    for ((i = $1; i <= $2; i++)); do
        case ${lines[i]} in
        '$ '*) kinds[i]=command owner=$i expected[i]='' ;;
        'sqlite> '*) kinds[i]=input owner=$i expected[i]='' ;;
        '   ...> '*) kinds[i]=more ;;
        *)
            kinds[i]=output
            [ "$owner" -lt 0 ] || expected[owner]+=${lines[i]}$'\n'
            ;;
        esac
        owners[i]=$owner
    done
}

# Run the lines first..last: a command and the inputs that follow it. The answer to the one at line
# i goes into answers[i].
play() {
    local first=$1 last=$2 command=sqlite3 current=0 status=0 i line
    local -a asked=()
    : >"$scratch/input"
    for ((i = first; i <= last; i++)); do
        case ${kinds[i]} in
        command) command=${lines[i]#'$ '} && asked+=("$i") ;;
        input)
            printf '.print "%s"\n%s\n' "$mark" "${lines[i]#'sqlite> '}" >>"$scratch/input"
            asked+=("$i")
            ;;
        more) printf '%s\n' "${lines[i]#'   ...> '}" >>"$scratch/input" ;;
        esac
    done
    case ${command%% *} in
    sqlite3)
        (
            cd "$scratch/here"
            # ~/.sqliterc is not part of the session.
            sqlite3() { command ${SQLITE3:-sqlite3} -batch -init /dev/null "$@"; }
            eval "$command"
        ) <"$scratch/input" >"$scratch/raw" 2>&1 || status=$?
        [ "$status" -le 1 ] || echo "the shell ended with status $status" >>"$scratch/raw"
        ;;
    ls | cat | od | find | cp | mkdir)
        (cd "$scratch/here" && eval "$command") </dev/null >"$scratch/raw" 2>&1 || true
        ;;
    *)
        # Passed over. An input after it would never be checked.
        for i in "${asked[@]:1}"; do
            answers[i]="not played: \"\$ sqlite3\" must come before it"$'\n'
        done
        return
        ;;
    esac

    # What comes before the first mark is the answer to the command, if there is one.
    for i in "${asked[@]}"; do answers[i]=; done
    [ "${kinds[first]}" = command ] || current=-1
    while IFS= read -r line; do
        if [ "$line" = "$mark" ]; then
            current=$((current + 1))
        else
            i=${asked[current < 0 ? 0 : current]}
            answers[i]+=$line$'\n'
        fi
    done < <(without_line_numbers <"$scratch/raw")
}

# Play the whole file, from one command to the next.
play_file() {
    local i first=-1 last=-1
    answers=()
    rm -rf "$scratch/here"
    mkdir "$scratch/here"
    ln -s "$(realpath "$build/highwater.so")" "$PWD/tests" "$PWD/sql" "$scratch/here"
    for i in "${!owners[@]}"; do
        if [ "$first" -ge 0 ] && [ "${kinds[i]}" = command ]; then
            play "$first" "$last"
            first=$i
        fi
        [ "$first" -ge 0 ] || first=$i
        last=$i
    done
    [ "$first" -lt 0 ] || play "$first" "$last"
}

check_file() {
    local file=$1 i
    for i in "${!answers[@]}"; do
        if [ "${answers[i]}" = "${expected[i]}" ]; then
            passed=$((passed + 1))
        else
            printf '%s:%d: expected\n%sgot\n%s' \
                "$file" $((i + 1)) "${expected[i]}" "${answers[i]}"
            failed=$((failed + 1))
        fi
    done
}

# The file, with --show its sessions only, with the answers in place of the old ones.
print_file() {
    local i owner
    for i in "${!lines[@]}"; do
        owner=${owners[i]:--1}
        if [ "$owner" -lt 0 ] || [ -z "${answers[owner]+set}" ]; then
            [ "$mode" = rewrite ] || [ "$owner" -ge 0 ] || continue
            printf '%s\n' "${lines[i]}"
        elif [ "${kinds[i]}" != output ]; then
            printf '%s\n' "${lines[i]}"
            [ "${kinds[i + 1]:-}" = more ] || printf '%s' "${answers[owner]}"
        fi
    done
}

for file in "$@"; do
    mapfile -t lines <"$file"
    classify
    if [ "$mode" = has-session ]; then
        [ "${#owners[@]}" -eq 0 ] || exit 0
        continue
    fi
    play_file
    case $mode in
    check) check_file "$file" ;;
    show) print_file ;;
    rewrite)
        print_file >"$scratch/rewritten"
        cp "$scratch/rewritten" "$file"
        ;;
    esac
done
case $mode in
check | rewrite) echo "readme: $passed passed, $failed failed" ;;
has-session) exit 1 ;;
esac
[ "$failed" -eq 0 ]
