// Loops tiled in the source.
#include <stdint.h>
#define N 8
#define B 4
void kernel(const int16_t a[N][N], const int16_t b[N][N], int32_t c[N][N]) {
#pragma scop
  for (int ii = 0; ii < N; ii += B)
    for (int jj = 0; jj < N; jj += B)
      for (int k = 0; k < N; k++)
        for (int i = ii; i < ii + B; i++)
          for (int j = jj; j < (jj + B < N ? jj + B : N); j++)
            c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
