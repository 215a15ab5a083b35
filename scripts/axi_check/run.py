#!/usr/bin/env python3
"""Drives an emitted IP through its AXI ports with third-party bus models: `run.py IP_DIR [options]`.

Models of cocotbext-axi drive every port, with stalls in several modes (see bench.py). axi_rules.v checks the rules of
handshakes and bursts, which those models do not. IP_DIR holds the Verilog (IP_DIR/rtl or IP_DIR itself) and
sim/axi_check.json:

  { "top": "mm",                     top module
    "address_bits": 64,              of an address, 64 or 32 (optional; 64)
    "max_cycles": 100000,            give up after so many cycles a run (optional)
    "status": 80,                    status register, then the error's address (optional)
    "arrays": [                      every array in DRAM
      { "name": "A",                 for messages
        "port": "m_axi_A",           prefix of the AXI port that moves it; several arrays may share one
        "port_number": 0,            the port's number in the status register (optional)
        "element": 2,                bytes of an element (optional)
        "written": false,            the IP writes it (optional; true)
        "offset": 16,                control register with its address: low word here, high word at +4
        "bytes": 4096,               size
        "input": "A.npy",            contents before the run; absent: random bytes
        "expected": "A_out.npy",     contents after it; absent: as before
        "length_offset": 60,         register of its length in bytes, and its 32-bit words (optional)
        "length_words": 1,
        "alignment": 64,             what its address must be a multiple of (optional; 1)
        "align": 4096 } ],           address modulo 4096 (optional; 0)
    "scalars": [                     every argument by value, and what follows from sizes (optional)
      { "name": "s",                 for messages
        "offset": 52,                its control register
        "words": [1] } ],            32 bits each, in order
    "soft_reset": 92,                its register (optional; for the modes stop and garbage)
    "queue": 84,                     register that pushes a command (optional)
    "overlap": true }                commands overlap (optional)

An IP with several functions has "function_register" (its offset) and, instead of arrays and scalars, "functions": a list of
{ "function": name, "number": ..., "arrays": [...], "scalars": [...] }.

Image files are beside the JSON file: .npy (elements in C order, little endian), .bin (raw), or .hex (bytes in address
order, two digits each, white space ignored). Ports: ap_clk, ap_rst_n, s_axi_control_*, m_axi_<name>_*, and optionally
interrupt. Exit code: 0 if all runs are right and obey the rules, 1 otherwise, 2 on wrong usage.
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MANAGER = {     # signals that axi_rules checks: (name, direction at the IP)
    "aw": [("awid", "out"), ("awaddr", "out"), ("awlen", "out"), ("awsize", "out"), ("awburst", "out"),
           ("awvalid", "out"), ("awready", "in")],
    "w": [("wdata", "out"), ("wstrb", "out"), ("wlast", "out"), ("wvalid", "out"), ("wready", "in")],
    "b": [("bid", "in"), ("bvalid", "in"), ("bready", "out")],
    "ar": [("arid", "out"), ("araddr", "out"), ("arlen", "out"), ("arsize", "out"), ("arburst", "out"),
           ("arvalid", "out"), ("arready", "in")],
    "r": [("rid", "in"), ("rdata", "in"), ("rlast", "in"), ("rvalid", "in"), ("rready", "out")],
}
LITE = ["awvalid", "awready", "wvalid", "wready", "bresp", "bvalid", "bready", "arvalid", "arready", "rdata", "rresp",
        "rvalid", "rready"]
SHOWN = 40      # most messages to print; --verbose prints the whole log
SEEN = "/*verilator public_flat_rw*/"   # what bench.py reads and sets
STATISTICS = ["errors", "write_bursts", "write_beats", "read_bursts", "read_beats"]


def ports_of(top, files, defines):
    """[(name, is_input, width in bits)] of the top module, by slang."""
    from pyslang.ast import ArgumentDirection
    from pyslang.driver import Driver
    driver = Driver()
    driver.addStandardArgs()
    flags = [f"-D{name}={value}" for name, value in defines.items()]
    if not (driver.parseCommandLine(" ".join(["slang", "-Wnone", "--top", top, *flags, *map(str, files)]))
            and driver.processOptions() and driver.parseAllSources()):
        raise SystemExit(f"run.py: cannot read the Verilog of {top}")
    tops = driver.createCompilation().getRoot().topInstances
    if len(tops) != 1:
        raise SystemExit(f"run.py: no module {top}")
    return [(port.name, port.direction == ArgumentDirection.In, port.type.bitWidth) for port in tops[0].body.portList]


def bench_text(top, ports):
    """The simulated top: the IP, whose ports are those of the bench, and a rule checker at each bus."""
    names = {name: width for name, _, width in ports}
    managers = sorted({name.rsplit("_", 1)[0] for name in names if name.startswith("m_axi_")})
    # The bus models need ID signals; the bench adds them if the IP has none.
    ids = [(f"{bus}_{p}id", p in "br", 1) for bus in managers for channel, p in
           (("aw", "aw"), ("aw", "b"), ("ar", "ar"), ("ar", "r"))
           if f"{bus}_{channel}valid" in names and f"{bus}_{p}id" not in names]
    lines = ["`timescale 1ns / 1ps", "module axi_check_bench ("]
    lines.append(",\n".join(f"    {'input ' if i else 'output'} wire [{w - 1}:0] {n} {SEEN}" for n, i, w in ports + ids))
    lines.append(");")
    # Lanes without a strobe, and all data while the registers hold garbage, may be undefined, which the bus models refuse,
    # so they get zeros.
    masked = [f"{bus}_wdata" for bus in managers if f"{bus}_wdata" in names]
    lines += [f"    wire [{names[name] - 1}:0] {name}_raw;" for name in masked]
    lines.append(f"    {top} dut (")
    lines.append(",\n".join(f"        .{n}({n + '_raw' if n in masked else n})" for n, _, _ in ports))
    lines.append("    );")
    for name in masked:
        strobes = ", ".join(f"{{8{{{name[:-4]}strb[{k}]}}}}" for k in reversed(range(names[name] // 8)))
        lines += [f"    wire [{names[name] - 1}:0] {name}_sent = {name}_raw & {{{strobes}}};",
                  f"    for (genvar k = 0; k < {names[name]}; k = k + 1) assign {name}[k] = {name}_sent[k] === 1'b1;"]
    lines.append(f"    reg garbage {SEEN} = 0;")
    lines += [f"    assign {name} = 1'b0;" for name, is_input, _ in ids if not is_input]
    quiet = "interrupt" if "interrupt" in names else "1'b0"
    for bus in managers:
        def signal(name):
            return f"{bus}_{name}" if f"{bus}_{name}" in names else None
        data = names.get(f"{bus}_wdata") or names.get(f"{bus}_rdata")
        address = names.get(f"{bus}_awaddr") or names.get(f"{bus}_araddr")
        id_width = names.get(f"{bus}_awid") or names.get(f"{bus}_arid") or 1
        if not data or not address:
            raise SystemExit(f"run.py: {bus} has no data or no address")
        lines += [f"    wire [31:0] {bus}_{s} {SEEN};" for s in STATISTICS]
        pins = ["aclk(ap_clk)", "aresetn(ap_rst_n)", f"quiet({quiet})", "garbage(garbage)"]
        for channel in MANAGER.values():
            for name, _ in channel:
                if name not in ("bid", "rid", "rdata"):
                    source = signal(name) or 0
                    pins.append(f"{name}({f'{source}_raw' if source in masked else source})")
        for channel in ("aw", "ar"):
            other = [signal(channel + n) for n in ("lock", "cache", "prot", "qos", "region", "user")]
            pins.append(f"{channel}other({{{', '.join(['1' + chr(39) + 'b0'] + [o for o in other if o])}}})")
        pins += [f"{s}({bus}_{s})" for s in STATISTICS]
        lines.append(f'    axi_rules #(.NAME("{bus}"), .ADDR_W({address}), .DATA_W({data}), .ID_W({id_width})) '
                     f"{bus}_rules (\n        ." + ",\n        .".join(pins) + "\n    );")
    pins = ["aclk(ap_clk)", "aresetn(ap_rst_n)"] + [f"{n}(s_axi_control_{n})" for n in LITE]
    lines += [f"    wire [31:0] s_axi_control_errors {SEEN};",
              '    axil_rules #(.NAME("s_axi_control")) s_axi_control_rules (\n        .'
              + ",\n        .".join(pins + ["errors(s_axi_control_errors)"]) + "\n    );", "endmodule", ""]
    return "\n".join(lines), managers


def verilator_runner():
    """cocotb's runner for Verilator, but for the build. cocotb makes all signals public and compiles Verilator's library
    with each model, which takes five times as long as the model itself. For the short runs of a check, optimizing takes
    longer than it saves. Registers without a reset begin with random values."""
    import cocotb_tools.config as cocotb
    from cocotb_tools.runner import Verilator

    class Runner(Verilator):
        def _build_command(self):
            self._simulator_in_path_build_only()
            build, objects = Path(self.build_dir), library()
            return [
                [self.executable, "--cc", "--exe", "--vpi", "--prefix", "Vtop", "-Mdir", str(build), "--top-module", self.hdl_toplevel,
                 "-o", self.hdl_toplevel, "-Wno-fatal", "-Wno-lint", "-Wno-style", "--x-assign", "unique", "--x-initial", "unique",
                 "--timescale", "/".join(self.timescale), "--output-split", "20000",
                 "-LDFLAGS", f"-Wl,-rpath,{cocotb.libs_dir} -L{cocotb.libs_dir} -lcocotbvpi_verilator {' '.join(map(str, objects))}",
                 *self._get_define_options(self.defines), str(cocotb.share_dir / "lib" / "verilator" / "verilator.cpp"),
                 *(str(source.value) for source in self._sources)],
                ["make", "-s", "-C", str(build), "-f", "Vtop.mk", "OPT_FAST=-O0", "OPT_SLOW=-O0", "VM_GLOBAL_FAST="],
            ]
    return Runner()


def library():
    """Verilator's own objects, compiled once."""
    version, root = (subprocess.run(["verilator", *ask], text=True, capture_output=True, check=True).stdout.strip()
                     for ask in (["--version"], ["--getenv", "VERILATOR_ROOT"]))
    sources = [Path(root) / "include" / f"verilated{part}.cpp" for part in ("", "_dpi", "_vpi", "_threads")]
    folder = HERE.parents[1] / "target" / "axi_check" / hashlib.sha256(f"{version} {root}".encode()).hexdigest()[:16]
    objects = [folder / f"{source.stem}.o" for source in sources]
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
            made = Path(beside, "objects")
            made.mkdir()
            for source in sources:
                flags = ["-O1", "-std=gnu++17", "-DVERILATOR=1", "-DVM_TRACE=0", "-DVM_COVERAGE=0", "-DVM_SC=0", f"-I{source.parent}",
                         f"-I{source.parent / 'vltstd'}"]
                subprocess.run(["c++", *flags, "-c", source], cwd=made, check=True)
            try:
                made.rename(folder)
            except OSError:
                # Another run was first: its objects are the same.
                if not folder.exists():
                    raise
    return objects


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ip", type=Path)
    parser.add_argument("--engine", choices=("icarus", "verilator"), default="icarus")
    parser.add_argument("--modes", default="ideal,random,bursty,lazy", help="stall modes in order [ideal,random,bursty,lazy]; also errors, strobes, reset, stop, queue, garbage, guard for IPs with the registers of sagen (see bench.py)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--define", action="append", default=[], metavar="NAME=VALUE", help="Verilog macro")
    parser.add_argument("--keep", type=Path, help="write the build and its log to this folder")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    description = args.ip / "sim" / "axi_check.json"
    if not description.is_file():
        parser.error(f"{description} does not exist")
    with open(description) as file:
        top = json.load(file)["top"]
    sources = args.ip / "rtl" if (args.ip / "rtl").is_dir() else args.ip
    files = sorted(p.resolve() for p in sources.glob("*.v"))
    defines = dict(d.split("=", 1) for d in args.define)

    from cocotb_tools.runner import get_results, get_runner
    with tempfile.TemporaryDirectory(prefix="sagen-axi-") as temporary:
        build = args.keep.resolve() if args.keep else Path(temporary)
        build.mkdir(parents=True, exist_ok=True)
        text, managers = bench_text(top, ports_of(top, files, defines))
        (build / "axi_check_bench.v").write_text(text)
        os.environ["SAGEN_AXI_CHECK"] = json.dumps({"description": str(description.resolve()), "managers": managers,
                                                    "modes": args.modes.split(","), "seed": args.seed})
        os.environ["PYTHONPATH"] = str(HERE)
        os.environ["COCOTB_LOG_LEVEL"] = "INFO" if args.verbose else "WARNING"
        log = build / "run.log"
        if args.engine == "verilator":
            runner, flags, plusargs = verilator_runner(), [], ["+verilator+rand+reset+2", f"+verilator+seed+{args.seed + 1}"]
        else:
            runner, flags, plusargs = get_runner(args.engine), ["-g2009"], []
        try:
            runner.build(sources=[*files, HERE / "axi_rules.v", build / "axi_check_bench.v"], defines=defines,
                         hdl_toplevel="axi_check_bench", build_dir=build, build_args=flags, timescale=("1ns", "1ps"),
                         always=True, log_file=build / "build.log")
            results = runner.test(hdl_toplevel="axi_check_bench", test_module="bench", build_dir=build, test_dir=build,
                                  seed=args.seed, plusargs=plusargs, log_file=log)
            tests, failures = get_results(results)
        except (RuntimeError, SystemExit) as error:
            print(f"axi_check: {top}: {error}")
            tests, failures = 0, 1
        said = log.read_text(errors="replace") if log.exists() else (build / "build.log").read_text(errors="replace")
        if args.verbose:
            print(said)
        ok = tests > 0 and failures == 0
        shown = 0
        for line in said.splitlines():
            if line.startswith(("axi_check:", "axi_rules:")):
                shown += 1
                if shown <= SHOWN:
                    print(line)
            elif not ok and not args.verbose and ("Error" in line or "error" in line):
                print("  " + line.strip())
        if shown > SHOWN:
            print(f"axi_check: {shown - SHOWN} more messages")
    print(f"axi_check: {top}: {'ok' if ok else 'FAILED'}")
    return 0 if ok else 1


def enter_environment():
    """Restarts in the project's .venv (scripts/setup.sh) unless already there, with its tools first on PATH."""
    tools = HERE.parents[1] / ".venv" / "bin"
    os.environ["PATH"] = f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"
    if (tools / "python").exists() and Path(sys.prefix).resolve() != tools.parent.resolve():
        os.execv(tools / "python", [str(tools / "python"), *sys.argv])


if __name__ == "__main__":
    enter_environment()
    sys.exit(main())
