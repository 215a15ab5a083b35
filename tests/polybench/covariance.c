// covariance: covariance matrix of M variables over N observations.
#ifndef M
#define M 28
#endif
#ifndef N
#define N 32
#endif

void kernel_covariance(float float_n, float data[N][M], float cov[M][M], float mean[M]) {
#pragma scop
  for (int j = 0; j < M; j++) {
    mean[j] = 0.0f;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      data[i][j] -= mean[j];
  for (int i = 0; i < M; i++)
    for (int j = i; j < M; j++) {
      cov[i][j] = 0.0f;
      for (int k = 0; k < N; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= float_n - 1.0f;
      cov[j][i] = cov[i][j];
    }
#pragma endscop
}
