// Eight sweeps of the heat equation in one pass over the memory; cells at the border keep their temperature.
// sagen: --space j,t --time i+t -D N=70 -D M=150
#ifndef N
#define N 400
#define M 400
#endif
#define SWEEPS 8
void heat(const float before[N][M], float after[N][M]) {
  float u[SWEEPS + 1][N][M];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[0][i][j] = before[i][j];
  for (int t = 1; t <= SWEEPS; t++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        if (i == 0 || i == N - 1 || j == 0 || j == M - 1)
          u[t][i][j] = u[t - 1][i][j];
        else
          u[t][i][j] = 0.2f * (u[t - 1][i - 1][j] + u[t - 1][i][j - 1] + u[t - 1][i][j] + u[t - 1][i][j + 1] +
                               u[t - 1][i + 1][j]);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      after[i][j] = u[SWEEPS][i][j];
#pragma endscop
}
