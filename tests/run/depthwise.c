// Depthwise convolution: each channel by its own filter.
// sagen:
// sagen: --space c,i --latency c=1
// sagen: --space i,j --latency i=1
// sagen: --space p,q --latency p=1
// sagen: -D C=1 -D N=2 -D K=1
#include <stdint.h>
#ifndef C
#define C 3
#define N 5
#define K 3
#endif
void depthwise(int8_t x[C][N + K - 1][N + K - 1], int8_t w[C][K][K], int32_t y[C][N][N]) {
#pragma scop
  for (int c = 0; c < C; c++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        y[c][i][j] = 0;
        for (int p = 0; p < K; p++)
          for (int q = 0; q < K; q++)
            y[c][i][j] += x[c][i + p][j + q] * w[c][p][q];
      }
#pragma endscop
}
