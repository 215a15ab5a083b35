// Cholesky decomposition in PolyBench's form in fixed point, with a shift in place of the square root.
// sagen:
// sagen: -D N=1
// sagen: -D N=2 --row 0
// sagen: -D N=3 --row 2
// sagen: -D N=3 --row 3
// sagen: -D N=5
#include <stdint.h>
#ifndef N
#define N 6
#endif
void cholesky(int32_t A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) A[i][j] -= (A[i][k] * A[j][k]) >> 8;
      A[i][j] = (A[i][j] << 8) / (A[j][j] | 1);
    }
    for (int k = 0; k < i; k++) A[i][i] -= (A[i][k] * A[i][k]) >> 8;
    A[i][i] = A[i][i] >> 1;
  }
#pragma endscop
}
