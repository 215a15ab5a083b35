// LU as in PolyBench, in integers; Cholesky-like and triangular loops.
#include "size.h"
void kernel_lu(int A[N][N], int B[N][N], int x[N], int b[N]) {
  int i, j, k;
#pragma scop
  for (i = 0; i < N; i++) {
    for (j = 0; j < i; j++) {
      for (k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (j = i; j < N; j++)
      for (k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
  for (i = 0; i < N; i++) {
    x[i] = b[i];
    for (j = 0; j < i; j++)
      x[i] -= A[i][j] * x[j];
    x[i] = x[i] / A[i][i];
  }
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) {
      for (k = i + 1; k < N; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = 3 * B[i][j] % 1000;
    }
  for (i = N - 2; i >= 0; i--)
    for (j = N - 1; j > i; j--)
      x[i] = x[i] + (A[i][j] >> 3) * x[j];
#pragma endscop
}
