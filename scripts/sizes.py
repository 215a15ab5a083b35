#!/usr/bin/env python3
"""What sizes at run time cost: `sizes.py [SAGEN]`.

Writes the tables of docs/sizes.md: resources of the product in examples/gemm_sizes.c with sizes at run time and with
constant ones, and its cycles at several sizes against those of the same array compiled for each of them alone. Some are
also simulated against the C program; fails where a result or the number of cycles differs.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "examples/gemm_sizes.c"
DESIGN = "--space i,j --tile i=16,j=16 --latency i=4,j=4".split()
NAMES = ("m", "n", "k")
GREATEST = (256, 256, 256)
SIZES = [GREATEST, (256, 256, 16), (128, 128, 128), (64, 64, 64), (100, 100, 100), (17, 1, 100), (31, 37, 41), (1, 1, 1)]
SIMULATED = [(64, 64, 64), (31, 37, 41), (17, 1, 100), (1, 1, 1)]
BEGIN, END = "<!-- scripts/sizes.py -->\n", "<!-- end -->\n"


def sagen(*arguments):
    binary = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/sagen")
    done = subprocess.run([binary, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def constant(folder, sizes):
    """The report of the same product at constant sizes."""
    text = re.sub(r"#pragma sagen max.*\n", "", SOURCE.read_text())
    text = text.replace("".join(f"int {name}, " for name in NAMES), "")
    file = Path(folder) / "constant.c"
    file.write_text(text)
    defines = [f"-D{name}={size}" for name, size in zip(NAMES, sizes)]
    return sagen("rtl", file, *defines, *DESIGN, "--json", "-o", f"{folder}/constant")


def resources(report):
    return " | ".join(f"{report['resources'][k]:,}" for k in ("lut", "ff", "dsp", "bram36"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        sized = sagen("rtl", SOURCE, *DESIGN, "--json", "-o", f"{folder}/sized")
        at = lambda sizes: sagen("predict", f"{folder}/sized", "--json", *(f"{n}={s}" for n, s in zip(NAMES, sizes)))["cycles"]
        rows = ""
        for sizes in SIZES:
            own, alone = at(sizes), constant(folder, sizes)["predicted_cycles"]
            rows += f"| {' × '.join(map(str, sizes))} | {own:,} | {alone:,} | {100 * own / alone - 100:+.1f} % |\n"
        fixed = constant(folder, GREATEST)
        given = [word for sizes in SIMULATED for word in ("--size", ",".join(f"{n}={s}" for n, s in zip(NAMES, sizes)))]
        runs = sagen("sim", SOURCE, *DESIGN, *given, "--json")["functions"]
        for sizes in SIMULATED:
            run = runs[f"gemm{sizes}"]
            if not run["match"] or run["cycles"] != at(sizes):
                sys.exit(f"{sizes}: {run['result']}, {run['cycles']} cycles, {at(sizes)} predicted")
    made = f"""Made by `scripts/sizes.py`: [examples/gemm_sizes.c](../examples/gemm_sizes.c) on {sized['board']}, {' '.join(DESIGN)}. Resources are estimates.

| sizes | LUT | FF | DSP | BRAM36 |
| --- | ---: | ---: | ---: | ---: |
| constant, {' × '.join(map(str, GREATEST))} | {resources(fixed)} |
| at run time, up to these | {resources(sized)} |

Cycles with ideal memory of the one IP, and of the same array compiled for these sizes alone:

| m × n × k | at run time | constant | |
| --- | ---: | ---: | ---: |
{rows}"""
    page = ROOT / "docs/sizes.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + made + END + rest.split(END)[1])


main()
