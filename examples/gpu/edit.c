// The edit distance of many pairs of words: 2048 pairs of 512 characters.
// sagen: -D PAIRS=9 -D N=60 -D M=96
#include <stdint.h>
#ifndef PAIRS
#define PAIRS 2048
#define N 512
#define M 512
#endif
void edit(const uint8_t a[PAIRS][N], const uint8_t b[PAIRS][M], int32_t distance[PAIRS]) {
  int32_t D[N + 1][M + 1];
#pragma scop
  for (int k = 0; k < PAIRS; k++) {
    for (int i = 0; i <= N; i++)
      for (int j = 0; j <= M; j++) {
        if (i == 0)
          D[i][j] = j;
        else if (j == 0)
          D[i][j] = i;
        else {
          int32_t change = D[i - 1][j - 1] + (a[k][i - 1] != b[k][j - 1]);
          int32_t gap = (D[i - 1][j] < D[i][j - 1] ? D[i - 1][j] : D[i][j - 1]) + 1;
          D[i][j] = change < gap ? change : gap;
        }
      }
    distance[k] = D[N][M];
  }
#pragma endscop
}
