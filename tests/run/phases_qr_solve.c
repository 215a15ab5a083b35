// Least squares: modified Gram-Schmidt, then the transformed right side and back substitution.
#include <math.h>
#define M 8
#define N 5
void qr(float A[M][N], float b[M], float R[N][N], float Q[M][N], float x[N]) {
  float c[N];
#pragma scop
  for (int k = 0; k < N; k++) {
    float nrm = 0.0f;
    for (int i = 0; i < M; i++) nrm += A[i][k] * A[i][k];
    R[k][k] = sqrtf(nrm);
    for (int i = 0; i < M; i++) Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < N; j++) {
      R[k][j] = 0.0f;
      for (int i = 0; i < M; i++) R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < M; i++) A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
  for (int k = 0; k < N; k++) {
    c[k] = 0.0f;
    for (int i = 0; i < M; i++) c[k] += Q[i][k] * b[i];
  }
  for (int k = N - 1; k >= 0; k--) {
    float s = c[k];
    for (int j = k + 1; j < N; j++) s -= R[k][j] * x[j];
    x[k] = s / R[k][k];
  }
#pragma endscop
}
