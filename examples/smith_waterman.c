// Local alignment of two sequences (Smith-Waterman, linear gap penalty): the whole score matrix.
#include <stdint.h>

#ifndef M
#define M 24
#endif
#ifndef N
#define N 40
#endif
#ifndef GAP
#define GAP 2
#endif
#ifndef MATCH
#define MATCH 3
#endif
#define MISMATCH (-3)
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void smith_waterman(uint8_t a[M], uint8_t b[N], int16_t H[M + 1][N + 1]) {
#pragma scop
  for (int i = 0; i <= M; i++)
    H[i][0] = 0;
  for (int j = 1; j <= N; j++)
    H[0][j] = 0;
  for (int i = 1; i <= M; i++)
    for (int j = 1; j <= N; j++) {
      int diagonal = H[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? MATCH : MISMATCH);
      int gap = MAX(H[i - 1][j], H[i][j - 1]) - GAP;
      H[i][j] = MAX(MAX(diagonal, gap), 0);
    }
#pragma endscop
}
