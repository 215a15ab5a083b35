// A convolution layer whose zero padding is an `if`: elements outside of the input are never fetched.
// sagen:
// sagen: --row 6 --simd i=2
// sagen: --space r,c --tile r=4,c=3
// sagen: --space p,q --latency p=1
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=3 --space o,i --latency o=1
#include <stdint.h>
#ifndef N
#define N 7
#endif
#define O 3
#define I 2
void conv_padded(const int8_t x[I][N][N], const int8_t w[O][I][3][3], int32_t y[O][N][N]) {
#pragma scop
  for (int o = 0; o < O; o++) for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) {
    y[o][r][c] = 0;
    for (int i = 0; i < I; i++) for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++)
      if (r + p >= 1 && r + p <= N && c + q >= 1 && c + q <= N)
        y[o][r][c] += x[i][r + p - 1][c + q - 1] * w[o][i][p][q];
  }
#pragma endscop
}
