#!/usr/bin/env python3
"""The slowest path of the PEs and engines of each example and PolyBench kernel: rewrites docs/results/timing.md.

    cargo build --release && python3 scripts/timing.py [--sagen target/release/sagen] [--only TEXT] [--board BOARD] [--all]
    python3 scripts/timing.py --check DIR...

Yosys synthesizes each module for UltraScale+ (resources.sh), and levels.py finds its slowest path. Several engines of a design
are one row: the slowest. Behind each time stands what `sagen rtl` estimates. `--only` makes the rows whose name contains TEXT
and keeps the others. `--all` measures feeders, collectors, relays and the sequencer, too, and prints only. `--check` measures
designs that `sagen rtl` wrote. The exit status is 1 if a path is longer than the period of the board's clock, or, with `--check`,
if an estimate is off by more than ALLOWED.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parent
CACHE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "timing"
DOCUMENT = ROOT / "docs" / "results" / "timing.md"
# An estimate less and more than what is measured.
ALLOWED = (0.13, 0.25)
# Why paths are longer than the period: a pattern of the kernel, the module and the path, and the reason.
REASONS = [
    (r"smith_waterman_pe", "a recurrence: three maxima in a row between two waves"),
    (r"floyd_warshall_pe", "a recurrence: a sum and a minimum between two waves"),
    (r"_pe RAMB18E2", "a value from a block RAM passes a multiplexer in front of an operator in the same cycle"),
]
HEAD = """# The slowest paths

Tables from `cargo build --release && python3 scripts/timing.py`: the arrays that sagen chooses for {board}, each module
synthesized by Yosys for UltraScale+. The period of the board's clock is {period} ns. The estimate has no placement: a net takes
0.35 ns, and 0.05 ns more for each doubling of its loads beyond four. *Through* shows the cells of the path (`scripts/levels.py`).
*Estimated* is the time that `sagen rtl` states for the same module (`report.json`). A row that is missing was not measured.

"""
TABLE = """| kernel | PE, ns | estimated | through | engines, ns | estimated | through |
| --- | ---: | ---: | --- | ---: | ---: | --- |
"""
LATE = """
## Beyond the period

All PEs and engines whose slowest path is longer than the period, and those sequencers, feeders, collectors and relays of which
sagen estimates that.

| kernel | module | ns | estimated | through | reason |
| --- | --- | ---: | ---: | --- | --- |
"""


def output(command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"timing.py: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def period(board):
    """The period of a board's clock in ns."""
    return 1000 / tomllib.loads((ROOT / "boards" / f"{board}.toml").read_text())["clock_mhz"]


def below(folder, module):
    """The texts of a module and of those below it, by name."""
    todo, seen = [module], {}
    while todo:
        name = todo.pop()
        if name in seen or not (folder / f"{name}.v").exists():
            continue
        seen[name] = (folder / f"{name}.v").read_text()
        todo += re.findall(r"^\s*(\w+)\s+\w+\s*\(", seen[name], re.M)
    return seen


def digest(texts):
    """A hash of all that a measurement depends on: modules, and the tools' scripts."""
    texts = [texts[name] for name in sorted(texts)]
    texts += [(SCRIPTS / file).read_text() for file in ("levels.py", "eda/hybrid.ys.in", "eda/mul27x18.v", "eda/e1_to_e2.v")]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def measure(folder, module):
    """(ns, path) of a module; measured once."""
    texts = below(folder, module)
    cached = CACHE / digest(texts)
    if not cached.exists():
        with tempfile.TemporaryDirectory() as alone:
            for name, text in texts.items():
                Path(alone, f"{name}.v").write_text(text)
            text = output([SCRIPTS / "resources.sh", alone, module, "--levels"])
        found = re.search(r": \d+ levels, ([0-9.]+) ns \(estimate\)\n  (.*)", text)
        CACHE.mkdir(parents=True, exist_ok=True)
        cached.write_text(json.dumps([float(found[1]), short(found[2])]))
    return json.loads(cached.read_text())


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


