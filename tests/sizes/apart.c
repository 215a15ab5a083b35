// sagen: --size n=1,m=1 --size n=9,m=5 --size n=12,m=12 --size n=2,m=11
// sagen: --distribute --size n=1,m=1 --size n=9,m=5 --size n=12,m=12 --size n=2,m=11
// Two nests that one array can execute at once, or one after the other.
#include <stdint.h>
#pragma sagen max(n=12, m=12)
void both(int n, int m, const int16_t A[n][m], const int16_t x[m], const int16_t y[n], int32_t u[n], int32_t v[m]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    u[i] = 0;
    for (int j = 0; j < m; j++)
      u[i] += A[i][j] * x[j];
  }
  for (int j = 0; j < m; j++) {
    v[j] = 0;
    for (int i = 0; i < n; i++)
      v[j] += A[i][j] * y[i];
  }
#pragma endscop
}
