// Rows whose ends move with the row, and tiles that end between two of their elements, in steps of 2 and of 3; and a column.
#include <stdint.h>
// sagen:
// sagen: --tile i=4,j=4
// sagen: --word X=32,Y=16
// sagen: --space j --word X=4,Y=4
// sagen: --ports shared
// sagen: --memory ddr
#ifndef N
#define N 13
#endif
void strides_triangle(const int32_t S[N][N], uint16_t X[N][2*N], int32_t Y[N][3*N+2], int32_t Z[2*N][2]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      X[i][2*j] = S[i][j] ^ j;
    for (int j = i; j < N; j++)
      Y[i][3*j+2] = S[i][j] + i;
    Z[2*i][1] = S[i][0];
  }
#pragma endscop
}
