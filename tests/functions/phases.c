// Functions in phases: what they pass on stays on chip, each core has memories of its own.
// sagen: --sequence 40
// sagen: --merge --sequence 40
// sagen: --merge --sequence 10 --on-chip 0 --queue 2
// sagen: --memory ddr --seed 5 --sequence 20 --queue 4 --guard
// sagen: --sequence 10 --on-chip 0
// sagen: --sequence 10 --on-chip 80 --memory ideal:120
// sagen: --merge --queue 4 --overlap --sequence 20
#include <stdint.h>
#define N 11

// The sum of all before each element and of all behind it.
void sweeps(const int32_t x[N], int32_t y[N]) {
  int32_t left[N], right[N];
#pragma scop
  for (int i = 0; i < N; i++)
    left[i] = (i == 0 ? 0 : left[i - 1]) + x[i];
  for (int i = 0; i < N; i++)
    right[i] = (i == 0 ? 0 : right[i - 1]) + x[N - 1 - i];
  for (int i = 0; i < N; i++)
    y[i] = left[i] - right[N - 1 - i];
#pragma endscop
}

// Steps of a power iteration with integers.
void steps(const int16_t A[N][N], int64_t v[N]) {
  int64_t w[N];
#pragma scop
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < N; i++) {
      w[i] = 0;
      for (int j = 0; j < N; j++)
        w[i] += A[i][j] * v[j];
    }
    for (int i = 0; i < N; i++)
      v[i] = w[i] >> 3;
  }
#pragma endscop
}
