// Scatter form behind an initializing nest: every diagonal gets its first value where it enters the domain, on two sides.
#ifndef N
#define N 7
#endif
#ifndef M
#define M 4
#endif
// sagen:
// sagen: -D N=1
// sagen: -D N=1 -D M=1
// sagen: -D N=13 -D M=2 --space j --latency j=1
// sagen: --row 0
#include <stdint.h>
void scatter(const int16_t a[N], const int16_t b[M], const int32_t d[N + M - 1], int32_t c[N + M - 1], int32_t e[N + M - 1]) {
#pragma scop
  for (int i = 0; i < N + M - 1; i++)
    c[i] = 0;
  for (int i = 0; i < N + M - 1; i++)
    e[i] = e[i] * 3 + d[i];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      c[i + j] += a[i] * b[j];
      e[i + j] -= a[i] ^ b[j];
    }
#pragma endscop
}
