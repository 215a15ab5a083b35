// Every other element of rows of odd length: what is written is a box only in steps of the stride.
#include <stdint.h>
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1 -D M=1
// sagen: -D M=2
// sagen: -D N=3 -D M=8
#ifndef N
#define N 5
#endif
#ifndef M
#define M 7
#endif
void strided_rows(const int16_t A[N][M], int32_t B[N][M], int32_t D[N][2*M+1]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; 2*j < M; j++) B[i][2*j] = A[i][2*j] * 3 + B[i][2*j];
    for (int j = 0; 2*j+1 < M; j++) B[i][2*j+1] = A[i][2*j+1] + 1 - B[i][2*j];
    for (int j = 0; j < M; j++) D[i][2*j+1] = A[i][j];
  }
#pragma endscop
}
