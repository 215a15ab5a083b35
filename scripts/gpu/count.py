"""Counts the instructions that the warps of kernels execute on rows, on the CPU; no GPU is needed.

    python3 scripts/gpu/count.py [--sagen target/release/sagen]

Every kernel's shim is compiled with LANES_COUNT and runs all warps. The table shows instructions of a lane for each result:
an instruction on a row of R registers counts R times, and every lane executes it. Useful is the share of the lanes'
multiplications that C has, too. Registers are those of NVRTC for sm_90, where its wheel is installed (nvrtc.py).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
N, Q = 100_000, 5
# Design, map.
ROWS = [
    ("FBS", "--space c --time q"),
    ("SBM", "--space c+q --time q"),
    ("FSM", "--space q --time c+2*q"),
    ("BSM", "--space q --time c+q"),
    ("BFS", "--space c --time c+q"),
    ("FFS", "--space c --time 2*c+q"),
]
KINDS = ["products", "sums", "others", "selects", "shuffles", "loads", "stores"]


def counted(sagen, options, home):
    """Instructions of all warps, by kind; the folder of the kernel."""
    folder = tempfile.mkdtemp(dir=home)
    command = [sagen, "gpu", "tests/gpu/taps.c", *options.split(), "-D", f"N={N}", "-D", f"Q={Q}", "--no-check", "-o", folder + "/k"]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-w", "-DLANES_COUNT"]
    subprocess.run(["c++", *flags, folder + "/k/shim.cpp", "-o", folder + "/shim"], check=True)
    # The values do not matter, and a hole in a file reads as zeros.
    with open(folder + "/in", "wb") as file:
        file.truncate(16 * N)
    shown = subprocess.run([folder + "/shim", folder + "/in", os.devnull, "128", "forward"], check=True, capture_output=True, text=True)
    return dict((k, int(v)) for k, v in (line.split() for line in shown.stdout.splitlines())), folder + "/k"


def registers(folder):
    script = os.path.join(HERE, "nvrtc.py")
    shown = subprocess.run([sys.executable, script, folder, "--arch", "sm_90"], capture_output=True, text=True)
    found = re.search(r"(\d+) registers", shown.stdout)
    return found[1] if found else "–"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sagen", default=os.path.join(ROOT, "target/release/sagen"))
    sagen = os.path.abspath(parser.parse_args().sagen)
    print("| design | " + " | ".join(KINDS) + " | all | useful | registers |\n" + "| --- " * (len(KINDS) + 4) + "|")
    with tempfile.TemporaryDirectory() as home:
        for name, options in ROWS:
            found, folder = counted(sagen, options, home)
            each = [32 * found[kind] / N for kind in KINDS]
            useful = N * Q / (32 * found["products"])
            cells = " | ".join(f"{x:.2f}" for x in each)
            print(f"| {name} | {cells} | {sum(each):.1f} | {100 * useful:.0f} % | {registers(folder)} |", flush=True)


if __name__ == "__main__":
    main()
