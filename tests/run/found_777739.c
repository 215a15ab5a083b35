// Stores of a phase in which nothing is drained.
// sagen: --seed 777739
#include <stdint.h>
#include <math.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define N0 4
#define N1 4
#define N2 1
void kernel(const uint32_t u0[5], int64_t x1[4][5][4], const int32_t u2[4][5], int64_t x3[4][5], const uint16_t *restrict u4, const int32_t u5[4], int64_t x6[4][5][4], int8_t x7[4][5], int32_t x8[4][5], const int8_t u9[5], const uint32_t u10[4], int32_t x11[5][5][5], const uint32_t u12[9][5], const int64_t u13[5]) {
  int b1;
#pragma scop
for (int i = 0; i < N1; i++) {
  for (int j = 1; j < N0; j++) {
    for (int k = 0; k < N1; k++) {
      if (k <= i) b1 = u0[j];
      x1[i][j][k] = x1[i][j - 1][k] - (6 > u2[i][k + 1] ? u2[k - 1 + 1][j] : u0[k]);
      if (k <= i) x3[i][j] += (b1 - (b1 + x3[k][i]));
      if (k != i) x3[i][j] = x3[i][j - 1] + -(u4[(j) * 5 + j]); else x6[i][j][k] = x3[i][k] * (x6[i][0][k] + x1[k][i + 1][0]);
    }
    if (i == 0 || j == 0) x7[i][j] = x7[i][j - 1] - -(i); else x8[i][j] = ((u9[j] | x1[i][i][i]) >> 1);
  }
}
#pragma endscop
}
