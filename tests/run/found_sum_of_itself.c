// A sum whose term looks at the partial result has an order.
// sagen:
// sagen: --space i --tile i=2
// sagen: --row 0
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=5 --row 1
#include <stdint.h>
#ifndef N
#define N 4
#endif
void found(int32_t x[N], const int32_t a[N][N], int32_t y[N], int32_t z[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      x[i] = x[i] | (a[i][j] - x[i]);
      y[j] += a[i][j] ^ y[j];
      if (j > 0)
        z[i] = z[i] - (z[i] >> 2) * a[j][i];
    }
#pragma endscop
}
