"""Windows in one and two dimensions in Triton: every program computes a block of results, and reads its inputs for each tap."""

import triton
import triton.language as tl


@triton.jit
def row(x, w, y, n, taps: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < n
    total = tl.zeros((block,), tl.float32)
    for q in tl.static_range(taps):
        total += tl.load(x + at + q, mask=inside) * tl.load(w + q)
    tl.store(y + at, total, mask=inside)


@triton.jit
def window(x, w, y, size, pitch, taps: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr):
    i = tl.program_id(1) * rows + tl.arange(0, rows)[:, None]
    j = tl.program_id(0) * columns + tl.arange(0, columns)[None, :]
    inside = (i < size) & (j < size)
    total = tl.zeros((rows, columns), tl.float32)
    for p in tl.static_range(taps):
        for q in tl.static_range(taps):
            total += tl.load(x + (i + p) * pitch + (j + q), mask=inside) * tl.load(w + p * taps + q)
    tl.store(y + i * pitch + j, total, mask=inside)
