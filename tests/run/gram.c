// Gram matrix: the upper triangle of A'A.
// sagen:
// sagen: --space i,j --latency i=1
// sagen: --space j,k --latency j=1
// sagen: --row 8
// sagen: -D N=1 -D M=1
// sagen: -D N=2 -D M=3 --space i,j --latency i=1
// sagen: -D N=3 -D M=1
#include <stdint.h>
#ifndef N
#define N 7
#define M 5
#endif
void gram(int16_t A[M][N], int32_t G[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) {
      G[i][j] = 0;
      for (int k = 0; k < M; k++)
        G[i][j] += A[k][i] * A[k][j];
    }
#pragma endscop
}
