// Symmetric rank-k update, PolyBench form: the lower triangle only.
// sagen:
// sagen: --space i,j --latency i=1
// sagen: --space i,k --latency i=1
// sagen: -D N=1 -D M=1
// sagen: -D N=2 -D M=3 --space i,j --latency i=1
// sagen: -D N=3 -D M=1
// sagen: -D N=19 -D M=7 --strip i=4 --space i,j --tile i=4,j=3
// sagen: -D N=19 -D M=7 --strip i=5 --space j,k --tile j=4,k=3 --memory ddr
// sagen: -D N=19 -D M=7 --strip j=6 --space i,j --tile i=2,j=2 --latency i=2 --ports shared
// sagen: -D N=19 -D M=7 --strip i=3 --space i --simd k=2
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
