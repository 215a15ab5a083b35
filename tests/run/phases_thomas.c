// Tridiagonal systems by the Thomas algorithm, forth and back, with vectors of the function's own.
#define M 5
#define N 6
void thomas_many(const float a[M][N], const float b[M][N], const float c[M][N], const float d[M][N], float x[M][N]) {
  float cp[N], dp[N];
#pragma scop
  for (int m = 0; m < M; m++) {
    cp[0] = c[m][0] / b[m][0];
    dp[0] = d[m][0] / b[m][0];
    for (int i = 1; i < N; i++) {
      float den = b[m][i] - a[m][i] * cp[i - 1];
      cp[i] = c[m][i] / den;
      dp[i] = (d[m][i] - a[m][i] * dp[i - 1]) / den;
    }
    x[m][N - 1] = dp[N - 1];
    for (int i = N - 2; i >= 0; i--)
      x[m][i] = dp[i] - cp[i] * x[m][i + 1];
  }
#pragma endscop
}
