#!/usr/bin/env bash
# Kernels for GPUs on this machine's GPU: checks each against its text on the CPU at small sizes, then times them at large
# ones, with what else there is (PyTorch's convolutions, a copy). Writes docs/results/gpu.md with the device's name.
#
#   scripts/gpu.sh          needs a GPU, Python with CuPy, a C++ compiler; PyTorch if it is installed
#   scripts/gpu.sh compile  needs no GPU: NVRTC's wheel compiles all kernels for sm_80, sm_90 and sm_120, without spills
#   scripts/gpu.sh hip      needs neither GPU nor ROCm: clang++-15 (or $CLANG) compiles them as HIP for gfx90a and gfx1100
#
# scripts/gpu/count.py counts instructions on the CPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
sagen=${SAGEN:-target/release/sagen}
[ -x "$sagen" ] || cargo build --release
exec python3 scripts/gpu/measure.py --sagen "$sagen" "$@"
