// Correlation of a signal with a shorter one at every lag.
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: --row 3
// sagen: -D N=1 -D L=1
// sagen: -D N=2 -D L=3 --row 2
#include <stdint.h>
#ifndef N
#define N 11
#define L 6
#endif
void correlation(int16_t x[N + L], int16_t y[N], int32_t r[L]) {
#pragma scop
  for (int l = 0; l < L; l++) {
    r[l] = 0;
    for (int n = 0; n < N; n++)
      r[l] += x[n + l] * y[n];
  }
#pragma endscop
}
