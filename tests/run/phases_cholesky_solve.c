// Cholesky decomposition, then forward and backward substitution.
#include <math.h>
#define N 9
void chol_solve(float A[N][N], const float b[N], float x[N]) {
  float y[N];
#pragma scop
  for (int k = 0; k < N; k++) {
    A[k][k] = sqrtf(A[k][k]);
    for (int i = k + 1; i < N; i++) A[i][k] /= A[k][k];
    for (int i = k + 1; i < N; i++)
      for (int j = k + 1; j <= i; j++) A[i][j] -= A[i][k] * A[j][k];
  }
  for (int i = 0; i < N; i++) {
    y[i] = b[i];
    for (int j = 0; j < i; j++) y[i] -= A[i][j] * y[j];
    y[i] = y[i] / A[i][i];
  }
  for (int i = N - 1; i >= 0; i--) {
    x[i] = y[i];
    for (int j = i + 1; j < N; j++) x[i] -= A[j][i] * x[j];
    x[i] /= A[i][i];
  }
#pragma endscop
}
