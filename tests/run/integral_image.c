// Integral image: neighbours above and to the left, where there are any.
// sagen:
// sagen: --row 0
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=3 --row 2
#include <stdint.h>
#ifndef N
#define N 9
#endif
void integral_image(const int32_t x[N][N], int32_t y[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
    int32_t up = 0, left = 0, ul = 0;
    if (i > 0) up = y[i-1][j];
    if (j > 0) left = y[i][j-1];
    if (i > 0 && j > 0) ul = y[i-1][j-1];
    y[i][j] = x[i][j] + up + left - ul;
  }
#pragma endscop
}
