"""Compiles kernels as HIP with clang alone, for AMD devices; fails if one does not compile, spills
registers, or fuses a multiplication with an addition that C does not.

    python3 scripts/gpu/hip.py DIRECTORY… [--arch gfx90a,gfx1100]

DIRECTORY is one that `sagen gpu` wrote. $CLANG is the compiler (default clang++-15); ROCm is not needed. It shows the
registers, the shuffles and the 16-byte accesses in the assembly. Nothing runs.
"""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O3", "-std=c++17", "-S", "-o", "-"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="DIRECTORY")
    parser.add_argument("--arch", default="gfx90a,gfx1100")
    arguments = parser.parse_args()
    clang, wrong = os.environ.get("CLANG", "clang++-15"), 0
    for folder in arguments.folders:
        for arch in arguments.arch.split(","):
            command = [clang, *FLAGS, f"--offload-arch={arch}", "-include", os.path.join(HERE, "hip_min.h"), "-I", folder]
            done = subprocess.run([*command, os.path.join(folder, "kernel.cu")], capture_output=True, text=True)
            spills = sum(map(int, re.findall(r"\.vgpr_spill_count: +(\d+)", done.stdout)))
            registers = re.findall(r"\.vgpr_count: +(\d+)", done.stdout)
            counted = {n: len(re.findall(p, done.stdout)) for n, p in [("shuffles", "ds_bpermute"), ("fused", r"v_(?:pk_)?fma[cf_]")]}
            # Floats are fused only where the text says so; a division is made of such instructions.
            with open(os.path.join(folder, "kernel.cu")) as file:
                text = re.sub(r"//.*", "", file.read())
            unasked = counted["fused"] > 0 and not re.search(r"fma\(| / |div\(", text)
            wrong += done.returncode != 0 or spills > 0 or unasked
            what = f"{max(map(int, registers), default=0)} registers, {spills} spilled, " + ", ".join(f"{v} {k}" for k, v in counted.items())
            name = os.path.basename(os.path.normpath(folder))
            print(f"{name:20} {arch:8} {what if done.returncode == 0 else done.stderr[:2000]}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
