// A table of coefficients is no array but constants; bounds that depend on an affine condition.
// sagen:
// sagen: --space i --tile i=4
// sagen: --space k --latency k=1
#include <stdint.h>
#define N 12
static const int16_t h[7] = {-3, 0, 25, 50, 25, 0, -3};
void kernel(const int16_t x[N + 6], int32_t y[N], int32_t z[N][3]) {
  const int32_t sobel[3][3] = {{1, 0, -1}, {2, 0, -2}, {1, 0, -1}};
#pragma scop
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int k = 0; k < 7; k++)
      y[i] += h[k] * x[i + k];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < (i > 4 ? 3 : 2); j++)
      z[i][j] = sobel[j][2] * x[i] + sobel[1][j];
#pragma endscop
}
