// At k = i the sum reads the cell that it adds to: it may not run backwards.
#include <stdint.h>
void kernel(int64_t x6[4][8]) {
#pragma scop
for (int i = 0; i < 4; i++)
  for (int j = 1; j <= 7; ++j)
    for (int k = i; k < 4; k++)
      x6[i][j] += x6[k][k];
#pragma endscop
}
