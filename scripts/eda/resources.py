#!/usr/bin/env python3
"""Counts device resources per module in a mapped Yosys netlist: `resources.py OUT TOP [--json] [--assert EXPR]`.

OUT holds netlist.json and soft_multipliers.txt as resources.sh leaves them. Each distinct module gets one row with its
own cells (`own`), its subtree (`total`) and how many instances of it the top has. Units: LUT = 6-input LUT sites
(logic, LUT RAM and shift registers), FF = flip-flops, BRAM36 = 36-Kbit blocks (an 18-Kbit half counts 0.5).
"""
import argparse
import json
import re
import sys
from collections import Counter

# LUT sites taken by distributed RAM (UG574, table "Distributed RAM configuration").
LUT_RAM = {
    "RAM32X1S": 1, "RAM64X1S": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1S": 2, "RAM128X1D": 4, "RAM256X1S": 4,
    "RAM256X1D": 8, "RAM512X1S": 8, "RAM32M": 4, "RAM64M": 4, "RAM32X2S": 2, "RAM32M16": 8, "RAM64M8": 8,
    "RAM32X16DR8": 8, "RAM64X8SW": 8,
}
FIELDS = ("lut", "ff", "dsp", "bram36", "uram", "lut_ram", "srl", "carry4", "soft_mul")
DSP_REGS = {"A": "AREG", "B": "BREG", "C": "CREG", "D": "DREG", "AD": "ADREG", "M": "MREG", "P": "PREG"}


def value(parameter):
    """A parameter of a Yosys JSON cell as an integer (binary string) or, for text parameters, None."""
    if isinstance(parameter, int):
        return parameter
    return int(parameter, 2) if re.fullmatch(r"[01]+", parameter) else None


def used_dsp_registers(cell):
    """Which of a DSP48E2's register stages lie in a path in use: A, B and D ports count only when connected."""
    def driven(port):
        return any(not isinstance(bit, str) for bit in cell["connections"].get(port, []))
    parameters = cell["parameters"]
    stages = {name: value(parameters.get(parameter, "1")) or 0 for name, parameter in DSP_REGS.items()}
    for name in ("A", "B", "C", "D"):
        cascade = name in "AB" and driven(name + "CIN")
        if not driven(name) and not cascade:
            stages[name] = 0
    if not stages["D"]:
        stages["AD"] = 0
    return stages


def count(cell, row, registers):
    """Adds one leaf cell to a row of counts."""
    kind = cell["type"]
    if re.fullmatch(r"LUT[1-6]|LUT6_2|INV", kind):
        row["lut"] += kind != "INV"
    elif kind in LUT_RAM:
        row["lut"] += LUT_RAM[kind]
        row["lut_ram"] += LUT_RAM[kind]
    elif re.fullmatch(r"SRL16E|SRLC16E|SRLC32E", kind):
        row["lut"] += 1
        row["srl"] += 1
    elif re.fullmatch(r"FD[RSCP]E(_1)?|LD[CP]E", kind):
        row["ff"] += 1
    elif kind.startswith("DSP48"):
        row["dsp"] += 1
        for name, depth in used_dsp_registers(cell).items():
            registers[name] += depth
    elif kind.startswith("RAMB36"):
        row["bram36"] += 1
    elif kind.startswith("RAMB18"):
        row["bram36"] += 0.5
    elif kind.startswith("URAM288"):
        row["uram"] += 1
    elif kind == "CARRY4":
        row["carry4"] += 1
    elif kind == "CARRY8":
        row["carry4"] += 2
    elif kind.startswith("$") and kind not in ("$scopeinfo", "$print"):
        raise SystemExit(f"resources.py: cell type {kind} was not mapped")


def soft_multipliers(path):
    """Multipliers left to LUTs, per module, from Yosys's `select -list` (lines `module/cell`)."""
    with open(path) as lines:
        return Counter(line.rsplit("/", 1)[0].lstrip("\\") for line in lines.read().split() if "/" in line)


def measure(netlist, soft, top):
    """Rows of counts for every module below `top`, which comes first; then the others by name."""
    modules = {name: m for name, m in netlist["modules"].items() if not blackbox(m)}
    if top not in modules:
        raise SystemExit(f"resources.py: no module {top} in the netlist")
    rows = {}

    def visit(name):
        if name in rows:
            return rows[name]
        own, registers, children = dict.fromkeys(FIELDS, 0), Counter(), Counter()
        own["soft_mul"] = soft.get(name, 0)
        for cell in modules[name]["cells"].values():
            if cell["type"] in modules:
                children[cell["type"]] += 1
            else:
                count(cell, own, registers)
        total, all_registers, below = dict(own), Counter(registers), Counter({name: 1})
        for child, times in children.items():
            sub = visit(child)
            for field in FIELDS:
                total[field] += times * sub["total"][field]
            for register, n in sub["dsp_regs"].items():
                all_registers[register] += times * n
            for module, n in sub["below"].items():
                below[module] += times * n
        rows[name] = {"own": own, "total": total, "dsp_regs": all_registers, "below": below}
        return rows[name]

    visit(top)
    result = []
    for name in [top] + sorted(set(rows) - {top}):
        row = rows[name]
        registers = {register: row["dsp_regs"].get(register, 0) for register in DSP_REGS}
        result.append({"module": plain(name), "instances": rows[top]["below"][name], "own": row["own"],
                       "total": row["total"], "dsp_regs": registers})
    return result


def blackbox(module):
    attributes = module.get("attributes", {})
    return any(value(attributes[a]) for a in ("blackbox", "whitebox") if a in attributes)


def plain(name):
    """A parametrized module's Yosys name without the mark-up: `$paramod\\fifo\\W=s32'...` -> `fifo(W=8)`."""
    found = re.fullmatch(r"\$paramod\\(\w+)((?:\\\w+=s?\d+'[01]+)+)", name)
    if not found:
        return re.sub(r"^\$paramod\$[0-9a-f]+\\", "", name)
    parameters = re.findall(r"\\(\w+)=s?\d+'([01]+)", found[2])
    return f"{found[1]}({', '.join(f'{p}={int(v, 2)}' for p, v in parameters)})"


def table(rows):
    head = ["module", "instances", "LUT", "FF", "DSP", "BRAM36", "URAM", "LUTRAM", "SRL", "CARRY4", "soft mul",
            "DSP registers"]
    lines = [head]
    for row in rows:
        registers = " ".join(f"{name}:{n}" for name, n in row["dsp_regs"].items() if n)
        lines.append([row["module"], str(row["instances"])] + [f"{row['total'][f]:g}" for f in FIELDS] + [registers or "-"])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        cells = [c.ljust(w) if i in (0, 11) else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())
    print("(each row: one instance with everything below it)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("top")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--assert", dest="expression")
    args = parser.parse_args()
    with open(f"{args.out}/netlist.json") as netlist:
        rows = measure(json.load(netlist), soft_multipliers(f"{args.out}/soft_multipliers.txt"), args.top)
    if args.json:
        json.dump({"top": args.top, "modules": rows}, sys.stdout, indent=1)
        print()
    else:
        table(rows)
    if args.expression:
        top = rows[0]
        names = dict(top["total"], dsp_regs=top["dsp_regs"], instances=top["instances"])
        if not eval(args.expression, {"__builtins__": {}}, names):
            print(f"resources.py: {args.top} violates: {args.expression}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
