// Symmetric rank-k update, PolyBench form: the lower triangle only.
// sagen:
// sagen: --space i,j --latency i=1
// sagen: --space i,k --latency i=1
// sagen: -D N=1 -D M=1
// sagen: -D N=2 -D M=3 --space i,j --latency i=1
// sagen: -D N=3 -D M=1
#include <stdint.h>
#ifndef N
#define N 7
#define M 5
#endif
void syrk(int16_t alpha[1], int32_t beta[1], int16_t A[N][M], int32_t C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta[0];
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += alpha[0] * A[i][k] * A[j][k];
  }
#pragma endscop
}
