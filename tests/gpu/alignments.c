// Alignments of many pairs of sequences: edit distance, and the best local score with linear and with affine gaps.
// sagen: --function levenshtein
// sagen: --function linear
// sagen: --function affine
#include <stdint.h>
#ifndef PAIRS
#define PAIRS 5
#endif
#ifndef N
#define N 37
#endif
#ifndef M
#define M 64
#endif
#ifndef T
#define T int32_t
#endif
void levenshtein(const uint8_t a[PAIRS][N], const uint8_t b[PAIRS][M], T distance[PAIRS]) {
  T D[N + 1][M + 1];
#pragma scop
  for (int k = 0; k < PAIRS; k++) {
    for (int i = 0; i <= N; i++)
      for (int j = 0; j <= M; j++) {
        if (i == 0)
          D[i][j] = j;
        else if (j == 0)
          D[i][j] = i;
        else {
          T change = D[i - 1][j - 1] + (a[k][i - 1] != b[k][j - 1]);
          T gap = (D[i - 1][j] < D[i][j - 1] ? D[i - 1][j] : D[i][j - 1]) + 1;
          D[i][j] = change < gap ? change : gap;
        }
      }
    distance[k] = D[N][M];
  }
#pragma endscop
}
void linear(const uint8_t a[PAIRS][N], const uint8_t b[PAIRS][M], T score[PAIRS]) {
  T H[N + 1][M + 1];
#pragma scop
  for (int k = 0; k < PAIRS; k++) {
    score[k] = 0;
    for (int i = 0; i <= N; i++)
      for (int j = 0; j <= M; j++) {
        if (i == 0 || j == 0)
          H[i][j] = 0;
        else {
          T match = H[i - 1][j - 1] + (a[k][i - 1] == b[k][j - 1] ? 3 : -3);
          T gap = (H[i - 1][j] > H[i][j - 1] ? H[i - 1][j] : H[i][j - 1]) - 2;
          T best = match > gap ? match : gap;
          H[i][j] = best > 0 ? best : 0;
          score[k] = score[k] > H[i][j] ? score[k] : H[i][j];
        }
      }
  }
#pragma endscop
}
void affine(const uint8_t a[PAIRS][N], const uint8_t b[PAIRS][M], T score[PAIRS]) {
  T H[N + 1][M + 1], E[N + 1][M + 1], F[N + 1][M + 1];
#pragma scop
  for (int k = 0; k < PAIRS; k++) {
    score[k] = 0;
    for (int i = 0; i <= N; i++)
      for (int j = 0; j <= M; j++) {
        if (i == 0 || j == 0) {
          H[i][j] = 0;
          E[i][j] = 0;
          F[i][j] = 0;
        } else {
          T down = E[i - 1][j] - 1, right = F[i][j - 1] - 1;
          T open_down = H[i - 1][j] - 6, open_right = H[i][j - 1] - 6;
          T e = down > open_down ? down : open_down, f = right > open_right ? right : open_right;
          E[i][j] = e > 0 ? e : 0;
          F[i][j] = f > 0 ? f : 0;
          T gap = E[i][j] > F[i][j] ? E[i][j] : F[i][j];
          T match = H[i - 1][j - 1] + (a[k][i - 1] == b[k][j - 1] ? 3 : -3);
          H[i][j] = match > gap ? match : gap;
          score[k] = score[k] > H[i][j] ? score[k] : H[i][j];
        }
      }
  }
#pragma endscop
}
