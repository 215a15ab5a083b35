#!/usr/bin/env python3
"""Convolution layers of ResNet-50 and VGG-16 on arrays of one shape: `layers.py [SAGEN] [--predict] [--only TEXT]`.

Writes docs/results/layers.md: cycles of every distinct layer in full size, predicted and simulated. Fails if a result
differs from C, or simulated from predicted cycles. `--predict` skips the slow simulations and prints the tables. `--only`
selects layers by name.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests/run/conv_layer.c"

# (name, occurrences in the network, output channels, input channels, output rows and columns, kernel, stride)
RESNET_50 = [
    ("conv1", 1, 64, 3, 112, 7, 2),
    ("conv2 first reduce", 1, 64, 64, 56, 1, 1),
    ("conv2 3×3", 3, 64, 64, 56, 3, 1),
    ("conv2 expand", 4, 256, 64, 56, 1, 1),
    ("conv2 reduce", 2, 64, 256, 56, 1, 1),
    ("conv3 first reduce", 1, 128, 256, 56, 1, 1),
    ("conv3 first 3×3", 1, 128, 128, 28, 3, 2),
    ("conv3 shortcut", 1, 512, 256, 28, 1, 2),
    ("conv3 expand", 4, 512, 128, 28, 1, 1),
    ("conv3 reduce", 3, 128, 512, 28, 1, 1),
    ("conv3 3×3", 3, 128, 128, 28, 3, 1),
    ("conv4 first reduce", 1, 256, 512, 28, 1, 1),
    ("conv4 first 3×3", 1, 256, 256, 14, 3, 2),
    ("conv4 shortcut", 1, 1024, 512, 14, 1, 2),
    ("conv4 expand", 6, 1024, 256, 14, 1, 1),
    ("conv4 reduce", 5, 256, 1024, 14, 1, 1),
    ("conv4 3×3", 5, 256, 256, 14, 3, 1),
    ("conv5 first reduce", 1, 512, 1024, 14, 1, 1),
    ("conv5 first 3×3", 1, 512, 512, 7, 3, 2),
    ("conv5 shortcut", 1, 2048, 1024, 7, 1, 2),
    ("conv5 expand", 3, 2048, 512, 7, 1, 1),
    ("conv5 reduce", 2, 512, 2048, 7, 1, 1),
    ("conv5 3×3", 2, 512, 512, 7, 3, 1),
]
VGG_16 = [
    ("conv1_1", 1, 64, 3, 224, 3, 1),
    ("conv1_2", 1, 64, 64, 224, 3, 1),
    ("conv2_1", 1, 128, 64, 112, 3, 1),
    ("conv2_2", 1, 128, 128, 112, 3, 1),
    ("conv3_1", 1, 256, 128, 56, 3, 1),
    ("conv3_2, conv3_3", 2, 256, 256, 56, 3, 1),
    ("conv4_1", 1, 512, 256, 28, 3, 1),
    ("conv4_2, conv4_3", 2, 512, 512, 28, 3, 1),
    ("conv5_1 to conv5_3", 3, 512, 512, 14, 3, 1),
]


def resnet_design(layer):
    """16 × 7 PEs with 8 lanes; one tile size for the 1×1 kernels, one for the others."""
    _, _, _, inputs, pixels, kernel, _ = layer
    rows = 8 if pixels == 56 else 7
    if inputs == 3:
        return ["--tile", f"o=64,c=7,r={rows}", "--latency", "o=4", "--simd", "i=3"]
    if kernel == 1:
        return ["--tile", f"o=64,c=7,r={rows}", "--latency", "o=4", "--simd", "i=8"]
    return ["--tile", f"o=16,c=7,r={rows}", "--simd", "i=8"]


def vgg_design(layer):
    """64 × 14 PEs with 8 lanes, one tile size. The first layer runs on the small array, which it cannot exceed."""
    if layer[3] == 3:
        return resnet_design(layer)
    return ["--tile", "o=64,c=14,r=14,i=64", "--simd", "i=8"]


class Sagen:
    def __init__(self, binary):
        self.binary = binary

    def run(self, command, layer, design):
        _, _, outputs, inputs, pixels, kernel, stride = layer
        sizes = {"O": outputs, "I": inputs, "R": pixels, "C": pixels, "P": kernel, "S": stride}
        defines = [x for name, value in sizes.items() for x in ("-D", f"{name}={value}")]
        words = [self.binary, *command, "--json", str(SOURCE), *defines, "--space", "o,c", *design, "--memory", "ideal"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"layers.py: {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout)

    def predict(self, layer, design):
        with tempfile.TemporaryDirectory() as out:
            return self.run(["rtl", "--board", "u250", "-o", f"{out}/layer"], layer, design)

    def simulate(self, layer, design):
        return self.run(["sim", "--board", "u250"], layer, design)


def rows_of(sagen, layers, design_of, predict):
    """One row a layer, and one for the network, in which each layer counts as often as it occurs."""
    rows, ideal_sum, cycles_sum = [], 0, 0
    for layer in layers:
        name, count, outputs, inputs, pixels, kernel, stride = layer
        design = design_of(layer)
        report = sagen.predict(layer, design)
        [height, width], simd = report["array"], report["simd"]
        cycles, lanes = report["predicted_cycles"], height * width * simd
        ideal = report["macs"] / lanes
        simulated = "–"
        if not predict:
            result = sagen.simulate(layer, design)
            if not result["match"] or result["cycles"] != cycles:
                sys.exit(f"layers.py: {name}: {result['cycles']} of {cycles} cycles, {result['mismatches']} mismatches")
            simulated = f"{result['cycles']:,}, equal"
        print(f"{name}: {cycles:,} cycles predicted, {simulated}", file=sys.stderr, flush=True)
        loops = f"{outputs}·{pixels}·{pixels}·{inputs}·{kernel}·{kernel}" + (", stride 2" if stride == 2 else "")
        tile = design[1].replace("=", " ").replace(",", ", ")
        need = report["resources"]
        rows.append([name, str(count), loops, f"{height}×{width}", str(simd), f"{lanes:,}", tile, f"{ideal:,.0f}",
                     f"{cycles:,}", f"{100 * ideal / report['compute_cycles']:.1f} %", f"{100 * ideal / cycles:.1f} %",
                     simulated, f"{need['dsp']:,}", f"{need['bram36']:,}"])
        ideal_sum += count * ideal
        cycles_sum += count * cycles
    total = ["whole network", str(sum(layer[1] for layer in layers))] + [""] * 12
    total[7], total[8], total[10] = f"{ideal_sum:,.0f}", f"{cycles_sum:,}", f"{100 * ideal_sum / cycles_sum:.1f} %"
    return rows + [total] if len(layers) > 1 else rows


HEADER = ["layer", "times", "loops o·r·c·i·p·q", "PEs", "SIMD", "lanes", "tile", "ideal cycles", "predicted",
          "while computing", "overall", "simulated", "DSP", "BRAM36"]


def table(rows):
    align = ["---"] + ["---:" if i in (1, 4, 5, 7, 8, 9, 10, 12, 13) else "---" for i in range(1, len(HEADER))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [HEADER, align, *rows])


TEXT = """# Convolution layers of ResNet-50 and VGG-16

