// Needleman-Wunsch scores; the borders are initialized in the region.
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: --row 2 -D N=1 -D M=2
// sagen: -D N=3 -D M=1
#include <stdint.h>
#ifndef N
#define N 9
#define M 11
#endif
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void needleman_wunsch(int8_t a[N], int8_t b[M], int32_t F[N + 1][M + 1]) {
#pragma scop
  for (int i = 0; i <= N; i++)
    for (int j = 0; j <= M; j++)
      if (i == 0)
        F[i][j] = -2 * j;
      else if (j == 0)
        F[i][j] = -2 * i;
      else
        F[i][j] = MAX(F[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 1 : -1), MAX(F[i - 1][j], F[i][j - 1]) - 2);
#pragma endscop
}
