#!/usr/bin/env bash
# Simulation speed of both engines on a complete IP at full size: an int16 product of 1040 x 1024 x 1024 on 13 x 16 PEs
# of 8 lanes, with its feeders, collectors, DMA engines and memories. `scripts/speed.sh [builtin|verilator]…`
#
# To be run by hand on a quiet machine. Verilator's figure leaves out the minutes it takes to translate and compile.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/env.sh
target=${CARGO_TARGET_DIR:-target}
cargo build --release --quiet

kernel=$(mktemp -d "${TMPDIR:-/tmp}/sagen-speed.XXXXXX")
trap 'rm -rf "$kernel"' EXIT
cat >"$kernel/mm.c" <<'C'
#include <stdint.h>
void mm(int16_t A[1040][1024], int16_t B[1024][1024], int32_t C[1040][1024]) {
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
        --engine "$engine" | grep -E 'simulated|equal'
done
