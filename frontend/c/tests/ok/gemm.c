// GEMM with alpha and beta, syrk, batched product, conditional minimum search, chained ifs.
#include <stdint.h>
#define alpha 3
#define beta 2
#define N 5
#define CAT(a, b) a##b
static int helper(int x) { return x * 2; }
int32_t C[N][N];
static const int TABLE[3] = {4, 5, 6};
void gemm(int16_t A[N][N], int16_t B[N][N], uint32_t S[N][N], int64_t Z[2][N][N], uint16_t low[1], int8_t where[1]) {
  const int half = N / 2;
  int acc;
#pragma scop
  for (int CAT(i, 0) = 0; i0 < N; i0++)
    for (int j = 0; j < N; j++) {
      C[i0][j] *= beta;
      for (int k = 0; k < N; k++)
        C[i0][j] += alpha * A[i0][k] * B[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) {
      acc = 0;
      for (int k = 0; k < N; k++)
        acc += A[i][k] * A[j][k];
      S[i][j] = acc;
    }
  for (int b = 0; b < 2; b++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++)
          Z[b][i][j] += (int64_t)A[i][k] * (b ? B[k][j] : -B[k][j]);
  low[0] = ~0;
  where[0] = 'a';
  for (int i = 0; i < N; i++) {
    int value = A[i][half] & 0x7fu;
    if (value < low[0]) {
      low[0] = value;
      where[0] = i;
    }
    if (value > 100)
      where[0] = 1;
    else if (value > 50)
      where[0] = -1;
    else
      where[0] |= 0x40;
  }
#pragma endscop
}
