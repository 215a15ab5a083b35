// Half-band decimator, then another.
#include <stdint.h>
#define N 32
#define T 5
void halfband(const int16_t x[2 * N + T], const int16_t h[T], int32_t y[(N - T) / 2]) {
  int32_t t[N];
#pragma scop
  for (int n = 0; n < N; n++) {
    t[n] = 0;
    for (int k = 0; k < T; k++)
      t[n] += h[k] * x[2 * n + k];
  }
  for (int n = 0; n < (N - T) / 2; n++) {
    y[n] = 0;
    for (int k = 0; k < T; k++)
      y[n] += h[k] * (t[2 * n + k] >> 4);
  }
#pragma endscop
}