def measure_all(folder, every):
    """[(class, module, ns, estimated ns, path)] of a design that `sagen rtl` wrote. Other modules than PEs and engines only if
    `every` one is asked for, or the estimate is beyond the period."""
    limit = 1000 / json.loads((folder / "report.json").read_text())["clock_mhz"]
    estimated = {m["module"]: m["ns"] for m in json.loads((folder / "report.json").read_text())["clock"]["modules"]}
    rows = []
    for file in sorted((folder / "rtl").glob("*.v")):
        module = file.stem
        kind = ("pe" if re.search(r"_pe\d*$", module) else "engine" if re.search(r"_axi_(reader|writer|lite_control)", module)
                else "other" if re.search(r"_(feed|collect|relay|sequencer)", module) else None)
        if kind in ("pe", "engine") or (kind and (every or estimated.get(module, 0.0) > limit)):
            ns, path = measure(folder / "rtl", module)
            rows.append((kind, module, ns, estimated.get(module, 0.0), path))
    return rows


def check(args):
    """Measures designs that are written: whether the estimates agree, and the clock is met."""
    wrong = 0
    for folder in args.check:
        limit = 1000 / json.loads((Path(folder) / "report.json").read_text())["clock_mhz"]
        for _, module, ns, estimated, path in measure_all(Path(folder), args.all):
            off = estimated / ns - 1
            # Short paths say little: where a path ends in a slice, tools differ.
            bad = ns > limit or (ns > limit / 2 and not -ALLOWED[0] <= off <= ALLOWED[1])
            wrong += bad
            print(f"timing: {module} {ns:.2f} ns, estimated {estimated:.2f} ({off:+.0%})" + (f": {path}" if bad else ""))
    return 1 if wrong else 0


def design(args, kernel):
    """The same of a kernel's array; None if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([args.sagen, "rtl", "--board", args.board, kernel, "-o", f"{folder}/ip"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            return None
        return measure_all(Path(folder, "ip"), args.all)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sagen", default=str(ROOT / "target" / "release" / "sagen"))
    parser.add_argument("--only", default="")
    parser.add_argument("--board", default="u250")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check", nargs="+", metavar="DIR")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if args.check:
        return check(args)
    kernels = sorted((ROOT / "examples").glob("*.c")) + sorted((ROOT / "tests" / "polybench").glob("*.c"))
    kernels = [k for k in kernels if args.only in k.stem]
    old, late = read_document() if DOCUMENT.exists() else ({}, [])
    limit, missed = period(args.board), 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for kernel, rows in zip(kernels, pool.map(lambda k: design(args, k), kernels)):
            name = f"{kernel.parent.name}/{kernel.stem}"
            late = [row for row in late if row.split("|")[1].strip() != name]
            if rows is None:
                print(f"{name}: no array", flush=True)
                continue
            cells = [name]
            for kind in ("pe", "engine"):
                mine = [r for r in rows if r[0] == kind]
                _, module, ns, estimated, path = max(mine, key=lambda r: r[2]) if mine else ("", "", 0.0, 0.0, "")
                cells += [f"**{ns:.2f}**" if ns > limit else f"{ns:.2f}", f"{estimated:.2f}", path]
            for _, module, ns, estimated, path in rows:
                if ns > limit:
                    missed += 1
                    reason = next((text for pattern, text in REASONS if re.search(pattern, f"{name} {module} {path}")), "")
                    late.append(f"| {name} | {module} | {ns:.2f} | {estimated:.2f} | {path} | {reason} |")
                if ns > limit or args.all:
                    print(f"{name}: {module}: {ns:.2f} ns, estimated {estimated:.2f}: {path}", flush=True)
            old[name] = "| " + " | ".join(cells) + " |"
            print(old[name], flush=True)
    if not args.all:
        rows = "\n".join(old[name] for name in sorted(old)) + "\n"
        text = HEAD.format(board=args.board, period=f"{limit:.2f}") + TABLE + rows
        DOCUMENT.write_text(text + (LATE + "\n".join(sorted(late)) + "\n" if late else ""))
    print(f"{missed} paths are longer than the period")
    return 1 if missed else 0


def read_document():
    """The rows of both tables: by kernel, and a list."""
    first, _, second = DOCUMENT.read_text().partition(LATE)
    rows = lambda text: [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| kernel", "| ---"))]
    return {line.split("|")[1].strip(): line for line in rows(first)}, rows(second)


if __name__ == "__main__":
    sys.exit(main())
