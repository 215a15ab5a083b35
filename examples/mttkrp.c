// Matricized tensor times Khatri-Rao product: D(i,j) = sum over k, l of A(i,k,l) B(k,j) C(l,j).
#include <stdint.h>

#ifndef I
#define I 12
#endif
#ifndef J
#define J 10
#endif
#ifndef K
#define K 9
#endif
#ifndef L
#define L 11
#endif

void mttkrp(int8_t A[I][K][L], int8_t B[K][J], int8_t C[L][J], int32_t D[I][J]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      D[i][j] = 0;
      for (int k = 0; k < K; k++)
        for (int l = 0; l < L; l++)
          D[i][j] += A[i][k][l] * B[k][j] * C[l][j];
    }
#pragma endscop
}
