// The prediction of a Kalman filter: x = F x, P = F P F' + Q, with the innovation beside it.
// sagen:
#define N 4
void predict(int F[N][N], int x[N], int P[N][N], int Q[N][N], int z[N], int xp[N], int FP[N][N], int Pp[N][N], int y[N], int trace[1]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    xp[i] = 0;
    for (int j = 0; j < N; j++)
      xp[i] += F[i][j] * x[j];
    y[i] = z[i] - xp[i];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      FP[i][j] = 0;
      for (int k = 0; k < N; k++)
        FP[i][j] += F[i][k] * P[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      Pp[i][j] = Q[i][j];
      for (int k = 0; k < N; k++)
        Pp[i][j] += FP[i][k] * F[j][k];
    }
  trace[0] = 0;
  for (int i = 0; i < N; i++)
    trace[0] += Pp[i][i];
#pragma endscop
}
