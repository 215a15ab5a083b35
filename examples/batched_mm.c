// A batch of small products; B is stored transposed.
#include <stdint.h>

#ifndef BATCH
#define BATCH 6
#endif
#ifndef N
#define N 16
#endif

void batched_mm(int16_t A[BATCH][N][N], int16_t Bt[BATCH][N][N], int32_t C[BATCH][N][N]) {
#pragma scop
  for (int b = 0; b < BATCH; b++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        int32_t s = 0;
        for (int k = 0; k < N; k++)
          s += A[b][i][k] * Bt[b][j][k];
        C[b][i][j] = s;
      }
#pragma endscop
}
