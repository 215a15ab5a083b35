// All six choices of space loops, non-divisor tiles, latency hiding, lanes, loop orders, misfit memory.
// sagen: --space i --latency i=1
// sagen: --space j --latency j=1
// sagen: --space k --latency k=1
// sagen: --space i,j --latency i=1
// sagen: --space i,k --latency i=1
// sagen: --space j,k --latency j=1
// sagen: --space i,j --tile i=4,j=5,k=3
// sagen: --space i,j --tile i=4,j=8 --order j,i,k
// sagen: --space i,j --tile i=8,j=8 --latency i=2,j=4
// sagen: --space i,j --tile i=6,j=6,k=4 --latency i=2,j=3 --simd k=2
// sagen: --space i,k --tile i=4,k=4 --simd k=2
// sagen: --space i,j --tile i=4,j=4,k=4 --memory ddr --seed 5
// sagen: -D I=4 -D J=5 -D K=3 --row 6
// sagen: -D I=5 -D J=3 -D K=4 --row 7
// sagen: -D I=3 -D J=4 -D K=5 --row 8
// sagen: -D I=4 -D J=3 -D K=3 --row 9
// sagen: -D I=7 -D J=5 -D K=6 --row 6 --tile j=3 --latency k=2
// sagen: -D I=1 -D J=13 -D K=7 --space i,j --latency i=1
// sagen: -D I=1 -D J=1 -D K=1
// sagen: -D I=17 -D J=1 -D K=19 --space i,k --latency i=1
// sagen: -D I=2 -D J=3 -D K=29 --simd k=4
#include <stdint.h>
#ifndef I
#define I 11
#define J 13
#define K 7
#endif

void mm(int16_t A[I][K], int16_t B[K][J], int32_t C[I][J]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
