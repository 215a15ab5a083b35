// Regression: as found_split_statement, with a second read of the written cell.
// sagen:
// sagen: --space i --latency i=1
#include <stdint.h>
void kernel(uint16_t x[4], const uint16_t u[3]) {
#pragma scop
for (int i = 0; i < 2; i++) {
  x[i + 2] = 0;
  for (int j = 0; j < 2; j++)
    x[i + 2] = (x[i + 2] | x[i + 1]) + (i > 0 ? u[j + 1] : x[i + 2]);
}
#pragma endscop
}
