// Halves of an array that take turns, and other remainders and quotients of an iterator.
// sagen:
// sagen: --space i --latency i=1
#include <stdint.h>
#define T 5
#define N 6
void kernel(int32_t A[2][N], int16_t x[N], int16_t up[2 * N], int32_t poly[3]) {
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++)
      A[(t + 1) % 2][i] = A[t % 2][i - 1] + 2 * A[t % 2][i] + A[t & 1][i + 1];
  for (int i = 0; i < 2 * N; i++)
    up[i] = i % 2 == 0 ? x[i / 2] : x[i >> 1] + 1;
  for (int i = 0; i < N; i++)
    poly[i % 3] += x[i];
#pragma endscop
}
