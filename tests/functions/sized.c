// Functions of which some have sizes at run time, each with an array of its own and on one array.
// sagen: --size m=5,n=7 --size m=12,n=1 --size n=11 --sequence 30
// sagen: --merge --size m=5,n=7 --size m=12,n=1 --size n=11 --size n=33 --sequence 80
// sagen: --merge --memory ideal:40 --size m=1,n=1 --size n=1 --sequence 20 --queue 2
#include <stdint.h>
void product(int m, int n, const int16_t A[m][n], const int16_t x[n], int32_t y[m]) {
#pragma sagen max(m=12, n=20)
#pragma scop
  for (int i = 0; i < m; i++) {
    y[i] = 0;
    for (int k = 0; k < n; k++)
      y[i] += A[i][k] * x[k];
  }
#pragma endscop
}
void smooth(const int32_t a[21], int32_t b[19]) {
#pragma scop
  for (int i = 0; i < 19; i++)
    b[i] = a[i] + 2 * a[i + 1] + a[i + 2];
#pragma endscop
}
void prefix(int n, const int32_t a[n], int32_t b[n]) {
#pragma sagen max(n=33)
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] = (i == 0 ? 0 : b[i - 1]) + a[i];
#pragma endscop
}
