// Matrix times vector.
#include <stdint.h>

#ifndef M
#define M 100
#endif
#ifndef N
#define N 60
#endif

void mv(int16_t A[M][N], int16_t x[N], int32_t y[M]) {
#pragma scop
  for (int i = 0; i < M; i++) {
    y[i] = 0;
    for (int j = 0; j < N; j++)
      y[i] += A[i][j] * x[j];
  }
#pragma endscop
}
