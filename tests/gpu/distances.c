// Edit distance of many pairs.
// sagen:
// sagen: -D N=33 -D M=97
#include <stdint.h>
#ifndef N
#define N 50
#endif
#ifndef M
#define M 64
#endif
enum { B = 7 };
void distances(const uint8_t x[B][N], const uint8_t y[B][M], int32_t distance[B]) {
  int32_t D[B][N + 1][M + 1];
#pragma scop
  for (int b = 0; b < B; b++) {
    for (int i = 0; i <= N; i++)
      for (int j = 0; j <= M; j++) {
        if (i == 0)
          D[b][i][j] = j;
        else if (j == 0)
          D[b][i][j] = i;
        else {
          int32_t other = D[b][i - 1][j - 1] + (x[b][i - 1] != y[b][j - 1]);
          int32_t gap = (D[b][i - 1][j] < D[b][i][j - 1] ? D[b][i - 1][j] : D[b][i][j - 1]) + 1;
          D[b][i][j] = other < gap ? other : gap;
        }
      }
    distance[b] = D[b][N][M];
  }
#pragma endscop
}
