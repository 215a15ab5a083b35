#!/usr/bin/env python3
"""Functions on one array: `merged.py [SAGEN]`.

Writes docs/results/merged.md: the six routines of examples/la/blas.c, the parts of a correlation (examples/la/corr.c) and the
thirty kernels of examples/la/kernels.c, each with an array of its own and on a merged one. Simulates random sequences on the arrays with one PE and compares with the C
program; fails if a result or a number of cycles differs. Synthesizes the smaller ones with Yosys. Takes half an hour.
"""
import json
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOARD = "zcu104"
KERNELS = "examples/la/kernels.c"
RUNS = 40
# Yosys takes minutes for 20,000 LUTs.
SYNTHESIZED = 20_000
# Derumigny et al., 2023, table 5: LA-GA, without DRAM.
PAPER = {"scale": 8258, "gemv": 4396, "trmv": 2380, "ger": 8343, "gemm": 274540, "trmm": 145516}
# The same, table 8: CORR-GA.
PAPER_CORR = {"center": 12480, "stddev": 29053, "center_reduce": 33352, "corr": 303763}

TEXT = """# Functions on one array: results

What merged arrays are: [functions.md](../functions.md#one-array-for-all-functions).

Made by `scripts/merged.py` (do not edit). Cycles are those with the memory of {board}; for a random sequence of {runs} runs on the
arrays with one PE, and after resets, they equal the simulated ones, and results equal C's. Resources are estimates
([estimates.md](estimates.md)), beside LUTs by Yosys (`scripts/resources.sh --flatten '*_pe'`) of IPs that take fewer than {synthesized:,}. Seconds are of
processor time.

## Six routines

[examples/la/blas.c](../../examples/la/blas.c): 64 × 64, half precision. The last row is the accelerator LA-GA of Derumigny,
Pouchet and Rastello (IMPACT 2023), table 5, whose cycles are counted without DRAM.

| `--merge` and | LUT | by Yosys | FF | DSP | BRAM36 | LUT apart | DSP apart | {names} | seconds |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | {lines} ---: |
{six}| LA-GA | | 9,418 | 4,524 | 6 | 54.5 | | | {paper} | |

## A correlation and its parts

[examples/la/corr.c](../../examples/la/corr.c): 64 × 64, half precision; each function has its loops as phases. The last row is
the accelerator CORR-GA of the same article, table 8. Limits hold for estimates, which are some percent high here: the array within
16,500 LUTs takes fewer than CORR-GA by Yosys.

| `--merge` and | LUT | by Yosys | FF | DSP | BRAM36 | LUT apart | DSP apart | {corr_names} | seconds |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | {corr_lines} ---: |
{corr}| CORR-GA | | 15,579 | 6,073 | 12 | | | | {paper_corr} | |

## Thirty kernels

[examples/la/kernels.c](../../examples/la/kernels.c), 64 × 64. *Apart*: the sum over all kernels. *Bound*: the sum, over each kind
of operator, the rest of the PEs, feeders, collectors, relays, engines and control, of what the kernel takes that needs most of that
part, if each has the array that it has alone within the same grid; no merged array of these can take less. The search does not use
these arrays only, so the merged array may take less than this sum.

| type | grid | LUT | by Yosys | DSP | LUT apart | DSP apart | bound, LUT | bound, DSP | LUT / bound | slower than alone | slowest path | alone | seconds |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{thirty}
*Slower than alone*: the cycles of all kernels together, one run each. *Slowest path*: of the merged IP, and of the slowest of
the kernels that each have an IP, in ns, as estimated. The board's clock of 300 MHz has 3.33 ns.

### Each kernel, half precision, one PE

| kernel | cycles | alone |
| --- | ---: | ---: |
{each}"""


