"""Checks and times the kernels of `sagen gpu` on this machine's GPU; see scripts/gpu.sh.

Every row is a C file with options. It is written twice: at a small size, where the device's result is compared with the
text on the CPU bit by bit (test.py), and at a large one, which is timed.
"""

import argparse
import concurrent.futures
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRID = "-D N=16384 -D M=16384"
LARGE = 16384 * 16384


class Row:
    """A kernel: its C file, the options of its map, both sizes, the work of one call, and its goal.

    `unit`: B (bytes that have to move), mac (fused multiplications and additions), product (the same, beside cuBLAS), or what
    else a second is counted in. `goal`: of the first three a share of the rate of a copy, of the multipliers or of cuBLAS; of the
    others units in a second. `at`: the sizes at run time of the comparison; the kernel is timed at the greatest ones.
    """

    def __init__(self, name, file, options, small, large, unit, work, goal=None, at=""):
        self.name, self.file, self.options, self.small, self.large = name, file, options, small, large
        self.unit, self.work, self.goal, self.at = unit, work, goal, at


def taps(name, options, goal=None):
    return Row(name, "tests/gpu/taps.c", options, "-D N=1003", "-D N=67108864", "B", 8 << 26, goal)


def window(k, goal, unit="B", work=8 * 8192 * 8192, options="--fp-contract", pitch=8192):
    sizes = f"-D H={8193 - k} -D W={8193 - k} -D PITCH_OUT={pitch}"
    options = f"--space c,p --time r+p,q -D P={k} -D Q={k} {options}"
    rows = "" if pitch % 4 == 0 else ", rows of no whole words"
    return Row(f"window {k}x{k}{rows}", "tests/gpu/window.c", options, "-D H=41 -D W=300", sizes, unit, work, goal)


def sweeps(kind, count, goal=None, options="--fp-contract", how=""):
    name = f"{kind}, {count} sweep{'s' if count > 1 else ''}{how}"
    options = f"--function {kind} -D S={count} --space j,t --time i+t {options}"
    return Row(name, "tests/gpu/sweeps.c", options, "-D N=70 -D M=300", GRID, "updates", count * LARGE, goal)


def alignment(kind, goal, ty="int16_t", pairs=32768):
    sizes = f"-D PAIRS={pairs} -D N=512 -D M=512"
    small = "-D PAIRS=4097 -D N=60 -D M=96"
    name, options = f"{kind}, {ty[3:5]} bits", f"--function {kind} -D T={ty} --space j --time k,i"
    return Row(name, "tests/gpu/alignments.c", options, small, sizes, "cells", pairs * 512 * 512, goal)


def sized(name, function, options, most, at, unit, work, goal=None):
    most = f"--max {most}"
    return Row(f"{name}, sizes at run time", "tests/gpu/sizes.c", f"--function {function} {options}", most, most, unit, work, goal, at)


