#!/usr/bin/env python3
"""The cost of sizes at run time: `sizes.py [SAGEN]`.

Writes docs/results/sizes.md: resources of the product in examples/gemm_sizes.c with sizes at run time and with
constant sizes, and its cycles at several sizes beside those of the same array compiled for each size. The same for an
elimination, whose values wait in PEs, and the cycles of the layers of two networks. Simulates some sizes; fails if a result
or a number of cycles differs.
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

ELIMINATION = ROOT / "examples/lu.c"
ELIMINATION_DESIGN = ["--space", "i"]
ORDERS = [128, 100, 64, 48, 32, 17, 8, 2]
ORDERS_SIMULATED = [100, 64, 17, 2]

# Convolutions: occurrences, function, output and input channels, rows of the result, rows of the kernel.
RESNET = ROOT / "examples/networks/resnet.c"
RESNET_50 = [
    (1, "conv", 64, 64, 56, 1), (3, "conv", 64, 64, 56, 3), (4, "conv", 256, 64, 56, 1), (2, "conv", 64, 256, 56, 1),
    (1, "conv", 128, 256, 56, 1), (4, "conv", 512, 128, 28, 1), (3, "conv", 128, 512, 28, 1), (3, "conv", 128, 128, 28, 3),
    (1, "conv", 256, 512, 28, 1), (6, "conv", 1024, 256, 14, 1), (5, "conv", 256, 1024, 14, 1), (5, "conv", 256, 256, 14, 3),
    (1, "conv", 512, 1024, 14, 1), (3, "conv", 2048, 512, 7, 1), (2, "conv", 512, 2048, 7, 1), (2, "conv", 512, 512, 7, 3),
    (1, "conv_by_2", 128, 128, 28, 3), (1, "conv_by_2", 256, 256, 14, 3), (1, "conv_by_2", 512, 512, 7, 3),
    (1, "conv_by_2", 512, 256, 28, 1), (1, "conv_by_2", 1024, 512, 14, 1), (1, "conv_by_2", 2048, 1024, 7, 1),
]
VGG_16 = [
    (1, "conv", 64, 3, 224, 3), (1, "conv", 64, 64, 224, 3), (1, "conv", 128, 64, 112, 3), (1, "conv", 128, 128, 112, 3),
    (1, "conv", 256, 128, 56, 3), (2, "conv", 256, 256, 56, 3), (1, "conv", 512, 256, 28, 3), (2, "conv", 512, 512, 28, 3),
    (3, "conv", 512, 512, 14, 3),
]
NETWORKS = [("ResNet-50", RESNET_50, []), ("VGG-16", VGG_16, ["-DCHANNELS=512", "-DSIDE=224"])]


def sagen(*arguments):
    binary = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/sagen")
    done = subprocess.run([binary, *map(str, arguments), "--memory", "ideal"], cwd=ROOT, capture_output=True, text=True)
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


def elimination(folder):
    """The table of an elimination at several orders, in one IP and compiled for each order."""
    file = Path(folder) / "lu_sizes.c"
    text = ELIMINATION.read_text().replace("lu(float", "lu(int N, float")
    file.write_text(re.sub(r"#ifndef N(.|\n)*?#endif\n", f"#pragma sagen max(N={ORDERS[0]})", text))
    sized = sagen("rtl", file, *ELIMINATION_DESIGN, "--json", "-o", f"{folder}/lu_sizes")
    runs = sagen("sim", file, *ELIMINATION_DESIGN, *(word for n in ORDERS_SIMULATED for word in ("--size", f"N={n}")), "--json")["functions"]
    rows = ""
    for n in ORDERS:
        own = sagen("predict", f"{folder}/lu_sizes", "--json", f"N={n}")["cycles"]
        alone = sagen("rtl", ELIMINATION, f"-DN={n}", *ELIMINATION_DESIGN, "--json", "-o", f"{folder}/lu")["predicted_cycles"]
        rows += f"| {n} | {own:,} | {alone:,} | {100 * own / alone - 100:+.1f} % |\n"
        run = runs.get(f"lu({n})")
        if n in ORDERS_SIMULATED and not (run and run["match"] and run["cycles"] == own):
            sys.exit(f"order {n}: {run}, {own} cycles predicted")
    return f"""
