// Optimal parenthesization.
#include <stdint.h>
#define N 7
void optpar(const int32_t d[N + 1], int32_t m[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    m[i][i] = 0;
  for (int l = 1; l < N; l++)
    for (int i = 0; i < N - l; i++) {
      m[i][i + l] = 1000000;
      for (int k = i; k < i + l; k++) {
        int32_t q = m[i][k] + m[k + 1][i + l] + d[i] * d[k + 1] * d[i + l + 1];
        m[i][i + l] = q < m[i][i + l] ? q : m[i][i + l];
      }
    }
#pragma endscop
}
