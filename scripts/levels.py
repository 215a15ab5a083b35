#!/usr/bin/env python3
"""Slowest path between registers of a mapped Yosys netlist: `levels.py NETLIST.json TOP [--json] [--max N] [--period NS]`.

`resources.sh --keep` writes NETLIST.json. The analysis is hierarchical: it analyses every distinct module once and reuses
the timing of its pins in all instances. Paths from inputs and to outputs of the top count as well. The printed path is the
slowest by estimated time. The time of a net grows with its fan-out; cascades between DSP slices and carry chains have no net.
Levels count as in Vivado: one for a LUT or a wide multiplexer, for two CARRY4 (one CARRY8), and for a DSP slice or LUT RAM
without a register in the path. The count is exact; the time is an estimate. `--max N` fails if any path has more than N
levels, `--period NS` if the slowest path takes longer.
"""
import argparse
import json
import math
import re
import sys
from collections import Counter

NET_NS = 0.35            # a routed net with up to four loads
DOUBLING_NS = 0.05       # more for each doubling of the loads beyond four
CLOCK_TO_Q_NS = 0.10
SETUP_NS = 0.05
BLOCK_CLOCK_NS = 0.50    # DSP with output register, address of a LUT RAM: clock to output
MEMORY_CLOCK_NS = 0.90   # BRAM and URAM without output register
DSP_NS = 1.5             # through a DSP slice without registers
# From a pin of a DSP slice to its first register: through nothing, the adder, the multiplier, both.
DSP_SETUP_NS, ADDER_SETUP_NS, MULTIPLIER_SETUP_NS, BOTH_SETUP_NS = 0.2, 0.9, 1.2, 1.9
CASCADES = {"PCIN", "ACIN", "BCIN", "CARRYCASCIN", "MULTSIGNIN"}
SEQUENTIAL = re.compile(r"FD[RSCP]E(_1)?$|LD[CP]E$|RAMB|URAM|FIFO")
LUT_RAM = re.compile(r"RAM(32|64|128|256|512)[XM]")
SRL = re.compile(r"SRL")


class Path:
    """The worst path to a net: half levels (a LUT is 2, a CARRY4 is 1), time in ns, and a linked list of its cells.

    The worst is the slowest, or with `by_levels` the one with most levels."""
    __slots__ = ("half", "ns", "cell", "previous")
    by_levels = False

    def __init__(self, half, ns, cell, previous=None):
        self.half, self.ns, self.cell, self.previous = half, ns, cell, previous

    def key(self):
        return (self.half, self.ns) if Path.by_levels else (self.ns, self.half)

    def through(self, half, ns, cell):
        return Path(self.half + half, self.ns + ns, cell, self)

    def cells(self):
        names, path = [], self
        while path:
            names.append(path.cell)
            path = path.previous
        return names[::-1]


def worse(a, b):
    return b if a is None or (b is not None and b.key() > a.key()) else a


class Timing:
    """Timing of one module's pins, by (port, bit index).

    launch: worst path from a register inside to an output pin; capture: worst path from an input pin to a register;
    arcs: for an output pin, the worst path from each input pin; worst: longest path from register to register inside."""

    def __init__(self):
        self.launch, self.capture, self.arcs, self.worst = {}, {}, {}, None


def has_register(cell, name, default="1"):
    parameter = cell["parameters"].get(name, default)
    return (int(parameter, 2) if isinstance(parameter, str) else parameter) > 0


def dsp_arcs(cell):
    """Of a DSP48E1 or E2: (whether P is registered, inputs with a combinational path to P)."""
    if has_register(cell, "PREG"):
        return True, set()
    through = {"PCIN", "CARRYIN", "CARRYCASCIN", "MULTSIGNIN"}
    if not has_register(cell, "CREG"):
        through.add("C")
    if not has_register(cell, "MREG"):
        through |= {p for p, r in (("A", "AREG"), ("B", "BREG"), ("D", "DREG")) if not has_register(cell, r)}
        through |= {"ACIN", "BCIN"}
    return False, through


def dsp_setup(cell, port):
    """From an input pin of a DSP slice to the first register behind it, in ns."""
    if port in ("PCIN", "CARRYCASCIN", "MULTSIGNIN"):
        return ADDER_SETUP_NS
    register = {"ACIN": "AREG", "BCIN": "BREG"}.get(port, f"{port}REG")
    if port not in ("A", "B", "C", "D", "ACIN", "BCIN") or has_register(cell, register):
        return DSP_SETUP_NS
    if port == "C":
        return ADDER_SETUP_NS
    return MULTIPLIER_SETUP_NS if has_register(cell, "MREG") else BOTH_SETUP_NS


