// Finite impulse response filter.
#include <stdint.h>

#ifndef N
#define N 200
#endif
#ifndef TAPS
#define TAPS 16
#endif

void fir(int16_t x[N + TAPS - 1], int16_t h[TAPS], int32_t y[N]) {
#pragma scop
  for (int n = 0; n < N; n++) {
    y[n] = 0;
    for (int t = 0; t < TAPS; t++)
      y[n] += x[n + t] * h[t];
  }
#pragma endscop
}
