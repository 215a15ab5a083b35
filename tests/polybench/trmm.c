// trmm: B = alpha A^T B in place, where A is unit lower triangular.
#ifndef M
#define M 20
#endif
#ifndef N
#define N 30
#endif

void kernel_trmm(float alpha, float A[M][M], float B[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < M; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
#pragma endscop
}
