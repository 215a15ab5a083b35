#!/usr/bin/env python3
"""Builds and simulates every optimum of docs/explore.md: `optima.py [SAGEN] [--only TEXT] [--engine NAME]`.

Explores the problems of goals.py, VGG-16 with one array for each layer, and VGG-16 and ResNet-50 with one array for all
layers. Emits each optimum, simulates it in full size, and writes docs/results/optima.md. Fails if a result or a number of cycles
differs. `--only` selects problems by name. With `--only` or another engine, the script prints the tables.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import goals

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = {"VGG-16": "vgg16", "ResNet-50": "resnet50"}


def sagen(binary, *arguments):
    words = [binary, *map(str, arguments), "--board", "u250", "--json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"optima.py: {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def options(design):
    """A design file's text as options."""
    words = []
    for name, value in tomllib.loads(design).items():
        if isinstance(value, dict):
            value = ",".join(f"{k}={v}" for k, v in value.items())
        elif isinstance(value, list):
            value = ",".join(value)
        words.append(f"--{name}" if value is True else f"--{name} {value}")
    return f"`{' '.join(words)}`"


def check(args, name, source, macros, found, gap=None, times=1):
    """The row of an optimum. `source` is the C text; `found` holds the design and its cycles from the search."""
    defines = [f"-D{k}={v}" for k, v in macros.items()]
    with tempfile.TemporaryDirectory() as work:
        kernel, design, ip = (Path(work) / file for file in ("kernel.c", "design.toml", "ip"))
        kernel.write_text(source)
        design.write_text(found["design"])
        built = sagen(args.sagen, "rtl", kernel, *defines, "--design", design, "-o", ip)
        verilog = sum(file.stat().st_size for file in (ip / "rtl").glob("*.v"))
        run = sagen(args.sagen, "sim", kernel, *defines, "--design", design, "--memory", "ideal", "--engine", args.engine)
    cycles = found["cycles"], built["predicted_cycles"], run["cycles"]
    if not run["match"] or len(set(cycles)) > 1:
        sys.exit(f"optima.py: {name}: {run['result']}, {cycles} cycles of the search, predicted, simulated\n{found['design']}")
    print(f"{name}: {run['cycles']:,} cycles, {run['result']}, {run['seconds']:.0f} s", file=sys.stderr, flush=True)
    pes = "×".join(map(str, run["array"])) + (f", {run['simd']} lanes" if run["simd"] > 1 else "")
    to = "C" if run["golden"] == "cc" else "C's operations in the array's order"
    cells = [name, times, pes, f"{built['resources']['dsp']:,}", f"{run['cycles']:,}", "" if gap is None else f"{100 * gap:.2f}",
             f"equal to {to}", f"{verilog / 1000:,.0f}", options(found["design"])]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def own_arrays(args, problems):
    """Rows of problems that have an array each: name, C's text, macros, options of the search, gap to reach, times."""
    for name, source, macros, given, gap, times in problems:
        if args.only in name:
            result = goals.explore(args.sagen, source, macros, given, 20000, gap)
            yield name, source, macros, result["best"], result["gap"], times


def one_array(args, network):
    """The section of a network whose layers share an array; `--only` takes all of them."""
    if args.only not in network:
        return ""
    file, source = ROOT / f"examples/{NETWORKS[network]}.toml", ROOT / "examples/layer.c"
    result = sagen(args.sagen, "explore", source, "--network", file, "--memory", "ideal", "--gap", "1%")
    array = f"{'×'.join(map(str, result['array']))} PEs over {', '.join(result['axes'])} with {result['simd']['lanes']} lanes over {result['simd']['loop']}"
    optima = [(found["name"], source.read_text(), layer["define"], found, None, found["times"])
              for layer, found in zip(tomllib.loads(file.read_text())["layer"], result["layers"])]
    return f"""
## {network} on one array

{array}: {result['cycles']:,} cycles for all layers, gap {100 * result['gap']:.2f} %.

{table(args, optima)}"""


def table(args, optima):
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda optimum: check(args, *optimum), optima))
    return f"""| problem | times | PEs | DSP | cycles | gap % | result | kB Verilog | design |
| --- | ---: | --- | ---: | ---: | ---: | --- | ---: | --- |
{"".join(rows)}"""


TEXT = """# The optima, built and simulated

Made by `scripts/explore/optima.py` (do not edit). The fastest arrays that `sagen explore` finds on the U250
([explore.md](../explore.md)). Each was written as Verilog (`sagen rtl`) and simulated in full size against the C program
(`sagen sim`, built-in engine, ideal memory). In every row the cycles of the search, of the prediction and of the simulation are
the same, and all results are equal.

- *times*: how often the layer occurs in its network.
- *gap*: no array takes fewer cycles than these less this share; the search proves it.
- *result*: integers and floats in C's order equal the compiled C program, bit for bit. Reassociated floats equal the
  interpreter, which computes in the array's order.
- *design*: the options that build it again. Programs are in `scripts/explore/goals.py`; those of networks on one array in
  [examples/layer.c](../../examples/layer.c).

## Products and convolutions

{goals}
## VGG-16, each layer with its own array

{own}
{total}
{shared}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sagen", nargs="?", default=str(ROOT / "target/release/sagen"))
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--engine", default="builtin")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    cases = [(name, source, macros, given, "0.5%" if "conv" in name else "0%", 1) for name, source, macros, given, *_ in goals.CASES]
    vgg = [(f"VGG-16 {o}-{i} {s}", goals.CONV, goals.conv(o, i, s), [], "0.5%", times) for o, i, s, times in goals.VGG]
    own = list(own_arrays(args, vgg))
    made = {"goals": table(args, list(own_arrays(args, cases))), "own": table(args, own)}
    made["total"] = f"All layers, as often as they occur: {sum(times * found['cycles'] for *_, found, _, times in own):,} cycles."
    made["shared"] = "".join(one_array(args, network) for network in NETWORKS)
    if args.only or args.engine != "builtin":
        print("\n".join(made[part] for part in ("goals", "own", "shared")))
    else:
        (ROOT / "docs/results/optima.md").write_text(TEXT.format(**made))


if __name__ == "__main__":
    main()
