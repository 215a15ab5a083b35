// Filters in a chain: the second looks at the first one's results through a window, which travel from iteration to iteration.
#ifndef N
#define N 16
#endif
#define P 3
#define Q 5
// sagen:
// sagen: -D N=11
// sagen: -D N=23 --space i --latency i=1
// sagen: --row 0
#include <stdint.h>
void filters(const int16_t x[N], const int16_t a[P], const int16_t b[Q], int32_t y[N - P - Q + 2]) {
  int32_t t[N - P + 1];
#pragma scop
  for (int i = 0; i < N - P + 1; i++) {
    t[i] = 1;
    for (int k = 0; k < P; k++)
      t[i] += x[i + k] * a[k];
  }
  for (int i = 0; i < N - P - Q + 2; i++) {
    y[i] = 0;
    for (int k = 0; k < Q; k++)
      y[i] += t[i + Q - 1 - k] * b[k];
  }
#pragma endscop
}
