// sagen: --size n=1,m=1 --size n=7,m=3 --size n=24,m=5 --size n=31,m=9 --space i,j --tile i=4,j=4 --strip i=4
// A symmetric product in strips, fewer at smaller sizes.
#include <stdint.h>
#pragma sagen max(n=40, m=17)
void product(int n, int m, const int16_t A[n][m], int32_t C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      C[i][j] = 0;
      for (int k = 0; k < m; k++) C[i][j] += A[i][k] * A[j][k];
    }
#pragma endscop
}
