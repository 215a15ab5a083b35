#!/usr/bin/env python3
"""Several functions, each in an IP of its own and all in one IP: `functions.py [SAGEN]`.

Writes docs/results/functions.md: cycles and estimated resources of each function of examples/la.c in an IP of its own, and
of the one IP with all functions. Simulates both and compares with the C program; fails if a result or a number of cycles
differs.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE, DESIGN = "examples/la.c", "examples/la.toml"
RUNS = 100

TEXT = """# Several functions in one IP: results

What functions are: [functions.md](../functions.md).

Made by `scripts/functions.py` (do not edit).

[examples/la.c](../../examples/la.c) on {board}, each function with
[examples/la.toml](../../examples/la.toml). Cycles are simulated with ideal memory, alone and in the IP of all, and equal the
prediction. Results equal C's, also in a sequence of {runs} random runs, {reset} of them after a reset in their middle. Resources
are estimates.

| | cycles alone | cycles in the one IP | PEs | AXI ports | LUT | FF | DSP | BRAM36 |
| --- | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: |
{rows}
The one IP has one register file and {shared} AXI ports instead of {apart}; the switch between the cores takes {choice} LUT.
"""


def sagen(*arguments):
    binary = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/sagen")
    done = subprocess.run([binary, *arguments, "--memory", "ideal"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def built(*more):
    with tempfile.TemporaryDirectory() as folder:
        return sagen("rtl", SOURCE, "--design", DESIGN, "--json", "-o", f"{folder}/ip", *more)


def row(name, alone, together, shape, report):
    need = report["resources"]
    ports = report["interface"]["ports"]
    widths = [p["data_bits"] for p in ports]
    listed = ", ".join(f"{widths.count(w)}×{w} bit" for w in sorted(set(widths), reverse=True))
    numbers = " | ".join(f"{need[k]:,}" for k in ("lut", "ff", "dsp", "bram36"))
    return f"| {name} | {alone} | {together} | {shape} | {listed} | {numbers} |\n", len(ports)


def main():
    together = sagen("sim", SOURCE, "--design", DESIGN, "--json", "--sequence", str(RUNS))
    whole = built()
    rows, apart, total = "", 0, dict.fromkeys(("lut", "ff", "dsp", "bram36"), 0)
    for name in together["functions"]:
        alone = sagen("sim", SOURCE, "--design", DESIGN, "--json", "--function", name)
        report, own = built("--function", name), together["functions"][name]
        for run in (alone, own):
            if not run["match"] or run["cycles"] != run["predicted_cycles"]:
                sys.exit(f"{name}: {run['result']}, {run['cycles']} cycles, {run['predicted_cycles']} predicted")
        rows_, cols = report["array"]
        line, ports = row(name, f"{alone['cycles']:,}", f"{own['cycles']:,}", f"{rows_}×{cols}, {report['simd']} lanes", report)
        rows, apart = rows + line, apart + ports
        total = {k: v + report["resources"][k] for k, v in total.items()}
    numbers = " | ".join(f"{total[k]:,}" for k in ("lut", "ff", "dsp", "bram36"))
    rows += f"| four IPs together | | | | {apart} | {numbers} |\n"
    line, shared = row("**one IP of all**", "", "", f"{whole['cores']} cores", whole)
    text = TEXT.format(board=whole["board"], runs=RUNS, reset=together["sequence"]["reset"], rows=rows + line, shared=shared, apart=apart, choice=whole["resources_by_part"]["choice"]["lut"])
    (ROOT / "docs/results/functions.md").write_text(text)


if __name__ == "__main__":
    main()
