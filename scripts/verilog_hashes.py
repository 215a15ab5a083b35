#!/usr/bin/env python3
"""Hashes of the emitted Verilog, one line a design: `verilog_hashes.py [SAGEN] [--only TEXT] [--jobs N]`.

The designs are those of the tests, with the options of the tests: examples/*.c, tests/run/*.c, tests/sizes/*.c (one design
for each line `// sagen:`), tests/functions/*.c, and tests/polybench/*.c at tiny sizes. A row holds the program, the options,
whether the options or the search chose the array, a SHA-256 of the names and contents in rtl/, and the predicted cycles; or
the codes of the refusal. Rows are sorted, so `diff` compares two versions of sagen. A change that must not change hardware
must not change this table.
"""
import argparse
import hashlib
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Options of `sagen sim` that `sagen rtl` does not have; each has a value.
SIM_ONLY = {"--seed", "--memory", "--engine", "--data", "--out", "--vcd", "--size", "--sequence"}
# Options that choose the array; without them the search chooses.
BY_HAND = {"--space", "--order", "--tile", "--latency", "--simd", "--row", "--array", "--design"}
# Without a C compiler `sagen rtl` writes no expected results. These take most of its time and are not hardware.
NO_COMPILER = {**os.environ, "PATH": "", "CC": ""}


def rtl_options(line):
    """The words of a line `// sagen:` without options of simulation."""
    words, kept = iter(shlex.split(line)), []
    for word in words:
        if word.split("=")[0] in SIM_ONLY:
            if "=" not in word:
                next(words, None)
        else:
            kept.append(word)
    return kept


def polybench_sizes():
    """The macros of tests/suite/polybench.rs for every kernel."""
    text = (ROOT / "tests/suite/polybench.rs").read_text()
    sizes = re.search(r"SIZES: \[&str; \d+\] = \[(.*?)\];", text, re.S).group(1)
    return [x for size in re.findall(r'"(\w+=\d+)"', sizes) for x in ("-D", size)]


def designs():
    """Every (program, options), once each."""
    found = set()
    for folder in ("examples", "tests/run", "tests/functions", "tests/sizes"):
        for source in (ROOT / folder).glob("*.c"):
            lines = re.findall(r"^// sagen:(.*)$", source.read_text(), re.M)
            found |= {(source, tuple(rtl_options(line))) for line in lines or [""]}
    sizes = polybench_sizes()
    found |= {(source, tuple(sizes)) for source in (ROOT / "tests/polybench").glob("*.c")}
    return sorted(found)


def digest(folder):
    """SHA-256 of a folder's file names and contents."""
    sums = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            sums.update(f"{file.relative_to(folder)}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    return sums.hexdigest()


def by_hand(options):
    """Whether the options choose the array."""
    return any(word.split("=")[0] in BY_HAND for word in options)


def build(sagen, design, limit):
    """Hash and cycles of a design, codes of its refusal, or `undecided` after `limit` seconds of CPU time."""
    source, options = design
    with tempfile.TemporaryDirectory(prefix="sagen-hashes-") as work:
        out = Path(work) / "out"
        words = [sagen, "rtl", *options, "-o", out, source]
        done = subprocess.run(words, capture_output=True, text=True, env=NO_COMPILER,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
        if done.returncode == 0:
            report = json.loads((out / "report.json").read_text())
            cycles = [of["predicted_cycles"] for of in report.get("functions", {"": report}).values()]
            return f"{digest(out / 'rtl')}  {'+'.join(map(str, cycles))}"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "undecided"
    codes = sorted(set(re.findall(r"^\[(E\d+)\]", done.stderr, re.M)))
    return f"refused {' '.join(codes)}" if done.returncode == 1 and codes else f"exit {done.returncode}: {done.stderr.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("sagen", nargs="?", default=str(Path(target) / "release/sagen"))
    parser.add_argument("--only", metavar="TEXT", default="", help="programs whose path contains TEXT")
    parser.add_argument("--by-hand", action="store_true", help="only designs whose options choose the array, so that the search has no influence")
    parser.add_argument("--jobs", type=int, default=2, help="designs at a time [2]")
    parser.add_argument("--limit", type=int, default=120, help="seconds of processor time for one design [120]")
    args = parser.parse_args()
    sagen = str(Path(args.sagen).resolve())
    wanted = [d for d in designs() if args.only in str(d[0].relative_to(ROOT)) and (not args.by_hand or by_hand(d[1]))]
    with ThreadPoolExecutor(args.jobs) as pool:
        outcomes = pool.map(lambda design: build(sagen, design, args.limit), wanted)
        for (source, options), outcome in zip(wanted, outcomes):
            who = "by-hand" if by_hand(options) else "automatic"
            print(f"{source.relative_to(ROOT)}  [{shlex.join(options)}]  {who}  {outcome}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
