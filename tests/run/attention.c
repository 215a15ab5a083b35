// Integer attention without a softmax: scores, their sum, weighted values.
// sagen:
#include <stdint.h>
#define N 5
#define D 4
void attention(int8_t q[N][D], int8_t k[N][D], int8_t v[N][D], int32_t s[N][N], int32_t sum[N], int32_t o[N][D]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      s[i][j] = 0;
      for (int d = 0; d < D; d++)
        s[i][j] += q[i][d] * k[j][d];
      if (s[i][j] < 0)
        s[i][j] = 0;
    }
  for (int i = 0; i < N; i++) {
    sum[i] = 1;
    for (int j = 0; j <= i; j++)
      sum[i] += s[i][j];
  }
  for (int i = 0; i < N; i++)
    for (int d = 0; d < D; d++) {
      o[i][d] = 0;
      for (int j = 0; j <= i; j++)
        o[i][d] += s[i][j] * v[j][d];
    }
#pragma endscop
}
