// Pointwise (1x1) convolution.
// sagen:
// sagen: --space o,i --latency o=1
// sagen: --space o,m --latency o=1
// sagen: -D O=1 -D I=1 -D N=1 -D M=1
// sagen: -D O=2 -D I=7 -D N=3 -D M=1 --space o,i --latency o=1
#include <stdint.h>
#ifndef O
#define O 5
#define I 3
#define N 4
#define M 3
#endif
void pointwise(int8_t x[I][N][M], int8_t w[O][I], int32_t y[O][N][M]) {
#pragma scop
  for (int o = 0; o < O; o++)
    for (int n = 0; n < N; n++)
      for (int m = 0; m < M; m++) {
        y[o][n][m] = 0;
        for (int i = 0; i < I; i++)
          y[o][n][m] += x[i][n][m] * w[o][i];
      }
#pragma endscop
}
