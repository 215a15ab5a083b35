// Even and odd iterations differ by a condition, which keeps their subscripts inside of the arrays.
// sagen:
// sagen: --space i
#include <stdint.h>
#define N 12
void kernel(const int32_t x[N], int32_t y[N], int32_t z[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    if (i % 2 == 0)
      y[i] = x[i] + x[i + 1];
    else
      y[i] = x[i - 1] - x[i];
  for (int i = 0; i < N; i++)
    z[i] = (i & 1) ? y[i - 1] : y[i + 1];
#pragma endscop
}
