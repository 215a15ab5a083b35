// Gauss-Seidel in one dimension, in place.
// sagen:
// sagen: --row 1
// sagen: --row 3
// sagen: --row 4
// sagen: -D N=3 -D T=1
// sagen: -D N=4 -D T=2 --row 1
#include <stdint.h>
#ifndef N
#define N 10
#define T 4
#endif
void seidel(int32_t A[N]) {
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++)
      A[i] = (A[i - 1] + A[i] + A[i + 1]) >> 1;
#pragma endscop
}
