#!/usr/bin/env python3
"""Compares the arrays that two versions of sagen choose: `compare.py OLD NEW [--only TEXT]`.

Prints the predicted cycles of the automatic choice for examples/*.c and tests/polybench/*.c. Fails if NEW is slower, or
refuses a kernel that OLD maps. OLD is a binary, or a table that `compare.py --table FILE SAGEN` wrote. NEW may be slower if
OLD's array exceeds the board's margins and NEW finds an equally fast one on the whole board (`margin`).
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


WHOLE = ["--limit", "lut=100%,ff=100%,dsp=100%,bram36=100%,uram=100%"]


def chosen(sagen, kernel, options):
    """(predicted cycles, gap or None, seconds), or (None, first line of the refusal, seconds)."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        line = [sagen, "rtl", str(kernel), "--objective", "cycles", "--json", "-o", f"{folder}/out", *options]
        done = subprocess.run(line, capture_output=True, text=True)
        seconds = time.monotonic() - begin
    if done.returncode:
        return None, (done.stderr.splitlines() or [""])[0], seconds
    facts = json.loads(done.stdout)
    if "functions" in facts:
        return sum(f["predicted_cycles"] for f in facts["functions"].values()), None, seconds
    return facts["predicted_cycles"], (facts.get("search") or {}).get("gap"), seconds


def kernels(only):
    files = sorted((ROOT / "examples").glob("*.c")) + sorted((ROOT / "tests/polybench").glob("*.c"))
    return [f for f in files if only in f.stem]


def write_table(sagen, only, file):
    rows = {}
    for kernel in kernels(only):
        cycles, _, seconds = chosen(sagen, kernel, [])
        rows[f"{kernel.parent.name}/{kernel.stem}"] = {"cycles": cycles, "seconds": round(seconds, 2)}
    Path(file).write_text(json.dumps(rows, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", help="a binary or a table; with --table, the binary to run")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--table", help="write the choices of OLD to this file; no comparison")
    args = parser.parse_args()
    if args.table:
        write_table(args.old, args.only, args.table)
        return
    table = json.loads(Path(args.old).read_text()) if args.old.endswith(".json") else None
    failed = 0
    print(f"{'kernel':<20}{'old':>10}{'new':>10}{'old/new':>9}{'gap %':>8}{'old s':>7}{'new s':>7}")
    for kernel in kernels(args.only):
        if table is None:
            old, _, before = chosen(args.old, kernel, [])
        else:
            row = table.get(f"{kernel.parent.name}/{kernel.stem}", {})
            old, before = row.get("cycles"), row.get("seconds", 0)
        new, gap, after = chosen(args.new, kernel, [])
        if old is None and new is None:
            continue
        bad = "SLOWER" if new is None or (old is not None and new > old) else ""
        if bad and new is not None:
            whole, _, _ = chosen(args.new, kernel, WHOLE)
            bad = "margin" if whole is not None and whole <= old else bad
        failed += bad == "SLOWER"
        ratio = f"{old / new:.2f}" if old and new else "-"
        percent = f"{100 * gap:.1f}" if isinstance(gap, float) else "-"
        print(f"{kernel.stem:<20}{old or '-':>10}{new or '-':>10}{ratio:>9}{percent:>8}{before:>7.1f}{after:>7.1f}  {bad}", flush=True)
    print(f"{failed} slower or lost")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
