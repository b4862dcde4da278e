#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Which rules of the core could be wrong without a test that notices? Makes small changes to it, one at a time (an
operator, a constant, a call or an assignment less), runs the core tests, then the stories of tests/golden, then the SQL
tests, and prints the changes that none of them noticed: each is a missing test, code that nothing needs, or a change of
no meaning.

usage: tests/mutants.py [--count 200] [--minutes N] [--seed 1] [--jobs 2] [--build build/mutants] [FILE or FOLDER of core ...]

The same numbers choose the same changes of the same code, in the same order; after N minutes no other is begun. Tests
that take long and the generated walks come last, for what no other has noticed.
"""
import argparse, collections, concurrent.futures, glob, json, os, pathlib, random, re, resource, subprocess, sys, time

ROOMS = ["core/replication", "core/log", "core/cluster", "core/verbs", "core/stage", "core/durable", "core/timed"]
SLOW_SECONDS = 2.5
CODECS = ["-lz", "-lsnappy", "-llz4", "-lzstd"]

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/ | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | ^\s*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<word>[A-Za-z_]\w*) | (?P<number>\d+\b) | (?P<operator>->|\+\+|--|<<|>>|[<>=!+\-*/&|]=|&&|\|\||[<>+\-])
""", re.X | re.S | re.M)
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "true": "false", "false": "true"}
# A call or an assignment that stands by itself, on one line or on several.
STATEMENT = re.compile(r"^ +(?:\(void\))?[a-z]\w*(?:(?:->|\.)\w+|\[\w+\])*(?: [+\-|&]?= [^;{}]*|\([^;{}]*\)|\+\+|--);$", re.M)

Mutant = collections.namedtuple("Mutant", "path start end text")


def bodies(source):
    """Where functions begin and end."""
    for match in re.finditer(r"^\{\n.*?^\}$", source, re.M | re.S):
        yield match.span()


def no_rules(source):
    """Where assertions stand, which check a rule and are none, and how much room a text gets."""
    return [match.span() for match in re.finditer(r"^ +(?:HW_ASSERT\(|char \w+\[).*?;$", source, re.M | re.S)]


def mutants_of(path):
    source = pathlib.Path(path).read_text()
    left_out = no_rules(source)
    found = []
    for start, end in bodies(source):
        for match in STATEMENT.finditer(source, start, end):
            found.append(Mutant(path, match.start(), match.end(), ""))
        for match in TOKEN.finditer(source, start, end):
            text = match.group()
            if match.group("number"):
                found.append(Mutant(path, match.start(), match.end(), "1" if text == "0" else str(int(text) - 1)))
            elif text in SWAPS and (text not in "+-" or re.search(r"[\w)\]] $", source[:match.start()])):
                found.append(Mutant(path, match.start(), match.end(), SWAPS[text]))
    return [m for m in found if not any(a <= m.start < b for a, b in left_out)]


def line_of(mutant):
    """The line in question, before and after."""
    source = pathlib.Path(mutant.path).read_text()
    number = source.count("\n", 0, mutant.start) + 1
    first = source.rindex("\n", 0, mutant.start) + 1
    last = source.index("\n", mutant.end)
    before = " ".join(source[first:last].split())
    after = " ".join((source[first:mutant.start] + mutant.text + source[mutant.end:last]).split())
    return f"{mutant.path}:{number}: {before}\n        -> {after or '(gone)'}"


def newest(paths):
    return max(os.stat(path).st_mtime for path in paths)


