"""Compiles kernels to machine code with NVRTC alone, for several devices; fails if a kernel spills
more than a few registers.

    python3 scripts/gpu/nvrtc.py DIRECTORY… [--arch sm_80,sm_90,sm_120]

DIRECTORY is one that `sagen gpu` wrote. NVRTC is the wheel nvidia-cuda-nvrtc; no GPU is needed.
"""

import argparse
import ctypes
import glob
import os
import re
import sys

ARCHITECTURES = "sm_80,sm_90,sm_120"
# Bytes of a lane that may be spilled: the compiler spills a few where one block more fits a processor by that. A product with sizes at
# run time spills most, of what it computes before its loop.
SPILLED = 80


def library():
    """NVRTC, from the wheel or from $NVRTC."""
    found = [p for d in sys.path for p in glob.glob(d + "/nvidia/*/lib/libnvrtc.so.*") if "builtins" not in p]
    path = os.environ.get("NVRTC") or next(iter(sorted(found)), None)
    if path is None:
        sys.exit("no NVRTC: pip install nvidia-cuda-nvrtc, or set NVRTC to libnvrtc.so")
    return ctypes.CDLL(path)


def compiled(nvrtc, folder, arch):
    """Whether it compiles, and the compiler's messages."""
    with open(os.path.join(folder, "kernel.cu"), "rb") as file:
        text = file.read()
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None)
    options = [f"-arch={arch}".encode(), b"-std=c++17", b"--ptxas-options=-v", b"-I" + os.fsencode(folder)]
    result = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return result == 0, log.value.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="DIRECTORY")
    parser.add_argument("--arch", default=ARCHITECTURES)
    arguments = parser.parse_args()
    nvrtc, wrong = library(), 0
    for folder in arguments.folders:
        for arch in arguments.arch.split(","):
            done, log = compiled(nvrtc, folder, arch)
            used = max(map(int, re.findall(r"Used (\d+) registers", log)), default="?")
            spills = max(map(int, re.findall(r"(\d+) bytes spill stores", log)), default=0)
            wrong += not done or spills > SPILLED
            what = f"{used} registers, {spills} bytes spilled" if done else log[:2000]
            print(f"{os.path.basename(os.path.normpath(folder)):20} {arch:7} {what}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
