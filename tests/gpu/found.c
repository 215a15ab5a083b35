// Kernels that random programs found wrong.
// sagen: --function early --space j --time i
// sagen: --function early --space j --time i --tile j=6
// sagen: --function strip --space k --tile k=34
// sagen: --function strip --space k --tile k=34 --size n=1 --size n=34 --size n=35
#include <stdint.h>
enum { N = 215, M = 4 };
// A sum waits in the place of the rows that it is made of: the loop begins before the rows of the first result.
void early(int32_t x0[N + 4][M + 4], uint16_t x1[N + 4][M + 4], int32_t x2[N + 4][M + 4], const uint32_t u[M + 1]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      x0[i + 2][j + 2] = x1[i + 3][j + 1] + x1[i + 3][j + 1];
      if (i == 1)
        x1[i + 2][j + 2] = (x2[i + 1][j + 2] | x2[i + 1][j + 2]) >> 3;
      if (j > 0)
        x2[i + 2][j + 2] = 7 >= (x1[i][j + 2] >> 4) ? u[j + 1] : 7;
    }
#pragma endscop
}
// A tile of fewer PEs than the sum has, but the warp has them all: there is one strip.
#pragma sagen max(n=62)
void strip(int n, int64_t x[1], const int16_t y[n]) {
#pragma scop
  for (int k = 0; k < n; k++)
    x[0] = x[0] ^ y[k];
#pragma endscop
}
