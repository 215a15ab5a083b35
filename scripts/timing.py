#!/usr/bin/env python3
"""The slowest path of the PEs and engines of each example and PolyBench kernel: rewrites docs/results/timing.md.

    cargo build --release && python3 scripts/timing.py [--sagen target/release/sagen] [--only TEXT] [--board BOARD] [--all]

Yosys synthesizes each module for UltraScale+ (resources.sh), and levels.py finds its slowest path. Several engines of a design
are one row: the slowest. `--only` makes the rows whose name contains TEXT and keeps the others. `--all` measures feeders,
collectors, relays and the sequencer, too, and prints only. The exit status is 1 if a path is longer than the period of the
board's clock.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parent
DOCUMENT = ROOT / "docs" / "results" / "timing.md"
HEAD = """# The slowest paths

Table from `cargo build --release && python3 scripts/timing.py`: the arrays that sagen chooses for {board}, each module
synthesized by Yosys for UltraScale+. The period of the board's clock is {period} ns. The estimate has no placement: a net takes
0.35 ns, and 0.05 ns more for each doubling of its loads beyond four. *Through* shows the cells of the path (`scripts/levels.py`).

| kernel | PE, ns | through | engines, ns | through |
| --- | ---: | --- | ---: | --- |
"""


def output(command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"timing.py: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def period(board):
    """The period of a board's clock in ns."""
    return 1000 / tomllib.loads((ROOT / "boards" / f"{board}.toml").read_text())["clock_mhz"]


def measure(folder, module):
    """(ns, path) of a module."""
    text = output([SCRIPTS / "resources.sh", folder, module, "--levels"])
    found = re.search(r": \d+ levels, ([0-9.]+) ns \(estimate\)\n  (.*)", text)
    return float(found[1]), found[2]


def short(path):
    """A path as runs of cell types: `FDRE value -> 2 LUT6 -> FDRE.D other`."""
    cells = path.split(" -> ")
    runs = []
    for cell in cells[1:-1]:
        kind = cell.split()[0]
        if runs and runs[-1][1] == kind:
            runs[-1][0] += 1
        else:
            runs.append([1, kind])
    middle = [kind if n == 1 else f"{n} {kind}" for n, kind in runs]
    return " → ".join([cells[0], *middle, cells[-1]] if len(cells) > 1 else cells)


def design(args, kernel):
    """[(class, module, ns, path)] of a kernel's array."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([args.sagen, "rtl", "--board", args.board, kernel, "-o", f"{folder}/ip"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            return None
        rows = []
        for file in sorted(Path(folder, "ip", "rtl").glob("*.v")):
            module = file.stem
            kind = ("pe" if re.search(r"_pe\d*$", module) else "engine" if re.search(r"_axi_(reader|writer|lite_control)", module)
                    else "other" if re.search(r"_(feed|collect|relay|sequencer)", module) else None)
            if kind in ("pe", "engine") or (kind and args.all):
                rows.append((kind, module, *measure(Path(folder, "ip", "rtl"), module)))
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sagen", default=str(ROOT / "target" / "release" / "sagen"))
    parser.add_argument("--only", default="")
    parser.add_argument("--board", default="u250")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    kernels = sorted((ROOT / "examples").glob("*.c")) + sorted((ROOT / "tests" / "polybench").glob("*.c"))
    kernels = [k for k in kernels if args.only in k.stem]
    old = {}
    if DOCUMENT.exists():
        old = {line.split("|")[1].strip(): line for line in DOCUMENT.read_text().splitlines() if line.startswith("| ") and "ns" not in line}
    limit, missed = period(args.board), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for kernel, rows in zip(kernels, pool.map(lambda k: design(args, k), kernels)):
            name = f"{kernel.parent.name}/{kernel.stem}"
            if rows is None:
                print(f"{name}: no array", flush=True)
                continue
            cells = [name]
            for kind in ("pe", "engine"):
                mine = [r for r in rows if r[0] == kind]
                _, module, ns, path = max(mine, key=lambda r: r[2]) if mine else ("", "", 0.0, "")
                cells += [f"{ns:.2f}", short(path)]
            for _, module, ns, path in rows:
                late = ns > limit
                if late:
                    missed.append(f"{name}: {module} {ns:.2f} ns: {short(path)}")
                if late or args.all:
                    print(f"{name}: {module}: {ns:.2f} ns: {short(path)}", flush=True)
            old[name] = "| " + " | ".join(cells) + " |"
            print(old[name], flush=True)
    if not args.all:
        rows = "\n".join(old[name] for name in sorted(old))
        DOCUMENT.write_text(HEAD.format(board=args.board, period=f"{limit:.2f}") + rows + "\n")
    print(f"{len(missed)} paths are longer than the period")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
