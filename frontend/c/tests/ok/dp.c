// Smith-Waterman, edit distance, DTW: data-dependent ifs, ?:, min and max.
#include <stdint.h>
#include <stdlib.h>
#define N 9
#define M 7
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#define MAX3(a, b, c) MAX(a, MAX(b, c))
#define MAX(a, b) (((a) >= (b)) ? (a) : (b))
typedef char base;
void dp(base s[N], base t[M], int16_t H[N + 1][M + 1], int E[N + 1][M + 1], uint8_t D[N][M], int best[3], short x[N], short y[M]) {
#pragma scop
  int m = 0, at = -1;
  for (int i = 0; i <= N; i++)
    for (int j = 0; j <= M; j++) {
      if (i == 0 || j == 0)
        H[i][j] = 0;
      else {
        int up = H[i - 1][j] - 2, left = H[i][j - 1] - 2;
        int diag = H[i - 1][j - 1] + (s[i - 1] == t[j - 1] ? 3 : -1);
        H[i][j] = MAX3(0, diag, MAX(up, left));
      }
      if (H[i][j] > m) {
        m = H[i][j];
        at = i * (M + 1) + j;
      }
    }
  best[0] = m, best[1] = at;
  for (int i = 0; i <= N; ++i)
    for (int j = 0; j <= M; ++j)
      E[i][j] = i == 0 ? j : j == 0 ? i : MIN(MIN(E[i - 1][j], E[i][j - 1]) + 1, E[i - 1][j - 1] + (s[i - 1] != t[j - 1]));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      int cost = abs(x[i] - y[j]);
      int best3 = 0;
      if (i > 0 && j > 0)
        best3 = MIN(D[i - 1][j - 1], MIN(D[i - 1][j], D[i][j - 1]));
      else if (i > 0)
        best3 = D[i - 1][j];
      else if (j > 0)
        best3 = D[i][j - 1];
      D[i][j] = cost + best3;
    }
  best[2] = 0;
  for (int i = 0; i < N; i++)
    for (int j = MAX(0, i - 2); j < MIN(M, i + 3); j++)
      if (i > 0 && D[i - 1][j] > 9 && !(D[i][j] & 1))
        best[2]++;
      else if (D[i][j] > 40)
        best[2] += 2;
      else
        best[2] -= i != j;
#pragma endscop
}
