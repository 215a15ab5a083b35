// Forward substitution with many right-hand sides and a unit diagonal.
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: --row 3
// sagen: -D N=2 -D M=3
// sagen: --row 2 -D N=3 -D M=1
#include <stdint.h>
#ifndef N
#define N 7
#define M 5
#endif
void trsm(int16_t L[N][N], int32_t B[N][M]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      for (int k = 0; k < i; k++)
        B[i][j] -= L[i][k] * B[k][j];
#pragma endscop
}
