#!/usr/bin/env python3
"""Compares the default of `sagen rtl` with what `sagen explore` finds: `default.py [SAGEN] [--only TEXT] [--boards A,B] [--write]`.

For each layer of VGG-16 and ResNet-50, fully connected and depthwise layers, and large products: the fewest cycles that
`sagen rtl` found before it balanced cycles and size, those of `sagen explore --time-limit SECONDS`, and the chosen array. `explore`
runs only where `rtl` leaves more than `--most` percent (5) without a proof: elsewhere it can find nothing that matters. Exits 1 if
`rtl` is more than `--most` percent slower. `--results FILE` keeps results, so a run that is stopped can go on. `--write`
writes all results to docs/results/choice.md.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/results/choice.md"
PRODUCT = """#include <stdint.h>
void mm({ty} A[{n}][{k}], {ty} B[{k}][{m}], {sums} C[{n}][{m}]) {{
#pragma scop
  for (int i = 0; i < {n}; i++)
    for (int j = 0; j < {m}; j++) {{
      C[i][j] = 0;
      for (int k = 0; k < {k}; k++)
        C[i][j] += A[i][k] * B[k][j];
    }}
#pragma endscop
}}
"""
DEPTHWISE = """#include <stdint.h>
void depthwise(int8_t X[{s} + 2][{s} + 2][{c}], int8_t W[3][3][{c}], int32_t Y[{s}][{s}][{c}]) {{
#pragma scop
  for (int r = 0; r < {s}; r++)
    for (int x = 0; x < {s}; x++)
      for (int c = 0; c < {c}; c++) {{
        Y[r][x][c] = 0;
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 3; q++)
            Y[r][x][c] += X[r + p][x + q][c] * W[p][q][c];
      }}
#pragma endscop
}}
"""


def problems():
    """Name, C's text, macros."""
    layer = (ROOT / "examples/layer.c").read_text()
    for net in ("vgg16", "resnet50"):
        for found in tomllib.loads((ROOT / f"examples/{net}.toml").read_text())["layer"]:
            yield f"{net} {found['name']}", layer, [f"-D{name}={value}" for name, value in found["define"].items()]
    for inputs, outputs in ((25088, 4096), (4096, 4096), (2048, 1000)):
        yield f"fully connected {inputs}→{outputs}, batch 16", PRODUCT.format(ty="int8_t", sums="int32_t", n=16, m=outputs, k=inputs), []
    for size, channels in ((112, 64), (56, 128), (14, 512)):
        yield f"depthwise 3×3, {size}², {channels} channels", DEPTHWISE.format(s=size, c=channels), []
    for ty, sums in (("int8_t", "int32_t"), ("int16_t", "int32_t"), ("float", "float")):
        for n in (256, 1024, 4096):
            yield f"{ty} product {n}³", PRODUCT.format(ty=ty, sums=sums, n=n, m=n, k=n), []


def json_of(words):
    done = subprocess.run(words, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def measure(args, board, text, macros):
    with tempfile.TemporaryDirectory(prefix="sagen-default-") as folder:
        file = Path(folder) / "program.c"
        file.write_text(text)
        common = [str(file), *macros, "--board", board, "--json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        rtl = json_of([args.sagen, "rtl", *common, "-o", f"{folder}/ip"])
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if not rtl:
            return None
        search = rtl["search"]
        result = {"fastest": search["fastest"], "explore": None, "bound": search["bound"], "cpu": round(seconds, 1),
                  "cycles": rtl["predicted_cycles_board"], "lut": rtl["resources"]["lut"]}
        if search["fastest"] > (1 + args.most / 100) * search["bound"]:
            found = json_of([args.sagen, "explore", *common, "--time-limit", str(args.seconds)])
            if not found:
                return None
            result |= {"explore": found["best"]["cycles"], "bound": max(search["bound"], found["bound"])}
    return result


def cells(found):
    """`rtl` beside the fewest cycles that `explore` found, or beside the bound that `rtl` proved."""
    least = found["explore"] or found["bound"]
    more = 100 * (found["fastest"] / least - 1)
    explore = f"{found['explore']:,}" if found["explore"] else "–"
    return [f"{found['fastest']:,}", explore, f"{found['bound']:,}", f"{more:+.1f} %", f"{found['cpu']}",
            f"{found['cycles']:,}", f"{found['lut']:,}"], more


TEXT = """# The default beside a longer search

Made by `scripts/explore/default.py` (do not edit). *rtl* is the fewest cycles that `sagen rtl` found, *explore* those of
`sagen explore` after {seconds} s, on a machine that may have done other work at the same time. It runs only where `rtl`
leaves more than {most} % without a proof. *bound*: no array within the limits takes fewer cycles. *more*: `rtl` above
`explore`, or above the bound. *CPU s*: processor time of all of `sagen rtl`. *chosen* is the array that `rtl` writes,
which is smaller where that costs little ([the balance](../explore.md#the-balance)). What is not here was not measured.
"""
HEAD = """| program | rtl: cycles | explore: cycles | bound | more | CPU s | chosen: cycles | LUT |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def page_of(results, args):
    """All results, and the names of those that are too slow."""
    slow, page = [], TEXT.format(seconds=args.seconds, most=f"{args.most:g}")
    for board in dict.fromkeys(key.split(": ")[0] for key in results):
        page += f"\n## {board}\n\n{HEAD}"
        for name in (name for name, _, _ in problems() if f"{board}: {name}" in results):
            found = results[f"{board}: {name}"]
            shown, more = cells(found) if found else (["–"] + [""] * 6, 0)
            slow += [f"{board}: {name}"] if more > args.most else []
            page += f"| {name} | {' | '.join(shown)} |\n"
    return page, slow


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("sagen", nargs="?", default=str(Path(target) / "release/sagen"))
    parser.add_argument("--only", default="", help="regular expression that names match")
    parser.add_argument("--boards", default="u250,kv260,pynq-z2")
    parser.add_argument("--seconds", type=int, default=10, help="time of `sagen explore` [10]")
    parser.add_argument("--most", type=float, default=5, help="percent by which `rtl` may be slower [5]")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    results = json.loads(args.results.read_text()) if args.results and args.results.exists() else {}
    wanted = [(board, *problem) for board in args.boards.split(",") for problem in problems() if re.search(args.only, problem[0])]
    for board, name, text, macros in wanted:
        key = f"{board}: {name}"
        if key not in results:
            results[key] = measure(args, board, text, macros)
            print(key, results[key], file=sys.stderr, flush=True)
            if args.results:
                args.results.write_text(json.dumps(results, indent=1))
    page, slow = page_of(results, args)
    print(page)
    if args.write:
        PAGE.write_text(page)
    if slow:
        sys.exit(f"default.py: more than {args.most:g} % slower: {', '.join(slow)}")


if __name__ == "__main__":
    main()
