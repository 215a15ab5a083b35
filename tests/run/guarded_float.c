// Sums in fp32 that conditions interrupt: nothing is added, not even a zero, which could change the sign of one.
// sagen:
// sagen: --row 1
// sagen: --row 2
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=3
#ifndef N
#define N 6
#endif
void guarded_float(const float x[N][N], float y[N], float z[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    y[i] = -0.0f;
    for (int j = 0; j < N; j++) {
      if (j > i + 1)
        y[i] += x[i][j];
      if (j + 1 < i || j > i + 2)
        z[i] = z[i] * 0.5f - x[j][i];
    }
  }
#pragma endscop
}
