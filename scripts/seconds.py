#!/usr/bin/env python3
"""Processor time and memory of `sagen rtl` for large programs: `seconds.py [SAGEN] [--only TEXT] [--before FILE] [--write]`.

Runs `sagen rtl` with its defaults on large products, convolutions, stencils, solvers and programs with sizes at run time, and on
PolyBench's large sizes if `--polybench CHECKOUT` names its sources. Prints one row a program: seconds of processor time, MB of
memory at most, cycles with the board's memory, gap, LUT, or the code of the refusal. Exits 1 if one takes more than `--most`
seconds (60) or 1,000 MB.

--before FILE adds the results of another build, which `seconds.py OTHER --results FILE` has kept. --write writes
docs/results/seconds.md. --board takes another board.
"""
import argparse
import json
import os
import re
import resource
import sys
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/results/seconds.md"
MEGABYTES = 1000


def product(n, ty, sum_ty=None):
    sum_ty = sum_ty or ty
    return f"""#include <stdint.h>
void mm({ty} A[{n}][{n}], {ty} B[{n}][{n}], {sum_ty} C[{n}][{n}]) {{
#pragma scop
  for (int i = 0; i < {n}; i++)
    for (int j = 0; j < {n}; j++) {{
      C[i][j] = 0;
      for (int k = 0; k < {n}; k++)
        C[i][j] += A[i][k] * B[k][j];
    }}
#pragma endscop
}}
"""


def sized_product(most, ty, sum_ty):
    return f"""#include <stdint.h>
#pragma sagen max(n={most}, m={most}, l={most})
void mm(int n, int m, int l, {ty} A[n][l], {ty} B[l][m], {sum_ty} C[n][m]) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
      C[i][j] = 0;
      for (int k = 0; k < l; k++)
        C[i][j] += A[i][k] * B[k][j];
    }}
#pragma endscop
}}
"""


def convolution(batch, outputs, inputs, pixels, kernel, ty="int8_t", sum_ty="int32_t"):
    return f"""#include <stdint.h>
void conv({ty} X[{batch}][{pixels + kernel - 1}][{pixels + kernel - 1}][{inputs}], {ty} W[{outputs}][{kernel}][{kernel}][{inputs}],
          {sum_ty} Y[{batch}][{pixels}][{pixels}][{outputs}]) {{
#pragma scop
  for (int b = 0; b < {batch}; b++)
    for (int o = 0; o < {outputs}; o++)
      for (int r = 0; r < {pixels}; r++)
        for (int c = 0; c < {pixels}; c++) {{
          Y[b][r][c][o] = 0;
          for (int i = 0; i < {inputs}; i++)
            for (int p = 0; p < {kernel}; p++)
              for (int q = 0; q < {kernel}; q++)
                Y[b][r][c][o] += X[b][r + p][c + q][i] * W[o][p][q][i];
        }}
#pragma endscop
}}
"""


def torus(n, steps):
    return f"""#define N {n}
#define L(i) ((i) == 0 ? N - 1 : (i)-1)
#define R(i) ((i) == N - 1 ? 0 : (i) + 1)
void diffuse(int u[2][N][N][N]) {{
#pragma scop
  for (int t = 1; t < {steps + 1}; t++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++)
          u[t % 2][i][j][k] = u[(t - 1) % 2][i][j][k] + u[(t - 1) % 2][L(i)][j][k] + u[(t - 1) % 2][R(i)][j][k]
              + u[(t - 1) % 2][i][L(j)][k] + u[(t - 1) % 2][i][R(j)][k] + u[(t - 1) % 2][i][j][L(k)] + u[(t - 1) % 2][i][j][R(k)];
#pragma endscop
}}
"""


def lu(n):
    return f"""#define N {n}
void factor(float a[N][N]) {{
#pragma scop
  for (int i = 0; i < N; i++) {{
    for (int j = 0; j < i; j++) {{
      for (int k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[k][j];
      a[i][j] /= a[j][j];
    }}
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++)
        a[i][j] -= a[i][k] * a[k][j];
  }}
#pragma endscop
}}
"""


def jacobi(n, steps):
    return f"""#define N {n}
void relax(float a[N][N], float b[N][N]) {{
#pragma scop
  for (int t = 0; t < {steps}; t++) {{
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = 0.2f * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = 0.2f * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i - 1][j] + b[i + 1][j]);
  }}
#pragma endscop
}}
"""


