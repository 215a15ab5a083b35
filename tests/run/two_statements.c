// Scaling in a second statement, transposed operands, a factor that is an array of one element.
// sagen:
// sagen: --space i,j --latency i=1
#include <stdint.h>
typedef int16_t element;

void two_statements(element At[8][9], element Bt[7][8], int alpha[1], int C[9][7]) {
#pragma scop
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 7; j++)
      C[i][j] = 3 * C[i][j];
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 7; j++)
      for (int k = 0; k < 8; k++)
        C[i][j] += alpha[0] * At[k][i] * Bt[j][k];
#pragma endscop
}
