// Two products of narrow integers in a DSP slice, in an array of several functions: slices with the same integers in the
// same places are one, others are not.
// sagen: --merge --sequence 20 --pack --space i,k --tile i=8,j=2,k=8 --simd j=2,k=2
// sagen: --sequence 10 --pack --space i,j --tile i=4,j=4,k=4 --simd j=2,k=4
#include <stdint.h>
void grey(const uint8_t A[7][8], const int8_t B[7][7], const int8_t bias[7], int32_t C[8][7]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 7; j++) {
      C[i][j] = bias[j];
      for (int k = 0; k < 7; k++)
        C[i][j] += A[k][i] * B[k][j];
    }
#pragma endscop
}

void both(const uint8_t A[7][4], const uint8_t B[4][7], const int8_t bias[7], int64_t C[7][7]) {
#pragma scop
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) {
      C[i][j] = bias[j];
      for (int k = 0; k < 4; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
