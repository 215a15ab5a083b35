// Domains that are no convex sets: the borders of a table, all but one row.
// sagen:
// sagen: --space i --latency i=1
// sagen: --space j --latency j=1
#include <stdint.h>
#define N 7
void kernel(const int16_t a[N], const int16_t b[N], int32_t d[N][N], int32_t e[N][4]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (i == 0 || j == 0)
        d[i][j] = 3 * (i + j);
      else
        d[i][j] = d[i - 1][j - 1] + (a[i] == b[j] ? 1 : -1);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 4; j++)
      if (i != 3 && !(i == 5 && j == 2))
        e[i][j] += a[i] * b[j];
#pragma endscop
}
