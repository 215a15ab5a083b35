// Scatter form with channels, whose loop stands outside or inside: the chain of partial results goes from tap to tap of a
// cell as well, so it is not a sum over the channels alone.
#ifndef N
#define N 5
#endif
#ifndef K
#define K 2
#endif
#define C 3
// sagen:
// sagen: -D N=2
// sagen: -D N=2 -D K=3
// sagen: -D INSIDE
// sagen: -D INSIDE -D N=2
// sagen: -D INSIDE -D N=2 -D K=3
#include <stdint.h>
void scatter(const int8_t x[C][N], const int8_t w[C][K], int32_t y[N + K - 1]) {
#pragma scop
#ifdef INSIDE
  for (int i = 0; i < N; i++)
    for (int a = 0; a < K; a++)
      for (int c = 0; c < C; c++)
        y[i + a] += x[c][i] * w[c][a];
#else
  for (int c = 0; c < C; c++)
    for (int i = 0; i < N; i++)
      for (int a = 0; a < K; a++)
        y[i + a] += x[c][i] * w[c][a];
#endif
#pragma endscop
}
