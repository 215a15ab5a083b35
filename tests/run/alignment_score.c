// The best score of a local alignment and the number of cells that reach a bound: sums over cells whose borders other statements set.
#include <stdint.h>
#define M 13
#define N 17
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void alignment_score(const uint8_t a[M], const uint8_t b[N], int16_t best[1], int32_t high[1]) {
  int16_t H[M + 1][N + 1];
#pragma scop
  for (int i = 0; i <= M; i++)
    H[i][0] = 0;
  for (int j = 0; j <= N; j++)
    H[0][j] = 0;
  best[0] = 0;
  high[0] = 0;
  for (int i = 1; i <= M; i++)
    for (int j = 1; j <= N; j++) {
      int16_t diagonal = H[i - 1][j - 1] + (a[i - 1] % 4 == b[j - 1] % 4 ? 2 : -1);
      int16_t gap = MAX(H[i - 1][j], H[i][j - 1]) - 1;
      H[i][j] = MAX(MAX(diagonal, gap), 0);
      best[0] = MAX(best[0], H[i][j]);
      high[0] += H[i][j] > 3 ? 1 : 0;
    }
#pragma endscop
}
