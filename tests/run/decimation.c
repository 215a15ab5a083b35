// Several rates in one region: a polyphase filter takes four samples for each result, a second stage two of those.
// sagen:
// sagen: --space m
#include <stdint.h>
#define M 8
void kernel(const int16_t x[4 * M], const int16_t h[4], int32_t y[M], int32_t z[M / 2]) {
#pragma scop
  for (int m = 0; m < M; m++) {
    y[m] = 0;
    for (int r = 0; r < 4; r++)
      y[m] += h[r] * x[4 * m + r];
  }
  for (int m = 0; m < M / 2; m++)
    z[m] = y[2 * m] - y[2 * m + 1];
#pragma endscop
}
