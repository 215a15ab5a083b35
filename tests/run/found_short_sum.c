// Regression: a latency factor above the one iteration of a summed loop.
// sagen: --space i --order i,l,j,k --tile i=2,j=1 --latency k=3
// sagen:
#include <stdint.h>
#ifndef NI
#define NI 4
#define NJ 4
#define NB 4
#endif
void kernel(uint16_t A[NI][NB], uint16_t C[NB][NJ], uint32_t D[NI][NJ]) {
#pragma scop
for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) { D[i][j] = 0; for (int k = 0; k < 1; k++) for (int l = 0; l < NB; l++) D[i][j] += A[i][l] * C[l][j]; }
#pragma endscop
}
