// Cholesky decomposition in PolyBench's form, in fp32. The absolute value keeps random data out of NaNs.
#include <math.h>
#ifndef N
#define N 7
#endif
// sagen:
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=5 --space i
// sagen: -D N=5 --space i --latency i=1
// sagen: -D N=11 --space i --order k,j --tile i=4
void cholesky(float A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrtf(fabsf(A[i][i]));
  }
#pragma endscop
}
