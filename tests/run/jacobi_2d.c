// Jacobi in two dimensions over time; the time step is a subscript.
// sagen:
// sagen: --row 2
// sagen: --row 3
// sagen: --row 4
// sagen: -D N=3 -D M=3 -D T=1
// sagen: -D N=4 -D M=3 -D T=2
#include <stdint.h>
#ifndef N
#define N 6
#define M 7
#define T 3
#endif
void jacobi(int32_t A[T + 1][N][M]) {
#pragma scop
  for (int t = 1; t <= T; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++)
        A[t][i][j] = (4 * A[t - 1][i][j] + A[t - 1][i - 1][j] + A[t - 1][i + 1][j] + A[t - 1][i][j - 1] + A[t - 1][i][j + 1]) >> 3;
#pragma endscop
}
