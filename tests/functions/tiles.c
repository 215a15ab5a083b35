// Functions whose tiles repeat so often that the prediction walks them once; some buffers stay full to the end.
// sagen: --merge --grid 1 --sequence 4
// sagen: --merge --grid 2x1 --memory ideal --sequence 4
// sagen: --merge --queue 4 --overlap --sequence 10
#include <stdint.h>
#define N 48
void mulmm(const int16_t A[N][N], const int16_t B[N][N], int32_t C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int32_t sum = 0;
      for (int k = 0; k < N; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
#pragma endscop
}
void multrmm(const int16_t A[N][N], const int16_t B[N][N], int32_t C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int32_t sum = 0;
      for (int k = 0; k <= i; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
#pragma endscop
}
void trm(const int16_t A[N][N], int16_t C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[j][i] = A[i][j];
#pragma endscop
}
