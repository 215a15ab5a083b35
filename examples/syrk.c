// A symmetric product: C = A Aᵀ, of which only the lower triangle is computed, in strips of rows (docs/strips.md).
#include <stdint.h>
#ifndef N
#define N 96
#endif
void syrk(const int16_t A[N][N], int32_t C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      C[i][j] = 0;
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * A[j][k];
    }
#pragma endscop
}