def floyd_warshall(n):
    return f"""#define N {n}
void paths(int path[N][N]) {{
#pragma scop
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}}
"""


def seidel(n, steps):
    return f"""#define N {n}
void seidel(float A[N][N]) {{
#pragma scop
  for (int t = 0; t < {steps}; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j - 1]
                   + A[i + 1][j] + A[i + 1][j + 1]) / 9.0f;
#pragma endscop
}}
"""


def powers(most, steps):
    """A^k by phases, with a size at run time."""
    return f"""#include <stdint.h>
#pragma sagen max(n={most}, k={steps})
void power(int n, int k, int32_t A[n][n], int32_t X[k + 1][n][n]) {{
#pragma scop
  for (int t = 0; t < k; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {{
        X[t + 1][i][j] = 0;
        for (int l = 0; l < n; l++)
          X[t + 1][i][j] += X[t][i][l] * A[l][j];
      }}
#pragma endscop
}}
"""


def programs(args):
    """Group, name, C's text or a file, options."""
    for n in (512, 1024, 4096):
        yield "Products", f"int8 {n}³", product(n, "int8_t", "int32_t"), []
        yield "Products", f"int16 {n}³", product(n, "int16_t", "int32_t"), []
        yield "Products", f"fp32 {n}³", product(n, "float"), []
    yield "Products", "fp64 1024³", product(1024, "double"), []
    for most in (1024, 4096, 65536):
        yield "Sizes at run time", f"int16 product up to {most:,}³", sized_product(most, "int16_t", "int32_t"), []
    yield "Sizes at run time", "fp32 product up to 65,536³", sized_product(65536, "float", "float"), []
    yield "Sizes at run time", "powers of a matrix up to 64²", powers(64, 8), []
    yield "Sizes at run time", "powers of a matrix up to 1,024²", powers(1024, 16), []
    yield "Convolutions", "8 images, 64 to 64 channels, 56², 3×3", convolution(8, 64, 64, 56, 3), []
    yield "Convolutions", "32 images, 512 to 512 channels, 14², 3×3", convolution(32, 512, 512, 14, 3), []
    yield "Convolutions", "the same in fp32", convolution(32, 512, 512, 14, 3, "float", "float"), []
    yield "Stencils and solvers", "torus 8³, 2 steps", torus(8, 2), []
    yield "Stencils and solvers", "torus 32³, 4 steps", torus(32, 4), []
    yield "Stencils and solvers", "LU 1,000", lu(1000), []
    yield "Stencils and solvers", "LU 2,000", lu(2000), []
    yield "Stencils and solvers", "Jacobi 1,300², 500 steps", jacobi(1300, 500), []
    yield "Stencils and solvers", "Floyd–Warshall 2,800", floyd_warshall(2800), []
    yield "Stencils and solvers", "Seidel 2,000², 500 steps", seidel(2000, 500), []
    if args.autosa:
        for kernel in ("cnn", "mm", "mttkrp", "ttm", "ttmc"):
            yield "AutoSA, large", kernel, Path(args.autosa) / f"autosa_tests/large/{kernel}/kernel.c", []
    if args.polybench:
        checkout = Path(args.polybench)
        lines = (checkout / "utilities/benchmark_list").read_text().split()
        for file in sorted(checkout / line for line in lines):
            options = ["-I", str(checkout / "utilities"), "-D", "LARGE_DATASET", "-D", "POLYBENCH_USE_SCALAR_LB"]
            yield "PolyBench, large, as published", file.stem, file, options


