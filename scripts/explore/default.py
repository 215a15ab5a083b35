#!/usr/bin/env python3
"""Compares the default of `sagen rtl` with what `sagen explore` finds: `default.py [SAGEN] [--only TEXT] [--board NAME] [--write]`.

For each layer of VGG-16 and ResNet-50, fully connected and depthwise layers, and large products: the fewest cycles that
`sagen rtl` found before it balanced cycles and size, those of `sagen explore --time-limit SECONDS`, and the chosen array. Exits 1 if
`rtl` is more than `--most` percent slower (5). `--results FILE` keeps results, so a run that is stopped can go on. `--write`
writes docs/results/defaults.md.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/results/defaults.md"
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
        for n in (512, 1024, 4096):
            yield f"{ty} product {n}³", PRODUCT.format(ty=ty, sums=sums, n=n, m=n, k=n), []


def json_of(words):
    done = subprocess.run(words, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def measure(args, text, macros):
    with tempfile.TemporaryDirectory(prefix="sagen-default-") as folder:
        file = Path(folder) / "program.c"
        file.write_text(text)
        common = [str(file), *macros, "--board", args.board, "--json"]
        rtl = json_of([args.sagen, "rtl", *common, "-o", f"{folder}/ip"])
        found = json_of([args.sagen, "explore", *common, "--time-limit", str(args.seconds)])
    if not rtl or not found:
        return None
    return {"fastest": rtl["search"]["fastest"], "explore": found["best"]["cycles"], "bound": found["bound"],
            "cycles": rtl["predicted_cycles_board"], "lut": rtl["resources"]["lut"], "explore_lut": found["best"]["lut"]}


TEXT = """# The default beside a longer search

Made by `scripts/explore/default.py` (do not edit), board {board}. *rtl* is the fewest cycles that `sagen rtl` found, *explore* those of
`sagen explore` after {seconds} s, *bound* what it proved; *chosen* is the array that `rtl` writes, which is smaller where that costs
little ([the balance](../explore.md#the-balance)).

{table}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("sagen", nargs="?", default=str(Path(target) / "release/sagen"))
    parser.add_argument("--only", default="")
    parser.add_argument("--board", default="u250")
    parser.add_argument("--seconds", type=int, default=10, help="time of `sagen explore` [10]")
    parser.add_argument("--most", type=float, default=5, help="percent by which `rtl` may be slower [5]")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    results = json.loads(args.results.read_text()) if args.results and args.results.exists() else {}
    rows, slow = [], []
    for name, text, macros in problems():
        if args.only not in name:
            continue
        if name not in results:
            results[name] = measure(args, text, macros)
            print(name, results[name], file=sys.stderr, flush=True)
            if args.results:
                args.results.write_text(json.dumps(results, indent=1))
        found = results[name]
        if not found:
            rows.append(f"| {name} | – | | | | | | |")
            continue
        more = 100 * (found["fastest"] / found["explore"] - 1)
        slow += [name] if more > args.most else []
        rows.append(f"| {name} | {found['fastest']:,} | {found['explore']:,} | {more:+.1f} % | {found['bound']:,} | {found['cycles']:,} | {found['lut']:,} | {found['explore_lut']:,} |")
    table = ("| program | rtl: cycles | explore: cycles | more | bound | chosen: cycles | LUT | explore: LUT |\n"
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n" + "\n".join(rows))
    print(table)
    if args.write:
        PAGE.write_text(TEXT.format(board=args.board, seconds=args.seconds, table=table))
    if slow:
        sys.exit(f"default.py: more than {args.most} % slower: {', '.join(slow)}")


if __name__ == "__main__":
    main()
