// Two sweeps per step, one along rows and one along columns, each forth and back.
void adi(float u[6][6], float v[6][6], float p[6][6], float q[6][6]) {
  const int N = 6;
#pragma scop
  for (int t = 1; t <= 3; t++) {
    for (int i = 1; i < 5; i++) {
      v[0][i] = 1.0f;
      p[i][0] = 0.0f;
      q[i][0] = v[0][i];
      for (int j = 1; j < 5; j++) {
        p[i][j] = -0.5f / (0.25f * p[i][j - 1] + 2.0f);
        q[i][j] = (-0.5f * u[j][i - 1] + 2.0f * u[j][i] - 0.5f * u[j][i + 1] - 0.25f * q[i][j - 1]) / (0.25f * p[i][j - 1] + 2.0f);
      }
      v[5][i] = 1.0f;
      for (int j = 4; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < 5; i++) {
      u[i][0] = 1.0f;
      p[i][0] = 0.0f;
      q[i][0] = u[i][0];
      for (int j = 1; j < 5; j++) {
        p[i][j] = -0.5f / (0.5f * p[i][j - 1] + 2.0f);
        q[i][j] = (-0.25f * v[i - 1][j] + 2.0f * v[i][j] - 0.25f * v[i + 1][j] - 0.5f * q[i][j - 1]) / (0.5f * p[i][j - 1] + 2.0f);
      }
      u[i][5] = 1.0f;
      for (int j = 4; j >= 1; j--)
        u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
#pragma endscop
}
