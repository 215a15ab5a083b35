// A window over several channels, images as a batch.
// sagen: --space c,o --time n,r,i,p,q
enum { N = 2, O = 3, I = 4, H = 7, W = 45, P = 3, Q = 3 };
void channels(const float x[N][I][H + P - 1][W + Q - 1], const float w[O][I][P][Q], float y[N][O][H][W]) {
#pragma scop
  for (int n = 0; n < N; n++)
    for (int o = 0; o < O; o++)
      for (int r = 0; r < H; r++)
        for (int c = 0; c < W; c++) {
          y[n][o][r][c] = 0;
          for (int i = 0; i < I; i++)
            for (int p = 0; p < P; p++)
              for (int q = 0; q < Q; q++)
                y[n][o][r][c] += x[n][i][r + p][c + q] * w[o][i][p][q];
        }
#pragma endscop
}
