// Extents of pointers by pragma: more than the region touches, so that the rest is seen to stay as it is.
// sagen:
// sagen: --space i --tile i=4
#include <stdint.h>
#define N 8
#pragma sagen extent(x, 3 * N) extent(y, N + 5)
#pragma sagen extent(m, 4)
void kernel(const int16_t *x, int32_t *restrict y, int32_t m[][N]) {
#pragma omp parallel for
#pragma scop
  for (int i = 0; i < N; i++) {
    y[i + 2] = x[2 * i] + x[2 * i + 1];
    m[1][i] = x[i];
  }
#pragma endscop
}
