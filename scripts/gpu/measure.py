"""Checks and times the kernels of `sagen gpu` on this machine's GPU; see scripts/gpu.sh.

Every row is a C file with options. It is written twice: at a small size, where the device's result is compared with the
text on the CPU bit by bit (test.py), and at a large one, which is timed.
"""

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Name, C file, options, small size, large size, what a second is counted in, and how much of it one call does.
ROWS = [
    ("taps 2", "tests/gpu/taps.c", "--space c --time q -D Q=2", "-D N=1003", "-D N=67108864", "B", 8 << 26),
    ("taps 5", "tests/gpu/taps.c", "--space c --time q -D Q=5", "-D N=1003", "-D N=67108864", "B", 8 << 26),
    ("taps 5, SBM", "tests/gpu/taps.c", "--space c+q --time q -D Q=5", "-D N=1003", "-D N=67108864", "B", 8 << 26),
    ("taps 16", "tests/gpu/taps.c", "--space c --time q -D Q=16", "-D N=1003", "-D N=67108864", "B", 8 << 26),
    ("taps 31", "tests/gpu/taps.c", "--space c --time q -D Q=31 --tile c=256", "-D N=1003", "-D N=67108864", "B", 8 << 26),
    ("taps 31, by search", "tests/gpu/taps.c", "-D Q=31", "-D N=1003", "-D N=67108864", "B", 8 << 26),
] + [
    (
        f"window {k}x{k}",
        "tests/gpu/window.c",
        f"--space c,p --time r+p,q -D P={k} -D Q={k} --fp-contract",
        "-D H=41 -D W=300",
        f"-D H={8193 - k} -D W={8193 - k}",
        "B",
        8 * 8192 * 8192,
    )
    for k in (3, 5, 7, 11)
] + [
    ("heat, 8 sweeps", "examples/gpu/heat.c", "--space j,t --time i+t", "-D N=70 -D M=300", "-D N=16384 -D M=16384", "updates", 8 << 28),
    ("cube, 1 sweep", "tests/gpu/cube.c", "--function once --space k --time i,j --tile j=4", "", "-D NX=768 -D NY=768 -D NZ=768", "updates", 768**3),
    ("edit distance", "examples/gpu/edit.c", "--space j --time k,i", "-D PAIRS=9 -D N=60 -D M=96", "-D PAIRS=32768 -D N=512 -D M=512", "cells", 32768 * 512 * 512),
    ("dot product", "tests/gpu/folds.c", "--function dot --space i", "-D LENGTH=3001", "-D LENGTH=1048576", "B", 4 << 20),
    ("three phases", "tests/gpu/phases.c", "--function centred", "", "-D M=4096 -D N=1000", "B", 16 * 4096 * 1000),
    ("product", "tests/gpu/product.c", "--space j,i --time k --fp-contract", "-D M=40 -D N=128", "-D M=8192 -D N=8192 -D K=8192", "flop", 2 * 8192**3),
    ("depthwise 4 taps", "examples/gpu/depthwise.c", "", "-D B=2 -D C=5 -D L=333", "-D B=8 -D C=1536 -D L=2048", "B", 8 * 8 * 1536 * 2048),
]


