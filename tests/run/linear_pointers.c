// Pointers as arrays, their extents told by the accesses, and two dimensions in one subscript.
// sagen:
// sagen: --space i,j --tile i=3,j=2 --simd k=2
// sagen: --space i --tile i=2
#include <stdint.h>
#define N 6
#define M 5
#define K 4
void kernel(int32_t *restrict C, const int16_t *A, const int16_t (*B)[M], int16_t bias[]) {
#pragma scop
rows:
  for (int i = 0; i < N; i++)
  columns:
    for (int j = 0; j < M; j++) {
#pragma HLS pipeline II = 1
      C[i * M + j] = bias[j];
      for (int k = 0; k < K; k++)
        C[i * M + j] += *(A + i * K + k) * B[k][j];
    }
#pragma endscop
}
