// A symmetric product: only the lower triangle is walked, in strips of rows.
// sagen: --strip i=4 --space i,j --tile i=4,j=3
// sagen: --strip i=5 --space j,k --tile j=4,k=3 --memory ddr
// sagen: --strip j=6 --space i,j --tile i=2,j=2 --latency i=2 --ports shared
// sagen: --strip i=3 --space i --simd k=2
#include <stdint.h>
#define N 19
#define K 7
void kernel(const int16_t A[N][K], int32_t C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * A[j][k];
    }
#pragma endscop
}
