// A recursive filter: what goes back into the sum was produced at the latest samples, of which the first ones lack some.
// sagen:
// sagen: --row 0
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=5 --row 1
#include <stdint.h>
#ifndef N
#define N 12
#endif
void iir(const int32_t x[N], int32_t y[N], const int32_t a[4]) {
#pragma scop
  for (int n = 0; n < N; n++) {
    y[n] = x[n];
    for (int t = 0; t < 4; t++) if (n - t - 1 >= 0) y[n] += (a[t] * y[n-t-1]) >> 8;
  }
#pragma endscop
}
