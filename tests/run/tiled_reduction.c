// A sum over tiles and within them, the last of which are smaller.
// sagen:
// sagen: --space i,j
#include <stdint.h>
#define N 10
#define B 4
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void kernel(const int16_t a[N][N], const int16_t b[N][N], int32_t c[N][N]) {
#pragma scop
  for (int ii = 0; ii < N; ii += B)
    for (int jj = 0; jj < N; jj += B)
      for (int kk = 0; kk < N; kk += B)
        for (int i = ii; i < MIN(ii + B, N); i++)
          for (int j = jj; j < MIN(jj + B, N); j++)
            for (int k = kk; k < MIN(kk + B, N); k++)
              c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
