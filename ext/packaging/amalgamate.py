#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Makes one C file of core/ and ext/, and the header of it for programs that link it in.

usage: ext/packaging/amalgamate.py FOLDER      writes FOLDER/highwater.c and FOLDER/highwater.h

A header stands where the first file includes it, once. Names of file scope that two .c files give to
different things get the file's name in front; nothing else is changed. Needs universal-ctags, which
knows those names.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:core|ext)/[^"]+)"')
FEATURES = "core/io/posix_system.h"  # Before every header of the system.
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|(?:\.|->)\s*[A-Za-z_]\w*|[A-Za-z_]\w*', re.S
)


def is_apart(path):
    """No part of the library: packaging, and ext/live, another library, which needs librdkafka."""
    return any(path.is_relative_to(ROOT / "ext" / room) for room in ("packaging", "live"))


def sources():
    """Every .c file, by its path."""
    files = [*ROOT.glob("core/*/*.c"), *ROOT.glob("ext/*.c"), *ROOT.glob("ext/*/*.c")]
    return sorted(str(path.relative_to(ROOT)) for path in files if not is_apart(path))


def tags(files):
    """What ctags finds: (file, name, kind, in which struct or enum)."""
    found = subprocess.run(
        ["ctags", "--output-format=json", "--fields=+K", "--kinds-C=dfvstugem", "-f", "-", *files],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )
    for line in found.stdout.splitlines():
        tag = json.loads(line)
        # What ctags takes for enumerators in `enum e list[] = {A, [B] = 1}` stands in a function or in brackets.
        if tag["kind"] == "enumerator" and ("::" in tag["scope"] or f"[{tag['name']}]" in tag["pattern"]):
            continue
        yield tag["path"], tag["name"], tag["kind"], tag.get("file", False)


def clashes(files):
    """For each .c file its own names that another .c file, or an enumerator of a header, has too."""
    headers = [*ROOT.glob("core/**/*.h"), *ROOT.glob("ext/**/*.h")]
    headers = sorted({str(p.relative_to(ROOT)) for p in headers if not is_apart(p)})
    users = collections.defaultdict(set)
    members = collections.defaultdict(set)
    public = set()
    for path, name, kind, is_own in tags(files):
        if kind == "member":
            members[path].add(name)
        elif kind != "macro":
            users[name].add(path)
            if not is_own:
                public.add((path, name))
    in_headers = {name for _, name, kind, _ in tags(headers) if kind == "enumerator"}
    result = collections.defaultdict(set)
    for name, paths in users.items():
        if len(paths) > 1 or name in in_headers:
            for path in paths:
                if (path, name) not in public:
                    result[path].add(name)
    return result, members


def renamed(text, path, names, members):
    """The text with `names` changed to <file>_<name>; members of structs keep theirs, unless they are the file's."""
    stem = pathlib.Path(path).stem

    def change(match):
        token = match.group(0)
        name = re.sub(r"^(\.|->)\s*", "", token)
        if name not in names or (name != token and name not in members):
            return token
        return token[: len(token) - len(name)] + f"{stem}__{name}"

    return TOKEN.sub(change, text)


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
    own, members = clashes(files)
    result = Amalgamation()
    result.lines.append((ROOT / "ext/packaging/highwater.c.in").read_text().rstrip().replace("@COMMIT@", commit()))
    result.add(FEATURES)
    for path in files:
        text = (ROOT / path).read_text()
        result.add(path, renamed(text, path, own[path], members[path]) if own[path] else text)
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
    print(f"{folder}/highwater.c: {len(result.lines)} lines of {len(result.seen)} files, "
          f"{sum(map(len, own.values()))} names changed")


main()
