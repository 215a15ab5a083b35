#!/usr/bin/env python3
"""Programs that run in phases: `phases.py [SAGEN] [--jobs N]`.

Simulates examples/network.c and programs of tests/run with the automatic choice of the array, and writes
docs/results/phases.md. Fails if a result or a number of cycles differs.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Description, file.
PROGRAMS = [
    ("two convolutions, ReLU and requantization, pooling, fully connected layer, int8", "examples/network.c"),
    ("depthwise and pointwise convolution", "tests/run/depthwise_pointwise.c"),
    ("separable filter", "tests/run/separable.c"),
    ("softmax", "tests/run/phases_softmax.c"),
    ("layer normalization", "tests/run/phases_layer_norm.c"),
    ("batch normalization", "tests/run/phases_batch_norm.c"),
    ("attention", "tests/run/attention.c"),
    ("k-means", "tests/run/phases_k_means.c"),
    ("Viterbi", "tests/run/phases_viterbi.c"),
    ("forward algorithm", "tests/run/phases_forward.c"),
    ("forward-backward algorithm", "tests/run/phases_forward_backward.c"),
    ("alternating directions (ADI)", "tests/run/phases_adi.c"),
    ("sweeps in both directions", "tests/run/phases_both_ways.c"),
    ("recursive edge filter (Deriche)", "tests/run/phases_deriche.c"),
    ("CIC decimator", "tests/run/phases_cic_decimator.c"),
    ("half-band filters", "tests/run/phases_half_band.c"),
    ("polynomial product in scatter form", "tests/run/scatter.c"),
    ("transposed convolution", "tests/run/scatter_channels.c"),
    ("correlation", "tests/run/correlation.c"),
    ("Gauss-Jordan", "tests/run/phases_gauss_jordan.c"),
    ("LU, forward and back substitution", "tests/run/phases_ludcmp.c"),
    ("Cholesky, forward and back substitution", "tests/run/phases_cholesky_solve.c"),
    ("least squares by Gram-Schmidt", "tests/run/phases_qr_solve.c"),
    ("least squares by Householder", "tests/run/phases_householder.c"),
    ("Thomas", "tests/run/phases_thomas.c"),
    ("block-tridiagonal system", "tests/run/phases_block_tridiagonal.c"),
    ("Levinson-Durbin", "tests/run/phases_durbin.c"),
    ("conjugate gradient", "tests/run/phases_conjugate_gradient.c"),
    ("power iteration", "tests/run/phases_power_iteration.c"),
    ("matrix-chain product", "tests/run/phases_matrix_chain.c"),
    ("optimal parenthesization", "tests/run/phases_parenthesization.c"),
]


def sagen(binary, *arguments):
    done = subprocess.run([binary, *arguments, "--memory", "ideal", "--objective", "cycles", "--json"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def row(binary, title, file):
    """The table's row of one program, and the board."""
    with tempfile.TemporaryDirectory() as folder:
        report = sagen(binary, "rtl", file, "-o", f"{folder}/ip")
    run = sagen(binary, "sim", file)
    if not run["match"] or run["cycles"] != report["predicted_cycles"]:
        sys.exit(f"{file}: {run['result']}, {run['cycles']} cycles, {report['predicted_cycles']} predicted")
    scratch = sum(argument.get("scratch_bytes", 0) for argument in report["interface"]["arguments"])
    pes = "×".join(map(str, report["array"])) + (f", {report['simd']} lanes" if report["simd"] > 1 else "")
    on_chip = sum(array["bytes"] for array in report["on_chip"])
    numbers = [report["macs"], run["cycles"], on_chip, scratch, report["resources"]["lut"], report["resources"]["dsp"]]
    cells = [f"[{title}](../../{file})", f"{report['phases']}", pes, *(f"{n:,}" for n in numbers)]
    return "| " + " | ".join(cells) + " |\n", report["board"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sagen", nargs="?", default=str(ROOT / "target/release/sagen"))
    arguments.add_argument("--jobs", type=int, default=2)
    given = arguments.parse_args()
    with ThreadPoolExecutor(given.jobs) as pool:
        rows = list(pool.map(lambda program: row(given.sagen, *program), PROGRAMS))
    text = f"""# Programs in phases: results

What phases are: [phases.md](../phases.md).

Made by `scripts/phases.py`, on {rows[0][1]}. Resources are estimates; all results are equal to C, all cycles as predicted.

| program | phases | PEs | operations | cycles | bytes on chip | in DRAM | LUT | DSP |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |
{"".join(r[0] for r in rows)}
*Operations* are executions of the deepest statements of each outermost loop. *One phase*: the program is a single array.
PolyBench's programs are in [polybench.md](polybench.md).
"""
    (ROOT / "docs/results/phases.md").write_text(text)


main()
