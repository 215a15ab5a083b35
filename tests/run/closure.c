// Transitive closure (Warshall).
#include <stdint.h>
#ifndef N
#define N 7
#endif
// sagen:
// sagen: --space i --latency i=1
// sagen: --space i,j
// sagen: --space i,j --latency i=1
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=3
void closure(uint8_t R[N][N]) {
#pragma scop
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        R[i][j] = R[i][j] | (R[i][k] & R[k][j]);
#pragma endscop
}
