// Smith-Waterman scores with a linear gap; sequences of different, prime lengths.
// sagen:
// sagen: --row 0
// sagen: --row 1
// sagen: --row 1 -D N=1 -D M=1
// sagen: --row 1 -D N=2 -D M=3 --memory ddr
#include <stdint.h>
#ifndef N
#define N 13
#define M 7
#endif
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void smith_waterman(int8_t a[N], int8_t b[M], int32_t H[N + 1][M + 1]) {
#pragma scop
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++)
      H[i][j] = MAX(0, MAX(H[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -3), MAX(H[i - 1][j] - 2, H[i][j - 1] - 2)));
#pragma endscop
}
