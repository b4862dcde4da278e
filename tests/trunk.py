#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Is the map of core/README.md the way that calls take? Behind each line "<!-- runs: SQL -->" stands a drawing of files, each
indented below the one that calls it. Runs the SQL in a library that was built with -finstrument-functions, and fails
where a file is not entered in that order from the one above it, or where a call leads from a lower room up to a higher one.

usage: tests/trunk.py [--show] HIGHWATER.SO     --show: the files as they are entered, for drawing another map
"""
import os, pathlib, re, subprocess, sys, tempfile

SETUP = """CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3);
INSERT INTO orders(value) VALUES ('before'); SELECT replicate('orders'); INSERT INTO orders(value) VALUES ('news');"""

# What the caller gives to the core: memory and time.
GIVEN = {"memory_resize", "wall_now"}

# Which function is entered (+) and left (-), while a signal has switched it on.
TRACER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static FILE *out;
static volatile sig_atomic_t is_on;
static void toggle(int signal) { (void)signal; is_on = !is_on; }
__attribute__((constructor)) static void begin(void)
{
    out = fopen(getenv("TRACE"), "w");
    (void)unsetenv("LD_PRELOAD"); /* The shell that .shell starts is not traced. */
    (void)signal(SIGUSR1, toggle);
}
void __cyg_profile_func_enter(void *function, void *site)
{
    Dl_info of;
    (void)site;
    if (is_on && dladdr(function, &of) != 0 && strstr(of.dli_fname, "highwater") != NULL)
        fprintf(out, "+%zx\n", (size_t)((char *)function - (char *)of.dli_fbase));
}
void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function, (void)site;
    if (is_on)
        fputs("-\n", out);
}
"""


def trace(library, sql, folder):
    """The calls in order: (depth, file, function)."""
    path = f"{folder}/trace"
    switch = ".shell kill -USR1 $PPID\n"
    subprocess.run([os.environ.get("SQLITE3", "sqlite3"), ":memory:"], check=True, stdout=subprocess.DEVNULL,
                   input=f".load {library}\n{SETUP}\n{switch}{sql};\n{switch}", text=True,
                   env=dict(os.environ, LD_PRELOAD=f"{folder}/tracer.so", TRACE=path))
    events = pathlib.Path(path).read_text().split()
    addresses = sorted({e[1:] for e in events if e[0] == "+"})
    resolved = subprocess.run(["addr2line", "-f", "-e", library], input="\n".join(addresses), capture_output=True, text=True,
                              check=True).stdout.split("\n")
    names = {a: (re.sub(r".*?((?:core|ext)/.*?\.[ch]).*", r"\1", resolved[2 * i + 1]), resolved[2 * i])
             for i, a in enumerate(addresses)}
    calls, depth = [], 0
    for event in events:
        if event[0] == "+":
            calls.append((depth, *names[event[1:]]))
        depth = max(0, depth + (1 if event[0] == "+" else -1))
    return calls


def drawings():
    """(SQL, [(indentation, file)])"""
    text = pathlib.Path("core/README.md").read_text()
    for match in re.finditer(r"<!-- runs: (.*?) -->\n((?:\n|    .*\n)+)", text):
        lines = [re.match(r"    ( *)([\w/]+\.c)\b", line) for line in match.group(2).split("\n")]
        yield match.group(1), [(len(line.group(1)), line.group(2)) for line in lines if line]


def tree(drawing):
    """[(file, [the same of those below it])]"""
    nodes = []
    while drawing:
        indentation, file = drawing[0]
        below = next((i for i, line in enumerate(drawing[1:], 1) if line[0] <= indentation), len(drawing))
        nodes.append((file, tree(drawing[1:below])))
        drawing = drawing[below:]
    return nodes


def follow(calls, nodes, at, end):
    """Find the nodes, in order, among the calls [at, end): where the last one was found, and what was not (None: all were)."""
    for file, below in nodes:
        lacks, furthest = file, at
        for i in range(at, end):
            if calls[i][1].endswith("/" + file) or calls[i][1] == file:
                returns = next((k for k in range(i + 1, end) if calls[k][0] <= calls[i][0]), end)
                last, lack = follow(calls, below, i + 1, returns)
                if lack is None or last > furthest:
                    lacks, furthest = lack, last
                if lack is None:
                    break
        if lacks is not None:
            return furthest, lacks
        at = furthest
    return at, None


def ways_up(calls):
    """Calls from a room to a higher one."""
    rooms = re.findall(r"core/\w+|core\b", re.search(r"layers=\((.*?)\)", pathlib.Path("tests/layers.sh").read_text(), re.S)[1])
    rank = lambda file: rooms.index(os.path.dirname(file)) if file.startswith("core/") else len(rooms)
    stack = []
    for depth, file, function in calls:
        del stack[depth:]
        if stack and rank(file) > rank(stack[-1][0]) and function not in GIVEN:
            yield f"{stack[-1][0]}: {stack[-1][1]}() calls {function}() of {file}"
        stack.append((file, function))


def show(calls):
    last = []
    for depth, file, function in calls:
        if (depth, file) not in last:
            print("  " * depth + file + "  " + function)
            last.append((depth, file))


def main():
    library = os.path.abspath(sys.argv[-1])
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "tracer.c").write_text(TRACER)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", f"{folder}/tracer.so", f"{folder}/tracer.c"], check=True)
        for sql, drawing in drawings():
            calls = trace(library, sql, folder)
            if "--show" in sys.argv:
                print(f"--- {sql}")
                show(calls)
                continue
            _, file = follow(calls, tree(drawing), 0, len(calls))
            wrong = ([f"{file} is not entered there"] if file else []) + sorted(set(ways_up(calls)))
            for line in wrong:
                print(f"{sql}: {line}")
            failed |= bool(wrong) or not drawing
            print(f"{sql}: {len(drawing)} files drawn, {len(set(c[1] for c in calls))} run, {len(calls)} calls")
    sys.exit(failed)


main()
