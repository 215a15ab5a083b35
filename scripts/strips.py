#!/usr/bin/env python3
"""The same array with and without strip-mining: `strips.py [SAGEN] [--jobs N]`.

Simulates triangular programs on one array each, without strips and with strips of several sizes, and writes
docs/results/strips.md. Fails if a result or a number of cycles differs.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

def free(loop):
    return [[], *(["--strip", f"{loop}={size}"] for size in (48, 24, 8))]


def handing(loop, *skews):
    return [[], *(["--strip", f"k={size}", "--skew", f"{loop}={skew}"] for size, skew in skews)]


# Description, file, sizes, options of the array, options of strip-mining.
PROGRAMS = [
    ("SYRK (PolyBench, float)", "tests/polybench/syrk.c", "-D N=96 -D M=48", "--space i,j --tile i=8,j=8", free("i")),
    ("SYR2K (PolyBench, float)", "tests/polybench/syr2k.c", "-D N=96 -D M=48", "--space i,j --tile i=8,j=8", free("i")),
    ("TRMM in place (PolyBench, float)", "tests/polybench/trmm.c", "-D M=96 -D N=64", "--space j --tile j=16", free("i")),
    ("symmetric product, int16", "examples/syrk.c", "", "--space i,j --tile i=8,j=8", free("i")),
    ("LU in place, float", "examples/lu.c", "-D N=128", "--space i --order k,j", handing("j", (32, 24), (16, 11), (8, 5))),
    ("LU in place, float", "examples/lu.c", "-D N=128", "--space j --tile j=32 --order j,k,i", handing("i", (32, 24), (16, 11), (8, 5))),
    ("Cholesky (PolyBench, float)", "tests/polybench/cholesky.c", "-D N=240", "--space i --order k,j", handing("j", (60, 40), (30, 20), (15, 10))),
]


def sagen(binary, *arguments):
    done = subprocess.run([binary, *arguments, "--memory", "ideal"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def row(binary, name, file, sizes, array, strips):
    options = [file, *sizes.split(), *array.split(), *strips]
    run = json.loads(sagen(binary, "sim", *options, "--json"))
    if not run["match"] or run["cycles"] != run["predicted_cycles"]:
        sys.exit(f"{' '.join(options)}: {run}")
    with tempfile.TemporaryDirectory() as directory:
        sagen(binary, "rtl", *options, "-o", f"{directory}/ip")
        report = json.loads(Path(directory, "ip", "report.json").read_text())
    resources = report["resources"]
    return f"| {name} | {array.split()[1]} | {' skew '.join(strips[1::2]) or 'whole'} | {run['cycles']:,} | {resources['lut']:,} | {resources['ff']:,} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sagen", nargs="?", default="target/release/sagen")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    work = [(*program, strips) for *program, all_strips in PROGRAMS for strips in all_strips]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(lambda w: row(arguments.sagen, *w), work))
    table = "| program | PEs over | strips | cycles | LUT | FF |\n| --- | --- | --- | ---: | ---: | ---: |\n" + "".join(f"{r}\n" for r in rows)
    head = """# Strips: results

What strips are: [strips.md](../strips.md).

Made by `scripts/strips.py`, on u250. Resources are estimates; all results are equal to C, all cycles as predicted.

"""
    (ROOT / "docs/results/strips.md").write_text(head + table)


if __name__ == "__main__":
    main()
