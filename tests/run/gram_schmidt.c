// QR decomposition by Gram–Schmidt in PolyBench's form, in fp32. One is added under the root against zero columns.
#include <math.h>
#ifndef M
#define M 4
#endif
#ifndef N
#define N 3
#endif
// sagen:
// sagen: -D M=1 -D N=1
// sagen: -D M=3 -D N=2
// sagen: --row 1
// sagen: --row 3
void gram_schmidt(float A[M][N], float R[N][N], float Q[M][N]) {
  float nrm;
#pragma scop
  for (int k = 0; k < N; k++) {
    nrm = 1;
    for (int i = 0; i < M; i++)
      nrm += A[i][k] * A[i][k];
    R[k][k] = sqrtf(nrm);
    for (int i = 0; i < M; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < N; j++) {
      R[k][j] = 0;
      for (int i = 0; i < M; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < M; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
#pragma endscop
}