def sagen(*arguments):
    binary = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/sagen")
    done = subprocess.run([binary, *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def built(folder, source, *more):
    """The report of a merged array, the seconds that it takes, and a word in its row that stands for LUTs by Yosys."""
    name = f"ip{sum(1 for _ in Path(folder).iterdir())}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = sagen("rtl", source, "--board", BOARD, "--merge", "--json", "-o", f"{folder}/{name}", *more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return report, seconds, f"@{name}@" if report["resources"]["lut"] < SYNTHESIZED else ""


def synthesized(folder, name):
    """LUTs by Yosys. They take long, so they come last."""
    top = json.loads((folder / name / "report.json").read_text())["kernel"]
    script = [ROOT / "scripts/resources.sh", folder / name, top, "--flatten", "*_pe", "--json"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    return next(row["total"]["lut"] for row in rows["modules"] if row["module"] == rows["top"])


def apart(report):
    """Sum over the kernels, and over parts and kinds of operators the most that a kernel takes."""
    alone = [f["alone"] for f in report["functions"].values()]
    parts = [dict(a["resources_by_part"]) for a in alone]
    total = {kind: sum(p[kind] for part in parts for p in part.values()) for kind in ("lut", "dsp")}
    for part, a in zip(parts, alone):
        kinds = {(o["operator"], o["type"]): o["resources"] for o in a["operators"]}
        part["pes"] = {kind: part["pes"][kind] - sum(o[kind] for o in kinds.values()) for kind in ("lut", "dsp")}
        part.update(kinds)
    names = {name for part in parts for name in part}
    most = {kind: sum(max(part.get(name, {kind: 0})[kind] for part in parts) for name in names) for kind in ("lut", "dsp")}
    return total, most


def numbers(need, *kinds):
    return " | ".join(f"{need[kind]:,}" for kind in kinds)


def simulated(source, *more):
    sagen("sim", source, "--board", BOARD, "--merge", "--grid", "1", "--json", "--sequence", str(RUNS), *more)


def several(folder, source, names, choices):
    rows = ""
    for options in choices:
        report, seconds, luts = built(folder, source, *options)
        total, _ = apart(report)
        cycles = " | ".join(f"{report['functions'][name]['predicted_cycles']:,}" for name in names)
        need = numbers(report["resources"], "ff", "dsp", "bram36")
        rows += f"| `{' '.join(options)}` | {report['resources']['lut']:,} | {luts} | {need} | {total['lut']:,} | {total['dsp']:,} | {cycles} | {seconds:.0f} |\n"
    return rows


def slowest_alone(folder, kind, grid, names):
    """The slowest path in ns of the kernels that each have an IP."""
    options = ["-D", f"T={kind}", "--grid", grid, "--function"]
    built = (sagen("rtl", KERNELS, "--board", BOARD, "--json", "-o", f"{folder}/alone", *options, name) for name in names)
    return max(report["clock"]["slowest"]["ns"] for report in built)


def thirty(folder):
    rows, each = "", ""
    for kind in ("_Float16", "float", "short"):
        for grid in ("1", "8", "8x8"):
            report, seconds, luts = built(folder, KERNELS, "-D", f"T={kind}", "--grid", grid)
            total, bound = apart(report)
            functions = report["functions"]
            alone = sum(f["alone"]["predicted_cycles"] for f in functions.values())
            slower = sum(f["predicted_cycles"] for f in functions.values()) / alone
            need = report["resources"]
            rows += (
                f"| `{kind}` | {grid} | {need['lut']:,} | {luts} | {need['dsp']} | {total['lut']:,} | {total['dsp']} | {bound['lut']:,} | {bound['dsp']} | "
                f"{need['lut'] / bound['lut']:.2f} | {slower:.2f} | {report['clock']['slowest']['ns']:.2f} | {slowest_alone(folder, kind, grid, functions):.2f} | {seconds:.0f} |\n"
            )
            if (kind, grid) == ("_Float16", "1"):
                each = "".join(f"| {n} | {f['predicted_cycles']:,} | {f['alone']['predicted_cycles']:,} |\n" for n, f in functions.items())
    return rows, each


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))


def write(folder):
    for source in ("blas", "corr", "kernels"):
        simulated(f"examples/la/{source}.c")
    table, each = thirty(folder)
    six = (
        ["--grid", "1"],
        ["--limit", "lut=9418,dsp=6", "--weights", "scale=80,gemv=40,trmv=40,ger=80"],
        ["--grid", "4x1"],
        ["--grid", "8x8", "--objective", "cycles"],
    )
    corr = (
        ["--grid", "1"],
        ["--grid", "4", "--limit", "lut=16500,dsp=12", "--weights", "center=10,stddev=2,center_reduce=2,corr=3"],
        ["--grid", "1x1x4"],
        ["--grid", "8"],
    )
    text = TEXT.format(
        board=BOARD,
        runs=RUNS,
        synthesized=SYNTHESIZED,
        names=" | ".join(PAPER),
        lines=" ".join("---: |" for _ in PAPER),
        six=several(folder, "examples/la/blas.c", PAPER, six),
        paper=" | ".join(f"{n:,}" for n in PAPER.values()),
        corr_names=" | ".join(PAPER_CORR),
        corr_lines=" ".join("---: |" for _ in PAPER_CORR),
        corr=several(folder, "examples/la/corr.c", PAPER_CORR, corr),
        paper_corr=" | ".join(f"{n:,}" for n in PAPER_CORR.values()),
        thirty=table,
        each=each,
    )
    names = [f.name for f in folder.iterdir() if f"@{f.name}@" in text]
    with ThreadPoolExecutor(2) as pool:
        for name, luts in zip(names, pool.map(lambda name: synthesized(folder, name), names)):
            text = text.replace(f"@{name}@", f"{luts:,}")
    (ROOT / "docs/results/merged.md").write_text(text)


if __name__ == "__main__":
    main()
