// symm: C = alpha A B + beta C, where A is symmetric and its lower triangle is stored.
#ifndef M
#define M 20
#endif
#ifndef N
#define N 30
#endif

void kernel_symm(float alpha, float beta, float C[M][N], float A[M][M], float B[M][N]) {
  float temp2;
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      temp2 = 0.0f;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        temp2 += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
    }
#pragma endscop
}
