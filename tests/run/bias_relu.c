// Product with a fused bias and ReLU in statements of their own.
// sagen:
// sagen: --row 3
// sagen: --row 4
// sagen: --row 8
// sagen: -D N=1 -D M=1 -D K=1
// sagen: -D N=2 -D M=3 -D K=1 --row 3
// sagen: --space i,j --tile i=4,j=4,k=3
#include <stdint.h>
#ifndef N
#define N 5
#define M 6
#define K 7
#endif
void bias_relu(int8_t A[N][K], int8_t B[K][M], int16_t bias[M], int32_t C[N][M]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      C[i][j] = bias[j];
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
      C[i][j] = C[i][j] > 0 ? C[i][j] : 0;
    }
#pragma endscop
}
