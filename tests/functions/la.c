// Three functions of different types and arguments, two of whose arrays share a name.
// sagen: --seed 3 --sequence 60
// sagen: --memory ddr --seed 4 --sequence 20
// sagen: --merge --seed 5 --sequence 60
// sagen: --merge --memory ddr --sequence 20 --queue 4
// sagen: --function ger,gemv --sequence 30 --queue 2
// sagen: --merge --queue 4 --overlap --seed 6 --sequence 40
// sagen: --merge --queue 8 --overlap --guard --ports shared --memory ddr --sequence 20
#include <stdint.h>
#define N 6
static int32_t scaled(int32_t x, int32_t alpha) { return x * alpha; }
void gemm(const int16_t A[N][N], const int16_t B[N][N], int32_t C[N][N]) {
#pragma sagen space(i, j)
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0;
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
void gemv(int m, const float A[N][N], const float x[N], float y[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      y[i] += A[i][k] * x[k];
#pragma endscop
}
void ger(int32_t alpha, const int8_t x[N], int64_t beta, const int8_t y[N], int32_t A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] += scaled(x[i] * y[j], alpha) + beta;
#pragma endscop
}
