// A triangular product: the inner loop's bound depends on the outer one.
// sagen:
// sagen: --space i,j --latency i=1
#include <stdint.h>
void triangle(int16_t L[10][10], int16_t B[10][8], int32_t C[10][8]) {
#pragma scop
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 8; j++) {
      C[i][j] = 0;
      for (int k = 0; k <= i; k++)
        C[i][j] += L[i][k] * B[k][j];
    }
#pragma endscop
}
