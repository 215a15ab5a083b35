// Regression: a ragged sum that is subtracted, chosen by sagen itself.
// sagen:
#include <stdint.h>
void kernel(uint16_t A[2][9], uint8_t B[9][9], uint32_t C[9][2]) {
#pragma scop
for (int i = 0; i < 2; i++) for (int j = 0; j < 9; j++) { C[j][i] = 5; for (int k = 0; k < 9; k++) C[j][i] = C[j][i] - A[i][k] * B[k][j]; }
#pragma endscop
}
