// Stencils with several sweeps, by planes in a local array and in place between two arrays.
// sagen: --function planes --space j,t --time i+t -D M=257 -D S=5
// sagen: --function box --space j,t --time i+t
// sagen: --function star --fp-contract
// sagen: --function star --space j,t --time i+t -D S=5 -D N=33 -D M=2500
// sagen: --function star --space j,t --time i+t --tile j=32 --ahead 3
// sagen: --function box --space j,t --time i+t --ahead 8 -D N=9
// sagen: --function between
// sagen: --function between --space j,t --time i+2*t
#ifndef M
#define M 60
#endif
#ifndef S
#define S 3
#endif
#ifndef N
#define N 40
#endif
void planes(const float from[N][M], float to[N][M]) {
  float u[S + 1][N][M];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[0][i][j] = from[i][j];
  for (int t = 1; t <= S; t++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        if (i == 0 || i == N - 1 || j == 0 || j == M - 1)
          u[t][i][j] = u[t - 1][i][j];
        else
          u[t][i][j] = 0.25f * u[t - 1][i][j] +
                       0.2f * (u[t - 1][i - 1][j] + u[t - 1][i][j - 1] + u[t - 1][i][j + 1] + u[t - 1][i + 1][j]);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      to[i][j] = u[S][i][j];
#pragma endscop
}
// Nine points, one product each.
void box(const float from[N][M], const float w[3][3], float to[N][M]) {
  float u[S + 1][N][M];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[0][i][j] = from[i][j];
  for (int t = 1; t <= S; t++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        if (i == 0 || i == N - 1 || j == 0 || j == M - 1)
          u[t][i][j] = u[t - 1][i][j];
        else
          u[t][i][j] = w[0][0] * u[t - 1][i - 1][j - 1] + w[0][1] * u[t - 1][i - 1][j] + w[0][2] * u[t - 1][i - 1][j + 1] +
                       w[1][0] * u[t - 1][i][j - 1] + w[1][1] * u[t - 1][i][j] + w[1][2] * u[t - 1][i][j + 1] +
                       w[2][0] * u[t - 1][i + 1][j - 1] + w[2][1] * u[t - 1][i + 1][j] + w[2][2] * u[t - 1][i + 1][j + 1];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      to[i][j] = u[S][i][j];
#pragma endscop
}
// Five points, one product each.
void star(const float from[N][M], const float w[5], float to[N][M]) {
  float u[S + 1][N][M];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[0][i][j] = from[i][j];
  for (int t = 1; t <= S; t++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        if (i == 0 || i == N - 1 || j == 0 || j == M - 1)
          u[t][i][j] = u[t - 1][i][j];
        else
          u[t][i][j] = w[0] * u[t - 1][i - 1][j] + w[1] * u[t - 1][i][j - 1] + w[2] * u[t - 1][i][j] +
                       w[3] * u[t - 1][i][j + 1] + w[4] * u[t - 1][i + 1][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      to[i][j] = u[S][i][j];
#pragma endscop
}
void between(float A[N][M], float B[N][M]) {
#pragma scop
  for (int t = 0; t < 2; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++)
        B[i][j] = 0.2f * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++)
        A[i][j] = 0.2f * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
  }
#pragma endscop
}
