// Two-dimensional convolution with stride 2.
// sagen:
// sagen: --space i,j --latency i=1
// sagen: --space p,q --latency p=1
// sagen: --space i --latency i=1
// sagen: -D N=1 -D M=2 -D K=1
#include <stdint.h>
#ifndef N
#define N 4
#define M 5
#define K 3
#endif
void conv(int8_t x[2 * N + K][2 * M + K], int8_t w[K][K], int32_t y[N][M]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      y[i][j] = 0;
      for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++)
          y[i][j] += x[2 * i + p][2 * j + q] * w[p][q];
    }
#pragma endscop
}
