#!/usr/bin/env python3
"""Resources and logic levels of matrix-product PEs, and of the whole fp32 array beside AutoSA's: rewrites the tables of
docs/results/resources.md, between the lines `<!-- table NAME -->` and `<!-- end -->`.

    cargo build --release && python3 scripts/pe_table.py [--sagen target/release/sagen] [--only TEXT | --array]

The arrays are 13 x 16 PEs for a product of 1040 x 1024 x 1024, the shape of AutoSA's published design. Yosys synthesizes
each PE for UltraScale+ (resources.sh), and levels.py analyses it. For the array beside AutoSA's, Yosys synthesizes every
module, which takes minutes. `--only` updates the row named TEXT, or the rows whose name contains TEXT. `--array` updates the
comparison. Without either, the script updates everything.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(SCRIPTS, "..", "docs", "results", "resources.md")
PES = 13 * 16
KERNEL = """#include <stdint.h>
void mm(const {element} A[1040][1024], const {element} B[1024][1024], {sum} C[1040][1024]) {{
#pragma scop
  for (int i = 0; i < 1040; i++)
    for (int j = 0; j < 1024; j++) {{
      C[i][j] = 0;
      for (int k = 0; k < 1024; k++)
        C[i][j] += ({sum})A[i][k] * ({sum})B[k][j];
    }}
#pragma endscop
}}
"""
FUSED = ["--reassociate", "--dot", "fused"]
# Name, type of the elements, type of the sums, lanes, further options.
DESIGNS = [
    ("fp32", "float", "float", 1, []),
    ("fp32, fused multiply-add", "float", "float", 1, ["--fp-contract"]),
    ("fp32, 8 lanes, chained", "float", "float", 8, []),
    ("fp32, 8 lanes, tree", "float", "float", 8, ["--reassociate"]),
    ("fp32, fused dot of 1", "float", "float", 1, FUSED),
    ("fp32, 8 lanes, fused dot", "float", "float", 8, FUSED),
    ("fp16 → fp32", "_Float16", "float", 1, []),
    ("fp16 → fp32, 8 lanes, tree", "_Float16", "float", 8, ["--reassociate"]),
    ("fp16 → fp32, 8 lanes, fused dot", "_Float16", "float", 8, FUSED),
    ("fp16", "_Float16", "_Float16", 1, []),
    ("fp16, 8 lanes, fused dot", "_Float16", "_Float16", 8, FUSED),
    ("int16 → int32", "int16_t", "int32_t", 1, []),
    ("int16 → int32, 8 lanes", "int16_t", "int32_t", 8, []),
    ("int8 → int32", "int8_t", "int32_t", 1, []),
    ("int8 → int32, 8 lanes", "int8_t", "int32_t", 8, []),
]
HEAD = ["| PE | LUT | FF | DSP | LUT per lane | DSP per lane | levels | ns (estimate) |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
# The array beside AutoSA's, by name.
HEADLINE = "fp32, 8 lanes, fused dot"
# AutoSA (FPGA '21), fp32 matrix product, 13 x 16 PEs with 8 lanes on a U250, routed. Its shares (52 % of the LUTs) are of
# the area that the platform leaves to the user, so the absolute numbers stand here.
AUTOSA = {"lut": 803_752, "dsp": 8_320}

# Parts of the array by the names of their modules; the first match counts.
PARTS = [("208 PEs", "mm_pe|mm_fp"), ("feeders", "mm_feed"), ("collectors, relays", "mm_collect|mm_relay|mm_turn"), ("AXI engines", "mm_axi_[rw]"),
         ("sequencer, control", "")]


def output(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"pe_table.py: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def emit(sagen, design, folder):
    """The folder with the array's Verilog."""
    _, element, total, lanes, options = design
    source, array = os.path.join(folder, "mm.c"), os.path.join(folder, "array")
    with open(source, "w") as file:
        file.write(KERNEL.format(element=element, sum=total))
    shape = ["--space", "i,j", "--tile", "i=208,j=128", "--latency", "i=16,j=8", "--simd", f"k={lanes}"]
    output([sagen, "rtl", source, "-o", array, *shape, *options])
    return array


