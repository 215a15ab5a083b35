// Length of the longest common subsequence.
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: --row 2 -D N=1 -D M=1
// sagen: -D N=3 -D M=2
#include <stdint.h>
#ifndef N
#define N 11
#define M 8
#endif
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void lcs(uint8_t a[N], uint8_t b[M], uint16_t L[N + 1][M + 1]) {
#pragma scop
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++)
      L[i][j] = (a[i - 1] & 3) == (b[j - 1] & 3) ? L[i - 1][j - 1] + 1 : MAX(L[i - 1][j], L[i][j - 1]);
#pragma endscop
}
