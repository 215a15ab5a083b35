#!/usr/bin/env bash
# Gates on what sagen emits, with tools that know nothing of sagen: `scripts/gates.sh`
#
# For a few small designs: the lint gate on the Verilog, the IP driven through its AXI ports by third-party bus models,
# and for the int16 multiply-accumulate PE its mapping to one DSP slice. Exits 1 at the first failure. KEEP=DIR leaves
# the emitted designs in DIR.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cargo >/dev/null || . "$HOME/.cargo/env"
. scripts/env.sh

cargo build --release --quiet
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
    "$sagen" rtl "$@" -o "$work/$name" >"$work/$name.log" 2>&1 || { cat "$work/$name.log" >&2; exit 1; }
    scripts/lint_verilog.sh "$work/$name" "$(top_of "$work/$name")"
}

# bus NAME: runs an emitted design against the bus models
bus() { python scripts/axi_check/run.py "$work/$1"; }

emit mm examples/mm.c -D N=8 --space i,j --tile i=4,j=4,k=8 --latency i=2,j=2 --simd k=2
bus mm
emit mm_prime examples/mm.c -D N=7 --space i,k --tile i=3,j=4,k=2
bus mm_prime
emit gemm examples/gemm.c -D NI=5 -D NJ=6 -D NK=4 --space i,j --tile i=3,j=2
bus gemm
emit shared tests/run/shared_ports.c --space i,j --tile i=4,j=3,k=5 --ports A+C,B+bias
bus shared
emit mm_default examples/mm.c -D N=12

# One PE: an int16 multiplication accumulated over latency-hiding points.
emit mac examples/mm.c -D N=16 --space i,j --tile i=8,j=8,k=16 --latency i=4,j=4
pe=$(basename "$(ls "$work"/mac/rtl/*pe.v | head -n 1)" .v)
scripts/resources.sh "$work/mac" "$(top_of "$work/mac")" "$pe" --levels \
    --assert 'dsp == 1 and soft_mul == 0 and dsp_regs["M"] == 1'
echo "gates: all passed"
