// Lanes over an outer loop of a sum that keeps C's order. //~ ERROR E0711 allow another order by --reassociate, or take lanes over `q`
// sagen: --space o,c --tile o=64,c=56,r=8,i=16 --latency o=8,c=4 --simd i=8
#define O 64
#define I 64
#define R 56
#define K 3
float x[R + K - 1][R + K - 1][I], w[O][K][K][I], y[R][R][O];
void convolve(void) {
#pragma scop
  for (int o = 0; o < O; o++)
    for (int r = 0; r < R; r++)
      for (int c = 0; c < R; c++)
        for (int i = 0; i < I; i++)
          for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
              y[r][c][o] = y[r][c][o] + x[r + p][c + q][i] * w[o][p][q][i];
#pragma endscop
}
