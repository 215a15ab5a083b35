// Three matrix products: the third consumes what the first two have computed.
#ifndef N
#define N 4
#endif
// sagen:
// sagen: -D N=1
// sagen: -D N=3
// sagen: --row 1
// sagen: --row 3
// sagen: --distribute
// sagen: --distribute --memory ddr
// sagen: -D N=7 --distribute
#include <stdint.h>
void mm3(int16_t A[N][5], int16_t B[5][6], int16_t C[6][3], int16_t D[3][2], int32_t G[N][2]) {
  int32_t E[N][6], F[6][2];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 6; j++) {
      E[i][j] = 0;
      for (int k = 0; k < 5; k++)
        E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 2; j++) {
      F[i][j] = 0;
      for (int k = 0; k < 3; k++)
        F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 2; j++) {
      G[i][j] = 0;
      for (int k = 0; k < 6; k++)
        G[i][j] += E[i][k] * F[k][j];
    }
#pragma endscop
}
