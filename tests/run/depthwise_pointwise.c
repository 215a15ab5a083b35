// A depthwise-separable block: a window of each channel, then all channels of each point.
#ifndef N
#define N 7
#endif
#define C 3
#define K 4
// sagen:
// sagen: -D N=3
#include <stdint.h>
void block(const int8_t x[C][N][N], const int8_t d[C][3][3], const int8_t p[K][C], int32_t y[K][N - 2][N - 2]) {
  int32_t t[C][N - 2][N - 2];
#pragma scop
  for (int c = 0; c < C; c++)
    for (int i = 0; i < N - 2; i++)
      for (int j = 0; j < N - 2; j++) {
        t[c][i][j] = 0;
        for (int a = 0; a < 3; a++)
          for (int b = 0; b < 3; b++)
            t[c][i][j] += x[c][i + a][j + b] * d[c][a][b];
        t[c][i][j] = t[c][i][j] > 0 ? t[c][i][j] : 0;
      }
  for (int k = 0; k < K; k++)
    for (int i = 0; i < N - 2; i++)
      for (int j = 0; j < N - 2; j++) {
        y[k][i][j] = 0;
        for (int c = 0; c < C; c++)
          y[k][i][j] += t[c][i][j] * p[k][c];
      }
#pragma endscop
}