def write(sagen, row, size, folder):
    command = [sagen, "gpu", row[1], *row[2].split(), *size.split(), "--no-check", "-o", folder]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def load(folder):
    spec = importlib.util.spec_from_file_location("kernel_" + os.path.basename(folder), os.path.join(folder, "kernel.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds(call):
    """Median of a call's times, by events."""
    import cupy

    for _ in range(3):
        call()
    times = []
    for _ in range(15):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1000)
    return statistics.median(times)


def values(module):
    import cupy
    import numpy

    random = numpy.random.default_rng(1)
    all = []
    for name, dtype, shape, how, stored in module.PARAMETERS:
        kind = numpy.dtype(dtype)
        if how == "pointer":
            array = cupy.random.random(shape, dtype="float32") * 100
            all.append(array.astype(kind))
        else:
            all.append(random.standard_normal(shape).astype(kind))
    return all


def compile_all(sagen, script):
    with tempfile.TemporaryDirectory() as home:
        folders = []
        for row in ROWS:
            folder = os.path.join(home, row[0].replace(" ", "_").replace(",", ""))
            write(sagen, row, row[4], folder)
            folders.append(folder)
        script = os.path.join(ROOT, "scripts", "gpu", script)
        return subprocess.run([sys.executable, script, *folders]).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sagen", required=True)
    parser.add_argument("--out", default=os.path.join(ROOT, "docs", "results", "gpu.md"))
    parser.add_argument("what", nargs="?", choices=["compile", "hip"])
    arguments = parser.parse_args()
    sagen = os.path.abspath(arguments.sagen)
    if arguments.what:
        sys.exit(compile_all(sagen, {"compile": "nvrtc.py", "hip": "hip.py"}[arguments.what]))
    import cupy

    begin, wrong = time.time(), 0
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    one = cupy.zeros(1 << 26, dtype="float32")
    two = cupy.zeros_like(one)
    copied = 8 * (1 << 26) / seconds(lambda: cupy.copyto(two, one))
    del one, two
    lines = [
        "# Kernels for GPUs",
        "",
        f"{device}; a copy moves {copied / 1e12:.2f} TB/s. Written by `scripts/gpu.sh`; medians of 15 calls.",
        "",
        "| kernel | map | bit-equal | µs | rate | % of copy |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as home:
        for number, row in enumerate(ROWS):
            small, large = os.path.join(home, f"s{number}"), os.path.join(home, f"l{number}")
            write(sagen, row, row[3], small)
            test = subprocess.run([sys.executable, os.path.join(small, "test.py")], capture_output=True, text=True)
            equal = test.returncode == 0
            wrong += not equal
            if not equal:
                print(row[0], test.stdout[-500:], test.stderr[-1000:], file=sys.stderr)
            write(sagen, row, row[4], large)
            module = load(large)
            tensors = values(module)
            took = seconds(lambda: module.run(*tensors))
            rate = row[6] / took
            share = f"{100 * rate / copied:.0f}" if row[5] == "B" else "–"
            lines.append(
                f"| {row[0]} | `{row[2]}` | {'yes' if equal else '**no**'} | {took * 1e6:.1f} | {rate / 1e9:,.0f} G{row[5]}/s | {share} |"
            )
            print(lines[-1], flush=True)
            del tensors
            cupy.get_default_memory_pool().free_all_blocks()
    lines += ["", *peers()]
    with open(arguments.out, "w") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{time.time() - begin:.0f} s; written to {arguments.out}")
    sys.exit(1 if wrong else 0)


def peers():
    """PyTorch's times for the same work, if it is installed."""
    try:
        import torch
        import torch.nn.functional as functional
    except ImportError:
        return ["PyTorch is not installed."]
    lines = ["| PyTorch | µs |", "| --- | --- |"]
    for k in (3, 5, 7, 11):
        x, w = torch.randn(1, 1, 8192, 8192, device="cuda"), torch.randn(1, 1, k, k, device="cuda")
        lines.append(f"| conv2d {k}x{k}, 8192² | {seconds(lambda: functional.conv2d(x, w)) * 1e6:.1f} |")
    for q in (2, 5, 16, 31):
        x, w = torch.randn(1, 1, 1 << 26, device="cuda"), torch.randn(1, 1, q, device="cuda")
        lines.append(f"| conv1d, {q} taps, 2^26 | {seconds(lambda: functional.conv1d(x, w)) * 1e6:.1f} |")
    x, w = torch.randn(8, 1536, 2051, device="cuda"), torch.randn(1536, 1, 4, device="cuda")
    lines.append(f"| depthwise conv1d, 4 taps | {seconds(lambda: functional.conv1d(x, w, groups=1536)) * 1e6:.1f} |")
    return lines


if __name__ == "__main__":
    main()
