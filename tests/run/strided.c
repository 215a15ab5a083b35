// Loops that step by more than one and store with that stride, in both dimensions, at odd sizes.
#ifndef N
#define N 11
#endif
// sagen:
// sagen: --row 0
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=6 --tile i=2
#include <stdint.h>
void strided(int16_t A[N + 1], int32_t B[(N + 1) / 2 * 2], int32_t C[N][6]) {
#pragma scop
  for (int i = 0; i < N; i += 2) {
    B[i] = A[i] * 3;
    B[i + 1] = A[i + 1] - A[i];
    for (int j = 5; j >= 0; j -= 3)
      C[i][j] = A[i] * j + i;
  }
#pragma endscop
}
