#!/bin/sh
# Simulates the design and compares every element with what the program leaves; exit code 0 if all are equal.
#   sh run.sh                     Verilator 5 if it is there, or else Icarus Verilog 10 or later, which is slow
#   sh run.sh icarus              this one
#   sh run.sh +latency=200        not the board's memory, but one beat a cycle after 200 cycles
#   sh run.sh +ddr=7              memory with stalls as this number says
#   sh run.sh +vcd                writes wave.vcd: gtkwave wave.vcd wave.gtkw, or surfer -c wave.sucl wave.vcd
# memory_K.in.hex is what port K's arrays hold before, with guard bytes around each; memory_K.expected.hex, where present,
# what the program leaves; memory_K.out.hex what the design left.
set -e
cd "$(dirname "$0")"
simulator=
case "$1" in icarus | verilator) simulator=$1; shift ;; esac
if [ -z "$simulator" ]; then
    case "$(verilator --version 2>/dev/null || true)" in
        "") simulator=icarus ;;
        "Verilator 0."* | "Verilator 1."* | "Verilator 2."* | "Verilator 3."* | "Verilator 4."*)
            echo "run.sh: this Verilator is older than version 5; Icarus Verilog takes its place" >&2
            simulator=icarus ;;
        *) simulator=verilator ;;
    esac
fi
command -v "$(echo "$simulator" | sed s/icarus/iverilog/)" >/dev/null || {
    echo "run.sh: neither Verilator 5 nor Icarus Verilog 10 is on PATH" >&2
    exit 2
}
rm -f wave.vcd wave.gtkw wave.sucl
status=0
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
echo "run.sh: $simulator"
if [ "$simulator" = verilator ]; then
    trace=
    for argument in "$@"; do [ "$argument" = +vcd ] && trace=--trace; done
    verilator --cc --exe --build -O3 --x-assign fast --x-initial unique -Wno-fatal -Wno-lint -Wno-style --no-timing $trace \
        --prefix V@NAME@_bench --top-module @NAME@_bench --Mdir "$made" --output-split 20000 -j 0 -CFLAGS -O1 -o run \
        ../rtl/*.v axi_memory.v tb_@NAME@.v main.cpp >"$made/log" 2>&1 || { cat "$made/log" >&2; exit 2; }
    dut=TOP.@NAME@_bench.dut
    "$made/run" +verilator+rand+reset+2 +verilator+seed+23134 "$@" || status=$?
else
    iverilog -g2005 -o "$made/run.vvp" -s tb_@NAME@ ../rtl/*.v axi_memory.v tb_@NAME@.v
    dut=tb_@NAME@.bench.dut
    vvp -n "$made/run.vvp" "$@" || status=$?
fi
# The views name signals as this simulator does.
if [ -e wave.vcd ]; then
    for view in gtkw sucl; do sed "s/tb_@NAME@\.bench\.dut/$dut/" @NAME@.$view >wave.$view; done
fi
exit $status
