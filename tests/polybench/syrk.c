// syrk: C = alpha A A^T + beta C, lower triangle.
#ifndef M
#define M 20
#endif
#ifndef N
#define N 30
#endif

void kernel_syrk(float alpha, float beta, float C[N][N], float A[N][M]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += alpha * A[i][k] * A[j][k];
  }
#pragma endscop
}
