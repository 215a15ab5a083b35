#!/usr/bin/env python3
"""Estimated resources beside measurements by synthesis: rewrites the table of docs/results/estimates.md.

    cargo build --release && python3 scripts/estimates.py [--sagen target/release/sagen] [--only TEXT]
    python3 scripts/estimates.py --check DIR...

Yosys synthesizes the modules of each design (resources.sh) in one or two minutes, at most --seconds. target/estimates caches
the results under a hash of the Verilog and of the scripts, so a second run is fast. `--only` updates the rows whose name
contains TEXT. `--check` compares designs that `sagen rtl` wrote to DIR, part by part, and fails if an estimate of a whole
design is off by more than ALLOWED.
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(SCRIPTS, "..")
CACHE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "estimates")
DOCUMENT = os.path.join(ROOT, "docs", "results", "estimates.md")
FIELDS = ("lut", "ff", "dsp", "bram36", "uram")
# Allowed deviation: the larger of a share and a count.
ALLOWED = {"lut": (0.15, 300), "ff": (0.15, 300), "dsp": (0.05, 2), "bram36": (0.05, 2), "uram": (0.05, 2)}
PARTS = (("_pe", "pes"), ("_fp", "pes"), ("_bf", "pes"), ("_feed", "feeders"), ("_collect", "collectors"), ("_relay", "relays"), ("_turn", "relays"),
         ("axi_reader", "engines"), ("axi_writer", "engines"), ("on_chip", "engines"), ("_array", "relays"), ("", "control"))
# The search chooses a small array within one of these limits.
LIMIT = ["--limit", "lut=15000,dsp=32"]
LESS = ["--limit", "lut=7000,dsp=16"]
SMALL = ["--space", "i,j", "--tile", "i=4,j=4,k=8", "--latency", "i=2,j=2", "--simd", "k=2"]


def layer(o, i, pixels, kernel, stride, *design):
    """Arguments for a convolution layer of ResNet-50 in full size."""
    sizes = {"O": o, "I": i, "R": pixels, "C": pixels, "P": kernel, "S": stride}
    return ["tests/run/conv_layer.c", *(x for name, value in sizes.items() for x in ("-D", f"{name}={value}")), "--space", "o,c", *design]


# Name, arguments of `sagen rtl`.
DESIGNS = [
    ("mm 8³ by hand", ["examples/mm.c", "-D", "N=8"] + SMALL),
    ("gemm 5×6×4 by hand", ["examples/gemm.c", "-D", "NI=5", "-D", "NJ=6", "-D", "NK=4", "--space", "i,j", "--tile", "i=3,j=2"]),
    ("mm 64³ by hand", ["examples/mm.c", "--space", "i,j", "--tile", "i=16,j=16", "--latency", "i=4,j=4", "--simd", "k=2"]),
    ("gemm_sizes by hand", ["examples/gemm_sizes.c", "--space", "i,j", "--tile", "i=16,j=16", "--latency", "i=4,j=4"]),
    ("jacobi", ["examples/jacobi.c"]),
    ("lu, N = 8, in lut=7000,dsp=16", ["examples/lu.c", "-D", "N=8"] + LESS),
] + [(f"{name} in {limit[1]}", [f"examples/{name}.c"] + limit) for limit, names in
     ((LIMIT, ("cnn", "fir", "mv", "smith_waterman")), (LESS, ("batched_mm", "gemm", "layer", "mm", "mm_int8", "mttkrp", "syrk"))) for name in names
] + [
    ("la, N = 8, each function in lut=5000,dsp=8", ["examples/la.c", "-D", "N=8", "--limit", "lut=5000,dsp=8"]),
    ("network in lut=12000,dsp=8", ["examples/network.c", "--limit", "lut=12000,dsp=8"]),
    ("ResNet-50 conv1", layer(64, 3, 112, 7, 2, "--tile", "o=8,c=4,r=8", "--latency", "o=2", "--simd", "i=3")),
    ("ResNet-50 conv2 first reduce", layer(64, 64, 56, 1, 1, "--tile", "o=16,c=4,r=8", "--latency", "o=4", "--simd", "i=4")),
    ("ResNet-50 conv2 3×3", layer(64, 64, 56, 3, 1, "--tile", "o=4,c=4,r=8", "--simd", "i=4")),
    ("ResNet-50 conv3 shortcut", layer(512, 256, 28, 1, 2, "--tile", "o=16,c=4,r=7", "--latency", "o=4", "--simd", "i=4")),
    ("ResNet-50 conv4 3×3", layer(256, 256, 14, 3, 1, "--tile", "o=8,c=7,r=7,i=64", "--latency", "o=2", "--simd", "i=2")),
] + [(f"PolyBench {name} in {limit[1]}", [f"tests/polybench/{name}.c"] + limit) for limit, names in
     ((LIMIT, ("2mm", "3mm", "bicg", "doitgen", "durbin", "gemver", "gramschmidt", "jacobi-1d", "nussinov", "trisolv")),
      (["--limit", "lut=10000,dsp=16"], ("covariance", "seidel-2d")),
      (LESS, ("atax", "cholesky", "floyd-warshall", "gemm", "gesummv", "lu", "mvt", "symm", "syr2k", "syrk", "trmm"))) for name in names]
# In these designs a guard that depends on the PE's position removes operators or memories from some PEs, or some PEs
# have no neighbours that use them. Their PEs are synthesized within the array.
FLAT = {"lu, N = 8, in lut=7000,dsp=16", "PolyBench 2mm in lut=15000,dsp=32", "PolyBench jacobi-1d in lut=15000,dsp=32", "PolyBench seidel-2d in lut=10000,dsp=16"} | {
    f"PolyBench {name} in lut=7000,dsp=16" for name in ("cholesky", "floyd-warshall", "gemm", "lu", "symm", "syr2k", "syrk", "trmm")}


def run(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
    return done.stdout


def estimated(folder):
    with open(os.path.join(folder, "report.json")) as text:
        return json.load(text)


def synthesized(folder, flat, seconds):
    """The rows of resources.sh for a design's modules; None if synthesis takes longer than `seconds`."""
    top, options = estimated(folder)["kernel"], ["--family", "xc7" if estimated(folder)["part"].startswith("xc7") else "xcup"]
    if flat:
        options += ["--flatten", "*_pe"]
    key = hashlib.sha256(" ".join(options).encode())
    rtl, eda = os.path.join(folder, "rtl"), os.path.join(SCRIPTS, "eda")
    for name in [os.path.join(rtl, f) for f in sorted(os.listdir(rtl))] + [os.path.join(eda, f) for f in ("hybrid.ys.in", "resources.py", "e1_to_e2.v", "mul27x18.v")]:
        with open(name, "rb") as text:
            key.update(text.read())
    cached = os.path.join(CACHE, key.hexdigest()[:24] + ".json")
    if not os.path.exists(cached):
        if seconds == 0:
            return None
        command = [os.path.join(SCRIPTS, "resources.sh"), os.path.abspath(folder), top, *options, "--json"]
        if seconds:
            command = ["timeout", str(seconds), *command]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 124:
            return None
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
        os.makedirs(CACHE, exist_ok=True)
        with open(cached + f".{os.getpid()}", "w") as text:
            text.write(done.stdout)
        os.replace(cached + f".{os.getpid()}", cached)
    with open(cached) as text:
        return json.load(text)["modules"]


