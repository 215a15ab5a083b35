// A separable filter in one kernel, and sums along a loop.
// sagen: --function filter --space j --time i,k
// sagen: --function decay --space j --time i
enum { H = 50, W = 70, K = 5 };
void filter(const float x[H][W], const float w[K], float out[H][W]) {
  float t[H][W];
#pragma scop
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W - K + 1; j++) {
      t[i][j] = 0;
      for (int k = 0; k < K; k++)
        t[i][j] += x[i][j + k] * w[k];
    }
  for (int i = 0; i < H - K + 1; i++)
    for (int j = 0; j < W - K + 1; j++) {
      out[i][j] = 0;
      for (int k = 0; k < K; k++)
        out[i][j] += t[i + k][j] * w[k];
    }
#pragma endscop
}
void decay(const float x[H][W], float out[H][W]) {
#pragma scop
  for (int j = 0; j < W; j++)
    out[0][j] = x[0][j];
  for (int i = 1; i < H; i++)
    for (int j = 0; j < W; j++)
      out[i][j] = 0.5f * out[i - 1][j] + x[i][j];
#pragma endscop
}
