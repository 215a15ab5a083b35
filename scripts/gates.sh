#!/usr/bin/env bash
# Checks emitted designs with tools from outside sagen: `scripts/gates.sh`
#
# For a few small designs: lints the Verilog, drives the IP through its AXI ports with third-party bus models, proves
# properties of the DMA engines (scripts/formal), compares estimated resources with synthesis, and checks that the int16
# multiply-accumulate PE maps to one DSP slice, whose netlist computes what the Verilog does. Places and routes a small IP on
# an ECP5, and runs it behind LiteX's interconnect (scripts/setup.sh --open). Compiles kernels for GPUs with NVRTC and as HIP
# (scripts/setup.sh --gpu). Runs one check a core. Exits 1 if a check fails. KEEP=DIR writes the emitted designs to DIR.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cargo >/dev/null || . "$HOME/.cargo/env"
. scripts/env.sh

# After the tests (scripts/test.sh), which use the same settings, this builds nothing.
# shellcheck disable=SC2086
cargo ${SAGEN_CARGO:-} build --release --quiet
sagen=${CARGO_TARGET_DIR:-target}/release/sagen
if [ -n "${KEEP:-}" ]; then
    work=$KEEP
    mkdir -p "$work"
else
    work=$(mktemp -d "${TMPDIR:-/tmp}/sagen-gates.XXXXXX")
    trap 'rm -rf "$work"' EXIT
fi

top_of() { python -c 'import json, sys; print(json.load(open(sys.argv[1]))["top"])' "$1/sim/axi_check.json"; }

# emit NAME ARGUMENTS: writes a design and lints it
emit() {
    local name=$1
    shift
    "$sagen" rtl "$@" -o "$work/$name"
    scripts/lint_verilog.sh "$work/$name" "$(top_of "$work/$name")"
}

# bus NAME --modes MODES: drives an IP with the bus models. Icarus finds what is undefined, Verilator is fast and begins with random
# registers.
bus() {
    python scripts/axi_check/run.py "$work/$1" --modes ideal,reset
    python scripts/axi_check/run.py "$work/$1" --engine verilator "${@:2}"
}

# driven NAME ARGUMENTS: emits and drives an IP; then one that asks for the lengths of arrays
driven() {
    emit "$@"
    bus "$1" --modes ideal,random,bursty,lazy,errors,strobes,reset,stop,queue,garbage
    local name=$1
    shift
    emit "$name-guard" "$@" --guard
    bus "$name-guard" --modes guard,strobes,reset
}

# Commands that overlap
overlap() {
    emit overlap tests/functions/la.c --merge --queue 4 --overlap
    bus overlap --modes random,queue,reset,stop,garbage
}

# Arrays that stay on chip from run to run. The bus models of axi_check run functions in any order, so they are not for these;
# the IP's own test runs them in theirs.
kept() {
    "$sagen" rtl tests/functions/kept.c --merge --keep W,acc,runs,F -o "$work/kept"
    scripts/lint_verilog.sh "$work/kept" kept
    (cd "$work/kept/sim" && python test_kept.py icarus)
}

