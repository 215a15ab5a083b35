// Jacobi in one dimension; the time step is a subscript.
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: --row 3
// sagen: -D N=3 -D T=1
// sagen: --row 1 -D N=4 -D T=2
#include <stdint.h>
#ifndef N
#define N 11
#define T 5
#endif
void jacobi(int32_t A[T + 1][N]) {
#pragma scop
  for (int t = 1; t <= T; t++)
    for (int i = 1; i < N - 1; i++)
      A[t][i] = (A[t - 1][i - 1] + 2 * A[t - 1][i] + A[t - 1][i + 1]) >> 2;
#pragma endscop
}
