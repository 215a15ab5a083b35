// Jacobi smoothing in one dimension, T sweeps over N points.
#include <stdint.h>

#define T 8
#define N 64

void jacobi(int32_t A[T + 1][N]) {
#pragma scop
  for (int t = 1; t <= T; t++)
    for (int i = 1; i < N - 1; i++)
      A[t][i] = (A[t - 1][i - 1] + 2 * A[t - 1][i] + A[t - 1][i + 1]) >> 2;
#pragma endscop
}
