// Outer product added to a matrix: no reduction at all.
// sagen:
// sagen: --row 0
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1 -D M=1
// sagen: -D N=2 -D M=3 --row 2
#include <stdint.h>
#ifndef N
#define N 5
#define M 7
#endif
void outer(int16_t x[N], int16_t y[M], int32_t A[N][M]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      A[i][j] += x[i] * y[j];
#pragma endscop
}