def leaf_arcs(cell, port, bit):
    """The driver of a primitive's output pin: (launch path or None, [(input port, bits or None, half, ns)])."""
    kind = cell["type"]
    if SEQUENTIAL.match(kind):
        if kind.startswith(("FD", "LD")):
            return Path(0, CLOCK_TO_Q_NS, kind), []
        registered = has_register(cell, "DOB_REG" if port.startswith(("DOB", "DOUTB", "DOUTPB")) else "DOA_REG", "0")
        return Path(0, BLOCK_CLOCK_NS if registered else MEMORY_CLOCK_NS, kind), []
    if kind.startswith("DSP48"):
        if port in ("ACOUT", "BCOUT"):
            # The operand, behind its register: not the product.
            if has_register(cell, f"{port[0]}REG"):
                return Path(0, BLOCK_CLOCK_NS, kind), []
            return None, [(p, None, 0, DSP_SETUP_NS) for p in (port[0], f"{port[0]}CIN")]
        registered, through = dsp_arcs(cell)
        launch = Path(0 if registered else 2, BLOCK_CLOCK_NS if registered else DSP_NS, kind)
        return launch, [(p, None, 2, DSP_NS) for p in sorted(through)]
    if LUT_RAM.match(kind):
        address = re.compile(r"(DPR|ADDR|A)" + (port[-1] if port.startswith("DO") and len(port) == 3 else r""))
        inputs = [p for p in cell["connections"] if address.match(p)]
        return Path(0, BLOCK_CLOCK_NS, kind), [(p, None, 2, 0.15) for p in inputs]
    if SRL.match(kind):
        return Path(0, BLOCK_CLOCK_NS, kind), [(p, None, 2, 0.15) for p in cell["connections"] if p[0] == "A"]
    if kind == "CARRY4":
        below = range(bit + 1)
        return None, [("S", below, 1, 0.15), ("DI", below, 1, 0.15), ("CI", None, 1, 0.03), ("CYINIT", None, 1, 0.15)]
    level = 0 if kind in ("INV", "BUFG", "GND", "VCC") else 2
    return None, [(p, None, level, 0.10 if level else 0.0) for p, d in cell["port_directions"].items()
                  if d == "input"]


def ends_at(cell, port):
    """Whether a path ends at this input pin of a primitive."""
    kind = cell["type"]
    if kind.startswith("DSP48"):
        return port != "CLK" and port not in dsp_arcs(cell)[1]
    if kind.startswith(("FD", "LD")):
        return port not in ("C", "G")
    return not port.startswith(("CLK", "WCLK")) and bool(SEQUENTIAL.match(kind) or LUT_RAM.match(kind) or SRL.match(kind))


def setup(cell, port):
    return dsp_setup(cell, port) if cell["type"].startswith("DSP48") else SETUP_NS


