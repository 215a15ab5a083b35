// Edit (Levenshtein) distance; borders in their own loops.
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1 -D M=1
// sagen: --row 2 -D N=2 -D M=3
#include <stdint.h>
#ifndef N
#define N 7
#define M 10
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void edit_distance(uint8_t a[N], uint8_t b[M], int32_t D[N + 1][M + 1]) {
#pragma scop
  for (int i = 0; i <= N; i++)
    D[i][0] = i;
  for (int j = 1; j <= M; j++)
    D[0][j] = j;
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++)
      D[i][j] = MIN(D[i - 1][j - 1] + ((a[i - 1] & 7) != (b[j - 1] & 7)), MIN(D[i - 1][j], D[i][j - 1]) + 1);
#pragma endscop
}
