#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Makes build/gallery: a page for each experiment of sql/, with its question, its SQL, what each statement printed
and, where it had a cluster, the run as timeline() draws it; and index.html, which lists the questions.

usage: sql/gallery.py [--build DIR]      SQLITE3 in the environment is the shell to use

What it shows as printed is what the experiment's .out says, which `make test` compares.
"""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / (sys.argv[2] if sys.argv[1:2] == ["--build"] else "build")
GALLERY = BUILD / "gallery"
END = "-- the experiment ends here"
STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #111; --line: #8884; --dim: #525a68; --link: #0b4f91; }
@media (prefers-color-scheme: dark) { :root { --page: #14171c; --ink: #e6e9ee; --dim: #a7b0bd; --link: #8fc1ff; } }
html { background: var(--page); color: var(--ink); overflow-wrap: anywhere; }
a { color: var(--link); }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
pre { margin: 0; padding: .4rem .8rem; overflow-x: auto; font: .85rem/1.45 ui-monospace, monospace; tab-size: 4; }
pre.sql { border-left: 3px solid #2f6fab; margin-top: .8rem; }
pre.said { border: 0; margin-top: 1.6rem; padding: 0; font-weight: bold; white-space: pre-wrap; }
pre.out { border-left: 3px solid var(--line); color: var(--dim); }
iframe { width: 100%; height: 1180px; border: 1px solid var(--line); }
nav { display: flex; flex-wrap: wrap; gap: 1rem; justify-content: space-between; margin: 1rem 0; }
li { margin: .3rem 0; }
"""


def page(title, body):
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n<main>\n{body}\n</main>\n</html>\n"
    )


def head_of(script):
    """The question, the paragraphs below it, and how many lines both take: they are the comment that it begins with."""
    lines = script.splitlines()[1:]
    size = next(i for i, line in enumerate(lines) if not line.startswith("--"))
    text = "\n".join(line[2:].strip() for line in lines[:size])
    question, *paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return question, paragraphs, 1 + size


def play(script):
    """Run it in a fresh directory, as tests/experiments.sh does. Returns the shell's echo with what it printed between,
    and the page of timeline(), or None where nothing happened in a cluster."""
    with tempfile.TemporaryDirectory() as home:
        for name, target in ("highwater.so", BUILD / "highwater.so"), ("sql", ROOT / "sql"), ("tests", ROOT / "tests"):
            os.symlink(target, pathlib.Path(home, name))
        tail = f"{END}\n.output\nSELECT writefile('timeline.html', timeline()) WHERE EXISTS (SELECT 1 FROM hw_journal);\n"
        with open(pathlib.Path(home, "printed"), "w+b") as printed:
            subprocess.run(
                [*os.environ.get("SQLITE3", "sqlite3").split(), "-batch", "-init", "/dev/null", "-echo", ":memory:"],
                input=(script + tail).encode(), cwd=home, stdout=printed, stderr=printed, check=False,
            )
            printed.seek(0)
            lines = printed.read().decode().split(END)[0].splitlines()
        timeline = pathlib.Path(home, "timeline.html")
        return lines, timeline.read_text() if timeline.exists() else None


def blocks(script, expected, lines):
    """Pairs of a kind and its lines: sql, out, or said, by .print. Each line of the echo is the next one of the script, or was printed.
    Where the shell echoed more (files that are read) or less (with .output), it is all of the script, then all output."""
    wanted, at, printed = script.splitlines(), 0, []
    result = []
    for line in lines:
        if wanted[at:at + 1] == [line]:
            kind = "sql"
            at += 1
        else:
            kind = "said" if line.startswith(("-- ", "=== ")) else "out"
            printed.append(line)
        if not result or result[-1][0] != kind:
            result.append((kind, []))
        result[-1][1].append(line)
    return result if (at, printed) == (len(wanted), expected) else [("sql", wanted), ("out", expected)]


def main():
    shutil.rmtree(GALLERY, ignore_errors=True)
    GALLERY.mkdir(parents=True)
    scripts = sorted((ROOT / "sql").glob("[0-9]*.sql"))
    heads = [head_of(path.read_text())[0] for path in scripts]
    for i, path in enumerate(scripts):
        script = path.read_text()
        question, text, size = head_of(script)
        lines, timeline = play(script)
        expected = path.with_suffix(".out").read_text().splitlines()
        parts = blocks(script, expected, lines)
        links = ['<a href="index.html">all questions</a>']
        if i + 1 < len(scripts):
            links.append(f'<a href="{scripts[i + 1].stem}.html">{html.escape(heads[i + 1])}</a>')
        del parts[0][1][:size]
        body = [f"<nav>{''.join(links)}</nav>", f"<h1>{html.escape(question)}</h1>"]
        body += [f"<p>{html.escape(paragraph)}</p>" for paragraph in text]
        body.append(f"<p><code>sqlite3 &lt;sql/{path.name}</code> does it again.</p>")
        for kind, part in parts:
            # What .print says stands below, as printed.
            part = [line for line in part if kind != "sql" or not line.startswith(".print ")]
            if any(part):
                body.append(f'<pre class="{kind}" tabindex="0">{html.escape(chr(10).join(part).strip(chr(10)))}</pre>')
        if timeline is not None:
            (GALLERY / f"{path.stem}.timeline.html").write_text(timeline)
            body.append(f'<h2>The run, step by step</h2>\n<iframe src="{path.stem}.timeline.html" title="timeline"></iframe>')
        (GALLERY / f"{path.stem}.html").write_text(page(question, "\n".join(body)))
    items = "\n".join(f'<li value="{int(p.stem[:2])}"><a href="{p.stem}.html">{html.escape(h)}</a></li>' for p, h in zip(scripts, heads))
    (GALLERY / "index.html").write_text(page("highwater: experiments", f"<h1>Experiments</h1>\n<ol>\n{items}\n</ol>"))
    print(f"{GALLERY}/index.html: {len(scripts)} experiments")


main()
