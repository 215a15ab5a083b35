// Rows that some loops meet element by element and others in steps: zeros between samples, samples between zeros, every third
// one replaced. Loops are unrolled until all of them have the steps.
#include <stdint.h>
// sagen:
// sagen: --word y=16,z=8
// sagen: --ports shared
#ifndef N
#define N 10
#endif
void strides_mixed(const int16_t x[N], int16_t y[2*N], int32_t z[2*N], int32_t w[3*N+1]) {
#pragma scop
  for (int j = 0; j < 2 * N; j++)
    y[j] = 0;
  for (int i = 0; i < N; i++)
    y[2*i] = x[i];
  for (int j = 0; j < 2 * N - 2; j++)
    z[j] = y[j] + 2 * y[j+1] + y[j+2];
  for (int j = 0; j <= 3 * N; j++)
    w[j] = j;
  for (int i = 0; i < N; i++)
    w[3*i+1] = x[i] - w[3*i];
#pragma endscop
}
