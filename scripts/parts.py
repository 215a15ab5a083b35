#!/usr/bin/env python3
"""LUTs of whole IPs by part, before and after: rewrites the table of docs/results/resources.md between `<!-- table parts -->` and
`<!-- end -->`.

    cargo build --release && python3 scripts/parts.py [--sagen target/release/sagen] [--before OTHER] [--only TEXT]

Figures are sagen's estimates for the U250, which scripts/estimates.py compares with synthesis. The products are those of
scripts/pe_table.py. `--before` is another build of sagen, for the columns "before"; without it, those columns stay.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

from pe_table import FUSED, KERNEL

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DOCUMENT = os.path.join(ROOT, "docs", "results", "resources.md")
PARTS = [("PEs", ["pes"]), ("feeders", ["feeders"]), ("collectors, relays", ["collectors", "relays"]),
         ("engines, control", ["engines", "control"])]
HEAD = ["| IP | " + " | ".join(name for name, _ in PARTS) + " | LUT | FF | LUT before | FF before | LUT per lane | before |",
        "| --- |" + " ---: |" * (len(PARTS) + 6)]


def product(element, total, tile, latency, lanes, *more):
    """A product of 1040 × 1024 × 1024."""
    shape = ["--space", "i,j", "--tile", tile, "--latency", latency, "--simd", f"k={lanes}"]
    return KERNEL.format(element=element, sum=total), shape + list(more)


def transposed(design):
    """The same with B[j][k]."""
    text, arguments = design
    return text.replace("B[k][j]", "B[j][k]"), arguments


def chosen(element, total):
    """The product with sagen's own choice."""
    return KERNEL.format(element=element, sum=total), []


def layer(o, i, pixels, kernel, *design):
    """A convolution layer of stride 1."""
    sizes = {"O": o, "I": i, "R": pixels, "C": pixels, "P": kernel, "S": 1}
    return None, ["tests/run/conv_layer.c", *(x for name, value in sizes.items() for x in ("-D", f"{name}={value}")), *design]


# Name, text of the program if it is none of the repository's, arguments of `sagen rtl`.
DESIGNS = {
    "int16, 13×16 PEs, 8 lanes": product("int16_t", "int32_t", "i=260,j=256,k=64", "i=20,j=16", 8),
    "int8, 19×32 PEs, 16 lanes": product("int8_t", "int32_t", "i=266,j=256,k=64", "i=14,j=8", 16),
    "int16, 16×16 PEs, 32 lanes": product("int16_t", "int32_t", "i=256,j=256,k=64", "i=16,j=16", 32),
    "int8, 24×8 PEs, 64 lanes, B transposed": transposed(product("int8_t", "int32_t", "i=384,j=128,k=64", "i=16,j=16", 64)),
    "fp32 fused, 13×16 PEs, 8 lanes": product("float", "float", "i=260,j=256,k=64", "i=20,j=16", 8, *FUSED),
    "mm.c, 4×4 PEs, 2 lanes": (None, ["examples/mm.c", "--space", "i,j", "--tile", "i=16,j=16", "--latency", "i=4,j=4", "--simd", "k=2"]),
    "conv 1×1, 4×4 PEs, 4 lanes": layer(64, 64, 56, 1, "--space", "o,c", "--tile", "o=16,c=4,r=8", "--latency", "o=4", "--simd", "i=4"),
    "conv 3×3, 4×4 PEs, 4 lanes": layer(64, 64, 56, 3, "--space", "o,c", "--tile", "o=4,c=4,r=8", "--simd", "i=4"),
    "int16, sagen's choice": chosen("int16_t", "int32_t"),
    "int8, sagen's choice": chosen("int8_t", "int32_t"),
    "VGG-16 512-512-14, sagen's choice": layer(512, 512, 14, 3),
    "cnn, sagen's choice": (None, ["examples/cnn.c"]),
} | {name: (None, [f"examples/{name}.c", "--limit", "lut=15000,dsp=32"]) for name in ("cnn", "fir", "layer", "smith_waterman")}


def report(sagen, text, arguments):
    """report.json of the IP."""
    with tempfile.TemporaryDirectory(prefix="sagen-parts-") as folder:
        if text:
            arguments = [os.path.join(folder, "mm.c"), *arguments]
            with open(arguments[0], "w") as file:
                file.write(text)
        command = [os.path.abspath(sagen), "rtl", "--board", "u250", *arguments, "--json", "-o", os.path.join(folder, "ip")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
        with open(os.path.join(folder, "ip", "report.json")) as file:
            return json.load(file)


def totals(found):
    """LUT, FF, and LUT per lane."""
    (rows, columns), lut, ff = found["array"], found["resources"]["lut"], found["resources"]["ff"]
    return [f"{lut:,.0f}", f"{ff:,.0f}"], f"{lut / (rows * columns * found['simd']):.0f}"


def row(name, after, before, old):
    parts = after["resources_by_part"]
    cells = [f"{sum(parts[p]['lut'] for p in of if p in parts):,.0f}" for _, of in PARTS]
    now, lane = totals(after)
    then, lane_then = totals(before) if before else (old[7:9], old[10]) if old else (["", ""], "")
    return f"| {name} | " + " | ".join([*cells, *now, *then, lane, lane_then]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sagen", default=os.path.join(ROOT, "target", "release", "sagen"))
    parser.add_argument("--before")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    with open(DOCUMENT) as file:
        text = file.read()
    found = re.search(r"(<!-- table parts -->\n)(.*?)(<!-- end -->)", text, re.S)
    if not found:
        raise SystemExit(f"parts.py: no table `parts` in {DOCUMENT}")
    rows = {line.split("|")[1].strip(): line for line in found[2].splitlines()[2:]}
    for name, design in DESIGNS.items():
        if args.only in name:
            old = [cell.strip() for cell in rows[name].split("|")[1:-1]] if name in rows else None
            rows[name] = row(name, report(args.sagen, *design), report(args.before, *design) if args.before else None, old)
            print(rows[name], flush=True)
    lines = HEAD + [rows[name] for name in DESIGNS if name in rows]
    with open(DOCUMENT, "w") as file:
        file.write(text[:found.start(2)] + "\n".join(lines) + "\n" + text[found.end(2):])


if __name__ == "__main__":
    main()
