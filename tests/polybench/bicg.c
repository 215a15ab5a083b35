// bicg: the two products of BiCG, s = A^T r and q = A p.
#ifndef M
#define M 38
#endif
#ifndef N
#define N 42
#endif

void kernel_bicg(float A[N][M], float s[M], float q[N], float p[M], float r[N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    s[i] = 0.0f;
  for (int i = 0; i < N; i++) {
    q[i] = 0.0f;
    for (int j = 0; j < M; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
#pragma endscop
}
