// Chain of tensor times matrix.
// sagen:
// sagen: --space i,j --latency i=1
// sagen: --space j,k --latency j=1
// sagen: --space l,m --latency l=1
// sagen: --space i --latency i=1
// sagen: -D I=1 -D J=2 -D K=3 -D L=1 -D M=1
#include <stdint.h>
#ifndef I
#define I 3
#define J 4
#define K 5
#define L 2
#define M 3
#endif
void ttmc(int8_t A[I][L][M], int8_t B[L][J], int8_t C[M][K], int32_t D[I][J][K]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++)
      for (int k = 0; k < K; k++) {
        D[i][j][k] = 0;
        for (int l = 0; l < L; l++)
          for (int m = 0; m < M; m++)
            D[i][j][k] += A[i][l][m] * B[l][j] * C[m][k];
      }
#pragma endscop
}
