// Matrix product, the forms people write it in.
#include <stdint.h>
#ifndef N
#define N 6
#endif
#define M (N + 1)
#define K 5
void mm(const int8_t A[N][K], const int8_t B[K][M], int32_t C[N][M], int32_t D[N][M], int32_t E[N][M], const int8_t T[M][K]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      int32_t sum = 0;
      for (int k = 0; k < K; k++)
        sum += A[i][k] * T[j][k];
      D[i][j] = sum;
    }
  for (int i = N - 1; i >= 0; i--)
    for (int j = 0; j <= M - 1; ++j) {
      E[i][j] = 0;
      for (int k = K; k > 0; k -= 1)
        E[i][j] = E[i][j] + A[i][k - 1] * B[k - 1][j];
    }
#pragma endscop
}
