// Stores of a phase in which nothing is drained.
// sagen: --seed 777915
#include <stdint.h>
#include <math.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define N0 4
#define N1 3
#define N2 3
void kernel(const int32_t u0[4], uint16_t x1[4][4][4], const uint8_t *restrict u2, int8_t x3[4][4][4], const int8_t u4[4][4], int32_t x5[4][4], const int32_t u6[4]) {
  uint8_t b1;
#pragma scop
for (int i = 0; i < N0; i++) {
  for (int j = 0; j < N1; j++) {
    for (int k = N2 - 1; k >= 0; k--) {
      if (k != i) { b1 = u0[i - 1 + 1]; x1[i][j][k] = (MAX(u0[i], u2[(2 * k) * 5 + k + 1]) + 2); x3[i][j][k] = ((int32_t)(b1 + x3[i][1][0])); }
    }
  }
}
#pragma endscop
}
