// Regression: a summed loop in space whose tile does not divide it.
// sagen: --space k --tile k=2
// sagen: --space i,k --tile k=2 -D I=3 -D J=2 -D K=7
// sagen: --space k --tile k=4 -D K=5 -D INIT
#include <stdint.h>
#ifndef I
#define I 1
#endif
#ifndef J
#define J 1
#endif
#ifndef K
#define K 3
#endif
void kernel(int16_t A[I][K], int16_t B[K][J], int64_t C[I][J]) {
#pragma scop
for (int i = 0; i < I; i++) for (int j = 0; j < J; j++) { 
#ifdef INIT
C[i][j] = 0;
#endif
for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j]; }
#pragma endscop
}