class Module:
    """Computes the Timing of one module; nets are Yosys bit numbers."""

    def __init__(self, data, analyse):
        self.cells, self.ports, self.analyse = data["cells"], data["ports"], analyse
        self.driver, self.at, self.inputs, self.loads = {}, {}, {}, Counter()
        for cell in self.cells.values():
            for port, bits in cell["connections"].items():
                if cell["port_directions"].get(port) == "output":
                    for i, bit in enumerate(bits):
                        self.driver[bit] = (cell, port, i)
                else:
                    self.loads.update(bits)
        self.names = {}
        for name, net in data.get("netnames", {}).items():
            if not net.get("hide_name"):
                wide = len(net["bits"]) > 1
                self.names.update({bit: f"{name}[{i}]" if wide else name for i, bit in enumerate(net["bits"])})
        for port, pin in self.ports.items():
            if pin["direction"] == "input":
                self.inputs.update({bit: (port, i) for i, bit in enumerate(pin["bits"])})

    def net_ns(self, bit, cell, port):
        """The delay of the net to an input pin of a cell. A module's pins have the net of the cell behind them."""
        if self.analyse(cell["type"]) or port in CASCADES or (port == "CI" and cell["type"].startswith("CARRY")):
            return 0.0
        return NET_NS + DOUBLING_NS * max(0.0, math.log2(max(1, self.loads[bit])) - 2)

    def sources(self, bit):
        """(launch, [(net, half, ns, cell name)]) of a net that a cell drives."""
        cell, port, i = self.driver[bit]
        child = self.analyse(cell["type"])
        label = f"{cell['type']} {self.names[bit]}" if bit in self.names else cell["type"]
        if child is None:
            launch, arcs = leaf_arcs(cell, port, i)
            if launch:
                launch.cell = label
            nets = []
            for p, which, half, ns in arcs:
                bits = cell["connections"].get(p, [])
                nets += [(b, half, ns + (self.net_ns(b, cell, p) if half else 0.0), label)
                         for j, b in enumerate(bits) if which is None or j in which]
            return launch, nets
        launch = child.launch.get((port, i))
        nets = [(cell["connections"][p][j], arc.half, arc.ns, f"({cell['type']})")
                for (p, j), arc in sorted(child.arcs.get((port, i), {}).items()) if p in cell["connections"]]
        return launch, nets

    def arrival(self, goal):
        """(worst path from a register, {input pin: worst path}) of a net; iterative, because nets may be deep."""
        stack, opened = [goal], set()
        while stack:
            bit = stack[-1]
            if bit in self.at:
                stack.pop()
                continue
            if isinstance(bit, str) or (bit not in self.driver and bit not in self.inputs):
                self.at[bit] = (None, {})
                continue
            if bit in self.inputs:
                self.at[bit] = (None, {self.inputs[bit]: Path(0, 0.0, ".".join(map(str, self.inputs[bit])))})
                continue
            launch, nets = self.sources(bit)
            opened.add(bit)
            waiting = [net for net, *_ in nets if net not in self.at and net not in opened]
            if waiting:
                stack += waiting
                continue
            pins = {}
            for net, half, ns, cell in nets:    # an open net closes a combinational loop: cut there
                first, through = self.at.get(net, (None, {}))
                if first:
                    launch = worse(launch, first.through(half, ns, cell))
                for pin, path in through.items():
                    pins[pin] = worse(pins.get(pin), path.through(half, ns, cell))
            self.at[bit] = (launch, pins)
        return self.at[goal]

    def timing(self):
        result = Timing()

        def end(bit, half, ns, cell):
            launch, pins = self.arrival(bit)
            if launch:
                result.worst = worse(result.worst, launch.through(half, ns, cell))
            for pin, path in pins.items():
                result.capture[pin] = worse(result.capture.get(pin), path.through(half, ns, cell))

        for cell in self.cells.values():
            child = self.analyse(cell["type"])
            if child:
                result.worst = worse(result.worst, child.worst)
                for (port, i), path in sorted(child.capture.items()):
                    bits = cell["connections"].get(port, [])
                    if i < len(bits):
                        end(bits[i], path.half, path.ns, f"({cell['type']}: {' > '.join(path.cells()[1:])})")
                continue
            for port, bits in cell["connections"].items():
                if cell["port_directions"].get(port) == "input" and ends_at(cell, port):
                    for bit in bits:
                        q = next((self.names[b] for b in cell["connections"].get("Q", []) if b in self.names), "")
                        label = f"{cell['type']}.{port} {q}".rstrip()
                        end(bit, 0, self.net_ns(bit, cell, port) + setup(cell, port), label)
        for port, pin in self.ports.items():
            if pin["direction"] == "output":
                for i, bit in enumerate(pin["bits"]):
                    launch, pins = self.arrival(bit)
                    if launch:
                        result.launch[port, i] = launch
                    result.arcs[port, i] = pins
        return result


def longest(netlist, top):
    """Worst path in or below `top`, including paths between its pins and registers; None if there is none."""
    modules, done = netlist["modules"], {}

    def analyse(name):
        module = modules.get(name)
        if module is None or any(a in module.get("attributes", {}) for a in ("blackbox", "whitebox")):
            return None
        if name not in done:
            done[name] = Module(module, analyse).timing()
        return done[name]

    timing = analyse(top)
    if timing is None:
        raise SystemExit(f"levels.py: no module {top} in the netlist")
    worst = timing.worst
    for path in [*timing.launch.values(), *timing.capture.values()]:
        worst = worse(worst, path)
    for pins in timing.arcs.values():
        for path in pins.values():
            worst = worse(worst, path)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("netlist")
    parser.add_argument("top")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--max", type=int, metavar="N")
    parser.add_argument("--period", type=float, metavar="NS")
    args = parser.parse_args()
    sys.setrecursionlimit(10000)
    with open(args.netlist) as file:
        netlist = json.load(file)
    path = longest(netlist, args.top)
    levels = math.ceil(path.half / 2) if path else 0
    ns = path.ns if path else 0.0
    cells = path.cells() if path else []
    if args.json:
        print(json.dumps({"top": args.top, "levels": levels, "estimated_ns": round(ns, 3), "path": cells}))
    else:
        print(f"{args.top}: {levels} levels, {ns:.2f} ns (estimate)")
        print("  " + " -> ".join(cells))
    status = 0
    if args.max is not None:
        Path.by_levels = True
        path = longest(netlist, args.top)
        levels = math.ceil(path.half / 2) if path else 0
        if levels > args.max:
            print(f"levels.py: {args.top} has {levels} levels, allowed are {args.max}", file=sys.stderr)
            status = 1
    if args.period is not None and ns > args.period:
        print(f"levels.py: {args.top} takes {ns:.2f} ns, allowed are {args.period:.2f}", file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
