// Jacobi smoothing in one dimension, T sweeps over N points.
#include <stdint.h>

#ifndef T
#define T 8
#endif
#ifndef N
#define N 64
#endif

void jacobi(int32_t A[T + 1][N]) {
#pragma scop
  for (int t = 1; t <= T; t++)
    for (int i = 1; i < N - 1; i++)
      A[t][i] = (A[t - 1][i - 1] + 2 * A[t - 1][i] + A[t - 1][i + 1]) >> 2;
#pragma endscop
}
