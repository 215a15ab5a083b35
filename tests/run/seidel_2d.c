// Gauss-Seidel in two dimensions, in place, PolyBench form.
// sagen:
// sagen: --row 2
// sagen: --row 3
// sagen: --row 5
// sagen: --space t+i --time 2*t+i+j,t
// sagen: -D N=3 -D T=1
// sagen: -D N=4 -D T=2 --memory ddr
#include <stdint.h>
#ifndef N
#define N 6
#define T 3
#endif
void seidel(int32_t A[N][N]) {
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) >> 3;
#pragma endscop
}
