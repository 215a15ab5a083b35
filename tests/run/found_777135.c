// Stores of a phase in which nothing is drained.
// sagen: --seed 777135
#include <stdint.h>
#include <math.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define N0 4
#define N1 4
#define N2 1
void kernel(int16_t x0[4], const uint32_t u1[3][4], uint8_t x2[4][3], int32_t x3[3][4], const int32_t u4[4][3], uint16_t x5[5][5][4], int64_t x6[5][5][4], int32_t x7[5][5][4], const uint8_t u8[4], uint32_t x9[5][5][4], const uint32_t u10[2], uint8_t x11[5][5][4], int x12[5][5][4], const int32_t u13[5][2], int64_t x14[5][5][4], const int u15[9][8], const uint16_t *restrict u16, int x17[5][5][4], const uint32_t u18[8]) {
#pragma scop
for (int i = 0; i < N1; i++) {
  for (int j = 0; j < N1; j++) {
    for (int k = 0; k < N0; k++) {
      x11[j][i][k] = (((int32_t)u10[0]) - x9[i][k][k] * u4[k][0]);
      if (i != j) {
      x12[i][j][k] += ((u10[0] == x12[k][j][0] ? u10[0] : i) >> 1);
      }
    }
  }
}
#pragma endscop
}
