// Dynamic time warping of two series.
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1 -D M=3
// sagen: --row 2 -D N=2 -D M=1
#include <stdint.h>
#ifndef N
#define N 9
#define M 7
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define ABS(a) ((a) < 0 ? -(a) : (a))
void dtw(int16_t x[N], int16_t y[M], int32_t D[N + 1][M + 1]) {
#pragma scop
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++)
      D[i][j] = ABS(x[i - 1] - y[j - 1]) + MIN(D[i - 1][j - 1], MIN(D[i - 1][j], D[i][j - 1]));
#pragma endscop
}
