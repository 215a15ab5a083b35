// Forward substitution with one right-hand side.
// sagen:
// sagen: --row 1
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=3
// sagen: --row 1 -D N=3
#include <stdint.h>
#ifndef N
#define N 9
#endif
void trisolv(int32_t L[N][N], int32_t b[N], int32_t x[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
#pragma endscop
}
