#!/usr/bin/env python3
"""PolyBench/C through sagen: `polybench.py [SAGEN] [--only TEXT] [--limit SECONDS]`.

Simulates every tests/polybench/*.c with the automatic choice of the array and writes docs/results/polybench.md: the mapped
kernels, the refused ones with the reason, and the kernels with sizes at run time instead of macros, one IP at several sizes.
Fails if a result or a number of cycles differs. `--only` selects kernels by name and prints the tables.
"""
import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "tests/polybench"

# The files have the sizes of PolyBench's MINI_DATASET, at which these arrays are large and slow to simulate.
SMALLER = {
    "fdtd-2d": {"TMAX": 6, "NX": 12, "NY": 10},
    "gramschmidt": {"M": 10, "N": 12},
    "heat-3d": {"TSTEPS": 4, "N": 8},
    "jacobi-2d": {"TSTEPS": 6, "N": 12},
    "seidel-2d": {"TSTEPS": 6, "N": 16},
}


class Fault:
    """A diagnostic, parsed from the text that sagen prints."""

    def __init__(self, text):
        self.code, self.message = re.match(r"\[(E\d+)\] Error: (.*)", text).groups()
        place = re.search(r"─\[ .*:(\d+):\d+ \]", text)
        self.line = int(place.group(1)) if place else None
        under = re.search(r"╰─+ (.*)", text)
        self.reason = under.group(1).strip() if under else ""
        self.producer = None
        if "produced here" in text:
            shown = [int(line) for line in re.findall(r"^ *(\d+) │", text, flags=re.M)]
            self.producer = next((line for line in shown if line != self.line), self.line)

    def short(self):
        if self.code == "E0601":
            name = re.search(r"`(.*)`", self.message).group(1)
            return f"`{name}`, produced in line {self.producer}, is read at a changing distance"
        return f"{self.message}: {self.reason}" if self.reason else self.message


def faults_of(text):
    return [Fault(part) for part in re.split(r"^(?=\[E\d+\] Error: )", text, flags=re.M)[1:]]


def sizes_of(source):
    """The macros of a file, with the smaller values of SMALLER."""
    sizes = dict(re.findall(r"^#define (\w+) (\d+)$", source.read_text(), flags=re.M))
    return {**sizes, **SMALLER.get(source.stem, {})}


def limited(words, limit):
    return subprocess.run(words, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))


