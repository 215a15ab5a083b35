// Causal filters with more and more distance between their taps, an activation behind each, added to what came in.
#include <stdint.h>
#define C 3
#define N 19
static inline int16_t activated(int32_t v) { v >>= 12; return v > 32767 ? 32767 : v < 0 ? v >> 3 : v; }
void dilated(const int16_t x[C][N], const int16_t w1[C][C][3], const int16_t w2[C][C][3], int16_t y[C][N]) {
  int16_t a[C][N];
#pragma scop
  for (int o = 0; o < C; o++)
    for (int t = 0; t < N; t++) {
      int32_t s = 0;
      for (int c = 0; c < C; c++)
        for (int k = 0; k < 3; k++)
          if (t - k >= 0) s += x[c][t - k] * w1[o][c][k];
      a[o][t] = activated(s);
    }
  for (int o = 0; o < C; o++)
    for (int t = 0; t < N; t++) {
      int32_t s = 0;
      for (int c = 0; c < C; c++)
        for (int k = 0; k < 3; k++)
          if (t - 2 * k >= 0) s += a[c][t - 2 * k] * w2[o][c][k];
      y[o][t] = activated(s) + x[o][t];
    }
#pragma endscop
}
