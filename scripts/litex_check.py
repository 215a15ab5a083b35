#!/usr/bin/env python3
"""Runs an IP behind LiteX's own interconnect and memory in Verilator: `litex_check.py DIR` (of an open board).

The system is that of DIR/litex, without the board's clocks and pins: the bus, block RAM, the IP's registers and ports. In
the place of the serial port, a Wishbone master replays what litex/host.py writes; then all arrays are compared with those
after the C program. Needs Verilator 5 and LiteX, so it runs in the environment of `scripts/setup.sh --open`; scripts/gates.sh
runs it. (Icarus loops in LiteX's combinational blocks.)
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

BENCH = """`timescale 1ns/1ns
module tb;
  reg clk = 0, rst = 1, go = 0;
  always #5 clk = ~clk;
  reg [31:0] adr = 0, dat_w = 0;
  reg we = 0, cyc = 0;
  wire [31:0] dat_r;
  wire ack;
  soc dut(.sys_clk(clk), .sys_rst(rst), .tb_adr(adr[31:2]), .tb_dat_w(dat_w), .tb_dat_r(dat_r), .tb_sel(4'd15), .tb_cyc(cyc),
    .tb_stb(cyc), .tb_ack(ack), .tb_we(we));
  reg [95:0] ops [0:@COUNT@ - 1];
  integer k, waited, wrong = 0, cycles = 0, from = 0;
  always @(posedge clk) cycles <= cycles + 1;
  task access(input write, input [31:0] at, input [31:0] value);
    begin
      @(negedge clk); adr = at; dat_w = value; we = write; cyc = 1;
      waited = 0;
      @(posedge clk);
      while (!ack && waited < 1000) begin @(posedge clk); waited = waited + 1; end
      if (!ack) begin $display("FAIL: no answer at %h", at); $finish; end
      @(negedge clk); cyc = 0;
    end
  endtask
  reg [31:0] got;
  always @(posedge clk) if (ack) got <= dat_r;
  initial begin
    $readmemh("ops.hex", ops);
    repeat (8) @(negedge clk);
    rst = 0;
    repeat (600) @(negedge clk);
    for (k = 0; k < @COUNT@; k = k + 1)
      case (ops[k][95:64])
        0: access(1, ops[k][63:32], ops[k][31:0]);
        1: begin
          from = cycles;
          access(0, ops[k][63:32], 0);
          while (!(got & ops[k][31:0]) && cycles - from < 2000000) access(0, ops[k][63:32], 0);
          if (!(got & ops[k][31:0])) begin $display("the run does not end"); wrong = wrong + 1; end
          $display("%0d cycles until the run's end is seen", cycles - from);
        end
        default: begin
          access(0, ops[k][63:32], 0);
          if (got !== ops[k][31:0]) begin
            if (wrong < 8) $display("word at %h: %h, expected %h", ops[k][63:32], got, ops[k][31:0]);
            wrong = wrong + 1;
          end
        end
      endcase
    if (wrong) $display("FAIL: %0d words differ", wrong); else $display("PASS");
    $finish;
  end
endmodule
"""


def module(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def system(ip, bits, bytes_of_ram, work):
    """Writes soc.v."""
    from litex.build.generic_platform import Pins
    from litex.build.sim import SimPlatform
    from litex.soc.integration.soc_core import SoCCore
    from litex.soc.interconnect import wishbone
    from migen import ClockDomain
    wires = {"adr": 30, "dat_w": 32, "dat_r": 32, "sel": 4, "cyc": 1, "stb": 1, "ack": 1, "we": 1}
    platform = SimPlatform("SIM", [(name, 0, Pins(width)) for name, width in [("sys_clk", 1), ("sys_rst", 1)] + [(f"tb_{w}", n) for w, n in wires.items()]])
    soc = SoCCore(platform, 50e6, cpu_type=None, with_uart=False, with_timer=False, ident_version=False, bus_data_width=bits,
                  integrated_rom_size=0, integrated_sram_size=0, integrated_main_ram_size=bytes_of_ram)
    soc.clock_domains.cd_sys = ClockDomain()
    soc.comb += [soc.cd_sys.clk.eq(platform.request("sys_clk")), soc.cd_sys.rst.eq(platform.request("sys_rst"))]
    bench = wishbone.Interface(data_width=32, adr_width=30)
    for wire in wires:
        pin = platform.request(f"tb_{wire}")
        own = getattr(bench, wire)
        soc.comb += pin.eq(own) if wire in ("dat_r", "ack") else own.eq(pin)
    soc.bus.add_master("tb", master=bench)
    ip.add_ip(soc)
    soc.finalize()
    here = os.getcwd()
    os.chdir(work)
    platform.get_verilog(soc, name="soc").write("soc.v")
    os.chdir(here)
    return [source[0] for source in platform.sources]


def replay(host, check, function):
    """The host's accesses: (kind, address, value), kind 0 a write, 1 waiting for a bit, 2 a word that is expected."""
    ops, words = [], {}

    class Ended(Exception):
        pass

    class Link:
        def write(self, address, values):
            ops.extend((0, address + 4 * i, value) for i, value in enumerate(values))
            words.update((address + 4 * i, value) for i, value in enumerate(values))

        def read(self, address, count):
            raise Ended

    try:
        host.run(host.Board(Link()), check, function, 1)
    except Ended:
        pass
    ops.append((1, host.REGISTERS + host.CTRL, host.IDLE))
    ops.append((2, host.REGISTERS + check["status"], 0))
    for array in function["arrays"]:
        at, data = words[host.REGISTERS + array["offset"]], host.contents(array["expected"])
        ops += [(2, at + i, int.from_bytes(data[i:i + 4], "little")) for i in range(0, len(data) // 4 * 4, 4)]
    return ops


def main():
    folder = os.path.abspath(sys.argv[1])
    host = module(os.path.join(folder, "litex", "host.py"))
    check = json.loads(host.contents("axi_check.json"))
    ip = module(os.path.join(folder, "litex", check["top"] + ".py"))
    with open(ip.__file__) as text:
        found = text.read()
    bits = int(re.search(r"bus_data_width=(\d+)", found)[1])
    ram = int(re.search(r"default=(0x[0-9a-f]+)", found)[1], 16)
    with tempfile.TemporaryDirectory(prefix="sagen-litex.") as work:
        files = system(ip, bits, ram, work)
        ops = [op for function in check.get("functions", [check]) for op in replay(host, check, function)]
        with open(os.path.join(work, "ops.hex"), "w") as text:
            text.writelines(f"{kind:08x}{address:08x}{value:08x}\n" for kind, address, value in ops)
        with open(os.path.join(work, "tb.v"), "w") as text:
            text.write(BENCH.replace("@COUNT@", str(len(ops))))
        build = ["verilator", "--binary", "--timing", "-Wno-fatal", "-Wno-lint", "--top-module", "tb", "-Mdir", "obj", "tb.v", "soc.v", *files]
        built = subprocess.run(build, cwd=work, capture_output=True, text=True)
        if built.returncode:
            raise SystemExit(f"litex_check: Verilator failed:\n{built.stderr[-2000:]}")
        said = subprocess.run([os.path.join(work, "obj", "Vtb")], cwd=work, capture_output=True, text=True).stdout
    print(f"litex_check: {check['top']}:", " ".join(said.split()))
    return 0 if "PASS" in said else 1


if __name__ == "__main__":
    sys.exit(main())