def simulate(sagen, source, limit):
    """The report of a mapped kernel, the faults of a refused one, or None after `limit` seconds of CPU time."""
    smaller = [x for name, value in SMALLER.get(source.stem, {}).items() for x in ("-D", f"{name}={value}")]
    words = [sagen, "sim", "--board", "u250", "--memory", "ideal", "--objective", "cycles", str(source), *smaller, "--json"]
    done = limited(words, limit)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    faults = faults_of(done.stderr)
    if done.returncode == 1 and faults:
        return faults
    report = json.loads(done.stdout) if done.returncode == 0 else {}
    if not report or report["cycles"] != report["predicted_cycles"]:
        sys.exit(f"polybench.py: {source.name}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return report


def table(header, rows):
    align = ["---:" if right else "---" for _, right in header]
    return "\n".join("| " + " | ".join(row) + " |" for row in [[name for name, _ in header], align, *rows])


def with_sizes(source, folder):
    """The kernel with parameters instead of macros, and their greatest values."""
    sizes = {name: int(value) for name, value in sizes_of(source).items()}
    text = re.sub(r"#ifndef (\w+)\n#define \1 \d+\n#endif\n", "", source.read_text())
    pragma = "#pragma sagen max(" + ", ".join(f"{name}={value}" for name, value in sizes.items()) + ")\n"
    text = re.sub(r"(?m)^void \w+\(", lambda head: pragma + head.group() + "".join(f"int {name}, " for name in sizes), text, count=1)
    file = Path(folder) / source.name
    file.write_text(text)
    return file, sizes


def sized_row(sagen, source, limit):
    """Cycles of one IP at its greatest sizes, at half of them and at 2, and of arrays of constant sizes. None if refused."""
    with tempfile.TemporaryDirectory() as folder:
        file, greatest = with_sizes(source, folder)
        runs = [greatest, {name: (value + 1) // 2 for name, value in greatest.items()}, {name: min(2, value) for name, value in greatest.items()}]
        given = [word for sizes in runs for word in ("--size", ",".join(f"{n}={v}" for n, v in sizes.items()))]
        done = limited([sagen, "sim", "--board", "u250", "--memory", "ideal", "--objective", "cycles", str(file), *given, "--sequence", "6", "--json"], limit)
        if done.returncode == 1 and faults_of(done.stderr):
            return None
        report = json.loads(done.stdout) if done.returncode == 0 else {}
        by_sizes = {name[name.index("("):]: run for name, run in report.get("functions", {}).items()}
        own = [by_sizes.get("({})".format(", ".join(map(str, sizes.values())))) for sizes in runs]
        if None in own or not report["match"] or any(run["cycles"] != run["predicted_cycles"] for run in own):
            sys.exit(f"polybench.py: {source.name} with sizes: exit {done.returncode}\n{done.stdout}{done.stderr}")
        alone = []
        for sizes in runs[:2]:
            defines = [x for name, value in sizes.items() for x in ("-D", f"{name}={value}")]
            done = limited([sagen, "rtl", "--board", "u250", "--memory", "ideal", "--objective", "cycles", str(source), *defines, "--json", "-o", f"{folder}/alone"], limit)
            alone.append(json.loads(done.stdout)["predicted_cycles"])
    cycles = [run["cycles"] for run in own]
    return [source.stem, ", ".join(f"{name} {value}" for name, value in greatest.items()), *(f"{n:,}" for n in (cycles[0], alone[0], cycles[1], alone[1], cycles[2]))]


SIZED = [("kernel", False), ("greatest sizes", False), ("cycles", True), ("constant", True), ("at half of them", True), ("constant", True), ("at 2", True)]
MAPPED = [("kernel", False), ("sizes", False), ("space", False), ("PEs", True), ("SIMD", True), ("operations", True),
          ("cycles predicted = simulated", True), ("utilization", True), ("results", False)]
REFUSED = [("kernel", False), ("code", False), ("line", True), ("reason", False), ("also in lines", False)]


def mapped_row(source, report):
    height, width = report["array"]
    sizes = ", ".join(f"{name} {value}" for name, value in sizes_of(source).items())
    axes = ", ".join(axis for axis in report["axes"] if axis)
    return [source.stem, sizes, axes, f"{height}×{width}", str(report["simd"]), f"{report['macs']:,}",
            f"{report['cycles']:,}", f"{100 * report['utilization']:.1f} %", "equal to C"]


def refused_row(source, faults):
    first = faults[0]
    further = sorted({fault.line for fault in faults[1:] if fault.line})
    return [source.stem, first.code, str(first.line), first.short(), ", ".join(map(str, further))]


TEXT = """# PolyBench/C 4.2

Made by `scripts/polybench.py` (do not edit): all {all} kernels in their natural form ([tests/polybench](../../tests/polybench)),
in single precision, `nussinov` and `floyd-warshall` in `int`, with sagen's own choice of the array on u250.

## {mapped} become an array

*Operations* are executions of the deepest statements of each outermost loop. *Utilization* is operations divided by PEs times
cycles. C's order of floating-point operations is kept.

{mapped_table}

{refused}{open}
## With sizes at run time: {sized} become one IP each

The same kernels with integer parameters instead of macros. Each IP runs at its greatest sizes, at half of them and at 2, then in
random order with resets in between. Results equal C's, cycles are as predicted. *Constant* is sagen's choice for these sizes
alone.

{sized_table}

## LU beside AutoSA

Cycles of LU decomposition without pivoting in fp32, as PolyBench writes it (`examples/lu.c`) and with uniform dependences by
hand (`tests/run/lu_uniform.c`), predicted = simulated, equal to C; AutoSA's are the paper's. `tests/suite/lu.rs` runs every N
from 1 to 32 by command.

{lu_table}
"""

REFUSALS = """## {count} are refused

{table}
"""

UNDECIDED = """
## {count} are not decided

The search for places at which all dependences are uniform was stopped after {limit} s: {names}.
"""

LU = [("N", True), ("AutoSA", True), ("plain", True), ("PEs", True), ("uniform", True), ("PEs", True)]
AUTOSA = {12: 855, 16: 1308, 20: 1920, 24: 2610}


def lu_row(sagen, n):
    cells = []
    for source in ("examples/lu.c", "tests/run/lu_uniform.c"):
        done = subprocess.run([sagen, "sim", "--json", "-D", f"N={n}", ROOT / source], capture_output=True, text=True, check=True)
        report = json.loads(done.stdout)
        cells += [f"{report['cycles']:,}", "{}×{}".format(*report["array"])]
    return [str(n), f"{AUTOSA[n]:,}", *cells]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("sagen", nargs="?", default=str(Path(target) / "release/sagen"))
    parser.add_argument("--only", metavar="TEXT", help="kernels whose name contains TEXT; print the tables")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time for one kernel [60]")
    args = parser.parse_args()
    mapped, refused, undecided, sized = [], [], [], []
    for source in sorted(KERNELS.glob("*.c")):
        if args.only and args.only not in source.stem:
            continue
        outcome = simulate(args.sagen, source, args.limit)
        if outcome is None:
            undecided.append(source.stem)
        elif isinstance(outcome, dict):
            mapped.append(mapped_row(source, outcome))
        else:
            refused.append(refused_row(source, outcome))
        row = sized_row(args.sagen, source, args.limit)
        sized += [row] if row else []
        print(f"{source.stem}: {len(mapped)} mapped, {len(refused)} refused, {len(sized)} with sizes", file=sys.stderr, flush=True)
    tables = table(MAPPED, mapped), table(REFUSED, refused), table(SIZED, sized)
    if args.only:
        print("\n\n".join(tables))
        return
    names = ", ".join(undecided)
    text = TEXT.format(all=len(mapped) + len(refused) + len(undecided), mapped=len(mapped),
                       open=UNDECIDED.format(count=len(undecided), limit=args.limit, names=names) if undecided else "",
                       refused=REFUSALS.format(count=len(refused), table=tables[1]) if refused else "",
                       lu_table=table(LU, [lu_row(args.sagen, n) for n in AUTOSA]), mapped_table=tables[0], sized=len(sized), sized_table=tables[2])
    (ROOT / "docs/results/polybench.md").write_text(text)


if __name__ == "__main__":
    main()
