#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Makes one C file of core/ and ext/, and the header of it for programs that link it in.

usage: ext/packaging/amalgamate.py FOLDER      writes FOLDER/highwater.c and FOLDER/highwater.h

A header stands where the first file includes it, once; nothing else is changed. No two files give a name
of file scope to different things.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:core|ext)/[^"]+)"')
FEATURES = "core/io/posix_system.h"  # Before every header of the system.


def is_apart(path):
    """No part of the library: packaging, and ext/live, another library, which needs librdkafka."""
    return any(path.is_relative_to(ROOT / "ext" / room) for room in ("packaging", "live"))


def sources():
    """Every .c file, by its path."""
    files = [*ROOT.glob("core/*/*.c"), *ROOT.glob("ext/*.c"), *ROOT.glob("ext/*/*.c")]
    return sorted(str(path.relative_to(ROOT)) for path in files if not is_apart(path))


class Amalgamation:
    def __init__(self):
        self.seen = set()
        self.lines = []

    def add(self, path, text=None):
        """A file, with what it includes for the first time in front of what follows."""
        self.seen.add(path)
        self.lines.append(f"/* ---- {path} ---- */")
        for line in (text or (ROOT / path).read_text()).splitlines():
            include = INCLUDE.match(line)
            if include is None:
                if "SPDX-License-Identifier" not in line:
                    self.lines.append(line)
            elif include.group(1) not in self.seen:
                self.add(include.group(1))


def header():
    """The entry points, as ext/highwater.c declares them."""
    text = (ROOT / "ext/highwater.c").read_text()
    entries = re.findall(r"\bint (sqlite3_highwater_\w*init)\(sqlite3 \*db, char \*\*message,\s*const sqlite3_api_routines \*api\);", text)
    declared = "\n".join(
        f"int {entry}(sqlite3 *db, char **message, const struct sqlite3_api_routines *api);" for entry in entries
    )
    return (ROOT / "ext/packaging/highwater.h.in").read_text().replace("@ENTRIES@", declared)


def commit():
    """The commit of the work tree; an archive of it, and a machine without git, know none."""
    found = subprocess.run("git rev-parse --short HEAD", shell=True, cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    files = sources()
    result = Amalgamation()
    result.lines.append((ROOT / "ext/packaging/highwater.c.in").read_text().rstrip().replace("@COMMIT@", commit()))
    result.add(FEATURES)
    for path in files:
        text = (ROOT / path).read_text()
        result.add(path, text)
        # Macros end with their file.
        result.lines += [f"#undef {name}" for name in re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M)]
    # What the Makefile makes of other files.
    for script in sorted(ROOT.glob("core/*/*.sh")):
        made = folder / script.with_suffix(".c").name
        subprocess.run([script, made.resolve()], cwd=ROOT, check=True)
        result.add(str(script.relative_to(ROOT)), made.read_text())
        made.unlink()
    (folder / "highwater.c").write_text("\n".join(result.lines) + "\n")
    (folder / "highwater.h").write_text(header())
    print(f"{folder}/highwater.c: {len(result.lines)} lines of {len(result.seen)} files")


main()
