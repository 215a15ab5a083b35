// Integer operators inside the reduction: minimum, absolute difference, shifts, logic.
// sagen: --space i,j --latency i=1
// sagen: --space i --latency i=1
#include <stdint.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void operators(uint8_t A[8][6], uint8_t B[6][9], int32_t D[8][9]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 9; j++) {
      int d = 1000;
      for (int k = 0; k < 6; k++) {
        d = MIN(d, (A[i][k] ^ B[k][j]) + (A[i][k] > B[k][j] && k != 3 ? A[i][k] - B[k][j] : B[k][j] >> 1));
      }
      D[i][j] = d;
    }
#pragma endscop
}
