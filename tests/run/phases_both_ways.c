// A sweep forth and one back, combined.
#define N 6
#define M 4
void bidir(const float x[M][N], float y[M][N]) {
  float f[N], b[N];
#pragma scop
  for (int i = 0; i < M; i++) {
    f[0] = x[i][0];
    for (int j = 1; j < N; j++)
      f[j] = 0.5f * f[j - 1] + x[i][j];
    b[N - 1] = x[i][N - 1];
    for (int j = N - 2; j >= 0; j--)
      b[j] = 0.5f * b[j + 1] + x[i][j];
    for (int j = 0; j < N; j++)
      y[i][j] = f[j] + b[j];
  }
#pragma endscop
}
