// Right-looking LU decomposition: the column is divided, then the rest is updated.
// sagen:
// sagen: -D N=2
// sagen: -D N=3
// sagen: -D N=5
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1
#include <stdint.h>
#ifndef N
#define N 7
#endif
void lu(int32_t A[N][N]) {
#pragma scop
  for (int k = 0; k < N; k++) {
    for (int i = k + 1; i < N; i++)
      A[i][k] = A[i][k] / A[k][k];
    for (int i = k + 1; i < N; i++)
      for (int j = k + 1; j < N; j++)
        A[i][j] = A[i][j] - A[i][k] * A[k][j];
  }
#pragma endscop
}
