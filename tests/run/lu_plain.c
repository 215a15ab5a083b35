// LU decomposition without pivoting as in PolyBench, in integers.
// sagen:
// sagen: --array 0
// sagen: --array 1
// sagen: --array 2
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=11
// sagen: -D N=11 --space j --order k,i --tile j=3
// sagen: -D N=11 --space i --order k,j --tile i=4
#include <stdint.h>
#ifndef N
#define N 7
#endif
void lu(int32_t A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
