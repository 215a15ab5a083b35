// Causal filters behind one another: what lies before the first element is not looked at.
#include <stdint.h>
#define C 3
#define N 17
void causal(const int16_t x[C][N], const int16_t w[C][C][3], const int16_t w2[C][C][3], int32_t y[C][N]) {
  int32_t a[C][N];
#pragma scop
  for (int o = 0; o < C; o++)
    for (int t = 0; t < N; t++) {
      a[o][t] = 0;
      for (int c = 0; c < C; c++)
        for (int k = 0; k < 3; k++)
          if (t - k >= 0) a[o][t] += x[c][t - k] * w[o][c][k];
    }
  for (int o = 0; o < C; o++)
    for (int t = 0; t < N; t++) {
      y[o][t] = 0;
      for (int c = 0; c < C; c++)
        for (int k = 0; k < 3; k++) y[o][t] += (t - k >= 0 ? a[c][t - k] >> 12 : 0) * w2[o][c][k];
    }
#pragma endscop
}