# Tests the modes of axi_check themselves: each of these edits of a copy must fail.
broken() {
    emit broken tests/sizes/mm.c --max m=6,n=4,k=4 --space i,j --tile i=2,j=2 --guard >/dev/null
    emit broken_away examples/mm.c -D N=6 --space i,j --latency i=1 --cuts i=3 --bank A=DDR[1],B=DDR[1],C=DDR[1] >/dev/null
    sed -i 's/"max_cycles": [0-9]*/"max_cycles": 2000/' "$work"/broken*/sim/axi_check.json
    local design mode file edit
    while read -r design mode file edit; do
        rm -rf "$work/edited"
        cp -r "$work/$design" "$work/edited"
        sed -zi "$edit" "$work"/edited/rtl/$file
        ! diff -rq "$work/$design" "$work/edited" >/dev/null || { echo "the edit changes nothing: $edit"; return 1; }
        ! python scripts/axi_check/run.py "$work/edited" --modes "$mode" || { echo "not found in mode $mode: $edit"; return 1; }
    done <<'EDITS'
broken reset mm_axi_reader_*.v s/if (~live) begin/if (1'b0) begin/g
broken reset mm_axi_writer_c.v s/if (~live) begin/if (1'b0) begin/g
broken stop mm_axi_reader_*.v s/wire bus_busy = [^;]*;/wire bus_busy = 1'b0;/
broken stop mm_axi_writer_c.v s/wire bus_busy = [^;]*;/wire bus_busy = 1'b0;/
broken garbage mm_axi_writer_c.v s/wire row_inside = [^;]*;/wire row_inside = 1'b1;/
broken guard mm_axi_writer_c.v s/wire row_inside = [^;]*length_2_beyond [^;]*;/wire row_inside = ~row_start[6];/
broken guard mm_axi_reader_b.v s/wire row_inside = [^;]*length_1_beyond [^;]*;/wire row_inside = 1'b1;/
broken guard mm_axi_reader_a.v s/length_0_beyond <= [^;]*;/length_0_beyond <= 1'b1;/
broken strobes mm_axi_lite_control.v s/w_strobe <= [^;]*;/w_strobe <= 4'd15;/
broken_away reset mm_axi_station*.v s/if (~live) begin/if (1'b0) begin/g
broken_away random mm_axi_station1_2.v s/wire w_takes = [^;]*;/wire w_takes = w_fifo_valid;/
EDITS
}

# One PE: an int16 multiplication accumulated over latency-hiding points.
mac() {
    emit mac examples/mm.c -D N=16 --space i,j --tile i=8,j=8,k=16 --latency i=4,j=4
    local pe
    pe=$(basename "$(ls "$work"/mac/rtl/*pe.v | head -n 1)" .v)
    scripts/resources.sh "$work/mac" "$(top_of "$work/mac")" "$pe" --levels \
        --assert 'dsp == 1 and soft_mul == 0 and dsp_regs["M"] == 1'
    scripts/netlist.py "$work/mac" "$pe" --cycles 5000
}

# PEs with two products in each slice: 16 products in a cascade of 8 slices. The mapped netlists compute what the Verilog does.
packed() {
    local int8="examples/mm_int8.c -D I=16 -D J=16 -D K=16 --space i,j --tile i=8,j=8,k=16 --latency i=2,j=2 --simd j=2,k=8"
    # shellcheck disable=SC2086
    emit packed $int8 --pack
    scripts/resources.sh "$work/packed" mm_int8 mm_int8_pe \
        --assert 'dsp == 8 and soft_mul == 0 and dsp_regs["M"] == dsp_regs["P"] == 8'
    scripts/netlist.py "$work/packed" mm_int8_pe --cycles 5000
    python3 scripts/estimates.py --check "$work/packed"
    local mixed="tests/run/packed_products.c -D TA=uint8_t --space i,j --tile i=4,j=8,k=16 --latency i=2,j=2 --simd j=2,k=8"
    # shellcheck disable=SC2086
    emit packed_mixed $mixed --pack
    scripts/netlist.py "$work/packed_mixed" packed_products_pe --cycles 5000
    # Four products of 4 bits in each slice: 64 products in 16 slices.
    local nibbles="tests/run/packed_nibbles.c --space i,j --tile i=4,j=4,k=16 --simd i=2,j=2,k=16"
    # shellcheck disable=SC2086
    emit packed4 $nibbles --pack
    scripts/resources.sh "$work/packed4" packed_nibbles packed_nibbles_pe \
        --assert 'dsp == 16 and soft_mul == 0 and dsp_regs["M"] == dsp_regs["P"] == 16'
    scripts/netlist.py "$work/packed4" packed_nibbles_pe --cycles 5000
    # shellcheck disable=SC2086
    emit packed4_mixed ${nibbles%16}8 -D TB=u4 --pack
    scripts/netlist.py "$work/packed4_mixed" packed_nibbles_pe --cycles 5000
    emit packed7 --board pynq-z2 tests/run/packed_products.c --space i,j --tile i=4,j=8,k=16 --latency i=2,j=2 --simd j=2,k=2 --pack
    scripts/netlist.py "$work/packed7" packed_products_pe --family xc7 --cycles 5000
}

# Proofs of the DMA engines, with words of one element: no rotation between a token's answer and its FIFO.
formal() {
    # Two ports lead to memories on another die.
    emit formal examples/mm.c -D N=4 --space i,j --tile i=2,j=2 --word A=2,B=2,C=1 --memory-latency 10 --cuts i=1 \
        --bank A=DDR[1],B=DDR[0],C=DDR[1]
    python3 scripts/formal/prove.py "$work/formal"
    local sized="tests/sizes/mm.c --max m=6,n=4,k=4 --space i,j --tile i=2,j=2 --word A=2,B=2,C=1 --memory-latency 10"
    # shellcheck disable=SC2086
    emit formal_sized $sized
    python3 scripts/formal/prove.py "$work/formal_sized"
    # shellcheck disable=SC2086
    emit formal_guard $sized --guard
    python3 scripts/formal/prove.py "$work/formal_guard"
}

# Estimates against synthesis: a product, a program in phases, a convolution layer, floats.
estimated() {
    emit estimated examples/mm.c -D N=8 --space i,j --tile i=4,j=4,k=8 --latency i=2,j=2 --simd k=2
    "$sagen" rtl tests/polybench/nussinov.c -o "$work/estimated_phases"
    "$sagen" rtl tests/run/conv_layer.c -D O=64 -D I=3 -D R=112 -D C=112 -D P=7 -D S=2 \
        --space o,c --tile o=8,c=4,r=8 --latency o=2 --simd i=3 -o "$work/estimated_conv"
    "$sagen" rtl examples/lu.c -D N=8 --limit lut=7000,dsp=16 -o "$work/estimated_floats"
    python3 scripts/estimates.py --check "$work/estimated" "$work/estimated_phases" "$work/estimated_conv" "$work/estimated_floats"
    # Its PEs and engines meet the board's clock, and the paths that sagen estimates are those of the netlist.
    python3 scripts/timing.py --check "$work/estimated"
}

# The same for a 7-series part with addresses of 32 bits.
estimated7() {
    emit estimated7 --board pynq-z2 examples/mm.c -D N=8 --space i,j --tile i=4,j=4,k=8 --latency i=2,j=2 --simd k=2
    python3 scripts/estimates.py --check "$work/estimated7"
}

# One small IP, placed and routed on an ECP5 at the clock that docs/results/placed.md gives, with some room.
placed() {
    scripts/setup.sh --open
    emit placed --board ulx3s examples/mm_int8.c -D I=8 -D J=8 -D K=8 --space i,j --tile i=2,j=2 --ports shared
    python3 scripts/place.py "$work/placed" --at-least 90
}

# The same IP behind LiteX's interconnect and block RAM, in Verilator.
litex() {
    scripts/setup.sh --open
    emit litex --board ulx3s examples/mm_int8.c -D I=8 -D J=8 -D K=8 --space i,j --tile i=2,j=2 --ports shared
    python scripts/litex_check.py "$work/litex"
}

# Kernels for GPUs compile for CUDA and HIP devices, without spilled registers. No GPU is needed.
warps() {
    scripts/setup.sh --gpu
    SAGEN=$sagen scripts/gpu.sh compile --arch sm_90
    SAGEN=$sagen scripts/gpu.sh hip --arch gfx90a
}

# gate COMMAND NAME…: starts a check when a core is free; its output goes to a file.
cores=$(nproc)
running=0
rm -f "$work"/*.passed
names=()
gate() {
    if [ "$running" -ge "$cores" ]; then
        wait -n || true
        running=$((running - 1))
    fi
    local name=${2:-$1}
    names+=("$name")
    (set -e; "$@"; echo passed >"$work/$name.passed") >"$work/$name.log" 2>&1 &
    running=$((running + 1))
}

gate formal
gate driven mm examples/mm.c -D N=8 --space i,j --tile i=4,j=4,k=8 --latency i=2,j=2 --simd k=2
gate driven mm_prime examples/mm.c -D N=7 --space i,k --tile i=3,j=4,k=2
gate driven gemm examples/gemm.c -D NI=5 -D NJ=6 -D NK=4 --space i,j --tile i=3,j=2
gate driven shared tests/run/shared_ports.c --space i,j --tile i=4,j=3,k=5 --ports A+C,B+bias
gate driven sized tests/sizes/mm.c --max m=7,n=6,k=5 --space i,j --tile i=4,j=2
gate driven sized_shared tests/sizes/shared_port.c --ports x1,u2,x0
gate driven phases tests/functions/phases.c --on-chip 0
gate driven queue tests/functions/la.c --queue 2
gate overlap
gate kept
gate driven away examples/mm.c -D N=6 --space i,j --latency i=1 --cuts i=3 --bank A=DDR[3],B=DDR[1],C=DDR[2]
gate driven mm32 examples/mm.c -D N=6 --word A=4,B=4,C=2 --board pynq-z2
gate emit mm_default examples/mm.c -D N=12
gate broken
gate mac
gate packed
gate estimated
gate estimated7
gate placed
gate litex
gate warps
wait

failed=0
for name in "${names[@]}"; do
    if [ -e "$work/$name.passed" ]; then
        grep -E '^(lint|axi_check|litex_check):' "$work/$name.log" || true
    else
        echo "gates: $name FAILED" >&2
        cat "$work/$name.log" >&2
        failed=1
    fi
done
[ $failed = 0 ] || exit 1
echo "gates: all passed"
