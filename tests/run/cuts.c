// Arrays that are cut into two, three and four bands, along either axis: values, partial sums and lanes cross, and results.
// sagen: --space i,j --latency i=1 --cuts i=4
// sagen: --space i,j --latency i=1 --cuts i=1,2,10
// sagen: --space i,j --latency i=1 --cuts j=3,7
// sagen: --space i,j --latency i=1 --cuts j=1,2,12 --ports shared
// sagen: --space i,k --latency i=1 --cuts k=2,5
// sagen: --space i,k --latency i=1 --cuts i=3 --word C=4
// sagen: --space j,k --latency j=1 --cuts k=1,2,3
// sagen: --space k --latency k=1 --cuts k=2,3
// sagen: --space j --latency j=1 --cuts j=5,6,7
// sagen: --space i,j --tile i=8,j=8,k=4 --latency i=2,j=2 --simd k=2 --cuts i=2 --memory ddr
// sagen: --space i,j --tile i=8,j=8,k=4 --latency i=2,j=2 --simd k=2 --cuts j=1,3
// sagen: --space i,j --tile i=6,j=6 --latency i=2,j=2 --cuts none
// sagen: -D TRIANGLE --space i,j --latency i=1 --cuts i=4,9
// sagen: -D TRIANGLE --space i,j --latency i=1 --cuts j=6
#include <stdint.h>
#define I 11
#define J 13
#define K 7
#ifdef TRIANGLE
#define FIRST i
#else
#define FIRST 0
#endif

void product(const int16_t A[I][K], const int16_t B[K][J], int32_t C[I][J]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = FIRST; j < J; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
