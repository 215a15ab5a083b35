// LU decomposition without pivoting as in PolyBench, in integers; in floats, what is left to eliminate stays in its PEs from strip to strip.
// sagen:
// sagen: --row 0
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=11
// sagen: -D N=11 --space j --order k,i --tile j=3
// sagen: -D N=11 --space i --order k,j --tile i=4
// sagen: -D N=21 -D T=float --strip k=4 --space i --order k,j
// sagen: -D N=21 -D T=float --strip k=3 --skew j=2 --space i --order k,j --memory ddr
// sagen: -D N=21 -D T=float --strip k=5 --skew i=3 --space j --order k,i
// sagen: -D N=21 -D T=float --strip k=4 --skew i=2 --space j --tile j=8 --order j,k,i
// sagen: -D N=21 -D T=float --strip k=4 --skew i=3 --space j --tile j=5 --order j,k,i --memory ideal:100
// sagen: -D N=21 -D T=float --strip k=4 --space i --order k,j --cuts i=7,14
// sagen: -D N=21 -D T=float --strip k=2 --skew j=1 --space i --order k,j
#include <stdint.h>
#ifndef T
#define T int32_t
#endif
#ifndef N
#define N 7
#endif
void lu(T A[N][N]) {
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
