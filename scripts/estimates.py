#!/usr/bin/env python3
"""Estimated resources beside those measured by synthesis: rewrites the table of docs/estimates.md.

    cargo build --release && python3 scripts/estimates.py [--sagen target/release/sagen] [--only TEXT]
    python3 scripts/estimates.py --check DIR...

Each design is emitted and its modules synthesized by Yosys (resources.sh), which takes minutes for the large ones; `--only`
makes the rows whose name contains TEXT and leaves the others as they are. `--check` compares designs that `sagen rtl` left
in DIR, part by part, and fails where an estimate of the whole is off by more than it may be.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(SCRIPTS, "..")
DOCUMENT = os.path.join(ROOT, "docs", "estimates.md")
FIELDS = ("lut", "ff", "dsp", "bram36", "uram")
# Deviation allowed: the greater of a share and a count.
ALLOWED = {"lut": (0.15, 300), "ff": (0.15, 300), "dsp": (0.05, 2), "bram36": (0.05, 2), "uram": (0.05, 2)}
PARTS = (("_pe", "pes"), ("_feed", "feeders"), ("_collect", "collectors"), ("_relay", "relays"), ("axi_reader", "engines"),
         ("axi_writer", "engines"), ("_array", "relays"), ("", "control"))
# Name, arguments of `sagen rtl`.
SMALL = ["--space", "i,j", "--tile", "i=4,j=4,k=8", "--latency", "i=2,j=2", "--simd", "k=2"]
DESIGNS = [
    ("mm 8³ by hand", ["examples/mm.c", "-D", "N=8"] + SMALL),
    ("gemm 5×6×4 by hand", ["examples/gemm.c", "-D", "NI=5", "-D", "NJ=6", "-D", "NK=4", "--space", "i,j", "--tile", "i=3,j=2"]),
    ("mm 64³ by hand", ["examples/mm.c", "--space", "i,j", "--tile", "i=16,j=16", "--latency", "i=4,j=4", "--simd", "k=2"]),
] + [(name, [f"examples/{name}.c"]) for name in
     ("batched_mm", "cnn", "fir", "gemm", "jacobi", "lu", "mm", "mm_int8", "mttkrp", "mv", "smith_waterman")]


def run(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
    return done.stdout


def estimated(folder):
    with open(os.path.join(folder, "report.json")) as text:
        return json.load(text)


def measured(folder, top):
    """Totals, and those of each part."""
    family = "xc7" if estimated(folder)["part"].startswith("xc7") else "xcup"
    modules = json.loads(run([os.path.join(SCRIPTS, "resources.sh"), os.path.abspath(folder), top, "--family", family, "--json"]))["modules"]
    parts = {}
    for row in modules:
        name = next(part for text, part in PARTS if text in row["module"])
        found = parts.setdefault(name, dict.fromkeys(FIELDS, 0))
        for field in FIELDS:
            found[field] += row["own"][field] * row["instances"]
    return {field: modules[0]["total"][field] for field in FIELDS}, parts


def off(field, estimate, truth):
    share, count = ALLOWED[field]
    return abs(estimate - truth) > max(share * truth, count)


def top_of(folder):
    with open(os.path.join(folder, "sim", "axi_check.json")) as text:
        return json.load(text)["top"]


def check(folder):
    """Prints the comparison; whether the whole is close enough."""
    report = estimated(folder)
    total, parts = measured(folder, top_of(folder))
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


def row(name, arguments, sagen):
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "ip")
        run([sagen, "rtl", "--board", "u250", *arguments, "-o", folder])
        guess, (truth, _) = estimated(folder)["resources"], measured(folder, top_of(folder))
    cells = [cell(f, guess[f], truth[f]) for f in FIELDS]
    return f"| {name} | " + " | ".join(cells) + " |"


def rewrite(only, sagen):
    with open(DOCUMENT) as text:
        head, rest = text.read().split("<!-- table -->\n")
        table, tail = rest.split("<!-- end -->")
    lines = table.splitlines()
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in lines[2:]}
    for name, arguments in DESIGNS:
        if only in name:
            rows[name] = row(name, arguments, sagen)
            print(rows[name], flush=True)
        body = "\n".join(lines[:2] + [rows[n] for n, _ in DESIGNS if n in rows])
        with open(DOCUMENT, "w") as text:
            text.write(f"{head}<!-- table -->\n{body}\n<!-- end -->{tail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sagen", default="target/release/sagen")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", nargs="+", metavar="DIR")
    args = parser.parse_args()
    if args.check:
        return 0 if all([check(folder) for folder in args.check]) else 1
    rewrite(args.only, args.sagen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
