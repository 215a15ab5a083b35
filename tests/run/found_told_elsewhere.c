// A cell was told by a coordinate that equals its own only where the statement is executed, but stored elsewhere, too.
// sagen: --row 3
#include <stdint.h>
#define N0 4
#define N1 2
#define N2 1
void kernel(const int16_t u0[1][5], const int64_t u1[3], int16_t x2[1][4], uint8_t x3[4][6][2], const int32_t u4[3], const uint8_t u5[2], const int16_t u6[4][4], int64_t x7[4][6][2], int32_t x8[4][6][2], const int8_t *restrict u9) {
#pragma scop
for (int i = 1; i < N0 - 1; i++) {
  for (int j = N2 - 1; j >= 0; j--) {
    int16_t s1 = 2;
    for (int k = 0; k < N0; k++) {
      s1 += u0[j][k - 1 + 1] * u1[i - 1];
    }
    x2[j][i] = s1;
  }
  for (int j = 1; j <= N0; ++j) {
    for (int k = 0; k < N1; k++) {
      if (x2[0][2 * k] > u1[k + 1]) x3[i][j][k] -= (u4[i - 1] >> 3) * (u5[k] + u6[i][i]); else x7[i][j][k] = x3[1][i][1];
      x8[i][j][k] = ((uint16_t)(i + x2[0][k + 1]));
    }
  }
}
#pragma endscop
}
