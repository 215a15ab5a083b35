// Triangular matrix product in place, PolyBench form.
// sagen:
// sagen: --row 2
// sagen: --row 3
// sagen: --row 8
// sagen: -D N=1 -D M=1
// sagen: -D N=2 -D M=3
// sagen: --row 3 -D N=3 -D M=2
// sagen: -D N=13 -D M=11 --strip i=3 --space i,j --tile j=3
// sagen: -D N=13 -D M=11 --strip i=3 --space j --tile j=5 --memory ddr
// sagen: -D N=13 -D M=11 --strip i=7 --space j --tile j=4
#include <stdint.h>
#ifndef N
#define N 7
#define M 6
#endif
void trmm(int16_t A[N][N], int32_t B[N][M]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      for (int k = i + 1; k < N; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = 3 * B[i][j];
    }
#pragma endscop
}
