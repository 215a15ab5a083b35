// GEMM with alpha and beta, PolyBench form.
// sagen:
// sagen: --space i,j --latency i=1
// sagen: --space i,k --latency i=1
// sagen: --space j,k --latency j=1
// sagen: -D N=1 -D M=1 -D K=1
// sagen: -D N=2 -D M=3 -D K=1 --space i,j --latency i=1
#include <stdint.h>
#define alpha 3
#define beta -2
#ifndef N
#define N 5
#define M 6
#define K 7
#endif
void gemm(int16_t A[N][K], int16_t B[K][M], int32_t C[N][M]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++)
      C[i][j] *= beta;
    for (int k = 0; k < K; k++)
      for (int j = 0; j < M; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
#pragma endscop
}