Made by `scripts/layers.py` (do not edit). Every distinct convolution of both networks in full size, `int8_t` times
`int8_t` into `int32_t`, from one C file, [tests/run/conv_layer.c](../../tests/run/conv_layer.c): channels last, the input
with its zero padding, stride in the subscripts. Board u250, space loops o and c, SIMD over the input channels.

- *ideal cycles*: multiply-accumulates divided by lanes.
- *while computing*: ideal cycles per launch (one every cycle). The rest to 100 % are lanes without work.
- *overall*: ideal cycles per predicted cycle, from start to done: with the first load, the last store, the pipeline
  and every wait for DRAM.
- *simulated*: cycles of the emitted design through its AXI ports under ideal memory, and whether every result equals
  the C program's.

The layers share only the shape: sizes are constants of a compilation, so every layer is an IP of its own. One IP for all
layers is in [sizes.md](sizes.md#networks).

## ResNet-50 (v1.5)

{resnet}

One shape, 16 × 7 PEs, and two tile sizes (`--latency o=4` where the tile has 64 output channels). Seven columns, because
seven divides every width. 896 lanes, because `int32_t` results limit the 1×1 layers of 64 input channels: 64 products
make 4 bytes, so that a 64-byte port takes the results of 1,024 lanes. The first layer has three input channels and
uses three lanes per PE.

## VGG-16

{vgg}

These layers compute more per byte: 64 × 14 PEs, one tile size. The first one again has three input channels and makes
a result of 27 products, so that 64 bytes per cycle take the results of 432 lanes; it runs on the small array.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("sagen", nargs="?", default=str(Path(target) / "release/sagen"))
    parser.add_argument("--predict", action="store_true", help="no simulation; print the tables")
    parser.add_argument("--only", metavar="TEXT", help="layers whose name contains TEXT; print the tables")
    args = parser.parse_args()
    sagen = Sagen(args.sagen)
    tables = {}
    for network, layers, design_of in [("resnet", RESNET_50, resnet_design), ("vgg", VGG_16, vgg_design)]:
        chosen = [layer for layer in layers if not args.only or args.only in layer[0]]
        tables[network] = table(rows_of(sagen, chosen, design_of, args.predict))
    if args.predict or args.only:
        print("\n\n".join(tables.values()))
    else:
        (ROOT / "docs/results/layers.md").write_text(TEXT.format(**tables))


if __name__ == "__main__":
    main()