def measured(words, limit):
    """Exit status, what it prints, what it says, seconds of processor time and MB at most."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(words, stdout=out, stderr=err, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return child.returncode, out.read(), err.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run(args, program):
    group, name, source, options = program
    with tempfile.TemporaryDirectory(prefix="sagen-seconds-") as folder:
        file = source
        if isinstance(source, str):
            file = Path(folder) / "program.c"
            file.write_text(source)
        words = [args.sagen, "rtl", str(file), "--board", args.board, *options, *args.options, "--json", "-o", f"{folder}/ip"]
        status, out, err, seconds, megabytes = measured(words, args.limit)
    result = {"seconds": round(seconds, 1), "megabytes": round(megabytes)}
    if status == 0:
        report = json.loads(out)
        search = report["search"] or {}
        result |= {"cycles": report["predicted_cycles_board"], "gap": search.get("gap"), "lut": report["resources"]["lut"],
                   "dsp": report["resources"]["dsp"], "fastest": search.get("fastest"), "bound": search.get("bound")}
    elif seconds >= args.limit:
        result["refused"] = "time"
    else:
        codes = re.findall(r"^\[?(?:error\[)?(E\d{4})\]?\]? Error: ", err, re.M)
        result["refused"] = " ".join(sorted(set(codes))) or f"exit {status}"
    return result


def cells(result):
    if not result:
        return ["–"] * 5
    if "refused" in result:
        return [f"{result['seconds']:.1f}", str(result["megabytes"]), result["refused"], "", ""]
    gap = result["gap"]
    return [f"{result['seconds']:.1f}", str(result["megabytes"]), f"{result['cycles']:,}", "" if gap is None else f"{100 * gap:.1f} %", f"{result['lut']:,}"]


HEAD = ["CPU s", "MB", "cycles", "gap", "LUT"]


def tables(groups, results, before):
    """One table a group; with the results of another build in front of each row's own."""
    text = ""
    for group, names in groups.items():
        head = ["program", *([f"before: {h}" for h in HEAD] if before else []), *HEAD]
        rows = [head, ["---", *["---:"] * (len(head) - 1)]]
        for name in names:
            old = cells(before.get(f"{group}|{name}")) if before else []
            rows.append([name, *old, *cells(results.get(f"{group}|{name}"))])
        text += f"\n## {group}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
    return text


TEXT = """# Processor time of `sagen rtl`

Made by `scripts/seconds.py` (do not edit): `sagen rtl --board {board}` with its defaults. *CPU s* is processor time of all
threads, *MB* the most memory, *cycles* those with the board's memory; *gap* is the share of them that another array of the
search's space may save at most, also where the array was chosen to be smaller than the fastest one. A code stands where sagen
refuses the program.{note}
{tables}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("sagen", nargs="?", default=str(Path(target) / "release/sagen"))
    parser.add_argument("--only", default="", help="programs whose group and name contain this; print the tables")
    parser.add_argument("--board", default="u250")
    parser.add_argument("--polybench", metavar="CHECKOUT", help="PolyBench/C 4.2")
    parser.add_argument("--autosa", metavar="CHECKOUT", help="AutoSA")
    parser.add_argument("--results", type=Path, help="keep results in this file, and take those that it has")
    parser.add_argument("--before", type=Path, help="results of another build")
    parser.add_argument("--limit", type=int, default=300, help="processor time after which a run is ended [300 s]")
    parser.add_argument("--most", type=int, default=60, help="processor time that a run may take [60 s]")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--options", type=str.split, default=[], help="more options of `sagen rtl`")
    parser.add_argument("--kept", action="store_true", help="run nothing: the tables of what --results has")
    parser.add_argument("--note", default="", help="a sentence about the builds, for the page")
    parser.add_argument("--write", action="store_true", help="write docs/results/seconds.md")
    args = parser.parse_args()
    every = [program for program in programs(args) if args.only in f"{program[0]} {program[1]}"]
    results = json.loads(args.results.read_text()) if args.results and args.results.exists() else {}
    before = json.loads(args.before.read_text()) if args.before else {}
    if args.kept:
        every = [program for program in every if f"{program[0]}|{program[1]}" in results]
    groups = {}
    for group, name, *_ in every:
        groups.setdefault(group, []).append(name)

    def work(program):
        key = f"{program[0]}|{program[1]}"
        if key not in results:
            results[key] = run(args, program)
            print(key, results[key], file=sys.stderr, flush=True)
            if args.results:
                args.results.write_text(json.dumps(dict(results), indent=1))

    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(work, every))
    text = tables(groups, results, before)
    print(text)
    if args.write:
        PAGE.write_text(TEXT.format(board=args.board, note=f" {args.note}" if args.note else "", tables=text))
    own = [results[f"{group}|{name}"] for group, names in groups.items() for name in names]
    sys.exit(any(r["seconds"] > args.most or r["megabytes"] > MEGABYTES for r in own))


if __name__ == "__main__":
    main()