CUBE = "-D NX=768 -D NY=768 -D NZ=768"
ROWS = [
    taps("taps 2", "--space c --time q -D Q=2", 0.96),
    taps("taps 5", "--space c --time q -D Q=5", 0.96),
    taps("taps 5, SBM", "--space c+q --time q -D Q=5", 0.96),
    taps("taps 16", "--space c --time q -D Q=16", 0.96),
    taps("taps 16, fused", "--space c --time q -D Q=16 --fp-contract", 0.96),
    taps("taps 31", "--space c --time q -D Q=31 --tile c=256 --fp-contract", 0.85),
    taps("taps 31, C's order", "--space c --time q -D Q=31 --tile c=256"),
    window(3, 0.88),
    window(3, 0.88, options=""),
    window(3, None, pitch=8190),
    window(5, 0.88),
    window(7, 0.76),
    window(11, 0.78, "mac", 8192 * 8192 * 121, "--tile c=256 --fp-contract"),
    Row("cube, 1 sweep", "tests/gpu/cube.c", "--function once --space k --time i,j --tile j=8", "", CUBE, "B", 8 * 768**3, 0.73),
    Row("cube, 2 sweeps", "tests/gpu/cube.c", "--function twice --space k,t --time i+t,j --tile j=4", "", CUBE, "updates", 2 * 768**3, 540e9),
    Row("star, 1 sweep, bytes", "tests/gpu/sweeps.c", "--function star -D S=1 --space j,t --time i+t", "-D N=70 -D M=300", GRID, "B", 8 * LARGE, 0.88),
    *[sweeps("star", n, 2500e9) for n in (4, 6, 8, 12)],
    *[sweeps("box", n, 1850e9) for n in (2, 4, 6, 8)],
    sweeps("box", 6, 1850e9, "--tile j=256 --ahead 3 --fp-contract", ", wide"),
    Row("heat, 8 sweeps", "examples/gpu/heat.c", "--space j,t --time i+t", "-D N=70 -D M=300", GRID, "updates", 8 * LARGE),
    *[alignment(kind, None, ty="int32_t") for kind in ("levenshtein", "linear", "affine")],
    alignment("levenshtein", 6000e9),
    alignment("linear", 4300e9),
    alignment("affine", 3000e9),
    Row("sums of 16 bits that wrap", "tests/gpu/pairs.c", "--function wrapped --space j --time k,i", "", "", "cells", 2 * 2401 * 40 * 35),
    taps("by search: taps 31", "-D Q=31 --fp-contract"),
    Row("by search: window 3x3", "tests/gpu/window.c", "-D P=3 -D Q=3 --fp-contract", "-D H=41 -D W=300", "-D H=8190 -D W=8190 -D PITCH_OUT=8192", "B", 8 * 8192 * 8192),
    Row("by search: window 7x7", "tests/gpu/window.c", "-D P=7 -D Q=7 --fp-contract", "-D H=41 -D W=300", "-D H=8186 -D W=8186 -D PITCH_OUT=8192", "B", 8 * 8192 * 8192),
    Row("by search: star, 8 sweeps", "tests/gpu/sweeps.c", "--function star -D S=8 --fp-contract", "-D N=70 -D M=300", GRID, "updates", 8 * LARGE),
    Row("by search: levenshtein", "tests/gpu/alignments.c", "--function levenshtein -D T=int16_t", "-D PAIRS=4097 -D N=60 -D M=96", "-D PAIRS=32768 -D N=512 -D M=512", "cells", 32768 * 512 * 512),
    Row("dot product", "tests/gpu/folds.c", "--function dot --space i", "-D LENGTH=3001", "-D LENGTH=1048576", "B", 4 << 20),
    Row("three phases", "tests/gpu/phases.c", "--function centred", "", "-D M=1000 -D N=1000", "B", 16 * 1000 * 1000),
    Row("product", "tests/gpu/product.c", "--function product --fp-contract", "-D M=256 -D N=520 -D K=64", "-D M=8192 -D N=8192 -D K=8192", "product", 8192**3, 0.88),
    Row("product, C's order", "tests/gpu/product.c", "--function product", "-D M=333 -D N=517 -D K=77", "-D M=8192 -D N=8192 -D K=8192", "product", 8192**3),
    Row("product, int32", "tests/gpu/product.c", "--function product -D T=int", "-D M=333 -D N=517 -D K=77", "-D M=8192 -D N=8192 -D K=8192", "product", 8192**3),
    Row("product, int8", "tests/gpu/dots.c", "--function product", "-D M=333 -D N=517 -D K=77", "-D M=8192 -D N=8192 -D K=8192", "products", 8192**3),
    Row("product, uint8, by hand", "tests/gpu/dots.c", "--function product --space j,i --time k --simd k=4 -D T=uint8_t", "-D M=128 -D N=520 -D K=96", "-D M=8192 -D N=8192 -D K=8192", "products", 8192**3),
    sized("window 3x3", "words", "--space c,p --time r+p,q --fp-contract", "H=8190,W=2047", "H=41 W=75", "B", 8 * 8192 * 8190),
    sized("window 3x3, rows of no whole words", "window", "--space c,p --time r+p,q --fp-contract", "H=8190,W=8190,L=2", "H=41 W=301 L=1", "B", 8 * 8192 * 8190),
    sized("star, 8 sweeps", "sweeps", "-D S=8 --space j,t --time i+t --fp-contract", "N=16384,M=16384", "N=70 M=300", "updates", 8 * LARGE),
    sized("levenshtein, 16 bits", "levenshtein", "-D T=int16_t --space j --time k,i", "PAIRS=32768,N=512,M=512", "PAIRS=4097 N=60 M=96", "cells", 32768 * 512 * 512),
    sized("product", "product", "-D T=float --fp-contract", "M=8192,N=8192,K=8192", "M=333 N=517 K=77", "product", 8192**3),
    Row("depthwise 4 taps", "examples/gpu/depthwise.c", "", "-D B=2 -D C=5 -D L=333", "-D B=8 -D C=1536 -D L=2048", "B", 8 * 8 * 1536 * 2048),
]