Values wait in a PE until the next step of an elimination, for a time that follows from its order: [examples/lu.c](../../examples/lu.c)
on {' × '.join(map(str, sized['array']))} PEs, and on as many PEs as the order, compiled for it alone.

| order | at run time | constant | |
| ---: | ---: | ---: | ---: |
{rows}"""


def network(folder, name, layers, macros):
    """The table of a network's layers, on one IP and compiled for each layer with the same array."""
    design = ["--design", ROOT / "examples/networks/resnet.toml"]
    sized = {}
    for function in sorted({layer[1] for layer in layers}):
        sized[function] = f"{folder}/{name}-{function}"
        sagen("rtl", RESNET, *macros, *design, "--function", function, "--json", "-o", sized[function])
    text = re.sub(r"#pragma sagen max.*\n", "", RESNET.read_text()).replace("int co, int ci, int h, int w, int r, ", "")
    file = Path(folder) / "layers.c"
    file.write_text(text)
    rows, total, alone_total = "", 0, 0
    for count, function, co, ci, side, r in layers:
        sizes = {"co": co, "ci": ci, "h": side, "w": side, "r": r}
        own = sagen("predict", sized[function], "--json", *(f"{n}={v}" for n, v in sizes.items()))["cycles"]
        defines = [f"-D{n}={v}" for n, v in sizes.items()]
        alone = sagen("rtl", file, *macros, *defines, *design, "--function", function, "--json", "-o", f"{folder}/alone")["predicted_cycles"]
        rows += f"| {count} | `{function}` | {ci} → {co} | {side} × {side} | {r} × {r} | {own:,} | {alone:,} | {100 * own / alone - 100:+.1f} % |\n"
        total, alone_total = total + count * own, alone_total + count * alone
    rows += f"| {sum(layer[0] for layer in layers)} | | | | | **{total:,}** | **{alone_total:,}** | {100 * total / alone_total - 100:+.1f} % |\n"
    head = "| layers | function | channels | result | kernel | at run time | constant | |\n| ---: | --- | --- | --- | --- | ---: | ---: | ---: |\n"
    return f"\n{name}:\n\n{head}{rows}"


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
        eliminated = elimination(folder)
        networks = "".join(network(folder, *of) for of in NETWORKS)
    text = f"""# Sizes at run time: what they cost

What sizes at run time are: [sizes.md](../sizes.md).

Made by `scripts/sizes.py`: [examples/gemm_sizes.c](../../examples/gemm_sizes.c) on {sized['board']}, {' '.join(DESIGN)}. Resources are estimates.

| sizes | LUT | FF | DSP | BRAM36 |
| --- | ---: | ---: | ---: | ---: |
| constant, {' × '.join(map(str, GREATEST))} | {resources(fixed)} |
| at run time, up to these | {resources(sized)} |

Cycles with ideal memory of the one IP, and of the same array compiled for these sizes alone:

| m × n × k | at run time | constant | |
| --- | ---: | ---: | ---: |
{rows}{eliminated}
## Networks

All convolutions of a network on one IP, [examples/networks/resnet.c](../../examples/networks/resnet.c) with the arrays of
[resnet.toml](../../examples/networks/resnet.toml): 64 × 8 PEs of 8 lanes, 64 × 2 PEs for stride 2. Predicted cycles with ideal
memory, and those of the same array (PEs, lanes, tiles) compiled for the layer alone. (ResNet-50's first layer is a function of
constants.)
{networks}"""
    (ROOT / "docs/results/sizes.md").write_text(text)


main()
