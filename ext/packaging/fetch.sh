#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Fetches sources that sources.txt names, through the ordinary client of their registry, compares their
# SHA-256 and unpacks them. Prints the folders, one a line. What is there already is not fetched again.
#
# usage: ext/packaging/fetch.sh NAME...
#
# SOURCES in the environment is the folder to keep them in (build/sources).
# Exit status: 1 where an archive is not the one that is named, 75 where a registry does not answer.
set -euo pipefail
cd "$(dirname "$0")/../.."
sources=$(realpath -m "${SOURCES:-build/sources}")
mkdir -p "$sources"

unreachable() {
    echo "fetch: $1 cannot be had: its registry does not answer" >&2
    exit 75
}

fetch_npm() {
    (cd "$2" && npm pack --silent "$1" >/dev/null 2>"$2/log") || unreachable "$1"
}

# Debian's sources, from where apt gets packages, with lists of their own: the system's stay as they are.
# The archive of upstream's sources is the same for every revision of the package.
fetch_debian() {
    local package=$1 folder=$2 mirror apt
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
        'Label: Debian' 2>/dev/null | head -n 1)
    [ -n "$mirror" ] || unreachable "$package"
    mkdir -p "$sources/debian/lists/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" \
        >"$sources/debian/sources.list"
    apt=(apt-get -qq -o "Dir::Etc::SourceList=$sources/debian/sources.list" -o Dir::Etc::SourceParts=/nonexistent
        -o "Dir::State::Lists=$sources/debian/lists" -o APT::Sandbox::User=root)
    if [ ! -e "$sources/debian/updated" ]; then
        "${apt[@]}" update >"$folder/log" 2>&1 || unreachable "$package"
        touch "$sources/debian/updated"
    fi
    (cd "$folder" && "${apt[@]}" source --download-only --only-source "$package" >"$folder/log" 2>&1) ||
        unreachable "$package"
}

for name in "$@"; do
    read -r how package sum wanted < <(awk -v name="$name" '$1 == name { print $2, $3, $4, $5 }' ext/packaging/sources.txt) ||
        { echo "fetch: sources.txt has no $name" >&2 && exit 1; }
    folder=$sources/$name-${sum:0:12}
    if [ ! -d "$folder" ]; then
        scratch=$(mktemp -d "$sources/fetching-XXXXXX")
        trap 'rm -rf "$scratch"' EXIT
        "fetch_$how" "$package" "$scratch"
        archive=$(find "$scratch" -name '*.orig.tar.*' ! -name '*.asc' -o -name '*.tgz')
        if [ "$(sha256sum <"$archive" | cut -d ' ' -f 1)" != "$sum" ]; then
            echo "fetch: $(basename "$archive") has another SHA-256 than sources.txt says" >&2
            exit 1
        fi
        mkdir "$scratch/tree"
        tar --extract --file "$archive" --strip-components=1 --directory "$scratch/tree"
        # npm's sqlite3 brings SQLite as an archive in the archive.
        if [ -e "$scratch/tree/deps/$wanted.tar.gz" ]; then
            tar --extract --file "$scratch/tree/deps/$wanted.tar.gz" --directory "$scratch/tree"
        fi
        mv "$(realpath "$scratch/tree/$wanted")" "$folder"
        rm -rf "$scratch"
        trap - EXIT
    fi
    echo "$folder"
done
