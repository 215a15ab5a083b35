// Matrix product, 64 x 64 x 64, int16 inputs and int32 results.
//
//   sagen sim examples/mm.c
//   sagen sim examples/mm.c --space i,j --tile i=16,j=16,k=32 --latency i=4,j=4 --simd k=2
#include <stdint.h>

#ifndef N
#define N 64
#endif

void mm(const int16_t A[N][N], const int16_t B[N][N], int32_t C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0;
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