def write(sagen, row, size, folder):
    command = [sagen, "gpu", row.file, *row.options.split(), *size.split(), "--no-check", "-o", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[0]


def load(folder):
    spec = importlib.util.spec_from_file_location("kernel_" + os.path.basename(folder), os.path.join(folder, "kernel.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds(call, least=0.02):
    """Median of a call's times, by events around groups of calls."""
    import cupy

    def group(count):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1000 / count

    group(2)
    count = max(1, min(50, int(least / 5 / max(group(1), 1e-6))))
    return statistics.median(group(count) for _ in range(7))


def values(module):
    import cupy
    import numpy

    random = numpy.random.default_rng(1)
    all = []
    sizes = [most for name, most in module.SIZES]
    for name, dtype, shape, how, stored in module.PARAMETERS:
        kind, shape = numpy.dtype(dtype), shape(*sizes)
        if how == "pointer":
            scale = 4 if kind.itemsize == 1 else 100
            all.append((cupy.random.random(shape, dtype="float32") * scale).astype(kind))
        else:
            all.append(random.standard_normal(shape).astype(kind))
    return all


def compile_all(sagen, script, arch):
    with tempfile.TemporaryDirectory() as home:
        folders = []
        for number, row in enumerate(ROWS):
            folder = os.path.join(home, f"{number}_" + row.name.replace(" ", "_").replace(",", ""))
            refused = write(sagen, row, row.large, folder)
            if refused:
                sys.exit(f"{row.name}: {refused}")
            folders.append(folder)
        script = os.path.join(ROOT, "scripts", "gpu", script)
        options = ["--arch", arch] if arch else []
        return subprocess.run([sys.executable, script, *folders, *options]).returncode


FFMA = """extern "C" __global__ void chains(float *out, float x, float y) {
  float v[8];
  for (int k = 0; k < 8; k++) v[k] = threadIdx.x + k;
  for (int t = 0; t < 4096; t++)
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = fmaf(v[k], x, y);
  for (int k = 1; k < 8; k++) v[0] += v[k];
  if (v[0] == 1.5f) out[0] = v[0];
}"""


def rates():
    """Bytes a second of a copy of 256 MB; fused multiplications and additions a second, and those of cuBLAS in fp32."""
    import cupy

    one = cupy.zeros(1 << 26, dtype="float32")
    two = cupy.zeros_like(one)
    copied = 8 * (1 << 26) / seconds(lambda: cupy.copyto(two, one))
    kernel = cupy.RawKernel(FFMA, "chains")
    blocks = 8 * cupy.cuda.Device().attributes["MultiProcessorCount"]
    numbers = (one, cupy.float32(0.5), cupy.float32(0.25))
    fused = blocks * 256 * 8 * 4096 / seconds(lambda: kernel((blocks,), (256,), numbers))
    a, b = cupy.random.random((2, 8192, 8192), dtype="float32")
    out = cupy.empty_like(a)
    product = 8192**3 / seconds(lambda: cupy.matmul(a, b, out=out))
    return {"B": copied, "mac": fused, "product": product}


def check(folder, at):
    test = subprocess.run([sys.executable, os.path.join(folder, "test.py"), *at.split()], capture_output=True, text=True)
    return test.returncode == 0, test.stdout[-500:] + test.stderr[-1000:]


def registers(module):
    return max(kernel[0].num_regs for kernel in module._kernels([most for name, most in module.SIZES]))


def measured(row, folder, peaks):
    """The columns of a row behind its name and map."""
    import cupy

    module = load(folder)
    tensors = values(module)
    sizes = [most for name, most in module.SIZES]
    took = seconds(lambda: module.start(tensors, sizes))
    rate = row.work / took
    share = rate / peaks[row.unit] if row.unit in peaks else None
    reached = share if share is not None else rate
    del tensors
    cupy.get_default_memory_pool().free_all_blocks()
    text = lambda x: f"{100 * x:.0f} %" if share is not None else f"{x / 1e9:,.0f}"
    goal = "" if row.goal is None else text(row.goal) + (" reached" if reached >= row.goal else "")
    return [f"{took * 1e6:.1f}", f"{rate / 1e9:,.0f} G{'mac' if row.unit == 'product' else row.unit}/s", "" if share is None else text(share), goal, str(registers(module))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sagen", required=True)
    parser.add_argument("--out", default=os.path.join(ROOT, "docs", "results", "gpu.md"))
    parser.add_argument("--only", default="", help="rows whose names match this regular expression")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--arch", help="devices to compile for, such as sm_90")
    parser.add_argument("what", nargs="?", choices=["compile", "hip"])
    arguments = parser.parse_args()
    sagen = os.path.abspath(arguments.sagen)
    if arguments.what:
        sys.exit(compile_all(sagen, {"compile": "nvrtc.py", "hip": "hip.py"}[arguments.what], arguments.arch))
    import cupy

    begin, failed = time.time(), 0
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    rows = [row for row in ROWS if re.search(arguments.only, row.name)]
    with tempfile.TemporaryDirectory() as home, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        small = [os.path.join(home, f"s{k}") for k in range(len(rows))]
        large = [os.path.join(home, f"l{k}") for k in range(len(rows))]
        small_written = list(pool.map(lambda k: write(sagen, rows[k], rows[k].small, small[k]), range(len(rows))))
        written = list(pool.map(lambda k: write(sagen, rows[k], rows[k].large, large[k]), range(len(rows))))
        tests = [pool.submit(check, s, row.at) for s, row in zip(small, rows)]
        equal = [test.result() for test in tests]
        print(f"{time.time() - begin:.0f} s: all results compared", flush=True)
        peaks = rates()
        lines = [
            "# Kernels for GPUs: results",
            "",
            "What these kernels are: [gpu.md](../gpu.md).",
            "",
            f"{device}; a copy moves {peaks['B'] / 1e12:.2f} TB/s, {peaks['mac'] / 1e12:.1f} T fused multiplications and "
            f"additions a second, cuBLAS {peaks['product'] / 1e12:.1f} T of them in a product of fp32. Shares are of these. Written by `scripts/gpu.sh`; medians of 7 groups of calls.",
            "",
            "| kernel | map | bit-equal | µs | rate | share | goal | registers |",
            "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        for k, row in enumerate(rows):
            head = f"| {row.name} | `{row.options.strip() or 'by search'}` | "
            if small_written[k] or written[k]:
                failed += 1
                lines.append(head + f"{small_written[k] or written[k]} |  |  |  |  |  |")
            else:
                failed += not equal[k][0]
                if not equal[k][0]:
                    print(row.name, equal[k][1], file=sys.stderr)
                try:
                    columns = measured(row, large[k], peaks)
                except Exception as error:
                    failed += 1
                    columns = [f"{type(error).__name__}: {str(error)[:300]}", "", "", "", ""]
                lines.append(head + " | ".join(["yes" if equal[k][0] else "**no**", *columns]) + " |")
            print(lines[-1], flush=True)
    if not arguments.no_peers:
        lines += ["", *peers()]
    with open(arguments.out, "w") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{time.time() - begin:.0f} s; written to {arguments.out}")
    sys.exit(1 if failed else 0)


def peers():
    """PyTorch's times for the same work, if it is installed."""
    try:
        import torch
        import torch.nn.functional as functional
    except ImportError:
        return ["PyTorch is not installed."]
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    lines = ["| PyTorch | µs |", "| --- | ---: |"]

    def add(name, call):
        lines.append(f"| {name} | {seconds(call) * 1e6:.1f} |")
        print(lines[-1], flush=True)

    for k in (3, 5, 7, 11):
        x, w = torch.randn(1, 1, 8192, 8192, device="cuda"), torch.randn(1, 1, k, k, device="cuda")
        add(f"conv2d {k}x{k}, 8192²", lambda: functional.conv2d(x, w))
    for q in (2, 5, 16, 31):
        x, w = torch.randn(1, 1, 1 << 26, device="cuda"), torch.randn(1, 1, q, device="cuda")
        add(f"conv1d, {q} taps, 2^26", lambda: functional.conv1d(x, w))
    x, w = torch.randn(8, 1536, 2051, device="cuda"), torch.randn(1536, 1, 4, device="cuda")
    add("depthwise conv1d, 4 taps", lambda: functional.conv1d(x, w, groups=1536))
    a, b = torch.randn(8192, 8192, device="cuda"), torch.randn(8192, 8192, device="cuda")
    add("matmul (cuBLAS), fp32, 8192³", lambda: a @ b)
    del a, b
    return lines + ["", *triton_peers()]


def triton_peers():
    """Times of what one writes in Triton for the same work, if it is installed: the best of a few shapes of blocks."""
    try:
        import torch
        from gpu_triton import row, window
    except ImportError:
        return ["Triton is not installed."]
    lines = ["| Triton | µs |", "| --- | ---: |"]

    def add(name, calls):
        lines.append(f"| {name} | {min(seconds(call) for call in calls) * 1e6:.1f} |")
        print(lines[-1], flush=True)

    n = 1 << 26
    for q in (5, 31):
        x, w, y = torch.randn(n + q, device="cuda"), torch.randn(q, device="cuda"), torch.empty(n, device="cuda")
        add(f"{q} taps, 2^26", [lambda b=b: row[(n // b,)](x, w, y, n, q, b) for b in (1024, 2048)])
    for k in (3, 5, 11):
        size = 8193 - k
        x, w, y = torch.randn(8192, 8192, device="cuda"), torch.randn(k, k, device="cuda"), torch.empty(8192, 8192, device="cuda")
        grid = lambda r, c: (-(-size // c), -(-size // r))
        shapes = ((8, 128), (16, 128), (4, 256))
        add(f"window {k}x{k}, 8192²", [lambda r=r, c=c: window[grid(r, c)](x, w, y, size, 8192, k, r, c) for r, c in shapes])
    return lines


if __name__ == "__main__":
    main()
