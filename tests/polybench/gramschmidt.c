// gramschmidt: A = Q R by modified Gram-Schmidt.
#include <math.h>
#ifndef M
#define M 20
#endif
#ifndef N
#define N 30
#endif

void kernel_gramschmidt(float A[M][N], float R[N][N], float Q[M][N]) {
  float nrm;
#pragma scop
  for (int k = 0; k < N; k++) {
    nrm = 0.0f;
    for (int i = 0; i < M; i++)
      nrm += A[i][k] * A[i][k];
    R[k][k] = sqrtf(nrm);
    for (int i = 0; i < M; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < N; j++) {
      R[k][j] = 0.0f;
      for (int i = 0; i < M; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < M; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
#pragma endscop
}
