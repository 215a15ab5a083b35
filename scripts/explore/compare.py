#!/usr/bin/env python3
"""Whether one sagen chooses slower arrays than another: `compare.py OLD NEW [--only TEXT]`.

Predicted cycles of the automatic choice for examples/*.c and tests/polybench/*.c. Fails where NEW is slower, or refuses what
OLD maps.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def chosen(sagen, kernel, options):
    """Predicted cycles, the gap if there is one, seconds; or None and the first line of the refusal."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        line = [sagen, "rtl", str(kernel), "--json", "-o", f"{folder}/out", *options]
        done = subprocess.run(line, capture_output=True, text=True)
        seconds = time.monotonic() - begin
    if done.returncode:
        return None, (done.stderr.splitlines() or [""])[0], seconds
    facts = json.loads(done.stdout)
    return facts["predicted_cycles"], (facts.get("search") or {}).get("gap"), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    kernels = sorted((ROOT / "examples").glob("*.c")) + sorted((ROOT / "tests/polybench").glob("*.c"))
    failed = 0
    print(f"{'kernel':<20}{'old':>10}{'new':>10}{'old/new':>9}{'gap %':>8}{'old s':>7}{'new s':>7}")
    for kernel in kernels:
        if args.only not in kernel.stem:
            continue
        old, _, before = chosen(args.old, kernel, [])
        new, gap, after = chosen(args.new, kernel, [])
        if old is None and new is None:
            continue
        bad = new is None or (old is not None and new > old)
        failed += bad
        ratio = f"{old / new:.2f}" if old and new else "-"
        percent = f"{100 * gap:.1f}" if isinstance(gap, float) else "-"
        print(f"{kernel.stem:<20}{old or '-':>10}{new or '-':>10}{ratio:>9}{percent:>8}{before:>7.1f}{after:>7.1f}{'  SLOWER' if bad else ''}", flush=True)
    print(f"{failed} slower or lost")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
