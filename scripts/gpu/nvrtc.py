"""Compiles kernels to machine code with NVRTC alone, for several devices; fails if a kernel spills
more than a few registers, takes more of them than its text states, or has other instructions in a step.

    python3 scripts/gpu/nvrtc.py DIRECTORY… [--arch sm_80,sm_90,sm_120]

DIRECTORY is one that `sagen gpu` wrote. NVRTC is the wheel nvidia-cuda-nvrtc; no GPU is needed. Instructions are
counted in what the wheel nvidia-cuda-nvdisasm shows of the machine code, in the loop of the interior:
multiplications, additions, both as one, and dots are as many as stated, stores of 16 bytes too. Shuffles and loads
of 16 bytes are at most as many: a compiler reuses a value that moves again, and loads the used part of a word.
Registers are compared for the devices that the model is made for, sm_90 and newer.
"""

import argparse
import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile

ARCHITECTURES = "sm_80,sm_90,sm_120"
# Bytes of a lane that may be spilled: the compiler spills a few where one block more fits a processor by that. A product with sizes at
# run time spills most, of what it computes before its loop.
SPILLED = 80


# What a kernel's text states, and the instruction of it; FFMA2 and the like are two.
KINDS = {
    "fused multiply-adds": r"FFMA",
    "multiplications": r"FMUL",
    "additions": r"FADD",
    "dots": r"IDP",
    "shuffles": r"SHFL",
    "loads of 16 bytes": r"LDG\S*\.128",
    "stores of 16 bytes": r"STG\S*\.128",
}
AT_MOST = ("shuffles", "loads of 16 bytes")
# Devices of which the model knows the registers. On sm_80 a minimum of two 16-bit values takes several instructions.
MODELLED = 90


def library():
    """NVRTC, from the wheel or from $NVRTC."""
    found = [p for d in sys.path for p in glob.glob(d + "/nvidia/*/lib/libnvrtc.so.*") if "builtins" not in p]
    path = os.environ.get("NVRTC") or next(iter(sorted(found)), None)
    if path is None:
        sys.exit("no NVRTC: pip install nvidia-cuda-nvrtc, or set NVRTC to libnvrtc.so")
    return ctypes.CDLL(path)


def compiled(nvrtc, folder, arch):
    """The machine code, None if it does not compile; and the compiler's messages."""
    with open(os.path.join(folder, "kernel.cu"), "rb") as file:
        text = file.read()
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None)
    options = [f"-arch={arch}".encode(), b"-std=c++17", b"--ptxas-options=-v", b"-I" + os.fsencode(folder)]
    result = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    code = None
    if result == 0:
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, code)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code and code.raw, log.value.decode()


def disassembler():
    """nvdisasm, from the wheel or from $NVDISASM."""
    found = [p for d in sys.path for p in glob.glob(d + "/nvidia/*/bin/nvdisasm")]
    path = os.environ.get("NVDISASM") or next(iter(sorted(found)), None)
    if path is None:
        sys.exit("no nvdisasm: pip install nvidia-cuda-nvdisasm, or set NVDISASM to it")
    return path


def stated(folder):
    """By kernel, the instructions of a step, how often its loop is unrolled, and the registers of a lane."""
    with open(os.path.join(folder, "kernel.cu"), encoding="utf-8") as file:
        text = file.read()
    found = {}
    for head in re.split(r"^// (?=\w+: a systolic array)", text, flags=re.M)[1:]:
        line = re.search(r"^//   a step +(.*); unrolled (\d+)$", head, re.M)
        registers = int(re.search(r"^//   a lane +at most (\d+) registers$", head, re.M)[1])
        counts = {kind: int(n) for kind, n in (part.rsplit(" ", 1) for part in line[1].split(", "))} if line else None
        found[head.split(":")[0]] = counts, int(line[2]) if line else 1, registers
    return found


def parts(code):
    """By kernel, the instructions as a list, and the innermost loops as pairs of places in it."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        text = subprocess.run([disassembler(), "-c", file.name], capture_output=True, text=True, check=True).stdout
    for kernel in re.split(r"\.section\s+\.text\.", text)[1:]:
        labels, all_of_it, loops = {}, [], []
        for line in kernel.splitlines():
            if label := re.match(r"\s*(\.L\w+):", line):
                labels[label[1]] = len(all_of_it)
            if instruction := re.match(r"\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?(.*?);", line):
                back = re.search(r"BRA.*`\((\.L\w+)\)", instruction[1])
                if back and labels.get(back[1], len(all_of_it)) < len(all_of_it):
                    loops.append((labels[back[1]], len(all_of_it)))
                all_of_it.append(instruction[1])
        inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
        yield re.match(r"\w+", kernel)[0], all_of_it, inner


def counted(instructions):
    def count(pattern):
        return sum(2 if re.match(pattern + "2", x) else 1 for x in instructions if re.match(pattern, x))

    return {kind: count(pattern) for kind, pattern in KINDS.items()}


def agrees(counts, has):
    """Whether these are the instructions of a step, or of several."""
    exact = [kind for kind in counts if kind not in AT_MOST]
    same = all(has[kind] == counts[kind] for kind in exact)
    return same and all(has[kind] <= counts[kind] for kind in counts if kind in AT_MOST)


def differences(folder, code):
    """The kernels that have no loop, or without loops no steps, with the instructions that their text states."""
    kernels = stated(folder)
    for name, instructions, loops in parts(code):
        counts, unrolled, _ = kernels.get(name, (None, 1, None))
        if counts is None:
            continue
        bodies = [counted(instructions[a : b + 1]) for a, b in loops]
        # Without a loop there is one step, with a border and without: twice the instructions, or once.
        wanted = [unrolled] if loops else [1, 2]
        bodies = bodies or [counted(instructions)]
        if not loops:
            counts = {kind: n for kind, n in counts.items() if kind not in AT_MOST}
        if not any(agrees({kind: n * times for kind, n in counts.items()}, has) for times in wanted for has in bodies):
            yield f"{name}: stated {counts}, {unrolled} times; found {bodies}"


def greedy(folder, used):
    """The kernels that take more registers than their text states."""
    for name, (_, _, most) in stated(folder).items():
        if used[name] > most:
            yield f"{name}: stated at most {most}; found {used[name]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="DIRECTORY")
    parser.add_argument("--arch", default=ARCHITECTURES)
    arguments = parser.parse_args()
    nvrtc, wrong = library(), 0
    for folder in arguments.folders:
        for arch in arguments.arch.split(","):
            done, log = compiled(nvrtc, folder, arch)
            registers = {name: int(n) for name, n in re.findall(r"entry function '(\w+)'.*?Used (\d+) registers", log, re.S)}
            spills = max(map(int, re.findall(r"(\d+) bytes spill stores", log)), default=0)
            others = list(differences(folder, done)) if done else []
            more = list(greedy(folder, registers)) if done and int(arch[3:]) >= MODELLED else []
            wrong += not done or spills > SPILLED or bool(others) or bool(more)
            what = f"{max(registers.values())} registers, {spills} bytes spilled" if done else log[:2000]
            what += "".join(f"\n  instructions of {other}" for other in others)
            what += "".join(f"\n  registers of {other}" for other in more)
            print(f"{os.path.basename(os.path.normpath(folder)):20} {arch:7} {what}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
