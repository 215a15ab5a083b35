// atax: y = A^T (A x).
#ifndef M
#define M 38
#endif
#ifndef N
#define N 42
#endif

void kernel_atax(float A[M][N], float x[N], float y[N], float tmp[M]) {
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = 0.0f;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0.0f;
    for (int j = 0; j < N; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
#pragma endscop
}
