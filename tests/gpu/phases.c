// Programs in phases: a kernel for each, one launch after the other.
// sagen: --function twice
// sagen: --function twice --space j
// sagen: --function twice --space j --sanitize address
// sagen: --function centred
// sagen: --function pingpong
// sagen: --function pingpong --space j
// sagen: --function weights
// sagen: --function names
#ifndef M
#define M 40
#endif
#ifndef N
#define N 70
#endif
// Results of a phase are read backwards and transposed; `t` is a local array.
void twice(const int x[M][N], int y[N][M], int z[M]) {
  int t[M][N];
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      t[i][j] = x[i][j] * 3 + (j > 0 ? x[i][j - 1] : 0);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      y[j][i] = t[M - 1 - i][N - 1 - j] * 5;
  for (int i = 0; i < M; i++) {
    z[i] = 0;
    for (int j = 0; j < N; j++)
      z[i] += t[i][N - 1 - j] - y[j][M - 1 - i];
  }
#pragma endscop
}
// A maximum over all PEs, then a sum that uses it, then all PEs use both.
void centred(const int x[M][N], int most[M], int sum[M], int y[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++) {
    most[i] = x[i][0];
    for (int j = 1; j < N; j++)
      most[i] = most[i] > x[i][j] ? most[i] : x[i][j];
  }
  for (int i = 0; i < M; i++) {
    sum[i] = 0;
    for (int j = 0; j < N; j++)
      sum[i] += most[i] - x[i][j];
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      y[i][N - 1 - j] = (x[i][j] - most[i]) * 7 + sum[M - 1 - i];
#pragma endscop
}
// Equal phases share a kernel.
void pingpong(int x[M][M]) {
  int y[M][M];
#pragma scop
  for (int t = 0; t < 6; t++) {
    for (int i = 0; i < M; i++)
      for (int j = 0; j < M; j++)
        y[i][j] = x[M - 1 - j][i] + x[i][j] * 3;
    for (int i = 0; i < M; i++)
      for (int j = 0; j < M; j++)
        x[i][j] = y[j][i] + y[i][M - 1 - j];
  }
#pragma endscop
}
// `w` is an argument of one kernel and would be an array of the other.
void weights(const float x[M][N], const float w[3], float y[N][M], float z[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      y[j][i] = 0;
      for (int k = 0; k < 3; k++)
        y[j][i] += x[i][j] * w[k];
    }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      z[i][j] = y[N - 1 - j][M - 1 - i] * w[j % 3];
#pragma endscop
}
// Names that the texts around the kernel use, too.
void names(const int k[M][N], const int count[M], int warps[N][M], int error[M]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      warps[j][i] = k[i][j] + count[i];
  for (int i = 0; i < M; i++)
    error[i] = warps[N - 1 - i][i];
#pragma endscop
}
