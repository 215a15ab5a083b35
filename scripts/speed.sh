#!/usr/bin/env bash
# Simulation speed of a complete IP in full size: `scripts/speed.sh [int16|fp32|fused] [builtin|verilator]…`
#
# The IP multiplies 1040 x 1024 x 1024 on 13 x 16 PEs of 8 lanes, with feeders, collectors, DMA engines and memories. `fp32`
# sums in C's order, `fused` with the fused dot product. Run it by hand on an idle machine. Verilator's figure excludes the
# minutes of translation and compilation.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/env.sh
target=${CARGO_TARGET_DIR:-target}
cargo build --release --quiet

input=float sum=float options=
case ${1:-} in
    fp32) shift ;;
    fused) options='--reassociate --dot fused'; shift ;;
    *) input=int16_t sum=int32_t; if [ "${1:-}" = int16 ]; then shift; fi ;;
esac
kernel=$(mktemp -d "${TMPDIR:-/tmp}/sagen-speed.XXXXXX")
trap 'rm -rf "$kernel"' EXIT
cat >"$kernel/mm.c" <<C
#include <stdint.h>
void mm($input A[1040][1024], $input B[1024][1024], $sum C[1040][1024]) {
#pragma scop
  for (int i = 0; i < 1040; i++)
    for (int j = 0; j < 1024; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 1024; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
C

[ $# -gt 0 ] || set -- builtin verilator
for engine in "$@"; do
    "$target/release/sagen" sim "$kernel/mm.c" --space i,j --tile i=260,j=256,k=64 --latency i=20,j=16 --simd k=8 \
        $options --engine "$engine" | grep -E 'simulated|equal'
done
