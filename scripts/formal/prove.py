#!/usr/bin/env python3
"""Proves properties of the DMA engines of an emitted IP: `prove.py DIR`.

DIR is an output directory of `sagen rtl` in which each array has its own port, and output arrays have one element a word.
The script inserts the properties in *.v beside this file into the modules. Proved by induction (yosys-smtbmc, yices), hence for
runs of any length: the AXI handshake (also in a soft reset), nothing is offered after a reset, no burst crosses 4 KiB or touches
a word outside of the array, every response is accepted, the FIFOs lose, duplicate and overwrite no data. Proved for the first
BOUND cycles of a run (yosys-abc): WLAST, no data precede their address, every strobed byte is in the array. Registers and sizes
hold anything. Ways to memories on other dies are proved by induction, too (stations.py). The script also shows that each module can reach its goal, and that each proof fails for a broken module
(MUTANTS). Exits 1 if a check fails.

Runs one proof a core. target/proofs caches the results, under a hash of all inputs of a proof.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stations  # noqa: E402

BOUND = 16          # cycles after the reset; the first beats come after 12
LIVE = 40           # cycles within which a module must reach its goal
HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / "target" / "proofs"

# Edits that a proof must detect: (kind, text, replacement).
MUTANTS = [
    ("reader", r"desc_push \? \(desc_count \+", "desc_push ? (desc_count -"),
    ("reader", r"wire desc_one = [^;]*;", "wire desc_one = 1'b1;"),
    ("writer", r"wire word_one = [^;]*;", "wire word_one = 1'b0;"),
    ("reader", r"beats_head <= \w+;", "beats_head <= beats_head;"),
    ("reader", r"\{channel_load \? (\(~\{2.d0, seg_len)", r"{beat_room ? \1"),
    ("reader", r"wire beat_room = [^;]*;", "wire beat_room = 1'b1;"),
    ("reader", r"wire \[7:0\] seg_space = [^;]*;", "wire [7:0] seg_space = 8'd255;"),
    ("writer", r"wire w_load = [^;]*;", "wire w_load = send_beat;"),
    ("writer", r"wire channel_free = [^;]*;", "wire channel_free = 1'b1;"),
    ("writer", r"wire ask_issues = [^;]*;", "wire ask_issues = ask_valid;"),
    ("writer", r"assign m_axi_bready = 1'b1", "assign m_axi_bready = ~some_open"),
    ("reader", r"wire row_inside = [^;]*;", "wire row_inside = 1'b1;"),
    ("reader", r"wire row_inside = [^;]*;", "wire row_inside = ~row_start[6];"),
    ("reader", r"wire forget = [^;]*;", "wire forget = reset;"),
    ("reader", r"wire bus_busy = [^;]*;", "wire bus_busy = some_open;"),
    ("writer", r"wire row_inside = [^;]*;", "wire row_inside = 1'b1;"),
    ("writer", r"wire forget = [^;]*;", "wire forget = reset;"),
    ("control", r"bvalid <= (\w+);", r"bvalid <= \1 & ~s_axi_control_arvalid;"),
]
# The same in an IP that asks for lengths.
LENGTH_MUTANTS = [
    ("reader", r"&\s+\(length_\d+_beyond \|[^;]*;", ";"),
    ("writer", r"&\s+\(length_\d+_beyond \|[^;]*;", ";"),
    ("reader", r"(length_\d+_beyond) <= [^;]*;", r"\1 <= 1'b1;"),
    ("writer", r"(length_\d+_q) <= [^;]*;", r"\1 <= \1;"),
]


def run(command, cwd):
    return subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@functools.lru_cache
def versions():
    """Versions of the provers; yosys-smtbmc and yosys-abc belong to yosys."""
    return [subprocess.run(["yosys", "-V"], capture_output=True, text=True).stdout,
            subprocess.run(["yices-smt2", "--version"], capture_output=True, text=True).stdout]


def cached(inputs, prove):
    """The answer of `prove`, from the cache if `inputs` are the same as before."""
    key = hashlib.sha256(json.dumps([versions(), Path(__file__).read_text(), inputs]).encode()).hexdigest()
    file = CACHE / f"{key}.json"
    if file.exists():
        return json.loads(file.read_text())
    with tempfile.TemporaryDirectory() as dir:
        answer = prove(Path(dir))
    CACHE.mkdir(parents=True, exist_ok=True)
    hidden = CACHE / f".{key}.{os.getpid()}"
    hidden.write_text(json.dumps(answer))
    hidden.rename(file)
    return answer


class Module:
    def __init__(self, kind, text, arrays):
        self.kind, self.text, self.arrays = kind, text, arrays
        self.name = re.search(r"^module (\w+)", text, re.M)[1]
        data = re.search(r"\[(\d+):0\] m_axi_[rw]data", text)
        self.defines = [f"BYTES={(int(data[1]) + 1) // 8}"] if data else []
        fifo = {"reader": ("beats_mem", "AHEAD"), "writer": ("word_mem", "DEPTH")}.get(kind)
        if fifo:
            depth = int(re.search(rf"{fifo[0]} \[0:(\d+)\]", text)[1]) + 1
            self.defines += [f"{fifo[1]}={depth}", f"AT={depth.bit_length() - 1}"]
        loaded, base = re.search(r"output wire (loaded_\d+)", text), re.search(r"\b(base_\d+)", text)
        self.defines += [f"LOADED={loaded[1]}"] if loaded else []
        self.bounds = base and self.macros(base[1], arrays)

    def macros(self, base, arrays):
        """The macros of bounds.v."""
        only = re.search(r"^// (?:Reads|Writes) (\w+) \(", self.text, re.M)
        if only is None:
            sys.exit(f"{self.name}: bounds.v knows engines of one array only; give each array a port")
        array = arrays[only[1]]
        # A base that is a multiple of a bus word is held without its low bits.
        given, held = (int(re.search(rf"{kind} +\[(\d+):0\] {name};?,?\n", self.text)[1]) + 1
                       for kind, name in (("input +wire", base), ("reg", f"{base}_q")))
        zeros = given - held
        base_held = f"{{{base}_q, {zeros}'d0}}" if zeros else f"{base}_q"
        total = f"{{{{1'b0, {base}_q}} + x[64:{zeros}], x[{zeros - 1}:0]}}" if zeros else f"{{1'b0, {base}_q}} + x"
        elements = re.search(r"trim1_high <= .*?\d+'s?d(\d+)", self.text)[1]
        busy = [r for r in re.findall(r"reg  (\w+);", self.text)
                if re.fullmatch(r"gen_busy|(job|walk|trim\d+|row|seg|channel)_valid|channel_second", r)]
        trims = []
        for k in re.findall(r"reg  trim(\d+)_valid", self.text):
            low, offset = f"trim{k}_low_address", f"trim{k}_offset"
            bits, top = (re.search(rf"reg  \[(\d+):0\] {name};", self.text) for name in (low, offset))
            same = f"(f_sum({{{{65{{{offset}[{top[1]}]}}}}, {offset}}}) & {(2 << int(bits[1])) - 1}) == {low}" if bits else "1"
            trims.append(f"if (trim{k}_valid) assert ($signed(trim{k}_low) >= 0 && $signed(trim{k}_high) <= {elements} && {same});")
        # Where the base is a multiple of a bus word, so are the offsets of rows.
        for name, stage in re.findall(r"reg +\[\d+:0\] ((gen|job|walk|trim\d+)_offset\d*);", self.text) if zeros else []:
            trims.append(f"if ({stage}_{'busy' if stage == 'gen' else 'valid'}) assert ({name}[{zeros - 1}:0] == 0);")
        return {"BASE": base_held, "SUM": total, "BASE_PORT": base, "ALIGNED": array["alignment"], "ELEMENT": array["element"], "EXTENT": f"65'd{array['bytes']}",
                "IDLE": f"!({' | '.join(busy)})", "TRIMS": " ".join(trims), **self.length(array["bytes"])}

    def length(self, extent):
        """The macros of an engine that knows the length of its array; EXTENT is at most that."""
        port = re.search(r"input +wire \[(\d+):0\] (length_\d+)", self.text)
        if port is None:
            return {}
        bits, name = int(port[1]) + 1, port[2]
        low = int(re.search(rf"reg +\[(\d+):0\] {name}_q;", self.text)[1]) + 1
        return {"LENGTH": name, "LENGTH_BITS": bits, "LENGTH_LOW": low, "LENGTH_HELD": f"{{{name}_beyond, {name}_q}}",
                "EXTENT": f"({name}_beyond || {name}_q > {extent} ? 65'd{extent} : {{1'b0, 64'd0}} | {name}_q)"}

    def properties(self):
        text = (HERE / f"{self.kind}.v").read_text().replace('`include "bounds.v"\n', (HERE / "bounds.v").read_text())
        macros = "".join(f"`define {name} {value}\n" for name, value in (self.bounds or {}).items())
        return macros + self.text.replace("endmodule\n", text + "endmodule\n")

    def prepared(self, dir, backend, *defines):
        (dir / "module.v").write_text(self.properties())
        wanted = " ".join(f"-D{d}" for d in self.defines + list(defines))
        script = f"read_verilog -formal -sv {wanted} module.v; prep -top {self.name}; async2sync; {backend}"
        done = run(["yosys", "-q", "-p", script], dir)
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: yosys says\n{done.stdout}")

    def induction(self, dir):
        """Proves the properties for every reachable state; None, or the counterexample."""
        self.prepared(dir, "dffunmap; write_smt2 -wires module.smt2")
        for how in (["-t", "3"], ["-i", "-t", "2"]):
            done = run(["yosys-smtbmc", "-s", "yices", "--noprogress", *how, "module.smt2"], dir)
            if "Status: PASSED" not in done.stdout:
                return done.stdout
        return None

    def lives(self, dir):
        """Whether the module can reach its goal."""
        if self.kind == "writer":
            return self.bounded(dir, LIVE, "LIVE") is not None
        self.prepared(dir, "dffunmap; write_smt2 -wires module.smt2")
        done = run(["yosys-smtbmc", "-s", "yices", "--noprogress", "-c", "-t", str(LIVE), "module.smt2"], dir)
        return "Status: PASSED" in done.stdout

    def bounded(self, dir, cycles, *defines):
        """Proves the properties for the first cycles; None, or the end of the counterexample."""
        gates = "delete -output; memory_map; opt -full; setundef -undriven -anyseq; techmap; opt -fast; dfflegalize -cell $_DFF_P_ 01"
        self.prepared(dir, f"{gates}; abc -g AND -fast; opt_clean; write_aiger -zinit module.aig", *defines)
        done = run(["yosys-abc", "-c", f"read_aiger module.aig; fold; strash; bmc3 -F {cycles}"], dir)
        if "No output asserted" in done.stdout or "Explored all" in done.stdout:
            return None
        if "was asserted in frame" in done.stdout:
            return done.stdout
        raise SystemExit(f"{self.name}: yosys-abc says\n{done.stdout}")

    def cached(self, what):
        """The answer of the method named `what`, cached."""
        prove = {"induction": self.induction, "lives": self.lives, "bounded": lambda dir: self.bounded(dir, BOUND, "BOUNDED")}
        return cached([what, self.properties(), self.defines], prove[what])


def relay(text):
    """Proves that each output of a relay is the union of its inputs one cycle earlier; None, or the counterexample."""
    name = re.search(r"^module (\w+)", text, re.M)[1]
    tokens = re.findall(r"output wire (?:\[[^]]*\] )?(\w+)_out\b", text)
    width = int((re.search(r"output wire (?:\[(\d+):0\] )?word\b", text) or [0, 0])[1] or 0) + 1
    joined = (int((re.search(r"\[(\d+):0\] words", text) or [0, 0])[1]) + 1) // width
    before = [p for p in ["beside", "above"] if re.search(rf"input +wire (?:\[[^]]*\] )?{p}\b", text)]
    words = " | ".join(before + [f"words[{width * (k + 1) - 1}:{width * k}]" for k in range(joined)])
    checks = "".join(f"    always @(posedge ap_clk) if (f_past) assert ({t}_out == $past({t}));\n" for t in tokens)
    checks += f"    always @(posedge ap_clk) if (f_past) assert (word == $past({words}));\n"
    start = "    reg f_past = 0;\n    always @(posedge ap_clk) f_past <= 1;\n"
    module = text.replace("endmodule\n", start + checks + "endmodule\n")
    script = f"read_verilog -formal -sv module.v; prep -top {name}; async2sync; dffunmap; write_smt2 -wires module.smt2"

    def prove(dir):
        (dir / "module.v").write_text(module)
        built = run(["yosys", "-q", "-p", script], dir)
        done = run(["yosys-smtbmc", "-s", "yices", "--noprogress", "-i", "-t", "2", "module.smt2"], dir)
        return None if "Status: PASSED" in done.stdout else built.stdout + done.stdout
    return cached(["relay", module], prove)


def way(text):
    """Proves the properties of the stations of a port (stations.py); None, or the counterexample."""
    script = "read_verilog -formal -sv way.v; prep -top way; async2sync; dffunmap; write_smt2 -wires way.smt2"

    def prove(dir):
        (dir / "way.v").write_text(text)
        built = run(["yosys", "-q", "-p", script], dir)
        for how in (["-t", "3"], ["-i", "-t", "2"]):
            done = run(["yosys-smtbmc", "-s", "yices", "--noprogress", *how, "way.smt2"], dir)
            if "Status: PASSED" not in done.stdout:
                return built.stdout + done.stdout
        return None
    return cached(["way", text], prove)


def broken_ways(text):
    """Copies of a way whose proofs must fail: (the edit, the text)."""
    for pattern, to in stations.MUTANTS:
        broken, count = re.subn(pattern, to, text, count=1)
        if count == 0:
            sys.exit(f"stations: there is no {pattern}")
        yield f"{pattern} -> {to}", broken


def goals(modules, relays, ways):
    """All proofs: (name of the module, error message, proof, predicate of the right answer)."""
    for name, text in ways:
        yield name, "not proved by induction", functools.partial(way, text), lambda answer: answer is None
    for edit, text in broken_ways(ways[-1][1]) if ways else []:
        yield ways[-1][0], f"not detected: {edit}", functools.partial(way, text), lambda answer: answer is not None
    found = {}
    for module in modules:
        found.setdefault(module.kind, module)
        yield module.name, "not proved by induction", functools.partial(module.cached, "induction"), lambda answer: answer is None
        if module.kind == "writer":
            yield module.name, f"refuted within {BOUND} cycles", functools.partial(module.cached, "bounded"), lambda answer: answer is None
        yield module.name, f"does not reach its goal within {LIVE} cycles", functools.partial(module.cached, "lives"), lambda answer: answer is True
    for name, text in relays:
        yield name, "not proved", functools.partial(relay, text), lambda answer: answer is None
    missing = {"reader", "writer", "control"} - set(found)
    if missing:
        sys.exit(f"no module of kind {missing}")
    for kind, pattern, to in MUTANTS + (LENGTH_MUTANTS if found["reader"].length(0) else []):
        module = found[kind]
        broken, count = re.subn(pattern, to, module.text, count=1)
        if count == 0:
            sys.exit(f"{module.name}: there is no {pattern}")
        mutant = Module(kind, broken, module.arrays)
        yield module.name, f"not detected: {pattern} -> {to}", functools.partial(mutant.cached, "induction"), lambda answer: answer is not None


def main(out):
    modules, relays = [], []
    about = json.loads((Path(out) / "sim" / "axi_check.json").read_text())
    arrays = {a["name"]: a for a in about["arrays"]}
    text_of = lambda module: (Path(out) / "rtl" / f"{module}.v").read_text()
    ways = [(f"the way of port {port}", stations.module(all)) for port, all in stations.ways(text_of(about["top"]), text_of).items()]
    for file in sorted((Path(out) / "rtl").glob("*.v")):
        kind = next((k for k in ("reader", "writer", "control", "relay") if re.search(rf"_(axi_|axi_lite_)?{k}\d*(_\w+)?\.v$", file.name)), None)
        if kind == "relay":
            relays.append((file.stem, file.read_text()))
        elif kind is not None:
            modules.append(Module(kind, file.read_text(), arrays))
    wanted, failed = list(goals(modules, relays, ways)), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda goal: goal[2](), wanted)
        for (name, wrong, _, right), answer in zip(wanted, answers):
            if not right(answer):
                failed.setdefault(name, []).append(f"{wrong}\n{answer}" if isinstance(answer, str) else wrong)
    for name in dict.fromkeys([m.name for m in modules] + [name for name, _ in relays + ways]):
        print(f"{name}: {'; '.join(failed[name]) if name in failed else 'proved'}", flush=True)
    print(f"{sum('not detected' in goal[1] for goal in wanted)} mutants, {len(failed)} modules with failures")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