def measured(folder, flat=False, seconds=None):
    """Totals of the design and of each part; None if synthesis takes too long."""
    modules = synthesized(folder, flat, seconds)
    if modules is None:
        return None, None
    parts = {}
    for row in modules:
        name = "pes" if flat and row["module"].endswith("_array") else next(part for text, part in PARTS if text in row["module"])
        found = parts.setdefault(name, dict.fromkeys(FIELDS, 0))
        for field in FIELDS:
            found[field] += row["own"][field] * row["instances"]
    return {field: modules[0]["total"][field] for field in FIELDS}, parts


def off(field, estimate, truth):
    share, count = ALLOWED[field]
    return abs(estimate - truth) > max(share * truth, count)


def check(folder):
    """Prints the comparison; returns whether the whole is within ALLOWED."""
    report = estimated(folder)
    total, parts = measured(folder)
    print(f"{folder}: estimated / measured")
    for name, guess in report["resources_by_part"].items():
        truth = parts.get(name, dict.fromkeys(FIELDS, 0))
        print(f"  {name:11}" + "".join(f"  {f} {guess[f]:g} / {truth[f]:g}" for f in FIELDS if guess[f] or truth[f]))
    wrong = [f for f in FIELDS if off(f, report["resources"][f], total[f])]
    print(f"  {'all':11}" + "".join(f"  {f} {report['resources'][f]:g} / {total[f]:g}" for f in FIELDS) + (f"  OFF: {wrong}" if wrong else ""))
    return not wrong


def cell(field, guess, truth):
    if not guess and not truth:
        return "–"
    share = f" ({100 * (guess - truth) / truth:+.0f} %)" if truth else ""
    text = f"{guess:,.0f} / {truth:,g}{share}"
    return f"**{text}**" if off(field, guess, truth) else text


def row(name, arguments, sagen, seconds):
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "ip")
        run([sagen, "rtl", "--board", "u250", *arguments, "--json", "-o", folder])
        guess, (truth, _) = estimated(folder)["resources"], measured(folder, name in FLAT, seconds)
    if truth is None and not seconds:
        return None
    if truth is None:
        return f"| {name} | synthesis takes more than {seconds} s | | | | |"
    cells = [cell(f, guess[f], truth[f]) for f in FIELDS]
    return f"| {name}{' *' if name in FLAT else ''} | " + " | ".join(cells) + " |"


def rewrite(only, sagen, seconds):
    with open(DOCUMENT) as text:
        head, rest = text.read().split("<!-- table -->\n")
        table, tail = rest.split("<!-- end -->")
    lines = table.splitlines()
    rows = {line.split(" | ")[0].removeprefix("| ").removesuffix(" *"): line for line in lines[2:]}
    for name, arguments in DESIGNS:
        if only in name:
            made = row(name, arguments, sagen, seconds)
            if made:
                rows[name] = made
            print(made or f"{name}: not synthesized", flush=True)
        body = "\n".join(lines[:2] + [rows[n] for n, _ in DESIGNS if n in rows])
        with open(DOCUMENT, "w") as text:
            text.write(f"{head}<!-- table -->\n{body}\n<!-- end -->{tail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sagen", default="target/release/sagen")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=int, default=600, help="limit of one synthesis; 0: only rows whose synthesis is cached [600]")
    parser.add_argument("--check", nargs="+", metavar="DIR")
    args = parser.parse_args()
    if args.check:
        return 0 if all([check(folder) for folder in args.check]) else 1
    rewrite(args.only, args.sagen, args.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
