#!/usr/bin/env python3
"""Simulates a module beside its mapped netlist: `netlist.py DIR MODULE [--family F] [--cycles N] [--seed N]`

DIR is a folder that `sagen rtl` wrote. resources.sh maps the module. Both get the same inputs in every cycle: random bits,
and for a while each the extremes of bytes. Where the module's outputs are known, the netlist's must be equal. Memories
and registers begin unknown, so the first cycles say little. Needs Yosys and Icarus Verilog.

Counts of slices do not show that a netlist is wrong: Yosys 0.23 maps some sums of a constant and a product wrongly, and its
xilinx_srl drops the enable of shift registers (hence --no-srl).
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
EDA = os.path.join(SCRIPTS, "eda")

BENCH = """`timescale 1ns/1ps
module bench;
    reg ap_clk = 0;
    always #5 ap_clk = ~ap_clk;
    {inputs}
    {outputs}
    {module} rtl (.ap_clk(ap_clk){rtl});
    {module}_mapped mapped (.ap_clk(ap_clk){mapped});
    integer seed = {seed}, cycle, compared = 0, wrong = 0, mode = 0;
    reg [{widest}:0] drawn;
    task draw(input integer bits);
        integer k;
        // Bytes of 0x80, 0x7f, 0x00 and 0xff are the extremes of narrow integers, 0x88 and 0x77 those of 4 bits.
        for (k = 0; k <= bits / 8; k = k + 1) begin
            case (mode == 0 ? 6 : mode == 1 ? $random(seed) & 3 : mode == 2 ? $random(seed) & 1 :
                  mode == 3 ? 0 : mode == 4 ? 4 : mode == 5 ? 4 + ($random(seed) & 1) : $random(seed) & 7)
                0: drawn[8 * k +: 8] = 8'h80;
                1: drawn[8 * k +: 8] = 8'h7f;
                2: drawn[8 * k +: 8] = 8'h00;
                3: drawn[8 * k +: 8] = 8'hff;
                4: drawn[8 * k +: 8] = 8'h88;
                5: drawn[8 * k +: 8] = 8'h77;
                default: drawn[8 * k +: 8] = $random(seed);
            endcase
        end
    endtask
    task same(input [{widest}:0] wanted, input [{widest}:0] got, input [8 * 32 - 1:0] name);
        // Bits that are unknown in the module may be anything.
        if ((wanted ^ wanted) === 0) begin
            compared = compared + 1;
            if (got !== wanted) begin
                wrong = wrong + 1;
                if (wrong < 5) $display("cycle %0d: %0s is %h, not %h", cycle, name, got, wanted);
            end
        end
    endtask
    initial begin
        for (cycle = 0; cycle < {cycles}; cycle = cycle + 1) begin
            if (cycle % 97 == 0) mode = $random(seed) & 7;
            {draws}
            @(negedge ap_clk);
            {checks}
            @(posedge ap_clk);
            #1;
        end
        $display("netlist: %0d values compared, %0d differ", compared, wrong);
        $finish;
    end
endmodule
"""


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"netlist.py: {' '.join(command[:3])} … failed:\n{done.stderr or done.stdout}")
    return done.stdout


def ports(netlist, module):
    with open(netlist) as text:
        found = json.load(text)["modules"][module]["ports"]
    return {name: (port["direction"], len(port["bits"])) for name, port in found.items()}


def bench(module, all_ports, cycles, seed):
    inputs = {n: w for n, (d, w) in all_ports.items() if d == "input" and n != "ap_clk"}
    outputs = {n: w for n, (d, w) in all_ports.items() if d == "output"}
    join = "\n    ".join
    wired = "".join(f", .{n}({n})" for n in inputs)
    return BENCH.format(
        module=module, cycles=cycles, seed=seed, widest=max([*inputs.values(), *outputs.values()]) + 8,
        inputs=join(f"reg [{w - 1}:0] {n} = 0;" for n, w in inputs.items()),
        outputs=join(f"wire [{w - 1}:0] {n}, {n}_mapped;" for n, w in outputs.items()),
        rtl=wired + "".join(f", .{n}({n})" for n in outputs),
        mapped=wired + "".join(f", .{n}({n}_mapped)" for n in outputs),
        draws=join(f"draw({w}); {n} = drawn;" for n, w in inputs.items()),
        checks=join(f'same({n}, {n}_mapped, "{n[-32:]}");' for n in outputs),
    )


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder")
    arguments.add_argument("module")
    arguments.add_argument("--family", default="xcup")
    arguments.add_argument("--cycles", type=int, default=20000)
    arguments.add_argument("--seed", type=int, default=1)
    a = arguments.parse_args()
    with tempfile.TemporaryDirectory() as work:
        flow = [os.path.join(SCRIPTS, "resources.sh"), a.folder, a.module]
        run([*flow, "--family", a.family, "--no-srl", "--keep", work])
        netlist = os.path.join(work, "netlist.json")
        mapped = os.path.join(work, "mapped.v")
        yosys = os.environ.get("YOSYS", "yosys")
        steps = f"read_json netlist.json; rename {a.module} {a.module}_mapped; write_verilog -noattr mapped.v"
        run([yosys, "-q", "-p", steps], cwd=work)
        text = os.path.join(work, "bench.v")
        with open(text, "w") as out:
            out.write(bench(a.module, ports(netlist, a.module), a.cycles, a.seed))
        rtl = os.path.join(a.folder, "rtl") if os.path.isdir(os.path.join(a.folder, "rtl")) else a.folder
        share = os.path.join(os.path.dirname(os.path.realpath(shutil.which(yosys))), "..", "share", "yosys")
        cells = os.path.join(share, "xilinx", "cells_sim.v")
        program = os.path.join(work, "bench")
        sources = [text, os.path.join(rtl, f"{a.module}.v"), mapped, os.path.join(EDA, "dsp48e2.v"), cells]
        run(["iverilog", "-g2012", "-s", "bench", "-o", program, *sources])
        said = run(["vvp", "-n", program])
    print(said, end="")
    last = said.split()
    if not said.strip().endswith(" 0 differ") or int(last[-5]) == 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
