// sagen: --size n=5 --size n=8 --size n=1 --pack --space i --tile i=4,j=4 --simd j=2,k=4
// sagen: --size n=7 --size n=8 --pack --space i,j --tile i=4,j=4,k=4 --simd i=2,k=4
// Two products, also of mixed signs, with two products of narrow integers in each DSP slice.
#include <stdint.h>
#pragma sagen max(n=8)
void packed(int n, const int8_t A[n][n], const int8_t B[n][n], const uint8_t W[n][n], int8_t T[n][n], int64_t C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int32_t s = 0;
      for (int k = 0; k < n; k++)
        s += A[i][k] * B[k][j];
      T[i][j] = s;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++)
        C[i][j] += T[i][k] * W[k][j];
    }
#pragma endscop
}
