// CIC decimator: two integrators, decimation by 4, two combs.
#include <stdint.h>
#define N 32
#define R 4
void cic(const int16_t x[N], int32_t y[N / R]) {
  int32_t i1[N], i2[N], c1[N / R];
#pragma scop
  i1[0] = x[0];
  for (int n = 1; n < N; n++)
    i1[n] = i1[n - 1] + x[n];
  i2[0] = i1[0];
  for (int n = 1; n < N; n++)
    i2[n] = i2[n - 1] + i1[n];
  c1[0] = i2[0];
  for (int n = 1; n < N / R; n++)
    c1[n] = i2[R * n] - i2[R * (n - 1)];
  y[0] = c1[0];
  for (int n = 1; n < N / R; n++)
    y[n] = c1[n] - c1[n - 1];
#pragma endscop
}
