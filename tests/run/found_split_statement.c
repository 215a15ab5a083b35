// Regression: a guard splits the statement; its parts read each other's values of one array.
// sagen:
// sagen: --space i --latency i=1
#include <stdint.h>
void kernel(int32_t x[4], const int32_t u[3]) {
#pragma scop
for (int i = 0; i < 2; i++) {
  x[i + 2] = 0;
  for (int j = 0; j < 2; j++)
    x[i + 2] = u[j] + (i > 0 ? x[i + 1] : 5);
}
#pragma endscop
}
