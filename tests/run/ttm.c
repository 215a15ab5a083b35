// Tensor times matrix.
// sagen:
// sagen: --space i,j --latency i=1
// sagen: --space k,l --latency k=1
// sagen: --space j,k --latency j=1
// sagen: -D I=1 -D J=2 -D K=3 -D L=1
#include <stdint.h>
#ifndef I
#define I 3
#define J 4
#define K 5
#define L 2
#endif
void ttm(int16_t A[I][J][L], int16_t B[L][K], int32_t C[I][J][K]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++)
      for (int k = 0; k < K; k++) {
        C[i][j][k] = 0;
        for (int l = 0; l < L; l++)
          C[i][j][k] += A[i][j][l] * B[l][k];
      }
#pragma endscop
}
