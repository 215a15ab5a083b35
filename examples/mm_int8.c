// Matrix product with int8 inputs, a scalar accumulator, and sizes that nothing divides.
#include <stdint.h>

#ifndef I
#define I 37
#endif
#ifndef J
#define J 23
#endif
#ifndef K
#define K 41
#endif

void mm_int8(int8_t A[I][K], int8_t B[K][J], int C[I][J]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      int sum = 0;
      for (int k = 0; k < K; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
#pragma endscop
}