class Bench:
    """The objects of the core as they are, the tests on top of a shared library, and how long each takes."""

    def __init__(self, build, compiler, minutes):
        self.build = build
        self.end = time.monotonic() + 60 * minutes
        self.compile = [compiler, "-std=c11", "-fPIC", "-w", "-O1", "-I."]
        self.sql_tests = [f"{build}/{pathlib.Path(s).stem}" for s in sorted(glob.glob("tests/test_sql_*.c"))]
        subprocess.run(["make", "-s", f"BUILD={build}", "OPT=-O1", "CFLAGS=-fvisibility=default", f"-j{os.cpu_count()}",
                        "core-programs", "all", f"{build}/golden_sql", *self.sql_tests], check=True)
        self.objects = sorted(glob.glob(f"{build}/core/**/*.o", recursive=True)) + glob.glob(f"{build}/generated/*.o")
        self.compiler = compiler
        self.link(f"{build}/libcore.so", self.objects)
        ext = [o for o in sorted(glob.glob(f"{build}/ext/**/*.o", recursive=True)) if "/live/" not in o]
        self.extension = f"{build}/highwater.so"  # Where the SQL tests look for it.
        self.link(self.extension, [*ext, f"{build}/libcore.so"])
        self.tests, self.late = {}, {}
        for source in sorted(glob.glob("tests/test_*.c")):
            name = pathlib.Path(source).stem
            if re.match("test_(sql|live)_", name) or "__wrap_" in pathlib.Path(source).read_text():
                continue  # One that breaks rules itself can do so in a program that holds the core only.
            program = f"{build}/shared_{name}"
            parts = [f"{build}/tests/{name}.o", f"{build}/support.a"]
            if not os.path.exists(program) or newest(parts) > newest([program]):
                subprocess.run([compiler, "-o", program, *parts, f"{build}/libcore.so", "-lcmocka", *CODECS], check=True)
            took = self.time(program, newest([program, *self.objects]))
            is_late = took > SLOW_SECONDS or re.search("walk|model|fault", name)
            (self.late if is_late else self.tests)[name] = took
        self.stories = [f"{build}/golden_sql", self.extension, *sorted(glob.glob("tests/golden/*.test"))]

    def time(self, program, version):
        """How long the program takes, which is noted until something of it is built again."""
        note = pathlib.Path(program + ".time")
        if note.exists() and json.loads(note.read_text())[0] == version:
            return json.loads(note.read_text())[1]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not self.passes([program], None, 300):
            sys.exit(f"{program} fails already")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        note.write_text(json.dumps([version, took]))
        return took

    def link(self, library, objects):
        subprocess.run([self.compiler, "-shared", "-o", library, *objects, *CODECS], check=True)

    @staticmethod
    def passes(command, library, seconds):
        """Whether it ends well with this library in place of the one that it was linked with, in so many seconds of
        the processor, which do not grow where the machine is busy."""
        environment = dict(os.environ, HW_TEST_QUICK="1", **({"LD_PRELOAD": library} if library else {}))
        try:
            return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  stdin=subprocess.DEVNULL, timeout=60 + 30 * seconds, preexec_fn=lambda:
                                  resource.setrlimit(resource.RLIMIT_CPU, 2 * (int(seconds) + 1,))).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def noticed_by(self, tests, mutant, library):
        """The first of these tests that fails with the library, its own room's first; None."""
        room = mutant.path.split("/")[1]
        for name in sorted(tests, key=lambda name: (not name.startswith(f"test_{room}_"), tests[name])):
            if not self.passes([f"{self.build}/shared_{name}"], library, 10 + 10 * tests[name]):
                return name
        return None

    def judge(self, number, mutant):
        """What became of it: "not C", "no time", the name of the test or the kind of tests that noticed it, or None."""
        if time.monotonic() > self.end:
            return "no time"
        folder = f"{self.build}/{number}"
        os.makedirs(folder, exist_ok=True)
        source = pathlib.Path(mutant.path).read_text()
        changed = pathlib.Path(folder, "changed.c")
        changed.write_text(source[:mutant.start] + mutant.text + source[mutant.end:])
        try:
            if subprocess.run([*self.compile, "-c", changed, "-o", f"{folder}/changed.o"], capture_output=True).returncode:
                return "not C"
            own = f"{self.build}/{mutant.path[:-2]}.o"
            library = f"{folder}/libcore.so"
            self.link(library, [f"{folder}/changed.o" if o == own else o for o in self.objects])
            return self.noticed_by(self.tests, mutant, library) or \
                (None if self.passes(self.stories, library, 300) else "the stories alone") or \
                self.noticed_by(self.late, mutant, library) or \
                (None if all(self.passes([test], library, 300) for test in self.sql_tests) else "a SQL test alone")
        finally:
            subprocess.run(["rm", "-rf", folder])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", default="build/mutants")
    parser.add_argument("places", nargs="*", default=ROOMS)
    given = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    files = [f for place in given.places for f in ([place] if place.endswith(".c") else sorted(glob.glob(f"{place}/*.c")))]
    candidates = [mutant for file in files for mutant in mutants_of(file)]
    chosen = random.Random(given.seed).sample(candidates, min(given.count, len(candidates)))
    bench = Bench(given.build, os.environ.get("CC", "cc"), given.minutes)
    noticed, survived, left_out = collections.Counter(), [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for mutant, end in zip(chosen, pool.map(bench.judge, range(len(chosen)), chosen)):
            if end is None:
                survived.append(mutant)
                print(line_of(mutant), flush=True)
            elif end in ("not C", "no time"):
                left_out[end] += 1
            else:
                noticed[end if end.endswith(" alone") else "a core test"] += 1
    tried = len(chosen) - sum(left_out.values())
    print(f"{tried} of {len(candidates)} possible changes: " +
          ", ".join(f"{count} noticed by {who}" for who, count in sorted(noticed.items())) +
          f", {len(survived)} by nobody ({100 * len(survived) / max(tried, 1):.1f} %)" +
          (f", {left_out['no time']} not begun for want of time" if left_out["no time"] else ""))


main()
