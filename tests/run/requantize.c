// int8 product with a fused epilogue: scaled, shifted and clamped back to int8.
// sagen:
// sagen: --row 3
// sagen: --row 4
// sagen: --row 9
// sagen: --space i,j --tile i=4,j=3,k=4 --latency i=2 --simd k=2
// sagen: -D N=1
// sagen: -D N=2 --row 5
// sagen: -D N=3
#include <stdint.h>
#ifndef N
#define N 9
#endif
void requantize(const int8_t A[N][N], const int8_t B[N][N], int8_t C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
    int32_t s = 0;
    for (int k = 0; k < N; k++) s += A[i][k] * B[k][j];
    s = (s * 77) >> 9;
    C[i][j] = s > 127 ? 127 : s < -128 ? -128 : s;
  }
#pragma endscop
}