def resources(array, top, netlist):
    """Rows of a module and of all below it, the module's first; writes its netlist to the folder `netlist`."""
    return json.loads(output([f"{SCRIPTS}/resources.sh", array, "mm", top, "--json", "--keep", netlist]))["modules"]


def pe_row(design, total, path):
    lanes = design[3]
    return (f"| {design[0]} | {total['lut']:,} | {total['ff']:,} | {total['dsp']} | {total['lut'] / lanes:.0f} | "
            f"{total['dsp'] / lanes:g} | {path['levels']} | {path['estimated_ns']:.2f} |")


def headline(rows):
    """The array's parts beside AutoSA's published totals."""
    parts = {name: dict.fromkeys(("lut", "ff", "dsp"), 0) for name in [name for name, _ in PARTS] + ["the whole IP"]}
    for row in rows:
        part = next(name for name, pattern in PARTS if re.match(pattern, row["module"]))
        for name in (part, "the whole IP"):
            for field in parts[name]:
                parts[name][field] += row["instances"] * row["own"][field]
    macs, top = 8 * PES, parts["the whole IP"]
    lines = ["| | LUT | FF | DSP | LUT per multiply–add | DSP per multiply–add |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, part in [*parts.items(), ("AutoSA", AUTOSA)]:
        ff = f"{part['ff']:,}" if "ff" in part else ""
        lines.append(f"| {name} | {part['lut']:,.0f} | {ff} | {part['dsp']:,.0f} | {part['lut'] / macs:.0f} | {part['dsp'] / macs:.2f} |")
    lines.append(f"| ours / AutoSA | {top['lut'] / AUTOSA['lut']:.2f} | | {top['dsp'] / AUTOSA['dsp']:.2f} | | |")
    return lines


def update(name, change):
    """Applies `change` to the lines of a table of the document."""
    with open(DOCUMENT) as file:
        text = file.read()
    pattern = re.compile(rf"(<!-- table {name} -->\n)(.*?)(<!-- end -->)", re.S)
    if not pattern.search(text):
        raise SystemExit(f"pe_table.py: no table {name} in {DOCUMENT}")
    with open(DOCUMENT, "w") as file:
        file.write(pattern.sub(lambda found: found[1] + "\n".join(change(found[2].splitlines())) + "\n" + found[3], text))


def with_row(lines, row):
    """The table of PEs with one new row, in the order of DESIGNS."""
    rows = {line.split("|")[1].strip(): line for line in lines[2:] + [row]}
    return HEAD + [rows[design[0]] for design in DESIGNS if design[0] in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sagen", default="target/release/sagen")
    parser.add_argument("--only")
    parser.add_argument("--array", action="store_true")
    args = parser.parse_args()
    named = [design[0] for design in DESIGNS if args.only == design[0]]
    for design in DESIGNS:
        wanted = not args.array and (design[0] in named or not named and (args.only or "") in design[0])
        compared = design[0] == HEADLINE and not args.only
        if not wanted and not compared:
            continue
        with tempfile.TemporaryDirectory(prefix="sagen-pe-table-") as folder:
            array, netlist = emit(args.sagen, design, folder), os.path.join(folder, "netlist")
            pe = resources(array, "mm_pe", netlist)[0]["total"]
            path = json.loads(output([sys.executable, f"{SCRIPTS}/levels.py", f"{netlist}/netlist.json", "mm_pe", "--json"]))
            if wanted:
                update("pe", lambda lines: with_row(lines, pe_row(design, pe, path)))
            if compared:
                rows = resources(array, "mm", netlist)
                update("array", lambda _: headline(rows))


if __name__ == "__main__":
    main()
