#!/usr/bin/env python3
"""Hashes of the emitted Verilog, one line a design: `verilog_hashes.py [SAGEN] [--only TEXT] [--jobs N]`.

Every design of the tests, with the options the tests give it: examples/*.c, tests/run/*.c, tests/sizes/*.c (each line
`// sagen:`), tests/functions/*.c, and tests/polybench/*.c at their tiny sizes. A row is the program, the options, who chose the array, a SHA-256 of the names and
contents in rtl/, and the predicted cycles; or the codes of the refusal. Rows are sorted, so two versions of sagen compare
with `diff`: a change that is to leave the hardware alone leaves this table alone.
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
# Options that say which array is built; without any of them, sagen chooses.
BY_HAND = {"--space", "--order", "--tile", "--latency", "--simd", "--row", "--array", "--design"}
# Without a C compiler `sagen rtl` writes no expected results, which takes most of its time and is no hardware.
NO_COMPILER = {**os.environ, "PATH": "", "CC": ""}


def rtl_options(line):
    """The words of a line `// sagen:` without what only simulation takes."""
    words, kept = iter(shlex.split(line)), []
    for word in words:
        if word.split("=")[0] in SIM_ONLY:
            if "=" not in word:
                next(words, None)
        else:
            kept.append(word)
    return kept


def polybench_sizes():
    """The macros tests/suite/polybench.rs gives to every kernel."""
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
    """Whether the options say which array is built."""
    return any(word.split("=")[0] in BY_HAND for word in options)


def build(sagen, design, limit):
    """What became of a design: hash and cycles, codes of a refusal, or `undecided` after `limit` seconds of computing."""
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
    parser.add_argument("--by-hand", action="store_true", help="only designs given by options, which no search moves")
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
