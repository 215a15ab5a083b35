// Dynamic time warping, and Needleman-Wunsch's table as a whole.
// sagen: --function warping
// sagen: --function table
enum { B = 3, N = 37, M = 70 };
void warping(const float x[B][N], const float y[B][M], float cost[B]) {
  float D[B][N][M];
#pragma scop
  for (int b = 0; b < B; b++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        float d = x[b][i] - y[b][j];
        if (i == 0 && j == 0)
          D[b][i][j] = d * d;
        else if (i == 0)
          D[b][i][j] = d * d + D[b][i][j - 1];
        else if (j == 0)
          D[b][i][j] = d * d + D[b][i - 1][j];
        else {
          float least = D[b][i - 1][j] < D[b][i][j - 1] ? D[b][i - 1][j] : D[b][i][j - 1];
          D[b][i][j] = d * d + (least < D[b][i - 1][j - 1] ? least : D[b][i - 1][j - 1]);
        }
      }
    cost[b] = D[b][N - 1][M - 1];
  }
#pragma endscop
}
void table(const int x[B][N], const int y[B][M], int H[B][N + 1][M + 1]) {
#pragma scop
  for (int b = 0; b < B; b++)
    for (int i = 0; i <= N; i++)
      for (int j = 0; j <= M; j++)
        if (i == 0)
          H[b][i][j] = -2 * j;
        else if (j == 0)
          H[b][i][j] = -2 * i;
        else {
          int match = H[b][i - 1][j - 1] + (x[b][i - 1] == y[b][j - 1] ? 3 : -1);
          int gap = (H[b][i - 1][j] > H[b][i][j - 1] ? H[b][i - 1][j] : H[b][i][j - 1]) - 2;
          H[b][i][j] = match > gap ? match : gap;
        }
#pragma endscop
}
