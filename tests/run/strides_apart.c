// Elements of a row that are written 2, 3 and 5 apart, from odd places on: what lies between stays as it was. The last
// dimension of an image is its colours, each stored by a statement of its own.
#include <stdint.h>
// sagen:
// sagen: --word A=64,B=32,C=16,P=64
// sagen: --word A=8,B=4,C=2
// sagen: --space j
// sagen: --space i --simd j=4
// sagen: --space i,j --tile i=2,j=4 --simd j=2
// sagen: --ports A+B+C,S
// sagen: --ports shared --tile j=8 --space i
// sagen: -D N=1 -D M=1
// sagen: -D N=2 -D M=33
// sagen: -D N=3 -D M=40 --space i --word A=128
#ifndef N
#define N 3
#endif
#ifndef M
#define M 21
#endif
void strides_apart(const int16_t S[N][M], int8_t A[N][2*M+3], int16_t B[N][3*M+1], float C[N][5*M], uint8_t P[N][M][3]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      A[i][2*j+1] = S[i][j] + j;
      B[i][3*j+1] = S[i][j] * 3;
      C[i][5*j+2] = S[i][j] + 0.5f;
      P[i][j][0] = S[i][j] >> 1;
      P[i][j][2] = S[i][j] >> 3;
    }
#pragma endscop
}
