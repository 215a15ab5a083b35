#!/usr/bin/env python3
"""Measures the search: `goals.py [SAGEN] [--only TEXT] [--designs N]`.

Explores products and convolution layers for the U250. Prints for each the cycles of the best array, the cycles of the array
that sagen chose before it had a search, the proved gap, and the speed of the search.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MM = """#include <stdint.h>
void mm(T A[N][N], T B[N][N], R C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { C[i][j] = 0;
    for (int k = 0; k < N; k++) C[i][j] += A[i][k] * B[k][j]; }
#pragma endscop
}
"""
CONV = """#include <stdint.h>
void conv(int8_t X[I][S + Q - 1][S + Q - 1], int8_t W[O][I][Q][Q], int32_t Y[O][S][S]) {
#pragma scop
  for (int o = 0; o < O; o++) for (int r = 0; r < S; r++) for (int c = 0; c < S; c++) { Y[o][r][c] = 0;
    for (int i = 0; i < I; i++) for (int p = 0; p < Q; p++) for (int q = 0; q < Q; q++)
      Y[o][r][c] += X[i][r + p][c + q] * W[o][i][p][q]; }
#pragma endscop
}
"""
POINTWISE = """#include <stdint.h>
void conv(int8_t X[I][S * S], int8_t W[O][I], int32_t Y[O][S * S]) {
#pragma scop
  for (int o = 0; o < O; o++) for (int r = 0; r < S * S; r++) { Y[o][r] = 0;
    for (int i = 0; i < I; i++) Y[o][r] += X[i][r] * W[o][i]; }
#pragma endscop
}
"""


def conv(o, i, s, q=3):
    return {"O": o, "I": i, "S": s, "Q": q}


# name, source, macros, options, cycles without search, cycles of a trial search
CASES = [
    ("MM 1024 int8", MM, {"N": 1024, "T": "int8_t", "R": "int32_t"}, [], 135694, 113950),
    ("MM 1024 int16", MM, {"N": 1024, "T": "int16_t", "R": "int32_t"}, [], 270142, 122158),
    ("MM 1024 fp32 fused", MM, {"N": 1024, "T": "float", "R": "float"}, ["--reassociate", "--dot", "fused"], 271368, 243604),
    ("MM 1024 fp32 in C's order", MM, {"N": 1024, "T": "float", "R": "float"}, [], 1913461, 797734),
    ("MM 1024 fp32, 8600 DSP", MM, {"N": 1024, "T": "float", "R": "float"}, ["--reassociate", "--dot", "fused", "--limit", "dsp=8600"], None, 262666),
    ("conv 128-128 28 3x3", CONV, conv(128, 128, 28), [], 34871, 14797),
    ("conv 512-512 14 3x3", CONV, conv(512, 512, 14), [], 521221, 56836),
    ("conv 1024-256 14 1x1", POINTWISE, conv(256, 1024, 14), [], 529122, 9487),
]
VGG = [(64, 3, 224, 1), (64, 64, 224, 1), (128, 64, 112, 1), (128, 128, 112, 1), (256, 128, 56, 1), (256, 256, 56, 2), (512, 256, 28, 1), (512, 512, 28, 2), (512, 512, 14, 3)]


def explore(sagen, source, macros, options, designs, gap):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.c"
        file.write_text(source)
        line = [sagen, "explore", str(file), "--board", "u250", "--memory", "ideal", "--json", "--gap", gap, "--designs", str(designs)]
        line += [f"-D{k}={v}" for k, v in macros.items()] + options
        done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sagen", nargs="?", default="target/release/sagen")
    parser.add_argument("--only", default="")
    parser.add_argument("--designs", type=int, default=20000)
    parser.add_argument("--vgg", action="store_true", help="also the layers of VGG-16, each with its own array")
    args = parser.parse_args()
    print(f"{'case':<28}{'before':>10}{'trial':>10}{'best':>10}{'before/best':>12}{'gap %':>8}{'s':>8}{'designs':>9}{'designs/s':>10}{'bounds/s':>12}")
    for name, source, macros, options, before, trial in CASES:
        if args.only not in name:
            continue
        r = explore(args.sagen, source, macros, options, args.designs, "0.5%" if "conv" in name else "0%")
        cycles, seconds = r["best"]["cycles"], max(r["seconds"], 1e-9)
        ratio = f"{before / cycles:.2f}" if before else "-"
        print(f"{name:<28}{before or '-':>10}{trial:>10}{cycles:>10}{ratio:>12}{100 * r['gap']:>8.2f}{seconds:>8.2f}{r['exact_designs']:>9}{r['exact_designs'] / seconds:>10.0f}{r['bounds'] / seconds:>12.0f}", flush=True)
    if args.vgg:
        total = 0
        for o, i, s, times in VGG:
            r = explore(args.sagen, CONV, conv(o, i, s), [], args.designs, "0.5%")
            total += times * r["best"]["cycles"]
            print(f"VGG {o}-{i} {s}: {r['best']['cycles']} cycles, gap {100 * r['gap']:.2f} %, {r['seconds']:.1f} s", flush=True)
        print(f"VGG-16, each layer its own array: {total} cycles (before 4323994, trial 1880226)")


if __name__ == "__main__":
    main()
