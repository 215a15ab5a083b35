// Least squares by Householder reflections.
// sagen:
// sagen: --on-chip 0
#include <math.h>
#define M 7
#define N 4
void householder(double A[M][N], double b[M], double x[N]) {
  double v[M], nrm, s, beta;
#pragma scop
  for (int k = 0; k < N; k++) {
    nrm = 0;
    for (int i = k; i < M; i++) nrm += A[i][k] * A[i][k];
    nrm = sqrt(nrm);
    for (int i = k; i < M; i++) v[i] = A[i][k];
    v[k] = v[k] + (A[k][k] < 0 ? -nrm : nrm);
    beta = 0;
    for (int i = k; i < M; i++) beta += v[i] * v[i];
    for (int j = k; j < N; j++) {
      s = 0;
      for (int i = k; i < M; i++) s += v[i] * A[i][j];
      s = 2 * s / beta;
      for (int i = k; i < M; i++) A[i][j] -= s * v[i];
    }
    s = 0;
    for (int i = k; i < M; i++) s += v[i] * b[i];
    s = 2 * s / beta;
    for (int i = k; i < M; i++) b[i] -= s * v[i];
  }
  for (int k = N - 1; k >= 0; k--) {
    x[k] = b[k];
    for (int j = k + 1; j < N; j++) x[k] -= A[k][j] * x[j];
    x[k] /= A[k][k];
  }
#pragma endscop
}
